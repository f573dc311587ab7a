"""Who changed which preference, when, why, and in which words: read from git, where anybody can read it too."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath

from vault_memory.adapters.git import diff as lines
from vault_memory.adapters.git import log
from vault_memory.adapters.history import Entry
from vault_memory.core import layout
from vault_memory.core.profile.fields import FIELDS
from vault_memory.errors import NotFound, UsageError
from vault_memory.services.vault import Vault

_SPARE = 10
_RENAMED = "Vault-Renamed-From"
_RENAMINGS = 1_000


@dataclass(frozen=True)
class PreferenceChange:
    """One commit on one preference.

    `reason` is the clause that caused it, `source` the line of the conversation record, `undoes` the commit it took back.
    """

    commit: str
    at: datetime
    author: str
    key: str
    op: str
    old: str
    new: str
    strength: str
    reason: str
    source: str
    undoes: str


def history(vault: Vault, user_id: str, key: str | None = None, *, limit: int = 20) -> list[PreferenceChange]:
    """The user's newest preference changes, the person's own included, newest first; with `key` only that key's."""
    vault.known_user(user_id)
    if key is not None and key not in FIELDS:
        raise UsageError(f"{key!r} is no key of the profile; the keys are {', '.join(FIELDS)}")
    return [
        PreferenceChange(
            commit=entry.commit,
            at=entry.time,
            author=entry.author,
            key=entry.trailers["Vault-Key"],
            op=entry.trailers.get("Vault-Op", ""),
            old=entry.trailers.get("Vault-Old", ""),
            new=entry.trailers.get("Vault-New", ""),
            strength=entry.trailers.get("Vault-Strength", ""),
            reason=entry.reason,
            source=entry.trailers.get("Vault-Source", ""),
            undoes=entry.trailers.get("Vault-Undoes", ""),
        )
        for entry in _entries(vault, user_id, key, limit)
    ]


def _entries(vault: Vault, user_id: str, key: str | None, limit: int, renamed: str = "") -> list[Entry]:
    """The commits on a person's preferences, also those under the id that the person had before a renaming.

    With `renamed` only those before that commit, by which the person left this id.
    """
    path = layout.user_dir(user_id) / layout.PROFILE
    # Nearly every commit on a profile is a preference's. Asked for trailers, git would search the message of every commit
    # of the vault before it looks at the path: 0.5 s of 50,000 commits.
    most = limit + _SPARE
    while True:
        every = vault.history.log([path], limit=most)
        own, first = _of_one_person(every, renamed)
        found = [entry for entry in own if "Vault-Key" in entry.trailers and key in (None, entry.trailers["Vault-Key"])]
        if len(found) >= limit:
            return found[:limit]
        if first or len(every) < most:
            break
        most *= 8
    if first and first.trailers.get("Vault-User") == user_id:
        found += _entries(vault, first.trailers[_RENAMED], key, limit - len(found), first.commit)
    return found


def _of_one_person(every: Sequence[Entry], renamed: str) -> tuple[list[Entry], Entry | None]:
    """The entries down to the renaming by which the id came to this person, or left another one's; and that renaming."""
    rest = itertools.dropwhile(lambda entry: entry.commit != renamed, every) if renamed else iter(every)
    own: list[Entry] = []
    for entry in itertools.islice(rest, bool(renamed), None):
        if _RENAMED in entry.trailers:
            return own, entry
        own.append(entry)
    return own, None


def profile_at(vault: Vault, user_id: str, when: str) -> bytes | None:
    """A person's USER.md at a commit, under the id that the person had then; None when there was none.

    Raises `NotFound` for an unknown commit.
    """
    commit, renamed = vault.history.commit_named(when), ""
    while True:
        path = layout.user_dir(user_id) / layout.PROFILE
        _, first = _of_one_person(vault.history.log([path], limit=_RENAMINGS, trailers={_RENAMED: None}), renamed)
        if first is None or commit == first.commit or not log.is_ancestor(vault.history.root, commit, first.commit):
            return vault.history.blob(path, commit)
        if first.trailers.get("Vault-User") != user_id:
            return None
        user_id, renamed = first.trailers[_RENAMED], first.commit


@dataclass(frozen=True)
class BlamedLine:
    """One line of a file (1-based `number`) and the commit that wrote it (None: nobody has committed it yet)."""

    number: int
    text: str
    entry: Entry | None


def file_log(vault: Vault, path: PurePosixPath | None = None, *, limit: int = 20) -> list[Entry]:
    """The newest commits on a file or folder (vault-relative), or on the whole vault; newest first, deleted files too.

    Raises `NotFound` when there is no such path, on disk or in history.
    """
    found = vault.history.log([path] if path else None, limit=limit)
    if path and not found and not os.path.lexists(vault.root / path):
        raise NotFound(f"there is no {path} in this vault, and there never was")
    return found


def file_blame(vault: Vault, path: PurePosixPath) -> list[BlamedLine]:
    """Each line of a file with the commit that wrote it. Raises `NotFound`."""
    if not (vault.root / path).is_file():
        raise NotFound(f"there is no file {path}: `vault-memory log {path}` shows whether there was one")
    if vault.history.blob(path) is None:
        raise NotFound(f"{path} is in no commit: it is new, or git ignores it")
    rows = lines.blame(vault.history.root, path)
    commits = list(dict.fromkeys(commit for commit, _ in rows if commit))
    entries = {entry.commit: entry for entry in log.of_commits(vault.history.root, commits)}
    return [BlamedLine(number, text, entries.get(commit or "")) for number, (commit, text) in enumerate(rows, 1)]


def file_diff(vault: Vault, path: PurePosixPath, since: str = "", until: str = "") -> str:
    """What changed in a file, as git shows it, from one commit or date to another.

    Without `until` up to the file as it is on disk, without `since` from before its last commit. Raises `NotFound`.
    """
    if since:
        start: str | None = resolve(vault, since)
    else:
        newest = file_log(vault, path, limit=1)
        start = lines.parent(vault.history.root, newest[0].commit) if newest else None
    return lines.diff(vault.history.root, path, start, resolve(vault, until) if until else None)


def resolve(vault: Vault, when: str) -> str:
    """The commit that a person means by a commit's name, or by a date: then the last one up to its end.

    Raises `NotFound`.
    """
    if not re.match(r"\d{4}-\d{2}-\d{2}", when):
        return vault.history.commit_named(when)
    try:
        moment = datetime.fromisoformat(when)
    except ValueError as error:
        raise UsageError(f"{when!r} is no date such as 2026-01-30 or 2026-01-30T14:00") from error
    if len(when) == len("2026-01-30"):
        moment = moment.replace(hour=23, minute=59, second=59)
    moment = moment if moment.tzinfo else moment.replace(tzinfo=vault.config.zone())
    commit = lines.commit_before(vault.history.root, moment)
    if commit is None:
        raise NotFound(f"the history begins after {when}: choose a later date")
    return commit
