"""`History`: what changes a vault's files and remembers it as git commits.

A change goes three steps, each of which a `kill -9` may end: the drafts are made durable (`intents`), the files are
written by compare-and-swap (`stage`), and the drafts become commits (`flush`). The last step may come much later, from
any process: it waits while the person rebases, merges or holds git's lock.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path, PurePosixPath

from vault_memory.adapters import files
from vault_memory.adapters.history import git, log
from vault_memory.adapters.history.index_step import IndexStep
from vault_memory.adapters.history.intents import Intent, IntentLog, ends
from vault_memory.adapters.history.model import ASSISTANT, Author, Draft, Entry, FileChange, Flushed, HistoryState
from vault_memory.adapters.history.objects import Objects, commit_body, object_id
from vault_memory.adapters.history.repository import Repository
from vault_memory.errors import HistoryError, UsageError, VaultMemoryError

LOCK_TIMEOUT_S = 30.0
_NOBODY = Author("vault owner", "owner@localhost")
_ATTEMPTS = 20


def _now() -> datetime:
    return datetime.now().astimezone()


class History:
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
        self._repository = Repository(root)
        self._objects = Objects(self._repository.common_dir / "objects")
        self._intents = IntentLog(self.git_dir / "vault-memory" / "intents")
        self._fallback = Author(person_name or _NOBODY.name, person_email or _NOBODY.email)
        self._sign = sign
        self._now = now
        self._step = step

    @classmethod
    def create(cls, root: Path, *, nested: bool = False) -> History:
        """The history of `root`, which is made a git repository (branch main) unless it lies in one.

        `nested` makes one of its own even inside another repository.
        """
        repository = Repository(root)
        if not repository.exists() or (nested and repository.top != repository.root):
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

    # Writing ------------------------------------------------------------------------------------------------------

    def commit(self, drafts: Iterable[Draft]) -> Flushed:
        """`stage`, then `flush`."""
        self.stage(drafts)
        return self.flush()

    def stage(self, drafts: Iterable[Draft]) -> None:
        """Make the drafts durable, then write their files; from here on nothing of them can be lost.

        Each file on disk must be as the first draft's `before` says, or already as the last one's `after`; else `Changed`
        is raised and nothing is written. `Unwritable` likewise leaves every file as it was.
        """
        drafts = tuple(drafts)
        changes = ends(drafts)
        for path in changes:
            self._check(path)
        if not drafts:
            return
        with self._lock():
            self._recover()
            for change in changes.values():
                found = files.read(self.root / change.path)
                if found not in (change.before, change.after):
                    raise files.changed(self.root / change.path, found)
            head = self._repository.head()
            tree = self._objects.tree_of(head.commit)
            bases = {path: self._blob_at(tree, path) for path in changes}
            now = self._now()
            intent = self._intents.add(drafts, f"{int(now.timestamp())} {now:%z}", head.commit, bases)
            self._step("intent written")
            self._write_files(intent)

    def flush(self) -> Flushed:
        """Turn the waiting drafts into commits, in order; those that cannot be now go on waiting, and `paused` says why."""
        with self._lock():
            self._recover()
            pending = self._intents.pending()
            if not pending:
                return Flushed()
            reason = self._repository.paused()
            if reason is None:
                for _ in range(_ATTEMPTS):
                    done = self._try_flush(pending)
                    if isinstance(done, Flushed):
                        return done
                    time.sleep(0.01)  # git, run by somebody else, was faster: look again
                    reason = done
                    if self._repository.paused():
                        reason = self._repository.paused()
                        break
            return Flushed((), self._intents.count(), reason)

    # Reading ------------------------------------------------------------------------------------------------------

    def state(self) -> HistoryState:
        """Where the repository stands and what waits. Reads a few small files."""
        head = self._repository.head()
        return HistoryState(head.branch, head.commit, self._repository.paused(), self._intents.count())

    def person(self) -> Author:
        """Who the person is: git's identity here, else the configured one, else "vault owner"."""
        import os

        settings = self._repository.settings()
        name = os.environ.get("GIT_AUTHOR_NAME") or settings.get("author.name") or settings.get("user.name")
        email = os.environ.get("GIT_AUTHOR_EMAIL") or settings.get("author.email") or settings.get("user.email")
        return Author(name or self._fallback.name, email or self._fallback.email)

    def blob(self, path: PurePosixPath, rev: str = "HEAD") -> bytes | None:
        """The bytes of a file at a commit, or None when the commit has no such file."""
        blob = self._blob_at(self._objects.tree_of(self._resolve(rev)), path)
        return self._objects.read(blob)[1] if blob else None

    def uncommitted(self, paths: Iterable[PurePosixPath] | None = None) -> list[FileChange]:
        """The person's edits that nobody has committed: from what HEAD holds to what is on disk.

        Files under the vault that git ignores are left out, and so is what waits to be committed here already. With
        `paths` only these files are looked at, without starting a process for a tracked one.
        """
        waiting = ends(draft for intent in self._intents.pending() for draft in intent.drafts)
        tree = self._objects.tree_of(self._repository.head().commit)
        found = []
        for path in self._status() if paths is None else paths:
            on_disk = files.read(self.root / path)
            if path in waiting:
                before = waiting[path].after
            else:
                blob = self._blob_at(tree, path)
                if on_disk is not None and blob == object_id("blob", on_disk):
                    continue
                before = self._objects.read(blob)[1] if blob else None
            if on_disk != before and not (before is None and paths is not None and self.ignored(path)):
                found.append(FileChange(path, before, on_disk))
        return found

    def ignored(self, path: PurePosixPath) -> bool:
        """Whether git ignores an untracked file of that name."""
        return bool(git.run(self.root, "check-ignore", "-z", "--stdin", stdin=str(path).encode() + b"\0", ok=(0, 1)))

    def log(
        self,
        paths: Sequence[PurePosixPath] | None = None,
        *,
        limit: int = 20,
        since: datetime | None = None,
        trailers: Mapping[str, str | None] | None = None,
    ) -> list[Entry]:
        """The newest commits, newest first: those that touch `paths`, and carry all `trailers` (None: any value)."""
        if self._repository.head().commit is None:
            return []
        return log.entries(self.root, paths, limit=limit, since=since, trailers=trailers or {})

    # ---------------------------------------------------------------------------------------------------------------

    def _lock(self) -> AbstractContextManager[None]:
        return files.lock(self.git_dir / "vault-memory" / "lock", LOCK_TIMEOUT_S)

    def _check(self, path: PurePosixPath) -> None:
        if path.is_absolute() or not path.parts or any(p in ("..", "") or p.lower() == ".git" for p in path.parts):
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

    def _blob_at(self, tree: str, path: PurePosixPath) -> str | None:
        entry = self._objects.find(tree, self._repository.prefix / path)
        return entry.id if entry else None

    def _resolve(self, rev: str) -> str | None:
        if rev == "HEAD":
            return self._repository.head().commit
        out = git.run(self.root, "rev-parse", "--verify", "--quiet", "--end-of-options", rev + "^{commit}")
        return out.decode().strip()

    def _status(self) -> list[PurePosixPath]:
        out = git.run(
            self.root,
            "status",
            "--porcelain=v1",
            "-z",
            "--untracked-files=all",
            "--no-renames",
            "--",
            ".",
            timeout_s=120,
        )
        rows = [row for row in out.decode("utf-8", "surrogateescape").split("\0") if row]
        paths = [PurePosixPath(row[3:]).relative_to(self._repository.prefix) for row in rows if "U" not in row[:2]]
        return [p for p in paths if (self.root / p).is_file() or not (self.root / p).exists()]

    def _write_files(self, intent: Intent) -> None:
        written: list[FileChange] = []
        try:
            for change in intent.ends().values():
                place = self.root / change.path
                if files.read(place) != change.after:
                    if change.after is None:
                        files.remove(place, change.before or b"")
                    else:
                        files.replace(place, change.after, change.before)
                    written.append(change)
                self._step("file written")
        except VaultMemoryError:
            for change in reversed(written):
                place = self.root / change.path
                if change.before is None:
                    files.remove(place, change.after or b"")
                else:
                    files.replace(place, change.before, change.after)
            self._intents.keep(intent, ())
            raise
        self._intents.mark_written(intent)
        self._step("intent marked")

    def _recover(self) -> None:
        for intent in self._intents.pending():
            if not intent.is_written:
                for change in intent.ends().values():
                    place = self.root / change.path
                    if files.read(place) == change.before:
                        if change.after is None:
                            files.remove(place, change.before or b"")
                        else:
                            files.replace(place, change.after, change.before)
                self._intents.mark_written(intent)

    def _try_flush(self, pending: list[Intent]) -> Flushed | str:
        """One attempt: the result, or why it must be tried again."""
        head = self._repository.head()
        tree, parent = self._objects.tree_of(head.commit), head.commit
        index = IndexStep(self._repository)
        top = self._repository.prefix
        entries: dict[PurePosixPath, tuple[str, str] | None] = {}
        commits = []
        for intent in pending:
            committer = f"{ASSISTANT.name} <{ASSISTANT.email}> {intent.when}"
            for draft in intent.drafts:
                for change in draft.changes:
                    blob = self._objects.add("blob", change.after) if change.after is not None else None
                    tree = self._objects.put(tree, top / change.path, blob)
                    entries[top / change.path] = ("100644", blob) if blob else None
                author = f"{draft.author.name} <{draft.author.email}> {intent.when}"
                body = commit_body(tree, [parent] if parent else [], author, committer, draft.message)
                parent = self._objects.add("commit", body)
                commits.append(parent)
        assert parent is not None
        self._objects.write()
        self._step("objects written")
        index.prepare(entries)
        self._step("index prepared")
        if not index.lock():
            return "index.lock is held by another git"
        try:
            if not index.is_current() or self._repository.paused():
                return "the index changed meanwhile"
            who = f"{ASSISTANT.name} <{ASSISTANT.email}> {pending[-1].when}"
            if not self._repository.move(head, parent, f"vault-memory: {len(commits)} commits", who):
                return "the branch moved meanwhile"
            self._step("branch moved")
            index.publish()
        finally:
            index.unlock()
        self._step("index published")
        for intent in pending:
            self._intents.keep(intent, ())
        return Flushed(tuple(commits))
