"""The state of a vault: what is indexed, pending and failed, whether a daemon runs, and how its git history is."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TypeVar

from vault_memory.adapters import scan
from vault_memory.adapters.git import NEXT_STEP, Growth, growth
from vault_memory.adapters.history import HistoryState
from vault_memory.adapters.index import Stats
from vault_memory.core import extraction, layout
from vault_memory.core.notes import note
from vault_memory.core.privacy import shown_address
from vault_memory.core.record_kinds import KIND_OF_PATH
from vault_memory.errors import ForeignFile, HistoryError, VaultMemoryError
from vault_memory.services.assistants import Heard, heard_hooks
from vault_memory.services.daemon import DaemonRecord, Outcome, is_running, outcomes, read_record
from vault_memory.services.erasing import reach_again, used_problem
from vault_memory.services.forgetting import is_forgetting
from vault_memory.services.indexing import compare, held_deletions, spaces
from vault_memory.services.longterm import long_term_problem
from vault_memory.services.memories import Session, in_circles, memory_twins, session, without_successor
from vault_memory.services.notes import file_of
from vault_memory.services.person_edits import Withheld, withheld
from vault_memory.services.shortterm import encoding_problem, store_place, store_problem
from vault_memory.services.sync import (
    decided_conflicts,
    open_conflicts,
    waiting_addresses,
    wrong_in_git,
)
from vault_memory.services.turns import Tally, redactions, tally, turns_waiting
from vault_memory.services.vault import Vault

STALE_AFTER_S = 60
"""A vault is unhealthy when a file has been newer on disk than in the index for longer than this."""
LARGE_USER_BYTES = 8_000_000
"""A user with more bytes of files is told so (`too_large`): all works, and git grows with each of their edits."""

_Item = TypeVar("_Item")
MAX_NAMED = 10
"""So many memories with something wrong are named."""


@dataclass(frozen=True)
class ScopeStatus:
    """One scope's files against its index; sizes in bytes.

    `pending` files differ from the index; `stale` are the pending ones that changed more than a minute ago. `failed`
    maps a file that cannot be read to the reason, `warned` one that is read to what of it is not, or not as it was
    meant. `held` are deletions that wait for `resume`. `vectors_pending` passages have
    no vector, so they are found by their words only. `building` is the progress of the vectors of a model that searches
    do not use yet (`1,200 of 9,000 passages in space http:bge-m3`). `redactions` counts what was kept out of the user's
    files, by category. `turns_waiting` turns are in the record, and nothing was learned from them yet. `tracked_bytes`
    are those of the files that a user has in git, without the archive; 0 for the shared notes. `memories` are the
    user's active ones. `is_forgetting`: what was begun to be forgotten is not all gone yet.
    """

    scope: str
    indexed: int = 0
    pending: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    failed: dict[str, str] = field(default_factory=dict)
    warned: dict[str, str] = field(default_factory=dict)
    held: tuple[str, ...] = ()
    vectors_pending: int = 0
    building: str = ""
    index_bytes: int = 0
    tracked_bytes: int = 0
    redactions: dict[str, int] = field(default_factory=dict)
    problem: str = ""
    turns_waiting: int = 0
    memories: int = 0
    is_forgetting: bool = False


@dataclass(frozen=True)
class DaemonStatus:
    """Whether a daemon runs, and its last record (None: there never was one)."""

    running: bool
    record: DaemonRecord | None


@dataclass(frozen=True)
class JobStatus:
    """A job of the heartbeat, its schedule in this vault, and its last outcome (None: not yet run)."""

    name: str
    when: str
    help: str
    last: Outcome | None


@dataclass(frozen=True)
class Status:
    """The whole vault. `unhealthy` has a line for each thing that a person should repair; empty: all is well.

    `vectors_by` is what compares vectors: `sqlite-vec`, or `numpy` where that cannot be loaded. `growth` is the size of
    git's history. `conflicts` wait for a person's decision; `decided` are those in which a sync kept the newer value.
    `withheld` files hold a secret or are too large, and are left out of commits. `session` is what this process
    has done. `hooks` are the last events of the assistants that call hooks.
    """

    root: str
    scopes: tuple[ScopeStatus, ...]
    daemon: DaemonStatus
    history: HistoryState
    jobs: tuple[JobStatus, ...]
    vectors_by: str
    stores: Mapping[str, str]
    growth: Growth
    conflicts: tuple[str, ...]
    decided: tuple[str, ...]
    withheld: tuple[Withheld, ...]
    degraded: tuple[str, ...]
    unhealthy: tuple[str, ...]
    session: Session
    hooks: tuple[Heard, ...] = ()


def status(vault: Vault, user_id: str | None = None) -> Status:
    """The present state of the vault, or of one user's scope. Changes nothing."""
    scopes = vault.scopes() if user_id is None else [vault.known_user(user_id)]
    scope_statuses = tuple(_scope(vault, scope) for scope in scopes)
    untold: list[str] = []
    history = _history(vault)
    daemon = _daemon(vault)
    jobs = tuple(JobStatus(job.name, when, job.help, last) for job, when, last in outcomes(vault))
    to_search = [  # not those that failed: a link, for example, must not be read
        layout.scope_dir(scope.scope) / source
        for scope in scope_statuses
        for source in {*scope.pending, *scope.warned} - scope.failed.keys()
        if note.CONFLICT_PROBLEM in scope.warned.get(source, note.CONFLICT_PROBLEM)
    ]

    def told(ask: Callable[[], Sequence[_Item]]) -> tuple[_Item, ...]:
        """What history says; nothing, and a line in `untold`, where it cannot."""
        try:
            return tuple(ask())
        except (HistoryError, ForeignFile) as error:
            untold.append(history.problem or str(error))
            return ()

    is_judged = history.problem is None  # else git lists nothing, and the problem itself is shown
    conflicts = told(lambda: open_conflicts(vault, to_search)) if is_judged else ()
    held_back = told(lambda: [w for w in withheld(vault) if user_id in (None, layout.scope_of(PurePosixPath(w.path)))])
    judging = filter(None, [extraction.problem()])
    full = [*filter(None, map(too_large, scope_statuses)), *_full(scope_statuses, vault.config.memories_capacity)]
    degraded = (*vault.config.waits(), *judging, *full, *_degraded(scope_statuses, daemon, tally(vault)))
    refused = told(lambda: _refused_settings(vault))
    decided = told(lambda: decided_conflicts(vault)) if is_judged else ()
    notes = told(lambda: [*wrong_in_git(vault), *filter(None, [ignored_notes(vault)])])
    size = told(lambda: [growth(vault.history.git_dir)])
    closed = told(lambda: _closed(vault))
    hooks = told(lambda: heard_hooks(vault.root)) if user_id is None else ()
    return Status(
        str(vault.root),
        scopes=scope_statuses,
        daemon=daemon,
        history=history,
        jobs=jobs,
        vectors_by=vectors_by(),
        stores={"short-term": store_place(vault)},
        growth=size[0] if size else Growth(0, 0, 0),
        conflicts=conflicts,
        decided=decided,
        withheld=held_back,
        degraded=(
            *degraded,
            *_memories(vault, scope_statuses),
            *filter(
                None,
                [
                    store_problem(vault),
                    used_problem(vault),
                    reach_again(vault),
                    long_term_problem(vault),
                    encoding_problem(vault),
                ],
            ),
            *refused,
            *(
                f"the hook {each.event} of {each.client} failed, {each.at}: {each.problem}"
                for each in hooks
                if each.problem
            ),
            *(told(lambda: [*vault.refused_users(), *vault.no_users()]) if user_id is None else ()),
        ),
        unhealthy=(
            *dict.fromkeys([*closed, *_unhealthy(scope_statuses, daemon, history, jobs), *untold, *notes]),
            *(vault.twins() if user_id is None else ()),
            *(f"conflict: {line}" for line in conflicts),
            *(f"withheld from commits: {w.path}: {w.why}: {w.next_step}" for w in held_back),
        ),
        session=session(vault, user_id),
        hooks=hooks,
    )


def _history(vault: Vault) -> HistoryState:
    """Where the repository stands; where there is none that can be opened, why."""
    try:
        return vault.history.state()
    except (HistoryError, ForeignFile) as error:
        return HistoryState(None, None, str(error), 0, problem=str(error))


def closed_folders(vault: Vault) -> list[str]:
    """The folders that nothing can be written to, without permission or on a disk that is mounted for reading."""
    folders = [vault.root, vault.root / layout.STATE_DIR, vault.root / layout.MEMORY_DIR, vault.history.git_dir]
    folders += [vault.root / layout.user_dir(user_id) for user_id in vault.user_ids()]
    return [str(path) for path in folders if path.is_dir() and not os.access(path, os.R_OK | os.W_OK | os.X_OK)]


def _closed(vault: Vault) -> list[str]:
    if closed := closed_folders(vault):
        more = f" (and {len(closed) - 1} more)" if len(closed) > 1 else ""
        return [f"{closed[0]} cannot be written{more}, so no turn is kept there: give yourself access (chown, chmod)"]
    return []


def ignored_notes(vault: Vault) -> str:
    """A line if git ignores notes that this program keeps for a user, with the next step, else "". The program commits
    its own writes all the same; what a person makes there is not seen."""
    names = [glob.replace("**", "2000-01").replace("*", "2000-01-01") for glob, _ in KIND_OF_PATH]
    paths = [layout.user_dir(user_id) / name for user_id in vault.user_ids() for name in names]
    paths = [path for path in paths if not layout.is_private(path)]
    for path, line in vault.history.working_tree.ignoring(paths).items():
        return (
            f"git ignores names such as {path} ({line}), and a file that a person makes there is not committed: take "
            "that pattern out"
        )
    return ""


def _daemon(vault: Vault) -> DaemonStatus:
    """Record and state of one moment, even when a daemon starts or ends in between."""
    while True:
        record, running = read_record(vault.root), is_running(vault.root)
        if running or record == read_record(vault.root):
            return DaemonStatus(running, record)


def vectors_by() -> str:
    """What compares vectors in a cold process."""
    from vault_memory.adapters.index import vec_library

    return "sqlite-vec" if vec_library() else "numpy"


def _scope(vault: Vault, scope: str) -> ScopeStatus:
    found = scan.scan(vault.root, scope)
    known: dict[str, scan.Stamp] = {}
    failed: dict[str, str] = {}
    warned: dict[str, str] = {}
    stats: Stats | None = None
    problem = building = ""
    memories = 0
    now = vault.now().timestamp()
    try:
        if vault.index_path(scope).exists():
            index = vault.index(scope)
            known, stats = index.stamps(), index.stats()
            failed, warned = index.problems(is_read=False), index.problems(is_read=True)
            memories = index.active_memories(now)
            building = spaces.building(index, vault.embedder.space)
    except VaultMemoryError as error:
        problem = str(error)
    change = compare(found.files, known, found.unseen)
    # A file that is read right after it was written is recorded without a time, so that it is read again. It is not
    # pending.
    pending = [s for s in (*change.added, *change.modified) if not _is_as_recorded(known.get(s), found.files[s])]
    return ScopeStatus(
        scope,
        indexed=len(known),
        pending=(*pending, *change.removed),
        stale=tuple(
            s
            for s in pending
            if s not in found.problems and now - _changed_at(vault, scope, s, found.files[s]) > STALE_AFTER_S
        ),
        failed=failed | found.problems,
        warned={source: problem for source, problem in warned.items() if source not in found.problems},
        held=held_deletions(vault, scope, change.removed, len(known)),
        vectors_pending=stats.pending.get(vault.embedder.space, stats.chunks) if stats else 0,
        building=building,
        index_bytes=stats.bytes if stats else 0,
        tracked_bytes=_tracked_bytes(vault, scope) if scope != layout.SHARED else 0,
        redactions=redactions(vault, scope) if scope != layout.SHARED else {},
        problem=problem,
        turns_waiting=turns_waiting(vault, scope) if scope != layout.SHARED else 0,
        memories=memories,
        is_forgetting=scope != layout.SHARED and is_forgetting(vault, scope),
    )


def _changed_at(vault: Vault, scope: str, source: str, stamp: scan.Stamp) -> float:
    """When a file last changed, in seconds since 1970; for a day that is in the archive, when its month's file did."""
    changed_ns = scan.SourceStamp(*stamp).ctime_ns
    with contextlib.suppress(OSError):
        return changed_ns / 1e9 if changed_ns else os.lstat(file_of(vault, scope, source)).st_ctime
    return 0.0


def _is_as_recorded(known: scan.Stamp | None, stamp: scan.Stamp) -> bool:
    return known is not None and scan.SourceStamp(*known)._replace(mtime_ns=stamp[1]) == stamp


def _tracked_bytes(vault: Vault, user_id: str) -> int:
    """Bytes of the files in a user's folder that git may track: not the archive, nor what is private or temporary."""
    home, total = layout.user_dir(user_id), 0
    for folder, folders, names in scan.walk(vault.root / home):
        inside = PurePosixPath(Path(folder).relative_to(vault.root).as_posix())
        folders[:] = [name for name in folders if not _is_not_counted(inside / name, home)]
        for name in names:
            if not _is_not_counted(inside / name, home):
                with contextlib.suppress(OSError):  # it is gone by now
                    total += os.lstat(os.path.join(folder, name)).st_size
    return total


def _is_not_counted(path: PurePosixPath, home: PurePosixPath) -> bool:
    return path == home / layout.ARCHIVE_DIR or layout.is_temporary(path.name) or layout.is_private(path)


def too_large(scope: ScopeStatus) -> str:
    """A line about a user whose files are more than git holds well of one, with what may be done; else ""."""
    if scope.tracked_bytes <= LARGE_USER_BYTES:
        return ""
    size, most = scope.tracked_bytes / 1e6, LARGE_USER_BYTES / 1e6
    return (
        f"{layout.label(scope.scope)}: {size:.1f} MB of files, without archive and conversations, are above {most:.0f} "
        "MB (the limit is 10 MB): all of it works, but git grows with each edit; old ones may go into its archive/"
    )


def _full(scopes: tuple[ScopeStatus, ...], capacity: int) -> list[str]:
    """A line for each user who has as many memories as may be."""
    return [
        f"{layout.label(scope.scope)}: {scope.memories:,} memories, and memories.capacity is {capacity:,}: with each "
        "new one the least important expires, into archive/memories/; those for good, and your own notes, only where "
        "whoever stores another one is told"
        for scope in scopes
        if scope.memories >= capacity
    ]


def _memories(vault: Vault, scopes: tuple[ScopeStatus, ...]) -> list[str]:
    """What is wrong between memories, where the index can say it."""
    users = [scope.scope for scope in scopes if scope.scope != layout.SHARED and not scope.problem]
    looks = (memory_twins, in_circles, without_successor)
    lines = [line for user_id in users for look in looks for line in look(vault, user_id)]
    more = [f"and {len(lines) - MAX_NAMED} more such memories"] if len(lines) > MAX_NAMED else []
    return [*lines[:MAX_NAMED], *more]


def _degraded(scopes: tuple[ScopeStatus, ...], daemon: DaemonStatus, second_looks: Tally) -> list[str]:
    """What works less well than it could, although nothing is wrong."""
    lines = [f"{layout.label(scope.scope)}: {scope.building}" for scope in scopes if scope.building]
    if waiting := sum(scope.vectors_pending for scope in scopes if not scope.building):
        lines.append(
            f"{waiting} passages have no vector yet and are found by words only: `vault-memory watch` makes them"
        )
    if vectors_by() == "numpy":
        lines.append("sqlite-vec cannot be loaded here: vectors are compared by numpy, a cold search takes longer")
    if daemon.running and daemon.record and daemon.record.polling:
        lines.append(f"edits are found by polling: {daemon.record.polling}")
    if second_looks.failing:
        lines.append(
            f"preferences are learned by the rules alone, {second_looks.failing} second looks failed: "
            f"{second_looks.why}"
        )
    if second_looks.skipped:
        turns = "1 turn" if second_looks.skipped == 1 else f"{second_looks.skipped} turns"
        lines.append(f"{turns} of {second_looks.skipped_on} got no second look: {second_looks.skipped_why}")
    return lines


def _refused_settings(vault: Vault) -> list[str]:
    """What of the repository's own git config does not take effect, and the files that wait for it."""
    lines = [
        f"no sync with {', '.join(map(shown_address, waiting.value))}: this machine has not said yes to it: "
        "`vault-memory trust` asks"
        for waiting in filter(None, [waiting_addresses(vault)])
    ]
    lines += [
        f"the repository's own git config sets {setting.in_words()}, which does not take effect: {NEXT_STEP}"
        for setting in vault.history.refused_settings()
    ]
    lines += vault.history.passed_over()
    waiting = vault.history.obstacles.waiting_for_filter()
    return lines + [f"{path} is not committed before the filter {name} may run" for path, name in waiting.items()]


def _unhealthy(
    scopes: tuple[ScopeStatus, ...], daemon: DaemonStatus, history: HistoryState, jobs: tuple[JobStatus, ...]
) -> list[str]:
    lines = []
    for scope in scopes:
        name = layout.label(scope.scope)
        if scope.problem:
            lines.append(f"{name}: {scope.problem}")
        if scope.held:
            lines.append(
                f"{name}: {len(scope.held)} files are gone at once: `vault-memory resume` if you deleted them, "
                "else put them back"
            )
        if scope.stale:
            lines.append(
                f"{name}: {len(scope.stale)} files changed more than a minute ago and are not indexed "
                f"({scope.stale[0]}): `vault-memory reindex`, and keep `vault-memory watch` running"
            )
        if scope.turns_waiting:
            usual = "the next turn does it, or `vault-memory heartbeat --now commits`"
            why = history.problem or history.paused or usual
            lines.append(
                f"{name}: {scope.turns_waiting} messages and replies are kept, and are not learned from yet: {why}"
            )
        if scope.is_forgetting:
            lines.append(
                f"{name}: what was begun to be forgotten is not all gone yet: `vault-memory heartbeat --now commits` "
                "goes on with it"
            )
    if daemon.record and not daemon.running and daemon.record.state != "stopped":
        lines.append(
            f"the daemon (process {daemon.record.pid}) died, last active {daemon.record.beat}: "
            "start `vault-memory watch`"
        )
    if daemon.running and daemon.record:
        lines += [f"daemon, {where}: {problem}" for where, problem in daemon.record.problems.items()]
    if history.waiting:
        usual = (
            "made at the next write; those of a file that you have staged when you commit or unstage it, those of a "
            "withheld file when that is mended"
        )
        commits = "1 commit waits" if history.waiting == 1 else f"{history.waiting} commits wait"
        lines.append(f"{commits}: {history.problem or history.paused or history.lock or usual}")
    elif history.problem:
        lines.append(history.problem)
    elif history.lock:
        lines.append(f"edits wait for their commits: {history.lock}")
    lines += history.damaged
    lines += [f"job {job.name}: {job.last.said}" for job in jobs if job.last and not job.last.ok and job.last.finished]
    return lines
