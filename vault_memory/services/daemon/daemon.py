"""The daemon: keeps index and history up to date while people edit. `Daemon(vault).run(stop)`, until `stop` is set.

    watcher ── hints ──→ index worker: settles, reconciles ──┬──→ vectors worker: embeds what has no vector yet
                         heartbeat worker: scheduled jobs    └──→ commit worker: settles longer, commits as the person

Two clocks: an edit is indexed after `watch_settle_ms` of quiet and committed after `watch_commit_quiet_ms`. Whatever
the watcher missed is found by a full look, at the start and from time to time.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import PurePosixPath

from vault_memory.adapters.watcher import EVERYTHING, Hint
from vault_memory.core import layout
from vault_memory.core.settle import Settle
from vault_memory.errors import NotAVault
from vault_memory.services.daemon.daemon_record import lock_path, only_daemon
from vault_memory.services.daemon.event_log import Bulletin, Happening
from vault_memory.services.daemon.follow import BACK_OFF_S, TICK_S, Follower, heard
from vault_memory.services.daemon.heartbeat import heartbeat
from vault_memory.services.daemon.jobs import JOBS, VECTORS
from vault_memory.services.daemon.vector_worker import VectorWorker
from vault_memory.services.person_edits import commit_person_edits
from vault_memory.services.vault import Vault

COMMIT_CAP_S = 300.0
"""A file that is written all day long is committed this often."""
STOP_S = 0.5
"""How long a stop waits for the workers: what they have not finished by then the next start makes good."""


class Daemon:
    """One per vault, held by a file lock; `tell` is called (from several threads) with whatever happens.

    `look_s` seconds lie between full looks while the system tells of changes, `poll_s` while it does not, `beat_s`
    between looks at the schedule. `ready` is set when all is caught up that happened before the start.
    """

    def __init__(
        self,
        vault: Vault,
        tell: Callable[[Happening], None] = lambda happening: None,
        *,
        look_s: float = 60.0,
        poll_s: float = 5.0,
        beat_s: float = 20.0,
    ) -> None:
        self.vault = vault
        self._beat_s = beat_s
        self._bulletin = Bulletin(vault, tell)
        self._stop = threading.Event()
        self._to_commit: queue.SimpleQueue[Hint] = queue.SimpleQueue()
        self._calm = threading.Event()
        self._vectors = VectorWorker(vault, self._bulletin, self._calm)
        self._follower = Follower(
            vault, self._bulletin, self._to_commit.put, self._vectors.put, self._calm, look_s=look_s, poll_s=poll_s
        )
        self.ready = self._follower.ready

    def run(self, stop: threading.Event) -> None:
        """Catch up, then follow every edit until `stop` is set; returns within 2 s of that.

        Raises `Busy`, naming the process, when another daemon watches this vault.
        """
        self._stop = stop
        with ExitStack() as held:
            held.enter_context(only_daemon(self.vault.root))
            self._bulletin.started(f"process {os.getpid()} watches {self.vault.root}")
            follow = partial(self._follower.run, stop)
            work = {"index": follow, "commit": self._commit, "vectors": self._embed, "heartbeat": self._beat}
            workers = [
                threading.Thread(target=self._keep, args=item, name=f"vault-memory {item[0]}", daemon=True)
                for item in work.items()
            ]
            for worker in workers:
                worker.start()
            lock, beat = _inode(lock_path(self.vault.root)), time.monotonic()
            while not stop.wait(TICK_S):
                if not self._is_there():
                    continue
                if _inode(lock_path(self.vault.root)) != lock:
                    held.close()  # somebody deleted `.vault-memory/`, which anybody may, or put another vault here
                    held.enter_context(only_daemon(self.vault.root))
                    lock = _inode(lock_path(self.vault.root))
                    self._bulletin.save()
                if time.monotonic() - beat > self._beat_s:
                    beat = time.monotonic()
                    self._bulletin.save()
            for hints in (self._follower.watcher.hints, self._to_commit):
                hints.put(EVERYTHING)  # whoever waits for something to do wakes, and sees that it is over
            self._vectors.put(None)
            deadline = time.monotonic() + STOP_S
            for worker in workers:
                worker.join(max(0.0, deadline - time.monotonic()))
            self._bulletin.state("stopped", "", "stopped")

    def _is_there(self) -> bool:
        """Whether the vault is where it was, and not on a drive that was taken away; tells when that changes."""
        if self.vault.exists():
            self._bulletin.well("vault")
            return True
        if "vault" not in self._bulletin.record.problems:
            self._bulletin.trouble(
                "vault", NotAVault(f"{self.vault.root} is gone: put it back and it is watched again")
            )
        return False

    # The workers. Each one raises what it cannot deal with, and is then started again after a pause.

    def _keep(self, name: str, work: Callable[[], None]) -> None:
        pause, longest = BACK_OFF_S
        while not self._stop.is_set():
            began = time.monotonic()
            try:
                work()
            except Exception as error:
                if time.monotonic() - began > longest:
                    pause = BACK_OFF_S[0]
                self._bulletin.crashed(name, error)
                self._stop.wait(pause)
                pause = min(2 * pause, longest)

    def _commit(self) -> None:
        settle: Settle[Hint] = Settle(self.vault.config.watch_commit_quiet_ms / 1000, COMMIT_CAP_S)
        while not self._stop.is_set():
            for hint in heard(self._to_commit, settle):
                settle.stir(hint, time.monotonic())
            hints = settle.take(time.monotonic())
            if hints and self.vault.exists():
                try:
                    self._commit_edits(hints)
                except Exception:
                    self._to_commit.put(EVERYTHING)
                    raise
                self._bulletin.well("commit")

    def _commit_edits(self, hints: list[Hint]) -> None:
        """Commit what is at rest, scope by scope; a mass deletion not before the person has confirmed it."""
        everywhere = any(hint.is_folder for hint in hints)
        edits = self.vault.history.uncommitted(None if everywhere else [hint.path for hint in hints])
        paths: dict[str, list[PurePosixPath]] = {}
        for edit in edits:
            paths.setdefault(layout.scope_of(edit.path), []).append(edit.path)
        for scope in paths.keys() - self._follower.held:
            with self.vault.lock(scope) if scope else nullcontext():
                count = commit_person_edits(self.vault, scope, paths[scope])
            if count:
                files = "file" if count == 1 else "files"
                self._bulletin.note("committed", layout.label(scope), f"{count} edited {files}, as the person's")

    def _embed(self) -> None:
        self._let_it_catch_up()
        self._vectors.run(self._stop)

    def _beat(self) -> None:
        self._let_it_catch_up()
        jobs = [replace(job, run=self._vectors.work_through) if job is VECTORS else job for job in JOBS]
        while not self._stop.is_set():
            for outcome in heartbeat(self.vault, jobs=jobs) if self.vault.exists() else ():
                self._bulletin.note("job" if outcome.ok else "trouble", outcome.job, outcome.said)
            self._bulletin.well("heartbeat")
            self._stop.wait(self._beat_s)

    def _let_it_catch_up(self) -> None:
        while not self._stop.is_set() and not self.ready.wait(TICK_S):
            pass


def _inode(path: os.PathLike[str]) -> int:
    try:
        return os.stat(path).st_ino
    except OSError:
        return 0
