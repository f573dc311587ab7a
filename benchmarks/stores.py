"""How long the stores take, beside bare files and dictionaries that are measured in the same run.

    python benchmarks/stores.py [--turns 2000] [--topics 200] [--updates 100000]

A user with so many turns in the records asks for the last five, and for the last one of a conversation
(`recent_p50_ms`, `context_p50_ms`; the floor reads and parses the end of one JSON Lines file). A learner of so many
topics is summarised (`summary_p95_ms`; the floor parses two JSON files). One session is updated so often
(`session_bytes_after_100k`: of all files of the embedded store; the floor is the context alone as JSON). What
`stores_longterm.py` says of the flush stands beside it, where it can run. The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from vault_memory.api import get_conversation_history
from vault_memory.core import layout
from vault_memory.core.notes import Turn
from vault_memory.services.admin.create_vault import create_vault
from vault_memory.services.learning import (
    learning_profile,
    memory_summary,
    session_context,
    update_session,
    update_user,
)
from vault_memory.services.shortterm import load_recent_context, store_short_term
from vault_memory.services.turns import OldTurns
from vault_memory.services.vault import Vault, open_vault

USER, SESSION = "u123", "s456"
CALLS = 500
LIMITS = {"recent_p50_ms": 1.0, "summary_p95_ms": 5.0, "session_bytes_after_100k": 64_000}
FLUSH_TIMEOUT_S = 600


def times_ms(call: Callable[[], object]) -> list[float]:
    """How long each of `CALLS` calls takes, the shortest first."""
    found = []
    for _ in range(CALLS):
        began = time.perf_counter()
        call()
        found.append(1000 * (time.perf_counter() - began))
    return sorted(found)


def p50(times: list[float]) -> float:
    return round(times[len(times) // 2], 3)


def p95(times: list[float]) -> float:
    return round(times[int(0.95 * len(times))], 3)


def recent(vault: Vault, turns: int, folder: Path) -> dict[str, float]:
    """The last turns, by the records and by the store."""
    now = vault.now()
    said = [
        Turn(f"c{number % 20}", USER, now - timedelta(minutes=2 * number), f"question {number}", "an answer " * 30)
        for number in range(turns)
    ]
    OldTurns(vault, USER).keep(said)
    store_short_term(vault, "c1", USER, "再來一題", "好的 " * 30, {"summary": "one more", "causes": []})
    assert len(get_conversation_history(vault, USER, 5)) == 5 and load_recent_context(vault, "c1")
    lines = folder / "floor.jsonl"
    lines.write_text("".join(f"{turn.line()}\n" for turn in said[: max(5, turns // 30)]), "utf-8")

    def floor() -> list[Any]:
        with lines.open("rb") as file:
            file.seek(0, 2)
            file.seek(max(0, file.tell() - 8_192))
            return [json.loads(line) for line in file.read().splitlines()[-5:]]

    assert len(floor()) == 5
    return {
        "recent_p50_ms": p50(times_ms(lambda: get_conversation_history(vault, USER, 5))),
        "recent_floor_p50_ms": p50(times_ms(floor)),
        "context_p50_ms": p50(times_ms(lambda: load_recent_context(vault, "c1"))),
    }


def summary(vault: Vault, topics: int, folder: Path) -> dict[str, float]:
    """The summary for an intent router."""
    event = {"intent": "quiz", "topic": "topic", "metadata": {"difficulty": "easy", "correct_rate": 0.4}}
    update_user(vault, USER, event)
    note = vault.root / layout.user_dir(USER) / layout.LEARNING
    (row,) = [line for line in note.read_text("utf-8").splitlines(keepends=True) if line.startswith("| topic |")]
    rows = "".join(row.replace("| topic |", f"| topic {number} |") for number in range(topics))
    note.write_text(note.read_text("utf-8").replace(row, rows), "utf-8")
    update_session(vault, USER, SESSION, "quiz", "topic 1", "quiz_set")
    assert memory_summary(vault, USER, SESSION).user_mastery_hint == "medium"
    plain = {
        folder / "profile.json": learning_profile(vault, USER).as_dict(USER),
        folder / "session.json": session_context(vault, USER, SESSION).as_dict(),
    }
    for path, value in plain.items():
        path.write_text(json.dumps(value, ensure_ascii=False), "utf-8")
    return {
        "summary_p95_ms": p95(times_ms(lambda: memory_summary(vault, USER, SESSION))),
        "summary_floor_p95_ms": p95(times_ms(lambda: [json.loads(path.read_bytes()) for path in plain])),
    }


def session(vault: Vault, updates: int) -> dict[str, float]:
    """What a session leaves on the disk, and how often it can be updated."""
    began = time.perf_counter()
    for number in range(updates):
        update_session(vault, USER, SESSION, f"intent {number}", f"topic {number}", "quiz_set", "再來一題")
    took = time.perf_counter() - began
    files = (vault.root / layout.STATE_DIR).glob("short-term.db*")
    context = json.dumps(session_context(vault, USER, SESSION).as_dict(), ensure_ascii=False)
    return {
        "session_bytes_after_100k": sum(path.stat().st_size for path in files),
        "session_floor_bytes": len(context.encode()),
        "session_updates_per_s": round(updates / took),
    }


def flush() -> dict[str, float]:
    """What the benchmark of the long-term store says; nothing where it cannot run, and why is printed."""
    script = Path(__file__).with_name("stores_longterm.py")
    if not script.is_file():
        return {}
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=FLUSH_TIMEOUT_S)
    try:
        found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        print(f"no flush is measured: {(done.stderr.splitlines() or ['it said nothing'])[-1]}")
        return {}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=2_000)
    parser.add_argument("--topics", type=int, default=200)
    parser.add_argument("--updates", type=int, default=100_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        create_vault(folder / "vault")
        vault = open_vault(folder / "vault", environ={})
        figures = recent(vault, given.turns, folder)
        figures |= summary(vault, given.topics, folder)
        figures |= session(vault, given.updates)
    figures |= flush()
    for name, limit in LIMITS.items():
        print(f"{name}: {figures[name]:,} (at most {limit:,})")
    print(json.dumps(figures))
    sys.exit(0 if all(figures[name] <= limit for name, limit in LIMITS.items()) else 1)


if __name__ == "__main__":
    main()
