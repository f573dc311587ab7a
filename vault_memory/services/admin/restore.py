"""Bring a vault back from a backup, which may come from anybody: nothing of it runs."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import shutil
import tempfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

from vault_memory.adapters import files
from vault_memory.adapters.archive import DEFAULT_LIMITS, Limits, check, unpack
from vault_memory.adapters.erasing import machine_file, tombstones_of_history
from vault_memory.adapters.history import WAITING_DIR
from vault_memory.adapters.scan import walk
from vault_memory.adapters.state import StateFile
from vault_memory.core import layout
from vault_memory.errors import UsageError, VaultMemoryError, in_command
from vault_memory.services import starter
from vault_memory.services.admin.status import status
from vault_memory.services.indexing import reconcile
from vault_memory.services.vault import Vault, open_vault

_STAGING = ".vault-memory-restore-"
_TREE, _MOVING = "vault", ".vault-memory/moving"
"""In a staging folder: what is unpacked; and a private file that says what is moved from there into a folder, where
that takes several steps: of which archive it is, and its names."""
_MAX_SEARCHED_BYTES = 200_000_000
"""So much of a file is held against what was erased: a few kilobytes can unpack into gigabytes."""
_STOPPED = ("rebase-merge", "rebase-apply", "sequencer")
"""What git is to do next in an operation that it has stopped, programs to run among it."""
_WITH_BRANCHES = ("refs", "logs")
"""Folders of git's own in which a branch may have any name, such as `hooks/x`."""
_POINTERS = ((".git",), (".git", "commondir"))
"""As files these name a repository elsewhere on the disk."""


def restore(
    archive: Path,
    folder: Path,
    *,
    on_left_out: Callable[[str], None] = lambda line: None,
    on_unhealthy: Callable[[str], None] = lambda line: None,
    limits: Limits = DEFAULT_LIMITS,
) -> Path:
    """Unpack a backup into a folder that is empty or does not exist; return the vault's root.

    All of it is unpacked into a folder beside its place, checked, and then moved there; what a restore that was killed
    left there goes first, and where it was killed between two moves, or after them, this one finishes it. Git would run
    the hooks of the archive: the vault gets those that `init` installs in their place. State, such as tokens, is left
    out too, and so are commits that waited, whose text is in the notes, and what git was to do next in a rebase that
    was stopped. `on_left_out` gets a line for each of these. The index is made from the notes. `on_unhealthy` gets a
    line for each thing that a person should repair in the vault.

    Raises `UsageError` when the folder is not empty, the file is no backup, or what it holds cannot be used; nothing is
    left behind then.
    """
    folder = folder.expanduser().absolute()
    was_there = folder.exists()
    is_begun = _is_moved(archive, folder)
    if is_begun:
        for path in (*_killed(folder), *_abandoned(folder.parent)):
            shutil.rmtree(path, ignore_errors=True)
    elif half := _half_moved(folder):
        _finish(half, archive, folder)
        is_begun = True
    else:
        _put(archive, folder, limits)
    try:
        vault = open_vault(folder)
        for scope in vault.scopes():
            reconcile(vault, scope)
    except (VaultMemoryError, OSError) as error:
        ending = f"it stays in {folder}: correct that, then run the same command again"
        if not is_begun:  # else the person may have written there since
            _take_away(folder, was_there)
            ending = "nothing was restored"
        raise UsageError(f"what {archive} holds cannot be used ({error}): {ending}") from error
    for line in _untold(folder).read().get("left_out", ()):
        on_left_out(str(line))
    for line in _unhealthy(vault):
        on_unhealthy(line)
    _untold(folder).remove()
    return vault.root


def _put(archive: Path, folder: Path, limits: Limits) -> None:
    """Unpack a backup, check it, and move it into its place, with a line for each file that was left out
    (`_untold`)."""
    abandoned = _abandoned(folder)
    if folder.exists() and (not folder.is_dir() or any(path not in abandoned for path in folder.iterdir())):
        raise UsageError(f"{folder} is not empty: name a new folder, because nothing is overwritten")
    for path in (*abandoned, *_abandoned(folder.parent)):
        shutil.rmtree(path, ignore_errors=True)
    with _staging(folder) as staging:
        tree = staging / _TREE
        tree.mkdir()
        try:
            names = unpack(archive, tree, leave_out=is_left_out, is_private=layout.is_private, limits=limits)
            if not (tree / layout.SETTINGS_FILE).is_file():
                raise UsageError(f"{archive} is not a complete backup (it contains no vault)")
            open_vault(tree)
            _refuse_erased(archive, tree)
        except UsageError as error:
            raise UsageError(f"{error}: nothing was restored") from error
        left_out = [
            f"{name}: {_why_left_out(name)}"
            for name in names
            if not _is_intent(name) or "intents" in name.parts[:-1]  # the lock beside them is nobody's loss
        ]
        left_out += [
            f"{name}: git would run it; if you wrote it, copy it from the archive by hand"
            for name in _take_out_hooks(tree)
        ]
        left_out += _take_out_stopped(tree)
        if (tree / ".git").is_dir():
            starter.install_hooks(tree / ".git")
        _untold(tree).write({"archive": _identity(archive), "left_out": left_out})
        _move(staging, folder, {"archive": _identity(archive), "names": os.listdir(tree)})


def _refuse_erased(archive: Path, tree: Path) -> None:
    """Raise `UsageError` where a backup would bring back what was erased on this machine since, in the same vault."""
    for stones in tombstones_of_history(tree / ".git"):
        for folder, _, names in walk(tree):
            for name in names:
                path = PurePosixPath(Path(folder, name).relative_to(tree).as_posix())
                scope = layout.scope_of(path)
                if path.parts[0] == ".git" or not (layout.is_own_kind(path) or path.suffix == ".gz"):
                    continue
                is_named = stones.are_in_name(path)
                if not is_named and not stones.has_path(path) and not stones.are_in_file(path, _text(tree / path)):
                    continue
                where = f"the name of a file of {layout.label(scope)}" if is_named else path
                raise UsageError(
                    f"{archive} holds what was erased on this machine ({where}): take a backup that was made since; "
                    f"or, if it is to come back, delete {machine_file()} first"
                )


def _text(path: Path) -> str:
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            return file.read(_MAX_SEARCHED_BYTES).decode("utf-8", "replace")
    except (OSError, EOFError, zlib.error):  # nothing of it can be read by others, either
        return ""


def _untold(folder: Path) -> StateFile:
    """What a restore has still to tell of the vault that it has put there: the `archive`, and what was `left_out`.

    It is deleted last, so that the same command tells it after a kill.
    """
    return StateFile(folder, "restored")


def _is_moved(archive: Path, folder: Path) -> bool:
    """Whether all of this backup was moved into the folder by a restore that did not come to its end."""
    is_vault = (folder / layout.SETTINGS_FILE).is_file()
    return is_vault and _untold(folder).read().get("archive") == _identity(archive)


def _unhealthy(vault: Vault) -> tuple[str, ...]:
    try:
        return status(vault).unhealthy
    except (VaultMemoryError, OSError) as error:  # of a damaged repository: the notes are there all the same
        return (str(error),)


def check_backup(archive: Path, limits: Limits = DEFAULT_LIMITS) -> None:
    """Read all of a backup and raise what `restore` would say of its members. Nothing is written."""
    check(archive, is_left_out, limits)


@contextlib.contextmanager
def _staging(folder: Path) -> Iterator[Path]:
    """An empty folder on the disk of `folder`, closed to others; after an error all that was made goes. It is locked,
    so that the next restore knows whether this one was killed."""
    made = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    folder.parent.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(prefix=_STAGING, dir=folder if folder.exists() else folder.parent))
    try:
        with files.locked_folder(staging):
            yield staging
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        for parent in made:
            with contextlib.suppress(OSError):
                parent.rmdir()
        raise


def _abandoned(folder: Path) -> list[Path]:
    """What restores that were killed have left in a folder and of which nothing is in its place; nothing where folders
    cannot be locked."""
    return [path for path in _killed(folder) if not (path / _MOVING).exists()]


def _half_moved(folder: Path) -> Path | None:
    """What is not in its place yet of a restore into this folder that was killed between two moves."""
    return next((path for path in _killed(folder) if (path / _MOVING).exists() and files.names(path / _TREE)), None)


def _killed(folder: Path) -> list[Path]:
    if os.name == "nt":
        return []
    ours = (path for path in folder.glob(f"{_STAGING}*") if path.is_dir() and path.lstat().st_uid == os.geteuid())
    return [path for path in ours if not path.is_symlink() and not files.is_locked(path)]


def _move(staging: Path, folder: Path, moving: dict[str, list[str]]) -> None:
    """Put the unpacked vault in its place: a new folder in one step; into a folder that is there, the settings last, so
    that half of a vault is none."""
    if not folder.exists():
        os.rename(staging / _TREE, folder)
    else:
        files.write_private(staging / _MOVING, json.dumps(moving).encode())
        _move_into(folder, staging / _TREE)
    shutil.rmtree(staging, ignore_errors=True)


def _move_into(folder: Path, tree: Path) -> None:
    moved: list[str] = []
    try:
        for name in sorted(os.listdir(tree), key=lambda name: (name == layout.SETTINGS_FILE, name)):
            os.rename(tree / name, folder / name)
            moved.append(name)
    except OSError:
        for name in moved:
            os.rename(folder / name, tree / name)
        raise


def _finish(half: Path, archive: Path, folder: Path) -> None:
    """Move the rest of what a killed restore had unpacked. Nothing is deleted: the person may have written into the
    first half."""
    with files.locked_folder(half):
        moving = json.loads((half / _MOVING).read_bytes())
        if moving["archive"] != _identity(archive):
            command = f"vault-memory restore {in_command(moving['archive'][0])} {in_command(folder)}"
            raise UsageError(
                f"{folder} holds half of a restore that was killed: `{command}` finishes it while that file is as it "
                f"was; or delete all that is in {folder}, then restore again"
            )
        put = {half.name, *moving["names"]} - set(os.listdir(half / _TREE))
        if other := sorted(set(os.listdir(folder)) - put):
            raise UsageError(
                f"{folder / other[0]} did not come with the restore that was killed there: move it away, then run the "
                "same command again, which finishes it"
            )
        _move_into(folder, half / _TREE)
        shutil.rmtree(half, ignore_errors=True)


def _identity(archive: Path) -> list[str]:
    """By which an archive is known again: its path, size and time."""
    try:
        stamp = archive.stat()
    except OSError:
        return [str(archive)]
    return [str(archive.absolute()), str(stamp.st_size), str(stamp.st_mtime_ns)]


def _take_away(folder: Path, was_there: bool) -> None:
    """Delete what was restored into a folder, which held nothing before."""
    for path in [folder] if not was_there else list(folder.iterdir()):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def is_left_out(name: PurePosixPath, is_link: bool) -> bool:
    """Whether a restore leaves out this member of a backup."""
    is_pointer = name.parts in _POINTERS or (is_link and ".git" in name.parts)
    is_state = any(layout.is_state(each) for each in (name, *name.parents))  # in a folder in the place of an index, too
    return is_state or is_pointer or _is_intent(name) or _is_nested(name)


def _is_nested(name: PurePosixPath) -> bool:
    """Whether a file makes git take a folder of the users for another repository."""
    return name.parts[:1] == (layout.MEMORY_DIR,) and ".git" in [part.casefold() for part in name.parts[1:4]]


def _is_intent(name: PurePosixPath) -> bool:
    """Whether a file is in `vault-memory/` of a repository's own folder, on a disk that ignores case, too."""
    folded = [part.casefold() for part in name.parts]
    inside = folded[folded.index(".git") + 1 :] if ".git" in folded else []
    return WAITING_DIR in inside and inside[0] not in _WITH_BRANCHES


def _why_left_out(name: PurePosixPath) -> str:
    if _is_intent(name):
        return "unfinished work of the vault that was backed up"
    if _is_nested(name):
        return "git would take that folder for another repository"
    return "leads out of the repository" if ".git" in name.parts else "state is made anew"


def _take_out_hooks(root: Path) -> Iterator[PurePosixPath]:
    """Remove every hook of the repositories below `root`, submodules too; yields those that are neither samples of git
    nor ours."""
    for folder in sorted(root.rglob("[hH][oO][oO][kK][sS]")):
        name = PurePosixPath(folder.relative_to(root).as_posix())
        inside = name.parts[name.parts.index(".git") + 1 :] if ".git" in name.parts else ()
        if not inside or inside[0] in _WITH_BRANCHES:
            continue
        if not folder.is_dir():
            if len(inside) == 1:  # in the place of the folder that git and `init` expect
                yield name
                folder.unlink()
            continue
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.suffix != ".sample" and not starter.is_our_hook(path.read_bytes()):
                yield name / path.relative_to(folder).as_posix()
        shutil.rmtree(folder)


def _take_out_stopped(root: Path) -> Iterator[str]:
    """Remove what the repositories below `root` were to do next; yields a line for each. What is done stays: HEAD, and
    the files as they are."""
    for dot_git in sorted(root.rglob(".git")):
        for folder in sorted(path for path in dot_git.rglob("*") if path.name.casefold() in _STOPPED):
            inside = folder.relative_to(dot_git).parts
            if inside[0] in _WITH_BRANCHES or not os.path.lexists(folder):
                continue
            branch = _branch_of(folder)
            if folder.is_dir() and not folder.is_symlink():
                shutil.rmtree(folder)
            else:
                folder.unlink()
            yield (
                f"{folder.relative_to(root)}: a rebase or the like was stopped in the backup, and git would run what "
                f"it names. What was done stays; to begin anew: `git reset`, then `git switch --merge {branch}`"
            )


def _branch_of(folder: Path) -> str:
    """The branch that was rebased, for a command; BRANCH where that is not told."""
    with contextlib.suppress(OSError, VaultMemoryError):
        name = (files.read(folder / "head-name") or b"").decode("utf-8", "replace").strip()
        if name.startswith("refs/heads/"):
            return in_command(name.removeprefix("refs/heads/"))
    return "BRANCH"
