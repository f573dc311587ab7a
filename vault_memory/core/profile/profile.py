"""USER.md: the profile that a person reads and edits, and the fields in it that the assistant knows.

A profile is its text. Parsing only finds the known fields among the lines; every other line stays where the person put
it: `Profile.parse(text).text == text` for any text. Labels are accepted in Traditional Chinese, Simplified Chinese and
English, with `：` or `:`; new lines are written in the language that the file already uses.

A field is one line. Where its label stands more than once, the field is the first such line in its own section, else
the first of the file; whatever else has that label (`- Name: Rex`, in a section about a dog) is text. Which line it is
does not depend on what the line holds, so that it stays the same when its value is set or removed.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import NamedTuple

from vault_memory.core.profile.fields import (
    FIELDS,
    LANGUAGE,
    LOCALES,
    MAX_VALUE_CHARS,
    NOTE,
    SECTIONS,
    SEPARATORS,
    STRONG_MARKS,
    TITLES,
    Field,
    Form,
)
from vault_memory.core.profile.languages import language_tag
from vault_memory.core.reading import lines as lines_of
from vault_memory.core.text import comparable, one_line
from vault_memory.errors import TooLarge

MAX_PROFILE_CHARS = 1_000_000
"""A turn reads all of it several times; what a person prefers takes some thousand."""

MAX_READ_CHARS = 100_000
"""Fields are looked for in so much of a file. What is beyond any of these bounds is text: it stays, but is no field."""
MAX_LINE_CHARS = 50_000
MAX_VALUES = 2_000
"""Of one field."""
MAX_LABEL_CHARS = 60

_ROW = re.compile(r"^(?:([^\S\n]*[-*+][ \t]+)([^：:\n]*)(.*)|[^\S\n]{0,3}#{1,6}[ \t]+(.*))", re.MULTILINE)
"""A bullet (its mark, its text before the first colon, the rest), or a heading (its text)."""
_FENCE = re.compile(r"^(?:[^\S\n]{0,3}(```+|~~~+)|---[^\S\n]*$).*", re.MULTILINE)
"""A line with a fence of code, or one that bounds front matter."""

_KEY_OF_LABEL = {comparable(label): row.key for row in FIELDS.values() if row.key != NOTE for label in row.labels}
_KEY_OF_LABEL |= {label: row.key for row in FIELDS.values() if row.key != NOTE for label in row.labels}
_SECTION_OF_LABEL = {comparable(label): section for section, labels in SECTIONS.items() for label in labels}
_ALL_LABELS = [TITLES, *SECTIONS.values(), *(row.labels for row in FIELDS.values())]


def split_mark(text: str) -> tuple[str, bool]:
    """A value without the mark of a strong preference at its end, and whether it had one: `dark（強偏好）`."""
    bare = text.rstrip()
    opening = max(bare.rfind("（"), bare.rfind("("))
    if opening < 0 or bare[-1] not in "）)" or bare[opening + 1 : -1].strip().lower() not in STRONG_MARKS:
        return text, False
    return bare[:opening].rstrip(), True


def clean(value: str, form: Form = "scalar") -> str:
    """A value that fits on one line of the profile: as `one_line` makes it, and cut at `MAX_VALUE_CHARS`.

    In a member of a list the characters that separate members become blanks, so it is read back as one member.
    """
    if form != "scalar":
        value = SEPARATORS.sub(" ", value)
    value = one_line(value)[:MAX_VALUE_CHARS].strip()
    has_mark = True
    while has_mark:
        value, has_mark = split_mark(value)
    return value


def canonical(key: str, value: str) -> str:
    """A value of a scalar in its usual spelling: `dark` for `Dark`, the tag of a language; any other as it is."""
    row = FIELDS[key]
    if key == LANGUAGE:
        return language_tag(value) or value
    return next((valid for valid in row.values if valid.casefold() == value.casefold()), value)


@dataclass(frozen=True)
class Item:
    """One value of a field, and whether its line marks it as strong."""

    value: str
    strong: bool = False

    @classmethod
    def parse(cls, text: str) -> Item:
        """Read `dark（強偏好）` or `dark`."""
        value, strong = split_mark(text)
        return cls(value.strip(), strong)

    @cached_property
    def comparable(self) -> str:
        """Its value, made comparable."""
        return comparable(self.value)

    def render(self, locale: str) -> str:
        """Write it in a language: `dark（強偏好）`, `dark (strong)`."""
        if not self.strong:
            return self.value
        mark = STRONG_MARKS[LOCALES.index(locale)]
        return f"{self.value} ({mark})" if locale == "en" else f"{self.value}（{mark}）"


@dataclass(frozen=True)
class FieldLine:
    """A line with a known field: its index, its text (with its line break), that up to the value, its values, whether
    it is in its own section. `start` is where it begins in the profile."""

    index: int
    start: int
    text: str
    prefix: str
    items: tuple[Item, ...]
    is_at_home: bool


@dataclass(frozen=True)
class Profile:
    """A profile as text. A change returns a new profile in which only the lines of the changed field differ.

    Raises `TooLarge` for more than `MAX_PROFILE_CHARS`.
    """

    text: str
    default_locale: str = field(default=LOCALES[0], compare=False)

    def __post_init__(self) -> None:
        if len(self.text) > MAX_PROFILE_CHARS:
            raise TooLarge(
                f"a USER.md of more than {MAX_PROFILE_CHARS:,} characters is not read: move what is no preference "
                "into notes"
            )

    @classmethod
    def parse(cls, text: str, default_locale: str = LOCALES[0]) -> Profile:
        """Any text is a profile; `default_locale` is used where the text does not show its language."""
        return cls(text, default_locale)

    @classmethod
    def decode(cls, data: bytes, default_locale: str = LOCALES[0]) -> Profile:
        """A profile from the bytes of its file; `encode` gives back bytes that are not UTF-8 unchanged."""
        return cls(data.decode("utf-8", "surrogateescape"), default_locale)

    def encode(self) -> bytes:
        """The bytes for its file."""
        return self.text.encode("utf-8", "surrogateescape")

    # Reading ------------------------------------------------------------------------------------------------------

    def items(self, key: str) -> tuple[Item, ...]:
        """The values of a key with their strength, empty if unset."""
        if key == NOTE:
            return tuple(item for line in self.note_lines for item in line.items)
        line = self.line_of(key)
        return line.items if line else ()

    def get(self, key: str) -> str | list[str] | None:
        """A scalar's value or None; the list of values of the other forms."""
        return _plain(key, self.items(key))

    def values(self) -> dict[str, str | list[str]]:
        """All keys that are set, as plain data."""
        return {key: value for key in FIELDS if (value := self.get(key))}

    def strong_values(self) -> dict[str, str | list[str]]:
        """Of these, the values that the file marks as strong."""
        strong = {key: [item for item in self.items(key) if item.strong] for key in FIELDS}
        return {key: value for key, items in strong.items() if (value := _plain(key, items))}

    def is_strong(self, key: str, value: str) -> bool:
        """Whether the file marks this value of the key as strong."""
        wanted = comparable(canonical(key, value))
        return any(item.strong and item.comparable == wanted for item in self.items(key))

    def problems(self) -> list[str]:
        """What a person may want to correct: duplicated fields and invalid values, each with its line."""
        messages: list[str] = []
        if len(self.text) > MAX_READ_CHARS:
            messages.append(f"only the first {MAX_READ_CHARS:,} characters are read for fields: make the file shorter")
        messages += [
            f"line {index + 1} is longer than {MAX_LINE_CHARS:,} characters: it is not read as a field"
            for index, line in enumerate(self._read_text.split("\n"))
            if len(line) >= MAX_LINE_CHARS
        ]
        lines: dict[str, list[tuple[int, bool]]] = {}
        beyond: dict[str, int] = {}
        notes = 0
        for row in self._rows():
            notes += bool(row.key == NOTE and row.value)
            if notes > MAX_VALUES if row.key == NOTE else row.has_too_many:
                beyond.setdefault(row.key, row.line)
            elif row.key != NOTE:
                lines.setdefault(row.key, []).append((row.line, row.is_at_home))
        messages += [
            f"line {index + 1}: {key} has more than {MAX_VALUES:,} values: those from here on are not read"
            for key, index in beyond.items()
        ]
        for key, places in lines.items():
            row_of_key, first = FIELDS[key], self.line_of(key)
            assert first
            places.sort(key=lambda place: not place[1])
            messages += [
                f"line {index + 1}: {row_of_key.labels[0]} ({key}) is here a second time; line {first.index + 1} counts"
                for index, _ in places[1:]
            ]
            messages += [
                f"line {first.index + 1}: {key} must be one of {', '.join(row_of_key.values)}, not {item.value!r}"
                for item in first.items
                if row_of_key.values and item.value not in row_of_key.values
            ]
            messages += [
                f"line {first.index + 1}: {item.value!r} is no language that is known: write a tag such as zh-TW"
                for item in first.items
                if key == LANGUAGE and not language_tag(item.value)
            ]
        return messages

    # Changing -----------------------------------------------------------------------------------------------------

    def put(self, key: str, value: str, *, strong: bool = False) -> Profile:
        """Set a scalar, or add to a list. An equal member only takes `strong`, and moves first in a bounded list.

        Raises `ValueError` for an unknown key, and for an empty or invalid value.
        """
        return self.with_items(key, with_value(key, self.items(key), value, strong=strong))

    def without(self, key: str, value: str | None = None) -> Profile:
        """Remove a value (None: every value); the profile stays as it is if the value is not there."""
        return self.with_items(key, without_value(self.items(_row(key).key), value))

    def with_items(self, key: str, items: Iterable[Item]) -> Profile:
        """This profile with exactly these values of the key, even invalid ones: a person may have written them."""
        wanted = list(items)
        return self if list(self.items(key)) == wanted else self._write(key, wanted)

    def with_new_line(self, key: str, items: Iterable[Item]) -> Profile:
        """This profile with one more line, at the end of the field's section; no other line is touched."""
        colon = ": " if self.locale == "en" else "："
        label = FIELDS[key].labels[LOCALES.index(self.locale)]
        return self._insert(FIELDS[key].section, [f"- {label}{colon}{self._rendered(items)}"])

    # Lines --------------------------------------------------------------------------------------------------------

    def line_of(self, key: str) -> FieldLine | None:
        """The line that is the field of a key; all others with a label of it are text."""
        return self._parsed[0].get(key)

    @property
    def note_lines(self) -> list[FieldLine]:
        """The bullets of the section of notes."""
        return self._parsed[1]

    def line_with(self, line: FieldLine, items: Iterable[Item]) -> str:
        """The text of a field's line, with its line break, if it had these values."""
        text = self._rendered(items)
        gap = " " if text and line.prefix.endswith(":") else ""
        return f"{line.prefix}{gap}{text}".rstrip(" ") + line.text[len(line.text.rstrip("\r\n")) :]

    @cached_property
    def _read_text(self) -> str:
        """The lines in which fields are looked for."""
        return self.text if len(self.text) <= MAX_READ_CHARS else self.text[: self._end_of_lines(MAX_READ_CHARS)]

    def _end_of_lines(self, limit: int) -> int:
        """The end of the last line that ends before `limit`."""
        return self.text.rfind("\n", 0, limit) + 1

    @cached_property
    def locale(self) -> str:
        """The language whose labels the file uses most."""
        words = set()
        for found in _ROW.finditer(self._read_text):
            if _is_read(found):
                words.add(_heading(found) if found[1] is None else _label_and_value(found)[0])
        counts = [sum(labels[i] in words for labels in _ALL_LABELS) for i in range(len(LOCALES))]
        best = max(counts)
        candidates = [locale for locale, count in zip(LOCALES, counts, strict=True) if count == best]
        return self.default_locale if self.default_locale in candidates else candidates[0]

    @cached_property
    def _newline(self) -> str:
        return "\r\n" if self.text.partition("\n")[0].endswith("\r") and "\n" in self.text else "\n"

    @cached_property
    def _parsed(self) -> tuple[dict[str, FieldLine], list[FieldLine]]:
        """The line of each field, and the notes.

        Of a label that stands on thousands of lines the values of one line are read, and of no other.
        """
        at_home: dict[str, _Row] = {}
        elsewhere: dict[str, _Row] = {}
        notes: list[FieldLine] = []
        values = 0
        for row in self._rows():
            key = row.key
            if key == NOTE:
                values += bool(row.value)
                if values <= MAX_VALUES:
                    notes.append(self._field_line(row))
            elif key not in at_home and (row.is_at_home or key not in elsewhere) and not row.has_too_many:
                (at_home if row.is_at_home else elsewhere)[key] = row
        fields = {key: self._field_line(row) for key, row in (elsewhere | at_home).items()}
        return fields, notes

    def _field_line(self, row: _Row) -> FieldLine:
        start = row.found.start()
        end = self.text.find("\n", start) + 1 or len(self.text)
        return FieldLine(row.line, start, self.text[start:end], row.prefix, row.items, row.is_at_home)

    def _rows(self) -> Iterator[_Row]:
        """The bullets that are notes or have a label that is known, in order."""
        index, counted = 0, 0
        for found, section in self._content():
            if found[1] is None or not _is_read(found):
                continue
            if key := NOTE if section == "other" else _key_of(found):
                index += self.text.count("\n", counted, found.start())
                counted = found.start()
                yield _Row(key, index, found, section == FIELDS[key].section)

    def _content(self) -> Iterator[tuple[re.Match[str], str]]:
        """Each bullet and each heading outside front matter and code fences, and the section that it is in."""
        section = ""
        for found in _ROW.finditer(self._read_text):
            if self._fenced and self._is_fenced(found.start()):
                continue
            if found[1] is None:
                section = _SECTION_OF_LABEL.get(comparable(_heading(found)), "")
            yield found, section

    def _is_fenced(self, start: int) -> bool:
        """Whether a line is in front matter or in a code fence."""
        at = bisect_right(self._fenced, start, key=lambda block: block[0]) - 1
        return at >= 0 and start < self._fenced[at][1]

    @cached_property
    def _fenced(self) -> list[tuple[int, int]]:
        """Where front matter and code fences begin and end; a block that is never closed does not count."""
        inside: list[tuple[int, int]] = []
        marks = [(found.start(), found.end(), found[1] or "") for found in _FENCE.finditer(self._read_text)]
        rules = [at for at, _, fence in marks if not fence]
        start, fence = (0, "---") if len(rules) > 1 and rules[0] == 0 else (-1, "")
        for at, end, mark in marks:
            closes = at > 0 and not mark if fence == "---" else bool(fence and mark.startswith(fence))
            if closes:
                inside.append((start, end))
                fence = ""
            elif mark and not fence:
                start, fence = at, mark
        return inside

    def _write(self, key: str, items: list[Item]) -> Profile:
        if key == NOTE:
            return self._write_notes([item.value for item in items])
        known = self.line_of(key)
        if not known:
            return self.with_new_line(key, items)
        before, after = self.text[: known.start], self.text[known.start + len(known.text) :]
        return self._with(before + self.line_with(known, items) + after)

    def _rendered(self, items: Iterable[Item]) -> str:
        return (", " if self.locale == "en" else "、").join(item.render(self.locale) for item in items)

    def _write_notes(self, notes: list[str]) -> Profile:
        wanted, present = set(notes), {item.value for line in self.note_lines for item in line.items}
        kept, end = [], 0
        for line in self.note_lines:
            if line.items and line.items[0].value not in wanted:
                kept.append(self.text[end : line.start])
                end = line.start + len(line.text)
        profile = self._with("".join(kept) + self.text[end:])
        added = [f"- {note}" for note in notes if note not in present]
        return profile._insert("other", added) if added else profile

    def _insert(self, section: str, added: list[str]) -> Profile:
        """Add lines at the end of their section; a missing section is added at the end of the file.

        In a file that is not read to its end both are added further up, where they are found again.
        """
        is_read_to_end = len(self.text) <= MAX_READ_CHARS
        limit = len(self.text) if is_read_to_end else self._end_of_lines(MAX_READ_CHARS // 2)
        headings = {found.start(): name for found, name in self._content() if found[1] is None}
        name, start, end_inside, end, last_heading = "", 0, 0, 0, None
        for line in lines_of(self.text[:limit], keep_ends=True):
            name = headings.get(start, name)
            if len(line) <= MAX_LINE_CHARS and not (self._fenced and self._is_fenced(start)):
                end = start + len(line)
                end_inside = end if name == section and line.strip() else end_inside
                last_heading = start if start in headings else last_heading
            start += len(line)
        text = "".join(line + self._newline for line in added)
        if end_inside:
            at = end_inside
        else:
            at = limit if is_read_to_end else end if last_heading is None else last_heading
            gap = self._newline if self.text[:at].removesuffix("\n").rpartition("\n")[2].strip() else ""
            text = f"{gap}## {SECTIONS[section][LOCALES.index(self.locale)]}{self._newline}{text}"
        missing = "" if not self.text or self.text.endswith("\n") else self._newline
        whole = self.text + missing
        at += len(missing) if at == len(self.text) else 0
        return self._with(whole[:at] + text + whole[at:])

    def _with(self, text: str) -> Profile:
        return Profile(text, self.default_locale)


def new_profile(locale: str, *, joined: str, language: str = "", timezone: str = "") -> Profile:
    """The profile of a new person with the labels of `locale`; `joined` is the day (YYYY-MM-DD). Every field has its
    line. Those that nobody has filled are empty: a language and a time zone are never made up."""
    column = LOCALES.index(locale)
    colon = ": " if locale == "en" else "："
    filled = {"language": language, "timezone": timezone, "joined": joined}
    parts = [f"# {TITLES[column]}\n"]
    for section, names in SECTIONS.items():
        rows = [row for row in FIELDS.values() if row.section == section and row.key != NOTE]
        lines = [f"- {row.labels[column]}{colon}{filled.get(row.key, '')}".rstrip(" ") for row in rows]
        parts.append("\n".join([f"\n## {names[column]}", *lines]) + "\n")
    return Profile("".join(parts), locale)


def _plain(key: str, items: Sequence[Item]) -> str | list[str] | None:
    values = [item.value for item in items]
    return (values[0] if values else None) if FIELDS[key].form == "scalar" else values


def with_value(key: str, items: Sequence[Item], value: str, *, strong: bool = False) -> list[Item]:
    """The values of a key after `Profile.put`.

    Raises `ValueError` for an unknown key, and for an empty or invalid value.
    """
    row = _row(key)
    new = Item(canonical(key, clean(value, row.form if key != NOTE else "scalar")), strong)
    if not new.value or (row.values and new.value not in row.values):
        raise ValueError(f"{value!r} is not a value of {key}")
    if row.form == "scalar":
        return [new]
    others = list(items)
    position = next((n for n, item in enumerate(others) if item.comparable == new.comparable), None)
    if position is not None:
        new = Item(others.pop(position).value, strong)
    if row.max_items:  # newest first
        return [new, *others][: row.max_items]
    at = len(others) if position is None else position
    return [*others[:at], new, *others[at:]]


def without_value(items: Sequence[Item], value: str | None = None) -> list[Item]:
    """The values of a key after `Profile.without`."""
    gone = None if value is None else comparable(value)
    return [item for item in items if gone is not None and item.comparable != gone]


def _row(key: str) -> Field:
    if key not in FIELDS:
        raise ValueError(f"{key!r} is not a key of the profile; the keys are {', '.join(FIELDS)}")
    return FIELDS[key]


class _Row(NamedTuple):
    """A bullet that may be the field of a key, or a note. What it holds is read when asked."""

    key: str
    line: int
    found: re.Match[str]
    is_at_home: bool

    @property
    def value(self) -> str:
        if self.key == NOTE:
            return (self.found[2] + self.found[3]).strip()
        return _label_and_value(self.found)[1]

    @property
    def prefix(self) -> str:
        """The text before the value."""
        if self.key == NOTE:
            return self.found[1]
        text = self.found[0].rstrip("\r")
        return text[: len(text) - len(self.value)]

    @property
    def items(self) -> tuple[Item, ...]:
        value = self.value
        if self.key == NOTE:
            return (Item(value),) if value else ()
        return _parse_items(self.key, value)

    @property
    def has_too_many(self) -> bool:
        """Whether it has more values than are read; a short text cannot have them."""
        return len(self.found[0]) > MAX_VALUES and len(self.items) > MAX_VALUES


def _is_read(found: re.Match[str]) -> bool:
    return found.end() - found.start() < MAX_LINE_CHARS


def _heading(found: re.Match[str]) -> str:
    return found[4].rstrip("\r").rstrip(" \t#")


def _label_and_value(bullet: re.Match[str]) -> tuple[str, str]:
    """`**主題偏好**：dark` → (`主題偏好`, `dark`), also `**Theme:** dark`. Without a colon all is label."""
    if not bullet[3]:
        return bullet[2].rstrip("\r"), ""
    label, value = bullet[2].strip(), bullet[3][1:].rstrip("\r").lstrip()
    if label[:1] in ("*", "_") and label[-1] not in "*_":
        value = value.lstrip("*_ ")
    return label.strip("*_ \t"), value


def _key_of(bullet: re.Match[str]) -> str:
    """The key of a bullet's label; empty for any other bullet."""
    if key := _KEY_OF_LABEL.get(bullet[2]):  # as we write it
        return key
    label, _ = _label_and_value(bullet)
    return _key_of_label(label) if len(label) <= MAX_LABEL_CHARS else ""


@lru_cache(maxsize=4_096)
def _key_of_label(label: str) -> str:
    return _KEY_OF_LABEL.get(comparable(label), "")


def _parse_items(key: str, value: str) -> tuple[Item, ...]:
    row = FIELDS[key]
    parts = [value] if row.form == "scalar" else SEPARATORS.split(value)
    items = [Item.parse(part) for part in parts if part.strip()]
    return tuple(Item(canonical(key, item.value), item.strong) for item in items if item.value)
