"""Turns read back from `conversations/`: which line, in which order, and what is passed over."""

from __future__ import annotations

import pytest

from tests.vaults import write
from vault_memory.services.notes import newest_turns, turn_at
from vault_memory.services.turns import record_turn
from vault_memory.services.vault import Vault

DAY = "conversations/2026-01-30.jsonl"


@pytest.fixture
def talked(vault: Vault) -> Vault:
    for message in ("one", "two", "three"):
        record_turn(vault, "alice", message)
    return vault


def newest(vault: Vault, limit: int, before: str = "") -> list[tuple[str, str]]:
    return [(source, turn["user_message"]) for source, turn in newest_turns(vault, "alice", limit, before)]


def test_the_newest_turn_comes_first_and_no_more_than_asked_for(talked: Vault) -> None:
    assert newest(talked, 2) == [(f"{DAY}:3", "three"), (f"{DAY}:2", "two")]
    assert len(newest(talked, 10)) == 3 and newest(talked, 0) == []


def test_turns_before_one_are_those_of_earlier_lines_and_days(talked: Vault) -> None:
    path = talked.path("alice", DAY)
    write(talked, "alice", "conversations/2026-01-29.jsonl", path.read_text().splitlines(keepends=True)[0])
    assert newest(talked, 9, before=f"{DAY}:2") == [(f"{DAY}:1", "one"), ("conversations/2026-01-29.jsonl:1", "one")]


def test_lines_that_are_no_record_are_passed_over_and_keep_their_number(talked: Vault) -> None:
    lines = talked.path("alice", DAY).read_bytes().split(b"\n")
    talked.path("alice", DAY).write_bytes(b"\n".join([lines[0], b"{broken", b"\xff", lines[2]]))
    write(talked, "alice", "conversations/notes.jsonl", "{}\n")
    assert newest(talked, 9) == [(f"{DAY}:4", "three"), (f"{DAY}:1", "one")]
    assert turn_at(talked, "alice", f"{DAY}:2") is None


def test_a_turn_is_found_by_its_line_alone(talked: Vault) -> None:
    path = talked.path("alice", DAY)
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    turn = turn_at(talked, "alice", f"{DAY}:2")
    assert turn is not None and turn["user_message"] == "two"
    numbers = [f"{DAY}:{number}" for number in ("0", "9", "x", "²", "9" * 5_000)]
    for source in (*numbers, DAY, "USER.md:1", "", f"../alice/{DAY}:1"):
        assert turn_at(talked, "alice", source) is None, source
