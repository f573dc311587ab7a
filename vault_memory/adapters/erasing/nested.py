"""Repositories inside the vault's folder: git looks into none of them, and their history cannot be made anew here."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from vault_memory.adapters import files, git
from vault_memory.adapters.erasing.references import TIMEOUT_S
from vault_memory.adapters.erasing.request import Request
from vault_memory.adapters.git import ObjectReader, Repository
from vault_memory.adapters.scan import walk
from vault_memory.errors import HistoryError


def refuse_nested(repository: Repository, request: Request) -> None:
    """Raise `HistoryError` where a repository below this one holds what is to be erased."""
    erasure, top = request.erasure(), repository.top
    for folder in _nested(top):
        if any(folder.is_relative_to(gone) for gone in request.gone):
            is_held = (top / folder / ".git").is_file()  # the folder goes; its history is elsewhere
        elif any(folder.is_relative_to(spared) for spared in request.spared):
            is_held = False
        else:
            is_held = any(gone.is_relative_to(folder) for gone in request.gone)
            is_held = is_held or (erasure is not None and any(map(erasure.holds, _all_of(top, folder))))
        if is_held:
            raise HistoryError(
                f"nothing is erased: {folder} is a git repository of its own, which holds it, and can be made anew "
                "only by itself: move it out of the vault or delete it, then erase again; what it says of the text is "
                "for you to take out there"
            )


def _nested(top: Path) -> Iterator[PurePosixPath]:
    for folder, below, names in walk(top):
        if Path(folder) != top and ".git" in (*below, *names):
            yield PurePosixPath(Path(folder).relative_to(top))
        below[:] = [name for name in below if name != ".git"]


def _all_of(top: Path, nested: PurePosixPath) -> Iterator[bytes]:
    """The bytes of all names, files and objects of a repository."""
    for folder, below, names in walk(top / nested):
        for name in (*below, *names):
            place = Path(folder, name)
            yield os.fsencode(place.relative_to(top))
            if place.is_symlink():
                yield os.fsencode(os.readlink(place))
            elif place.is_file():
                yield files.read(place, None) or b""
    args = ("cat-file", "--batch-all-objects", "--batch-check=%(objectname)")
    listed = git.run(top / nested, *args, timeout_s=TIMEOUT_S).decode().split()
    with ObjectReader(top / nested) as reader:
        for name in listed:
            yield reader.read(name)[1]
