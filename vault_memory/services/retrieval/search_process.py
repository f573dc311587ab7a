"""Search in a process of its own, for a server.

Of one process only one thread at a time runs Python: a search there takes turns with every answer that is on its way, and
beside a few streams both take twice as long.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import threading
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

from vault_memory.services.retrieval.search import SearchResult, search
from vault_memory.services.vault import Vault, open_vault

_opened: list[Vault] = []
"""In the other process: the vault that it searches."""


class SearchProcess:
    """Started when it is made, started anew when it was killed, ended with this process or by `close`."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._pool = self._started()

    async def __call__(self, *args: Any) -> SearchResult:
        """What `search` gives with the vault and these arguments. Raises what it raises."""
        pool = self._pool
        try:
            return await _run(pool, args)
        except BrokenProcessPool:
            if self._pool is pool:  # nobody else has noticed yet
                self._pool = self._started()
            return await _run(self._pool, args)

    def close(self) -> None:
        """End the process."""
        self._pool.shutdown(cancel_futures=True)

    def _started(self) -> ProcessPoolExecutor:
        # Spawned, not forked: a fork would hold the locks that other threads of this process held in that moment.
        context = multiprocessing.get_context("spawn")
        pool = ProcessPoolExecutor(1, context, _begin, (self._vault.root, self._vault.flags))
        pool.submit(os.getpid)  # now, so that nobody's search waits for the start
        return pool


async def _run(pool: ProcessPoolExecutor, args: tuple[Any, ...]) -> SearchResult:
    return await asyncio.get_running_loop().run_in_executor(pool, _search, args)


def _begin(root: Path, flags: Mapping[str, Any]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the server ends this one
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _opened.append(open_vault(root, **flags))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(0)


def _search(args: tuple[Any, ...]) -> SearchResult:
    return search(_opened[0], *args)
