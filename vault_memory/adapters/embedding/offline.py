"""Vectors without a model and without a network: words and pieces of words, hashed (scikit-learn). The default embedder.

Pieces of three to five letters bring `explore` near `exploration`, and pairs of Han characters stand for words. Nothing is
fitted, so that a vault's vectors never depend on what else it holds: a rebuilt index equals an incremental one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from vault_memory.adapters.embedding.base import OFFLINE, Kind, Vector
from vault_memory.core import tokens

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import HashingVectorizer

DIMENSION = 512


class OfflineEmbedder:
    """`Embedder` by hashing. Documents go through scikit-learn in bulk, queries through the same sums in plain Python:
    a cold search must import neither numpy nor scikit-learn."""

    space = f"{OFFLINE}{DIMENSION}-{tokens.VERSION}"
    dimension = DIMENSION

    def embed(self, texts: Sequence[str], kind: Kind = "document") -> Sequence[Vector]:
        if kind == "query" or not texts:
            return [hashed(text) for text in texts]
        dense: Sequence[Vector] = _vectorizer().transform(texts).toarray()
        return dense


def hashed(text: str) -> list[float]:
    """One text's vector, equal to what scikit-learn's `HashingVectorizer` gives."""
    sums = [0.0] * DIMENSION
    for feature, times in Counter(features(text)).items():
        code = murmur3(feature.encode("utf-8"))
        sums[abs(code) % DIMENSION] += times if code >= 0 else -times
    return sums


def murmur3(data: bytes) -> int:
    """MurmurHash3 x86 32 with seed 0, signed (Austin Appleby, public domain)."""
    value = 0
    whole = len(data) & ~3
    for at in range(0, whole, 4):
        value ^= _mixed(int.from_bytes(data[at : at + 4], "little"))
        value = (value << 13 | value >> 19) & 0xFFFFFFFF
        value = (value * 5 + 0xE6546B64) & 0xFFFFFFFF
    value ^= _mixed(int.from_bytes(data[whole:], "little")) ^ len(data)
    value = (value ^ value >> 16) * 0x85EBCA6B & 0xFFFFFFFF
    value = (value ^ value >> 13) * 0xC2B2AE35 & 0xFFFFFFFF
    value ^= value >> 16
    return value - (1 << 32) if value >= 1 << 31 else value


def _mixed(block: int) -> int:
    block = block * 0xCC9E2D51 & 0xFFFFFFFF
    return (block << 15 | block >> 17) * 0x1B873593 & 0xFFFFFFFF


@lru_cache(maxsize=1)
def _vectorizer() -> HashingVectorizer:
    from sklearn.feature_extraction.text import HashingVectorizer

    return HashingVectorizer(n_features=DIMENSION, analyzer=features, norm=None)


def features(text: str) -> Iterator[str]:
    """The words of a text, and of its Latin words the pieces of three to five letters, ends marked.

    A text without words has one feature, the empty one, since a vector must not be zero.
    """
    for word in tokens.expand(tokens.stems(text)).split() or ("",):
        yield word
        if not tokens.is_cut(word) and word.isalpha():
            yield from _pieces(word)


@lru_cache(maxsize=65_536)
def _pieces(word: str) -> tuple[str, ...]:
    marked = f"<{word}>"
    return tuple(marked[i : i + size] for size in (3, 4, 5) for i in range(len(marked) - size + 1))
