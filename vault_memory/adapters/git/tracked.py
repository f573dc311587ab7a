"""Which private files git tracks: they came with a clone or a pull, so another person may have written them."""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath

from vault_memory.adapters import files
from vault_memory.adapters.git import process as git
from vault_memory.adapters.git.repository import Repository
from vault_memory.core import layout
from vault_memory.errors import ForeignFile

_MAY_BE_SPLIT = re.compile(rb"link\0[\0-\x10]")
"""The header of the extension that names a shared index; a file whose name ends so looks alike."""

_Known = tuple[object, frozenset[PurePosixPath]]
_known: dict[Path, _Known] = {}
"""Vault → the stamp of its git index, and what that index tracks of its state."""
_indexes: dict[Path, Path] = {}
"""Vault → its git index, once there is one."""


def tracked_state(root: Path) -> frozenset[PurePosixPath]:
    """The state files of the vault at `root` that git tracks, relative to it. 10 us while the git index is the same."""
    index = _indexes.get(root) or Repository(root).git_dir / "index"
    try:
        status = index.stat()
    except OSError:
        _indexes.pop(root, None)
        return frozenset()
    _indexes[root] = index
    stamp = (index, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_size)
    if root not in _known or _known[root][0] != stamp:
        _known[root] = stamp, _listed(root, files.read(index) or b"")
    return _known[root][1]


def refuse_tracked(root: Path, path: Path) -> None:
    """Raise `ForeignFile` if git tracks this private file of the vault at `root`."""
    name = PurePosixPath(path.relative_to(root).as_posix())
    tracked = {_folded(known) for known in tracked_state(root)}
    for part in (name, *name.parents) if tracked else ():  # a folder is tracked as a submodule
        if _folded(part) in tracked:
            raise ForeignFile(
                f"git tracks {part}, so it may be another person's: run `git rm -f {part}` in {root} and commit that; "
                "it is made anew"
            )


def _listed(root: Path, index: bytes) -> frozenset[PurePosixPath]:
    # Versions 2 and 3 hold each whole name, version 4 and a split index do not: then git is asked.
    is_plain = index[4:8] in (b"\0\0\0\2", b"\0\0\0\3") and not _MAY_BE_SPLIT.search(index[-100_000:])
    if is_plain and layout.STATE_DIR.encode() not in index.lower():
        return frozenset()
    pattern = f":(icase,literal){layout.STATE_DIR}"
    listed = git.run(root, "ls-files", "-z", "--", pattern, extra={"GIT_LITERAL_PATHSPECS": "0"})
    return frozenset(PurePosixPath(os.fsdecode(name)) for name in listed.split(b"\0") if name)


def _folded(name: PurePosixPath) -> str:
    """A name as macOS and Windows compare it: `.Vault-Memory/token` is the same file there."""
    return str(name).casefold()
