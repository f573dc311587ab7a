"""What the pre-commit hook looks for in the files that a person is about to commit: what would break memory, or leak."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from vault_memory.adapters.git import process as git
from vault_memory.adapters.git.objects import EMPTY_TREE
from vault_memory.core import layout
from vault_memory.core.notes import conflict, note
from vault_memory.core.privacy import secrets
from vault_memory.core.profile.profile import Profile

_LIMIT_BYTES = 4_000_000
"""A bigger file is no note, and would keep a person waiting."""
_HINT = "Correct it and `git add` it again; `git commit --no-verify` commits all the same."


def check_staged(folder: Path) -> list[str]:
    """Why these files should not be committed, a line each, and what to do; empty when all is well.

    `folder` is in the repository. Only files of vaults are looked at, and only what the commit brings in is searched for
    credentials. Raises `HistoryError` when git cannot say what is staged.
    """
    top = Path(os.fsdecode(git.run(folder, "rev-parse", "--show-toplevel").rstrip(b"\n")))
    # `git commit -a` and `git commit FILE` have an index of their own, which they name to their hooks.
    named = os.environ.get("GIT_INDEX_FILE")
    extra = {"GIT_INDEX_FILE": str((folder / named).resolve())} if named else {}
    found = []
    for path, source, before, after in _staged(top, extra):
        found += [f"{path}{problem}" for problem in _problems(source, before, after)]
    return [*found, _HINT] if found else []


def _staged(top: Path, extra: dict[str, str]) -> Iterator[tuple[PurePosixPath, PurePosixPath, bytes, bytes]]:
    """(path in the repository, path in its vault, bytes in HEAD, bytes staged) of each staged file of a vault."""
    every = {"GIT_LITERAL_PATHSPECS": "0"} | extra
    listed = git.run(top, "ls-files", "-z", "--", layout.SETTINGS_FILE, f"*/{layout.SETTINGS_FILE}", extra=every)
    vaults = [PurePosixPath(os.fsdecode(name)).parent for name in listed.split(b"\0") if name]
    if not vaults:
        return
    out = git.run(
        top, "diff-index", "--cached", "-z", "--no-renames", "--diff-filter=AM", _head(top), "--", extra=extra
    )
    fields = out.split(b"\0")
    for facts, name in zip(fields[0:-1:2], fields[1::2], strict=True):
        path = PurePosixPath(os.fsdecode(name))
        home = max((vault for vault in vaults if path.is_relative_to(vault)), key=lambda v: len(v.parts), default=None)
        _, mode, old, new, _ = facts.decode().split()
        if home is not None and mode.startswith("100"):
            before, after = (
                b"" if not blob.strip("0") else git.run(top, "cat-file", "blob", blob) for blob in (old, new)
            )
            if len(after) <= _LIMIT_BYTES and b"\0" not in after:
                yield path, path.relative_to(home), before, after


def _head(top: Path) -> str:
    return git.run(top, "rev-parse", "--verify", "--quiet", "HEAD", ok=(0, 1)).decode().strip() or EMPTY_TREE


def _problems(source: PurePosixPath, before: bytes, after: bytes) -> Iterator[str]:
    text = after.decode("utf-8", "replace")
    yield from (f": {problem}" for problem in conflict.problems(text))
    if source.suffix == ".md":
        yield from (f": {problem}" for problem in note.parse(text).problems)
    place = layout.place_of(source)
    if place and layout.kind_of(place) == "profile":
        yield from (f": {problem}" for problem in Profile.parse(text).problems())
    known = set(before.decode("utf-8", "replace").splitlines())
    added = "\n".join(line for line in text.splitlines() if line not in known)
    for kind, count in secrets.redact(added).counts.items():
        yield f": holds {count} of kind {kind}: take it out, for git never forgets"
