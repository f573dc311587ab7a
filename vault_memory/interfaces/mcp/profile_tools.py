"""The tools about the profile and what is learned for it: preferences, their history, what is in doubt, turns."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from vault_memory.core import reading
from vault_memory.core.profile import FIELDS
from vault_memory.errors import NotFound, UsageError
from vault_memory.interfaces.mcp.tool import (
    MAY_BE_TEXT,
    TEXT,
    TEXTS,
    WHOLE,
    Nothing,
    Person,
    Question,
    Taken,
    Tool,
    record,
    rows,
)
from vault_memory.services.learning import memory_summary
from vault_memory.services.profiles import (
    accept_suggestion,
    dismiss_suggestion,
    history,
    list_suggestions,
    set_preference,
    user_profile,
)
from vault_memory.services.turns import record_turn

SUGGESTED_AT_ONCE = 20
Key = Annotated[str, Field(json_schema_extra={"enum": [*FIELDS]}, max_length=100)]
"""The service names the keys where it is another."""
Offset = Annotated[int, Field(ge=0, le=1_000_000)]
Long = Annotated[str, Field(max_length=200_000)]


class PreferenceTaken(Taken):
    """A value of the profile."""

    key: Key
    value: Annotated[str, Field(min_length=1, max_length=1_000)]


class HistoryTaken(Taken):
    """Which changes."""

    key: Annotated[str, Field(max_length=100)] = ""
    limit: Annotated[int, Field(ge=1, le=200)] = 20
    offset: Offset = 0


class SuggestionsTaken(Taken):
    """What to do with which suggestion."""

    action: Literal["list", "accept", "dismiss"] = "list"
    id: Annotated[str, Field(max_length=100)] = ""
    offset: Offset = 0


class TurnTaken(Taken):
    """What was said."""

    user_message: Long
    assistant_message: Long = ""
    conversation_id: Annotated[str, Field(max_length=200)] = ""


class SummaryTaken(Taken):
    """Of which session."""

    session_id: Annotated[str, Field(max_length=200)] = ""


def _profile(person: Person, _: Nothing) -> dict[str, Any]:
    try:
        found = user_profile(person.vault, person.user_id)
    except NotFound:
        return {"content": "", "preferences": {}}
    return {"content": found.content, "preferences": dict(found.preferences)}


def _set(person: Person, taken: PreferenceTaken) -> dict[str, Any]:
    changes = set_preference(person.vault, person.user_id, taken.key, taken.value)
    return {"changes": [each.summary() for each in changes]}


def _history(person: Person, taken: HistoryTaken) -> dict[str, Any]:
    end = taken.offset + taken.limit
    found = history(person.vault, person.user_id, taken.key or None, limit=end + 1) if person.is_known else []
    changes = [
        {
            "at": each.at.isoformat(timespec="seconds"),
            "author": each.author,
            **{name: getattr(each, name) for name in ("key", "old", "new", "reason", "source")},
        }
        for each in found[taken.offset : end]
    ]
    return {"changes": changes} | ({"next": end} if len(found) > end else {})


def _suggestions(person: Person, taken: SuggestionsTaken) -> dict[str, Any]:
    changes: list[str] = []
    if taken.action != "list":
        if not taken.id:
            raise UsageError(f"{taken.action} needs the id of a suggestion: the action list shows them")
        if taken.action == "accept":
            changes = [each.summary() for each in accept_suggestion(person.vault, person.user_id, taken.id)]
        else:
            dismiss_suggestion(person.vault, person.user_id, taken.id)
    found = list_suggestions(person.vault, person.user_id) if person.is_known else []
    end = taken.offset + SUGGESTED_AT_ONCE
    names = ("id", "key", "value", "quote", "source")
    waiting = [{name: getattr(each, name) for name in names} for each in found[taken.offset : end]]
    return {"suggestions": waiting, "changes": changes} | ({"next": end} if len(found) > end else {})


def _ask_before_accepting(person: Person, taken: SuggestionsTaken) -> Question | None:
    if taken.action != "accept" or not person.is_known:
        return None
    found = [each for each in list_suggestions(person.vault, person.user_id) if taken.id in (each.id, each.key)]
    if len(found) != 1:
        return None  # the service says what is wrong
    told = f"{found[0].key} = {found[0].value}\n「{found[0].quote}」"
    then = {"action": "accept", "id": found[0].id}
    return Question(f"寫入你的資料？ / 写入你的资料？ / Write this into your profile?\n{told}", then)


def _turn(person: Person, taken: TurnTaken) -> dict[str, Any]:
    if not reading.plain_text(taken.user_message):
        raise UsageError("user_message says nothing: give the user's own words")
    recorded = record_turn(
        person.vault,
        person.user_id,
        taken.user_message,
        taken.assistant_message,
        conversation_id=taken.conversation_id or None,
        as_of=person.as_of,
    )
    not_looked_at = person.second_looks.submit(recorded.user_id, recorded.source, recorded.as_of)
    return {
        "source": recorded.source,
        "changes": [each.summary() for each in recorded.changes],
        "memories": [f"{each.became}: {each.in_words()}" for each in recorded.memories],
        "degraded": [*filter(None, [*recorded.degraded, recorded.paused, recorded.reason, not_looked_at])],
    }


def _summary(person: Person, taken: SummaryTaken) -> dict[str, Any]:
    return memory_summary(person.vault, person.user_id, taken.session_id or None).as_dict()


TOOLS = (
    Tool(
        "get_profile",
        "profile",
        "The user's profile: preferences by key, and the text of USER.md.",
        Nothing,
        record(content=TEXT, preferences={"type": "object"}),
        _profile,
        reads_only=True,
        stands_for=("pref list",),
    ),
    Tool(
        "set_preference",
        "profile",
        "Set a preference that the user has stated; a list gets one more value.",
        PreferenceTaken,
        record(changes=TEXTS),
        _set,
        is_idempotent=True,
        stands_for=("pref set",),
    ),
    Tool(
        "preference_history",
        "profile",
        "When and why preferences changed, newest first; `next` is the offset of the next page.",
        HistoryTaken,
        record(changes=rows(at=TEXT, author=TEXT, key=TEXT, old=TEXT, new=TEXT, reason=TEXT, source=TEXT), next=WHOLE),
        _history,
        reads_only=True,
        stands_for=("pref history", "history"),
    ),
    Tool(
        "suggestions",
        "learning",
        "Preferences that were heard in doubt. Ask the user, then accept or dismiss one by its id.",
        SuggestionsTaken,
        record(suggestions=rows(id=TEXT, key=TEXT, value=TEXT, quote=TEXT, source=TEXT), changes=TEXTS, next=WHOLE),
        _suggestions,
        asks=_ask_before_accepting,
        stands_for=("pref suggestions", "pref accept", "pref dismiss"),
    ),
    Tool(
        "record_turn",
        "learning",
        "Record what the user said, in their own words, and your answer; preferences are learned from it.",
        TurnTaken,
        record(source=TEXT, changes=TEXTS, memories=TEXTS, degraded=TEXTS),
        _turn,
        stands_for=("turn",),
    ),
    Tool(
        "memory_summary",
        "learning",
        "Topic of a learner's session, how well they master it, what they just did; null: unknown.",
        SummaryTaken,
        record(topic_hint=MAY_BE_TEXT, user_mastery_hint=MAY_BE_TEXT, recent_behavior=TEXT),
        _summary,
        reads_only=True,
    ),
)
