"""The daemon's vectors worker: embeds a few passages itself, and lets a child process embed many.

scikit-learn and what it imports take 90 MB for as long as a process lives. A daemon lives for weeks and needs them for
seconds; with the child they leave memory again.
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
from vault_memory.services.daemon.event_log import DaemonEvents
from vault_memory.services.daemon.jobs import each
from vault_memory.services.indexing import embed, progress
from vault_memory.services.vault import Vault, open_vault

MAX_PASSAGES_HERE = 64
"""Up to this many are embedded here: a child needs a second to load scikit-learn."""
BATCH_PASSAGES = 8
"""Embedded at a time here; for more of them the embedder would load scikit-learn."""
QUIET_TIMEOUT_S = 5.0
"""How long vectors wait for a pause in the edits: text comes first, because words alone find a passage."""
PROGRESS_INTERVAL_S = 10.0
MAX_EDITING_S = 1.0
"""A child is ended when edits go on for longer than this: they must be indexed first."""
_POLL_S = 0.1
_CHILD_NICENESS = 10


class VectorWorker:
    """`put` each scope that may lack vectors; `run` computes them until `stop` is set and None is put.

    It starts when `quiet` is set, or after some seconds. After an endpoint fails, its scope is tried again when it is
    put again.
    """

    def __init__(self, vault: Vault, events: DaemonEvents, quiet: threading.Event) -> None:
        self._vault, self._events, self._quiet = vault, events, quiet
        self._scopes: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._stop = threading.Event()
        self._computing = threading.Lock()
        self.put = self._scopes.put

    def run(self, stop: threading.Event) -> None:
        """Embed what is put until `stop` is set."""
        self._stop = stop
        failing = set[str]()
        while not stop.is_set():
            for scope in self._take_scopes():
                try:
                    with self._computing:
                        self._embed(scope)
                    failing.discard(scope)
                except EndpointError as error:  # the other scopes' offline vectors need no endpoint
                    if not failing:
                        self._events.report_error("vectors", error)
                    failing.add(scope)
            if not failing:
                self._events.clear_error("vectors")

    def _take_scopes(self) -> list[str]:
        """Empty the queue and return each scope once; waits for the first."""
        scopes = {self._scopes.get()}
        if not self._stop.is_set():
            self._quiet.wait(QUIET_TIMEOUT_S)
        while not self._scopes.empty():
            scopes.add(self._scopes.get())
        return sorted(scope for scope in scopes if scope is not None)

    def embed_everything(self, vault: Vault) -> str:
        """The job `vectors`, done the same way. Raises what `each` raises."""
        if not self._computing.acquire(blocking=False):
            return "vectors are being computed already"
        try:
            each(vault.scopes(), self._embed)
        finally:
            self._computing.release()
        return "every passage has its vector"

    def _embed(self, scope: str) -> None:
        """Compute the vectors that a scope lacks, and publish the progress from time to time."""
        next_progress = time.monotonic() + PROGRESS_INTERVAL_S
        self._vault.chats.let_go_first()
        while not self._stop.is_set() and (pending := embed(self._vault, scope, BATCH_PASSAGES)):
            if pending > MAX_PASSAGES_HERE and self._vault.given_embedder is None:
                self._embed_in_child(scope)
            elif time.monotonic() >= next_progress:
                next_progress = time.monotonic() + PROGRESS_INTERVAL_S
                self._publish_progress(scope)
            self._quiet.wait(QUIET_TIMEOUT_S)
            self._vault.chats.let_go_first()

    def _embed_in_child(self, scope: str) -> None:
        """Have a child do it. If it fails, the next batch fails here too, with the reason."""
        arguments = str(self._vault.root), scope, json.dumps(dict(self._vault.flags))
        with child.start(embed_all, *arguments, environ={**os.environ, **self._vault.environ}) as process:
            next_progress = 0.0
            while process.poll() is None:
                if self._stop.wait(_POLL_S) or not self._quiet.wait(MAX_EDITING_S):
                    process.kill()  # the vectors it has computed are kept
                elif time.monotonic() >= next_progress:
                    next_progress = time.monotonic() + PROGRESS_INTERVAL_S
                    self._publish_progress(scope)
        self._publish_progress(scope)

    def _publish_progress(self, scope: str) -> None:
        if not self._stop.is_set():
            message = progress(self._vault.index(scope), self._vault.embedder.space)
            self._events.publish("vectors", layout.label(scope), message)


def embed_all(root: str, scope: str, flags: str) -> None:
    """In the child: compute all vectors that a scope of the vault at `root` lacks. `flags` are settings, as JSON."""
    if hasattr(os, "nice"):
        os.nice(_CHILD_NICENESS)
    vault = open_vault(root, **json.loads(flags))
    while embed(vault, scope):
        pass
