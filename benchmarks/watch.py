"""How long an edit takes to be found, and what watching costs, beside bare floors measured in the same run.

    python benchmarks/watch.py [NOTES] [--big NOTES]

The daemon runs in a process of its own, as `vault-memory watch` does. `edit_*_ms` is the time from the end of a save
until the index holds it, less the settle time. `catchup_ratio_10k` compares a look at unchanged notes with a bare
scandir and stat of the same folders; `checkout_ratio` compares the rate at which 5,000 notes changed by git are
indexed with the rate of the first indexing. The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import apsw
from rich.console import Console
from rich.table import Table

from vault_memory.services.admin.create_vault import create_vault
from vault_memory.services.daemon.daemon_record import is_running, read_record
from vault_memory.services.indexing.reconcile import embed, reconcile
from vault_memory.services.vault import Vault, open_vault

SETTLE_MS = 100
EDITS = 40
WORDS = [
    "the",
    "index",
    "follows",
    "every",
    "edit",
    "主題",
    "偏好",
    "深色",
    "React",
    "組件",
    "vector",
    "keyword",
    "commit",
    "記憶",
    "助理",
    "notes",
]

DAEMON = """
import signal, sys, threading
from vault_memory.services.daemon import Daemon
from vault_memory.services.vault import open_vault
stop = threading.Event()
signal.signal(signal.SIGTERM, lambda *_: stop.set())
Daemon(open_vault(sys.argv[1], watch_settle_ms=int(sys.argv[2]), watch_commit_quiet_ms=600_000)).run(stop)
"""


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("notes", nargs="?", type=int, default=10_000)
    arguments.add_argument("--big", type=int, default=0, help="also look at a vault of this many files (100000)")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory(prefix="vault-memory-watch-") as folder:
        figures = measure(Path(folder), given.notes)
        if given.big:
            figures["catchup_s_100k"] = big(Path(folder), given.big)
    table = Table("figure", "value", title=f"{given.notes} notes")
    for name, value in figures.items():
        table.add_row(name, f"{value:,.2f}")
    Console().print(table)
    print(json.dumps({name: round(value, 3) for name, value in figures.items()}))


def measure(folder: Path, count: int) -> dict[str, float]:
    vault = made(folder / "vault", count)
    began = time.perf_counter()
    reconcile(vault, "alice")
    cold = count / (time.perf_counter() - began)
    while embed(vault, "alice"):
        pass
    rest()
    reconcile(vault, "alice")  # notes indexed at once after they were written are read once more
    users = vault.root / "memory" / "alice"
    ratio = statistics.median(timed(lambda: reconcile(vault, "alice")) / timed(lambda: walk(users)) for _ in range(7))
    process = subprocess.Popen([sys.executable, "-c", DAEMON, str(vault.root), str(SETTLE_MS)])
    try:
        until(lambda: is_running(vault.root) and getattr(read_record(vault.root), "state", "") == "watching", 60)
        edits = sorted(edit(vault, random.randrange(count)) - SETTLE_MS for _ in range(EDITS))
        rate = checkout(vault, min(5_000, count // 2))
        until(lambda: not vault.index("alice").stats().pending.get(vault.embedder.space), 600, pause=0.5)
        cpu, rss = idle(process.pid, 20)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(10)
    return {
        "edit_p50_ms": statistics.median(edits),
        "edit_p95_ms": edits[int(len(edits) * 0.95) - 1],
        "settle_ms": SETTLE_MS,
        "catchup_ratio_10k": ratio,
        "cold_notes_per_s": cold,
        "checkout_ratio": rate / cold,
        "idle_cpu_percent": cpu,
        "rss_less_matrices_mb": rss,  # a daemon searches nothing, and so holds no matrix of vectors
    }


def big(folder: Path, count: int) -> float:
    """Seconds for a look at so many unchanged files."""
    vault = made(folder / "big", count)
    reconcile(vault, "alice")
    rest()
    reconcile(vault, "alice")
    return statistics.median(timed(lambda: reconcile(vault, "alice")) for _ in range(3))


def made(root: Path, count: int) -> Vault:
    create_vault(root)
    rng = random.Random(7)
    for number in range(count):
        path = root / "memory" / "alice" / "notes" / f"{number // 100:04d}" / f"{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text(rng, number), encoding="utf-8")
    return open_vault(root)


def text(rng: random.Random, number: int) -> str:
    lines = [" ".join(rng.choices(WORDS, k=12)) for _ in range(6)]
    return f"# Note {number}\n\n" + "\n".join(lines) + "\n"


def edit(vault: Vault, number: int) -> float:
    """Milliseconds from a save until the index holds it."""
    path = vault.path("alice", f"notes/{number // 100:04d}/{number}.md")
    word = f"edited{time.monotonic_ns()}"
    path.write_text(f"# Note {number}\n\n{word}\n", encoding="utf-8")
    began = time.perf_counter()
    db = apsw.Connection(str(vault.index_path("alice")), flags=apsw.SQLITE_OPEN_READONLY)
    source = f"notes/{number // 100:04d}/{number}.md"
    sql = "SELECT 1 FROM chunks JOIN files USING(file_id) WHERE source = ? AND instr(text, ?)"
    until(lambda: db.execute(sql, (source, word)).fetchall(), 30)
    db.close()
    return (time.perf_counter() - began) * 1000


def checkout(vault: Vault, count: int) -> float:
    """Notes per second from the start of a `git checkout` that changes so many until all are indexed."""
    git(vault, "add", "-A")
    git(vault, "-c", "user.name=b", "-c", "user.email=b@localhost", "commit", "-qm", "before")
    git(vault, "checkout", "-q", "-b", "other")
    rng = random.Random(8)
    for number in range(count):
        path = vault.path("alice", f"notes/{number // 100:04d}/{number}.md")
        path.write_text(text(rng, number), encoding="utf-8")
    git(vault, "-c", "user.name=b", "-c", "user.email=b@localhost", "commit", "-qam", "after")
    rest()
    until(lambda: is_equal(vault), 120)
    began = time.perf_counter()
    git(vault, "checkout", "-q", "-")
    until(lambda: is_equal(vault), 300, pause=0.2)
    return count / (time.perf_counter() - began)


def is_equal(vault: Vault) -> bool:
    """Whether the index has every note as it is on disk, by size and time or by what was read within two seconds."""
    known = vault.index("alice").files()
    users = vault.root / "memory" / "alice"
    for source, state in known.items():
        stat = os.lstat(users / source)
        if (stat.st_size, stat.st_ctime_ns, stat.st_ino) != (state.size, state.ctime_ns, state.inode):
            return False
    return True


def idle(pid: int, seconds: float) -> tuple[float, float]:
    """(cpu in percent of one core, resident MB) of a process that has nothing to do."""
    rest()
    before = cpu_s(pid)
    time.sleep(seconds)
    cpu = (cpu_s(pid) - before) / seconds * 100
    status = Path(f"/proc/{pid}/status").read_text()
    rss = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
    return cpu, rss / 1024


def cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def walk(folder: Path | str) -> int:
    """The floor: every file's `stat`, and nothing else."""
    count = 0
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                count += walk(entry.path)
            else:
                entry.stat(follow_symlinks=False)
                count += 1
    return count


def timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def rest() -> None:
    """Let files become older than the two seconds within which a time stamp is not trusted."""
    time.sleep(2.2)


def until(condition: Callable[[], object], seconds: float, pause: float = 0.001) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise SystemExit(f"not within {seconds} s")
        time.sleep(pause)


def git(vault: Vault, *words: str) -> None:
    subprocess.run(["git", "-C", str(vault.root), *words], check=True, capture_output=True)


if __name__ == "__main__":
    main()
