"""Copies beside a file, for what it would lose: the older text of a conflict, a program of this machine."""

from __future__ import annotations

import os
from itertools import chain, count
from pathlib import PurePosixPath

from vault_memory.adapters import files
from vault_memory.adapters.git import Content, Stored, bytes_of, is_content, object_id
from vault_memory.adapters.history.history import History
from vault_memory.adapters.history.model import FileChange

_MAX_NAME_BYTES, _MAX_SUFFIX_BYTES = 255, 32


def copy_beside(history: History, path: PurePosixPath, mark: str, content: Content, theirs: str = "HEAD") -> FileChange:
    """The change that makes a copy of a file's content beside it, with `mark` in its name; "" gives it a number alone.

    A name that something else has, on the disk, in HEAD or in the commit `theirs`, is passed over for one with a
    number: `plan (mark) 2.canvas`. It may be a file that is in no commit, and would be lost. No link leads from the
    folder of `path` out of the vault: who reads that file has checked it.
    """
    marks = chain([mark] if mark else [], (f"{mark} {number}" for number in count(2)))
    copy = next(
        copy
        for copy in (path.with_name(_copy_name(path, each)) for each in marks)
        if _is_free(history, copy, content, theirs)
    )
    return FileChange(copy, files.read(history.root / copy), content)


def _is_free(history: History, copy: PurePosixPath, content: Content, theirs: str) -> bool:
    """Whether nothing has this name, or only a file with this content: then the copy was made before."""
    place = history.root / copy
    if os.path.lexists(place):
        is_file = place.is_file() and not place.is_symlink() and place.stat().st_size <= files.MAX_FILE_BYTES
        if not (is_file and is_content(files.read(place), content)):
            return False
    blob = content.id if isinstance(content, Stored) else object_id("blob", bytes_of(content) or b"")
    return all(entry is None or entry.id == blob for entry in (history.entry(copy), history.entry(copy, theirs)))


def _copy_name(path: PurePosixPath, mark: str) -> str:
    """The name of a file with `mark` before its suffix, cut where a file system takes no more."""
    name = f"{path.stem}{mark}{path.suffix}"
    if len(os.fsencode(name)) <= _MAX_NAME_BYTES:
        return name
    suffix = path.suffix if len(os.fsencode(path.suffix)) <= _MAX_SUFFIX_BYTES else ""
    end = f"~{object_id('blob', os.fsencode(path.name))[:7]}{mark}{suffix}"  # two long names may begin alike
    stem = path.name.removesuffix(suffix)
    while len(os.fsencode(stem + end)) > _MAX_NAME_BYTES:
        stem = stem[:-1]
    return stem + end
