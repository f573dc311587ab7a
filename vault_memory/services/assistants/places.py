"""Where the assistants have their files on this machine."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from vault_memory.core.assistants import Place
from vault_memory.errors import UsageError


def named(place: Place | tuple[str, str], environ: Mapping[str, str]) -> Path:
    """The file of a place, or of a folder and a name. The person's folders are those that `environ` names."""
    folder, name = (place.folder, place.name) if isinstance(place, Place) else place
    return _folder(folder, environ) / name


def path_of(place: Place | tuple[str, str], environ: Mapping[str, str]) -> Path:
    """The file that is `named`. A link is followed: people keep such files elsewhere. Raises `UsageError` for one that
    leads to itself."""
    path = named(place, environ)
    try:
        with suppress(FileNotFoundError):  # a link may lead to what is not there yet
            path.stat()
    except OSError as error:
        why = "it is a link that leads to itself" if error.errno == errno.ELOOP else error.strerror
        raise UsageError(f"{path} cannot be reached ({why}): mend that first") from error
    return path.resolve() if path.is_symlink() else path


def is_there(folder: str, environ: Mapping[str, str]) -> bool:
    """Whether an assistant has been used here, as far as its folder tells."""
    return _folder(folder, environ).is_dir()


def _folder(name: str, environ: Mapping[str, str]) -> Path:
    home = Path(environ.get("HOME") or Path.home())
    config = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    if sys.platform == "darwin":
        programs = home / "Library" / "Application Support"
    elif sys.platform == "win32":
        programs = Path(environ.get("APPDATA") or home / "AppData" / "Roaming")
    else:
        programs = config
    own_claude = environ.get("CLAUDE_CONFIG_DIR")
    folders = {
        "home": Path(own_claude) if own_claude else home,  # of .claude.json alone
        "claude": Path(own_claude) if own_claude else home / ".claude",
        "claude-desktop": programs / "Claude",
        "codex": Path(environ.get("CODEX_HOME") or home / ".codex"),
        "cursor": home / ".cursor",
        "vscode": programs / "Code" / "User",
        "opencode": config / "opencode",
    }
    return Path(os.path.abspath(folders[name]))
