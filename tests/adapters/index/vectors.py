"""Embedders that a test scripts."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence


class Scripted:
    """Vectors by a rule of the test; counts the texts it was given."""

    dimension = 8

    def __init__(self, rule: Callable[[str], Sequence[float]] | None = None, space: str = "scripted") -> None:
        self.rule = rule or drawn
        self.space = space
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str], kind: str = "document") -> list[Sequence[float]]:
        self.texts.extend(texts)
        return [self.rule(text) for text in texts]


def drawn(text: str) -> list[float]:
    """Some vector of unit length that depends on the text alone."""
    digest = hashlib.sha256(text.encode("utf-8", "replace")).digest()
    raw = [byte - 127.5 for byte in digest[:8]]
    return [x / math.hypot(*raw) for x in raw]
