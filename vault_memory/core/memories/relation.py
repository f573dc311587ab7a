"""Whether two texts tell a relation the other way round: who manages whom, from where to where, before or after.

Such texts have nearly the same words, so that only their order tells them apart. The words that two texts share are
matched run by run, the longest first. Where two runs have changed places, and a word that relates them stands between
them in both texts (`Anna manages Ben`, `from Rome to Oslo`), the relation is turned. Where whole clauses have changed
places nothing that both share stands between them, and in a list only `and` or a comma does: these say the same. A word
that has become its opposite, or a passive, turns the relation once more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from vault_memory.core.reading import lines
from vault_memory.core.text import lazily, tokens

MAX_WORDS = 48
"""The order of longer texts is not compared: it takes as long as the cube of their words."""

_OPPOSITES_TEXT = """
    before 前 | after 后
    left 左 | right 右
    above upper 上面 | below beneath lower 下面
    higher taller more greater larger bigger 高 多 | shorter less smaller fewer 矮 低 少
    earlier sooner 早 | later 晚
    faster quicker 快 | slower 慢
    older 老 | younger 年轻
    from | to
    on 打开 开启 启用 | off 关闭 关掉 停用
    open | close shut
    enable | disable
    allow 允许 | forbid deny 禁止
    start begin 开始 | stop end 结束
    buy 买 | sell 卖
    lend lent | borrow
    send sent 寄出 | receive 收到
    teach taught | learn
    win won 赢 | lose lost 输
    increase raise 增加 | decrease reduce 减少
    import 汇入 | export 汇出
    mother mom mum 妈妈 母亲 | father dad 爸爸 父亲
    sister 姊姊 姐姐 妹妹 | brother 哥哥 弟弟
    son 儿子 | daughter 女儿
    wife 太太 妻子 老婆 | husband 先生 丈夫 老公
"""
# Words with one of these characters that mean something else.
_ORDINARY_TEXT = "以前 目前 前天 然后 后来 最后 以后 今后 后天 首先 先生 多少 至少 高雄 早上 晚上 老师 老板 左右"
# What relates nothing: what joins equals, and what stands for a person or only leads to a noun.
_JOINING_TEXT = (
    "and or nor i you he she it we they who my your his her our their this that 和 与 及 或 的 了 都 也 我 你 他 她 们"
)
_DROPPED_TEXT = "a an the is are was were be been being has have had do does did will would just also really very"
_SAME_TEXT = "me=i him=he them=they us=we"


class _Word(NamedTuple):
    """A word as it is compared, and whether it stands beside what joins the parts of a list."""

    text: str
    is_listed: bool


class _Run(NamedTuple):
    """Words that both texts have in a row: where they begin in each, and how many they are."""

    one: int
    other: int
    size: int


_LINES = [[side.split() for side in line.split("|")] for line in lines(_OPPOSITES_TEXT.strip())]
_POLES = {
    word if tokens.is_han(word) else tokens.stem(word): (line, pole)
    for line, sides in enumerate(_LINES)
    for pole, side in enumerate(sides)
    for word in side
}
_ORDINARY, _DROPPED = frozenset(_ORDINARY_TEXT.split()), frozenset(_DROPPED_TEXT.split())
_JOINING = frozenset(_JOINING_TEXT.split())
_SAME = dict(pair.split("=") for pair in _SAME_TEXT.split())
_HAN = "\u3400-\u9fff"
_LONGER = sorted(
    (word for word in {*_POLES, *_ORDINARY} if len(word) > 1 and tokens.is_han(word)), key=len, reverse=True
)
_WORD = lazily(rf"{'|'.join(_LONGER)}|[{_HAN}]|[^\W_{_HAN}]+|[,;、，；&/+]")
_PASSIVE = lazily(r"\b(?:is|are|was|were|be|been|being)\s+(?:\w+\s+)?\w+\s+by\b")
_COMMA = lazily(r"[,;、，；&/+]")


def is_turned(one: str, other: str) -> bool:
    """Whether one of two texts tells a relation the other way round, or says the opposite of a word of the other's."""
    folded = sorted(map(tokens.fold, (one, other)))
    first, second = (_words(text) for text in folded)
    if max(len(first), len(second)) > MAX_WORDS:
        return False
    differ = _opposites(first, second)
    first, second = ([_levelled(word, differ) for word in words] for words in (first, second))
    runs = _shared_runs(first, second)
    is_passive = len({bool(_PASSIVE.search(text)) for text in folded}) > 1
    if any(_related(runs, first, second, is_swapped=True)):
        return (len(differ) + is_passive) % 2 == 0
    if (
        differ
        or not is_passive
        or any(one.one < other.one and one.other > other.other for one in runs for other in runs)
    ):
        return bool(differ)
    alone = [_Run(run.one + at, run.other + at, 1) for run in runs for at in range(run.size)]
    return any(_related(alone, first, second, is_swapped=False))


def _words(folded: str) -> list[_Word]:
    """The words of a text in order, inflected English ones as their stem, Chinese ones character by character."""
    raw = _WORD.findall(folded)
    joins = [bool(_COMMA.fullmatch(word)) or word in ("and", "or", "和", "与", "及", "或") for word in raw]
    beside = [any(joins[max(0, at - 1) : at] + joins[at + 1 : at + 2]) for at in range(len(raw))]
    return [
        _Word(_SAME.get(word, word) if tokens.is_han(word) else tokens.stem(_SAME.get(word, word)), is_listed)
        for word, is_listed in zip(raw, beside, strict=True)
        if word not in _DROPPED and not _COMMA.fullmatch(word)
    ]


def _opposites(first: Sequence[_Word], second: Sequence[_Word]) -> set[int]:
    """The lines of opposites of which one text has one side alone, and the other the other."""
    poles = [{_POLES[word.text] for word in words if word.text in _POLES} for words in (first, second)]
    sides = [{line: {pole for each, pole in found if each == line} for line, _ in found} for found in poles]
    return {line for line in sides[0].keys() & sides[1] if sides[0][line].isdisjoint(sides[1][line])}


def _levelled(word: _Word, differ: set[int]) -> _Word:
    """The word; both of two opposites that tell the texts apart as one."""
    line, _ = _POLES.get(word.text, (-1, 0))
    return word._replace(text=f"={line}") if line in differ else word


def _shared_runs(first: Sequence[_Word], second: Sequence[_Word]) -> list[_Run]:
    """The words that two texts share, each once, in the longest runs."""
    left = [{*range(len(words))} for words in (first, second)]
    runs: list[_Run] = []
    while True:
        best = _Run(0, 0, 0)
        for one in sorted(left[0]):
            for other in sorted(left[1]):
                size = 0
                while (
                    one + size in left[0]
                    and other + size in left[1]
                    and first[one + size][0] == second[other + size][0]
                ):
                    size += 1
                if size > best.size:
                    best = _Run(one, other, size)
        if not best.size:
            return runs
        runs.append(best)
        left[0].difference_update(range(best.one, best.one + best.size))
        left[1].difference_update(range(best.other, best.other + best.size))


def _related(
    runs: Sequence[_Run], first: Sequence[_Word], second: Sequence[_Word], *, is_swapped: bool
) -> Iterator[bool]:
    """True for each two runs that a third one relates in both texts, and whose order is the same, or `is_swapped`."""
    for middle in runs:
        if not _relates(middle, first, second):
            continue
        before = [run for run in runs if run.one < middle.one and (run.other > middle.other) == is_swapped]
        after = [run for run in runs if run.one > middle.one and (run.other < middle.other) == is_swapped]
        if any(run != middle for run in before) and any(run != middle for run in after):
            yield True


def _relates(run: _Run, first: Sequence[_Word], second: Sequence[_Word]) -> bool:
    """Whether a run has a word that relates what stands around it, and is no part of a list."""
    words = zip(first[run.one : run.one + run.size], second[run.other : run.other + run.size], strict=True)
    return any(one.text not in _JOINING and not (one.is_listed or other.is_listed) for one, other in words)
