"""The judge's weights: one file of plain numbers, and what it says of a proposal's features.

The file is a line of JSON (`Weights.header`), then tables of one byte for each weight: 128 is none, and each step up or
down is the scale of its table. A feature's place in a table is its CRC-32, cut to the table's size; so no list of
features is kept. The header holds the SHA-256 of the tables.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from operator import itemgetter, mul
from typing import Any, cast
from zlib import crc32

VERSION = 1
BITS = 16
"""A table has 2 ** BITS weights."""
ZERO = 128
_MASK = (1 << BITS) - 1
FILE = "weights.bin"


class WeightsDamaged(Exception):
    """The weights cannot be used; says why. The rules alone answer then."""


class Features:
    """Features by name (see `features`), and their places in a table. `base`: features that several proposals share."""

    def __init__(self, names: Iterable[str], base: Features | None = None) -> None:
        self._own = names
        self._base = base

    @property
    def names(self) -> list[str]:
        return sorted({*self._own, *(self._base.names if self._base else ())})

    @cached_property
    def places(self) -> frozenset[int]:
        own = frozenset([crc32(name.encode("utf-8", "replace")) & _MASK for name in self._own])
        return own | self._base.places if self._base else own


NO_FEATURES = Features(())


@dataclass(frozen=True)
class Evidence:
    """The features of a proposal: `own` are looked up in the table of its head, `shared` in one that heads share."""

    head: str
    own: Features
    shared_table: str = ""
    shared: Features = NO_FEATURES

    @property
    def tables(self) -> Iterator[tuple[str, Features]]:
        yield self.head, self.own
        if self.shared_table:
            yield self.shared_table, self.shared


class Weights:
    """Tables of weights by name, and the numbers of the last step by kind and by key (`chance`)."""

    def __init__(self, header: Mapping[str, Any], tables: Mapping[str, bytes]) -> None:
        self.header = header
        self.tables = tables
        self._scales: Mapping[str, float] = header["scales"]
        self._biases: Mapping[str, float] = header["biases"]
        self._chances: Mapping[str, float] = header["chances"]
        self._worth: dict[tuple[str, ...], list[float]] = {}
        self.write: float = header["write"]
        self.write_note: float = header["write_note"]
        self.suggest: float = header["suggest"]

    def score(self, evidence: Evidence) -> float:
        """The score of a proposal by its words: above 0 they speak for it."""
        return self._biases.get(evidence.head, 0.0) + sum(self._sum(*part) for part in evidence.tables)

    def _sum(self, table: str, features: Features) -> float:
        if table not in self.tables or len(features.places) < 2:
            return 0.0
        found: tuple[int, ...] = itemgetter(*features.places)(self.tables[table])
        return (sum(found) - ZERO * len(found)) * self._scales[table] / math.sqrt(len(found))

    def chance(self, names: tuple[str, ...], values: Iterable[float]) -> float:
        """The chance, 0 to 1, that a proposal is right, from numbers by name (`verdicts.last_step`)."""
        worth = self._worth.get(names)
        if worth is None:
            worth = self._worth[names] = [self._chances.get(name, 0.0) for name in names]
        logit = sum(map(mul, worth, values))
        return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, logit))))

    def weighed(self, evidence: Evidence) -> dict[str, float]:
        """What each feature adds to the score; features that share a place share its weight."""
        result: dict[str, float] = {}
        for table, features in evidence.tables:
            if table not in self.tables:
                continue
            named: dict[int, list[str]] = {}
            for name in features.names:
                named.setdefault(place_of(name), []).append(name)
            unit = self._scales[table] / math.sqrt(max(1, len(named)))
            for place, names in named.items():
                share = (self.tables[table][place] - ZERO) * unit / len(names)
                result |= dict.fromkeys(names, share)
        return result


def place_of(feature: str) -> int:
    """The place of a feature in a table."""
    return crc32(feature.encode("utf-8", "replace")) & _MASK


def packed(header: Mapping[str, Any], tables: Mapping[str, bytes]) -> bytes:
    """The bytes of the file."""
    body = b"".join(tables.values())
    head = {"version": VERSION, "tables": [*tables], "sha256": hashlib.sha256(body).hexdigest(), **header}
    return json.dumps(head, ensure_ascii=False, sort_keys=True).encode() + b"\n" + body


def unpacked(data: bytes) -> Weights:
    """The weights in the bytes of a file. Raises `WeightsDamaged`."""
    line, _, body = data.partition(b"\n")
    try:
        header = json.loads(line)
        if header["version"] != VERSION:
            raise WeightsDamaged(f"{FILE} is of version {header['version']}, this program reads {VERSION}")
        if hashlib.sha256(body).hexdigest() != header["sha256"]:
            raise WeightsDamaged(f"{FILE} is not as it was shipped: install vault-memory again")
        names = cast(list[str], header["tables"])
        size = 1 << BITS
        return Weights(header, {name: body[at * size : (at + 1) * size] for at, name in enumerate(names)})
    except (ValueError, KeyError, TypeError) as error:
        raise WeightsDamaged(f"{FILE} has no readable first line ({error!r}): install vault-memory again") from error


@cache
def shipped() -> Weights | WeightsDamaged:
    """The weights that came with the program, read once; what is wrong with them where they cannot be used."""
    try:
        return unpacked((resources.files(__package__) / FILE).read_bytes())
    except WeightsDamaged as error:
        return error
    except OSError as error:
        return WeightsDamaged(f"{FILE} cannot be read ({error}): install vault-memory again")
