"""The history of a file: its commits, who wrote each line, its differences; and which commit a date or name means."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath

from vault_memory.adapters.git import CommitLog, LogEntry, blame, diff
from vault_memory.errors import NotFound, UsageError, in_command
from vault_memory.services.vault import Vault


@dataclass(frozen=True)
class BlamedLine:
    """One line of a file (1-based `number`) and the commit that wrote it (None: nobody has committed it yet)."""

    number: int
    text: str
    entry: LogEntry | None


def file_log(vault: Vault, path: PurePosixPath | None = None, *, limit: int = 20) -> list[LogEntry]:
    """The newest commits on a file or folder (vault-relative), or on the whole vault; newest first, deleted files too.

    Raises `NotFound` when there is no such path, on disk or in history.
    """
    entries = vault.history.log([path] if path else None, limit=limit)
    if path and not entries and not os.path.lexists(vault.root / path):
        raise NotFound(f"{path} is not in this vault and has no history: check the path")
    return entries


def file_blame(vault: Vault, path: PurePosixPath) -> list[BlamedLine]:
    """Each line of a file with the commit that wrote it. Raises `NotFound`."""
    if not (vault.root / path).is_file():
        raise NotFound(f"there is no file {path}: `vault-memory log {in_command(path)}` shows whether there ever was")
    if vault.history.blob(path) is None:
        raise NotFound(f"{path} is in no commit: it is new, or git ignores it")
    rows = blame(vault.history.root, path)
    commits = list(dict.fromkeys(commit for commit, _ in rows if commit))
    entries = {entry.commit: entry for entry in CommitLog(vault.history.root).of_commits(commits)}
    return [BlamedLine(number, text, entries.get(commit or "")) for number, (commit, text) in enumerate(rows, 1)]


def file_diff(vault: Vault, path: PurePosixPath, since: str = "", until: str = "") -> str:
    """The difference of a file between two commits or dates, in git's format.

    `until` is by default the file on disk, `since` the state before the last commit on the file. Raises `NotFound`.
    """
    if since:
        start: str | None = resolve(vault, path, since)
    else:
        newest = file_log(vault, path, limit=1)
        start = CommitLog(vault.history.root).parent(newest[0].commit) if newest else None
    return diff(vault.history.root, path, start, resolve(vault, path, until) if until else None)


def resolve(vault: Vault, path: PurePosixPath, when: str) -> str:
    """The commit that a name or a date means for a file; a date means the last one up to its end: of the commits on the
    file the one that its author made last, else the vault's last one. Raises `NotFound`."""
    if not re.match(r"\d{4}-\d{2}-\d{2}", when):
        return vault.history.commit_named(when)
    try:
        moment = datetime.fromisoformat(when)
    except ValueError as error:
        raise UsageError(f"{when!r} is not a date such as 2026-01-30 or 2026-01-30T14:00") from error
    if len(when) == len("2026-01-30"):
        moment = moment.replace(hour=23, minute=59, second=59)
    moment = moment if moment.tzinfo else moment.replace(tzinfo=vault.config.zone())
    commits = CommitLog(vault.history.root)
    commit = commits.last_made(path, moment) or commits.last_before(moment)
    if commit is None:
        raise NotFound(f"the history begins after {when}: choose a later date")
    return commit
