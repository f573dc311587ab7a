"""Pieces of turns that programs deliver: in one call or several, in any order, late or again; both tables of a real
PostgreSQL end the same."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.postgres_server import PostgresServer
from vault_memory import persist_long_term
from vault_memory.errors import EndpointError
from vault_memory.services.longterm import flush_long_term, note_since
from vault_memory.services.longterm.since import note_memories
from vault_memory.services.memories import edit_memory, store_memory
from vault_memory.services.vault import Vault

Opened = Callable[..., Vault]
NAME = {"user_id": "alice", "created_at": "2026-01-30T09:12:00+08:00"}
_TEXTS = st.none() | st.sampled_from(["好", "好的", "好🌊", "abc", "abd", "hello", "hello\n\nyou", "hi", ""])
_PIECES = st.lists(st.fixed_dictionaries({"user_message": _TEXTS, "assistant_message": _TEXTS}), min_size=2, max_size=5)


def persist(vault: Vault, conversation: str, pieces: Sequence[dict[str, Any]]) -> int:
    return persist_long_term(vault, [{**NAME, "conversation_id": conversation, **piece} for piece in pieces])


def ends(server: PostgresServer, conversation: str) -> list[Any]:
    """What both tables have of a conversation."""
    return [
        server.sql(f"SELECT asked, assistant_mes, thought, tokens, at FROM {table} WHERE chat = %s", conversation)
        for table in ("talks", "thoughts")
    ]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pieces=_PIECES, order=st.randoms())
def test_one_call_ends_as_several_do_in_any_order(
    opened: Opened, server: PostgresServer, pieces: list[dict[str, Any]], order: Any
) -> None:
    vault = opened(server.url, TOKENIZER_NAME="utf-8")
    server.sql("DELETE FROM talks")
    assert persist(vault, "one", pieces) == 1
    for piece in pieces:
        assert persist(vault, "each", [piece]) == 1
    order.shuffle(pieces)
    assert persist(vault, "shuffled", pieces[:2]) == 1
    for piece in [*pieces[2:], *pieces]:
        assert persist(vault, "shuffled", [piece]) == 1
    assert ends(server, "one") == ends(server, "each") == ends(server, "shuffled")


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_reflections_of_one_call_end_as_those_of_several(
    opened: Opened, server: PostgresServer, data: st.DataObject
) -> None:
    """One that is delivered last stays, in the order of the call too, but for that of an answer which was cut."""
    vault = opened(server.url, TOKENIZER_NAME="utf-8")
    for table in ("talks", "thoughts"):
        server.sql(f"DELETE FROM {table}")
    pieces = [
        {"assistant_message": answer, "reflection": {"summary": f"number {number}"}}
        for number, answer in enumerate(data.draw(st.lists(_TEXTS, min_size=2, max_size=5)))
    ]
    assert persist(vault, "one", pieces) == 1
    for piece in pieces:
        assert persist(vault, "each", [piece]) == 1
    assert ends(server, "one") == ends(server, "each")
    (talk,), (thought,) = ends(server, "one")
    assert talk[2] == thought[2] and talk[3]["reflection"] == thought[3]["reflection"]


@pytest.mark.parametrize("is_late", [False, True])
def test_both_tables_keep_the_reflection_of_the_whole_answer(
    opened: Opened, server: PostgresServer, is_late: bool
) -> None:
    vault = opened(server.url)
    final = {"user_message": "q", "assistant_message": "the whole answer", "reflection": {"summary": "FINAL"}}
    early = {"user_message": "q", "assistant_message": "the wh", "reflection": {"summary": "EARLY, and longer"}}
    order = [final, early] if is_late else [early, final]
    for number, calls in enumerate(([order], [[piece] for piece in order])):
        for call in calls:
            persist(vault, f"c{number}", call)
    for table in ("talks", "thoughts"):
        assert server.sql(f"SELECT DISTINCT thought->>'summary' FROM {table}") == [("FINAL",)]


def test_pieces_that_the_table_refuses_are_one_turn(opened: Opened, server: PostgresServer) -> None:
    vault = opened(server.url)
    server.sql("ALTER TABLE talks ADD CHECK (asked <> 'no')")
    records = [
        {**NAME, "conversation_id": name, **piece}
        for name in ("a", "b")
        for piece in ({"assistant_message": "x"}, {"user_message": "no" if name == "b" else "yes"})
    ]
    with pytest.raises(EndpointError, match="1 of 2 turns was refused.*conversation 'b'.*the others are written"):
        persist_long_term(vault, records)
    assert server.sql("SELECT chat, asked, assistant_mes FROM talks ORDER BY 1") == [
        ("a", "yes", "x"),
        ("b", None, "x"),
    ]


@pytest.mark.parametrize("is_late", [False, True])
def test_of_a_memory_the_newer_version_stays(
    opened: Opened, server: PostgresServer, tmp_path: Path, is_late: bool
) -> None:
    """Another machine has the version before, and sends it late."""
    vault = opened(server.url)
    memory = store_memory(vault, "alice", "We chose Postgres for the shop", "decision")
    other = opened(server.url, root=shutil.copytree(vault.root, tmp_path / "other"))
    note_memories(other)
    edit_memory(vault, "alice", memory, memory_type="lesson")
    for each in (vault, other) if is_late else (other, vault):
        assert flush_long_term(each).waiting == 0
    assert server.sql("SELECT thought->>'type' FROM thoughts") == [("lesson",)]
    note_since(other, date(2126, 1, 1))
    flush_long_term(other)
    assert server.sql("SELECT thought->>'type' FROM thoughts") == [("lesson",)]
