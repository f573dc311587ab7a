"""Forgetting what a person names, wherever it stands, in two steps."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from vault_memory.interfaces.http.body import JsonRoute
from vault_memory.interfaces.http.guard import TheUser, TheVault
from vault_memory.interfaces.http.problem import Reason, reason, reasons, responses
from vault_memory.services.forgetting import forget, prepare_forgetting

router = APIRouter(prefix="/api/v1/user/{student_id}", tags=["forgetting"], route_class=JsonRoute)

MAX_LISTED = 1_000
"""Places in a response; `count` says how many there are."""
MAX_SHOWN = 3


class WishIn(BaseModel):
    """What to forget, in exactly one way."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"text": "咖啡"}, {"since": "2026-01-30"}]})

    text: str = Field("", max_length=2_000, description="Wherever it stands; or «everything about me».")
    key: str = Field("", max_length=100, description="A key of the profile.", examples=[""])
    turn: str = Field("", max_length=100, description="The line of a turn.", examples=[""])
    asked: str = Field("", max_length=100, description="The line of a turn that asked for it.", examples=[""])
    since: date | None = Field(None, description="What was said and learned from that day on.", examples=[None])

    @property
    def wish(self) -> dict[str, Any]:
        """What is to be forgotten, as the service takes it."""
        return {name: getattr(self, name) for name in ("text", "key", "turn", "asked", "since")}


class ConfirmedIn(WishIn):
    """The same again, with the code that was given for it: the server keeps no word of it."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"text": "咖啡", "confirmCode": "K7QW2M"}]})

    confirmCode: str = Field(max_length=100, examples=["K7QW2M"])


class PlaceOut(BaseModel):
    """A file in which it stands, of which kind, how many parts of it go, and the beginning of three of them."""

    source: str = Field(examples=["conversations/2026-01-30.jsonl:12"])
    kind: str = Field(examples=["conversation"])
    count: int = Field(examples=[1])
    shows: list[str] = Field(examples=[["我喜歡咖啡"]])


class ForgettingOut(BaseModel):
    """What would be forgotten, and the code that does it: once, until then. Who does not send it forgets nothing."""

    confirmCode: str = Field(examples=["K7QW2M"])
    expiresAt: datetime = Field(examples=["2026-01-30T14:05:00+08:00"])
    count: int = Field(examples=[1], description="How many places; at most 1,000 are listed.")
    places: list[PlaceOut]
    stays: list[str] = Field([], examples=[[]], description="What may be meant and stays, and why.")


class SeenOut(BaseModel):
    """A look for it in one store: whether it is there no more, and what was looked at."""

    store: str = Field(examples=["search"])
    absent: bool = Field(examples=[True])
    says: Reason = Field(examples=["a search for it"])


class GoneOut(BaseModel):
    """A place from which it was taken, and how many parts."""

    source: str = Field(examples=["USER.md"])
    kind: str = Field(examples=["profile"])
    count: int = Field(examples=[1])


class ForgottenOut(BaseModel):
    """What was forgotten, where it is verified to be gone, the commands that bring files back as they were, what still
    has the words, and what could not be done yet (`problems`): it is tried again."""

    forgotten: list[GoneOut]
    commits: list[str] = Field(examples=[["1a2b3c4d5e6f7a8b9c0d1a2b3c4d5e6f7a8b9c0d"]])
    paused: Reason | None = Field(None, examples=[None])
    verified: list[SeenOut]
    restore: list[str] = Field(examples=[["vault-memory restore memory/alice/USER.md --to 1a2b3c4d"]])
    kept: list[str] = Field(examples=[["git's history, as of commit 1a2b3c4d5e6f and earlier"]])
    problems: list[Reason] = Field([], examples=[[]])


@router.post("/forgettings", status_code=201, responses=responses(404, 409, 415))
def begin_forgetting(vault: TheVault, user_id: TheUser, body: WishIn) -> ForgettingOut:
    """Find all that would be forgotten: nothing is forgotten before the code in the response is sent back."""
    found = prepare_forgetting(vault, user_id, **body.wish)
    places = [
        PlaceOut(source=each.source, kind=each.kind, count=len(each.shows), shows=list(each.shows[:MAX_SHOWN]))
        for each in found.places[:MAX_LISTED]
    ]
    return ForgettingOut(
        confirmCode=found.code,
        expiresAt=found.expires_at,
        count=len(found.places),
        places=places,
        stays=list(found.stays),
    )


@router.post("/forgettings/confirm", responses=responses(404, 409, 415))
def confirm_forgetting(vault: TheVault, user_id: TheUser, body: ConfirmedIn) -> ForgottenOut:
    """Forget what was shown, as the person's edit. A code that is wrong, expired or used is refused with 400."""
    done = forget(vault, user_id, body.confirmCode, **body.wish).as_dict()
    looks = [SeenOut(**look | {"says": reason(look["says"], vault.root)}) for look in done.pop("verified")]
    gone = [GoneOut(**each) for each in done.pop("forgotten")[:MAX_LISTED]]
    paused, problems = done.pop("paused"), reasons(done.pop("problems"), vault.root)
    return ForgottenOut(
        **done, forgotten=gone, verified=looks, problems=problems, paused=reason(paused, vault.root) if paused else None
    )
