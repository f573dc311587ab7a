"""One git repository as the committer sees it: where it is, where HEAD stands, what forbids a commit, and its settings."""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from vault_memory.adapters import files
from vault_memory.adapters.git import process as git
from vault_memory.errors import HistoryError

_COMMIT = re.compile(r"[0-9a-f]{40}")
_IN_PROGRESS = {
    "rebase-merge": "a rebase is in progress",
    "rebase-apply": "a rebase or `git am` is in progress",
    "MERGE_HEAD": "a merge is in progress",
    "CHERRY_PICK_HEAD": "a cherry-pick is in progress",
    "REVERT_HEAD": "a revert is in progress",
    "sequencer": "a cherry-pick or revert is in progress",
    "BISECT_LOG": "a bisect is in progress",
}

_STIRRED_NS = 3 * 10**9
_BEGUN_NS = 10**9


@dataclass(frozen=True)
class Head:
    """Where HEAD stands: the full name of the branch's ref (None when detached), and its commit (None when unborn)."""

    ref: str | None
    commit: str | None

    @property
    def branch(self) -> str | None:
        """The branch's short name."""
        return self.ref.removeprefix("refs/heads/") if self.ref else None


class Repository:
    """The repository that holds a vault. The vault is its top folder or a folder below (`prefix`)."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.top = next((f for f in (self.root, *self.root.parents) if (f / ".git").exists()), self.root)
        self.prefix = PurePosixPath(self.root.relative_to(self.top).as_posix())
        self.git_dir = _real_git_dir(self.top / ".git")
        # A linked worktree has its own HEAD and index, and shares refs and objects with the others.
        shared = files.read(self.git_dir / "commondir")
        self.common_dir = (self.git_dir / os.fsdecode(shared.strip())).resolve() if shared else self.git_dir
        self._ref_draft = self.git_dir / "vault-memory" / "ref.new"
        self._settings: tuple[object, dict[str, str]] | None = None

    def exists(self) -> bool:
        """Whether there is a repository at all."""
        return (self.git_dir / "HEAD").is_file()

    def head(self) -> Head:
        """Where HEAD stands now."""
        raw = files.read(self.git_dir / "HEAD")
        if raw is None:
            raise HistoryError(f"{self.root} is in no git repository: `vault-memory init` makes one")
        text = os.fsdecode(raw).strip()
        if not text.startswith("ref:"):
            return Head(None, text)
        ref = text[4:].strip()
        return Head(ref, self.ref(ref))

    def ref(self, name: str) -> str | None:
        """The commit that a ref points to, loose or packed; None when there is no such ref."""
        loose = files.read(self.common_dir / name) if not (self.common_dir / name).is_dir() else None
        if loose is not None and _COMMIT.fullmatch(text := loose.decode("ascii", "replace").strip()):
            return text
        packed = files.read(self.common_dir / "packed-refs") or b""
        match = re.search(rb"^([0-9a-f]{40}) " + re.escape(os.fsencode(name)) + rb"$", packed, re.MULTILINE)
        return match[1].decode() if match else None

    def paused(self) -> str | None:
        """Why no commit may be made now, in words, or None. Clears up by itself when the person is done."""
        for name, reason in _IN_PROGRESS.items():
            if os.path.exists(f"{self.git_dir}/{name}"):
                return f"{reason}: commits wait until it is finished"
        if self.head().ref is None:
            return "HEAD is detached: commits wait until a branch is checked out"
        settings = self.settings()
        if settings.get("extensions.objectformat", "sha1") != "sha1" or "extensions.refstorage" in settings:
            return "this repository uses SHA-256 or reftable, which vault-memory cannot write"
        return self._distrust()

    def is_rewriting(self) -> bool:
        """Whether git is in the midst of a rebase, merge and the like, which takes files of the vault back and forth.

        ORIG_HEAD is the first that a merge writes; when a commit lands in its midst, it gives up and puts every file back as
        it was in ORIG_HEAD, the ones just committed too. One that has not stirred for some seconds has stopped for the
        person, and its files rest.
        """
        rests = {**dict.fromkeys(_IN_PROGRESS, _STIRRED_NS), "ORIG_HEAD": _BEGUN_NS}
        return any(self._is_young(name, rest) for name, rest in rests.items())

    def _is_young(self, name: str, age_ns: int) -> bool:
        stamp = _stamp(f"{self.git_dir}/{name}")
        return stamp is not None and abs(time.time_ns() - stamp[0]) < age_ns

    def _distrust(self) -> str | None:
        """Git's own refusal of a repository that belongs to another user, whose settings could run programs as us."""
        me = os.geteuid() if hasattr(os, "geteuid") else None
        if me is None or all(path.stat().st_uid == me for path in (self.top, self.git_dir)):
            return None
        try:
            git.run(self.top, "rev-parse", "--git-dir")
        except HistoryError:
            return (
                f"{self.top} belongs to another user: run vault-memory as that user, or trust it with "
                f"`git config --global --add safe.directory {self.top}`"
            )
        return None

    def settings(self) -> dict[str, str]:
        """Git's settings for this repository, global ones too; read again when a config file was written."""
        home = Path(os.environ.get("HOME", "~")).expanduser()
        xdg = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
        where = [self.common_dir / "config", home / ".gitconfig", xdg / "git" / "config"]
        if os.environ.get("GIT_CONFIG_GLOBAL"):
            where.append(Path(os.environ["GIT_CONFIG_GLOBAL"]))
        stamp = tuple(_stamp(path) for path in where)
        if self._settings is None or self._settings[0] != stamp:
            listed = git.run(self.top, "config", "--list", "-z").decode("utf-8", "surrogateescape")
            pairs = (item.partition("\n") for item in listed.split("\0") if item)
            self._settings = (stamp, {key: value for key, _, value in pairs})
        return self._settings[1]

    def draft_move(self, commit: str) -> Path:
        """Write down where the branch is to go; the caller fsyncs the file that is returned, and then calls `move`."""
        self._ref_draft.write_bytes(commit.encode() + b"\n")
        files.adopt(self._ref_draft)
        return self._ref_draft

    def move(self, head: Head, commit: str, message: str, who: str, step: Callable[[str], None]) -> bool:
        """Point HEAD's branch from `head.commit` to `commit`; False when it is not there any more, or HEAD on no branch.

        `draft_move` has been called, and the file it returned been fsynced. The ref's lock is git's own (`<ref>.lock`), so
        that no other git moves it meanwhile; it is made as a second name of that file, by which a lock that a killed
        process left is known to be ours.
        """
        if head.ref is None:
            return False
        path = self.common_dir / head.ref
        lock, draft = path.with_name(path.name + ".lock"), self._ref_draft
        path.parent.mkdir(parents=True, exist_ok=True)
        if not claim(draft, lock):
            return False
        step("branch locked")
        if self.head() != head:
            lock.unlink()
            return False
        os.replace(lock, path)  # and with that the lock is gone: one that is there now is somebody else's
        files.sync_folder(path.parent)
        draft.unlink()
        if self.settings().get("core.logallrefupdates", "true").lower() not in ("false", "no", "off", "0"):
            line = f"{head.commit or '0' * 40} {commit} {who}\t{message}\n".encode("utf-8", "replace")
            _log(self.git_dir / "logs" / "HEAD", line)
            _log(self.common_dir / "logs" / head.ref, line)
        return True


def claim(draft: Path, lock: Path) -> bool:
    """Give `draft` the second name `lock`, git's way of locking; False when somebody holds that lock."""
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


def is_ours(draft: Path, lock: Path) -> bool:
    """Whether a lock was made by `claim` from this draft; anybody else's is never touched."""
    with contextlib.suppress(FileNotFoundError):
        return os.path.samefile(draft, lock) or draft.read_bytes() == lock.read_bytes()
    return False


def _real_git_dir(dot_git: Path) -> Path:
    """`.git` itself, or where a `.git` file (a linked worktree, a submodule) points."""
    if not dot_git.is_file():
        return dot_git
    text = dot_git.read_bytes()
    if not text.startswith(b"gitdir:"):
        raise HistoryError(f"{dot_git} is neither a folder nor a pointer to one: mend it or run `git init`")
    return (dot_git.parent / os.fsdecode(text[7:].strip())).resolve()


def _stamp(path: Path | str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def _log(path: Path, line: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as log:
        log.write(line)
    files.adopt(path)
