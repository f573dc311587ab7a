"""The daemon's index worker: waits until edited files are quiet, then brings the indexes up to date."""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import PurePosixPath
from typing import Any

from vault_memory.adapters.watcher import EVERYTHING, Hint, Watcher
from vault_memory.core import layout
from vault_memory.core.privacy import shown_path
from vault_memory.core.timing import Debouncer
from vault_memory.errors import VaultMemoryError
from vault_memory.services.daemon.daemon_record import is_scan_requested
from vault_memory.services.daemon.event_log import DaemonEvents
from vault_memory.services.indexing import reconcile
from vault_memory.services.vault import Vault

TICK_S = 1.0
"""How often the index worker stops waiting for hints, to tend the watcher and to see whether a scan is requested."""
MAX_SINGLE_FILES = 500
"""With more edited files at once (a `git checkout`) whole scopes are scanned instead."""
MAX_EMBEDDED_AT_ONCE = 64
"""Passages that get their offline vectors here; those of more are the vectors worker's, for the next edit's text comes
first."""
PAUSE_PER_SCAN_TIME, PAUSE_PER_SCAN_TIME_POLLING = 500, 20
"""After a full scan that took 1 s the next one comes 500 s later (20 s when polling): scans are to take little of the
time. But it never comes later than ten times the usual pause."""
MIN_BACK_OFF_S, MAX_BACK_OFF_S = 1.0, 60.0
"""Pause after a first failure, doubled each time up to the longest."""

Target = tuple[str, PurePosixPath | None]
"""A scope and the vault-relative path of a file in it; None: the whole scope."""


class IndexWorker:
    """Passes every hint to `on_hint`, and each scope whose index it has brought up to date to `on_indexed`.

    A full scan comes every `full_scan_s` while the system reports changes, every `poll_s` while it does not. `ready` is
    set after the first one, `quiet` while no edits wait. `held` counts the deletions of a scope that wait for `resume`.
    """

    def __init__(
        self,
        vault: Vault,
        events: DaemonEvents,
        on_hint: Callable[[Hint], None],
        on_indexed: Callable[[str], None],
        quiet: threading.Event,
        *,
        full_scan_s: float,
        poll_s: float,
    ) -> None:
        self.ready, self.quiet = threading.Event(), quiet
        self.held: dict[str, int] = {}
        self.watcher = Watcher(vault.root)
        self._vault, self._events = vault, events
        self._on_hint, self._on_indexed = on_hint, on_indexed
        self._full_scan_s, self._poll_s = full_scan_s, poll_s
        self._edits: Debouncer[Target] = Debouncer(
            vault.config.watch_settle_ms / 1000, vault.config.watch_cap_ms / 1000
        )
        self._failures: dict[str, int] = {}
        self._stop = threading.Event()

    def run(self, stop: threading.Event) -> None:
        """Scan everything, then follow every edit until `stop` is set."""
        self._stop = stop
        try:
            self.watcher.start()  # before the first scan: a change in between is seen twice, not missed
            next_scan = 0.0
            while not stop.is_set():
                if not len(self._edits):
                    self.quiet.set()
                if time.monotonic() >= next_scan or is_scan_requested(self._vault.root):
                    next_scan = self._scan_everything()
                for hint in take_hints(self.watcher.hints, self._edits, TICK_S):
                    if stop.is_set():
                        return
                    self._on_hint(hint)
                    for target in self._targets(hint):
                        self._edits.add(target, time.monotonic())
                        self.quiet.clear()
                if len(self._edits) > MAX_SINGLE_FILES:
                    for scope in {scope for scope, _ in self._edits.take_all()}:
                        self._edits.add((scope, None), time.monotonic())
                for scope, paths in _by_scope(self._edits.take_due(time.monotonic())).items():
                    self._update_index(scope, paths, defer_deletions=self._is_deleting(scope))
                self.watcher.repair_watches()
        finally:
            self.quiet.set()  # the vectors worker must not wait for a worker that has ended
            self.watcher.stop()

    def _scan_everything(self) -> float:
        """Find what the watcher missed; returns when (of the monotonic clock) to do so again."""
        began = time.monotonic()
        self.watcher.check_coverage()
        self._edits.take_all()
        for scope in existing_scopes(self._vault):
            self._update_index(scope, None, defer_deletions=self.ready.is_set())
        if self._stop.is_set():
            return began
        self._on_hint(EVERYTHING)  # an edit may have waited for something that no watcher sees
        self.ready.set()
        polling = self.watcher.polling
        if polling:
            self._events.set_state("polling", polling, polling)
        else:
            self._events.set_state("watching", "", "caught up; every edit is followed from here on")
        self._events.clear_error("index")
        ended = time.monotonic()
        pause, per_scan_time = (
            (self._poll_s, PAUSE_PER_SCAN_TIME_POLLING) if polling else (self._full_scan_s, PAUSE_PER_SCAN_TIME)
        )
        return ended + min(max(pause, per_scan_time * (ended - began)), 10 * pause)

    def _update_index(self, scope: str, paths: list[PurePosixPath] | None, *, defer_deletions: bool) -> None:
        """Bring the index up to date with these files of a scope (None: all). After a failure the scope is tried again
        later; the other scopes go on.

        A mass deletion can only be told from a few deletions when it is over and the whole scope is scanned. So with
        `defer_deletions`, when files may be being deleted right now, nothing is removed and the scope is scanned again.
        """
        label, folder = layout.label(scope), layout.scope_dir(scope)
        if paths and (scope in self.held or self._is_any_missing(paths)):
            paths = None
        sources = None if paths is None else [path.relative_to(folder).as_posix() for path in paths]
        self._vault.chats.let_go_first()
        try:
            report = reconcile(
                self._vault,
                scope,
                sources,
                defer_deletions=defer_deletions,
                embed_at_once=MAX_EMBEDDED_AT_ONCE,
                stop=self._stop,
            )
        except (VaultMemoryError, OSError) as error:
            count = self._failures[scope] = self._failures.get(scope, 0) + 1
            pause = min(MIN_BACK_OFF_S * 2**count, MAX_BACK_OFF_S)
            self._edits.add((scope, None), time.monotonic() + pause)
            self._events.report_error(label, error)
            return
        self._failures.pop(scope, None)
        self._events.clear_error(label)
        if report.indexed:
            self._events.publish("indexed", label, _first_three(report.indexed))
        if report.removed:
            count = len(report.removed)  # of their names none is left: an erasing may be what took them
            self._events.publish("removed", label, f"{count} file{'' if count == 1 else 's'}")
        for source in report.failed.keys() & {*report.indexed, *(sources or ())}:
            what = "warning" if source in report.indexed else "failed"
            self._events.publish(what, label, f"{shown_path(PurePosixPath(source))}: {report.failed[source]}")
        if defer_deletions and report.held:
            self._edits.add((scope, None), time.monotonic())
        else:
            self._set_held(scope, len(report.held))
        self._on_indexed(scope)  # even if nothing changed: another process may have indexed it without vectors

    def _is_deleting(self, scope: str) -> bool:
        """Whether files of a scope are being deleted right now: some of those that are not quiet yet are gone."""
        return self._is_any_missing(path for edited, path in self._edits if edited == scope and path is not None)

    def _is_any_missing(self, paths: Iterable[PurePosixPath]) -> bool:
        return not all(os.path.lexists(self._vault.root / path) for path in paths)

    def _set_held(self, scope: str, count: int) -> None:
        """Note how many deletions of a scope wait until a person confirms them."""
        before = self.held.pop(scope, 0)
        if count:
            self.held[scope] = count
        elif before:
            self._on_hint(EVERYTHING)
        if count != before:
            self._events.set_held(scope, count)

    def _targets(self, hint: Hint) -> Iterable[Target]:
        if not hint.is_folder:
            place = layout.place_of(hint.path)
            return [(place.scope, hint.path)] if place else []
        if hint == EVERYTHING or hint.path == PurePosixPath(layout.MEMORY_DIR):
            return [(scope, None) for scope in existing_scopes(self._vault)]
        return [(layout.scope_of(hint.path / layout.PROFILE), None)]  # any name below the folder will do


def existing_scopes(vault: Vault) -> list[str]:
    """Every scope of a vault; none when the vault is gone."""
    return vault.scopes() if vault.exists() else []


def take_hints(
    hints: queue.SimpleQueue[Hint], debouncer: Debouncer[Any], timeout_s: float | None = None
) -> Iterable[Hint]:
    """Empty the queue and return each hint once; waits for the first one until a key of `debouncer` is due, or
    `timeout_s`."""
    due = debouncer.next_due()
    waits = [] if timeout_s is None else [timeout_s]
    if due is not None:
        waits.append(max(0.0, due - time.monotonic()))
    taken: dict[Hint, None] = {}
    try:
        taken[hints.get(timeout=min(waits, default=None))] = None
        while True:
            taken[hints.get_nowait()] = None
    except queue.Empty:
        return taken


def _by_scope(targets: Iterable[Target]) -> dict[str, list[PurePosixPath] | None]:
    """The files of each scope; None: the whole scope."""
    scopes: dict[str, list[PurePosixPath] | None] = {}
    for scope, path in targets:
        paths = scopes.setdefault(scope, [])
        if path is None:
            scopes[scope] = None
        elif paths is not None:
            paths.append(path)
    return scopes


def _first_three(sources: tuple[str, ...]) -> str:
    more = f" and {len(sources) - 3} more" if len(sources) > 3 else ""
    return ", ".join(shown_path(PurePosixPath(source)) for source in sources[:3]) + more
