"""The truth about a vault, at a glance: what is indexed, pending and failed, whether a daemon runs, how git stands."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, field

from vault_memory.adapters import scan
from vault_memory.adapters.git.upkeep import Growth, growth
from vault_memory.adapters.history import HistoryState
from vault_memory.adapters.index.base import Stats
from vault_memory.core import layout
from vault_memory.core.change import Identity, Stat, compare, is_mass_deletion
from vault_memory.core.notes import conflict
from vault_memory.errors import VaultMemoryError
from vault_memory.services.daemon.daemon_record import DaemonRecord, is_running, read_record
from vault_memory.services.daemon.heartbeat import Outcome, outcomes
from vault_memory.services.indexing import spaces
from vault_memory.services.sync.conflicts import decided, undecided
from vault_memory.services.turns.second_look import Tally, tally
from vault_memory.services.turns.withheld import withheld
from vault_memory.services.vault import Vault

STALE_S = 60
"""A file that has been newer on disk than in the index for longer than this makes a vault unhealthy."""
BIG_BYTES = 8_000_000
"""A user's tracked files above this are reported; 10 MB is what one user should stay below."""


@dataclass(frozen=True)
class ScopeStatus:
    """One scope's files against its index; sizes in bytes.

    `pending` files are not yet, or no longer, as the index has them; `stale` are those among them that changed more than
    a minute ago. `failed` says of a file what is wrong with it, `held` are deletions that wait for `resume`, and
    `vectors_pending` passages can be found by their words only; `building` says how far the vectors of a model are that is
    not asked yet (`1,200 of 9,000 passages in space http:bge-m3`); `withheld` counts what was kept out of the user's
    files, by category.
    """

    scope: str
    indexed: int = 0
    pending: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    failed: dict[str, str] = field(default_factory=dict)
    held: tuple[str, ...] = ()
    vectors_pending: int = 0
    building: str = ""
    index_bytes: int = 0
    tracked_bytes: int = 0
    withheld: dict[str, int] = field(default_factory=dict)
    problem: str = ""


@dataclass(frozen=True)
class DaemonStatus:
    """Whether a daemon runs, and what it last told of itself (None: there never was one)."""

    running: bool
    record: DaemonRecord | None


@dataclass(frozen=True)
class JobStatus:
    """A job of the heartbeat, its schedule in this vault, and how it last went (None: not yet)."""

    name: str
    when: str
    help: str
    last: Outcome | None


@dataclass(frozen=True)
class Status:
    """The whole vault. `unhealthy` says in words what somebody should look after; when it is empty, all is well.

    `vectors_by` is what compares vectors: `sqlite-vec`, or `numpy` where that cannot be loaded. `growth` is the size of
    git's history. `conflicts` wait for a person's decision; of the `decided` ones a sync kept the newer value.
    """

    root: str
    scopes: tuple[ScopeStatus, ...]
    daemon: DaemonStatus
    history: HistoryState
    jobs: tuple[JobStatus, ...]
    vectors_by: str
    growth: Growth
    conflicts: tuple[str, ...]
    decided: tuple[str, ...]
    degraded: tuple[str, ...]
    unhealthy: tuple[str, ...]


def status(vault: Vault, user_id: str | None = None) -> Status:
    """Look at the vault now, or at one user's scope of it. Changes nothing."""
    scopes = vault.scopes() if user_id is None else [vault.known_user(user_id)]
    looked = tuple(_scope(vault, scope) for scope in scopes)
    history = vault.history.state()
    daemon = _daemon(vault)
    jobs = tuple(JobStatus(job.name, when, job.help, last) for job, when, last in outcomes(vault))
    holding = [  # of those that failed only those with a conflict: a link, say, is not to be read
        layout.scope_dir(scope.scope) / source
        for scope in looked
        for source in {*scope.pending, *scope.failed}
        if conflict.PROBLEM in scope.failed.get(source, conflict.PROBLEM)
    ]
    conflicts = tuple(undecided(vault, holding))
    return Status(
        str(vault.root),
        scopes=looked,
        daemon=daemon,
        history=history,
        jobs=jobs,
        vectors_by=vectors_by(),
        growth=growth(vault.history.git_dir),
        conflicts=conflicts,
        decided=tuple(decided(vault)),
        degraded=tuple(_degraded(looked, daemon, tally(vault))),
        unhealthy=(*_unhealthy(looked, daemon, history, jobs), *(f"conflict: {line}" for line in conflicts)),
    )


def _daemon(vault: Vault) -> DaemonStatus:
    """Not half of it from before a daemon started or ended, and half from after."""
    while True:
        record, running = read_record(vault.root), is_running(vault.root)
        if running or record == read_record(vault.root):
            return DaemonStatus(running, record)


def vectors_by() -> str:
    """What compares vectors in a cold process."""
    from vault_memory.adapters.index.database import vec_library

    return "sqlite-vec" if vec_library() else "numpy"


def _scope(vault: Vault, scope: str) -> ScopeStatus:
    found = scan.scan(vault.root, scope)
    known: dict[str, Identity] = {}
    problems: dict[str, str] = {}
    stats: Stats | None = None
    problem = building = ""
    try:
        if vault.index_path(scope).exists():
            index = vault.index(scope)
            known, problems, stats = index.identities(), index.problems(), index.stats()
            building = spaces.building(index, vault.embedder.space)
    except VaultMemoryError as error:
        problem = str(error)
    change = compare(found.files, known, found.unseen)
    # A file read just after it was written is recorded without a time, to be read again: it is not pending for that.
    pending = [s for s in (*change.added, *change.modified) if not _is_as_recorded(known.get(s), found.files[s])]
    now = vault.now().timestamp()
    return ScopeStatus(
        scope,
        indexed=len(known),
        pending=(*pending, *change.removed),
        stale=tuple(
            s for s in pending if s not in found.problems and now - Stat(*found.files[s]).ctime_ns / 1e9 > STALE_S
        ),
        failed=problems | found.problems,
        held=change.removed if is_mass_deletion(len(change.removed), len(known)) else (),
        vectors_pending=stats.pending.get(vault.embedder.space, stats.chunks) if stats else 0,
        building=building,
        index_bytes=stats.bytes if stats else 0,
        tracked_bytes=_tracked_bytes(vault, scope, found),
        withheld=withheld(vault, scope) if scope != layout.SHARED else {},
        problem=problem,
    )


def _is_as_recorded(known: Identity | None, stat: Identity) -> bool:
    return known is not None and Stat(*known)._replace(mtime_ns=stat[1]) == stat


def _tracked_bytes(vault: Vault, scope: str, found: scan.Scan) -> int:
    """Bytes of a scope's files that git tracks: not the archive, not the conversations."""
    apart = ("archive/", "conversations/")
    total = sum(size for source, (size, *_) in found.files.items() if not source.startswith(apart))
    if scope != layout.SHARED:
        with contextlib.suppress(FileNotFoundError):
            total += os.lstat(vault.root / layout.user_dir(scope) / layout.FEEDBACK).st_size
    return total


def _degraded(scopes: tuple[ScopeStatus, ...], daemon: DaemonStatus, looks: Tally) -> list[str]:
    """What works less well than it could, without anything being wrong."""
    found = [f"{layout.label(scope.scope)}: {scope.building}" for scope in scopes if scope.building]
    if waiting := sum(scope.vectors_pending for scope in scopes if not scope.building):
        found.append(f"{waiting} passages have no vector yet: they are found by their words only")
    if vectors_by() == "numpy":
        found.append("sqlite-vec cannot be loaded here: vectors are compared by numpy, a cold search takes longer")
    if daemon.running and daemon.record and daemon.record.polling:
        found.append(f"edits are found by polling: {daemon.record.polling}")
    if looks.failing:
        found.append(f"preferences are learned by the rules alone, {looks.failing} second looks failed: {looks.why}")
    return found


def _unhealthy(
    scopes: tuple[ScopeStatus, ...], daemon: DaemonStatus, history: HistoryState, jobs: tuple[JobStatus, ...]
) -> list[str]:
    found = []
    for scope in scopes:
        name = layout.label(scope.scope)
        if scope.problem:
            found.append(f"{name}: {scope.problem}")
        if scope.held:
            found.append(
                f"{name}: {len(scope.held)} files are gone at once: `vault-memory resume` if you deleted them, else put "
                "them back"
            )
        if scope.stale:
            found.append(
                f"{name}: {len(scope.stale)} files changed more than a minute ago and are not indexed ({scope.stale[0]}): "
                "`vault-memory reindex`, and keep `vault-memory watch` running"
            )
        if scope.tracked_bytes > BIG_BYTES:
            found.append(
                f"{name}: {scope.tracked_bytes / 1e6:.1f} MB of notes: move old ones into archive/ (limit 10 MB)"
            )
    if daemon.record and not daemon.running and daemon.record.state != "stopped":
        found.append(
            f"the daemon (process {daemon.record.pid}) died, last heard of {daemon.record.beat}: start `vault-memory watch`"
        )
    if daemon.running and daemon.record:
        found += [f"daemon, {where}: {problem}" for where, problem in daemon.record.problems.items()]
    if history.waiting:
        found.append(f"{history.waiting} commits wait: {history.paused or 'they are made at the next write'}")
    found += [f"job {job.name}: {job.last.said}" for job in jobs if job.last and not job.last.ok and job.last.finished]
    return found
