"""Rows in the tables of a real PostgreSQL, whose names only the mapping knows."""

from __future__ import annotations

import itertools
import os
import signal
import socket
import threading
import time
from collections.abc import Mapping
from typing import Any

import psycopg
import pytest

from tests.postgres_server import PostgresServer
from vault_memory.adapters.longterm import PostgresStore
from vault_memory.core.longterm import FIELDS, rows_of, targets
from vault_memory.errors import ConfigError, EndpointError, EndpointSlow

_number = itertools.count()
COLUMNS = {**{field: field for field in FIELDS}, "assistant_message": 'assistant "mes" 100%', "cid": "ipfs"}
REFLECTION = {"summary": "went 好", "causes": ["tests first"]}


def turn(**more: Any) -> dict[str, Any]:
    made = {"conversation_id": "c1", "user_id": "alice", "user_message": "你好 🌊", "assistant_message": "hello"}
    return {**made, "reflection": REFLECTION, "cid": None, "created_at": "2026-01-30T09:12:00+08:00", **more}


def make_table(server: PostgresServer, *, key: str = "UNIQUE (conversation_id, created_at)", **kinds: str) -> str:
    """A table with a column for every field, of `kinds` or of its own type; its name."""
    name = f"Their table {next(_number)}"
    columns = ['"{}" {}'.format(COLUMNS[f].replace('"', '""'), kinds.get(f, kind)) for f, kind in FIELDS.items()]
    server.sql(f'CREATE TABLE "{name}" ({", ".join([*columns, *([key] if key else [])])})')
    return name


def write(url: str, table: str, turns: list[dict[str, Any]], columns: Mapping[str, str] = COLUMNS) -> dict[int, str]:
    (target,) = targets({"conversations": table}, columns)
    rows = [row for each in turns for row in rows_of(each, {"user": [1, 2], "encoding": "x"}, [target])]
    with PostgresStore(url) as store:
        return store.write(store.look(target), rows).refused


@pytest.mark.parametrize("kind", ["jsonb", "json", "text"])
@pytest.mark.parametrize("key", ["UNIQUE (created_at, conversation_id)", ""])
def test_a_turn_is_there_once_whatever_its_columns_are(server: PostgresServer, kind: str, key: str) -> None:
    """D5: reflection as jsonb or text, whichever the column is; delivered again, it is the same row."""
    table = make_table(server, key=key, reflection=kind, token_data=kind)
    assert write(server.url, table, [turn(), turn(conversation_id="c2", reflection=None)]) == {}
    assert write(server.url, table, [turn(created_at="2026-01-30T01:12:00+00:00")]) == {}  # the same moment
    rows = server.sql(
        f'SELECT conversation_id, "assistant ""mes"" 100%", reflection::jsonb, token_data::jsonb, '
        f"created_at, text_cache "
        f'FROM "{table}" ORDER BY 1'
    )
    assert [row[:3] for row in rows] == [("c1", "hello", REFLECTION), ("c2", "hello", None)]
    assert rows[0][3] == {"user": [1, 2], "encoding": "x"} and rows[0][5] == "你好 🌊\n\nhello"
    assert rows[0][4].isoformat().startswith("2026-01-30") and rows[0][4].timestamp() == 1769735520


def test_a_column_without_a_zone_has_the_time_in_utc(server: PostgresServer) -> None:
    table = make_table(server, created_at="timestamp")
    write(server.url, table, [turn()])
    assert [str(row[0]) for row in server.sql(f'SELECT created_at FROM "{table}"')] == ["2026-01-30 01:12:00"]


def test_a_reply_that_has_grown_replaces_the_row(server: PostgresServer) -> None:
    table = make_table(server)
    write(server.url, table, [turn()])
    write(server.url, table, [turn(assistant_message="hello, and"), turn(assistant_message="hello, and all")])
    rows = server.sql(f'SELECT text_cache FROM "{table}"')
    assert rows == [("你好 🌊\n\nhello, and all",)]


@pytest.mark.parametrize("left_out", [(), ("assistant_message",), ("assistant_message", "text_cache")])
def test_a_shorter_reply_replaces_nothing(server: PostgresServer, left_out: tuple[str, ...]) -> None:
    """D5: whatever is mapped tells which is longer; the row counts as written, and a later reflection of the same
    answer gets there."""
    table = make_table(server)
    columns = {field: column for field, column in COLUMNS.items() if field not in left_out}
    (target,) = targets({"conversations": table}, columns)
    with PostgresStore(server.url) as store:
        given = (
            ("hello, all", None, None),
            ("hello", REFLECTION, "went 好"),
            ("hello, all", {"summary": "late"}, "late"),
        )
        for answer, reflection, summary in given:
            said = turn(assistant_message=answer, reflection=reflection)
            rows = rows_of(said, {"assistant": [*answer.encode()], "encoding": "utf-8"}, [target])
            assert store.write(store.look(target), rows).refused == {}
            (kept,) = server.sql(f"SELECT token_data->'assistant', reflection->>'summary' FROM \"{table}\"")
            assert kept == ([*b"hello, all"], summary)


def test_only_what_is_mapped_is_written(server: PostgresServer) -> None:
    """D5: no texts unless they are mapped"""
    table = make_table(server)
    needed = {name: name for name in ("conversation_id", "user_id", "created_at", "token_data")}
    write(server.url, table, [turn()], needed)
    assert server.sql(f'SELECT user_message, text_cache, reflection FROM "{table}"') == [(None, None, None)]


@pytest.mark.parametrize("key", ["UNIQUE (conversation_id, created_at)", ""])
def test_a_poisoned_row_holds_up_no_other(server: PostgresServer, key: str) -> None:
    """NUL and half of a pair are replaced; what the table itself refuses is told without its words."""
    table = make_table(server, key=key, cid="varchar(5)", user_id="text CHECK (user_id <> 'eve')")
    turns = [
        turn(conversation_id="nul", user_message="a\0b", reflection={"summary": "\0", "causes": ["\ud800"]}),
        turn(conversation_id="long", cid="much too long"),
        turn(conversation_id="half", user_message="a\ud800b"),
        turn(conversation_id="eve", user_id="eve"),
        turn(conversation_id="last"),
    ]
    reasons = write(server.url, table, turns)
    assert reasons.keys() == {1, 3} and "22001" in reasons[1] and "check" in reasons[3]
    assert "much too long" not in str(reasons) and "eve'" not in str(reasons)
    rows = server.sql(f'SELECT conversation_id, user_message FROM "{table}" ORDER BY 1')
    assert rows == [("half", "a�b"), ("last", "你好 🌊"), ("nul", "a�b")]


def test_the_row_of_another_user_stays(server: PostgresServer) -> None:
    table = make_table(server)
    write(server.url, table, [turn()])
    reasons = write(server.url, table, [turn(conversation_id="c2"), turn(user_id="bob", user_message="mine")])
    assert reasons.keys() == {1} and "another user" in reasons[1]
    assert server.sql(f'SELECT user_id, conversation_id FROM "{table}" ORDER BY 2') == [
        ("alice", "c1"),
        ("alice", "c2"),
    ]


@pytest.mark.parametrize("key", ["UNIQUE (conversation_id, created_at)", ""])
def test_two_workers_at_once_write_each_turn_once(server: PostgresServer, key: str) -> None:
    table = make_table(server, key=key)
    turns = [turn(conversation_id=f"c{number}") for number in range(300)]
    gate = threading.Barrier(2)
    found: list[dict[int, str]] = []

    def work() -> None:
        gate.wait()
        for start in range(0, 300, 30):
            found.append(write(server.url, table, turns[start : start + 30]))

    workers = [threading.Thread(target=work) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert found == [{}] * 20 and server.sql(f'SELECT count(*) FROM "{table}"') == [(300,)]


def test_look_finds_what_will_go_wrong(server: PostgresServer) -> None:
    keyed, bare = make_table(server), make_table(server, key="")
    server.sql(f'ALTER TABLE "{bare}" ADD tenant int NOT NULL')
    server.sql(f'CREATE UNIQUE INDEX ON "{bare}" (conversation_id, created_at) WHERE ipfs IS NULL')  # of some rows only
    with PostgresStore(server.url) as store:
        looked = [store.look(targets({"conversations": name}, COLUMNS)[0]) for name in (keyed, f"public.{bare}")]
        assert [table.is_keyed for table in looked] == [True, False]
        assert looked[0].problems == () and "'tenant'" in looked[1].problems[0]
        with pytest.raises(ConfigError, match=r"no table 'nowhere' for memories: correct longterm.tables"):
            store.look(targets({"memories": "nowhere"}, COLUMNS)[0])
        with pytest.raises(ConfigError, match=r"has no column 'when' for created_at: .*longterm.columns_map"):
            store.look(targets({"conversations": keyed}, COLUMNS | {"created_at": "when"})[0])


def test_a_user_without_rights_is_told(server: PostgresServer) -> None:
    table = make_table(server)
    server.sql("CREATE ROLE reader LOGIN PASSWORD 'open-sesame'")
    server.sql(f'GRANT SELECT ON "{table}" TO reader')
    url = server.url.replace("postgres:open", "reader:open")
    with PostgresStore(url) as store:
        assert store.look(targets({"conversations": table}, COLUMNS)[0]).problems == (
            "may not be used: grant INSERT, UPDATE to the user",
        )
    with pytest.raises(ConfigError, match="may not write there: grant"):
        write(url, table, [turn()])


def test_a_read_only_database_is_told(server: PostgresServer) -> None:
    url = f"{server.url}?options=-c%20default_transaction_read_only%3Don"
    with pytest.raises(ConfigError, match="read-only: name the primary"):
        write(url, make_table(server), [turn()])


def test_a_table_that_changes_meanwhile_is_told(server: PostgresServer) -> None:
    (target,) = targets({"conversations": make_table(server)}, COLUMNS)
    with PostgresStore(server.url) as store:
        table = store.look(target)
        server.sql(f'ALTER TABLE "{target.table}" RENAME ipfs TO other')
        with pytest.raises(ConfigError, match="a table has changed"):
            store.write(table, rows_of(turn(), {}, [target]))


@pytest.mark.parametrize("url", ["mysql://u:secret@h/db", "postgresql://u:sec/ret@h:5432/db", "secret"])
def test_a_wrong_address_is_told_and_not_shown(url: str) -> None:
    with pytest.raises(ConfigError, match="SUPABASE_DB_URL or longterm.url is wrong") as caught:
        PostgresStore(url)
    assert "sec" not in str(caught.value)


def test_a_wrong_password_is_told_and_not_shown(server: PostgresServer) -> None:
    for url in (server.url_at(server.port, "guess"), server.url.replace("open-sesame", "gu@ess")):
        with pytest.raises((ConfigError, EndpointError)) as caught:
            write(url, "any", [turn()])
        assert "ess" not in str(caught.value).replace("refuses", "").replace("unless", "")
    with pytest.raises(ConfigError, match="127.0.0.1: it refuses the password"):
        write(server.url_at(server.port, "guess"), "any", [turn()])
    with pytest.raises(ConfigError, match="no such user or database"):
        write(server.url.removesuffix("postgres") + "nowhere", "any", [turn()])


def test_nobody_there_and_one_who_says_nothing(server: PostgresServer) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        (target,) = targets({"conversations": "any"}, COLUMNS)
        began = time.monotonic()
        with PostgresStore(server.url_at(port), connect_timeout_s=2) as store, pytest.raises(EndpointSlow):
            store.look(target)
        assert time.monotonic() - began < 6
    with PostgresStore(server.url_at(port)) as store, pytest.raises(EndpointError, match="cannot be reached"):
        store.look(target)


def test_a_server_that_stands_still_is_not_waited_for(server: PostgresServer) -> None:
    (target,) = targets({"conversations": make_table(server)}, COLUMNS)
    with PostgresStore(server.url, timeout_s=0.5) as store:
        store.look(target)
        ((pid,),) = server.sql("SELECT pid FROM pg_stat_activity WHERE application_name = 'vault-memory'")
        os.kill(pid, signal.SIGSTOP)
        try:
            with pytest.raises(EndpointSlow, match="no answer within 0.5 s"):
                store.look(target)
        finally:
            os.kill(pid, signal.SIGCONT)
        store.look(target)  # by another connection


def test_a_table_that_is_locked_is_not_waited_for(server: PostgresServer) -> None:
    table = make_table(server)
    with psycopg.connect(server.url) as other:
        other.execute(f'LOCK TABLE "{table}"')
        (target,) = targets({"conversations": table}, COLUMNS)
        with PostgresStore(server.url, timeout_s=0.5) as store:
            looked = store.look(target)
            with pytest.raises(EndpointSlow):
                store.write(looked, rows_of(turn(), {}, [target]))


def test_what_is_deleted_is_what_the_database_says(server: PostgresServer) -> None:
    """Rows of another program, in a table without a unique key: those of one key go at once, those without one stay,
    also more of them than a page has."""
    name = make_table(server, key="")
    server.sql(
        f'INSERT INTO "{name}" (conversation_id, user_id, created_at) '
        "SELECT CASE WHEN n > 10 THEN NULL ELSE '' END, 'alice', '2026-01-30' FROM generate_series(1, 900) n"
    )
    (target,) = targets({"conversations": name}, COLUMNS)
    with PostgresStore(server.url) as store:
        table = store.look(target)
        assert sum(store.drop(table, "alice", lambda _: False)) == 0
        assert sum(store.drop(table, "alice", lambda _: True)) == 10
    assert server.sql(f'SELECT count(*) FROM "{name}"') == [(890,)]


def test_a_database_without_an_encoding_is_read_as_utf8(server: PostgresServer) -> None:
    """Its names are read; and bytes that are no UTF-8 are an error of the tree."""
    server.sql("CREATE DATABASE plain ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
    url = server.url.rpartition("/")[0] + "/plain"
    with psycopg.connect(url, autocommit=True) as made:
        made.execute("CREATE TABLE talks (chat text, who text, at timestamptz)")
        made.execute("INSERT INTO talks VALUES (convert_from('\\xff', 'SQL_ASCII'), 'alice', now())")
    (target,) = targets({"conversations": "talks"}, {"conversation_id": "chat", "user_id": "who", "created_at": "at"})
    with PostgresStore(url) as store:
        table = store.look(target)
        assert table.problems == () and table.place.table == "public.talks"
        with pytest.raises(EndpointError, match="22021"):
            sum(store.drop(table, "alice", lambda _: True))
