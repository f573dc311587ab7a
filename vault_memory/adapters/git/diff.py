"""What differs: files between two commits, lines between two states of a file; who wrote each line; a merge by lines.

All of it is plain git, run by `process`. gitpython's `blame` shows a commit's lines, not those on disk, and cannot be
given a file's own history to walk (`_ancestry`).
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from vault_memory.adapters.git import process as git
from vault_memory.adapters.git.objects import EMPTY_TREE
from vault_memory.core import layout, reading
from vault_memory.errors import HistoryError

_COMMIT_TIMEOUT_S = 120.0
MAX_LISTED_FILES = 500_000
"""Files and folders of a commit that others sent; to compare them takes 1 kB of memory each."""
MAX_BLOBS_BYTES = 250_000_000
"""Of all files that one merge may change, before and after it."""
_TOO_DEEP = re.compile(rb"(?:[^\0/]*/){%d}" % layout.MAX_DEPTH)
_FILE_TIMEOUT_S = 60.0
_NO_BLOB = "0" * 40


class FileDifference(NamedTuple):
    """A file that differs between two commits: modes in octal digits, blobs (None: no file)."""

    path: PurePosixPath
    old_mode: str
    new_mode: str
    old: str | None
    new: str | None


def refuse_vast(root: Path, commit: str) -> None:
    """Raise `HistoryError` when a commit lists too many files: a folder that holds itself ten times over, and so on,
    takes a few hundred bytes for a level, and a comparison takes memory for each name. So it does for a file in too
    many folders: each level takes time, and other programs end at such a path.

    `ls-tree` prints while it walks (13 MB of memory), `diff-tree` when it has found everything.
    """
    listed = git.run(root, "ls-tree", "-r", "-t", "-z", "--name-only", commit, timeout_s=_COMMIT_TIMEOUT_S)
    if listed.count(b"\0") > MAX_LISTED_FILES:
        raise HistoryError(
            f"the remote's commit {commit[:10]} lists more than {MAX_LISTED_FILES:,} files and folders: nothing of "
            "it is taken in; if you trust it, merge it yourself with `git pull --no-rebase`"
        )
    if _TOO_DEEP.search(listed):
        raise HistoryError(
            f"the remote's commit {commit[:10]} has a file nested more than {layout.MAX_DEPTH} folders deep: "
            "nothing of it is taken in; have that file moved up where it was written"
        )


def changed_files(root: Path, base: str | None, other: str) -> list[FileDifference]:
    """Every file that differs between two commits (`base` None: from nothing); a renamed file gives two."""
    out = git.run(root, "diff-tree", "-r", "-z", "--no-renames", base or EMPTY_TREE, other, timeout_s=_COMMIT_TIMEOUT_S)
    fields = out.split(b"\0")
    differences = []
    for facts, name in zip(fields[0:-1:2], fields[1::2], strict=True):
        old_mode, new_mode, old, new, _ = facts.decode().lstrip(":").split()
        blobs = (None if blob == _NO_BLOB else blob for blob in (old, new))
        differences.append(FileDifference(PurePosixPath(os.fsdecode(name)), old_mode, new_mode, *blobs))
    return differences


def blob_sizes(root: Path, blobs: Iterable[str]) -> dict[str, int]:
    """The bytes of each of the blobs that the repository has. Git knows them without unpacking one."""
    names = "".join(f"{blob}\n" for blob in dict.fromkeys(blobs)).encode()
    shape = "--batch-check=%(objectname) %(objectsize)"
    rows = reading.lines(git.run(root, "cat-file", shape, stdin=names, timeout_s=_COMMIT_TIMEOUT_S).decode())
    pairs = (row.split(" ") for row in rows)
    return {blob: int(size) for blob, size in pairs if size.isdigit()}


def refuse_vast_files(root: Path, blobs: Iterable[str]) -> dict[str, int]:
    """`blob_sizes`. Raises `HistoryError` when they are more than `MAX_BLOBS_BYTES` together."""
    sizes = blob_sizes(root, blobs)
    if sum(sizes.values()) > MAX_BLOBS_BYTES:
        raise HistoryError(
            f"the files that the remote changed hold more than {MAX_BLOBS_BYTES:,} bytes: nothing of them is taken in; "
            "if you trust it, merge it yourself with `git pull --no-rebase`"
        )
    return sizes


def diff(root: Path, path: PurePosixPath, since: str | None, until: str | None) -> str:
    """What changed in a file from one commit (None: an empty tree) to another (None: the file as it is on disk)."""
    ends = [since or EMPTY_TREE, *([until] if until else [])]
    args = ("diff", "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--ignore-submodules=all")
    return git.run(root, *args, *ends, "--", str(path), timeout_s=_FILE_TIMEOUT_S).decode("utf-8", "replace")


def blame(root: Path, path: PurePosixPath) -> list[tuple[str | None, str]]:
    """(commit, text) of each line as the file is on disk; None for a line that is not committed yet."""
    with tempfile.TemporaryDirectory(prefix="vault-memory-") as folder:
        ancestry = Path(folder, "ancestry")
        ancestry.write_text(_ancestry(root, path))
        # Else the repository's blame.ignoreRevsFile is read: any file of this disk, a line of which git would quote.
        args = ("blame", "--porcelain", "--no-textconv", "--no-ignore-revs-file", "-S", str(ancestry), "--", str(path))
        out = git.run(root, *args, timeout_s=_FILE_TIMEOUT_S)
    lines: list[tuple[str | None, str]] = []
    commit = ""
    for line in out.split(b"\n"):
        if line.startswith(b"\t"):
            text = line[1:].decode("utf-8", "replace").rstrip("\r")
            lines.append((commit if commit.strip("0") else None, text))
        elif len(words := line.split(b" ")) in (3, 4) and len(words[0]) == 40:
            commit = words[0].decode("ascii", "replace")
    return lines


def _ancestry(root: Path, path: PurePosixPath) -> str:
    """The history of one file alone, a line for each commit and its parents, for blame to walk.

    `git log` finds these commits through the commit graph; blame by itself looks at twenty times as many (50,000
    commits: 0.4 s against 0.1 s). The oldest keep their true parents, so that blame follows a renamed file.
    """
    args = ("log", "--parents", "--format=%H %P", "--", str(path))
    rows = git.run(root, *args, timeout_s=_FILE_TIMEOUT_S).decode().split("\n")
    history = [row.split() for row in rows if row]
    first = [commits[0] for commits in history if len(commits) == 1]
    if first:
        true = git.run(root, "log", "--no-walk=unsorted", "--format=%H %P", "--stdin", stdin="\n".join(first).encode())
        history = [commits for commits in history if len(commits) > 1]
        history += [row.split() for row in reading.lines(true.decode())]
    newest = rows[0].split()[:1]
    head = git.run(root, "rev-parse", "HEAD").decode().split()
    return "".join(" ".join(commits) + "\n" for commits in ([head + newest] if head != newest else []) + history)
