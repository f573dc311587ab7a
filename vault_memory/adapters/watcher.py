"""What the operating system says about a vault's files, by way of watchdog. A hint says *look there*, never what changed.

The traps of this trade, and what is done about each:
- an exception in a handler ends watchdog's thread: ours only puts a path into a queue;
- the kernel's queue overflows and events are lost: watchdog logs it, we listen to the log and `tend` starts afresh (its
  own repair leaves a moment without any watch);
- `fs.inotify.max_user_watches` is reached and folders stay unwatched, silently: `audit` compares the watches that the
  kernel lists with the folders there are, and asks for polling;
- network drives tell nothing of what others write: polling;
- a folder is deleted and made anew, a thread dies: `tend` sets the watches again;
- watchdog walks a new folder and then hears of each folder in it as well, and warns that it watches them twice: the second
  watch takes the place of the first, which is the same, and nothing is lost. The warning must be kept from the person's
  terminal; and where warnings are errors it would end the thread that reads.

Polling means that somebody looks at everything every few seconds; the scan is as cheap as any poller's snapshot.
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


class Hint(NamedTuple):
    """A vault-relative path to look at; of a folder: at everything below it."""

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
"""Not: a file was opened or read. A `grep` over the vault must not wake the daemon."""

_PASSING = re.compile(
    r"\..*|.*~|~.*|4913|index\.db.*|.*\.(sw[a-p]|tmp|temp|bak|part|icloud|crdownload|lock)", re.IGNORECASE
)
"""Names that come and go while others write: of vim, Emacs, VS Code, Office, Syncthing, iCloud, browsers and SQLite."""

_REMOTE = re.compile(r"nfs4?|cifs|smb3?|smbfs|9p|afs|ceph|vboxsf|prl_fs|drvfs|fuse\.(sshfs|rclone|s3fs|gvfsd-fuse)")


class Watcher:
    """Watches the content folders of the vault at `root` (no hidden ones) and puts what it hears into `hints`.

    `polling` is empty while the system's events can be trusted, else it says why somebody must also look at everything
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
        """Set the watches; whatever changes after this returned is hinted at, if not `polling`."""
        self._overflow = _Overflow(self.hints)
        logging.getLogger("watchdog").addHandler(self._overflow)
        warnings.filterwarnings("ignore", "Callback with id", RuntimeWarning)
        self._observer = Observer()
        self._observer.start()
        for folder, inode in self._folders():
            self._watch(self._observer, folder, inode)
        self.audit()

    def stop(self) -> None:
        """Take the watches away; ends within a second."""
        observer, self._observer, self._watches = self._observer, None, {}
        if observer is not None:
            observer.stop()
            observer.join(1.0)
        logging.getLogger("watchdog").removeHandler(
            self._overflow
        )  # last: without it watchdog would talk to the terminal

    def tend(self) -> None:
        """Mend what broke and watch what is new. Cheap: to be called about once a second."""
        if self._observer is None or not _is_alive(self._observer) or self._overflow.seen:
            self.stop()
            self.start()
            self.hints.put(EVERYTHING)
            return
        alive = {emitter.watch for emitter in self._observer.emitters if emitter.is_alive()}
        there = dict(self._folders())
        for folder, (watch, inode) in list(self._watches.items()):
            if there.get(folder) != inode or watch not in alive:
                self._observer.unschedule(watch)
                del self._watches[folder]
        for folder, inode in there.items():
            if folder not in self._watches and self._watch(self._observer, folder, inode):
                # What was written into the folder before its watch stood is told by nobody else.
                path = PurePosixPath(folder.relative_to(self.root).as_posix())
                self.hints.put(Hint(path, is_folder=True))

    def audit(self) -> None:
        """Find out whether the system's events can be trusted: every folder is watched, and the drive is a local one."""
        remote = _remote_drive(self.root)
        if remote:
            self.polling = f"{self.root} is on a network drive ({remote}), which does not tell of changes"
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
            return False  # gone already, no watch to be had, or too deep for watchdog: `audit` sees it
        self._watches[folder] = watch, inode
        return True

    def _folders(self) -> Iterator[tuple[Path, int]]:
        """The root itself (not deeper: it holds `.git`) and each visible folder in it (as deep as it goes), with inodes."""
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
                    # By hand: a `git checkout` makes tens of thousands of these, and pathlib takes five times as long.
                    parts = os.fsdecode(path)[len(self.root) + 1 :].split(os.sep)
                    if not any(map(_PASSING.fullmatch, parts)):
                        self.hints.put(Hint(PurePosixPath(*parts), event.is_directory))
        except Exception:  # whatever it was, the scan that follows is right
            self.hints.put(EVERYTHING)


class _Overflow(logging.Handler):
    """Listens to watchdog's log: it is the only place that tells when the kernel dropped events."""

    def __init__(self, hints: queue.SimpleQueue[Hint]) -> None:
        super().__init__(logging.WARNING)
        self.hints = hints
        self.seen = False

    def emit(self, record: logging.LogRecord) -> None:
        self.seen = True
        self.hints.put(EVERYTHING)  # so that whoever waits for a hint wakes, and tends


def _is_alive(observer: BaseObserver) -> bool:
    """Whether the thread that hands on events lives, and on Linux the one that reads them: watchdog does not look after it."""
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
    """Inodes that this process watches, as Linux lists them; None on a system that does not tell."""
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


def _remote_drive(root: Path) -> str:
    """The type of the network file system that `root` lies on, or "" when it is a local one (or nobody tells)."""
    try:
        lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return ""
    mounts: dict[str, str] = {}
    for line in lines:
        left, _, right = line.partition(" - ")
        point = re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), left.split()[4])
        mounts[point] = right.split()[0]
    here = next((mounts[str(folder)] for folder in (root, *root.parents) if str(folder) in mounts), "")
    return here if _REMOTE.fullmatch(here) else ""
