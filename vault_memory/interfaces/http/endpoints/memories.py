"""A user's typed memories: storing, listing, recalling, changing and deleting them, and how many there are."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from starlette.concurrency import run_in_threadpool

from vault_memory.core.memories import TYPES, Memory
from vault_memory.core.reading import plain_text
from vault_memory.errors import UsageError
from vault_memory.interfaces.http import problem
from vault_memory.interfaces.http.body import JsonRoute
from vault_memory.interfaces.http.guard import TheUser, TheVault
from vault_memory.interfaces.http.problem import Problem, Reason, reason, reasons, responses
from vault_memory.interfaces.http.response import in_page_thread, made_in_turn, page
from vault_memory.services.memories import (
    IMPORTANT,
    MemoryFile,
    delete_memories,
    draft,
    edit_memory,
    list_memories,
    memory_files,
    prepare_deletion,
    statistics,
    store,
    supersede,
)
from vault_memory.services.retrieval import recall
from vault_memory.services.vault import Vault

router = APIRouter(prefix="/api/v1/user/{student_id}", tags=["memories"], route_class=JsonRoute)

MAX_OFFSET = 1_000_000
MAX_LISTED_IDS = 1_000
"""Of a deletion; `count` says how many there are."""
_ID = "mem_1769753100000_a1b2c3d4"
_AT = "2026-01-30T14:05:00+08:00"


def _with_words(content: str) -> str:
    if not plain_text(content):
        raise ValueError("is empty: say what is to be remembered")
    return content


Type = Annotated[str, Field(pattern=f"^({'|'.join(TYPES)})$", examples=["decision"])]
Content = Annotated[
    str,
    Field(min_length=1, max_length=20_000, examples=["用 JWT 登入，因為手機版沒有 cookie"]),
    AfterValidator(_with_words),
]
Name = Annotated[str, Field(max_length=200)]
Tags = Annotated[list[Name], Field(max_length=100, fail_fast=True, examples=[["auth"]])]
Importance = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False, examples=[0.5])]
Days = Annotated[float, Field(ge=1, le=36_500, allow_inf_nan=False, examples=[7])]
Ids = Annotated[list[Name], Field(min_length=1, max_length=1_000, fail_fast=True, examples=[[_ID]])]
_DECIDE = "similar memories are there, so nothing is stored: PATCH one of them, or send this with `force_save`"
TheMemory = Annotated[str, Path(description="The id of a memory.", examples=[_ID], max_length=200)]


class MemoryIn(BaseModel):
    """A memory to store."""

    content: Content
    memory_type: Type = "insight"
    skill_id: Name | None = Field(None, description="The skill that it belongs to.", examples=["web-deploy"])
    importance: Importance = 0.5
    ttl_days: Days | None = Field(7, description="How many days it lives; null: for good.")
    metadata: dict[str, Any] = Field({}, description="Further flat properties.", examples=[{"project": "shop"}])
    title: Name = Field("", description="Else the beginning of the content.", examples=["JWT"])
    tags: Tags = []
    source: Name = Field("", description="Where it comes from.", examples=["conversations/2026-01-30.jsonl:12"])
    force_save: bool = Field(False, description="Store it whatever memories are similar.")


class RememberIn(BaseModel):
    """A fact that somebody asks to be remembered."""

    content: Content
    importance: Importance = IMPORTANT
    force_save: bool = Field(False, description="Store it whatever memories are similar.")


class MemoryChangeIn(BaseModel):
    """New properties of a memory, or another content, with which a new memory takes its place."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"importance": 0.9, "ttl_days": None}]})

    content: Content | None = None
    memory_type: Type | None = None
    title: Name | None = Field(None, examples=["JWT"])
    tags: Tags | None = None
    importance: Importance | None = None
    ttl_days: Days | None = Field(None, description="It expires so many days from now; null: it does not expire.")

    @model_validator(mode="after")
    def _one_kind(self) -> MemoryChangeIn:
        named = self.model_fields_set
        if not named or any(getattr(self, name) is None for name in named - {"ttl_days"}):
            raise ValueError("names nothing to change, or null for something else than ttl_days")
        if "content" in named and named - {"content", "title"}:
            raise ValueError("gives content and properties: change the properties in a request of their own")
        return self


class SimilarOut(BaseModel):
    """A memory that may say the same: how much of their words they share, or how sure the model is, and why."""

    id: str = Field(examples=[_ID])
    score: float = Field(examples=[0.62])
    reason: str = Field(examples=["62 % of the words are the same"])
    content: str = Field(examples=["用 JWT 登入"])


class SimilarProblem(Problem):
    """Similar memories are there, and nothing was stored: whoever asks decides."""

    similar: list[SimilarOut]
    degraded: list[Reason] = Field([], description="What could not be used to tell.", examples=[[]])


class StoredOut(BaseModel):
    """What became of a memory: its id (empty for a user who is off the record), the commits; what was kept out of it,
    by category; the memories that had to go for it; why its commit waits; what could not be used. `reinforced`: the
    same memory was there, has the id, and lives on; `merged` are those that a language model has merged it with."""

    id: str = Field(examples=[_ID])
    commits: list[str] = Field(examples=[["1a2b3c4d5e6f7a8b9c0d1a2b3c4d5e6f7a8b9c0d"]])
    redactions: dict[str, int] = Field(examples=[{}])
    expired: list[str] = Field(examples=[[]])
    paused: Reason | None = Field(None, examples=[None])
    degraded: list[Reason] = Field(examples=[[]])
    merged: list[str] = Field(examples=[[]])
    reinforced: bool = Field(examples=[False])


class MemoryOut(BaseModel):
    """A memory. Without `expires_at` it is permanent; `path` is its note in the vault; `problems` says what of the note
    could not be understood and counts as absent."""

    id: str = Field(examples=[_ID])
    memory_type: str = Field(examples=["decision"])
    title: str = Field(examples=["用 JWT 登入"])
    content: str = Field(examples=["用 JWT 登入，因為手機版沒有 cookie"])
    tags: list[str] = Field(examples=[["auth"]])
    importance: float = Field(examples=[0.5])
    skill_id: str | None = Field(examples=[None])
    source: str = Field(examples=["conversations/2026-01-30.jsonl:12"])
    created_at: datetime | None = Field(examples=[_AT])
    expires_at: datetime | None = Field(examples=["2026-02-06T14:05:00+08:00"])
    access_count: int = Field(examples=[0])
    last_accessed_at: datetime | None = Field(examples=[None])
    said_on: list[str] = Field(description="The days on which it was said in conversation.", examples=[["2026-01-30"]])
    reinforced_at: datetime | None = Field(description="When its time began anew.", examples=[None])
    supersedes: str | None = Field(examples=[None])
    superseded_by: str | None = Field(examples=[None])
    metadata: dict[str, Any] = Field(examples=[{}])
    path: str = Field(examples=[f"memory/alice/memories/2026-01/{_ID}-jwt.md"])
    problems: list[str] = Field([], examples=[[]])


class MemoriesOut(BaseModel):
    """Memories, newest first; `next` is the `offset` of the next page, null on the last."""

    memories: list[MemoryOut]
    next: int | None = Field(None, examples=[None])


class RecallIn(BaseModel):
    """What to recall."""

    query: str = Field(min_length=1, max_length=20_000, examples=["登入为什么用 JWT"])
    skill_id: Name | None = Field(None, description="Only memories of this skill.", examples=["web-deploy"])
    top_k: int = Field(5, ge=1, le=100)
    memory_types: list[Type] = Field(
        [], max_length=20, fail_fast=True, description="Only memories of these types.", examples=[["decision"]]
    )
    history: bool = Field(False, description="Expired and replaced ones too.")


class RecalledOut(MemoryOut):
    """A memory that answers. `score` is 0 to 1; `explain` has its parts, which sum up to it, and why it was found."""

    score: float = Field(examples=[0.71])
    explain: dict[str, Any] = Field(
        examples=[{"relevance": 0.55, "importance": 0.08, "recency": 0.08, "reinforcement": 0.0, "search": {}}]
    )


class RecollectionOut(BaseModel):
    """Memories, best first; `degraded` says what could not be used."""

    memories: list[RecalledOut]
    degraded: list[Reason] = Field(examples=[[]])


class DeletionIn(BaseModel):
    """Which memories to delete, past ones too: in exactly one way."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"query": "JWT"}, {"memory_type": "note"}]})

    ids: Ids | None = None
    query: str | None = Field(
        None, min_length=1, max_length=2_000, description="All these words in title, content or tags.", examples=["JWT"]
    )
    memory_type: Type | None = None


class PreviewOut(BaseModel):
    """A memory that would be deleted, with how its content begins."""

    id: str = Field(examples=[_ID])
    memory_type: str = Field(examples=["decision"])
    title: str = Field(examples=["用 JWT 登入"])
    content: str = Field(examples=["用 JWT 登入，因為手機版沒有 cookie"])


class DeletionOut(BaseModel):
    """What would be deleted, and the code that deletes it: once, until then, of this user and of these memories. Who
    does not send it deletes nothing. `ids` names at most 1,000 of them, `preview` shows three. `values` of the
    profile go along, which were learned from the same sentences; `stays` says which do not, and why."""

    confirmCode: str = Field(examples=["K7QW2M"])
    expiresAt: datetime = Field(examples=[_AT])
    count: int = Field(examples=[1])
    ids: list[str] = Field(examples=[[_ID]])
    preview: list[PreviewOut]
    values: list[str] = Field(examples=[["timezone = America/New_York"]])
    stays: list[Reason] = Field(examples=[[]])


class ConfirmIn(BaseModel):
    """The code of a deletion."""

    confirmCode: str = Field(max_length=100, examples=["K7QW2M"])


class LookOut(BaseModel):
    """A look for the deleted memories in one store: whether none is there any more, and what was looked at."""

    store: str = Field(examples=["words"])
    absent: bool = Field(examples=[True])
    says: Reason = Field(examples=["1 passage in the index"])


class ReceiptOut(BaseModel):
    """What was deleted, where it is verified to be gone, the commands that bring it back, and what still holds it."""

    deleted: list[str] = Field(examples=[[_ID]])
    commits: list[str] = Field(examples=[["1a2b3c4d5e6f7a8b9c0d1a2b3c4d5e6f7a8b9c0d"]])
    paused: Reason | None = Field(None, examples=[None])
    verified: list[LookOut]
    restore: list[str] = Field(examples=[[f"vault-memory restore memory/alice/memories/{_ID}-jwt.md --to 1a2b3c4d"]])
    kept: list[str] = Field(examples=[["git's history: 1 note as of commit 1a2b3c4d5e6f"]])
    values: list[str] = Field(description="Of the profile, which went along.", examples=[[]])


class StatisticsOut(BaseModel):
    """How much the user's stores hold; the last two are of this server's session, and of this user."""

    memories: int = Field(examples=[12], description="Those that are neither expired nor replaced.")
    byType: dict[str, int] = Field(examples=[{"decision": 4, "fact": 8}])
    permanent: int = Field(examples=[8])
    past: int = Field(examples=[3])
    capacity: int = Field(examples=[5_000])
    entities: int = Field(examples=[0])
    mistakes: int = Field(examples=[0])
    memoriesCreated: int = Field(examples=[2])
    tasksCompleted: int = Field(examples=[1])


_SIMILAR = {
    "description": "Similar memories are there (`similar`), or another writer changed the file meanwhile.",
    "content": {problem.MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/SimilarProblem"}}},
}


@router.post("/memories", status_code=201, response_model=StoredOut, responses={**responses(409, 415), 409: _SIMILAR})
def store_memory(vault: TheVault, user_id: TheUser, body: MemoryIn) -> StoredOut | Response:
    """Store a memory; a new user's first one makes the user. Secrets and private facts are left out of it.

    If similar memories are there, the response is 409 and lists them; with `force_save` it is stored all the same."""
    memory = draft(
        vault,
        body.content,
        body.memory_type,
        body.skill_id,
        body.importance,
        body.ttl_days,
        body.metadata,
        title=body.title,
        tags=body.tags,
        source=body.source,
    )
    return _store(vault, user_id, memory, force_save=body.force_save)


@router.post(
    "/memories/remember", status_code=201, response_model=StoredOut, responses={**responses(409, 415), 409: _SIMILAR}
)
def remember(vault: TheVault, user_id: TheUser, body: RememberIn) -> StoredOut | Response:
    """Remember a fact for good; as a memory that is stored otherwise."""
    return _store(vault, user_id, draft(vault, body.content, "fact", None, body.importance), force_save=body.force_save)


@router.get("/memories", response_model=MemoriesOut, responses=responses(404))
async def memories(
    request: Request,
    vault: TheVault,
    user_id: TheUser,
    memory_type: Annotated[Type | None, Query(description="Only memories of this type.", examples=["decision"])] = None,
    history: Annotated[bool, Query(description="Expired and replaced ones too.")] = False,
    limit: Annotated[int, Query(ge=1, le=200)] = 20,
    offset: Annotated[int, Query(ge=0, le=MAX_OFFSET)] = 0,
) -> Response:
    """The user's memories, newest first."""

    def read() -> MemoriesOut:
        found = list_memories(vault, user_id, memory_type=memory_type, history=history, limit=limit + 1, offset=offset)
        rows, has_more = page((_memory_out(user_id, file) for file in found), limit)
        return MemoriesOut(memories=rows, next=offset + len(rows) if has_more else None)

    return await in_page_thread(request, user_id, read)


@router.post("/memories/recall", response_model=RecollectionOut, responses=responses(404, 415))
async def recall_memories(request: Request, vault: TheVault, user_id: TheUser, body: RecallIn) -> Response:
    """The memories that answer a query best: of what a search finds, by importance, age and how often they were
    recalled. Each one counts as recalled."""

    def find() -> str:
        found = recall(
            vault,
            vault.known_user(user_id),
            body.query,
            body.skill_id,
            body.top_k,
            body.memory_types,
            history=body.history,
        )
        rows = [RecalledOut(**_fields(each)) for each in found]
        return RecollectionOut(memories=rows, degraded=reasons(found.degraded, vault.root)).model_dump_json()

    return await made_in_turn(request, user_id, lambda: run_in_threadpool(find))


@router.post("/memories/deletions", status_code=201, responses=responses(404, 409, 415))
def begin_deletion(vault: TheVault, user_id: TheUser, body: DeletionIn) -> DeletionOut:
    """Choose memories to delete: nothing is deleted before the code in the response is sent back."""
    return _deletion_out(vault, user_id, ids=body.ids or (), query=body.query, memory_type=body.memory_type)


@router.post("/memories/deletions/confirm", responses=responses(404, 409, 415))
def confirm_deletion(vault: TheVault, user_id: TheUser, body: ConfirmIn) -> ReceiptOut:
    """Delete what was chosen, as the person's edit. A code that is wrong, expired or used is refused with 400."""
    receipt = delete_memories(vault, user_id, body.confirmCode, author=vault.history.person()).as_dict()
    paused = receipt.pop("paused")
    looks = [LookOut(**look | {"says": reason(look["says"], vault.root)}) for look in receipt.pop("verified")]
    return ReceiptOut(**receipt, verified=looks, paused=reason(paused, vault.root) if paused else None)


@router.get("/memories/{memory_id}", response_model=MemoryOut, responses=responses(404))
async def get_memory(request: Request, vault: TheVault, user_id: TheUser, memory_id: TheMemory) -> Response:
    """One memory, past or archived ones too."""
    return await in_page_thread(request, user_id, lambda: _memory_out(user_id, _file(vault, user_id, memory_id)))


@router.patch("/memories/{memory_id}", response_model=MemoryOut, responses=responses(404, 409, 415))
def change_memory(vault: TheVault, user_id: TheUser, memory_id: TheMemory, body: MemoryChangeIn) -> MemoryOut:
    """Change properties of a memory, as the person's edit, or put another content in its place: then the old memory
    stays, linked, and the response is the new one."""
    author = vault.history.person()
    if body.content is not None:
        stored = supersede(vault, user_id, memory_id, body.content, title=body.title or "", author=author)
        if not stored.id:
            raise UsageError("nothing is kept of this user, who is off the record: the memory stays as it is")
        return _memory_out(user_id, _file(vault, user_id, stored.id))
    edit_memory(
        vault,
        user_id,
        memory_id,
        memory_type=body.memory_type,
        title=body.title,
        tags=body.tags,
        importance=body.importance,
        ttl_days=body.ttl_days,
        is_permanent="ttl_days" in body.model_fields_set and body.ttl_days is None,
        author=author,
    )
    return _memory_out(user_id, _file(vault, user_id, memory_id))


@router.delete("/memories/{memory_id}", status_code=202, responses=responses(404, 409))
def delete_memory(vault: TheVault, user_id: TheUser, memory_id: TheMemory) -> DeletionOut:
    """Begin to delete one memory: it is deleted when the code in the response is sent to `…/deletions/confirm`."""
    return _deletion_out(vault, user_id, ids=[memory_id])


@router.get("/stats", responses=responses(404))
def stats(vault: TheVault, user_id: TheUser) -> StatisticsOut:
    """How many memories, entities and mistakes there are."""
    return StatisticsOut(**statistics(vault, user_id).as_dict())


def _store(vault: Vault, user_id: str, memory: Memory, *, force_save: bool) -> StoredOut | Response:
    """Store a memory; where similar ones are there, the refusal that lists them."""
    stored = store(vault, user_id, memory, force_save=force_save)
    degraded = reasons(stored.degraded, vault.root)
    if stored.similar and not stored.id:
        similar = [SimilarOut(**each.as_dict()).model_dump() for each in stored.similar]
        return problem.response(409, "similar-memories", _DECIDE, more={"similar": similar, "degraded": degraded})
    return StoredOut(
        id=stored.id,
        commits=list(stored.commits),
        redactions=dict(stored.redactions),
        expired=list(stored.expired),
        paused=reason(stored.paused, vault.root) if stored.paused else None,
        degraded=degraded,
        merged=list(stored.merged),
        reinforced=stored.reinforced,
    )


def _deletion_out(vault: Vault, user_id: str, **chosen: Any) -> DeletionOut:
    deletion = prepare_deletion(vault, user_id, **chosen)
    return DeletionOut(
        confirmCode=deletion.code,
        expiresAt=deletion.expires_at,
        count=len(deletion.memories),
        ids=[each.id for each in deletion.memories[:MAX_LISTED_IDS]],
        preview=[
            PreviewOut(id=each.id, memory_type=each.type, title=each.title, content=each.content)
            for each in deletion.previewed
        ],
        values=list(deletion.values),
        stays=reasons(deletion.stays, vault.root),
    )


def _file(vault: Vault, user_id: str, memory_id: str) -> MemoryFile:
    """The note of a memory; of several with one id one that is not archived."""
    return min(memory_files(vault, user_id, [memory_id]), key=lambda file: file.is_archived)


def _memory_out(user_id: str, file: MemoryFile) -> MemoryOut:
    return MemoryOut(**_fields(file.memory), path=f"memory/{user_id}/{file.source}")


def _fields(memory: Memory) -> dict[str, Any]:
    """The fields of a memory as a response has them. A person may have written anything into a note that YAML knows."""
    shown = memory.as_dict()
    shown["memory_type"] = shown.pop("type")
    shown["metadata"] = {
        str(key): json.loads(json.dumps(value, default=str, skipkeys=True)) for key, value in memory.metadata.items()
    }
    return shown | {"problems": list(memory.problems)}
