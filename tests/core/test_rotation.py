"""What rotates into the archive of a year: nothing is lost or changed, and the evidence counts as before."""

from __future__ import annotations

import json
from datetime import datetime

from hypothesis import given
from hypothesis import strategies as st

from vault_memory.core import rotation
from vault_memory.core.profile import Profile, counts_in, newest_rows, suggestions

ROWS = st.fixed_dictionaries(
    {
        "key": st.sampled_from(["theme", "languages", "recent_topics", "response_style"]),
        "op": st.sampled_from(["set", "add", "remove"]),
        "value": st.sampled_from(["dark", "light", "Python", "Rust", "concise", "閉包"]),
        "strength": st.sampled_from(["explicit", "adjustment", "observed"]),
        "applied": st.booleans(),
        "current": st.sampled_from(["", "dark", "light", "Python"]),
        "count": st.integers(0, 4),
        "suggestion": st.sampled_from(["", "", "", "open", "dismissed"]),
        "created_at": st.one_of(
            st.datetimes(datetime(2022, 1, 1), datetime(2027, 12, 31)).map(lambda at: at.isoformat() + "+08:00"),
            st.sampled_from(["", "2099-01-01T00:00:00+08:00", "nonsense"]),
        ),
    }
)
NEEDLES = (b'"key"',)


def log(rows: list[dict[str, object]]) -> bytes:
    """Each line is another one, as real ones are."""
    return b"".join(json.dumps(row | {"source": "", "quote": str(at)}).encode() + b"\n" for at, row in enumerate(rows))


def rotated(parts: dict[int, bytes], data: bytes, year: int) -> bytes:
    """Rotate into `parts`, the archive; what stays."""
    kept, moved = rotation.lines(data, year, max(parts, default=None))
    for old_year, pieces in moved.items():
        parts[old_year] = rotation.with_lines(parts.get(old_year), pieces)
    return kept


@given(st.lists(st.lists(ROWS, max_size=6), min_size=1, max_size=5))
def test_the_evidence_reads_as_before_however_often_it_rotates(written: list[list[dict[str, object]]]) -> None:
    """A13, A17: counts, what waits as a suggestion and what was dismissed are the same before and after; by the order
    of the lines, whatever their times are."""
    rows = [row for part in written for row in part]
    whole, at = log(rows), 0
    lines = whole.splitlines(keepends=True)
    parts: dict[int, bytes] = {}
    file = b""
    for year, part in enumerate(written, 2023):
        file += b"".join(lines[at : at + len(part)])
        at += len(part)
        file = rotated(parts, file, year)
        assert rotated(dict(parts), file, year) == file, "a second run changes nothing"
    archived = b"".join(parts[year] for year in sorted(parts))
    assert archived + file == whole

    profile = Profile.parse("# 使用者資料\n")
    for data in (archived + file, whole):
        assert counts_in(newest_rows(data, *NEEDLES)) == counts_in(newest_rows(whole, *NEEDLES))
        waiting = suggestions.waiting(newest_rows(data, *NEEDLES), profile, lambda key, value: True)
        assert waiting == suggestions.waiting(newest_rows(whole, *NEEDLES), profile, lambda key, value: True)


def test_a_line_belongs_to_the_year_in_which_it_was_written() -> None:
    times = ["", "2024-05-01T00:00:00+08:00", "2025-01-01T00:00:00+08:00", "2023-01-01T00:00:00+08:00", "2026-01-01"]
    lines = [json.dumps({"created_at": at, "n": n}).encode() + b"\n" for n, at in enumerate(times)]
    kept, moved = rotation.lines(b"".join(lines), 2026)
    assert moved == {2024: lines[:2], 2025: lines[2:4]} and kept == lines[4]
    assert rotation.lines(b"".join(lines), 2024) == (b"".join(lines), {})
    assert rotation.lines(lines[3], 2026, 2025).moved == {2025: [lines[3]]}, "written after those of 2025"
    assert rotation.lines(b"no record\n", 2026) == (b"no record\n", {})


def test_what_the_archive_has_already_is_not_moved_there_twice() -> None:
    """Two machines moved the same, and one of them kept its own file."""
    assert rotation.with_lines(b"a\nb\n", [b"a\n", b"b\n", b"c"]) == b"a\nb\nc\n"
    assert rotation.with_lines(b"a", [b"b\n"]) == b"a\nb\n"
    entry = b"## 2025-01-02 10:00\n- x\n"
    once = rotation.with_entries(None, b"# 2025\n", [entry])
    assert rotation.with_entries(once, b"# 2025\n", [entry + b"\n"]) == once == b"# 2025\n\n" + entry


def test_entries_move_and_a_persons_sections_stay() -> None:
    memory = (
        "# 長期記憶\n\nMy own words.\n\n## 2024-12-31 23:59\n- 任務：a\n\nnote below it\n\n## Ideas\n- mine\n\n"
        "## 2025-06-01 08:00\n- 任務：b\n\n## 2026-01-01 00:01\n- 任務：c\n"
    ).encode()
    kept, moved = rotation.entries(memory, 2026)
    assert kept == "# 長期記憶\n\nMy own words.\n\n## Ideas\n- mine\n\n## 2026-01-01 00:01\n- 任務：c\n".encode()
    assert moved == {
        2024: ["## 2024-12-31 23:59\n- 任務：a\n\nnote below it\n\n".encode()],
        2025: ["## 2025-06-01 08:00\n- 任務：b\n\n".encode()],
    }
    archived = rotation.with_entries(b"# 2024\n\n## 2024-01-01 00:00\n- z\n", b"", moved[2024])
    assert archived.decode() == (
        "# 2024\n\n## 2024-01-01 00:00\n- z\n\n## 2024-12-31 23:59\n- 任務：a\n\nnote below it\n"
    )


def test_what_is_last_then_ends_as_it_did_before_anything_stood_below_it() -> None:
    """Else a merge would take the blank line for a change of that entry."""
    log, old = b"# Log\n\n## 2026-01-02 10:00\n- x\n", b"\n## 2025-01-02 10:00\n- y\n"
    assert rotation.entries(log + old, 2026) == (log, {2025: [old]})


@given(
    st.lists(
        st.tuples(st.datetimes(datetime(2022, 1, 1), datetime(2027, 1, 1)), st.text("ab# \n", max_size=20)), max_size=6
    ),
    st.integers(2022, 2027),
)
def test_every_entry_is_in_one_of_the_two(said: list[tuple[datetime, str]], year: int) -> None:
    pieces = [f"## {at:%Y-%m-%d %H:%M}\n{text.replace('## ', '')}\n" for at, text in said]
    data = ("# Log\n\n" + "".join(pieces)).encode()
    kept, moved = rotation.entries(data, year)
    both = [kept, *(piece for each in moved.values() for piece in each)]
    assert sorted(b"".join(both)) == sorted(data)
    assert all(old < year for old in moved)
    assert rotation.entries(kept, year) == (kept, {})
