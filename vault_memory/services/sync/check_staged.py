"""The pre-commit check: it finds what is broken, and what would leak, in the files that a person is about to commit."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from vault_memory.adapters import files, git
from vault_memory.adapters.git import EMPTY_TREE, blob_sizes
from vault_memory.core import layout
from vault_memory.core.notes import note, stray
from vault_memory.core.privacy import secrets_added, shown_path
from vault_memory.core.profile import Profile
from vault_memory.errors import TooLarge

_MAX_NOTE_BYTES = 4_000_000
"""A larger file is not a note, and looking for what is broken in it would delay the commit."""
_LINK, _SUBMODULE = "120000", "160000"
_HINT = "Correct it and `git add` it again; `git commit --no-verify` commits it anyway."


def check_staged(folder: Path) -> list[str]:
    """Return a line for each reason not to commit these files, then the next step; nothing when all is well.

    `folder` is in the repository. Only files of vaults are checked, and only lines that the commit adds are searched
    for credentials. Raises `HistoryError` when git cannot list what is staged.
    """
    top = Path(os.fsdecode(git.run(folder, "rev-parse", "--show-toplevel").rstrip(b"\n")))
    # `git commit -a` and `git commit FILE` use a temporary git index, and pass its name to their hooks.
    git_index = os.environ.get("GIT_INDEX_FILE")
    extra = {"GIT_INDEX_FILE": str((folder / git_index).resolve())} if git_index else {}
    lines = []
    for path, source, is_link, before, after in _staged(top, extra):
        lines += [f"{shown_path(path)}{problem}" for problem in _problems(source, is_link, before, after)]
    return [*lines, _HINT] if lines else []


def _staged(
    top: Path, extra: dict[str, str]
) -> Iterator[tuple[PurePosixPath, PurePosixPath, bool, bytes | None, bytes]]:
    """(path in the repository, path in its vault, whether it is a link, bytes in HEAD, bytes staged) of each staged
    file or link of a vault; the bytes of a link are its target.

    A file that HEAD has not has None there; the bytes of a large one are not read.
    """
    with_patterns = {"GIT_LITERAL_PATHSPECS": "0"} | extra
    listed = git.run(
        top, "ls-files", "-z", "--", layout.SETTINGS_FILE, f"*/{layout.SETTINGS_FILE}", extra=with_patterns
    )
    named = [PurePosixPath(os.fsdecode(name)).parent for name in listed.split(b"\0") if name]
    vaults = [
        folder
        for folder in named
        if all(layout.may_be_vault(folder.relative_to(each)) for each in named if folder.is_relative_to(each))
    ]
    if not vaults:
        return
    out = git.run(
        top, "diff-index", "--cached", "-z", "--no-renames", "--diff-filter=AMT", _head(top), "--", extra=extra
    )
    fields = out.split(b"\0")
    sizes = blob_sizes(
        top, (blob for entry in fields[0:-1:2] for blob in entry.decode().split()[2:4] if blob.strip("0"))
    )
    for entry, name in zip(fields[0:-1:2], fields[1::2], strict=True):
        path = PurePosixPath(os.fsdecode(name))
        home = max((vault for vault in vaults if path.is_relative_to(vault)), key=lambda v: len(v.parts), default=None)
        old_mode, mode, old, new, _ = entry.decode().lstrip(":").split()
        if home is not None and mode != _SUBMODULE:
            before = _small(top, old, sizes) if old.strip("0") and old_mode != _SUBMODULE else None
            yield path, path.relative_to(home), mode == _LINK, before, _small(top, new, sizes)


def _small(top: Path, blob: str, sizes: Mapping[str, int]) -> bytes:
    return git.run(top, "cat-file", "blob", blob) if sizes.get(blob, 0) <= files.MAX_FILE_BYTES else b""


def _head(top: Path) -> str:
    return git.run(top, "rev-parse", "--verify", "--quiet", "HEAD", ok=(0, 1)).decode().strip() or EMPTY_TREE


def _problems(source: PurePosixPath, is_link: bool, before: bytes | None, after: bytes) -> Iterator[str]:
    if layout.is_private(source) or stray.became(source, before, after) == "private":
        yield " must stay on this machine: `git rm --cached` takes it out of git, and the file stays"
        return
    if is_link and before != after and _holds_secret(after):
        yield ": its target is a secret: git keeps what is committed"
        return
    is_text = b"\0" not in after or layout.is_text_kind(source)
    if is_text and not is_link and len(after) <= _MAX_NOTE_BYTES:
        yield from _faults(source, after.decode("utf-8", "replace"))
    lines: dict[str, list[str]] = {}
    for line, kind in secrets_added(source, [before], after):
        if line:
            lines.setdefault(kind, []).append(str(line))
        else:
            yield f": its name is a secret of kind {kind}: rename it: git keeps what is committed"
    for kind, where in lines.items():
        found = (
            f"a secret ({kind}, line {where[0]})" if len(where) == 1 else f"secrets ({kind}, lines {', '.join(where)})"
        )
        yield f": holds {found}: take out what is secret: git keeps what is committed"


def _holds_secret(target: bytes) -> bool:
    """Whether the target of a link holds a secret, as the name of a file may."""
    path = PurePosixPath(os.fsdecode(target))
    return shown_path(path) != str(path)


def _faults(source: PurePosixPath, text: str) -> Iterator[str]:
    """What is broken in a file."""
    yield from (f": {problem}" for problem in note.conflict_problems(text))
    if source.suffix == ".md":
        yield from (f": {problem}" for problem in note.parse(text).problems)
    place = layout.place_of(source)
    if place and layout.kind_of(place) == "profile":
        try:
            yield from (f": {problem}" for problem in Profile.parse(text).problems())
        except TooLarge as error:
            yield f": {error}"
