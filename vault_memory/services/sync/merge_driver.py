"""The merge driver that `git merge` and `git pull` call for USER.md and the notes of memories: it merges by key, not by
line.

`.gitattributes` names the driver, and the repository's config says how to run it. Where vault-memory is not on the
PATH, git merges the lines itself, with its usual markers.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from vault_memory.adapters import files, git
from vault_memory.core.merging import merge
from vault_memory.core.notes import note

_NAME = "merge.vault-memory-profile"
_SETTINGS = {
    f"{_NAME}.name": "vault-memory: merge USER.md by key",
    f"{_NAME}.driver": "if command -v vault-memory >/dev/null 2>&1; then vault-memory merge-driver %O %A %B %P; "
    "else git merge-file %A %O %B; fi",
}


def merge_driver_installed(root: Path) -> bool:
    """Whether the repository's config names our driver, in its present form."""
    return all(git.run(root, "config", "--get", k, ok=(0, 1)).decode().strip() == v for k, v in _SETTINGS.items())


def is_our_setting(key: str, value: str) -> bool:
    """Whether a line of git's config is one that `install_merge_driver` writes."""
    return _SETTINGS.get(key) == value


def install_merge_driver(root: Path) -> None:
    """Name our driver in the config of the repository that holds `root`. Raises `ForeignFile` if that is a link."""
    git.Repository(root).refuse_links()
    for key, value in _SETTINGS.items():
        git.run(root, "config", key, value)


def merge_driver(base: Path, ours: Path, theirs: Path, path: PurePosixPath) -> list[str]:
    """Merge into the file `ours`. Return a line about `path` if the person must decide something, else nothing."""
    old, mine, other = (files.read(file) or b"" for file in (base, ours, theirs))
    # Git passes no times, so the age of two values of one key, by which `vault-memory sync` decides, is not known here.
    merged = merge.merge_file(path, old or None, mine, other)
    if merged is None and merge.is_of_two_entities(path, mine, other):
        sides = ([f"{line}\n" for line in _text(each).removesuffix("\n").split("\n")] for each in (mine, other))
        ours.write_bytes("".join(note.conflict_block(*sides)).encode("utf-8", "surrogateescape"))
        return [
            f"{path}: it is the file of two entities: between the marks are both notes; move one to a file of another "
            "name, delete the 3 marks"
        ]
    if merged is None:
        return [f"{path} is not a note of a user: merge it yourself"]
    ours.write_bytes(merged.text.encode("utf-8", "surrogateescape"))
    lines = [
        f"{path}: {each.key} is {each.kept} here and {each.older} there: keep what is right" for each in merged.clashes
    ]
    if merged.conflicts:
        lines.append(f"{path}: both sides changed the same lines: keep what is right, delete the 3 marks")
    return lines


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
