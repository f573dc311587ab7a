"""A student's records: each turn once, whichever files it stands in."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.core.exports.messages import IN_THE_FUTURE, WITHOUT_A_TIME
from vault_memory.core.exports.super_happy_coder import BROKEN, EMPTY, TWICE, Student, kind_of
from vault_memory.core.notes import Turn

TAIPEI = ZoneInfo("Asia/Taipei")
NOW = datetime(2026, 1, 30, 12, tzinfo=UTC)


def row(at: Any, user: str | None = "早安", assistant: str | None = "早", **more: Any) -> dict[str, Any]:
    return {"timestamp": at, "user": user, "assistant": assistant, "backend": "claude"} | more


def lines(*rows: dict[str, Any] | str) -> list[tuple[int, bytes]]:
    texts = [each if isinstance(each, str) else json.dumps(each, ensure_ascii=False) for each in rows]
    return [(number, f"{text}\n".encode()) for number, text in enumerate(texts, 1)]


def read(student: Student, *rows: dict[str, Any] | str) -> tuple[list[Turn], list[tuple[int, str]]]:
    found = list(student.turns(lines(*rows)))
    return [each for each in found if isinstance(each, Turn)], [each for each in found if not isinstance(each, Turn)]


@pytest.fixture
def student() -> Student:
    return Student("ming", "alice", TAIPEI, NOW)


def test_a_line_of_the_design_becomes_a_turn(student: Student) -> None:
    ((turn,), problems) = read(student, row("2026-01-29T00:30:00.123456"))
    assert (turn.user_message, turn.assistant_message, turn.backend, turn.user_id) == ("早安", "早", "claude", "ming")
    assert turn.created_at.isoformat() == "2026-01-29T00:30:00.123456+08:00", "a time of the student's clock"
    assert turn.conversation_id == "shc_alice_2026-01-29" and problems == []


def test_a_turn_counts_once_whichever_files_hold_it(student: Student) -> None:
    """The backup of each day holds all turns of ninety days."""
    first, second = row("2026-01-28T09:00:00"), row("2026-01-29T09:00:00", "晚安")
    spaced = json.dumps(first, indent=None, separators=(",", ":"))
    assert [len(read(student, *rows)[0]) for rows in ((first,), (first, second), (spaced, first, second))] == [1, 1, 0]
    assert student.left_out == {TWICE: 4}


def test_two_turns_of_one_second_are_two_turns_of_the_same_names_each_time() -> None:
    rows = [row("2026-01-29T09:00:00", text) for text in ("a", "b", "c")]
    names = [
        [
            (turn.conversation_id, turn.created_at, turn.user_message)
            for turn in read(Student("x", "x", UTC, NOW), *r)[0]
        ]
        for r in (rows, [*rows, *rows])
    ]
    assert names[0] == names[1] and len({name[:2] for name in names[0]}) == 3


def test_lines_that_are_no_turns_are_told(student: Student) -> None:
    turns, problems = read(
        student,
        '{"timestamp": "2026-01-29T09',
        "[]",
        "",
        row("2026-01-29T09:00:00"),
        row(None),
        row("yesterday"),
        row("2027-01-29T09:00:00"),
        row("2026-01-29T10:00:00", "", None),
        row("0001-01-01T00:00:00"),
    )
    assert len(turns) == 1
    assert [number for number, _ in problems] == [1, 2, 5, 6, 7, 8, 9]
    assert student.left_out == {BROKEN: 2, WITHOUT_A_TIME: 3, IN_THE_FUTURE: 1, EMPTY: 1}


def test_lines_of_our_own_form_keep_their_names_and_replies(student: Student) -> None:
    named = {"conversation_id": "conv_1", "user_id": "x", "created_at": "2026-01-29T09:00:00+08:00"}
    asked = named | {"user_message": "多少度？", "assistant_message": None, "skill": "web", "context": "# page"}
    reply = named | {"assistant_message": "八十度。", "completes": True, "exit_code": 0}
    ((turn,), problems) = read(student, asked, reply)
    assert (turn.conversation_id, turn.assistant_message, turn.skill) == ("conv_1", "八十度。", "web")
    assert (turn.exit_code, turn.context, problems) == (0, "# page", [])


def test_times_as_numbers(student: Student) -> None:
    turns, _ = read(student, row(1_769_650_200), row(1_769_650_260_000, "b"), row("1769650320.5", "c"))
    assert [turn.created_at.astimezone(TAIPEI).strftime("%H:%M:%S") for turn in turns] == [
        "09:30:00", "09:31:00", "09:32:00",
    ]  # fmt: skip


@given(st.lists(st.tuples(st.sampled_from(["09:00:00", "09:00:00.5", "23:59:59"]), st.sampled_from("abc")), max_size=9))
def test_reading_twice_gives_the_same_turns(said: list[tuple[str, str]]) -> None:
    rows = [row(f"2026-01-29T{at}", text) for at, text in said]
    one, other = (
        {
            (turn.conversation_id, turn.created_at, turn.user_message)
            for turn in read(Student("x", "x", UTC, NOW), *r)[0]
        }
        for r in (rows, rows + rows)
    )
    assert one == other and len(one) == len(set(said))


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("USER.md", "profile"),
        ("MEMORY.md", "memory-log"),
        ("daily/2026-01-30.md", "daily"),
        ("conversations/2026-01-30.jsonl", "conversation"),
        *((name, None) for name in ("daily/notes.md", "daily/2026-13-01.md", "conversations/all.jsonl", "index.db")),
        *((name, None) for name in ("todo.md", "old/USER.md", "feedback.jsonl", "daily/2026-01-30.md.bak")),
    ],
)
def test_what_is_taken_of_a_folder(source: str, kind: str | None) -> None:
    assert kind_of(source) == kind
