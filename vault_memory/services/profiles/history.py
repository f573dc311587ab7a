"""The history of preferences, read from git: who changed which one, when, why, and in which words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from vault_memory.adapters.git import CommitLog, LogEntry
from vault_memory.core import layout
from vault_memory.core.profile import FIELDS
from vault_memory.core.trailers import KEYS, Trailers
from vault_memory.errors import UsageError
from vault_memory.services.vault import Vault

_SPARE_ENTRIES = 10
"""How many more commits than asked for are read at first, since some are not about a preference."""
_RENAMED_FROM = KEYS["renamed_from"]
_MAX_RENAMINGS = 1_000


@dataclass(frozen=True)
class PreferenceChange:
    """One commit on one preference.

    `reason` is the clause that caused it, `source` the line of the conversation record, `undoes` the commit that it
    took back.
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
    """The user's newest preference changes, those by hand too, newest first; with `key` only those of that key."""
    vault.known_user(user_id)
    if key is not None and key not in FIELDS:
        raise UsageError(f"{key!r} is not a key of the profile; the keys are {', '.join(FIELDS)}")
    return [_change(entry) for entry in _entries(vault, user_id, key, limit)]


def _change(entry: LogEntry) -> PreferenceChange:
    ours = Trailers.read(entry.trailers)
    return PreferenceChange(
        commit=entry.commit,
        at=entry.time,
        author=entry.author,
        key=ours.key or "",
        op=ours.op or "",
        old=ours.old or "",
        new=ours.new or "",
        strength=ours.strength or "",
        reason=entry.reason,
        source=ours.source or "",
        undoes=ours.undoes or "",
    )


def _entries(vault: Vault, user_id: str, key: str | None, limit: int, of: Sequence[str] = ()) -> list[LogEntry]:
    """The commits on a person's preferences that the commits `of` have (none: HEAD), including those under an earlier
    id of the same person.

    Where two machines have renamed somebody, what came before either renaming is older than the id.
    """
    path = layout.user_dir(user_id) / layout.PROFILE
    # Nearly every commit on a profile is about a preference. If git filtered by trailer, it would search the message of
    # every commit of the vault before it looks at the path: 0.5 s with 50,000 commits.
    max_entries = limit + _SPARE_ENTRIES
    renamings: dict[str, LogEntry] = {}
    while True:
        entries = vault.history.log([path], limit=max_entries, of=of, without=list(renamings))
        renaming = next((entry for entry in entries if _RENAMED_FROM in entry.trailers), None)
        own = entries[: entries.index(renaming)] if renaming else entries
        selected = [e for e in own if KEYS["key"] in e.trailers and key in (None, e.trailers[KEYS["key"]])]
        if len(selected) >= limit:
            return selected[:limit]
        if renaming:  # it gave or freed the id
            renamings[renaming.commit] = renaming
        elif len(entries) < max_entries:
            break
        else:
            max_entries *= 8
    earlier: dict[str, list[str]] = {}
    for renaming in renamings.values():
        before = CommitLog(vault.history.root).parent(renaming.commit)
        if before and renaming.trailers.get(KEYS["user"]) == user_id:
            earlier.setdefault(renaming.trailers[_RENAMED_FROM], []).append(before)
    for old, commits in earlier.items():
        selected += _entries(vault, old, key, limit - len(selected), commits)
    return selected


def profile_at(vault: Vault, user_id: str, when: str) -> bytes | None:
    """A person's USER.md at a commit, under the id that the person had then; None if there was none.

    Raises `NotFound` for an unknown commit.
    """
    commit, commits, of = vault.history.commit_named(when), CommitLog(vault.history.root), list[str]()
    while True:
        path = layout.user_dir(user_id) / layout.PROFILE
        entries = vault.history.log([path], limit=_MAX_RENAMINGS, trailers={_RENAMED_FROM: None}, of=of)
        later = (each for each in entries if each.commit != commit and commits.is_ancestor(commit, each.commit))
        renaming = next(later, None)
        if renaming is None:
            return vault.history.blob(path, commit)
        if renaming.trailers.get(KEYS["user"]) != user_id:
            return None
        user_id, of = (
            renaming.trailers[_RENAMED_FROM],
            [before for before in [commits.parent(renaming.commit)] if before],
        )
