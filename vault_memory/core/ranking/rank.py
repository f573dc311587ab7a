"""Scoring the units of an index's candidates against a question. Pure arithmetic on words; no index, no vectors.

BM25 finds chunks; which of their lines answers is decided here. A line is rarely complete in itself: the subject stands in
the title or in the line before. So that each term counts where it stands, and a little less in the lines around it.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from vault_memory.core.ranking.candidate import Candidate, Candidates
from vault_memory.core.text import dates, tokens

K1, B = 0.9, 0.3
"""BM25's saturation and length normalisation (Robertson, Zaragoza 2009); low ones fit short texts."""
NEAR = (0.6, 0.4, 0.3)
"""What a term counts for the lines 1, 2, 3 away from where it stands."""
AFTER = 1.2
"""How much more it counts for the lines that follow than for those before."""
ANSWER = 1.5
"""The same for the line right after a question."""
HEAD = 1.8
"""What a term counts that stands in the title, the headings or the date."""
LEAD = (0.2, 0.13, 0.1)
"""What it counts more for the first lines of a note, which say what the note is about."""
REPEATED = 0.3
"""What a pair of characters loses that always stands where its neighbour in the question does: they are one word."""
OWN = 0.2
"""What a term counts more for the line itself."""
DATE = 1.5
"""How much more a date counts than a word of its rarity."""
FITS = 1.2
"""How much better a line is that holds a time or a number, when the question asks for one."""
ASKS = 0.95
"""How much worse a line is that is itself a question."""
WORTH = 0.3
"""Share of the best score below which a line is not looked at for a time or a number."""


@dataclass(slots=True)
class Scored:
    """Unit `at` of a candidate. `keyword` is its score by words, `own` what each term in it adds, `score` what decides."""

    candidate: Candidate
    at: int
    keyword: float
    own: Mapping[str, float]
    score: float = 0.0

    @property
    def line(self) -> int:
        return self.candidate.units[self.at].line

    @property
    def length(self) -> int:
        unit = self.candidate.units[self.at]
        return unit.end - unit.start

    @property
    def text(self) -> str:
        unit = self.candidate.units[self.at]
        return self.candidate.text[unit.start : unit.end]


def units(question: str, query: tokens.Query, found: Candidates) -> list[Scored]:
    """Every unit of the candidates with its keyword score, in the order of files and lines."""
    weights = once(weigh((*query.find, *query.weigh), found), found)
    lengths = [stems.count("  ") + 1 for candidate in found.chunks for stems in candidate.stems]
    average = sum(lengths) / len(lengths) if lengths else 1.0
    scored: list[Scored] = []
    for run in _runs(found.chunks):
        scored.extend(_score_run(run, weights, average))
    wants = _wanted(question)
    if wants:
        floor = WORTH * max((unit.keyword for unit in scored), default=0.0)
        for unit in scored:
            if unit.keyword > floor and wants.search(unit.text):
                unit.keyword *= FITS
    return scored


def weigh(terms: Sequence[str], found: Candidates) -> dict[str, float]:
    """The inverse document frequency of each term that stands anywhere, dates raised."""
    weights = {}
    for term in terms:
        frequency = found.frequency.get(term, 0)
        if frequency:
            idf = math.log(1 + (found.total - frequency + 0.5) / (frequency + 0.5))
            weights[term] = idf * (DATE if term.startswith(dates.MARK) else 1.0)
    return weights


def once(weights: dict[str, float], found: Candidates) -> dict[str, float]:
    """The weights (see `weigh`), less for what repeats a word: a name of four characters is three pairs, and no three words."""
    pairs = [term for term in weights if len(term) == 2 and tokens.is_cut(term)]
    lines = [stems for candidate in found.chunks for stems in candidate.stems]
    places = {pair: {at for at, stems in enumerate(lines) if pair in stems} for pair in pairs}
    once = dict(weights)
    for one, other in itertools.pairwise(pairs):
        if one[1] == other[0] and (most := max(len(places[one]), len(places[other]))):
            once[other] *= 1 - REPEATED * len(places[one] & places[other]) / most
    return once


def _runs(chunks: Sequence[Candidate]) -> list[list[Candidate]]:
    """Candidates, in file order, divided where neighbouring chunks are missing."""
    runs: list[list[Candidate]] = []
    for candidate in chunks:
        last = runs[-1][-1] if runs else None
        if last and last.source == candidate.source and last.position + 1 == candidate.position:
            runs[-1].append(candidate)
        else:
            runs.append([candidate])
    return runs


def _score_run(run: Sequence[Candidate], weights: Mapping[str, float], average: float) -> list[Scored]:
    """The units of neighbouring chunks: what each term adds to a unit is the most that it adds from anywhere near."""
    places = [(candidate, at) for candidate in run for at in range(len(candidate.units))]
    own = [counts for candidate in run for counts in _saturated(candidate, weights, average)]
    heads = [head for candidate in run for head in _heads(candidate, weights)]
    if not any(own) and not any(score for _, score in heads):  # only its vector brought it here
        return [Scored(candidate, at, 0.0, {}) for candidate, at in places]
    asks = [ask for candidate in run for ask in _asks(candidate)]
    near: list[dict[str, float] | None] = [None] * len(own)
    for i, values in enumerate(own):
        if not values:
            continue
        terms = values.items()
        for distance, share in _shares(ANSWER if asks[i] else AFTER):
            if 0 <= (there := i + distance) < len(own):
                count = near[there]
                if count is None:
                    count = near[there] = heads[there][0].copy()
                for term, value in terms:
                    here = share * value
                    if count.get(term, 0.0) < here:
                        count[term] = here
    scored = []
    for (candidate, at), (_, score), count, values, is_question in zip(places, heads, near, own, asks, strict=True):
        if count is not None:
            score = sum(count.values()) + OWN * sum(values.values())
        scored.append(Scored(candidate, at, score * ASKS if is_question else score, values))
    return scored


def _heads(candidate: Candidate, weights: Mapping[str, float]) -> list[tuple[dict[str, float], float]]:
    """What the terms that stand above each unit add to it, in the title, the date and the headings, and their sum."""
    shared = _standing(candidate.head, weights)
    found = [shared] * len(candidate.units)
    if candidate.position == 0 and shared:
        for at, more in enumerate(LEAD[: len(found)]):
            found[at] = {term: value * (HEAD + more) / HEAD for term, value in shared.items()}
    ends = [first for first, _ in candidate.sections[1:]] + [len(found)]
    for (first, words), end in zip(candidate.sections, ends, strict=False):
        if head := _standing(words, weights):
            found[first:end] = [above | head for above in found[first:end]]
    total = sum(shared.values())
    return [(head, total if head is shared else sum(head.values())) for head in found]


def _standing(words: str, weights: Mapping[str, float]) -> dict[str, float]:
    """What each term that stands in a title, date or heading adds to what is below."""
    return {term: HEAD * weight for term, weight in weights.items() if _needle(term) in words}


@cache
def _shares(after: float) -> tuple[tuple[int, float], ...]:
    """What a term counts for the lines around the one it stands in, by their distance; `after` for the very next one."""
    before = [(-distance, share) for distance, share in enumerate(NEAR, 1)]
    behind = [(distance, share * (after if distance == 1 else AFTER)) for distance, share in enumerate(NEAR, 1)]
    return ((0, 1.0), *before, *behind)


def _asks(candidate: Candidate) -> list[bool]:
    """Whether each unit ends with a question mark."""
    if "?" not in candidate.text and "？" not in candidate.text:
        return [False] * len(candidate.units)
    return [candidate.text[unit.start : unit.end].rstrip()[-1:] in ("?", "？") for unit in candidate.units]


def _saturated(candidate: Candidate, weights: Mapping[str, float], average: float) -> list[dict[str, float]]:
    """What each term adds to each unit of a chunk by BM25."""
    whole = "\n".join(candidate.stems)
    terms = [(term, _needle(term), weight * (K1 + 1)) for term, weight in weights.items() if _needle(term) in whole]
    found: list[dict[str, float]] = []
    for stems in candidate.stems:
        counts: dict[str, float] = {}
        for term, needle, most in terms:
            if times := stems.count(needle):
                norm = K1 * (1 - B + B * (stems.count("  ") + 1) / average)
                counts[term] = most * times / (times + norm)
        found.append(counts)
    return found


@lru_cache(maxsize=4_096)
def _needle(term: str) -> str:
    """What to look for in stems to find a term: a piece of Chinese anywhere, a Latin word whole."""
    return term if tokens.is_cut(term) else f" {term} "


_WHEN = re.compile(
    r"\bwhen\b|\bwhat (?:day|date|year|month|time)\b|什么时候|何时|哪一?年|哪一?天|几月|几号|日期|时间", re.I
)
_HOW_MANY = re.compile(r"\bhow (?:many|much|long|often|old|far)\b|多少|几[个次位岁年月天种]|多[长久大高远]", re.I)
_TIME = re.compile(
    r"\d{3,4}|\d+\s*[年月日号號]|\b(?:yesterday|today|tomorrow|ago|last|next|week|month|year|weekend|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day)s?\b|昨|今天|明天|前天|上周|下周|上个?月|去年|世纪|時期|时期",
    re.I,
)
_NUMBER = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|dozen|hundred|thousand|million|once|twice|few|several)\b"
    r"|[一二三四五六七八九十百千万两]",
    re.I,
)


def _wanted(question: str) -> re.Pattern[str] | None:
    """What the answer to a question for a time or a number looks like."""
    folded = tokens.fold(question)
    if _WHEN.search(folded):
        return _TIME
    return _NUMBER if _HOW_MANY.search(folded) else None
