"""Learning later from turns that were only kept."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from pathlib import PurePosixPath

from vault_memory.adapters.files import ReadCache
from vault_memory.core import trailers
from vault_memory.core.notes import Turn
from vault_memory.errors import Busy, ForeignFile, HistoryError, Unwritable, UsageError
from vault_memory.services.longterm import note_for_long_term
from vault_memory.services.profiles import ProfileFiles
from vault_memory.services.turns.steps.append import filed_at
from vault_memory.services.turns.steps.learn import learn_turn
from vault_memory.services.turns.steps.logs import quote_of
from vault_memory.services.turns.steps.markers import Line, Marker, marked, markers, strike_off, turn_of, untouched_file
from vault_memory.services.vault import Vault
from vault_memory.services.write import index_problem

LATER = (Busy, HistoryError, ForeignFile, Unwritable, UsageError)
"""What is wrong for a while: a turn is learned from when it is over. `UsageError`: a folder is a link by now."""


def learn_waiting(vault: Vault, user_id: str, wait_s: float | None = None) -> int:
    """Learn from the turns of a user that nothing was learned from yet, oldest first, and index what that changed;
    return how many were left over.

    With `wait_s` it waits no longer for another writer, and after that time leaves the rest. Turns that somebody learns
    from now are not counted. Raises one of `LATER` when it cannot be done now.
    """
    until = None if wait_s is None else time.monotonic() + wait_s
    return learn_from(vault, user_id, markers(vault, user_id), until)


def learn_from(vault: Vault, user_id: str, waiting: Sequence[Marker], until: float | None) -> int:
    """`learn_waiting` for these; `until` is of the monotonic clock."""
    as_of = vault.renamings()
    paths: dict[PurePosixPath, None] = {}
    try:
        for number, marker in enumerate(waiting):
            if number and until is not None and time.monotonic() > until:
                return len(waiting) - number
            with contextlib.ExitStack() as held:
                try:
                    held.enter_context(marked(vault, user_id, marker))
                except Busy:
                    continue
                if reason := vault.history.stopped():
                    raise HistoryError(reason)
                found = turn_of(vault, user_id, marker)
                # Its writer, or who learned from it later, may have been killed right after that.
                untouched = untouched_file(vault, user_id, marker)
                if found:  # or before it waited for the long-term store, where one that waits already is the same
                    note_for_long_term(vault, json.loads(found[1].line()))
                if found and (untouched.exists() or not _is_learned(vault, *found[:2], marker)):
                    line, turn, is_reply = found
                    cache = ReadCache()
                    state = ProfileFiles.read(vault, user_id, filed_at(vault, turn), cache.read)
                    quote, _ = quote_of(vault, turn)
                    touch = partial(untouched.unlink, missing_ok=True)
                    learned = learn_turn(vault, turn, as_of, line, state, quote, cache, until, touch, is_reply=is_reply)
                    paths |= dict.fromkeys(learned.paths)
                strike_off(vault, user_id, marker)
        return 0
    finally:
        vault.chats.step_aside()
        index_problem(vault, paths)


def learn_earlier(vault: Vault, user_id: str, marker: Marker, until: float) -> bool:
    """Learn from what waits before a turn, as order decides which of two preferences holds; whether there was any."""
    if reason := vault.history.stopped():
        raise HistoryError(reason)
    waiting = [other for other in markers(vault, user_id) if other < marker]
    if left := learn_from(vault, user_id, waiting, until):
        raise HistoryError(f"{left} turns before it are learned from first")
    return bool(waiting)


def _is_learned(vault: Vault, line: Line, turn: Turn, marker: Marker) -> bool:
    """Whether history has what was learned from a turn. A marker without a digest is of an earlier version, whose
    commits name the line alone."""
    since = min(turn.created_at.astimezone(), vault.now()) - timedelta(days=1)
    by_line = {trailers.KEYS["user"]: turn.user_id, trailers.KEYS["source"]: line.source}
    return vault.history.holds({trailers.KEYS["turn"]: line.digest} if marker.digest else by_line, since)
