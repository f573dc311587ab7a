"""What a file of the vault was called before: its path, and the renamings that history tells of."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import PurePosixPath

from vault_memory.adapters import files, git
from vault_memory.adapters.erasing.references import TIMEOUT_S
from vault_memory.adapters.erasing.working_tree import in_working_tree
from vault_memory.adapters.git import Repository, object_id

_EMPTY = object_id("blob", b"")


def paths_of(repository: Repository, path: PurePosixPath) -> tuple[set[PurePosixPath], set[PurePosixPath]]:
    """The paths that a file has and had, and former ones at which another file is now; from the repository's top.

    A renaming is one commit, or what no commit has yet, in which a file is gone and one with the same content, which is
    not empty, is new. A file that merely says the same is another file.
    """
    befores: dict[PurePosixPath, set[PurePosixPath]] = {}
    afters: dict[PurePosixPath, set[PurePosixPath]] = {}
    for old, new in (*_committed(repository), *_pending(repository)):
        befores.setdefault(new, set()).add(old)
        afters.setdefault(old, set()).add(new)
    there = {each for each in in_working_tree(repository.top) if os.path.lexists(repository.top / each)}
    found: set[PurePosixPath] = {path}
    others: set[PurePosixPath] = set()
    todo = [path]
    while todo and path not in there:  # a file that is not there any more: where it went
        later = afters.get(todo.pop(), set()) - found
        found |= later
        todo += later - there
    todo = [*found]
    while todo:
        earlier = befores.get(todo.pop(), set()) - found - others
        others |= earlier & there
        found |= earlier - there
        todo += earlier - there
    return found, others


def _committed(repository: Repository) -> Iterator[tuple[PurePosixPath, PurePosixPath]]:
    args = ("log", "--all", "--raw", "-m", "--root", "-z", "--no-abbrev", "-M100%", "--diff-filter=R", "--format=")
    fields = iter(git.run(repository.top, *args, timeout_s=TIMEOUT_S).split(b"\0"))
    for facts, old, new in zip(fields, fields, fields, strict=False):
        if facts.split()[2].decode() != _EMPTY:
            yield PurePosixPath(os.fsdecode(old)), PurePosixPath(os.fsdecode(new))


def _pending(repository: Repository) -> Iterator[tuple[PurePosixPath, PurePosixPath]]:
    """Those of the working tree, of files that git does not know by the new name yet."""
    top = repository.top
    gone: dict[str, list[PurePosixPath]] = {}
    for row in filter(None, git.run(top, "ls-files", "--stage", "-z").split(b"\0")):
        facts, _, name = row.partition(b"\t")
        if not os.path.lexists(top / os.fsdecode(name)):
            gone.setdefault(facts.split()[1].decode(), []).append(PurePosixPath(os.fsdecode(name)))
    gone.pop(_EMPTY, None)
    if not gone:
        return
    for name in filter(None, git.run(top, "ls-files", "--others", "--exclude-standard", "-z").split(b"\0")):
        new = PurePosixPath(os.fsdecode(name))
        if (top / new).is_file() and not (top / new).is_symlink():
            for old in gone.get(object_id("blob", files.read(top / new, None) or b""), ()):
                yield old, new
