"""Durable intents: planned commits, saved before the files change; a `kill -9` loses nothing.

One file per `stage`, under `vault-memory/intents` in git's folder: `<number>.staged` while the vault's files are being
written, `<number>.written` when all are. A killed writer leaves a `.staged` one, and the next writer finishes it. A
`.written` one waits only for its commits; the person may have edited the files since.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import re
import stat
import zlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from vault_memory.adapters import files
from vault_memory.adapters.files import FileStamp
from vault_memory.adapters.git import Content, Objects, Stored, TreeEntry, bytes_of, is_content
from vault_memory.adapters.history.model import Author, Draft, FileChange
from vault_memory.core import layout, reading
from vault_memory.errors import Changed, ForeignFile, HistoryError, TooLarge, Unwritable, UsageError, VaultMemoryError

_INTENT_NAME = re.compile(r"([0-9]{8})\.(staged|written)")
_LAST_NUMBER = 99_999_999
_SET_ASIDE = ".damaged"
"""At the end of the name of an intent that cannot be carried out: of one that was cut, or that somebody planted."""
_GIT_TIME = re.compile(r"[0-9]{1,12} [+-][0-9]{4}")
_OBJECT_ID = re.compile(r"[0-9a-f]{40}")
_MAX_NAME_CHARS = 255
"""No disk takes a longer name; many count its bytes, which `check_path` asks."""
_NOT_UTF_8 = "\0"
"""Before the bytes of such a path; no path begins so."""
MAX_INTENTS = 50
"""Changes that wait; every writer reads all of them."""
MAX_LOGS_OF_ONE, MAX_LOGS, MAX_LOG_BYTES = 20, 40, 2_000_000
"""Of turns of one user whose logs wait, of turns of all, and of these logs: every writer reads them."""
MAX_INTENT_BYTES = 250_000_000
"""Of an intent, and of all its contents, unpacked."""


_TURN = re.compile(rb"conversations/\d{4}-\d\d-\d\d\.jsonl:\d+")


class DamagedIntent(HistoryError):
    """An intent that cannot be carried out; the message names it, what is wrong, and the next step."""


@dataclass(frozen=True)
class Intent:
    """The drafts of one `stage`, with what is needed to commit them later.

    `when` is git's `<seconds> <zone>`; `head` the commit that HEAD was at; `bases` the blob that HEAD held at each
    path (None: no file). If the first `before` of a path is not that blob, it holds a person's text that nobody has
    committed.
    """

    path: Path
    drafts: tuple[Draft, ...]
    when: str
    head: str | None
    bases: dict[PurePosixPath, str | None]

    def net_changes(self) -> dict[PurePosixPath, FileChange]:
        """Each path's change from before the first draft to after the last, in the order they come."""
        return net_changes(self.drafts)

    @cached_property
    def scopes(self) -> frozenset[str]:
        """Whose files it changes."""
        return frozenset(layout.scope_of(change.path) for draft in self.drafts for change in draft.changes)

    @property
    def staged_at(self) -> int:
        """When it was staged, in seconds."""
        return int(self.when.split()[0])

    @property
    def is_logs(self) -> bool:
        """Whether it is the entries of turns in a user's logs, and may wait."""
        return all(draft.waits for draft in self.drafts)


def are_many(logs: Sequence[Intent]) -> bool:
    """Whether so many logs wait, or so large ones, that all are to be committed."""
    size = sum(len(bytes_of(change.new) or b"") for intent in logs for change in intent.net_changes().values())
    return len(logs) > MAX_LOGS or size > MAX_LOG_BYTES


def net_changes(drafts: Iterable[Draft]) -> dict[PurePosixPath, FileChange]:
    """Each path's change from before the first draft to after the last, in the order they come."""
    net: dict[PurePosixPath, FileChange] = {}
    for draft in drafts:
        for change in draft.changes:
            first = net.get(change.path, change)
            net[change.path] = FileChange(change.path, first.old, change.new)
    return net


def is_gone(chain: Sequence[FileChange], on_disk: bytes | None, committed: bytes | None = None) -> bool:
    """Whether a file has none of the lines that these changes have added, but for headings, which others may have, and
    for those that are `committed`. The line of a request is there, whatever the person has made of it, while it names
    its turn; another machine counts its turns alike, so a line that stood there before is none of them."""
    before = set((bytes_of(chain[0].old) or b"").split(b"\n"))
    lines = {line for change in chain for line in (bytes_of(change.new) or b"").split(b"\n")} - before
    added = {_known_by(line) for line in lines if line.strip() and not line.startswith(b"#")}
    there, kept = (
        {_known_by(line) for line in (text or b"").split(b"\n") if line not in before} for text in (on_disk, committed)
    )
    return bool(added - kept) and there.isdisjoint(added - kept)


def with_successors(change: FileChange, later: Sequence[FileChange]) -> list[FileChange]:
    """A change, and those of the later ones of its file that write something else in place of lines of it."""
    chain = [change]
    for each in later:
        old, new = ({_known_by(line) for line in (bytes_of(text) or b"").split(b"\n")} for text in each[1:])
        if any(_added(one) & (old - new) for one in chain):
            chain.append(each)
    return chain


def _added(change: FileChange) -> set[bytes]:
    """By what the lines that a change adds are known, but for headings."""
    old, new = ({_known_by(line) for line in (bytes_of(text) or b"").split(b"\n")} for text in change[1:])
    return {line for line in new - old if line.strip() and not line.startswith(b"#")}


def _known_by(line: bytes) -> bytes:
    named = _TURN.search(line)
    return named[0] if named else line.rstrip()


def check_path(root: Path, path: PurePosixPath) -> None:
    """Refuse a path that is not a file of the vault at `root`. Raises `UsageError`, `HistoryError` or `Unwritable`."""
    if not _is_inside(path):
        raise UsageError(f"{str(path)!r} is not a path inside the vault: use one relative to {root}")
    if not files.can_hold(root, path):
        raise no_such_name(path)
    step = root
    for part in path.parts:
        step = step / part
        if step.is_symlink():
            raise HistoryError(f"{path}: {step} is a symbolic link, and git does not follow links: put the file there")
    if other := repository_around(root, path):
        raise HistoryError(f"{path} lies in another git repository ({other}): commit it there")


def repository_around(root: Path, path: PurePosixPath) -> Path | None:
    """The folder of another repository, such as a submodule, in which a file of the vault at `root` lies."""
    folders = (root / PurePosixPath(*path.parts[: depth + 1]) for depth in range(len(path.parts)))
    return next((folder for folder in folders if os.path.exists(folder / ".git")), None)


def is_committed_by_itself(root: Path, path: PurePosixPath, *, programs: bool) -> bool:
    """Whether an edit of this file, or with `programs` of one that Obsidian runs, is committed without being asked."""
    full = root / path
    if layout.is_private(path) or layout.is_program(path) != programs:
        return False
    if not files.can_hold(root, path) or (layout.is_misplaced(path) and os.path.lexists(full)):
        return False
    if repository_around(root, path):  # a submodule's files are committed there
        return False
    is_file = full.is_file() and not full.is_symlink()
    return (is_file or not os.path.lexists(full)) and not files.is_temporary(path.name)


def no_such_name(path: PurePosixPath) -> Unwritable:
    """The error for a path that this disk does not take."""
    return Unwritable(f"{path} cannot be written on this disk, which takes no such name: give it a shorter one")


def _is_inside(path: PurePosixPath) -> bool:
    return bool(path.parts) and not path.is_absolute() and not {"..", ".git"} & {part.lower() for part in path.parts}


class WrittenFile(NamedTuple):
    """A file as an intent has just written it; `stamp` is as `files.replace` returned it."""

    change: FileChange
    stamp: FileStamp


class IntentLog:
    """The intents in `folder` and the files below `root` that they write. To change either, hold the vault's lock.

    Contents that `objects` hold already are not repeated in an intent.
    """

    def __init__(self, folder: Path, root: Path, objects: Objects) -> None:
        self._folder = folder
        self._root = root
        self._objects = objects
        self._read: dict[str, tuple[FileStamp, Intent]] = {}

    def pending(self) -> list[Intent]:
        """All intents, oldest first, without the damaged ones. May be called without the lock, too."""
        return self._looked_through()[0]

    def waiting(self) -> dict[PurePosixPath, FileChange]:
        """Each file that waits to be committed, from before the first change of it to after the last."""
        return net_changes(draft for intent in self.pending() for draft in intent.drafts)

    def damaged(self) -> list[str]:
        """A line for each damaged intent, set aside or not yet."""
        return self._looked_through()[1]

    def _looked_through(self) -> tuple[list[Intent], list[str]]:
        while True:
            intents: list[Intent] = []
            damaged: list[str] = []
            try:
                for name in self._names(_SET_ASIDE):
                    path = self._folder / name
                    if name.endswith(_SET_ASIDE):
                        damaged.append(_line(path, "it was set aside"))
                        continue
                    try:
                        intents.append(self._load(name))
                    except DamagedIntent as error:
                        damaged.append(str(error))
                return intents, damaged
            except FileNotFoundError:
                continue  # the holder of the lock has just marked or removed this one: look again

    def _load(self, name: str) -> Intent:
        """An intent, read once: each step of a commit asks for all of them. Raises what `_load` raises."""
        path = self._folder / name
        stamp = FileStamp.of(path.lstat())
        known = self._read.get(name)
        if known is None or known[0] != stamp:
            self._read = {each: kept for each, kept in self._read.items() if (self._folder / each).exists()}
            known = self._read[name] = (stamp, _load(path, self._objects))
        return known[1]

    def exist(self) -> bool:
        """Whether there is any."""
        return bool(self._names())

    def is_full(self) -> bool:
        """Whether so many changes wait that no more are taken."""
        return len(self._names()) >= MAX_INTENTS

    def add(
        self,
        drafts: tuple[Draft, ...],
        when: str,
        head: str | None,
        bases: dict[PurePosixPath, str | None],
        *,
        first: bool = False,
    ) -> Intent:
        """Make the drafts durable. With `first` they were made before all that wait."""
        names = self._names()
        if names and int(names[-1][:8]) == _LAST_NUMBER:  # numbers begin at 1 again when nothing waits: it was planted
            names = self._renumbered(names)
        if first:
            for name in reversed(names):  # none takes the name of another
                os.rename(self._folder / name, self._folder / f"{int(name[:8]) + 1:08d}{name[8:]}")
        number = 1 if first or not names else int(names[-1][:8]) + 1
        intent = Intent(self._folder / f"{number:08d}.staged", drafts, when, head, bases)
        files.replace(intent.path, _dump(intent), None)
        return intent

    def _renumbered(self, names: Sequence[str]) -> list[str]:
        """Give the intents the first numbers, in their order."""
        new = [f"{number:08d}{name[8:]}" for number, name in enumerate(names, 1)]
        for name, new_name in zip(names, new, strict=True):
            if name != new_name and (self._folder / new_name).exists():  # two of one number
                raise HistoryError(_line(self._folder / names[-1], "no intent of ours gets so high a number"))
            os.rename(self._folder / name, self._folder / new_name)
        return new

    def mark_written(self, intent: Intent) -> Intent:
        """Note that the files of an intent are written."""
        target = intent.path.with_suffix(".written")
        os.replace(intent.path, target)
        return replace(intent, path=target)

    def keep(self, intent: Intent, drafts: tuple[Draft, ...]) -> None:
        """Leave only these drafts of an intent; an empty tuple removes it."""
        if not drafts:
            intent.path.unlink(missing_ok=True)
        elif drafts != intent.drafts:
            files.replace(intent.path, _dump(replace(intent, drafts=drafts)), files.read(intent.path, None))

    # Their files ------------------------------------------------------------------------------------------------------

    def write_files(
        self, intent: Intent, done: Collection[PurePosixPath], step: Callable[[str], None]
    ) -> list[WrittenFile]:
        """Write the files of an intent, all or none, and return what was written; those in `done` hold it already."""
        written: list[WrittenFile] = []
        try:
            for change in intent.net_changes().values():
                if change.path not in done:
                    written.append(WrittenFile(change, self._write(change)))
                step("file written")
        except VaultMemoryError:
            self.take_back(intent, written)
            raise
        return written

    def take_back(self, intent: Intent, written: Sequence[WrittenFile]) -> None:
        """Undo `write_files`, and drop the intent. What the person has saved on top of a file stays, and ours below it
        goes: else all of it would count as theirs, and the writer would add his again.

        When that fails, as on a full disk, the intent stays as it is, and the next holder of the lock writes the other
        files: what they lack would count as the person's deletion.
        """
        for (path, old, new), _ in reversed(written):
            with contextlib.suppress(TooLarge):  # the person has put a large file there: theirs stays
                self._make(FileChange(path, new, old))
        self.keep(intent, ())

    def _write(self, change: FileChange) -> FileStamp:
        before, after = bytes_of(change.old), bytes_of(change.new)
        if after is not None:
            # The intent is durable, so the new name need not be: it reaches the disk before what comes after it.
            return files.replace(self._root / change.path, after, before, self._root, sync=False)
        if before is not None:
            files.remove(self._root / change.path, before, self._root)
        return FileStamp()

    def _make(self, change: FileChange) -> None:
        """Make a change on what its file holds now: the person may have saved it since. What they have deleted, and
        what is not text, stays as it is."""
        path = self._root / change.path
        while True:
            content = files.read(path)
            try:
                if is_content(content, change.old):
                    self._write(change)
                elif (merged := _merged(change, content, yields=True)) and merged != content:
                    files.replace(path, merged, content, self._root)
                return
            except Changed:
                continue

    # After a kill -----------------------------------------------------------------------------------------------------

    def sweep(self) -> None:
        """Remove temporary files of writers killed before they named their intent."""
        with contextlib.suppress(FileNotFoundError):
            for temp in files.abandoned(self._folder):
                temp.unlink(missing_ok=True)

    def finish_killed(self) -> None:
        """Write the files that killed writers did not write. A damaged intent is set aside, and stays to be read."""
        for name in self._names():
            try:
                intent = self._load(name)
                if name.endswith(".staged"):
                    self._finish(intent)
            except DamagedIntent:
                os.rename(self._folder / name, self._folder / (name + _SET_ASIDE))

    def _finish(self, intent: Intent) -> None:
        for path in intent.net_changes():
            try:
                check_path(self._root, path)
            except (UsageError, HistoryError, Unwritable) as error:
                raise DamagedIntent(_line(intent.path, str(error))) from error
            place = self._root / path
            if place.is_dir() or any(folder.is_file() for folder in place.parents):
                raise DamagedIntent(_line(intent.path, f"{str(path)!r} is no place for a file"))
        for change in intent.net_changes().values():
            self._put_back_displaced(change, intent.path.stat().st_mtime_ns)
            with contextlib.suppress(TooLarge):  # the person has put a large file there: theirs stays
                self._make(change)
        self.mark_written(intent)

    def _put_back_displaced(self, change: FileChange, since_ns: int) -> None:
        """A kill after the exchange leaves the old file under a temporary name; it may be a person's save.

        A temporary file from before the intent (`since_ns`) is another writer's, and older than the file. The others
        were made by holders of the lock that is held now: they have ended, even if a process has their number now.
        """
        path = self._root / change.path
        if not path.parent.is_dir():
            return
        for temp in files.temporaries(path):
            status = temp.lstat()
            if status.st_ctime_ns < since_ns or not stat.S_ISREG(
                status.st_mode
            ):  # no writer of ours makes a link or pipe
                continue
            displaced = files.read(temp, None) or b""
            if not is_content(displaced, change.old) and not (bytes_of(change.new) or b"").startswith(displaced):
                content = files.read(path)  # ours, on which the person may have saved something again
                text = _merged(FileChange(change.path, change.old, displaced), content)
                files.replace(path, displaced if text is None else text, content, self._root)
            temp.unlink()

    def _names(self, also_ending: str = "") -> list[str]:
        try:
            names = os.listdir(self._folder)
            return sorted(name for name in names if _INTENT_NAME.fullmatch(name.removesuffix(also_ending)))
        except FileNotFoundError:
            return []
        except NotADirectoryError as error:
            above = (*reversed(self._folder.parents), self._folder)
            wrong = next((place for place in above if not place.is_dir()), self._folder)
            raise HistoryError(f"{wrong} is no folder, and commits wait in it: put the folder itself there") from error
        except OSError as error:
            raise HistoryError(f"{self._folder} cannot be listed ({error.strerror}): correct that") from error


def _merged(change: FileChange, content: bytes | None, *, yields: bool = False) -> bytes | None:
    """What a file holds, with a change, which `yields` to what the person has saved since (`carry_over`); None for no
    file, and when one of them is not text."""
    after = bytes_of(change.new)
    if after is None or content is None or b"\0" in after or b"\0" in content:
        return None
    from vault_memory.core.merging import carry_over  # only after a kill, and where the person saved meanwhile

    return carry_over(change.path, bytes_of(change.old), after, content, yields=yields)


def _name(path: PurePosixPath) -> str:
    """A path as JSON can hold it: of one that is not UTF-8 each byte as one character, after a NUL."""
    try:
        str(path).encode()
        return str(path)
    except UnicodeEncodeError:
        return _NOT_UTF_8 + os.fsencode(path).decode("latin-1")


def _dump(intent: Intent) -> bytes:
    # Each content once, by a number: in a chain every `after` is the next one's `before`.
    contents: dict[bytes | Stored, int] = {}

    def number(content: Content) -> int | None:
        return None if content is None else contents.setdefault(content, len(contents))

    drafts = [
        {
            "message": draft.message,
            "author": list(draft.author),
            "changes": [[_name(c.path), number(c.old), number(c.new)] for c in draft.changes],
            "merges": draft.merges,
            "waits": draft.waits,
            "tree_only": [
                [_name(path), entry.mode.decode() if entry else None, entry.id if entry else None]
                for path, entry in draft.tree_only
            ],
            "made_at": draft.made_at.isoformat() if draft.made_at else None,
        }
        for draft in intent.drafts
    ]
    record = {
        "when": intent.when,
        "head": intent.head,
        "bases": {_name(path): base for path, base in intent.bases.items()},
        "drafts": drafts,
        "contents": [_packed(content) for content in contents],
    }
    return json.dumps(record).encode()


def _packed(content: bytes | Stored) -> str | dict[str, str]:
    if isinstance(content, Stored):
        return {"blob": content.id}
    return base64.b64encode(zlib.compress(content, 1)).decode()


def _line(path: Path, problem: str) -> str:
    return f"{path} is damaged ({problem}): delete it; the text it was to commit is on disk"


def _load(path: Path, objects: Objects) -> Intent:
    """Read an intent. Raises `DamagedIntent`, and `FileNotFoundError`."""
    try:
        if path.lstat().st_size > MAX_INTENT_BYTES:
            raise DamagedIntent(_line(path, f"it has more than {MAX_INTENT_BYTES:,} bytes"))
        data = files.read_private(path, path.parent)
    except (ForeignFile, PermissionError) as error:
        raise DamagedIntent(_line(path, str(error))) from error
    if data is None:
        raise FileNotFoundError(path)
    try:
        record = reading.json_value(data)
        contents: list[bytes | Stored] = []
        room = MAX_INTENT_BYTES
        for packed in record["contents"]:
            if isinstance(packed, dict):
                contents.append(_stored(_text(_id(packed["blob"])), objects))
                continue
            content = _unpacked(base64.b64decode(packed), room)
            room -= len(content)
            contents.append(content)

        def numbered(number: int | None) -> Content:
            return None if number is None else contents[number]

        drafts = tuple(_draft(row, numbered) for row in record["drafts"])
        bases = {_path(name): _id(base) for name, base in record["bases"].items()}
        when = _text(record["when"])
        if not _GIT_TIME.fullmatch(when):
            raise ValueError(f"{when!r} is no time of git's")
        return Intent(path, drafts, when, _id(record["head"]), bases)
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, zlib.error) as error:
        raise DamagedIntent(_line(path, str(error))) from error


def _unpacked(data: bytes, room: int) -> bytes:
    """The content; it may have come with the folder, and a few kilobytes can hold gigabytes."""
    reader = zlib.decompressobj()
    content = reader.decompress(data, room + 1)
    if len(content) > room or not reader.eof:
        raise ValueError(f"it holds more than {MAX_INTENT_BYTES:,} bytes, or is cut")
    return content


def _stored(blob: str, objects: Objects) -> Stored:
    if not objects.has_blob(blob, files.MAX_FILE_BYTES):
        raise ValueError(f"the repository has no file {blob}, or a large one")
    return Stored(blob, objects)


def _draft(row: Mapping[str, Any], content: Callable[[int | None], Content]) -> Draft:
    changes = tuple(FileChange(_file_path(p), content(before), content(after)) for p, before, after in row["changes"])
    for change in changes:
        if layout.is_private(change.path):  # we never wrote this: it came with an adopted folder or a backup
            raise ValueError(f"{str(change.path)!r} is private")
    tree_only = tuple(
        (_path(p), TreeEntry(_text(mode).encode(), _text(_id(name))) if name else None)
        for p, mode, name in row.get("tree_only", ())
    )
    author, made_at = Author(*map(_text, row["author"])), row.get("made_at")
    waits = row.get("waits") is True and bool(changes)
    return Draft(_text(row["message"]), author, changes, _id(row["merges"]), tree_only, _time(made_at), waits)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is no text")
    return value


def _time(value: object) -> datetime | None:
    """A time with its zone, or None."""
    time = None if value is None else datetime.fromisoformat(_text(value))
    if time and not time.tzinfo:
        raise ValueError(f"{value!r} has no zone")
    return time


def _id(value: object) -> str | None:
    """The id of an object, or None."""
    if value is not None and not _OBJECT_ID.fullmatch(_text(value)):
        raise ValueError(f"{value!r} is no object of git's")
    return None if value is None else _text(value)


def _path(value: object) -> PurePosixPath:
    """A path inside the vault, from its `_name`."""
    name = _text(value)
    path = PurePosixPath(os.fsdecode(name[1:].encode("latin-1")) if name.startswith(_NOT_UTF_8) else name)
    if not _is_inside(path) or "\0" in str(path):
        raise ValueError(f"{str(path)!r} is not a path inside the vault")
    return path


def _file_path(value: object) -> PurePosixPath:
    """A path that a file of the vault may have, on some disk. What stands in a tree only may have any."""
    path = _path(value)
    if any(len(part) > _MAX_NAME_CHARS for part in path.parts):
        raise ValueError(f"{str(path)!r} has a name that no disk takes")
    return path
