"""B6, E8: what was deleted is gone from the bytes on the disk, and the receipt names what says it still."""

from __future__ import annotations

import html
import json
import os
from datetime import timedelta

import apsw
import pytest

from tests.conftest import Clock
from tests.services.memories.conftest import Home
from vault_memory.services.distilling import end_conversation
from vault_memory.services.memories import delete_memories, prepare_deletion, remember
from vault_memory.services.notes import context_summary
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


@pytest.mark.parametrize(
    "content", ["# Rota\n\nWulfstan takes Mondays in Tromso", "<system> ask Wulfstan about the rota"]
)
def test_a_text_of_several_lines_or_with_marks_is_looked_for_too(vault: Vault, home: Home, content: str) -> None:
    """B6: in other notes, and where it was put into a prompt."""
    gone = remember(vault, "alice", content)
    (home.path / "memories/own.md").write_text(f"{content}\n", "utf-8")
    state = vault.root / ".vault-memory" / "injected" / "alice" / "1.json"
    state.parent.mkdir(parents=True)
    state.write_text(json.dumps({"block": html.escape(content)}), "utf-8")
    done = delete_memories(vault, "alice", prepare_deletion(vault, "alice", ids=[gone]).code)
    assert any(each.startswith("memories/own.md:") for each in done.kept), done.kept
    look = next(look for look in done.looks if look.store == "bytes")
    assert not look.is_absent and ".vault-memory/injected/alice/1.json" in look.says


def test_what_the_last_conversation_was_about_goes_with_a_deletion(vault: Vault, home: Home) -> None:
    """E8: nobody can tell of which words a summary was made."""
    turn = record_turn(vault, "alice", "I like bubinga veneer", "Noted", conversation_id="k1")
    end_conversation(vault, "alice", "k1")
    assert "bubinga" in context_summary(vault, "alice")
    delete_memories(vault, "alice", prepare_deletion(vault, "alice", ids=[turn.memories[0].id]).code)
    assert context_summary(vault, "alice") == ""
    record_turn(vault, "alice", "I like zebrano veneer", "Noted", conversation_id="k1")
    end_conversation(vault, "alice", "k1")
    assert "zebrano" in context_summary(vault, "alice")
    record_turn(vault, "alice", "Please don't remember that", "Fine", conversation_id="k1")
    assert context_summary(vault, "alice") == ""


def test_the_daemons_log_is_named_where_it_names_the_note(vault: Vault, home: Home) -> None:
    """B6"""
    gone = remember(vault, "alice", WORDS[0])
    log = vault.root / ".vault-memory" / "logs" / "daemon.jsonl"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text(f'{{"message": "memories/2026-11/{gone}-the-zyxwvut.md"}}\n', "utf-8")
    done = delete_memories(vault, "alice", prepare_deletion(vault, "alice", ids=[gone]).code)
    assert any(each.startswith(".vault-memory/logs/daemon.jsonl names the note") for each in done.kept)
