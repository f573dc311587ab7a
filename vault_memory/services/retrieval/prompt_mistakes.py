"""The mistakes that a prompt shows: those that its request is about to repeat."""

from __future__ import annotations

from dataclasses import dataclass

from vault_memory.core import layout, mistakes
from vault_memory.core.ranking import Filter
from vault_memory.core.text import synonyms
from vault_memory.services.mistakes import MistakeFile, read_mistake
from vault_memory.services.retrieval.query import MAX_QUERY_CHARS
from vault_memory.services.vault import Vault

MAX_SHOWN = 2
LOOKED_AT = 24
"""Of so many mistakes, those that share the most words, the texts are compared."""
MIN_OF_BEST = 0.75
"""A second mistake must be so much of the first one's likeness."""


@dataclass(frozen=True)
class Resembled(MistakeFile):
    """A mistake that a request may repeat, and how much of the request's matter it has."""

    score: float


def mistakes_like(vault: Vault, user_id: str, request: str) -> list[Resembled]:
    """The mistakes of a user that a request is about to repeat, the most alike first; mostly none. The caller has
    brought the index up to date."""
    request = request[:MAX_QUERY_CHARS]
    terms = synonyms.query_terms(request, vault.config.search_synonyms)
    if not terms.search_terms:
        return []
    found = vault.index(user_id).search(terms, None, Filter(kinds=("mistake",)), LOOKED_AT)
    texts: dict[str, str] = {}  # as the index has them: to read 24 notes takes three times as long
    for chunk in found.chunks:
        if not chunk.source.startswith(f"{layout.ARCHIVE_DIR}/"):
            texts[chunk.source] = f"{texts.get(chunk.source, '')}\n{chunk.text}"
    scores = {source: mistakes.likeness(request, terms, mistakes.texts_of(text)) for source, text in texts.items()}
    best = max(scores.values(), default=0.0)
    if not best or best < (least := mistakes.least(request)):
        return []
    near = [source for source in scores if scores[source] >= max(least, MIN_OF_BEST * best)]
    shown = sorted(near, key=lambda source: (-scores[source], source))[:MAX_SHOWN]
    read = ((read_mistake(vault, user_id, source), scores[source]) for source in shown)
    return [Resembled(file.source, file.mistake, score) for file, score in read if file]
