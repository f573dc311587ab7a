"""What is told of a life, beside what is learned from it: who lives in another town now no longer keeps the time of the
old one, and who has rowed for six years has said nothing of a level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vault_memory.core.extraction import Lexicon, extract, places, read_turn
from vault_memory.core.memorable import Forget, Memorable, home_in, memorable, says_a_change, without_requests
from vault_memory.core.memories import categories
from vault_memory.core.profile import Signal
from vault_memory.core.text import fold, lazily

_KEY, _LEVEL = "timezone", "level"
_LEVELS = ("beginner", "intermediate", "advanced")
_PASTIMES = frozenset(("instrument", "sport", "martial_art", "dance", "hobby", "art", "exercise", "game"))
_HOW_LONG = lazily(
    r"(?<![a-z])(?:for|since|over|after) (?:[a-z0-9]+ ){0,3}(?:years?|months?|decades?|[0-9]{4}|childhood)(?![a-z])"
    r"|(?<![a-z])(?:[0-9]+|[a-z]+) years(?![a-z])|[一二两三四五六七八九十几半0-9]+多?(?:年|个月)|从小"
)


def learned_from(user_msg: str, reply: str, existing: Mapping[str, str | list[str]], lexicon: Lexicon) -> list[Signal]:
    """The signals of a turn (`extract`). What it asks to forget teaches nothing: of that only what it takes back."""
    heard = extract(user_msg, reply, existing, lexicon)
    rest = without_requests(user_msg, lexicon)
    if rest == user_msg:
        return heard
    taken_back = [each for each in heard if each.op == "remove"]
    said = [each for each in extract(rest, reply, existing, lexicon) if each.op != "remove"]
    return [each for each in taken_back if not any(each.key == s.key and s.op == "set" for s in said)] + said


def told_in(user_msg: str, forgotten: Sequence[Forget], lexicon: Lexicon) -> list[Memorable]:
    """What a message tells that is worth a memory, without what it asks to have `forgotten`. What is so now instead of
    that, as it says behind its request, counts: «Forget where I live, I live in York now»."""
    told = memorable(user_msg, "", lexicon, with_changes=True)
    if not forgotten:
        return told
    rest = without_requests(user_msg, lexicon)
    asked_until = max(
        (at for at, (one, other) in enumerate(zip(user_msg, rest, strict=True)) if one != other), default=0
    )

    def is_meant(each: Memorable) -> bool:
        is_instead = each.start > asked_until and says_a_change(each.content)
        return not is_instead and any(request.means(each.content) for request in forgotten)

    return [each for each in told if not is_meant(each)]


def as_lived(
    signals: Sequence[Signal], user_msg: str, existing: Mapping[str, object], lexicon: Lexicon
) -> list[Signal]:
    """The signals of a turn as what it tells of its person's life has them."""
    levels = [each for each in signals if each.key == _LEVEL and _is_of_a_pastime(each.quote, lexicon)]
    if levels and not _wishes(user_msg, lexicon):  # «thirty years of pianos, skip the primer» says how to explain
        signals = [each for each in signals if each not in levels]
    return _with_zone_of_move(signals, user_msg, existing, lexicon)


def _wishes(user_msg: str, lexicon: Lexicon) -> bool:
    """Whether a message says how it is to be answered."""
    turn = read_turn(user_msg, "", {}, lexicon)
    return turn is not None and any(clause.wish for clause in turn.clauses)


def _is_of_a_pastime(said: str, lexicon: Lexicon) -> bool:
    """Whether a text says how long its person has gone in for an everyday pastime, and names no level of skill."""
    text = fold(said)
    names_a_level = any(lexicon.words(f"people.level.{level}").search(text) for level in _LEVELS)
    if names_a_level or not _HOW_LONG.search(text) or lexicon.words("subjects.technical").search(text):
        return False
    return bool(categories.load().categories_of(text).keys() & _PASTIMES)


def _with_zone_of_move(
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
    named = (places(name, lexicon) for name in home_in(content))
    return next((found[-1][2] for found in named if found), "")
