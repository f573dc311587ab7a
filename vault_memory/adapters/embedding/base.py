"""What turns text into vectors. Implementations: `offline` (no model, the default), `http` (an endpoint), `local` (fastembed)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Literal, Protocol

from vault_memory.errors import EndpointError

Vector = Sequence[float]
Kind = Literal["document", "query"]

OFFLINE = "offline-"
"""What the names of spaces begin with that hold no model's vectors but hashed words."""


def unit(row: Iterable[float]) -> list[float]:
    """A model's vector brought to unit length. Raises `EndpointError` for what is none; the message lacks its subject."""
    try:
        numbers = list(row)
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

        Raises `errors.EndpointError` when the model cannot be reached or answers nonsense; nothing is half done then.
        """
        ...
