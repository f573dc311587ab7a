"""Erasing for good, in two steps. History is made anew for all users of the vault: only its own token does that."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from vault_memory.interfaces.http.body import JsonRoute
from vault_memory.interfaces.http.guard import TheAdmin, TheUser, TheVault
from vault_memory.interfaces.http.problem import Reason, reasons, responses
from vault_memory.services.erasing import erase_with_code, prepare_erasing

router = APIRouter(prefix="/api/v1/user/{student_id}", tags=["erasing"], route_class=JsonRoute)

MAX_LISTED = 1_000
"""Files in a response; `count` says how many there are."""
Text = Annotated[str, Field(max_length=2_000)]


class WantedIn(BaseModel):
    """What to erase, in exactly one way."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"texts": ["我的舊地址"]}, {"everything": True}]})

    texts: list[Text] = Field([], max_length=20, description="Texts of the user's, in all their forms.")
    note: str = Field("", max_length=500, description="A note, by its path, or a memory's id.", examples=[""])
    everything: bool = Field(False, description="All that is the user's.", examples=[False])
    longTerm: bool = Field(False, description="Rows of the long-term store, too.", examples=[False])


class ConfirmedIn(WantedIn):
    """The same again, with the code that was given for it: the server keeps no word of it."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"texts": ["我的舊地址"], "confirmCode": "K7QW2M"}]})

    confirmCode: str = Field(max_length=100, examples=["K7QW2M"])


class ErasingOut(BaseModel):
    """What would be erased, and the code that does it: once, until then. `forms` are those in which texts were found,
    `places` the first of them with the words around: look there whether a text stands in longer words. Who does not
    send the code erases nothing."""

    confirmCode: str = Field(examples=["K7QW2M"])
    expiresAt: datetime = Field(examples=["2026-01-30T14:05:00+08:00"])
    commits: int = Field(examples=[12], description="Commits that would be made anew.")
    references: int = Field(examples=[1], description="Branches, tags and other references that would be moved.")
    count: int = Field(examples=[3], description="How many files; at most 1,000 are listed.")
    files: list[str] = Field(examples=[["memory/alice/USER.md"]])
    forms: list[str] = Field(examples=[["我的舊地址", "我的旧地址"]])
    places: list[str] = Field(examples=[["我搬家了，我的舊地址是中山路七號"]])
    clauses: list[str] = Field([], examples=[["我住在台北"]], description="Parts of a text, learned, that go along.")
    tags: list[str] = Field([], examples=[["v1"]], description="Annotated tags of whose words nothing would be left.")
    kept: list[Reason] = Field(examples=[["packed files are not looked into: old.zip"]])
    outOfReach: list[Reason] = Field(examples=[["backups that were made before: delete those"]])


class ErasedOut(BaseModel):
    """What was erased, counted; `left` names each place where a second look found something still, `problems` what
    could not be done."""

    commits: int = Field(examples=[12])
    files: int = Field(examples=[3])
    entries: int = Field(examples=[2], description="Of the short-term store, and turns that waited to be sent.")
    rows: int = Field(examples=[0], description="Of the long-term store.")
    clauses: list[str] = Field([], examples=[["我住在台北"]], description="Parts of a text, learned, that went along.")
    renamed: list[str] = Field([], examples=[["notes/(erased).md"]], description="What files are called now.")
    tags: list[str] = Field([], examples=[["v1"]], description="Annotated tags of whose words nothing is left.")
    left: list[Reason] = Field(examples=[[]])
    kept: list[Reason] = Field(examples=[["packed files are not looked into: old.zip"]])
    outOfReach: list[Reason] = Field(examples=[["backups that were made before: delete those"]])
    problems: list[Reason] = Field([], examples=[[]])


@router.post("/erasings", status_code=201, responses=responses(404, 409, 415))
def begin_erasing(_: TheAdmin, vault: TheVault, user_id: TheUser, body: WantedIn) -> ErasingOut:
    """Look for all that would be erased: nothing is before the code in the response is sent back. It takes as long as
    a look through the whole history."""
    found = prepare_erasing(
        vault, user_id, texts=body.texts, note=body.note, everything=body.everything, long_term=body.longTerm
    )
    shown = found.preview
    paths = [*map(str, shown.git.files), *shown.private]
    return ErasingOut(
        confirmCode=found.code,
        expiresAt=found.expires_at,
        commits=shown.git.commits,
        references=shown.git.refs,
        count=len(paths),
        files=paths[:MAX_LISTED],
        forms=list(shown.forms[:MAX_LISTED]),
        places=list(shown.places[:MAX_LISTED]),
        clauses=list(shown.clauses[:MAX_LISTED]),
        tags=list(shown.git.tags[:MAX_LISTED]),
        kept=reasons(shown.kept, vault.root),
        outOfReach=reasons(shown.out_of_reach, vault.root),
    )


@router.post("/erasings/confirm", responses=responses(404, 409, 415))
def confirm_erasing(_: TheAdmin, vault: TheVault, user_id: TheUser, body: ConfirmedIn) -> ErasedOut:
    """Erase for good what was shown; it goes on when the caller leaves. A code that is wrong, expired or used is
    refused with 400."""
    done = erase_with_code(
        vault,
        user_id,
        body.confirmCode,
        texts=body.texts,
        note=body.note,
        everything=body.everything,
        long_term=body.longTerm,
    )
    return ErasedOut(
        commits=done.commits,
        files=done.files,
        entries=done.entries,
        rows=done.rows,
        clauses=list(done.clauses[:MAX_LISTED]),
        renamed=list(done.renamed[:MAX_LISTED]),
        tags=list(done.tags[:MAX_LISTED]),
        left=reasons(done.left, vault.root),
        kept=reasons(done.kept, vault.root),
        outOfReach=reasons(done.out_of_reach, vault.root),
        problems=reasons(done.problems, vault.root),
    )
