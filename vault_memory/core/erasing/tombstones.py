"""What is left of what was erased: keyed hashes, by which it is known again when it comes back. Who has no key learns
nothing from them, and who has it learns no more than whether a guess is right."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import PurePosixPath
from typing import Any

from vault_memory.core import layout
from vault_memory.core.erasing.said import is_an_id, said_in_file, said_in_message, said_in_name
from vault_memory.core.erasing.units import DIVIDER, meant, readings

KEY_BYTES = 32
_HASH_BYTES = 16
_BETWEEN = "\0"


@dataclass(frozen=True)
class Tombstones:
    """What was erased: users, and files with their contents or texts of users. A text is one of its user's: it counts
    in that user's words and in the shared notes, and another user may say the same. `key` has `KEY_BYTES`."""

    key: bytes
    users: frozenset[str] = frozenset()
    paths: frozenset[str] = frozenset()
    texts: frozenset[tuple[int, str]] = frozenset()
    """(units of the text, their hash)."""

    @classmethod
    def of(cls, key: bytes, stored: Mapping[str, Any]) -> Tombstones:
        """Those of `as_dict`. Raises `ValueError`, `KeyError` or `TypeError` for anything else."""
        texts = frozenset((int(size), str(digest)) for size, digest in stored["texts"])
        return cls(key, frozenset(map(str, stored["users"])), frozenset(map(str, stored["paths"])), texts)

    def as_dict(self) -> dict[str, Any]:
        """All but the key, for JSON."""
        return {"users": sorted(self.users), "paths": sorted(self.paths), "texts": sorted(map(list, self.texts))}

    def __bool__(self) -> bool:
        return bool(self.users or self.paths or self.texts)

    def with_user(self, user_id: str) -> Tombstones:
        """With a user, whose id counts in upper and lower case."""
        return replace(self, users=self.users | {self._hash("user", user_id.casefold())})

    def with_paths(self, paths: Iterable[PurePosixPath]) -> Tombstones:
        """With files, by their paths in the vault."""
        return replace(self, paths=self.paths | {self._hash("path", str(path)) for path in paths})

    def with_texts(self, user_id: str, texts: Iterable[str]) -> Tombstones:
        """With texts of a user, each as `readings` has it. One without a letter or digit is left out."""
        read = {each for text in texts for each in readings(text)}
        read |= {tuple(unit for unit in each if unit != DIVIDER) for each in read}
        added = {
            (len(units), self._hash("text", scope, _BETWEEN.join(units)))
            for units in read
            for scope in (user_id.casefold(), layout.SHARED)
        }
        return replace(self, texts=self.texts | added)

    def has_user(self, user_id: str) -> bool:
        """Whether the user was erased."""
        return bool(self.users) and self._hash("user", user_id.casefold()) in self.users

    def has_path(self, path: PurePosixPath) -> bool:
        """Whether a file of the vault was erased, or is an erased user's."""
        if self.has_user(layout.scope_of(path)):
            return True
        return bool(self.paths) and self._hash("path", str(path)) in self.paths

    def are_in(self, scope: str, texts: Collection[str]) -> bool:
        """Whether a text of this user's, or of anybody's for the shared notes (`layout.SHARED`), stands in one of
        these, unit by unit (`units`): what is found here an `Erasure` of it finds as well. It takes some microseconds
        for each unit and each number of units that an erased text has. An id says nothing."""
        said = (text for text in texts if not is_an_id(text))
        return bool(self.texts) and any(self._stand_in(scope.casefold(), meant(text)) for text in said)

    def _stand_in(self, scope: str, units: Sequence[str]) -> bool:
        said = _BETWEEN.join(units)
        starts = [0, *accumulate(len(unit) + 1 for unit in units)]
        return any(
            (size, self._hash("text", scope, said[starts[at] : starts[at + size] - 1])) in self.texts
            for size in {size for size, _ in self.texts}
            for at in range(len(units) - size + 1)
        )

    def are_in_name(self, path: PurePosixPath) -> bool:
        """Whether such a text stands in the name of this file, or of a folder that it is in."""
        return self.are_in(layout.scope_of(path), said_in_name(path))

    def are_in_file(self, path: PurePosixPath, text: str) -> bool:
        """Whether such a text stands in what this file says; `text` is all of it or some of its lines."""
        return self.are_in(layout.scope_of(path), said_in_file(path, text))

    def are_in_message(self, message: str) -> bool:
        """Whether such a text stands in what the message of a commit says."""
        return any(self.are_in(scope, [said]) for scope, said in said_in_message(message))

    def _hash(self, *words: str) -> str:
        data = "\0".join(words).encode("utf-8", "surrogatepass")
        return hashlib.blake2b(data, key=self.key, digest_size=_HASH_BYTES).hexdigest()
