"""What is left of what was erased: keyed hashes, by which it is known again when it comes back. Who has no key learns
nothing from them, and who has it learns no more than whether a guess is right."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from vault_memory.core import layout
from vault_memory.core.text import tokens

KEY_BYTES = 32
_HASH_BYTES = 16
_UNIT = re.compile(r"\\u([0-9a-fA-F]{4})")
_ESCAPE = re.compile(r"\\[nrtbf]")


@dataclass(frozen=True)
class Tombstones:
    """What was erased: users, and files with their contents or texts of users. A text is one of its user's: it counts
    in that user's words and in the shared notes, and another user may say the same. `key` has `KEY_BYTES`."""

    key: bytes
    users: frozenset[str] = frozenset()
    paths: frozenset[str] = frozenset()
    texts: frozenset[tuple[int, str]] = frozenset()
    """(letters and digits of the text, its hash)."""

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
        """With texts of a user. One without a letter or digit is left out."""
        added = {
            (len(said), self._hash("text", scope, said))
            for said in map(_said, texts)
            for scope in (user_id.casefold(), layout.SHARED)
            if said
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
        these. It takes about a microsecond for each letter and each length that an erased text has."""
        if not self.texts:
            return False
        for said in map(_said, texts):
            for size in {size for size, _ in self.texts}:
                for at in range(len(said) - size + 1):
                    if (size, self._hash("text", scope.casefold(), said[at : at + size])) in self.texts:
                        return True
        return False

    def are_in_name(self, path: PurePosixPath) -> bool:
        """Whether such a text stands in the name of this file, or of a folder that it is in."""
        scope = layout.scope_of(path)
        return self.are_in(scope, path.relative_to(layout.scope_dir(scope)).parts)

    def _hash(self, *words: str) -> str:
        data = "\0".join(words).encode("utf-8", "surrogatepass")
        return hashlib.blake2b(data, key=self.key, digest_size=_HASH_BYTES).hexdigest()


def _said(text: str) -> str:
    """The letters and digits of a text, in one form and spelling; of JSON what it means."""
    if "\\" in text:
        text = _ESCAPE.sub(" ", _UNIT.sub(lambda found: chr(int(found[1], 16)), text))
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return "".join(filter(str.isalnum, tokens.fold(text)))
