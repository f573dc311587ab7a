"""What a vault's git history says, and what on disk is not in it yet. Reads only."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path, PurePosixPath

from vault_memory.adapters import files
from vault_memory.adapters.git import log
from vault_memory.adapters.git import process as git
from vault_memory.adapters.git.filters import Filters
from vault_memory.adapters.git.objects import FILES, Objects
from vault_memory.adapters.git.repository import Repository
from vault_memory.adapters.history.intents import IntentLog, ends
from vault_memory.adapters.history.model import Author, Entry, FileChange, HistoryState
from vault_memory.core import layout
from vault_memory.errors import HistoryError, NotFound

_NOBODY = Author("vault owner", "owner@localhost")


class HistoryReader:
    """The reading half of `History`."""

    def __init__(self, root: Path, *, person_name: str = "", person_email: str = "") -> None:
        self._repository = Repository(root)
        self._objects = Objects(self._repository.common_dir / "objects")
        self._intents = IntentLog(self.git_dir / "vault-memory" / "intents")
        self._fallback = Author(person_name or _NOBODY.name, person_email or _NOBODY.email)

    @property
    def root(self) -> Path:
        """The vault's root, links resolved."""
        return self._repository.root

    @property
    def git_dir(self) -> Path:
        """Git's own folder of this working tree."""
        return self._repository.git_dir

    def state(self) -> HistoryState:
        """Where the repository stands and what waits. Reads a few small files."""
        head = self._repository.head()
        return HistoryState(head.branch, head.commit, self._repository.paused(), self._intents.count())

    def person(self) -> Author:
        """Who the person is: git's identity here, else the configured one, else "vault owner"."""
        settings = self._repository.settings()
        name = os.environ.get("GIT_AUTHOR_NAME") or settings.get("author.name") or settings.get("user.name")
        email = os.environ.get("GIT_AUTHOR_EMAIL") or settings.get("author.email") or settings.get("user.email")
        return Author(name or self._fallback.name, email or self._fallback.email)

    def blob(self, path: PurePosixPath, rev: str = "HEAD") -> bytes | None:
        """The bytes of a file at a commit, or None when the commit has no such file."""
        blob = self._blob_at(self._objects.tree_of(self._resolve(rev)), path)
        return self._objects.read(blob)[1] if blob else None

    def commit_named(self, rev: str) -> str:
        """The commit that a name (a hash or part of one, a branch, `HEAD~2`) stands for. Raises `NotFound`."""
        found = self._resolve(rev)
        if found is None:
            raise NotFound(f"{self.root} has no commit yet")
        return found

    def uncommitted(self, paths: Iterable[PurePosixPath] | None = None) -> list[FileChange]:
        """The person's edits that nobody has committed: from what HEAD holds to what is on disk.

        Files under the vault that git ignores are left out, and so is what waits to be committed here already. With
        `paths` only these files are looked at, without starting a process for a tracked one.
        """
        waiting, filters = self._waiting(), Filters(self._repository, self._objects)
        tree = self._objects.tree_of(self._repository.head().commit)
        found = []
        for path in self._status() if paths is None else filter(self._is_note, paths):
            try:
                on_disk = files.read(self.root / path)
            except PermissionError:  # git could not read it either; the index tells of it
                continue
            if path in waiting:
                before = waiting[path].after
            else:
                blob = self._blob_at(tree, path)
                if blob == filters.blob(self._repository.prefix / path, on_disk):
                    continue
                before = self._objects.read(blob)[1] if blob else None
            if on_disk != before and not (before is None and paths is not None and self.ignored(path)):
                found.append(FileChange(path, before, on_disk))
        return found

    def ignored(self, path: PurePosixPath) -> bool:
        """Whether git ignores an untracked file of that name."""
        plain = {
            "GIT_LITERAL_PATHSPECS": "0"
        }  # `check-ignore` refuses them; ./ keeps a leading colon from meaning anything
        name = b"./" + os.fsencode(path) + b"\0"
        return bool(git.run(self.root, "check-ignore", "-z", "--stdin", stdin=name, extra=plain, ok=(0, 1)))

    def log(
        self,
        paths: Sequence[PurePosixPath] | None = None,
        *,
        limit: int = 20,
        since: datetime | None = None,
        until: datetime | None = None,
        trailers: Mapping[str, str | None] | None = None,
    ) -> list[Entry]:
        """The newest commits, newest first: those that touch `paths`, and carry all `trailers` (None: any value)."""
        if self._repository.head().commit is None:
            return []
        return log.entries(self.root, paths, limit=limit, since=since, until=until, trailers=trailers or {})

    def _waiting(self) -> dict[PurePosixPath, FileChange]:
        return ends(draft for intent in self._intents.pending() for draft in intent.drafts)

    def _blob_at(self, tree: str, path: PurePosixPath) -> str | None:
        entry = self._objects.find(tree, self._repository.prefix / path)
        return entry.id if entry and entry.mode in FILES else None

    def _resolve(self, rev: str) -> str | None:
        if rev == "HEAD":
            return self._repository.head().commit
        try:
            out = git.run(self.root, "rev-parse", "--verify", "--quiet", "--end-of-options", rev + "^{commit}")
        except HistoryError as error:
            raise NotFound(f"there is no commit {rev!r} in {self.root}: `git log` shows those there are") from error
        return out.decode().strip()

    def _status(self) -> list[PurePosixPath]:
        """Files that differ from HEAD or are new, but for those in conflict, which the person has yet to settle."""
        options = ("--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=all")
        out = git.run(self.root, "status", *options, "--", ".", timeout_s=120)
        rows = [
            row for row in os.fsdecode(out).split("\0") if row and "U" not in row[:2] and row[:2] not in ("AA", "DD")
        ]
        paths = [PurePosixPath(row[3:]).relative_to(self._repository.prefix) for row in rows]
        return [path for path in paths if self._is_note(path)]

    def _is_note(self, path: PurePosixPath) -> bool:
        if layout.STATE_DIR in path.parts or path.name.startswith(layout.INDEX_FILE):
            return False  # tokens and indexes, whatever `.gitignore` has come to say
        place = self.root / path
        is_file = place.is_file() and not place.is_symlink()
        return (is_file or not os.path.lexists(place)) and not files.is_temporary(path.name)
