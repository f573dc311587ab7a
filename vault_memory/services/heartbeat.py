"""What is to be done from time to time, and when it was last done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vault_memory.services.vault import Vault


@dataclass(frozen=True)
class Job:
    """A thing to do at a time of day (in the vault's time zone), or at an interval; `run` returns a line on what it did.

    A job is idempotent: it may run twice, and must not mind having been interrupted.
    """

    name: str
    when: time | timedelta
    run: Callable[[Vault], str]
    help: str


@dataclass(frozen=True)
class Outcome:
    """How a job's last run went; `finished` is None for one that was interrupted, or never ran."""

    job: str
    started: datetime
    finished: datetime | None
    ok: bool
    said: str


def heartbeat(vault: Vault, only: str | None = None, *, force: bool = False) -> list[Outcome]:
    """Run every job that is due (`force`: due or not; `only`: the one of that name), and return how each went.

    A job that another process is running is left out. Raises `NotFound` for an unknown name.
    """
    raise NotImplementedError


def outcomes(vault: Vault) -> list[Outcome]:
    """The last run of every job."""
    raise NotImplementedError
