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
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, nullcontext
from pathlib import PurePosixPath
from typing import Any

from vault_memory.adapters.watcher import EVERYTHING, Hint, Watcher
from vault_memory.core import layout
from vault_memory.core.settle import Settle
from vault_memory.errors import EndpointError, VaultMemoryError
from vault_memory.services.bulletin import Bulletin, Happening
from vault_memory.services.daemon_record import lock_path, only_daemon
from vault_memory.services.heartbeat import heartbeat
from vault_memory.services.person_edits import commit_person_edits
from vault_memory.services.reconcile import embed, reconcile
from vault_memory.services.spaces import progress
from vault_memory.services.vault import Vault

TICK_S = 1.0
"""How often an idle worker looks up: to stop, to tend the watcher."""
COMMIT_CAP_S = 300.0
"""A file that is written all day long is committed this often."""
CROWD = 500
"""So many files stirring at once (a `git checkout`) are looked at by scope, not one by one."""
SPARE, SPARE_POLLING = 500, 20
"""A full look that took 1 s is not repeated within 500 s (20 s when polling), so that looking costs next to nothing; but
within ten times the usual pause it always is."""
BACK_OFF_S = 1.0, 60.0
"""Pause after a first failure, doubled up to the longest."""
STOP_S = 1.5
WORD_S = 10.0
"""How often the daemon tells how far it is with many vectors."""
CALM_S = 5.0
"""Vectors wait so long for a moment without edits: to find new words matters more than to find them by meaning too."""

Look = tuple[str, PurePosixPath | None]
"""A scope and a vault-relative path in it; None: all of the scope."""


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
        self.ready = threading.Event()
        self._look_s, self._poll_s, self._beat_s = look_s, poll_s, beat_s
        self._bulletin = Bulletin(vault, tell)
        self._stop = threading.Event()
        self._calm = threading.Event()
        self._failures: dict[str, int] = {}
        self._held: dict[str, int] = {}
        self._to_commit: queue.SimpleQueue[Hint] = queue.SimpleQueue()
        self._to_embed: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._watcher = Watcher(vault.root)

    def run(self, stop: threading.Event) -> None:
        """Catch up, then follow every edit until `stop` is set; returns within 2 s of that.

        Raises `Busy`, naming the process, when another daemon watches this vault.
        """
        self._stop = stop
        with ExitStack() as held:
            held.enter_context(only_daemon(self.vault.root))
            self._bulletin.started(f"process {os.getpid()} watches {self.vault.root}")
            work = {"index": self._index, "commit": self._commit, "vectors": self._embed, "heartbeat": self._beat}
            workers = [
                threading.Thread(target=self._keep, args=item, name=f"vault-memory {item[0]}", daemon=True)
                for item in work.items()
            ]
            for worker in workers:
                worker.start()
            lock, beat = _inode(lock_path(self.vault.root)), time.monotonic()
            while not stop.wait(TICK_S):
                if self.vault.exists() and _inode(lock_path(self.vault.root)) != lock:
                    held.close()  # somebody deleted `.vault-memory/`, which anybody may, or put another vault here
                    held.enter_context(only_daemon(self.vault.root))
                    lock = _inode(lock_path(self.vault.root))
                    self._bulletin.save()
                if time.monotonic() - beat > self._beat_s:
                    beat = time.monotonic()
                    self._bulletin.save()
            for hints in (self._watcher.hints, self._to_commit):
                hints.put(EVERYTHING)  # whoever waits for something to do wakes, and sees that it is over
            self._to_embed.put(None)
            deadline = time.monotonic() + STOP_S
            for worker in workers:
                worker.join(max(0.0, deadline - time.monotonic()))
            self._bulletin.state("stopped", "", "stopped")

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

    def _index(self) -> None:
        config = self.vault.config
        settle: Settle[Look] = Settle(config.watch_settle_ms / 1000, config.watch_cap_ms / 1000)
        watcher = self._watcher
        try:
            watcher.start()  # first watch, then look: what changes in between is seen twice and not missed
            next_look = 0.0
            while not self._stop.is_set():
                if not len(settle):
                    self._calm.set()
                if time.monotonic() >= next_look or self._is_asked_to_look():
                    next_look = self._look_at_everything(watcher, settle)
                for hint in _heard(watcher.hints, settle):
                    self._to_commit.put(hint)
                    for look in self._looks(hint):
                        settle.stir(look, time.monotonic())
                        self._calm.clear()
                if len(settle) > CROWD:
                    for scope in {scope for scope, _ in settle.clear()}:
                        settle.stir((scope, None), time.monotonic())
                for scope, paths in _by_scope(settle.take(time.monotonic())).items():
                    self._bring_up(scope, paths, settle, is_settled=not self._is_deleting(scope, settle))
                watcher.tend()
        finally:
            watcher.stop()

    def _look_at_everything(self, watcher: Watcher, settle: Settle[Look]) -> float:
        """Find what the watcher missed; returns when (of the steady clock) to do so again."""
        began = time.monotonic()
        watcher.audit()
        settle.clear()
        for scope in self._scopes():
            self._bring_up(scope, None, settle, is_settled=not self.ready.is_set())
        if self._stop.is_set():
            return began
        if not self.ready.is_set():
            self._to_commit.put(EVERYTHING)
            self.ready.set()
        if watcher.polling:
            self._bulletin.state("polling", watcher.polling, watcher.polling)
        else:
            self._bulletin.state("watching", "", "caught up; every edit is followed from here on")
        self._bulletin.well("index")
        took = time.monotonic() - began
        pause, spare = (self._poll_s, SPARE_POLLING) if watcher.polling else (self._look_s, SPARE)
        return began + took + min(max(pause, spare * took), 10 * pause)

    def _bring_up(
        self, scope: str, paths: list[PurePosixPath] | None, settle: Settle[Look], *, is_settled: bool
    ) -> None:
        """Reconcile a scope, or these files of it; what fails is tried again later without holding up the other scopes.

        Whether a deletion is a mass deletion shows only when it is over and all of the scope is looked at. So a look
        that may fall in the middle of one (not `is_settled`) removes nothing, and is repeated.
        """
        name, base = layout.label(scope), layout.scope_dir(scope)
        if paths and (scope in self._held or not all(os.path.lexists(self.vault.root / path) for path in paths)):
            paths = None
        sources = None if paths is None else [path.relative_to(base).as_posix() for path in paths]
        try:
            report = reconcile(self.vault, scope, sources, defer_deletions=not is_settled, stop=self._stop)
        except (VaultMemoryError, OSError) as error:
            count = self._failures[scope] = self._failures.get(scope, 0) + 1
            pause = min(BACK_OFF_S[0] * 2**count, BACK_OFF_S[1])
            settle.stir((scope, None), time.monotonic() + pause)
            self._bulletin.trouble(name, error)
            return
        self._failures.pop(scope, None)
        self._bulletin.well(name)
        if report.indexed:
            self._bulletin.note("indexed", name, _listed(report.indexed))
            self._to_embed.put(scope)
        if report.removed:
            self._bulletin.note("removed", name, _listed(report.removed))
        for source in report.failed.keys() & {*report.indexed, *(sources or ())}:
            self._bulletin.note("failed", name, f"{source}: {report.failed[source]}")
        if is_settled or not report.held:
            self._hold(scope, len(report.held))
        else:
            settle.stir((scope, None), time.monotonic())

    def _is_deleting(self, scope: str, settle: Settle[Look]) -> bool:
        """Whether files of a scope are being deleted right now: some that still stir are not there."""
        paths = [path for where, path in settle if where == scope and path is not None]
        return not all(os.path.lexists(self.vault.root / path) for path in paths)

    def _hold(self, scope: str, count: int) -> None:
        """Remember how many deletions of a scope wait for the person's word."""
        before = self._held.pop(scope, 0)
        if count:
            self._held[scope] = count
        elif before:
            self._to_commit.put(EVERYTHING)
        if count != before:
            self._bulletin.held(scope, count)

    def _commit(self) -> None:
        settle: Settle[Hint] = Settle(self.vault.config.watch_commit_quiet_ms / 1000, COMMIT_CAP_S)
        while not self._stop.is_set():
            for hint in _heard(self._to_commit, settle):
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
        for scope in paths.keys() - self._held:
            with self.vault.lock(scope) if scope else nullcontext():
                count = commit_person_edits(self.vault, scope, paths[scope])
            if count:
                files = "file" if count == 1 else "files"
                self._bulletin.note("committed", layout.label(scope), f"{count} edited {files}, as the person's")

    def _embed(self) -> None:
        self._let_it_catch_up()
        later, due = set(self._scopes()), 0.0
        while not self._stop.is_set():
            if later and time.monotonic() >= due:
                for each in sorted(later):
                    self._to_embed.put(each)
                later.clear()
            try:
                scope = self._to_embed.get(timeout=TICK_S)
            except queue.Empty:
                continue
            if scope is None:
                return
            self._calm.wait(CALM_S)
            try:
                self._embed_scope(scope)
            except EndpointError as error:  # offline vectors of the other scopes need no endpoint
                if not later:
                    self._bulletin.trouble("vectors", error)
                later.add(scope)
                due = time.monotonic() + BACK_OFF_S[1]
            else:
                if not later:
                    self._bulletin.well("vectors")

    def _embed_scope(self, scope: str) -> None:
        """Compute what vectors a scope lacks; a long work tells from time to time how far it is."""
        name, next_word = layout.label(scope), 0.0
        while embed(self.vault, scope) and not self._stop.is_set():
            if time.monotonic() >= next_word:
                next_word = time.monotonic() + WORD_S
                self._bulletin.note("vectors", name, progress(self.vault.index(scope), self.vault.embedder.space))
            self._calm.wait(CALM_S)
        if next_word and not self._stop.is_set():
            self._bulletin.note("vectors", name, progress(self.vault.index(scope), self.vault.embedder.space))

    def _beat(self) -> None:
        self._let_it_catch_up()
        while not self._stop.is_set():
            for outcome in heartbeat(self.vault) if self.vault.exists() else ():
                self._bulletin.note("job" if outcome.ok else "trouble", outcome.job, outcome.said)
            self._bulletin.well("heartbeat")
            self._stop.wait(self._beat_s)

    def _let_it_catch_up(self) -> None:
        while not self._stop.is_set() and not self.ready.wait(TICK_S):
            pass

    # What hints mean.

    def _scopes(self) -> list[str]:
        return self.vault.scopes() if self.vault.exists() else []

    def _is_asked_to_look(self) -> bool:
        """Whether one of the vault's git hooks, or a command, left a note since the last look."""
        try:
            (self.vault.root / layout.STATE_DIR / "rescan").unlink()
        except OSError:
            return False
        return True

    def _looks(self, hint: Hint) -> Iterable[Look]:
        if not hint.is_folder:
            place = layout.place_of(hint.path)
            return [(place.scope, hint.path)] if place else []
        if hint == EVERYTHING or hint.path == PurePosixPath(layout.MEMORY_DIR):
            return [(scope, None) for scope in self._scopes()]
        return [(layout.scope_of(hint.path / layout.PROFILE), None)]  # any name below the folder will do


def _heard(hints: queue.SimpleQueue[Hint], settle: Settle[Any]) -> Iterator[Hint]:
    """What is in the queue; waits for the first hint until something in `settle` is at rest, but no longer than a tick."""
    due = settle.next_due()
    wait = TICK_S if due is None else min(TICK_S, max(0.0, due - time.monotonic()))
    try:
        yield hints.get(timeout=wait)
        while True:
            yield hints.get_nowait()
    except queue.Empty:
        return


def _by_scope(looks: Iterable[Look]) -> dict[str, list[PurePosixPath] | None]:
    """What to look at in each scope; None is all of it."""
    scopes: dict[str, list[PurePosixPath] | None] = {}
    for scope, path in looks:
        paths = scopes.setdefault(scope, [])
        if path is None:
            scopes[scope] = None
        elif paths is not None:
            paths.append(path)
    return scopes


def _listed(sources: tuple[str, ...]) -> str:
    more = f" and {len(sources) - 3} more" if len(sources) > 3 else ""
    return ", ".join(sources[:3]) + more


def _inode(path: os.PathLike[str]) -> int:
    try:
        return os.stat(path).st_ino
    except OSError:
        return 0
