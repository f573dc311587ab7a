"""How much of their words two memories share, and whether they tell two cases of one kind.

Words of one template (`Build 41 failed`, `Build 42 failed`) are nearly the same and mean two things: where each text
names something that the other does not, a number, a date, a version, a host, a name or another thing of a category,
they are two memories, however much they share.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from vault_memory.core.text import lazily, tokens

SIMILAR = 0.35
"""From this share of common words on two memories may say the same."""
SAMPLED = 0.2
"""Two texts of this likeness may be `SIMILAR`: a sketch of a long text is a sample."""
MIN_WORD_CHARS = 3
MAX_UNITS = 24
"""Of so many units of a text an index keeps the numbers: of longer ones a sample that is the same for every text."""

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff\u3005"
_RUN = lazily(rf"[{_HAN}]+|[^\W_{_HAN}]+")
_IS_HAN = lazily(rf"[{_HAN}]")
_BETWEEN = lazily(r"[\W_]+")
_TELLING = "#%&*/@?？"


def units(text: str) -> frozenset[str]:
    """What of a text is compared: its Latin words of more than two letters and its pairs of neighbouring Chinese
    characters, folded (case, width, Traditional and Simplified); a Chinese character that stands alone is a pair."""
    found: set[str] = set()
    for run in _RUN.findall(tokens.fold(text)):
        if _IS_HAN.match(run):
            found.update(run[at : at + 2] for at in range(max(1, len(run) - 1)))
        elif len(run) >= MIN_WORD_CHARS:
            found.add(run)
    return frozenset(found)


def overlap(one: str, other: str) -> float:
    """The Jaccard index of two texts' units, 0 to 1, the same either way; 1 for texts that say the same word for word,
    whatever case, script and punctuation they have."""
    if is_same(one, other):
        return 1.0
    first, second = units(one), units(other)
    return len(first & second) / len(first | second) if first and second else 0.0


def is_same(one: str, other: str) -> bool:
    """Whether two texts are the same word for word, whatever case, script, blanks and punctuation they have."""
    return _bare(one) == _bare(other)


def sketch(text: str) -> list[int]:
    """The numbers by which an index finds similar texts: the first stands for the whole text, then one for each unit,
    at most `MAX_UNITS`. Similar texts have numbers in common; each has less than 64 bits, so that SQLite takes it."""
    numbers = sorted(_number(unit) for unit in units(text))
    return [_number(f"={_bare(text)}"), *numbers[:MAX_UNITS]]


def likeness(one: Sequence[int], other: Sequence[int]) -> float:
    """About the `overlap` of two texts by their sketches; exactly that where both are whole. 1 for the same text."""
    if one[:1] == other[:1]:
        return 1.0
    first, second = set(one[1:]), set(other[1:])
    both = first | second
    if max(len(first), len(second)) >= MAX_UNITS:  # of the smallest of all their numbers each sketch has its own
        both = set(sorted(both)[:MAX_UNITS])
    return len(first & second & both) / len(both) if both else 0.0


def is_another_case(one: str, other: str, extra: Mapping[str, Any] | None = None) -> bool:
    """Whether two texts each name something that the other does not, or tell a relation the other way round. `extra`
    is the `[categories]` table of the settings."""
    first, second = _names(one), _names(other)
    only_first, only_second = first.keys() - second.keys(), second.keys() - first.keys()
    if any(map(first.__getitem__, only_first)) and any(map(second.__getitem__, only_second)):
        return True
    if any(_letters(word) in only_second for word in only_first) or any(_letters(w) in only_first for w in only_second):
        return True  # web and web2
    from vault_memory.core.memories import categories, relation  # an index that only draws sketches needs none

    if relation.is_turned(one, other):
        return True

    held, also = (categories.meanings_of(text, extra).members for text in (one, other))
    return bool(held - also and also - held)


def _bare(text: str) -> str:
    """The text without the differences that `is_same` ignores; where nothing is left, with them."""
    folded = tokens.fold(text)
    return _BETWEEN.sub(_without_dots, folded) or "".join(folded.split())


def _without_dots(match: re.Match[str]) -> str:
    """What stands between words, as far as it tells texts apart: signs that mean something (C++, 5 %), and whatever is
    within a number or before one (1.5, -3)."""
    run, text, end = match[0], match.string, match.end()
    if text[end : end + 1].isdigit() and (text[match.start() - 1 : match.start()].isdigit() or run[-1] in "-+."):
        return run
    return "".join(char for char in run if unicodedata.category(char)[0] not in "PZC" or char in _TELLING)


def _number(unit: str) -> int:
    return int.from_bytes(hashlib.blake2b(unit.encode("utf-8", "replace"), digest_size=8).digest()) >> 1


# What names a case: anything with a digit, an identifier (`eu-west`, `db.primary`, `fooBar`, a word in capitals or with
# one inside a sentence), a number, weekday or month in words.
_ENGLISH_TEXT = """
    zero one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred thousand
    million first second third fourth fifth sixth seventh eighth ninth tenth last once twice
    monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun
    january february march april may june july august september october november december
    morning noon afternoon evening night today tomorrow yesterday north south east west left right
"""
_ENGLISH = frozenset(_ENGLISH_TEXT.split())
_HAN_NUMBER = "〇零一二两三四五六七八九十百千万亿甲乙丙丁"
_TOKEN = lazily(
    rf"(?:星期|礼拜|周)[一二三四五六日天]|[{_HAN_NUMBER}]+"
    rf"|(?<![大最很太较更])(?:小(?![时心说狗猫孩学型组数量吃偷费的])|阿(?!姨)|老(?![师板家婆公人鼠虎爷]))[{_HAN}]"
    rf"|[{_HAN}](?:先生|小姐|老师|医师|太太|女士)|[{_HAN}]"
    rf"|(?:(?<!\w)[-+](?=\d))?[^\W{_HAN}]+(?:[-./:@'’+#][^\W{_HAN}]+)*[+#]*"
)
_SENTENCE_END = lazily(r"(?:^|[.!?:。！？：\n])[\s\"'「『（(]*$")
_HAN_NEXT = lazily(rf"\s*[{_HAN}]")
_NEAR_CHARS = 9
_VERB_CHARS = 20
_VERB_NEXT = lazily(r" (?:is|was|has|had|can|will|[a-z]{3,}[^us]s)\b")
_NO_NAMES_TEXT = """
    it he she this that there here what who which everything everybody everyone nothing nobody anybody somebody one
    another each every always never
"""
_NO_NAMES = frozenset(_NO_NAMES_TEXT.split())
"""Words that a verb follows at the beginning of a sentence, and that are no names."""
_NAMING = lazily(r"\d|[^\W\d_][-._/:@][^\W\d_]")


def _names(text: str) -> dict[str, bool]:
    """The folded words of a text, and whether each names a case."""
    folded = tokens.fold(text)
    shown = text if len(folded) == len(text) else folded
    found: dict[str, bool] = {}
    for match in _TOKEN.finditer(folded):
        found[match[0]] = found.get(match[0], False) or _is_naming(match[0], shown, *match.span())
    return found


def _is_naming(word: str, text: str, start: int, end: int) -> bool:
    if _IS_HAN.match(word):
        return len(word) > 1 or word in _HAN_NUMBER
    if word in _ENGLISH or _NAMING.search(word):
        return True
    if not text[start].isupper() or re.split("['’]", word)[0] == "i":
        return any(map(str.isupper, text[start + 1 : end]))
    before, after = text[max(0, start - _NEAR_CHARS) : start], text[end : end + _NEAR_CHARS]
    if text[start:end].isupper() or not _SENTENCE_END.search(before) or _HAN_NEXT.match(after):
        return True
    return word not in _NO_NAMES and _VERB_NEXT.match(text[end : end + _VERB_CHARS]) is not None  # Anna has the key


def _letters(word: str) -> str:
    """A word with digits without them; "" for others."""
    return re.sub(r"[\d\W_]+", "", word) if any(map(str.isdigit, word)) else ""
