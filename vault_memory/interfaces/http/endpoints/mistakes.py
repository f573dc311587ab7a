"""A user's mistakes: recording one, listing them, and what they have in common."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, Field

from vault_memory.interfaces.http.body import JsonRoute
from vault_memory.interfaces.http.guard import TheUser, TheVault
from vault_memory.interfaces.http.problem import Reason, reason, reasons, responses
from vault_memory.interfaces.http.response import in_page_thread, page
from vault_memory.services.mistakes import MistakeFile, get_mistake_patterns, list_mistakes, record_mistake

router = APIRouter(prefix="/api/v1/user/{student_id}", tags=["mistakes"], route_class=JsonRoute)

MAX_OFFSET = 1_000_000
_ID = "mistake_1769753100000_a1b2c3d4"
_AT = "2026-01-30T14:05:00+08:00"

Text = Annotated[str, Field(max_length=20_000)]
Name = Annotated[str, Field(max_length=100)]
OfType = Annotated[
    Name | None, Query(description="Only mistakes of this type, in any spelling.", examples=["deployment-error"])
]
Like = Annotated[
    str | None,
    Query(max_length=2_000, description="Only mistakes of what this request is about.", examples=["deploy the site"]),
]


class MistakeIn(BaseModel):
    """A mistake to record; its texts have at most 20,000 characters together."""

    action: Text = Field(min_length=1, description="What was done.", examples=["沒有跑測試就部署"])
    error_type: Name = Field("other", description="A short name of your own.", examples=["deployment-error"])
    user_correction: Text = Field("", description="What the person said to it.", examples=["部署前要先跑測試"])
    correct_method: Text = Field("", description="How it is done rightly.", examples=["先在 staging 跑完整測試"])
    impact: Text = Field("", description="What came of it.", examples=["登入頁壞了兩個小時"])
    prevention_method: Text = Field("", description="How it is prevented.", examples=["部署前看 CI 燈號"])
    related_rule: Name | None = Field(None, description="The rule that it broke.", examples=["deploy-checklist"])


class NotedOut(BaseModel):
    """What became of a mistake: its id (empty for a user who is off the record), the commits; what was kept out of it,
    by category; why its commit waits; what could not be used."""

    id: str = Field(examples=[_ID])
    commits: list[str] = Field(examples=[["1a2b3c4d5e6f7a8b9c0d1a2b3c4d5e6f7a8b9c0d"]])
    redactions: dict[str, int] = Field(examples=[{}])
    paused: Reason | None = Field(None, examples=[None])
    degraded: list[Reason] = Field(examples=[[]])


class MistakeOut(BaseModel):
    """A mistake. `path` is its note in the vault; `metadata` are further properties of that; `problems` says what of
    it could not be understood and counts as absent."""

    id: str = Field(examples=[_ID])
    error_type: str = Field(examples=["deployment-error"])
    action: str = Field(examples=["沒有跑測試就部署"])
    user_correction: str = Field(examples=["部署前要先跑測試"])
    correct_method: str = Field(examples=["先在 staging 跑完整測試"])
    impact: str = Field(examples=["登入頁壞了兩個小時"])
    prevention_method: str = Field(examples=["部署前看 CI 燈號"])
    related_rule: str | None = Field(examples=["deploy-checklist"])
    created_at: datetime | None = Field(examples=[_AT])
    metadata: dict[str, Any] = Field(examples=[{}])
    path: str = Field(examples=[f"memory/alice/mistakes/2026-01/{_ID}-沒有跑測試就部署.md"])
    problems: list[str] = Field([], examples=[[]])


class MistakesOut(BaseModel):
    """Mistakes, newest first; `next` is the `offset` of the next page, null on the last."""

    mistakes: list[MistakeOut]
    next: int | None = Field(None, examples=[None])


class PatternOut(BaseModel):
    """Mistakes of one kind: the type and the action of the newest, their number, the newest prevention, when the first
    and the last was made, how many in the last 30 days and in the 30 before (`trend`: rising, falling or steady)."""

    error_type: str = Field(examples=["deployment-error"])
    action: str = Field(examples=["沒有跑測試就部署"])
    count: int = Field(examples=[3])
    prevention_method: str = Field(examples=["部署前看 CI 燈號"])
    first_at: datetime | None = Field(examples=[_AT])
    last_at: datetime | None = Field(examples=[_AT])
    recent: int = Field(examples=[2])
    earlier: int = Field(examples=[1])
    trend: str = Field(examples=["rising"])
    ids: list[str] = Field(examples=[[_ID]])


class PatternsOut(BaseModel):
    """What mistakes have in common: a pattern for each type, and one for each mistake that was made more than once, the
    most frequent first, at most 100 of each; and their number by month."""

    total: int = Field(examples=[3])
    by_type: list[PatternOut]
    similar: list[PatternOut]
    by_month: dict[str, int] = Field(examples=[{"2026-01": 3}])


@router.post("/mistakes", status_code=201, responses=responses(409, 415))
def add_mistake(vault: TheVault, user_id: TheUser, body: MistakeIn) -> NotedOut:
    """Record a mistake for good; a new user's first one makes the user. Secrets and private facts are left out of it.
    Made again it is recorded again."""
    noted = record_mistake(vault, user_id, **body.model_dump()).noted.as_dict()
    paused, degraded = noted.pop("paused"), noted.pop("degraded")
    return NotedOut(
        **noted, paused=reason(paused, vault.root) if paused else None, degraded=reasons(degraded, vault.root)
    )


@router.get("/mistakes", response_model=MistakesOut, responses=responses(404))
async def mistakes(
    request: Request,
    vault: TheVault,
    user_id: TheUser,
    error_type: OfType = None,
    like: Like = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 20,
    offset: Annotated[int, Query(ge=0, le=MAX_OFFSET)] = 0,
) -> Response:
    """The user's mistakes, newest first."""

    def read() -> MistakesOut:
        found = list_mistakes(vault, user_id, error_type=error_type, like=like, limit=limit + 1, offset=offset)
        rows, has_more = page((_mistake_out(user_id, file) for file in found), limit)
        return MistakesOut(mistakes=rows, next=offset + len(rows) if has_more else None)

    return await in_page_thread(request, user_id, read)


@router.get("/mistakes/patterns", response_model=PatternsOut, responses=responses(404))
async def mistake_patterns(
    request: Request, vault: TheVault, user_id: TheUser, error_type: OfType = None, like: Like = None
) -> Response:
    """What the user's mistakes have in common, by type and by similar text."""

    def read() -> PatternsOut:
        return PatternsOut(**get_mistake_patterns(vault, user_id, error_type=error_type, like=like).as_dict())

    return await in_page_thread(request, user_id, read)


def _mistake_out(user_id: str, file: MistakeFile) -> MistakeOut:
    """A mistake as a response has it. A person may have written anything into a note that YAML knows."""
    shown = file.as_dict(user_id)
    metadata = {str(key): json.loads(json.dumps(value, default=str)) for key, value in shown["metadata"].items()}
    return MistakeOut(**shown | {"metadata": metadata})
