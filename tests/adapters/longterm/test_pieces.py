"""Pieces of turns, from several machines, in any order and more than once, in a real PostgreSQL: the row ends the same,
and has every piece."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Sequence
from typing import Any

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.adapters.longterm.test_postgres import COLUMNS, REFLECTION, make_table
from tests.postgres_server import PostgresServer
from vault_memory.adapters.longterm import PostgresStore
from vault_memory.adapters.tokenizer import pack_token_record
from vault_memory.core.longterm import NEEDED, Row, rows_of, targets

AT = "2026-01-30T09:12:00.25+08:00"
PIECES: tuple[dict[str, Any], ...] = (
    {"user_message": "你好 🌊"},
    {"assistant_message": "a long answer\n\nof two parts"},
    {"assistant_message": "a long an"},
    {"reflection": REFLECTION},
    {"cid": "Qm"},
    {"user_message": "你好 🌊", "assistant_message": "a long answer\n\nof"},
)
MAPPINGS = (
    ("text_cache",),
    ("token_data",),
    ("assistant_message", "text_cache", "reflection"),
    ("user_message", "assistant_message", "text_cache", "reflection", "token_data", "cid"),
)


def rows(table: str, fields: Sequence[str], pieces: Sequence[dict[str, Any]], name: str, user: str) -> list[Row]:
    (target,) = targets({"conversations": table}, {field: COLUMNS[field] for field in (*NEEDED, *fields)})
    made = []
    for piece in pieces:
        said = {"conversation_id": name, "user_id": user, "created_at": AT, **piece}
        tokens = pack_token_record(
            *(said.get(part) for part in ("user_message", "assistant_message", "reflection")), "utf-8"
        )
        made += rows_of(said, tokens, [target])
    return made


def put(
    url: str, table: str, given: Sequence[Row], fields: Sequence[str], renamed: Sequence[tuple[str, str]] = ()
) -> dict[int, str]:
    (target,) = targets({"conversations": table}, {field: COLUMNS[field] for field in (*NEEDED, *fields)})
    with PostgresStore(url) as store:
        return store.write(store.look(target), given, renamed).refused


@pytest.mark.parametrize("fields", MAPPINGS)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_two_machines_leave_the_same_row_whatever_the_order(
    server: PostgresServer, fields: tuple[str, ...], data: st.DataObject
) -> None:
    table = make_table(server)
    again = data.draw(st.lists(st.sampled_from(PIECES), max_size=4))
    order = data.draw(st.permutations([*PIECES, *again]))
    cut = data.draw(st.integers(0, len(order)))
    for part, user in ((order[:cut], "alice"), (order[cut:], "alicia"), (order[:cut], "alicia")):  # the batch again
        assert put(server.url, table, rows(table, fields, part, "c1", user), fields, [("alice", "alicia")]) == {}
    (found,) = server.sql(
        'SELECT user_id, user_message, "assistant ""mes"" 100%", text_cache, reflection, token_data, ipfs '
        f'FROM "{table}"'
    )
    question, answer = "你好 🌊", "a long answer\n\nof two parts"
    whole = {
        "user_message": question,
        "assistant_message": answer,
        "text_cache": f"{question}\n\n{answer}",
        "reflection": REFLECTION,
        "token_data": pack_token_record(question, answer, REFLECTION, "utf-8"),
        "cid": "Qm",
    }
    assert found == ("alicia", *(value if field in fields else None for field, value in whole.items()))


def test_pieces_that_come_at_once_are_all_there(server: PostgresServer) -> None:
    table, fields = make_table(server), ("text_cache", "token_data")
    gate = threading.Barrier(len(PIECES))
    names = [f"at once {number}" for number in range(100)]
    refused: list[dict[int, str]] = []

    def send(piece: dict[str, Any]) -> None:
        gate.wait()
        refused.append(
            put(server.url, table, [each for n in names for each in rows(table, fields, [piece], n, "alice")], fields)
        )

    senders = [threading.Thread(target=send, args=(piece,)) for piece in PIECES]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()
    assert refused == [{}] * len(PIECES)
    found = server.sql(f"SELECT DISTINCT text_cache, token_data->>'user' <> '[]' FROM \"{table}\"")
    assert found == [("你好 🌊\n\na long answer\n\nof two parts", True)]


def test_two_batches_do_not_wait_for_each_other(server: PostgresServer) -> None:
    """Whatever the order they are given in, rows are written in one order: another writer has the first of them."""
    table, fields = make_table(server), ("text_cache",)
    given = [row for name in ("b", "a") for row in rows(table, fields, PIECES[:1], name, "alice")]
    told: list[dict[int, str]] = []
    writer = threading.Thread(target=lambda: told.append(put(server.url, table, given, fields)))
    insert = f"INSERT INTO \"{table}\" (conversation_id, user_id, created_at) VALUES (%s, 'alice', '{AT}')"
    with psycopg.connect(server.url) as other:
        other.execute(insert, ("a",))
        writer.start()
        until = time.monotonic() + 10
        while server.sql("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'") == [(0,)]:
            assert time.monotonic() < until
        other.execute(insert, ("b",))
    writer.join()
    assert told == [{}] and server.sql(f'SELECT text_cache FROM "{table}"') == [("你好 🌊",)] * 2


@pytest.mark.parametrize("key", ["UNIQUE (conversation_id, created_at)", ""])
def test_a_column_of_whole_seconds_finds_its_rows(server: PostgresServer, key: str) -> None:
    table, fields = make_table(server, created_at="timestamptz(0)", key=key), ("text_cache",)
    for piece in [*PIECES[:2]] * 2:
        assert put(server.url, table, rows(table, fields, [piece], "c1", "alice"), fields) == {}
    assert server.sql(f'SELECT text_cache FROM "{table}"') == [
        ("你好 🌊\n\na long answer\n\nof two parts" if key else "你好 🌊",)
    ]


def test_without_a_key_the_pieces_of_one_call_are_one_row(server: PostgresServer) -> None:
    table, fields = make_table(server, key=""), ("text_cache", "token_data")
    assert put(server.url, table, rows(table, fields, PIECES, "c1", "alice"), fields) == {}
    ((both, tokens),) = server.sql(f'SELECT text_cache, token_data FROM "{table}"')
    assert both == "你好 🌊\n\na long answer\n\nof two parts"
    assert tokens == pack_token_record("你好 🌊", "a long answer\n\nof two parts", REFLECTION, "utf-8")


def test_tokens_of_an_encoding_that_is_not_here_wait(server: PostgresServer) -> None:
    """Two encodings are not mixed, and no piece is lost: the row keeps the one it began with."""
    table, fields = make_table(server), ("token_data",)
    (question,), (answer,) = (rows(table, fields, [piece], "encoded", "alice") for piece in PIECES[:2])
    at = [*targets({"conversations": table}, {f: f for f in (*NEEDED, *fields)})[0].columns].index("token_data")
    for encoding in ("utf-8", "nobody's"):
        server.sql(f'DELETE FROM "{table}"')
        assert put(server.url, table, [question], fields) == {}
        name = encoding.replace("'", "''")
        server.sql(f'UPDATE "{table}" SET token_data = token_data || \'{{"encoding": "{name}"}}\'')
        values = [*answer.values]
        values[at] = '{"user": [], "assistant": [7], "reflection": [], "encoding": "another"}'
        told = put(server.url, table, [Row(answer.logical, tuple(values), answer.said)], fields)
        (tokens,) = server.sql(f'SELECT token_data FROM "{table}"')[0]
        assert tokens["encoding"] == encoding and bytes(tokens["user"]).decode() == "你好 🌊"
        if encoding == "utf-8":
            assert told == {} and bytes(tokens["assistant"]).decode() == "a long answer\n\nof two parts"
        else:
            assert "which is not here: pip install" in told[0] and tokens["assistant"] == []


@pytest.mark.parametrize(
    "theirs",
    [
        {"user": [300], "assistant": [65], "encoding": "utf-8"},
        {"user": [1], "assistant": [2], "reflection": [3]},
        [1, 2, 3],
        {"user": {"ids": [1]}, "assistant": [65], "encoding": "utf-8"},
        {"user": ["one"], "assistant": [65], "encoding": "utf-8"},
    ],
)
def test_tokens_of_another_form_stay(server: PostgresServer, theirs: Any) -> None:
    """A worker of their own writes tokens as it likes: what comes waits, and no token of theirs is lost."""
    table, fields = make_table(server), ("user_message", "token_data")
    assert put(server.url, table, rows(table, fields, [{"user_message": "asked"}], "c1", "alice"), fields) == {}
    server.sql(f"UPDATE \"{table}\" SET token_data = '{json.dumps(theirs)}'")
    for piece in ({"user_message": "asked again"}, {"assistant_message": "told"}):
        (reason,) = put(server.url, table, rows(table, fields, [piece], "c1", "alice"), fields).values()
        assert "of another form" in reason or "not of the encoding 'utf-8'" in reason
    assert server.sql(f'SELECT user_message, token_data FROM "{table}"') == [("asked", theirs)]


def test_what_tokens_hold_besides_ours_stays(server: PostgresServer) -> None:
    table, fields = make_table(server), ("token_data",)
    put(server.url, table, rows(table, fields, [{"user_message": "asked"}], "c1", "alice"), fields)
    server.sql(f'UPDATE "{table}" SET token_data = token_data || \'{{"model": "m"}}\'')
    assert put(server.url, table, rows(table, fields, [{"assistant_message": "told"}], "c1", "alice"), fields) == {}
    ((tokens,),) = server.sql(f'SELECT token_data FROM "{table}"')
    assert tokens == pack_token_record("asked", "told", None, "utf-8") | {"model": "m"}
