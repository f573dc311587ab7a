"""Which stored notes a new note replaces: those that say the same of the same thing, or the contrary of it.

Two notes are about the same thing if nearly all words that carry a meaning stand in both. What may differ is whether
something is wished for («cite sources», 「不要再引用來源」), the last number («two spaces», 「四格」; those before it
say of what: «server 1 has port 80») and, where the turn corrects something, one word («metric units», «actually, use
imperial units»). A number at the end of a word belongs to it: web1 is not web2.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache

from vault_memory.core.profile.fields import NOTE
from vault_memory.core.profile.policy import Signal
from vault_memory.core.text import lazily, tokens

_SHORTEST = 2
"""Fewer words than that say too little of what a note is about."""
_FROM_NOW_ON, _IF_CORRECTED = 0.65, 0.5
"""So much of the longer note must stand in both, if the person corrects something; all of it, if not."""
_POLITE = lazily(
    r"以后|之后|每次|一律|总是|永远|从现在(?:起|开始)?|回[答复]|记[住得下]?|帮忙|麻烦|现在|还是|不用|不要|不必|别再?|[请都上要再也就把给让帮用的了吧啊呢在我你您跟和与是会得对时候改成为]"
)
_EMPTY = (
    "always never ever every please note remember from now on keep use make sure want like prefer stop don't dont any"
    " more again instead actually also just let go forward when only answer respond reply write give tell say no longer"
    " without avoid call"
)
"""English words that do not say what a note is about."""
_ONE_NUMBER = (
    r"(?:(?<![a-z\d])\d+(?:[.,:]\d+)*|(?<!第)[零〇一二两三四五六七八九十百千]+"
    r"|(?<![a-z])(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|twice|once)(?![a-z]))"
)
_NUMBER = lazily(rf"{_ONE_NUMBER}(?: ?(?:[年月日号点时分/到至~–-]|[ap]m|to)+ ?{_ONE_NUMBER})*")
"""A date, a time and a range are one number: 六月三日, 9 to 5."""
_AGAINST = lazily(r"(?<![a-z])(?:no|not|never|without|stop|avoid|skip|\w+n't|dont)(?![a-z])|[不别勿免]|没有|停止")
_LASTING = lazily(r"(?<![a-z])(?:from now on|these days|now)(?![a-z])|从现在|现在|以后|之后")
_CORRECTS = lazily(
    r"(?<![a-z])(?:actually|instead|no longer|not any ?more|changed my mind|after all|rather|switch(?:ed)?|moved)"
    r"(?![a-z])|改|不再|还是|其实|换成|而不是"
)


def with_replaced(signals: Iterable[Signal], stored: Iterable[str]) -> Iterator[Signal]:
    """The signals, and before each new note the removal of those `stored` that it replaces. One that only repeats a
    stored note becomes that. What was said with it (`Signal.quote`) may correct."""
    notes = {note: _meaning(note) for note in stored}
    for signal in signals:
        if signal.key == NOTE and signal.op == "remove":
            notes.pop(signal.value, None)
        if signal.key != NOTE or signal.op != "add" or signal.is_suggestion:
            yield signal
            continue
        said = tokens.fold(signal.quote)
        enough = _IF_CORRECTED if _CORRECTS.search(said) else _FROM_NOW_ON if _LASTING.search(said) else 1.0
        words = _meaning(signal.value)
        same = [
            note
            for note, others in notes.items()
            if _shared(words, others) >= enough and _numbers(note)[:-1] == _numbers(signal.value)[:-1]
        ]
        if repeated := [note for note in same if notes[note] == words and _stance(note) == _stance(signal.value)]:
            yield replace(signal, value=repeated[0])
            continue
        for note in same:
            yield replace(signal, op="remove", value=note)
        yield signal


def _shared(new: frozenset[str], old: frozenset[str]) -> float:
    """The share of the longer note's words that stand in both, 0 to 1."""
    return len(new & old) / max(len(new), len(old)) if min(len(new), len(old)) >= _SHORTEST else 0.0


def _stance(note: str) -> tuple[bool, list[str]]:
    """Whether a note wishes against something, and its numbers."""
    return bool(_AGAINST.search(tokens.fold(note))), _numbers(note)


def _numbers(note: str) -> list[str]:
    return _NUMBER.findall(_POLITE.sub(" ", tokens.fold(note)))


def _meaning(note: str) -> frozenset[str]:
    """The stems and Han characters that carry what a note is about."""
    text = _POLITE.sub(" ", _NUMBER.sub(" ", tokens.fold(note)))
    found: set[str] = set()
    for word in tokens.stems(text).split():
        found |= set(word) if tokens.is_han_piece(word) else {word}
    return frozenset(found) - _empty()


@cache
def _empty() -> frozenset[str]:
    return frozenset(tokens.stems(_EMPTY).split())
