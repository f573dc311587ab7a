"""What `init --adopt` will do to a folder of notes: shown before anything is written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from vault_memory.adapters.git import Repository
from vault_memory.adapters.scan import walk
from vault_memory.services import starter

MAX_NOTE_BYTES = 1_000_000
"""A larger Markdown file is left untracked: git keeps every version of it."""

_MARKDOWN_ONLY = (
    "# vault-memory: git tracks Markdown and vault-memory's own files here. Delete these lines to track everything",
    "/**",
    "!*/",
    ".*/",
    "!*.md",
    "!/.gitignore",
    "!/.gitattributes",
    "!/vault-memory.toml",
    "!/memory/**/*.jsonl",
)


@dataclass(frozen=True)
class Adoption:
    """What a folder gets; paths are vault-relative.

    `rules`: new lines above those in `.gitignore` and `.gitattributes`; `files`: new files. With `has_git`, its own
    rules say what is tracked. Else that many files are `tracked`, and those in `left` (path, bytes; the largest first)
    are not: `ignored` are the lines of `.gitignore` that see to it.
    """

    root: Path
    rules: dict[PurePosixPath, tuple[str, ...]]
    files: tuple[PurePosixPath, ...]
    has_git: bool
    tracked: int = 0
    left: tuple[tuple[PurePosixPath, int], ...] = ()
    ignored: tuple[str, ...] = ()


def plan_adoption(folder: Path, *, track_all: bool = False) -> Adoption:
    """Look at a folder that `create_vault(folder, adopt=True)` would make a vault. Nothing is written.

    Where there is no git yet, it is to track Markdown files up to `MAX_NOTE_BYTES` outside hidden folders; with
    `track_all` everything.
    """
    root = folder.expanduser().resolve()
    has_git = Repository(root).exists()
    tracked, left = 0, []
    ignored: list[str] = []
    if not has_git and not track_all:
        ignored += _MARKDOWN_ONLY
        for path, size in _files(root):
            is_note = path.suffix == ".md" and not any(part.startswith(".") for part in path.parts)
            if (is_note and size <= MAX_NOTE_BYTES) or path.as_posix() in (".gitignore", ".gitattributes"):
                tracked += 1
                continue
            left.append((path, size))
            if is_note:
                escaped = re.sub(r"([\\*?\[\]!# ])", r"\\\1", path.as_posix())
                ignored.append("/" + re.sub(r"[\r\n]", "?", escaped))  # no rule of git's can hold a line end
    elif not has_git:
        tracked = sum(1 for _ in _files(root))
    rules, files = starter.missing(root, ignored)
    largest_first = sorted(left, key=lambda each: (-each[1], each[0]))
    return Adoption(root, rules, files, has_git, tracked, tuple(largest_first), tuple(ignored))


def _files(root: Path) -> Iterator[tuple[PurePosixPath, int]]:
    """Every file and its bytes."""
    for folder, folders, names in walk(root):
        folders[:] = sorted(name for name in folders if name != ".git")
        for name in sorted(names):
            path = Path(folder, name)
            yield PurePosixPath(path.relative_to(root).as_posix()), path.lstat().st_size
