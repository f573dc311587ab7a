"""One git repository: where it is, where HEAD stands, what forbids a commit, its settings, the blob that its attributes
make of a file (`Filters`), and which private files it tracks: they came with a clone or a pull, so another person may
have written them."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import stat
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal, NamedTuple

from vault_memory.adapters import files, private
from vault_memory.adapters.git import process as git
from vault_memory.adapters.git.index_file import MAX_INDEX_BYTES, DamagedIndex, GitIndexFile, UnknownIndex
from vault_memory.adapters.git.objects import Content, Objects, Stored, bytes_of, object_id
from vault_memory.adapters.git.settings import ALTERNATES, Place, locate, settings_at
from vault_memory.adapters.scan import walk
from vault_memory.core import layout
from vault_memory.errors import ForeignFile, HistoryError, TooLarge, in_command

_BRANCH = re.compile(
    r"refs/heads(?:/(?!\.)(?:(?!\.\.|@\{)[^\x00-\x20\x7f/~^:?*\[\\])+(?<!\.)(?<!\.lock))+"  # as `git check-ref-format`
)
_COMMIT = re.compile(rb"(?!0{40})([0-9a-fA-F]{40})(?:\s|\Z)")  # git reads no further than the first blank
_LAST_MOVE = re.compile(rb"^[0-9a-f]{40} (?!0{40})([0-9a-f]{40}) [^\n]*\Z", re.MULTILINE)
_PACKED = re.compile(rb"(?:(?:#[^\n]*|\^[0-9a-f]{40}|[0-9a-f]{40} [^\0\n]+)\n)*")
_PACKED_BRANCH = re.compile(rb"^([0-9a-f]{40}) (refs/heads/[^\0\n]+)$", re.MULTILINE)
_FETCHED = re.compile(rb"^([0-9a-f]{40})\t\t", re.MULTILINE)
"""What `git fetch` has brought in to be merged; other lines of FETCH_HEAD say `not-for-merge` between the two tabs."""
_MAX_REF_BYTES = 1000
"""Of a branch's name; more is no file's."""
_IN_PROGRESS = {
    "rebase-merge": "a rebase is in progress",
    "rebase-apply": "a rebase or `git am` is in progress",
    "MERGE_HEAD": "a merge is in progress",
    "CHERRY_PICK_HEAD": "a cherry-pick is in progress",
    "REVERT_HEAD": "a revert is in progress",
    "sequencer": "a cherry-pick or revert is in progress",
    "BISECT_LOG": "a bisect is in progress",
}

_RUN_BY_REBASE = re.compile(rb"^[ \t]*((?:exec|x)[ \t][^\n]*)", re.MULTILINE)
_MAX_SHOWN_CHARS = 200
_OF_OBJECTS = re.compile(r"[0-9a-f]{2}")
_STOPPED_NS = 3 * 10**9
"""If the files of a rebase or merge are older than this, git has stopped for the person."""
_SETTLED_NS = 2 * 10**8
_BEGUN_NS = 10**9
"""ORIG_HEAD this young means that a merge or reset has just begun."""
_FILTERED = re.compile(rb"^(?![ \t\r]*#).*\sfilter=", re.MULTILINE)
CLAIMS = ("working-tree-encoding", "ident")
"""The attributes by which git makes other text of a text in UTF-8: as if it were in another encoding, and `$Id$`."""
_CLAIMED = re.compile(rb"^(?![ \t\r]*#).*\s-?(?:working-tree-encoding|ident)\b", re.MULTILINE)
_LINE_END_ATTRIBUTES = ("text", "eol", "crlf")
BYTES_ATTRIBUTES = ("filter", *_LINE_END_ATTRIBUTES, *CLAIMS)
"""The attributes that decide which bytes git holds of a file."""
_FAILED = re.compile(r"clean filter '.+' failed")
"""How git names a filter without which it makes no blob, and whose program ended with an error or is not there."""
_LINE_ENDS = re.compile(rb"^(?![ \t\r]*#).*\s(?:text\b|eol=|crlf\b)", re.MULTILINE)
_MAY_BE_SPLIT = re.compile(rb"link\0[\0-\x10]")
"""The header of the extension that names a shared index; a file whose name ends so looks alike."""

_NAMED_FILES = ("core.attributesfile", "core.excludesfile")


def _has_no_home(path: str) -> bool:
    return path.startswith("~") and _expanded(path) == path


def _is_no_level(value: str) -> bool:
    return re.fullmatch(r"-1|0*[0-9]", value) is None


_WRONG: dict[str, Callable[[str], bool]] = {
    **dict.fromkeys((*_NAMED_FILES, "core.hookspath", "mailmap.file"), _has_no_home),
    **dict.fromkeys(("core.compression", "core.loosecompression", "pack.compression"), _is_no_level),
    "core.bare": lambda value: value.lower() in ("true", "yes", "on", "1"),
}
"""Settings with whose values git fails, and does not say which one it was: key → whether a value is such a one."""

_tracked: dict[Path, tuple[object, frozenset[PurePosixPath]]] = {}
"""Vault → the stamp of its git index, and what that index tracks of its state and indexes."""
_indexes: dict[Path, Path] = {}
"""Vault → its git index, once there is one."""


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
        self.place = locate(self.root) or Place(self.root, self.root / ".git", self.root / ".git")
        self.top, self.git_dir, self.common_dir = self.place
        self.prefix = PurePosixPath(self.root.relative_to(self.top).as_posix())

    def exists(self) -> bool:
        """Whether there is a repository at all."""
        return (self.git_dir / "HEAD").is_file()

    def head(self) -> Head:
        """Where HEAD stands now. Raises `HistoryError` where that, or the branch, cannot be told."""
        path = self.git_dir / "HEAD"
        raw = self._read(path)
        if raw is None and os.path.isdir(self.git_dir):
            raise HistoryError(f"{path} is missing: write `ref: refs/heads/main` there, or your branch")
        if raw is None and os.path.lexists(self.git_dir):
            raise HistoryError(f"{self.git_dir} is no folder: put the vault's own .git there")
        if raw is None:
            raise HistoryError(
                f"{self.root} is not in a git repository: put .git back from a backup, or `vault-memory init` makes one"
            )
        text = raw.strip()  # of bytes: git takes off what is a blank in ASCII, and nothing else
        if not text.startswith(b"ref:"):
            if not _COMMIT.fullmatch(text):
                raise HistoryError(
                    f"{path} names no branch and no commit: write `ref: refs/heads/main`, or your branch"
                )
            return Head(None, os.fsdecode(text).lower())
        ref = os.fsdecode(text[4:].strip())
        if not _BRANCH.fullmatch(ref) or len(ref) > _MAX_REF_BYTES:  # a name with `..` would lead us to any file
            shown = repr(ref[:_MAX_SHOWN_CHARS])
            raise HistoryError(f"{path} names {shown}, which is no branch: write `ref: refs/heads/main`")
        commit = self.ref(ref)
        is_folder = commit is None and (self.common_dir / ref).is_dir()  # `planted` names that
        if commit is None and not is_folder and (was := self._last_in_log(ref)):
            raise HistoryError(
                f"{self.common_dir / ref} is gone, and its log says that it was at {was}: "
                f"`git update-ref {in_command(ref)} {was}` puts it back; if the branch shall begin anew, "
                f"delete {self.common_dir / 'logs' / ref}"
            )
        return Head(ref, commit)

    def ref(self, name: str) -> str | None:
        """The commit that a ref points to, loose or packed; None when there is no such ref.

        Raises `HistoryError` for a ref that is there and holds no commit's id, as after a power cut: who took it for a
        new one would drop its history.
        """
        path, packed_refs = self.common_dir / name, self.common_dir / "packed-refs"
        loose = None if path.is_dir() else self._read(path)
        if loose is not None:
            if found := _COMMIT.match(loose):
                return found[1].decode().lower()
            raise HistoryError(
                f"{path} holds no commit's id: write the id of the last commit there, the second one in the last line "
                f"of {self.common_dir / 'logs' / name}, or put .git back from a backup"
            )
        packed = self._read(packed_refs) or b""
        match = re.search(rb"^([0-9a-f]{40}) " + re.escape(os.fsencode(name)) + rb"$", packed, re.MULTILINE)
        if match is None and not _PACKED.fullmatch(packed):
            raise HistoryError(f"{packed_refs} is damaged, and {name} may be in it: put it back from a backup")
        return match[1].decode() if match else None

    def branches(self) -> dict[str, str]:
        """Each local branch (`refs/heads/main`), loose or packed, and its commit; what git fetched last (`FETCH_HEAD`),
        too. One that holds no commit's id is left out: git checks it out no more than we do."""
        packed = self._read(self.common_dir / "packed-refs") or b""
        found = {os.fsdecode(name): commit.decode() for commit, name in _PACKED_BRANCH.findall(packed)}
        for folder, _, names in walk(self.common_dir / "refs" / "heads"):
            for ref in (Path(folder, name).relative_to(self.common_dir).as_posix() for name in names):
                if _BRANCH.fullmatch(ref):
                    with contextlib.suppress(HistoryError):
                        if commit := self.ref(ref):
                            found[ref] = commit
        if fetched := _FETCHED.search(self._read(self.git_dir / "FETCH_HEAD") or b""):
            found["FETCH_HEAD"] = fetched[1].decode()
        return found

    def _last_in_log(self, name: str) -> str | None:
        """The commit at which a ref was last, as its log has it; git deletes the log of a branch that it deletes."""
        found = _LAST_MOVE.search((self._read(self.common_dir / "logs" / name) or b"").rstrip(b"\n"))
        return found[1].decode() if found else None

    def make_refs(self) -> None:
        """Make the folder `refs` where nothing else is missing, because all branches are packed: a tool that copies no
        empty folders has dropped it, and git takes what is left for no repository."""
        refs, packed = self.common_dir / "refs", self.common_dir / "packed-refs"
        if not os.path.lexists(refs) and packed.is_file() and self.exists() and (self.common_dir / "objects").is_dir():
            private.make_folder(refs)

    def _read(self, path: Path) -> bytes | None:
        """A small file of git's own, or None. Raises `HistoryError` for one that cannot be read."""
        try:
            return files.read(path)
        except OSError as error:
            raise HistoryError(f"{path} cannot be read ({error.strerror}): correct that") from error
        except (ForeignFile, TooLarge) as error:
            raise HistoryError(str(error)) from error

    def paused(self) -> str | None:
        """Why no commit may be made now, in words, or None. The cause goes when the person is done."""
        if stopped := self.stopped():
            return stopped
        if planted := self.planted(self.head().ref or ""):
            return in_its_place(*planted[0])
        if others := next((each for each in settings_at(self.place).refused if each.key == ALTERNATES), None):
            return (
                f"{self.common_dir / ALTERNATES} leads git to {others.value!r}, the objects of another repository: say "
                "yes to it with `vault-memory trust`, or delete it"
            )
        if unusable := self.unusable():
            return unusable
        if elsewhere := self.other_worktree():
            return f"core.worktree of this repository leads to {elsewhere}: `git config --unset core.worktree`"
        return self._foreign_owner()

    def stopped(self) -> str | None:
        """What a person is in the middle of, in words, or None."""
        for name, reason in _IN_PROGRESS.items():
            if os.path.exists(f"{self.git_dir}/{name}"):
                return f"{reason}: commits wait until it is finished"
        return "HEAD is detached: commits wait until a branch is checked out" if self.head().ref is None else None

    def next_programs(self) -> list[str]:
        """The lines of a stopped rebase that name programs, which `git rebase --continue` would run."""
        todo = self._read(self.git_dir / "rebase-merge" / "git-rebase-todo") or b""
        return [line.decode("utf-8", "backslashreplace") for line in _RUN_BY_REBASE.findall(todo)]

    def unusable(self) -> str | None:
        """The setting with which git, or this program, can judge no file here, or that names attributes that nobody
        should read, in words with the next step; or None. Most gits fail with such a setting, and do not name it."""
        for name in ("objects", "refs"):
            if not os.path.isdir(folder := f"{self.common_dir}/{name}"):
                step = f"`git init` in {self.top} makes it anew and leaves everything else as it is"
                if name == "objects" and self.head().commit:
                    step = "put .git back from a backup"
                return f"{folder} is missing, and git takes what is left for no repository: {step}"
        if problem := settings_at(self.place).problem:
            return problem
        settings = self.settings()
        if settings.get("extensions.objectformat", "sha1") != "sha1" or "extensions.refstorage" in settings:
            return "this repository uses SHA-256 or reftable, which vault-memory can neither read nor write"
        for key, is_wrong in _WRONG.items():
            value = settings.get(key)
            is_of_another = key == "core.bare" and self.git_dir != self.common_dir  # a linked worktree is never bare
            if value is not None and is_wrong(value) and not is_of_another:
                return f"git cannot work with {key} = {value}: correct it, or `git config --unset-all {key}`"
        for key in _NAMED_FILES:
            named = _expanded(settings.get(key) or "")
            if named and (why := _unreadable(path := self.top / named)):
                return f"{key} names {path}, which {why}: correct it, or `git config --unset-all {key}`"
        shared, own = ("info/attributes", "info/exclude", "packed-refs"), (".gitattributes", ".gitignore")
        for path in (*(self.common_dir / name for name in shared), *(self.top / name for name in own)):
            if why := _unreadable(path):
                return f"{path} {why}: divide it, or take it away"
        return None

    def planted(self, ref: str = "") -> list[tuple[Path, str]]:
        """Those of the places in which git's commands and ours write that hold something else, and what that is: a link
        may lead anywhere, a pipe holds up who opens it, and of a file in the place of a folder nothing can be made.

        `ref` is the branch that is written, too.
        """
        above = [str(folder) for folder in PurePosixPath(ref or "refs/heads/x").parents if folder.name]
        folders = ["hooks", "objects", "logs", *above, *(f"logs/{folder}" for folder in above)]
        named = ["config", "packed-refs", *([ref, f"logs/{ref}"] if ref else [])]
        own = [self.git_dir / name for name in ("HEAD", "index", "logs/HEAD")]
        return wrong_kinds(
            [self.git_dir / "logs", *(self.common_dir / folder for folder in folders)],
            [*own, *(self.common_dir / name for name in named)],
        )

    def objects_in_the_way(self) -> list[tuple[Path, str]]:
        """What stands in the place of a folder of git's objects, as `planted` gives it; a new object may need each."""
        folder = self.common_dir / "objects"
        return wrong_kinds([folder / name for name in _listed_in(folder) if _OF_OBJECTS.fullmatch(name)])

    def held_lock(self) -> Path | None:
        """One of git's locks that a commit takes, if it is there: a git is at work, or ended without taking it away."""
        ref = self.head().ref
        locks = [self.git_dir / "index.lock", *([self.common_dir / f"{ref}.lock"] if ref else [])]
        return next(filter(os.path.lexists, locks), None)

    def refuse_links(self) -> None:
        """Raise `ForeignFile` when one of these places is a link or pipe, `HistoryError` when HEAD names no branch."""
        if self.exists():
            self.head()
        if planted := self.planted():
            raise ForeignFile(in_its_place(*planted[0]))

    def other_worktree(self) -> Path | None:
        """The folder whose files git takes for those of this repository, if it is another one (core.worktree)."""
        named = self.settings().get("core.worktree")
        folder = (self.git_dir / named).resolve() if named else self.top
        return None if folder == self.top else folder

    def is_rewriting(self) -> bool:
        """Whether git is in the middle of a rebase, merge and the like, which rewrites files of the vault.

        A merge writes ORIG_HEAD first. If a commit lands before it is done, it gives up and puts every file back to
        what ORIG_HEAD held, those just committed too. One that wrote nothing for some seconds has stopped for the
        person. The seconds were found by soak tests.
        """
        ages_ns = {**dict.fromkeys(_IN_PROGRESS, _STOPPED_NS), "ORIG_HEAD": _BEGUN_NS}
        return any(self._is_young(name, age_ns) for name, age_ns in ages_ns.items())

    def is_settling(self) -> bool:
        """Whether git's index was written a moment ago: some commands do their work in several processes, and what lies
        on the disk between two of them is nobody's edit. Our own patches of the index leave its time as it was."""
        return self._is_young("index", _SETTLED_NS)

    def _is_young(self, name: str, age_ns: int) -> bool:
        times = _time_and_size(f"{self.git_dir}/{name}")
        return times is not None and abs(time.time_ns() - times[0]) < age_ns

    def _foreign_owner(self) -> str | None:
        """Git's own refusal of a repository that belongs to another user, whose settings could run programs as us."""
        me = os.geteuid() if hasattr(os, "geteuid") else None
        if me is None or all(path.stat().st_uid == me for path in (self.top, self.git_dir)):
            return None
        try:
            git.run(self.top, "rev-parse", "--git-dir")
        except HistoryError:
            return (
                f"{self.top} belongs to another user: run vault-memory as that user, or trust it with "
                f"`git config --global --add safe.directory {in_command(self.top)}`"
            )
        return None

    def settings(self) -> dict[str, str]:
        """Git's settings for this repository, global ones too; read again when a config file has changed."""
        return settings_at(self.place).values

    def has_modes(self) -> bool:
        """Whether git heeds which files may be run on this disk."""
        return self.settings().get("core.filemode", "true").lower() not in ("false", "no", "off", "0")

    def filters(self) -> frozenset[str]:
        """The filters that git's settings define, the person's too."""
        return frozenset(key[7:].rpartition(".")[0] for key in self.settings() if key.startswith("filter."))

    def refused_filters(self) -> frozenset[str]:
        """The filters that the repository's own config defines and that are not run (`settings`)."""
        return settings_at(self.place).filters


def is_failed_filter(error: HistoryError) -> bool:
    """Whether git failed because the filter of a file did."""
    return _FAILED.search(str(error)) is not None


class Filters:
    """The blob that git makes of a file's bytes: the bytes themselves, unless a conversion or filter is set.

    A vault's own `.gitattributes` says `* -text`: nothing is converted. In a larger repository, or where a person
    encrypts notes with a filter, git is asked: the plain bytes would show every line changed, or store plain text
    that must be encrypted. Of one thing git is not asked: attributes may claim that a text in UTF-8 is in another
    encoding (`working-tree-encoding`), or expand `$Id$` in it, and git would make garbage of it, since a single-byte
    encoding fits any bytes. Such a text keeps its bytes but for its line ends; with a filter it counts as one whose
    filter fails. The vault's own kinds of file are written to the disk in UTF-8 only.

    The attributes are read once: make a new one for each task. `problem` names attributes that cannot be read: they
    count as none, and no commit may be made of what came of it. `failed` has the words about each file whose filter
    fails: its bytes count as they are, and it must not be committed. Paths are from the repository's top.
    """

    problem: str = ""

    def __init__(self, repository: Repository, objects: Objects) -> None:
        self._repository = repository
        self._objects = objects
        self.failed: dict[PurePosixPath, str] = {}
        self._rules: dict[Path, _Rules] = {}
        self._by_folder: dict[PurePosixPath, _Rules] = {}

    def blob(self, path: PurePosixPath, content: Content) -> str | None:
        """The id of the blob that git would make of a file's bytes; None for no file."""
        if content is None:
            return None
        if isinstance(content, Stored):
            if not self._may_convert(path):
                return content.id
            content = content.read()
        try:
            text = self._without_claims(path, content)
            if text is None and self._converts(path, content):
                return self._ask(path, content, "--stdin")
        except HistoryError as error:
            if not is_failed_filter(error):
                raise
            self.failed[path] = str(error)
            text = None
        return object_id("blob", content if text is None else text)

    def add(self, path: PurePosixPath, content: Content) -> str | None:
        """The same, and the blob is added to the new objects.

        What git cannot convert, such as a note that is no UTF-16 although a `.gitattributes` says so, it compares as it
        is, and refuses to write: then the bytes themselves are the blob.
        """
        if content is None:
            return None
        if isinstance(content, Stored):
            if self.blob(path, content) == content.id:
                return content.id
            content = content.read()
        if (text := self._without_claims(path, content)) is not None:
            return self._objects.add("blob", text)
        if self.blob(path, content) != object_id("blob", content):
            return self._ask(path, content, "-w", "--stdin")
        return self._objects.add("blob", content)

    def cleaned(self, path: PurePosixPath, content: bytes) -> bytes:
        """A file's bytes as git holds them."""
        if (text := self._without_claims(path, content)) is not None:
            return text
        if not self._converts(path, content):
            return content
        return self._objects.read(self._ask(path, content, "-w", "--stdin"))[1]

    def smudged(self, path: PurePosixPath, content: Content) -> Content:
        """What git would put on the disk for a file that it holds. Raises `HistoryError` if its filter may not run."""
        if content is None or not self._may_convert(path):
            return content
        if driver := self.refused([path]):
            raise HistoryError(f"{path} goes through the git filter {driver[path]}, which is not run: see `trust`")
        claimed = self.claimed([path])
        if claimed and layout.is_own_kind(path):
            return self._line_ends(path, bytes_of(content) or b"", claimed[path], "on_disk")
        if isinstance(content, Stored):
            blob = content.id
        else:
            blob = git.run(self._repository.top, "hash-object", "-w", "--stdin", stdin=content).decode().strip()
        written = git.run(self._repository.top, "cat-file", "--filters", f"--path={path}", blob)
        if claimed and _is_utf_8(written):  # else its next commit would hold other bytes
            return self._line_ends(path, bytes_of(content) or b"", claimed[path], "on_disk")
        return written

    def claimed(self, paths: Sequence[PurePosixPath]) -> dict[PurePosixPath, dict[str, str]]:
        """Those of the paths that attributes claim to be in another encoding, or to hold `$Id$`; and what they say of
        them, as `git check-attr` prints it: attribute → value."""
        paths = [path for path in paths if self._rules_for(path).claims]
        if not paths:
            return {}
        names = b"".join(os.fsencode(path) + b"\0" for path in paths)
        plain = {"GIT_LITERAL_PATHSPECS": "0"}
        out = git.run(self._repository.top, "check-attr", "-z", "--stdin", *BYTES_ATTRIBUTES, stdin=names, extra=plain)
        fields = os.fsdecode(out).split("\0")
        found: dict[PurePosixPath, dict[str, str]] = {}
        for name, attribute, value in zip(fields[0:-1:3], fields[1::3], fields[2::3], strict=True):
            found.setdefault(PurePosixPath(name), {})[attribute] = value
        return {path: said for path, said in found.items() if _is_claim(said)}

    def claimants(self) -> list[Path]:
        """The attributes files that were read for any path so far and claim such a thing of some path."""
        return [source for source, rules in self._rules.items() if rules.claims]

    def _without_claims(self, path: PurePosixPath, content: bytes) -> bytes | None:
        """What git would hold of a text in UTF-8 of which attributes claim something else; None where git is asked.

        Raises `HistoryError` as a failing filter does for one that goes through a filter, too: git would hand what
        comes out of that to the other encoding, and an encrypted text could be decrypted no more.
        """
        rules = self._rules_for(path)
        if not rules.claims or not _is_utf_8(content):
            return None
        if not rules.filter and not self._converts(path, content):
            return content
        claimed = self.claimed([path])
        if not claimed:
            return None
        if (driver := claimed[path]["filter"]) in self._repository.filters():
            raise HistoryError(f"clean filter '{driver}' failed: attributes claim another encoding of {path}, too")
        return self._line_ends(path, content, claimed[path], "in_git")

    def _line_ends(
        self, path: PurePosixPath, content: bytes, attributes: Mapping[str, str], where: Literal["in_git", "on_disk"]
    ) -> bytes:
        if not self._converts_line_ends(path):
            return content
        from vault_memory.adapters.git import line_ends  # only where somebody claims an encoding

        convert = line_ends.in_git if where == "in_git" else line_ends.on_disk
        about = {name: attributes[name] for name in _LINE_END_ATTRIBUTES}
        return convert(self._repository.place, path, about, content)

    def refused(self, paths: Sequence[PurePosixPath]) -> dict[PurePosixPath, str]:
        """Those of the paths whose filter is switched off (`settings`), and its name: they must not be committed."""
        off = self._repository.refused_filters()
        return {path: name for path, name in self.drivers(paths).items() if name in off} if off else {}

    def drivers(self, paths: Sequence[PurePosixPath]) -> dict[PurePosixPath, str]:
        """Those of the paths that go through a filter which git's settings define, and its name."""
        defined = self._repository.filters()
        if not defined or not paths:
            return {}
        names = b"".join(os.fsencode(path) + b"\0" for path in paths)
        plain = {"GIT_LITERAL_PATHSPECS": "0"}
        out = git.run(self._repository.top, "check-attr", "-z", "--stdin", "filter", stdin=names, extra=plain)
        fields = os.fsdecode(out).split("\0")
        rows = zip(fields[0:-1:3], fields[2::3], strict=True)
        return {PurePosixPath(name): driver for name, driver in rows if driver in defined}

    def fails(self, path: PurePosixPath, content: Content) -> bool:
        """Whether git can make no blob of this file, because a filter of it fails (`failed`)."""
        if self._rules_for(path).filter:
            self.blob(path, content)
        return path in self.failed

    def _ask(self, path: PurePosixPath, content: bytes, *args: str) -> str:
        sync = ("-c", "core.fsync=loose-object")
        out = git.run(self._repository.top, *sync, "hash-object", f"--path={path}", *args, stdin=content)
        return out.decode().strip()

    def _converts(self, path: PurePosixPath, content: bytes) -> bool:
        # Only these two bytes are ever converted on the way into git, unless there is a filter.
        rules = self._rules_for(path)
        is_claimed = rules.claims and not _is_utf_8(content)
        return rules.filter or is_claimed or (b"\r\n" in content and self._converts_line_ends(path))

    def _may_convert(self, path: PurePosixPath) -> bool:
        rules = self._rules_for(path)
        return rules.filter or rules.claims or self._converts_line_ends(path)

    def _converts_line_ends(self, path: PurePosixPath) -> bool:
        setting = self._repository.settings().get("core.autocrlf", "false").lower()
        return self._rules_for(path).convert_line_ends or setting in ("true", "yes", "on", "1", "input")

    def _rules_for(self, path: PurePosixPath) -> _Rules:
        """What any attributes file that may apply to a path does."""
        if path.parent in self._by_folder:
            return self._by_folder[path.parent]
        sources = shared_attributes(self._repository)
        sources += [self._repository.top / folder / ".gitattributes" for folder in path.parents]
        for source in sources:
            if source not in self._rules:
                self._rules[source] = self._rules_in(source)
        found = [self._rules[source] for source in sources]
        rules = _Rules(*map(any, zip(*found, strict=True)))
        self._by_folder[path.parent] = rules
        return rules

    def _rules_in(self, source: Path) -> _Rules:
        try:
            return _searched(b"" if source.is_dir() else files.read(source) or b"")
        except OSError:  # unreadable to us, and so to git, which goes on without it, as without a folder
            return _Rules()
        except (TooLarge, ForeignFile) as error:
            self.problem = str(error)
            return _Rules()


class _Rules(NamedTuple):
    """Whether some attributes set a filter, convert the ends of lines, or claim another encoding or `$Id$`."""

    filter: bool = False
    convert_line_ends: bool = False
    claims: bool = False


@functools.lru_cache(maxsize=8)
def _searched(attributes: bytes) -> _Rules:
    """What a text of attributes does; a megabyte takes some milliseconds, and every write asks several times."""
    return _Rules(
        _FILTERED.search(attributes) is not None,
        _LINE_ENDS.search(attributes) is not None,
        _CLAIMED.search(attributes) is not None,
    )


def shared_attributes(repository: Repository) -> list[Path]:
    """The attributes files that count for all of a repository and are not in it: its own and the person's."""
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    named = _expanded(repository.settings().get("core.attributesfile") or "")
    own = repository.common_dir / "info" / "attributes"
    return [own, repository.top / named if named else Path(home, "git", "attributes")]


def _is_claim(attributes: Mapping[str, str]) -> bool:
    encoding = attributes["working-tree-encoding"].casefold()
    return encoding not in ("unspecified", "", "utf-8", "utf8") or attributes["ident"] == "set"


def _is_utf_8(content: bytes) -> bool:
    """Whether bytes are a text in UTF-8; one in UTF-16 may be valid UTF-8, too, and then has NUL bytes."""
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return b"\0" not in content


def _expanded(path: str) -> str:
    """A path of git's config, `~` and `~user` resolved."""
    return os.path.expanduser(path) if path.startswith("~") else path


def _unreadable(path: Path) -> str:
    """Why a file of attributes or patterns is none to read, in words; "" if it is, or if there is none."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return ""
    if stat.S_ISDIR(status.st_mode):
        return ""
    if not stat.S_ISREG(status.st_mode):
        return "is a pipe, socket or device"
    return f"has more than {files.MAX_FILE_BYTES:,} bytes" if status.st_size > files.MAX_FILE_BYTES else ""


class NoIndex(ForeignFile):
    """A folder, pipe or device stands in the place of git's index: git tracks nothing that it could tell."""


def tracked_state(root: Path) -> frozenset[PurePosixPath]:
    """The state files and indexes of the vault at `root` that git tracks, relative to it. Raises `NoIndex`.

    10 us while the git index is the same.
    """
    index = _indexes.get(root) or Repository(root).git_dir / "index"
    try:
        status = index.stat()
    except OSError:
        _indexes.pop(root, None)
        return frozenset()
    _indexes[root] = index
    stamp = (index, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_size)
    if not stat.S_ISREG(status.st_mode):
        raise NoIndex(f"{index} is no file, so git works with nothing here: move it away")
    if root not in _tracked or _tracked[root][0] != stamp:
        _tracked[root] = stamp, _listed(root, files.read(index, MAX_INDEX_BYTES) or b"")
    return _tracked[root][1]


def refuse_tracked(root: Path, path: Path) -> None:
    """Raise `ForeignFile` if git tracks this private file of the vault at `root`, `NoIndex` if it cannot tell."""
    name = PurePosixPath(path.relative_to(root).as_posix())
    tracked = {_folded(known) for known in tracked_state(root)}
    for part in (name, *name.parents) if tracked else ():  # a folder is tracked as a submodule
        if _folded(part) in tracked:
            raise ForeignFile(
                f"git tracks {part}, so it may be another person's: run `git rm -f {in_command(part)}` in {root} and "
                "commit that; it is made anew"
            )


def _listed(root: Path, index: bytes) -> frozenset[PurePosixPath]:
    # Versions 2 and 3 hold each whole name, version 4 and a split index do not: then git is asked.
    is_plain = index[4:8] in (b"\0\0\0\2", b"\0\0\0\3") and not _MAY_BE_SPLIT.search(index[-100_000:])
    if not is_plain:
        try:
            GitIndexFile(index)
        except DamagedIndex:  # git can list nothing, and `state` names it
            return frozenset()
        except UnknownIndex:
            pass
    lowered = index.lower() if is_plain else b""
    if is_plain and layout.STATE_DIR.encode() not in lowered and layout.INDEX_FILE.encode() not in lowered:
        return frozenset()
    patterns = (f":(icase,literal){layout.STATE_DIR}", f":(icase)*{layout.INDEX_FILE}*")
    listed = git.run(root, "ls-files", "-z", "--", *patterns, extra={"GIT_LITERAL_PATHSPECS": "0"})
    paths = (PurePosixPath(os.fsdecode(name)) for name in listed.split(b"\0") if name)
    return frozenset(path for path in paths if layout.is_state(path))


def _folded(name: PurePosixPath) -> str:
    """A name as macOS and Windows compare it: `.Vault-Memory/token` is the same file there."""
    return str(name).casefold()


def _listed_in(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:  # that is found where it is read
        return []


def wrong_kinds(folders: Iterable[Path], named: Iterable[Path] = ()) -> list[tuple[Path, str]]:
    """Those of the places for folders, and of those for files, that hold something else; and what that is."""
    wanted = [*((path, stat.S_IFDIR) for path in folders), *((path, stat.S_IFREG) for path in named)]
    found = []
    for path, kind in wanted:
        try:
            mode = os.lstat(path).st_mode
        except (OSError, ValueError):  # nothing is there, or what is above it is found
            continue
        if stat.S_IFMT(mode) != kind:
            found.append((path, _KINDS.get(stat.S_IFMT(mode), "pipe, socket or device")))
    return list(dict.fromkeys(found))


_KINDS = {stat.S_IFLNK: "link", stat.S_IFDIR: "folder", stat.S_IFREG: "file"}


def in_its_place(path: Path, what: str) -> str:
    """What stands in the place of a file or folder of git's, in words with the next step."""
    if what == "folder":
        return f"{path} is a folder, and a file belongs there: move it away"
    if what == "file":
        return f"{path} is a file, and a folder belongs there: put the folder back, or delete the file"
    return f"{path} is a {what}, which would be written through: put the file or folder itself there"


def _time_and_size(path: Path | str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
