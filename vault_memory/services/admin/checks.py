"""The checks of `vault-memory doctor`, all of them: a new part adds its line to `CHECKS`.

A check looks and changes nothing. It returns what it saw and the next step for the person, "" when all is well. Its
`mend`, if it has one, takes that step; it may be run at any time, and never touches what a person wrote.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from vault_memory.adapters import files
from vault_memory.adapters.git import process as git
from vault_memory.adapters.watcher import Watcher
from vault_memory.core import layout
from vault_memory.core.profile.profile import Profile
from vault_memory.errors import IndexUnusable
from vault_memory.services import starter
from vault_memory.services.admin.access import exposed
from vault_memory.services.admin.create_vault import create_vault
from vault_memory.services.admin.status import BIG_BYTES, status, vectors_by
from vault_memory.services.daemon.daemon_record import is_running, read_record
from vault_memory.services.daemon.jobs import JOBS
from vault_memory.services.indexing.rebuild import rebuild
from vault_memory.services.indexing.reconcile import embed, reconcile
from vault_memory.services.sync import merge_driver
from vault_memory.services.vault import Vault

Seen = tuple[str, str]
"""What a check saw, and the next step ("" when all is well)."""


_NEEDED = (layout.SETTINGS_FILE, ".gitignore", ".gitattributes", "context/SOUL.md", "context/AGENTS.md")


@dataclass(frozen=True)
class Check:
    """One thing to look at, and how to mend it where that is safe."""

    name: str
    look: Callable[[Vault], Seen]
    mend: Callable[[Vault], object] | None = None


def _vault(vault: Vault) -> Seen:
    lacking = [name for name in _NEEDED if not (vault.root / name).is_file()]
    if lacking:
        return f"{vault.root} lacks {', '.join(lacking)}", "`vault-memory doctor --fix` puts them back"
    ignored = (files.read(vault.root / ".gitignore") or b"").splitlines()
    if b"index.db*" not in ignored or b".vault-memory/" not in ignored:
        return ".gitignore lacks our rules: the index would be committed", "`vault-memory doctor --fix` adds them"
    count = len(vault.user_ids())
    return f"{vault.root}, {count} user{'' if count == 1 else 's'}", ""


def _settings(vault: Vault) -> Seen:
    unknown = sorted(vault.config.schedule.keys() - {job.name for job in JOBS})
    if unknown:
        known = ", ".join(job.name for job in JOBS)
        return f"schedule names unknown jobs: {', '.join(unknown)}", f"correct it in {layout.SETTINGS_FILE}: {known}"
    return f"{layout.SETTINGS_FILE} is valid", ""


def _git(vault: Vault) -> Seen:
    version = git.run(vault.root, "--version").decode().split()[2]
    state = vault.history.state()
    if state.paused:
        return f"git {version}; {state.waiting} commits wait: {state.paused}", "finish that, then they are made"
    if state.waiting:
        return f"git {version}; {state.waiting} commits wait", "`vault-memory heartbeat --now commits` makes them"
    return f"git {version}, branch {state.branch}", ""


def _hooks(vault: Vault) -> Seen:
    folder = starter.hooks_folder(vault.history.git_dir)
    absent = [
        hook.name
        for hook in sorted(starter.shipped("hooks").iterdir())
        if files.read(folder / hook.name) != hook.read_bytes() or not os.access(folder / hook.name, os.X_OK)
    ]
    if absent:
        return f"{', '.join(absent)} in {folder}: not installed, or not as shipped", "`vault-memory doctor --fix`"
    return f"installed in {folder}", ""


def _merge_driver(vault: Vault) -> Seen:
    if not merge_driver.is_installed(vault.root):
        return (
            "`git merge` would merge USER.md by lines, not by key",
            "`vault-memory doctor --fix` names the merge driver",
        )
    return "git merges USER.md by key", ""


def _vectors(vault: Vault) -> Seen:
    if vectors_by() == "numpy":
        return "sqlite-vec cannot be loaded; numpy compares the vectors, a cold search is slower", ""
    return "sqlite-vec", ""


def _index(vault: Vault) -> Seen:
    scopes = status(vault).scopes
    step = "`vault-memory reindex`, or `vault-memory doctor --fix`"
    for scope in scopes:
        name = layout.label(scope.scope)
        if scope.problem:
            return f"{name}: {scope.problem}", step
        if scope.held:
            return f"{name}: {len(scope.held)} files are gone at once", "`vault-memory resume` if you deleted them"
    pending = [str(layout.scope_dir(scope.scope) / source) for scope in scopes for source in scope.pending]
    if pending:
        return f"{len(pending)} files are not as the index has them ({pending[0]})", step
    return f"{sum(scope.indexed for scope in scopes)} files in {len(scopes)} indexes, equal to the disk", ""


def _mend_index(vault: Vault) -> None:
    for scope in vault.scopes():
        try:
            reconcile(vault, scope, full_hash=True)
        except IndexUnusable:
            rebuild(vault, scope)
        while embed(vault, scope):
            pass


def _notes(vault: Vault) -> Seen:
    failed = [
        f"{layout.scope_dir(scope.scope) / source}: {problem}"
        for scope in status(vault).scopes
        for source, problem in scope.failed.items()
    ]
    if failed:
        more = f" (and {len(failed) - 1} more: `vault-memory status`)" if len(failed) > 1 else ""
        return f"{failed[0]}{more}", "correct the file; the rest of it is indexed where it can be read"
    return "every note can be read", ""


def _profiles(vault: Vault) -> Seen:
    found = [
        f"{layout.user_dir(user_id) / layout.PROFILE}, {problem}"
        for user_id in vault.user_ids()
        for problem in Profile.decode(files.read(vault.path(user_id, layout.PROFILE)) or b"").problems()
    ]
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        return f"{found[0]}{more}", "correct the line; until then it stays as you wrote it"
    return "every field is understood", ""


def _sizes(vault: Vault) -> Seen:
    big = [f"{s.scope}: {s.tracked_bytes / 1e6:.1f} MB" for s in status(vault).scopes if s.tracked_bytes > BIG_BYTES]
    if big:
        return f"above {BIG_BYTES / 1e6:.0f} MB: {', '.join(big)}", "move old notes of that user into archive/"
    return f"no user's notes are above {BIG_BYTES / 1e6:.0f} MB", ""


def _permissions(vault: Vault) -> Seen:
    places = [vault.root, vault.root / layout.STATE_DIR, vault.root / layout.MEMORY_DIR, vault.history.git_dir]
    places += [vault.root / layout.user_dir(user_id) for user_id in vault.user_ids()]
    closed = [str(place) for place in places if place.exists() and not os.access(place, os.R_OK | os.W_OK | os.X_OK)]
    if closed:
        return f"cannot be written: {', '.join(closed)}", "give yourself access (chown, chmod u+rwx)"
    return "every folder can be written", ""


def _tokens(vault: Vault) -> Seen:
    readable = [path.name for path in exposed(vault.root)]
    if readable:
        what = f"others on this machine can read the tokens {', '.join(readable)}"
        return what, "`vault-memory doctor --fix` closes them; make new ones if somebody may have looked"
    return "nobody else can read the tokens", ""


def _mend_tokens(vault: Vault) -> None:
    for path in exposed(vault.root):
        path.chmod(0o600)


def _watching(vault: Vault) -> Seen:
    record = read_record(vault.root)
    if record and is_running(vault.root):
        if record.problems:
            where, problem = next(iter(record.problems.items()))
            return f"a daemon (process {record.pid}) has trouble with {where}: {problem}", "do what the message says"
        polling = record.polling
    else:
        watcher = Watcher(vault.root)
        watcher.start()
        polling = watcher.polling
        watcher.stop()
    if polling:
        return f"edits are found by polling: {polling}", ""
    return f"a daemon watches, process {record.pid}" if record and is_running(
        vault.root
    ) else "edits can be watched", ""


def _leftovers(vault: Vault) -> Seen:
    stale = list(_stale(vault))
    if stale:
        return (
            f"{len(stale)} temporary files of ended processes ({stale[0]})",
            "`vault-memory doctor --fix` removes them",
        )
    return "none", ""


def _stale(vault: Vault) -> Iterator[Path]:
    for folder, folders, _ in os.walk(vault.root):
        folders[:] = [name for name in folders if name != ".git"]
        yield from sorted(files.abandoned(Path(folder)))


def _mend_leftovers(vault: Vault) -> None:
    for path in _stale(vault):
        path.unlink(missing_ok=True)


CHECKS = (
    Check("vault", _vault, mend=lambda vault: create_vault(vault.root)),
    Check("settings", _settings),
    Check("permissions", _permissions),
    Check("tokens", _tokens, mend=_mend_tokens),
    Check("git", _git),
    Check("hooks", _hooks, mend=lambda vault: starter.install_hooks(vault.history.git_dir)),
    Check("merge driver", _merge_driver, mend=lambda vault: merge_driver.install(vault.root)),
    Check("vectors", _vectors),
    Check("index", _index, mend=_mend_index),
    Check("notes", _notes),
    Check("profiles", _profiles),
    Check("sizes", _sizes),
    Check("watching", _watching),
    Check("leftovers", _leftovers, mend=_mend_leftovers),
)
