"""Listed words found in a text: the longest first, word for word in English, single Chinese characters with care.

`Vocabulary` knows what each word may mean (`Sense`) and nothing of what that is good for; see `categories`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache, partial
from typing import Literal, NamedTuple

from vault_memory.core.memories.word_lists import parts
from vault_memory.core.text import tokens

MAX_TEXT_CHARS = 4_000
"""How much of a text is read."""

Role = Literal["name", "asked", "member"]


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


class Vocabulary:
    """Words and what they may mean, ready to be found in texts; immutable for callers, safe to share between threads.

    `ordinary` holds the texts of `ordinary.toml`: `words` that are read as one and mean nothing, the characters
    (`before`, `after`, `asking`) beside which a word of one character counts, what behind a word makes it another thing
    (`heads`), and the English words that need a
    `capital`.
    """

    def __init__(self, senses: Mapping[str, list[Sense]], ordinary: Mapping[str, str]) -> None:
        self._senses = {**dict.fromkeys(ordinary["words"].split(), list[Sense]()), **senses}
        self._by_start: dict[str, list[str]] = {}
        for word in filter(str.isascii, self._senses):
            self._by_start.setdefault(_start(word), []).append(word)
        han = [word for word in self._senses if not word.isascii()]
        self._longest, self._han_starts = max(map(len, han)), {word[0] for word in han}
        self._phrases: dict[str, dict[tuple[str, ...], list[Sense]]] = {}
        self._before, self._after = frozenset(ordinary["before"]), frozenset(ordinary["after"])
        self._asking = frozenset(ordinary["asking"])
        self._heads = tuple(ordinary["heads"].split())
        self._capital = frozenset(map(_singular, parts(ordinary["capital"])))

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
        """Whether a word is one of its own: a Han character alone between such as stand beside words, letters and
        digits not inside longer ones."""
        before, after = folded[start - 1 : start], folded[end : end + 1]
        if end - start == 1:
            if after and after in self._asking:
                return True
            return (not _HAN.match(before) or before in self._before) and (
                not _HAN.match(after) or after in self._after
            )
        return not (_is_latin(folded[start]) and _is_latin(before)) and not (
            _is_latin(folded[end - 1]) and _is_latin(after)
        )

    def goes_on(self, folded: str, end: int) -> bool:
        """Whether a Chinese word that ends there is only the beginning of one of its kind: 運動 of 運動中心. What a
        Chinese word is stands at its end."""
        return bool(_HAN.match(folded[end - 1 : end])) and folded.startswith(self._heads, end)

    def _read_latin(self, folded: str, text: str) -> Iterator[Found]:
        runs = list(_WORD.finditer(folded))
        words = [_singular(run[0]) for run in runs]
        is_name = cache(partial(_is_name, text))  # it looks through the text for each word
        at = 0
        while at < len(runs):
            phrases = self._phrases_from(words[at])
            size = max((len(each) for each in phrases if each == tuple(words[at : at + len(each)])), default=0)
            if size:
                start, end = runs[at].start(), runs[at + size - 1].end()
                if size > 1 or words[at] not in self._capital or is_name(runs[at][0]):
                    yield Found(start, end, folded[start:end], tuple(phrases[tuple(words[at : at + size])]))
            at += size or 1

    def _phrases_from(self, word: str) -> dict[tuple[str, ...], list[Sense]]:
        """What the English phrases mean that begin like a word, each by the words that it is compared by. They are cut
        when a text first has such a word: to cut them all takes longer than to read most texts."""
        start = _start(word)
        if start not in self._phrases:
            phrases: dict[tuple[str, ...], list[Sense]] = {}
            for listed in self._by_start.get(start, ()):
                phrases.setdefault(_phrase(listed), []).extend(self._senses[listed])
            self._phrases[start] = phrases
        return self._phrases[start]


# English words that mean something else without their s.
_PLURAL_TEXT = """
    blinds boxers chips crisps customs dates drums flats glasses goods greens heels marbles nails records rings shades
    shorts slides spirits swings tights
"""
_ONLY_PLURAL = frozenset(_PLURAL_TEXT.split())
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
    """An English word without a plural's ending, in one spelling for all forms (movie, movies → movy). Other endings
    stay: they tell things apart (train and training, paint and painting)."""
    if len(word) < 4 or word in _ONLY_PLURAL:
        return word
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    if len(word) < 4:
        return word
    return word[:-2] + "y" if word.endswith("ie") else word[:-1] if word.endswith("oe") else word


def _phrase(text: str) -> tuple[str, ...]:
    return tuple(map(_singular, [text] if text.isalnum() else _WORD.findall(text)))
