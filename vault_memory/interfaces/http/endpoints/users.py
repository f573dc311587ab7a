"""Users and their profiles: the whole profile, its preferences one by one, where each comes from."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request, Response
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from vault_memory.errors import NotFound, Stale, UsageError
from vault_memory.interfaces.http import problem
from vault_memory.interfaces.http.body import JsonRoute
from vault_memory.interfaces.http.guard import TheAdmin, TheUser, TheVault
from vault_memory.interfaces.http.problem import responses
from vault_memory.interfaces.http.response import in_page_thread, page
from vault_memory.services.admin import users
from vault_memory.services.profiles import (
    NO_PROFILE,
    UserProfile,
    accept_suggestion,
    dismiss_suggestion,
    history,
    list_suggestions,
    put_content,
    put_preferences,
    restore_preference,
    user_profile,
)
from vault_memory.services.profiles import list_preferences as preferences_of
from vault_memory.services.vault import Vault

router = APIRouter(prefix="/api/v1", tags=["users"], route_class=JsonRoute)

MAX_OFFSET = 1_000_000
ETAG = '"5f0c9a7b1e2d4c3f8a6b9d0e1f2a3b4c"'

MAX_VALUES = 1_000
"""Of one key in a request; a profile holds far fewer."""

MAX_KEYS = 50
"""Of a request; a profile has some twenty."""


def _counted(preferences: Any) -> Any:
    """Thousands of wrong values would be told one by one, which takes long, before they are counted."""
    if isinstance(preferences, dict) and len(preferences) > MAX_KEYS:
        raise ValueError(f"has {len(preferences):,} keys; at most {MAX_KEYS} are changed at once")
    return preferences


def _without_nul(content: str | None) -> str | None:
    """git and the profile's reader take a file with a NUL byte for no text: nothing could be learned any more."""
    if content is not None and "\0" in content:
        raise ValueError("holds a NUL character, which no text has: send it without")
    return content


Value = Annotated[str, Field(max_length=1_000)]
Values = Annotated[list[Value], Field(max_length=MAX_VALUES, fail_fast=True)]


class ProfileOut(BaseModel):
    """A user's USER.md: the text, and the values in it by key. `suggested_default` holds the strong ones, which apply
    where the person asks for nothing else."""

    user_id: str = Field(examples=["alice"])
    content: str = Field(examples=["# 使用者資料\n\n## 使用偏好\n- 主題偏好：dark\n"])
    preferences: dict[str, str | list[str]] = Field(examples=[{"theme": "dark", "languages": ["Python"]}])
    suggested_default: dict[str, str | list[str]] = Field(examples=[{"theme": "dark"}])
    version: str = Field(examples=[ETAG.strip('"')], description="The ETag, without its quotes.")


class ProfileIn(BaseModel):
    """Either the whole text, or new values for some keys: null or an empty list removes a key's values."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"preferences": {"theme": "dark", "languages": ["Python"], "display_name": None}},
                {"content": "# 使用者資料\n\n## 使用偏好\n- 主題偏好：dark\n"},
            ]
        }
    )

    content: Annotated[str | None, AfterValidator(_without_nul)] = Field(None, max_length=200_000)
    preferences: Annotated[dict[str, Value | Values | None] | None, BeforeValidator(_counted)] = Field(
        None, max_length=MAX_KEYS
    )

    @model_validator(mode="after")
    def _one(self) -> ProfileIn:
        if (self.content is None) == (self.preferences is None):
            raise ValueError("give either content or preferences")
        return self


class UserOut(BaseModel):
    """A user of the vault, and the display name from the profile."""

    user_id: str = Field(examples=["alice"])
    display_name: str = Field(examples=["小安"])


class UsersOut(BaseModel):
    """Users by id; `next` is the `after` of the next page, null on the last."""

    users: list[UserOut]
    next: str | None = Field(None, examples=[None])


class PreferenceOut(BaseModel):
    """One value of a profile; `suggested_default` marks a strong one, which applies without being asked for."""

    key: str = Field(examples=["theme"])
    value: str = Field(examples=["dark"])
    suggested_default: bool = Field(examples=[False])


class PreferencesOut(BaseModel):
    """Values of a profile in the order of its fields; `next` is the `offset` of the next page, null on the last."""

    preferences: list[PreferenceOut]
    next: int | None = Field(None, examples=[None])


class ChangeOut(BaseModel):
    """One commit on one preference: what it changed, who made it, and the words that asked for it."""

    commit: str = Field(examples=["1a2b3c4d5e6f7a8b9c0d1a2b3c4d5e6f7a8b9c0d"])
    at: datetime = Field(examples=["2026-01-30T14:05:00+08:00"])
    author: str = Field(examples=["vault-memory"])
    key: str = Field(examples=["theme"])
    op: str = Field(examples=["set"])
    old: str = Field(examples=[""])
    new: str = Field(examples=["dark"])
    strength: str = Field(examples=["explicit"])
    reason: str = Field(examples=["我喜歡暗色主題"])
    source: str = Field(examples=["conversations/2026-01-30.jsonl:12"])


class HistoryOut(BaseModel):
    """Changes, newest first; `next` is the `offset` of the next page, null on the last."""

    changes: list[ChangeOut]
    next: int | None = Field(None, examples=[None])


class RestoreIn(BaseModel):
    """Which preference to set back to its value at which commit."""

    key: str = Field(max_length=100, examples=["theme"])
    commit: str = Field(pattern="^[0-9a-f]{7,40}$", examples=["1a2b3c4d"])


class RestoredOut(BaseModel):
    """What changed, in words; empty if the value was the same already."""

    changes: list[str] = Field(examples=[["theme = dark"]])


class SuggestionOut(BaseModel):
    """What was heard and is in doubt: a value of a key, the words, the turn that they stand in, and its time."""

    id: str = Field(examples=["3fa92c"])
    key: str = Field(examples=["theme"])
    op: str = Field(examples=["set"])
    value: str = Field(examples=["dark"])
    strength: str = Field(examples=["adjustment"])
    quote: str = Field(examples=["暗一點可能比較好"])
    source: str = Field(examples=["conversations/2026-01-30.jsonl:12"])
    created_at: str = Field(examples=["2026-01-30T14:05:00+08:00"])


class SuggestionsOut(BaseModel):
    """Suggestions, newest first; `next` is the `offset` of the next page, null on the last."""

    suggestions: list[SuggestionOut]
    next: int | None = Field(None, examples=[None])


class DecisionIn(BaseModel):
    """Which suggestion is decided on."""

    id: str = Field(pattern="^[0-9a-f]{6}$", examples=["3fa92c"])


@router.get("/users", responses=responses())
def list_users(
    vault: TheVault,
    _: TheAdmin,
    after: Annotated[
        str, Query(max_length=64, description="Only ids that come after this one.", examples=["alice"])
    ] = "",
    limit: Annotated[int, Query(ge=1, le=1_000)] = 100,
) -> UsersOut:
    """The users of the vault; needs the vault's own token."""
    found = users(vault, after, limit + 1)
    rows, has_more = page((UserOut.model_validate(user, from_attributes=True) for user in found), limit)
    return UsersOut(users=rows, next=rows[-1].user_id if has_more else None)


@router.get(
    "/user/{student_id}",
    response_model=ProfileOut,
    responses={**responses(404), 304: {"description": "The profile is still this version."}},
)
async def get_profile(
    request: Request,
    vault: TheVault,
    user_id: TheUser,
    if_none_match: Annotated[str | None, Header(description="The ETag of your copy.", examples=[ETAG])] = None,
) -> Response:
    """A user's profile; a later PUT names its ETag in If-Match."""

    def read() -> Response:
        profile = user_profile(vault, user_id)
        headers = {"ETag": f'"{profile.version}"'}
        if if_none_match and {"*", profile.version} & _versions(if_none_match):
            return Response(status_code=304, headers=headers)
        out = ProfileOut.model_validate(profile, from_attributes=True)
        return Response(out.model_dump_json(), headers=headers, media_type="application/json")

    return await in_page_thread(request, user_id, read)


@router.put("/user/{student_id}", responses=responses(404, 409, 412, 415, 428))
def put_profile(
    vault: TheVault,
    user_id: TheUser,
    body: ProfileIn,
    response: Response,
    if_match: Annotated[
        str | None, Header(description="The ETag of the version that is replaced.", examples=[ETAG])
    ] = None,
    if_none_match: Annotated[
        str | None, Header(description="`*`: only if there is no profile yet.", examples=["*"])
    ] = None,
) -> ProfileOut:
    """Change a user's profile as the person's own edit: one commit per preference.

    A whole text needs `If-Match` with the version that it replaces, unless the user has no profile yet. New values for
    some keys may come without it. If the profile is no longer that version, the response is 412 and nothing is written.
    """
    version = _version_to_replace(_version(vault, user_id), if_match, if_none_match)
    if body.preferences is not None:
        return _profile_out(put_preferences(vault, user_id, body.preferences, version), response)
    if version is None and _version(vault, user_id) != NO_PROFILE:
        return problem.response(  # type: ignore[return-value]
            428, "precondition-required", "there is a profile already: name its ETag in If-Match"
        )
    return _profile_out(put_content(vault, user_id, body.content or "", version or NO_PROFILE), response)


@router.get("/user/{student_id}/preferences", response_model=PreferencesOut, responses=responses(404))
async def list_preferences(
    request: Request,
    vault: TheVault,
    user_id: TheUser,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 200,
    offset: Annotated[int, Query(ge=0, le=MAX_OFFSET)] = 0,
) -> Response:
    """The values of the profile, one by one."""

    def read() -> PreferencesOut:
        found = preferences_of(vault, user_id)[offset:]
        rows, has_more = page(
            (PreferenceOut(key=row.key, value=row.value, suggested_default=row.strong) for row in found), limit
        )
        return PreferencesOut(preferences=rows, next=offset + len(rows) if has_more else None)

    return await in_page_thread(request, user_id, read)


@router.get("/user/{student_id}/preferences/history", responses=responses(404))
def preference_history(
    vault: TheVault,
    user_id: TheUser,
    key: Annotated[
        str | None, Query(max_length=100, description="Only changes of this key.", examples=["theme"])
    ] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 20,
    offset: Annotated[int, Query(ge=0, le=MAX_OFFSET)] = 0,
) -> HistoryOut:
    """Who changed which preference, when and why, and the words that asked for it; newest first."""
    found = history(vault, user_id, key, limit=offset + limit + 1)[offset:]
    changes, has_more = page((ChangeOut.model_validate(row, from_attributes=True) for row in found), limit)
    return HistoryOut(changes=changes, next=offset + len(changes) if has_more else None)


@router.post("/user/{student_id}/preferences/restore", responses=responses(404, 409, 415))
def restore(vault: TheVault, user_id: TheUser, body: RestoreIn) -> RestoredOut:
    """Set one preference back to its value at a commit; everything else stays."""
    changes = restore_preference(vault, user_id, body.key, body.commit)
    return RestoredOut(changes=[change.summary() for change in changes])


@router.get("/user/{student_id}/preferences/suggestions", response_model=SuggestionsOut, responses=responses(404))
async def suggestions(
    request: Request,
    vault: TheVault,
    user_id: TheUser,
    limit: Annotated[int, Query(ge=1, le=100)] = 100,
    offset: Annotated[int, Query(ge=0, le=MAX_OFFSET)] = 0,
) -> Response:
    """What was heard and is in doubt, newest first: it is in no profile until it is heard again, or accepted."""
    return await in_page_thread(request, user_id, lambda: _suggestions_out(vault, user_id, limit, offset))


@router.post("/user/{student_id}/preferences/suggestions/accept", responses=responses(404, 409, 415))
def accept(vault: TheVault, user_id: TheUser, body: DecisionIn) -> RestoredOut:
    """Write a suggestion into the profile, as the person's edit."""
    return RestoredOut(changes=[change.summary() for change in accept_suggestion(vault, user_id, body.id)])


@router.post("/user/{student_id}/preferences/suggestions/dismiss", responses=responses(404, 409, 415))
def dismiss(vault: TheVault, user_id: TheUser, body: DecisionIn) -> SuggestionsOut:
    """Say no to a suggestion: it is not suggested again. The response holds those that still wait."""
    dismiss_suggestion(vault, user_id, body.id)
    return _suggestions_out(vault, user_id)


def _suggestions_out(vault: Vault, user_id: str, limit: int = 100, offset: int = 0) -> SuggestionsOut:
    found = list_suggestions(vault, user_id)[offset:]
    rows, has_more = page((SuggestionOut.model_validate(each, from_attributes=True) for each in found), limit)
    return SuggestionsOut(suggestions=rows, next=offset + len(rows) if has_more else None)


def _profile_out(profile: UserProfile, response: Response) -> ProfileOut:
    response.headers["ETag"] = f'"{profile.version}"'
    return ProfileOut.model_validate(profile, from_attributes=True)


def _version(vault: Vault, user_id: str) -> str:
    """The present version of the profile."""
    try:
        return user_profile(vault, user_id).version
    except NotFound:
        return NO_PROFILE


def _version_to_replace(current: str, if_match: str | None, if_none_match: str | None) -> str | None:
    """The only version that a PUT may replace, None for any. Raises `Stale` if it is not the current one."""
    unwanted = _versions(if_none_match or "")
    if current != NO_PROFILE and unwanted & {"*", current}:
        raise Stale("there is a profile already: GET it and change that; nothing was written")
    if if_match is None:
        return NO_PROFILE if "*" in unwanted else None
    wanted = _versions(if_match, strong=True)
    if "*" in wanted:
        raise UsageError("`If-Match: *` would replace a version that you have not read: name the ETag from GET")
    if current == NO_PROFILE or current not in wanted:
        raise Stale("the profile has changed: GET it and make your change in that; nothing was written")
    return current


def _versions(header: str, *, strong: bool = False) -> set[str]:
    """The versions in If-Match or If-None-Match; `strong` leaves out weak ones, which If-Match must not accept."""
    tags = [tag.strip() for tag in header.split(",")]
    return {tag.removeprefix("W/").strip('"') for tag in tags if not (strong and tag.startswith("W/"))}
