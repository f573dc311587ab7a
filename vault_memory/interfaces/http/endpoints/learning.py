"""A learner's profile and sessions, and the summary for an intent router. No model is asked in any of it."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field

from vault_memory.interfaces.http.body import JsonRoute
from vault_memory.interfaces.http.guard import TheCaller, TheVault, acting_for
from vault_memory.interfaces.http.problem import Reason, reason, reasons, responses
from vault_memory.services import learning
from vault_memory.services.admin import Caller
from vault_memory.services.vault import Vault

router = APIRouter(prefix="/memory", tags=["learning"], route_class=JsonRoute)

_AT = "2026-01-30T14:05:00+08:00"
_TOPIC = "微积分-极限"

Name = Annotated[str, Field(min_length=1, max_length=200)]
UserId = Annotated[str, Field(min_length=1, max_length=256)]
Mastery = Literal["weak", "medium", "strong"]
Difficulty = Literal["easy", "medium", "hard"]
_USER = "A user id, or an outside name from `[identities]`."


class Metadata(BaseModel):
    """How a quiz went."""

    difficulty: Difficulty | None = Field(None, examples=["easy"])
    correct_rate: float | None = Field(None, strict=True, ge=0, le=1, allow_inf_nan=False, examples=[0.4])


class EventIn(BaseModel):
    """One step of a learner: what was asked for, about what, what was made, and how a quiz went."""

    intent: Name = Field(description="`quiz` and `homework_help` are counted.", examples=["quiz"])
    topic: Name | None = Field(None, examples=[_TOPIC])
    artifact: Name | None = Field(None, examples=["quiz_set"])
    metadata: Metadata | None = Field(None, examples=[{"difficulty": "easy", "correct_rate": 0.4}])


class UserUpdate(BaseModel):
    """A step, and whose it is."""

    user_id: UserId = Field(description=_USER, examples=["u123"])
    event: EventIn


class SessionUpdate(BaseModel):
    """A step in a session. Of a user's token the session is that user's; with the vault's own it is that of `user_id`,
    of nobody without one."""

    session_id: Name = Field(examples=["s456"])
    intent: Name | None = Field(None, examples=["quiz"])
    topic: Name | None = Field(None, examples=[_TOPIC])
    artifact: Name | None = Field(None, examples=["quiz_set"])
    message: str | None = Field(None, max_length=100_000, description="What the person said.", examples=[None])
    user_id: UserId | None = Field(None, description=_USER, examples=[None])


class PreferencesOut(BaseModel):
    """What the person prefers, as LEARNING.md says; null where it does not."""

    preferred_artifact: str | None = Field(examples=["quiz"])
    difficulty_preference: str | None = Field(examples=["easy"])


class HistoryOut(BaseModel):
    """What was done; `topics_visited` are the last 50, the newest last."""

    quiz_sessions: int = Field(examples=[3])
    homework_help_count: int = Field(examples=[0])
    topics_visited: list[str] = Field(examples=[[_TOPIC]])


class UserLearningProfile(BaseModel):
    """A learner's profile; `updated_at` is null before the first event."""

    user_id: str = Field(examples=["u123"])
    mastery: dict[str, Mastery] = Field(examples=[{_TOPIC: "weak"}])
    preferences: PreferencesOut
    history: HistoryOut
    updated_at: str | None = Field(examples=[_AT])


class UpdatedProfile(UserLearningProfile):
    """The profile after an event; why its commit waits longer than it should; what could not be used."""

    paused: Reason | None = Field(None, examples=[None])
    degraded: list[Reason] = Field(examples=[[]])


class SessionContextOut(BaseModel):
    """What a learner is at; `recent_intents` are the last 20, the newest last."""

    session_id: str = Field(examples=["s456"])
    current_topic: str | None = Field(examples=[_TOPIC])
    recent_intents: list[str] = Field(examples=[["quiz"]])
    last_artifact: str | None = Field(examples=["quiz_set"])
    last_user_message: str = Field(examples=[""])
    updated_at: str | None = Field(examples=[_AT])


class SummaryOut(BaseModel):
    """The topic of the session, its mastery (null: unknown), and what was just done, in words."""

    topic_hint: str | None = Field(examples=[_TOPIC])
    user_mastery_hint: Mastery | None = Field(examples=["weak"])
    recent_behavior: str = Field(examples=["用户刚做过极限练习题"])


OfUser = Annotated[
    str | None, Query(min_length=1, max_length=256, description=f"{_USER} Whose session it is.", examples=["u123"])
]


@router.get("/user/{user_id}", responses=responses(404))
def user_profile(
    vault: TheVault,
    caller: TheCaller,
    user_id: Annotated[str, Path(description=_USER, examples=["u123"], max_length=256)],
) -> UserLearningProfile:
    """What a user masters, prefers and has done."""
    user = acting_for(vault, caller, user_id)
    return UserLearningProfile.model_validate(learning.learning_profile(vault, user).as_dict(user))


@router.get("/session/{session_id}", responses=responses(404))
def session_context(
    vault: TheVault,
    caller: TheCaller,
    session_id: Annotated[str, Path(description="The session's id.", examples=["s456"], max_length=200)],
    user_id: OfUser = None,
) -> SessionContextOut:
    """What the learner of a session is at, within two days after its last update."""
    found = learning.session_context(vault, _owner(vault, caller, user_id), session_id)
    return SessionContextOut.model_validate(found.as_dict())


@router.post("/user/update", responses=responses(409, 415))
def update_user(vault: TheVault, caller: TheCaller, body: UserUpdate) -> UpdatedProfile:
    """Let an event change a user's profile, which is done when this answers; a new user's first one makes the user."""
    user = acting_for(vault, caller, body.user_id)
    done = learning.update_user(vault, user, body.event.model_dump())
    return UpdatedProfile(
        **done.as_dict(),
        paused=reason(done.paused, vault.root) if done.paused else None,
        degraded=reasons(done.degraded, vault.root),
    )


@router.post("/session/update", responses=responses(415))
def update_session(vault: TheVault, caller: TheCaller, body: SessionUpdate) -> SessionContextOut:
    """Let a step change the context of a session; what it does not name stays."""
    owner = _owner(vault, caller, body.user_id)
    step = body.model_dump(exclude={"user_id", "session_id"})
    return SessionContextOut.model_validate(learning.update_session(vault, owner, body.session_id, **step).as_dict())


@router.get("/summary", responses=responses())
def summary(
    vault: TheVault,
    caller: TheCaller,
    user_id: Annotated[str, Query(min_length=1, max_length=256, description=_USER, examples=["u123"])],
    session_id: Annotated[
        str | None, Query(min_length=1, max_length=200, description="The session's id.", examples=["s456"])
    ] = None,
) -> SummaryOut:
    """The summary for an intent router; of a new user or session it is empty."""
    user = acting_for(vault, caller, user_id)
    found = learning.memory_summary(vault, user, session_id, of_nobody=caller.admin)
    return SummaryOut.model_validate(found.as_dict())


def _owner(vault: Vault, caller: Caller, user_id: str | None) -> str:
    """Whose a session is: the named user's, else the caller's; "" where that is nobody."""
    name = user_id if user_id is not None else caller.user_id
    return "" if name is None else acting_for(vault, caller, name)
