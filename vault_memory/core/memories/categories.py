"""Everyday categories: who asks for a drink is answered by the memory that says coffee, without a model.

The words stand in `categories/*.toml`, a table for each category; a person adds their own (`[categories]` of the
settings). Three texts say what a category knows:

- `names`: how the category is called. A question with one of them asks for a member.
- `asked`: other words that ask for it, mostly verbs (喝, drive). They count half, and several categories may have one.
- `members`: between commas, each with all its spellings: Chinese words between blanks, English ones between slashes
  (`珍珠奶茶 珍奶 bubble tea/boba`). A member may stand in several categories. `includes` adds those of others.

A text is read once, from left to right, the longest listed word first. English counts word for word, without a plural's
ending; Chinese has no blanks, so `ordinary.toml` lists words that would be misread, and beside which characters a word
of one character counts.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from typing import Any, Literal, NamedTuple

from vault_memory.core.text import fold, tokens

MAX_EXTRA_CATEGORIES, MAX_EXTRA_WORDS, MAX_WORD_CHARS = 100, 5_000, 60
"""How much a person may add: every process that recalls reads it."""
MAX_TEXT_CHARS = 4_000
"""How much of a text is read."""
MAX_MEMBERS = 400
"""Words that one question looks for in an index."""
ASKED_WEIGHT = 0.5
"""How much a verb asks, beside a category's name: 喝 may mean tea, liquor or any drink."""
NAMED_FIT, ASKED_FIT = 0.7, 0.4
"""How well a memory answers that holds only the category's name (my new instrument), or a word that asks for it (喝)."""

FIT_WEIGHT = 0.6
"""The share of a memory's score that says whether it holds what the question asks for; words and vectors have the rest."""

Role = Literal["name", "asked", "member"]
_KEYS = ("names", "asked", "members", "includes")
_FILES = ("eating", "nature", "leisure", "working", "living")


class Sense(NamedTuple):
    """What a word may mean: the name of a category, a word that asks for it, or the member with this number."""

    role: Role
    category: str
    member: int = -1


class Found(NamedTuple):
    """A listed word in a text: its offsets in the folded text and all it may mean; none for an ordinary word."""

    start: int
    end: int
    word: str
    senses: tuple[Sense, ...]


class Wish(NamedTuple):
    """What one word of a question asks for: a member of any of these categories, or one of these members."""

    word: str
    weight: float
    categories: frozenset[str]
    members: frozenset[int]


@dataclass(frozen=True)
class Expansion:
    """What a question asks for. `categories` are those that it names, surest first; `members` the words to look for in
    an index, at most `MAX_MEMBERS`; `content` is the question without what only wraps it (我喜歡什麼), all of it if
    nothing else is left. Made by `expand`."""

    query: str
    categories: tuple[str, ...]
    members: tuple[str, ...]
    content: str
    wishes: tuple[Wish, ...]
    vocabulary: Vocabulary

    def fit(self, text: str) -> float:
        """How much of what the question asks for a memory holds, 0 to 1; 0 if it asks for no category."""
        total = sum(wish.weight for wish in self.wishes)
        if not total:
            return 0.0
        held = self.vocabulary.meanings(text)
        return sum(wish.weight * self._held(wish, held) for wish in self.wishes) / total

    def score(self, likeness: float, text: str) -> float:
        """What a memory is worth to the question, 0 to 1: `likeness` is how well it fits by words and vectors, 0 to 1.
        What the question asks for counts more than the words around it, which ten memories may share (我喜歡)."""
        return (1 - FIT_WEIGHT) * likeness + FIT_WEIGHT * self.fit(text) if self.wishes else likeness

    def _held(self, wish: Wish, meanings: Meanings) -> float:
        if wish.members & meanings.members or wish.categories & meanings.held:
            return 1.0
        if wish.categories & meanings.named:
            return NAMED_FIT
        return ASKED_FIT if wish.categories & meanings.asked else 0.0


class Meanings(NamedTuple):
    """What a text holds: numbers of members, categories of which it holds a member, and those it names or asks for."""

    members: frozenset[int]
    held: frozenset[str]
    named: frozenset[str]
    asked: frozenset[str]


def expand(query: str, extra: Mapping[str, Any] | None = None) -> Expansion:
    """What a question asks for; `extra` is the `[categories]` table of the settings."""
    return load(extra).expand(query)


def categories_of(text: str, extra: Mapping[str, Any] | None = None) -> dict[str, tuple[str, ...]]:
    """The categories of which a text holds members, each with these members as they stand in the folded text."""
    return load(extra).categories_of(text)


class Vocabulary:
    """All listed words, ready to be found in texts; immutable for callers, safe to share between threads."""

    def __init__(self, tables: Mapping[str, Mapping[str, Any]], ordinary: Mapping[str, str]) -> None:
        self._senses: dict[str, list[Sense]] = {}
        self._members: list[tuple[str, ...]] = []
        self._of_category: dict[str, list[int]] = {}
        for name, table in tables.items():
            self._add(_parts(table.get("names", "")), Sense("name", name))
            self._add(_parts(table.get("asked", "")), Sense("asked", name))
        number_of: dict[tuple[str, ...], int] = {}
        for name, table in tables.items():
            numbers = self._of_category[name] = []
            for words in map(spellings, _parts(table.get("members", ""))):
                number = number_of.setdefault(words, len(number_of))
                numbers.append(number)
                self._add(words, Sense("member", name, number))
        self._members = list(number_of)
        for word in ordinary["words"].split():
            self._senses.setdefault(word, [])
        self._by_start: dict[str, list[str]] = {}
        for word in self._senses:
            self._by_start.setdefault(_start(word), []).append(word)
        han = [word for word in self._senses if not word.isascii()]
        self._longest, self._han_starts = max(map(len, han)), {word[0] for word in han}
        self._phrases: dict[str, dict[tuple[str, ...], list[Sense]]] = {}
        self._before, self._after = frozenset(ordinary["before"]), frozenset(ordinary["after"])
        self._capital = frozenset(_parts(ordinary["capital"]))
        self._frame = _frame_pattern(_parts(ordinary["frame"]))
        self._above = _above({name: table.get("includes", ()) for name, table in tables.items()})

    def _add(self, words: Iterable[str], sense: Sense) -> None:
        for word in words:
            senses = self._senses.get(word)
            if senses is None:
                self._senses[word] = [sense]
            else:
                senses.append(sense)

    def expand(self, query: str) -> Expansion:
        query = query[:MAX_TEXT_CHARS]
        wishes = sorted(self._wishes(query), key=lambda wish: -wish.weight)
        categories = dict.fromkeys(name for wish in wishes for name in sorted(wish.categories))
        content = " ".join(self._frame.sub(" ", tokens.fold(query)).split())
        return Expansion(
            query=query,
            categories=tuple(categories),
            members=tuple(self._words_for(wishes)),
            content=content if tokens.query_terms(content).search_terms else query,
            wishes=tuple(wishes),
            vocabulary=self,
        )

    def _wishes(self, query: str) -> Iterator[Wish]:
        """One for each listed word; its name counts before what it may be a member of, and that before what it asks."""
        seen: set[str] = set()
        for found in self.read(query):
            by_role = {role: [s for s in found.senses if s.role == role] for role in ("name", "member", "asked")}
            senses = next((group for group in by_role.values() if group), [])
            if not senses or found.word in seen:
                continue
            seen.add(found.word)
            is_member = senses[0].role == "member"
            yield Wish(
                word=found.word,
                weight=ASKED_WEIGHT if senses[0].role == "asked" else 1.0,
                categories=frozenset() if is_member else frozenset(sense.category for sense in senses),
                members=frozenset(sense.member for sense in senses) if is_member else frozenset(),
            )

    def _words_for(self, wishes: Iterable[Wish]) -> list[str]:
        words: dict[str, None] = {}
        for wish in wishes:
            numbers = dict.fromkeys(sorted(wish.members))
            for name in sorted(wish.categories):
                below = sorted(each for each, above in self._above.items() if name in above)
                for each in (name, *below):
                    numbers.update(dict.fromkeys(self._of_category.get(each, ())))
            words.update(dict.fromkeys(word for number in numbers for word in self._members[number]))
        return list(words)[:MAX_MEMBERS]

    def categories_of(self, text: str) -> dict[str, tuple[str, ...]]:
        held: dict[str, dict[str, None]] = {}
        for found in self.read(text):
            for sense in found.senses:
                if sense.role == "member":
                    for name in (sense.category, *sorted(self._above.get(sense.category, ()))):
                        held.setdefault(name, {})[found.word] = None
        return {name: tuple(words) for name, words in held.items()}

    def meanings(self, text: str) -> Meanings:
        senses = [sense for found in self.read(text) for sense in found.senses]
        of_role = {role: {s.category for s in senses if s.role == role} for role in ("member", "name", "asked")}
        held = of_role["member"].union(*(self._above.get(name, ()) for name in of_role["member"]))
        numbers = frozenset(sense.member for sense in senses if sense.role == "member")
        return Meanings(numbers, frozenset(held), frozenset(of_role["name"]), frozenset(of_role["asked"]))

    def read(self, text: str) -> list[Found]:
        """The listed words of a text in order; of those that overlap the one that begins first, then the longest."""
        text = text[:MAX_TEXT_CHARS]
        folded = tokens.fold(text)
        found = [*self._read_han(folded), *self._read_latin(folded, text)]
        return sorted(found)

    def _read_han(self, folded: str) -> Iterator[Found]:
        at = 0
        while at < len(folded):
            step = 1
            if folded[at] in self._han_starts:
                for end in range(min(len(folded), at + self._longest), at, -1):
                    word = folded[at:end]
                    if word in self._senses and not word.isascii() and self._stands_alone(folded, at, end):
                        if senses := self._senses[word]:
                            yield Found(at, end, word, tuple(senses))
                        step = end - at
                        break
            at += step

    def _stands_alone(self, folded: str, start: int, end: int) -> bool:
        """Whether a word is one of its own: a Han character alone between such as stand beside words, letters and digits
        not inside longer ones."""
        before, after = folded[start - 1 : start], folded[end : end + 1]
        if end - start == 1:
            return (not _HAN.match(before) or before in self._before) and (
                not _HAN.match(after) or after in self._after
            )
        return not (_is_latin(folded[start]) and _is_latin(before)) and not (
            _is_latin(folded[end - 1]) and _is_latin(after)
        )

    def _read_latin(self, folded: str, text: str) -> Iterator[Found]:
        runs = list(_WORD.finditer(folded))
        words = [_singular(run[0]) for run in runs]
        at = 0
        while at < len(runs):
            phrases = self._phrases_from(words[at])
            size = max((len(each) for each in phrases if each == tuple(words[at : at + len(each)])), default=0)
            if size:
                start, end = runs[at].start(), runs[at + size - 1].end()
                if size > 1 or words[at] not in self._capital or _is_name(text, runs[at][0]):
                    yield Found(start, end, folded[start:end], tuple(phrases[tuple(words[at : at + size])]))
            at += size or 1

    def _phrases_from(self, word: str) -> dict[tuple[str, ...], list[Sense]]:
        """What the English phrases mean that begin like a word, each by the words that it is compared by. They are cut
        when a text first has such a word: to cut them all takes longer than to read most texts."""
        start = _start(word)
        if start not in self._phrases:
            phrases: dict[tuple[str, ...], list[Sense]] = {}
            for listed in self._by_start.get(start, ()):
                if listed.isascii():
                    phrases.setdefault(_phrase(listed), []).extend(self._senses[listed])
            self._phrases[start] = phrases
        return self._phrases[start]


def load(extra: Mapping[str, Any] | None = None) -> Vocabulary:
    """The shipped words and a person's own, a table of texts for each category as in the files."""
    return _load(tuple((name, tuple(sorted(table.items()))) for name, table in (extra or {}).items()))


def problem_with(extra: Mapping[str, Any]) -> str | None:
    """What is wrong with a person's `[categories]`, None for valid ones. Anybody may have written them."""
    shipped = _shipped()
    if len(extra) > MAX_EXTRA_CATEGORIES:
        return f"has {len(extra):,} categories; {MAX_EXTRA_CATEGORIES} are the most"
    count = 0
    for name, table in extra.items():
        shown = repr(name[:40])
        if not isinstance(table, Mapping) or not all(isinstance(text, str) for text in table.values()):
            return f'of {shown} must be a table of texts: {{ names = "board games", members = "Catan, 卡坦島 Settlers" }}'
        if unknown := [key for key in table if key not in _KEYS[:3]]:
            return f"of {shown} has {', '.join(_KEYS[:3])}, not {unknown[0][:40]!r}"
        if name not in shipped and not all(list(_parts(table.get(key, ""))) for key in ("names", "members")):
            return f"of {shown} is new and needs names and members; the shipped ones are {', '.join(sorted(shipped))}"
        words = [word for text in table.values() for part in _parts(text) for word in (part, *spellings(part))]
        if long := [word for word in words if len(word) > MAX_WORD_CHARS]:
            return f"of {shown} has a word of {len(long[0])} characters; {MAX_WORD_CHARS} are the most"
        count += len(words)
    return f"has {count:,} words; {MAX_EXTRA_WORDS:,} are the most" if count > MAX_EXTRA_WORDS else None


def spellings(member: str) -> tuple[str, ...]:
    """The words of one member: each Chinese word, and what stands between slashes or Chinese words."""
    words: list[str] = []
    is_phrase = False
    for word in member.split():
        if not word.isascii():
            words.append(word)
            is_phrase = False
            continue
        first, *others = word.split("/")
        if is_phrase:
            words[-1] += f" {first}"
        else:
            words.append(first)
        words += others
        is_phrase = True
    return tuple(words)


_HAN = re.compile("[\u3400-\u9fff]")
_WORD = re.compile(r"[a-z0-9]+(?:\+\+|#)?")
_SENTENCE_START = re.compile(r"(?:^|[.!?\n。！？])\s*$")
_HAN_NEXT = re.compile(r"\s*[\u3400-\u9fff]")


def _start(word: str) -> str:
    """Under what a listed word is filed: its first two letters or digits, or its first character."""
    return word[:2] if word[:2].isalnum() and word[:2].isascii() else word[:1]


def _is_latin(char: str) -> bool:
    return char.isascii() and char.isalnum()


def _is_name(text: str, word: str) -> bool:
    """Whether a word stands in a text with a capital that does not only begin a sentence."""
    for match in re.finditer(rf"(?<![a-z0-9]){re.escape(word)}(?![a-z0-9])", text, re.IGNORECASE):
        if match[0].isupper() and len(word) > 1:
            return True
        is_first = _SENTENCE_START.search(text[: match.start()]) and not _HAN_NEXT.match(text, match.end())
        if match[0][0].isupper() and not is_first:
            return True
    return False


def _singular(word: str) -> str:
    """An English word without a plural's ending; other endings tell things apart (train and training, paint and
    painting)."""
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("sses", "shes", "ches", "xes", "zes", "toes")) else word[:-1]


def _phrase(text: str) -> tuple[str, ...]:
    return tuple(map(_singular, [text] if text.isalnum() else _WORD.findall(text)))


def _parts(text: str) -> Iterator[str]:
    return filter(None, map(str.strip, text.split(",")))


def _above(includes: Mapping[str, Iterable[str]]) -> dict[str, frozenset[str]]:
    """Each category → those that include it, themselves or through others."""
    direct = {name: {outer for outer, inner in includes.items() if name in inner} for name in includes}
    found: dict[str, frozenset[str]] = {}
    for name in includes:
        waiting, above = [name], set[str]()
        while waiting:
            new = direct[waiting.pop()] - above
            above |= new
            waiting += new
        found[name] = frozenset(above)
    return found


def _frame_pattern(words: Iterable[str]) -> re.Pattern[str]:
    """What wraps a question; a Han character alone only where nothing else stands beside it."""
    listed = sorted(words, key=len, reverse=True)
    han = "|".join(word for word in listed if _HAN.match(word) and len(word) > 1)
    chars = "".join(word for word in listed if _HAN.match(word) and len(word) == 1)
    latin = "|".join(word for word in listed if not _HAN.match(word))
    return re.compile(rf"{han}|(?:(?<=^)|(?<=[^\u3400-\u9fff]))[{chars}]+|(?<![a-z0-9])(?:{latin})(?![a-z0-9])")


@cache
def _shipped() -> dict[str, dict[str, Any]]:
    tables: dict[str, dict[str, Any]] = {}
    for name in _FILES:
        tables |= _file(name)
    return tables


def _file(name: str) -> dict[str, Any]:
    path = resources.files(__package__) / "categories" / f"{name}.toml"
    return tomllib.loads(fold(path.read_text(encoding="utf-8")))


@lru_cache(maxsize=16)
def _load(extra: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]) -> Vocabulary:
    """One for each vault of a process, which may have words of its own."""
    tables = dict(_shipped())
    for name, texts in extra:
        mine = dict(tables.get(name, {}))
        for key, text in texts:
            mine[key] = f"{mine.get(key, '')}, {tokens.fold(text)}"
        tables[name] = mine
    return Vocabulary(tables, _file("ordinary"))
