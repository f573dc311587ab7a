"""Run git: no hooks, and none of the programs that the repository's own config names (`settings`)."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from vault_memory.adapters.git.launch import launch
from vault_memory.adapters.git.settings import settings_of

_OPTIONS = (
    "-c",
    f"core.hooksPath={os.devnull}",  # a person's hooks are for the person's commits
    "-c",
    "log.showSignature=false",  # it would start gpg for each commit of a log
)


def run(
    folder: Path,
    *args: str,
    stdin: bytes = b"",
    extra: Mapping[str, str] | None = None,
    timeout_s: float = 30.0,
    ok: Sequence[int] = (0,),
) -> bytes:
    """Run git in `folder` and return its output. Raises `HistoryError` with git's own words when it fails."""
    off = settings_of(folder).switched_off
    environment = {**off.variables, **(extra or {})}
    return launch(folder, [*_OPTIONS, *off.options], args, stdin=stdin, extra=environment, timeout_s=timeout_s, ok=ok)
