"""Import what Code Buddy keeps of a project: its memories, entities, relations, mistakes and settings.

A record keeps its id, by which it is known when it comes again; then what is here stays. The files are read as streams,
and nothing in the folder is changed.
"""

from __future__ import annotations

import heapq
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

from vault_memory.adapters import files
from vault_memory.core import buddy, reading
from vault_memory.core.buddy import Read
from vault_memory.core.exports import Damaged, elements
from vault_memory.core.graph import NewEntity, NewRelation
from vault_memory.errors import ConfigError, ForeignFile, UsageError, VaultMemoryError
from vault_memory.services.buddy import take_settings
from vault_memory.services.graph import Added, add_to_graph
from vault_memory.services.importing.imported import Problems, Progress, imported_user, no_progress
from vault_memory.services.memories import memory_files, memory_rows, public, store_all
from vault_memory.services.mistakes import store_mistakes
from vault_memory.services.vault import Vault

AT_ONCE = 1_000
"""So many records are written with one hold of the user's lock."""
GRAPH_AT_ONCE = 500
"""Entities and relations, of which each may make a note."""
PIECE_BYTES = 1 << 20
MAX_CONFIG_BYTES = 1_000_000
PROJECT_FOLDER = ".opencode/code-buddy"
"""Where Code Buddy keeps its files in a project."""


class _Record(NamedTuple):
    """A record of a file: its number there, and whether no other one before it has its id."""

    number: int
    value: Any
    id_is_free: bool


class _Reader(Protocol):
    def __call__(self, record: Any, now: Any, zone: Any, *, id_is_free: bool = True) -> Read[Any]: ...


T = TypeVar("T")


@dataclass
class Taken:
    """What became of the records of one file: how many are new here, how many were here already, and how many could
    not be taken. Without such a file it `is_there` not."""

    name: str
    is_there: bool = True
    added: int = 0
    known: int = 0
    refused: int = 0


@dataclass
class ImportedCodeBuddy(Problems):
    """What became of a folder of Code Buddy's. `files` has its four lists of records. `settings` are the settings of
    `[llm]` that were taken, `settings_here` those that the vault has. `remarks` counts what is not kept as it is, by
    reason; `redactions` what was kept out, by category. `damaged` says which files were cut, and where; what came
    before is imported. `paused` says why commits wait, `index_problem` why the index is out of date."""

    user_id: str
    files: list[Taken] = field(default_factory=list)
    settings: list[str] = field(default_factory=list)
    settings_here: list[str] = field(default_factory=list)
    remarks: Counter[str] = field(default_factory=Counter)
    redactions: Counter[str] = field(default_factory=Counter)
    damaged: list[str] = field(default_factory=list)
    paused: str | None = None
    index_problem: str | None = None


def import_code_buddy(
    vault: Vault, user_id: str, folder: Path, *, dry_run: bool = False, on_progress: Progress = no_progress
) -> ImportedCodeBuddy:
    """Import what a folder holds: `.opencode/code-buddy`, the project that this is in, or its `data`. With `dry_run`
    nothing is written.

    Of more memories than the user may have (`memories.capacity`) the newest are taken. Raises `UsageError` for a folder
    without any of the files, `InvalidId`, `Busy`, and what the disk and git raise.
    """
    found = ImportedCodeBuddy(imported_user(vault, user_id))
    base = folder / PROJECT_FOLDER if (folder / PROJECT_FOLDER).is_dir() else folder
    data = base / buddy.DATA_FOLDER if (base / buddy.DATA_FOLDER).is_dir() else base
    if not any(map(os.path.lexists, [base / buddy.CONFIG, *(data / name for name in buddy.FILES)])):
        raise UsageError(
            f"{folder} holds none of Code Buddy's files ({', '.join(buddy.FILES)}, {buddy.CONFIG}): give its folder, "
            f"{PROJECT_FOLDER} in the project"
        )
    importer = _Importer(vault, found, data, dry_run=dry_run, on_progress=on_progress)
    importer.take_memories()
    importer.take_graph()
    importer.take_mistakes()
    importer.take_settings(base / buddy.CONFIG)
    return found


class _Importer:
    """Takes the files of one folder, and counts."""

    def __init__(
        self, vault: Vault, found: ImportedCodeBuddy, data: Path, *, dry_run: bool, on_progress: Progress
    ) -> None:
        self._vault, self._found, self._data = vault, found, data
        self._dry_run, self._on_progress = dry_run, on_progress
        self._author = vault.history.person()
        self._now = vault.now()

    # -- memories ------------------------------------------------------------------------------------------------------

    def take_memories(self) -> None:
        vault, user_id, taken = self._vault, self._found.user_id, self._taken(buddy.MEMORIES)
        rows = memory_rows(vault, user_id) if vault.is_user(user_id) else []
        known = {row.memory_id for row in rows}
        room = vault.config.memories_capacity - sum(row.is_active(self._now.timestamp()) for row in rows)
        again: dict[str, str] = {}
        number = 0

        def new() -> Iterator[_Record]:
            nonlocal number
            for each in self._records(taken):
                if each.id_is_free and (memory_id := buddy.id_of(each.value)) in known:
                    again[memory_id] = buddy.content_of(each.value)
                else:
                    number += 1
                    yield each

        # Of none nlargest would read nothing.
        newest = heapq.nlargest(max(1, room), new(), key=_made_at)[: max(0, room)]
        if number > len(newest):
            most = f"only {vault.config.memories_capacity:,} memories may be active, and the newest are taken"
            self._found.remarks[f"{taken.name}: {most} (memories.capacity)"] += number - len(newest)
            taken.refused += number - len(newest)
        read = (memory for _, memory in self._read(taken, reversed(newest), buddy.memory_of))
        done = 0
        for part in _parts(read, AT_ONCE):
            stored = store_all(vault, user_id, part, author=self._author, dry_run=self._dry_run)
            taken.added += len(stored.ids)
            taken.known += len(stored.known)
            self._note(taken, stored)
            done += len(part)
            self._on_progress("storing memories", done, len(newest))
        taken.known += len(again)
        self._name_changed(taken, again)

    def _name_changed(self, taken: Taken, again: dict[str, str]) -> None:
        """Name the memories of which the file says something else than what is here."""
        for file in memory_files(self._vault, self._found.user_id, list(again)) if again else ():
            theirs, ours = again[file.memory.id], file.memory.content
            if theirs != ours and public(theirs, Counter()).strip() != ours:
                self._found.remarks[f"{taken.name}: says something else than the memory here, which stays"] += 1
                self._found.problem(f"{taken.name}: {file.memory.id} says something else here, and that stays")

    # -- the graph -----------------------------------------------------------------------------------------------------

    def take_graph(self) -> None:
        """Entities first, since relations name them."""
        additions: list[tuple[Taken, int, NewEntity | NewRelation]] = []
        for name, reader in ((buddy.ENTITIES, buddy.entity_of), (buddy.RELATIONS, buddy.relation_of)):
            taken = self._taken(name)
            additions += [(taken, number, value) for number, value in self._read(taken, self._records(taken), reader)]
        at_once = len(additions) if self._dry_run else GRAPH_AT_ONCE  # what is not written is not there for the next
        done = 0
        for part in _parts(iter(additions), at_once):
            self._on_progress("adding to the graph", done, len(additions))
            self._add(part)
            done += len(part)

    def _add(self, additions: Sequence[tuple[Taken, int, NewEntity | NewRelation]]) -> None:
        """Add all at once; where something in them is refused as a whole (parts of a secret that come together in a
        note), in halves, down to what it is."""
        if not additions:
            return
        user_id = self._found.user_id
        subject = f"graph({user_id}): add {len(additions):,} entities and relations"
        values = [value for _, _, value in additions]
        try:
            batch = add_to_graph(self._vault, user_id, values, subject, author=self._author, dry_run=self._dry_run)
        except UsageError as error:
            if len(additions) == 1:
                self._refuse(additions[0][0], additions[0][1], error)
            else:
                half = len(additions) // 2
                self._add(additions[:half])
                self._add(additions[half:])
            return
        for (taken, number, value), outcome in zip(additions, batch.outcomes, strict=True):
            if isinstance(outcome, VaultMemoryError):
                self._refuse(taken, number, outcome)
                continue
            taken.added += outcome.is_new
            taken.known += not outcome.is_new
            self._found.redactions.update(outcome.redactions)
            self._remark(taken, value, outcome)
        self._found.paused = batch.paused or self._found.paused
        self._found.index_problem = next(iter(batch.degraded), self._found.index_problem)

    def _remark(self, taken: Taken, value: NewEntity | NewRelation, outcome: Added) -> None:
        remarks = self._found.remarks
        if outcome.stubs:
            remarks[f"{taken.name}: an entity is named that is in no record, and is made without a type"] += len(
                outcome.stubs
            )
        if isinstance(value, NewEntity) and value.id and outcome.entity and outcome.entity.id != value.id:
            remarks[f"{taken.name}: another entity has that name, and gets what is new"] += 1

    # -- mistakes and settings -----------------------------------------------------------------------------------------

    def take_mistakes(self) -> None:
        taken = self._taken(buddy.MISTAKES)
        read = (value for _, value in self._read(taken, self._records(taken), buddy.mistake_of))
        done = 0
        for part in _parts(read, AT_ONCE):
            noted = store_mistakes(self._vault, self._found.user_id, part, author=self._author, dry_run=self._dry_run)
            taken.added += len(noted.ids)
            taken.known += len(noted.known)
            self._note(taken, noted)
            done += len(part)
            self._on_progress("storing mistakes", done, done)

    def take_settings(self, path: Path) -> None:
        """Take the settings that this vault has not; its own stay."""
        try:
            stored = files.read(path, MAX_CONFIG_BYTES)
            if stored is None:
                return
            taken = take_settings(self._vault, reading.json_value(stored), author=self._author, dry_run=self._dry_run)
        except ValueError as error:
            self._found.damaged.append(f"{path.name}: it is no JSON ({error}); nothing of it is taken")
        except (OSError, ConfigError, ForeignFile, UsageError) as error:
            self._found.problem(f"{path.name}: {error}")
        else:
            self._found.settings, self._found.settings_here, remarks = taken
            self._found.remarks.update(f"{path.name}: {remark}" for remark in remarks)

    # -- reading -------------------------------------------------------------------------------------------------------

    def _taken(self, name: str) -> Taken:
        self._found.files.append(taken := Taken(name))
        return taken

    def _read(self, taken: Taken, records: Iterable[_Record], read: _Reader) -> Iterator[tuple[int, Any]]:
        """The values of records, each with its number in the file."""
        zone = self._vault.config.zone()
        for each in records:
            try:
                found = read(each.value, self._now, zone, id_is_free=each.id_is_free)
            except VaultMemoryError as error:
                self._refuse(taken, each.number, error)
                continue
            self._found.remarks.update(f"{taken.name}: {remark}" for remark in found.remarks)
            yield each.number, found.value

    def _records(self, taken: Taken) -> Iterator[_Record]:
        """The records of a file, as far as it can be read; one that stands there twice is given once."""
        seen: dict[str, int] = {}
        try:
            for number, value in enumerate(self._elements(taken.name), 1):
                record_id, content = buddy.id_of(value), hash(repr(value))
                if record_id and seen.get(record_id) == content:
                    self._found.remarks[f"{taken.name}: a record stands there twice"] += 1
                    continue
                yield _Record(number, value, record_id not in seen)
                if record_id:
                    seen.setdefault(record_id, content)
        except FileNotFoundError:
            taken.is_there = False
        except Damaged as error:
            self._found.damaged.append(f"{taken.name}: {error}; what comes before is imported")
        except (OSError, ForeignFile) as error:
            self._found.damaged.append(f"{taken.name} cannot be read: {error}")

    def _elements(self, name: str) -> Iterator[Any]:
        with files.opened(self._data / name, follow=False) as file:
            size, done = os.fstat(file.fileno()).st_size, 0

            def pieces() -> Iterator[bytes]:
                nonlocal done
                for piece in iter(partial(file.read, PIECE_BYTES), b""):
                    done += len(piece)
                    self._on_progress(f"reading {name}", done, size)
                    yield piece

            yield from elements(pieces(), "record")

    def _refuse(self, taken: Taken, number: int, error: VaultMemoryError) -> None:
        taken.refused += 1
        self._found.problem(f"{taken.name}, record {number}: {error}")

    def _note(self, taken: Taken, stored: Any) -> None:
        """Note what the memories and mistakes that were stored have in common."""
        for record_id, why in stored.refused.items():
            taken.refused += 1
            self._found.problem(f"{taken.name}, {record_id}: {why}")
        self._found.redactions.update(stored.redactions)
        self._found.paused = stored.paused or self._found.paused
        self._found.index_problem = next(iter(stored.degraded), self._found.index_problem)


def _made_at(record: _Record) -> int:
    return buddy.time_of(record.value)


def _parts(values: Iterator[T], size: int) -> Iterator[list[T]]:
    """The values in lists of that length."""
    while part := list(islice(values, size)):
        yield part
