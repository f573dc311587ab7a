"""Run the scheduled jobs that are due, and keep how each last run went.

Each job has a lock and an outcome in `.vault-memory/jobs/`, so it never runs twice at once, whether the daemon or a
cron line with `vault-memory heartbeat` starts it. A job without an outcome counts as new.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta

from vault_memory.adapters.state import StateFile
from vault_memory.core.timing import is_due, parse_schedule
from vault_memory.errors import Busy, NotFound
from vault_memory.services.daemon.jobs import JOBS, Job
from vault_memory.services.vault import Vault

RETRY_AFTER = timedelta(minutes=10)
"""A job that failed, or whose process ended during the run, starts again this long after its last start, or after its
interval where that is shorter."""


@dataclass(frozen=True)
class Outcome:
    """How a job's last run went, and what it `said`. `finished` is None during a run, or if its process ended then."""

    job: str
    started: datetime
    finished: datetime | None
    ok: bool
    said: str


def heartbeat(
    vault: Vault, only: str | None = None, *, force: bool = False, jobs: Iterable[Job] = JOBS
) -> list[Outcome]:
    """Run every job that is due (`force`: due or not; `only`: the one of that name) and return how each run went.

    A job that is running elsewhere is skipped. A job with a time of day that never ran waits for that time. Raises
    `NotFound` for an unknown name.
    """
    jobs = list(jobs)
    if only is not None and only not in (job.name for job in jobs):
        raise NotFound(f"there is no job {only!r}: the jobs are {', '.join(job.name for job in jobs)}")
    chosen = [job for job in jobs if only in (None, job.name)]
    return [outcome for job in chosen if (outcome := _run_if_due(vault, job, force=force)) is not None]


def outcomes(vault: Vault, jobs: Iterable[Job] = JOBS) -> Iterator[tuple[Job, str, Outcome | None]]:
    """Every job, its schedule in this vault, and how its last run went (None: it has not run yet)."""
    for job in jobs:
        outcome = _last(_state(vault, job), job)
        yield job, schedule_of(vault, job), outcome if outcome and outcome.said else None


def schedule_of(vault: Vault, job: Job) -> str:
    """A job's schedule: the vault's own setting, else the job's."""
    return vault.config.schedule.get(job.name, job.schedule)


def _run_if_due(vault: Vault, job: Job, *, force: bool) -> Outcome | None:
    now = vault.now().astimezone(vault.config.zone())
    if not force and not _is_due(vault, job, now):
        return None
    state = _state(vault, job)
    try:
        with state.lock(timeout_s=0):
            if not force and not _is_due(vault, job, now):
                return None  # another process has just run it
            if _last(state, job) is None and not force and ":" in schedule_of(vault, job):
                _save(state, Outcome(job.name, now, now, True, ""))  # the next time of day is counted from here
                return None
            return _run(vault, job, state, now)
    except Busy:
        return None


def _run(vault: Vault, job: Job, state: StateFile, now: datetime) -> Outcome:
    outcome = Outcome(job.name, now, None, False, "running, or ended in the middle")
    _save(state, outcome)
    try:
        said, ok = job.run(vault), True
    except Exception as error:  # any failure is this job's outcome, shown by `status`; the other jobs still run
        said, ok = f"{type(error).__name__}: {error}", False
    outcome = replace(outcome, finished=vault.now().astimezone(now.tzinfo), ok=ok, said=said)
    _save(state, outcome)
    return outcome


def _is_due(vault: Vault, job: Job, now: datetime) -> bool:
    schedule = schedule_of(vault, job)
    if schedule == "off":
        return False
    last = _last(_state(vault, job), job)
    if last is None:
        return True
    if not last.ok or last.finished is None:
        rule = parse_schedule(schedule)
        pause = min(rule, RETRY_AFTER) if isinstance(rule, timedelta) else RETRY_AFTER
        return not last.started <= now < last.started + pause
    return is_due(schedule, last.started, now)


def _state(vault: Vault, job: Job) -> StateFile:
    return StateFile(vault.root, f"jobs/{job.name}")


def _last(state: StateFile, job: Job) -> Outcome | None:
    row = state.read()
    try:
        finished = datetime.fromisoformat(row["finished"]) if row["finished"] else None
        return Outcome(job.name, datetime.fromisoformat(row["started"]), finished, bool(row["ok"]), str(row["said"]))
    except (ValueError, TypeError, KeyError):
        return None


def _save(state: StateFile, outcome: Outcome) -> None:
    finished = outcome.finished.isoformat() if outcome.finished else None
    state.write(asdict(outcome) | {"started": outcome.started.isoformat(), "finished": finished})
