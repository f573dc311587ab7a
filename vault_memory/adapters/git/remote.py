"""Another repository of the same vault: where its branch is, fetching from it, pushing to it. Never by force, but over
a commit that the caller names.

All of it is plain git, run by `process`: gitpython runs the same git, but cannot take GIT_DIR and GIT_INDEX_FILE of an
outer git out of its environment, and does not read every config that git reads (`includeIf.hasconfig`).
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from urllib.parse import unquote

from vault_memory.adapters import files
from vault_memory.adapters.git import process as git
from vault_memory.adapters.git.repository import Repository
from vault_memory.adapters.git.settings import NETWORK, NEXT_STEP, TimedOut, settings_of
from vault_memory.adapters.git.upkeep import give_to_owner
from vault_memory.adapters.scan import walk
from vault_memory.core import reading
from vault_memory.core.privacy import shown_address, without_credentials
from vault_memory.errors import HistoryError

TIMEOUT_S = 120.0
"""For one exchange with a remote."""
_NO_ENVIRONMENT: Mapping[str, str] = MappingProxyType({})
_FETCHED = "refs/vault-memory/fetched"
"""This ref names the last fetched commit, so `git gc` does not delete it."""
_ELSEWHERE = re.compile(r"(?:ssh|git|https?|ftps?|git\+ssh|ssh\+git)://|[^/:\\]{2,}:(?!:|//)", re.IGNORECASE)
"""How an address begins that is not on this machine: a protocol, or a host as in `me@host:notes.git`."""
_NO_HOST = re.compile(r"[^/:\\]:[^/\\]*@")
"""As in `u:password@host:notes.git`: for git the host is `u`, or a drive of Windows."""
_OF_A_PROCESS = re.compile(r"/+(?:proc|dev)/")
_REJECTED = re.compile(r"\[(remote )?rejected\]|non-fast-forward|fetch first|stale info|cannot lock ref", re.IGNORECASE)
_NAMES_OF_NO_FILE = re.compile(r": (?:hasDot(?:dot|git)?|fullPathname|emptyName):")
"""What git's check says of `.GIT`, `..` and the like, which plain git takes no more than we do."""
# Nobody is there to answer a question, and a silent connection must not hold up the daemon's jobs.
_SLOW_LIMITS = ("-c", "http.lowSpeedLimit=1000", "-c", "http.lowSpeedTime=30")
# A larger file is unpacked piece by piece: a few kilobytes can hold gigabytes.
_PIECEWISE = ("-c", "core.bigFileThreshold=16m")
# A tree or commit that git would not write ends a fetch. Git itself only warns of the first two.
_CHECKED = (
    *("-c", "fetch.fsckObjects=true", "-c", "fetch.fsck.zeroPaddedFilemode=error"),
    *("-c", "fetch.fsck.badFilemode=error"),
)
# One reference is moved and nobody else is asked, whatever the config of the repository says.
_NOTHING_MORE = ("-c", "push.pushOption=", "-c", "push.negotiate=false", "-c", "transfer.bundleURI=false")
_PUSH_ONLY = ("--quiet", "--no-follow-tags", "--no-signed", "--no-recurse-submodules")
_FETCH_ONLY = (
    *("--quiet", "--no-write-fetch-head", "--refmap=", "--no-tags", "--no-prune", "--no-prune-tags"),
    *("--no-auto-gc", "--no-write-commit-graph", "--no-recurse-submodules"),
)
_QUARANTINE = "tmp_objdir-incoming-"
"""As git names such a folder: `git gc` deletes one that a kill has left."""
_LOOSE = re.compile(r"[0-9a-f]{2}/[0-9a-f]{38}")
_PACKED = re.compile(r"pack/pack-[0-9a-f]+\.(?:pack|rev|idx)")
_WAYS = {"url", "pushurl", "uploadpack", "receivepack", "proxy", "proxyauthmethod", "vcs", "serveroption"}
"""Settings of a remote that say where it is and how it is reached; what they may be is decided in `settings`."""


def followed_remote(root: Path, branch: str) -> str | None:
    """The remote that a branch follows, else `origin`, else the only one there is, else None. `root` holds `.git`."""
    named = os.fsdecode(git.run(root, "config", "--get", f"branch.{branch}.remote", ok=(0, 1))).removesuffix("\n")
    names = reading.lines(os.fsdecode(git.run(root, "remote")))
    if named and named != ".":
        return named
    return "origin" if "origin" in names else names[0] if len(names) == 1 else None


def is_on_this_machine(address: str) -> bool:
    """Whether git would open an address as files: the repository's own hooks and settings then run programs here."""
    return not _ELSEWHERE.match(address)


class Remote:
    """The remote `name` (a configured one, or an address) of the repository at `root`.

    Every method raises `HistoryError` when it is out of reach.
    """

    def __init__(self, root: Path, name: str, *, timeout_s: float = TIMEOUT_S) -> None:
        self._root = root
        self._name = name
        self._shown = shown_address(name)
        self._timeout_s = timeout_s

    def addresses(self) -> list[str]:
        """Where the remote is fetched from and pushed to; a name that is no remote's is an address."""
        return self._configured() or [self._name]

    def _configured(self) -> list[str]:
        """The addresses of a remote in git's config; none for a name that git takes for an address: one that begins
        with a slash is, whatever the config says of it, and one to which the config gives no address.

        `git remote get-url` also knows git's old forms of a remote, `.git/remotes/NAME` and `.git/branches/NAME`, which
        are not used here (`_reached_as`).
        """
        if self._name.startswith("/") or "url" not in (what for what, _ in self._settings()):
            return []
        found = []
        for way in ((), ("--push",)):
            out = git.run(self._root, "remote", "get-url", "--all", *way, "--", self._name, ok=(0, 2, 128))
            found += reading.lines(os.fsdecode(out))
        return found

    def _settings(self) -> list[tuple[str, str]]:
        """What git's config says of the remote of this name: (`url`, an address), ..."""
        items = os.fsdecode(git.run(self._root, "config", "--list", "-z")).split("\0")
        pairs = (item.partition("\n")[::2] for item in items)
        return [
            (key.rpartition(".")[2], value) for key, value in pairs if key.rpartition(".")[0] == f"remote.{self._name}"
        ]

    def _refuse_unknown(self) -> None:
        """Raise `HistoryError` for a name that is nobody's, and for one to which only a file of git's old form gives an
        address."""
        if self._configured() or not {*"/:\\"}.isdisjoint(self._name):
            return
        common = Repository(self._root).common_dir
        for path in (common / "remotes" / self._name, common / "branches" / self._name):
            if os.path.lexists(path):
                raise HistoryError(
                    f"the remote {self._shown} stands in {path}, git's old form, which is not read and may have come "
                    f"with the folder: `git config remote.{self._shown}.url ADDRESS` says where it is"
                )
        if not self._settings() and not os.path.lexists(self._place(self._name)):
            raise HistoryError(
                f"there is no remote {self._shown}: `git remote add {self._shown} ADDRESS` makes one, `git remote` "
                "lists them"
            )

    def tip(self, branch: str) -> str | None:
        """The commit that the remote's branch is at; None when it has no such branch."""
        wanted = f"refs/heads/{branch}"
        rows = (row.partition(b"\t") for row in self._run("ls-remote", (), wanted).split(b"\n"))
        # Git lists every reference that ends so, `refs/heads/a/refs/heads/main` too.
        return next((commit.decode() for commit, _, name in rows if os.fsdecode(name) == wanted), None)

    def fetch(
        self, branch: str, commit: str, inspect: Callable[[Mapping[str, str]], None] = lambda environment: None
    ) -> None:
        """Fetch the remote's branch, which was at `commit`. Nothing of what git's check refuses is kept, nor of what
        `inspect` refuses by raising: it gets the environment in which git sees what came."""
        common = Repository(self._root).common_dir
        try:
            with _quarantine(common) as incoming:
                self._run("fetch", _FETCH_ONLY, f"refs/heads/{branch}", incoming.environment)
                if (
                    git.run(self._root, "cat-file", "-t", commit, extra=incoming.environment, ok=(0, 128))
                    != b"commit\n"
                ):
                    raise HistoryError(f"the remote {self._shown} was rewritten meanwhile: try again")
                inspect(incoming.environment)
                incoming.release()
            git.run(self._root, "update-ref", _FETCHED, commit)
        finally:
            give_to_owner(common)

    def push(self, branch: str, commit: str, *, over: str | None = None) -> bool:
        """Move the remote's branch on to a commit; False when others pushed first: merge their commits, then push.

        With `over` the branch is overwritten, by force, if it is at that commit still; else False."""
        lease = () if over is None else (f"--force-with-lease=refs/heads/{branch}:{over}",)
        try:
            self._run("push", (*_PUSH_ONLY, *lease), f"{commit}:refs/heads/{branch}")
        except HistoryError as error:
            if _REJECTED.search(str(error)) and "hook declined" not in str(error):
                return False
            if any(is_on_this_machine(address) and self._place(address).is_file() for address in self.addresses()):
                raise HistoryError(
                    f"the remote {self._shown} is a bundle, which takes no push: what it holds is merged here; "
                    "`git bundle create` makes one of what is here"
                ) from error
            raise
        return True

    def _run(
        self, command: str, options: Sequence[str], reference: str, environment: Mapping[str, str] = _NO_ENVIRONMENT
    ) -> bytes:
        settings = settings_of(self._root)
        if refused := settings.refused_for(NETWORK):
            raise HistoryError(
                f"the config of this repository sets {refused.in_words()}, which may start a program or "
                f"lead elsewhere, so no remote is asked: {NEXT_STEP}"
            )
        self._refuse_planted()
        self._refuse_unknown()
        for address in self.addresses():
            if _NO_HOST.match(address):
                raise HistoryError(
                    f"{self._shown} is {shown_address(address)}, which names no host as git reads it: write "
                    "ssh://NAME@HOST/PATH"
                )
            if self._is_inside(address):
                raise HistoryError(
                    f"the remote {self._shown} is {shown_address(address)}, a repository inside the vault or of a "
                    "process, whose hooks git would run: put it elsewhere"
                )
        ssh = settings.values.get("core.sshcommand") or "ssh"
        ssh = os.environ.get("GIT_SSH_COMMAND") or f"{ssh} -o BatchMode=yes -o ConnectTimeout=20"
        extra = {"GIT_SSH_COMMAND": ssh, **environment}
        stand_in = f"vault-memory-{secrets.token_hex(8)}"  # no config can know it
        before = (*_SLOW_LIMITS, *_PIECEWISE, *_CHECKED, *_NOTHING_MORE, *self._reached_as(stand_in))
        args = (*before, command, *options, "--", stand_in, reference)
        try:
            return git.run(self._root, *args, extra=extra, timeout_s=self._timeout_s, asks_remote=True)
        except TimedOut as error:
            raise HistoryError(
                f"the remote {self._shown} did not finish `git {command}` within {self._timeout_s:g} s: check that it "
                "answers, and try again"
            ) from error
        except HistoryError as error:
            said = without_credentials(str(error).replace(stand_in, self._shown), self.addresses())
            if _NAMES_OF_NO_FILE.search(said):
                said += "; this remote sends names that git refuses: they must be taken out of its history"
            elif "fsck error" in said or "unpack-objects" in said:
                said += "; git's own check refuses what this remote sends: if you trust it, take it with `git pull`"
            raise HistoryError(said) from error

    def _reached_as(self, stand_in: str) -> Iterator[str]:
        """Options that define a remote at the same addresses, reached in the same way, about which the config says
        nothing else.

        By its own name, a fetch or push also moves the references that `remote.*.fetch` names, and asks whom
        `remote.*.promisor` names. As an address, it would go through `url.*.insteadOf` once more.
        """
        yield from ("-c", f"remote.{stand_in}.followRemoteHEAD=never")
        known = [each for each in self._settings() if each[0] in _WAYS] if self._configured() else []
        for what, value in known or [("url", self._name)]:
            yield from ("-c", f"remote.{stand_in}.{what}={value}")

    def _refuse_planted(self) -> None:
        """Raise `HistoryError` for what makes a fetch or push write elsewhere, or go elsewhere, than its arguments say.

        A link among references and their logs; a reference that stands for another one, which would be moved.
        """
        repository = Repository(self._root)
        for folder in {repository.git_dir, repository.common_dir}:
            for path in (*_files(folder / "refs"), *_files(folder / "logs")):
                # refs/remotes/origin/HEAD, which a clone makes, does stand for another
                is_reference = path.name != "HEAD" and path.is_relative_to(folder / "refs")
                if path.is_symlink():
                    what = "is a link"
                elif is_reference and (files.read(path) or b"").startswith(b"ref:"):
                    what = "stands for another reference"
                else:
                    continue
                raise HistoryError(f"{path} {what}, and may have come with the folder: delete it, then sync again")

    def _is_inside(self, address: str) -> bool:
        """Whether an address is a folder in the vault: it may have come with the vault's own."""
        if not is_on_this_machine(address):
            return False
        path = self._place(address)
        # What a place such as /proc/self/cwd stands for is another one for git's process.
        is_inside = path.resolve().is_relative_to(self._root.resolve())
        return is_inside or bool(_OF_A_PROCESS.match(os.path.normpath(path)))

    def _place(self, address: str) -> Path:
        """The file or folder that an address on this machine stands for."""
        return self._root.resolve() / (unquote(address.partition("://")[2]) if "://" in address else address)


def _files(folder: Path) -> Iterator[Path]:
    """Every file and link below a folder, and the folder itself if it is one."""
    if folder.is_symlink():
        yield folder
        return
    for name, folders, names in walk(folder):
        yield from (Path(name, child) for child in names)
        yield from (path for child in folders if (path := Path(name, child)).is_symlink())


class _Quarantine:
    """A folder for objects that arrive, until git has checked all of them. `environment` has git write new objects to
    it, and read the repository's own, too.

    `git fetch` keeps what it got although its check fails in the end, and does not ask for it again: the next fetch
    would take it unchecked. Git guards a push in the same way (`git help receive-pack`, QUARANTINE ENVIRONMENT).
    """

    def __init__(self, folder: Path, objects: Path) -> None:
        self._folder = folder
        self._objects = objects

    @property
    def environment(self) -> Mapping[str, str]:
        quoted = str(self._objects).replace("\\", "\\\\").replace('"', '\\"')
        return {"GIT_OBJECT_DIRECTORY": str(self._folder), "GIT_ALTERNATE_OBJECT_DIRECTORIES": f'"{quoted}"'}

    def release(self) -> None:
        """Move the objects into the repository; the index of a pack, by which git finds it, comes last."""
        found = [path.relative_to(self._folder).as_posix() for path in self._folder.rglob("*") if path.is_file()]
        names = [name for name in found if _LOOSE.fullmatch(name) or _PACKED.fullmatch(name)]
        for name in sorted(names, key=lambda name: name.endswith(".idx")):
            (self._objects / name).parent.mkdir(exist_ok=True)
            os.replace(self._folder / name, self._objects / name)
        for folder in {(self._objects / name).parent for name in names}:
            files.sync_folder(folder)


@contextmanager
def _quarantine(common_dir: Path) -> Iterator[_Quarantine]:
    """A quarantine for the repository whose shared folder (`.git`) this is. What is not released is deleted."""
    objects = (common_dir / "objects").resolve()
    folder = Path(tempfile.mkdtemp(prefix=_QUARANTINE, dir=objects))
    try:
        yield _Quarantine(folder, objects)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
