"""The commits of a repository: the log as `LogEntry`, and how commits relate to each other.

All of it is plain git, run by `process`. gitpython's `iter_commits` runs the same git, cannot take GIT_DIR and
GIT_INDEX_FILE of an outer git out of its environment, and starts a second process to read the commits: the newest 20
of a file among 5,000 commits take it 16 ms, and this 8 ms.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from vault_memory.adapters.git import process as git
from vault_memory.adapters.git.settings import EndlessOutput
from vault_memory.core import reading
from vault_memory.core.trailers import KEYS, parse
from vault_memory.errors import HistoryError

_FORMAT = "%H%x00%an%x00%ae%x00%aI%x00%B"  # with -z one more NUL ends each record; no field can hold one
_FIELDS = 5
_COMMIT = re.compile("[0-9a-f]{40}(?:[0-9a-f]{24})?")
_CUT_FORMAT = _FORMAT.replace("%B", "%<(1000,trunc)%s")
"""The same of a commit with an endless message: the beginning of its first lines."""
_MAX_LOG_BYTES = 30_000_000
"""Of the messages that are read at once; 30 kB for each of a thousand."""
_MAX_COMMIT_BYTES = 20_000
"""Of a commit whose whole message is read, once all of them together are too long."""
_TIMEOUT_S = 60.0


@dataclass(frozen=True)
class LogEntry:
    """One commit in the log; subject, reason, trailers and body are as `core.trailers.parse` takes them apart."""

    commit: str
    author: str
    email: str
    time: datetime
    subject: str
    reason: str = ""
    trailers: Mapping[str, str] = field(default_factory=dict)
    body: str = ""


class Moment(NamedTuple):
    """A commit and its time (seconds). They compare by time, then hash: the same on every machine."""

    time: int
    commit: str


_THESE = ("--no-walk=unsorted", "--stdin")


def log_records(out: bytes, fields: int) -> list[list[str]]:
    """The records of a `git log -z`, each of so many fields with NULs between them, a commit's id first.

    Raises `HistoryError` for anything else: what was printed in another way must not read as an empty log.
    """
    parts = out.decode("utf-8", "replace").split("\0") if out else []
    found = [parts[at : at + fields] for at in range(0, len(parts), fields)]
    if any(len(record) != fields or not _COMMIT.fullmatch(record[0]) for record in found):
        raise HistoryError("git's log cannot be read: look for settings of its output with `git config --list`")
    return found


def _named(commits: Sequence[str]) -> bytes:
    return "".join(f"{commit}\n" for commit in commits).encode()


class CommitLog:
    """The commits of the repository that holds the folder `root`; paths are relative to it."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def entries(
        self,
        paths: Sequence[PurePosixPath] | None,
        *,
        limit: int,
        since: datetime | None,
        trailers: Mapping[str, str | None],
        lacking: str | None = None,
        of: Sequence[str] = (),
        without: Sequence[str] = (),
    ) -> list[LogEntry]:
        """The newest commits, newest first, that touch `paths` and carry all `trailers` (None: any value), or that are
        `lacking` one: those that the commits `of` (none: HEAD) have, and the commits `without` do not."""
        args = [f"--max-count={limit}"]
        if since is not None:
            args.append(f"--since={since.isoformat()}")
        if lacking is not None:
            args += ["--invert-grep", f"--grep=^{lacking}: "]
        elif trailers:
            args += ["--extended-regexp", "--all-match"]
            args += [
                f"--grep=^{key}: {'' if value is None else re.escape(value) + '$'}" for key, value in trailers.items()
            ]
        if paths:
            args.append("--full-history")  # a merge that did not keep one side's change must not hide that side
        args += [*(of or ["HEAD"]), "--not", *without]
        return self._read([*args, "--", *map(str, paths if paths is not None else ["."])])

    def of_commits(self, commits: Sequence[str]) -> list[LogEntry]:
        """The entries of these commits, in the order given."""
        if not commits:
            return []
        return self._read(_THESE, _named(commits))

    def _read(self, args: Sequence[str], stdin: bytes = b"") -> list[LogEntry]:
        try:
            return self._entries(_FORMAT, args, stdin)
        except EndlessOutput:
            commits = git.run(self._root, "log", "--format=%H", *args, stdin=stdin).decode().split()
        sizes = git.run(self._root, "cat-file", "--batch-check=%(objectsize)", stdin=_named(commits)).split()
        long = [commit for commit, size in zip(commits, sizes, strict=True) if int(size) > _MAX_COMMIT_BYTES]
        short = [commit for commit, size in zip(commits, sizes, strict=True) if int(size) <= _MAX_COMMIT_BYTES]
        found = self._entries(_CUT_FORMAT, _THESE, _named(long)) if long else []
        for at in range(0, len(short), _MAX_LOG_BYTES // _MAX_COMMIT_BYTES):
            found += self._entries(_FORMAT, _THESE, _named(short[at : at + _MAX_LOG_BYTES // _MAX_COMMIT_BYTES]))
        entries = {entry.commit: entry for entry in found}
        return [entries[commit] for commit in commits]

    def _entries(self, shape: str, args: Sequence[str], stdin: bytes) -> list[LogEntry]:
        out = git.run(
            self._root, "log", "-z", f"--format=format:{shape}", *args, stdin=stdin, output_bytes=_MAX_LOG_BYTES
        )
        return [_entry(fields) for fields in log_records(out, _FIELDS)]

    def values(self, trailer: str) -> set[str]:
        """All values that the commits of HEAD have for a trailer."""
        shape = f"--format=%(trailers:key={trailer},valueonly)"
        out = git.run(self._root, "log", shape, f"--grep=^{trailer}: ", "HEAD", "--", timeout_s=_TIMEOUT_S)
        return set(out.decode("utf-8", "replace").split())

    def has(self, commit: str) -> bool:
        """Whether a commit is in this repository with all its ancestors."""
        args = ("rev-list", "--max-count=1", "--ignore-missing", commit, "--")
        return bool(git.run(self._root, *args, ok=(0, 128)).strip())

    def count(self, since: str | None, tip: str) -> int:
        """How many commits `tip` has that `since` has not."""
        return int(git.run(self._root, "rev-list", "--count", tip, *(["--not", since] if since else []), "--"))

    def is_shallow(self) -> bool:
        """Whether the repository lacks the beginning of its history (`git clone --depth`)."""
        return git.run(self._root, "rev-parse", "--is-shallow-repository").strip() == b"true"

    def parent(self, commit: str) -> str | None:
        """The first parent of a commit; None for the very first one."""
        return next(iter(git.run(self._root, "log", "-1", "--format=%P", commit, "--").decode().split()), None)

    def merge_base(self, ours: str, theirs: str) -> str | None:
        """The best common ancestor of two commits, or None."""
        return git.run(self._root, "merge-base", ours, theirs, ok=(0, 1)).decode().strip() or None

    def is_ancestor(self, commit: str, other: str) -> bool:
        """Whether `commit` is an ancestor of `other`, or the same one; both are whole hashes."""
        return self.merge_base(commit, other) == commit

    def last_made(self, path: PurePosixPath, moment: datetime, key: str | None = None) -> str | None:
        """The commit on a file whose author made it last, up to a moment; None if there is none. Of two of one second
        the later one in history.

        What is learned from an old turn is committed now, above newer commits, and was said then. With `key` only
        commits count that are about that key of a profile, or name no key: its creation, a merge, an edit of much.
        Without it, the states of the file on this branch count (`--first-parent`).
        """
        line = KEYS["key"]
        sought = [["--first-parent"]]
        if key:
            options = ["--full-history", "--extended-regexp"]
            sought = [
                [*options, f"--grep=^{line}: {re.escape(key)}$"],
                [*options, f"--grep=^{line}: ", "--invert-grep"],
            ]
        made: list[tuple[int, str]] = []
        for args in sought:
            out = git.run(self._root, "log", "--format=%at %H", *args, "HEAD", "--", str(path), timeout_s=_TIMEOUT_S)
            rows = (row.split() for row in reading.lines(out.decode()))
            made += [(int(row[0]), row[1]) for row in rows if len(row) == 2]  # a damaged date is none
        made = [each for each in made if each[0] <= moment.timestamp()]
        return max(made, key=lambda each: each[0])[1] if made else None

    def last_before(self, moment: datetime) -> str | None:
        """The last commit of the branch up to a moment."""
        args = ("rev-list", "--max-count=1", "--first-parent", f"--before={moment.isoformat()}", "HEAD", "--")
        return git.run(self._root, *args, timeout_s=_TIMEOUT_S).decode().strip() or None

    def between(self, since: str | None, tip: str, trailer: str) -> list[LogEntry]:
        """The commits that `tip` has and `since` has not, and that carry a trailer; each after its ancestors."""
        span = [tip, *(["--not", since] if since else [])]
        found = self._read(["--topo-order", "--extended-regexp", f"--grep=^{trailer}: ", *span, "--"])
        return [entry for entry in reversed(found) if trailer in entry.trailers]

    def is_changed(self, path: PurePosixPath, since: str, tip: str) -> bool:
        """Whether a commit that `tip` has and `since` has not changed a file or folder."""
        args = ("rev-list", "--max-count=1", tip, "--not", since, "--", str(path))
        return bool(git.run(self._root, *args, timeout_s=_TIMEOUT_S).strip())

    def last_change(
        self, places: Sequence[tuple[PurePosixPath, str]], base: str | None, key: str | None = None
    ) -> Moment:
        """When a side last changed a file since `base`, by its author's time: what is learned late was said before;
        with `key`, that profile key, if a commit names it.

        `places` are the file's paths on that side, the newest first, each with the last commit that counts; a commit
        that only gave the file another path does not.
        """
        of_key = ["--extended-regexp", f"--grep=^Vault-Key: {re.escape(key)}$"] if key else []
        for grep in (of_key, ["--invert-grep", "--extended-regexp", "--grep=^Vault-Renamed-From: "]):
            for path, tip in places if grep else ():
                span = [tip, *(["--not", base] if base else [])]
                args = ("log", "--max-count=1", "--format=%H %at", *grep, *span, "--", str(path))
                if out := git.run(self._root, *args).split():  # a commit with a damaged date has none
                    return Moment(int(out[1]) if out[1:] else 0, out[0].decode())
        return Moment(0, places[0][1])


_FIRST, _LAST = datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC)
"""A commit of any remote may be dated earlier or later; told in another zone, such a time is in no calendar."""


def commit_time(text: str) -> datetime:
    """The time of a commit as git writes it (ISO 8601), within what every zone can tell."""
    try:
        return min(max(datetime.fromisoformat(text), _FIRST), _LAST)
    except ValueError:  # five digits of a year, or none: the date is damaged
        return _LAST if text else _FIRST


def _entry(fields: list[str]) -> LogEntry:
    commit, author, email, time, text = fields
    message = parse(text)
    return LogEntry(
        commit,
        author,
        email,
        commit_time(time),
        message.subject,
        message.reason,
        message.trailers,
        message.body,
    )
