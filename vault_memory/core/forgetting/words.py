"""Words that are looked for in any text, and on which of its lines they stand.

A text is read as a run of words: a Chinese character each, a word of an alphabet by its stem. So width, case, Chinese
script, plural, signs between the words, and where a line is broken make no difference; a list item, a heading and a
blank line begin something else.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from vault_memory.core.memories import categories
from vault_memory.core.text import fold, normalize, synonyms, tokens
from vault_memory.errors import UsageError

EVERYTHING = "everything about me"
"""A text that means all that is known of a person."""
MAX_TEXT_CHARS = 2_000
MIN_CHARS = 2
"""Of letters and digits in all: one stands in nearly every text."""
_WORD = re.compile(r"[^\W_\u0e00-\U0010ffff]+|[^\W_]")
"""Scripts above U+0E00 write no blanks between words, or have endings of many kinds: a character each."""
_BEGINS = re.compile(r"\s*(?:[-*+#|]|\d+[.)]\s|$)")
_END, _BREAK = "\0", "\1"

_stem = lru_cache(maxsize=50_000)(tokens.stem)


class Words:
    """The texts (at least one has a word), each as a run of words. `others` are further runs that mean the same, as
    the lists of synonyms write them."""

    def __init__(self, texts: Iterable[str], others: Iterable[str] = ()) -> None:
        runs = [_words(text) for text in texts] + [_WORD.findall(other) for other in others]
        self._runs = list(dict.fromkeys(tuple(run) for run in runs if run))
        self._hints = [{word[:2] for word in run} for run in self._runs]

    def stand_in(self, text: str) -> bool:
        """Whether one of the runs stands in the text."""
        return bool(self.lines(text))

    def may_stand_in(self, text: str) -> bool:
        """False where none of the runs can stand in the text; a quick look."""
        folded = _folded(text)
        return any(all(hint in folded for hint in hints) for hints in self._hints)

    def lines(self, text: str) -> set[int]:
        """The numbers (from 0) of the lines on which one of the runs stands, or a part of it."""
        if not self.may_stand_in(text):
            return set()
        words, starts = [_END], list[int]()
        size = 1
        for line in text.split("\n"):
            if _BEGINS.match(line):
                words.append(_BREAK + _END)
                size += 2
            starts.append(size)
            for word in _words(line):
                words.append(word + _END)
                size += len(word) + 1
        return {
            number
            for begin, end in self._found_in("".join(words))
            for number in range(bisect_right(starts, begin) - 1, bisect_right(starts, end))
        }

    def _found_in(self, joined: str) -> Iterator[tuple[int, int]]:
        """Where each run begins and where its last word does, in words with an end after each."""
        for run in self._runs:
            wanted = _END + _END.join(run) + _END
            at = joined.find(wanted)
            while at >= 0:
                yield at + 1, at + len(wanted) - 1 - len(run[-1])
                at = joined.find(wanted, at + 1)


def words_of(text: str, own: Sequence[Sequence[str]] = ()) -> Words:
    """What is looked for when a person names a text: the text, and where it is one thing or one word of the lists,
    what that is called in the other languages. `own` are a person's groups of words of one meaning."""
    listed = [each for each in synonyms.query_terms(text, own).synonyms if _is_whole(text, each.asked)]
    others = [other for each in listed for other in each.others]
    return Words([text, *categories.load().spellings_of(text)], others)


def check_text(text: str) -> str:
    """The text that is to be forgotten. Raises `UsageError` for one that says too little, or is no text to look for."""
    if len(text) > MAX_TEXT_CHARS:
        raise UsageError(f"the text has {len(text):,} characters: give a part of it, at most {MAX_TEXT_CHARS:,}")
    if (chars := _letters(text)) < MIN_CHARS:
        raise UsageError(
            f"{text!r} has {'one letter' if chars else 'no letter'}, which stands nearly everywhere or nowhere: give "
            f"at least {MIN_CHARS} letters or digits"
        )
    return text


def may_be_forgotten(text: str) -> bool:
    """Whether `check_text` takes a text."""
    return len(text) <= MAX_TEXT_CHARS and _letters(text) >= MIN_CHARS


def _letters(text: str) -> int:
    return sum(map(len, _words(text)))


def _words(text: str) -> list[str]:
    return [_stem(word) for word in _WORD.findall(_folded(text))]


def _folded(text: str) -> str:
    return fold(normalize("NFC", text))


def _is_whole(text: str, asked: Sequence[str]) -> bool:
    """Whether a text is no more than the listed words `asked`."""
    return "".join(_words(text)) == "".join(asked)


_FORGETS = r"\b(?:forget|delete|erase|remove|wipe)\b|忘掉|忘记|忘了|忘光|删除|删掉|清除|清掉|抹掉"
_ALL = r"\b(?:everything|all|anything|whatever)\b|一切|所有|全部|通通|统统"
_ME = r"\b(?:about|on|of) me\b|(?:关于|有关)我"
_BESIDES = (
    r"\b(?:please|now|can|could|would|will|want|to|i|you|your|that|the|of|what|ever|know|knew|remember|remembered|learned"
    r"|learnt|stored|saved|got|have|had|ve|data|information|things|stuff|facts|memory|memories|notes|out|about)\b"
    r"|[请麻烦帮我可以能不把将你妳所知道记得住录存的都全吧了好吗事情东西资料数据讯信息忆忘掉]|\W"
)
"""What may stand around these; with anything else the text says something else."""


def means_everything(text: str) -> bool:
    """Whether a text asks that everything be forgotten that is known about its person: «forget everything you know
    about me», 「把你知道的關於我的一切都忘掉」."""
    folded = fold(text) if len(text) <= MAX_TEXT_CHARS else ""
    said = [pattern for pattern in (_FORGETS, _ALL, _ME) if re.search(pattern, folded)]
    return len(said) == 3 and not re.sub("|".join([_FORGETS, _ALL, _ME, _BESIDES]), "", folded)
