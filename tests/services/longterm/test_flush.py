"""Turns on their way into a real PostgreSQL, which is killed, refuses, or is not there."""

from __future__ import annotations

import contextlib
import json
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from datetime import date, datetime, timedelta
from pathlib import Path

import pytest

import vault_memory
from tests.postgres_server import PostgresServer
from tests.services.longterm.conftest import COLUMNS
from vault_memory.adapters.state import StateFile
from vault_memory.errors import ConfigError, EndpointError, UsageError
from vault_memory.services.admin import doctor, rename_user, status
from vault_memory.services.admin.checks import CHECKS
from vault_memory.services.daemon import heartbeat
from vault_memory.services.longterm import (
    Flushed,
    check_long_term,
    flush_long_term,
    long_term_state,
    note_since,
    tables_ddl,
)
from vault_memory.services.longterm.waiting import round_state
from vault_memory.services.memories import edit_memory, store_memory
from vault_memory.services.profiles import set_preference
from vault_memory.services.turns import add_reply, learn_waiting, record_turn, save_conversation
from vault_memory.services.vault import Vault, open_vault

Opened = Callable[..., Vault]
REFLECTION = {"summary": "went well", "causes": ["tests first"]}


class Relay:
    """A port that leads to a server. Once `armed` it kills the server when a transaction has been committed, before
    anybody hears of it."""

    def __init__(self, server: PostgresServer) -> None:
        self._server = server
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self.armed = False
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            try:
                behind = socket.create_connection(("127.0.0.1", self._server.port))
            except OSError:
                client.close()
                continue
            threading.Thread(target=self._pass, args=(client, behind, False), daemon=True).start()
            threading.Thread(target=self._pass, args=(behind, client, True), daemon=True).start()

    def _pass(self, source: socket.socket, sink: socket.socket, is_answer: bool) -> None:
        wrote = False
        try:
            while data := source.recv(65_536):
                wrote = wrote or b"INSERT 0" in data
                if is_answer and self.armed and wrote and b"COMMIT\0" in data:
                    self.armed = False
                    self._server.kill()
                    break
                sink.sendall(data)
        except OSError:
            pass
        finally:
            for each in (source, sink):  # `close` alone would wait for the other thread's `recv`
                with contextlib.suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)
                each.close()

    def close(self) -> None:
        self._listening.close()


def told(server: PostgresServer, columns: str = "chat, asked") -> list[tuple[object, ...]]:
    return server.sql(f"SELECT {columns} FROM talks ORDER BY at")


def test_every_turn_arrives_as_the_mapping_says(opened: Opened, server: PostgresServer) -> None:
    """D4, D4a, D5: persist by columns_map, reflections in a table of their own, secrets nowhere"""
    vault = opened(server.url)
    vault_memory.store_conversation(vault, "c1", "alice", "你好 🌊", "hello", REFLECTION)
    begun = record_turn(vault, "alice", "question", None, conversation_id="c2")
    record_turn(vault, "alice", "my password is Tunes-2020-x9", "noted: Tunes-2020-x9", conversation_id="c3")
    record_turn(vault, "alice", "please don't remember that I moved to Berlin", "ok", conversation_id="c4")
    add_reply(vault, "alice", begun.source, "answer", 0)
    assert flush_long_term(vault) == Flushed(3, 0, 0)
    rows = told(server, "chat, who, asked, assistant_mes, thought, tokens")
    assert rows[0][:5] == ("c1", "alice", "你好 🌊", "hello", REFLECTION) and rows[1][:4] == (
        "c2",
        "alice",
        "question",
        "answer",
    )
    tokens = rows[0][5]
    assert isinstance(tokens, dict) and tokens["user"] and tokens["encoding"]
    assert len(rows) == 3 and "Tunes" not in str(rows)
    assert server.sql("SELECT chat, asked, thought FROM thoughts") == [("c1", None, REFLECTION)]
    assert flush_long_term(vault) == Flushed(0, 0, 0)


def test_typed_memories_are_rows_of_their_own(opened: Opened, server: PostgresServer) -> None:
    """D4a: the table `memories` has typed memories, too; a note by hand is one; none is sent again unless it changes"""
    vault = opened(server.url)
    tea = store_memory(vault, "alice", "We chose Postgres for the shop", "decision", importance=0.6)
    assert flush_long_term(vault) == Flushed(1, 0, 0) and flush_long_term(vault) == Flushed(0, 0, 0)
    (row,) = server.sql("SELECT chat, who, asked, thought, tokens FROM thoughts")
    said = {"summary": "We chose Postgres for the shop", "causes": [], "type": "decision"}
    thought = dict(row[3])  # type: ignore[call-overload]
    assert (*row[:3], told(server)) == (str(tea), "alice", None, [])
    assert datetime.fromisoformat(thought.pop("updated_at")).tzinfo and thought == said
    assert isinstance(row[4], dict) and row[4]["reflection"] and not row[4]["user"]
    (vault.root / "memory/alice/memories/mine.md").write_text("my key is sk-ant-api03-" + "x" * 80 + " for tea")
    edit_memory(vault, "alice", tea, memory_type="lesson")
    assert flush_long_term(vault) == Flushed(2, 0, 0)
    rows = dict(server.sql("SELECT chat, thought->>'type' || ' ' || (thought->>'summary') FROM thoughts"))
    assert rows.keys() == {str(tea), "memory/alice/memories/mine.md"} and str(rows[str(tea)]).startswith("lesson We")
    assert "sk-ant" not in str(rows) and "for tea" in str(rows["memory/alice/memories/mine.md"])
    (vault.root / "memory/alice/memories/mine.md").unlink()
    rename_user(vault, "alice", "alicia")
    assert flush_long_term(vault) == Flushed(0, 0, 0)
    assert note_since(vault, date(2126, 1, 1)) == 0 and flush_long_term(vault).refused == 0
    assert server.sql(f"SELECT who FROM thoughts WHERE chat = '{tea}'") == [("alicia",)]
    off = opened(server.url, MEMORY_TABLE_MAP='{"conversations": "talks"}')
    store_memory(off, "bob", "We chose SQLite for the shelf", "decision")
    flush_long_term(off)
    assert server.sql("SELECT count(*) FROM thoughts WHERE who = 'bob'") == [(0,)]


def test_a_turn_without_an_answer_is_sent_too(opened: Opened, server: PostgresServer) -> None:
    """D1, D4: every text may be None; one whose answer may come waits an hour for it"""
    vault = opened(server.url)
    record = {"conversation_id": "c1", "user_id": "bob", "user_message": "hello"}
    assert vault_memory.persist_long_term(vault, [record]) == 1
    vault_memory.store_conversation(vault, "c2", "bob", "only I spoke", None, REFLECTION)
    begun = record_turn(vault, "bob", "question", None, conversation_id="c3")
    record_turn(vault, "bob", "nobody answers", None, conversation_id="c4")
    assert flush_long_term(vault) == Flushed(1, 0, 2)
    counts = long_term_state(vault).counts
    left = datetime.fromisoformat(counts.begun_until) - vault.now()
    assert (counts.waiting, counts.begun) == (2, 2) and timedelta(minutes=50) < left <= timedelta(hours=1)
    add_reply(vault, "bob", begun.source, "answer", 0)
    assert long_term_state(vault).counts.begun == 1
    assert flush_long_term(vault) == Flushed(1, 0, 1)
    later = open_vault(vault.root, environ=vault.environ, now=lambda: vault.now() + timedelta(hours=2))
    assert (long_term_state(later).counts.waiting, long_term_state(later).counts.begun) == (1, 0)
    assert flush_long_term(later) == Flushed(1, 0, 0) and long_term_state(later).counts.begun_until == ""
    rows = [("c1", "hello", None), ("c2", "only I spoke", None), ("c3", "question", "answer")]
    assert told(server, "chat, asked, assistant_mes") == [*rows, ("c4", "nobody answers", None)]


def test_what_a_later_record_does_not_give_stays(opened: Opened, server: PostgresServer) -> None:
    vault = opened(server.url)
    name = {"conversation_id": "c1", "user_id": "bob", "created_at": "2026-01-30T09:00:00+08:00"}
    vault_memory.persist_long_term(vault, [{**name, "reflection": REFLECTION}, {**name, "user_message": "hello"}])
    vault_memory.persist_long_term(vault, [{**name, "assistant_message": "hi"}])
    assert told(server, "asked, assistant_mes, thought") == [("hello", "hi", REFLECTION)]
    assert server.sql("SELECT thought FROM thoughts") == [(REFLECTION,)]


def test_a_reflection_that_comes_late_is_told_where_to_go(opened: Opened, server: PostgresServer) -> None:
    """The record of a turn stays as it is, and the table has what is in the record."""
    vault = opened(server.url)
    at = vault.now().isoformat()
    for reflection in (None, REFLECTION):
        done = record_turn(vault, "bob", "q", "a", conversation_id="c1", created_at=at, reflection=reflection)
        flush_long_term(vault)
        is_told = any("without this reflection" in each and "`persist_long_term`" in each for each in done.degraded)
        assert is_told == bool(reflection) and told(server, "thought") == [(None,)]
    late = {"conversation_id": "c1", "user_id": "bob", "created_at": at, "reflection": REFLECTION}
    assert vault_memory.persist_long_term(vault, [late]) == 1
    assert told(server, "asked, assistant_mes, thought") == [("q", "a", REFLECTION)]


def test_texts_of_a_turn_in_pieces_are_both_in_one(opened: Opened, server: PostgresServer) -> None:
    """Of two calls, each delivered again after the other."""
    server.sql("ALTER TABLE talks ADD both_texts text")
    columns = {name: COLUMNS[name] for name in ("conversation_id", "user_id", "created_at")}
    vault = opened(server.url, VAULT_MEMORY_LONGTERM_COLUMNS_MAP=json.dumps(columns | {"text_cache": "both_texts"}))
    question = {"user_message": "which database?"}
    answer = {"assistant_message": "PostgreSQL, as it is there"}
    for number, order in enumerate(([question, answer], [answer, question]) * 2):
        name = {"conversation_id": f"c{number}", "user_id": "bob", "created_at": "2026-01-30T09:00:00+08:00"}
        for piece in (*order, *order):
            vault_memory.persist_long_term(vault, [{**name, **piece}])
    assert server.sql("SELECT DISTINCT both_texts FROM talks") == [("which database?\n\nPostgreSQL, as it is there",)]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_tokens_of_a_turn_in_pieces_are_those_of_the_whole(
    opened: Opened, server: PostgresServer, order: tuple[int, ...]
) -> None:
    columns = {name: column for name, column in COLUMNS.items() if not name.endswith("_message")}
    vault = opened(server.url, VAULT_MEMORY_LONGTERM_COLUMNS_MAP=json.dumps(columns), TOKENIZER_NAME="utf-8")
    name = {"conversation_id": "c1", "user_id": "bob", "created_at": "2026-01-30T09:00:00+08:00"}
    pieces = [{"user_message": "q"}, {"assistant_message": "a long answer"}, {"reflection": REFLECTION}]
    for piece in (*(pieces[at] for at in order), {"assistant_message": "short"}):
        vault_memory.persist_long_term(vault, [{**name, **piece}])
    ((tokens,),) = told(server, "tokens")
    assert isinstance(tokens, dict) and bytes(tokens["user"]) == b"q" and bytes(tokens["assistant"]) == b"a long answer"
    assert REFLECTION["summary"] in bytes(tokens["reflection"]).decode()


def test_rows_of_a_former_id_that_somebody_has_now_are_refused(opened: Opened, server: PostgresServer) -> None:
    vault = opened(server.url)
    record_turn(vault, "alice", "mine", "yes", conversation_id="c0")
    rename_user(vault, "alice", "alicia")
    record_turn(vault, "alice", "the other one's", "yes", conversation_id="c1", created_at="2026-01-30T09:00:00+08:00")
    flush_long_term(vault)
    name = {"conversation_id": "c1", "created_at": "2026-01-30T09:00:00+08:00", "user_id": "alicia"}
    with pytest.raises(EndpointError, match="a row of another user"):
        vault_memory.persist_long_term(vault, [{**name, "user_message": "x"}])
    assert ("c1", "the other one's") in told(server)
    rename_user(vault, "alice", "carol")  # nobody is alice now, but two have been
    with pytest.raises(EndpointError, match="a row of another user"):
        vault_memory.persist_long_term(vault, [{**name, "user_message": "x"}])


def test_what_nobody_sends_is_told(opened: Opened) -> None:
    vault = opened("")
    assert any("there is no address: set SUPABASE_DB_URL" in line for line in status(vault).degraded)
    wrong = opened("postgresql://nobody@127.0.0.1:1/none")
    assert status(wrong).degraded == ()
    record_turn(wrong, "alice", "hello", "hi")
    assert any("1 turns wait: nobody sends them" in line for line in status(wrong).degraded)
    for each in (vault, wrong):
        (finding,) = doctor(each, checks=[check for check in CHECKS if check.name == "stores"])
        assert not finding.ok and "long-term store" in finding.message


def test_an_answer_that_goes_on_replaces_its_row(opened: Opened, server: PostgresServer) -> None:
    vault = opened(server.url)
    record_turn(vault, "alice", "ask", "a" * 500)
    flush_long_term(vault)
    save_conversation(vault, "alice", "ask", "a" * 500 + " and the rest")
    flush_long_term(vault)
    assert [str(row[0])[-13:] for row in told(server, "assistant_mes")] == [" and the rest"]


def test_while_it_is_off_nothing_is_different(vault: Vault, opened: Opened, server: PostgresServer) -> None:
    """D6: 現有前端不可感知本模組存在與否"""
    off = opened(server.url, VAULT_MEMORY_LONGTERM_ENABLED="false")
    recorded = record_turn(off, "alice", "hello", "hi", conversation_id="c1")
    assert recorded.degraded == record_turn(vault, "bob", "hello", "hi", conversation_id="c1").degraded
    assert not list((vault.root / ".vault-memory").glob("outbox*")) and told(server) == []
    assert not [line for line in status(off).degraded if "long-term" in line]
    assert vault_memory.persist_long_term(off, [{"conversation_id": "c1", "user_id": "alice"}]) == 0
    assert [outcome.said for outcome in heartbeat(off, "longterm", force=True)] == ["longterm.enabled is off"]
    for call in (lambda: flush_long_term(off), lambda: note_since(off, date(2026, 1, 1))):
        with pytest.raises(UsageError, match="longterm.enabled is off"):
            call()


def test_the_server_dies_between_write_and_acknowledgement(opened: Opened) -> None:
    """D4: at least once, and no turn twice, with the unique key and without"""
    server = PostgresServer()
    relay = Relay(server)
    try:
        server.sql("CREATE TABLE talks (chat text, at timestamptz, who text, thought text, UNIQUE (chat, at))")
        server.sql("CREATE TABLE thoughts (chat text, at timestamptz, who text, thought text)")
        columns = {"conversation_id": "chat", "user_id": "who", "created_at": "at", "reflection": "thought"}
        for logical, table in (("conversations", "talks"), ("memories", "thoughts")):
            vault = opened(
                server.url_at(relay.port),
                MEMORY_TABLE_MAP=json.dumps({logical: table}),
                VAULT_MEMORY_LONGTERM_COLUMNS_MAP=json.dumps(columns),
            )
            for number in range(5):
                record_turn(vault, "alice", f"turn {number}", "x", conversation_id=f"c{number}", reflection=REFLECTION)
            relay.armed = True
            slept: list[float] = []
            with pytest.raises(EndpointError, match="cannot be reached"):
                flush_long_term(vault, pause=slept.append)
            assert slept == [1, 2, 4] and not relay.armed
            assert vault.outbox.counts().waiting == 5
            assert [line for line in status(vault).degraded if "5 turns wait: PostgreSQL at" in line]
            server.start()
            assert flush_long_term(vault) == Flushed(5, 0, 0)
            assert [line for line in status(vault).degraded if "long-term" in line] == []
        assert server.sql("SELECT chat, count(*) FROM talks GROUP BY 1 ORDER BY 1") == [(f"c{n}", 1) for n in range(5)]
        assert server.sql("SELECT chat, count(*) FROM thoughts GROUP BY 1 ORDER BY 1") == [
            (f"c{n}", 1) for n in range(5)
        ]
    finally:
        relay.close()
        server.remove()


def test_it_is_back_before_the_last_attempt(opened: Opened) -> None:
    server = PostgresServer()
    try:
        server.sql("CREATE TABLE talks (chat text, at timestamptz, who text, UNIQUE (chat, at))")
        columns = {"conversation_id": "chat", "user_id": "who", "created_at": "at"}
        vault = opened(
            server.url,
            MEMORY_TABLE_MAP='{"conversations": "talks"}',
            VAULT_MEMORY_LONGTERM_COLUMNS_MAP=json.dumps(columns),
        )
        record_turn(vault, "alice", "x", "y", conversation_id="c1")
        server.kill()
        assert flush_long_term(vault, pause=lambda seconds: server.start() if seconds == 4 else None).sent == 1
    finally:
        server.remove()


def test_we_die_between_write_and_acknowledgement(opened: Opened, server: PostgresServer) -> None:
    """Our own process is killed when the database has the turns, and the outbox has them still."""
    vault = opened(server.url)
    for number in range(3):
        record_turn(vault, "alice", f"turn {number}", "x", conversation_id=f"c{number}")
    script = (
        "import os, signal\n"
        "from vault_memory.adapters.longterm import Outbox\n"
        "from vault_memory.services.longterm import flush_long_term\n"
        "from vault_memory.services.vault import open_vault\n"
        "Outbox.settle = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"flush_long_term(open_vault({str(vault.root)!r}, environ={dict(vault.environ)!r}))"
    )
    assert subprocess.run([sys.executable, "-c", script]).returncode == -signal.SIGKILL
    assert len(told(server)) == 3 and vault.outbox.counts().waiting == 3
    assert flush_long_term(vault) == Flushed(3, 0, 0) and len(told(server)) == 3


def test_we_die_between_the_record_and_the_outbox(opened: Opened, server: PostgresServer) -> None:
    """What is in the record gets to the outbox, as it gets learned from: when the next turn comes, or the job."""
    vault = opened(server.url)
    script = (
        "import os, signal\n"
        "from vault_memory.services.turns import record, record_turn\n"
        "from vault_memory.services.vault import open_vault\n"
        "record.note_for_long_term = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"vault = open_vault({str(vault.root)!r}, environ={dict(vault.environ)!r})\n"
        "record_turn(vault, 'alice', 'I like tea', 'ok', conversation_id='c1')"
    )
    assert subprocess.run([sys.executable, "-c", script]).returncode == -signal.SIGKILL
    assert vault.outbox.counts().waiting == 0
    learn_waiting(vault, "alice")
    assert flush_long_term(vault).sent == 2 and told(server) == [("c1", "I like tea")], "and what it left as a memory"


def test_what_the_table_refuses_waits_and_holds_up_nothing(opened: Opened, server: PostgresServer) -> None:
    server.sql("ALTER TABLE talks ADD CHECK (who <> 'eve')")
    vault = opened(server.url, MEMORY_FLUSH_BATCH_SIZE="2")
    for number, user_id in enumerate(["eve", "alice", "eve", "alice", "alice"]):
        record_turn(vault, user_id, f"turn {number} \0", "x", conversation_id=f"c{number}")
    assert flush_long_term(vault) == Flushed(3, 2, 2) and len(told(server)) == 3
    state = long_term_state(vault)
    assert (
        state.counts.refused == 2
        and "talks: check violation in rule talks_who_check (23514)" in state.counts.reasons[0]
    )
    assert any("2 turns wait: talks: check violation" in line for line in status(vault).degraded)
    server.sql("ALTER TABLE talks DROP CONSTRAINT talks_who_check")
    later = open_vault(vault.root, environ=vault.environ, now=lambda: vault.now() + timedelta(minutes=1))
    assert flush_long_term(later) == Flushed(2, 0, 0) and len(told(server)) == 5


def test_a_wrong_mapping_keeps_the_turns_and_names_itself(opened: Opened, server: PostgresServer) -> None:
    record_turn(opened(server.url), "alice", "x", "y", conversation_id="c1")
    wrong = opened(server.url, MEMORY_TABLE_MAP='{"conversations": "chats"}')
    with pytest.raises(ConfigError, match="no table 'chats' for conversations.*MEMORY_TABLE_MAP"):
        flush_long_term(wrong, pause=lambda _: pytest.fail("to try again does not help"))
    assert "'chats'" in long_term_state(wrong).problem
    (outcome,) = heartbeat(wrong, "longterm", force=True)
    assert not outcome.ok and "MEMORY_TABLE_MAP" in outcome.said
    (table,) = check_long_term(wrong)
    assert "'chats'" in table.problems[0]
    assert flush_long_term(opened(server.url)).sent == 1
    with pytest.raises(ConfigError, match="there is no address: set SUPABASE_DB_URL"):
        flush_long_term(opened(""))


@pytest.mark.parametrize("map_", ["{", '{"conversations": 7}', '["talks"]', '{"chats": "talks"}', ""])
def test_a_wrong_map_in_the_environment_is_told_and_loses_no_turn(opened: Opened, map_: str) -> None:
    """D7: it stays off, and every door says why."""
    vault = opened("postgresql://localhost/x", MEMORY_TABLE_MAP=map_)
    why = "longterm.enabled is true without a valid longterm.tables"
    done = record_turn(vault, "alice", "x", "y", conversation_id="c1")
    assert done.source and why in str(done.degraded) and ("MEMORY_TABLE_MAP" in str(done.degraded)) == bool(map_)
    assert not vault.config.longterm_enabled and why in str(status(vault).degraded)
    with pytest.raises(UsageError, match=why):
        flush_long_term(vault)
    with pytest.raises(UsageError, match=why):
        vault_memory.persist_long_term(vault, [])
    assert why in heartbeat(vault, "longterm", force=True)[0].said


def test_check_and_ddl_without_a_unique_key(opened: Opened, server: PostgresServer) -> None:
    server.sql("ALTER TABLE talks DROP CONSTRAINT talks_chat_at_key")
    vault = opened(server.url)
    assert [(table.table, table.is_keyed, table.problems) for table in check_long_term(vault)] == [
        ("talks", False, ()),
        ("thoughts", True, ()),
    ]
    before = server.sql("SELECT oid FROM pg_class ORDER BY 1")
    for table in ("talks", "thoughts"):
        assert f'CREATE TABLE "{table}"' in tables_ddl(vault)
    record_turn(vault, "alice", "x", "y", conversation_id="c1")
    flush_long_term(vault)
    assert note_since(vault, vault.now().date() - timedelta(days=1)) == 1
    assert flush_long_term(vault).sent == 1 and len(told(server)) == 1
    assert server.sql("SELECT oid FROM pg_class ORDER BY 1") == before
    for statement in tables_ddl(vault).replace('"talks"', '"new1"').replace('"thoughts"', '"new2"').split("\n\n"):
        server.sql(statement)
    server.sql("DROP TABLE new1, new2")


def test_turns_from_before_it_was_enabled(vault: Vault, opened: Opened, server: PostgresServer) -> None:
    record_turn(vault, "alice", "old", "x", conversation_id="c0", created_at="2026-01-02T00:00:00Z")
    begun = record_turn(vault, "alice", "one", None, conversation_id="c1")
    add_reply(vault, "alice", begun.source, "answer", 0)
    record_turn(vault, "bob", "please don't remember that I moved to Berlin", "ok", conversation_id="c2")
    record_turn(vault, "bob", "two", "x", conversation_id="c3")
    enabled = opened(server.url)
    assert note_since(enabled, date(2026, 1, 3)) == 2 and note_since(enabled, date(2026, 1, 3)) == 2
    assert flush_long_term(enabled) == Flushed(2, 0, 0)
    assert told(server, "who, asked, assistant_mes") == [("alice", "one", "answer"), ("bob", "two", "x")]
    assert note_since(enabled, date(2026, 1, 1)) == 3


def test_one_sends_at_a_time(opened: Opened, server: PostgresServer) -> None:
    vault = opened(server.url)
    record_turn(vault, "alice", "x", "y", conversation_id="c1")
    with round_state(vault).lock():
        (outcome,) = heartbeat(vault, "longterm", force=True)
        assert outcome.ok and outcome.said == "another process sends"
    assert flush_long_term(vault).sent == 1


def test_a_user_of_another_id_takes_along_what_waits(opened: Opened, server: PostgresServer) -> None:
    vault = opened(server.url)
    record_turn(vault, "alice", "x", "y", conversation_id="c1")
    rename_user(vault, "alice", "alicia")
    flush_long_term(vault)
    assert told(server, "who") == [("alicia",)]


def test_a_full_disk_is_told_and_the_turn_is_kept(opened: Opened, server: PostgresServer) -> None:
    vault = opened(server.url)
    vault.outbox.put([])
    (vault.root / ".vault-memory/outbox.db").unlink()
    (vault.root / ".vault-memory/outbox.db").mkdir()
    recorded = record_turn(vault, "alice", "I like tea", "ok", conversation_id="c1")
    assert recorded.source and any(line.startswith("long-term store: ") for line in recorded.degraded)
    assert any("long-term store" in line for line in status(vault).degraded)


def test_persist_writes_at_once_and_counts(opened: Opened, server: PostgresServer) -> None:
    """D3: persist_long_term(records) -> int"""
    vault = opened(server.url, MEMORY_FLUSH_BATCH_SIZE="2")
    records = [
        {"conversation_id": f"c{number}", "user_id": "alice", "user_message": "my password is Tunes-2020-x9"}
        | {"assistant_message": "ok", "created_at": f"2026-01-0{number + 1}T00:00:00"}
        for number in range(5)
    ]
    assert vault_memory.persist_long_term(vault, records) == 5 == vault_memory.persist_long_term(vault, records)
    assert len(told(server)) == 5 and "Tunes" not in str(told(server))
    assert vault_memory.persist_long_term(vault, []) == 0
    longer = {**records[0], "assistant_message": "ok, and more"}
    assert vault_memory.persist_long_term(vault, [records[0], longer, records[0]]) == 1
    assert vault_memory.persist_long_term(vault, [records[0]]) == 1
    assert [*told(server, "assistant_mes")].count(("ok, and more",)) == 1 and len(told(server)) == 5
    for wrong in (None, "c1", records[0]):
        with pytest.raises(UsageError, match="a list of turns is wanted"):
            vault_memory.persist_long_term(vault, wrong)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="no user_id"):
        vault_memory.persist_long_term(
            vault, [{"conversation_id": "new", "user_id": "bob", "assistant_message": ""}, {"conversation_id": "x"}]
        )
    server.sql("ALTER TABLE talks ADD CHECK (who <> 'eve')")
    more = [{**records[0], "conversation_id": "new", "user_id": name} for name in ("bob", "eve", "carol")]
    more = [{**record, "created_at": f"2026-02-0{day}T00:00:00Z"} for day, record in enumerate(more, 1)]
    with pytest.raises(EndpointError, match="1 of 3 turns was refused.*check violation.*the others are written"):
        vault_memory.persist_long_term(vault, more)
    with pytest.raises(EndpointError, match=r"1 of 1 turns was refused.*\(23514\)$"):
        vault_memory.persist_long_term(vault, more[1:2])
    assert len(told(server)) == 7


def test_nothing_of_psycopg_is_imported_where_it_is_off(vault: Vault) -> None:
    script = (
        "import sys; from vault_memory.services.turns import record_turn\n"
        "from vault_memory.services.daemon import heartbeat; from vault_memory.services.vault import open_vault\n"
        f"vault = open_vault({str(vault.root)!r}, environ={{}}); record_turn(vault, 'alice', 'x', 'y')\n"
        "heartbeat(vault, 'longterm', force=True); print('psycopg' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.strip() == "False", done.stderr


def test_an_address_in_the_file_needs_a_yes_and_no_password(vault: Vault, tmp_path: Path) -> None:
    settings = vault.root / "vault-memory.toml"
    own = settings.read_text("utf-8")
    table = '[longterm]\nenabled = true\nurl = "{}"\ntables = { conversations = "t" }\n'.replace("{ c", "{{ c").replace(
        '" }', '" }}'
    )
    table += 'columns_map = {{ conversation_id = "a", user_id = "b", created_at = "c" }}\n'
    settings.write_text(own.replace("[longterm]\n", table.format("postgresql://me@localhost/app")), "utf-8")
    waiting = open_vault(vault.root, environ={})
    assert not waiting.config.longterm_enabled and waiting.config.is_waiting("longterm")
    assert any("longterm.enabled" in line for line in waiting.config.waits())
    settings.write_text(own.replace("[longterm]\n", table.format("postgresql://me:sec/ret@localhost/app")), "utf-8")
    refused = open_vault(vault.root, environ={}).config
    assert not refused.longterm_enabled and "longterm.url must have no password in it" in str(refused.waits())
    assert "sec" not in str(refused.waits())


def test_without_psycopg_it_says_how_to_get_it() -> None:
    script = (
        "import sys; sys.modules['psycopg'] = None\n"
        "from vault_memory.adapters.longterm import PostgresStore; PostgresStore('postgresql://localhost/x')"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert "pip install 'vault-memory[postgres]'" in done.stderr


def test_no_piece_of_a_turn_that_asks_to_be_left_out_is_sent(opened: Opened, server: PostgresServer) -> None:
    """The question asks, the answer says it again; in one call, in either order, or with the question in the record
    under another offset; what waits of it goes."""
    vault = opened(server.url)
    name = {"user_id": "alice", "created_at": "2026-01-30T09:12:00+08:00"}
    for number, question in enumerate(("別記住這句：我的帳號是1234", "don't remember this: my salary is 5")):
        asked = {**name, "conversation_id": f"c{number}", "user_message": question}
        answer = {
            **name,
            "conversation_id": f"c{number}",
            "assistant_message": "so it is 1234",
            "reflection": REFLECTION,
        }
        assert vault_memory.persist_long_term(vault, [asked, answer]) == 0
        assert vault_memory.persist_long_term(vault, [answer, asked]) == 0
    for field in ("assistant_message", "user_message"):
        assert vault_memory.persist_long_term(vault, [{**name, "conversation_id": "c0", field: "1234"}]) == 0
        later = open_vault(vault.root, environ=vault.environ, now=lambda: vault.now() + timedelta(days=29))
        assert vault_memory.persist_long_term(later, [{**answer, "conversation_id": "c0"}]) == 0
    record_turn(vault, conversation_id="c0", user_message=None, assistant_message="it is 1234", **name)
    assert note_since(vault, date(2026, 1, 1)) == 0 == vault.outbox.counts().waiting
    record_turn(vault, conversation_id="c9", user_message=question, assistant_message="ok", **name)
    late = {**name, "conversation_id": "c9", "created_at": "2026-01-30T01:12:00+00:00", "assistant_message": "5"}
    assert vault_memory.persist_long_term(vault, [late]) == 0
    assert vault_memory.persist_long_term(vault, [{**late, "user_id": "nobody-yet", "conversation_id": "c10"}]) == 1
    vault.outbox.put([{**late, "conversation_id": "c11"}])
    assert vault_memory.persist_long_term(vault, [{**name, "conversation_id": "c11", "user_message": question}]) == 0
    assert vault.outbox.counts().waiting == 0
    assert told(server, "chat") == [("c10",)] and server.sql("SELECT count(*) FROM thoughts") == [(0,)]


def test_a_question_that_asks_is_found_where_the_profile_has_a_zone_of_its_own(
    opened: Opened, server: PostgresServer
) -> None:
    """There the record is of another day."""
    vault = opened(server.url)
    set_preference(vault, "alice", "timezone", "Pacific/Kiritimati")
    name = {"user_id": "alice", "created_at": "2026-01-30T11:12:00+00:00", "conversation_id": "c0"}
    kept = record_turn(vault, user_message="don't remember this: my salary is 5", assistant_message="ok", **name)
    assert "2026-01-31" in kept.source
    StateFile(vault.root, "long-term-left-out").update(lambda _: {})  # as on another machine of this person
    assert vault_memory.persist_long_term(vault, [{**name, "assistant_message": "so it is 5"}]) == 0


def test_a_turn_waits_while_the_map_is_wrong(opened: Opened, server: PostgresServer) -> None:
    """As with a wrong address: it is told, and sent when the setting is right."""
    wrong = opened(server.url, MEMORY_TABLE_MAP="{'conversations': 'talks'}")
    assert not wrong.config.longterm_enabled
    vault_memory.store_conversation(wrong, "c1", "alice", "hello", "hi")
    assert long_term_state(wrong).counts.waiting == 1
    assert any("1 turns wait: longterm.enabled is true without a valid" in line for line in status(wrong).degraded)
    assert flush_long_term(opened(server.url)) == Flushed(1, 0, 0) and told(server) == [("c1", "hello")]


def test_tables_without_a_key_take_a_plain_turn(opened: Callable[..., Vault], server: PostgresServer) -> None:
    """It has no row in `memories`, whose table is asked for nothing."""
    for name in ("talks", "thoughts"):
        server.sql(f"ALTER TABLE {name} DROP CONSTRAINT {name}_chat_at_key")
    vault = opened(server.url)
    record_turn(vault, "alice", "hello", "hi", conversation_id="plain")
    assert flush_long_term(vault).sent == 1 and vault.outbox.counts().waiting == 0
    record_turn(vault, "alice", "why?", "so", reflection=REFLECTION, conversation_id="reflected")
    assert flush_long_term(vault).sent == 1
    counted = server.sql("SELECT (SELECT count(*) FROM talks), (SELECT count(*) FROM thoughts)")
    assert counted == [(2, 1)]
