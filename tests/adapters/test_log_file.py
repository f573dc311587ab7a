"""A log of limited size, whose files may be deleted at any time."""

from __future__ import annotations

import shutil
from pathlib import Path

from vault_memory.adapters.log_file import MAX_OLD_FILES, LogFile


def test_the_oldest_lines_are_dropped(tmp_path: Path) -> None:
    log = LogFile(tmp_path / "logs" / "daemon.jsonl", max_bytes=100)
    for number in range(200):
        log.write(f"line {number:03d}")
    names = sorted(path.name for path in (tmp_path / "logs").iterdir())
    assert set(names) <= {"daemon.jsonl", *(f"daemon.jsonl.{n}" for n in range(1, MAX_OLD_FILES + 1))}
    kept = [
        line for name in sorted(names, reverse=True) for line in (tmp_path / "logs" / name).read_text().splitlines()
    ]
    if "daemon.jsonl" in names:
        current = (tmp_path / "logs" / "daemon.jsonl").read_text().splitlines()
        kept = [line for line in kept if line not in current] + current
    assert kept == sorted(kept)
    assert kept[-1] == "line 199"
    assert all(path.stat().st_size < 120 for path in (tmp_path / "logs").iterdir())


def test_a_deleted_log_starts_again(tmp_path: Path) -> None:
    log = LogFile(tmp_path / "logs" / "daemon.jsonl")
    log.write("one")
    shutil.rmtree(tmp_path / "logs")
    log.write("主題 two")
    assert log.path.read_text(encoding="utf-8") == "主題 two\n"
