"""Bring the index of a scope up to date with its files: the only way text enters a vault's index.

The caller only suspects a change (the daemon after an edit, a turn after its own write, a person with `reindex`); what
changed is decided here, by comparing the files with the index. It may run at any time, in several processes at once.

A file whose size, times and inode are as the index recorded them is taken to be unchanged, as git's index does.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from vault_memory.adapters import scan
from vault_memory.adapters.index import FileState, Index
from vault_memory.adapters.scan import SourceStamp, Stamp
from vault_memory.core import layout, learning, memories, mistakes
from vault_memory.core.notes import Document, Resume, document
from vault_memory.errors import HistoryError, IndexUnusable
from vault_memory.services.indexing import spaces
from vault_memory.services.vault import Vault

BATCH_FILES = 128
BATCH_BYTES = 4 << 20
COMPACT_SHARE = 0.1
"""A run that indexed more than this share of a scope's files joins the index's pieces: there are many then."""
MAX_PASSES = 3
"""How often a file that changes while it is indexed is read; after that the next hint or scan finds it."""

MASS_DELETION_SHARE = 0.2
MASS_DELETION_COUNT = 50
FEW_DELETIONS = 4
"""A person with five notes deletes two of them without being asked; up to this count a share says nothing."""


@dataclass(frozen=True)
class Change:
    """Sources to read (`added`, `modified`), sources that are no longer there (`removed`), and how many are
    unchanged."""

    added: tuple[str, ...]
    modified: tuple[str, ...]
    removed: tuple[str, ...]
    same: int


def compare(on_disk: Mapping[str, Stamp], known: Mapping[str, Stamp], unseen: Sequence[str] = ()) -> Change:
    """Compare what a scan found with what the index recorded.

    `unseen` are folders and files that could not be looked at (`""`: the scope itself); neither they nor what lies in
    them counts as removed.
    """
    added, modified = [], []
    for source, stamp in on_disk.items():
        before = known.get(source)
        if before is None:
            added.append(source)
        elif before != stamp:
            modified.append(source)
    missing = (source for source in known if source not in on_disk)
    removed = tuple(source for source in missing if not any(_is_within(source, path) for path in unseen))
    return Change(tuple(added), tuple(modified), removed, len(on_disk) - len(added) - len(modified))


def _is_within(source: str, path: str) -> bool:
    return path in ("", source) or source.startswith(f"{path}/")


def is_mass_deletion(removed: int, known: int) -> bool:
    """Whether `removed` of `known` files are more than a person deletes in passing: above 50, or above a fifth."""
    return removed > MASS_DELETION_COUNT or (removed > FEW_DELETIONS and removed > MASS_DELETION_SHARE * known)


@dataclass(frozen=True)
class Report:
    """What became of the sources of a scope.

    `failed` maps a source to what is wrong with it (part of it may still be indexed). `held` are deletions that were
    not applied: there are too many (`confirm_deletions` applies them), or the caller deferred them.
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
    embed_at_once: int | None = None,
    stop: threading.Event | None = None,
) -> Report:
    """Index what changed in a scope; with `sources` look at those only.

    `full_hash` reads every file instead of trusting its stamp, and compares the text in the index too. When this
    returns, text can be found by its words and its offline vectors; those that a model must compute follow with
    `embed`, and so do the offline ones beyond `embed_at_once` passages, for a caller that has them computed elsewhere.
    `defer_deletions` removes nothing: a deletion of many files may not be over. When `stop` is set, what is read so far
    is kept and the rest is left for the next run. Raises `Busy` or `IndexUnusable`; a file that cannot be read is in
    `failed`.
    """
    try:
        with nullcontext() if sources is None else vault.indexing(scope):
            report = _reconciled(vault, scope, sources, full_hash, confirm_deletions, defer_deletions, stop)
        if _is_there(vault, scope):
            spaces.embed_offline(vault, scope, embed_at_once, stop)
    except IndexUnusable:
        if _is_there(vault, scope):
            raise
        return Report(scope)  # of a user who was deleted, or has got another id just now
    return report


def _is_there(vault: Vault, scope: str) -> bool:
    return (vault.root / layout.scope_dir(scope)).is_dir()


def _reconciled(
    vault: Vault,
    scope: str,
    sources: Iterable[str] | None,
    full_hash: bool,
    confirm_deletions: bool,
    defer_deletions: bool,
    stop: threading.Event | None,
) -> Report:
    if not _is_there(vault, scope):  # the index may be in `index_dir`
        return Report(scope)
    index = vault.index(scope)
    if index.is_new:  # it may stand in the place of one that was deleted, which held the other files, too
        sources = None
    if sources is None:
        found = scan.scan(vault.root, scope)
        change = compare(found.files, index.stamps(), found.unseen)
        known = index.files(None if full_hash else [*change.modified, *change.removed])
        problems = index.problems()
    else:
        sources = list(dict.fromkeys(sources))
        found = scan.look(vault.root, scope, sources)
        known = index.files(sources)
        problems = {source: state.problem for source, state in known.items() if state.problem}
        stamps = {source: (s.size, s.mtime_ns, s.ctime_ns, s.inode) for source, s in known.items()}
        change = compare(found.files, stamps, found.unseen)
    run = _Run(vault, scope, index, known, found, full_hash, stop or threading.Event())
    run.read_all([*found.files] if full_hash else [*change.added, *change.modified])
    lost, moved = run.gone_or_moved([*change.removed, *run.vanished])
    held: Sequence[str] = lost if defer_deletions else ()
    if lost and not defer_deletions and not confirm_deletions:
        held = held_deletions(vault, scope, lost, len(index.stamps()))
    removed = [*({*lost} - {*held}), *moved]
    if removed:
        index.remove(removed)
    if full_hash or (sources is None and len(run.indexed) > COMPACT_SHARE * len(found.files)):
        index.compact()
    if sources is None and not run.stop.is_set() and index.is_new:
        index.set_whole()
    standing = {source: problem for source, problem in problems.items() if source in found.files}
    return Report(
        scope,
        indexed=tuple(run.indexed),
        removed=tuple(removed),
        failed={source: problem for source, problem in {**standing, **run.failed}.items() if problem},
        held=tuple(held),
        unchanged=len(found.files) - len({*run.indexed, *run.failed, *run.vanished}),
    )


def held_deletions(vault: Vault, scope: str, gone: Sequence[str], known: int) -> tuple[str, ...]:
    """Those of the files that are gone, of `known` ones, whose deletion waits for the person: all of a mass deletion.

    What git took away with a switch of branches, or the person's own commit deleted, was meant, and does not count.
    """
    if not is_mass_deletion(len(gone), known):
        return ()
    folder = layout.scope_dir(scope)
    try:
        taken = vault.history.taken(folder / source for source in gone)
    except HistoryError:  # there is no git
        taken = set()
    rest = tuple(source for source in gone if folder / source not in taken)
    return rest if is_mass_deletion(len(rest), known) else ()


def embed(vault: Vault, scope: str, limit: int = 256) -> int:
    """Compute vectors for up to `limit` chunks of a scope that have none; returns how many are left.

    Raises `EndpointError` when the model cannot be asked; vectors that are computed are kept, and a later call goes on.
    """
    if not _is_there(vault, scope):
        return 0
    try:
        return spaces.build(vault, scope, limit)
    except IndexUnusable:
        if _is_there(vault, scope):
            raise
        return 0


class _Run:
    """One run over one scope: reads files, hands them to the index in batches, and keeps account of them."""

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
        self.indexed: dict[str, None] = {}
        self.failed: dict[str, str] = {}
        self.vanished: list[str] = []
        self.hashes: set[bytes] = set()
        self._batch: list[tuple[Document, FileState]] = []
        self._batch_bytes = 0
        self._marks: dict[str, FileState] = {}

    def read_all(self, sources: list[str]) -> None:
        """Read these files and index what is new in them; again if one changes meanwhile.

        Without the second look a slow process could put an older text over a newer one that another has just indexed.
        """
        for _ in range(MAX_PASSES):
            read: dict[str, SourceStamp] = {}
            for source in sources:
                if self.stop.is_set():
                    break
                self._read(source, read)
            self._flush()
            now = scan.look(self.vault.root, self.scope, read).files
            sources = [source for source, stamp in read.items() if now.get(source, stamp) != stamp]
            if not sources:
                return

    def gone_or_moved(self, sources: list[str]) -> tuple[list[str], list[str]]:
        """Which of these files are still missing at a second look: those that are lost, and those that have moved."""
        if self.stop.is_set():
            return [], []  # what only moved may be among those not read yet
        again = scan.look(self.vault.root, self.scope, sources)
        gone = [source for source in sources if source in self.known and source not in {*again.files, *again.unseen}]
        moved = [source for source in gone if self.known[source].content_hash in self.hashes]
        return [source for source in gone if source not in set(moved)], moved

    def _read(self, source: str, read: dict[str, SourceStamp]) -> None:
        problem = self.found.problems.get(source)
        if problem is not None:
            if self.known.get(source) and self.known[source].content_hash:
                self.index.remove([source])  # the file is gone: a link or a pipe has replaced it
            self._fail(source, self.found.files[source], problem)
            return
        try:
            content = scan.read(self.vault.root, self.scope, source, document.max_bytes(source) + 1)
        except FileNotFoundError:
            self.vanished.append(source)
            return
        except OSError as error:
            # Without a time, so every scan tries it again: a parent folder may forbid reading.
            stamp = SourceStamp(*self.found.files[source])._replace(mtime_ns=0)
            self._fail(source, stamp, f"cannot be read: {error.strerror or error}")
            return
        read[source] = content.stamp
        self.hashes.add(content.content_hash)
        state = FileState(content.content_hash, *scan.stamp_to_record(content.stamp, time.time_ns()))
        before = self.known.get(source)
        if before is not None and before.content_hash == content.content_hash and self._is_held(source, content):
            state = replace(state, problem=before.problem, resume=before.resume)
            if state != before:
                self._marks[source] = state
            return
        if before is None or not self._append(source, content, state, before):
            self._index(source, content, state)

    def _is_held(self, source: str, content: scan.Content) -> bool:
        """Whether the index holds a file's text; a thorough run compares, and removes text that somebody has
        changed."""
        if not self.is_thorough or self.index.holds(self._document(source, content)):
            return True
        self.index.remove([source])
        return False

    def _document(self, source: str, content: scan.Content, resume: Resume | None = None) -> Document:
        kind = layout.kind_of(layout.Place(self.scope, source))
        found = document.read(source, kind, content.data, resume)
        if kind == "learning" and not found.problems:
            return replace(found, problems=learning.decode(content.data).problems)
        if kind not in ("memory", "mistake") or found.problems:
            return found
        body, name = "\n".join(chunk.text for chunk in found.chunks), PurePosixPath(source).stem
        problems = (memories if kind == "memory" else mistakes).read(found.meta, body, name).problems
        return replace(found, problems=problems)

    def _append(self, source: str, content: scan.Content, state: FileState, before: FileState) -> bool:
        """Index the end of a file if only that has changed since `before`, as of a log; whether that was done."""
        resume = None if self.is_thorough else before.resume
        if resume is None or len(content.data) < resume.size:
            return False
        if hashlib.sha256(memoryview(content.data)[: resume.size]).hexdigest() != resume.digest:
            return False
        parsed = self._document(source, content, resume)
        if parsed.resume is None:
            return False
        state = replace(state, problem="; ".join(parsed.problems), resume=parsed.resume)
        if not self.index.append(parsed, state, before):
            return False
        self._note_indexed(source, state)
        return True

    def _index(self, source: str, content: scan.Content, state: FileState) -> None:
        parsed = self._document(source, content)
        state = replace(state, problem="; ".join(parsed.problems), resume=parsed.resume)
        self._batch.append((parsed, state))
        self._batch_bytes += len(content.data)
        self._note_indexed(source, state)
        if len(self._batch) >= BATCH_FILES or self._batch_bytes >= BATCH_BYTES:
            self._flush()

    def _note_indexed(self, source: str, state: FileState) -> None:
        self.known[source] = state
        self.indexed[source] = None
        self.failed[source] = state.problem

    def _fail(self, source: str, stamp: Stamp, problem: str) -> None:
        state = FileState(b"", *stamp, problem=problem)
        self.failed[source] = problem
        if self.known.get(source) != state:
            self._marks[source] = state

    def _flush(self) -> None:
        if self._batch:
            self.index.replace(self._batch)
        if self._marks:
            self.index.mark(self._marks)
        self._batch, self._batch_bytes, self._marks = [], 0, {}
