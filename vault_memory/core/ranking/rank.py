"""Scoring the segments of an index's candidates against a question: arithmetic on words, without vectors.

BM25 finds chunks; which of their lines answers is decided here. A line is rarely complete in itself: the subject stands
in the title or in the line before. Therefore a term counts where it stands, and less in the lines around it.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple

from vault_memory.core.ranking.candidate import Candidate, Candidates
from vault_memory.core.text import tokens, typed

BM25_K1, BM25_B = 0.9, 0.3
"""Saturation and length normalisation (Robertson, Zaragoza 2009); low values fit short texts."""
NEAR_SHARES = (0.6, 0.4, 0.3)
"""The share of a term's value that counts for the lines 1, 2 and 3 away from it."""
FOLLOWING_FACTOR = 1.2
"""How much more it counts for the lines after it than for those before."""
ANSWER_FACTOR = 1.5
"""How much more it counts for the line right after a question."""
HEAD_FACTOR = 1.8
"""How much a term in the title, the headings or the date counts."""
LEAD_BONUS = (0.2, 0.13, 0.1)
"""How much more it counts for the first lines of a note, which say what the note is about."""
REPEAT_LOSS = 0.3
"""What a character pair loses if it always follows the pair before it in the question: both are one word."""
OWN_BONUS = 0.2
"""How much more a term counts for its own line."""
DATE_FACTOR = 1.5
"""How much more a date counts than an equally rare word."""
SYNONYM_SHARE = 0.5
"""What a word of the same meaning counts of the word that was asked for, where that one does not stand."""
FITTING_FACTOR = 1.2
"""How much better a line is that holds a time or a number, when the question asks for one."""
QUESTION_FACTOR = 0.95
"""How much worse a line is that is itself a question."""
FITTING_MIN_SHARE = 0.3
"""Share of the best score below which a line is not searched for a time or a number."""


@dataclass(slots=True)
class ScoredSegment:
    """Segment `number` of a candidate. `keyword` is its score by words, `own_terms` what each term of the question that
    stands in it, itself or by a synonym, adds to that; `score`, which `fusion.blend` sets, decides."""

    candidate: Candidate
    number: int
    keyword: float
    own_terms: Mapping[str, float]
    score: float = 0.0
    may_answer: bool = True
    """Whether it holds the phrases that were asked for; else it only stands beside a line that does."""

    @property
    def line(self) -> int:
        return self.candidate.segments[self.number].line

    @property
    def length(self) -> int:
        segment = self.candidate.segments[self.number]
        return segment.end - segment.start

    @property
    def text(self) -> str:
        segment = self.candidate.segments[self.number]
        return self.candidate.text[segment.start : segment.end]

    @property
    def stems(self) -> str:
        return self.candidate.stems[self.number]


class Sought(NamedTuple):
    """What is looked for in a line as `written`, the term of the question that it counts as, and how much that
    weighs."""

    term: str
    written: str
    weight: float


def score_segments(question: str, terms: tokens.QueryTerms, candidates: Candidates) -> list[ScoredSegment]:
    """Every segment of the candidates with its keyword score, in the order of files and lines."""
    wanted = sought(terms, candidates)
    lengths = [stems.count("  ") + 1 for candidate in candidates.chunks for stems in candidate.stems]
    average = sum(lengths) / len(lengths) if lengths else 1.0
    scored: list[ScoredSegment] = []
    for run in _runs(candidates.chunks):
        scored.extend(_score_run(run, wanted, average))
    fitting = _fitting_pattern(question)
    if fitting:
        floor = FITTING_MIN_SHARE * max((segment.keyword for segment in scored), default=0.0)
        for segment in scored:
            if segment.keyword > floor and fitting.search(segment.text):
                segment.keyword *= FITTING_FACTOR
    return scored


def require_phrases(phrases: Sequence[str], scored: Sequence[ScoredSegment]) -> None:
    """Let only those segments answer that hold all phrases, themselves or in what their note or section is called."""
    for phrase in phrases:
        stems = tokens.stems(phrase)
        for segment in scored:
            segment.may_answer &= typed.holds(phrase, typed.normal(segment.text)) or bool(
                stems and stems in _head_of(segment)
            )


def _head_of(segment: ScoredSegment) -> str:
    """The words of title and headings above a segment."""
    sections = segment.candidate.sections
    section = next((words for first, words in reversed(sections) if first <= segment.number), "")
    return segment.candidate.head + section


def sought(terms: tokens.QueryTerms, candidates: Candidates) -> list[Sought]:
    """All that is looked for: what stands for a term of the question, then the terms themselves. What covers the term
    is any of both, so its greatest weight is what a line can win by it."""
    weights = discount_repeats(term_weights((*terms.search_terms, *terms.ranking_terms), candidates), candidates)
    return [
        *_synonyms(terms.synonyms, weights, candidates),
        *(Sought(term, term, weight) for term, weight in weights.items()),
    ]


def term_weights(terms: Sequence[str], candidates: Candidates) -> dict[str, float]:
    """The inverse document frequency of each term that stands anywhere, raised for dates."""
    weights = {}
    for term in terms:
        frequency = candidates.frequency.get(term, 0)
        if frequency:
            idf = rarity(frequency, candidates.total)
            weights[term] = idf * (DATE_FACTOR if term.startswith(tokens.DATE_MARK) else 1.0)
    return weights


def rarity(frequency: int, total: int) -> float:
    """The inverse document frequency, as BM25 has it, of a term that stands in `frequency` of `total` chunks."""
    return math.log(1 + (total - frequency + 0.5) / (frequency + 0.5))


def discount_repeats(weights: dict[str, float], candidates: Candidates) -> dict[str, float]:
    """The weights, less for pairs that repeat a word: a name of four characters is three pairs, not three words."""
    pairs = [term for term in weights if len(term) == 2 and tokens.is_han_piece(term)]
    lines = [stems for candidate in candidates.chunks for stems in candidate.stems]
    lines_with = {pair: {at for at, stems in enumerate(lines) if pair in stems} for pair in pairs}
    discounted = dict(weights)
    for one, other in itertools.pairwise(pairs):
        if one[1] == other[0] and (most := max(len(lines_with[one]), len(lines_with[other]))):
            discounted[other] *= 1 - REPEAT_LOSS * len(lines_with[one] & lines_with[other]) / most
    return discounted


def _synonyms(
    synonyms: Sequence[tokens.Synonyms], weights: Mapping[str, float], candidates: Candidates
) -> list[Sought]:
    """What else counts as terms of the question. A word that the index does not hold is as rare as all that stands for
    it; its terms together weigh as one word, however many pairs it has."""
    found = []
    for asked, others in synonyms:
        frequency = min(candidates.total, sum(candidates.frequency.get(other, 0) for other in others))
        if frequency:
            each = rarity(frequency, candidates.total) / len(asked)
            shares = {term: SYNONYM_SHARE * min(each, weights.get(term, each)) for term in asked}
            found += [Sought(term, other, share) for term, share in shares.items() for other in others]
    return found


def _runs(chunks: Sequence[Candidate]) -> list[list[Candidate]]:
    """Candidates, which are in file order, split where a chunk between two is missing."""
    runs: list[list[Candidate]] = []
    for candidate in chunks:
        last = runs[-1][-1] if runs else None
        if last and last.source == candidate.source and last.position + 1 == candidate.position:
            runs[-1].append(candidate)
        else:
            runs.append([candidate])
    return runs


def _score_run(run: Sequence[Candidate], wanted: Sequence[Sought], average: float) -> list[ScoredSegment]:
    """The segments of neighbouring chunks. A term adds to a segment the most that it adds from anywhere near."""
    numbered = [(candidate, number) for candidate in run for number in range(len(candidate.segments))]
    own = [counts for candidate in run for counts in _saturated(candidate, wanted, average)]
    heads = [head for candidate in run for head in _heads(candidate, wanted)]
    if not any(own) and not any(score for _, score in heads):  # only their vectors brought them here
        return [ScoredSegment(candidate, number, 0.0, {}) for candidate, number in numbered]
    are_questions = [is_question for candidate in run for is_question in _are_questions(candidate)]
    near: list[dict[str, float] | None] = [None] * len(own)
    for i, values in enumerate(own):
        if not values:
            continue
        terms = values.items()
        for distance, share in _shares(ANSWER_FACTOR if are_questions[i] else FOLLOWING_FACTOR):
            if 0 <= (there := i + distance) < len(own):
                count = near[there]
                if count is None:
                    count = near[there] = heads[there][0].copy()
                for term, value in terms:
                    here = share * value
                    if count.get(term, 0.0) < here:
                        count[term] = here
    scored = []
    for (candidate, number), (_, score), count, values, is_question in zip(
        numbered, heads, near, own, are_questions, strict=True
    ):
        if count is not None:
            score = sum(count.values()) + OWN_BONUS * sum(values.values())
        scored.append(ScoredSegment(candidate, number, score * QUESTION_FACTOR if is_question else score, values))
    return scored


def _heads(candidate: Candidate, wanted: Sequence[Sought]) -> list[tuple[dict[str, float], float]]:
    """What the terms in title, date and headings add to each segment below them, and their sum."""
    shared = _terms_in_head(candidate.head, wanted)
    found = [shared] * len(candidate.segments)
    if candidate.position == 0 and shared:
        for at, more in enumerate(LEAD_BONUS[: len(found)]):
            found[at] = {term: value * (HEAD_FACTOR + more) / HEAD_FACTOR for term, value in shared.items()}
    ends = [first for first, _ in candidate.sections[1:]] + [len(found)]
    for (first, words), end in zip(candidate.sections, ends, strict=False):
        if head := _terms_in_head(words, wanted):
            found[first:end] = [above | head for above in found[first:end]]
    total = sum(shared.values())
    return [(head, total if head is shared else sum(head.values())) for head in found]


def _terms_in_head(words: str, wanted: Sequence[Sought]) -> dict[str, float]:
    """What each term in a title, date or heading adds to what is below."""
    return {term: HEAD_FACTOR * weight for term, written, weight in wanted if needle(written) in words}


@cache
def _shares(next_line_factor: float) -> tuple[tuple[int, float], ...]:
    """The share of a term's value that counts for each line around its own, by distance in lines."""
    before = [(-distance, share) for distance, share in enumerate(NEAR_SHARES, 1)]
    factors = (next_line_factor, FOLLOWING_FACTOR, FOLLOWING_FACTOR)
    after = [(at, share * factor) for at, (share, factor) in enumerate(zip(NEAR_SHARES, factors, strict=True), 1)]
    return ((0, 1.0), *before, *after)


def _are_questions(candidate: Candidate) -> list[bool]:
    """Whether each segment ends with a question mark."""
    if "?" not in candidate.text and "？" not in candidate.text:
        return [False] * len(candidate.segments)
    texts = (candidate.text[segment.start : segment.end] for segment in candidate.segments)
    return [text.rstrip()[-1:] in ("?", "？") for text in texts]


def _saturated(candidate: Candidate, wanted: Sequence[Sought], average: float) -> list[dict[str, float]]:
    """What each term adds to each segment of a chunk by BM25. Terms themselves come last: they replace synonyms."""
    whole = "\n".join(candidate.stems)
    terms = [
        (term, mark, weight * (BM25_K1 + 1)) for term, written, weight in wanted if (mark := needle(written)) in whole
    ]
    found: list[dict[str, float]] = []
    for stems in candidate.stems:
        counts: dict[str, float] = {}
        for term, looked_for, most in terms:
            if times := stems.count(looked_for):
                norm = BM25_K1 * (1 - BM25_B + BM25_B * (stems.count("  ") + 1) / average)
                counts[term] = most * times / (times + norm)
        found.append(counts)
    return found


@lru_cache(maxsize=4_096)
def needle(term: str) -> str:
    """What to look for in stems to find a term: a piece of Chinese anywhere, a Latin word as a whole, or by its
    beginning."""
    if term.endswith("*"):
        return f" {term[:-1]}"
    return term if tokens.is_han_piece(term) else f" {term} "


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


def _fitting_pattern(question: str) -> re.Pattern[str] | None:
    """What the answer to a question for a time or a number looks like; None for other questions."""
    folded = tokens.fold(question)
    if _WHEN.search(folded):
        return _TIME
    return _NUMBER if _HOW_MANY.search(folded) else None
