"""The outbox: what is put is there until it is sent."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from vault_memory.adapters.longterm import Outbox, WaitingCounts
from vault_memory.adapters.longterm.outbox import BATCH_CHARS
from vault_memory.errors import Busy, ForeignFile, Unwritable


def turn(number: int, user_id: str = "alice", words: str = "x") -> dict[str, Any]:
    return {
        "conversation_id": f"c{number}",
        "user_id": user_id,
        "created_at": "2026-01-30T09:12:00+08:00",
        "said": words,
    }


@pytest.fixture
def outbox(tmp_path: Path) -> Outbox:
    return Outbox(tmp_path)


def ids(outbox: Outbox, before: float = 1.0, limit: int = 100) -> list[str]:
    return [each.turn["conversation_id"] for each in outbox.take(limit, before)]


def test_what_is_put_waits_until_it_is_sent(outbox: Outbox, tmp_path: Path) -> None:
    assert outbox.counts() == WaitingCounts() and not (tmp_path / ".vault-memory").exists()
    outbox.put([turn(1), turn(2), turn(3)])
    assert ids(Outbox(tmp_path)) == ["c1", "c2", "c3"] and ids(outbox, limit=2) == ["c1", "c2"]
    outbox.settle([outbox.take(1, 1.0)[0].number], {}, 1.0)
    assert ids(outbox) == ["c2", "c3"] and outbox.counts().oldest == "2026-01-30T01:12:00+00:00"
    assert stat.S_IMODE((tmp_path / ".vault-memory/outbox.db").stat().st_mode) == 0o600


def test_words_that_come_while_a_turn_is_sent_wait(outbox: Outbox) -> None:
    outbox.put([turn(1, words="begun")])
    (taken,) = outbox.take(9, 1.0)
    outbox.put([turn(1, words="begun and ended")])
    outbox.settle([taken.number], {}, 1.0)
    assert [each.turn["said"] for each in outbox.take(9, 1.0)] == ["begun and ended"]
    outbox.put([turn(2)])
    taken = outbox.take(9, 1.0)[-1]
    outbox.settle([taken.number], {}, 1.0)  # somebody else has taken it out meanwhile
    outbox.put([turn(3)])
    outbox.settle([taken.number], {}, 1.0)
    assert ids(outbox) == ["c1", "c3"]


def test_what_was_refused_comes_last_and_once_a_round(outbox: Outbox) -> None:
    outbox.put([turn(number) for number in range(4)])
    first, second, *_ = outbox.take(9, 100.0)
    outbox.settle([], {first.number: "no", second.number: "no"}, 100.0)
    assert ids(outbox, 100.0) == ["c2", "c3"] and ids(outbox, 160.0) == ["c2", "c3", "c0", "c1"]
    assert outbox.counts() == WaitingCounts(4, "2026-01-30T01:12:00+00:00", 2, (("no", 2),))


def test_the_next_batch_is_taken_beside_one_that_is_being_sent(outbox: Outbox) -> None:
    outbox.put([turn(number) for number in range(5)])
    sent = [each.number for each in outbox.take(2, 1.0)]
    assert [each.turn["conversation_id"] for each in outbox.take(2, 1.0, sent)] == ["c2", "c3"]
    outbox.put([turn(0, words="more")])  # of a turn that is being sent: it waits for its new words
    assert [each.turn["conversation_id"] for each in outbox.take(9, 1.0, sent)] == ["c2", "c3", "c4", "c0"]


def test_a_batch_of_long_turns_is_a_small_one(outbox: Outbox) -> None:
    outbox.put([turn(number, words="x" * size) for number, size in enumerate((BATCH_CHARS, 9, 9, BATCH_CHARS, 9))])
    assert ids(outbox) == ["c0"]
    outbox.settle([1], {}, 1.0)
    assert ids(outbox) == ["c1", "c2"]
    outbox.settle([2, 3], {}, 1.0)
    assert ids(outbox) == ["c3"]


def test_another_id_takes_along_what_waits(outbox: Outbox) -> None:
    outbox.put([turn(1), turn(2, "bob")])
    outbox.rename("alice", "alicia")
    assert [each.turn["user_id"] for each in outbox.take(9, 1.0)] == ["alicia", "bob"]


def test_a_full_outbox_says_so_and_keeps_what_it_has(tmp_path: Path) -> None:
    outbox = Outbox(tmp_path, max_bytes=100_000)
    with pytest.raises(Unwritable, match="outbox.db is full: .*longterm status.*--since DAY"):
        for number in range(1_000):
            outbox.put([turn(number, words="long " * 200)])
    kept = ids(outbox, limit=1_000)
    assert 10 < len(kept) < 1_000 and kept == [f"c{number}" for number in range(len(kept))]
    outbox.settle([each.number for each in outbox.take(50, 1.0)], {}, 1.0)
    outbox.put([turn(2_000)])


def test_a_damaged_outbox_is_kept_beside_a_new_one(outbox: Outbox, tmp_path: Path) -> None:
    outbox.put([turn(1)])
    outbox.close()
    path = tmp_path / ".vault-memory/outbox.db"
    path.write_bytes(b"x" * 8192)
    with pytest.raises(Busy, match=r"was damaged and is made anew \(the damaged one is outbox.db.damaged\)"):
        outbox.put([turn(2)])
    outbox.put([turn(2)])
    assert ids(outbox) == ["c2"] and path.with_name("outbox.db.damaged").read_bytes() == b"x" * 8192


def test_a_link_to_nowhere_in_its_place_is_no_empty_outbox(outbox: Outbox, tmp_path: Path) -> None:
    (tmp_path / ".vault-memory").mkdir()
    (tmp_path / ".vault-memory/outbox.db").symlink_to(tmp_path / "nowhere")
    with pytest.raises(ForeignFile, match="delete the link"):
        outbox.counts()
    with pytest.raises(ForeignFile, match="delete the link"):
        outbox.drop(lambda *_: True)


def test_what_put_has_returned_from_survives_a_kill(tmp_path: Path) -> None:
    script = (
        "import os, signal, sys; from pathlib import Path; from vault_memory.adapters.longterm import Outbox\n"
        f"Outbox(Path({str(tmp_path)!r})).put([{turn(1)!r}]); os.kill(os.getpid(), signal.SIGKILL)"
    )
    assert subprocess.run([sys.executable, "-c", script]).returncode == -9
    assert ids(Outbox(tmp_path)) == ["c1"]
