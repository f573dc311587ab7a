"""What git obeys: how it is started (`launch`), and its settings for a folder, with those that may start programs or
lead git elsewhere.

A repository's own config (`.git/config`, `config.worktree`, what they include) comes with the folder: from an archive,
a download, another person. It can name programs that git then runs. The person's own settings (global, system) stay in
force; from the repository's config every setting of this kind is switched off unless it was allowed (`allow`).
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, NamedTuple

from vault_memory.adapters import files
from vault_memory.adapters.scan import walk
from vault_memory.errors import ForeignFile, HistoryError, TooLarge, in_command

# Of the variables that steer git only these are kept. Obsidian's Git plugin, for example, runs its hooks, and so us,
# with GIT_DIR and GIT_INDEX_FILE set: every command here would then work on another git index.
_KEPT_VARIABLES = (
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_ASKPASS",
)
_FIXED_VARIABLES = {
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_EDITOR": ":",
    "GIT_SEQUENCE_EDITOR": ":",
    "GIT_PAGER": "cat",
    "GIT_GRAFT_FILE": os.devnull,  # a history is what its commits say: nobody else, and no code of ours, sees another
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",  # a missing object is no reason to ask an address that the repository names
}
MAX_OUTPUT_BYTES = 300_000_000
"""What a git may print: more is no list of files or notes."""
MAX_MEMORY_BYTES = 2_000_000_000
"""What a git may take for itself, where the system can limit it (Linux): a few kilobytes of a remote's pack can stand
for any size."""
_READ_BYTES = 1 << 20
_MAX_MESSAGE_BYTES = 10_000
_MAX_SHOWN_BYTES = 200

_GIT_FILE = b"gitdir: "
"""How a file `.git` begins that points to git's folder: that of a linked worktree, or of a submodule."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")

# Folders named `objects` and `refs` with a `config` beside them are a bare repository to git, and may lie among the
# notes of a stranger. Git would then obey that config; only `.git` is the vault's.
_FIXED_OPTIONS = (
    *("-c", "safe.bareRepository=explicit"),
    *("-c", "advice.graftFileDeprecated=false"),  # of GIT_GRAFT_FILE; it would stand in each message
    *("-c", "i18n.logOutputEncoding=UTF-8", "-c", "i18n.commitEncoding=UTF-8"),  # else trailers are not recognised
)


class Failed(HistoryError):
    """A git ended with an error, which the message tells in git's own words."""


class TimedOut(HistoryError):
    """A git did not end in time, and was stopped."""


class EndlessOutput(HistoryError):
    """A git printed more than it may, and was stopped."""


class Setting(NamedTuple):
    """One line of git's config: `filter.git-crypt.clean`, `git-crypt clean`. A key without a value is "true"."""

    key: str
    value: str

    def in_words(self) -> str:
        """The setting in one line, whatever is in its value, without the password of an address."""
        from vault_memory.core.privacy import without_credentials

        shown = repr(self.value)[1:-1] if set(self.value) & set("\n\r") else self.value
        line = f"{self.key!r} = {shown}" if "\n" in self.key else f"{self.key} = {shown}"
        return without_credentials(line, [shown])


@dataclass(frozen=True)
class Settings:
    """Git's settings for a repository.

    `values` has the last value of each key, `persons` of those the last one that the repository's own config does not
    set. `programs` are the repository's own settings that name a program or lead
    elsewhere, and are not allowed; we would start or follow those in `refused`, and only git commands of the person's
    the others. `filters` are the drivers in `refused` that change what is committed; `switched_off` are options before
    git's command that make it disobey the repository. `is_decided`: they depend on what was allowed. `problem` says why
    git can work with none of them, and the next step: then no git is run.
    """

    values: dict[str, str] = field(default_factory=dict)
    persons: dict[str, str] = field(default_factory=dict)
    programs: tuple[Setting, ...] = ()
    refused: tuple[Setting, ...] = ()
    filters: frozenset[str] = frozenset()
    switched_off: tuple[str, ...] = ()
    is_decided: bool = False
    problem: str = ""

    def refused_for(self, what: re.Pattern[str]) -> Setting | None:
        """The first refused setting whose key matches, or None."""
        return next((setting for setting in self.refused if what.fullmatch(setting.key)), None)


ALTERNATES = "objects/info/alternates"
"""No setting of git's config, but a file of its own that leads git to the objects of other repositories."""
NETWORK = re.compile(
    ALTERNATES + r"|core\.(?:sshcommand|gitproxy|askpass|alternaterefscommand)"
    r"|credential\.(?:.*\.)?(?:helper|protectprotocol|sanitizeprompt)|protocol\.(?:.*\.)?allow"
    r"|remote\..*\.(?:uploadpack|receivepack|vcs|proxy|pushurl|promisor)|url\..*\.(?:insteadof|pushinsteadof)"
    r"|fetch\.bundleuri|fetch\.fsck\..+|extensions\.partialclone|promisor\..+"
    r"|http\.(?:.*\.)?(?!(?:postbuffer|version|useragent|maxrequests|lowspeedlimit|lowspeedtime)\Z)[^.]+",
    re.DOTALL,
)
"""Keys that decide which program talks to a remote, which remote that is, what is sent to it, who may listen, or what
is checked in what it sends."""
SIGNING = re.compile(r"gpg\.(?:.*\.)?(?:program|defaultkeycommand)", re.DOTALL)
"""Keys of the programs that sign."""
NEXT_STEP = "say yes to it with `vault-memory trust`, or set it in your own settings with `git config --global`"
"""What a person does to let a refused setting take effect."""
_FILTER = re.compile(r"filter\.(.*)\.(?:clean|smudge|process)", re.DOTALL)
_LFS = re.compile(r"lfs\.(?:.*\.)?(?:clean|smudge|path|standalonetransferagent)", re.DOTALL)  # git-lfs starts these
_MONITOR = "core.fsmonitor"
_HOOK = re.compile(
    r"(hook\..*)\.(?:command|event|enabled)", re.DOTALL
)  # git 2.54 and newer, beside the files in `hooks`
_OF_THE_PERSONS_GIT = re.compile(
    r"core\.(?:editor|pager|hookspath)|sequence\.editor|pager\..+|diff\.external|diff\..*\.(?:textconv|command)"
    r"|merge\..*\.driver|trailer\..*\.(?:cmd|command)|(?:difftool|mergetool|guitool|browser|man)\..*\.(?:cmd|path)"
    r"|(?:alias|submodule)\..+|hook\..*\.command|interactive\.difffilter|tar\..*\.command|imap\.tunnel"
    r"|gc\.recentobjectshook",
    re.DOTALL,
)
_BOOLEANS = {"", "true", "false", "yes", "no", "on", "off", "0", "1"}
_INCLUDE = re.compile(r"include\.path|includeif\..*\.path", re.DOTALL)
_OWN_SCOPES = {"local", "worktree"}

_BAD_FILE = re.compile(r"unable to access '[^\n]*")
_BAD_LINE = re.compile(r"bad config (?:line|variable)[^\n]*")
_BAD_VERSION = re.compile(r"git repo version <= \d+, found (\S+)")
_BAD_EXTENSION = re.compile(r"unknown repository extensions? found:\s*(\S+)")

Allowed = Callable[[], Iterable[Setting]]
"""Gives the settings of a repository's own config that may take effect; asked only when there is one to decide on."""
_Stamps = list[tuple[Path, tuple[int, int] | None]]

_allowed: dict[Path, Allowed] = {}
_known: dict[Path, tuple[_Stamps, Settings]] = {}
_held: ContextVar[tuple[int, ...]] = ContextVar("_held", default=())


def allow(folder: Path, settings: Allowed) -> None:
    """Let these settings of the repository that holds `folder` take effect in this process; all others stay off."""
    if place := locate(folder):
        _allowed[place.git_dir] = settings
        if place.git_dir in _known and _known[place.git_dir][1].is_decided:
            del _known[place.git_dir]


@contextlib.contextmanager
def holding(lock: int) -> Iterator[None]:
    """Let each git that this thread starts meanwhile hold the lock (`files.lock`), too: it goes on working when we are
    killed, and whoever comes next waits until the last has ended. A no-op on Windows, where no process gets copies."""
    begun = _held.set(() if os.name == "nt" else (lock,))
    try:
        yield
    finally:
        _held.reset(begun)


def start(
    folder: Path,
    options: Sequence[str],
    args: Sequence[str],
    extra: Mapping[str, str] | None,
    *,
    stdin: int,
    stderr: int,
) -> subprocess.Popen[bytes]:
    """Start git; the caller ends it. Raises `HistoryError` where there is none."""
    held = _held.get()
    # A monitor would go on for days, and hold the lock that long.
    no_daemon = ("-c", f"{_MONITOR}=false") if held else ()
    try:
        return subprocess.Popen(
            ["git", *_FIXED_OPTIONS, *options, *no_daemon, *args],
            cwd=folder,
            env=_environment(extra),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=stderr,
            pass_fds=held,
        )
    except FileNotFoundError as error:
        raise HistoryError("git was not found: install git (2.28 or newer) and put it on the PATH") from error


def launch(
    folder: Path,
    options: Sequence[str],
    args: Sequence[str],
    *,
    stdin: bytes = b"",
    extra: Mapping[str, str] | None = None,
    timeout_s: float = 30.0,
    ok: Sequence[int] = (0,),
    memory_bytes: int | None = MAX_MEMORY_BYTES,
    output_bytes: int = MAX_OUTPUT_BYTES,
) -> bytes:
    """Run `git <options> <args>` in `folder` and return its output; `Failed` with git's own words if it fails, without
    the passwords of addresses.

    A git that prints more is stopped (`EndlessOutput`); one that wants more memory (None: any) fails.
    """
    first = next(at for at in range(0, len(args), 2) if args[at] != "-c")
    command = " ".join(["git", *args[first : first + 2]])
    process = start(
        folder, options, args, extra, stdin=subprocess.PIPE if stdin else subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    if memory_bytes is not None:
        _limit_memory(process.pid, memory_bytes)
    try:
        out, err = _communicate(process, stdin, timeout_s, output_bytes)
    except subprocess.TimeoutExpired as error:
        raise TimedOut(f"`{command}` did not finish within {timeout_s:g} s: check that the disk answers") from error
    if len(out) > output_bytes:
        raise EndlessOutput(f"`{command}` printed more than {output_bytes:,} bytes, and was stopped")
    if process.returncode not in ok:
        from vault_memory.core.privacy import without_credentials

        message = err[-_MAX_MESSAGE_BYTES:].decode("utf-8", "replace").strip() or f"exit code {process.returncode}"
        raise Failed(without_credentials(f"`{command}` failed: {message}"))
    return out


def _limit_memory(pid: int, size_bytes: int) -> None:
    """Let a process and its children take this much memory of their own; files that they map do not count."""
    with contextlib.suppress(ImportError, AttributeError, OSError):  # Linux alone can limit another process
        import resource

        resource.prlimit(pid, resource.RLIMIT_DATA, (size_bytes, size_bytes))


def _communicate(
    process: subprocess.Popen[bytes], stdin: bytes, timeout_s: float, output_bytes: int
) -> tuple[bytes, bytes]:
    """As `Popen.communicate`, but a process that prints too much is killed, and whoever it started is not waited for.

    Raises `TimeoutExpired`; the process has ended then, too.
    """
    give_up = time.monotonic() + timeout_s
    printed: tuple[list[bytes], list[bytes]] = [], []

    def write(pipe: IO[bytes]) -> None:
        with contextlib.suppress(OSError), pipe:  # it may end before it has read everything
            pipe.write(stdin)

    def read(pipe: IO[bytes], pieces: list[bytes]) -> None:
        size = 0
        with pipe:
            while size <= output_bytes and (piece := os.read(pipe.fileno(), _READ_BYTES)):
                pieces.append(piece)
                size += len(piece)
        if size > output_bytes:
            process.kill()

    works = [threading.Thread(target=write, args=(process.stdin,), daemon=True)] if process.stdin else []
    pipes = zip((process.stdout, process.stderr), printed, strict=True)
    works += [threading.Thread(target=read, args=each, daemon=True) for each in pipes]
    try:
        for work in works:
            work.start()
        for work in works:
            work.join(max(0.0, give_up - time.monotonic()))
        if any(work.is_alive() for work in works):
            raise subprocess.TimeoutExpired(process.args, timeout_s)
        process.wait(max(0.0, give_up - time.monotonic()))
    except BaseException:
        process.kill()
        process.wait()
        raise
    return b"".join(printed[0]), b"".join(printed[1])


def _environment(extra: Mapping[str, str] | None) -> dict[str, str]:
    """The process's environment without the variables that steer git; git then speaks English and asks nothing."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in _KEPT_VARIABLES}
    return kept | _FIXED_VARIABLES | dict(extra or {})


class Place(NamedTuple):
    """Where a repository is: the top of its working tree, git's folder for it, and the one that all of them share."""

    top: Path
    git_dir: Path
    common_dir: Path

    def boundary(self) -> dict[str, str]:
        """The environment of a git that looks no further up than `top`, whatever it thinks of the `.git` there."""
        return {"GIT_CEILING_DIRECTORIES": str(self.top.parent)}


def locate(folder: Path) -> Place | None:
    """The repository that git would find from `folder`, or None. Git must look no further up (`Place.boundary`).

    Raises `HistoryError` for a pointer to none, and for one to the repository of another folder, which may have come
    along and whose branch we would move.
    """
    here = Path(os.path.realpath(folder))  # as git sees it: the folder above a link is another one
    top = next((each for each in (here, *here.parents) if (each / ".git").exists()), None)
    if top is None:
        return None
    dot_git = top / ".git"
    git_dir = (_pointed_at(dot_git, _GIT_FILE) if dot_git.is_file() else None) or dot_git
    shared = common_dir(git_dir)
    _refuse_others(dot_git, git_dir, shared)
    return Place(top, git_dir, shared)


def common_dir(git_dir: Path) -> Path:
    """Git's folder with the references, objects, config and hooks; a linked worktree, which has a HEAD and an index of
    its own in `git_dir`, shares it with the others. Raises `HistoryError` where `commondir` names no folder."""
    return _pointed_at(git_dir / "commondir") or git_dir


def _pointed_at(pointer: Path, prefix: bytes = b"") -> Path | None:
    """The folder that a file of git's own names, read as git reads it; None without such a file.

    Git takes the ends of lines off and nothing else: `. ` is another folder than `.`. A name that others may read in
    another way is refused.
    """
    content = files.read(pointer)
    if content is None:
        return None
    name = os.fsdecode(content.removeprefix(prefix).rstrip(b"\r\n"))
    if not content.startswith(prefix) or not name or name != name.strip() or _CONTROL.search(name):
        raise HistoryError(
            f"{pointer} holds {os.fsdecode(content[:_MAX_SHOWN_BYTES])!r}, which names no folder of git's, or one with "
            "blanks or control characters that programs read differently: correct it or delete it"
        )
    return Path(os.path.realpath(pointer.parent / name))


def _refuse_others(dot_git: Path, git_dir: Path, common_dir: Path) -> None:
    if git_dir == dot_git:
        is_own = common_dir == git_dir or common_dir == Path(os.path.realpath(git_dir))
    elif common_dir != git_dir:  # the repository knows a linked worktree, whose folder there names it
        is_known = git_dir.parent == Path(os.path.realpath(common_dir), "worktrees")
        is_own = is_known and _pointed_at(git_dir / "gitdir") == Path(os.path.realpath(dot_git))
    else:  # a submodule's folder, or a separate one
        is_own = git_dir.name != ".git"
    if not is_own:
        other = git_dir if common_dir == git_dir else common_dir
        raise HistoryError(
            f"{dot_git} leads to {other}, the repository of another folder: delete it, or run `git worktree repair` "
            "there if you have moved this folder"
        )


def refuse_pipes(place: Place) -> None:
    """Raise `ForeignFile` for a pipe or device in the place of a file that every git opens: it would wait for ever.

    Also for a link in the place of one that a failing git quotes. It takes 15 us.
    """
    own = (place.git_dir / name for name in ("HEAD", "index", "logs/HEAD", "config.worktree"))
    names = ("config", "packed-refs", "shallow", "info/attributes", "info/exclude")
    shared = (place.common_dir / name for name in names)
    for path in (*own, *shared, *(place.top / name for name in (".gitattributes", ".gitignore", ".mailmap"))):
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            mode = path.stat().st_mode
            if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                raise ForeignFile(f"{path} is a pipe, socket or device, which would hold git up: delete it")
    for name in _READ_BY_EVERY_GIT:
        if os.path.islink(link := f"{place.common_dir}/{name}"):
            raise ForeignFile(f"{link} is a link, and git's messages would show lines of the file it names: delete it")


_READ_BY_EVERY_GIT = ("shallow", "info/grafts")
_READ_IN_EACH_FOLDER = (".gitattributes", ".gitignore")


def pipe_below(place: Place) -> Path | None:
    """A pipe or device at which git waits: among its own files, those that its config includes, and those that it reads
    in every folder of notes. Looked for when a git hangs."""
    for dot_git in {place.git_dir, place.common_dir}:
        for folder, _, names in walk(dot_git):
            if found := next(filter(_holds_up, (Path(folder, name) for name in names)), None):
                return found
    for folder, folders, names in walk(place.top):
        folders[:] = [name for name in folders if name != ".git"]
        for name in _READ_IN_EACH_FOLDER:
            path = Path(folder, name)
            if name in names and not path.is_symlink() and _holds_up(path):
                return path
    return _included_pipe(place)


def _included_pipe(place: Place) -> Path | None:
    """A pipe or device among the files that the repository's own config includes, and those include."""
    to_read = [place.common_dir / "config", place.git_dir / "config.worktree"]
    seen: set[Path] = set()
    while to_read and len(seen) < _MAX_INCLUDED:
        config = to_read.pop()
        if config in seen:
            continue
        seen.add(config)
        if _holds_up(config):
            return config
        with contextlib.suppress(OSError, ForeignFile, TooLarge):
            text = files.read(config) or b""
            named = _PATHS.findall(text) if _MAY_INCLUDE.search(text) else []
            to_read += [config.parent / os.path.expanduser(os.fsdecode(name.strip())) for name in named]
    return None


_MAX_INCLUDED = 100
_MAY_INCLUDE = re.compile(rb"\[\s*include", re.IGNORECASE)
_PATHS = re.compile(rb"""(?:^|\])[ \t]*path[ \t]*=[ \t]*"?([^"\n;#]+)""", re.IGNORECASE | re.MULTILINE)


def _holds_up(path: Path) -> bool:
    """Whether who reads a file may wait for somebody, or for ever. A socket does not open, and git's own monitor has
    one; `/dev/null` is empty."""
    try:
        mode = path.stat().st_mode
        is_usual = stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISSOCK(mode)
        return not (is_usual or path.samefile(os.devnull))
    except (OSError, ValueError):
        return False


def settings_of(folder: Path) -> Settings:
    """The settings of the repository that holds `folder`, as `settings_at` gives them; none without a repository."""
    place = locate(folder)
    return settings_at(place) if place else Settings()


def settings_at(place: Place) -> Settings:
    """The settings of a repository; read again when a config file has changed.

    Plain `git config --list` takes 3 ms; looking at the files takes 0.05.
    """
    unread: tuple[_Stamps, Settings] = ([], Settings())
    stamps, settings = _known.get(place.git_dir, unread)
    if not stamps or any(_time_and_size(path) != stamp for path, stamp in stamps):
        stamps, settings = _read(place)
        _known[place.git_dir] = (stamps, settings)
    return settings


def _read(place: Place) -> tuple[_Stamps, Settings]:
    """The settings, and the stamp of each file that they come from: none where they must be read every time."""
    refuse_pipes(place)
    if pipe := _included_pipe(place):
        raise ForeignFile(f"{pipe} is a pipe, socket or device, and git's config includes it: delete it")
    home = Path(os.environ.get("HOME", "~")).expanduser()
    xdg = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    alternates = place.common_dir / ALTERNATES
    own = [place.common_dir / "config", place.git_dir / "config.worktree"]
    paths = [*own, alternates, home / ".gitconfig", xdg / "git" / "config", Path("/etc/gitconfig")]
    if os.environ.get("GIT_CONFIG_GLOBAL"):
        paths.append(Path(os.environ["GIT_CONFIG_GLOBAL"]))
    stamps = {path: _time_and_size(path) for path in paths}
    listing = ["config", "--list", "-z", "--show-scope", "--show-origin"]
    try:
        out = launch(place.top, (), listing, extra=place.boundary())
    except HistoryError as error:
        if problem := _problem(place, str(error)):
            return [], Settings(problem=problem)
        raise
    fields = out.decode("utf-8", "surrogateescape").split("\0")
    values: dict[str, str] = {}
    rows: list[tuple[str, Setting]] = []
    for scope, origin, item in zip(fields[0:-1:3], fields[1::3], fields[2::3], strict=False):
        key, has_value, value = item.partition("\n")
        rows.append((scope, Setting(key, value if has_value else "true")))
        values[key] = value
        if origin.startswith("file:") and (path := place.top / origin[5:]) not in stamps:
            stamps[path] = _time_and_size(path)
    if others := files.read(alternates):
        rows.append(("local", Setting(ALTERNATES, os.fsdecode(others).strip("\n"))))  # a blank is a folder's name
    settings = _judged(rows, values, _allowed.get(place.git_dir, tuple))
    # A file that is included may appear later. A config that git did not list (it belongs to another user) may be
    # listed later.
    is_own_listed = any(scope in _OWN_SCOPES for scope, _ in rows)
    if not is_own_listed:
        try:
            launch(place.top, (), ["rev-parse", "--git-dir"], extra=place.boundary())
        except HistoryError as error:  # of another user, of which `Repository.paused` knows, or of another format
            settings = replace(settings, problem=_problem(place, str(error)))
    includes = any(scope in _OWN_SCOPES and _INCLUDE.fullmatch(setting.key) for scope, setting in rows)
    return list(stamps.items()) if is_own_listed and not includes else [], settings


def _problem(place: Place, said: str) -> str:
    """What in a config git cannot work with, from git's own words, and the next step; "" for anything else."""
    config = place.common_dir / "config"
    if version := _BAD_VERSION.search(said):
        return f"git cannot work with core.repositoryformatversion = {version[1]}: write 0 there in {config}"
    if extension := _BAD_EXTENSION.search(said):
        return f"this git does not know extensions.{extension[1]}: take it out of {config}, or install a newer git"
    if unread := _BAD_FILE.search(said):
        return f"git cannot read its settings ({unread[0]}): put the file itself there"
    if line := _BAD_LINE.search(said):
        return f"git cannot read its settings ({line[0]}): correct that line"
    return ""


def _judged(rows: Sequence[tuple[str, Setting]], values: dict[str, str], allowed: Allowed) -> Settings:
    persons = [setting for scope, setting in rows if scope not in _OWN_SCOPES]
    own = dict.fromkeys(setting for scope, setting in rows if scope in _OWN_SCOPES)
    programs = [each for each in own if _names_a_program(each) and each not in persons]
    ours = [each for each in programs if not _OF_THE_PERSONS_GIT.fullmatch(each.key)]
    agreed = frozenset(allowed()) if ours else frozenset()
    programs, refused = ([each for each in found if each not in agreed] for found in (programs, ours))
    of_the_person = {each.key for each in persons}
    filters = {match[1] for each in refused if (match := _FILTER.fullmatch(each.key)) and each.key not in of_the_person}
    if any(_LFS.fullmatch(each.key) for each in refused):
        filters.add("lfs")
    options = _switched_off(refused, persons) + _without_hooks(rows)
    return Settings(
        values, dict(persons), tuple(programs), tuple(refused), frozenset(filters), options, is_decided=bool(ours)
    )


def _names_a_program(setting: Setting) -> bool:
    key, value = setting
    if key == _MONITOR or key.startswith("pager."):
        return value.lower() not in _BOOLEANS
    if key.startswith(("alias.", "submodule.")):
        return value.startswith("!")
    patterns = (NETWORK, SIGNING, _FILTER, _LFS, _OF_THE_PERSONS_GIT)
    return bool(value) and any(pattern.fullmatch(key) for pattern in patterns)


def _switched_off(refused: Sequence[Setting], persons: Sequence[Setting]) -> tuple[str, ...]:
    """Options that make git obey the person's settings in place of the refused ones.

    Some settings about remotes cannot be taken back by an option (of two `uploadpack` the first one counts); no remote
    is asked while one is refused (`remote`).
    """
    wanted: dict[str, str] = {}
    for key, _ in refused:
        if key == _MONITOR:
            wanted[key] = "false"
        elif SIGNING.fullmatch(key):
            wanted[key] = "false"  # the program of that name, which fails: a commit that needs a signature waits
        elif match := _FILTER.fullmatch(key):
            wanted |= {key: "", f"filter.{match[1]}.required": "false"}
        elif _LFS.fullmatch(key):
            wanted[key] = ""
    wanted |= {key: value for key, value in persons if key in wanted}
    return tuple(option for key, value in wanted.items() for option in ("-c", f"{_without_sign(key)}={value}"))


def _without_hooks(rows: Iterable[tuple[str, Setting]]) -> tuple[str, ...]:
    """Options that switch off each hook of any config, the person's too: hooks are for the person's own commits."""
    names = dict.fromkeys(match[1] for _, setting in rows if (match := _HOOK.fullmatch(setting.key)))
    return tuple(option for name in names for option in ("-c", f"{_without_sign(name)}.enabled=false"))


def _without_sign(key: str) -> str:
    if "=" in key:  # git would take what stands before it as the key
        section = key if _HOOK.fullmatch(f"{key}.enabled") else key.rpartition(".")[0]
        raise HistoryError(
            f"the git setting {key!r} of this repository cannot be switched off, for its name has a `=`, and no git is "
            f"run before it is gone: `git config --remove-section {in_command(section)}`"
        )
    return key


def _time_and_size(path: Path) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
