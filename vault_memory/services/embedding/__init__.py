"""The model behind search by meaning: trying one before it is used, choosing it, and how far its vectors are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.services.embedding.choose import choose, planned
    from vault_memory.services.embedding.status import EmbeddingStatus, Reached, embedding_status
    from vault_memory.services.embedding.trial import KNOWN_PAIRS, PAIRS, Trial, Work, greet, try_model, work

__all__ = [
    "EmbeddingStatus",
    "KNOWN_PAIRS",
    "PAIRS",
    "Reached",
    "Trial",
    "Work",
    "choose",
    "embedding_status",
    "greet",
    "planned",
    "try_model",
    "work",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "EmbeddingStatus": "status",
        "KNOWN_PAIRS": "trial",
        "PAIRS": "trial",
        "Reached": "status",
        "Trial": "trial",
        "Work": "trial",
        "choose": "choose",
        "embedding_status": "status",
        "greet": "trial",
        "planned": "choose",
        "try_model": "trial",
        "work": "trial",
    },
)
