"""A file line by line: which commit wrote each line, what differs between two states of it, and two changes made one."""

from __future__ import annotations

import tempfile
from datetime import datetime
from pathlib import Path, PurePosixPath

from vault_memory.adapters.git import process as git
from vault_memory.adapters.git.objects import EMPTY_TREE
from vault_memory.errors import HistoryError

TIMEOUT_S = 60.0


def blame(root: Path, path: PurePosixPath) -> list[tuple[str | None, str]]:
    """(commit, text) of each line as the file is on disk; None for a line that nobody has committed yet."""
    with tempfile.TemporaryDirectory(prefix="vault-memory-") as folder:
        ancestry = Path(folder, "ancestry")
        ancestry.write_text(_ancestry(root, path))
        out = git.run(root, "blame", "--porcelain", "-S", str(ancestry), "--", str(path), timeout_s=TIMEOUT_S)
    found: list[tuple[str | None, str]] = []
    commit = ""
    for line in out.split(b"\n"):
        if line.startswith(b"\t"):
            text = line[1:].decode("utf-8", "replace").rstrip("\r")
            found.append((commit if commit.strip("0") else None, text))
        elif len(words := line.split(b" ")) in (3, 4) and len(words[0]) == 40:
            commit = words[0].decode("ascii", "replace")
    return found


def _ancestry(root: Path, path: PurePosixPath) -> str:
    """The history of one file alone, a line for each commit and its parents, for blame to walk.

    `git log` finds these commits through the commit graph; blame by itself looks at twenty times as many (50,000 commits:
    0.4 s against 0.1 s). The oldest keep their true parents, so that a renamed file is followed.
    """
    rows = (
        git.run(root, "log", "--parents", "--format=%H %P", "--", str(path), timeout_s=TIMEOUT_S).decode().split("\n")
    )
    history = [row.split() for row in rows if row]
    first = [commits[0] for commits in history if len(commits) == 1]
    if first:
        true = git.run(root, "log", "--no-walk=unsorted", "--format=%H %P", "--stdin", stdin="\n".join(first).encode())
        history = [commits for commits in history if len(commits) > 1] + [
            row.split() for row in true.decode().splitlines()
        ]
    newest = rows[0].split()[:1]
    head = git.run(root, "rev-parse", "HEAD").decode().split()
    return "".join(" ".join(commits) + "\n" for commits in ([head + newest] if head != newest else []) + history)


def diff(root: Path, path: PurePosixPath, since: str | None, until: str | None) -> str:
    """What changed in a file from one commit (None: before there was any) to another (None: as it is on disk)."""
    ends = [since or EMPTY_TREE, *([until] if until else [])]
    args = ("diff", "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames")
    return git.run(root, *args, *ends, "--", str(path), timeout_s=TIMEOUT_S).decode("utf-8", "replace")


def parent(root: Path, commit: str) -> str | None:
    """The first parent of a commit; None for the very first one."""
    return next(iter(git.run(root, "log", "-1", "--format=%P", commit, "--").decode().split()), None)


def commit_before(root: Path, moment: datetime) -> str | None:
    """The last commit of the branch up to a moment."""
    args = ("rev-list", "--max-count=1", "--first-parent", f"--before={moment.isoformat()}", "HEAD", "--")
    return git.run(root, *args, timeout_s=TIMEOUT_S).decode().strip() or None


def union(scratch: Path, theirs: bytes, base: bytes, ours: bytes) -> bytes:
    """Both changes of `base` in one text; where they touch the same lines, theirs and then ours. Ours, if it is no text.

    `scratch` is a folder on the vault's disk where temporary files may lie.
    """
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        names = [Path(folder, name) for name in ("theirs", "base", "ours")]
        for name, content in zip(names, (theirs, base, ours), strict=True):
            name.write_bytes(content)
        try:
            return git.run(Path(folder), "merge-file", "--stdout", "--union", *map(str, names), ok=range(128))
        except HistoryError:
            return ours
