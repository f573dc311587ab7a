"""Everyday categories: who asks for a drink is answered by the memory that says coffee, without a model.

`expand` says what a question asks for, and `Expansion.fit` how much of that a memory holds. The words are data: see
`word_lists`; how they are found in a text: see `vocabulary`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from vault_memory.core.extraction import load_lexicon, speaker
from vault_memory.core.memories.vocabulary import MAX_TEXT_CHARS, Sense, Vocabulary
from vault_memory.core.memories.word_lists import Tables, ordinary_words, parts, spellings, tables_with
from vault_memory.core.text import fold, tokens

MAX_MEMBERS = 2_000
"""Words that one question looks for in an index: all of any shipped category and those below it. Many cost some
milliseconds; what is left out answers for nothing."""
ASKED_WEIGHT = 0.5
"""How much a verb asks, beside a category's name: 喝 may mean tea, liquor or any drink."""
KINDRED_FIT = 0.4
"""How well a memory answers that holds another thing of the kind: to who asks for the car, the Subaru."""
NAMED_FIT, ASKED_FIT = 0.7, 0.4
"""How well a memory answers that holds only the category's name (a new instrument), or a word that asks for it (喝)."""
OF_OTHERS, OF_NOBODY = 0.55, 0.9
"""How much a memory counts to a question about the person that speaks of somebody else (老闆說…), or names nobody: with
all of the question's words less than one of the person's own that only holds what is asked for."""
FIT_WEIGHT = 0.6
"""The share of a memory's score that says whether it holds what is asked for; words and vectors have the rest."""


class Wish(NamedTuple):
    """What one word of a question asks for: one of these members, or, where there are none, any member of these
    categories."""

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
    is_of_person: bool
    """Whether the person asks about himself or herself."""
    lists: Categories = field(repr=False, compare=False)

    def fit(self, memory: str | Meanings) -> float:
        """How much of what the question asks for a memory holds, 0 to 1; 0 if it asks for nothing that is listed. What
        a text holds (`meanings_of`) may be kept: to ask many memories then takes a microsecond or two each."""
        if not self.wishes:
            return 0.0
        held = self._held(memory)
        asked = max(1.0, sum(wish.weight for wish in self.wishes))  # a verb alone asks for little
        return sum(wish.weight * _answered(wish, held) for wish in self.wishes) / asked

    def score(self, likeness: float, memory: str | Meanings) -> float:
        """What a memory is worth to the question, 0 to 1: `likeness` is how well it fits by words and vectors, 0 to 1.
        What the question asks for counts more than the words around it, which ten memories may share (我喜歡). To a
        question of the person about himself or herself a memory counts less that speaks of others."""
        held = self._held(memory)
        score = (1 - FIT_WEIGHT) * likeness + FIT_WEIGHT * self.fit(held) if self.wishes else likeness
        return score * held.nearness if self.is_of_person else score

    def may_hold(self, memory: str | Meanings) -> bool:
        """Whether a memory may hold a thing of a category that the question names, although no list knows the thing: it
        is of no other category."""
        held = self._held(memory)
        return (
            bool(self.categories) and held.nearness == 1 and not (held.held or held.named or held.asked or held.begun)
        )

    def _held(self, memory: str | Meanings) -> Meanings:
        return self.lists.meanings(memory) if isinstance(memory, str) else memory


class Meanings(NamedTuple):
    """What a text holds: numbers of members, categories of which it holds a member, and those it names or asks for;
    how near it is to its person, 1 where it speaks of nobody else; and the categories with whose name a longer word
    begins (運動中心)."""

    members: frozenset[int]
    held: frozenset[str]
    named: frozenset[str]
    asked: frozenset[str]
    nearness: float = 1.0
    begun: frozenset[str] = frozenset()


def _answered(wish: Wish, meanings: Meanings) -> float:
    """How well a memory answers one word of the question, 0 to 1."""
    if wish.members:
        if wish.members & meanings.members:
            return 1.0
        return KINDRED_FIT if wish.categories & meanings.held else 0.0
    if wish.categories & meanings.held:
        return 1.0
    if wish.categories & meanings.named:
        return NAMED_FIT
    return ASKED_FIT if wish.categories & meanings.asked else 0.0


def expand(query: str, extra: Mapping[str, Any] | None = None) -> Expansion:
    """What a question asks for; `extra` is the `[categories]` table of the settings."""
    return load(extra).expand(query)


def meanings_of(text: str, extra: Mapping[str, Any] | None = None) -> Meanings:
    """What a memory holds, for `Expansion.fit`; to be kept with the memory, as long as the words are the same."""
    return load(extra).meanings(text)


def categories_of(text: str, extra: Mapping[str, Any] | None = None) -> dict[str, tuple[str, ...]]:
    """The categories of which a text holds members, each with these members as they stand in the folded text."""
    return load(extra).categories_of(text)


class Categories:
    """The categories of a vault and the words by which they are known; immutable for callers, safe to share between
    threads. Made by `load`."""

    def __init__(self, tables: Tables, ordinary: Mapping[str, str]) -> None:
        self._of_category: dict[str, list[int]] = {}
        senses: dict[str, list[Sense]] = {}
        number_of: dict[tuple[str, ...], int] = {}
        for name, table in tables.items():
            _add(senses, parts(table.get("names", "")), Sense("name", name))
            _add(senses, parts(table.get("asked", "")), Sense("asked", name))
            numbers = self._of_category[name] = []
            for words in map(spellings, parts(table.get("members", ""))):
                number = number_of.setdefault(words, len(number_of))
                numbers.append(number)
                _add(senses, dict.fromkeys(words), Sense("member", name, number))
        self._members = list(number_of)
        self._above = _above({name: table.get("includes", ()) for name, table in tables.items()})
        self._vocabulary = Vocabulary(senses, ordinary)
        self._frame = _frame_pattern(parts(ordinary["frame"]))
        self._alone = re.compile(rf"(?<![\u3400-\u9fff])[{ordinary['alone']}]+(?![\u3400-\u9fff])")

    def expand(self, query: str) -> Expansion:
        query = query[:MAX_TEXT_CHARS]
        wishes = sorted(self._wishes(query), key=lambda wish: -wish.weight)
        categories = dict.fromkeys(name for wish in wishes if not wish.members for name in sorted(wish.categories))
        content = " ".join(self._alone.sub(" ", self._frame.sub(" ", tokens.fold(query))).split())
        return Expansion(
            query=query,
            categories=tuple(categories),
            members=tuple(self._words_for(wishes)),
            content=content if tokens.query_terms(content).search_terms else query,
            wishes=tuple(wishes),
            is_of_person=_nearness(query) == 1,
            lists=self,
        )

    def words_of(self, kinds: Iterable[str]) -> list[str]:
        """The words by which an index finds the members of these categories, at most `MAX_MEMBERS`."""
        return self._words_for([Wish("", 1.0, frozenset(kinds), frozenset())])

    def _wishes(self, query: str) -> Iterator[Wish]:
        """Of each listed word what it names, else the thing that it is; and what it asks for besides."""
        seen: set[str] = set()
        for found in self._vocabulary.read(query):
            if found.word in seen:
                continue
            seen.add(found.word)
            of_role = {role: [s for s in found.senses if s.role == role] for role in ("name", "member", "asked")}
            meant = of_role["name"] or of_role["member"]
            kinds = frozenset(sense.category for sense in meant)
            if meant:
                yield Wish(found.word, 1.0, kinds, frozenset(sense.member for sense in meant if sense.role == "member"))
            if others := frozenset(sense.category for sense in of_role["asked"]) - kinds:
                yield Wish(found.word, ASKED_WEIGHT, others, frozenset())

    def _words_for(self, wishes: Iterable[Wish]) -> list[str]:
        words: dict[str, None] = {}
        for wish in wishes:
            numbers = dict.fromkeys(sorted(wish.members))
            for name in sorted(wish.categories) if not numbers else ():
                below = sorted(each for each, above in self._above.items() if name in above)
                for each in (name, *below):
                    numbers.update(dict.fromkeys(self._of_category.get(each, ())))
            spelt = [self._members[number] for number in numbers]
            usual = (word for all_of in spelt for word in _usual(all_of))
            words.update(dict.fromkeys((*usual, *(word for all_of in spelt for word in all_of))))
        return list(words)[:MAX_MEMBERS]

    def categories_of(self, text: str) -> dict[str, tuple[str, ...]]:
        held: dict[str, dict[str, None]] = {}
        for found in self._vocabulary.read(text):
            for sense in found.senses:
                if sense.role == "member":
                    for name in (sense.category, *sorted(self._above.get(sense.category, ()))):
                        held.setdefault(name, {})[found.word] = None
        return {name: tuple(words) for name, words in held.items()}

    def named(self, text: str) -> list[tuple[int, int, frozenset[str], frozenset[str]]]:
        """Start and end of each member that a text names, the names of the things that it may be (of each its first
        spelling), and their categories. The offsets are those of `text` if it is folded."""
        found = []
        for word in self._vocabulary.read(text):
            meant = [sense for sense in word.senses if sense.role == "member"]
            if meant:
                names = frozenset(self._members[sense.member][0] for sense in meant)
                found.append((word.start, word.end, names, frozenset(sense.category for sense in meant)))
        return found

    def kinds_named(self, text: str) -> frozenset[str]:
        """The categories whose name a text is: job of «jobs», 寵物; none of a text that says more, or names a thing."""
        said = fold(text).strip()
        for word in self._vocabulary.read(said):
            if (word.start, word.end) == (0, len(said)):
                return frozenset(sense.category for sense in word.senses if sense.role == "name")
        return frozenset()

    def kinds_like(self, text: str) -> frozenset[str]:
        """The categories that are called as the one thing that a text names: dog of 狗, of which a corgi is one."""
        return frozenset(self.spellings_of(text)) & self._of_category.keys()

    def spellings_of(self, text: str) -> tuple[str, ...]:
        """Everything that the one thing is called that a text names, in all languages; nothing for a text that says
        more, or a word that may be several things."""
        said = fold(text).strip()
        for word in self._vocabulary.read(said):
            numbers = {sense.member for sense in word.senses if sense.role == "member"}
            if (word.start, word.end) == (0, len(said)) and len(numbers) == 1:
                return self._members[numbers.pop()]
        return ()

    def meanings(self, text: str) -> Meanings:
        folded = fold(text[:MAX_TEXT_CHARS])
        read = [
            (each, self._vocabulary.goes_on(folded, found.end))
            for found in self._vocabulary.read(text)
            for each in found.senses
        ]
        senses = [sense for sense, goes_on in read if sense.role != "name" or not goes_on]
        of_role = {role: {s.category for s in senses if s.role == role} for role in ("member", "name", "asked")}
        held = of_role["member"].union(*(self._above.get(name, ()) for name in of_role["member"]))
        numbers = frozenset(sense.member for sense in senses if sense.role == "member")
        names, asked = frozenset(of_role["name"]), frozenset(of_role["asked"])
        begun = frozenset(sense.category for sense, goes_on in read if sense.role == "name" and goes_on)
        return Meanings(numbers, frozenset(held), names, asked, _nearness(text), begun)


def _nearness(text: str) -> float:
    """How near a text is to its person: whether it speaks of that one, of nobody, or of somebody else."""
    folded = fold(text[:MAX_TEXT_CHARS])
    lexicon, names_own = load_lexicon(), _OWN.search(folded) is not None
    if speaker(folded, lexicon) == "others" and not lexicon.words("memorable.own.together").search(folded):
        return OF_OTHERS
    return 1.0 if names_own else OF_NOBODY


_OWN = re.compile(r"[我咱俺]|本人|自己|(?<![a-z'])(?:i|me|my|mine|myself|we|us|our|ours|im|ive)(?![a-z])")


def load(extra: Mapping[str, Any] | None = None) -> Categories:
    """The shipped categories and a person's own (the `[categories]` table of the settings, of the shape that
    `word_lists.problem_with` lets through)."""
    return _load(tuple((name, tuple(sorted(table.items()))) for name, table in (extra or {}).items()))


@lru_cache(maxsize=16)
def _load(extra: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]) -> Categories:
    """One for each vault of a process, which may have words of its own."""
    return Categories(tables_with({name: dict(table) for name, table in extra}), ordinary_words())


def _add(senses: dict[str, list[Sense]], words: Iterable[str], sense: Sense) -> None:
    for word in words:
        known = senses.get(word)
        if known is None:  # as setdefault, without a new list for each of 10,000 words
            senses[word] = [sense]
        else:
            known.append(sense)


def _usual(words: Sequence[str]) -> Iterator[str]:
    """The first Chinese spelling of a member and the first English one."""
    for is_latin in (False, True):
        yield from [word for word in words if word.isascii() == is_latin][:1]


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
    """What wraps a question, the longest words first; English ones not inside others."""
    listed = sorted(words, key=len, reverse=True)
    han = "|".join(word for word in listed if not word.isascii())
    latin = "|".join(word for word in listed if word.isascii())
    return re.compile(rf"{han}|(?<![a-z0-9])(?:{latin})(?![a-z0-9])")
