"""What turns text into vectors. Implementations: `offline` (no model, the default), `http` (an endpoint)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

Vector = Sequence[float]
Kind = Literal["document", "query"]

OFFLINE = "offline-"
"""What the names of spaces begin with that hold no model's vectors but hashed words."""


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
