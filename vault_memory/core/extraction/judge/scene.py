"""A turn as the judge sees it: its clauses with names masked, what was said before, what is stored."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from vault_memory.core.extraction.clauses import Clause
from vault_memory.core.extraction.lexicon import Lexicon, longest
from vault_memory.core.extraction.speech import Message
from vault_memory.core.text import fold

HEAD_CHARS, TAIL_CHARS = 300, 200
"""Of the clauses, read for the turn as a whole."""
REPLY_CHARS = 60
TECHNOLOGY, LANGUAGE = "\ue000", "\ue001"
"""Stand in a text for a name, so that what is learned of one name is known of all."""


@dataclass(frozen=True)
class Span:
    """A place of the message that names something, and its mask."""

    start: int
    end: int
    mask: str
    name: str


@dataclass(frozen=True)
class Scene:
    """A turn: the person's clauses, the reply before them (context), the profile before the turn."""

    message: Message
    clauses: list[Clause]
    reply: str
    existing: Mapping[str, str | list[str]]
    lexicon: Lexicon

    @cached_property
    def has_reply(self) -> bool:
        return bool(self.reply.strip())

    @cached_property
    def opening_of_reply(self) -> str:
        return fold(self.reply[:REPLY_CHARS])

    @cached_property
    def languages(self) -> list[Span]:
        """The languages that people speak, as they are named in the clauses; `name` is the tag."""
        words, tags = self.lexicon.words, self.lexicon.sections("people.language")
        found = []
        for clause in self.clauses:
            if words("people.language").search(clause.text):
                named = longest(
                    (match.start(), match.end(), tag)
                    for tag in tags
                    for match in words(f"people.language.{tag}").finditer(clause.text)
                )
                found += [Span(clause.start + start, clause.start + end, LANGUAGE, tag) for start, end, tag in named]
        return found

    @cached_property
    def names(self) -> list[Span]:
        """All that is masked: technologies and languages, in order."""
        technologies = [Span(each.start, each.end, TECHNOLOGY, each.name) for each in self.message.technologies]
        return sorted((*technologies, *self.languages), key=lambda span: span.start)

    def masked(self, start: int, end: int) -> str:
        """A stretch of the speech, with a mask for each name and 0 for a number."""
        pieces, at = [], start
        for span in self.names:
            if at <= span.start and span.end <= end:
                pieces += [self.message.speech[at : span.start], span.mask]
                at = span.end
        pieces.append(self.message.speech[at:end])
        return _NUMBER.sub("0", "".join(pieces))

    @cached_property
    def masked_clauses(self) -> list[str]:
        return [self.masked(clause.start, clause.end) for clause in self.clauses]

    @cached_property
    def text(self) -> str:
        """The clauses as one text; of a long one, its two ends."""
        text = "|".join(self.masked_clauses)
        return text if len(text) <= HEAD_CHARS + TAIL_CHARS else f"{text[:HEAD_CHARS]}|{text[-TAIL_CHARS:]}"

    def clause_at(self, offset: int) -> int | None:
        """The number of the clause that holds an offset of the message."""
        return next((at for at, clause in enumerate(self.clauses) if clause.start <= offset < clause.end), None)


_NUMBER = re.compile(r"[0-9]+")
