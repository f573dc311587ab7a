"""A month's file: real gzip reads it, each day comes back byte for byte, and whatever another program makes of it."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.core import months

MONTH = date(2026, 1, 1)
LINES = st.lists(st.binary(max_size=40).filter(lambda line: b"\n" not in line), max_size=6).map(
    lambda lines: b"".join(line + b"\n" for line in lines)
)
DAYS = st.dictionaries(st.dates(MONTH, date(2026, 1, 31)), LINES, max_size=6).map(lambda d: dict(sorted(d.items())))


def turn(day: date, words: str, zone: str = "+08:00") -> bytes:
    row = {"conversation_id": "c", "created_at": f"{day}T09:00:00{zone}", "user_message": words}
    return json.dumps(row, ensure_ascii=False).encode() + b"\n"


def found(data: bytes) -> dict[date, bytes]:
    """The days, from header to header."""
    days, at = {}, 0
    while at < len(data):
        member = months.member_at(at, data[at:])
        assert member is not None
        days[member.day] = months.unpacked(data[member.start : member.end])
        at = member.end
    return days


@given(DAYS)
def test_every_day_comes_back_and_gzip_reads_them_as_one_text(days: dict[date, bytes]) -> None:
    data = b"".join(months.packed(day, lines) for day, lines in days.items())
    assert found(data) == days == months.days_of(data, MONTH)
    assert gzip.decompress(data) == b"".join(days.values())
    assert data == b"".join(months.packed(day, lines) for day, lines in days.items()), "the same bytes every time"


@given(st.lists(st.dates(MONTH, date(2026, 1, 31)), min_size=1, max_size=8).map(sorted))
def test_a_month_that_was_unpacked_edited_and_packed_again_has_its_days_by_their_times(days: list[date]) -> None:
    lines = [turn(day, f"{number} 句") for number, day in enumerate(days)]
    expected: dict[date, bytes] = {}
    for day, line in zip(days, lines, strict=True):
        expected[day] = expected.get(day, b"") + line
    assert months.days_of(gzip.compress(b"".join(lines)) + bytes(512), MONTH) == expected


def test_lines_without_a_time_belong_to_the_line_above_and_no_day_is_of_another_month() -> None:
    lines = b"torn\n" + turn(date(2026, 1, 3), "a") + b"no record\n" + turn(date(2025, 12, 31), "b", "+00:00")
    assert months.days_of(gzip.compress(lines + turn(date(2026, 2, 1), "c")), MONTH) == {
        date(2026, 1, 1): b"torn\n" + turn(date(2025, 12, 31), "b", "+00:00"),
        date(2026, 1, 3): turn(date(2026, 1, 3), "a") + b"no record\n",
        date(2026, 1, 31): turn(date(2026, 2, 1), "c"),
    }
    moved = months.packed(date(2025, 12, 5), turn(date(2025, 12, 5), "of December"))
    assert months.days_of(moved, MONTH) == {MONTH: turn(date(2025, 12, 5), "of December")}


def test_what_another_program_has_appended_counts_too() -> None:
    day = date(2026, 1, 5)
    data = months.packed(day, turn(day, "one")) + gzip.compress(turn(day, "two"))
    assert months.days_of(data, MONTH) == {day: turn(day, "one") + turn(day, "two")}


@pytest.mark.parametrize("cut", [1, 9, 30])
def test_damage_is_told(cut: int) -> None:
    data = months.packed(MONTH, turn(MONTH, "hello") * 20)
    with pytest.raises(ValueError, match="cut"):
        months.unpacked(data[:-cut])
    with pytest.raises(ValueError, match="cut"):
        months.days_of(data[:-cut], MONTH)
    flipped = data[:-12] + bytes([data[-12] ^ 0xFF]) + data[-11:]
    with pytest.raises(ValueError, match=r"damaged|cut"):
        months.unpacked(flipped)


@given(st.binary(max_size=300), st.sampled_from([b"", b"\x1f\x8b\x08\x0c", months.packed(MONTH, b"x\n")]))
def test_any_bytes_are_days_or_a_value_error(data: bytes, head: bytes) -> None:
    for read in (lambda: months.days_of(head + data, MONTH), lambda: months.unpacked(head + data)):
        try:
            read()
        except ValueError:
            continue


def test_no_more_is_unpacked_than_is_asked_for_or_a_day_may_have() -> None:
    member = months.packed(MONTH, b"a" * 1_000_000)
    assert months.unpacked(member, 10) == b"a" * 10
    bomb = gzip.compress(bytes(months.MAX_DAY_BYTES + 1), 1)
    with pytest.raises(ValueError, match="more than"):
        months.unpacked(bomb)
    with pytest.raises(ValueError, match="members"):
        months.days_of(gzip.compress(b"") * (months.MAX_MEMBERS + 1), MONTH)


@given(LINES, LINES, LINES)
def test_of_two_records_of_a_day_every_line_is_kept_once_and_the_archived_keep_their_numbers(
    archived: bytes, new: bytes, more: bytes
) -> None:
    assert months.united(archived, archived + new) == archived + new, "a file that has only grown"
    united = months.united(archived, new + more)
    assert united.startswith(archived)
    one, other = (Counter(each.split(b"\n")[:-1]) for each in (archived, new + more))
    assert Counter(united.split(b"\n")[:-1]) == one | other
    assert months.united(united, new + more) == united


def test_a_torn_last_line_is_ended() -> None:
    assert months.united(b"", b"a\nb") == b"a\nb\n"
    assert months.united(b"a\nb\n", b"a\nb") == b"a\nb\n"
