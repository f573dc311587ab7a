"""Import a `memory/` tree of Super Happy Coder: each student's folder becomes a user.

USER.md is adopted as it is written where the user has none, and left where they have one. MEMORY.md and the daily logs
are merged entry by entry. The turns of the conversation records are added to the records of their days. Everything else
is named and stays where it is; nothing in the tree is changed.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TypeVar

from vault_memory.adapters import files
from vault_memory.adapters.files import MAX_FILE_BYTES, ReadCache
from vault_memory.adapters.history import Draft, FileChange
from vault_memory.adapters.scan import walk
from vault_memory.core import layout, reading, trailers
from vault_memory.core.exports import super_happy_coder as records
from vault_memory.core.merging import merge
from vault_memory.core.notes import Turn
from vault_memory.core.privacy import redact, secrets_added, without_private
from vault_memory.core.profile import Profile
from vault_memory.core.trailers import Trailers
from vault_memory.errors import ForeignFile, HistoryError, InvalidId, TooLarge, UsageError, in_command
from vault_memory.services.importing.imported import Imported, Importer, Progress, no_progress
from vault_memory.services.turns import add_redactions
from vault_memory.services.vault import Vault
from vault_memory.services.write import Plan, write

_FILES_AT_ONCE = 200
"""Logs that are merged and committed together; each file has at most `MAX_FILE_BYTES`."""
_ENTRY = re.compile(rb"^## ", re.MULTILINE)
_DERIVED = "made anew here, so it is not taken"

Result = TypeVar("Result")


@dataclass
class ImportedStudent:
    """What became of a student's folder. `imported` is None where it was skipped, and `why` says why.

    `profile` says what became of USER.md, "" where there is none. `logs` counts the files that MEMORY.md and the daily
    logs changed, `entries` the entries in them. `left` names what was not taken. `paused` says why the commits wait.
    """

    student: str
    imported: Imported | None = None
    why: str = ""
    profile: str = ""
    logs: int = 0
    entries: int = 0
    left: list[str] = field(default_factory=list)
    paused: str | None = None


def import_super_happy_coder(
    vault: Vault,
    folder: Path,
    *,
    students: Mapping[str, str] | None = None,
    learn: bool = False,
    dry_run: bool = False,
    on_progress: Progress = no_progress,
) -> Iterator[ImportedStudent]:
    """Import the students of a tree, one after the other, and give what became of each.

    `students` limits it to these folders, each with the id of its user; without it every folder is imported under the
    id that its name is, or means in `identities`. A folder whose name is no id is skipped. With `learn` profiles learn
    from the turns, too. With `dry_run` nothing is written. Raises `UsageError` for a folder that is no such tree,
    `HistoryError` while a person is in the middle of a rebase or the like, and what `write` and `OldTurns` raise.
    """
    names = _students(folder)
    if lacking := sorted(set(students or ()) - set(names)):
        raise UsageError(f"{folder} has no folder {lacking[0]!r}; it has: {', '.join(names) or 'nothing'}")
    if not dry_run and (reason := vault.history.stopped()):
        raise HistoryError(f"nothing is imported now: {reason}")
    for name in names if students is None else students:
        found = ImportedStudent(name)
        try:
            if (folder / name).is_symlink() or not (folder / name).is_dir():
                raise UsageError("it is no folder of a student's, and no link is followed")
            user_id = vault.user_of((students or {}).get(name) or name)
            importer = Importer(vault, user_id, dry_run=dry_run)
        except (InvalidId, UsageError) as error:
            is_id = isinstance(error, InvalidId)
            hint = f"; `--user {in_command(f'{name}=ID')}` imports it under another id" if is_id else ""
            found.why = f"{error}{hint}"
            yield found
            continue
        found.imported = importer.imported
        _Student(vault, folder / name, found, importer, dry_run=dry_run, on_progress=on_progress).take(learn=learn)
        yield found


def _students(folder: Path) -> list[str]:
    """What stands in the tree: the folders of the students, and whatever else."""
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        raise UsageError(f"cannot read the folder {folder}: {error.strerror}") from error
    if any(map(records.kind_of, names)) or layout.CONVERSATIONS_DIR in names:
        raise UsageError(f"{folder} is the folder of one student: give the folder above, with all of them")
    if layout.MEMORY_DIR in names:
        raise UsageError(f"{folder} holds the tree: give {folder / layout.MEMORY_DIR}")
    return names


class _Student:
    """One student's folder on its way into the vault."""

    def __init__(
        self,
        vault: Vault,
        folder: Path,
        found: ImportedStudent,
        importer: Importer,
        *,
        dry_run: bool,
        on_progress: Progress,
    ) -> None:
        self._vault = vault
        self._folder = folder
        self._found = found
        self._importer = importer
        self._imported = importer.imported
        self._home = layout.user_dir(importer.imported.user_id)
        self._author = vault.history.person()
        self._dry_run = dry_run
        self._on_progress = on_progress

    def take(self, *, learn: bool) -> None:
        """Take the profile and the logs, then the turns: those are of the clock that the profile names."""
        kinds = self._kinds()
        zone = self._vault.config.zone(self._take_profile(kinds))
        logs = [source for source, kind in kinds.items() if kind in ("daily", "memory-log")]
        for at in range(0, len(logs), _FILES_AT_ONCE):
            self._on_progress(f"{self._found.student}: logs", at, len(logs))
            self._take_logs(logs[at : at + _FILES_AT_ONCE])
        turns = records.Student(self._imported.user_id, self._found.student, zone, self._vault.now())
        sources = [source for source, kind in kinds.items() if kind == "conversation"]
        for at, source in enumerate(sources):
            self._on_progress(f"{self._found.student}: conversations", at, len(sources))
            self._take_turns(source, turns)
        self._importer.add((), turns.left_out)
        self._importer.finish(learn=learn, on_progress=self._on_progress)

    def _kinds(self) -> dict[str, str]:
        """The files that are taken, in order, each with its kind; the others are named."""
        kinds: dict[str, str] = {}
        for place, folders, names in walk(self._folder, lambda error: self._problem(str(error.filename), error)):
            here = PurePosixPath(Path(place).relative_to(self._folder).as_posix())
            links = [name for name in folders if os.path.islink(os.path.join(place, name))]
            for name in sorted([*names, *links]):
                source = (here / name).as_posix()
                kind = None if os.path.islink(self._folder / source) else records.kind_of(source)
                if kind:
                    kinds[source] = kind
                elif layout.is_index(source):
                    self._found.left.append(f"{source} ({_DERIVED})")
                else:
                    self._found.left.append(source)
        return dict(sorted(kinds.items()))

    def _problem(self, source: str, error: Exception) -> None:
        why = error.strerror if isinstance(error, OSError) else error
        self._imported.problem(f"{self._found.student}/{source}: {why}")

    def _read(self, source: str) -> tuple[bytes, datetime] | None:
        """A text and when it was saved; None for what cannot be taken, which is named."""
        try:
            with files.opened(self._folder / source, follow=False) as file:
                status = os.fstat(file.fileno())
                if status.st_size > MAX_FILE_BYTES:
                    raise TooLarge(f"it has more than {MAX_FILE_BYTES:,} bytes: divide it")
                data = file.read(MAX_FILE_BYTES)
            reading.check_utf_8("it", data)
            return data, min(datetime.fromtimestamp(status.st_mtime).astimezone(), self._vault.now())
        except (OSError, OverflowError, ValueError, ForeignFile, TooLarge) as error:
            self._problem(source, error)
            return None

    def _write(
        self, paths: Sequence[PurePosixPath], decide: Callable[[ReadCache], Plan[Result]], redactions: Counter[str]
    ) -> Result:
        """Write what `decide` plans on the present files, under the user's lock; in a dry run only decide. `redactions`
        counts what was taken out of the new texts."""
        cache, plans = ReadCache(), list[Plan[Result]]()

        def decided() -> Plan[Result]:
            plans[:] = [decide(cache)]
            return plans[0]

        if self._dry_run:
            return decided().result
        written = write(self._vault, self._imported.user_id, paths, decided, cache=cache)
        self._found.paused = written.paused or self._found.paused
        self._imported.index_problem = written.index_problem or self._imported.index_problem
        if redactions and plans[0].drafts:
            add_redactions(self._vault, self._imported.user_id, redactions)
            self._imported.kept.redactions.update(redactions)
        return written.result

    # USER.md ----------------------------------------------------------------------------------------------------------

    def _take_profile(self, kinds: Mapping[str, str]) -> str | None:
        """Adopt USER.md where there is none here; return the time zone that it names."""
        read = self._read(layout.PROFILE) if layout.PROFILE in kinds else None
        if read is None:
            return None
        shown = redact(read[0].decode("utf-8", "surrogateescape"))
        text, path = shown.text.encode("utf-8", "surrogateescape"), self._home / layout.PROFILE
        subject = f"import({self._imported.user_id}): {layout.PROFILE} of Super Happy Coder"
        message = trailers.render(subject, "", Trailers(self._imported.user_id))

        def decide(cache: ReadCache) -> Plan[str]:
            ours = cache.read(self._vault.root / path)
            if ours == text:
                return Plan("here already")
            if ours is not None:
                return Plan("not taken, the one that is here stays: copy theirs over it if you want that")
            # What the person has said after it was saved there is newer than it.
            change = FileChange(path, None, text)
            return Plan("adopted as it is written", [Draft(message, self._author, (change,), made_at=read[1])])

        self._found.profile = self._write([path], decide, Counter(shown.counts))
        zone = Profile.decode(text).get("timezone")
        return zone if isinstance(zone, str) else None

    # Logs -------------------------------------------------------------------------------------------------------------

    def _take_logs(self, sources: Sequence[str]) -> None:
        theirs: dict[PurePosixPath, bytes] = {}
        redactions: Counter[str] = Counter()
        for source in sources:
            if read := self._read(source):
                shown = redact(read[0].decode("utf-8", "surrogateescape"))
                text, private = without_private(shown.text)
                theirs[self._home / source] = text.encode("utf-8", "surrogateescape")
                redactions.update(shown.counts)
                redactions.update(private)
        subject = f"import({self._imported.user_id}): {layout.MEMORY_LOG} and daily logs of Super Happy Coder"
        message = trailers.render(subject, "", Trailers(self._imported.user_id))

        def decide(cache: ReadCache) -> Plan[tuple[int, int]]:
            changes, entries = [], 0
            for path, text in theirs.items():
                ours = cache.read(self._vault.root / path)
                if ours is not None and (why := reading.not_utf_8(ours)):
                    self._problem(path.as_posix(), ForeignFile(f"what is here {why}"))
                    continue
                merged = text if ours is None else merge.with_entries_of(text, ours)
                if merged == ours:
                    continue
                if secrets_added(path, [ours], merged):
                    self._problem(
                        path.as_posix(), UsageError("it holds a secret that cannot be taken out: do so there")
                    )
                    continue
                changes.append(FileChange(path, ours, merged))
                entries += len(_ENTRY.findall(merged)) - len(_ENTRY.findall(ours or b""))
            drafts = [Draft(message, self._author, tuple(changes))] if changes else []
            return Plan((len(changes), entries), drafts)

        logs, entries = self._write(list(theirs), decide, redactions)
        self._found.logs += logs
        self._found.entries += entries

    # Turns ------------------------------------------------------------------------------------------------------------

    def _take_turns(self, source: str, turns: records.Student) -> None:
        found: list[Turn] = []
        try:
            with files.opened(self._folder / source, follow=False) as file:
                for each in turns.turns(self._lines(source, partial(file.readline, MAX_FILE_BYTES + 1))):
                    if isinstance(each, Turn):
                        found.append(each)
                    else:
                        self._imported.problem(f"{self._found.student}/{source}:{each[0]}: {each[1]}: skipped")
        except (OSError, ForeignFile) as error:
            self._problem(source, error)
        self._importer.add(found)

    def _lines(self, source: str, read_line: Callable[[], bytes]) -> Iterator[tuple[int, bytes]]:
        """The lines with their numbers; one that is too long is named and left out."""
        number = 1
        while line := read_line():
            if len(line) > MAX_FILE_BYTES:
                self._problem(f"{source}:{number}", TooLarge(f"it has more than {MAX_FILE_BYTES:,} bytes"))
                while line and not line.endswith(b"\n"):
                    line = read_line()
            else:
                yield number, line
            number += 1
