"""USER.md: the profile a person reads and edits, and the fields in it that the assistant knows.

A profile is its text. Parsing only finds the known fields among the lines; every other line stays exactly where the
person put it, so `Profile.parse(text).text == text` for any text. Labels are accepted in Traditional Chinese, Simplified
Chinese and English, with `：` or `:`; new lines are written in the language that the file already uses.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from vault_memory.core.fold import simplify

LOCALES = ("zh-TW", "zh-CN", "en")
Form = Literal["scalar", "list", "text"]
"""`scalar`: one value · `list`: canonical names · `text`: a list of the person's own words."""

MAX_VALUE = 200
"""Longest value in characters; a longer one is cut, since the profile stands in every prompt."""


@dataclass(frozen=True)
class Field:
    """One line of the profile. `values` lists the only valid ones (empty: any); `bound` is the most a list holds."""

    key: str
    section: str
    form: Form
    labels: tuple[str, str, str]
    values: tuple[str, ...] = ()
    bound: int | None = None


TITLES = ("使用者資料", "用户资料", "User profile")
SECTIONS: dict[str, tuple[str, str, str]] = {
    "basics": ("基本資訊", "基本信息", "Basics"),
    "background": ("技術背景", "技术背景", "Background"),
    "preferences": ("使用偏好", "使用偏好", "Preferences"),
    "learning": ("學習紀錄", "学习记录", "Learning"),
    "interaction": ("互動特徵", "互动特征", "Interaction"),
    "other": ("其他記憶", "其他记忆", "Other memories"),
}
NOTE = "note"
"""The key of the section `other`: each of its bullets is one note, whatever it says."""

_ROWS: list[Field] = [
    Field("display_name", "basics", "scalar", ("稱呼", "称呼", "Name")),
    Field("language", "basics", "scalar", ("語言偏好", "语言偏好", "Language")),
    Field("timezone", "basics", "scalar", ("時區", "时区", "Time zone")),
    Field("joined", "basics", "scalar", ("加入日期", "加入日期", "Joined")),
    Field("languages", "background", "list", ("程式語言", "编程语言", "Programming languages")),
    Field("frameworks", "background", "list", ("框架經驗", "框架经验", "Frameworks")),
    Field("tools", "background", "list", ("工具", "工具", "Tools")),
    Field(
        "level", "background", "scalar", ("技術等級", "技术等级", "Level"), ("beginner", "intermediate", "advanced")
    ),
    Field("current_projects", "background", "text", ("目前專案", "目前项目", "Current projects"), bound=10),
    Field(
        "response_style", "preferences", "scalar", ("回應風格", "回应风格", "Response style"),
        ("detailed", "concise", "step-by-step"),
    ),
    Field(
        "code_style", "preferences", "scalar", ("程式碼風格", "代码风格", "Code style"),
        ("with_comments", "minimal_comments"),
    ),
    Field(
        "examples", "preferences", "scalar", ("範例偏好", "示例偏好", "Examples"), ("with_examples", "without_examples")
    ),
    Field("preferred_frameworks", "preferences", "list", ("喜歡的框架", "喜欢的框架", "Preferred frameworks")),
    Field("theme", "preferences", "scalar", ("主題偏好", "主题偏好", "Theme"), ("dark", "light", "auto")),
    Field("design_style", "preferences", "scalar", ("設計風格", "设计风格", "Design style"), ("minimal", "modern")),
    Field("common_issues", "learning", "text", ("常見問題", "常见问题", "Common issues"), bound=10),
    Field("strengths", "learning", "text", ("擅長領域", "擅长领域", "Strengths"), bound=10),
    Field("weaknesses", "learning", "text", ("需要加強", "需要加强", "Weaknesses"), bound=10),
    Field("recent_topics", "learning", "text", ("最近學習主題", "最近学习主题", "Recent topics"), bound=10),
    Field(
        "question_style", "interaction", "scalar", ("提問風格", "提问风格", "Question style"),
        ("brief", "detailed", "code-first"),
    ),
    Field(
        "feedback_frequency", "interaction", "scalar", ("回饋頻率", "反馈频率", "Feedback frequency"),
        ("frequent_adjustments", "rarely_adjusts"),
    ),
    Field("most_used_modules", "interaction", "list", ("常用模組", "常用模块", "Most used modules")),
    Field(NOTE, "other", "text", ("其他記憶", "其他记忆", "Other memories")),
]
FIELDS: dict[str, Field] = {row.key: row for row in _ROWS}

_STRONG = ("強偏好", "强偏好", "strong")
_STRONG_TAIL = re.compile(rf"\s*[（(]\s*(?:{'|'.join(_STRONG)})\s*[）)]\s*\Z", re.IGNORECASE)
_SEPARATORS = re.compile(r"[、,，;；]")
_BULLET = re.compile(r"(\s*[-*+][ \t]+)(.*)", re.DOTALL)
_HEADING = re.compile(r"\s{0,3}(#{1,6})[ \t]+(.*?)[ \t#]*\Z", re.DOTALL)
_FENCE = re.compile(r"\s{0,3}(```+|~~~+)")


def same(a: str, b: str) -> bool:
    """Whether two values say the same: alike but for case, width, blanks and Traditional or Simplified script."""
    return _key_of(a) == _key_of(b)


def _key_of(value: str) -> str:
    return "".join(simplify(unicodedata.normalize("NFKC", value).casefold()).split())


def clean(value: str, form: Form = "scalar") -> str:
    """A value fit for one line of the profile: blanks folded, control characters out, cut at `MAX_VALUE` characters.

    Members of a list lose the characters that separate members, so that what is written is what is read again.
    """
    value = "".join(" " if c.isspace() else c for c in value if c.isspace() or unicodedata.category(c)[0] != "C")
    if form != "scalar":
        value = _SEPARATORS.sub(" ", value)
    value = " ".join(value.split())[:MAX_VALUE].strip()
    while _STRONG_TAIL.search(value):
        value = _STRONG_TAIL.sub("", value)
    return value


@dataclass(frozen=True)
class Item:
    """One value as it stands on its line, and whether the line calls it strong."""

    value: str
    strong: bool = False

    @classmethod
    def parse(cls, text: str) -> Item:
        """Read `dark（強偏好）` or `dark`."""
        bare = _STRONG_TAIL.sub("", text)
        return cls(bare.strip(), strong=bare != text)

    def render(self, locale: str) -> str:
        """Write it in a language: `dark（強偏好）`, `dark (strong)`."""
        if not self.strong:
            return self.value
        mark = _STRONG[LOCALES.index(locale)]
        return f"{self.value} ({mark})" if locale == "en" else f"{self.value}（{mark}）"


@dataclass(frozen=True)
class _Line:
    """Where a known field stands: index of the line, its text up to the value, and its values."""

    index: int
    prefix: str
    items: tuple[Item, ...]


@dataclass(frozen=True)
class Profile:
    """A profile as text; every change gives a new one and touches only the lines it must."""

    text: str
    default_locale: str = field(default="zh-TW", compare=False)

    @classmethod
    def parse(cls, text: str, default_locale: str = "zh-TW") -> Profile:
        """Any text is a profile; `default_locale` is used where the text does not show its language."""
        return cls(text, default_locale)

    @classmethod
    def decode(cls, data: bytes, default_locale: str = "zh-TW") -> Profile:
        """A profile from its file's bytes; bytes that are not UTF-8 are carried through `encode` unchanged."""
        return cls(data.decode("utf-8", "surrogateescape"), default_locale)

    def encode(self) -> bytes:
        """The bytes to write to its file."""
        return self.text.encode("utf-8", "surrogateescape")

    # Reading ------------------------------------------------------------------------------------------------------

    def items(self, key: str) -> tuple[Item, ...]:
        """The values of a key with their strength, empty if unset. Of a duplicated scalar field the first counts."""
        lines = self._found.get(key, ())
        if FIELDS[key].form == "scalar":
            return next((line.items[:1] for line in lines if line.items), ())
        return tuple(item for line in lines for item in line.items)

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
        """What a person may want to mend: duplicated fields and values outside the valid ones, each with its line."""
        found: list[str] = []
        for key, lines in self._found.items():
            row = FIELDS[key]
            if row.form == "scalar":
                found += [
                    f"line {line.index + 1}: {row.labels[0]} ({key}) stands here again; line {lines[0].index + 1} counts"
                    for line in lines[1:]
                ]
            found += [
                f"line {line.index + 1}: {item.value!r} is no value of {key}; use one of {', '.join(row.values)}"
                for line in lines
                for item in line.items
                if row.values and item.value not in row.values
            ]
        return found

    # Changing -----------------------------------------------------------------------------------------------------

    def put(self, key: str, value: str, *, strong: bool = False) -> Profile:
        """Set a scalar, or add to a list (newest first for the bounded ones); an equal value only takes `strong`.

        Raises `ValueError` for an unknown key, an empty value or one that is not among the valid values.
        """
        row = _row(key)
        new = Item(clean(value, row.form if key != NOTE else "scalar"), strong)
        if not new.value or (row.values and new.value not in row.values):
            raise ValueError(f"{value!r} is no value of {key}")
        items = list(self.items(key))
        if row.form == "scalar":
            return self._write(key, [new])
        for place, item in enumerate(items):
            if same(item.value, new.value):
                items[place] = Item(item.value, strong)
                return self if items[place] == item else self._write(key, items)
        items = [new, *items] if row.bound else [*items, new]
        return self._write(key, items[: row.bound] if row.bound else items)

    def without(self, key: str, value: str | None = None) -> Profile:
        """Take a value (None: every value) away; a value that is not there changes nothing."""
        items = self.items(_row(key).key)
        kept = [item for item in items if value is not None and not same(item.value, value)]
        return self if len(kept) == len(items) else self._write(key, kept)

    def with_items(self, key: str, items: Iterable[Item]) -> Profile:
        """This profile with exactly these values of the key, valid or not: what a person wrote stays what it is."""
        wanted = list(items)
        return self if list(self.items(key)) == wanted else self._write(key, wanted)

    # Lines --------------------------------------------------------------------------------------------------------

    @cached_property
    def _lines(self) -> list[str]:
        # Not splitlines(): it also splits at form feeds and Unicode separators, which are no line ends in Markdown.
        return re.findall(r"[^\n]*\n|[^\n]+", self.text)

    @cached_property
    def locale(self) -> str:
        """The language whose labels the file uses most."""
        words = {label for line in self._lines for label in _words_of(line)}
        counts = [sum(labels[i] in words for labels in _ALL_LABELS) for i in range(len(LOCALES))]
        best = max(counts)
        candidates = [locale for locale, count in zip(LOCALES, counts, strict=True) if count == best]
        return self.default_locale if self.default_locale in candidates else candidates[0]

    @cached_property
    def _newline(self) -> str:
        return "\r\n" if self._lines and self._lines[0].endswith("\r\n") else "\n"

    @cached_property
    def _found(self) -> dict[str, list[_Line]]:
        found: dict[str, list[_Line]] = {}
        for index, section, line in self._content():
            bullet = _BULLET.match(line.rstrip("\r\n"))
            if not bullet:
                continue
            if section == "other":
                item = Item(bullet[2].strip())
                found.setdefault(NOTE, []).append(_Line(index, bullet[1], (item,) if item.value else ()))
                continue
            label, colon, value = _split_label(bullet[2])
            if key := _KEY_OF_LABEL.get(_key_of(label)):
                prefix = bullet[1] + bullet[2][: len(bullet[2]) - len(value)]
                found.setdefault(key, []).append(_Line(index, prefix, _parse_items(key, value)))
        return found

    def _content(self) -> Iterator[tuple[int, str, str]]:
        """(index, section, line) of the lines that can hold a field: outside front matter and code fences."""
        section, fence = "", ""
        front = bool(self._lines) and self._lines[0].rstrip() == "---"
        for index, line in enumerate(self._lines):
            if front:
                front = index == 0 or line.rstrip() != "---"
                continue
            mark = _FENCE.match(line)
            if mark and (not fence or (mark[1][0] == fence[0] and len(mark[1]) >= len(fence))):
                fence = "" if fence else mark[1]
            elif not fence:
                if heading := _HEADING.match(line.rstrip("\r\n")):
                    section = _SECTION_OF_LABEL.get(_key_of(heading[2]), "")
                yield index, section, line

    def _write(self, key: str, items: list[Item]) -> Profile:
        if key == NOTE:
            return self._write_notes([item.value for item in items])
        lines, known = list(self._lines), self._found.get(key, [])
        joiner = ", " if self.locale == "en" else "、"
        value = joiner.join(item.render(self.locale) for item in items)
        if known:
            # All values go on one line: the first one that had any, and the other lines of the field are emptied.
            home = next((line for line in known if line.items), known[0])
            for line in known:
                end = self._ending(lines[line.index])
                text = value if line is home else ""
                gap = " " if text and line.prefix.endswith(":") else ""
                lines[line.index] = f"{line.prefix}{gap}{text}".rstrip(" ") + end
            return self._with(lines)
        colon = ": " if self.locale == "en" else "："
        return self._insert(FIELDS[key].section, f"- {FIELDS[key].labels[LOCALES.index(self.locale)]}{colon}{value}")

    def _write_notes(self, notes: list[str]) -> Profile:
        known = self._found.get(NOTE, [])
        kept = {line.index for line in known if not line.items or line.items[0].value in notes}
        gone = {line.index for line in known} - kept
        profile = self._with([line for index, line in enumerate(self._lines) if index not in gone])
        for note in notes:
            if note not in [line.items[0].value for line in known if line.items]:
                profile = profile._insert("other", f"- {note}")
        return profile

    def _insert(self, section: str, text: str) -> Profile:
        """Add a line at the end of its section, and the section at the end of the file if it is not there."""
        lines = list(self._lines)
        if lines and not lines[-1].endswith("\n"):
            lines[-1] += self._newline
        inside = [index for index, name, _ in self._content() if name == section]
        if not inside:
            if lines and lines[-1].strip():
                lines.append(self._newline)
            lines.append(f"## {SECTIONS[section][LOCALES.index(self.locale)]}{self._newline}")
            inside = [len(lines) - 1]
        last = max(index for index in inside if lines[index].strip())
        lines.insert(last + 1, text + self._newline)
        return self._with(lines)

    def _ending(self, line: str) -> str:
        return line[len(line.rstrip("\r\n")) :]

    def _with(self, lines: list[str]) -> Profile:
        return Profile("".join(lines), self.default_locale)


def new_profile(locale: str, *, language: str, timezone: str, joined: str) -> Profile:
    """The profile of a person first seen on `joined` (YYYY-MM-DD): every field has its line, nearly all of them empty."""
    place = LOCALES.index(locale)
    colon = ": " if locale == "en" else "："
    filled = {"language": language, "timezone": timezone, "joined": joined}
    parts = [f"# {TITLES[place]}\n"]
    for section, names in SECTIONS.items():
        rows = [row for row in _ROWS if row.section == section and row.key != NOTE]
        lines = [f"- {row.labels[place]}{colon}{filled.get(row.key, '')}".rstrip(" ") for row in rows]
        parts.append("\n".join([f"\n## {names[place]}", *lines]) + "\n")
    return Profile("".join(parts), locale)


def _row(key: str) -> Field:
    if key not in FIELDS:
        raise ValueError(f"{key!r} is no key of the profile; the keys are {', '.join(FIELDS)}")
    return FIELDS[key]


def _split_label(text: str) -> tuple[str, str, str]:
    """`**主題偏好**：dark` → (`主題偏好`, `：`, `dark`); a text without a colon is all label."""
    match = re.match(r"([^：:]*)([：:])\s*(.*)", text, re.DOTALL)
    return (match[1].strip(" \t*_"), match[2], match[3].lstrip("*_ ")) if match else (text, "", "")


def _parse_items(key: str, value: str) -> tuple[Item, ...]:
    row = FIELDS[key]
    parts = [value] if row.form == "scalar" else _SEPARATORS.split(value)
    items = [Item.parse(part) for part in parts if part.strip()]
    # A person may write `Dark`; the valid value is `dark`.
    canonical = {valid.casefold(): valid for valid in row.values}
    return tuple(Item(canonical.get(item.value.casefold(), item.value), item.strong) for item in items if item.value)


def _words_of(line: str) -> Iterator[str]:
    if heading := _HEADING.match(line.rstrip("\r\n")):
        yield heading[2]
    elif bullet := _BULLET.match(line.rstrip("\r\n")):
        yield _split_label(bullet[2])[0]


_ALL_LABELS = [TITLES, *SECTIONS.values(), *(row.labels for row in _ROWS)]
_KEY_OF_LABEL = {_key_of(label): row.key for row in _ROWS if row.key != NOTE for label in row.labels}
_SECTION_OF_LABEL = {_key_of(label): section for section, labels in SECTIONS.items() for label in labels}
