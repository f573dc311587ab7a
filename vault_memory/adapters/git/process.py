"""Run git: no hooks, no other place, and none of the programs that the repository's own config names (`settings`)."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Self

from vault_memory.adapters.git.settings import (
    MAX_MEMORY_BYTES,
    MAX_OUTPUT_BYTES,
    Place,
    TimedOut,
    launch,
    locate,
    pipe_below,
    refuse_pipes,
    settings_at,
    start,
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
_ASKED_AT_ONCE = 200
"""So many ids fit into a pipe: while git waits for its answers to be read, nobody waits for it."""


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
    place = locate(folder)
    options, environment = _options(place)
    if asks_remote:
        environment = {name: value for name, value in environment.items() if name not in _NO_TRANSPORT}
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


def _options(place: Place | None) -> tuple[list[str], dict[str, str]]:
    """What each git is told on its command line, and in its environment."""
    options, environment = [*_OPTIONS], dict(_NO_TRANSPORT)
    if place:
        refuse_pipes(place)
        settings = settings_at(place)
        if settings.problem:
            raise HistoryError(settings.problem)
        options += settings.switched_off
        environment |= place.boundary()
    return options, environment


class ObjectReader:
    """One git that reads objects by id, each as often as it is asked for: quick where there are a hundred thousand.

    A context manager. It reads what is packed as well as `Objects` does, without keeping packs mapped.
    """

    def __init__(self, folder: Path) -> None:
        options, environment = _options(locate(folder))
        args = ("--no-replace-objects", "cat-file", "--batch")
        self._git = start(folder, options, args, environment, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._git.kill()
        self._git.communicate()

    def read(self, object_id: str) -> tuple[str, bytes]:
        """(kind, body) of an object. Raises `HistoryError` for one that is not there or cannot be read."""
        self._ask([object_id])
        return self._answer(object_id)

    def read_all(self, object_ids: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        """(kind, body) of each of these, as `read`, in half the time; nothing else is read meanwhile."""
        for at in range(0, len(object_ids), _ASKED_AT_ONCE):
            some = object_ids[at : at + _ASKED_AT_ONCE]
            self._ask(some)
            yield from map(self._answer, some)

    def _ask(self, object_ids: Sequence[str]) -> None:
        asks = self._git.stdin
        assert asks is not None
        try:
            asks.write(b"".join(each.encode() + b"\n" for each in object_ids))
            asks.flush()
        except OSError as error:
            raise HistoryError(f"git stopped at object {object_ids[0]}: run `git fsck`") from error

    def _answer(self, object_id: str) -> tuple[str, bytes]:
        answers = self._git.stdout
        assert answers is not None
        words = answers.readline().split()
        if len(words) != 3:
            raise HistoryError(f"object {object_id} is not in the repository: run `git fsck`")
        body = answers.read(int(words[2]) + 1)
        if len(body) != int(words[2]) + 1:
            raise HistoryError(f"object {object_id} is cut: run `git fsck`")
        return words[1].decode(), body[:-1]
