"""Vectors without model and network: words and pieces of words, hashed (scikit-learn). The default embedder.

Pieces of three to five letters bring `explore` near `exploration`, and pairs of Han characters stand for words. Nothing
is fitted: a passage's vector does not depend on other passages, and a rebuilt index equals an incremental one.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from vault_memory.adapters.embedding.base import OFFLINE, Kind, Vector
from vault_memory.core.text import tokens

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import HashingVectorizer

DIMENSION = 512
PLAIN_PYTHON_TEXTS = 8
"""Up to this many documents are hashed in plain Python, unless scikit-learn is loaded: its import takes a second."""
MAX_KNOWN_WORDS = 32_768
"""Words of which is known what they add to a vector: 7 MB, in a process that lives for weeks."""


class OfflineEmbedder:
    """`Embedder` by hashing. Documents go through scikit-learn in bulk, queries through the same sums in plain Python:
    a cold search must import neither numpy nor scikit-learn."""

    space = f"{OFFLINE}{DIMENSION}-{tokens.VERSION}"
    dimension = DIMENSION

    def embed(self, texts: Sequence[str], kind: Kind = "document") -> Sequence[Vector]:
        if kind == "query" or (len(texts) <= PLAIN_PYTHON_TEXTS and "sklearn" not in sys.modules):
            return [hashed(text) for text in texts]
        if not texts:
            return []
        return _sums(texts)


def _sums(texts: Sequence[str]) -> Sequence[Vector]:
    """The vectors of many texts, a row each."""
    import numpy

    of_texts = [[*words(text)] for text in texts]
    known = _codes({word for of_text in of_texts for word in of_text})
    found = [b"".join([known[word] for word in of_text]) for of_text in of_texts]
    codes = numpy.frombuffer(b"".join(found), numpy.int16).astype(numpy.int64)
    begins = numpy.repeat(numpy.arange(len(texts)) * DIMENSION, [len(each) // 2 for each in found])
    sums = numpy.bincount(begins + abs(codes) - 1, numpy.sign(codes), len(texts) * DIMENSION)
    return list(sums.reshape(len(texts), DIMENSION))


def _codes(wanted: set[str]) -> dict[str, bytes]:
    """What each of these words adds to a vector: for each feature two bytes, its place from 1 on, negative for -1. A
    word is hashed once in the life of a process, as far as `MAX_KNOWN_WORDS` go, and takes some 200 bytes."""
    import numpy

    held = {word: known for word in wanted if (known := _known.get(word)) is not None}
    if new := [*wanted - held.keys()]:
        matrix = _vectorizer().transform(new)
        times = abs(matrix.data).astype(numpy.int64)  # how often a feature stands in a word
        ends = numpy.concatenate(([0], numpy.cumsum(times)))[matrix.indptr]
        codes = numpy.repeat(numpy.sign(matrix.data) * (matrix.indices + 1), times).astype(numpy.int16)
        hashed_now = {word: codes[ends[at] : ends[at + 1]].tobytes() for at, word in enumerate(new)}
        if len(_known) + len(new) > MAX_KNOWN_WORDS:
            _known.clear()
        _known.update(hashed_now)
        held |= hashed_now
    return held


_known: dict[str, bytes] = {}


def hashed(text: str) -> list[float]:
    """One text's vector, equal to what scikit-learn's `HashingVectorizer` gives."""
    sums = [0.0] * DIMENSION
    for word, times in Counter(words(text)).items():
        for at, sign in _features_of(word):
            sums[at] += sign * times
    return sums


@lru_cache(maxsize=4_096)
def _features_of(word: str) -> tuple[tuple[int, int], ...]:
    """The index in the vector of each feature of a word, and its sign."""
    codes = [murmur3(feature.encode("utf-8")) for feature in features(word)]
    return tuple((abs(code) % DIMENSION, 1 if code >= 0 else -1) for code in codes)


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


def words(text: str) -> Iterator[str]:
    """The words of a text; without words, the empty word, so the vector is not zero."""
    yield from tokens.expand(tokens.stems(text)).split() or ("",)


def features(word: str) -> tuple[str, ...]:
    """A word; of a Latin word also its pieces of 3 to 5 letters, with marked ends."""
    if tokens.is_han_piece(word) or not word.isalpha():
        return (word,)
    marked = f"<{word}>"
    return (word, *(marked[at : at + size] for size in (3, 4, 5) for at in range(len(marked) - size + 1)))
