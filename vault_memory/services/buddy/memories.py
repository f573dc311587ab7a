"""The tools about memories. What they store is there for good."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from vault_memory.adapters.models import ChatModel
from vault_memory.core import buddy, layout
from vault_memory.core.memories import Memory, checked_type
from vault_memory.core.text import one_line, tokens
from vault_memory.errors import Busy, IndexUnusable, NotFound, UsageError
from vault_memory.services.graph import graph_of
from vault_memory.services.memories import (
    Stored,
    delete_memories,
    draft,
    list_memories,
    memories_holding,
    memory_files,
    note_in_session,
    prepare_deletion,
    statistics,
    store,
)
from vault_memory.services.retrieval import ask_ai, recall
from vault_memory.services.vault import Vault

MAX_RECALLED = 10
"""So many memories are found by their meaning beside those that hold the query itself."""
MAX_QUESTION_CHARS, MAX_ANSWER_CHARS = 4_000, 15_000
"""So much of a question and of its answer is in the note of it."""


def buddy_do(vault: Vault, user_id: str, task: str, context: str = "") -> dict[str, Any]:
    """Begin a task: keep it as the `feature` memory `task_…`, with the title `Task: …` and the tags `buddy-do`, what
    is to be done (`implement`, `fix` …) and how much that is (`low`, `medium`, `high`). The same task lives on. Raises
    what `store_memory` raises."""
    tags = ["buddy-do", buddy.verb_of(task), buddy.complexity_of(task)]
    content = f"{task}\n\nContext: {context}" if context.strip() else task
    made = draft(vault, content, "feature", title=buddy.title_of(task), tags=tags, prefix="task")
    stored = store(vault, user_id, made, unattended=True)
    if stored.id:
        note_in_session(vault, user_id, completed=1)
    return _stored(vault, user_id, stored) | {"taskType": tags[1], "complexity": tags[2]}


def buddy_add_memory(
    vault: Vault,
    user_id: str,
    title: str,
    content: str,
    memory_type: str,
    tags: Sequence[str] = (),
    force_save: bool = False,
) -> dict[str, Any]:
    """Store a memory. Where similar ones are there, `stored` is False and `similar` lists them, each with its `score`
    and `reason`: a person decides, and `force_save` stores it all the same; a language model that is sure merges it
    with a single one. Raises what `store_memory` raises."""
    made = draft(vault, content, memory_type, title=title, tags=tags)
    return _stored(vault, user_id, store(vault, user_id, made, force_save=force_save))


def buddy_remember(
    vault: Vault, user_id: str, query: str, limit: int | None = None, memory_type: str | None = None
) -> dict[str, Any]:
    """The memories that hold the query in title, content or a tag, whatever its case, width and Chinese script, those
    that answer it best first; then ten others that answer it by their words and meaning. At most `limit` (None: all);
    `total` is how many there are. Raises `UsageError`."""
    if not tokens.fold(query).strip():
        raise UsageError("the query is empty: say what is to be remembered")
    types = [checked_type(memory_type)] if memory_type else None
    limit = _limit(limit)
    if not vault.is_user(layout.check_user_id(user_id)):
        return {"memories": [], "total": 0, "degraded": []}
    ranked = recall(vault, user_id, query, None, MAX_RECALLED, types)
    files = memories_holding(vault, user_id, query, memory_type=memory_type)
    holding = {file.memory.id: file.memory for file in files}
    scores = {each.id: each.score for each in ranked}
    best = [each for each in ranked if each.id in holding]
    more = [memory for memory_id, memory in holding.items() if memory_id not in scores]
    others = [each for each in ranked if each.id not in holding]
    found = [_entry(each) | {"score": scores.get(each.id)} for each in (*best, *more, *others)]
    return {"memories": found[:limit], "total": len(found), "degraded": ranked.degraded}


def buddy_remember_recent(vault: Vault, user_id: str, limit: int = 5) -> dict[str, Any]:
    """The newest memories, the newest first. Raises `UsageError`."""
    found = list_memories(vault, user_id, limit=_limit(limit)) if vault.is_user(layout.check_user_id(user_id)) else []
    return {"memories": [_entry(file.memory) for file in found]}


def buddy_remember_stats(vault: Vault, user_id: str) -> dict[str, Any]:
    """How much the four stores hold: `memories` (the active ones, also `byType`), `entities`, `relations` and
    `mistakes`, and the `total`. `tasksCompleted` and `memoriesCreated` are of this process."""
    is_known = vault.is_user(layout.check_user_id(user_id))
    held = statistics(vault, user_id).as_dict() if is_known else _NOTHING
    relations = len([each for each in graph_of(vault, user_id).relations if not each.is_mention]) if is_known else 0
    total = held["memories"] + held["entities"] + relations + held["mistakes"]
    return {"total": total, "relations": relations, **held}


_NOTHING: dict[str, Any] = {
    "memories": 0,
    "byType": {},
    "entities": 0,
    "mistakes": 0,
    "tasksCompleted": 0,
    "memoriesCreated": 0,
}


def buddy_delete_memory(
    vault: Vault,
    user_id: str,
    query: str | None = None,
    memory_id: str | None = None,
    memory_type: str | None = None,
    confirm_code: str | None = None,
) -> dict[str, Any]:
    """Delete memories, in two steps. The first chooses them by exactly one of query, id and type, and deletes nothing:
    it lists them, with the contents of the first three, and gives a `confirmCode` for five minutes. The second, with
    that code alone, deletes these and gives the receipt. Raises what `prepare_deletion` and `delete_memories` raise."""
    if confirm_code is not None:
        if any(each is not None for each in (query, memory_id, memory_type)):
            raise UsageError("a code stands for what was chosen already: give it alone")
        return delete_memories(vault, user_id, confirm_code).as_dict()
    ids = [memory_id] if memory_id else []
    chosen = prepare_deletion(vault, user_id, ids=ids, query=query, memory_type=memory_type)
    listed = [_entry(each) for each in chosen.memories]
    return {
        "confirmCode": chosen.code,
        "expiresAt": chosen.expires_at.astimezone(vault.config.zone()).isoformat(timespec="seconds"),
        "count": len(listed),
        "memories": [{key: each[key] for key in ("id", "type", "title", "timestamp")} for each in listed],
        "preview": [_entry(each) for each in chosen.previewed],
    }


def buddy_ask_ai(vault: Vault, user_id: str, prompt: str, *, model: ChatModel | None = None) -> dict[str, Any]:
    """What the language model answers with the memories that bear on the question; both become a `note`. Without a
    model the answer lists what was recalled, and is no note: it says nothing that is not there. Raises what `ask_ai`
    raises."""
    found = ask_ai(vault, user_id, prompt, model=model)
    degraded, note_id = list(found.degraded), ""
    if found.by_model:
        content = f"{prompt.strip()[:MAX_QUESTION_CHARS]}\n\n{found.text[:MAX_ANSWER_CHARS]}"
        try:
            made = draft(vault, content, "note", title=f"AI: {one_line(prompt)}", tags=["buddy-ask-ai"])
            note_id = store(vault, user_id, made, unattended=True).id
        except UsageError as error:  # the answer is there all the same
            degraded.append(f"the answer is not kept: {error}")
    used = [_entry(each) for each in found.used]
    return {"answer": found.text, "byModel": found.by_model, "used": used, "noteId": note_id, "degraded": degraded}


def _entry(memory: Memory) -> dict[str, Any]:
    """A memory as answers have it, with its own type."""
    return buddy.memory_record(memory) | {"type": memory.type}


def _stored(vault: Vault, user_id: str, stored: Stored) -> dict[str, Any]:
    """What became of a memory; `memory` is it as it is kept, of a merge the merged one, None where none was stored."""
    told, kept = stored.as_dict(), None
    if stored.id:
        with suppress(Busy, IndexUnusable, NotFound):  # it is stored all the same
            kept = memory_files(vault, user_id, [stored.id])[0].memory
    return {
        "stored": bool(stored.id) and not stored.reinforced,
        "id": stored.id,
        "memory": _entry(kept) if kept else None,
        "similar": [{"similar": True, **each} for each in told["similar"]],
        **{key: told[key] for key in ("reinforced", "merged", "redactions", "expired", "paused", "degraded")},
    }


def _limit(limit: int | None) -> int | None:
    if limit is not None and limit < 1:
        raise UsageError("limit is at least 1")
    return limit
