"""How long the summary for an intent router takes, and how many bytes a session has after many updates.

    python benchmarks/stores_learning.py [--topics 200] [--updates 100000]

A learner of so many topics in a new vault is summarised 500 times; one session of theirs is updated so often (an update
reaches the disk before it returns: some 10 ms). The last line is JSON: `summary_p95_ms`, `session_bytes_after_100k`.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path

from vault_memory.core import layout
from vault_memory.services.admin.create_vault import create_vault
from vault_memory.services.learning import memory_summary, update_session, update_user
from vault_memory.services.vault import Vault, open_vault

USER, SESSION = "u123", "s456"
CALLS = 500


def summary_p95_ms(vault: Vault, topics: int = 200) -> float:
    """The 95th percentile of `memory_summary` in milliseconds, for a learner of so many topics."""
    event = {"intent": "quiz", "topic": "topic", "metadata": {"difficulty": "easy", "correct_rate": 0.4}}
    update_user(vault, USER, event)
    note = vault.root / layout.user_dir(USER) / layout.LEARNING
    (row,) = [line for line in note.read_text("utf-8").splitlines(keepends=True) if line.startswith("| topic |")]
    rows = "".join(row.replace("| topic |", f"| topic {number} |") for number in range(topics))
    note.write_text(note.read_text("utf-8").replace(row, rows), "utf-8")
    update_session(vault, USER, SESSION, "quiz", "topic 1", "quiz_set")
    times = []
    for _ in range(CALLS):
        began = time.perf_counter()
        memory_summary(vault, USER, SESSION)
        times.append(1000 * (time.perf_counter() - began))
    return sorted(times)[int(0.95 * CALLS)]


def session_bytes(vault: Vault, updates: int = 100_000) -> int:
    """The bytes of all sessions of a learner after so many updates of one."""
    for number in range(updates):
        update_session(vault, USER, SESSION, f"intent {number}", f"topic {number}", "quiz_set", "再來一題")
    return sum(path.stat().st_size for path in (vault.root / layout.STATE_DIR / "sessions").glob("*.json"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--topics", type=int, default=200)
    parser.add_argument("--updates", type=int, default=100_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        create_vault(Path(folder, "vault"))
        vault = open_vault(Path(folder, "vault"))
        figures = {"summary_p95_ms": round(summary_p95_ms(vault, given.topics), 2)}
        print(json.dumps({**figures, "session_bytes_after_100k": session_bytes(vault, given.updates)}))


if __name__ == "__main__":
    main()
