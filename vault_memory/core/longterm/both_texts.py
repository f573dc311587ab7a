"""Both texts of a turn in one column: the question, and behind an empty line the answer. Which is which the column does
not say, so a piece that comes is looked for in it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator

BETWEEN = "\n\n"
"""It stands before the answer."""
_GLANCE_CHARS = 64
"""So many tell most paragraphs apart, without a copy of all that follows."""


def joined(question: str | None, answer: str | None) -> str | None:
    """The texts of a turn in one. An answer without its question has the empty line, too: what begins with that has no
    question yet. Line ends around the question, and before the answer, are left out: they would be taken for it."""
    question, answer = _trimmed(question, answer)
    return (question + (BETWEEN + answer if answer else "")) or None


def apart(both: str | None, question: str | None, answer: str | None) -> tuple[str | None, str | None]:
    """The (question, answer) of `joined` texts, of which one is known: the other one is the rest."""
    begin, end = _trimmed(question, answer)
    if both and begin and not end and both.startswith(begin + BETWEEN):
        return question, both[len(begin + BETWEEN) :]
    if both and end and not begin and both.endswith(BETWEEN + end):
        return both[: -len(BETWEEN + end)] or question, answer
    return question, answer


def with_pieces(there: str | None, question: str | None, answer: str | None) -> str | None:
    """Texts that are there already, with a question, an answer or both that came. What is there is not added again, as
    a piece that was cut; one that goes on takes the place of its beginning."""
    question, answer = _trimmed(question, answer)
    if not there:
        return joined(question, answer)
    if question:
        there = _with_question(there, question)
    if not answer:
        return there
    if question and there.startswith(question + BETWEEN):
        rest = there[len(question + BETWEEN) :]
        return question + BETWEEN + (_placed(rest, answer, [0, *_paragraphs(rest)]) or longer(rest, answer) or "")
    return _placed(there, answer, [*_paragraphs(there)]) or there + BETWEEN + answer


def longer(one: str | None, other: str | None) -> str | None:
    """Of two texts the longer one; of two of one length always the same; None where there is none."""
    return max((each for each in (one, other) if each is not None), key=lambda each: (len(each), each), default=None)


def _trimmed(question: str | None, answer: str | None) -> tuple[str, str]:
    return (question or "").strip("\r\n"), (answer or "").lstrip("\r\n")


def _with_question(there: str, question: str) -> str:
    if there.startswith(question):
        return there
    ends = [*(at - len(BETWEEN) for at in _paragraphs(there)), len(there)]
    count = bisect_left(ends, True, key=lambda end: not question.startswith(there[:end]))
    return question + (there[ends[count - 1] :] if count else BETWEEN + there)


def _placed(there: str, answer: str, starts: Iterable[int]) -> str | None:
    """A text with an answer that is in it from one of its paragraphs on, and may be longer or shorter there; None where
    it is not."""
    if any(there.startswith(answer, at) for at in starts):
        return there
    for at in starts:
        if answer.startswith(there[at : at + _GLANCE_CHARS]) and answer.startswith(there[at:]):
            return there[:at] + answer
    return None


def _paragraphs(text: str) -> Iterator[int]:
    """Where the paragraphs of a text begin, but for the first one."""
    at = text.find(BETWEEN)
    while 0 <= at < len(text) - len(BETWEEN):
        yield at + len(BETWEEN)
        at = text.find(BETWEEN, at + 1)
