"""The daemon: keeps index and history up to date while people edit. `Daemon(vault).run(stop)`, until `stop` is set.

    watcher ── hints ──→ index worker: waits for quiet, indexes ─┬─→ vectors worker: embeds what has no vector yet
                         heartbeat worker: scheduled jobs        └─→ commit worker: waits longer, commits as the person

An edit is indexed after `watch_settle_ms` of quiet and committed after `watch_commit_quiet_ms`. What the watcher missed
is found by a full scan, at the start and from time to time.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from pathlib import PurePosixPath

from vault_memory.adapters.child import use_one_heap
from vault_memory.adapters.watcher import EVERYTHING, Hint
from vault_memory.core import layout
from vault_memory.core.timing import Debouncer
from vault_memory.errors import NotAVault, VaultMemoryError
from vault_memory.services.daemon.daemon_record import lock_path, only_daemon
from vault_memory.services.daemon.event_log import DaemonEvents, Event
from vault_memory.services.daemon.heartbeat import Outcome, heartbeat, schedule_of
from vault_memory.services.daemon.index_worker import MAX_BACK_OFF_S, MIN_BACK_OFF_S, TICK_S, IndexWorker, take_hints
from vault_memory.services.daemon.jobs import COMMITS, JOBS, VECTORS
from vault_memory.services.daemon.vector_worker import VectorWorker
from vault_memory.services.person_edits import Withheld, commit_person_edits, withheld
from vault_memory.services.vault import Vault
from vault_memory.services.write import locked

COMMIT_CAP_S = 300.0
"""A file that is written all the time is committed this often."""
COMMITTED_AT_ONCE = 500
"""Files in one commit; turns of that user wait for it, some 0.7 s, and half a second more while there are chats."""
PAUSE_S = 0.1
"""Between two such commits: who has waited for the user's lock looks for it every few ms, and takes it."""
STOP_TIMEOUT_S = 0.5
"""How long a stop waits for the workers. The next start does what they have not finished by then."""


class Daemon:
    """The only daemon of a vault, by a file lock. `on_event` is called with every event, from several threads.

    A full scan comes every `full_scan_s` while the system reports changes, every `poll_s` while it does not; due jobs
    are run every `heartbeat_s`. `ready` is set when everything that happened before the start is indexed.
    """

    def __init__(
        self,
        vault: Vault,
        on_event: Callable[[Event], None] = lambda event: None,
        *,
        full_scan_s: float = 60.0,
        poll_s: float = 5.0,
        heartbeat_s: float = 20.0,
    ) -> None:
        self.vault = vault
        self._heartbeat_s = heartbeat_s
        self._events = DaemonEvents(vault, on_event)
        self._stop = threading.Event()
        self._to_commit: queue.SimpleQueue[Hint] = queue.SimpleQueue()
        self._withheld: set[Withheld] = set()
        quiet = threading.Event()
        self._vectors = VectorWorker(vault, self._events, quiet)
        self._index = IndexWorker(
            vault,
            self._events,
            on_hint=self._to_commit.put,
            on_indexed=self._vectors.put,
            quiet=quiet,
            full_scan_s=full_scan_s,
            poll_s=poll_s,
        )
        self.ready = self._index.ready

    def run(self, stop: threading.Event) -> None:
        """Catch up, then follow every edit until `stop` is set; returns within 2 s of that.

        Raises `Busy`, naming the process, when another daemon watches this vault.
        """
        self._stop = stop
        with ExitStack() as locked:
            locked.enter_context(only_daemon(self.vault.root))
            use_one_heap()
            self._events.started(f"process {os.getpid()} watches {self.vault.root}")
            workers = self._start_workers()
            lock, saved_at = _inode(lock_path(self.vault.root)), time.monotonic()
            while not stop.wait(TICK_S):
                if not self._is_vault_there():
                    continue
                if _inode(lock_path(self.vault.root)) != lock:
                    locked.close()  # `.vault-memory/` was deleted, as anybody may, or another vault was put here
                    locked.enter_context(only_daemon(self.vault.root))
                    lock = _inode(lock_path(self.vault.root))
                    self._events.save_record()
                if time.monotonic() - saved_at > self._heartbeat_s:
                    saved_at = time.monotonic()
                    self._events.save_record()
            self._end(workers)
            with suppress(VaultMemoryError):  # the next start, or the next command, does it
                self.vault.history.flush()
            self._events.set_state("stopped", "", "stopped")

    def _start_workers(self) -> list[threading.Thread]:
        work = {
            "index": partial(self._index.run, self._stop),
            "commit": self._commit,
            "vectors": self._embed,
            "heartbeat": self._run_jobs,
        }
        workers = [
            threading.Thread(target=self._run_again, args=item, name=f"vault-memory {item[0]}", daemon=True)
            for item in work.items()
        ]
        for worker in workers:
            worker.start()
        return workers

    def _run_again(self, name: str, work: Callable[[], None]) -> None:
        """Run a worker, and after each error run it again, with growing pauses."""
        pause = MIN_BACK_OFF_S
        while not self._stop.is_set():
            began = time.monotonic()
            try:
                work()
            except Exception as error:
                if time.monotonic() - began > MAX_BACK_OFF_S:
                    pause = MIN_BACK_OFF_S
                self._events.report_crash(name, error)
                self._stop.wait(pause)
                pause = min(2 * pause, MAX_BACK_OFF_S)

    def _end(self, workers: list[threading.Thread]) -> None:
        for hints in (self._index.watcher.hints, self._to_commit):
            hints.put(EVERYTHING)  # a worker that waits for hints sees that it has to stop
        self._vectors.put(None)
        deadline = time.monotonic() + STOP_TIMEOUT_S
        for worker in workers:
            worker.join(max(0.0, deadline - time.monotonic()))

    def _is_vault_there(self) -> bool:
        """Whether the vault is in its folder; a drive may be taken away and come back."""
        if self.vault.exists():
            self._events.clear_error("vault")
            return True
        if "vault" not in self._events.record.problems:
            gone = NotAVault(f"{self.vault.root} is gone: put it back and it is watched again")
            self._events.report_error("vault", gone)
        return False

    def _commit(self) -> None:
        quiet_s = self.vault.config.watch_commit_quiet_ms / 1000
        edits: Debouncer[Hint] = Debouncer(quiet_s, COMMIT_CAP_S)
        pause_s = MIN_BACK_OFF_S
        while not self._stop.is_set():
            for hint in take_hints(self._to_commit, edits):
                if hint != EVERYTHING or hint not in edits:  # scans come in their own time, and keep nothing from due
                    edits.add(hint, time.monotonic())
            due = edits.take_due(time.monotonic())
            if due and self.vault.exists():
                try:
                    waits = self._commit_edits(due)
                except Exception:
                    self._to_commit.put(EVERYTHING)
                    raise
                if waits:  # nothing is kept of an edit, and no watcher sees when git is done: look again
                    if EVERYTHING not in edits:
                        edits.add(EVERYTHING, time.monotonic() + pause_s)
                    pause_s = min(2 * pause_s, MAX_BACK_OFF_S)
                    self._events.set_problem("commit", waits)
                elif EVERYTHING not in edits:  # else what waits is looked at soon
                    pause_s = MIN_BACK_OFF_S
                    self._events.clear_error("commit")

    def _commit_edits(self, hints: list[Hint]) -> str:
        """Commit edits scope by scope, except the deletions of a scope in which a mass deletion waits until a person
        confirms it. Returns which edits wait for git, and why; "" for none."""
        self.vault.chats.let_go_first()
        everywhere = any(hint.is_folder for hint in hints)
        paths: dict[str, list[PurePosixPath]] = {}
        for part in self.vault.history.uncommitted_in_parts(None if everywhere else [hint.path for hint in hints]):
            for edit in part:
                if everywhere and self._is_young(edit.path):
                    self._to_commit.put(Hint(edit.path))
                    continue
                scope = layout.scope_of(edit.path)
                if scope not in self._index.held or edit.after is not None:
                    paths.setdefault(scope, []).append(edit.path)
        waits: dict[str, str] = {}
        for scope in paths:
            on_waiting = partial(waits.__setitem__, layout.label(scope))
            count = 0
            for at in range(0, len(paths[scope]), COMMITTED_AT_ONCE):
                if at and self._stop.wait(PAUSE_S):
                    return ""
                self.vault.chats.let_go_first()
                with locked(self.vault, scope):
                    some = paths[scope][at : at + COMMITTED_AT_ONCE]
                    count += commit_person_edits(self.vault, scope, some, on_waiting)
            if count:
                files = "file" if count == 1 else "files"
                self._events.publish("committed", layout.label(scope), f"{count} edited {files}, as the person's")
        held_back = set(withheld(self.vault))
        for found in sorted(held_back - self._withheld, key=lambda found: (found.path, found.line)):
            what = f"{found.why}, so the file is in no commit: {found.next_step}"
            self._events.publish("withheld", found.path, what)
        self._withheld = held_back
        for label, reason in waits.items():
            self._events.publish("waiting", label, reason)
        return "; ".join(f"edits of {label} wait for their commits: {reason}" for label, reason in waits.items())

    def _is_young(self, path: PurePosixPath) -> bool:
        """Whether a file was saved within the quiet time."""
        with suppress(OSError):
            age_s = time.time() - (self.vault.root / path).lstat().st_mtime
            return 0 <= age_s < self.vault.config.watch_commit_quiet_ms / 1000
        return False

    def _embed(self) -> None:
        self._wait_until_ready()
        self._vectors.run(self._stop)

    def _run_jobs(self) -> None:
        self._wait_until_ready()
        jobs = [replace(job, run=self._vectors.embed_everything) if job is VECTORS else job for job in JOBS]
        if schedule_of(self.vault, COMMITS) != "off":  # a daemon before this one may have been killed
            self._publish(heartbeat(self.vault, COMMITS.name, force=True))
        while not self._stop.is_set():
            self._publish(heartbeat(self.vault, jobs=jobs) if self.vault.exists() else ())
            self._events.clear_error("heartbeat")
            self._stop.wait(self._heartbeat_s)

    def _publish(self, outcomes: Iterable[Outcome]) -> None:
        for outcome in outcomes:
            self._events.publish("job" if outcome.ok else "trouble", outcome.job, outcome.said)

    def _wait_until_ready(self) -> None:
        while not self._stop.is_set() and not self.ready.wait(TICK_S):
            pass


def _inode(path: os.PathLike[str]) -> int:
    try:
        return os.stat(path).st_ino
    except OSError:
        return 0
