"""Read the log: commits as `Entry`, by one `git log` whose output cannot be mistaken."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path, PurePosixPath

from vault_memory.adapters.history import git
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
    args += ["--", *map(str, paths if paths is not None else ["."])]
    out = git.run(folder, *args, timeout_s=timeout_s)
    fields = out.decode("utf-8", "replace").split("\0")
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
