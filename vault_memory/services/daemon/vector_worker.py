"""The daemon's vectors worker: a few passages it embeds itself, many are embedded by a child process.

scikit-learn, and what it brings, takes 90 MB for as long as a process lives. A daemon lives for weeks and needs it for
seconds; the child takes it along when it ends.
"""

from __future__ import annotations

import json
import os
import queue
import threading
import time

from vault_memory.adapters import child
from vault_memory.core import layout
from vault_memory.errors import EndpointError
from vault_memory.services.daemon.event_log import Bulletin
from vault_memory.services.indexing.reconcile import embed
from vault_memory.services.indexing.spaces import progress
from vault_memory.services.vault import Vault, open_vault

FEW = 64
"""So many passages are embedded here before a child would have loaded scikit-learn, which takes it a second."""
BATCH = 8
"""Passages at a time here; for more the embedder would load scikit-learn."""
CALM_S = 5.0
"""Vectors wait so long for a moment without edits: to find new words matters more than to find them by meaning too."""
WORD_S = 10.0
"""How often it is told how far a long work is."""
LULL_S = 1.0
"""When edits go on for longer than this, a child ends: they are to be found by their words first."""
_POLL_S = 0.1
_NICER = 10


class VectorWorker:
    """`put` it every scope that may lack vectors, whenever it may; `run` computes them until `stop` is set and None was put.

    It begins while `calm` is set, or after some seconds. A scope whose endpoint does not answer is tried again when it is
    put the next time.
    """

    def __init__(self, vault: Vault, bulletin: Bulletin, calm: threading.Event) -> None:
        self._vault, self._bulletin, self._calm = vault, bulletin, calm
        self._scopes: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._stop = threading.Event()
        self._at_work = threading.Lock()
        self.put = self._scopes.put

    def run(self, stop: threading.Event) -> None:
        self._stop = stop
        failing = set[str]()
        while not stop.is_set():
            for scope in self._waited_for():
                try:
                    with self._at_work:
                        self._embed(scope)
                    failing.discard(scope)
                except EndpointError as error:  # offline vectors of the other scopes need no endpoint
                    if not failing:
                        self._bulletin.trouble("vectors", error)
                    failing.add(scope)
            if not failing:
                self._bulletin.well("vectors")

    def _waited_for(self) -> list[str]:
        """What has been put, each once; waits for the first."""
        scopes = {self._scopes.get()}
        if not self._stop.is_set():
            self._calm.wait(CALM_S)
        while not self._scopes.empty():
            scopes.add(self._scopes.get())
        return sorted(scope for scope in scopes if scope is not None)

    def work_through(self, vault: Vault) -> str:
        """The job `vectors`, done the same way. Raises `EndpointError` when some are lacking after it."""
        if not self._at_work.acquire(blocking=False):
            return "they are being computed"
        failure: EndpointError | None = None
        try:
            for scope in vault.scopes():
                try:
                    self._embed(scope)
                except EndpointError as error:
                    failure = error
        finally:
            self._at_work.release()
        if failure:
            raise failure
        return "every passage has its vector"

    def _embed(self, scope: str) -> None:
        """Compute what vectors a scope lacks; a long work tells from time to time how far it is."""
        next_word = time.monotonic() + WORD_S
        while not self._stop.is_set() and (left := embed(self._vault, scope, BATCH)):
            if left > FEW and self._vault.given_embedder is None:
                self._embed_apart(scope)
            elif time.monotonic() >= next_word:
                next_word = time.monotonic() + WORD_S
                self._tell_progress(scope)
            self._calm.wait(CALM_S)

    def _embed_apart(self, scope: str) -> None:
        """Have a child do it. What it could not do, and why, shows when the rest is tried here."""
        words = str(self._vault.root), scope, json.dumps(dict(self._vault.flags))
        with child.start(embed_all, *words, environ={**os.environ, **self._vault.environ}) as process:
            next_word = 0.0
            while process.poll() is None:
                if self._stop.wait(_POLL_S) or not self._calm.wait(LULL_S):
                    process.kill()  # what it has computed is kept
                elif time.monotonic() >= next_word:
                    next_word = time.monotonic() + WORD_S
                    self._tell_progress(scope)
        self._tell_progress(scope)

    def _tell_progress(self, scope: str) -> None:
        if not self._stop.is_set():
            said = progress(self._vault.index(scope), self._vault.embedder.space)
            self._bulletin.note("vectors", layout.label(scope), said)


def embed_all(root: str, scope: str, flags: str) -> None:
    """What the child does: compute all vectors that a scope of the vault at `root` lacks. `flags` are settings, as JSON."""
    if hasattr(os, "nice"):
        os.nice(_NICER)
    vault = open_vault(root, **json.loads(flags))
    while embed(vault, scope):
        pass
