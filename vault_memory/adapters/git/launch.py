"""Start git: one process, no shell, an environment that no outer git can change, and a time-out."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from vault_memory.errors import HistoryError

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
    "GIT_NO_LAZY_FETCH": "1",  # a missing object is no reason to ask an address that the repository names
}
# Folders named `objects` and `refs` with a `config` beside them are a bare repository to git, and may lie among the
# notes of a stranger. Git would then obey that config; only `.git` is the vault's.
_FIXED_OPTIONS = ("-c", "safe.bareRepository=explicit")


def launch(
    folder: Path,
    options: Sequence[str],
    args: Sequence[str],
    *,
    stdin: bytes = b"",
    extra: Mapping[str, str] | None = None,
    timeout_s: float = 30.0,
    ok: Sequence[int] = (0,),
) -> bytes:
    """Run `git <options> <args>` in `folder` and return its output; `HistoryError` with git's own words if it fails."""
    command = " ".join(["git", *args[:2]])
    try:
        process = subprocess.Popen(
            ["git", *_FIXED_OPTIONS, *options, *args],
            cwd=folder,
            env=_environment(extra),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    except FileNotFoundError as error:
        raise HistoryError("git was not found: install git (2.28 or newer) and put it on the PATH") from error
    try:
        out, err = process.communicate(stdin, timeout=timeout_s)
    except subprocess.TimeoutExpired as error:
        process.kill()
        process.communicate()
        raise HistoryError(f"`{command}` did not finish within {timeout_s:g} s: check that the disk answers") from error
    if process.returncode not in ok:
        message = err.decode("utf-8", "replace").strip() or f"exit code {process.returncode}"
        raise HistoryError(f"`{command}` failed: {message}")
    return out


def _environment(extra: Mapping[str, str] | None) -> dict[str, str]:
    """The process's environment without the variables that steer git; git then speaks English and asks nothing."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in _KEPT_VARIABLES}
    return kept | _FIXED_VARIABLES | dict(extra or {})
