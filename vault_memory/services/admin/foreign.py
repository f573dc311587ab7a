"""What in a vault may have come from elsewhere, and what others can read of it: programs that its repository names,
files that somebody planted in the place of ours, private files with open modes."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from vault_memory.adapters import files
from vault_memory.adapters.git import Repository, Setting, settings_of, tracked_state
from vault_memory.adapters.private import belongs_to_other, user_name
from vault_memory.adapters.scan import walk
from vault_memory.core import layout
from vault_memory.services import starter
from vault_memory.services.sync import is_our_setting
from vault_memory.services.vault import Vault


def repository_programs(root: Path) -> list[str]:
    """A line for each link or pipe in git's folder, and for each setting, hook and line of a stopped rebase of the
    repository that holds `root` by which git would start a program, or work elsewhere, that is neither ours nor the
    person's own; vault-memory follows none, plain git does."""
    programs = [each for each in settings_of(root).programs if not is_our_setting(*each)]
    lines = [f"git setting {each.in_words()}" for each in programs]
    repository = Repository(root)
    lines += [f"{what} {path}" for path, what in repository.planted()]
    if elsewhere := repository.other_worktree():
        lines.append(f"git setting core.worktree: git works on the files of {elsewhere}")
    lines += [
        f"in the rebase that was stopped here, `git rebase --continue`: {line}" for line in repository.next_programs()
    ]
    folder = starter.hooks_folder(repository.git_dir)
    hooks = sorted(folder.iterdir()) if folder.is_dir() else []
    return lines + [
        f"git hook {path}"
        for path in hooks
        if path.suffix != ".sample" and os.access(path, os.X_OK) and not starter.is_our_hook(files.read(path) or b"")
    ]


def repository_identity(root: Path) -> list[str]:
    """A line for each setting of the repository's own config that says who the person is, and not what theirs says."""
    settings = settings_of(root)
    keys = [f"{section}.{part}" for section in ("author", "user") for part in ("name", "email")]
    return [
        Setting(key, settings.values[key]).in_words()
        for key in keys
        if key in settings.values and settings.values[key] != settings.persons.get(key)
    ]


def foreign_files(vault: Vault) -> list[str]:
    """What somebody may have planted: links where private files should be, what is another user's, and state that git
    tracks; each in words."""
    lines, home = [], vault.root.stat()
    for path, status in _private(vault):
        if stat.S_ISLNK(status.st_mode):
            lines.append(f"{path.relative_to(vault.root)} is a link to {os.readlink(path)}")
        elif belongs_to_other(status, home):
            lines.append(f"{path.relative_to(vault.root)} belongs to the user {user_name(status.st_uid)}")
    if (vault.root / layout.STATE_DIR).is_file():
        lines.append(f"{layout.STATE_DIR} is a file, not a folder")
    return lines + [f"{name} is tracked by git" for name in sorted(tracked_state(vault.root))]


def open_files(vault: Vault) -> list[Path]:
    """Our private files and folders that other users of this machine can read."""
    if os.name == "nt":
        return []
    ours = ((path, status) for path, status in _private(vault) if not stat.S_ISLNK(status.st_mode))
    home = vault.root.stat()
    return [path for path, status in ours if status.st_mode & 0o077 and not belongs_to_other(status, home)]


def close_files(vault: Vault) -> None:
    """Make them readable by their owner only."""
    for path in open_files(vault):
        path.chmod(0o700 if path.is_dir() else 0o600)


def _private(vault: Vault) -> Iterator[tuple[Path, os.stat_result]]:
    """Every private file and folder, and its `lstat`; links too, which are not followed."""
    homes = [vault.root / layout.user_dir(user_id) for user_id in vault.user_ids()]
    records = (layout.CONVERSATIONS_DIR, layout.ARCHIVED_RECORDS)
    tops = [vault.root / layout.STATE_DIR, *(home / name for home in homes for name in records)]
    tops += [path for home in homes for path in sorted(home.glob(f"{layout.INDEX_FILE}*"))]
    for top in tops:
        inside = [] if top.is_symlink() else walk(top)
        below = [Path(folder, name) for folder, folders, names in inside for name in (*folders, *names)]
        for path in [top, *below]:
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                yield path, path.lstat()
