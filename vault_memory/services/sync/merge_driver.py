"""What plain `git merge` and `git pull` call to merge two USER.md: by key, not by line.

`.gitattributes` names the driver, the repository's own config says how to run it. Where vault-memory is not on the PATH of
whoever merges, git's own merge of lines does it, with its usual markers.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from vault_memory.adapters import files
from vault_memory.adapters.git import process as git
from vault_memory.core.notes.merge import merge_profile

_NAME = "merge.vault-memory-profile"
_SETTINGS = {
    f"{_NAME}.name": "vault-memory: merge USER.md by key",
    f"{_NAME}.driver": "if command -v vault-memory >/dev/null 2>&1; then vault-memory merge-driver %O %A %B %P; "
    "else git merge-file %A %O %B; fi",
}


def is_installed(root: Path) -> bool:
    """Whether the repository's config names our driver as it is now."""
    return all(git.run(root, "config", "--get", k, ok=(0, 1)).decode().strip() == v for k, v in _SETTINGS.items())


def install(root: Path) -> None:
    """Name our driver in the config of the repository that holds `root`."""
    for key, value in _SETTINGS.items():
        git.run(root, "config", key, value)


def merge_driver(base: Path, ours: Path, theirs: Path, path: PurePosixPath) -> list[str]:
    """Merge into the file `ours`; return what both sides changed at `path`, which the person must decide. Empty: merged."""
    old, mine, other = (files.read(file) or b"" for file in (base, ours, theirs))
    texts = [data.decode("utf-8", "surrogateescape") for data in (old, mine, other)]
    # Git hands over no times, so that two values of one key cannot be told apart by age here, as `vault-memory sync` does.
    merged = merge_profile(texts[0] or None, texts[1], texts[2])
    ours.write_bytes(merged.text.encode("utf-8", "surrogateescape"))
    return [f"{path}: both sides changed the same lines: keep what is right, delete the 3 marks"] * bool(
        merged.conflicts
    )
