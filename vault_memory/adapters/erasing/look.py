"""What an erasing would find, and what history holds; nothing is written."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath

from vault_memory.adapters import files, git
from vault_memory.adapters.erasing.references import TIMEOUT_S, moves_of, rewrite_all
from vault_memory.adapters.erasing.request import Erased, Request
from vault_memory.adapters.erasing.rewrite import Rewrite
from vault_memory.adapters.erasing.working_tree import in_working_tree, named_on_disk
from vault_memory.adapters.git import ObjectReader, Repository, object_id


def look_for(repository: Repository, request: Request) -> Erased:
    """What would be erased now: the commits that would be made anew, the references whose names or targets would be
    others, and the files on the disk, among those that git tracks or would, that would change. Nothing is written."""
    top = repository.top
    with ObjectReader(top) as reader:
        made: dict[str, tuple[str, bytes]] = {}

        def add(kind: str, body: bytes) -> str:
            name = object_id(kind, body)
            if kind == "tag":
                made[name] = (kind, body)
            return name

        def read(name: str) -> tuple[str, bytes]:
            return made[name] if name in made else reader.read(name)

        rewrite = Rewrite(read, add, request.erasure(), request.gone, request.spared, {}, request.named)
        rewrite_all(top, rewrite)
        moves = moves_of(top, rewrite)
    changed = [
        path
        for path in in_working_tree(top)
        if (top / path).is_file()
        and not (top / path).is_symlink()
        and (rewrite.path(path) != path or _is_changed(rewrite, path, top))
    ]
    changed = [*dict.fromkeys([*changed, *named_on_disk(top, rewrite)])]
    moved = sum(each.id_now != each.id or each.name_now != each.name for each in moves)
    return Erased(rewrite.commits, moved, tuple(changed))


def _is_changed(rewrite: Rewrite, path: PurePosixPath, top: Path) -> bool:
    old = files.read(top / path, None) or b""
    return rewrite.content(path, old) != old


def held_files(repository: Repository) -> list[tuple[PurePosixPath, str]]:
    """(path, blob) of each file that a commit has changed, before and after; paths from the repository's top."""
    args = ("log", "--all", "--raw", "-m", "--root", "-z", "--no-abbrev", "--no-renames", "--format=")
    fields = iter(git.run(repository.top, *args, timeout_s=TIMEOUT_S).split(b"\0"))
    found: dict[tuple[PurePosixPath, str], None] = {}
    for facts, name in zip(fields, fields, strict=False):
        _, _, old, new, _ = facts.decode().split()
        path = PurePosixPath(os.fsdecode(name))
        found |= {(path, blob): None for blob in (old, new) if blob.strip("0")}
    return [*found]
