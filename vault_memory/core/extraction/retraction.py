"""Taking back what the profile holds: «delete that», 那條清掉, «forget the no-examples thing».

A retraction needs two things in one or two neighbouring sentences: words that take back, and the stored value itself or
the name of its field.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from vault_memory.core.extraction.clauses import Clause
from vault_memory.core.extraction.lexicon import Lexicon, Technology
from vault_memory.core.extraction.masking import Message
from vault_memory.core.extraction.technology import LISTS
from vault_memory.core.profile.policy import Signal
from vault_memory.core.text.fold import fold

_FREE = ("current_projects", "recent_topics", "weaknesses", "strengths", "note")


def retractions(
    sentence: list[Clause],
    before: str,
    named: list[Technology],
    message: Message,
    existing: Mapping[str, str | list[str]],
    lexicon: Lexicon,
) -> Iterator[Signal]:
    """The removals of one sentence; `before` is the sentence before it, where what is meant may stand."""
    text = message.said[sentence[0].start : sentence[-1].end]
    takes_back = lexicon.words("words.negation.takes_back")
    if not takes_back.search(text) or sentence[0].hypothetical:
        return
    if sentence[-1].asks_to_know and not any(
        takes_back.search(clause.text) and not clause.asks_to_know for clause in sentence[:-1]
    ):
        return
    unmasked = fold(message.written[max(0, sentence[0].start - len(before)) : sentence[-1].end])
    for key, stored in existing.items():
        for value in [stored] if isinstance(stored, str) else stored:
            if _mentioned(key, value, unmasked, named, lexicon):
                yield Signal(key, "remove", value, "explicit")


def _mentioned(key: str, value: str, text: str, named: list[Technology], lexicon: Lexicon) -> bool:
    if key in _FREE:
        return _shares_words(fold(value), text)
    if key in LISTS:
        known = lexicon.names.get(fold(value), (value, ""))[0]
        return any(fold(item.name) == fold(known) for item in named)
    if fold(value) in text and key in ("display_name", "timezone"):
        return True
    label = lexicon.words(f"words.labels.{key}").search(text)
    return bool(label) and bool(lexicon.words("words.labels.profile").search(text))


def _shares_words(value: str, text: str) -> bool:
    """Whether a Latin word of five letters, all of a Latin value, or two Han characters in a row (three of a longer
    value) stand in both."""
    if any(word in text for word in re.findall(r"[a-z]{5,}", value)):
        return True
    if value.isascii() and re.search(rf"(?<![a-z0-9]){re.escape(value)}(?![a-z0-9+#])", text):
        return True
    han = re.sub(r"[^\u3400-\u9fff]", "", value)
    width = 2 if len(han) <= 5 else 3
    return any(han[at : at + width] in text for at in range(len(han) - width + 1))
