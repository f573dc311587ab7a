"""`History`: changes a vault's files, makes git commits of the changes, and reads them back.

A change takes three steps, and a `kill -9` may end any of them: the drafts are made durable (`intents`), the files are
written by compare-and-swap (both by `stage`), and the drafts become commits (`flush`). The last step may come much
later, from any process: it waits while the person rebases, merges or holds git's lock.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path, PurePosixPath

from vault_memory.adapters import files, git, private
from vault_memory.adapters.files import FileStamp, ReadCache
from vault_memory.adapters.git import (
    FILE_MODES,
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
    is_content,
    is_failed_filter,
    object_id,
    settings_of,
)
from vault_memory.adapters.history.intents import (
    Intent,
    IntentLog,
    WrittenFile,
    check_path,
    net_changes,
    no_such_name,
    repository_around,
)
from vault_memory.adapters.history.model import ASSISTANT, WAITING_DIR, Author, Draft, FileChange, Flushed, HistoryState
from vault_memory.adapters.history.plan import CannotCommit, Plan, Planner, signature
from vault_memory.adapters.history.publish import (
    GitIndexUpdate,
    draft_branch_move,
    end_branch_move,
    move_branch,
    release_own_locks,
)
from vault_memory.adapters.history.rewind import OUR_MOVE, Rewind
from vault_memory.core import layout
from vault_memory.errors import (
    Busy,
    Changed,
    ForeignFile,
    HistoryError,
    LargeObject,
    NotFound,
    TooLarge,
    Unwritable,
    UsageError,
    in_command,
)

LOCK_TIMEOUT_S = 30.0
_STAND_BY_S = 2.0
"""How long a flush waits for another git that holds the locks; a commit in an editor holds them for minutes."""
_LEFT_BEHIND_S = 60.0
"""A lock that is older was left by a git that has ended, or waits with it for the person's editor."""
_POLL_S = 0.02
_STATUS_TIMEOUT_S = 120.0
_DEFAULT_OWNER = Author("vault owner", "owner@localhost")


_FAULTS = (HistoryError, ForeignFile, Unwritable, OSError)
"""What reading or writing git's own folder raises when that is damaged: no caller's mistake, and no reason to lose what
waits."""


def _in_words(fault: Exception) -> str:
    if isinstance(fault, OSError):
        return f"{fault.filename or 'a file of git'} cannot be used ({fault.strerror}): correct that"
    return str(fault)


class _Overtaken(Exception):
    """Another git holds a lock or has just moved the branch: try again soon."""


def _now() -> datetime:
    return datetime.now().astimezone()


def _git_time(time: datetime) -> str:
    """A time as git writes it: seconds and zone."""
    return f"{int(time.timestamp())} {time:%z}"


class History:
    """The git history of the vault at `root`, which may be a repository or a folder inside a larger one.

    `person_name` and `person_email` are used when git has no user name; `sign` signs our commits with the person's git
    set-up; `now` gives commits their time. Threads and processes may share one vault. Of the repository's own settings
    that start programs only what `allowed_settings` gives takes effect; the person's global ones do.
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
    ) -> None:
        self._repository = Repository(root)
        allow(self.root, allowed_settings)
        self._objects = Objects(self._repository.common_dir / "objects")
        self._intents = IntentLog(self.git_dir / WAITING_DIR / "intents", self.root, self._objects)
        self._rewind = Rewind(self._repository, self._objects, self._intents)
        self._default_person = Author(person_name or _DEFAULT_OWNER.name, person_email or _DEFAULT_OWNER.email)
        self._sign = sign
        self._now = now
        self._step = step

    @classmethod
    def create(cls, root: Path) -> History:
        """The history of `root`, which becomes a git repository (branch main) unless a larger one takes its files.

        A folder that the larger repository ignores gets one of its own.
        """
        repository = Repository(root)
        if not repository.exists() or (repository.prefix.parts and cls(root).ignored(PurePosixPath("USER.md"))):
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

    # Reading ------------------------------------------------------------------------------------------------------

    def state(self) -> HistoryState:
        """Where the repository stands and what waits. Reads git's index and a few small files.

        Of a damaged repository it says what can be said.
        """
        head, problem = self._head(), self._problem()
        damaged: tuple[str, ...] = ()
        waiting = 0
        with contextlib.suppress(HistoryError):  # `problem` names the place
            damaged, waiting = tuple(self._intents.damaged()), self._intents.count()
        if head is None:
            return HistoryState(None, None, problem, waiting, damaged, None, problem)
        paused = problem or self._repository.paused() or self._lost_base()
        held = self._repository.held_lock()
        if held and not waiting and not _is_old(held):
            held = None
        lock = f"{held} is held by another git; if none is running, delete it" if held else None
        return HistoryState(head.branch, head.commit, paused, waiting, damaged, lock, problem)

    def stopped(self) -> str | None:
        """What a person is in the middle of, in words: a rebase or the like, or an old commit; None for nothing.

        Files that are written then are in the way of what the person does next. Of a damaged repository nobody tells.
        """
        with contextlib.suppress(HistoryError):
            return self._repository.stopped()
        return None

    def _why_waiting(self) -> str:
        """What has to be done before the commits that wait are made, as far as a look shows it."""
        state = self.state()
        staged = ", ".join(map(str, self.staged(list(self._waiting()))))
        return state.paused or state.lock or (f"{staged} is staged: commit or unstage it" if staged else "see `status`")

    def _lost_base(self) -> str | None:
        """A file that waits, and of which what HEAD holds cannot be read, in words; or None."""
        tree = self._head_tree()
        for path in self._waiting():
            try:
                if blob := self._blob_at(tree, path):
                    self._is_large(blob)
            except HistoryError as error:
                return f"{path} in HEAD: {error}, or put .git back from a backup"
        return None

    def _damage(self) -> str | None:
        """What stands in the place of a file or folder in git's own, or of ours there, in words; or None."""
        ours = self.git_dir / WAITING_DIR
        head = self._head()
        found = self._repository.planted(head.ref or "" if head else "") + self._repository.objects_in_the_way()
        found += git.wrong_kinds([ours, ours / "intents"], [ours / "lock"])
        return git.in_its_place(*found[0]) if found else None

    def _problem(self) -> str | None:
        """Why git can judge no file here, in words with the next step, or None."""
        try:
            problem = self._damage() or self._repository.unusable() or GitIndexUpdate(self._repository).problem
            if problem:
                return problem
            tree = self._head_tree()
            for path in (PurePosixPath(layout.MEMORY_DIR, "x"), *self._waiting()):
                self._blob_at(tree, path)
        except _FAULTS as error:
            return _in_words(error)
        return None

    def _head(self) -> Head | None:
        """Where HEAD stands; None while that cannot be read: then `_problem` says why."""
        try:
            return self._repository.head()
        except HistoryError:
            return None

    def _head_tree(self) -> str:
        """The tree that HEAD holds, which can be read. Raises `HistoryError`, which says what a person does."""
        commit = self._repository.head().commit
        try:
            tree = self._objects.tree_of(commit)
            self._objects.tree(tree)
        except HistoryError as error:
            raise HistoryError(f"HEAD is at {commit}, and {error}, or put .git back from a backup") from error
        return tree

    def _known_tree(self) -> str | None:
        """The same; None while it cannot be read: what depends on it waits, and `_problem` says why."""
        try:
            return self._head_tree()
        except HistoryError:
            return None

    def person(self) -> Author:
        """Who the person is: the user that git knows, else the configured one, else "vault owner"."""
        settings = self._repository.settings()
        name = os.environ.get("GIT_AUTHOR_NAME") or settings.get("author.name") or settings.get("user.name")
        email = os.environ.get("GIT_AUTHOR_EMAIL") or settings.get("author.email") or settings.get("user.email")
        return Author(name or self._default_person.name, email or self._default_person.email)

    def blob(self, path: PurePosixPath, rev: str = "HEAD") -> bytes | None:
        """The bytes of a file at a commit, or None when the commit has no such file. Raises `LargeObject`."""
        blob = self._blob_at(self._objects.tree_of(self._resolve(rev)), path)
        try:
            return self._objects.read(blob, files.MAX_FILE_BYTES)[1] if blob else None
        except LargeObject as error:
            raise LargeObject(
                f"{path} has more than {files.MAX_FILE_BYTES:,} bytes in {rev}, so it is not read: use plain git for it"
            ) from error

    def is_kept(self, path: PurePosixPath, content: bytes) -> bool:
        """Whether HEAD, or a commit that waits, holds these bytes of a file."""
        waiting = self._waiting()
        if path in waiting:
            return is_content(content, waiting[path].new)
        tree = self._known_tree()
        blob = self._blob_at(tree, path) if tree else None
        return blob is not None and blob == Filters(self._repository, self._objects).blob(
            self._repository.prefix / path, content
        )

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
        until: datetime | None = None,
        trailers: Mapping[str, str | None] | None = None,
    ) -> list[LogEntry]:
        """The newest commits, newest first, that touch `paths` and carry all `trailers` (None: any value)."""
        if self._repository.head().commit is None:
            return []
        return CommitLog(self.root).entries(paths, limit=limit, since=since, until=until, trailers=trailers or {})

    def holds(self, trailers: Mapping[str, str], since: datetime) -> bool:
        """Whether a commit since then, or a draft that waits, carries all these trailers."""
        lines = {f"{key}: {value}" for key, value in trailers.items()}
        drafts = [draft for intent in self._intents.pending() for draft in intent.drafts]
        return any(lines <= set(draft.message.split("\n")) for draft in drafts) or bool(
            self.log(limit=1, since=since, trailers=trailers)
        )

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
        listed = self._status() if paths is None else list(paths)
        inspect(listed)
        waiting, filters = self._waiting(), Filters(self._repository, self._objects)
        tree = self._known_tree()
        read = files.read if paths is None else (cache or ReadCache()).read  # a cache would hold the whole vault
        edits: list[FileChange] = []
        room = files.MAX_FILE_BYTES
        for path in listed:
            if not self._is_committed_by_itself(path, programs):
                continue
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
        left_out = set(self._with_refused_filter([edit.path for edit in edits]))
        if is_named:
            new = [edit.path for edit in edits if edit.before is None]
            left_out |= self._ignored(new) if new and not self._problem() else set(new)
            left_out |= self.unseen([edit.path for edit in edits])
        return [edit for edit in edits if edit.path not in left_out]

    def left_alone(self) -> dict[PurePosixPath, int | None]:
        """Files that differ from HEAD and that no commit of ours takes, for the person to commit or move.

        With the bytes on disk (0: deleted) of one that is too large there or in HEAD; None for one that stands in the
        place of another (`core.layout.is_misplaced`).
        """
        tree = self._objects.tree_of(self._repository.head().commit)
        found: dict[PurePosixPath, int | None] = {}
        for path in self._status():
            if layout.is_misplaced(path) and os.path.lexists(self.root / path):
                found[path] = None
            if not self._is_committed_by_itself(path, layout.is_program(path)):
                continue
            try:
                size = (self.root / path).lstat().st_size
            except OSError:
                size = 0
            blob = self._blob_at(tree, path)
            if size > files.MAX_FILE_BYTES or (blob and self._is_large(blob)):
                found[path] = size
        return found

    def _is_large(self, blob: str) -> bool:
        try:
            self._objects.read(blob, files.MAX_FILE_BYTES)
        except LargeObject:
            return True
        return False

    def held_elsewhere(
        self, edits: Sequence[FileChange], known: Mapping[PurePosixPath, str]
    ) -> dict[PurePosixPath, str]:
        """Those of the edits that are as another local branch has the file, and its name: a checkout that was killed
        leaves them. `known` are those that were found to be so before.
        """
        from vault_memory.adapters.history.branches import OtherBranches  # only where a person has edited something

        prefix = self._repository.prefix
        branches = OtherBranches(self._repository, self._objects)
        given = {prefix / edit.path: edit for edit in edits}

        def content(path: PurePosixPath) -> bytes | None:
            return given[path].after if path in given else files.read(self._repository.top / path)

        found = branches.holding(
            given,
            content,
            changed=lambda: [prefix / path for path in self._status()],
            known={prefix / path: name for path, name in known.items()},
        )
        return {path.relative_to(prefix): name for path, name in found.items()}

    def refused_settings(self) -> tuple[Setting, ...]:
        """The repository's own settings that would start programs or lead elsewhere, and are not allowed to."""
        return settings_of(self.root).refused

    def filtered(self, paths: Sequence[PurePosixPath]) -> dict[PurePosixPath, str]:
        """Those of the paths whose bytes in git differ from those on disk, because of a filter; and its name."""
        prefix = self._repository.prefix
        drivers = Filters(self._repository, self._objects).drivers([prefix / path for path in paths])
        return {path.relative_to(prefix): name for path, name in drivers.items()}

    def as_in_git(self, path: PurePosixPath, content: bytes) -> bytes:
        """A file's bytes as git holds them: with its line ends, after its filter."""
        return Filters(self._repository, self._objects).cleaned(self._repository.prefix / path, content)

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
                    f"{path} goes through the filter {name} of this repository's own config, which is not run: "
                    f"{NEXT_STEP}"
                )
            found[path] = filters.blob(full[path], content) or ""
            if words := filters.failed.get(full[path]):
                raise HistoryError(
                    f"the git filter of {path} fails ({words}): install its program, or correct it in git's config"
                )
        return found

    def as_on_disk(self, path: PurePosixPath, content: Content) -> Content:
        """What a file that git holds is on the disk. Raises `HistoryError` when its filter may not be run."""
        return Filters(self._repository, self._objects).smudged(self._repository.prefix / path, content)

    def claimed(self, paths: Iterable[PurePosixPath]) -> tuple[list[PurePosixPath], list[Path]]:
        """Those of the files of which attributes claim that they are in another encoding than UTF-8, or hold `$Id$`;
        and the attributes files that claim such a thing."""
        prefix, filters = self._repository.prefix, Filters(self._repository, self._objects)
        claimed = filters.claimed([prefix / path for path in paths])
        return [path.relative_to(prefix) for path in claimed], filters.claimants()

    def waiting_for_filter(self) -> dict[PurePosixPath, str]:
        """Files that differ from HEAD and are not committed because their filter is refused; and the filter's name."""
        return self._with_refused_filter(self._status()) if settings_of(self.root).filters else {}

    def failing_filters(self) -> dict[PurePosixPath, str]:
        """Files that differ from HEAD and are not committed because their filter fails; and the filter's name."""
        if not self._repository.filters():
            return {}
        prefix, filters = self._repository.prefix, Filters(self._repository, self._objects)
        drivers = filters.drivers([prefix / path for path in self._status()])
        failing: dict[PurePosixPath, str] = {}
        for full, name in drivers.items():
            with contextlib.suppress(TooLarge, ForeignFile, PermissionError):  # it is withheld for that
                if filters.fails(full, files.read(self._repository.top / full)):
                    failing[full.relative_to(prefix)] = name
        return failing

    def taken(self, paths: Iterable[PurePosixPath]) -> set[PurePosixPath]:
        """Those of these files, gone from the disk, that git took away (another branch, a merge) or the person's own
        commit deleted: HEAD does not hold them, and did lately. None while git's folder cannot be read."""
        try:
            tree, waiting = self._head_tree(), self._waiting()
            return self._rewind.held_before(p for p in paths if p not in waiting and not self._blob_at(tree, p))
        except _FAULTS:
            return set()

    def _with_refused_filter(self, paths: Sequence[PurePosixPath]) -> dict[PurePosixPath, str]:
        prefix = self._repository.prefix
        refused = Filters(self._repository, self._objects).refused([prefix / path for path in paths])
        return {path.relative_to(prefix): name for path, name in refused.items()}

    def left_out(self, paths: Sequence[PurePosixPath]) -> set[PurePosixPath]:
        """Those of the paths whose file on disk does not count, as git's skip-worktree flag says."""
        if not paths:
            return set()
        prefix = self._repository.prefix
        flagged = GitIndexUpdate(self._repository).left_out([prefix / path for path in paths])
        return {path.relative_to(prefix) for path in flagged}

    def unseen(self, paths: Sequence[PurePosixPath]) -> set[PurePosixPath]:
        """Those of the paths whose changes on the disk git does not see: `left_out` ones, and with assume-unchanged."""
        if not paths:
            return set()
        prefix = self._repository.prefix
        flagged = GitIndexUpdate(self._repository).unseen([prefix / path for path in paths])
        return {path.relative_to(prefix) for path in flagged}

    def kept_back(self) -> set[PurePosixPath]:
        """The files whose commits wait because git leaves them out, and the person had edited them."""
        planner = Planner(self._repository, self._objects, self._sign)
        pending = self._intents.pending()
        return planner.on_left_out(pending, GitIndexUpdate(self._repository)) if pending else set()

    def staged(self, paths: Iterable[PurePosixPath]) -> set[PurePosixPath]:
        """The files that the person has staged: their commits wait, and should wait alone."""
        tree = self._known_tree()
        if tree is None:  # all commits wait
            return set()
        full = {self._repository.prefix / path: path for path in paths}
        held = GitIndexUpdate(self._repository).blobs(list(full))
        found = {path: self._objects.find(tree, path) for path in full}
        return {full[path] for path, entry in found.items() if held[path] != (entry.id if entry else None)}

    def ignored(self, path: PurePosixPath) -> bool:
        """Whether git ignores an untracked file of that name."""
        return bool(self._ignored([path]))

    def _ignored(self, paths: Iterable[PurePosixPath]) -> set[PurePosixPath]:
        """Those of the paths of untracked files that git ignores: one process looks at all."""
        # `check-ignore` refuses literal path specs; ./ keeps a leading colon from being read as one that is not.
        plain = {"GIT_LITERAL_PATHSPECS": "0"}
        names = b"".join(b"./" + os.fsencode(path) + b"\0" for path in paths)
        out = git.run(self.root, "check-ignore", "-z", "--stdin", stdin=names, extra=plain, ok=(0, 1))
        return {PurePosixPath(name) for name in os.fsdecode(out).split("\0") if name}

    def ignoring(self, paths: Sequence[PurePosixPath]) -> dict[PurePosixPath, str]:
        """Those of the names that git's patterns ignore, tracked or not, and the line that does: `.gitignore:3:*`."""
        if not paths or self._problem():
            return {}
        names = b"".join(b"./" + os.fsencode(path) + b"\0" for path in paths)
        command = ("check-ignore", "--no-index", "--verbose", "-z", "--stdin")
        out = git.run(self.root, *command, stdin=names, extra={"GIT_LITERAL_PATHSPECS": "0"}, ok=(0, 1))
        fields = os.fsdecode(out).split("\0")
        rows = zip(fields[0:-1:4], fields[1::4], fields[2::4], fields[3::4], strict=False)
        return {PurePosixPath(row[3]): ":".join(row[:3]) for row in rows if not row[2].startswith("!")}

    def _waiting(self) -> dict[PurePosixPath, FileChange]:
        return net_changes(draft for intent in self._intents.pending() for draft in intent.drafts)

    def _blob_at(self, tree: str, path: PurePosixPath) -> str | None:
        entry = self._objects.find(tree, self._repository.prefix / path)
        return entry.id if entry and entry.mode in FILE_MODES else None

    def _resolve(self, rev: str) -> str | None:
        if rev == "HEAD":
            return self._repository.head().commit
        try:
            out = git.run(self.root, "rev-parse", "--verify", "--quiet", "--end-of-options", rev + "^{commit}")
        except HistoryError as error:
            raise NotFound(f"{self.root} has no commit {rev!r}: `git log` lists the commits") from error
        return out.decode().strip()

    def _status(self) -> list[PurePosixPath]:
        """Files that differ from HEAD or are new; those in a merge conflict are left to the person.

        None while git can judge no file: `state` says why.
        """
        if self._problem():
            return []
        options = ("--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=all")
        command = ("status", *options, "--", ".")
        try:
            out = git.run(self.root, *command, timeout_s=_STATUS_TIMEOUT_S)
        except HistoryError as error:
            if not is_failed_filter(error):
                raise
            # Without filters git lists some files too many, and who asks compares them one by one.
            settings = [
                (name, key) for name in self._repository.filters() for key in ("clean=", "process=", "required=no")
            ]
            off = [option for name, key in settings for option in ("-c", f"filter.{name}.{key}")]
            out = git.run(self.root, *off, *command, timeout_s=_STATUS_TIMEOUT_S)
        rows = [
            row for row in os.fsdecode(out).split("\0") if row and "U" not in row[:2] and row[:2] not in ("AA", "DD")
        ]
        return [PurePosixPath(row[3:]).relative_to(self._repository.prefix) for row in rows]

    def _is_committed_by_itself(self, path: PurePosixPath, programs: bool) -> bool:
        full = self.root / path
        if layout.is_private(path) or layout.is_program(path) != programs:
            return False
        if not files.can_hold(self.root, path) or (layout.is_misplaced(path) and os.path.lexists(full)):
            return False
        if repository_around(self.root, path):  # a submodule's files are committed there
            return False
        is_file = full.is_file() and not full.is_symlink()
        return (is_file or not os.path.lexists(full)) and not files.is_temporary(path.name)

    def tracked(self) -> list[PurePosixPath]:
        """Every file of the vault that git tracks; none while git can judge no file."""
        if self._problem():
            return []
        listed = git.run(self.root, "ls-files", "-z", "--", ".", timeout_s=_STATUS_TIMEOUT_S)
        return [PurePosixPath(name) for name in os.fsdecode(listed).split("\0") if name]

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

        Files in `cache` are not read again to check that they are as the drafts say: the compare-and-swap, which reads
        them itself, has the last word. After `Changed` the cache is empty.
        """
        drafts = tuple(drafts)
        cache = cache or ReadCache()
        with self._lock():
            try:
                written = self._stage(drafts, cache)
            except Changed:
                cache.clear()
                raise
            return self._flush(written)

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
    def _lock(self) -> Iterator[None]:
        """Hold the vault's lock; first repair what a killed holder left."""
        if not self.git_dir.is_dir():
            self._repository.head()  # raises: a lock would make the folder
        with files.lock(self.git_dir / WAITING_DIR / "lock", LOCK_TIMEOUT_S, self.git_dir):
            private.refuse_links(self.git_dir / WAITING_DIR / "intents" / "x", self.git_dir)
            self._repository.make_refs()
            release_own_locks(self._repository)
            self._intents.sweep()
            self._intents.finish_killed()
            try:
                yield
            finally:
                self._objects.forget()

    # Staging ------------------------------------------------------------------------------------------------------

    def _stage(self, drafts: tuple[Draft, ...], cache: ReadCache) -> list[WrittenFile]:
        changes = net_changes(drafts)
        if not drafts:
            return []
        if self._intents.is_full():
            raise HistoryError(f"{self._intents.count()} changes wait for their commits: {self._why_waiting()}")
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
            with contextlib.suppress(*_FAULTS):  # HEAD or a log of git's is damaged: `_flush` tells of it
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
            intent = self._intents.add(drafts, _git_time(self._now()), head.commit if head else None, bases)
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
        for path in self.left_out([path for path in paths if bases.get(path)]):
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
        tree, waiting, filters = self._known_tree(), self._waiting(), Filters(self._repository, self._objects)
        bases: dict[PurePosixPath, str | None] = {}
        for path in paths:
            with contextlib.suppress(HistoryError):
                if path in waiting:
                    bases[path] = filters.blob(self._repository.prefix / path, waiting[path].new)
                elif tree is not None:
                    bases[path] = self._blob_at(tree, path)
        return bases

    # Committing ---------------------------------------------------------------------------------------------------

    def _flush(self, written: Sequence[WrittenFile] = (), edits: tuple[Draft, ...] = ()) -> Flushed:
        """Commit what waits, or these edits of the person's."""
        if not self._repository.is_rewriting():
            with contextlib.suppress(*_FAULTS):  # what waits is told of it below
                self._rewind.take_up_dropped()
        give_up = time.monotonic() + _STAND_BY_S
        while True:
            pending = [self._looked_at(edits)] if edits else self._intents.pending()
            if not pending:
                return Flushed()
            try:
                return self._try_flush(pending, written, self._stamps(edits))
            except CannotCommit as reason:
                return _all_wait(pending, str(reason))
            except DamagedIndex:
                return _all_wait(pending, self._problem() or "git's index keeps changing")
            except _Overtaken as reason:
                if time.monotonic() > give_up:
                    return _all_wait(pending, str(reason))
                time.sleep(_POLL_S)
            except _FAULTS as error:
                return _all_wait(pending, self._problem() or _in_words(error))

    def _looked_at(self, edits: tuple[Draft, ...]) -> Intent:
        """Edits as the planner takes drafts: now, on top of HEAD. Nothing is kept of them."""
        return Intent(Path(), edits, _git_time(self._now()), self._repository.head().commit, {})

    def _stamps(self, edits: tuple[Draft, ...]) -> dict[Path, FileStamp | None]:
        """The stamp of each edit's file. Raises `Changed` when it, or the file in HEAD, is not as the edit says."""
        tree, filters = self._objects.tree_of(self._repository.head().commit), Filters(self._repository, self._objects)
        stamps = {}
        for change in net_changes(edits).values():
            self._check(change)
            path = self.root / change.path
            stamps[path] = _stamp(path)
            content = self._read_again(path)
            held = self._blob_at(tree, change.path)
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
        plan = Planner(self._repository, self._objects, self._sign).plan(pending, git_index)
        if git_index.problem:  # met only now
            raise CannotCommit(git_index.problem)
        self._objects.write(*([draft_branch_move(self._repository, plan.commits[-1])] if plan.commits else []))
        self._step("objects written")
        if plan.changes or plan.commits:
            git_index.prepare(
                plan.changes,
                plan.folders,
                {self._repository.prefix / file.change.path: file for file in written},
                plan.left_out,
            )
            self._step("index prepared")
            self._publish(plan, git_index, stamps)
        for intent, left in () if stamps else plan.left:  # nothing is kept of an edit
            self._intents.keep(intent, left)
            self._step("intent struck off")
        waiting = [draft for _, left in plan.left for draft in left]
        reason = next(iter(plan.blocked.values())) if waiting else None
        paths, prefix = frozenset(net_changes(waiting)), self._repository.prefix
        kept_back = frozenset(path for path in paths if prefix / path in plan.kept_back)
        reasons = {path: plan.blocked[prefix / path] for path in paths if prefix / path in plan.blocked}
        return Flushed(tuple(plan.commits), len(waiting), reason, paths, kept_back, reasons)

    def _publish(self, plan: Plan, git_index: GitIndexUpdate, stamps: Mapping[Path, FileStamp | None]) -> None:
        """Move branch and git index to the new commits, under both of git's locks, taken last and held for a moment.

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
            if plan.commits:
                count = len(plan.commits)
                note = f"{OUR_MOVE}{count} commit{'s' if count > 1 else ''}"
                mover = signature(ASSISTANT, _git_time(self._now()))
                if not move_branch(self._repository, plan.head, plan.commits[-1], note, mover, self._step):
                    lock = f"{self._repository.common_dir}/{plan.head.ref}.lock"
                    raise _Overtaken(
                        f"the branch keeps moving, or {lock} is held by another git; if none is running, delete it"
                    )
                self._step("branch moved")
            git_index.publish()
            end_branch_move(self._repository)
            self._step("index published")
        finally:
            git_index.unlock()

    def _refuse_while_paused(self) -> None:
        if reason := self._repository.paused():
            raise CannotCommit(reason)

    def _refuse_while_rewriting(self) -> None:
        if self._repository.is_rewriting():
            raise _Overtaken("git is merging or resetting: commits wait until it is done")


def _all_wait(pending: Sequence[Intent], reason: str) -> Flushed:
    count = sum(len(intent.drafts) for intent in pending)
    return Flushed((), count, reason, frozenset(path for intent in pending for path in intent.net_changes()))


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
