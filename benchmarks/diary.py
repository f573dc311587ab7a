"""How many commits a day of conversation makes, and how long a turn takes that changes nothing.

    python benchmarks/diary.py [--days 3]

A day is 100 turns in ten conversations, a turn every two minutes and an hour between conversations, by a clock that is
passed in; 30 of them change a preference. Each turn is recorded in two vaults, one after the other, which differ in one
setting: `git.log_commits = "turn"`, the floor, makes a commit for the logs of each turn. In a third vault ten users say
the same turns, one after the other, a turn every two minutes all day (`commits_per_100_turns_class`).
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import tempfile
import time
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from vault_memory.services.admin.create_vault import create_vault
from vault_memory.services.turns.record import record_turn
from vault_memory.services.vault import Vault, open_vault

TURNS, CHANGING = 100, 30
_TOLD = (
    *("我喜歡暗色主題", "以後都用英文回答", "I prefer short answers"),
    *("我喜歡亮色主題", "以後都用繁體中文回答", "I prefer detailed answers"),
)
_ASKED = ("今天天氣如何", "Which of the two is shorter?", "謝謝，這樣就可以了", "把剛剛那段再貼一次", "好，下一步呢")


class Clock:
    """Time as a test has it: it stands until it is set."""

    def __init__(self, at: datetime) -> None:
        self.at = at

    def __call__(self) -> datetime:
        return self.at


def day(number: int) -> list[tuple[timedelta, str, bool]]:
    """A day's turns: when, what is said, and whether that is to change a preference."""
    turns, told = [], number * CHANGING
    for turn in range(TURNS):
        at = timedelta(hours=8 + turn // 10, minutes=2 * (turn % 10))
        is_telling = turn % 10 in (2, 3, 7)
        turns.append((at, _TOLD[told % len(_TOLD)] if is_telling else _ASKED[turn % len(_ASKED)], is_telling))
        told += is_telling
    return turns


def commits(vault: Vault) -> int:
    out = subprocess.run(["git", "rev-list", "--count", "HEAD"], cwd=vault.root, check=True, capture_output=True)
    return int(out.stdout)


def measure(folder: Path, days: int) -> dict[str, float]:
    """The figures of both vaults."""
    midnight = datetime(2026, 1, 26, tzinfo=ZoneInfo("Asia/Taipei"))
    clock = Clock(midnight)
    vaults = {}
    for when in ("later", "turn", "class"):
        create_vault(folder / when)
        vaults[when] = open_vault(folder / when, now=clock, git_log_commits="turn" if when == "turn" else "later")
    before = {when: commits(vault) for when, vault in vaults.items()}
    times: dict[str, list[float]] = {when: [] for when in vaults}
    changed = dict.fromkeys(vaults, 0)
    for number in range(days):
        for turn, (at, said, is_telling) in enumerate(day(number)):
            for when, vault in sorted(vaults.items(), reverse=bool(turn % 2)):
                after = timedelta(hours=8, minutes=2 * turn) if when == "class" else at
                clock.at = midnight + timedelta(days=number) + after
                began = time.perf_counter()
                user = f"user-{turn % 10}" if when == "class" else "alice"
                recorded = record_turn(
                    vault, user, said, "好的。" * 20, conversation_id=f"{number}-{turn // 10}", created_at=clock.at
                )
                took_ms = 1000 * (time.perf_counter() - began)
                changed[when] += bool(recorded.changes)
                if not is_telling and not recorded.changes:
                    times[when].append(took_ms)
    for vault in vaults.values():
        vault.history.flush()
    figures: dict[str, float] = {}
    for when, vault in vaults.items():
        suffix = {"later": "", "turn": "_floor", "class": "_class"}[when]
        figures[f"commits_per_100_turns{suffix}"] = (commits(vault) - before[when]) * 100 / (days * TURNS)
        figures[f"changing_turns_per_100{suffix}"] = changed[when] * 100 / (days * TURNS)
        figures[f"turn_no_change_p50_ms{suffix}"] = statistics.median(times[when])
        figures[f"turn_no_change_p95_ms{suffix}"] = statistics.quantiles(times[when], n=20)[-1]
    log = ["git", "log", "--oneline", "--reverse", "--no-decorate", "--since=2026-01-25", "-25"]
    print(subprocess.run(log, cwd=vaults["later"].root, check=True, capture_output=True, encoding="utf-8").stdout)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--days", type=int, default=3)
    days = parser.parse_args().days
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(Path(folder), days)
    print(f"{'':24} {'later':>10} {'turn (floor)':>14} {'ten users':>10}")
    for name in ("commits_per_100_turns", "changing_turns_per_100", "turn_no_change_p50_ms", "turn_no_change_p95_ms"):
        print(f"{name:24} {figures[name]:10.1f} {figures[name + '_floor']:14.1f} {figures[name + '_class']:10.1f}")
    print(json.dumps({name: round(value, 2) for name, value in figures.items()}))


if __name__ == "__main__":
    main()
