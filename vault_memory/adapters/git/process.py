"""Run git: no hooks, no other place, and none of the programs that the repository's own config names (`settings`)."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from vault_memory.adapters.git.settings import (
    MAX_MEMORY_BYTES,
    MAX_OUTPUT_BYTES,
    TimedOut,
    launch,
    locate,
    pipe_below,
    refuse_pipes,
    settings_at,
)
from vault_memory.errors import HistoryError

_OPTIONS = (
    "-c",
    f"core.hooksPath={os.devnull}",  # a person's hooks are for the person's commits
    "-c",
    "log.showSignature=false",  # it would start gpg for each commit of a log
)
_BAD_SHALLOW = "bad shallow line"
_NO_TRANSPORT = {"GIT_ALLOW_PROTOCOL": "none"}


def run(
    folder: Path,
    *args: str,
    stdin: bytes = b"",
    extra: Mapping[str, str] | None = None,
    timeout_s: float = 30.0,
    ok: Sequence[int] = (0,),
    asks_remote: bool = False,
    memory_bytes: int | None = MAX_MEMORY_BYTES,
    output_bytes: int = MAX_OUTPUT_BYTES,
) -> bytes:
    """Run git in `folder` and return its output; it reaches another repository only if it `asks_remote`.

    What it prints and the memory that it takes (None: any) are limited (`launch`). Raises `HistoryError` with git's own
    words when it fails, or with ours when it can work with no setting here.
    """
    options, environment = [*_OPTIONS], {} if asks_remote else dict(_NO_TRANSPORT)
    if place := locate(folder):
        refuse_pipes(place)
        settings = settings_at(place)
        if settings.problem:
            raise HistoryError(settings.problem)
        options += settings.switched_off
        environment |= place.boundary()
    try:
        return launch(
            folder,
            options,
            args,
            stdin=stdin,
            extra=environment | dict(extra or {}),
            timeout_s=timeout_s,
            ok=ok,
            memory_bytes=memory_bytes,
            output_bytes=output_bytes,
        )
    except TimedOut as error:
        if place and (pipe := pipe_below(place)):
            raise HistoryError(f"{pipe} is a pipe, socket or device, which holds git up: delete it") from error
        raise
    except HistoryError as error:
        if place and _BAD_SHALLOW in str(error):
            raise HistoryError(
                f"{place.common_dir / 'shallow'} is damaged ({error}): delete it; where this is a clone without its "
                "whole history, `git fetch --unshallow` then brings that"
            ) from error
        raise
