"""Whether what was found answers at all: below a floor, a question gets nothing instead of the nearest passage.

A search always finds something: among many words one is shared with any memory. What tells that nothing answers is the
part of the question that the memory does not know. Therefore a term that stands nowhere counts as the rarest of all,
where ranking ignores it.

Only a question for a fact has a floor. Key words, a statement or a task say little about the memory that helps with
them; who asks why tells of a trouble and seldom of its reason; and who asks for advice ("Which hotel in Dubai would you
recommend?") does not name the wish that it must respect ("I dislike high-rise hotels"): one word in common is all there
is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from vault_memory.core.ranking.candidate import Candidate, Candidates, Spread
from vault_memory.core.ranking.fusion import standing_out
from vault_memory.core.ranking.rank import ScoredSegment, needle, rarity
from vault_memory.core.text import tokens

MIN_FIT = 0.23
"""The floor. On six of nine public sets it silences more than half of the questions of strangers, and on all less than
.01 of a person's own that are answered; `benchmarks/unanswerable.py` shows the curve."""
UNKNOWN_FACTOR = 1.5
"""How much more a name or a Chinese word counts that stands nowhere: it has no other form, unlike a verb. Of a Chinese
word that stands nowhere its characters often do, and are found."""
IMAGINED_CHUNKS = 5
"""An index is judged as if it held so many more chunks of other words: in a vault of one note no word is rare."""
MIN_STANDING_OUT = 0.25
"""A best cosine of a model that stands out more than this (`fusion.standing_out`) is an answer without shared words."""
MIN_VECTORS = 10
"""Among fewer no cosine can stand out so far, so that the model is believed."""
MIN_LIKENESS = 0.3
"""A cosine of hashed words from which on a word that stands nowhere is another's misspelling. Of 4,800 strange words
and pairs of words in three indexes one in a hundred reached .27."""

_ASKS = re.compile(
    r"[?？]|^\W*(?:how|what|when|where|which|who|whom|whose|why|is|are|was|were|do|does|did|has|have|had)\b|"
    r"什么|哪(?!怕)|谁|几(?!乎)|多少|(?<!任)何|吗|怎|是否|有没有"
)
_FOR_ADVICE = re.compile(
    r"\b(?:(?:can|could|would|will) you|you (?:recommend|suggest)|(?:should|can|could) (?:i|we)|"
    r"(?:i|we) (?:should|can|could)|how (?:to|do (?:i|we))|what are (?:some|my)|(?:is|are) there (?:an?|any)|"
    r"good|nice|best|worth|recommendations|suggestions|tips|ideas|help me|for me|would be|"
    r"i(?:['’](?:m|d|ll)| am| want| need)|why)\b|"
    r"为什么|为何|推荐|建议|帮我|应该|我该|怎么(?:办|做|学|选|写)|什么.{0,4}好|好(?:吃|喝|看|玩|用)|想要|打算|适合"
)
_OF_THE_PAST = re.compile(r"\b(?:did|had|was|were)\b|过|了|曾")
"""Which advice was given is a fact."""
_WORD = re.compile(r"\w[\w'’]*")


def fit(
    question: str, terms: tokens.QueryTerms, found: Candidates, scored: Sequence[ScoredSegment], *, is_model: bool
) -> float:
    """How well the best of what was found fits a question: 0 if nothing of it does, about 1 if a line holds all of it.

    It is the share of the question that the index knows times the share of that which the best line holds. 1 where
    there is no floor: for what asks for no fact, for a question whose words all stand in one chunk, where the vectors
    stand out, and between Chinese and other text, which share little but names and numbers. `is_model` says whether the
    vectors are a model's: hashed words hardly find what words do not.
    """
    best = max(scored, key=lambda segment: segment.keyword, default=None)
    if best is None:
        return 0.0
    is_asked = asks_for_a_fact(question)
    frequency = _with_synonyms(terms, found)
    held = [term for term in (*terms.search_terms, *terms.ranking_terms) if frequency.get(term)]
    if not is_model and not any(frequency.get(term) for term in terms.search_terms):  # characters alone are no words
        return 1.0 if found.spread and found.spread.best >= MIN_LIKENESS else 0.0
    texts = [best.text] if best.keyword else [chunk.text for chunk in found.chunks]
    if all(tokens.is_han(text) != tokens.is_han(question) for text in texts):
        return 1.0
    if not is_asked or (is_model and _stands_out(found.spread)):
        return 1.0
    if not best.keyword:
        return 0.0
    unknown = _unknown(question, terms, frequency)
    if not unknown and any(_holds_all(chunk, held) for chunk in found.chunks):
        return 1.0
    total = found.total + IMAGINED_CHUNKS
    known = sum(rarity(frequency[term], total) for term in held)
    missing = rarity(0, total) * sum(unknown.values())
    most = sum(rarity(frequency[term], found.total) for term in held)
    return best.keyword / most * known / (known + missing)


def _with_synonyms(terms: tokens.QueryTerms, found: Candidates) -> dict[str, int]:
    """In how many chunks each term stands, or what stands for it where it stands nowhere itself."""
    frequency = dict(found.frequency)
    for asked, others in terms.synonyms:
        of_others = min(found.total, sum(found.frequency.get(other, 0) for other in others))
        frequency |= {term: of_others for term in asked if not frequency.get(term)}
    return frequency


def asks_for_a_fact(question: str) -> bool:
    """Whether a text asks for something that a memory can hold, and not for advice or work."""
    folded = tokens.fold(question)
    if not _ASKS.search(folded):
        return False
    return not _FOR_ADVICE.search(folded) or _OF_THE_PAST.search(folded) is not None


def _unknown(question: str, terms: tokens.QueryTerms, frequency: Mapping[str, int]) -> dict[str, float]:
    """The question's own terms that the index does not hold, and how much each counts. Not among them are other words
    for its own, dates (their words are counted), and pairs that are no word: both characters belong to known words."""
    own = set(tokens.expand(tokens.stems(question)).split())
    names = set(_names(question))
    in_words = {
        char for term in terms.search_terms if frequency.get(term) and tokens.is_han_piece(term) for char in term
    }
    counts = {}
    for term in (*terms.search_terms, *terms.ranking_terms):
        if frequency.get(term) or term not in own or term.startswith(tokens.DATE_MARK):
            continue
        if len(term) == 2 and tokens.is_han_piece(term):
            if not in_words.issuperset(term):
                counts[term] = UNKNOWN_FACTOR
        else:
            counts[term] = UNKNOWN_FACTOR if term in names else 1.0
    return counts


def _names(question: str) -> list[str]:
    """The stems of words that begin with a capital, without the first word."""
    words = _WORD.findall(question)[1:]
    return tokens.stems(" ".join(word for word in words if word[0].isupper())).split()


def _holds_all(chunk: Candidate, terms: Sequence[str]) -> bool:
    text = "\n".join((*chunk.stems, chunk.head, *(words for _, words in chunk.sections)))
    return all(needle(term) in text for term in terms)


def _stands_out(spread: Spread | None) -> bool:
    if spread is None or spread.deviation == 0:
        return False
    return spread.count < MIN_VECTORS or standing_out(spread) > MIN_STANDING_OUT
