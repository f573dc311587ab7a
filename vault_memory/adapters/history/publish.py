"""Publish new commits: move the branch and git's index together, each under git's own lock.

Both are prepared beside their files, under `vault-memory/` in git's folder (`ref.new`, `index.new`). Git's locks are
then held for a millisecond or two. A lock of ours is a second name of its draft: this shows which locks a killed
process of ours left. Any other lock is somebody else's and is never removed.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path, PurePosixPath

from vault_memory.adapters import files, git, private
from vault_memory.adapters.files import FileStamp
from vault_memory.adapters.git import (
    CONFLICT,
    MAX_INDEX_BYTES,
    DamagedIndex,
    GitIndexFile,
    Head,
    IndexEntry,
    Repository,
    Stored,
    UnknownIndex,
    index_checksum,
    object_id,
)
from vault_memory.adapters.history.intents import WrittenFile
from vault_memory.adapters.scan import walk
from vault_memory.errors import ForeignFile, HistoryError, TooLarge

FolderTrees = Mapping[PurePosixPath, tuple[str | None, str | None]]
"""Each folder above a change → the tree that HEAD held there, and the one that it will hold."""
_LARGE_BYTES = 1_000_000
"""Of a git index; that of some eight thousand files."""
_LISTED_AT_ONCE = 1000
"""Paths in one command; a system takes some two megabytes of words."""


@contextlib.contextmanager
def meanwhile(act: Callable[[], None], *, is_long: bool) -> Iterator[None]:
    """Do something in another thread while the block runs. What it raises comes out at the end of the block.

    It is done after the block if it is not long: a thread may wait some milliseconds for its turn.
    """
    if not is_long:
        yield
        act()
        return
    raised: list[BaseException] = []

    def run() -> None:
        try:
            act()
        except BaseException as error:  # for the thread that waits
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        thread.join()
    if raised:
        raise raised[0]


# The branch -----------------------------------------------------------------------------------------------------------


def draft_branch_move(repository: Repository, commit: str) -> Path:
    """Write down where the branch is to go; the caller fsyncs the returned file, then calls `move_branch`."""
    draft = _ref_draft(repository)
    draft.unlink(missing_ok=True)
    with draft.open("xb") as file:  # a new file: what stood there may be a link
        file.write(commit.encode() + b"\n")
        files.adopt(file.fileno(), draft)
    return draft


def move_branch(
    repository: Repository, head: Head, commit: str, note: str, signature: str, step: Callable[[str], None]
) -> bool:
    """Point HEAD's branch from `head.commit` to `commit`. False: HEAD is elsewhere now, or another git holds the lock.

    `draft_branch_move` has been called, and the file that it returned has been fsynced. It stays until the git index is
    published: `end_branch_move`. `note` and `signature` go into the reflogs.
    """
    if head.ref is None:
        return False
    path = repository.common_dir / head.ref
    logs = [repository.git_dir / "logs" / "HEAD", repository.common_dir / "logs" / head.ref]
    for log, above in zip(logs, (repository.git_dir, repository.common_dir), strict=True):
        private.refuse_links(log, above)  # before the branch moves; it is looked at again as the line is appended
    lock, draft = path.with_name(path.name + ".lock"), _ref_draft(repository)
    path.parent.mkdir(parents=True, exist_ok=True)
    if not _claim(draft, lock):
        return False
    step("branch locked")
    try:
        is_there_yet = repository.head() == head
    except HistoryError:  # the branch is damaged: what it held is not lost as long as nobody replaces it
        lock.unlink()
        raise
    if not is_there_yet:
        lock.unlink()
        return False
    os.replace(lock, path)  # this releases the lock; a lock seen from now on is somebody else's
    files.sync_folder(path.parent)
    if repository.settings().get("core.logallrefupdates", "true").lower() not in ("false", "no", "off", "0"):
        line = f"{head.commit or '0' * 40} {commit} {signature}\t{note}\n".encode("utf-8", "replace")
        for log, above in zip(logs, (repository.git_dir, repository.common_dir), strict=True):
            _append_reflog(log, above, line)
    return True


def end_branch_move(repository: Repository) -> None:
    """The branch was moved, and the git index holds what it holds."""
    _ref_draft(repository).unlink(missing_ok=True)


def _append_reflog(path: Path, above: Path, line: bytes) -> None:
    """Append to a reflog; no folder on the way from `above` and no file is reached through a link."""
    with private.folder_of(path, above, make=True, is_private=False) as folder:
        number = folder.open(path.name, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        try:
            files.write_all(number, line)
        finally:
            os.close(number)


# Git's index ----------------------------------------------------------------------------------------------------------


class GitIndexUpdate:
    """One repository's git index on its way from one commit to the next. Paths are from the repository's top.

    Every entry but ours stays as the person left it. `problem` says why nobody can read it, and the next step ("" when
    all is well): then no path may be judged by it, and nothing is published.
    """

    def __init__(self, repository: Repository) -> None:
        self._top = repository.top
        self._index = repository.git_dir / "index"
        self.lock_file = repository.git_dir / "index.lock"
        self._draft = _index_draft(repository)
        self._data: bytes | None = None
        self._parsed: GitIndexFile | None = None
        self.problem = ""
        try:
            self._data = files.read(self._index, MAX_INDEX_BYTES)
            self._parsed = GitIndexFile(self._data) if self._data is not None else None
        except DamagedIndex as damage:
            self._cannot_be_read(damage)
        except UnknownIndex:
            pass  # of a kind that git must change
        except (ForeignFile, TooLarge, OSError) as error:
            self._cannot_be_read(error)

    @property
    def is_large(self) -> bool:
        """Whether it takes more than a millisecond to be hashed and written."""
        return self._data is not None and len(self._data) > _LARGE_BYTES

    def _cannot_be_read(self, why: Exception) -> None:
        self.problem = (
            f"{self._index} cannot be read ({why}): delete it, then `git reset` makes it anew and leaves your files as "
            "they are"
        )

    def blobs(self, paths: list[PurePosixPath]) -> dict[PurePosixPath, str | None]:
        """The blob that the git index holds for each path: None for no entry, `CONFLICT` for one we may not judge."""
        if self._parsed is not None:
            try:
                return {path: self._parsed.blob(os.fsencode(str(path))) for path in paths}
            except DamagedIndex as damage:
                self._cannot_be_read(damage)
        if self.problem:
            return dict.fromkeys(paths, CONFLICT)
        blobs: dict[PurePosixPath, str | None] = dict.fromkeys(paths)
        for row in self._listed(paths, "--stage"):
            facts, _, name = row.partition(b"\t")
            _, blob, stage = facts.decode().split()
            if (path := PurePosixPath(os.fsdecode(name))) in blobs:  # of a folder git lists what is below it
                blobs[path] = blob if stage == "0" else CONFLICT
        return blobs

    def _listed(self, paths: list[PurePosixPath], form: str) -> Iterator[bytes]:
        """What `git ls-files` has for these paths, a row for each entry."""
        for at in range(0, len(paths), _LISTED_AT_ONCE):
            names = map(str, paths[at : at + _LISTED_AT_ONCE])
            listed = git.run(self._top, "--literal-pathspecs", "ls-files", form, "-z", "--", *names)
            yield from filter(None, listed.split(b"\0"))

    def left_out(self, paths: list[PurePosixPath]) -> set[PurePosixPath]:
        """Those of the paths whose file on disk does not count (git's skip-worktree); all while nobody can tell."""
        if self._parsed is not None:
            try:
                return {path for path in paths if self._parsed.is_left_out(os.fsencode(str(path)))}
            except DamagedIndex as damage:
                self._cannot_be_read(damage)
        if self.problem:
            return set(paths)
        return {PurePosixPath(os.fsdecode(row[2:])) for row in self._listed(paths, "-t") if row.startswith(b"S ")}

    def unseen(self, paths: list[PurePosixPath]) -> set[PurePosixPath]:
        """Those of the paths whose changes on the disk git does not see: `left_out` ones, and with assume-unchanged."""
        left_out = self.left_out(paths)  # all, if the index cannot be read
        if self.problem:
            return left_out
        if self._parsed is None:
            rows = self._listed([path for path in paths if path not in left_out], "-v")
            return left_out | {PurePosixPath(os.fsdecode(row[2:])) for row in rows if row[:1].islower()}
        return left_out | {path for path in paths if self._parsed.is_assumed_unchanged(os.fsencode(str(path)))}

    def prepare(
        self,
        changes: Mapping[PurePosixPath, tuple[str, str] | None],
        folders: FolderTrees,
        written: Mapping[PurePosixPath, WrittenFile],
        left_out: Collection[PurePosixPath] = (),
    ) -> None:
        """Write the new git index beside the old one: (mode, blob) for each path, None to take it out.

        `written` are files as we have just written them, which need not be read again. `left_out` are paths whose file
        on disk does not count. Raises `DamagedIndex`.
        """
        if self._parsed is None:
            self._prepare_by_git(changes, left_out)
            return
        times = self._index.stat()
        entries = {
            os.fsencode(str(path)): IndexEntry(
                int(entry[0], 8),
                entry[1],
                self._stamp(path, entry[1], written.get(path), times.st_mtime_ns),
                path in left_out,
            )
            if entry
            else None
            for path, entry in changes.items()
        }
        trees = {b"" if str(folder) == "." else os.fsencode(str(folder)): both for folder, both in folders.items()}
        self._draft.unlink(missing_ok=True)
        with self._draft.open("xb", buffering=0) as draft:
            pieces = self._parsed.patched(entries, trees)
            ending: list[bytes] = []
            with meanwhile(lambda: ending.append(index_checksum(pieces)), is_long=self.is_large):
                for piece in pieces:
                    files.write_all(draft.fileno(), piece)
            files.write_all(draft.fileno(), ending[0])
            files.adopt(draft.fileno(), self._draft)
        # Git looks again at an entry whose file is as young as the git index, since it may have changed within one tick
        # of the clock. With a new time of the git index it would not look again at entries that we did not read.
        shutil.copystat(self._index, self._draft)
        os.utime(self._draft, ns=(times.st_atime_ns, times.st_mtime_ns))

    def _prepare_by_git(
        self, changes: Mapping[PurePosixPath, tuple[str, str] | None], left_out: Collection[PurePosixPath]
    ) -> None:
        self._draft.unlink(missing_ok=True)
        if self._data is not None:
            with self._draft.open("xb") as draft:
                draft.write(self._data)
        rows = [
            (f"{entry[0]} {entry[1]}\t" if entry else f"0 {'0' * 40}\t").encode() + os.fsencode(str(path)) + b"\0"
            for path, entry in changes.items()
        ]
        extra = {"GIT_INDEX_FILE": str(self._draft)}
        kept = {os.fsencode(path) for path, entry in changes.items() if entry}
        flags = {"--skip-worktree": {os.fsencode(path) for path in left_out}, "--assume-unchanged": set[bytes]()}
        for row in filter(None, git.run(self._top, "ls-files", "-v", "-z", extra=extra).split(b"\0")):
            if row[:1] in b"Ss":
                flags["--skip-worktree"] |= {row[2:]} & kept
            if row[:1].islower():
                flags["--assume-unchanged"] |= {row[2:]} & kept
        git.run(self._top, "update-index", "-z", "--index-info", stdin=b"".join(rows), extra=extra, timeout_s=120)
        for flag, paths in flags.items():
            if paths:
                names = b"".join(path + b"\0" for path in paths)
                git.run(self._top, "update-index", "-z", flag, "--stdin", stdin=names, extra=extra)

    def lock(self) -> bool:
        """Take git's `index.lock`; False when somebody else holds it."""
        return _claim(self._draft, self.lock_file)

    def is_current(self) -> bool:
        """Whether the git index is still the one that was read."""
        try:
            with files.opened(self._index) as index:
                if self._data is None or os.fstat(index.fileno()).st_size != len(self._data):
                    return False
                index.seek(-20, os.SEEK_END)
                # The checksum stands for all of it. With `index.skipHash` it is zeros: then everything is compared.
                tail = index.read()
                return tail == self._data[-20:] and (
                    any(tail) or files.read(self._index, MAX_INDEX_BYTES) == self._data
                )
        except FileNotFoundError:
            return self._data is None

    def publish(self) -> None:
        """Make the prepared git index the current one, which gives the lock back."""
        os.replace(self.lock_file, self._index)
        self._draft.unlink(missing_ok=True)

    def unlock(self) -> None:
        """Give the lock back, if it is ours, and leave the git index as it is."""
        _release_index(self._draft, self.lock_file)

    def _stamp(self, path: PurePosixPath, blob: str, written: WrittenFile | None, index_mtime_ns: int) -> FileStamp:
        """The stamp of a file that holds what was committed; an empty one for any other, so that git looks itself.

        A file that is still the one we wrote is not read again if it is as young as the git index or younger. Git then
        reads it itself, and finds a save within the same tick of the clock that left size and times as they were.
        """
        file = Path(self._top, path)
        try:
            status = file.lstat()
            if not stat.S_ISREG(status.st_mode):
                return FileStamp()
            stamp = FileStamp.of(status)
            is_ours = written is not None and written.stamp == stamp._replace(ctime_ns=written.stamp.ctime_ns)
            if written and is_ours and index_mtime_ns <= stamp.mtime_ns:
                content = written.change.new
                name = content.id if isinstance(content, Stored) else object_id("blob", content or b"")
                return stamp if name == blob else FileStamp()
            if object_id("blob", files.read(file) or b"") != blob or file.lstat().st_mtime_ns != stamp.mtime_ns:
                return FileStamp()
        except (OSError, TooLarge, ForeignFile):
            return FileStamp()
        return stamp


# The locks ------------------------------------------------------------------------------------------------------------


def release_own_locks(repository: Repository) -> None:
    """Remove git locks that a killed flush of ours left. The caller holds the vault's lock: no flush is running.

    If it had moved the branch, the git index that it had prepared becomes the current one: else every file of its
    commits would look as if the person had staged what was before.
    """
    index_draft, ref_draft = _index_draft(repository), _ref_draft(repository)
    if index_draft.exists():
        index, lock = repository.git_dir / "index", repository.git_dir / "index.lock"
        is_ours = _is_ours(index_draft, lock)
        if _has_moved(repository, ref_draft) and (is_ours or _is_unchanged(index, index_draft)):
            os.replace(lock if is_ours else index_draft, index)
        _release_index(index_draft, lock)
    if ref_draft.exists():
        for folder, _, names in walk(repository.common_dir / "refs"):
            for lock in (Path(folder, name) for name in names if name.endswith(".lock")):
                if _is_ours(ref_draft, lock):
                    lock.unlink()
        ref_draft.unlink()


def _has_moved(repository: Repository, draft: Path) -> bool:
    """Whether HEAD is where a draft wanted to bring it."""
    with contextlib.suppress(HistoryError):
        target = (files.read(draft) or b"").decode("ascii", "replace").strip()
        return bool(target) and repository.head().commit == target
    return False


def _is_unchanged(index: Path, draft: Path) -> bool:
    """Whether nobody has written git's index since the draft was made of it, which then has its time."""
    try:
        return index.lstat().st_mtime_ns == draft.lstat().st_mtime_ns
    except FileNotFoundError:
        return not index.exists()


def _release_index(draft: Path, lock: Path) -> None:
    if _is_ours(draft, lock):
        lock.unlink(missing_ok=True)
    draft.unlink(missing_ok=True)


def _ref_draft(repository: Repository) -> Path:
    return repository.git_dir / "vault-memory" / "ref.new"


def _index_draft(repository: Repository) -> Path:
    return repository.git_dir / "vault-memory" / "index.new"


def _claim(draft: Path, lock: Path) -> bool:
    """Give `draft` the second name `lock`, which is how git locks; False when somebody holds that lock."""
    try:
        os.link(draft, lock)
    except FileExistsError:
        return False
    except OSError:  # a file system without hard links
        try:
            with lock.open("xb") as copy:
                copy.write(draft.read_bytes())
        except FileExistsError:
            return False
    return True


def _is_ours(draft: Path, lock: Path) -> bool:
    """Whether a lock was made by `_claim` from this draft."""
    with contextlib.suppress(FileNotFoundError, ForeignFile):
        return os.path.samefile(draft, lock) or files.read(draft, None) == files.read(lock, None)
    return False
