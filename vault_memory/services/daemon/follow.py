"""Follow every edit of a vault: settle what the watcher hints at, and bring the indexes up to it."""

from __future__ import annotations

import math
import os
import queue
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import PurePosixPath
from typing import Any

from vault_memory.adapters.watcher import EVERYTHING, Hint, Watcher
from vault_memory.core import layout
from vault_memory.core.settle import Settle
from vault_memory.errors import VaultMemoryError
from vault_memory.services.daemon.event_log import Bulletin
from vault_memory.services.indexing.reconcile import reconcile
from vault_memory.services.vault import Vault

TICK_S = 1.0
"""How often the index worker looks up from waiting for hints: to tend the watcher, for a note of a git hook."""
CROWD = 500
"""So many files stirring at once (a `git checkout`) are looked at by scope, not one by one."""
SPARE, SPARE_POLLING = 500, 20
"""A full look that took 1 s is not repeated within 500 s (20 s when polling), so that looking costs next to nothing; but
within ten times the usual pause it always is."""
BACK_OFF_S = 1.0, 60.0
"""Pause after a scope's first failure, doubled up to the longest."""

Look = tuple[str, PurePosixPath | None]
"""A scope and a vault-relative path in it; None: all of the scope."""


class Follower:
    """The daemon's index worker. `on_hint` is called with every hint, `on_current` with a scope whose index is up to date.

    `look_s` seconds lie between looks at everything while the system tells of changes, `poll_s` while it does not. `ready`
    is set when all is caught up, `calm` while nothing stirs; `held` counts the deletions of a scope that wait for `resume`.
    """

    def __init__(
        self,
        vault: Vault,
        bulletin: Bulletin,
        on_hint: Callable[[Hint], None],
        on_current: Callable[[str], None],
        calm: threading.Event,
        *,
        look_s: float,
        poll_s: float,
    ) -> None:
        self.ready, self.calm = threading.Event(), calm
        self.held: dict[str, int] = {}
        self.watcher = Watcher(vault.root)
        self._vault, self._bulletin = vault, bulletin
        self._on_hint, self._on_current = on_hint, on_current
        self._look_s, self._poll_s = look_s, poll_s
        self._stop = threading.Event()
        self._failures: dict[str, int] = {}

    def run(self, stop: threading.Event) -> None:
        """Catch up, then follow every edit until `stop` is set."""
        self._stop = stop
        config = self._vault.config
        settle: Settle[Look] = Settle(config.watch_settle_ms / 1000, config.watch_cap_ms / 1000)
        watcher = self.watcher
        try:
            watcher.start()  # first watch, then look: what changes in between is seen twice and not missed
            next_look = 0.0
            while not self._stop.is_set():
                if not len(settle):
                    self.calm.set()
                if time.monotonic() >= next_look or self._is_asked_to_look():
                    next_look = self._look_at_everything(watcher, settle)
                for hint in heard(watcher.hints, settle, TICK_S):
                    if self._stop.is_set():
                        return
                    self._on_hint(hint)
                    for look in self._looks(hint):
                        settle.stir(look, time.monotonic())
                        self.calm.clear()
                if len(settle) > CROWD:
                    for scope in {scope for scope, _ in settle.clear()}:
                        settle.stir((scope, None), time.monotonic())
                for scope, paths in _by_scope(settle.take(time.monotonic())).items():
                    self._bring_up(scope, paths, settle, is_settled=not self._is_deleting(scope, settle))
                watcher.tend()
        finally:
            self.calm.set()  # nobody need wait for a lull any more
            watcher.stop()

    def _look_at_everything(self, watcher: Watcher, settle: Settle[Look]) -> float:
        """Find what the watcher missed; returns when (of the steady clock) to do so again."""
        began = time.monotonic()
        watcher.audit()
        settle.clear()
        for scope in scopes_of(self._vault):
            self._bring_up(scope, None, settle, is_settled=not self.ready.is_set())
        if self._stop.is_set():
            return began
        if not self.ready.is_set():
            self._on_hint(EVERYTHING)
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
        if paths and (scope in self.held or not all(os.path.lexists(self._vault.root / path) for path in paths)):
            paths = None
        sources = None if paths is None else [path.relative_to(base).as_posix() for path in paths]
        try:
            report = reconcile(self._vault, scope, sources, defer_deletions=not is_settled, stop=self._stop)
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
        if report.removed:
            self._bulletin.note("removed", name, _listed(report.removed))
        for source in report.failed.keys() & {*report.indexed, *(sources or ())}:
            self._bulletin.note("failed", name, f"{source}: {report.failed[source]}")
        if is_settled or not report.held:
            self._hold(scope, len(report.held))
        else:
            settle.stir((scope, None), time.monotonic())
        self._on_current(scope)  # who indexed it, and left it without vectors, may have been another process

    def _is_deleting(self, scope: str, settle: Settle[Look]) -> bool:
        """Whether files of a scope are being deleted right now: some that still stir are not there."""
        paths = [path for where, path in settle if where == scope and path is not None]
        return not all(os.path.lexists(self._vault.root / path) for path in paths)

    def _hold(self, scope: str, count: int) -> None:
        """Remember how many deletions of a scope wait for the person's word."""
        before = self.held.pop(scope, 0)
        if count:
            self.held[scope] = count
        elif before:
            self._on_hint(EVERYTHING)
        if count != before:
            self._bulletin.held(scope, count)

    def _is_asked_to_look(self) -> bool:
        """Whether one of the vault's git hooks, or a command, left a note since the last look."""
        try:
            (self._vault.root / layout.STATE_DIR / "rescan").unlink()
        except OSError:
            return False
        return True

    def _looks(self, hint: Hint) -> Iterable[Look]:
        if not hint.is_folder:
            place = layout.place_of(hint.path)
            return [(place.scope, hint.path)] if place else []
        if hint == EVERYTHING or hint.path == PurePosixPath(layout.MEMORY_DIR):
            return [(scope, None) for scope in scopes_of(self._vault)]
        return [(layout.scope_of(hint.path / layout.PROFILE), None)]  # any name below the folder will do


def scopes_of(vault: Vault) -> list[str]:
    """Every scope of a vault, none of one that is not where it was."""
    return vault.scopes() if vault.exists() else []


def heard(hints: queue.SimpleQueue[Hint], settle: Settle[Any], longest: float = math.inf) -> Iterable[Hint]:
    """What is in the queue, each once; waits for the first until something in `settle` is at rest, or `longest` seconds."""
    due = settle.next_due()
    wait = longest if due is None else min(longest, max(0.0, due - time.monotonic()))
    found: dict[Hint, None] = {}
    try:
        found[hints.get(timeout=None if wait == math.inf else wait)] = None
        while True:
            found[hints.get_nowait()] = None
    except queue.Empty:
        return found


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
