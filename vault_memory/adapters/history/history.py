"""`History`: changes a vault's files, makes git commits of the changes, and reads them back.

A change takes three steps, and a `kill -9` may end any of them: the drafts are made durable (`intents`), the files are
written by compare-and-swap (both by `stage`), and the drafts become commits (`flush`). The last step may come much
later, from any process: it waits while the person rebases, merges or holds git's lock.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import TYPE_CHECKING

from vault_memory.adapters import files, git, private
from vault_memory.adapters.erasing import JOURNAL
from vault_memory.adapters.files import FileStamp, ReadCache
from vault_memory.adapters.git import (
    FILE_MODES,
    FOLDER_MODE,
    NEXT_STEP,
    SUBMODULE_MODE,
    Allowed,
    CommitLog,
    Content,
    DamagedIndex,
    Filters,
    Head,
    LogEntry,
    Objects,
    Repository,
    Setting,
    Stored,
    TreeEntry,
    allow,
    bytes_of,
    commit_body,
    give_to_owner,
    is_content,
    object_id,
    settings_of,
)
from vault_memory.adapters.history.faults import FAULTS, Faults, in_words
from vault_memory.adapters.history.intents import (
    MAX_INTENTS,
    MAX_LOGS_OF_ONE,
    Intent,
    IntentLog,
    WrittenFile,
    are_many,
    check_path,
    is_committed_by_itself,
    net_changes,
    no_such_name,
)
from vault_memory.adapters.history.model import ASSISTANT, WAITING_DIR, Author, Draft, FileChange, Flushed, HistoryState
from vault_memory.adapters.history.obstacles import Obstacles
from vault_memory.adapters.history.plan import CannotCommit, Planner, git_time, head_tree, signature, time_of
from vault_memory.adapters.history.publish import (
    GitIndexUpdate,
    draft_branch_move,
    end_branch_move,
    meanwhile,
    move_branch,
    release_own_locks,
)
from vault_memory.adapters.history.rewind import OUR_MOVE, Rewind
from vault_memory.adapters.history.working_tree import WorkingTree
from vault_memory.core import layout, setting_checks
from vault_memory.core.trailers import KEYS, turns_of
from vault_memory.errors import (
    Busy,
    Changed,
    HistoryError,
    LargeObject,
    NotFound,
    TooLarge,
    UsageError,
    in_command,
)

if TYPE_CHECKING:
    from vault_memory.adapters.erasing import Erased, Request
    from vault_memory.adapters.unsent import Remade

LOCK_TIMEOUT_S = 30.0
_STAND_BY_S = 2.0
"""How long a flush waits for another git that holds the locks; a commit in an editor holds them for minutes."""
_LEFT_BEHIND_S = 60.0
"""A lock that is older was left by a git that has ended, or waits with it for the person's editor."""
_POLL_S = 0.02
QUIET_S, LONGEST_S = 600.0, 7200.0
"""Logs are committed so long after the last entry of anybody, and after their first one."""
_DEFAULT_OWNER = Author("vault owner", "owner@localhost")


class _Overtaken(Exception):
    """Another git holds a lock or has just moved the branch: try again soon."""


def _now() -> datetime:
    return datetime.now().astimezone()


class History:
    """The git history of the vault at `root`, which may be a repository or a folder inside a larger one.

    `person_name` and `person_email` are used when git has no user name; `sign` signs our commits with the person's git
    set-up; `now` gives commits their time. Threads and processes may share one vault. Of the repository's own settings
    that start programs only what `allowed_settings` gives takes effect; the person's global ones do. `pause` is called
    between two files, where no lock of git's is held.
    """

    def __init__(
        self,
        root: Path,
        *,
        person_name: str = "",
        person_email: str = "",
        sign: bool = False,
        allowed_settings: Allowed = tuple,
        now: Callable[[], datetime] = _now,
        step: Callable[[str], None] = lambda _: None,
        pause: Callable[[], None] = lambda: None,
    ) -> None:
        self._repository = Repository(root)
        allow(self.root, allowed_settings)
        self._objects = Objects(self._repository.common_dir / "objects")
        self._intents = IntentLog(self.git_dir / WAITING_DIR / "intents", self.root, self._objects)
        self._rewind = Rewind(self._repository, self._objects, self._intents)
        self._faults = Faults(self._repository, self._objects, self._intents)
        self._default_person = Author(person_name or _DEFAULT_OWNER.name, person_email or _DEFAULT_OWNER.email)
        self._sign = sign
        self._now = now
        self._step = step
        self._pause = pause

    @classmethod
    def create(cls, root: Path) -> History:
        """The history of `root`, which becomes a git repository (branch main) unless a larger one takes its files.

        A folder that the larger repository ignores gets one of its own.
        """
        repository = Repository(root)
        is_taken = repository.exists()
        if is_taken and repository.prefix.parts:
            is_taken = not cls(root).working_tree.is_ignored(PurePosixPath("USER.md"))
        if not is_taken:
            git.run(repository.root, "init", "--quiet", "--initial-branch=main")
        return cls(root)

    @property
    def root(self) -> Path:
        """The vault's root, links resolved."""
        return self._repository.root

    @property
    def git_dir(self) -> Path:
        """Git's own folder of this working tree."""
        return self._repository.git_dir

    @cached_property
    def working_tree(self) -> WorkingTree:
        """What git says of the files on the disk."""
        return WorkingTree(self._repository, self._objects, self._faults)

    @cached_property
    def obstacles(self) -> Obstacles:
        """What keeps edits out of commits."""
        return Obstacles(self._repository, self._objects, self._intents, self.working_tree)

    # Reading ------------------------------------------------------------------------------------------------------

    def state(self) -> HistoryState:
        """Where the repository stands and what waits. Reads git's index and a few small files.

        Of a damaged repository it says what can be said.
        """
        head, problem = self._head(), self._faults.problem()
        damaged: tuple[str, ...] = ()
        waiting = logs = 0
        with contextlib.suppress(HistoryError):  # `problem` names the place
            damaged = tuple(self._intents.damaged())
            drafts = [draft for intent in self._intents.pending() for draft in intent.drafts]
            waiting = sum(not draft.waits for draft in drafts)
            logs = sum(len(turns_of(draft.message)) or 1 for draft in drafts if draft.waits)
        if head is None:
            return HistoryState(None, None, problem, waiting, damaged, None, problem, logs)
        paused = problem or self._repository.paused() or self._faults.lost_base()
        held = self._repository.held_lock()
        if held and not waiting and not _is_old(held):
            held = None
        lock = f"{held} is held by another git; if none is running, delete it" if held else None
        return HistoryState(head.branch, head.commit, paused, waiting, damaged, lock, problem, logs)

    def has_waiting(self) -> bool:
        """Whether anything waits for its commit. It lists one folder."""
        return self._intents.exist()

    def logs_are_due(self) -> bool:
        """Whether entries in logs wait, and nobody has said anything for `QUIET_S`, or one of them has waited for
        `LONGEST_S` or is of another day."""
        now = self._now()
        times = [time_of(intent.when) for intent in self._intents.pending() if intent.is_logs]
        ages = [(now - at).total_seconds() for at in times]
        is_of_today = all(now.date() == at.date() for at in times)
        return bool(ages) and not (is_of_today and 0 <= min(ages) < QUIET_S and max(ages) < LONGEST_S)

    def _why_waiting(self) -> str:
        """What has to be done before the commits that wait are made, as far as a look shows it."""
        state = self.state()
        staged = ", ".join(map(str, self.working_tree.staged(list(self._intents.waiting()))))
        return state.paused or state.lock or (f"{staged} is staged: commit or unstage it" if staged else "see `status`")

    def stopped(self) -> str | None:
        """What a person is in the middle of, in words: a rebase or the like, or an old commit; None for nothing.

        Files that are written then are in the way of what the person does next. Of a damaged repository nobody tells.
        """
        with contextlib.suppress(HistoryError):
            return self._repository.stopped()
        return None

    def _head(self) -> Head | None:
        """Where HEAD stands; None while that cannot be read: then `Faults` says why."""
        try:
            return self._repository.head()
        except HistoryError:
            return None

    def _known_tree(self) -> str | None:
        """The tree that HEAD holds; None while it cannot be read: what depends on it waits, and `Faults` says why."""
        try:
            return head_tree(self._repository, self._objects)
        except HistoryError:
            return None

    def person(self) -> Author:
        """Who the person is: the user that git knows, else the configured one, else "vault owner".

        Never the assistant: what of git's values is its own is passed over for the next one.
        """
        name, email = (
            next((value for value, _ in known if not setting_checks.person(value)), "") for known in self._known()
        )
        return Author(name or self._default_person.name, email or self._default_person.email)

    def passed_over(self) -> list[str]:
        """A line for each of git's values for the person's name and address that is the assistant's own, with the
        command that takes it out."""
        found = [command for known in self._known() for value, command in known if setting_checks.person(value)]
        return [
            f"git's {command.split()[-1]} is the assistant's own, and your edits are not committed under it: "
            f"`{command}` takes it out"
            for command in found
        ]

    def _known(self) -> Iterator[list[tuple[str, str]]]:
        """What git knows of the person's name, then of their address, with the command that takes each out: the
        variable, then the repository's own setting, then the person's."""
        settings = settings_of(self.root)
        for part in ("name", "email"):
            variable = f"GIT_AUTHOR_{part.upper()}"
            known = [(os.environ.get(variable), f"unset {variable}")]
            for key in (f"author.{part}", f"user.{part}"):
                value, persons = settings.values.get(key), settings.persons.get(key)
                known += [(value, f"git config --unset-all {key}")] if value != persons else []
                known.append((persons, f"git config --global --unset-all {key}"))
            yield [(value, command) for value, command in known if value]

    def blob(self, path: PurePosixPath, rev: str = "HEAD") -> bytes | None:
        """The bytes of a file at a commit, or None when the commit has no such file. Raises `LargeObject`."""
        blob = self._objects.file(self._objects.tree_of(self._resolve(rev)), self._repository.prefix / path)
        try:
            return self._objects.read(blob, files.MAX_FILE_BYTES)[1] if blob else None
        except LargeObject as error:
            raise LargeObject(
                f"{path} has more than {files.MAX_FILE_BYTES:,} bytes in {rev}, so it is not read: use plain git for it"
            ) from error

    def is_kept(self, path: PurePosixPath, content: bytes) -> bool:
        """Whether HEAD, or a commit that waits, holds these bytes of a file.

        A commit that waits holds them only if it stands on what HEAD holds: else the person's text below the change,
        which it was made on, is in no commit, and none will be made of it."""
        change = self._intents.waiting().get(path)
        if change is None:
            return self._is_in_head(path, content)
        return is_content(content, change.new) and self._is_in_head(path, bytes_of(change.old))

    def _is_in_head(self, path: PurePosixPath, content: bytes | None) -> bool:
        tree = self._known_tree()
        blob = self._objects.file(tree, self._repository.prefix / path) if tree else None
        if content is None or blob is None:
            return content is None and blob is None
        return blob == Filters(self._repository, self._objects).blob(self._repository.prefix / path, content)

    def stored(self, blob: str) -> Stored:
        """The content of a file that the repository holds, by its id."""
        return Stored(blob, self._objects)

    def commit_named(self, rev: str) -> str:
        """The commit that a name (a hash or part of one, a branch, `HEAD~2`) stands for. Raises `NotFound`."""
        commit = self._resolve(rev)
        if commit is None:
            raise NotFound(f"{self.root} has no commit yet")
        return commit

    def log(
        self,
        paths: Sequence[PurePosixPath] | None = None,
        *,
        limit: int = 20,
        since: datetime | None = None,
        trailers: Mapping[str, str | None] | None = None,
        lacking: str | None = None,
        of: Sequence[str] = (),
        without: Sequence[str] = (),
    ) -> list[LogEntry]:
        """The newest commits, newest first, that touch `paths` and carry all `trailers` (None: any value), or that are
        `lacking` one: those that the commits `of` (none: HEAD) have, and the commits `without` do not."""
        if self._repository.head().commit is None:
            return []
        return CommitLog(self.root).entries(
            paths, limit=limit, since=since, trailers=trailers or {}, lacking=lacking, of=of, without=without
        )

    def holds(self, trailers: Mapping[str, str], since: datetime) -> bool:
        """Whether a commit since then, or a draft that waits, carries all these trailers."""
        lines = {f"{key}: {value}" for key, value in trailers.items()}
        drafts = [draft for intent in self._intents.pending() for draft in intent.drafts]
        return any(lines <= set(draft.message.split("\n")) for draft in drafts) or bool(
            self.log(limit=1, since=since, trailers=trailers)
        )

    def turns(self) -> set[str]:
        """The digests of all turns that a commit, or a draft that waits, names."""
        drafts = [draft for intent in self._intents.pending() for draft in intent.drafts]
        waiting = {turn for draft in drafts for turn in turns_of(draft.message)}
        is_empty = self._repository.head().commit is None
        return waiting if is_empty else waiting | CommitLog(self.root).values(KEYS["turn"])

    def uncommitted(
        self,
        paths: Iterable[PurePosixPath] | None = None,
        *,
        cache: ReadCache | None = None,
        programs: bool = False,
    ) -> list[FileChange]:
        """The person's edits that nobody has committed (`uncommitted_in_parts`), all of them in memory."""
        parts = self.uncommitted_in_parts(paths, cache=cache, programs=programs)
        return [edit for part in parts for edit in part]

    def uncommitted_in_parts(
        self,
        paths: Iterable[PurePosixPath] | None = None,
        *,
        cache: ReadCache | None = None,
        programs: bool = False,
        inspect: Callable[[Sequence[PurePosixPath]], None] = lambda paths: None,
    ) -> Iterator[list[FileChange]]:
        """The person's edits that nobody has committed: from what HEAD holds to what is on disk, some
        `files.MAX_FILE_BYTES` at a time, each file once.

        Files under the vault that git ignores are left out, and so is what waits here to be committed, what is private
        or `left_alone`, and what Obsidian runs (`core.layout`); with `programs` all but that. With `paths` only these
        files are looked at, and no process is started for a tracked one; one in `cache` is not read again. `inspect`
        gets the paths before the files are read, and may refuse them by raising.
        """
        listed = self.working_tree.changed() if paths is None else list(paths)
        inspect(listed)
        waiting, filters = self._intents.waiting(), Filters(self._repository, self._objects)
        tree = self._known_tree()
        read = files.read if paths is None else (cache or ReadCache()).read  # a cache would hold the whole vault
        edits: list[FileChange] = []
        room = files.MAX_FILE_BYTES
        for path in listed:
            if not is_committed_by_itself(self.root, path, programs=programs):
                continue
            self._pause()
            try:
                on_disk = read(self.root / path)
                if path in waiting:
                    before = bytes_of(waiting[path].new)
                elif tree is None:
                    continue
                else:
                    full = self._repository.prefix / path
                    entry = self._objects.find(tree, full)
                    if entry and entry.mode == SUBMODULE_MODE:  # one that is not on this disk, and a file in its place
                        continue
                    blob = entry.id if entry and entry.mode in FILE_MODES else None
                    if blob == filters.blob(full, on_disk) or full in filters.failed:
                        continue
                    before = self._objects.read(blob, files.MAX_FILE_BYTES)[1] if blob else None
            except (TooLarge, HistoryError):  # what HEAD holds is too large, or damaged: `state` tells of damage
                continue
            except PermissionError:  # git could not read it either; the search index reports it
                continue
            if on_disk != before and not files.is_being_written(self.root / path):
                edits.append(FileChange(path, before, on_disk))
                room -= len(before or b"") + len(on_disk or b"")
            if room < 0:
                yield self._without_left_out(edits, is_named=paths is not None)
                edits, room = [], files.MAX_FILE_BYTES
        if edits:
            yield self._without_left_out(edits, is_named=paths is not None)

    def _without_left_out(self, edits: Sequence[FileChange], *, is_named: bool) -> list[FileChange]:
        """Without files whose filter is refused. Named ones git has not listed itself: without new ones that it
        ignores, and without those whose changes it does not see."""
        left_out = set(self.working_tree.with_refused_filter([edit.path for edit in edits]))
        if is_named:
            new = [edit.path for edit in edits if edit.before is None]
            left_out |= self.working_tree.ignored(new) if new and not self._faults.problem() else set(new)
            left_out |= self.working_tree.unseen([edit.path for edit in edits])
        return [edit for edit in edits if edit.path not in left_out]

    def refused_settings(self) -> tuple[Setting, ...]:
        """The repository's own settings that would start programs or lead elsewhere, and are not allowed to."""
        return settings_of(self.root).refused

    def blob_ids(self, contents: Mapping[PurePosixPath, bytes]) -> dict[PurePosixPath, str]:
        """The blob that git would make of each of these files. Raises `HistoryError` for one that could not be
        committed, since its filter fails or may not be run."""
        filters = Filters(self._repository, self._objects)
        full = {path: self._repository.prefix / path for path in contents}
        refused = filters.refused(list(full.values()))
        found: dict[PurePosixPath, str] = {}
        for path, content in contents.items():
            if name := refused.get(full[path]):
                raise HistoryError(
                    f"{path} goes through the filter {name!r} of this repository's own config, which is not run: "
                    f"{NEXT_STEP}"
                )
            found[path] = filters.blob(full[path], content) or ""
            if words := filters.failed.get(full[path]):
                raise HistoryError(
                    f"the git filter of {path} fails ({words}): install its program, or correct it in git's config"
                )
        return found

    def taken(self, paths: Iterable[PurePosixPath]) -> set[PurePosixPath]:
        """Those of these files, gone from the disk, that git took away (another branch, a merge) or the person's own
        commit deleted: HEAD does not hold them, and did lately. None while git's folder cannot be read."""
        try:
            tree, waiting = head_tree(self._repository, self._objects), self._intents.waiting()
            return self._rewind.held_before(
                p for p in paths if p not in waiting and not self._objects.file(tree, self._repository.prefix / p)
            )
        except FAULTS:
            return set()

    def _resolve(self, rev: str) -> str | None:
        if rev == "HEAD":
            return self._repository.head().commit
        try:
            out = git.run(self.root, "rev-parse", "--verify", "--quiet", "--end-of-options", rev + "^{commit}")
        except HistoryError as error:
            from vault_memory.adapters.erasing import now_called

            if now := now_called(self._repository.common_dir, rev):
                return now
            raise NotFound(f"{self.root} has no commit {rev!r}: `git log` lists the commits") from error
        return out.decode().strip()

    def entry(self, path: PurePosixPath, rev: str = "HEAD") -> TreeEntry | None:
        """The entry of a path in a commit's tree, or None."""
        return self._objects.find(self._objects.tree_of(self._resolve(rev)), self._repository.prefix / path)

    # Writing ------------------------------------------------------------------------------------------------------

    def store(self, path: PurePosixPath, content: Content) -> str | None:
        """The blob that git makes of a file's bytes, durable in the repository before anything names it."""
        with self._lock():
            blob = Filters(self._repository, self._objects).add(self._repository.prefix / path, content)
            self._objects.write()
        return blob

    def with_entries(self, commit: str, entries: Mapping[PurePosixPath, TreeEntry | bytes | None]) -> str:
        """A commit on top of `commit`, in no branch, in which these paths have other entries, or hold these bytes, as
        git has them, or are gone (None)."""
        if not entries:
            return commit
        with self._lock():
            found: dict[PurePosixPath, str | TreeEntry | None] = {
                path: self._objects.add("blob", entry) if isinstance(entry, bytes) else entry
                for path, entry in entries.items()
            }
            when = signature(ASSISTANT, git_time(self._now()))
            tree = self._objects.put(self._objects.tree_of(commit), found)
            body = commit_body(tree, [commit], when, when, "moved for a merge\n")
            made = self._objects.add("commit", body)
            self._objects.write()
        return made

    def count_again(self, paths: Iterable[PurePosixPath]) -> None:
        """Let the files on disk count again (`left_out`)."""
        names = b"".join(os.fsencode(path) + b"\0" for path in paths)
        with self._lock():
            git.run(self.root, "update-index", "-z", "--no-skip-worktree", "--stdin", stdin=names)

    def commit_edits(self, drafts: Iterable[Draft]) -> Flushed:
        """Commit what the person has on disk: what these drafts lead to. No file is written, and nothing is kept.

        What cannot be committed now stays on the disk alone, for the next look at it; `waiting_paths` names it. Raises
        `Changed` when a file on disk or in HEAD is not as its drafts say.
        """
        drafts = tuple(drafts)
        with self._lock():
            before = self._flush()
            waiting = {draft for draft in drafts if before.waiting_paths & {change.path for change in draft.changes}}
            mine = tuple(draft for draft in drafts if draft not in waiting)
            flushed = self._flush(edits=mine) if mine else Flushed()
            paused = flushed.paused or before.paused
            paths = flushed.waiting_paths | net_changes(waiting).keys()
            return Flushed(flushed.commits, flushed.waiting + len(waiting), paused, frozenset(paths))

    def commit(self, drafts: Iterable[Draft], *, cache: ReadCache | None = None) -> Flushed:
        """`stage`, then `flush`, under one lock.

        Drafts that all wait are only staged. Those of one user become one commit, or part of a commit that is followed
        by such a draft. What else is committed, or a `flush`, takes them along; but a turn not those of other users.

        Files in `cache` are not read again to check that they are as the drafts say: the compare-and-swap, which reads
        them itself, has the last word. After `Changed` the cache is empty.
        """
        drafts = tuple(drafts)
        cache = cache or ReadCache()
        may_wait = bool(drafts) and all(draft.waits for draft in drafts)
        with self._lock():
            is_due = self.logs_are_due()
            flushed = self._flush() if may_wait and is_due else Flushed()
            try:
                written = self._stage(drafts, cache)
            except Changed:
                cache.clear()
                raise
            pending = self._intents.pending()
            logs = [intent for intent in pending if intent.is_logs]
            users = {layout.scope_of(change.path) for draft in drafts for change in draft.changes}
            is_turn = any(draft.waits for draft in drafts)
            others = [intent for intent in logs if is_turn and users.isdisjoint(intent.scopes)]
            all_go = (is_due and not may_wait) or are_many(logs)
            if may_wait and logs == pending and not all_go and len(logs) - len(others) <= MAX_LOGS_OF_ONE:
                return flushed
            return self._flush(written, resting=[] if all_go else others)

    def stage(self, drafts: Iterable[Draft]) -> None:
        """Make the drafts durable, then write their files; from here on nothing of them can be lost.

        Each file on disk must be as the first draft's `before` says, or already as the last one's `after`; else this
        raises `Changed` and writes nothing. `Unwritable` likewise leaves every file as it was.
        """
        drafts = tuple(drafts)
        with self._lock():
            self._stage(drafts, ReadCache())

    def flush(self) -> Flushed:
        """Make commits of the waiting drafts, in order. Those that cannot be made now still wait; `paused` says why."""
        with self._lock():
            return self._flush()

    def wait_for_git(self) -> None:
        """Wait up to two seconds while git rewrites files: what is read during that time soon changes."""
        give_up = time.monotonic() + _STAND_BY_S
        while self._repository.is_rewriting() and time.monotonic() < give_up:
            time.sleep(_POLL_S)

    @contextlib.contextmanager
    def _lock(self) -> Iterator[int]:
        """Hold the vault's lock, and give its number; first repair what a killed holder left."""
        if not self.git_dir.is_dir():
            self._repository.head()  # raises: a lock would make the folder
        with files.lock(self.git_dir / WAITING_DIR / "lock", LOCK_TIMEOUT_S, self.git_dir) as lock:
            private.refuse_links(self.git_dir / WAITING_DIR / "intents" / "x", self.git_dir)
            self._repository.make_refs()
            release_own_locks(self._repository)
            self._intents.sweep()
            self._intents.finish_killed()
            if os.path.lexists(self._repository.common_dir / JOURNAL):
                self._finish_erasing(lock)
            try:
                yield lock
            finally:
                self._objects.forget()

    # Staging ------------------------------------------------------------------------------------------------------

    def _stage(self, drafts: tuple[Draft, ...], cache: ReadCache) -> list[WrittenFile]:
        changes = net_changes(drafts)
        if not drafts:
            return []
        if self._intents.is_full():
            raise HistoryError(f"{MAX_INTENTS} changes wait for their commits: {self._why_waiting()}")
        for change in changes.values():
            self._check(change)
            if not files.can_write(self.root, change.path):
                raise no_such_name(change.path)
        give_up = time.monotonic() + _STAND_BY_S
        while True:
            head = self._head()
            may_wait = time.monotonic() < give_up
            if may_wait and self._repository.is_rewriting():
                time.sleep(_POLL_S)  # git writes old content into files for a moment, and fails if we write then
                continue
            redone: set[PurePosixPath] = set()
            with contextlib.suppress(*FAULTS):  # HEAD or a log of git's is damaged: `_flush` tells of it
                redone = self._rewind.take_up_dropped() | self._rewind.put_back()
            done: set[PurePosixPath] = set()
            for change in changes.values():
                path = self.root / change.path
                # A cache would hold all that a merge brings.
                content = files.read(path) if isinstance(change.new, Stored) else cache.read(path)
                is_done = is_content(content, change.new)
                if not (is_done or is_content(content, change.old)) or change.path in redone:
                    raise files.changed(path, content)
                if is_done:
                    done.add(change.path)
                elif content == b"" and self._is_filled_soon(path, give_up):
                    raise files.changed(path, files.read(path))
            bases = self._bases(changes)
            self._refuse_unseen((change.path for change in changes.values() if change.old is None), bases)
            self._refuse_repeats((change for change in changes.values() if change.path in done), bases)
            intent = self._intents.add(drafts, git_time(self._now()), head.commit if head else None, bases)
            self._step("intent written")
            written = self._intents.write_files(intent, done, self._step)
            if may_wait and (self._repository.is_rewriting() or self._head() != head):
                self._intents.take_back(intent, written)  # git began while we wrote: undo, and try again
                continue
            self._intents.mark_written(intent)
            self._step("intent marked")
            return written

    def _is_filled_soon(self, path: Path, give_up: float) -> bool:
        """Whether an editor that emptied a file has filled it by now. Raises `Busy` when it has not until `give_up`."""
        while files.is_being_written(path):
            if time.monotonic() > give_up:
                raise Busy(f"{path} was emptied just now: it is written to when its editor has filled it")
            time.sleep(_POLL_S)
        return bool(files.read(path))

    def _check(self, change: FileChange) -> None:
        """Refuse a path that is never committed. Raises `UsageError` or `HistoryError`."""
        check_path(self.root, change.path)
        if layout.is_private(change.path):
            raise UsageError(
                f"{change.path} is private and is never committed: state, indexes and conversations stay here"
            )
        if layout.is_misplaced(change.path) and change.new is not None:
            raise UsageError(f"{change.path} is no place for a file: the layout has a folder there, or a file above it")

    def _refuse_unseen(self, paths: Iterable[PurePosixPath], bases: Mapping[PurePosixPath, str | None]) -> None:
        """Refuse to write anew a file that is in git and that git leaves out of this disk: its text would be lost."""
        held = [path for path in paths if bases.get(path)]
        for path in self.working_tree.left_out(held) if held else ():
            raise HistoryError(
                f"{path} is in git and not on this disk, because git leaves it out (skip-worktree): `git update-index "
                f"--no-skip-worktree {in_command(path)}`, then `git checkout HEAD -- {in_command(path)}` puts it here"
            )

    def _read_again(self, path: Path) -> bytes | None:
        """What an edit's file holds now. One that has grown too large meanwhile is no edit of ours any more."""
        try:
            return files.read(path)
        except TooLarge as error:
            raise files.changed(path, b"") from error

    def _refuse_repeats(self, changes: Iterable[FileChange], bases: Mapping[PurePosixPath, str | None]) -> None:
        """Refuse a change, done on disk, that another process has just committed: it must not be committed twice."""
        filters = Filters(self._repository, self._objects)
        for change in changes:
            full = self._repository.prefix / change.path
            if change.path not in bases:  # HEAD cannot be read, so nobody commits
                continue
            if bases[change.path] == filters.blob(full, change.new) != filters.blob(full, change.old):
                raise files.changed(self.root / change.path, bytes_of(change.new))

    def _bases(self, paths: Iterable[PurePosixPath]) -> dict[PurePosixPath, str | None]:
        """The blob of each path in HEAD after all waiting drafts are committed.

        Without those that HEAD, being damaged, does not tell: `Plan` then makes the change on what HEAD will hold.
        """
        tree, waiting, filters = self._known_tree(), self._intents.waiting(), Filters(self._repository, self._objects)
        bases: dict[PurePosixPath, str | None] = {}
        for path in paths:
            with contextlib.suppress(HistoryError):
                if path in waiting:
                    bases[path] = filters.blob(self._repository.prefix / path, waiting[path].new)
                elif tree is not None:
                    bases[path] = self._objects.file(tree, self._repository.prefix / path)
        return bases

    # Committing ---------------------------------------------------------------------------------------------------

    def _flush(
        self, written: Sequence[WrittenFile] = (), edits: tuple[Draft, ...] = (), resting: Sequence[Intent] = ()
    ) -> Flushed:
        """Commit what waits, but for the logs that are `resting`, or these edits of the person's."""
        if not self._repository.is_rewriting():
            with contextlib.suppress(*FAULTS):  # what waits is told of it below
                self._rewind.take_up_dropped()
        give_up = time.monotonic() + _STAND_BY_S
        while True:
            pending = [self._looked_at(edits)] if edits else _without(self._intents.pending(), resting)
            if not pending:
                return Flushed()
            try:
                return self._try_flush(pending, written, self._stamps(edits))
            except CannotCommit as reason:
                return _all_wait(pending, str(reason))
            except DamagedIndex:
                return _all_wait(pending, self._faults.problem() or "git's index keeps changing")
            except _Overtaken as reason:
                if time.monotonic() > give_up:
                    return _all_wait(pending, str(reason))
                time.sleep(_POLL_S)
            except FAULTS as error:
                return _all_wait(pending, self._faults.problem() or in_words(error))

    def _looked_at(self, edits: tuple[Draft, ...]) -> Intent:
        """Edits as the planner takes drafts: now, on top of HEAD. Nothing is kept of them."""
        return Intent(Path(), edits, git_time(self._now()), self._repository.head().commit, {})

    def _stamps(self, edits: tuple[Draft, ...]) -> dict[Path, FileStamp | None]:
        """The stamp of each edit's file. Raises `Changed` when it, or the file in HEAD, is not as the edit says."""
        tree, filters = self._objects.tree_of(self._repository.head().commit), Filters(self._repository, self._objects)
        stamps = {}
        for change in net_changes(edits).values():
            self._pause()
            self._check(change)
            path = self.root / change.path
            stamps[path] = _stamp(path)
            content = self._read_again(path)
            held = self._objects.file(tree, self._repository.prefix / change.path)
            known = {filters.blob(self._repository.prefix / change.path, change.old)}
            if isinstance(change.old, bytes):
                known.add(object_id("blob", change.old))
            if not is_content(content, change.new) or held not in known:
                raise files.changed(path, content)
        return stamps

    def _try_flush(
        self, pending: list[Intent], written: Sequence[WrittenFile], stamps: Mapping[Path, FileStamp | None]
    ) -> Flushed:
        """One attempt. Raises `CannotCommit` if it must wait for the person, `_Overtaken` if another git was faster."""
        self._refuse_while_paused()
        self._refuse_while_rewriting()
        if stamps and self._repository.is_settling():
            raise _Overtaken("git has just changed its index: edits wait until it is done")
        git_index = GitIndexUpdate(self._repository)
        if git_index.problem:
            raise CannotCommit(git_index.problem)
        self._rewind.put_back()  # who puts files back from now on writes the git index too, and is met in `_publish`
        plan = Planner(self._repository, self._objects, self._sign, self._pause).plan(pending, git_index)
        if git_index.problem:  # met only now
            raise CannotCommit(git_index.problem)
        also = [draft_branch_move(self._repository, plan.commits[-1])] if plan.commits else []
        is_new = bool(plan.changes or plan.commits)

        def prepare() -> None:
            written_to = {self._repository.prefix / file.change.path: file for file in written}
            git_index.prepare(plan.changes, plan.folders, written_to, plan.left_out)

        # Objects wait for the disk; a large git index takes as long, to be hashed and written.
        with meanwhile(prepare, is_long=git_index.is_large) if is_new else contextlib.nullcontext():
            self._objects.write(*also, pause=self._pause)
            self._step("objects written")
        if is_new:
            self._step("index prepared")
            count = len(plan.commits)
            note = f"{count} commit{'s' if count > 1 else ''}"
            self._publish(plan.head, plan.commits[-1] if plan.commits else None, note, git_index, stamps)
        for intent, left in () if stamps else plan.left:  # nothing is kept of an edit
            self._intents.keep(intent, left)
            self._step("intent struck off")
        waiting = [draft for _, left in plan.left for draft in left]
        reason = next(iter(plan.blocked.values())) if waiting else None
        paths, prefix = frozenset(net_changes(waiting)), self._repository.prefix
        kept_back = frozenset(path for path in paths if prefix / path in plan.kept_back)
        reasons = {path: plan.blocked[prefix / path] for path in paths if prefix / path in plan.blocked}
        return Flushed(tuple(plan.commits), len(waiting), reason, paths, kept_back, reasons)

    def _publish(
        self,
        head: Head,
        tip: str | None,
        note: str,
        git_index: GitIndexUpdate,
        stamps: Mapping[Path, FileStamp | None] = MappingProxyType({}),
    ) -> None:
        """Move the branch from `head` to `tip` (None: it stays), and git's index, under both of git's locks, taken last
        and held for a moment. `note` says in the reflogs what was done.

        Raises `Changed` when the stamp of a file is not as in `stamps` any more.
        """
        try:
            if not git_index.lock():
                raise _Overtaken(f"{git_index.lock_file} is held by another git; if none is running, delete it")
            self._step("index locked")
            self._refuse_while_paused()
            self._refuse_while_rewriting()
            if not git_index.is_current():
                raise _Overtaken("git's index keeps changing")
            for path, stamp in stamps.items():
                if _stamp(path) != stamp:
                    raise files.changed(path, files.read(path))
            if tip:
                mover = signature(ASSISTANT, git_time(self._now()))
                if not move_branch(self._repository, head, tip, OUR_MOVE + note, mover, self._step):
                    lock = f"{self._repository.common_dir}/{head.ref}.lock"
                    raise _Overtaken(
                        f"the branch keeps moving, or {lock} is held by another git; if none is running, delete it"
                    )
                self._step("branch moved")
            git_index.publish()
            end_branch_move(self._repository)
            self._step("index published")
        finally:
            git_index.unlock()

    # Commits made anew ----------------------------------------------------------------------------------------------

    def take_out(
        self, files_out: Mapping[PurePosixPath, Collection[str]], since: str | None, head: str
    ) -> Remade | None:
        """Make the commits of `head`, where the branch is, that `since` lacks anew without these files (path from the
        repository's top → the blobs that go), and move the branch there. None when no commit holds one of them.

        Files on the disk stay, and so does git's index, but for entries of these files that the branch lacks then. A
        ref of its own, which is never overwritten, keeps what was before. Raises `HistoryError` when that cannot be
        done now, or the branch is not at `head` any more; nothing is changed then.
        """
        from vault_memory.adapters.unsent import remade  # a turn never needs it

        with self._lock():
            made = remade(self._repository.top, self._objects, since, head, files_out)
            if made is None:
                return None
            self._objects.write(draft_branch_move(self._repository, made.tip), pause=self._pause)
            self._step("objects written")
            is_kept = self._repository.ref(made.before) == head
            if not is_kept:
                self._keep(made.before, head)
            self._step("ref made")
            try:
                self._move_to(made, files_out, head)
            except BaseException:
                if not is_kept and self._repository.head().commit != made.tip:
                    git.run(self._repository.top, "update-ref", "--no-deref", "-d", made.before, head)
                raise
            return made

    def _keep(self, ref: str, commit: str) -> None:
        """Make a new ref. Raises `HistoryError` when it is there already."""
        private.refuse_links(self._repository.common_dir / ref, self._repository.common_dir)
        git.run(self._repository.top, "update-ref", "--no-deref", ref, commit, "0" * 40)
        give_to_owner(self._repository.common_dir)

    def _move_to(self, made: Remade, paths: Iterable[PurePosixPath], head: str) -> None:
        trees = [self._objects.tree_of(commit) for commit in (head, made.tip)]
        left = {path: self._objects.find(trees[1], path) for path in paths}
        gone = {path: None for path, entry in left.items() if entry is None or entry.mode == FOLDER_MODE}
        folders = {folder for path in gone for folder in path.parents}
        entries = {folder: [self._objects.find(tree, folder) for tree in trees] for folder in folders}
        held = {
            folder: (before.id if before else None, after.id if after else None)
            for folder, (before, after) in entries.items()
        }
        give_up = time.monotonic() + _STAND_BY_S
        while True:
            try:
                self._refuse_while_paused()
                self._refuse_while_rewriting()
                now = self._repository.head()
                if now.commit != head:
                    raise CannotCommit("the branch was moved meanwhile")
                git_index = GitIndexUpdate(self._repository)
                if git_index.problem:
                    raise CannotCommit(git_index.problem)
                git_index.prepare(gone, held, {})
                self._step("index prepared")
                return self._publish(now, made.tip, "without private files", git_index)
            except (CannotCommit, DamagedIndex, _Overtaken) as reason:
                if not isinstance(reason, _Overtaken) or time.monotonic() > give_up:
                    raise HistoryError(f"{reason}: nothing was changed; run it again then") from reason
                time.sleep(_POLL_S)

    # Erasing --------------------------------------------------------------------------------------------------------

    def erase(self, request: Request) -> Erased:
        """Take texts and files out of every commit, and of all else that git and its working tree hold; nothing of what
        was is left. Paths of the request are vault-relative. Other writers wait meanwhile, or raise `Busy`.

        Raises `HistoryError` while changes wait for their commits, and what `erase_from_git` raises. One that a kill
        ends is done again before the next change.
        """
        from vault_memory.adapters.erasing import erase_from_git  # no other change needs it

        with self._lock() as lock:
            if waiting := self._flush().waiting_paths:
                raise HistoryError(
                    f"nothing is erased while changes wait for their commits ({sorted(map(str, waiting))[0]}): "
                    "`vault-memory status` says why they wait"
                )
            with git.holding(lock):
                return erase_from_git(self._repository, request, self._step)

    def _finish_erasing(self, lock: int) -> None:
        from vault_memory.adapters.erasing import finish_erasing

        with git.holding(lock):
            finish_erasing(self._repository, self._step)

    def _refuse_while_paused(self) -> None:
        if reason := self._repository.paused():
            raise CannotCommit(reason)

    def _refuse_while_rewriting(self) -> None:
        if self._repository.is_rewriting():
            raise _Overtaken("git is merging or resetting: commits wait until it is done")


def _all_wait(pending: Sequence[Intent], reason: str) -> Flushed:
    count = sum(len(intent.drafts) for intent in pending)
    return Flushed((), count, reason, frozenset(path for intent in pending for path in intent.net_changes()))


def _without(pending: Sequence[Intent], resting: Sequence[Intent]) -> list[Intent]:
    """What is to be committed: all but the logs that are `resting` and stand below nothing else."""
    left = {intent.path for intent in resting}
    going = {path for intent in pending if intent.path not in left for path in intent.net_changes()}
    return [i for i in pending if i.path not in left or not going.isdisjoint(i.net_changes())]


def _is_old(lock: Path) -> bool:
    with contextlib.suppress(OSError):
        return abs(time.time() - lock.lstat().st_mtime) > _LEFT_BEHIND_S
    return False


def _stamp(path: Path) -> FileStamp | None:
    """The stamp of a file, or None when there is none."""
    try:
        return FileStamp.of(path.lstat())
    except (FileNotFoundError, NotADirectoryError):
        return None
