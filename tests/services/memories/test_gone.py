"""B6, E8: what was deleted is gone from the bytes on the disk, and the receipt names what says it still."""

from __future__ import annotations

import os
from datetime import timedelta

import apsw
import pytest

from tests.conftest import Clock
from tests.services.memories.conftest import Home
from vault_memory.services.memories import delete_memories, prepare_deletion, remember
from vault_memory.services.retrieval import recall
from vault_memory.services.turns import record_turn
from vault_memory.services.vault import Vault

WORDS = ["the zyxwvut plan needs xylophones", "代號麒麟鯨魚計畫在倉庫"]


def _files_with(vault: Vault, words: str) -> list[str]:
    """Of the state and the indexes, read byte by byte."""
    looked_at = [*(vault.root / ".vault-memory").rglob("*"), *vault.root.rglob("index.db*")]
    return [path.name for path in looked_at if path.is_file() and words.encode() in path.read_bytes()]


def _in_index(home: Home) -> bytes:
    return b"".join(path.read_bytes() for path in home.path.glob("index.db*"))


@pytest.mark.parametrize("words", WORDS)
def test_no_byte_of_it_is_left_in_state_and_index(vault: Vault, home: Home, words: str) -> None:
    """B6"""
    kept = [remember(vault, "alice", f"note number{n} about kettle{n} and tea") for n in range(20)]
    gone = remember(vault, "alice", words)
    recall(vault, "alice", words)
    assert _files_with(vault, words)
    done = delete_memories(vault, "alice", prepare_deletion(vault, "alice", ids=[gone]).code)
    assert not _files_with(vault, words)
    assert b"xylophon" not in _in_index(home) and "麒麟".encode() not in _in_index(home)
    looks = {look.store: look for look in done.looks}
    assert all(look.is_absent for look in done.looks), looks
    assert "index.db" in looks["bytes"].says and "alice" not in str(done.kept)
    assert recall(vault, "alice", "kettle3")[0].id == kept[3]


def test_an_index_of_an_earlier_version_is_cleaned_too(vault: Vault, home: Home) -> None:
    """B6"""
    old, new = (remember(vault, "alice", words) for words in WORDS)
    with apsw.Connection(os.fspath(home.path / "index.db")) as db:
        db.execute("PRAGMA secure_delete=off; DELETE FROM meta WHERE key = 'zeroed'").fetchall()
        db.execute("CREATE TABLE was(text); INSERT INTO was VALUES('quetzal')").fetchall()
        db.execute("DROP TABLE was").fetchall()
    assert b"quetzal" in _in_index(home)
    assert delete_memories(vault, "alice", prepare_deletion(vault, "alice", ids=[old]).code).ids == (old,)
    assert b"quetzal" not in _in_index(home)
    assert [each.id for each in recall(vault, "alice", WORDS[1])] == [new]


def test_a_reader_elsewhere_is_told(vault: Vault, home: Home) -> None:
    """B6: what cannot be verified is told."""
    gone = remember(vault, "alice", WORDS[0])
    code = prepare_deletion(vault, "alice", ids=[gone]).code
    reader = apsw.Connection(os.fspath(home.path / "index.db"))
    reader.execute("BEGIN; SELECT count(*) FROM chunks").fetchall()
    done = delete_memories(vault, "alice", code)
    reader.close()
    look = next(look for look in done.looks if look.store == "bytes")
    assert not look.is_absent and "index.db" in look.says


def test_the_receipt_names_who_says_it_still(vault: Vault, home: Home, clock: Clock) -> None:
    """B6, E8"""
    turn = record_turn(vault, "alice", "I collect vintage typewriters", "Nice.", conversation_id="a")
    (memory,) = turn.memories
    clock.time += timedelta(minutes=1)
    done = delete_memories(vault, "alice", prepare_deletion(vault, "alice", ids=[memory.id]).code)
    day = f"{clock.time:%Y-%m-%d}"
    kept = "\n".join(done.kept)
    log = next(each for each in done.kept if each.startswith(f"daily/{day}.md:"))
    record = next(each for each in done.kept if each.startswith(f"conversations/{day}.jsonl:1 "))
    assert "take it out there" in log and "leave the line empty" in record
    assert "git's history" in kept and "exports and backups" in kept
    assert all(look.is_absent for look in done.looks)
    name, _, number = log.partition(" ")[0].partition(":")
    assert "typewriters" in (home.path / name).read_text(encoding="utf-8").splitlines()[int(number) - 1]
