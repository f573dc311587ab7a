"""Make a folder a vault: starter files, git repository, hooks, first commit. Safe to run again at any time."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from vault_memory.adapters import files
from vault_memory.adapters.git import Repository
from vault_memory.adapters.history import ASSISTANT, WAITING_DIR, Draft, FileChange, History
from vault_memory.adapters.machine import MachineRecord
from vault_memory.config import Config
from vault_memory.core import layout, setting_checks, trailers
from vault_memory.core.ranking import Filter
from vault_memory.errors import Busy, ForeignFile, Unwritable, UsageError, in_command
from vault_memory.services import starter
from vault_memory.services.admin.access import drop_tokens, foreign_tokens, own_token
from vault_memory.services.admin.adopt import plan_adoption
from vault_memory.services.indexing import reconcile
from vault_memory.services.sync import claims_line, install_merge_driver
from vault_memory.services.vault import Vault, open_vault, refuse_linked_users, vault_around

_LOCK_FILE = "lock"
_LOCK_TIMEOUT_S = 30.0
_INDEX_FILES = {layout.INDEX_FILE + suffix for suffix in ("", "-wal", "-shm", "-journal")}


@dataclass(frozen=True)
class Created:
    """What `create_vault` did: the paths written (vault-relative), a line per hook, the commit (None: nothing was new),
    how many notes were indexed, `notes`: lines about what a person should know, such as ended tokens, and of an adopted
    folder the name of a note of the person's as an `example` of what a search finds."""

    root: Path
    written: tuple[PurePosixPath, ...]
    hooks: tuple[str, ...]
    commit: str | None
    indexed: int
    notes: tuple[str, ...] = ()
    example: str = ""


def create_vault(folder: str | Path, *, adopt: bool = False, track_all: bool = False, locale: str = "") -> Created:
    """Make `folder` a vault, or complete an existing one.

    `adopt` is needed for a folder that holds files but is not a vault, an Obsidian vault for example. Its notes stay as
    they are; our settings and rules are added (see `plan_adoption`, also for `track_all`). Without `adopt`, raises
    `UsageError` for such a folder. A new vault's settings name the `locale` (`zh-TW`, `zh-CN` or `en`; empty: none);
    raises `UsageError` for any other, and for one that differs from that of an existing vault.

    Tokens that lie in a folder which this machine did not make a vault are ended, and the vault gets a new one of its
    own; indexes that lie there are made anew from the notes, and commits that wait there are dropped. Raises
    `ForeignFile` when git tracks such a token, or when the folder of the users is a link.
    """
    folder = Path(folder)
    root = folder.expanduser().resolve()
    if root.exists() and not root.is_dir():
        raise UsageError(f"{root} is a file: name a folder")
    if outer := vault_around(root):
        raise UsageError(
            f"{root} is a folder of the vault {outer}, and no other vault can be in it: name another folder"
        )
    is_vault = (root / layout.SETTINGS_FILE).is_file()
    if wrong := setting_checks.locale(locale):
        raise UsageError(f"the locale {wrong}")
    if is_vault and locale not in ("", Config.load(root / layout.SETTINGS_FILE, {}).locale):
        raise UsageError(
            f'{root} has its settings already, and they stay as they are: write locale = "{locale}" in '
            f"{layout.SETTINGS_FILE} yourself"
        )
    is_foreign = not is_vault and root.is_dir() and any(root.iterdir())
    if is_foreign and not adopt:
        raise UsageError(
            f"{root} is neither empty nor a vault: `vault-memory init --adopt {in_command(folder)}` makes it one, "
            "and keeps its notes"
        )
    root.mkdir(parents=True, exist_ok=True)
    refuse_linked_users(root)
    Repository(root).refuse_links()
    is_ours = MachineRecord(root).has_own_tokens()
    if not is_ours and (problems := foreign_tokens(root)):
        raise ForeignFile("; ".join(problems))
    dropped = [] if is_ours else drop_waiting(root)
    if not is_ours:
        drop_indexes(root)
    ignored = plan_adoption(root, track_all=track_all).ignored if is_foreign else ()
    action = "adopt this folder" if is_foreign else "complete the vault" if is_vault else ""
    created = _complete(root, action, ignored, locale)
    if is_foreign:
        created = replace(created, example=_example(root, created.written))
    return created if is_ours else replace(created, notes=(*make_tokens(root), *dropped, *created.notes))


def _example(root: Path, written: Sequence[PurePosixPath]) -> str:
    """The name of a note that a person has written in an adopted folder; empty where there is none."""
    _, found = open_vault(root).index(layout.SHARED).listed(Filter(), len(written) + 1)
    theirs = (PurePosixPath(each.source) for each in found)
    return next((path.stem for path in theirs if path not in written), "")


def complete_vault(vault: Vault) -> Created:
    """Put back what an existing vault lacks; its tokens stay as they are."""
    return _complete(vault.root, "complete the vault")


def make_tokens(root: Path) -> list[str]:
    """Make the tokens anew in a folder that came from elsewhere; returns a line about each thing to know."""
    notes = []
    if ended := drop_tokens(root):
        notes.append(
            f"tokens that came with the folder are ended: {', '.join(ended)}; `vault-memory token` makes new ones"
        )
    own_token(root)
    try:
        MachineRecord(root).note_own_tokens()
    except (Busy, Unwritable) as error:
        notes.append(f"the next `init` makes the tokens anew once more: {error}")
    return notes


def drop_indexes(root: Path) -> None:
    """Delete every index in a folder that came from elsewhere: what it says of the notes is not known to be true."""
    for folder in (root / layout.STATE_DIR, *(root / layout.MEMORY_DIR).glob("*")):
        for path in [] if folder.is_symlink() else folder.glob("*"):
            if path.name.casefold() in _INDEX_FILES and (path.is_symlink() or not path.is_dir()):
                path.unlink()


def drop_waiting(root: Path) -> list[str]:
    """Delete the commits that wait in a repository that came from elsewhere; returns a line about them.

    They are nobody's unfinished work: whoever wrote them decides what is committed, and under whose name. What they
    were to commit is in the notes.
    """
    git_dir = Repository(root).git_dir
    folder = git_dir / WAITING_DIR
    if not os.path.lexists(folder):
        return []
    if folder.is_symlink() or not folder.is_dir():
        folder.unlink()
        return [f"{folder} was no folder, and is deleted"]
    names = sorted(path.name for path in folder.glob("intents/*"))
    with files.lock(folder / _LOCK_FILE, _LOCK_TIMEOUT_S, git_dir):  # another vault of this repository may be at work
        for path in sorted(folder.iterdir()):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            elif path.name != _LOCK_FILE:
                path.unlink()
    if not names:
        return []
    shown = ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
    return [f"commits that waited in the folder's .git are dropped ({shown}): what they were to commit is in the notes"]


def _complete(root: Path, action: str, ignored: Sequence[str] = (), locale: str = "") -> Created:
    """`action` names what is completed; "" for a new vault. `ignored` are more lines for its `.gitignore`, `locale` is
    for its new settings."""
    Repository(root).refuse_links()
    before = {path: files.read(root / path) for path in (PurePosixPath(".gitignore"), PurePosixPath(".gitattributes"))}
    settings = root / layout.SETTINGS_FILE
    locale = locale or (Config.load(settings, {}).locale if settings.is_file() else "")
    # An existing vault gets only what it needs: a person may have deleted the rest on purpose.
    written = starter.lay_out(root, adopt=bool(action), ignored=ignored, locale=locale)
    History.create(root)
    vault = open_vault(root)
    hooks = starter.install_hooks(vault.history.git_dir)
    install_merge_driver(root)
    changes = []
    for path in written:
        content = files.read(root / path)
        if content is not None and not vault.history.working_tree.is_ignored(path):
            committed = vault.history.blob(path)
            changes.append(FileChange(path, committed if committed is not None else before.get(path), content))
    commit = None
    if changes:
        flushed = vault.history.commit(
            [Draft(trailers.render(f"vault: {action or 'lay out a new vault'}"), ASSISTANT, tuple(changes))]
        )
        commit = flushed.commits[-1] if flushed.commits else None
    indexed = sum(len(reconcile(vault, scope).indexed) for scope in vault.scopes())
    paused = vault.history.state().paused
    notes = [*vault.config.waits(), *([f"no commit can be made here now: {paused}"] if paused else [])]
    notes += filter(None, [] if paused else [claims_line(vault, vault.history.working_tree.tracked())])
    return Created(root, tuple(written), tuple(hooks), commit, indexed, tuple(notes))
