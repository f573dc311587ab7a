"""No row counts as erased that is still there, whatever has become of its table, its database or its server since; and
what waits says for what."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.postgres_server import PostgresServer
from tests.services.longterm.conftest import TABLE
from tests.services.longterm.test_erasing import NOTE, SECRET, rows
from vault_memory.adapters.longterm import PostgresStore
from vault_memory.core.longterm import Row, targets
from vault_memory.errors import EndpointError
from vault_memory.services.admin import status
from vault_memory.services.erasing import erase, of_texts, of_user, reach_again, still_to_erase
from vault_memory.services.longterm import flush_long_term
from vault_memory.services.turns import record_turn
from vault_memory.services.vault import Vault

USED = Path(".vault-memory/postgres-used")
MAP = "MEMORY_TABLE_MAP"


def sent(vault: Vault, *users: str) -> None:
    for user in users:
        record_turn(vault, user, SECRET, "ok", conversation_id=user)
    flush_long_term(vault)


def at(vault: Vault) -> list[str]:
    """The tables that what waits is about."""
    return [each["at"]["table"] for each in json.loads((vault.root / NOTE).read_text())]


@contextmanager
def away(server: PostgresServer) -> Iterator[None]:
    server.kill()
    try:
        yield
    finally:
        server.start()


@pytest.fixture
def server(server: PostgresServer) -> Iterator[PostgresServer]:
    server.sql("DROP TABLE IF EXISTS kept")
    yield server
    server.sql("DROP TABLE IF EXISTS kept")


def test_a_table_that_was_renamed_is_the_same_one(opened: Callable[..., Vault], server: PostgresServer) -> None:
    """What waits for it is done under its new name, and an erasing there names no other."""
    vault = opened(server.url)
    sent(vault, "alice", "bob")
    with away(server):
        erase(vault, of_user(vault, "alice", long_term=True))
    server.sql("ALTER TABLE talks RENAME TO kept")
    renamed = opened(server.url, **{MAP: '{"conversations": "kept", "memories": "thoughts"}'})
    assert reach_again(renamed, long_term=True) == "" and not (vault.root / NOTE).exists()
    assert erase(renamed, of_user(renamed, "bob", long_term=True)).problems == ()
    assert server.sql("SELECT * FROM kept") == []


def test_a_table_under_the_name_of_another_is_not_that_one(
    opened: Callable[..., Vault], server: PostgresServer
) -> None:
    """Rows that were put aside with their table are still there, until that is mapped or gone."""
    vault = opened(server.url)
    sent(vault, "alice", "bob", "carol")
    server.sql(f"ALTER TABLE talks RENAME TO kept; CREATE TABLE talks {TABLE}, UNIQUE (chat, at))")
    (told,) = erase(vault, of_user(vault, "alice", long_term=True)).problems
    assert "table public.talks, which this vault has used, was not asked" in told
    assert "the table is called public.kept now: name that in MEMORY_TABLE_MAP" in reach_again(vault, long_term=True)
    assert "is called public.kept now" in still_to_erase(vault)
    reach_again(opened(server.url, **{MAP: '{"conversations": "kept"}'}), long_term=True)
    assert not (vault.root / NOTE).exists() and server.sql("SELECT chat FROM kept ORDER BY 1") == [("bob",), ("carol",)]
    erase(vault, of_user(vault, "bob", long_term=True))
    server.sql("DROP TABLE talks; ALTER TABLE kept RENAME TO talks; CREATE TABLE kept AS SELECT * FROM talks")
    server.sql("DROP TABLE talks; ALTER TABLE kept RENAME TO talks; ALTER TABLE talks ADD UNIQUE (chat, at)")
    assert reach_again(vault, long_term=True) == "" and rows(server) == ["carol"]  # it was made anew
    server.sql("ALTER TABLE talks RENAME TO kept")
    erase(vault, of_user(vault, "carol", long_term=True))
    server.sql("DROP TABLE kept")
    assert "there is no table 'talks'" in reach_again(vault, long_term=True)
    assert at(vault) == ["talks", "thoughts"]  # what is mapped and was not found; the former one is gone with its rows


def test_a_database_under_the_name_of_another_is_not_that_one(
    opened: Callable[..., Vault], server: PostgresServer
) -> None:
    """As when a dump is put in its place, and the former one is kept beside."""
    url = server.url.rpartition("/")[0]
    in_it = PostgresServer.sql
    server.sql("CREATE DATABASE app")
    first = server.url
    try:
        server.url = f"{url}/app"
        for name in ("talks", "thoughts"):
            in_it(server, f"CREATE TABLE {name} {TABLE}, UNIQUE (chat, at))")
        vault = opened(server.url)
        sent(vault, "alice")
        server.url = first
        server.sql("ALTER DATABASE app RENAME TO app_old")
        server.sql("CREATE DATABASE app TEMPLATE app_old")
        (told,) = erase(vault, of_user(vault, "alice", long_term=True)).problems
        assert "table public.talks, which this vault has used, was not asked" in told
        for said in (reach_again(vault, long_term=True), still_to_erase(vault), " ".join(status(vault).degraded)):
            assert "another server or table" in said and "erase the same again there, and take it out of" in said
        server.url = f"{url}/app_old"
        assert rows(server) == ["alice"]
        server.url = first
        server.sql("DROP DATABASE app_old")
        assert reach_again(vault, long_term=True) == "" and not (vault.root / NOTE).exists()
    finally:
        server.url = first
        server.sql("DROP DATABASE IF EXISTS app")
        server.sql("DROP DATABASE IF EXISTS app_old")


def test_a_table_that_this_machine_has_not_written_waits_too(
    opened: Callable[..., Vault], server: PostgresServer
) -> None:
    """Another clone of the vault has sent the memories; here only turns were sent when the database was away."""
    vault = opened(server.url)
    sent(vault, "alice")
    server.sql(f"INSERT INTO thoughts (chat, who, thought, at) VALUES ('m', 'alice', '\"{SECRET}\"', now())")
    with away(server):
        erase(vault, of_texts(vault, "alice", [SECRET], long_term=True))
    assert at(vault) == ["public.talks", "thoughts"]
    assert reach_again(opened(server.url, **{MAP: '{"conversations": "talks"}'}), long_term=True) != ""
    assert at(vault) == ["thoughts"]
    assert reach_again(vault, long_term=True) == "" and server.sql("SELECT * FROM thoughts") == []


def test_rows_that_are_refused_hold_up_no_other_erasing(opened: Callable[..., Vault], server: PostgresServer) -> None:
    vault = opened(server.url)
    sent(vault, "alice", "bob")
    server.sql("CREATE TABLE kept (c text, a timestamptz, FOREIGN KEY (c, a) REFERENCES talks (chat, at))")
    server.sql("INSERT INTO kept SELECT chat, at FROM talks WHERE who = 'alice'")
    try:
        with away(server):
            for user in ("alice", "bob"):
                erase(vault, of_user(vault, user, long_term=True))
        reach_again(vault, long_term=True)
        assert rows(server) == ["alice"] and at(vault) == ["public.talks"]
        assert any("kept 1 rows" in line for line in status(vault).degraded) and "kept 1 rows" in still_to_erase(vault)
    finally:
        server.sql("DROP TABLE kept")
    assert reach_again(vault, long_term=True) == "" and rows(server) == []


def test_what_is_looked_at_on_one_server_is_not_done_on_another(
    server: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection ends between the look and the work, and the next one leads elsewhere."""
    services, other = tmp_path / "services", PostgresServer()
    monkeypatch.setenv("PGSERVICEFILE", str(services))

    def lead_to(port: int) -> None:
        services.write_text(f"[one]\nhost=127.0.0.1\nport={port}\ndbname=postgres\nuser=postgres\npassword=open-sesame")

    columns = {"conversation_id": "chat", "user_id": "who", "created_at": "at"}
    (target,) = targets({"conversations": "talks"}, columns)
    row = Row("conversations", ("c1", "alice", "2026-01-30T09:12:00+08:00"))
    try:
        other.sql(f"CREATE TABLE talks {TABLE}, UNIQUE (chat, at))")
        other.sql("INSERT INTO talks (chat, who, at) VALUES ('c0', 'alice', now())")
        for work in (
            lambda store, table: store.write(table, [row]),
            lambda store, table: [*store.drop(table, "alice", lambda _: True)],
        ):
            lead_to(server.port)
            with PostgresStore("postgresql://?service=one") as store:
                table = store.look(target)
                store.close()
                lead_to(other.port)
                with pytest.raises(EndpointError, match="another server or table answers"):
                    work(store, table)
        assert rows(other) == ["c0"]
        lead_to(server.port)
        with PostgresStore("postgresql://?service=one") as store:
            table = store.look(target)
            server.sql(f"ALTER TABLE talks RENAME TO kept; CREATE TABLE talks {TABLE}, UNIQUE (chat, at))")
            with pytest.raises(EndpointError, match="another server or table answers"):
                [*store.drop(table, "alice", lambda _: True)]
    finally:
        other.remove()


def test_a_part_of_a_password_is_shown_nowhere(opened: Callable[..., Vault]) -> None:
    """With an unwritten / libpq takes its end for the name of the database."""
    vault = opened("postgresql://u:12/rest-of-it@127.0.0.1/db")
    assert vault.database_address == ""
    record_turn(vault, "alice", SECRET, "ok")
    told = " ".join(erase(vault, of_texts(vault, "alice", [SECRET], long_term=True)).problems)
    assert "PostgreSQL" in told and "rest-of-it" not in told + (vault.root / NOTE).read_text()
    assert "to be erased in PostgreSQL, table talks:" in still_to_erase(vault)
