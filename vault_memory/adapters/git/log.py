"""Read the log: commits as `Entry`, by one `git log` whose output cannot be mistaken."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path, PurePosixPath

from vault_memory.adapters.git import process as git
from vault_memory.adapters.history.model import Entry
from vault_memory.core.trailers import parse

_FORMAT = "%H%x00%an%x00%ae%x00%aI%x00%B"  # with -z one more NUL ends each record; no field can hold one
_FIELDS = 5


def entries(
    folder: Path,
    paths: Sequence[PurePosixPath] | None,
    *,
    limit: int,
    since: datetime | None,
    until: datetime | None = None,
    trailers: Mapping[str, str | None],
    timeout_s: float = 30.0,
) -> list[Entry]:
    """The newest commits, newest first; `paths` are relative to `folder`, `trailers` must all be there (None: any value)."""
    args = ["log", "-z", f"--format=format:{_FORMAT}", f"--max-count={limit}"]
    if since is not None:
        args.append(f"--since={since.isoformat()}")
    if until is not None:
        args.append(f"--until={until.isoformat()}")
    if trailers:
        args += ["--extended-regexp", "--all-match"]
        args += [f"--grep=^{key}: {'' if value is None else re.escape(value) + '$'}" for key, value in trailers.items()]
    if paths:
        args.append("--full-history")  # a merge that did not keep one side's change must not hide that side
    return _read(folder, [*args, "--", *map(str, paths if paths is not None else ["."])], b"", timeout_s)


def of_commits(folder: Path, commits: Sequence[str], timeout_s: float = 30.0) -> list[Entry]:
    """The entries of these commits, in the order given."""
    if not commits:
        return []
    args = ["log", "-z", f"--format=format:{_FORMAT}", "--no-walk=unsorted", "--stdin"]
    return _read(folder, args, "".join(f"{commit}\n" for commit in commits).encode(), timeout_s)


def is_ancestor(folder: Path, commit: str, other: str) -> bool:
    """Whether `other` came to be on top of `commit`, or is it; both are whole hashes."""
    return git.run(folder, "merge-base", commit, other, ok=(0, 1)).decode().strip() == commit


def _read(folder: Path, args: Sequence[str], stdin: bytes, timeout_s: float) -> list[Entry]:
    fields = git.run(folder, *args, stdin=stdin, timeout_s=timeout_s).decode("utf-8", "replace").split("\0")
    return [_entry(fields[at : at + _FIELDS]) for at in range(0, len(fields) - _FIELDS + 1, _FIELDS)]


def _entry(fields: list[str]) -> Entry:
    commit, author, email, time, text = fields
    message = parse(text)
    return Entry(
        commit,
        author,
        email,
        datetime.fromisoformat(time),
        message.subject,
        message.reason,
        message.trailers,
        message.body,
    )
