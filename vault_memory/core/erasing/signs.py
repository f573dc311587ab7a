"""Characters as the bytes of a file may have them: plain, as JSON, HTML and addresses escape them, and as programs
show bytes (`\\xe6`); what may stand between words, too. All as patterns."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache
from html.entities import codepoint2name
from itertools import groupby

from vault_memory.core.erasing.units import every_character, is_mark, is_sign, is_unseen

_H = rb"[0-9a-fA-F]"
_TWICE = rb"%(?:25)*+"
_BACKSLASH = rb"\\\\*+"
_JSON = _BACKSLASH + rb"u"
_X = _BACKSLASH + rb"x"


def _in_utf8(escape: bytes) -> bytes:
    """What stands behind the first `%` or `\\x` where it escapes a character in UTF-8."""
    following = rb"(?:" + escape + rb"[89abAB]" + _H + rb")"
    first = rb"(?:[0-7]" + _H + rb"|[c-dC-D]" + _H + following
    return first + rb"|[eE]" + _H + following + rb"{2}|[fF][0-4]" + following + rb"{3})"


_OF_ADDRESS = _in_utf8(_TWICE)
TAG = rb"</?[a-zA-Z][a-zA-Z0-9]*+(?:\s[^<>\n]{0,80})?+/?>"
_MARKUP = rb"[*~`]{1,3}|" + TAG
_BREAK = rb"-(?:\r?\n|\\++[nr])(?:[ \t>]|\\++t)*+"
_NAMES = {chr(code): name for code, name in codepoint2name.items()}


def written(characters: Collection[str]) -> bytes:
    """A pattern of any of these, in each way in which it may be written. Each way begins with a fixed byte: so `re`
    passes over bytes with which none begins, which is ten times as fast."""
    raw: dict[bytes, list[bytes]] = {}
    for data in (each.encode() for each in characters):
        raw.setdefault(data[:1], []).append(data[1:])
    numbers = [ord(each) for each in characters]
    ways = [
        *(re.escape(first) + (_any(rest, _raw) if rest[0] else b"") for first, rest in raw.items()),
        _behind_backslash(characters),
        _TWICE + _any((each.encode() for each in characters), _of_bytes(_TWICE)),
        rb"&#0*+" + _any((b"%d;" % each for each in numbers), _raw),
        rb"&#[xX]0*+" + _any((b"%x;" % each for each in numbers), _of_hex),
    ]
    if named := [f"{_NAMES[each]};".encode() for each in characters if each in _NAMES]:
        ways.append(b"&" + _any(named, _raw))
    return b"(?:" + b"|".join(ways) + b")"


@cache
def in_word() -> bytes:
    """What may stand between two letters of a word: marks, what is not seen, and the hyphen of a word that goes on in
    the next line."""
    unseen = written([*filter(is_unseen, every_character())])
    return rb"(?:" + unseen + rb"|" + _MARKUP + rb"|" + _BREAK + rb")*+"


@cache
def sign() -> bytes:
    """One sign, with the marks on it; no letter or digit, in any of its escapes, and not `"` as it is."""
    signs = [each for each in every_character() if is_sign(each)]
    plain = [each for each in signs if each not in '"\\%&']
    marks = _any((each.encode() for each in every_character() if is_mark(each)), _raw)
    ways = [
        _any((each.encode() for each in plain), _raw),
        rb"\\(?:\\\\)*+\"",
        _behind_backslash(signs),
        rb"\\++(?:[nrt]|(?!u" + _H + rb"{4}|x" + _in_utf8(_X) + rb"))",
        _TWICE + _any((each.encode() for each in signs), _of_bytes(_TWICE)),
        rb"%(?:25)++(?!" + _OF_ADDRESS + rb")",
        rb"%(?!25)(?!" + _OF_ADDRESS + rb")",
        rb"&#0*+" + _any((b"%d;" % ord(each) for each in signs), _raw),
        rb"&#[xX]0*+" + _any((b"%x;" % ord(each) for each in signs), _of_hex),
        b"&" + _any((f"{_NAMES[each]};".encode() for each in signs if each in _NAMES), _raw),
        rb"&(?!#0*+[0-9]{1,7};|#[xX]0*+"
        + _H
        + rb"{1,6};|"
        + _any((f"{n};".encode() for n in _NAMES.values()), _raw)
        + b")",
    ]
    return b"(?:" + b"|".join(ways) + b")" + marks + b"*+"


@cache
def signs() -> re.Pattern[bytes]:
    """All signs from a place on, with `"`."""
    return re.compile(b"(?:" + sign() + b'|")*+')


@cache
def signs_and_tags() -> re.Pattern[bytes]:
    """All signs and tags of HTML from a place on."""
    return re.compile(b"(?:" + TAG + b"|" + sign() + b'|")*+')


def _any(words: Iterable[bytes], spelled: Callable[[Collection[int], int], bytes]) -> bytes:
    """A pattern of any of these words, none of which another one begins with; `spelled` makes one of the bytes at a
    place in a word."""
    return _branch(sorted(set(words)), 0, spelled)


def _branch(words: list[bytes], at: int, spelled: Callable[[Collection[int], int], bytes]) -> bytes:
    rests: dict[bytes, list[int]] = {}
    for byte, group in groupby(words, key=lambda word: word[at]):
        longer = [word for word in group if len(word) > at + 1]
        rests.setdefault(_branch(longer, at + 1, spelled) if longer else b"", []).append(byte)
    made = [spelled(some, at) + rest for rest, some in rests.items()]
    return made[0] if len(made) == 1 else b"(?:" + b"|".join(made) + b")"


def _raw(some: Collection[int], _: int) -> bytes:
    if len(some) == 1:
        return re.escape(bytes(some))
    return b"[" + b"".join(_ranges(some, lambda each: b"\\x%02x" % each)) + b"]"


def _of_hex(some: Collection[int], at: int) -> bytes:
    cased = {each for one in some for each in bytes([one]).lower() + bytes([one]).upper()}
    return _raw(sorted(cased), at)


def _behind_backslash(characters: Collection[str]) -> bytes:
    """A pattern of any of these as JSON escapes it, or as programs do the bytes of UTF-8."""
    of_json = _any((each.encode("utf-16-be") for each in characters), _of_json)
    of_bytes = _any((each.encode() for each in characters), _of_bytes(_X))
    return _BACKSLASH + b"(?:u" + of_json + b"|x" + of_bytes + b")"


def _of_json(some: Collection[int], at: int) -> bytes:
    return (_JSON if at and at % 2 == 0 else b"") + _digits(some)


def _of_bytes(escape: bytes) -> Callable[[Collection[int], int], bytes]:
    """How bytes of UTF-8 are spelled behind such an escape."""
    return lambda some, at: (escape if at else b"") + _digits(some)


def _digits(some: Collection[int]) -> bytes:
    return _any((b"%02x" % each for each in some), _of_hex)


def _ranges(some: Iterable[int], shown: Callable[[int], bytes]) -> Iterator[bytes]:
    run: list[int] = []
    for each in sorted(some):
        if run and each != run[-1] + 1:
            yield shown(run[0]) + (b"-" + shown(run[-1]) if len(run) > 1 else b"")
            run = []
        run.append(each)
    yield shown(run[0]) + (b"-" + shown(run[-1]) if len(run) > 1 else b"")
