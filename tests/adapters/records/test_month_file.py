"""The archive's files on a real disk: what is put in can be read, by gzip too, privately; and nothing is half done."""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
from datetime import date
from pathlib import Path

import pytest

from tests.vaults import fill, small_disk
from vault_memory.adapters.records import archived_day, month_files, opened_month, put_days
from vault_memory.core import layout, months
from vault_memory.errors import ForeignFile, Unwritable, VaultMemoryError

FIRST, SECOND, LAST = date(2026, 1, 1), date(2026, 1, 2), date(2026, 1, 31)
JANUARY = "archive/conversations/2026-01.jsonl.gz"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "memory/alice").mkdir(parents=True)
    return tmp_path / "memory/alice"


def put(home: Path, days: dict[date, bytes], **more: list[date]) -> Path:
    path = home / layout.month_source(next(iter(days), FIRST))
    put_days(path, days, home.parents[1], **more)
    return path


def days(home: Path) -> list[date]:
    with opened_month(home / JANUARY, home.parents[1]) as month:
        return month.days


def test_days_come_in_any_order_and_stand_in_theirs(home: Path) -> None:
    """A8"""
    put(home, {LAST: b"z\n", FIRST: b"a\nb\n"})
    path = put(home, {SECOND: "第二天\n".encode()})
    assert path == home / JANUARY and days(home) == [FIRST, SECOND, LAST]
    assert archived_day(home, SECOND, home.parents[1]) == "第二天\n".encode()
    assert archived_day(home, date(2026, 1, 3), home.parents[1]) is None
    assert archived_day(home, date(2026, 2, 1), home.parents[1]) is None
    assert gzip.decompress(path.read_bytes()) == "a\nb\n第二天\nz\n".encode()
    assert month_files(home) == [(FIRST, path)]


@pytest.mark.skipif(not shutil.which("zgrep"), reason="no gzip on this machine")
def test_the_tools_of_gzip_read_it(home: Path) -> None:
    path = put(home, {FIRST: "暗色主題\n其他\n".encode(), SECOND: "又是暗色\n".encode()})
    found = subprocess.run(["zgrep", "-n", "暗色", path], capture_output=True, text=True, check=True)
    assert found.stdout == "1:暗色主題\n3:又是暗色\n" and not found.stderr
    assert subprocess.run(["gzip", "-t", path], capture_output=True, check=True).stderr == b""
    assert subprocess.run(["zcat", path], capture_output=True, check=True).stdout.count(b"\n") == 3


def test_only_its_owner_reads_it_and_the_folder_above_stays_as_it_is(home: Path) -> None:
    (home / "archive").mkdir(mode=0o755)
    path = put(home, {FIRST: b"a\n"})
    assert [each.stat().st_mode & 0o777 for each in (path, path.parent)] == [0o600, 0o700]
    assert [each.stat().st_mode & 0o777 for each in (home / "archive", home)] == [0o755, 0o755]


def test_the_same_days_are_the_same_bytes(home: Path) -> None:
    path = put(home, {FIRST: b"a\n" * 500, LAST: b"z\n"})
    before = path.read_bytes()
    put(home, {FIRST: b"a\n" * 500})
    assert path.read_bytes() == before


def test_a_day_goes_out_and_the_last_one_takes_the_file_with_it(home: Path) -> None:
    path = put(home, {FIRST: b"a\n", SECOND: b"b\n"})
    put(home, {}, without=[SECOND])
    assert days(home) == [FIRST]
    put(home, {}, without=[FIRST])
    assert not path.exists() and month_files(home) == []


def test_a_day_that_is_there_already_is_united(home: Path) -> None:
    """A kill came between the archive and the removal of the day's file; or another program has made that file anew."""
    put(home, {FIRST: b"a\nb\n"})
    put(home, {FIRST: b"a\nb\nc"})
    put(home, {FIRST: b"b\nd\n"})
    assert archived_day(home, FIRST, home.parents[1]) == b"a\nb\nc\nd\n"


def test_a_month_that_a_person_has_packed_anew_is_read_and_taken_over(home: Path) -> None:
    lines = [f'{{"created_at": "{day}T09:00:00+08:00"}}\n'.encode() for day in (FIRST, SECOND)]
    path = put(home, {FIRST: lines[0], SECOND: lines[1]})
    subprocess.run(["gunzip", path], check=True)
    for use in (lambda: archived_day(home, FIRST, home.parents[1]), lambda: put(home, {LAST: b"z\n"})):
        with pytest.raises(VaultMemoryError, match=r"2026-01\.jsonl is unpacked, and waits for `gzip "):
            use()  # a second file of the month would be in the way of that gzip
    subprocess.run(["gzip", path.with_suffix("")], check=True)
    assert months.member_at(0, path.read_bytes()) is None
    with opened_month(path, home.parents[1]) as month:
        assert month.days == [FIRST, SECOND] and month.lines(SECOND) == lines[1] and month.lines(SECOND, 3) == b'{"c'
        stamp = month.stamp(FIRST)
    put(home, {LAST: b"z\n"})
    with opened_month(path, home.parents[1]) as month:
        assert month.days == [FIRST, SECOND, LAST] and month.stamp(FIRST) == stamp
    assert months.member_at(0, path.read_bytes()) is not None


def test_a_damaged_file_is_named_and_never_written_over(home: Path) -> None:
    path = put(home, {FIRST: b"hello\n" * 50, SECOND: b"b\n"})
    damaged = path.read_bytes()[:-3]
    path.write_bytes(damaged)
    for use in (lambda: archived_day(home, FIRST, home.parents[1]), lambda: put(home, {LAST: b"z\n"})):
        with pytest.raises(VaultMemoryError, match=r"2026-01.jsonl.gz cannot be read: it is (cut|damaged)"):
            use()
    assert path.read_bytes() == damaged


@pytest.mark.parametrize("place", ["archive", "archive/conversations", JANUARY])
def test_nothing_is_reached_through_a_link(home: Path, place: str, tmp_path: Path) -> None:
    put(home, {FIRST: b"a\n"})
    outside = tmp_path / "outside"
    (home / place).rename(outside)
    (home / place).symlink_to(outside)
    assert archived_day(home, FIRST, home.parents[1]) is None, "it is not ours"
    with pytest.raises(ForeignFile, match="link"):
        put(home, {SECOND: b"b\n"})


def test_a_full_disk_leaves_the_old_file(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        home = disk / "memory/alice"
        home.mkdir(parents=True)
        path = put(home, {FIRST: os.urandom(200_000).replace(b"\n", b"x")})
        before = path.read_bytes()
        fill(disk)
        with pytest.raises(Unwritable, match="free some space"):
            put(home, {SECOND: os.urandom(500_000).replace(b"\n", b"x")})
        assert path.read_bytes() == before and os.listdir(path.parent) == [path.name]
