"""The vocabulary of history: who changed which files, from what to what, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from vault_memory.adapters.git import bytes_of

if TYPE_CHECKING:
    from vault_memory.adapters.git import Content, TreeEntry


class Author(NamedTuple):
    """Who a commit is by."""

    name: str
    email: str


WAITING_DIR = "vault-memory"
"""The folder in git's own in which commits wait (`intents`)."""
ASSISTANT = Author("vault-memory", "vault-memory@localhost")
"""Author of all that the assistant writes, and committer of every commit made here."""


class FileChange(NamedTuple):
    """One file, from `before` to `after`; None is "no such file". `path` is relative to the vault's root.

    `old` and `new` are the same contents; what the repository holds already (`Stored`) is read when it is asked for.
    """

    path: PurePosixPath
    old: Content
    new: Content

    @property
    def before(self) -> bytes | None:
        """The bytes of the file before the change."""
        return bytes_of(self.old)

    @property
    def after(self) -> bytes | None:
        """The bytes of the file after the change."""
        return bytes_of(self.new)


@dataclass(frozen=True)
class Draft:
    """A commit to make: its whole message (see `core.trailers.render`), its author, and the files it changes.

    The drafts of one call may form a chain over a file: each `before` is then the `after` of the draft before it.
    `merges` is a commit that this one merges, its second parent; if HEAD is an ancestor of it, and the outcome is its
    tree, the branch moves to it. `tree_only` sets entries of the commit's tree, or takes them out (None), and leaves
    the files on disk as they are. Of a file in both, `changes` is what happens on the disk, and `tree_only` what is
    committed: it holds edits of the person's that stay edits. `made_at` is
    when the author made what is committed later: an edit was saved then, and what a turn teaches was said then; None:
    when it is committed. One that `waits` changes logs of one user alone: it need not be a commit of its own, nor now
    (`History.commit`).
    """

    message: str
    author: Author
    changes: tuple[FileChange, ...]
    merges: str | None = None
    tree_only: tuple[tuple[PurePosixPath, TreeEntry | None], ...] = ()
    made_at: datetime | None = None
    waits: bool = False


@dataclass(frozen=True)
class Flushed:
    """What a flush did: the new commits, oldest first; how many drafts still wait, why, and whose files they are.

    `reasons` says of each file that keeps its commit waiting why, if not all wait for the same. `kept_back` are the
    files of those that wait because git leaves one of them out (skip-worktree).
    """

    commits: tuple[str, ...] = ()
    waiting: int = 0
    paused: str | None = None
    waiting_paths: frozenset[PurePosixPath] = frozenset()
    kept_back: frozenset[PurePosixPath] = frozenset()
    reasons: Mapping[PurePosixPath, str] = field(default_factory=dict)


@dataclass(frozen=True)
class HistoryState:
    """Where the repository stands.

    `branch` is None when HEAD is detached, `head` is None before the first commit. `paused` says why commits wait,
    `waiting` how many drafts do, and `logs` of how many turns the entries in logs do, as they should. `lock` names the
    lock of another git that they wait for, or edits, if it is a minute old. `damaged` has a line for each intent that
    cannot be carried out. `problem` names a git index or a setting with which git can judge no file.
    """

    branch: str | None
    head: str | None
    paused: str | None
    waiting: int
    damaged: tuple[str, ...] = ()
    lock: str | None = None
    problem: str | None = None
    logs: int = 0
