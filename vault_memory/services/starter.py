"""The starter vault and the git hooks that ship with this package, and how they are put in place.

An installed package holds both in `vault_memory/shipped/`; in a checkout or an editable install they are beside the
package. Everything here can be run again at any time: a file of the person is never overwritten.
"""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath

from vault_memory.adapters import files
from vault_memory.core import reading
from vault_memory.errors import NotFound

_ADOPTED_FILES = (".gitignore", ".gitattributes", "vault-memory.toml", "context/SOUL.md", "context/AGENTS.md")
"""The only files of the starter vault that an adopted vault gets."""

_GIT_RULES = (".gitignore", ".gitattributes")
"""In these files the last matching line wins, so our lines go above the person's."""

_VERSION = re.compile(rb"^# vault-memory hook, version (\d+)$", re.MULTILINE)
_OWN_HOOK_SUFFIX = ".local"
"""Suffix of the person's own hook, which ours runs at its end."""


def shipped(name: str) -> Path:
    """The shipped folder `vault` or `hooks`. Raises `NotFound` when the installation is incomplete."""
    package = Path(__file__).parent.parent
    for folder in (package / "shipped" / name, package.parent / name):
        if folder.is_dir():
            return folder
    raise NotFound(f"the folder {name!r} that ships with vault-memory is missing: install vault-memory again")


def lay_out(root: Path, *, adopt: bool = False) -> list[PurePosixPath]:
    """Copy the starter vault into the folder `root`; return the vault-relative paths written, sorted.

    An existing file stays as it is, except `.gitignore` and `.gitattributes`: they get our missing lines above the
    person's, so the person's lines still win. `adopt` is for a folder with notes in it: it gets only the settings, the
    two context notes and the rules for git.
    """
    starter = shipped("vault")
    written = []
    for path in sorted(p for p in starter.rglob("*") if p.is_file()):
        source = PurePosixPath(path.relative_to(starter).as_posix())
        if adopt and source.as_posix() not in _ADOPTED_FILES:
            continue
        target = files.contained(root, source)
        before = files.read(target)
        content = path.read_bytes()
        if before is not None:
            if source.name not in _GIT_RULES:
                continue
            content = _with_rules(before, content)
        if content != before:
            files.replace(target, content, before)
            written.append(source)
    return written


def _with_rules(own: bytes, ours: bytes) -> bytes:
    """`own` with the missing rules of `ours` above it; `own` itself when none is missing."""
    present = {line.strip() for line in reading.lines(own)}
    missing = [
        line for line in reading.lines(ours) if line.strip() and not line.startswith(b"#") and line not in present
    ]
    if not missing:
        return own
    return b"\n".join([b"# vault-memory", *missing, b"", own])


def hooks_folder(git_dir: Path) -> Path:
    """The folder of git's hooks. A linked working tree, which `git_dir` may belong to, uses those of its repository."""
    common = files.read(git_dir / "commondir")
    return (git_dir / os.fsdecode(common).strip() if common else git_dir) / "hooks"


def install_hooks(git_dir: Path) -> list[str]:
    """Install or upgrade our hooks in a repository's `hooks`; return a line per hook changed or left alone.

    A hook of ours (it has a version line) is upgraded when its text differs from the shipped one and its version is not
    newer. A person's own hook is renamed to `<name>.local` and keeps its mode; ours runs it last, with the same
    arguments. If both names are the person's hooks, both stay. An empty list: nothing was to do.
    """
    target_dir = hooks_folder(git_dir)
    target_dir.mkdir(exist_ok=True)
    done = []
    for path in sorted(shipped("hooks").iterdir()):
        target, own = target_dir / path.name, target_dir / (path.name + _OWN_HOOK_SUFFIX)
        before, content = files.read(target), path.read_bytes()
        if before == content and os.access(target, os.X_OK):
            continue
        if before is None:
            done.append(f"{path.name}: installed")
        elif version := _version(before):
            if version > _version(content):
                continue
            done.append(f"{path.name}: upgraded")
        elif own.exists():
            done.append(f"{path.name}: left alone, because {path.name} and {own.name} are both your own hooks")
            continue
        else:
            os.rename(target, own)
            before = None
            done.append(f"{path.name}: installed; your own hook is now {own.name} and still runs")
        files.replace(target, content, before)
        target.chmod(0o755)
    return done


def _version(hook: bytes) -> int:
    """The version of our hook; 0 for another hook."""
    match = _VERSION.search(hook)
    return int(match[1]) if match else 0
