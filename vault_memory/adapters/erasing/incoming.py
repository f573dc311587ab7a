"""What a fetch brings, read before it is in the repository."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from vault_memory.adapters import files, git
from vault_memory.adapters.erasing.former import read_map
from vault_memory.adapters.git import Repository
from vault_memory.core import layout, reading
from vault_memory.core.erasing import Tombstones

_TIMEOUT_S = 1800.0
_AT_ONCE = 500


def brought_back(root: Path, stones: Tombstones, tip: str, environment: Mapping[str, str]) -> str:
    """What of that which was erased here the commits of `tip` would bring back that no reference here has, in words; ""
    for nothing. `environment` is that of git with what came."""
    args = ("rev-list", tip, "--not", "--all")
    commits = git.run(root, *args, extra=environment, timeout_s=_TIMEOUT_S).decode().split()
    if not read_map(Repository(root).common_dir).keys().isdisjoint(commits):
        return "the history from before an erasing"
    for path, content in _incoming(root, tip, environment):
        if path and stones.has_path(path):
            return f"the file {path}, which was erased here"
        if stones.are_in(layout.scope_of(path) if path else layout.SHARED, [content.decode("utf-8", "replace")]):
            return f"a text that was erased here, in {path or 'the message of a commit'}"
    return ""


def _incoming(root: Path, tip: str, environment: Mapping[str, str]) -> Iterator[tuple[PurePosixPath | None, bytes]]:
    """(path, content) of each file in the commits of `tip` that no reference here has, as long as it is no longer than
    this program reads; and (None, content) of each of these commits itself."""
    args = ("rev-list", "--objects", tip, "--not", "--all")
    listed = reading.lines(git.run(root, *args, extra=environment, timeout_s=_TIMEOUT_S))
    paths = {row[:40]: PurePosixPath(os.fsdecode(row[41:])) for row in listed}
    told = _batch(root, "--batch-check", [*paths], environment)
    rows = [row.split() for row in reading.lines(told)]
    ids = [name for name, kind, size in rows if kind in (b"blob", b"commit") and int(size) <= files.MAX_FILE_BYTES]
    for at in range(0, len(ids), _AT_ONCE):
        told, start = _batch(root, "--batch", ids[at : at + _AT_ONCE], environment), 0
        while start < len(told):
            end = told.index(b"\n", start)
            name, kind, size = told[start:end].split()
            body = told[end + 1 : end + 1 + int(size)]
            start = end + 2 + int(size)
            yield (paths[name] if kind == b"blob" else None), body


def _batch(root: Path, how: str, ids: list[bytes], environment: Mapping[str, str]) -> bytes:
    stdin = b"".join(each + b"\n" for each in ids)
    return git.run(root, "cat-file", how, stdin=stdin, extra=environment, timeout_s=_TIMEOUT_S)
