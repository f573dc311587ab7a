"""How fast turns get from the outbox into a PostgreSQL, against a bare `executemany` of the same rows.

    python benchmarks/stores_longterm.py [--turns 2000] [--rounds 9]

Both write to tables of one real PostgreSQL on this machine, with the same columns and unique key. A round is a flush
and, right before and right after it, an `executemany`, so that other work on the machine slows both; the ratio is the
median of the rounds' own, each with the mean of its two. The flush reads the outbox, makes tokens and rows, sends
batches of 100, each in a transaction of its own, and takes them out of the outbox; the `executemany` has its rows
ready, and commits once. The last line is JSON: `flush_per_s`, `flush_ratio`.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any

import psycopg

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.postgres_server import PostgresServer
from vault_memory.adapters.tokenizer import pack_token_record
from vault_memory.core import layout
from vault_memory.core.longterm import rows_of, targets
from vault_memory.services.longterm import flush_long_term
from vault_memory.services.vault import Vault, open_vault

FIELDS = ("conversation_id", "user_id", "reflection", "token_data", "created_at")
COLUMNS = "conversation_id text, user_id text, reflection jsonb, token_data jsonb, created_at timestamptz"
FLOOR = 0.5


def turns(count: int) -> list[dict[str, Any]]:
    """So many turns of some length, in both languages."""
    begin = datetime(2026, 1, 30, tzinfo=UTC)
    said = "請幫我寫一個按鈕，要深色的。 Write me a button, please: dark, with round corners, and a test. "
    return [
        {
            "conversation_id": f"c{number // 20}",
            "user_id": "alice",
            "user_message": f"{number} {said}",
            "assistant_message": said * 4,
            "reflection": {"summary": f"made button {number}", "causes": ["the test came first"]},
            "cid": None,
            "created_at": (begin + timedelta(seconds=number)).isoformat(),
        }
        for number in range(count)
    ]


def flush_s(vault: Vault, given: list[dict[str, Any]]) -> float:
    """Seconds of a flush of these turns."""
    vault.outbox.put(given)
    began = time.perf_counter()
    assert flush_long_term(vault).sent == len(given)
    return time.perf_counter() - began


def bare_s(url: str, rows: list[tuple[str | None, ...]], table: str) -> float:
    """Seconds of an `executemany` of these rows."""
    names, places = ", ".join(FIELDS), ", ".join(["%s"] * len(FIELDS))
    with psycopg.connect(url) as connection, connection.cursor() as cursor:
        began = time.perf_counter()
        cursor.executemany(f"INSERT INTO {table} ({names}) VALUES ({places})", rows)  # noqa: S608
        connection.commit()
        return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=2_000)
    parser.add_argument("--rounds", type=int, default=9)
    given = parser.parse_args()
    said = turns(given.turns)
    same = {field: field for field in FIELDS}
    rows = [
        row.values
        for turn in said
        for row in rows_of(
            turn,
            pack_token_record(turn["user_message"], turn["assistant_message"], turn["reflection"]),
            targets({"conversations": "kept"}, same),
        )
    ]
    server = PostgresServer()
    with tempfile.TemporaryDirectory() as folder:
        try:
            (Path(folder) / layout.SETTINGS_FILE).write_text("format = 1\n")
            environ = {
                "SUPABASE_DB_URL": server.url,
                "VAULT_MEMORY_LONGTERM_ENABLED": "true",
                "MEMORY_TABLE_MAP": json.dumps({"conversations": "kept"}),
                "VAULT_MEMORY_LONGTERM_COLUMNS_MAP": json.dumps(same),
            }
            vault = open_vault(folder, environ=environ)
            for table in ("kept", "bare", "bare_after"):
                server.sql(f"CREATE TABLE {table} ({COLUMNS}, UNIQUE (conversation_id, created_at))")
            flushes, bares = [], []
            for _ in range(given.rounds):
                server.sql("TRUNCATE kept, bare, bare_after")
                before = bare_s(server.url, rows, "bare")
                flushes.append(flush_s(vault, said))
                bares.append((before + bare_s(server.url, rows, "bare_after")) / 2)
                assert server.sql("SELECT count(*) FROM kept") == server.sql("SELECT count(*) FROM bare")
        finally:
            server.remove()
    flush, bare = median(flushes), median(bares)
    ratio = median(one / other for one, other in zip(bares, flushes, strict=True))
    print(f"{given.turns:,} turns: flush {flush:.2f} s, bare executemany {bare:.2f} s")
    figures = {"flush_per_s": round(given.turns / flush), "flush_ratio": round(ratio, 2)}
    print(json.dumps(figures))
    sys.exit(0 if figures["flush_ratio"] >= FLOOR else 1)


if __name__ == "__main__":
    main()
