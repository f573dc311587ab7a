"""A move: who lives in another town now no longer keeps the time of the old one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vault_memory.core.extraction import Lexicon, places
from vault_memory.core.memorable.turns import memorable
from vault_memory.core.memorable.wording import LIVE, read_saying
from vault_memory.core.profile import Signal
from vault_memory.core.text import fold

_KEY = "timezone"


def with_zone_of_move(
    signals: Sequence[Signal], user_msg: str, existing: Mapping[str, object], lexicon: Lexicon
) -> list[Signal]:
    """The signals of a turn, with the time zone of the place where its person says to live, if the profile has another
    one: it was that of the place before. It is then sure, and no suggestion."""
    stored, sure = existing.get(_KEY), [each for each in signals if each.key != _KEY or not each.is_suggestion]
    if not stored or any(each.key == _KEY for each in sure) or not places(fold(user_msg), lexicon):
        return [*signals]
    for each in memorable(user_msg, lexicon=lexicon, with_changes=True):
        zone = _zone_of_home(each.content, lexicon)
        if zone and zone != stored:
            return [*sure, Signal(_KEY, "set", zone, "explicit", each.quote)]
    return [*signals]


def _zone_of_home(content: str, lexicon: Lexicon) -> str:
    """The time zone of where a text says its person lives; empty where it says no place whose zone is known."""
    said = read_saying(content)
    if said is None or said.relation != LIVE or not said.is_so:
        return ""
    named = (places(name, lexicon) for word in said.thing.words for name in sorted(word))
    return next((found[-1][2] for found in named if found), "")
