"""Changes of a vault's files as the operating system reports them, through watchdog.

A hint says where to look, never what changed. What can go wrong, and what is done about it:
- an exception in a handler ends watchdog's thread: our handler only puts a path into a queue;
- the kernel's queue overflows and events are lost: watchdog only logs it, so we read its log, and `tend` sets all
  watches again (watchdog's own repair leaves a moment without any watch);
- `fs.inotify.max_user_watches` is reached and folders stay unwatched without an error: `check_coverage` compares the
  watches that the kernel lists with the folders on disk, and asks for polling;
- a network drive does not report what other machines write: `check_coverage` asks for polling;
- a folder is deleted and made again, or a thread dies: `tend` sets the watches again;
- watchdog walks a new folder, then gets an event for each folder in it, and warns that it watches them twice. The
  second watch replaces an equal one, so nothing is lost. The warning must not reach the person's terminal; and where
  warnings are errors it would end the thread that reads events.

Polling means that the caller scans everything every few seconds; a scan costs no more than a snapshot of a polling
observer.
"""

from __future__ import annotations

import logging
import os
import queue
import re
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from watchdog.events import (
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileClosedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver, ObservedWatch

from vault_memory.core import layout, reading


class Hint(NamedTuple):
    """A vault-relative path to look at; for a folder, everything below it."""

    path: PurePosixPath
    is_folder: bool = False


EVERYTHING = Hint(PurePosixPath("."), is_folder=True)

_EVENTS: list[type[FileSystemEvent]] = [
    FileCreatedEvent,
    FileModifiedEvent,
    FileClosedEvent,
    FileMovedEvent,
    FileDeletedEvent,
    DirCreatedEvent,
    DirMovedEvent,
    DirDeletedEvent,
]
"""Not the events of opening and reading: a `grep` over the vault must not wake the daemon."""

_REMOTE_FILE_SYSTEM = re.compile(
    r"nfs4?|cifs|smb3?|smbfs|9p|afs|ceph|vboxsf|prl_fs|drvfs|fuse\.(sshfs|rclone|s3fs|gvfsd-fuse)"
)


class Watcher:
    """Watches the folders of the vault at `root` (not the hidden ones) and puts each change into `hints`.

    `polling` is empty while the system's events can be trusted; else it says why the caller must also scan everything
    every few seconds.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.hints: queue.SimpleQueue[Hint] = queue.SimpleQueue()
        self.polling = ""
        self._observer: BaseObserver | None = None
        self._watches: dict[Path, tuple[ObservedWatch, int]] = {}
        self._events = _Events(root, self.hints)
        self._overflow = _Overflow(self.hints)

    def start(self) -> None:
        """Set the watches. Every change after this returns gives a hint, if not `polling`."""
        self._overflow = _Overflow(self.hints)
        logging.getLogger("watchdog").addHandler(self._overflow)
        warnings.filterwarnings("ignore", "Callback with id", RuntimeWarning)
        self._observer = Observer()
        self._observer.start()
        for folder, inode in self._folders():
            self._watch(self._observer, folder, inode)
        self.check_coverage()

    def stop(self) -> None:
        """Remove the watches; returns within a second."""
        observer, self._observer, self._watches = self._observer, None, {}
        if observer is not None:
            observer.stop()
            observer.join(1.0)
        # Last: without a handler watchdog's log goes to the terminal.
        logging.getLogger("watchdog").removeHandler(self._overflow)

    def repair_watches(self) -> None:
        """Repair broken watches and watch new folders. Cheap; to be called about once a second."""
        if self._observer is None or not _is_alive(self._observer) or self._overflow.seen:
            self.stop()
            self.start()
            self.hints.put(EVERYTHING)
            return
        live_watches = {emitter.watch for emitter in self._observer.emitters if emitter.is_alive()}
        folders = dict(self._folders())
        for folder, (watch, inode) in list(self._watches.items()):
            if folders.get(folder) != inode or watch not in live_watches:
                self._observer.unschedule(watch)
                del self._watches[folder]
        for folder, inode in folders.items():
            if folder not in self._watches and self._watch(self._observer, folder, inode):
                # What was written into the folder before it was watched gave no event.
                path = PurePosixPath(folder.relative_to(self.root).as_posix())
                self.hints.put(Hint(path, is_folder=True))

    def check_coverage(self) -> None:
        """Set `polling`: events can be trusted when every folder is watched and the drive is a local one."""
        remote = _remote_file_system(self.root)
        if remote:
            self.polling = f"{self.root} is on a network drive ({remote}), which does not report all changes"
            return
        watched = _kernel_watches()
        folders = list(_below(self.root))
        missing = [path for path, inode in folders if inode not in watched] if watched is not None else []
        self.polling = (
            f"{len(missing)} of {len(folders)} folders are not watched (the first: {missing[0]}): raise "
            "fs.inotify.max_user_watches, or close other programs that watch files"
            if missing
            else ""
        )

    def _watch(self, observer: BaseObserver, folder: Path, inode: int) -> bool:
        try:
            watch = observer.schedule(self._events, str(folder), recursive=folder != self.root, event_filter=_EVENTS)
        except (OSError, RecursionError):
            return False  # deleted, out of watches, or too deep for watchdog: `check_coverage` finds it
        self._watches[folder] = watch, inode
        return True

    def _folders(self) -> Iterator[tuple[Path, int]]:
        """The root (watched alone: it holds `.git`), each visible folder in it (watched with all below), and inodes."""
        try:
            yield self.root, os.stat(self.root).st_ino
            with os.scandir(self.root) as entries:
                yield from (
                    (Path(entry.path), entry.inode())
                    for entry in entries
                    if not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False)
                )
        except OSError:
            return


class _Events(FileSystemEventHandler):
    """Turns watchdog's events into hints; runs in watchdog's thread, which an exception would end."""

    def __init__(self, root: Path, hints: queue.SimpleQueue[Hint]) -> None:
        self.root = str(root)
        self.hints = hints

    def on_any_event(self, event: FileSystemEvent) -> None:
        try:
            for path in {event.src_path, event.dest_path}:
                if path:
                    # Not by pathlib, which takes five times as long: `git checkout` makes tens of thousands of events.
                    parts = os.fsdecode(path)[len(self.root) + 1 :].split(os.sep)
                    if not any(map(layout.is_temporary, parts)):
                        self.hints.put(Hint(PurePosixPath(*parts), event.is_directory))
        except Exception:  # whatever it was, a scan finds what changed
            self.hints.put(EVERYTHING)


class _Overflow(logging.Handler):
    """Reads watchdog's log, the only place that says when the kernel dropped events."""

    def __init__(self, hints: queue.SimpleQueue[Hint]) -> None:
        super().__init__(logging.WARNING)
        self.hints = hints
        self.seen = False

    def emit(self, record: logging.LogRecord) -> None:
        self.seen = True
        self.hints.put(EVERYTHING)  # wakes the thread that waits for hints and calls `tend`


def _is_alive(observer: BaseObserver) -> bool:
    """Whether the thread that dispatches events lives and, on Linux, the one that reads them.

    Watchdog does not check the second.
    """
    reader = getattr(observer, "_inotify_fd", observer)
    return observer.is_alive() and reader.is_alive()


def _below(folder: Path) -> Iterator[tuple[str, int]]:
    """Every visible folder from `folder` down, with its inode; links are not followed."""
    todo = [(str(folder), folder.stat().st_ino)] if folder.exists() else []
    while todo:
        yield todo[-1]
        path, _ = todo.pop()
        try:
            with os.scandir(path) as listing:
                todo.extend(
                    (entry.path, entry.inode())
                    for entry in listing
                    if not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False)
                )
        except OSError:
            continue


def _kernel_watches() -> set[int] | None:
    """The inodes that this process watches, as Linux lists them; None on other systems."""
    if not sys.platform.startswith("linux"):
        return None
    inodes: set[int] = set()
    for number in os.listdir("/proc/self/fd"):
        try:
            if os.readlink(f"/proc/self/fd/{number}") == "anon_inode:inotify":
                text = Path(f"/proc/self/fdinfo/{number}").read_text()
                inodes.update(int(inode, 16) for inode in re.findall(r"ino:([0-9a-f]+)", text))
        except OSError:
            continue  # closed since it was listed
    return inodes


def _remote_file_system(root: Path) -> str:
    """The type of the network file system that holds `root`; "" when it is a local or unknown one."""
    try:
        rows = reading.lines(Path("/proc/self/mountinfo").read_bytes().decode("utf-8", "surrogateescape"))
    except OSError:
        return ""
    mounts: dict[str, str] = {}
    for line in rows:
        left, _, right = line.partition(" - ")
        mount_point = re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), left.split()[4])
        mounts[mount_point] = right.split()[0]
    file_system = next((mounts[str(folder)] for folder in (root, *root.parents) if str(folder) in mounts), "")
    return file_system if _REMOTE_FILE_SYSTEM.fullmatch(file_system) else ""
