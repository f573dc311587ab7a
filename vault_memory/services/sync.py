"""Bring this vault and its remote to the same state: fetch, merge, push. Never a rebase, never by force."""

from __future__ import annotations

from dataclasses import dataclass

from vault_memory.errors import UsageError
from vault_memory.services.vault import Vault


@dataclass(frozen=True)
class Synced:
    """What a sync did: commits taken in and given out, and what a person may want to look at, a line each."""

    remote: str
    received: int = 0
    sent: int = 0
    notes: tuple[str, ...] = ()


def sync(vault: Vault, remote: str = "") -> Synced:
    """Fetch from a remote (its name or address; else the configured one), merge, push.

    Raises `UsageError` when there is no remote, `HistoryError` when it does not answer or the history is not in a state to
    be merged; nothing is lost then, and it can be run again.
    """
    raise UsageError("no remote: `git remote add origin ADDRESS` names one")
