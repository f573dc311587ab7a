"""What is to be erased from a repository, and what was."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any

from vault_memory.core import layout
from vault_memory.core.erasing import Erasure, Part, PartsOfFile, is_an_id, is_known_by, is_of_a_user


@dataclass(frozen=True)
class Request:
    """What is erased: texts, files and folders (`gone`), but no text in the folders that are `spared`; and messages in
    which one of the `named` words stands. `parts` are what files have that was made of parts of the texts: there these
    are erased as well, and in messages (`parts_in_message`). `called` has names of files and folders, and what each is
    called without the texts. Paths are from the repository's top. Raises `UsageError` for a text that is too short, and
    for nothing at all."""

    texts: tuple[str, ...] = ()
    gone: tuple[PurePosixPath, ...] = ()
    spared: tuple[PurePosixPath, ...] = ()
    named: tuple[str, ...] = ()
    called: tuple[tuple[str, str], ...] = ()
    parts: tuple[Part, ...] = ()

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Request:
        """That of `as_dict`. Raises `ValueError`, `KeyError` or `TypeError` for anything else."""
        paths = {name: tuple(map(PurePosixPath, told[name])) for name in ("gone", "spared")}
        called = tuple((str(old), str(new)) for old, new in told.get("called", ()))
        parts = tuple(
            Part(PurePosixPath(path), tuple(map(str, texts)), (str(place), str(time), str(words)))
            for path, texts, (place, time, words) in told.get("parts", ())
        )
        return cls(tuple(told["texts"]), **paths, named=tuple(told["named"]), called=called, parts=parts)

    def as_dict(self) -> dict[str, list[Any]]:
        """For JSON."""
        plain = {name: [*map(str, getattr(self, name))] for name in ("texts", "gone", "spared", "named")}
        parts = [[str(part.path), [*part.texts], [*part.turn]] for part in self.parts]
        return {**plain, "called": [*map(list, self.called)], "parts": parts}

    def erasure(self) -> Erasure | None:
        """The texts as they are looked for, always the same object; None where only files go."""
        return self._erasure

    @cached_property
    def _erasure(self) -> Erasure | None:
        return Erasure(self.texts) if self.texts or not self.gone else None

    @cached_property
    def parts_of_all(self) -> Erasure | None:
        """The parts of all files as they are looked for; None for none."""
        texts = dict.fromkeys(text for part in self.parts for text in part.texts)
        return Erasure(texts) if texts else None

    def parts_in(self, name: str) -> PartsOfFile | None:
        """The parts of a file as they are looked for, by its path, or by its name where that begins with the id of a
        memory: it may have had another path and title. None for none."""
        return self._parts_by_name.get(known_by(name))

    @cached_property
    def _parts_by_name(self) -> dict[str, PartsOfFile]:
        found: dict[str, list[Part]] = {}
        for part in self.parts:
            found.setdefault(known_by(str(part.path)), []).append(part)
        return {name: PartsOfFile(parts) for name, parts in found.items()}

    def parts_in_message(self, message: bytes) -> Erasure | None:
        """The parts as they are looked for in a message: all in one of the program's that is of the users whose files
        these are, none in one of another user's, and in a person's those that can be known there."""
        if self._of_whom.search(message):
            return self.parts_of_all
        return None if is_of_a_user(message) else self.known_parts

    @cached_property
    def _of_whom(self) -> re.Pattern[bytes]:
        users = sorted({layout.scope_of(part.path) for part in self.parts})
        ways = (rf"\({re.escape(user)}\): |{re.escape(str(layout.user_dir(user)))}/" for user in users)
        return re.compile("|".join(ways).encode())

    @cached_property
    def known_parts(self) -> Erasure | None:
        """The parts that are known wherever they stand, as they are looked for; None for none."""
        texts = [each for each in self.parts_of_all.texts if is_known_by(each)] if self.parts_of_all else []
        return Erasure(texts) if texts else None


def known_by(path: str) -> str:
    """By what a file with parts is known: the id of a memory with which its name begins, or its path."""
    begin = PurePosixPath(path).stem.partition("-")[0]
    return begin if is_an_id(begin) else path


@dataclass(frozen=True)
class Erased:
    """What was done: commits made anew, references that moved, files on the disk that changed, as they were called; of
    how many commits a text stood in who made them (`people`); what those files are called now that got another
    name; and the annotated `tags` of whose words nothing is left."""

    commits: int
    refs: int
    files: tuple[PurePosixPath, ...]
    people: int = 0
    renamed: tuple[PurePosixPath, ...] = ()
    tags: tuple[str, ...] = ()
