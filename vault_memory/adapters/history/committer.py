"""`History`: what changes a vault's files and remembers it as git commits.

A change goes three steps, each of which a `kill -9` may end: the drafts are made durable (`intents`), the files are
written by compare-and-swap (`stage`), and the drafts become commits (`flush`). The last step may come much later, from
any process: it waits while the person rebases, merges or holds git's lock.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path, PurePosixPath

from vault_memory.adapters import files
from vault_memory.adapters.git import process as git
from vault_memory.adapters.git.filters import Filters
from vault_memory.adapters.git.repository import Repository, is_ours
from vault_memory.adapters.history.index_step import IndexStep
from vault_memory.adapters.history.intents import Intent, ends
from vault_memory.adapters.history.model import ASSISTANT, Draft, FileChange, Flushed
from vault_memory.adapters.history.plan import CannotCommit, Plan, Planner, identity
from vault_memory.adapters.history.reader import HistoryReader
from vault_memory.adapters.history.rewind import OUR_MOVE, Rewind
from vault_memory.errors import Changed, HistoryError, UsageError, VaultMemoryError

LOCK_TIMEOUT_S = 30.0
_PATIENCE_S = 2.0
"""How long a flush stands by while another git holds the locks; a commit in an editor holds them for minutes."""
_POLL_S = 0.02


class _Outrun(Exception):
    """Another git holds a lock or has just moved what was planned on: worth another try soon."""


def _now() -> datetime:
    return datetime.now().astimezone()


def _stamp(time: datetime) -> str:
    """A time as git writes it: seconds and zone."""
    return f"{int(time.timestamp())} {time:%z}"


class History(HistoryReader):
    """The git history of the vault at `root`, which may be a repository or a folder inside a larger one.

    `person_name` and `person_email` stand in when git knows no identity; `sign` signs our commits with the person's git
    set-up; `now` gives commits their time. Safe to share by threads and processes.
    """

    def __init__(
        self,
        root: Path,
        *,
        person_name: str = "",
        person_email: str = "",
        sign: bool = False,
        now: Callable[[], datetime] = _now,
        step: Callable[[str], None] = lambda _: None,
    ) -> None:
        super().__init__(root, person_name=person_name, person_email=person_email)
        self._sign = sign
        self._now = now
        self._step = step
        self._rewind = Rewind(self._repository, self._objects, self._intents)

    @classmethod
    def create(cls, root: Path) -> History:
        """The history of `root`, which is made a git repository (branch main) unless it lies in one that wants its files.

        A folder that the larger repository ignores gets one of its own.
        """
        repository = Repository(root)
        if not repository.exists() or (repository.prefix.parts and cls(root).ignored(PurePosixPath("USER.md"))):
            git.run(repository.root, "init", "--quiet", "--initial-branch=main")
        return cls(root)

    # Writing ------------------------------------------------------------------------------------------------------

    def commit(self, drafts: Iterable[Draft], *, found: bool = False) -> Flushed:
        """`stage`, then `flush`, with nobody in between. `found`: these are edits found on disk, none is to be written there."""
        drafts = tuple(drafts)
        with self._lock():
            self._stage(drafts, found=found)
            return self._flush()

    def let_git_finish(self) -> None:
        """Stand by, for a moment at most, while git takes files back and forth: what is read meanwhile is soon different."""
        give_up = time.monotonic() + _PATIENCE_S
        while self._repository.is_rewriting() and time.monotonic() < give_up:
            time.sleep(_POLL_S)

    def stage(self, drafts: Iterable[Draft]) -> None:
        """Make the drafts durable, then write their files; from here on nothing of them can be lost.

        Each file on disk must be as the first draft's `before` says, or already as the last one's `after`; else `Changed`
        is raised and nothing is written. `Unwritable` likewise leaves every file as it was.
        """
        drafts = tuple(drafts)
        with self._lock():
            self._stage(drafts)

    def flush(self) -> Flushed:
        """Turn the waiting drafts into commits, in order; those that cannot be now go on waiting, and `paused` says why."""
        with self._lock():
            return self._flush()

    # Staging ------------------------------------------------------------------------------------------------------

    def _stage(self, drafts: tuple[Draft, ...], *, found: bool = False) -> None:
        changes = ends(drafts)
        if not drafts:
            return
        for path in changes:
            self._check(path)
        give_up = time.monotonic() + _PATIENCE_S
        while True:
            head = self._repository.head()
            patient = time.monotonic() < give_up
            if patient and self._repository.is_rewriting():
                time.sleep(_POLL_S)  # it takes files back to old commits for a moment, and would stumble over ours
                continue
            redone = self._rewind.take_up_dropped() | self._rewind.put_back()
            for change in changes.values():
                content = files.read(self.root / change.path)
                # An edit that was read while its file was just being written would undo what was written.
                expected = (change.after,) if found else (change.before, change.after)
                if content not in expected or change.path in redone:
                    raise files.changed(self.root / change.path, content)
            bases = self._bases(changes, head.commit)
            self._refuse_repeats(changes.values(), bases)
            intent = self._intents.add(drafts, _stamp(self._now()), head.commit, bases)
            self._step("intent written")
            written = self._write_files(intent)
            if patient and (self._repository.is_rewriting() or self._repository.head() != head):
                self._take_back(intent, written)  # it began while we wrote: once more, when it is over
                continue
            self._intents.mark_written(intent)
            self._step("intent marked")
            return

    def _refuse_repeats(self, changes: Iterable[FileChange], bases: Mapping[PurePosixPath, str | None]) -> None:
        """Somebody else has just committed this very change: a second commit of it would first have to undo the first."""
        filters = Filters(self._repository, self._objects)
        for path, before, after in changes:
            found = files.read(self.root / path)
            blob = filters.blob(self._repository.prefix / path, after)
            if before != after == found and bases[path] == blob != filters.blob(self._repository.prefix / path, before):
                raise files.changed(self.root / path, found)

    def _check(self, path: PurePosixPath) -> None:
        if path.is_absolute() or not path.parts or any(p == ".." or p.lower() == ".git" for p in path.parts):
            raise UsageError(f"{str(path)!r} is no path inside the vault: use one relative to {self.root}")
        place = self.root
        for part in path.parts:
            place = place / part
            if place.is_symlink():
                raise HistoryError(
                    f"{path}: {place} is a symbolic link, and git would not see what is written through it"
                )
            if (place / ".git").exists():
                raise HistoryError(f"{path} lies in another git repository ({place}): commit it there")

    def _bases(self, paths: Iterable[PurePosixPath], head: str | None) -> dict[PurePosixPath, str | None]:
        """The blob that HEAD will hold at each path when all that waits is committed."""
        tree, waiting, filters = self._objects.tree_of(head), self._waiting(), Filters(self._repository, self._objects)
        return {
            path: filters.blob(self._repository.prefix / path, waiting[path].after)
            if path in waiting
            else self._blob_at(tree, path)
            for path in paths
        }

    def _write_files(self, intent: Intent) -> list[FileChange]:
        """Write the files of an intent, all or none; those that had to be written are returned."""
        written: list[FileChange] = []
        try:
            for change in intent.ends().values():
                if files.read(self.root / change.path) != change.after:
                    self._write(change)
                    written.append(change)
                self._step("file written")
        except VaultMemoryError:
            self._take_back(intent, written)
            raise
        return written

    def _write(self, change: FileChange) -> None:
        if change.after is not None:
            # The intent is durable, so the new name need not be: it reaches the disk before what comes after it.
            files.replace(self.root / change.path, change.after, change.before, sync=False)
        elif change.before is not None:
            files.remove(self.root / change.path, change.before)

    def _take_back(self, intent: Intent, written: Sequence[FileChange]) -> None:
        try:
            for path, before, after in reversed(written):
                with contextlib.suppress(Changed):  # saved by the person on top of ours: theirs stays
                    self._write(FileChange(path, after, before))
        except VaultMemoryError:
            # Not even that can be written: the text stays on disk, so it must stay known as what it is.
            self._intents.mark_written(intent)
            raise
        self._intents.keep(intent, ())

    # Recovery -----------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _lock(self) -> Iterator[None]:
        """The vault's lock, taken, and what a killed holder left behind made good."""
        with files.lock(self.git_dir / "vault-memory" / "lock", LOCK_TIMEOUT_S):
            self._release_own_locks()
            self._intents.sweep()
            for intent in self._intents.unwritten():
                self._finish_writing(intent)
            try:
                yield
            finally:
                self._objects.forget()

    def _release_own_locks(self) -> None:
        """Remove git locks that a killed flush of ours left; nobody holds them, for we hold the vault's."""
        ours = self.git_dir / "vault-memory"
        if (ours / "index.new").exists():
            IndexStep.release(self._repository)
        if (ours / "ref.new").exists():
            for lock in (self._repository.common_dir / "refs").rglob("*.lock"):
                if is_ours(ours / "ref.new", lock):
                    lock.unlink()
            (ours / "ref.new").unlink()

    def _finish_writing(self, intent: Intent) -> None:
        for change in intent.ends().values():
            self._put_back_displaced(change, intent.path.stat().st_mtime_ns)
            if files.read(self.root / change.path) == change.before:
                self._write(change)
        self._intents.mark_written(intent)

    def _put_back_displaced(self, change: FileChange, since_ns: int) -> None:
        """A kill right after the exchange leaves what it displaced under a temporary name: it may be a person's save.

        What has lain there since before the intent (`since_ns`) is another writer's, and older than what stands. Whoever made the
        others held the lock that is held now: they have ended, though a process may still bear their number.
        """
        place = self.root / change.path
        if not place.parent.is_dir():
            return
        for temp in files.temporaries(place):
            if temp.stat().st_ctime_ns < since_ns:
                continue
            displaced = temp.read_bytes()
            if displaced != change.before and not (change.after or b"").startswith(displaced):
                files.replace(place, displaced, files.read(place))
            temp.unlink()

    # Committing ---------------------------------------------------------------------------------------------------

    def _flush(self) -> Flushed:
        if not self._repository.is_rewriting():
            self._rewind.take_up_dropped()
        if not self._intents.pending():
            return Flushed()
        give_up = time.monotonic() + _PATIENCE_S
        while True:
            try:
                return self._try_flush()
            except CannotCommit as reason:
                return Flushed((), self._intents.count(), str(reason))
            except _Outrun as reason:
                if time.monotonic() > give_up:
                    return Flushed((), self._intents.count(), str(reason))
                time.sleep(_POLL_S)

    def _try_flush(self) -> Flushed:
        """One attempt. Raises `CannotCommit` when it must wait for the person, `_Outrun` when another git was faster."""
        self._refuse_while_paused()
        self._refuse_while_rewriting()
        self._rewind.put_back()
        pending = self._intents.pending()
        index = IndexStep(self._repository)
        plan = Planner(self._repository, self._objects, self._sign).plan(pending, index, self.person)
        self._objects.write(*([self._repository.draft_move(plan.commits[-1])] if plan.commits else []))
        self._step("objects written")
        if plan.changes or plan.commits:
            index.prepare(plan.changes, plan.folders)
            self._step("index prepared")
            self._move(plan, index)
        for intent, left in plan.left:
            self._intents.keep(intent, left)
            self._step("intent struck off")
        waiting = sum(len(left) for _, left in plan.left)
        return Flushed(tuple(plan.commits), waiting, next(iter(plan.blocked.values())) if waiting else None)

    def _move(self, plan: Plan, index: IndexStep) -> None:
        """Branch and index to the new commits, under both of git's locks, taken last and held for a moment."""
        try:
            if not index.lock():
                raise _Outrun(f"{index.lock_file} is held by another git; if none is running, delete it")
            self._step("index locked")
            self._refuse_while_paused()
            self._refuse_while_rewriting()
            if not index.is_current():
                raise _Outrun("git's index keeps changing")
            if plan.commits:
                count = len(plan.commits)
                note = f"{OUR_MOVE}{count} commit{'s' if count > 1 else ''}"
                if not self._repository.move(
                    plan.head, plan.commits[-1], note, identity(ASSISTANT, _stamp(self._now())), self._step
                ):
                    raise _Outrun(f"the branch {plan.head.branch} keeps moving, or its lock is held by another git")
                self._step("branch moved")
            index.publish()
            self._step("index published")
        finally:
            index.unlock()

    def _refuse_while_paused(self) -> None:
        if reason := self._repository.paused():
            raise CannotCommit(reason)

    def _refuse_while_rewriting(self) -> None:
        if self._repository.is_rewriting():
            raise _Outrun("git is merging or resetting: commits wait until it is done")
