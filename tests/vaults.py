"""Files of a vault, as the tests of the services write them."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from vault_memory.core import layout
from vault_memory.services.admin import trust
from vault_memory.services.admin.create_vault import drop_indexes, make_tokens
from vault_memory.services.indexing import reconcile
from vault_memory.services.vault import Vault, open_vault


def copied(new_vault: Path, root: Path) -> Path:
    """A vault at `root` as `init` leaves one there, in a fifth of its time: tokens and index are its own, and this
    machine knows it."""
    shutil.copytree(new_vault, root, symlinks=True)
    drop_indexes(root)
    make_tokens(root)
    vault = open_vault(root)
    reconcile(vault, layout.SHARED)
    vault.index(layout.SHARED).close()
    return root


def write(vault: Vault, scope: str, source: str, text: str) -> Path:
    """Save a file as an editor does that writes in place."""
    path = vault.path(scope, source)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@contextlib.contextmanager
def mounted_for_reading(root: Path) -> Iterator[None]:
    """The folder as on a disk that is mounted for reading, until the end of the block; the test is skipped where nobody
    can mount one."""
    if subprocess.run(["mount", "--bind", str(root), str(root)], capture_output=True, check=False).returncode:
        pytest.skip("this machine lets nobody mount")
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", str(root)], check=True)
        yield
    finally:
        subprocess.run(["umount", "-l", str(root)], check=True)


@contextlib.contextmanager
def small_disk(folder: Path, size_mb: int = 2) -> Iterator[Path]:
    """A disk of so many MB at `folder`, until the end of the block; the test is skipped where nobody can mount one."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size_mb}m", "none", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("this machine lets nobody mount")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(disk: Path) -> Path:
    """Write until the disk is full; returns the file that fills it."""
    filling = disk / "filling"
    with contextlib.suppress(OSError), filling.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    return filling


def say_yes(root: Path) -> None:
    """Say yes to the settings in the vault's file, as a person does who wrote them there."""
    vault = open_vault(root)
    trust(vault, vault.config.waiting)
