"""All scheduled jobs: a new one adds its line to `JOBS`.

A job can be repeated and interrupted anywhere without harm. It raises when it could not do all of its work, and is then
tried again soon. `schedule` in `vault-memory.toml` gives a job another schedule or turns it off.

Each names the package that does its work, which is loaded when it runs: `status` reads what jobs there are.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from vault_memory.core import layout
from vault_memory.errors import Busy, HistoryError, VaultMemoryError
from vault_memory.services import (
    archiving,
    distilling,
    erasing,
    forgetting,
    indexing,
    longterm,
    memories,
    profiles,
    sync,
    turns,
)
from vault_memory.services.daemon.git_upkeep import maintain_git
from vault_memory.services.vault import Vault

CONVERSATIONS_S = 60.0
"""After this time the job `conversations` begins no other conversation: other jobs wait for it."""
MAX_NAMED = 5
"""So many memories are named in the line about an expiry; the commit names more."""


@dataclass(frozen=True)
class Job:
    """`schedule` is text for `core.timing.parse_schedule`; `run` returns a line about what was done."""

    name: str
    schedule: str
    help: str
    run: Callable[[Vault], str]


def each(scopes: Iterable[str], work: Callable[[str], object]) -> None:
    """Do the work for each scope, also where it fails for one before. Raises `VaultMemoryError` when all had their
    turn: it names those for which it failed, what went wrong, and the next step."""
    failed: dict[str, list[str]] = {}
    for scope in scopes:
        try:
            work(scope)
        except Exception as error:  # whatever it is: the others have files of their own
            failed.setdefault(_said(scope, error), []).append(layout.label(scope))
    if failed:
        raise VaultMemoryError("; ".join(f"{', '.join(names)}: {said}" for said, names in failed.items()))


def _said(scope: str, error: Exception) -> str:
    """What went wrong, and the next step, which an error of ours names itself."""
    if isinstance(error, VaultMemoryError):
        return str(error)
    return (
        f"{type(error).__name__}: {error}: `vault-memory doctor` names the files of {layout.scope_dir(scope)} that "
        "cannot be read; if it names none, please report this"
    )


def _check_everything(vault: Vault) -> str:
    files = repaired = 0

    def check(scope: str) -> None:
        nonlocal files, repaired
        report = indexing.reconcile(vault, scope, full_hash=True)
        files += report.unchanged + len(report.indexed)
        repaired += len(report.indexed) + len(report.removed)

    each(vault.scopes(), check)
    return f"{files} files read, {repaired} of them differed from the index"


def _embed_waiting(vault: Vault) -> str:
    def embed_all(scope: str) -> None:
        while indexing.embed(vault, scope):
            pass

    each(vault.scopes(), embed_all)  # offline vectors of the other scopes need no endpoint
    return "every passage has its vector"


def _commit_waiting(vault: Vault) -> str:
    was_begun = erasing.finish_erasing(vault)
    erasing.reach_again(vault)  # `status` says what still waits
    is_time = vault.history.state().waiting or vault.history.logs_are_due()
    flushed = vault.history.flush() if is_time else None
    learned = forgotten = 0

    def learn(user_id: str) -> None:
        nonlocal learned, forgotten
        forgotten += forgetting.finish_forgetting(vault, user_id)
        count = turns.turns_waiting(vault, user_id)
        turns.learn_waiting(vault, user_id)
        learned += count

    each(vault.user_ids(), learn)
    if flushed and flushed.waiting:
        raise HistoryError(f"{flushed.waiting} commits wait: {flushed.paused}")
    said = ["an erasing that was interrupted is done now"] if was_begun else []
    said += [f"{len(flushed.commits)} waiting commits made"] if flushed else []
    said += [f"{learned} turns learned from that waited"] if learned else []
    said += [f"what {forgotten} began to forget is forgotten"] if forgotten else []
    return "; ".join(said) or "nothing waits"


def _sync(vault: Vault) -> str:
    if not vault.config.git_remote:
        waits = vault.config.waits() if vault.config.is_waiting("git") else []
        return "; ".join(waits) or "git.remote is not set"
    synced = sync.sync(vault)
    return "; ".join([f"{synced.received} commits received, {synced.sent} sent", *synced.notes])


def _flush_long_term(vault: Vault) -> str:
    erasing.reach_again(vault, long_term=True)
    if not vault.config.longterm_enabled:
        waits = vault.config.waits() if vault.config.is_waiting("longterm") else []
        return "; ".join(waits) or "longterm.enabled is off"
    try:
        done = longterm.flush_long_term(vault, stop_s=longterm.ROUND_S)
    except Busy:
        return "another process sends"
    return f"{done.sent:,} turns sent" + (f", {done.waiting:,} wait" if done.waiting else "")


def _compute_interaction(vault: Vault) -> str:
    changed: list[str] = []

    def compute(user_id: str) -> None:
        if profiles.compute_interaction(vault, user_id):
            changed.append(user_id)

    each(vault.user_ids(), compute)
    return f"changed for {', '.join(changed)}" if changed else "nothing has changed"


def _archive(vault: Vault) -> str:
    """Every turn is in its day's file by now; a store that holds turns which the record lacks would write them there
    here, before days are packed."""
    done: list[archiving.Step] = []

    def archive(user_id: str) -> None:
        for step in archiving.archive_user(vault, user_id):
            done.append(step)

    try:
        each(vault.user_ids(), archive)
    except VaultMemoryError as error:
        raise VaultMemoryError("; ".join([*([archiving.in_words(done)] if done else []), str(error)])) from error
    return archiving.in_words(done)


def _tend_memories(vault: Vault) -> str:
    counted = 0
    moved: list[str] = []

    def tend(user_id: str) -> None:
        nonlocal counted
        memories.drop_deletions(vault, user_id, ())  # those whose time is over: they name notes
        counted += memories.write_accesses(vault, user_id)  # a memory that goes into the archive takes its count along
        for ids, became in (
            (memories.make_lasting(vault, user_id), "stay for good"),
            (memories.expire_memories(vault, user_id), "archived"),
        ):
            if ids:
                shown = ", ".join(ids[:MAX_NAMED]) + (", …" if len(ids) > MAX_NAMED else "")
                moved.append(f"{layout.label(user_id)}: {len(ids):,} {became} ({shown})")

    each(vault.user_ids(), tend)
    said = [f"recalls of {counted:,} {'memory' if counted == 1 else 'memories'} counted"] if counted else []
    return "; ".join([*said, *moved]) or "nothing has expired"


def _end_conversations(vault: Vault) -> str:
    stop_at = time.monotonic() + CONVERSATIONS_S
    ended = kept = 0
    degraded: dict[str, None] = {}

    def end(user_id: str) -> None:
        nonlocal ended, kept
        for each in distilling.end_idle_conversations(vault, user_id, stop_at):
            ended += 1
            kept += len(each.memories)
            degraded.update(dict.fromkeys(each.degraded))

    each(vault.user_ids(), end)
    if not ended:
        return "no conversation has ended"
    said = f"{ended:,} ended {'conversation' if ended == 1 else 'conversations'}, {kept:,} memories of them kept"
    return "; ".join([said, *degraded])


def _consolidate(vault: Vault) -> str:
    proposed = written = 0
    degraded: dict[str, None] = {}

    def consolidate(user_id: str) -> None:
        nonlocal proposed, written
        done = distilling.consolidate_to_profile(vault, user_id)
        proposed += len(done.proposed)
        written += len(done.changes)
        degraded.update(dict.fromkeys(done.degraded))

    each(vault.user_ids(), consolidate)
    said = f"{proposed:,} lines proposed for profiles, {written:,} written" if proposed or written else ""
    return "; ".join([said or "no memory is frequent enough to be proposed", *degraded])


VECTORS = Job("vectors", "15m", "compute the vectors that an endpoint could not compute earlier", _embed_waiting)
COMMITS = Job(
    "commits",
    "1m",
    "make the commits that waited for a rebase, a merge or a lock, and those of logs after ten quiet minutes; go on "
    "with an interrupted erasing",
    _commit_waiting,
)
JOBS = (
    COMMITS,
    VECTORS,
    Job("sync", "15m", "bring this vault and the remote in git.remote to the same state", _sync),
    Job("longterm", "1m", "send new turns to the long-term store, if there is one", _flush_long_term),
    Job("maintenance", "15m", "keep git's history fast and small, while nobody writes", maintain_git),
    Job("interaction", "04:00", "compute from the logs how each person talks with the assistant", _compute_interaction),
    Job("archive", "03:00", "pack old conversations and rotate the logs of earlier years", _archive),
    Job("full-check", "03:00", "read every file again and compare it with the index", _check_everything),
    Job(
        "memories",
        "03:00",
        "archive expired memories, keep for good what was said or recalled often, and note how often that was",
        _tend_memories,
    ),
    Job("conversations", "5m", "find memories in conversations that have ended, and sum these up", _end_conversations),
    Job("consolidation", "03:30", "propose lines for the profile out of memories that are often needed", _consolidate),
)
