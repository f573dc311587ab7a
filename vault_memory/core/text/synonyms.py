"""Words of one meaning in Chinese and English: a question also finds what is written in the other language.

The words stand in `bilingual.txt`; a person adds groups of their own (`search.synonyms`). Nothing is added to what is
indexed: only a question is asked in both languages, so a changed list needs no new index.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from importlib import resources
from typing import Any

from vault_memory.core.text import tokens
from vault_memory.core.text.fold import fold

MAX_GROUPS, MAX_GROUP_WORDS, MAX_WORD_CHARS = 500, 10, 60
"""How much a person may add: every process that opens the vault reads it."""


def query_terms(text: str, own: Sequence[Sequence[str]] = ()) -> tokens.QueryTerms:
    """The terms of a question, with what stands for its words; `own` are a person's groups of words of one meaning."""
    terms = tokens.query_terms(text)
    found = _load(tuple(map(tuple, own))).of(tokens.phrase(text).split())
    searched = set(terms.search_terms)  # «type» is a question word, «data type» is none
    return terms._replace(synonyms=tuple(each for each in found if not searched.isdisjoint(each.asked)))


def group_problem(group: Sequence[Any]) -> str | None:
    """What is wrong with a person's group of words of one meaning, None for a valid one."""
    if not 2 <= len(group) <= MAX_GROUP_WORDS:
        return f"has {len(group)} words; 2 to {MAX_GROUP_WORDS} mean the same"
    for word in group:
        if not isinstance(word, str):
            return f"has {word!r}, which is not text"
        if len(word) > MAX_WORD_CHARS:
            return f"has a word of {len(word)} characters; {MAX_WORD_CHARS} are the most"
        parts = tokens.phrase(word).split()
        if not parts:
            return f"has {word!r}, which search does not look for"
        if len(parts) > 1 and any(map(tokens.is_han_piece, parts)):
            return f"has {word!r}: write one Chinese word without blanks, or a phrase without Chinese"
        if not _listed(word):
            return f"has {word!r}: write its first number without commas"
    if len({tokens.phrase(word) for word in group}) == 1:
        called = " and ".join(map(repr, dict.fromkeys(group)))
        return f"has {called} only, which search takes for one word: add another that means the same"
    return None


class _Lists:
    """The shipped words and a person's groups: a folded word or phrase → what stands for it, as it is written."""

    def __init__(self, own: Sequence[Sequence[str]]) -> None:
        self._others: dict[str, list[str]] = {}
        for line in fold((resources.files(__package__) / "bilingual.txt").read_text(encoding="utf-8")).split("\n"):
            han, sign, english = line.partition(" = ")
            if sign:
                self._add(han.split(), english.split(", "))
                self._add(english.split(", "), han.split())
        for group in own:
            words = [_listed(word) for word in group]
            for at, word in enumerate(words):
                self._add([word], [*words[:at], *words[at + 1 :]])
        self._longest_han = max(len(word) for word in self._others if tokens.is_han_piece(word))

    def _add(self, words: Sequence[str], others: Sequence[str]) -> None:
        for word in words:
            self._others.setdefault(word, []).extend(others)

    @cached_property
    def _latin(self) -> list[str]:
        return sorted(word for word in self._others if not tokens.is_han_piece(word))

    def of(self, words: Sequence[str]) -> Iterator[tokens.Synonyms]:
        """What stands for the words of a question (stems and Han runs in order), the longest phrase first, none inside
        another."""
        at = 0
        while at < len(words):
            if tokens.is_han_piece(words[at]):
                yield from self._of_run(words[at])
                at += 1
                continue
            phrases = list(self._phrases_at(words, at))
            size = max((size for _, size in phrases), default=0)
            if size:
                yield self._synonyms(words[at : at + size], *(key for key, length in phrases if length == size))
            at += size or 1

    def _of_run(self, run: str) -> Iterator[tokens.Synonyms]:
        at = 0
        while at < len(run):
            ends = range(min(len(run), at + self._longest_han), at, -1)
            end = next((end for end in ends if run[at:end] in self._others), at)
            if end > at:
                yield self._synonyms(tokens.pieces(run[at:end]), run[at:end])
            at = max(end, at + 1)

    def _phrases_at(self, words: Sequence[str], at: int) -> Iterator[tuple[str, int]]:
        """The listed phrases whose stems are those of the question from `at` on, each with the number of its words."""
        start = _start(words[at])
        for number in range(bisect_left(self._latin, start), len(self._latin)):
            key = self._latin[number]
            if not key.startswith(start):
                return
            parts = tokens.phrase(key).split()
            if parts == list(words[at : at + len(parts)]):
                yield key, len(parts)

    def _synonyms(self, asked: Sequence[str], *keys: str) -> tokens.Synonyms:
        others = dict.fromkeys(tokens.phrase(other) for key in keys for other in self._others[key])
        return tokens.Synonyms(tuple(asked), tuple(other for other in others if other not in asked))


def _listed(word: str) -> str:
    """A person's word as it stands in the lists, from the first word on that search looks for: «call» of «on call»,
    «net» of .NET; of a Chinese one no sign around it. Empty if it cannot be found by how it begins (1,000)."""
    phrase, folded = tokens.phrase(word), tokens.fold(word)
    if tokens.is_han_piece(phrase):
        return phrase
    start = _start(phrase.split()[0])
    begins = (at for at in range(len(folded)) if folded.startswith(start, at))
    return next((folded[at:] for at in begins if tokens.phrase(folded[at:]) == phrase), "")


def _start(stem: str) -> str:
    """How every word of this stem begins: only what follows may differ. So a list in order finds the words of a stem,
    and few of them need be stemmed: to stem them all takes longer than a search."""
    return stem[:-1] or stem


_load = lru_cache(maxsize=16)(_Lists)
"""One for each vault of a process, which may have groups of its own."""
