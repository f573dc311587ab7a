"""All checks of `vault-memory doctor`; a new one is added to `CHECKS`.

A check changes nothing. It returns a message and the next step for the person, "" when all is well. Its `repair`, if it
has one, takes that step; it can be run at any time, and never changes what a person wrote.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePosixPath

from vault_memory.adapters import files, git
from vault_memory.adapters.scan import abandoned_below
from vault_memory.adapters.unsent import kept_refs
from vault_memory.adapters.watcher import Watcher
from vault_memory.config import is_zone
from vault_memory.core import layout
from vault_memory.core.privacy import shown_address
from vault_memory.core.profile import Profile, unreadable_lines
from vault_memory.errors import ForeignFile, IndexUnusable, TooLarge
from vault_memory.services import starter
from vault_memory.services.admin.access import close_to_others, foreign_tokens, readable_by_others
from vault_memory.services.admin.create_vault import complete_vault
from vault_memory.services.admin.foreign import close_files, foreign_files, open_files
from vault_memory.services.admin.status import (
    LARGE_USER_BYTES,
    closed_folders,
    ignored_notes,
    status,
    too_large,
    vectors_by,
)
from vault_memory.services.admin.users import remove_left_over
from vault_memory.services.daemon import JOBS, is_running, read_record
from vault_memory.services.erasing import reach_again, used_problem
from vault_memory.services.graph import graph_problems
from vault_memory.services.indexing import embed, rebuild, reconcile
from vault_memory.services.longterm import long_term_fault
from vault_memory.services.memories import in_circles, memory_twins, without_successor
from vault_memory.services.profiles import evidence_sources
from vault_memory.services.shortterm import encoding_problem, store_place, store_problem
from vault_memory.services.sync import install_merge_driver, merge_driver_installed, private_in_git, waiting_addresses
from vault_memory.services.vault import Vault

CheckResult = tuple[str, str]
"""A message, and the next step ("" when all is well)."""

_REQUIRED_FILES = (layout.SETTINGS_FILE, ".gitignore", ".gitattributes", "context/SOUL.md", "context/AGENTS.md")


@dataclass(frozen=True)
class Check:
    """One thing to check, and how to repair it where that is safe."""

    name: str
    inspect: Callable[[Vault], CheckResult]
    repair: Callable[[Vault], object] | None = None


def _vault(vault: Vault) -> CheckResult:
    missing = [name for name in _REQUIRED_FILES if not (vault.root / name).is_file()]
    if missing:
        return f"{vault.root} lacks {', '.join(missing)}", "`vault-memory doctor --fix` puts them back"
    if problem := vault.history.state().problem:
        return problem, "do that, then run `vault-memory doctor` again"
    private = (layout.INDEX_FILE, f"{layout.CONVERSATIONS_DIR}/x", f"{layout.ARCHIVED_RECORDS}/x")
    names = (f"{layout.STATE_DIR}/token", *(f"{layout.MEMORY_DIR}/x/{name}" for name in private))
    for name in names:
        if not vault.history.working_tree.is_ignored(PurePosixPath(name)):
            return f".gitignore lacks our rules: `git add` would take {name}", "`vault-memory doctor --fix` adds them"
    what, _, step = ignored_notes(vault).rpartition(": ")
    if what:
        return what, step
    users = vault.user_ids()
    for line in vault.twins():
        what, _, step = line.partition(": ")
        return what, step
    count = len(users)
    return f"{vault.root}, {count} user{'' if count == 1 else 's'}", ""


def _settings(vault: Vault) -> CheckResult:
    unknown = sorted(vault.config.schedule.keys() - {job.name for job in JOBS})
    if unknown:
        known = ", ".join(job.name for job in JOBS)
        return f"schedule names unknown jobs: {', '.join(unknown)}", f"correct it in {layout.SETTINGS_FILE}: {known}"
    names = {*vault.config.off_record} - vault.config.identities.keys()
    if strange := sorted(name for name in names if not layout.is_user_id(name)):
        message = f"off_record names nobody by {', '.join(map(repr, strange))}, so their turns are kept"
        return message, f"name a user id, or map that name to one under [identities] in {layout.SETTINGS_FILE}"
    if vault.config.spared:
        return "; ".join(why for _, why in vault.config.spared), "correct or unset them; all else works meanwhile"
    now, locale = vault.now().astimezone(vault.config.zone()), vault.config.locale or "as each person writes"
    zone = f"{vault.config.timezone or 'of this system'}, now {now:%H:%M %z}"
    return f"{layout.SETTINGS_FILE} is valid; locale {locale}; time zone {zone}", ""


def _trust(vault: Vault) -> CheckResult:
    waits = vault.config.asks()
    if addresses := waiting_addresses(vault):
        shown = ", ".join(map(shown_address, addresses.value))
        waits.append(f"no sync with {shown}: this machine has not said yes to the address")
    if waits:
        return "; ".join(waits), "`vault-memory trust` shows these values and asks; `--yes` says yes to them"
    return "every setting in the file is in force", ""


def _git(vault: Vault) -> CheckResult:
    version = git.run(vault.root, "--version").decode().split()[2]
    state = vault.history.state()
    if reason := state.paused or state.lock:
        return (
            f"git {version}; {state.waiting} commits wait: {reason}",
            "finish that, then vault-memory makes them",
        )
    if state.damaged:
        return f"git {version}; {state.damaged[0]}", "look at what it was to commit, then delete it"
    if state.waiting:
        return f"git {version}; {state.waiting} commits wait", "`vault-memory heartbeat --now commits` makes them"
    return f"git {version}, branch {state.branch}", ""


def _private(vault: Vault) -> CheckResult:
    what, _, step = private_in_git(vault).partition(": ")
    if not what and (before := kept_refs(vault.history.root)):
        return (
            f"git tracks no state, index or conversation; {' and '.join(before)}, from before a `sync "
            "--take-out-private`, may hold some, and `git push --mirror` and `git bundle --all` send it along",
            "",
        )
    return what or "git holds no state, index or conversation", step


def _hooks(vault: Vault) -> CheckResult:
    folder = starter.hooks_folder(vault.history.git_dir)
    outdated = [
        name
        for name, hook in starter.hooks().items()
        if files.read(folder / name) != hook or not os.access(folder / name, os.X_OK)
    ]
    if outdated:
        return (
            f"{', '.join(outdated)} in {folder}: not installed, or not as this vault-memory installs them",
            "`vault-memory doctor --fix`",
        )
    return f"installed in {folder}", ""


def _merge_driver(vault: Vault) -> CheckResult:
    if not merge_driver_installed(vault.root):
        return (
            "`git merge` would merge USER.md by lines, not by key",
            "`vault-memory doctor --fix` names the merge driver",
        )
    return "git merges USER.md by key", ""


def _vectors(vault: Vault) -> CheckResult:
    if vectors_by() == "numpy":
        return "sqlite-vec cannot be loaded; numpy compares the vectors, a cold search is slower", ""
    return "sqlite-vec", ""


def _index(vault: Vault) -> CheckResult:
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
        return f"{len(pending)} files differ from the index ({pending[0]})", step
    return f"{sum(scope.indexed for scope in scopes)} files in {len(scopes)} indexes, equal to the disk", ""


def _repair_index(vault: Vault) -> None:
    for scope in vault.scopes():
        try:
            reconcile(vault, scope, full_hash=True)
        except IndexUnusable:
            rebuild(vault, scope)
        while embed(vault, scope):
            pass


def _notes(vault: Vault) -> CheckResult:
    scopes = status(vault).scopes
    failed = [_shown(scope.scope, *each) for scope in scopes for each in scope.failed.items()]
    warned = [_shown(scope.scope, *each) for scope in scopes for each in scope.warned.items()]
    problems = [*failed, *warned]
    more = f" (and {len(problems) - 1} more: `vault-memory status`)" if len(problems) > 1 else ""
    if failed:
        return f"{failed[0]}{more}", "correct the file, or take it out of the vault"
    if warned:
        return f"every note can be read, with a warning: {warned[0]}{more}", ""
    return "every note can be read", ""


def _shown(scope: str, source: str, problem: str) -> str:
    return f"{layout.scope_dir(scope) / source}: {problem}"


def _profiles(vault: Vault) -> CheckResult:
    problems: list[str] = []
    for user_id in vault.user_ids():
        try:
            profile = Profile.decode(files.read(vault.path(user_id, layout.PROFILE)) or b"")
        except (ForeignFile, TooLarge) as error:
            problems.append(str(error))
        else:
            found = profile.problems()
            if (zone := profile.line_of("timezone")) and zone.items and not is_zone(zone.items[0].value):
                what = f"{zone.items[0].value!r} is no time zone that is known"
                found.append(f"line {zone.index + 1}: {what}: write an IANA name such as Asia/Taipei")
            problems += [f"{layout.user_dir(user_id) / layout.PROFILE}, {problem}" for problem in found]
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        return f"{problems[0]}{more}", "correct the line; until then it stays as you wrote it"
    return "every field is understood", ""


def _evidence(vault: Vault) -> CheckResult:
    problems: list[str] = []
    found = ((user_id, source) for user_id in vault.user_ids() for source in evidence_sources(vault, user_id))
    for user_id, source in found:
        try:
            lines = unreadable_lines(files.read(vault.path(user_id, source)) or b"")
        except (ForeignFile, TooLarge) as error:
            problems.append(str(error))
        else:
            if lines:
                count = f"{len(lines)} lines are" if len(lines) > 1 else "it is"
                path = layout.user_dir(user_id) / source
                problems.append(f"{path}, line {lines[0]}: {count} no evidence that this version reads")
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        return f"{problems[0]}{more}", "delete the lines, or leave them: they are passed over, and the others are read"
    return "every line of it can be read", ""


def _memories(vault: Vault) -> CheckResult:
    ids = vault.user_ids()
    if wrong := [line for user_id in ids for line in (*memory_twins(vault, user_id), *in_circles(vault, user_id))]:
        what, _, step = wrong[0].rpartition(": ")
        return f"{what} (and {len(wrong) - 1} more)" if len(wrong) > 1 else what, step
    if lost := [line for user_id in ids for line in without_successor(vault, user_id)]:
        return f"{lost[0]} (and {len(lost) - 1} more)" if len(lost) > 1 else lost[0], ""
    return "no two have one id, and what took the place of another is there", ""


def _entities(vault: Vault) -> CheckResult:
    if problems := [line for user_id in vault.user_ids() for line in graph_problems(vault, user_id)]:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        return f"{problems[0]}{more}", "edit these notes; `vault-memory graph show NAME` shows what counts"
    return "each note of an entity can be read, and no two have one name", ""


def _sizes(vault: Vault) -> CheckResult:
    if large := [line for scope in status(vault).scopes if (line := too_large(scope))]:
        return f"{large[0]} (and {len(large) - 1} more users)" if len(large) > 1 else large[0], ""
    return f"no user's files are above {LARGE_USER_BYTES / 1e6:.0f} MB", ""


def _permissions(vault: Vault) -> CheckResult:
    if closed := closed_folders(vault):
        return f"cannot be written: {', '.join(closed)}", "give yourself access (chown, chmod u+rwx)"
    return "every folder can be written", ""


def _tokens(vault: Vault) -> CheckResult:
    readable = [path.name for path in readable_by_others(vault.root)]
    if readable:
        message = f"others on this machine can read the tokens {', '.join(readable)}"
        return message, "`vault-memory doctor --fix` makes them private; make new tokens if somebody may have read them"
    return "nobody else can read the tokens", ""


def _token_files(vault: Vault) -> CheckResult:
    if problems := foreign_tokens(vault.root):
        return problems[0], "do what the message says, then make the token anew with `vault-memory token`"
    return "none is a link or tracked by git", ""


def _state(vault: Vault) -> CheckResult:
    if planted := foreign_files(vault):
        message = f"somebody else's files are where ours should be: {'; '.join(planted[:5])}"
        return message, "delete or move away each (`git rm --cached` it first if git tracks it); it is made anew"
    return "no link, and no file of git or of another user, is in the place of a private file", ""


def _privacy(vault: Vault) -> CheckResult:
    if exposed := open_files(vault):
        message = f"others on this machine can read {len(exposed)} private files ({exposed[0].relative_to(vault.root)})"
        return message, "`vault-memory doctor --fix` makes them private"
    return "nobody else can read conversations, indexes and state", ""


def _watching(vault: Vault) -> CheckResult:
    record = read_record(vault.root)
    if record and is_running(vault.root):
        if record.problems:
            where, problem = next(iter(record.problems.items()))
            return f"a daemon (process {record.pid}) has a problem with {where}: {problem}", "do what the message says"
        polling = record.polling
    else:
        watcher = Watcher(vault.root)
        watcher.start()
        polling = watcher.polling
        watcher.stop()
    if polling:
        return f"edits are found by polling: {polling}", ""
    if record and is_running(vault.root):
        return f"a daemon watches, process {record.pid}", ""
    return "edits can be watched", ""


def _leftovers(vault: Vault) -> CheckResult:
    step = "`vault-memory doctor --fix` removes them"
    if left := vault.left_overs():
        return f"{len(left)} folders hold the index of a user who is gone ({layout.user_dir(left[0])})", step
    stale = list(abandoned_below(vault.root))
    if stale:
        return (
            f"{len(stale)} temporary files of ended processes ({stale[0]})",
            step,
        )
    return "none", ""


def _repair_leftovers(vault: Vault) -> None:
    vault.history.flush()  # a killed writer may have left a person's save in one: it is put back first
    for path in list(abandoned_below(vault.root)):
        path.unlink(missing_ok=True)
    for name in vault.left_overs():
        remove_left_over(vault, name)


def _stores(vault: Vault) -> CheckResult:
    if problems := [
        *filter(
            None,
            [
                store_problem(vault),
                used_problem(vault),
                reach_again(vault, long_term=True),
                long_term_fault(vault),
                encoding_problem(vault),
            ],
        )
    ]:
        return "; ".join(problems), "docs/stores.md says what to do for each message"
    long_term = "; long-term store: PostgreSQL" if vault.config.longterm_enabled else ""
    return f"short-term store: {store_place(vault)}{long_term}", ""


CHECKS = (
    Check("vault", _vault, repair=complete_vault),
    Check("settings", _settings),
    Check("trust", _trust),
    Check("permissions", _permissions),
    Check("state", _state),
    Check("tokens", _tokens, repair=lambda vault: close_to_others(vault.root)),
    Check("token files", _token_files),
    Check("privacy", _privacy, repair=close_files),
    Check("git", _git),
    Check("private files", _private),
    Check("hooks", _hooks, repair=lambda vault: starter.install_hooks(vault.history.git_dir)),
    Check("merge driver", _merge_driver, repair=lambda vault: install_merge_driver(vault.root)),
    Check("vectors", _vectors),
    Check("index", _index, repair=_repair_index),
    Check("notes", _notes),
    Check("profiles", _profiles),
    Check("evidence", _evidence),
    Check("memories", _memories),
    Check("entities", _entities),
    Check("sizes", _sizes),
    Check("stores", _stores),
    Check("watching", _watching),
    Check("leftovers", _leftovers, repair=_repair_leftovers),
)
