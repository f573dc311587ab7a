"""What a new vault is made of: the starter vault and the git hooks that ship with this package.

Both lie inside an installed package (`vault_memory/shipped/`) and, in a checkout or an editable install, beside it.
Everything here may be run again at any time: what is already there and not ours is never overwritten.
"""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath

from vault_memory.adapters import files
from vault_memory.errors import NotFound

_NEEDED = (".gitignore", ".gitattributes", "vault-memory.toml", "context/SOUL.md", "context/AGENTS.md")
"""What an adopted vault gets of the starter vault: the rest of it is the person's own already."""

_RULES = (".gitignore", ".gitattributes")
"""Files of which the last matching line wins, so that our lines go above the person's own."""

_VERSION = re.compile(rb"^# vault-memory hook, version (\d+)$", re.MULTILINE)
_OWN = ".local"
"""Ending of a person's own hook, which ours runs after itself."""


def shipped(name: str) -> Path:
    """The shipped folder `vault` or `hooks`. Raises `NotFound` when the installation is incomplete."""
    package = Path(__file__).parent.parent
    for folder in (package / "shipped" / name, package.parent / name):
        if folder.is_dir():
            return folder
    raise NotFound(f"the folder {name!r} that ships with vault-memory is missing: install vault-memory again")


def lay_out(root: Path, *, adopt: bool = False) -> list[PurePosixPath]:
    """Copy the starter vault into the folder `root`; return the vault-relative paths written, sorted.

    A file that is there already stays as it is, except `.gitignore` and `.gitattributes`, which get our lines that
    they lack, above the person's own (whose lines thus still win). `adopt` is for a folder that is somebody's vault
    already: it gets only the settings, the two context notes and the rules for git.
    """
    starter = shipped("vault")
    written = []
    for path in sorted(p for p in starter.rglob("*") if p.is_file()):
        source = PurePosixPath(path.relative_to(starter).as_posix())
        if adopt and source.as_posix() not in _NEEDED:
            continue
        target = files.contained(root, source)
        before = files.read(target)
        content = path.read_bytes()
        if before is not None:
            if source.name not in _RULES:
                continue
            content = _with_rules(before, content)
        if content != before:
            files.replace(target, content, before)
            written.append(source)
    return written


def _with_rules(own: bytes, ours: bytes) -> bytes:
    """`own` below those rules of `ours` that it lacks; `own` itself when it has them all."""
    present = {line.strip() for line in own.splitlines()}
    lacking = [line for line in ours.splitlines() if line.strip() and not line.startswith(b"#") and line not in present]
    if not lacking:
        return own
    return b"\n".join([b"# vault-memory", *lacking, b"", own])


def hooks_folder(git_dir: Path) -> Path:
    """Where git looks for hooks; `git_dir` may be that of a linked working tree, whose repository's hooks are the ones."""
    common = files.read(git_dir / "commondir")
    return (git_dir / os.fsdecode(common).strip() if common else git_dir) / "hooks"


def install_hooks(git_dir: Path) -> list[str]:
    """Install or upgrade our hooks in a repository's `hooks`; return one line for each thing that was done or left undone.

    A hook of ours (it carries a version line) is upgraded when its text differs from the shipped one and its version is
    not newer. A person's own hook is kept: it is renamed to `<name>.local`, with its mode, and ours runs it last with
    the same arguments. Where both names are the person's, both stay and the line says so. An empty list: all is well.
    """
    target_dir = hooks_folder(git_dir)
    target_dir.mkdir(exist_ok=True)
    done = []
    for path in sorted(shipped("hooks").iterdir()):
        target, own = target_dir / path.name, target_dir / (path.name + _OWN)
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
            done.append(f"{path.name}: left alone, for {path.name} and {own.name} are both your own hooks")
            continue
        else:
            os.rename(target, own)
            before = None
            done.append(f"{path.name}: installed; your own hook is now {own.name} and still runs")
        files.replace(target, content, before)
        target.chmod(0o755)
    return done


def _version(hook: bytes) -> int:
    """Version of a hook of ours; 0 for somebody else's."""
    found = _VERSION.search(hook)
    return int(found[1]) if found else 0
