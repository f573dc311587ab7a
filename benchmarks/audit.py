"""How long history takes to read: one user's 20 newest changes of USER.md among 50,000 commits.

    python benchmarks/audit.py [--commits 50000] [--users 500] [--rounds 15]

The repository has a commit per turn, users taking turns, as a vault has it after years; the graph of commits is
written as the heartbeat's `maintenance` does. The floor is the same `git log` without a path: 20 commits read from
the top.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from vault_memory.adapters.git import growth, write_commit_graph
from vault_memory.services.admin.create_vault import create_vault
from vault_memory.services.notes.file_history import file_blame
from vault_memory.services.profiles import preferences
from vault_memory.services.profiles.history import history
from vault_memory.services.vault import open_vault

VALUES = ("dark", "light", "auto")


def make_commits(root: Path, commits: int, users: int) -> None:
    """One commit per turn on top of a new vault: every fifth changes a preference, the others add to the day's log."""
    lines = ["reset refs/heads/main\nfrom refs/heads/main^0\n\n"]
    for number in range(commits):
        user = f"user{number * 7919 % users:05d}"
        turn = number // users
        if turn % 5 == 0:
            value, old = VALUES[turn // 5 % 3], VALUES[(turn // 5 - 1) % 3]
            name, text = "USER.md", f"# User profile\n\n## Preferences\n- Theme: {value}\n- Tools: Tool{turn}\n"
            message = (
                f"memory({user}): theme = {value}\n\nReason: 「I like {value}」\nVault-User: {user}\nVault-Key: theme\n"
                f"Vault-Op: set\nVault-Old: {old}\nVault-New: {value}\nVault-Strength: explicit\n"
            )
        else:
            name, text = f"daily/2026-01-{turn % 28 + 1:02d}.md", f"# day\n\n## {turn}\n"
            message = f"log({user}): turn\n\nVault-User: {user}\n"
        lines.append(
            f"commit refs/heads/main\ncommitter vault-memory <vault-memory@localhost> {1_700_000_000 + number} +0000\n"
            f"data {len(message.encode())}\n{message}\n"
            f"M 100644 inline memory/{user}/{name}\ndata {len(text.encode())}\n{text}\n"
        )
    subprocess.run(["git", "fast-import", "--quiet", "--force"], cwd=root, input="".join(lines).encode(), check=True)
    subprocess.run(["git", "reset", "--hard", "--quiet"], cwd=root, check=True)


def measure(act: Callable[[], object], rounds: int) -> list[float]:
    """Milliseconds of each round, after one that warms the caches."""
    act()
    times = []
    for _ in range(rounds):
        started = time.perf_counter()
        act()
        times.append((time.perf_counter() - started) * 1000)
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--commits", type=int, default=50_000)
    parser.add_argument("--users", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=15)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="vault-memory-bench-") as name:
        root = create_vault(Path(name) / "vault").root
        make_commits(root, args.commits, args.users)
        vault = open_vault(root)
        user = "user00042"
        path = PurePosixPath(f"memory/{user}/USER.md")
        ways: dict[str, Callable[[], object]] = {
            "floor": lambda: vault.history.log(limit=20),
            "history": lambda: history(vault, user, limit=20),
            "log": lambda: vault.history.log([path], limit=20),
            "blame": lambda: file_blame(vault, path),
            "pref blame": lambda: preferences.blame(vault, user, "theme"),
        }
        assert len(history(vault, user, limit=20)) == min(20, args.commits // args.users // 5)
        bare = statistics.median(measure(ways["history"], 3))
        started = time.perf_counter()
        write_commit_graph(root)
        graph_s = time.perf_counter() - started
        times = {way: measure(act, args.rounds) for way, act in ways.items()}
        grown = growth(root / ".git")
    print(f"{args.commits:,} commits, {args.users} users; {grown.bytes / 1e6:.1f} MB; graph written in {graph_s:.1f} s")
    print(f"{'way':<12}{'median ms':>12}{'p95 ms':>10}")
    for way, values in times.items():
        print(f"{way:<12}{statistics.median(values):>12.1f}{sorted(values)[int(len(values) * 0.95)]:>10.1f}")
    print(f"history without the graph: {bare:.0f} ms")
    found = {way: round(statistics.median(values), 1) for way, values in times.items()}
    print(
        json.dumps(
            {
                "history_ms": found["history"],
                "blame_ms": found["blame"],
                "pref_blame_ms": found["pref blame"],
                "floor_ms": found["floor"],
                "history_without_graph_ms": round(bare, 1),
            }
        )
    )


if __name__ == "__main__":
    main()
