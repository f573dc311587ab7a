"""Turns in an organisation's own PostgreSQL, by the command line, as a person sees it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conftest import Cli
from tests.postgres_server import PostgresServer
from vault_memory.services.turns import record_turn
from vault_memory.services.vault import open_vault

MAPPED = """[longterm]
enabled = true
tables = { conversations = "chat_log", memories = "thoughts" }
columns_map = { conversation_id = "chat", user_id = "who", assistant_message = "assistant_mes", created_at = "at", \
token_data = "tokens", reflection = "thought" }
"""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[PostgresServer]:
    server = PostgresServer()
    monkeypatch.setenv("SUPABASE_DB_URL", server.url)
    yield server
    server.remove()


def test_from_the_settings_to_the_rows(cli: Cli, server: PostgresServer) -> None:
    """D4–D7a: mapped by the settings file, agreed to, checked, sent, sent again, refused"""
    settings = cli.folder / "vault-memory.toml"
    cli("turn", "--user", "alice", "--message", "before", "--reply", "x")
    assert "no table is mapped" in cli("longterm", "check", code=2)
    settings.write_text(settings.read_text("utf-8").replace("[longterm]\n", MAPPED), "utf-8")
    assert "not in force" in cli("longterm", "flush", code=2)
    cli("trust", "--yes")
    checked = cli.run("longterm", "check")
    assert checked.returncode == 1 and "there is no table 'chat_log' for conversations" in checked.stdout
    assert "'chat_log'" in cli("longterm", "flush", "--since", "2026-01-01", code=2)
    for statement in cli("longterm", "print-ddl").split("\n\n"):
        server.sql(statement)
    assert "chat_log: can be written" in cli("longterm", "check")
    assert [table["is_keyed"] for table in cli.json("longterm", "check")] == [True, True]
    cli("turn", "--user", "alice", "--message", "我喜歡暗色主題", "--reply", "好的")
    assert "waiting: 2 turns" in cli("longterm", "status")
    assert "2 turns wait: PostgreSQL at 127.0.0.1: there is no table" in cli("status")
    assert "ok    longterm: 2 turns sent" in cli("heartbeat", "--now", "longterm")
    assert server.sql("SELECT who, assistant_mes FROM chat_log ORDER BY at") == [("alice", "x"), ("alice", "好的")]
    assert cli.json("longterm", "flush", "--since", "2026-01-01") == {"sent": 2, "refused": 0, "waiting": 0}
    assert server.sql("SELECT count(*) FROM chat_log") == [(2,)]
    record_turn(open_vault(cli.folder), "alice", "who answers?", None)
    told = cli("longterm", "status")
    assert "waiting: 1 turn" in told and "1 without an answer yet: sent when it comes, at the latest 20" in told
    state = cli.json("longterm", "status")
    assert (state["is_enabled"], state["counts"]["waiting"], state["last_sent"]) == (True, 1, 2)
    server.sql("ALTER TABLE chat_log ADD CHECK (who <> 'eve'), DROP CONSTRAINT chat_log_chat_at_key")
    cli("turn", "--user", "eve", "--message", "hello", "--reply", "hi")
    assert "1 refused" in cli("longterm", "flush", code=1)
    assert "1 refused: chat_log: check violation" in cli("longterm", "status")
    assert "no unique key by conversation and time" in cli("longterm", "check")


def test_a_wrong_password_is_not_shown(cli: Cli, server: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = cli.folder / "vault-memory.toml"
    settings.write_text(settings.read_text("utf-8").replace("[longterm]\n", MAPPED), "utf-8")
    cli("trust", "--yes")
    monkeypatch.setenv("SUPABASE_DB_URL", server.url_at(server.port, "guess"))
    done = cli.run("longterm", "check")
    assert done.returncode == 1 and "it refuses the password: correct that in SUPABASE_DB_URL" in done.stdout
    assert "guess" not in done.stdout + done.stderr


def test_a_flush_says_what_is_still_to_be_erased_elsewhere(
    cli: Cli, server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = cli.folder / "vault-memory.toml"
    settings.write_text(settings.read_text("utf-8").replace("[longterm]\n", MAPPED), "utf-8")
    cli("trust", "--yes")
    for statement in cli("longterm", "print-ddl").split("\n\n"):
        server.sql(statement)
    cli("turn", "--user", "alice", "--message", "hello", "--reply", "hi")
    cli("longterm", "flush")
    monkeypatch.setenv("SUPABASE_DB_URL", server.url.rpartition("/")[0] + "/template1")
    cli("erase", "--user", "alice", "--long-term", stdin="erase alice\n")
    told = cli.run("longterm", "flush").stderr
    assert "still to be erased in PostgreSQL at" in told and "SUPABASE_DB_URL names another" in told
    assert server.sql("SELECT who FROM chat_log") == [("alice",)]
    monkeypatch.setenv("SUPABASE_DB_URL", server.url)
    cli("longterm", "flush")
    assert server.sql("SELECT who FROM chat_log") == []
