"""The vocabulary of history: who changed which files, from what to what, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePosixPath
from typing import NamedTuple


class Author(NamedTuple):
    """Who a commit is by."""

    name: str
    email: str


ASSISTANT = Author("vault-memory", "vault-memory@localhost")
"""Author of everything the assistant writes, and committer of every commit made here."""


class FileChange(NamedTuple):
    """One file, from `before` to `after`; None is "no such file". `path` is relative to the vault's root."""

    path: PurePosixPath
    before: bytes | None
    after: bytes | None


@dataclass(frozen=True)
class Draft:
    """A commit to be: its whole message (see `core.trailers.render`), its author, and the files it changes.

    The drafts of one call may form a chain over a file: each one's `before` is then its forerunner's `after`. `merges` is
    a commit that is merged in by it, as its second parent; where there is nothing to merge, the branch moves on to it.
    """

    message: str
    author: Author
    changes: tuple[FileChange, ...]
    merges: str | None = None


@dataclass(frozen=True)
class Flushed:
    """What a flush did: the new commits, oldest first; how many drafts still wait, and why (None when none does)."""

    commits: tuple[str, ...] = ()
    waiting: int = 0
    paused: str | None = None


@dataclass(frozen=True)
class Entry:
    """One commit as the log tells it; subject, reason, trailers and body are as `core.trailers.parse` takes them apart."""

    commit: str
    author: str
    email: str
    time: datetime
    subject: str
    reason: str = ""
    trailers: Mapping[str, str] = field(default_factory=dict)
    body: str = ""


@dataclass(frozen=True)
class HistoryState:
    """Where the repository stands.

    `branch` is None when HEAD is detached, `head` None before the first commit; `paused` says in words why commits wait,
    and `waiting` how many drafts do.
    """

    branch: str | None
    head: str | None
    paused: str | None
    waiting: int
