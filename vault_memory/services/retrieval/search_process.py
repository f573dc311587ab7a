"""Search in a separate process, for a server.

In one process only one thread at a time runs Python: a search there takes turns with every response that is being sent,
and beside a few streams both take twice as long.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from vault_memory.services.retrieval.query import SearchQuery, SearchResult
from vault_memory.services.retrieval.search import search
from vault_memory.services.vault import Vault, open_vault

_opened: list[Vault] = []
"""The vault, in the other process."""


class SearchProcess:
    """The process starts at once, again after it was killed, and ends with this one or by `close`."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._pool = self._started()

    async def __call__(self, user_id: str, query: SearchQuery) -> SearchResult:
        """Search the vault for a user. Raises what `search` raises."""
        pool = self._pool
        try:
            return await _run(pool, user_id, query)
        except BrokenProcessPool:
            if self._pool is pool:  # nobody else has noticed yet
                self._pool = self._started()
            return await _run(self._pool, user_id, query)

    def close(self) -> None:
        """End the process."""
        self._pool.shutdown(cancel_futures=True)

    def _started(self) -> ProcessPoolExecutor:
        # Spawned, not forked: a fork would hold the locks that other threads of this process held in that moment.
        context = multiprocessing.get_context("spawn")
        with _safe_path():
            pool = ProcessPoolExecutor(1, context, _begin, (self._vault.root, self._vault.flags))
            pool.submit(os.getpid)  # it starts now, so that nobody's search waits for that
        return pool


@contextmanager
def _safe_path() -> Iterator[None]:
    """A Python that is started here imports nothing from the current folder, which may be the vault: a remote or an
    archive can have brought a `socket.py`."""
    name = "PYTHONSAFEPATH"
    before = os.environ.get(name)
    os.environ[name] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


async def _run(pool: ProcessPoolExecutor, user_id: str, query: SearchQuery) -> SearchResult:
    return await asyncio.get_running_loop().run_in_executor(pool, _search, user_id, query)


def _begin(root: Path, flags: Mapping[str, Any]) -> None:
    for name in ("SIGINT", "SIGHUP"):  # Ctrl-C and a terminal's end reach the whole group; the server ends this one
        if number := getattr(signal, name, None):
            signal.signal(number, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _opened.append(open_vault(root, **flags))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(0)


def _search(user_id: str, query: SearchQuery) -> SearchResult:
    return search(_opened[0], user_id, query)
