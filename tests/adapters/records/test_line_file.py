"""A file read line by line from its end: the same lines with the same numbers as from its beginning."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from vault_memory.adapters.records.line_file import BLOCK_BYTES, lines_from_end

LONG = b"x" * (3 * BLOCK_BYTES + 7)


@pytest.mark.parametrize(
    "content",
    [
        b"", b"\n", b"one", b"one\n", b"one\ntwo", b"\n\none\n\n", b"a" * BLOCK_BYTES + b"\nb",
        b"a" * (BLOCK_BYTES - 1) + b"\nb\n",
        b"first\n" + LONG + b"\nlast\n", LONG + b"\n" + LONG, b"line\n" * BLOCK_BYTES,
    ],
)  # fmt: skip
def test_lines_come_from_the_end_with_their_numbers(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "lines"
    path.write_bytes(content)
    expected = list(enumerate(content.split(b"\n"), start=1))
    assert [*lines_from_end(path)] == expected[::-1]


def test_a_line_may_end_with_a_carriage_return_too(tmp_path: Path) -> None:
    (tmp_path / "lines").write_bytes(b"one\r\ntwo\r\n")
    assert [*lines_from_end(tmp_path / "lines")] == [(3, b""), (2, b"two"), (1, b"one")]


def test_no_file_has_no_lines(tmp_path: Path) -> None:
    assert not [*lines_from_end(tmp_path / "lines")]


def test_the_last_lines_of_a_long_file_take_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes((b"x" * 1_000 + b"\n") * 20_000)
    tracemalloc.start()
    try:
        lines = lines_from_end(path)
        assert [next(lines)[0] for _ in range(3)] == [20_001, 20_000, 19_999]
        assert tracemalloc.get_traced_memory()[1] < 4 * BLOCK_BYTES
    finally:
        tracemalloc.stop()
