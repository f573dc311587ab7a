"""Rows of a real PostgreSQL go with what is forgotten, and no others."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.postgres_server import PostgresServer
from vault_memory.errors import VaultMemoryError
from vault_memory.services.daemon import heartbeat
from vault_memory.services.erasing import erase, of_texts
from vault_memory.services.forgetting import Forgotten, forget, is_forgetting, prepare_forgetting
from vault_memory.services.longterm import flush_long_term
from vault_memory.services.memories import remember
from vault_memory.services.turns import record_turn
from vault_memory.services.vault import Vault, open_vault


def rows(server: PostgresServer, table: str = "talks") -> list[str]:
    return [str(row[0]) for row in server.sql(f"SELECT chat FROM {table} ORDER BY chat")]


def gone(vault: Vault, **wish: object) -> Forgotten:
    """Forget in two steps."""
    return forget(vault, "alice", prepare_forgetting(vault, "alice", **wish).code, **wish)  # type: ignore[arg-type]


def seen(receipt: Forgotten) -> bool:
    """Whether the receipt has looked into the long-term store, and found nothing there."""
    return next(look.is_absent for look in receipt.looks if look.store == "long-term store")


def test_b6_the_rows_of_a_forgotten_text_go(opened: Callable[..., Vault], server: PostgresServer) -> None:
    """B6: by question, answer, reflection and tokens alone, and the row of a memory; another user's stay, and rows in
    which the text is only a number of a token, a name of a field or the user's id."""
    vault = opened(server.url)
    record_turn(
        vault, "alice", "我喜歡芒果", "好", conversation_id="said", reflection={"summary": "mango", "causes": []}
    )
    record_turn(vault, "alice", "and what else?", "你喜歡芒果", conversation_id="answered")
    record_turn(vault, "alice", "hello", "hi", conversation_id="other", reflection={"summary": "x", "causes": ["y"]})
    record_turn(vault, "bob", "我喜歡芒果", "好", conversation_id="bobs")
    memory = remember(vault, "alice", "芒果冰 on Fridays")
    flush_long_term(vault)
    server.sql("UPDATE talks SET asked = NULL, assistant_mes = NULL WHERE chat = 'answered'")
    assert {"said", "other", str(memory)} <= {*rows(server, "thoughts")}
    record_turn(vault, "alice", "芒果!", "ok", conversation_id="waits")
    receipt = gone(vault, text="芒果")
    assert not receipt.problems and seen(receipt)
    assert rows(server) == ["bobs", "other"]
    assert sorted(server.sql("SELECT who FROM thoughts")) == [("alice",), ("bob",)]
    number = str(server.sql("SELECT tokens->'user'->0 FROM talks WHERE chat = 'other'")[0][0])
    for text in (number * 2, "causes", "alice"):
        record_turn(vault, "alice", f"it is about {text}", "ok", conversation_id=f"of {text}")
        server.sql("UPDATE talks SET tokens = jsonb_set(tokens, '{user}', '[%s]') WHERE chat = 'other'" % (number * 2))
        flush_long_term(vault)
        assert seen(gone(vault, text=text))
        assert rows(server) == ["bobs", "other"] and "other" in rows(server, "thoughts")


@pytest.mark.parametrize("wish", ["turn", "since", "all", "key"])
def test_b6_the_rows_of_turns_that_are_named_go(
    opened: Callable[..., Vault], server: PostgresServer, wish: str
) -> None:
    vault = opened(server.url)
    old = record_turn(vault, "alice", "I like the dark theme", "ok", conversation_id="old")
    flush_long_term(vault)
    server.sql("UPDATE talks SET asked = 'only its name is left'")
    wishes = {
        "turn": {"turn": old.source},
        "since": {"since": vault.now().date()},
        "all": {"text": "everything about me"},
        "key": {"key": "theme"},
    }
    record_turn(vault, "bob", "hi", "hi", conversation_id="bobs")
    flush_long_term(vault)
    assert rows(server) == ["bobs", "old"]
    receipt = gone(vault, **wishes[wish])
    assert not receipt.problems and seen(receipt) and rows(server) == ["bobs"]


def test_a_database_that_is_away_is_told_and_asked_again(opened: Callable[..., Vault], server: PostgresServer) -> None:
    vault = opened(server.url)
    record_turn(vault, "alice", "我喜歡芒果", "好", conversation_id="said")
    flush_long_term(vault)
    away = opened("postgresql://alice@127.0.0.1:1/none")
    receipt = gone(away, text="芒果")
    assert any(problem.startswith("the rows of the long-term store") for problem in receipt.problems)
    assert not seen(receipt) and is_forgetting(vault, "alice") and rows(server) == ["said"]
    with pytest.raises(VaultMemoryError, match=r"not all is forgotten yet: .*`enabled = false` under \[longterm\]"):
        prepare_forgetting(away, "alice", text="芒果")
    heartbeat(vault, "commits", force=True)
    assert rows(server) == [] and not is_forgetting(vault, "alice")


def test_a_database_that_is_gone_for_good_is_given_up_by_its_setting(
    opened: Callable[..., Vault], server: PostgresServer
) -> None:
    """The forgetting ends, others are possible again; and the rows of one that comes back are erased."""
    vault = opened(server.url)
    for said in ("我喜歡芒果", "我喜歡香蕉"):
        record_turn(vault, "alice", said, "好", conversation_id=said)
    flush_long_term(vault)
    assert gone(opened("postgresql://alice@127.0.0.1:1/none"), text="芒果").problems
    without = open_vault(vault.root, now=vault.now, environ={})
    assert not gone(without, text="香蕉").problems and not is_forgetting(vault, "alice")
    assert len(rows(server)) == 2
    erase(vault, of_texts(vault, "alice", ["我喜歡芒果"], long_term=True))
    assert rows(server) == ["我喜歡香蕉"]


def test_a_row_that_the_database_keeps_is_told_and_tried_again(
    opened: Callable[..., Vault], server: PostgresServer
) -> None:
    vault = opened(server.url)
    record_turn(vault, "alice", "我喜歡芒果", "好", conversation_id="said")
    flush_long_term(vault)
    server.sql("CREATE TABLE refs (c text, a timestamptz, FOREIGN KEY (c, a) REFERENCES talks (chat, at))")
    server.sql("INSERT INTO refs SELECT chat, at FROM talks")
    try:
        receipt = gone(vault, text="芒果")
        assert any("kept 1 rows: foreign key violation" in problem for problem in receipt.problems)
        assert not seen(receipt) and rows(server) == ["said"]
        with pytest.raises(VaultMemoryError, match="not all is forgotten yet: .*foreign key violation"):
            prepare_forgetting(vault, "alice", text="芒果")
    finally:
        server.sql("DROP TABLE refs")
    heartbeat(vault, "commits", force=True)
    assert rows(server) == [] and not is_forgetting(vault, "alice")
