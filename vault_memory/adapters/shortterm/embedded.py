"""The short-term store of one machine: SQLite in `.vault-memory/`.

All of it may be lost, so a database that is damaged or of another version is made anew. Writes are safe against a
killed process, not against a power cut: nothing waits for the disk.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw

from vault_memory.adapters.shortterm.base import Change, Dropped, Left
from vault_memory.adapters.state import StateDatabase
from vault_memory.errors import UsageError

FILE = "short-term.db"
VERSION = 1
# Small pages, and a log that is folded back after 16 of them: a session that changes 100,000 times stays small on disk.
_SETTINGS = {"page_size": 1_024, "wal_autocheckpoint": 16, "synchronous": "off", "foreign_keys": True}
_REMOVAL_S = 31_536_000
"""No key lives longer without being written."""
_SCHEMA = """
CREATE TABLE keys (key TEXT PRIMARY KEY, is_list INT NOT NULL, expires REAL NOT NULL) WITHOUT ROWID;
CREATE INDEX keys_by_expiry ON keys (expires);
CREATE TABLE items (
  key TEXT NOT NULL REFERENCES keys ON DELETE CASCADE, number INT NOT NULL, value TEXT NOT NULL,
  PRIMARY KEY (key, number)
) WITHOUT ROWID;
CREATE TABLE missed (
  number INTEGER PRIMARY KEY, key TEXT NOT NULL, is_list INT NOT NULL, value TEXT NOT NULL,
  most INT NOT NULL, expires REAL NOT NULL
);
CREATE INDEX missed_by_key ON missed (key, number);
"""
_DROPPING = (
    (
        "SELECT key, number, value FROM items WHERE key GLOB ?",
        "DELETE FROM items WHERE key = ? AND number = ?",
        "UPDATE items SET value = ? WHERE key = ? AND number = ?",
    ),
    (
        "SELECT key, number, value FROM missed WHERE key GLOB ? AND most > 0",
        "DELETE FROM missed WHERE key = ? AND number = ?",
        "UPDATE missed SET value = ? WHERE key = ? AND number = ?",
    ),
)
"""What reads the values of a pattern, deletes one, and changes one."""


class EmbeddedStore:
    """The `ShortTermStore` of the vault at `root`. `now` tells Unix seconds."""

    is_shared = False
    address = ""
    degraded = ""
    where = "embedded"

    def __init__(self, root: Path, now: Callable[[], float] = time.time) -> None:
        self._db = StateDatabase(root, FILE, VERSION, _SCHEMA, _SETTINGS, is_derived=True)
        self.path = self._db.path
        self._now = now

    def problem(self) -> str:
        return ""

    def get(self, key: str) -> str | None:
        found = self._read(key, False, "SELECT value FROM items WHERE key = ?", key)
        return found[0] if found else None

    def put(self, key: str, value: str, ttl_s: int) -> None:
        with self._writing() as db:
            self._touch(db, key, False, ttl_s)
            db.execute("INSERT OR REPLACE INTO items VALUES (?, 0, ?)", (key, value))

    def update(self, key: str, change: Change, ttl_s: int) -> str:
        with self._writing():
            value = change(self.get(key))
            self.put(key, value, ttl_s)
        return value

    def append(self, key: str, values: Sequence[str], ttl_s: int, most: int, *, again: bool = False) -> None:
        with self._writing() as db:
            self._touch(db, key, True, ttl_s)
            rows: list[Any] = db.execute("SELECT coalesce(max(number), 0) FROM items WHERE key = ?", (key,)).fetchall()
            last = rows[0][0]
            for value in values:
                if again and db.execute("SELECT 1 FROM items WHERE key = ? AND value = ?", (key, value)).fetchone():
                    continue
                last += 1
                db.execute("INSERT INTO items VALUES (?, ?, ?)", (key, last, value))
            db.execute(
                "DELETE FROM items WHERE key = ? AND number <= "
                "(SELECT number FROM items WHERE key = ? ORDER BY number DESC LIMIT 1 OFFSET ?)",
                (key, key, most),
            )

    def newest(self, key: str, limit: int) -> list[str]:
        return self._read(key, True, "SELECT value FROM items WHERE key = ? ORDER BY number DESC LIMIT ?", key, limit)[
            ::-1
        ]

    def oldest(self, key: str, limit: int) -> list[str]:
        return self._read(key, True, "SELECT value FROM items WHERE key = ? ORDER BY number LIMIT ?", key, limit)

    def discard(self, key: str, values: Sequence[str]) -> None:
        with self._writing() as db:
            self._kind(db, key, True)
            for value in values:
                db.execute(
                    "DELETE FROM items WHERE key = ? AND number = "
                    "(SELECT min(number) FROM items WHERE key = ? AND value = ?)",
                    (key, key, value),
                )

    def remove(self, *keys: str) -> tuple[str, ...]:
        with self._writing() as db:
            for key in keys:
                db.execute("DELETE FROM keys WHERE key = ?", (key,))
                db.execute("DELETE FROM missed WHERE key = ?", (key,))
        return ()

    def drop(self, patterns: Sequence[str], left: Left) -> Dropped:
        dropped = 0
        with self._writing() as db:
            for read, delete, change in _DROPPING:
                rows: list[Any] = [row for pattern in patterns for row in db.execute(read, (pattern,)).fetchall()]
                found = [(rest, key, number) for key, number, value in rows if (rest := left(key, value)) != value]
                db.executemany(delete, [where for rest, *where in found if rest is None])
                db.executemany(change, [each for each in found if each[0] is not None])
                dropped += len(found)
            db.execute("DELETE FROM keys WHERE NOT EXISTS (SELECT 1 FROM items WHERE items.key = keys.key)")
        self._db.purge()
        return Dropped(dropped)

    def ttl_s(self, key: str) -> int | None:
        with self._db.open() as db:
            expires = self._kind(db, key, None)
        return None if expires is None else math.ceil(expires - self._now())

    def close(self) -> None:
        self._db.close()

    def miss(self, key: str, values: Sequence[str], ttl_s: int, most: int | None) -> None:
        """Note a write that another store has missed: `most` is that of `append`, None for `put`. Of a value only the
        last one is kept, of a list as much as it may hold."""
        with self._writing() as db:
            expires, kept = self._now() + ttl_s, most or 1
            for value in values:
                row = (key, most is not None, value, kept, expires)
                db.execute("INSERT INTO missed (key, is_list, value, most, expires) VALUES (?, ?, ?, ?, ?)", row)
            db.execute(
                "DELETE FROM missed WHERE key = ? "
                "AND most > 0 AND number <= "
                "(SELECT number FROM missed WHERE key = ? ORDER BY number DESC LIMIT 1 OFFSET ?)",
                (key, key, kept),
            )

    def miss_removal(self, keys: Sequence[str]) -> None:
        """Note that another store has missed the removal of keys; what it missed before of these it need not get."""
        with self._writing() as db:
            for key in keys:
                row = (key, self._now() + _REMOVAL_S)
                db.execute("DELETE FROM missed WHERE key = ?", (key,))
                db.execute("INSERT INTO missed (key, is_list, value, most, expires) VALUES (?, 1, '', 0, ?)", row)

    def missed_removals(self) -> list[str]:
        """The keys that are still to be removed in another store."""
        with self._db.open() as db:
            rows: list[Any] = db.execute("SELECT key FROM missed WHERE most = 0 ORDER BY number").fetchall()
        return [row[0] for row in rows]

    def has_missed(self) -> bool:
        """Whether another store has missed a write."""
        with self._db.open() as db:
            return db.execute("SELECT 1 FROM missed LIMIT 1").fetchone() is not None

    def make_up(self, write: Callable[[str, str, int, int | None], None]) -> str:
        """Call `write(key, value, ttl_s, most)` for what was missed, oldest first, and forget it; of a list of
        which no value is to stay, `most` is 0: it is to be removed. No other process does so meanwhile. What
        `write` raises ends it, and the rest stays; so does what is missed of a key for which it raises
        `UsageError`. Returns the first of these errors in words, "" for none."""
        failed: Exception | None = None
        refused: dict[str, str] = {}
        with self._writing() as db:
            rows: list[Any] = db.execute(
                "SELECT number, key, is_list, value, most, expires FROM missed ORDER BY number"
            ).fetchall()
            for number, key, is_list, value, most, expires in rows:
                ttl_s = math.ceil(expires - self._now())
                if key in refused and ttl_s > 0:
                    continue
                try:
                    if ttl_s > 0:
                        write(key, value, ttl_s, most if is_list else None)
                except UsageError as error:
                    refused[key] = str(error)
                    continue
                except Exception as error:  # what is done is committed
                    failed = error
                    break
                db.execute("DELETE FROM missed WHERE number = ?", (number,))
        if failed:
            raise failed
        return next(iter(refused.values()), "")

    def _read(self, key: str, is_list: bool, sql: str, *values: Any) -> list[str]:
        with self._db.open() as db:
            if self._kind(db, key, is_list) is None:
                return []
            rows: list[Any] = db.execute(sql, values).fetchall()
            return [row[0] for row in rows]

    def _kind(self, db: apsw.Connection, key: str, is_list: bool | None) -> float | None:
        """When a key goes away; None where there is none. Raises `UsageError` for one of the other kind."""
        row: Any = db.execute(
            "SELECT is_list, expires FROM keys WHERE key = ? AND expires > ?", (key, self._now())
        ).fetchone()
        if row and is_list is not None and bool(row[0]) != is_list:
            raise UsageError(f"the key {key!r} holds a {'list' if row[0] else 'value'}: name another one")
        return row[1] if row else None

    def _touch(self, db: apsw.Connection, key: str, is_list: bool, ttl_s: int) -> None:
        """Make a key, or let an existing one live on; what has expired goes away."""
        db.execute("DELETE FROM keys WHERE expires <= ?", (self._now(),))
        self._kind(db, key, is_list)
        db.execute(
            "INSERT INTO keys VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET expires = excluded.expires",
            (key, is_list, self._now() + ttl_s),
        )

    @contextmanager
    def _writing(self) -> Iterator[apsw.Connection]:
        with self._db.writing() as db:
            yield db
