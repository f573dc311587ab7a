"""What is to be done from time to time, and how it went the last time.

Each job has a lock and a record in `.vault-memory/jobs/`, so that it never runs twice at once, whoever beats: the daemon,
a cron line with `vault-memory heartbeat`, or both. Deleting the records makes every job start its count anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

from vault_memory.adapters import files
from vault_memory.core import layout, schedule
from vault_memory.errors import Busy, NotFound
from vault_memory.services.daemon.jobs import JOBS, Job
from vault_memory.services.vault import Vault

RETRY = timedelta(minutes=10)
"""After a failure, or when the process ended in the middle of it, a job is tried again this long after it started; one
with a shorter interval after that."""


@dataclass(frozen=True)
class Outcome:
    """How a job's last run went. `finished` is None while it runs, or when its process ended in the middle of it."""

    job: str
    started: datetime
    finished: datetime | None
    ok: bool
    said: str


def heartbeat(
    vault: Vault, only: str | None = None, *, force: bool = False, jobs: Iterable[Job] = JOBS
) -> list[Outcome]:
    """Run every job that is due (`force`: due or not; `only`: the one of that name) and return how each run went.

    A job that is running elsewhere is left out, and so is one without a record whose time of day has yet to come.
    Raises `NotFound` for an unknown name.
    """
    jobs = list(jobs)
    if only is not None and only not in (job.name for job in jobs):
        raise NotFound(f"there is no job {only!r}: the jobs are {', '.join(job.name for job in jobs)}")
    return [
        outcome for job in jobs if only in (None, job.name) and (outcome := _beat(vault, job, force=force)) is not None
    ]


def outcomes(vault: Vault, jobs: Iterable[Job] = JOBS) -> Iterator[tuple[Job, str, Outcome | None]]:
    """Every job, its schedule in this vault, and how its last run went (None: it has not run yet)."""
    for job in jobs:
        outcome = _read(_record(vault, job), job)
        yield job, when(vault, job), outcome if outcome and outcome.said else None


def when(vault: Vault, job: Job) -> str:
    """A job's schedule: the vault's own setting, else the job's."""
    return vault.config.schedule.get(job.name, job.when)


def _beat(vault: Vault, job: Job, *, force: bool) -> Outcome | None:
    now = vault.now().astimezone(vault.config.zone())
    if not force and not _is_due(vault, job, now):
        return None
    path = _record(vault, job)
    try:
        with files.lock(path.with_suffix(".lock"), 0):
            if not force and not _is_due(vault, job, now):
                return None  # somebody else has just done it
            if _read(path, job) is None and not force and ":" in when(vault, job):
                _write(path, Outcome(job.name, now, now, True, ""))  # from now on its time of day is waited for
                return None
            return _run(vault, job, path, now)
    except Busy:
        return None


def _run(vault: Vault, job: Job, path: Path, now: datetime) -> Outcome:
    outcome = Outcome(job.name, now, None, False, "running, or ended in the middle")
    _write(path, outcome)
    try:
        said, ok = job.run(vault), True
    except Exception as error:  # a job's failure is its outcome, shown in `status`, and never another job's
        said, ok = f"{type(error).__name__}: {error}", False
    outcome = replace(outcome, finished=vault.now().astimezone(now.tzinfo), ok=ok, said=said)
    _write(path, outcome)
    return outcome


def _is_due(vault: Vault, job: Job, now: datetime) -> bool:
    if when(vault, job) == "off":
        return False
    last = _read(_record(vault, job), job)
    if last is None:
        return True
    if not last.ok or last.finished is None:
        rule = schedule.parse(when(vault, job))
        pause = min(rule, RETRY) if isinstance(rule, timedelta) else RETRY
        return not last.started <= now < last.started + pause
    return schedule.is_due(when(vault, job), last.started, now)


def _record(vault: Vault, job: Job) -> Path:
    return vault.root / layout.STATE_DIR / "jobs" / f"{job.name}.json"


def _read(path: Path, job: Job) -> Outcome | None:
    try:
        row = json.loads(path.read_bytes())
        finished = datetime.fromisoformat(row["finished"]) if row["finished"] else None
        return Outcome(job.name, datetime.fromisoformat(row["started"]), finished, bool(row["ok"]), str(row["said"]))
    except (FileNotFoundError, ValueError, TypeError, KeyError):
        return None  # none, or spoilt: as if the job had never run


def _write(path: Path, outcome: Outcome) -> None:
    text = json.dumps(asdict(outcome), ensure_ascii=False, default=lambda moment: moment.isoformat())
    files.replace(path, text.encode(), files.read(path))
