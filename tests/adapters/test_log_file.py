"""A log of limited size, whose files may be deleted at any time."""

from __future__ import annotations

import shutil
from pathlib import Path

from vault_memory.adapters.log_file import MAX_OLD_FILES, LogFile, LogReader


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


def test_the_last_lines_and_those_that_come_are_read_once_in_whichever_file_they_are(tmp_path: Path) -> None:
    log = LogFile(tmp_path / "logs" / "proxy.jsonl", max_bytes=100)
    reader = LogReader(log.path)
    assert reader.last(5) == reader.new() == []
    log.write("one")
    assert reader.new() == ["one"] and reader.new() == []
    read = ["one"]
    for number in range(2, 60):
        log.write(f"line {number:03d}")
        if number % 4 == 0:  # a file holds ten of them
            read += reader.new()
    assert read == ["one", *(f"line {number:03d}" for number in range(2, 57))]
    assert LogReader(log.path).last(14) == [f"line {number:03d}" for number in range(46, 60)]
    assert LogReader(log.path).last(0) == []
    with log.path.open("a") as file:
        file.write("half")
    assert reader.new() == ["line 057", "line 058", "line 059"]
    with log.path.open("a") as file:
        file.write(" and half\n")
    assert reader.new() == ["half and half"]
    shutil.rmtree(tmp_path / "logs")
    log.write("anew")
    assert reader.new() == ["anew"]
