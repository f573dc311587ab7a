"""The starter vault and the git hooks that ship with this package, and how they are put in place.

An installed package holds both in `vault_memory/shipped/`; in a checkout or an editable install they are beside the
package. So is `locales`, with the files of the starter in other languages than `zh-TW`. Everything here can be run
again at any time: a file of the person is never overwritten.
"""

from __future__ import annotations

import glob
import hashlib
import os
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from vault_memory.adapters import files, git
from vault_memory.core import layout, reading
from vault_memory.errors import ForeignFile, NotFound

_ADOPTED_FILES = (".gitignore", ".gitattributes", "vault-memory.toml", "context/SOUL.md", "context/AGENTS.md")
"""The only files of the starter vault that an adopted vault gets."""

_NO_LOCALE = b'# locale = ""'
"""The line of the settings file that shows the default."""
_GIT_RULES = (".gitignore", ".gitattributes")
"""In these files the last matching line wins, so our lines go above the person's."""

_OWN_TEMPORARY = b".*.vault-memory.tmp"
_ANCHORED = {b"* -text": b"/memory/** -text"}
"""Rules of a new vault for every file, as a vault with other files gets them."""
_FORMER = {
    b"/memory/*/index.db*": b"index.db*",
    b"/.vault-memory/": b".vault-memory/",
    b"/memory/*/conversations/": b"conversations/",
    _OWN_TEMPORARY: b".*.tmp",
    b"/memory/** -text": b"* -text",
    b"/memory/**/*.jsonl merge=union": b"*.jsonl merge=union",
    b"/memory/**/MEMORY.md merge=union": b"MEMORY.md merge=union",
    b"/memory/**/daily/*.md merge=union": b"**/daily/*.md merge=union",
    b"/memory/**/USER.md merge=vault-memory-profile": b"USER.md merge=vault-memory-profile",
}
"""Rule → the one for every folder that an older version wrote; where that stands, nothing is missing."""

_FORMER_TABLES = {
    "7edcdf431e75aa86593818f6a51294bed9085c6f6f5f324daecee369d3ba194e",
    "74d82bcb3d392dd60e854809741553c766e623d54a31e9fd1666f4b3ff4782b9",
    "5a003c7fe7acef56ba8ec4269a1c93abf9d7d66a36590ad0512ebf57d18d789e",
    "793b68b275781a8aa3580704e3b00c2d077307f179d9a8ab141e870f06894f35",
    "c8965d82a155cfc17486c0d014ac4bfd35976dbd2ba9dc5049c1a6cc7b8a0f22",
    "274c9c2fcd34e8c5d83f2eb5ea8b911bd7a7915d54210291d1c0580aa1398ed3",
    "58717df1f576abcf771994a6d291cdf78fe3ad62fe5cb7fa2ebd7e55ad467fdd",
    "90509c7a9e3c4b4c7391cc9578838121dd98ead486d503ec0631f5cb7d4e12fa",
    "ae705701bd890ae3754e286806eb89176c35f427cfdf6fec9bccdcc3a1c5d7ef",
}
"""SHA-256 of the tables that an older version shipped, where nobody has changed them."""

_VERSION = re.compile(rb"^# vault-memory hook, version (\d+)$", re.MULTILINE)
_PYTHON_LINE = b"python=''\n"
_OWN_HOOK_SUFFIX = ".local"
"""Suffix of the person's own hook, which ours runs at its end."""


def shipped(name: str) -> Path:
    """The shipped folder `vault`, `hooks` or `locales`. Raises `NotFound` when the installation is incomplete."""
    package = Path(__file__).parent.parent
    for folder in (package / "shipped" / name, package.parent / name):
        if folder.is_dir():
            return folder
    raise NotFound(f"the folder {name!r} that ships with vault-memory is missing: install vault-memory again")


def starter_texts(source: str) -> list[bytes]:
    """A file of the starter vault in each of its languages; none for a file that is not in it."""
    found = (
        files.read(path) for path in (shipped("vault") / source, *shipped("locales").glob(f"*/{glob.escape(source)}"))
    )
    return [text for text in found if text is not None]


def tables(locale: str = "") -> dict[PurePosixPath, bytes]:
    """The tables for Obsidian (`*.base`) in a language, by their path in a vault."""
    folder = shipped("locales") / locale if locale and locale != "zh-TW" else shipped("vault")
    return {PurePosixPath(path.name): path.read_bytes() for path in sorted(folder.glob("*.base"))}


def is_shipped_table(text: bytes) -> bool:
    """Whether a table is as this version, or an older one, ships it in some language: nobody has changed it."""
    known = {table for locale in ("", *_locales()) for table in tables(locale).values()}
    return text in known or hashlib.sha256(text).hexdigest() in _FORMER_TABLES


def _locales() -> list[str]:
    return [path.name for path in shipped("locales").iterdir() if path.is_dir()]


def lay_out(root: Path, *, adopt: bool = False, ignored: Sequence[str] = (), locale: str = "") -> list[PurePosixPath]:
    """Copy the starter vault into the folder `root`; return the vault-relative paths written, sorted.

    An existing file stays as it is, except `.gitignore` and `.gitattributes`: they get our missing lines above the
    person's, so the person's lines still win. `adopt` is for a folder with notes in it: it gets only the settings, the
    two context notes, and those rules for git that concern files of ours; `ignored` are more lines for `.gitignore`. A
    new settings file names the `locale`, if there is one, and the files are in its language.
    """
    written = []
    for source, before, content in _planned(root, adopt, ignored, locale):
        if before is None and source.name == layout.SETTINGS_FILE and locale:
            content = content.replace(_NO_LOCALE, f'locale = "{locale}"'.encode())
        if content != before:
            files.replace(files.contained(root, source), content, before, root.resolve())
            written.append(source)
    return written


def missing(
    root: Path, ignored: Sequence[str] = ()
) -> tuple[dict[PurePosixPath, tuple[str, ...]], tuple[PurePosixPath, ...]]:
    """What `lay_out` would add to a folder that is adopted: the lines for each file with rules, and the new files."""
    rules: dict[PurePosixPath, tuple[str, ...]] = {}
    new = []
    for source, before, content in _planned(root, True, ignored):
        if source.name in _GIT_RULES:
            added = content.removesuffix(before or b"").decode("utf-8", "replace").split("\n")
            rules |= {source: tuple(line for line in added if line)} if content != before else {}
        elif before is None:
            new.append(source)
    return rules, tuple(new)


def _planned(
    root: Path, adopt: bool, ignored: Sequence[str], locale: str = ""
) -> Iterator[tuple[PurePosixPath, bytes | None, bytes]]:
    """(path, its bytes or None, its bytes to be) of each file of the starter that concerns `root`, sorted."""
    starter, words = shipped("vault"), shipped("locales") / (locale or "zh-TW")
    for path in sorted(p for p in starter.rglob("*") if p.is_file()):
        source = PurePosixPath(path.relative_to(starter).as_posix())
        if adopt and source.as_posix() not in _ADOPTED_FILES:
            continue
        if source.name in _GIT_RULES and (root / source).is_symlink():  # git does not follow it
            raise ForeignFile(
                f"{root / source} is a link to {os.readlink(root / source)}, which git does not follow, and what it "
                "leads to is no rule of yours: delete it, or put the file itself there"
            )
        before = files.read(files.contained(root, source))
        content = (words / source if (words / source).is_file() else path).read_bytes()
        if source.name in _GIT_RULES:
            more = [line.encode() for line in ignored] if source.name == ".gitignore" else []
            if before is not None or adopt:
                content = _with_rules(before or b"", content, more)
        elif before is not None:
            continue
        yield source, before, content


def _with_rules(own: bytes, ours: bytes, more: Sequence[bytes] = ()) -> bytes:
    """`own` with the missing rules above it, `more` first; `own` itself when none is missing.

    Of `ours` only rules for our own files and folders are taken: nobody else's files are ignored or merged by them.
    """
    present = {line.strip() for line in reading.lines(own)}
    rules = [_ANCHORED.get(line, line) for line in reading.lines(ours)]
    rules = [line for line in rules if line.startswith(b"/") or line == _OWN_TEMPORARY]
    lacking = [line for line in (*more, *rules) if line not in present and _FORMER.get(line) not in present]
    if not lacking:
        return own
    return b"\n".join([b"# vault-memory", *lacking, b"", own])


def hooks_folder(git_dir: Path) -> Path:
    """The folder of git's hooks. A linked working tree, which `git_dir` may belong to, uses those of its repository."""
    return git.common_dir(git_dir) / "hooks"


def hooks(python: str = sys.executable) -> dict[str, bytes]:
    """Each hook by its name, as it is installed here: it calls this Python, whatever the PATH of who commits says."""
    line = f"python={shlex.quote(python)}\n".encode()
    return {path.name: path.read_bytes().replace(_PYTHON_LINE, line) for path in sorted(shipped("hooks").iterdir())}


def install_hooks(git_dir: Path, python: str = sys.executable) -> list[str]:
    """Install or upgrade our hooks in a repository's `hooks`; return a line per hook changed or left alone.

    A hook of ours (it has a version line) is upgraded when its text differs from the shipped one and its version is not
    newer. A person's own hook is renamed to `<name>.local` and keeps its mode; ours runs it last, with the same
    arguments. If both names are the person's hooks, both stay. An empty list: nothing was to do.
    """
    target_dir = hooks_folder(git_dir)
    if target_dir.is_symlink() or (target_dir.exists() and not target_dir.is_dir()):
        raise ForeignFile(f"{target_dir} is not a folder of this repository's own: delete it")
    target_dir.mkdir(exist_ok=True)
    done = []
    for name, content in hooks(python).items():
        target, own = target_dir / name, target_dir / (name + _OWN_HOOK_SUFFIX)
        before = files.read(target)
        if before == content and os.access(target, os.X_OK):
            continue
        if before is None:
            done.append(f"{name}: installed")
        elif version := _version(before):
            if version > _version(content):
                continue
            done.append(f"{name}: upgraded")
        elif own.exists():
            done.append(f"{name}: left alone, because {name} and {own.name} are both your own hooks")
            continue
        else:
            os.rename(target, own)
            before = None
            done.append(f"{name}: installed; your own hook is now {own.name} and still runs")
        files.replace(target, content, before)
        target.chmod(0o755)
    return done


def is_our_hook(hook: bytes) -> bool:
    """Whether a hook is one that ships with this package, as it is installed here, byte for byte."""
    return hook in hooks().values()


def _version(hook: bytes) -> int:
    """The version of our hook; 0 for another hook."""
    match = _VERSION.search(hook)
    return int(match[1]) if match else 0
