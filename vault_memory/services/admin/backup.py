"""Back up a whole vault into one file, and export one user's files as a plain folder.

A backup holds what cannot be made again: the notes, the conversation records, and git's history. It leaves out indexes
and locks, which are made from the notes. No file of the vault is opened but a regular one, and none is waited for.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from vault_memory.adapters import files
from vault_memory.adapters.archive import DEFAULT_LIMITS, Limits, pack
from vault_memory.adapters.scan import walk
from vault_memory.core import layout
from vault_memory.core.notes import stray
from vault_memory.errors import ForeignFile, HistoryError, UsageError, VaultMemoryError, in_command
from vault_memory.services.admin.restore import check_backup, is_left_out
from vault_memory.services.memories import accesses, write_accesses
from vault_memory.services.vault import Vault

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
_BLOCK_BYTES = 1 << 20
_NO_FILE = "no file but a pipe, socket or device"
_STRAY = (
    "it is a conversation record, an index or an archive of such out of its place, and may be another user's: "
    "move a record back into the `conversations/` of its user, and it is exported with them; delete the others"
)


def backup(vault: Vault, target: Path, *, limits: Limits = DEFAULT_LIMITS) -> list[str]:
    """Write the vault into a new gzipped tar file that only its owner can read, and check that `restore` takes it.

    Returns a line for each file that is not in it, or has changed while it was copied. Git's objects, which never
    change, and files that this program does not write, such as pictures, are most of the bytes and are copied first.
    Then every user's lock is held while the rest is copied, so notes and history are from one moment. Raises
    `UsageError` if `target` exists or is in a vault, or if git's folder is not in the vault.
    """
    target = target.expanduser().absolute()
    if target.exists():
        raise UsageError(f"{target} exists: name a new file")
    _refuse_in_vault(target)
    if (vault.root / ".git").is_file():
        raise UsageError(
            f"{vault.root} is a git worktree or a submodule: its history is in another folder, and would not be in the "
            f"backup. `git clone {in_command(vault.root)} FOLDER` makes a vault of its own: copy into it the folders "
            "`memory/*/conversations`, which no commit holds, and back that up; or back up the main working tree"
        )
    _write_counts(vault, vault.user_ids())
    part = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        number, part = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
        with os.fdopen(number, "wb") as out:
            problems = _write(vault, out, limits)
            out.flush()
            os.fsync(out.fileno())
        check_backup(Path(part), limits)
        os.rename(part, target)
    except OSError as error:
        raise VaultMemoryError(f"cannot write {target}: {error.strerror}; no backup was made") from error
    except UsageError as error:
        raise VaultMemoryError(
            f"a restore would refuse the backup ({error}), so none was made: take that file out of the vault"
        ) from error
    finally:
        if part:
            Path(part).unlink(missing_ok=True)
    return problems


def export(vault: Vault, user_id: str, folder: Path, *, on_left_out: Callable[[str], None] = lambda line: None) -> int:
    """Copy one user's files, conversations too, into a new folder; return how many. Raises `UsageError`.

    Nobody else can read the copies. All is copied without the user's lock; with it, only what has changed meanwhile, so
    that the copies are from one moment and turns do not wait. `on_left_out` gets a line for each file without a copy.
    """
    vault.known_user(user_id)
    check_new_folder(folder)
    _write_counts(vault, [user_id])
    home = vault.root / layout.user_dir(user_id)
    copied: dict[Path, files.FileStamp] = {}
    _copy_all(vault.root, home, folder, copied)
    with vault.lock(user_id):
        _copy_all(vault.root, home, folder, copied)
        for line in _copy_all(vault.root, home, folder, copied):  # a late turn takes its day out of the archive
            on_left_out(line)
    return len(copied)


def check_new_folder(folder: Path) -> None:
    """Raise `UsageError` for a place where no copies may be put: one that holds something, or lies in a vault."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is not empty: name a new folder")
    _refuse_in_vault(folder)


def _write_counts(vault: Vault, user_ids: Iterable[str]) -> None:
    """Write into the notes how often memories were recalled, since state is in no copy. Where that cannot be done now
    the copy has the counts of last night."""
    for user_id in user_ids:
        with suppress(VaultMemoryError):
            if accesses(vault, user_id):
                write_accesses(vault, user_id)


def _refuse_in_vault(copy: Path) -> None:
    """Raise `UsageError` for a place in a vault, this or another: what is private would be a note there."""
    place = copy.expanduser().resolve()
    for folder in (place, *place.parents):
        if (folder / layout.SETTINGS_FILE).is_file():
            raise UsageError(
                f"{copy} is inside the vault {folder}, whose notes are committed and synced: name a place outside it"
            )


def _copy_all(root: Path, home: Path, folder: Path, copied: dict[Path, files.FileStamp]) -> list[str]:
    """Bring the copies in `folder` up to the files in `home`; return a line for each file without a copy.

    `copied`: the path of each copy in `folder` → the stamp of what it is a copy of.
    """
    problems: list[str] = []
    gone = set(copied)
    for path, _ in _files(root, home, problems.append):
        if os.path.isdir(path) and not os.path.islink(path):
            continue
        name = path.relative_to(home)
        inside = PurePosixPath(path.relative_to(root).as_posix())
        try:
            if copied.get(name) != files.FileStamp.of(path.lstat()):
                with files.opened_below(path, root) as source:
                    if stray.is_stray(inside, partial(_lines, source)):
                        problems.append(f"left out: {inside}: {_STRAY}")
                        continue
                    copied[name] = _copy(source, folder / name)
            gone.discard(name)
        except ForeignFile:
            problems.append(f"left out: {path.relative_to(root)}: {_NO_FILE}")
        except OSError as error:
            why = "a link" if path.is_symlink() else error.strerror
            problems.append(f"left out: {path.relative_to(root)}: {why}")
    for name in gone:
        (folder / name).unlink()
        del copied[name]
    return problems


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """The lines of an open file, from its beginning. One that is too long comes in pieces."""
    file.seek(0)
    yield from iter(partial(file.readline, files.MAX_FILE_BYTES), b"")


def _copy(source: BinaryIO, copy: Path) -> files.FileStamp:
    """Copy an open file as long as it is now, times too, wherever it has been read up to; return its stamp. Raises
    `VaultMemoryError`."""
    status = os.fstat(source.fileno())
    remaining = status.st_size
    source.seek(0)
    try:
        for made in reversed([above for above in copy.parents if not above.exists()]):
            made.mkdir(0o700)
        copy.unlink(missing_ok=True)
        with os.fdopen(os.open(copy, _NEW, 0o600), "wb") as out:
            while remaining and (block := source.read(min(remaining, _BLOCK_BYTES))):
                out.write(block)
                remaining -= len(block)
        os.utime(copy, ns=(status.st_atime_ns, status.st_mtime_ns))
    except OSError as error:
        raise VaultMemoryError(f"{copy} cannot be made ({error.strerror}): the export is not complete") from error
    return files.FileStamp.of(status)


def _write(vault: Vault, out: BinaryIO, limits: Limits) -> list[str]:
    objects = vault.root / ".git" / "objects"
    done: set[PurePosixPath] = set()
    unread: list[str] = []
    with pack(out, leave_out=is_left_out, limits=limits) as packing:

        def add_all(folder: Path, *, is_last_look: bool) -> None:
            for path, name in _files(vault.root, folder, unread.append if is_last_look else lambda line: None):
                if name in done or not (is_last_look or folder == objects or _is_attachment(name)):
                    continue
                # Who may write the notes may swap their folders, and not git's, which may be links of the person's.
                if packing.add(path, name, None if name.parts[0] == ".git" else vault.root):
                    done.add(name)
                elif is_last_look:
                    unread.append(f"left out: {name}: deleted while the backup was made")

        add_all(objects, is_last_look=False)
        add_all(vault.root, is_last_look=False)
        with vault.lock_all():
            with suppress(HistoryError):  # a restored log that waits here would be an edit of the person's
                vault.history.flush()
            add_all(vault.root, is_last_look=True)
            add_all(vault.root / layout.MEMORY_DIR, is_last_look=True)  # a late turn takes its day out of the archive
            add_all(objects, is_last_look=True)  # what a commit of plain git has meanwhile added to the references
    return [*packing.problems, *dict.fromkeys(unread)]


def _is_attachment(name: PurePosixPath) -> bool:
    is_ours = name.suffix in (".md", ".jsonl") or layout.is_private(name)  # months of conversation are packed meanwhile
    return not is_ours and ".git" not in name.parts


def _files(root: Path, folder: Path, on_problem: Callable[[str], None]) -> Iterator[tuple[Path, PurePosixPath]]:
    """(path, path from `root`) of every file below a folder of the vault that belongs in a copy, and each empty folder.

    Links are not followed. Left out: state, which is made anew; temporary files; the lock files of a running git.
    `on_problem` gets a line for each folder that cannot be listed.
    """

    def cannot_list(error: OSError) -> None:
        on_problem(f"left out: {Path(error.filename).relative_to(root)}: {error.strerror}")

    for name, folders, names in walk(folder, cannot_list):
        here = Path(name)
        inside = PurePosixPath(here.relative_to(root).as_posix())
        state = [child for child in folders if layout.is_state(inside / child)]
        for child in state:
            if not layout.is_state(inside / child / "x"):  # no state folder, but a folder with the name of an index
                on_problem(f"left out: {inside / child}: a folder in the place of an index")
        folders[:] = [child for child in folders if child not in state]
        for child in [*names, *(child for child in folders if os.path.islink(here / child))]:
            is_lock = child.endswith(".lock") and ".git" in inside.parts  # git allows no reference of such a name
            if not (is_lock or files.is_temporary(child) or layout.is_state(inside / child)):
                yield here / child, inside / child
        if not folders and not names:
            yield here, inside
