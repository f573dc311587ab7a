"""The lexicon: the words that the rules know, read from the shipped `lexicon/*.toml` and a person's additions.

`load_lexicon(extra)` takes the `[lexicon]` table of a vault's settings: `languages`, `frameworks` and `tools` (lists of
"Name: alias, alias"), and tables like those in the files, such as `styles.theme.dark.named = "…"`. They only add words.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import resources
from typing import Any

from vault_memory.core import reading
from vault_memory.core.text import fold, phrases

CATEGORIES = ("languages", "frameworks", "tools")
UNLESS_CHARS, CUE_CHARS = 24, 20
"""Characters read around a name that is also a word: both sides for that word, before it for a verb such as «use»."""
MAX_WAYS = 200_000
"""Of all phrases of a person together; the slowest such phrases take 0.1 s for 2,000 characters."""
MAX_DEPTH = 3
"""Tables inside each other: `styles.theme.dark`."""
_FILES = ("words", "styles", "technologies", "roles", "subjects", "people", "memorable", "sayings", "voices", "gates")


@dataclass(frozen=True)
class Style:
    """The phrases for one value of a scalar key, and the value that a negation of them means (`negated`)."""

    key: str
    value: str
    negated: str
    words: Callable[[str], phrases.Matcher] = field(repr=False, compare=False)

    @property
    def named(self) -> phrases.Matcher:
        return self.words(f"styles.{self.key}.{self.value}.named")

    @property
    def asked(self) -> phrases.Matcher:
        return self.words(f"styles.{self.key}.{self.value}.asked")


@dataclass(frozen=True)
class Technology:
    """A technology named in a text: its canonical name, the list it belongs to, its offsets."""

    name: str
    category: str
    start: int
    end: int


class Lexicon:
    """Phrase lists, each compiled when first used; immutable for callers, safe to share between threads."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data
        self._compiled: dict[str, phrases.Matcher] = {}
        self._shapes: dict[str, re.Pattern[str]] = {}

    def words(self, path: str) -> phrases.Matcher:
        """The matcher of one phrase list (`words.speaker.me`), or of all lists in one table (`people.language`)."""
        matcher = self._compiled.get(path)
        if matcher is None:
            matcher = self._compiled[path] = phrases.Matcher(self._text(path))
        return matcher

    def listed(self, path: str) -> list[str]:
        """The phrases of one list (`sayings.frame.adverb`) as they are written, folded."""
        return phrases.split(self._text(path))

    def shape(self, shape: str) -> re.Pattern[str]:
        """A regular expression in which `{people.studied}` stands for any phrase of that list: the words are data, the
        code says where they stand. Compiled when first used."""
        found = self._shapes.get(shape)
        if found is None:
            expression = _LIST_IN_SHAPE.sub(lambda name: self.words(name[1]).pattern, shape)
            found = self._shapes[shape] = re.compile(expression)
        return found

    @cached_property
    def styles(self) -> tuple[Style, ...]:
        return tuple(
            Style(key, value, rows.get("negated", ""), self.words)
            for key, values in self._data["styles"].items()
            for value, rows in values.items()
            if isinstance(rows, dict)
        )

    def near(self, key: str, text: str) -> bool:
        """Whether a text may hold a phrase of a style's key: a cheap test before its long lists are compiled."""
        return "near" not in self._data["styles"][key] or bool(self.words(f"styles.{key}.near").search(text))

    def sections(self, path: str) -> tuple[str, ...]:
        """The names of the lists in one table, such as the time zones of `people.zone`."""
        value: Any = self._data
        for step in path.split("."):
            value = value[step]
        return tuple(value)

    @cached_property
    def names(self) -> dict[str, tuple[str, str]]:
        """Folded name or alias of a technology → (canonical name, category)."""
        return {
            alias: (line.partition(":")[0].strip() if "::" not in line else line.strip(), category)
            for category in CATEGORIES
            for line in _lines(self._data["technologies"][category])
            for alias in _aliases(line)
        }

    def technologies(self, folded: str, written: str) -> list[Technology]:
        """The technologies named in a text, given folded and as written; names meant as ordinary words are left out."""
        selected = self._name_selection.pattern(folded)
        return [
            Technology(*self.names[self._alias(match[1])], match.start(), match.end())
            for match in (selected.finditer(folded) if selected else ())
            if self._is_meant(match, folded, written)
        ]

    def _alias(self, spelling: str) -> str:
        """The name as the lists spell it: people write Python 語言 and Python語言."""
        name = _squeeze(spelling)
        return name if name in self.names else self._joined[name.replace(" ", "")]

    @cached_property
    def instead(self) -> dict[str, frozenset[str]]:
        """Folded name of a technology → the folded names of those that do the same in a project."""
        rows = [frozenset(phrases.split(row)) for row in _lines(self._data["technologies"]["one_of"])]
        return {name: row - {name} for row in rows for name in row}

    @cached_property
    def _joined(self) -> dict[str, str]:
        """Names of several words as one word."""
        return {name.replace(" ", ""): name for name in self.names if " " in name}

    @cached_property
    def _name_selection(self) -> phrases.Selection[str]:
        """The names, selected by their first word, which every text that names them contains."""
        return phrases.Selection(((name, (name.partition(" ")[0],)) for name in self.names), _name_pattern)

    @cached_property
    def _unless(self) -> dict[str, str]:
        """Folded name of a technology that is also a word → the phrases that show that the word is meant."""
        rows = (line.partition(":") for line in _lines(self._data["technologies"]["unless"]))
        return {fold(name.strip()): rest for name, _, rest in rows}

    def _ordinary(self, name: str) -> phrases.Matcher | None:
        """The phrases that show that a name is meant as an ordinary word."""
        if name not in self._unless:
            return None
        path = f"technologies.unless.{name}"
        if path not in self._compiled:
            self._compiled[path] = phrases.Matcher(self._unless[name])
        return self._compiled[path]

    def is_ordinary(self, spelling: str) -> bool:
        """Whether a name is an ordinary word, too."""
        return _squeeze(spelling) in self._listed  # with a version («python 3.12») it is none

    def _is_meant(self, match: re.Match[str], folded: str, written: str) -> bool:
        """Whether a name stands for the technology and not for an ordinary word."""
        name = self._alias(match[1])
        if name not in self._unless and name not in self._listed:
            return True
        start, end = match.span()
        near = slice(max(0, start - UNLESS_CHARS), end + UNLESS_CHARS)
        unless = self._ordinary(name)
        if unless and any(
            word.start() + near.start < end and word.end() + near.start > start
            for word in unless.finditer(folded[near])
        ):
            return False
        if name not in self._listed:
            return True
        capital = len(name) > 1 and written[start].isupper()
        if capital and (not _SENTENCE_START.search(folded[:start]) or _HAN_NEXT.match(folded, end)):
            return True  # a capital inside a sentence, or before Han, is a name
        before = self._cue_before.search(folded, max(0, start - CUE_CHARS), start)
        return bool(before) or bool(self._cue_after.match(folded, end))

    @cached_property
    def _listed(self) -> frozenset[str]:
        return frozenset(phrases.split(self._data["technologies"]["ambiguous"]))

    @cached_property
    def _cue_before(self) -> re.Pattern[str]:
        return re.compile(rf"{self.words('technologies.cue_before').pattern} ?$")

    @cached_property
    def _cue_after(self) -> re.Pattern[str]:
        return re.compile(rf" ?(?:{self.words('technologies.cue_after').pattern}|$|[,，。.!?;）)、/])")

    def _text(self, path: str) -> str:
        value: Any = self._data
        for step in path.split("."):
            value = value.get(step, "")
        if isinstance(value, Mapping):
            return "\n".join(text for text in value.values() if isinstance(text, str))
        return value if isinstance(value, str) else ""


def _name_pattern(names: Iterable[str]) -> re.Pattern[str]:
    """Longest names first, in one branch for each first letter: at each place of a text only a few names are tried."""
    branches: dict[str, list[str]] = {}
    for name in sorted(names, key=len, reverse=True):
        branches.setdefault(name[0], []).append(re.escape(name[1:]).replace(r"\ ", r"[ \-]?"))
    alternatives = "|".join(f"{re.escape(first)}(?:{'|'.join(rest)})" for first, rest in branches.items())
    return re.compile(
        rf"(?<![a-z0-9_.@/\-])({alternatives})(?:(?: ?|-)v?\d+(?:\.\d+){{0,2}})?(?![a-z0-9_+#@]|-[a-z]|\.[a-z0-9]"
        rf"|'(?!s)[a-z])"
    )


_LIST_IN_SHAPE = re.compile(r"\{([a-z]+(?:\.[a-z_]+)+)\}")
_HAN_NEXT = phrases.lazily(r" ?[\u3400-\u9fff]")
_SENTENCE_START = phrases.lazily(r"(?:^|[.!?\n。]) *$")


def longest(names: Iterable[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """Of names (start, end, what they name) those that do not lie inside a longer one."""
    spans = list(names)
    return [
        (start, end, name)
        for start, end, name in spans
        if not any(first <= start and end <= last and last - first > end - start for first, last, _ in spans)
    ]


def _lines(text: str) -> Iterator[str]:
    return (line.strip() for line in reading.lines(text) if line.strip() and not line.startswith("#"))


def _aliases(line: str) -> list[str]:
    if "::" in line:  # Code::Blocks
        head, _, rest = line.rpartition(": ") if ": " in line else (line, "", "")
    else:
        head, _, rest = line.partition(":")
    names = (fold(name.strip()) for name in (head, *rest.split(",")))
    return [_squeeze(name) for name in names if name]


def _squeeze(name: str) -> str:
    return name.replace("-", " ").strip() if " " in name or "-" in name else name


@cache
def _shipped() -> dict[str, Any]:
    folder = resources.files(__package__) / "lexicon"
    return {name: tomllib.loads((folder / f"{name}.toml").read_text(encoding="utf-8")) for name in _FILES}


@cache
def default_lexicon() -> Lexicon:
    """The shipped words alone."""
    return Lexicon(_shipped())


def load_lexicon(extra: Mapping[str, Any] | None = None) -> Lexicon:
    """The shipped words and a person's additions (the `[lexicon]` table of the settings)."""
    if not extra:
        return default_lexicon()
    technologies = {name: "\n".join(extra[name]) for name in CATEGORIES if name in extra}
    rest = {name: value for name, value in extra.items() if name not in CATEGORIES}
    if "styles" in rest:
        gated = {key for key, rows in _shipped()["styles"].items() if "near" in rows}
        rest["styles"] = {
            key: {**rows, "near": _phrases_of(rows)} if key in gated else rows for key, rows in rest["styles"].items()
        }
    return Lexicon(_joined(_shipped(), {"technologies": technologies, **rest}))


def problem_with(extra: Mapping[str, Any]) -> str | None:
    """What is wrong with a person's additions, None for valid ones. Anybody may have written them.

    A phrase may be tried in many ways at each place of a text (`phrases.ways`); all of them together are bounded.
    """
    try:
        names = [extra[name] for name in CATEGORIES if name in extra]
        if not all(isinstance(rows, list) and all(isinstance(row, str) for row in rows) for rows in names):
            return f'{", ".join(CATEGORIES)} must be lists of names: ["Zellij", "Lanternfish: lantern"]'
        tables = {name: value for name, value in extra.items() if name not in CATEGORIES}
        if unknown := [name for name in tables if name not in _FILES]:
            return f"has {', '.join((*CATEGORIES, *_FILES))}, not {unknown[0][:40]!r}"
        if sum(_ways(tables, _shipped(), "")) > MAX_WAYS:
            return "has phrases that may be tried in too many ways: use fewer gaps, brackets and repetitions"
    except ValueError as error:
        return str(error)
    return None


def _ways(table: Mapping[str, Any], shipped: Mapping[str, Any], above: str) -> Iterator[int]:
    """The ways of each phrase in a table, which must have the shape of the shipped one."""
    for name, value in table.items():
        path = f"{above}{name}"
        mine = shipped.get(name)
        if isinstance(value, Mapping) and not isinstance(mine, str) and path.count(".") < MAX_DEPTH:
            if above == "styles." and mine is None:
                raise ValueError(f"styles has {', '.join(_shipped()['styles'])}, not {name[:40]!r}")
            yield from _ways(value, mine or {}, f"{path}.")
        elif isinstance(value, str) and not isinstance(mine, Mapping) and "." in path:
            yield from map(phrases.ways, phrases.split(value))
        else:
            raise ValueError(f"{path[:80]} must be {'a text' if isinstance(mine, str) else 'a table of texts'}")


def _phrases_of(rows: Mapping[str, Any]) -> str:
    """All phrases of a person's own rows of one style, as the `near` list of that style."""
    texts = [text for row in rows.values() if isinstance(row, Mapping) for text in row.values()]
    return "\n".join(texts)


def _joined(base: Mapping[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
    """Both tables merged; of a phrase list that both have, the lines of `base` come first."""
    result = dict(base)
    for name, value in extra.items():
        mine = base.get(name)
        if isinstance(value, Mapping):
            result[name] = _joined(mine if isinstance(mine, Mapping) else {}, value)
        else:
            result[name] = f"{mine}\n{value}" if isinstance(mine, str) else value
    return result
