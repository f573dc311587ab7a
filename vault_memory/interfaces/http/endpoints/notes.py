"""Notes by their names: reading one, what is around it. Also a search for which no user is named."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, Field

from vault_memory.interfaces.http.body import JsonRoute
from vault_memory.interfaces.http.endpoints.memory import SearchIn, SearchOut, search_memory
from vault_memory.interfaces.http.guard import TheCaller, TheUser, TheVault, acting_for
from vault_memory.interfaces.http.problem import responses
from vault_memory.interfaces.http.response import in_page_thread
from vault_memory.services.admin import Caller
from vault_memory.services.retrieval import read_named, whose
from vault_memory.services.retrieval import related as around
from vault_memory.services.vault import Vault

router = APIRouter(prefix="/api/v1", tags=["notes"], route_class=JsonRoute)

OfScope = Literal["user", "shared", "all"]
Called = Annotated[
    str,
    Query(
        min_length=1, max_length=1_000, description="A path, a file name, a title or an alias.", examples=["使用者資料"]
    ),
]
CalledWithLines = Annotated[
    str,
    Query(
        min_length=1,
        max_length=1_000,
        description="A path, a file name, a title or an alias; `Tea:12-30` are lines of it.",
        examples=["USER:1-2"],
    ),
]
Where = Annotated[
    OfScope | None, Query(description="The user's own notes, shared ones, or both (the default).", examples=["all"])
]
Most = Annotated[int, Query(ge=1, le=100)]


class NoteOut(BaseModel):
    """Lines of a note as it is on disk; `line_range` is the first and the last, 1-based, inclusive ([1, 0]: it is
    empty). `commit` is the newest that holds the note so, "" if none does."""

    source: str = Field(examples=["USER.md"])
    scope: str = Field(examples=["alice"], description="The user, or `shared`.")
    path: str = Field(examples=["memory/alice/USER.md"], description="From the root of the vault.")
    content: str = Field(examples=["# 使用者資料\n"])
    line_range: list[int] = Field(min_length=2, max_length=2, examples=[[1, 1]])
    commit: str = Field(examples=["1a2b3c4d5e6f7a8b9c0d1a2b3c4d5e6f7a8b9c0d"])


class RelatedNoteOut(BaseModel):
    """A note and what ties it to the one that was asked about: a link to it or from it, tags of both, nearness of what
    they say (0 to 1)."""

    source: str = Field(examples=["notes/kettle.md"])
    scope: str = Field(examples=["alice"], description="The user, or `shared`.")
    path: str = Field(examples=["memory/alice/notes/kettle.md"], description="From the root of the vault.")
    is_linked: bool = Field(examples=[True])
    links_back: bool = Field(examples=[False])
    tags: list[str] = Field(examples=[["tea"]])
    nearness: float = Field(examples=[0.41])
    score: float = Field(examples=[0.35])


class RelatedOut(BaseModel):
    """Notes, the best first."""

    notes: list[RelatedNoteOut]


@router.get("/memory/{student_id}/note", response_model=NoteOut, responses=responses(404, 413))
async def note(
    request: Request, vault: TheVault, user_id: TheUser, name: CalledWithLines, scope: Where = None
) -> Response:
    """A whole note by any of its names, or lines of it; 400 where several notes are called so."""
    return await _note(request, vault, user_id, scope or "all", name)


@router.get("/memory/{student_id}/related", response_model=RelatedOut, responses=responses(404))
async def related(
    request: Request, vault: TheVault, user_id: TheUser, name: Called, scope: Where = None, top_k: Most = 10
) -> Response:
    """The notes around a note, by links both ways, shared tags and what they say."""
    return await _related(request, vault, user_id, scope or "all", name, top_k)


@router.post("/search", response_model=SearchOut, responses=responses(404, 415))
async def search_for_anybody(request: Request, vault: TheVault, caller: TheCaller, body: SearchIn) -> Response:
    """Search where no user is named: with a user's token that user's notes and the shared ones. With the vault's own
    token the shared notes and those of the only user; among several users 400."""
    user_id, scope = _asker(vault, caller, body.scope if "scope" in body.model_fields_set else None)
    return await search_memory(request, user_id, body.model_copy(update={"scope": scope}))


@router.get("/note", response_model=NoteOut, responses=responses(404, 413))
async def note_for_anybody(
    request: Request, vault: TheVault, caller: TheCaller, name: CalledWithLines, scope: Where = None
) -> Response:
    """A note where no user is named: of those that a search finds so."""
    return await _note(request, vault, *_asker(vault, caller, scope), name)


@router.get("/related", response_model=RelatedOut, responses=responses(404))
async def related_for_anybody(
    request: Request, vault: TheVault, caller: TheCaller, name: Called, scope: Where = None, top_k: Most = 10
) -> Response:
    """The notes around a note where no user is named: of those that a search finds so."""
    return await _related(request, vault, *_asker(vault, caller, scope), name, top_k)


def _asker(vault: Vault, caller: Caller, scope: OfScope | None) -> tuple[str, OfScope]:
    """Whose notes are read: the token's user is asked about where there is one."""
    if caller.user_id is None:
        return whose(vault, None, scope)
    return acting_for(vault, caller, caller.user_id), scope or "all"


async def _note(request: Request, vault: Vault, user_id: str, scope: OfScope, name: str) -> Response:
    return await in_page_thread(request, user_id, lambda: NoteOut(**read_named(vault, user_id, name, scope).as_dict()))


async def _related(request: Request, vault: Vault, user_id: str, scope: OfScope, name: str, top_k: int) -> Response:
    def read() -> RelatedOut:
        found = around(vault, user_id, name, scope, top_k)
        return RelatedOut(notes=[RelatedNoteOut(**each.as_dict()) for each in found])

    return await in_page_thread(request, user_id, read)
