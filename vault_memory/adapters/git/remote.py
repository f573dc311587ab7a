"""Another repository of the same vault: what it holds, what differs, and giving it what is ours. Never by force."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from vault_memory.adapters.git import process as git
from vault_memory.adapters.git.objects import EMPTY_TREE
from vault_memory.errors import HistoryError

TIMEOUT_S = 120.0
_FETCHED = "refs/vault-memory/fetched"
"""What was fetched last stays under this name, so that git's own housekeeping keeps it."""
_NOBODY = "0" * 40
_REJECTED = re.compile(r"\[(remote )?rejected\]|non-fast-forward|fetch first|stale info|cannot lock ref", re.IGNORECASE)
# Nobody is there to answer a question, and a line that has gone quiet must not hold the heartbeat.
_PATIENCE = ("-c", "http.lowSpeedLimit=1000", "-c", "http.lowSpeedTime=30")


class Difference(NamedTuple):
    """A file that the other side changed since both were the same: modes in octal digits, blobs (None: no file)."""

    path: PurePosixPath
    old_mode: str
    new_mode: str
    old: str | None
    new: str | None


class Moment(NamedTuple):
    """A commit and its time (seconds); the later moment is the greater one, on every machine."""

    time: int
    commit: str


def remote_of(root: Path, branch: str) -> str | None:
    """The remote that a branch follows, else the only one there is, else None."""
    named = git.run(root, "config", "--get", f"branch.{branch}.remote", ok=(0, 1)).decode().strip()
    if named and named != ".":
        return named
    names = git.run(root, "remote").decode().split()
    return "origin" if "origin" in names else names[0] if len(names) == 1 else None


def tip_of(root: Path, remote: str, branch: str) -> str | None:
    """The commit that the remote's branch is at; None when it has no such branch. Raises `HistoryError` when it is out of reach."""
    out = _talk(root, "ls-remote", "--", remote, f"refs/heads/{branch}")
    return out.split()[0].decode() if out.strip() else None


def has(root: Path, commit: str) -> bool:
    """Whether a commit is in this repository, and all that it stands on."""
    return bool(git.run(root, "rev-list", "--max-count=1", "--ignore-missing", commit, "--", ok=(0, 128)).strip())


def fetch(root: Path, remote: str, branch: str) -> str:
    """Fetch the remote's branch and return its commit."""
    _talk(root, "fetch", "--quiet", "--no-tags", "--no-auto-gc", "--", remote, f"+refs/heads/{branch}:{_FETCHED}")
    return git.run(root, "rev-parse", _FETCHED).decode().strip()


def push(root: Path, remote: str, branch: str, commit: str) -> bool:
    """Move the remote's branch on to a commit; False when somebody else was faster, and their commits must be merged first."""
    try:
        _talk(root, "push", "--quiet", "--", remote, f"{commit}:refs/heads/{branch}")
    except HistoryError as error:
        if _REJECTED.search(str(error)) and "hook declined" not in str(error):
            return False
        raise
    return True


def merge_base(root: Path, ours: str, theirs: str) -> str | None:
    """The best commit that both stand on, or None."""
    return git.run(root, "merge-base", ours, theirs, ok=(0, 1)).decode().strip() or None


def count(root: Path, since: str | None, tip: str) -> int:
    """How many commits `tip` has that `since` has not."""
    return int(git.run(root, "rev-list", "--count", tip, *(["--not", since] if since else []), "--"))


def differences(root: Path, base: str | None, theirs: str) -> list[Difference]:
    """Every file that differs between two commits (`base` None: from nothing); a renamed one is two of them."""
    out = git.run(root, "diff-tree", "-r", "-z", "--no-renames", base or EMPTY_TREE, theirs, timeout_s=TIMEOUT_S)
    fields = out.split(b"\0")
    found = []
    for facts, name in zip(fields[0:-1:2], fields[1::2], strict=True):
        old_mode, new_mode, old, new, _ = facts.decode().lstrip(":").split()
        path = PurePosixPath(os.fsdecode(name))
        found.append(Difference(path, old_mode, new_mode, *(None if blob == _NOBODY else blob for blob in (old, new))))
    return found


def contents(root: Path, blobs: Iterable[str]) -> dict[str, bytes]:
    """The bytes of many blobs, by one process."""
    wanted = list(dict.fromkeys(blobs))
    out = git.run(root, "cat-file", "--batch", stdin="".join(f"{b}\n" for b in wanted).encode(), timeout_s=TIMEOUT_S)
    found: dict[str, bytes] = {}
    at = 0
    for blob in wanted:
        end = out.index(b"\n", at)
        header = out[at:end].split()
        if len(header) != 3:
            raise HistoryError(f"object {blob} is not in the repository: run `git fsck`")
        size = int(header[2])
        found[blob] = out[end + 1 : end + 1 + size]
        at = end + size + 2
    return found


def last_change(root: Path, path: PurePosixPath, base: str | None, tip: str, key: str | None = None) -> Moment:
    """When a side last changed a file since `base`; with `key`, that key of a profile, if a commit tells of it."""
    span = [tip, *(["--not", base] if base else [])]
    told = ["--extended-regexp", f"--grep=^Vault-Key: {re.escape(key)}$"] if key else []
    for grep in (told, []):
        out = git.run(root, "log", "--max-count=1", "--format=%ct %H", *grep, *span, "--", str(path)).split()
        if out:
            return Moment(int(out[0]), out[1].decode())
    return Moment(0, tip)


def _talk(root: Path, *args: str) -> bytes:
    ssh = git.run(root, "config", "--get", "core.sshCommand", ok=(0, 1)).decode().strip() or "ssh"
    ssh = os.environ.get("GIT_SSH_COMMAND") or f"{ssh} -o BatchMode=yes -o ConnectTimeout=20"
    return git.run(root, *_PATIENCE, *args, extra={"GIT_SSH_COMMAND": ssh}, timeout_s=TIMEOUT_S)
