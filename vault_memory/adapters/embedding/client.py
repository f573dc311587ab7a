"""Vectors from a client that a program has already: an object whose `embed(text)` returns one vector."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from vault_memory.adapters.embedding.base import CLIENT, Kind, Vector, unit_vector
from vault_memory.adapters.embedding.http import outgoing
from vault_memory.errors import EndpointError


class ComputeClient(Protocol):
    """What is asked of the program's client."""

    def embed(self, text: str) -> Iterable[float]: ...


class ClientEmbedder:
    """`Embedder` by a program's client. No secret and no private sentence gets to it: it may send them."""

    def __init__(self, client: ComputeClient) -> None:
        self._client = client
        self._dimension = 0
        model = getattr(client, "model", None)
        self.space = f"{CLIENT}{model if isinstance(model, str) else type(client).__name__}"

    @property
    def dimension(self) -> int:
        """Asked once, then kept."""
        if not self._dimension:
            self.embed(["dimension"])
        return self._dimension

    def embed(self, texts: Sequence[str], kind: Kind = "document") -> Sequence[Vector]:
        return [self._vector(outgoing(text)) for text in texts]

    def _vector(self, text: str) -> Vector:
        who = f"the compute client {type(self._client).__name__}"
        try:
            row = self._client.embed(text)
        except Exception as error:  # it is the program's: it may raise anything
            raise EndpointError(f"{who} failed: {type(error).__name__}: {error}") from error
        try:
            vector = unit_vector(row)
        except EndpointError as error:
            raise EndpointError(f"{who} {error}") from None
        wanted = self._dimension or len(vector)
        if len(vector) != wanted:
            raise EndpointError(f"{who} gave {len(vector)} dimensions instead of {wanted}")
        self._dimension = wanted
        return vector
