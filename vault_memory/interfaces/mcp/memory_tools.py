"""The tools about typed memories: remembering, recalling, deleting."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from vault_memory.core.memories import TYPES, Memory
from vault_memory.errors import UsageError
from vault_memory.interfaces.mcp.tool import (
    NUMBER,
    TEXT,
    TEXTS,
    TRUTH,
    WHOLE,
    Person,
    Question,
    Taken,
    Tool,
    record,
    rows,
)
from vault_memory.services.memories import IMPORTANT, delete_memories, draft, prepare_deletion, store
from vault_memory.services.retrieval import recall

MAX_LISTED_IDS = 100
Type = Literal[TYPES]  # type: ignore[valid-type]


class RememberTaken(Taken):
    """What to remember."""

    content: Annotated[str, Field(min_length=1, max_length=20_000)]
    importance: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = IMPORTANT
    force_save: bool = False


class RecallTaken(Taken):
    """What to recall."""

    query: Annotated[str, Field(min_length=1, max_length=20_000)]
    top_k: Annotated[int, Field(ge=1, le=100)] = 3
    memory_types: Annotated[list[Type], Field(max_length=20)] = []


class DeleteTaken(Taken):
    """Which memories to delete, in one way; then the code."""

    ids: Annotated[list[str], Field(max_length=1_000)] = []
    query: Annotated[str, Field(max_length=2_000)] = ""
    memory_type: Type | None = None
    confirm_code: Annotated[str, Field(max_length=100)] = ""


def _remember(person: Person, taken: RememberTaken) -> dict[str, Any]:
    memory = draft(person.vault, taken.content, "fact", None, taken.importance)
    stored = store(person.vault, person.user_id, memory, force_save=taken.force_save)
    nowhere = "nothing is kept of this user, who is off the record" if not (stored.id or stored.similar) else ""
    similar = [{name: each.as_dict()[name] for name in ("id", "content")} for each in stored.similar]
    return {
        "stored": bool(stored.id),
        "id": stored.id,
        "similar": similar if not stored.id else [],
        "degraded": [*stored.degraded, *filter(None, [stored.paused, nowhere])],
    }


def _recall(person: Person, taken: RecallTaken) -> dict[str, Any]:
    found = recall(person.vault, person.user_id, taken.query, None, taken.top_k, taken.memory_types or None)
    return {"memories": [_entry(each) | {"score": each.score} for each in found], "degraded": found.degraded}


def _entry(memory: Memory) -> dict[str, Any]:
    said = memory.created_at.isoformat(timespec="seconds") if memory.created_at else ""
    return {"id": memory.id, "type": memory.type, "content": memory.content, "created_at": said}


def _delete(person: Person, taken: DeleteTaken) -> dict[str, Any]:
    if taken.confirm_code:
        if taken.ids or taken.query or taken.memory_type:
            raise UsageError("confirm_code goes alone: it stands for what was shown; without it choose anew")
        told = delete_memories(person.vault, person.user_id, taken.confirm_code).as_dict()
        return {name: told[name] for name in ("deleted", "restore", "kept")}
    chosen = _chosen(person, taken)
    return {
        "confirm_code": chosen.code,
        "count": len(chosen.memories),
        "ids": [each.id for each in chosen.memories[:MAX_LISTED_IDS]],
        "preview": [each.content for each in chosen.previewed],
    }


def _ask_before_deleting(person: Person, taken: DeleteTaken) -> Question | None:
    if taken.confirm_code:
        return None
    chosen = _chosen(person, taken)
    listed = "\n".join(f"- {each.content}" for each in chosen.previewed)
    more = f"\n… {len(chosen.memories)}" if len(chosen.memories) > len(chosen.previewed) else ""
    return Question(
        f"刪除這些記憶？ / 删除这些记忆？ / Delete these memories?\n{listed}{more}", {"confirm_code": chosen.code}
    )


def _chosen(person: Person, taken: DeleteTaken) -> Any:
    return prepare_deletion(
        person.vault, person.user_id, ids=taken.ids, query=taken.query or None, memory_type=taken.memory_type
    )


_DEGRADED = {"degraded": TEXTS}
TOOLS = (
    Tool(
        "remember",
        "memory",
        "Remember a fact about the user for good, when they ask you to. "
        "With `similar`, nothing was stored: ask the user, then use force_save.",
        RememberTaken,
        record(stored=TRUTH, id=TEXT, similar=rows(id=TEXT, content=TEXT), **_DEGRADED),
        _remember,
        is_idempotent=True,
        stands_for=("memory add", "remember"),
    ),
    Tool(
        "recall_memory",
        "memory",
        "Recall what is remembered of the user. Call it before you answer what may depend on earlier talks.",
        RecallTaken,
        record(memories=rows(id=TEXT, type=TEXT, content=TEXT, created_at=TEXT, score=NUMBER), **_DEGRADED),
        _recall,
        reads_only=True,
        stands_for=("memory list", "recall"),
    ),
    Tool(
        "delete_memory",
        "memory",
        "Delete memories chosen by ids, query or memory_type. Deletes nothing yet: show the user the preview, and only "
        "after their yes call again with confirm_code alone.",
        DeleteTaken,
        record(confirm_code=TEXT, count=WHOLE, ids=TEXTS, preview=TEXTS, deleted=TEXTS, restore=TEXTS, kept=TEXTS),
        _delete,
        destroys=True,
        asks=_ask_before_deleting,
        stands_for=("memory delete",),
    ),
)
