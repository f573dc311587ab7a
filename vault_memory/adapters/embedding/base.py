"""The contract of what turns text into vectors: `offline` (no model, the default), `http` (an endpoint), `local`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Literal, Protocol

from vault_memory.errors import EndpointError

Vector = Sequence[float]
Kind = Literal["document", "query", "probe"]
"""A query is waited for by somebody; a probe is embedded like a query, but nobody waits (see `core.ranking.probes`)."""

OFFLINE, HTTP, LOCAL = "offline-", "http:", "local:"
"""With these begin the names of spaces that hold hashed words, vectors of a model behind endpoints, and vectors of one
on this machine."""
CLIENT = f"{HTTP}client:"
"""With this begin the spaces of models that a program brings along: no other program can ask them."""


def unit_vector(row: Iterable[float]) -> list[float]:
    """A model's vector at unit length. Raises `EndpointError`; its text ends the caller's message."""
    try:
        numbers = list(row)
        if bool in map(type, numbers):  # Python counts with them
            raise TypeError
        length = math.hypot(*numbers)
    except (TypeError, OverflowError):
        raise EndpointError("gave a vector that holds no numbers") from None
    if not 0 < length < math.inf:
        raise EndpointError("gave a vector of zeros or of no numbers")
    return [x / length for x in numbers]


class Embedder(Protocol):
    """Vectors of unit length; the cosine of two is their dot product.

    `space` names the model and everything else that shapes its vectors; vectors of two spaces are never compared.
    """

    @property
    def space(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    def embed(self, texts: Sequence[str], kind: Kind = "document") -> Sequence[Vector]:
        """One vector of `dimension` floats per text, in order.

        Raises `errors.EndpointError` when the model cannot be reached or its response is invalid; there are no partial
        results.
        """
        ...
