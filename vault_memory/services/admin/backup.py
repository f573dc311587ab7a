"""Back up a whole vault into one file, and export one user's files as a plain folder.

A backup holds what cannot be made again: the notes, the conversation records, and git's history. It leaves out indexes
and locks, which are made from the notes.
"""

from __future__ import annotations

import os
import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

from vault_memory.adapters import files
from vault_memory.core import layout
from vault_memory.errors import UsageError, VaultMemoryError
from vault_memory.services.vault import Vault

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


def backup(vault: Vault, target: Path) -> list[str]:
    """Write the vault into a new gzipped tar file that only its owner can read; return what was left out, and why.

    Git's objects, which never change and are most of the bytes, are copied first. Then every user's lock is held while
    the rest is copied, so notes and history are from one moment. Raises `UsageError` if `target` exists or is in the
    vault.
    """
    target = target.expanduser().absolute()
    if target.exists():
        raise UsageError(f"{target} exists: name a new file")
    if target.resolve().is_relative_to(vault.root):
        raise UsageError(f"{target} is inside the vault: name a file outside it")
    part = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        number, part = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
        with os.fdopen(number, "wb") as out:
            left_out = _write(vault, out)
            out.flush()
            os.fsync(out.fileno())
        os.rename(part, target)
    except OSError as error:
        raise VaultMemoryError(f"cannot write {target}: {error.strerror}; no backup was made") from error
    finally:
        if part:
            Path(part).unlink(missing_ok=True)
    return left_out


def export(vault: Vault, user_id: str, folder: Path) -> int:
    """Copy one user's files, conversations too, into a new folder; return how many. Raises `UsageError`.

    Nobody else can read the copies.
    """
    vault.known_user(user_id)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is not empty: name a new folder")
    count = 0
    with vault.lock(user_id):
        home = vault.root / layout.user_dir(user_id)
        for path in _files(home):
            if not path.is_symlink():
                copy = folder / path.relative_to(home)
                for made in reversed([above for above in copy.parents if not above.exists()]):
                    made.mkdir(0o700)
                with path.open("rb") as source, os.fdopen(os.open(copy, _NEW, 0o600), "wb") as out:
                    shutil.copyfileobj(source, out)
                shutil.copystat(path, copy)
                copy.chmod(0o600)
                count += 1
    return count


def _write(vault: Vault, out: object) -> list[str]:
    left_out: list[str] = []
    done: set[Path] = set()

    def add(tar: tarfile.TarFile, path: Path) -> None:
        name = path.relative_to(vault.root)
        if path in done:
            return
        done.add(path)
        if path.is_symlink() and not path.resolve().is_relative_to(vault.root):
            left_out.append(f"{name}: a link to outside the vault")
            return
        try:
            tar.add(path, arcname=name.as_posix(), recursive=False)
        except FileNotFoundError:
            pass  # deleted since it was listed
        except OSError as error:
            left_out.append(f"{name}: {error.strerror}")

    with tarfile.open(fileobj=out, mode="w:gz", compresslevel=6) as tar:  # type: ignore[call-overload]
        for path in _files(vault.root / ".git" / "objects"):
            add(tar, path)
        with vault.lock_all():
            for path in _files(vault.root):
                add(tar, path)
    return left_out


def _files(folder: Path) -> Iterator[Path]:
    """Every file below a folder that belongs in a backup, and each empty folder; links are not followed."""
    for name, folders, names in os.walk(folder):
        here = Path(name)
        folders[:] = [child for child in folders if child != layout.STATE_DIR]
        for child in [*names, *(child for child in folders if (here / child).is_symlink())]:
            if not child.startswith(layout.INDEX_FILE) and not files.is_temporary(child):
                yield here / child
        if not folders and not names:
            yield here
