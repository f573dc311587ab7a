"""The outbox: turns that the long-term store does not have yet, in SQLite in `.vault-memory/`.

A turn is durable here when `put` returns, and goes when the database has said that it has it. All of them are in the
records as well, from which the outbox can be filled anew.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import apsw

from vault_memory.adapters.state import StateDatabase
from vault_memory.core.longterm import name_of
from vault_memory.errors import Unwritable

FILE = "outbox.db"
VERSION = 1
MAX_BYTES = 1_000_000_000
BATCH_CHARS = 4_000_000
"""A database takes a gigabyte at a time, and the tokens of a text have several times its size."""
_PAGE_BYTES = 4_096
_MAX_REASONS = 5
# A number is never used again (AUTOINCREMENT): a turn that is put again while it is being sent waits for its new words.
_SCHEMA = """
CREATE TABLE waiting (
  number INTEGER PRIMARY KEY AUTOINCREMENT, user_id TEXT NOT NULL, conversation_id TEXT NOT NULL,
  created_at TEXT NOT NULL, turn TEXT NOT NULL, tried REAL NOT NULL DEFAULT 0, reason TEXT NOT NULL DEFAULT '',
  UNIQUE (conversation_id, created_at, user_id)
);
CREATE INDEX waiting_by_user ON waiting (user_id);
CREATE INDEX waiting_by_trial ON waiting (tried, number);
"""


@dataclass(frozen=True)
class Waiting:
    """A turn that waits, with its number in the outbox."""

    number: int
    turn: dict[str, Any]


@dataclass(frozen=True)
class WaitingCounts:
    """How many turns wait; the time of the oldest ("": none waits), in UTC; how many of them the database has refused;
    and why, with how many for each of the most frequent reasons; how many have only begun, and are not sent yet as
    their answer may come, and when the last of these is sent without it ("": there is none), in UTC."""

    waiting: int = 0
    oldest: str = ""
    refused: int = 0
    reasons: tuple[tuple[str, int], ...] = ()
    begun: int = 0
    begun_until: str = ""


class Outbox:
    """The outbox of the vault at `root`, of at most `max_bytes`. Threads and processes share it. Every method raises
    what `StateDatabase.open` raises."""

    def __init__(self, root: Path, max_bytes: int = MAX_BYTES) -> None:
        pages = {"page_size": _PAGE_BYTES, "max_page_count": max_bytes // _PAGE_BYTES}
        self._db = StateDatabase(root, FILE, VERSION, _SCHEMA, pages | {"synchronous": "full"}, is_derived=False)

    def put(self, turns: Sequence[Mapping[str, Any]], not_before: float = 0.0) -> None:
        """Add turns, which are not taken before a time (Unix seconds). One that waits already is replaced: it may have
        more words by now. Raises `Unwritable` when there is no room; then none is added."""
        rows = [(turn["user_id"], *name_of(turn), json.dumps(turn, ensure_ascii=False), not_before) for turn in turns]
        try:
            with self._db.writing() as db:
                db.executemany(
                    "INSERT OR REPLACE INTO waiting (user_id, conversation_id, created_at, turn, tried) "
                    "VALUES (?, ?, ?, ?, ?)",
                    rows,
                )
        except Unwritable as error:
            if isinstance(error.__cause__, apsw.FullError):
                raise Unwritable(
                    f"{self._db.path} is full: `vault-memory longterm status` says why turns wait there. When they are "
                    "sent, `vault-memory longterm flush --since DAY` sends those that had no room, from the records"
                ) from error
            raise

    def take(self, limit: int, before: float, beside: Collection[int] = ()) -> list[Waiting]:
        """At most `limit` turns that were not tried since `before` (Unix seconds), without the numbers `beside`: those
        that were never tried first, the oldest of them first. They have no more than `BATCH_CHARS` together, unless one
        alone has more."""
        taken: list[Waiting] = []
        left = BATCH_CHARS
        with self._db.open() as db:
            rows: Any = db.execute(
                "SELECT number, user_id, turn FROM waiting WHERE tried < ? ORDER BY tried, number LIMIT ?",
                (before, limit + len(beside)),
            )
            for number, user_id, turn in rows:
                if number in beside:
                    continue
                if len(taken) == limit:
                    break
                left -= len(turn)
                if left < 0 and taken:
                    break
                taken.append(Waiting(number, {**json.loads(turn), "user_id": user_id}))
        return taken

    def settle(self, sent: Sequence[int], refused: Mapping[int, str], at: float) -> None:
        """Take out the turns that were sent, by number; of those that the database refused at that time note why, by
        number: they stay. It does not wait for the disk: what a power cut brings back is sent again, and there once."""
        with self._db.open() as opened:
            opened.pragma("synchronous", "normal")
            try:
                with self._db.writing() as db:
                    db.executemany("DELETE FROM waiting WHERE number = ?", [(number,) for number in sent])
                    rows = [(at, reason, number) for number, reason in refused.items()]
                    db.executemany("UPDATE waiting SET tried = ?, reason = ? WHERE number = ?", rows)
            finally:
                opened.pragma("synchronous", "full")

    def rename(self, old: str, new: str) -> None:
        """What waits of a user is that of the id `new` from now on."""
        if os.path.lexists(self._db.path):
            with self._db.writing() as db:
                db.execute("UPDATE OR REPLACE waiting SET user_id = ? WHERE user_id = ?", (new, old))

    def drop(self, holds: Callable[[str, str], bool]) -> int:
        """Take out the turns for which `holds(user_id, JSON of the turn)`; how many that were. Nothing of them is left
        in the database's files."""
        if not os.path.lexists(self._db.path):
            return 0
        with self._db.writing() as db:
            rows: Any = db.execute("SELECT number, user_id, turn FROM waiting")
            found = [(number,) for number, user_id, turn in rows if holds(user_id, turn)]
            db.executemany("DELETE FROM waiting WHERE number = ?", found)
        self._db.purge()
        return len(found)

    def counts(self, now: float = math.inf) -> WaitingCounts:
        """What waits, and what of that has only begun at that time (Unix seconds). Nothing is made where there is no
        outbox."""
        if not os.path.lexists(self._db.path):
            return WaitingCounts()
        with self._db.open() as db:
            count: Any = db.execute("SELECT count(*), min(created_at), sum(reason <> '') FROM waiting").fetchone()
            begun: Any = db.execute(
                "SELECT count(*), max(tried) FROM waiting WHERE tried > ? AND reason = ''", (now,)
            ).fetchone()
            reasons: list[Any] = db.execute(
                "SELECT reason, count(*) FROM waiting WHERE reason <> '' GROUP BY reason ORDER BY 2 DESC LIMIT ?",
                (_MAX_REASONS,),
            ).fetchall()
        until = datetime.fromtimestamp(begun[1], UTC).isoformat(timespec="seconds") if begun[0] else ""
        return WaitingCounts(count[0], count[1] or "", count[2] or 0, tuple(reasons), begun[0], until)

    def close(self) -> None:
        """Close the database; a later call opens it again."""
        self._db.close()
