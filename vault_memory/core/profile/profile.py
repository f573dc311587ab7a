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
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from vault_memory.core.profile.fields import (
    FIELDS,
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
from vault_memory.core.reading import lines as lines_of
from vault_memory.core.text import comparable, one_line, same
from vault_memory.errors import TooLarge

MAX_PROFILE_CHARS = 1_000_000
"""A turn reads all of it several times; what a person prefers takes some thousand."""

MAX_READ_CHARS = 100_000
"""Fields are looked for in so much of a file. What is beyond any of these bounds is text: it stays, but is no field."""
MAX_LINE_CHARS = 50_000
MAX_VALUES = 2_000
"""Of one field."""
MAX_LABEL_CHARS = 60

_BULLET = re.compile(r"(\s*[-*+][ \t]+)(.*)", re.DOTALL)
_HEADING = re.compile(r"\s{0,3}#{1,6}[ \t]+(.*)", re.DOTALL)
_FENCE = re.compile(r"\s{0,3}(```+|~~~+)")

_KEY_OF_LABEL = {comparable(label): row.key for row in FIELDS.values() if row.key != NOTE for label in row.labels}
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

    def render(self, locale: str) -> str:
        """Write it in a language: `dark（強偏好）`, `dark (strong)`."""
        if not self.strong:
            return self.value
        mark = STRONG_MARKS[LOCALES.index(locale)]
        return f"{self.value} ({mark})" if locale == "en" else f"{self.value}（{mark}）"


@dataclass(frozen=True)
class FieldLine:
    """A line with a known field: its index, its text up to the value, its values, whether it is in its own section."""

    index: int
    prefix: str
    items: tuple[Item, ...]
    is_at_home: bool


@dataclass(frozen=True)
class Profile:
    """A profile as text. A change returns a new profile in which only the lines of the changed field differ.

    Raises `TooLarge` for more than `MAX_PROFILE_CHARS`.
    """

    text: str
    default_locale: str = field(default="zh-TW", compare=False)

    def __post_init__(self) -> None:
        if len(self.text) > MAX_PROFILE_CHARS:
            raise TooLarge(
                f"a USER.md of more than {MAX_PROFILE_CHARS:,} characters is not read: move what is no preference "
                "into notes"
            )

    @classmethod
    def parse(cls, text: str, default_locale: str = "zh-TW") -> Profile:
        """Any text is a profile; `default_locale` is used where the text does not show its language."""
        return cls(text, default_locale)

    @classmethod
    def decode(cls, data: bytes, default_locale: str = "zh-TW") -> Profile:
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
        lines = self.lines_of(key)
        return lines[0].items if lines else ()

    def get(self, key: str) -> str | list[str] | None:
        """A scalar's value or None; the list of values of the other forms."""
        values = [item.value for item in self.items(key)]
        return (values[0] if values else None) if FIELDS[key].form == "scalar" else values

    def values(self) -> dict[str, str | list[str]]:
        """All keys that are set, as plain data."""
        return {key: value for key in FIELDS if (value := self.get(key))}

    def is_strong(self, key: str, value: str) -> bool:
        """Whether the file marks this value of the key as strong."""
        return any(item.strong and same(item.value, value) for item in self.items(key))

    def problems(self) -> list[str]:
        """What a person may want to correct: duplicated fields and invalid values, each with its line."""
        messages: list[str] = []
        if len(self.text) > MAX_READ_CHARS:
            messages.append(f"only the first {MAX_READ_CHARS:,} characters are read for fields: make the file shorter")
        messages += [
            f"line {index + 1} is longer than {MAX_LINE_CHARS:,} characters: it is not read as a field"
            for index, line in enumerate(self._read_lines)
            if len(line) > MAX_LINE_CHARS
        ]
        messages += [
            f"line {index + 1}: {key} has more than {MAX_VALUES:,} values: those from here on are not read"
            for key, index in self._parsed[1].items()
        ]
        for key, lines in self._parsed[0].items():
            if key == NOTE:
                continue
            row, first = FIELDS[key], lines[0].index + 1
            messages += [
                f"line {line.index + 1}: {row.labels[0]} ({key}) is here a second time; line {first} counts"
                for line in lines[1:]
            ]
            messages += [
                f"line {line.index + 1}: {key} must be one of {', '.join(row.values)}, not {item.value!r}"
                for line in lines[:1]
                for item in line.items
                if row.values and item.value not in row.values
            ]
        return messages

    # Changing -----------------------------------------------------------------------------------------------------

    def put(self, key: str, value: str, *, strong: bool = False) -> Profile:
        """Set a scalar, or add to a list. An equal member only takes `strong`, and moves first in a bounded list.

        Raises `ValueError` for an unknown key, and for an empty or invalid value.
        """
        row = _row(key)
        new = Item(clean(value, row.form if key != NOTE else "scalar"), strong)
        if not new.value or (row.values and new.value not in row.values):
            raise ValueError(f"{value!r} is not a value of {key}")
        items = list(self.items(key))
        if row.form == "scalar":
            return self._write(key, [new])
        position = next((n for n, item in enumerate(items) if same(item.value, new.value)), None)
        if position is not None:
            new = Item(items.pop(position).value, strong)
        if row.max_items:  # newest first
            wanted = [new, *items][: row.max_items]
        else:
            at = len(items) if position is None else position
            wanted = [*items[:at], new, *items[at:]]
        return self.with_items(key, wanted)

    def without(self, key: str, value: str | None = None) -> Profile:
        """Remove a value (None: every value); the profile stays as it is if the value is not there."""
        items = self.items(_row(key).key)
        kept = [item for item in items if value is not None and not same(item.value, value)]
        return self if len(kept) == len(items) else self._write(key, kept)

    def with_items(self, key: str, items: Iterable[Item]) -> Profile:
        """This profile with exactly these values of the key, even invalid ones: a person may have written them."""
        wanted = list(items)
        return self if list(self.items(key)) == wanted else self._write(key, wanted)

    def with_new_line(self, key: str, items: Iterable[Item]) -> Profile:
        """This profile with one more line, at the end of the field's section; no other line is touched."""
        colon = ": " if self.locale == "en" else "："
        label = FIELDS[key].labels[LOCALES.index(self.locale)]
        return self._insert(FIELDS[key].section, f"- {label}{colon}{self._rendered(items)}")

    # Lines --------------------------------------------------------------------------------------------------------

    def lines_of(self, key: str) -> list[FieldLine]:
        """The lines with a label of the key. The first is the field, the others are text."""
        return self._parsed[0].get(key, [])

    @property
    def note_lines(self) -> list[FieldLine]:
        """The bullets of the section of notes."""
        return self._parsed[0].get(NOTE, [])

    def line_with(self, line: FieldLine, items: Iterable[Item]) -> str:
        """The text of a field's line, with its line break, if it had these values."""
        text, whole = self._rendered(items), self._lines[line.index]
        gap = " " if text and line.prefix.endswith(":") else ""
        return f"{line.prefix}{gap}{text}".rstrip(" ") + whole[len(whole.rstrip("\r\n")) :]

    @cached_property
    def _lines(self) -> list[str]:
        return lines_of(self.text, keep_ends=True)

    @cached_property
    def _read_lines(self) -> list[str]:
        """The lines in which fields are looked for."""
        if len(self.text) <= MAX_READ_CHARS:
            return self._lines
        return self._lines[: self.text.count("\n", 0, MAX_READ_CHARS)]

    @cached_property
    def locale(self) -> str:
        """The language whose labels the file uses most."""
        words = {label for line in self._read_lines for label in _words_of(line)}
        counts = [sum(labels[i] in words for labels in _ALL_LABELS) for i in range(len(LOCALES))]
        best = max(counts)
        candidates = [locale for locale, count in zip(LOCALES, counts, strict=True) if count == best]
        return self.default_locale if self.default_locale in candidates else candidates[0]

    @cached_property
    def _newline(self) -> str:
        return "\r\n" if self._lines and self._lines[0].endswith("\r\n") else "\n"

    @cached_property
    def _parsed(self) -> tuple[dict[str, list[FieldLine]], dict[str, int]]:
        """The lines of each label and the notes; of a key with too many values the index of the first unread line."""
        lines: dict[str, list[FieldLine]] = {}
        beyond: dict[str, int] = {}
        counts: Counter[str] = Counter()
        for index, section, line in self._content():
            bullet = _BULLET.match(line.rstrip("\r\n"))
            if not bullet:
                continue
            if section == "other":
                item = Item(bullet[2].strip())
                key, found = NOTE, FieldLine(index, bullet[1], (item,) if item.value else (), True)
            else:
                label, colon, value = _split_label(bullet[2])
                key = _KEY_OF_LABEL.get(comparable(label), "") if len(label) <= MAX_LABEL_CHARS else ""
                prefix = bullet[1] + bullet[2][: len(bullet[2]) - len(value)]
                is_at_home = bool(key) and section == FIELDS[key].section
                found = FieldLine(index, prefix, _parse_items(key, value) if key else (), is_at_home)
            counts[key] += len(found.items)
            if key and (counts[key] if key == NOTE else len(found.items)) > MAX_VALUES:
                beyond.setdefault(key, index)
            elif key:
                lines.setdefault(key, []).append(found)
        for same_label in lines.values():
            same_label.sort(key=lambda line: not line.is_at_home)
        return lines, beyond

    def _content(self) -> Iterator[tuple[int, str, str]]:
        """(index, section, line) of each line that can hold a field: those outside front matter and code fences."""
        section = ""
        for index, line in enumerate(self._read_lines):
            if index in self._fenced_lines:
                continue
            heading = _heading(line)
            if heading is not None:
                section = _SECTION_OF_LABEL.get(comparable(heading), "")
            if len(line) <= MAX_LINE_CHARS:
                yield index, section, line

    @cached_property
    def _fenced_lines(self) -> set[int]:
        """Indices of the lines in front matter and code fences; a block that is never closed does not count."""
        inside: set[int] = set()
        rules = [index for index, line in enumerate(self._read_lines) if line.rstrip() == "---"]
        start, fence = (0, "---") if len(rules) > 1 and rules[0] == 0 else (-1, "")
        for index, line in enumerate(self._read_lines):
            mark = _FENCE.match(line)
            if fence == "---":
                closes = index > 0 and line.rstrip() == "---"
            else:
                closes = bool(fence and mark and mark[1].startswith(fence))
            if closes:
                inside.update(range(start, index + 1))
                fence = ""
            elif mark and not fence:
                start, fence = index, mark[1]
        return inside

    def _write(self, key: str, items: list[Item]) -> Profile:
        if key == NOTE:
            return self._write_notes([item.value for item in items])
        known = self.lines_of(key)
        if not known:
            return self.with_new_line(key, items)
        lines = list(self._lines)
        lines[known[0].index] = self.line_with(known[0], items)
        return self._with(lines)

    def _rendered(self, items: Iterable[Item]) -> str:
        return (", " if self.locale == "en" else "、").join(item.render(self.locale) for item in items)

    def _write_notes(self, notes: list[str]) -> Profile:
        known = self.note_lines
        wanted, present = set(notes), {line.items[0].value for line in known if line.items}
        gone = {line.index for line in known if line.items and line.items[0].value not in wanted}
        profile = self._with([line for index, line in enumerate(self._lines) if index not in gone])
        for note in notes:
            if note not in present:
                profile = profile._insert("other", f"- {note}")
        return profile

    def _insert(self, section: str, text: str) -> Profile:
        """Add a line at the end of its section; a missing section is added at the end of the file.

        In a file that is not read to its end both are added further up, where they are found again.
        """
        lines = list(self._lines)
        if lines and not lines[-1].endswith("\n"):
            lines[-1] += self._newline
        limit = len(lines) if len(self.text) <= MAX_READ_CHARS else self.text.count("\n", 0, MAX_READ_CHARS // 2)
        places = [(index, name) for index, name, _ in self._content() if index < limit]
        inside = [index for index, name in places if name == section and lines[index].strip()]
        added = [text + self._newline]
        if inside:
            at = inside[-1] + 1
        else:
            headings = [index for index, _ in places if _heading(lines[index]) is not None]
            last = headings[-1] if headings else places[-1][0] + 1 if places else 0
            at = len(lines) if limit == len(lines) else last
            gap = [self._newline] if at and lines[at - 1].strip() else []
            added = [*gap, f"## {SECTIONS[section][LOCALES.index(self.locale)]}{self._newline}", *added]
        return self._with([*lines[:at], *added, *lines[at:]])

    def _with(self, lines: list[str]) -> Profile:
        return Profile("".join(lines), self.default_locale)


def new_profile(locale: str, *, language: str, timezone: str, joined: str) -> Profile:
    """The profile of a new person; `joined` is the day (YYYY-MM-DD). Every field has its line, most of them empty."""
    column = LOCALES.index(locale)
    colon = ": " if locale == "en" else "："
    filled = {"language": language, "timezone": timezone, "joined": joined}
    parts = [f"# {TITLES[column]}\n"]
    for section, names in SECTIONS.items():
        rows = [row for row in FIELDS.values() if row.section == section and row.key != NOTE]
        lines = [f"- {row.labels[column]}{colon}{filled.get(row.key, '')}".rstrip(" ") for row in rows]
        parts.append("\n".join([f"\n## {names[column]}", *lines]) + "\n")
    return Profile("".join(parts), locale)


def _row(key: str) -> Field:
    if key not in FIELDS:
        raise ValueError(f"{key!r} is not a key of the profile; the keys are {', '.join(FIELDS)}")
    return FIELDS[key]


def _heading(line: str) -> str | None:
    """The text of a heading; None for any other line."""
    match = _HEADING.match(line.rstrip("\r\n"))
    return match[1].rstrip(" \t#") if match else None


def _split_label(text: str) -> tuple[str, str, str]:
    """`**主題偏好**：dark` → (`主題偏好`, `：`, `dark`), also `**Theme:** dark`. Without a colon all is label."""
    match = re.match(r"([^：:]*)([：:])\s*(.*)", text, re.DOTALL)
    if not match:
        return text, "", ""
    label, value = match[1].strip(), match[3]
    if label[:1] in ("*", "_") and label[-1] not in "*_":
        value = value.lstrip("*_ ")
    return label.strip("*_ \t"), match[2], value


def _parse_items(key: str, value: str) -> tuple[Item, ...]:
    row = FIELDS[key]
    parts = [value] if row.form == "scalar" else SEPARATORS.split(value)
    items = [Item.parse(part) for part in parts if part.strip()]
    # A person may write `Dark`; the valid value is `dark`.
    canonical = {valid.casefold(): valid for valid in row.values}
    return tuple(Item(canonical.get(item.value.casefold(), item.value), item.strong) for item in items if item.value)


def _words_of(line: str) -> Iterator[str]:
    if len(line) > MAX_LINE_CHARS:
        return
    if (heading := _heading(line)) is not None:
        yield heading
    elif bullet := _BULLET.match(line.rstrip("\r\n")):
        yield _split_label(bullet[2])[0]
