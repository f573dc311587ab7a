"""A record grows by whole lines only: several processes write it, and are killed in the middle of one."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from vault_memory.adapters import files

ROOT = Path(__file__).parents[2]
WRITERS = 3
PAD_BYTES = 8_000_000
WRITER = """
import json, sys
from pathlib import Path
from vault_memory.adapters import files

path, name, pad = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
for n in range(4):
    line = json.dumps({"name": name, "n": n, "pad": "x" * pad}).encode()
    with files.lock(path.with_suffix(".lock"), 60):
        number = files.append_line(path, line)
    print(number, n, flush=True)
"""
LIMITED = """
import resource, sys
from pathlib import Path
from vault_memory.adapters import files
from vault_memory.errors import Unwritable

path = Path(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
try:
    files.append_line(path, b"y" * 1_000_000)
except Unwritable as error:
    print(error)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
print(files.append_line(path, b"last"))
"""


def run(code: str, *words: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", code, *map(str, words)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def ends_in_a_line(path: Path) -> bool:
    """Whether the file ends in the middle of a line."""
    try:
        with path.open("rb") as file:
            return bool(file.seek(0, os.SEEK_END)) and file.seek(-1, os.SEEK_END) >= 0 and file.read(1) != b"\n"
    except FileNotFoundError:
        return False


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="a process there is not killed in the middle of a write")
def test_processes_that_are_killed_in_the_middle_of_a_line_tear_no_other(tmp_path: Path) -> None:
    """A8, D1: every line that was reported is there, whole, once, at its number, and nothing was rewritten."""
    path, reported = tmp_path / "2026-01-30.jsonl", dict[int, tuple[str, int]]()
    deadline = time.monotonic() + 60
    for attempt in itertools.count():
        files.append_line(path, b"before")
        before = path.read_bytes()
        names = [f"{attempt}-{each}" for each in range(WRITERS)]
        writers = {name: run(WRITER, path, name, PAD_BYTES) for name in names}
        while not ends_in_a_line(path) and any(writer.poll() is None for writer in writers.values()):
            pass
        for writer in writers.values():
            writer.kill()
        for name, writer in writers.items():
            said, _ = writer.communicate()
            for row in said.splitlines():
                number, n = map(int, row.split())
                assert number not in reported
                reported[number] = name, n
        after = path.read_bytes()
        assert after.startswith(before), "what was there has changed"
        if reported and not after.endswith(b"\n"):
            break
        assert time.monotonic() < deadline, f"{attempt} attempts tore no line: otherwise it shows nothing"
        path.unlink()
        reported.clear()
    assert files.append_line(path, b"{}") == path.read_bytes().count(b"\n")
    *lines, last, end = path.read_bytes().split(b"\n")
    assert (last, end) == (b"{}", b"")
    for number, (name, n) in reported.items():
        row = json.loads(lines[number - 1])
        assert (row["name"], row["n"], len(row["pad"])) == (name, n, PAD_BYTES)
    assert len({line[:40] for line in lines}) == len(lines) > len(reported), "a line stands there twice"
    assert sum(not line.endswith(b'x"}') for line in lines[1:]) <= WRITERS, "a writer tears one line at most"


def test_a_write_that_stops_halfway_is_taken_back(tmp_path: Path) -> None:
    """The first `write` is a short one, the second fails, as on a disk that fills up in the middle of the line."""
    pytest.importorskip("resource")
    path = tmp_path / "2026-01-30.jsonl"
    files.append_line(path, b"first")
    said, _ = run(LIMITED, path).communicate(timeout=60)
    assert "cannot be written" in said and said.endswith("\n2\n") and path.read_bytes() == b"first\nlast\n"
