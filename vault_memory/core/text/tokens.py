"""Words of a text as the index knows them, in Chinese and English alike.

A text is folded (width, case, accents, Traditional to Simplified), then cut: a Latin run is a word and is stemmed, a Han run has no
blanks to cut at, so that its pairs of neighbouring characters stand for words. SQLite's own tokenisers find nothing inside
running Chinese (unicode61) or miss its two-character words (trigram).
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

from vault_memory.core.text import dates, variants
from vault_memory.core.text.fold import simplify
from vault_memory.core.text.stem import stem

VERSION = 1
"""Changes when a text's tokens change; an index of another version is built anew."""

HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Chinese characters, as a regular expression's class. Kana and Hangul are cut into pairs like them."""

_CJK = HAN + "\u3005\u3040-\u30ff\uac00-\ud7af"
_RUN = re.compile(rf"[{_CJK}]+|[a-z]\+\+|[a-z]#|\d+(?:[.,]\d+)+|[^\W{_CJK}_]+(?:['’][a-z]+)?")
_HAN_RUN = re.compile(rf"[{_CJK}]")

_STOP = """
    a about am an and any are as at be been being but by can could d did didn do does doesn doing don for from get had has
    have having he her hers him his i if in into is isn it its just ll m me my of on or our ours re s she should so some
    such t than that the their theirs them then there these they this those to too us ve very was wasn we were will with
    would you your yours
"""
_ACCENT = re.compile("[\u0300-\u036f]")
STOP = frozenset(_STOP.split())
"""English words that carry no subject; neither indexed nor asked for."""

_ASKING = "how many much what when where which who whom whose why kind type name ever"
_QUESTION = frozenset(_ASKING.split())
HAN_STOP = frozenset("的了是在和与及或也都就而但被把对从到于之其这那我你他她它们有不个一")
"""Characters that carry no subject when they stand alone."""
_QUESTION_HAN = re.compile(
    "什么时候|为什么|什么样|是什么|什么|怎么样|怎么|怎样|如何|哪一个|哪一年|哪一种|哪里|哪儿|哪些|哪个|哪位|哪一|哪|"
    "何时|何地|何处|何人|何种|谁|多少|几个|几次|几|是否|有没有|吗|呢|请问|一下"
)


def fold(text: str) -> str:
    """The text as it is compared: compatible forms made one (NFKC), lower case, without accents, Simplified characters."""
    if text.isascii():
        return text.lower()
    bare = _ACCENT.sub("", unicodedata.normalize("NFKD", text.casefold()))
    return simplify(unicodedata.normalize("NFC", bare))


def stems(text: str) -> str:
    """The text's words in order, each between blanks (` gina open store `); a Han run stands as one word.

    This is what the index keeps beside a unit: `count` finds a query's terms in it without cutting it again.
    """
    words = [*_words(fold(text)), *dates.mentions(text)]
    return f" {'  '.join(words)} " if words else ""


def expand(line: str) -> str:
    """`stems` as FTS5 indexes them: each Han run as its characters and pairs."""
    return " ".join(" ".join(_grams(word)) if _HAN_RUN.match(word) else word for word in line.split())


class Query(NamedTuple):
    """A question's terms: `find` are searched for, `weigh` only tell apart what was found (single Han characters stand
    nearly everywhere: searching for them costs ten times as much and finds nothing more)."""

    find: tuple[str, ...]
    weigh: tuple[str, ...]


def query(text: str) -> Query:
    """The terms of a question, each once: dates, stems, Han pairs (a single character only when it stands alone)."""
    text = text.encode("utf-8", "replace").decode("utf-8")  # a lone surrogate is no text that a database takes
    folded = fold(text)
    find = dict.fromkeys(dates.mentions(text))
    weigh: dict[str, None] = {}
    for unasked, unwanted in ((_QUESTION_HAN.sub(" ", folded), _QUESTION), (folded, frozenset[str]())):
        for word in _words(unasked, unwanted):
            if is_cut(word):
                find.update(dict.fromkeys(_pairs(word)))
                weigh.update(dict.fromkeys(word))
            else:
                find[word] = None
        if any(not term.startswith(dates.MARK) for term in find):
            break
    for word in variants.others(folded):
        find.update(dict.fromkeys(_pairs(word)))
    return Query(tuple(find), tuple(char for char in weigh if char not in find and char not in HAN_STOP))


def count(text: str) -> int:
    """About how many tokens a language model sees: one per Han character, one per four others."""
    han = len(_HAN_RUN.findall(text))
    return han + (len(text) - han + 3) // 4


def is_han(text: str) -> bool:
    """Whether a text is Chinese for the greater part of its meaning (a Han character weighs as three letters)."""
    han = len(_HAN_RUN.findall(text))
    return han * 3 > len(text) - han


def _words(folded: str, unwanted: frozenset[str] = frozenset()) -> list[str]:
    words = []
    for run in _RUN.findall(folded):
        if _HAN_RUN.match(run):
            words.append(run)
            continue
        word = _known(run)
        if word and run not in unwanted:
            words.append(word)
    return words


@lru_cache(maxsize=65_536)
def _known(run: str) -> str:
    """The stem of a Latin run, empty for a stop word."""
    word = re.split("['’]", run)[0] if not run[0].isdigit() else run.replace(",", "")
    return "" if word in STOP else stem(word)[:64]


def _pairs(word: str) -> list[str]:
    return [word[i : i + 2] for i in range(len(word) - 1)] if len(word) > 1 else [word]


def _grams(word: str) -> list[str]:
    return [*word, *_pairs(word)] if len(word) > 1 else [word]


def is_cut(term: str) -> bool:
    """Whether a term is a piece of a Han run, to be found inside it, and not a word between blanks."""
    return _HAN_RUN.match(term) is not None
