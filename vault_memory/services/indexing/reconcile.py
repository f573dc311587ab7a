"""Bring the index of a scope up to what its files say: the one way anything enters an index.

Whoever thinks that a file changed (the daemon after an edit, a turn after its own write, a person with `reindex`) asks
for this; what really changed is decided here, by comparing the disk with the index. It may be run at any time, by several
processes at once, and any number of times.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from vault_memory.adapters import scan
from vault_memory.adapters.index.base import FileState, Index
from vault_memory.core import layout
from vault_memory.core.change import Identity, Stat, compare, is_mass_deletion, recorded
from vault_memory.core.notes import document
from vault_memory.core.notes.document import Document
from vault_memory.services.indexing import spaces
from vault_memory.services.vault import Vault

BATCH_FILES = 128
BATCH_BYTES = 4 << 20
REWRITTEN = 0.1
"""A run that indexed this share of a scope's files leaves the index in so many pieces that it is worth joining them."""
PASSES = 3
"""A file that changes while it is indexed is read again, but not for ever: the next hint or scan finds it."""


@dataclass(frozen=True)
class Report:
    """What became of the sources of a scope.

    `failed` maps a source to what is wrong with it (part of it may be indexed all the same). `held` are deletions that
    were not applied, because they are so many (`confirm_deletions` applies them) or because they were to be deferred.
    """

    scope: str
    indexed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    failed: Mapping[str, str] = field(default_factory=dict)
    held: tuple[str, ...] = ()
    unchanged: int = 0


def reconcile(
    vault: Vault,
    scope: str,
    sources: Iterable[str] | None = None,
    *,
    full_hash: bool = False,
    confirm_deletions: bool = False,
    defer_deletions: bool = False,
    stop: threading.Event | None = None,
) -> Report:
    """Index what changed in a scope; with `sources` look at those only.

    `full_hash` reads every file instead of trusting size, times and inode, and compares the text in the index too. Text can be found when this returns; vectors
    that an endpoint must compute follow with `embed`. Raises `Busy` or `IndexUnusable`; a file that cannot be read
    raises nothing, it is in `failed`. `defer_deletions` removes nothing, for a look that may fall in the middle of a
    deletion. When `stop` is set, what is read so far is kept and the rest is left for next time.
    """
    if not (vault.root / layout.scope_dir(scope)).is_dir():
        return Report(scope)  # opening the index would make the folder of a user who is gone
    index = vault.index(scope)
    if sources is None:
        found = scan.scan(vault.root, scope)
        change = compare(found.files, index.identities(), found.unseen)
        known = index.files(None if full_hash else [*change.modified, *change.removed])
        problems = index.problems()
    else:
        sources = list(dict.fromkeys(sources))
        found = scan.look(vault.root, scope, sources)
        known = index.files(sources)
        problems = {source: state.problem for source, state in known.items() if state.problem}
        identities = {source: (s.size, s.mtime_ns, s.ctime_ns, s.inode) for source, s in known.items()}
        change = compare(found.files, identities, found.unseen)
    run = _Run(vault, scope, index, known, found, full_hash, stop or threading.Event())
    run.read_all([*found.files] if full_hash else [*change.added, *change.modified])
    lost, moved = run.gone([*change.removed, *run.vanished])
    is_held = defer_deletions or (not confirm_deletions and _are_many(len(lost), index))
    removed = moved if is_held else [*lost, *moved]
    if removed:
        index.remove(removed)
    if full_hash or (sources is None and len(run.indexed) > REWRITTEN * len(found.files)):
        index.compact()
    standing = {source: problem for source, problem in problems.items() if source in found.files}
    return Report(
        scope,
        indexed=tuple(run.indexed),
        removed=tuple(removed),
        failed={source: problem for source, problem in {**standing, **run.failed}.items() if problem},
        held=tuple(lost) if is_held else (),
        unchanged=len(found.files) - len({*run.indexed, *run.failed, *run.vanished}),
    )


def _are_many(deletions: int, index: Index) -> bool:
    return deletions > 0 and is_mass_deletion(deletions, len(index.identities()))


def embed(vault: Vault, scope: str, limit: int = 256) -> int:
    """Compute vectors for up to `limit` chunks of a scope that have none; returns how many are left.

    Raises `EndpointError` when the model cannot be asked; what is computed is kept, and any later call goes on from there.
    """
    if not (vault.root / layout.scope_dir(scope)).is_dir():
        return 0
    return spaces.build(vault, scope, limit)


class _Run:
    """One run over one scope: reads files, hands them to the index in batches, and keeps the account."""

    def __init__(
        self,
        vault: Vault,
        scope: str,
        index: Index,
        known: dict[str, FileState],
        found: scan.Scan,
        is_thorough: bool,
        stop: threading.Event,
    ) -> None:
        self.vault, self.scope, self.index = vault, scope, index
        self.known, self.found, self.is_thorough, self.stop = known, found, is_thorough, stop
        self.indexed: dict[str, Stat] = {}
        self.failed: dict[str, str] = {}
        self.vanished: list[str] = []
        self.hashes: set[bytes] = set()
        self._batch: list[tuple[Document, FileState]] = []
        self._batch_bytes = 0
        self._marks: dict[str, FileState] = {}

    def read_all(self, sources: list[str]) -> None:
        """Read these files and index what is new in them, again if one changes meanwhile.

        Without the second look a slow process could put an older text over a newer one that another has just indexed.
        """
        for _ in range(PASSES):
            seen: dict[str, Stat] = {}
            for source in sources:
                if self.stop.is_set():
                    break
                self._read(source, seen)
            self._flush()
            now = scan.look(self.vault.root, self.scope, seen).files
            sources = [source for source, stat in seen.items() if now.get(source, stat) != stat]
            if not sources:
                return

    def gone(self, sources: list[str]) -> tuple[list[str], list[str]]:
        """Which of these are no longer there at a second look: (lost, moved), for some came back under another name."""
        if self.stop.is_set():
            return [], []  # what only moved may be among those not read yet
        again = scan.look(self.vault.root, self.scope, sources)
        gone = [source for source in sources if source in self.known and source not in {*again.files, *again.unseen}]
        moved = [source for source in gone if self.known[source].content_hash in self.hashes]
        return [source for source in gone if source not in set(moved)], moved

    def _read(self, source: str, seen: dict[str, Stat]) -> None:
        problem = self.found.problems.get(source)
        if problem is not None:
            if self.known.get(source) and self.known[source].content_hash:
                self.index.remove([source])  # what it was is no longer there: a link or a pipe took its place
            self._fail(source, self.found.files[source], problem)
            return
        try:
            content = scan.read(self.vault.root, self.scope, source, document.LIMIT_BYTES + 1)
        except FileNotFoundError:
            self.vanished.append(source)
            return
        except OSError as error:
            # Without a time stamp, so that it is tried at every scan: what forbids reading may lie in a parent folder.
            stat = Stat(*self.found.files[source])._replace(mtime_ns=0)
            self._fail(source, stat, f"cannot be read: {error.strerror or error}")
            return
        seen[source] = content.stat
        self.hashes.add(content.content_hash)
        stat = recorded(content.stat, time.time_ns())
        state = FileState(content.content_hash, *stat)
        before = self.known.get(source)
        if before is not None and before.content_hash == content.content_hash and self._is_held(source, content):
            state = replace(state, problem=before.problem)
            if state != before:
                self._marks[source] = state
            return
        self._index(source, content, state)

    def _is_held(self, source: str, content: scan.Content) -> bool:
        """Whether the index holds a file's text; a thorough run looks, and makes away with what somebody made of it."""
        if not self.is_thorough or self.index.holds(self._document(source, content)):
            return True
        self.index.remove([source])
        return False

    def _document(self, source: str, content: scan.Content) -> Document:
        return document.read(source, layout.kind_of(layout.Place(self.scope, source)), content.data)

    def _index(self, source: str, content: scan.Content, state: FileState) -> None:
        read = self._document(source, content)
        state = replace(state, problem="; ".join(read.problems))
        self._batch.append((read, state))
        self._batch_bytes += len(content.data)
        self.known[source] = state
        self.indexed[source] = content.stat
        self.failed[source] = state.problem
        if len(self._batch) >= BATCH_FILES or self._batch_bytes >= BATCH_BYTES:
            self._flush()

    def _fail(self, source: str, stat: Identity, problem: str) -> None:
        state = FileState(b"", *stat, problem=problem)
        self.failed[source] = problem
        if self.known.get(source) != state:
            self._marks[source] = state

    def _flush(self) -> None:
        if self._batch:
            self.index.replace(self._batch)
        if self._marks:
            self.index.mark(self._marks)
        self._batch, self._batch_bytes, self._marks = [], 0, {}
