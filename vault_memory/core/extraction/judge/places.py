"""Places of a person's work in which one technology is at a time: who moves the frontend to React has left the Vue that
was there. Rules alone, behind the judge, who does not learn from them; the words are in `gates.toml`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vault_memory.core.extraction.clauses import Clause
from vault_memory.core.extraction.lexicon import CATEGORIES, Lexicon, Technology
from vault_memory.core.extraction.rules import HeardTurn
from vault_memory.core.profile import Signal
from vault_memory.core.text import fold

GAP_CHARS = 4


def left_by(turn: HeardTurn, heard: Sequence[Signal]) -> list[Signal]:
    """Removals of what the profile has in the place to which something else has moved in a turn of which this was
    `heard`, in the order of the message.

    The place is named (CI 換成 GitLab), or what is there now has only this one (改用 React). Nothing goes where the
    profile has two that may be meant, or one that may have another place, too, and what the person prefers stays.
    """
    added = {fold(each.value) for each in heard if each.op == "add" and not each.is_suggestion}
    stored = {name for _, _, name in _stored(turn)}
    gone = {fold(each.value) for each in heard if each.op == "remove"}
    left: dict[tuple[str, str], Signal] = {}
    for clause in turn.clauses:
        named = [each for each in turn.message.technologies if clause.start <= each.start < clause.end]
        is_told = clause.text.endswith("了") or (clause.is_first_person and not clause.asks)
        there_now = added | stored if is_told else added  # what is known already is heard as nothing new
        moved = [each for each in named if fold(each.name) in there_now and _has_moved(clause, each, turn.lexicon)]
        place = _place_of(clause, moved[0], turn.lexicon) if len(moved) == 1 else None
        there = _there(place, turn.lexicon) if place else frozenset[str]()
        beside = {fold(each.name) for each in turn.message.technologies} & there - {fold(each.name) for each in moved}
        if not place or gone & there or beside:  # the turn names what it has left
            continue
        now = {fold(each.name) for each in moved}
        known = [(key, value, name) for key, value, name in _stored(turn) if name in there - added - now]
        if len({name for _, _, name in known}) == 1 and places_of(known[0][2], turn.lexicon) == [place]:
            quote = turn.quote(clause.start, clause.end)
            left |= {(key, value): Signal(key, "remove", value, "explicit", quote) for key, value, _ in known}
    return list(left.values())


def _has_moved(clause: Clause, there: Technology, lexicon: Lexicon) -> bool:
    """Whether a clause tells that a technology is now where another one was, in all of the person's work."""
    if not clause.is_meant or clause.asks_to_know or clause.is_once:
        return False
    if any(lexicon.words(name).search(clause.text) for name in _NOT_SO):
        return False
    return lexicon.words("gates.moved.before").ends(clause.text[: there.start - clause.start], GAP_CHARS)


_NOT_SO = ("gates.moved.in_part", "sayings.left.beside", "sayings.left.unreal")


def _place_of(clause: Clause, there: Technology, lexicon: Lexicon) -> str | None:
    """The place that a clause names, of those that a technology may have, or else its only one."""
    places = places_of(fold(there.name), lexicon)
    others = [place for place in lexicon.sections("gates.place") if _is_named(place, clause, lexicon)]
    named = [place for place in places if place in others]
    return named[0] if len(named) == 1 else places[0] if len(places) == 1 and not others else None


def _is_named(place: str, clause: Clause, lexicon: Lexicon) -> bool:
    return lexicon.words(f"gates.place.{place}.named").search(clause.text) is not None


def places_of(name: str, lexicon: Lexicon) -> list[str]:
    return [place for place in lexicon.sections("gates.place") if name in _there(place, lexicon)]


def _there(place: str, lexicon: Lexicon) -> frozenset[str]:
    return frozenset(fold(name) for name in lexicon.listed(f"gates.place.{place}.one_of"))


def _stored(turn: HeardTurn) -> Iterator[tuple[str, str, str]]:
    """Key, value and folded canonical name of each technology of the profile, without those that are preferred."""
    for key in CATEGORIES:
        stored = turn.existing.get(key)
        for value in stored if isinstance(stored, (list, tuple)) else ():
            known = turn.lexicon.names.get(fold(str(value)), (str(value), ""))[0]
            yield key, str(value), fold(known)
