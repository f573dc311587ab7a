"""Secrets: each one in a text is replaced by its kind, and none is let into the history unseen.

Three kinds are known: formats (keys of providers, tokens, private keys), numbers with a check digit (cards, identity
numbers, IBAN) and values with a name («password: …», 密碼是 …). They are looked for in the text as a reader understands
it (`views`), and what is replaced is the span as it was written. Git hashes, UUIDs, plain numbers and code stay.

This file is the engine of all rules. The rules are tables in `formats`, `numbers`, `commands` and `named`: a hint
(fixed letters that must stand in the text), a bound pattern, and a function that looks at what the pattern found. So an
ordinary text costs a few searches and calls none of these functions, and the time is linear in the length of any text.
`benchmarks/secret_detection.py` measures what is found.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import chain, groupby
from pathlib import PurePosixPath
from typing import Literal, NamedTuple

from vault_memory.core import layout
from vault_memory.core.privacy import commands, formats, keys, named, numbers, tables, values
from vault_memory.core.privacy.views import ASCII_FORMS, DISGUISE_CHAR, DISGUISED, views
from vault_memory.core.text import fold, lazily, matches, stands_in, translated

MAX_ROUNDS = 16
"""What is replaced may uncover another secret near it, and that another; nobody writes so many in a row."""
AROUND_CHARS = 1500
"""So far from what was replaced the text is searched again: a name and its value are no farther apart."""
_EDGE_CHARS = 400
"""Of these, so many may be left out, so that no word is cut in two."""
MIN_AGAIN_CHARS = 50_000
"""So much is searched again at least, in all rounds together; of a longer text as much as it has."""
MAX_SEARCHED_BYTES = 4_000_000
"""Of the new lines of a file; a longer text is no note, and searching it would delay the commit."""
_BLOCK_BYTES = 1_000_000
"""Of a text, so much is divided into lines at once."""
_LINES_AROUND = 3
"""Read with each new line of a file that was withheld: a name may stand so far above its secret."""
_MAX_TOLD = 3
_OURS, _MAX_OURS_CHARS = "[redacted: ", 16
Span = tuple[int, int, str]


@dataclass(frozen=True)
class Redacted:
    """A text without its secrets, and how many of each kind were replaced (`{"api-key": 1}`)."""

    text: str
    counts: Mapping[str, int]


def redact(text: str) -> Redacted:
    """The text with each secret replaced by `[redacted: kind]`; redacting the result again changes nothing.

    A text is searched once, and then again around what was replaced, as often as that uncovers another secret (within
    `MAX_ROUNDS`, and about as many characters as the text has): so the time stays linear.

    Kinds: api-key, token, private-key, password, credentials, card, id-number, bank-account.
    """
    spans = secret_spans(text)
    if not spans:
        return Redacted(text, {})
    counts: Counter[str] = Counter()
    left = max(len(text), MIN_AGAIN_CHARS)
    for _ in range(MAX_ROUNDS):
        counts.update(kind for _, _, kind in spans)
        text, places = _replaced(text, spans)
        pieces = _around(text, places)
        left -= sum(end - start for start, end in pieces)
        if left < 0:
            break
        spans = [
            (at + start, at + end, kind) for at, stop in pieces for start, end, kind in secret_spans(text[at:stop])
        ]
        if not spans:
            break
    return Redacted(text, dict(counts))


def redact_parts(parts: Sequence[str]) -> list[str]:
    """The parts of one text, each of whole lines, without the secrets of the text: what a line is may be told by one in
    another part."""
    found = [*parts]
    for _ in range(MAX_ROUNDS):
        spans = secret_spans("\n".join(found))
        if not spans:
            break
        start = 0
        for at, part in enumerate(found):
            end = start + len(part)
            held = [
                (max(first, start) - start, min(last, end) - start, kind)
                for first, last, kind in spans
                if first < end and last > start
            ]
            found[at] = _replaced(part, held)[0] if held else part
            start = end + 1
    return found


def _around(text: str, places: Sequence[int]) -> list[tuple[int, int]]:
    """The pieces of a text around these places, in order and disjoint, of whole lines or words."""
    pieces: list[tuple[int, int]] = []
    for place in places:
        start, stop = max(0, place - AROUND_CHARS), min(len(text), place + AROUND_CHARS)
        if pieces and start <= pieces[-1][1]:
            pieces[-1] = (pieces[-1][0], stop)
        else:
            pieces.append((start, stop))
    return [(_whole(text, start, 1), _whole(text, stop, -1)) for start, stop in pieces]


def _whole(text: str, place: int, step: Literal[1, -1]) -> int:
    """The first place from `place` on, forward (1) or back (-1), where a line begins, or at least a word."""
    if not 0 < place < len(text):
        return place
    low, high = sorted((place, place + step * _EDGE_CHARS))
    for blank in "\n ":
        at = text.find(blank, low, high) if step > 0 else text.rfind(blank, low, high)
        if at >= 0:
            return at + 1
    return place


def _replaced(text: str, spans: Sequence[Span]) -> tuple[str, list[int]]:
    """The text with these spans replaced, and where in it each replacement ends."""
    pieces: list[str] = []
    places: list[int] = []
    done = length = 0
    for start, end, kind in spans:
        ours = f"{_OURS}{kind}]"
        pieces += [text[done:start], ours]
        length += start - done + len(ours)
        places.append(length)
        done = end
    return "".join([*pieces, text[done:]]), places


def secret_spans(text: str) -> list[Span]:
    """(start, end, kind) of each secret, in order and disjoint; offsets into `text`."""
    plain = translated(text, ASCII_FORMS)
    if stands_in(plain, DISGUISE_CHAR) and stands_in(plain, DISGUISED):
        found = [(*view.origin(start, end), kind) for view in views(text) for start, end, kind in _found(view.text)]
    else:
        found = list(_found(plain))
    merged: list[Span] = []
    for start, end, kind in sorted(found, key=lambda span: (span[0], -span[1])):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]), merged[-1][2])
        else:
            merged.append((start, end, kind))
    return merged


# --- the rules --------------------------------------------------------------------------------------------------------


class _Rule(NamedTuple):
    """A pattern that is searched where its hint stands; `read` says where in a match the secret is, if it is one."""

    kind: str
    hint: str
    pattern: re.Pattern[str]
    read: Callable[[re.Match[str]], formats.Found] = re.Match.span


@cache
def _prefixed() -> list[_Rule]:
    """Keys that begin with their hint."""
    return [
        _Rule(kind, prefix, lazily(_start(prefix) + rest))
        for kind, prefixes, rest in formats.PREFIXED
        for prefix in prefixes.split()
    ]


def _start(prefix: str) -> str:
    """The pattern of a prefix at the start of a word, or glued to one (`ci-ghp_…`, `my_sk_live_…`, `oldghp_…`).

    Glued to a word, what follows must look random, and be no hash behind a short prefix. Right behind a letter only a
    prefix with a sign at its end counts, unless words end like it.
    """
    literal = re.escape(prefix)
    is_like_a_word = prefix in formats.LIKE_THE_END_OF_WORDS
    left = "" if prefix[-1] in "_-" and not is_like_a_word else rf"(?<![A-Za-z0-9]{literal})"
    no_hash = r"(?![0-9a-f\-]{20})" if len(prefix) < _LONG_PREFIX_CHARS else ""
    random = rf"(?=(?:[\w\-.=/+]{{0,60}}?(?:{formats.ODD})){{{2 if is_like_a_word else 1}}})"
    return rf"{literal}(?:(?<![A-Za-z0-9_\-]{literal})|{left}{no_hash}{random})"


_LONG_PREFIX_CHARS = 5


@cache
def _shaped() -> list[_Rule]:
    return [_Rule(kind, hint, lazily(pattern)) for kind, hint, pattern in formats.SHAPED]


@cache
def _first_chars() -> frozenset[str]:
    return frozenset(rule.hint[0] for rule in _prefixed())


@cache
def _checked() -> list[_Rule]:
    """Formats that are rare enough for their hints to be looked for in every text."""
    return [_Rule(kind, hint, lazily(pattern), read or re.Match.span) for kind, hint, pattern, read in formats.CHECKED]


@cache
def _commands() -> list[_Rule]:
    called = [
        (commands.COMMANDS, commands.argument),
        (commands.CALLS, commands.in_call),
        (commands.ACCOUNTS, commands.behind_account),
        (commands.BLOCKS, commands.in_block),
        (commands.LISTS, commands.in_list),
    ]
    return [
        *(_Rule("password", hint, lazily(pattern), read) for rules, read in called for hint, pattern in rules),
        *(
            _Rule(named.KINDS.get(kind, kind), hint, lazily(pattern), partial(commands.sent, kind=kind))
            for kind, hint, pattern in commands.HEADERS
        ),
    ]


@cache
def _numbers() -> list[_Rule]:
    return [
        *(
            _Rule(kind, "", pattern, partial(numbers.number, is_valid=is_valid))
            for kind, pattern, is_valid in numbers.NUMBERS
        ),
        _Rule("bank-account", "", numbers.IBAN, numbers.iban),
    ]


@cache
def _names() -> list[named.Name]:
    return [
        named.Name(kind, name, before, not_before)
        for kind, names, before, not_before in named.NAMES
        for name in names.split(", ")
    ]


@cache
def _endings() -> list[tuple[str, named.Name]]:
    """(last word or Han character, name): there are far fewer of these than names, so they are looked for first."""
    return [(name.text.split()[-1] if name.text.isascii() else name.text[-1], name) for name in _names()]


@cache
def _any_name() -> re.Pattern[str]:
    """One expression for all names; those with the same first letter share a branch, so few are tried anywhere."""
    texts = sorted({name.text for name in _names()})
    branches = (
        re.escape(first) + "(?:" + "|".join(re.escape(text[1:]) for text in same) + ")"
        for first, same in groupby(texts, key=lambda text: text[0])
    )
    return re.compile("|".join(branches))


# --- the search -------------------------------------------------------------------------------------------------------


def _found(text: str) -> Iterator[Span]:
    """(start, end, kind) of each secret in the text of one view."""
    if not stands_in(text, formats.KEY_RUN):
        yield from _without_keys(text)
        return
    seen: set[int] = set()
    known = sorted(chain(_matched(text, _prefixed()), _matched(text, _shaped())))
    for found in chain(known, _unknown_keys(text, known), _without_keys(text)):
        yield found
        behind = found[1]
        while behind not in seen:  # a key right behind another secret is no part of a longer word
            seen.add(behind)
            if key := _key_at(text, behind):
                yield key
                behind = key[1]


def _unknown_keys(text: str, known: Sequence[Span]) -> Iterator[Span]:
    """Keys of no known format; a word that has one of these in it (ci-ghp_…) is left to it."""
    starts = [start for start, _, _ in known]
    for match in matches(keys.ANY_KEY, text):
        before = bisect_left(starts, match.end())
        if (not before or known[before - 1][1] <= match.start()) and (span := keys.any_key(match)):
            yield *span, "api-key"


def _key_at(text: str, at: int) -> Span | None:
    """The key of a known format that begins at this place, whatever stands before it."""
    if not formats.KEY_RUN.match(text, at):
        return None
    piece = text[at : at + _MAX_BEHIND_CHARS]
    head = piece[:_MAX_HINT_CHARS]
    rules = [rule for rule in _shaped() if rule.hint in head]
    if piece[0] in _first_chars():
        rules += [rule for rule in _prefixed() if piece.startswith(rule.hint)]
    for rule in rules:
        if match := rule.pattern.match(piece):
            return at, at + match.end(), rule.kind
    return None


_MAX_BEHIND_CHARS = 2000
"""Of a key right behind another secret."""
_MAX_HINT_CHARS = 60
"""Within so many characters of such a key its hint stands."""


def _without_keys(text: str) -> Iterator[Span]:
    """(start, end, kind) of each secret that is no key of a known format."""
    yield from _matched(text, _checked())
    if stands_in(text, commands.WORD_RUN):
        yield from _matched(text, _commands())
    if stands_in(text, numbers.DIGIT_RUN):
        yield from ((start, end, "card") for start, end in numbers.cards(text))
        yield from _matched(text, _numbers())
    folded = fold(text)
    if stands_in(folded, commands.SECRET_WORD):
        yield from commands.settings(text, folded)
    if stands_in(folded, commands.PLAIN):
        yield from commands.accesses(text, folded)
    if stands_in(folded, _any_name()):
        has_random = stands_in(text, named.RANDOM_RUN)
        names = _names_in(folded, has_random)
        yield from _announced(text, folded, names)
        yield from _in_columns(text, names)


def _names_in(folded: str, has_random: bool) -> list[named.Name]:
    """The names that stand in a text; `has_random`: something may be a random key."""
    endings = {ending for ending in {ending for ending, _ in _endings()} if ending in folded}
    return [
        name
        for ending, name in _endings()
        if ending in endings and name.text in folded and (has_random or name.kind != "random-key")
    ]


def _matched(text: str, rules: Sequence[_Rule]) -> Iterator[Span]:
    for kind, hint, pattern, read in rules:
        if hint in text:
            for match in matches(pattern, text, formats.MAX_MATCH_CHARS):
                if span := read(match):
                    yield *span, kind


def _announced(text: str, folded: str, names: Sequence[named.Name]) -> Iterator[Span]:
    """Values with a name: each place of a name that is a word of its own, and has something near it, is looked at."""
    near: named.Near | None = None
    has_ours = _OURS in folded
    for name in names:
        kind, may_follow = named.KINDS.get(name.kind, name.kind), name.kind in named.AFTER_VALUE
        at = folded.find(name.text)
        while at >= 0:
            after = at + len(name.text)
            if _is_word(text, folded, name, at, after) and not (has_ours and _is_ours(folded, at)):
                near = near or named.Near(text, folded)
                if near.has_value(name, after) and not _is_other(folded, after):
                    for span in named.values_after(near, name, at):
                        yield *span, kind
                if before := named.value_before_in_tag(near, name, at):
                    yield *before, kind
                if may_follow and (before := named.value_before(near, name, at)):
                    yield *before, kind
            at = folded.find(name.text, after)


def _in_columns(text: str, names: Sequence[named.Name]) -> Iterator[Span]:
    """Values in tables whose columns may have such a name."""
    if "|" in text:
        for ruler in matches(tables.RULER, text, tables.MAX_RULER_CHARS):
            yield from tables.in_table(text, ruler, names)
    done = 0
    for insert in matches(tables.INSERT, text):
        if insert.start() >= done:
            done = yield from tables.in_insert(insert, names)
    done = 0
    for header in matches(tables.HEADER, text) if "\n" in text else ():
        if header.start() >= done:
            done = yield from tables.in_cells(text, header, names)


_BEFORE_HAN = "\u3400"
_MAX_BEFORE_CHARS = 160
"""What stands before a name is read so far: no pattern of `Name.before` takes more."""


def _is_word(text: str, folded: str, name: named.Name, at: int, after: int) -> bool:
    """Whether a name stands for itself at `at`, and is no part of another word (tokenize, passage, monkey)."""
    if name.not_before and (folded[after : after + 1] or " ") in name.not_before:
        return False
    if name.before is named.ALONE and folded[after : after + 1] > _BEFORE_HAN:
        return False
    if not name.before or name.before.match(folded[max(0, at - _MAX_BEFORE_CHARS) : at][::-1]):
        return True
    is_hump = at > 0 and text[at].isupper() and text[at - 1].islower()  # clientSecret
    return is_hump and name.before in named.EDGES and name.text != "key"


def _is_ours(folded: str, at: int) -> bool:
    """Whether a name stands in what we wrote, which announces nothing."""
    return _OURS in folded[max(0, at - _MAX_OURS_CHARS) : at]


def _is_other(folded: str, after: int) -> bool:
    """Whether what follows a name is replaced already, or makes another thing of it: 密碼管理."""
    if _OURS in folded[after : after + _MAX_OURS_CHARS]:
        return True
    return folded[after : after + 1] > _BEFORE_HAN and bool(named.COMPOUND.match(folded, after))


def answer_spans(question: str, reply: str) -> list[Span]:
    """Where a secret stands with which a reply begins, to the question for it that ends the other text."""
    asked = fold(question[-_MAX_ASKED_CHARS:])
    if not stands_in(asked, _any_name()):
        return []
    text = translated(reply[:_MAX_ASKED_CHARS], ASCII_FORMS)
    found = set[Span]()
    for name in _names_in(asked, has_random=False):
        at = asked.rfind(name.text)
        after = at + len(name.text)
        is_asked = _is_word(asked, asked, name, at, after) and named.is_requested(asked, name, after)
        if is_asked and (span := named.answered(text, fold(text), name, 0)):
            found.add((*span, named.KINDS.get(name.kind, name.kind)))
    return sorted(found)


_MAX_ASKED_CHARS = 600


# --- the gate before history ------------------------------------------------------------------------------------------


class Finding(NamedTuple):
    """A secret in a file: its line (1-based; 0: the file's name) and its kind. The secret itself is kept nowhere."""

    line: int
    kind: str

    @property
    def where(self) -> str:
        """`line 3`, or `its name`."""
        return f"line {self.line}" if self.line else "its name"


class Moved:
    """The files that go away with a change, as history has them: under another name nothing in them is new."""

    def __init__(self, files: Iterable[tuple[PurePosixPath, bytes | None]] = ()) -> None:
        self._files = dict(files)
        self.texts = frozenset(filter(None, self._files.values()))

    @cached_property
    def lines(self) -> frozenset[bytes]:
        return frozenset(line for text in self.texts for line in text.split(b"\n"))

    @cached_property
    def in_names(self) -> frozenset[str]:
        """The secrets in their names."""
        names = map(str, self._files)
        return frozenset(name[start:end] for name in names for start, end, _ in _in_name(name))


_NOTHING_MOVED = Moved()


def secrets_added(
    path: PurePosixPath,
    known: Sequence[bytes | None],
    text: bytes | None,
    moved: Moved = _NOTHING_MOVED,
    has_folder: Callable[[PurePosixPath], bool] = lambda folder: False,
    *,
    was_held: bool = False,
) -> list[Finding]:
    """The secrets that a file brings in: in its name, if history has no such file, and in its new lines.

    `known` are the texts that history has of it (None: none); lines of these and of what is `moved` are not new, nor is
    the name of a folder that history has. A binary file is searched for its name only: it has a NUL in its new lines,
    is of no text kind, and history has no text of it.

    `was_held`: secrets were found in it before, and it was kept out of history. What somebody else commits to it since,
    such as a NUL, or the name that a secret has on the line above, hides none of them: it counts as text, and the lines
    around the new ones are read with them.
    """
    if text is None or text in known:
        return []
    found = []
    if all(old is None for old in known):
        name = str(path)
        for start, end, kind in _in_name(name):
            folder, is_in_folder, _ = name[end:].partition("/")
            if name[start:end] not in moved.in_names and not (
                is_in_folder and has_folder(PurePosixPath(name[:end] + folder))
            ):
                found.append(Finding(0, kind))
    if text in moved.texts:
        return found
    first, added = 0, text
    longest = max((old for old in known if old and text.startswith(old)), key=len, default=b"")
    if longest.endswith(b"\n") and not was_held:  # text was appended: a log of many entries is not read again for each
        first, added = longest.count(b"\n"), text[len(longest) :]
    is_text = was_held or layout.is_text_kind(path) or any(old and b"\0" not in old for old in known)
    if b"\0" in added and not is_text:
        return found
    old = {line for known_text in known if known_text for line in known_text.split(b"\n")}
    around = _LINES_AROUND if was_held else 0
    is_source = layout.is_source(path)
    in_lines = _findings(old, added, first, is_source, around)
    if in_lines and moved.texts:
        in_lines = _findings(old | moved.lines, added, first, is_source, around)
    return [*found, *in_lines]


def _findings(old: Collection[bytes], added: bytes, first: int, is_source: bool, around: int) -> list[Finding]:
    """The secrets in those of the lines in `added` that are not `old`; `first` lines stand above it. With them so many
    lines `around` each are read, but no secret that stands in these alone counts.

    The lines are divided in blocks, for there may be millions, until there are enough new ones to search.
    """
    read, new, blocks = array("L"), set[int](), list[bytes]()
    above = at = size = 0
    while at <= len(added) and size < MAX_SEARCHED_BYTES:
        end = added.find(b"\n", at + _BLOCK_BYTES)
        start, end = at, len(added) if end < 0 else end
        stop, count = end, added.count(b"\n", at, end) + 1
        for _ in range(around):
            start = added.rfind(b"\n", 0, max(start - 1, 0)) + 1
            stop = found if (found := added.find(b"\n", stop + 1)) >= 0 else len(added)
        lines, before = added[start:stop].split(b"\n"), added.count(b"\n", start, at)
        fresh = [number for number in range(before, before + count) if lines[number] not in old]
        if around:
            new.update(above - before + number for number in fresh)
            near = {each for number in fresh for each in range(number - around, number + around + 1)}
            fresh = sorted(near.intersection(range(len(lines))))
        if fresh:
            read.extend(above - before + number for number in fresh)
            blocks.append(b"\n".join(lines[number] for number in fresh))
            size += len(blocks[-1]) + 1
        above, at = above + count, end + 1
    searched = b"\n".join(blocks)[:MAX_SEARCHED_BYTES]
    readings = _readings(searched)
    spans = (span for reading in readings for span in _in_text(reading, is_source))
    counted = [
        Finding(first + 1 + read[start], kind)
        for start, end, kind in spans
        if not around or not new.isdisjoint(read[start : end + 1])
    ]
    return sorted(set(counted)) if around or len(readings) > 1 else counted


def _readings(text: bytes) -> list[str]:
    """The text in UTF-8, and if it is none, also as editors for Chinese write it; of the same lines.

    A NUL may stand between two words, or be half of a character of UTF-16; whatever a text claims, each is read.
    """
    if b"\0" in text:
        little = text.removeprefix(b"\0")  # half of the line end of a line that is not new
        wide = [little.decode("utf-16-le", "ignore"), text.decode("utf-16-be", "ignore")]
        return [*(each for by in (b" ", b"") for each in _readings(text.replace(b"\0", by))), *wide]
    try:
        return [text.decode("utf-8")]
    except UnicodeDecodeError:
        lines = text.split(b"\n")
        return ["\n".join([line.decode(encoding, "replace") for line in lines]) for encoding in _ENCODINGS]


_ENCODINGS = ("utf-8", "gb18030", "cp950")


def _in_text(text: str, is_source: bool) -> Iterator[tuple[int, int, str]]:
    """(first line, last line, kind) of each secret in a text; lines count from 0. In a program (`is_source`)
    «pencil.ocean20» is an attribute unless it is a string."""
    line = place = 0
    for start, end, kind in secret_spans(text):
        if is_source and text[start - 1 : start] not in _QUOTES and values.is_attribute(text[start:end]):
            continue
        line += text.count("\n", place, start)
        place = start
        yield line, line + text.count("\n", start, end), kind


_QUOTES = ("'", '"', "`")


def _in_name(path: str) -> list[Span]:
    """(start, end, kind) of each secret in a path, each part of which is a text of its own without its extension.

    Hyphens and the like are blanks, too: `password-x.md` says the same as `password x.md`.
    """
    found: list[Span] = []
    start = 0
    for part in path.split("/"):
        name = _EXTENSION.sub("", part)
        spans = secret_spans(name) or secret_spans(name.translate(_IN_NAMES))
        found += [(start + begin, start + end, kind) for begin, end, kind in spans]
        start += len(part) + 1
    return found


_EXTENSION = lazily(r"(?:\.[A-Za-z][A-Za-z0-9]{0,4}){1,2}\Z")
_IN_NAMES = str.maketrans("-_+=.", "     ")


def shown_path(path: PurePosixPath) -> str:
    """A path as messages show it: without the secrets in it."""
    return _replaced(str(path), _in_name(str(path)))[0]


def places(findings: Sequence[Finding]) -> str:
    """`line 3 (password), its name (api-key)`; of many the first ones."""
    told = [f"{finding.where} ({finding.kind})" for finding in findings[:_MAX_TOLD]]
    return ", ".join(told + [f"and {len(findings) - _MAX_TOLD} more"] * (len(findings) > _MAX_TOLD))
