"""What the program has made of parts of an erased text: memories, evidence and lines of logs, known by the turn that
they are from, now and in any commit."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from vault_memory.adapters import files
from vault_memory.adapters.erasing import files_of, held_files, known_by
from vault_memory.adapters.git import ObjectReader, Repository
from vault_memory.core import layout, memories, reading
from vault_memory.core.erasing import MASK, Erasure, Parts, is_an_id, is_known_by, words_of_every_vault
from vault_memory.core.notes import entries
from vault_memory.core.profile import NOTE, Profile, read_row
from vault_memory.errors import TooLarge, UsageError, in_command
from vault_memory.services.notes import turn_at
from vault_memory.services.vault import Vault

_LOSSY = ("utf-8", "surrogatepass")
_MADE = ("memory", "note", "daily", "memory-log", "feedback")
"""Kinds of files in which each line, or all, says of which turn it was made; a note where a person has put a memory."""
_MAY_QUOTE = ("learning", "entity", "mistake")
"""Others that the program writes."""


class _Made(NamedTuple):
    """Words in a file that were made of a turn: its place ("" where that is not told), and when it was, as the second
    (Unix) or as a log tells it; `names` are titles and the name of the file that were made of these, and may be cut."""

    path: PurePosixPath
    source: str
    at: int | str
    said: str
    names: tuple[str, ...] = ()


class Learned:
    """What was made of the turns of a user, also under `former` ids, that say one of the texts."""

    def __init__(self, vault: Vault, user_id: str, former: Sequence[str], texts: Sequence[str]) -> None:
        self._vault, self._user_id, self._scopes = vault, user_id, (user_id, *former)
        self._erasure, self._parts = Erasure(texts), Parts(texts)

    def parts(self) -> tuple[tuple[PurePosixPath, tuple[str, ...]], ...]:
        """Each file with words that were made of a part of a text, and these; of words of which nothing tells what
        their turn said, only what stands in a text as a whole. Raises `VaultMemoryError` for an archive that cannot be
        read."""
        needed = "\n".join(words_of_every_vault()).encode()  # a value such as `detailed` stays
        by_turn: dict[tuple[str, int | str], dict[_Made, None]] = {}
        paths: dict[str, dict[PurePosixPath, None]] = {}
        for made in self._all_made():
            source = made.source or str(made.path)
            by_turn.setdefault((source, made.at), {})[made] = None
            paths.setdefault(source, {})[made.path] = None
        of_turns: dict[str, dict[str, None]] = {}
        for (source, at), all_made in by_turn.items():
            found_in = self._of(source, at, dict.fromkeys(made.said for made in all_made))
            for part in (*found_in, *(part for made in all_made for part in self._in_names(made))):
                with suppress(UsageError):  # it stands in the mark itself
                    if not Erasure([part]).holds(needed):
                        of_turns.setdefault(source, {})[part] = None
        found: dict[PurePosixPath, dict[str, None]] = {}
        for source, parts in of_turns.items():
            for path in paths[source]:
                found.setdefault(path, {}).update(parts)
        all_parts = dict.fromkeys(part for parts in of_turns.values() for part in parts)
        if known := [part for part in all_parts if is_known_by(part)]:
            for path, kind in self._of_user():
                if kind in _MAY_QUOTE:
                    found.setdefault(path, {}).update(dict.fromkeys(known))
        return tuple((path, tuple(parts)) for path, parts in sorted(found.items()))

    def erased_before(self) -> tuple[str, ...]:
        """The ids of memories that have lost words to an erasing, also where only a commit has the memory still, or has
        it with the mark: what a store was sent of them says these words."""
        masked = (path for path, _, data in self._versions(("memory", "note")) if MASK in data)
        return tuple(dict.fromkeys(name for path in masked if is_an_id(name := known_by(path.name))))

    def values(self) -> tuple[str, ...]:
        """The values of today's profile whose evidence quotes one of the texts or a part of it, each behind its key and
        as a command has it."""
        vault, user_id = self._vault, self._user_id
        try:
            profile = Profile.decode(files.read(vault.path(user_id, layout.PROFILE)) or b"")
        except TooLarge:  # `status` says so
            return ()
        found: dict[str, None] = {}
        for line in reading.lines(files.read(vault.path(user_id, layout.FEEDBACK), None) or b""):
            if (row := read_row(line)) is None or row.key == NOTE:
                continue
            is_held = any(item.value == row.value for item in profile.items(row.key)) if row.value else False
            is_said = is_held and self._is_said(row.quote)
            if is_said or (is_held and any(True for _ in self._of(row.source, _second(row.at), [row.quote]))):
                found[f"{row.key} {in_command(row.value)}"] = None
        return tuple(found)

    def _of(self, source: str, at: int | str, all_said: Collection[str]) -> Iterator[str]:
        """The parts of the texts in words that were made of one turn."""
        if not any(True for said in all_said for _ in self._parts.of(said, ())):
            return  # whatever the turn says
        turn = self._left_of(source, at, all_said)
        for each in all_said:
            if turn is None:
                yield from self._parts.as_a_whole(each)
                continue
            # Words that are a cut beginning of a text as well are a part all the same: they may stand where no title
            # ends. Of a quotation (`…`), which is cut within its words, only what is not found by itself.
            for said in dict.fromkeys((each, self._masked(each)) if "…" not in each else (self._masked(each),)):
                yield from self._parts.of(said, turn) if turn else ()

    def _in_names(self, made: _Made) -> Iterator[str]:
        """What titles and names have of a text that stands in the words themselves, where they are cut within it."""
        if made.names and self._is_said(made.said):
            for name in made.names:
                yield from self._parts.cut_off(name, made.said)

    def _left_of(self, source: str, at: int | str, all_said: Collection[str]) -> tuple[str, ...] | None:
        """What the person says in a turn without the texts, for of that memories are made, and not of the reply, which
        may say it again. Where the turn does not say a text, or nobody can look at it, as it was forgotten, what was
        made of it tells instead; where that says no text either, nothing, or None for a turn that nobody can look
        at."""
        if layout.turn_place(source) is None:
            return None
        turn = turn_at(self._vault, self._user_id, source)
        if turn is not None and not self._is_of(turn, at, all_said):
            turn = None
        own = () if turn is None else (self._masked(turn.get("user_message") or ""),)
        if turn is not None and any(map(self._is_said, _said(turn))):
            return own
        told = tuple(self._masked(said) for said in all_said if self._is_said(said))
        return (*own, *told) if told else None if turn is None else ()

    def _is_of(self, turn: Mapping[str, Any], at: int | str, all_said: Collection[str]) -> bool:
        """Whether words were made of this turn: another machine has other turns at the same places. A log tells how the
        turn began, anything else when it was."""
        if isinstance(at, int):
            return _second(_time(turn)) in (at, "")
        return not at or any(self._parts.begins(said, turn.get("user_message") or "") for said in all_said)

    def _is_said(self, words: str) -> bool:
        return self._erasure.holds(words.encode(*_LOSSY))

    def _masked(self, words: str) -> str:
        return self._erasure.masked(words.encode(*_LOSSY)).decode(*_LOSSY)

    def _all_made(self) -> Iterator[_Made]:
        """Of each memory, each line of evidence and each request in a log, in files and commits."""
        seen: set[tuple[PurePosixPath, bytes]] = set()
        for path, kind, data in self._versions():
            if kind in ("memory", "note"):
                if kind == "memory" or b"\nsource: " in data:
                    memory = memories.decode(data.decode("utf-8", "replace"), path.stem)
                    if kind == "memory" or layout.turn_place(memory.source):
                        names = (memory.title, memory.heading, path.stem.partition("-")[2].replace("-", " "))
                        yield _Made(path, memory.source, _second_of(path), memory.content, names)
                continue
            new = dict.fromkeys(line for line in reading.lines(data) if (path, line) not in seen)
            seen.update((path, line) for line in new)
            for line in new:
                if kind == "feedback":
                    if row := read_row(line):
                        yield _Made(path, row.source, _second(row.at), row.quote)
                        if row.key == NOTE:  # any other value is a word of a field, which is no text
                            for each in (path, layout.user_dir(layout.scope_of(path)) / layout.PROFILE):
                                yield _Made(each, row.source, _second(row.at), row.value)
                elif request := entries.request_in(line.decode("utf-8", "replace")):
                    yield _Made(path, request.source, request.time, request.words)
                elif kind == "memory-log":
                    yield _Made(path, "", "", re.split(": |：", line.decode("utf-8", "replace"), maxsplit=1)[-1])

    def _versions(self, kinds_made: Collection[str] = _MADE) -> Iterator[tuple[PurePosixPath, str, bytes]]:
        """(path, kind, content) of each file of the user that is made of turns, as it is and as commits have it."""
        made = [(path, kind) for path, kind in self._of_user() if kind in kinds_made]
        top = self._repository.top
        for path, kind in made:
            if (place := top / path).is_file() and not place.is_symlink():
                yield path, kind, files.read(place, None) or b""
        kinds = dict(made)
        held = [each for each in self._held if each[0] in kinds]
        with ObjectReader(top) as reader:
            for (path, _), (_, data) in zip(held, reader.read_all([blob for _, blob in held]), strict=True):
                yield path, kinds[path], data

    def _of_user(self) -> Iterator[tuple[PurePosixPath, str]]:
        """(path, kind) of each file of the user, on the disk and in commits."""
        paths = (*files_of(self._repository), *(path for path, _ in self._held))
        for path in dict.fromkeys(path for path in paths if layout.scope_of(path) in self._scopes):
            if path.suffix == ".jsonl":
                is_evidence = path.name.startswith(PurePosixPath(layout.FEEDBACK).stem)
                yield path, "feedback" if is_evidence else "conversation"
            elif place := layout.place_of(path):
                yield path, layout.kind_of(place)

    @cached_property
    def _repository(self) -> Repository:
        return Repository(self._vault.history.root)

    @cached_property
    def _held(self) -> list[tuple[PurePosixPath, str]]:
        return held_files(self._repository)


def _said(value: Any) -> Iterator[str]:
    """All texts in a record."""
    if isinstance(value, Mapping):
        for each in value.values():
            yield from _said(each)
    elif isinstance(value, list):
        for each in value:
            yield from _said(each)
    elif isinstance(value, str):
        yield value


def _time(turn: Mapping[str, Any]) -> datetime | None:
    with suppress(KeyError, ValueError):
        return datetime.fromisoformat(str(turn["created_at"]))
    return None


def _second(at: datetime | None) -> int | str:
    """The second of a time; "" where there is none."""
    return int(at.timestamp()) if at else ""


def _second_of(path: PurePosixPath) -> int | str:
    """When the turn was of which a memory was made at once, by its id; "" for any other memory."""
    prefix, _, rest = path.stem.partition("_")
    return (
        int(rest.partition("_")[0]) // 1000 if prefix == memories.SAID_PREFIX and is_an_id(known_by(path.name)) else ""
    )
