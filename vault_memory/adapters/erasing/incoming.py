"""What a fetch brings, read before it is in the repository."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from vault_memory.adapters import files, git
from vault_memory.adapters.erasing.former import read_map
from vault_memory.adapters.git import Repository
from vault_memory.core import layout, reading
from vault_memory.core.erasing import Tombstones

_TIMEOUT_S = 1800.0
_AT_ONCE = 500
_ENCODING = re.compile(rb"^encoding (.+)$", re.MULTILINE)


def brought_back(root: Path, stones: Tombstones, tip: str, environment: Mapping[str, str]) -> str:
    """What of that which was erased here the commits of `tip` would bring back that no reference here has, in words; ""
    for nothing. `environment` is that of git with what came."""
    args = ("rev-list", tip, "--not", "--all")
    commits = git.run(root, *args, extra=environment, timeout_s=_TIMEOUT_S).decode().split()
    if not read_map(Repository(root).common_dir).keys().isdisjoint(commits):
        return "the history from before an erasing"
    changes = _changes(root, tip, environment)
    for path in dict.fromkeys(path for path, _ in changes):
        if stones.has_path(path):
            return f"the file {path}, which was erased here"
        if stones.are_in_name(path):
            where = layout.label(layout.scope_of(path))
            return f"a text that was erased here, in the name of a file or folder of {where}"
    held: dict[str, set[PurePosixPath | None]] = {commit: {None} for commit in commits}
    for path, blob in changes:
        held.setdefault(blob, set()).add(path)
    for name, content in _contents(root, held, environment):
        for place in held[name]:
            if (
                stones.are_in_file(place, content.decode("utf-8", "replace"))
                if place
                else stones.are_in_message(_message(content))
            ):
                return f"a text that was erased here, in {place or 'the message of a commit'}"
    return ""


def _message(commit: bytes) -> str:
    """That of a commit: what stands above it (who, when, ids) nobody has said."""
    head, _, message = commit.partition(b"\n\n")
    found = _ENCODING.search(head)
    try:
        return message.decode(found[1].decode("ascii") if found else "utf-8", "replace")
    except LookupError:
        return message.decode("utf-8", "replace")


def _changes(root: Path, tip: str, environment: Mapping[str, str]) -> list[tuple[PurePosixPath, str]]:
    """(path, blob) of each file that one of the commits of `tip` which no reference here has adds or changes; of a
    merge only what no side had so."""
    args = ("log", "--raw", "-c", "--root", "-z", "--no-abbrev", "--no-renames", "--format=", tip, "--not", "--all")
    fields = iter(git.run(root, *args, extra=environment, timeout_s=_TIMEOUT_S).split(b"\0"))
    found: list[tuple[PurePosixPath, str]] = []
    for facts, name in zip(fields, fields, strict=False):
        blob = facts.split()[-2].decode()
        if blob.strip("0"):
            found.append((PurePosixPath(os.fsdecode(name)), blob))
    return found


def _contents(root: Path, names: Iterable[str], environment: Mapping[str, str]) -> Iterator[tuple[str, bytes]]:
    """(id, content) of each of these files and commits that is no longer than this program reads."""
    told = _batch(root, "--batch-check", [name.encode() for name in names], environment)
    rows = [row.split() for row in reading.lines(told)]
    there = [row for row in rows if len(row) == 3]  # a submodule's commit is not
    ids = [name for name, _, size in there if int(size) <= files.MAX_FILE_BYTES]
    for at in range(0, len(ids), _AT_ONCE):
        told, start = _batch(root, "--batch", ids[at : at + _AT_ONCE], environment), 0
        while start < len(told):
            end = told.index(b"\n", start)
            name, _, size = told[start:end].split()
            yield name.decode(), told[end + 1 : end + 1 + int(size)]
            start = end + 2 + int(size)


def _batch(root: Path, how: str, ids: list[bytes], environment: Mapping[str, str]) -> bytes:
    stdin = b"".join(each + b"\n" for each in ids)
    return git.run(root, "cat-file", how, stdin=stdin, extra=environment, timeout_s=_TIMEOUT_S)
