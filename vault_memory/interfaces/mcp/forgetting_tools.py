"""The tool that forgets what the user names, wherever it stands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import Field

from vault_memory.core import reading
from vault_memory.interfaces.mcp.tool import TEXT, TEXTS, Person, Question, Taken, Tool, record
from vault_memory.interfaces.mcp.vault_tools import Day, day_of
from vault_memory.services.forgetting import Forgetting, forget, prepare_forgetting

MAX_LISTED, MAX_ASKED = 100, 10
"""So many places an answer names, and a question, which a person reads in a dialog."""


class ForgetTaken(Taken):
    """What to forget, in one way; then the same again with the code."""

    text: Annotated[str, Field(max_length=2_000)] = ""
    key: Annotated[str, Field(max_length=100)] = ""
    turn: Annotated[str, Field(max_length=100)] = ""
    since: Day = ""
    confirm_code: Annotated[str, Field(max_length=100)] = ""

    @property
    def wish(self) -> dict[str, Any]:
        """What is to be forgotten, as the service takes it."""
        return {"text": self.text, "key": self.key, "turn": self.turn, "since": day_of(self.since)}


def _forget(person: Person, taken: ForgetTaken) -> dict[str, Any]:
    if not taken.confirm_code:
        found = prepare_forgetting(person.vault, person.user_id, **taken.wish)
        return {"confirm_code": found.code, "places": _first(_lines(found), MAX_LISTED)}
    done = forget(person.vault, person.user_id, taken.confirm_code, **taken.wish)
    seen = [f"{each.store} is not verified: {each.says}" for each in done.looks if not each.is_absent]
    return {
        "places": _first([each.source for each in done.places], MAX_LISTED),
        "restore": _first(done.restore, MAX_LISTED),
        "kept": done.kept,
        "degraded": [*filter(None, [done.paused, *done.problems, *seen])],
    }


def _ask_before_forgetting(person: Person, taken: ForgetTaken) -> Question | None:
    if taken.confirm_code:
        return None
    found = prepare_forgetting(person.vault, person.user_id, **taken.wish)
    asked = "忘掉這些？ / 忘掉这些？ / Forget this?"
    if found.is_all:
        asked = "忘掉關於你的一切？ / 忘掉关于你的一切？ / Forget everything about you?"
    then = taken.model_dump() | {"confirm_code": found.code}
    return Question("\n".join([asked, *(f"- {each}" for each in _first(_lines(found), MAX_ASKED))]), then)


def _lines(found: Forgetting) -> list[str]:
    """Each place, and how each part that goes begins."""
    return [f"{each.source}: {' '.join(reading.lines(part))}" for each in found.places for part in each.shows]


def _first(lines: Sequence[str], most: int) -> list[str]:
    more = len(lines) - most
    return [*lines[:most], *([f"… + {more}"] if more > 0 else [])]


TOOLS = (
    Tool(
        "forget",
        "memory",
        "Forget a text, profile key, turn, or all since a day, wherever it stands. Forgets nothing yet: show the user "
        "the places, and only after their yes call it again with confirm_code, too.",
        ForgetTaken,
        record(confirm_code=TEXT, places=TEXTS, restore=TEXTS, kept=TEXTS, degraded=TEXTS),
        _forget,
        destroys=True,
        asks=_ask_before_forgetting,
        stands_for=("forget",),
    ),
)
