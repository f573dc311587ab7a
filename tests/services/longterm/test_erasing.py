"""Rows of a real PostgreSQL, and turns that wait for it, go with what is erased."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.postgres_server import PostgresServer
from tests.services.longterm.conftest import COLUMNS, TABLE
from vault_memory import api
from vault_memory.adapters import git
from vault_memory.adapters.index import MemoryRow
from vault_memory.errors import NotFound, UsageError
from vault_memory.services.admin import rename_user, status
from vault_memory.services.daemon import heartbeat
from vault_memory.services.erasing import erase, of_note, of_texts, of_user, reach_again, still_to_erase
from vault_memory.services.learning import update_session
from vault_memory.services.longterm import flush_long_term, persist_long_term
from vault_memory.services.memories import delete_memories, memory_rows, prepare_deletion, remember
from vault_memory.services.shortterm import load_recent_context, store_short_term
from vault_memory.services.turns import record_turn
from vault_memory.services.undoing import undo
from vault_memory.services.vault import TOMBSTONES, Vault

NOTE = Path(".vault-memory/erasing-unreached")
SECRET = "my codeword is Zanzibar 七號"


def rows(server: PostgresServer) -> list[str]:
    return [str(row[0]) for row in server.sql("SELECT chat FROM talks ORDER BY chat")]


def test_g5_rows_that_say_it_go_where_that_is_asked_for(opened: Callable[..., Vault], server: PostgresServer) -> None:
    """G5: by their texts, by their tokens alone, and those of another user stay."""
    vault = opened(server.url, MEMORY_TABLE_MAP='{"conversations": "talks"}')
    record_turn(vault, "alice", SECRET, "ok", conversation_id="said")
    record_turn(vault, "alice", "and?", f"it is: {SECRET}", conversation_id="answered")
    record_turn(vault, "alice", "hello", "hi", conversation_id="other")
    record_turn(vault, "bob", SECRET, "ok", conversation_id="bobs")
    flush_long_term(vault)
    server.sql("UPDATE talks SET asked = NULL, assistant_mes = NULL WHERE chat = 'answered'")
    record_turn(vault, "alice", f"again: {SECRET}", "ok", conversation_id="waits")
    assert vault.outbox.counts().waiting == 1
    receipt = erase(vault, of_texts(vault, "alice", [SECRET]))
    assert receipt.rows == 0 and any("--long-term" in line for line in receipt.out_of_reach)
    assert vault.outbox.counts().waiting == 0 and len(rows(server)) == 4
    receipt = erase(vault, of_texts(vault, "alice", [SECRET], long_term=True))
    assert receipt.rows == 2 and receipt.problems == ()
    assert rows(server) == ["bobs", "other"]
    assert b"Zanzibar" not in (vault.root / ".vault-memory/outbox.db").read_bytes()
    receipt = erase(vault, of_user(vault, "alice", long_term=True))
    assert receipt.rows == 1 and rows(server) == ["bobs"]


def test_the_row_of_a_memory_goes_with_its_note(opened: Callable[..., Vault], server: PostgresServer) -> None:
    """One that has been sent, and one that waits; other memories stay."""
    vault = opened(server.url)
    sent, waits, stays = (remember(vault, "alice", f"The {word} door is green") for word in ("north", "south", "west"))
    flush_long_term(vault)
    kept = server.sql("SELECT chat FROM thoughts")
    assert {row[0] for row in kept} == {sent, waits, stays}
    server.sql(f"DELETE FROM thoughts WHERE chat = '{waits}'")
    vault.outbox.put([{"conversation_id": waits, "user_id": "alice", "created_at": "2026-01-30T09:00:00+08:00"}])
    for memory in (sent, waits):
        assert erase(vault, of_note(vault, str(memory), long_term=True)).problems == ()
    assert server.sql("SELECT chat FROM thoughts") == [(stays,)]
    assert vault.outbox.counts().waiting == 0


TAUGHT = "I live in Ripon and teach Latin."


def taught(vault: Vault, server: PostgresServer) -> tuple[MemoryRow, str]:
    """The memory that is left of a part of `TAUGHT` after a change of mind, and the id of another one; both have been
    sent."""
    stays = str(remember(vault, "alice", "The west door is green"))
    record_turn(vault, "alice", TAUGHT, "ok")
    record_turn(vault, "alice", "I moved to Selby last month.", "ok")
    (row,) = (row for row in memory_rows(vault, "alice") if row.title == "I teach Latin")
    flush_long_term(vault)
    assert {(row.memory_id,), (stays,)} <= {*server.sql("SELECT chat FROM thoughts")}
    return row, stays


@pytest.mark.parametrize("is_asked_at_once", [True, False])
def test_the_row_of_a_memory_of_which_a_part_goes_is_deleted(
    opened: Callable[..., Vault], server: PostgresServer, is_asked_at_once: bool
) -> None:
    """Also where the text was erased before, and the long-term store is thought of later: no turn says it any more."""
    vault = opened(server.url)
    row, stays = taught(vault, server)
    if not is_asked_at_once:
        assert erase(vault, of_texts(vault, "alice", [TAUGHT])).rows == 0
    assert erase(vault, of_texts(vault, "alice", [TAUGHT], long_term=True)).problems == ()
    kept = server.sql("SELECT chat FROM thoughts")
    assert (stays,) in kept and (row.memory_id,) not in kept
    flush_long_term(vault)
    kept = server.sql("SELECT chat, thought::text FROM thoughts")
    assert stays in {chat for chat, _ in kept}
    assert not [told for _, told in kept if told and "(erased)" in told], "a memory of which nothing is left is none"


def by_hand(vault: Vault, path: Path, text: str | None) -> None:
    """A person's change of a note, committed."""
    if text is None:
        path.unlink()
    else:
        path.write_text(text)
    git.run(vault.root, "add", "--all")
    git.run(vault.root, "-c", "user.name=Rea", "-c", "user.email=rea@example.org", "commit", "-qm", "by hand")


AWAY: dict[str, Callable[[Vault, Path], object]] = {
    "deleted": lambda vault, path: delete_memories(
        vault, "alice", prepare_deletion(vault, "alice", ids=[path.name.partition("-")[0]]).code
    ),
    "undone": lambda vault, _: undo(vault, "alice"),
    "removed by hand": lambda vault, path: by_hand(vault, path, None),
    "edited by hand": lambda vault, path: by_hand(
        vault, path, path.read_text().replace("I teach Latin", "Gives lessons")
    ),
}


@pytest.mark.parametrize("way", AWAY)
def test_the_row_of_a_memory_that_only_history_had_is_deleted_later_too(
    opened: Callable[..., Vault], server: PostgresServer, way: str
) -> None:
    """The files of the day of the second erasing say nothing of a part that went from commits with the first."""
    vault = opened(server.url)
    row, stays = taught(vault, server)
    AWAY[way](vault, vault.root / "memory/alice" / row.source)
    assert erase(vault, of_texts(vault, "alice", [TAUGHT])).rows == 0
    flush_long_term(vault)
    assert (row.memory_id,) in server.sql("SELECT chat FROM thoughts")
    assert erase(vault, of_texts(vault, "alice", [TAUGHT], long_term=True)).problems == ()
    kept = server.sql("SELECT chat FROM thoughts")
    assert (stays,) in kept and (row.memory_id,) not in kept
    flush_long_term(vault)
    told = server.sql(f"SELECT thought ->> 'summary' FROM thoughts WHERE chat = '{row.memory_id}'")
    assert told == ([("Gives lessons",)] if way == "edited by hand" else []), "what it says by now is sent again"


def test_many_rows_and_a_database_that_is_away(opened: Callable[..., Vault], server: PostgresServer) -> None:
    """More than are read at a time; and what could not be asked is said."""
    assert COLUMNS["conversation_id"] == "chat"
    server.sql(
        "INSERT INTO talks (chat, who, asked, at) SELECT 'c' || n, 'alice', "
        f"CASE WHEN n % 2 = 0 THEN '{SECRET}' ELSE 'x' END, now() + n * interval '1 second' "
        "FROM generate_series(1, 1200) n"
    )
    vault = opened(server.url)
    record_turn(vault, "alice", "hello", "hi")
    assert erase(vault, of_texts(vault, "alice", [SECRET], long_term=True)).rows == 600
    assert len(rows(server)) == 600
    away = opened("postgresql://alice@127.0.0.1:1/none")
    receipt = erase(away, of_texts(away, "alice", [SECRET], long_term=True))
    assert any("no row of the long-term store was deleted" in line for line in receipt.problems)
    assert (away.root / NOTE).exists()


def test_what_postgres_misses_is_erased_when_it_answers(opened: Callable[..., Vault], server: PostgresServer) -> None:
    """By the daemon's round; until then, and while another database is named, all say that it waits."""
    vault = opened(server.url)
    record_turn(vault, "alice", SECRET, "ok", conversation_id="said")
    record_turn(vault, "alice", "hello", "hi", conversation_id="other")
    record_turn(vault, "bob", "good morning", "hi", conversation_id="bobs")
    flush_long_term(vault)
    server.kill()
    try:
        for _ in range(2):
            receipt = erase(vault, of_texts(vault, "alice", [SECRET], long_term=True))
            assert any("until then .vault-memory/erasing-unreached" in line for line in receipt.problems)
        erase(vault, of_user(vault, "bob", long_term=True))
        noted = (vault.root / NOTE).read_text()
        tables = [each["at"]["table"] for each in json.loads(noted)]
        assert tables == 2 * ["public.talks", "thoughts"] and (vault.root / NOTE).stat().st_mode & 0o077 == 0
    finally:
        server.start()
    assert "still to be erased in PostgreSQL" in still_to_erase(vault)
    assert any("still to be erased in PostgreSQL" in line for line in status(vault).degraded)
    other = opened(server.url.rpartition("/")[0] + "/template1")
    assert "names another" in reach_again(other, long_term=True) and "names another" in still_to_erase(other)
    assert "SUPABASE_DB_URL is not set" in reach_again(opened(""), long_term=True)
    assert (vault.root / NOTE).read_text() == noted and rows(server) == ["bobs", "other", "said"]
    heartbeat(vault, "longterm", force=True)
    assert rows(server) == ["other"] and not (vault.root / NOTE).exists() and still_to_erase(vault) == ""


def test_rows_that_come_after_an_erasing_are_not_made_up_for(
    opened: Callable[..., Vault], server: PostgresServer
) -> None:
    """Those of a new user of that id, and of a text, whichever program has written them; a memory counts by its note,
    and a row that tells no time goes."""
    vault = opened(server.url)
    record_turn(vault, "eve", SECRET, "ok", conversation_id="old")
    record_turn(vault, "alice", SECRET, "ok", conversation_id="alices")
    flush_long_term(vault)
    server.sql("INSERT INTO talks (chat, who, at) VALUES ('timeless', 'eve', 'infinity')")
    rename_user(vault, "alice", "alicia")
    server.sql("ALTER DATABASE postgres SET datestyle TO 'German, DMY'")
    server.kill()
    try:
        erase(vault, of_user(vault, "eve", long_term=True))
        erase(vault, of_texts(vault, "alicia", [SECRET], long_term=True))
    finally:
        server.start()
    (vault.root / ".git" / TOMBSTONES).unlink()
    now = vault.now()
    for user in ("eve", "alice"):
        made = {"conversation_id": f"new-{user}", "user_id": user, "created_at": now.isoformat()}
        assert persist_long_term(vault, [{**made, "user_message": SECRET}]) == 1
    note = json.dumps({"summary": SECRET, "causes": [], "type": "fact", "updated_at": now.isoformat()})
    server.sql(f"INSERT INTO thoughts (chat, who, thought, at) VALUES ('by hand', 'eve', '{note}', '1970-01-01Z')")
    former = {"conversation_id": "former", "user_id": "eve", "created_at": "2020-01-30T09:12:00+08:00"}
    assert api.persist_long_term(vault, [{**former, "user_message": SECRET}]) == 1
    server.sql("ALTER DATABASE postgres RESET datestyle")
    assert not (vault.root / NOTE).exists()
    assert rows(server) == ["former", "new-alice", "new-eve"] and server.sql("SELECT chat FROM thoughts") == [
        ("by hand",)
    ]


def test_a_postgres_that_was_used_is_not_forgotten_where_it_is_not_set(
    opened: Callable[..., Vault], server: PostgresServer
) -> None:
    """Without an address, with a wrong one and with another one it is noted, and no other one counts for it."""
    vault, other = opened(server.url), opened(server.url.rpartition("/")[0] + "/template1")
    for user in ("alice", "bob", "carol", "dora"):
        record_turn(vault, user, SECRET, "ok", conversation_id=user)
    (told,) = erase(opened(""), of_user(vault, "dora", long_term=True)).problems
    assert "SUPABASE_DB_URL" in told and not (vault.root / NOTE).exists()  # none was ever used
    flush_long_term(vault)
    used = vault.root / ".vault-memory/postgres-used"
    (place,) = json.loads(used.read_text())
    address = place["address"]
    assert address == vault.database_address and place["table"] == "public.talks" and used.stat().st_mode & 0o077 == 0
    for now, user in ((opened(""), "alice"), (opened("http://x"), "bob"), (other, "carol")):
        (told,) = erase(now, of_user(now, user, long_term=True)).problems
        assert (
            f"PostgreSQL at {address}, table public.talks, which this vault has used, was not asked" in told
            and "until then" in told
        )
    noted = [each["at"] for each in json.loads((vault.root / NOTE).read_text())]
    assert noted.count(place) == 3
    assert [each["table"] for each in noted if each != place] == ["talks", "thoughts"]  # `other` has no such tables
    assert "names another" in reach_again(other, long_term=True) and rows(server) == ["alice", "bob", "carol"]
    reach_again(vault, long_term=True)
    assert rows(server) == [] and address not in (vault.root / NOTE).read_text()
    used.write_text("[")
    assert any("postgres-used is damaged" in line for line in status(vault).degraded)
    record_turn(vault, "erin", "hello", "hi", conversation_id="erin")
    with pytest.raises(UsageError, match="postgres-used is damaged"):
        flush_long_term(vault)
    assert rows(server) == []
    assert any("is damaged" in line for line in erase(vault, of_user(vault, "erin", long_term=True)).problems)


def test_a_postgres_is_known_by_the_variables_that_name_it(
    opened: Callable[..., Vault], server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of what an address lacks libpq's variables have the rest."""
    monkeypatch.setenv("PGPORT", str(server.port))
    monkeypatch.setenv("PGDATABASE", "elsewhere")
    assert opened("postgresql://postgres@127.0.0.1").database_address == f"postgres@127.0.0.1:{server.port}/elsewhere"
    assert opened("postgresql://postgres@127.0.0.1:9/x").database_address == "postgres@127.0.0.1:9/x"
    monkeypatch.setenv("PGHOST", "db.example")
    assert opened("postgresql:///x").database_address.endswith(f"@db.example:{server.port}/x")


@pytest.mark.parametrize("damage", [b"", b"{}", b'""', b"[{", None], ids=["empty", "object", "text", "half", "folder"])
def test_a_damaged_note_of_what_is_to_be_erased_is_told(
    opened: Callable[..., Vault], server: PostgresServer, damage: bytes | None
) -> None:
    """It does not count as done, nor does a list of used stores that was emptied count as if none was ever used."""
    vault = opened(server.url)
    record_turn(vault, "alice", SECRET, "ok")
    for path in (vault.root / NOTE, vault.root / ".vault-memory/postgres-used"):
        if damage is None:
            path.mkdir()
        else:
            path.write_bytes(damage)
        assert any(f"{path.name} is damaged" in line for line in status(vault).degraded)
    assert "is damaged" in reach_again(vault, long_term=True) and "is damaged" in still_to_erase(vault)
    assert (vault.root / NOTE).exists()
    with pytest.raises(UsageError, match="postgres-used is damaged"):
        flush_long_term(vault)


def test_what_was_erased_is_not_written_by_a_program(opened: Callable[..., Vault], server: PostgresServer) -> None:
    """As it is not recorded: no turn of that user, and none that says the text."""
    vault = opened(server.url)
    for user in ("alice", "eve"):
        record_turn(vault, user, f"{SECRET} {user}", "ok")
    erase(vault, of_user(vault, "eve"))
    erase(vault, of_texts(vault, "alice", [SECRET]))
    made = {"conversation_id": "c", "created_at": "2026-01-30T09:12:00+08:00", "assistant_message": "a"}
    fine = {**made, "user_id": "bob", "user_message": SECRET}
    for user, said, why in (
        ("Eve", "hello", "was erased"),
        ("alice", f"well: {SECRET}", "holds a text that was erased"),
    ):
        with pytest.raises(UsageError, match=why):
            persist_long_term(vault, [fine, {**made, "user_id": user, "user_message": said}])
        with pytest.raises(UsageError, match=why):
            store_short_term(vault, "c", user, said, "a")
    with pytest.raises(UsageError, match="was erased"):
        update_session(vault, "eve", "s1", message="hello")
    with pytest.raises(UsageError, match="was erased"):
        rename_user(vault, "alice", "Eve")
    assert rows(server) == [] and load_recent_context(vault, "c") is None and vault.user_ids() == ["alice"]
    assert persist_long_term(vault, [fine]) == 1


def test_rows_of_a_user_who_is_erased_can_still_be_erased(opened: Callable[..., Vault], server: PostgresServer) -> None:
    """The receipt names the command, and it is one that is there still."""
    vault = opened(server.url)
    for user in ("alice", "bob"):
        record_turn(vault, user, "hello", "hi", conversation_id=user)
    flush_long_term(vault)
    receipt = erase(vault, of_user(vault, "bob"))
    assert any("`vault-memory erase --user bob --long-term`" in line for line in receipt.out_of_reach)
    with pytest.raises(NotFound):
        of_user(vault, "carol", long_term=True)
    assert erase(vault, of_user(vault, "bob")).rows == 0
    receipt = erase(vault, of_user(vault, "bob", long_term=True))
    assert receipt.rows == 1 and receipt.problems == () and receipt.left == ()
    assert rows(server) == ["alice"]


_NEVER = "CREATE OR REPLACE FUNCTION never() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {} END $$"
_ASKED = (
    "CREATE TRIGGER never BEFORE DELETE ON talks FOR EACH ROW WHEN (OLD.chat LIKE 'said%') EXECUTE FUNCTION never()"
)
REFUSALS = {
    "foreign key": (
        "CREATE TABLE refs (c text, a timestamptz, FOREIGN KEY (c, a) REFERENCES talks (chat, at))",
        "INSERT INTO refs SELECT chat, at FROM talks WHERE chat LIKE 'said%'",
    ),
    "a trigger's error": (_NEVER.format("RAISE EXCEPTION 'never';"), _ASKED),
    "an error of no class": (_NEVER.format("RAISE EXCEPTION 'never' USING ERRCODE = 'XY123';"), _ASKED),
    "a silent trigger": (_NEVER.format("RETURN NULL;"), _ASKED),
    "a rule": ("CREATE RULE never AS ON DELETE TO talks WHERE OLD.chat LIKE 'said%' DO INSTEAD NOTHING",),
    "a trigger that brings it back": (
        _NEVER.format("INSERT INTO talks SELECT OLD.*; RETURN NULL;"),
        _ASKED.replace("BEFORE", "AFTER"),
    ),
}


@pytest.mark.parametrize("refusal", REFUSALS)
def test_a_database_that_refuses_to_delete_is_a_problem_and_waits(
    opened: Callable[..., Vault], server: PostgresServer, refusal: str
) -> None:
    """Files and history are erased all the same, other rows go, no command fails, and each round names it until the
    database lets the rows go."""
    vault = opened(server.url)
    for name in ("said-1", "said-2", "zz"):
        record_turn(vault, "alice", SECRET, "ok", conversation_id=name)
    flush_long_term(vault)
    for statement in REFUSALS[refusal]:
        server.sql(statement)
    try:
        receipt = erase(vault, of_texts(vault, "alice", [SECRET], long_term=True))
        assert any("PostgreSQL at 127.0.0.1" in line and "until then" in line for line in receipt.problems)
        assert receipt.left == () and not (vault.root / ".vault-memory/erasing").exists()
        if refusal != "an error of no class":  # it may be of the server as a whole
            assert rows(server) == ["said-1", "said-2"] and receipt.rows == 1
            assert any("kept 2 rows" in line for line in receipt.problems)
        record_turn(opened(server.url), "alice", "and next", "ok", conversation_id="next")
        for _ in range(2):
            assert "still to be erased in PostgreSQL" in reach_again(vault, long_term=True)
            assert flush_long_term(vault).waiting == 0
        assert {"said-1", "said-2"} <= {*rows(server)}
    finally:
        server.sql(
            "DROP TABLE IF EXISTS refs; DROP TRIGGER IF EXISTS never ON talks; DROP RULE IF EXISTS never ON talks"
        )
    assert reach_again(vault, long_term=True) == "" and rows(server) == ["next"]
    assert not (vault.root / NOTE).exists()


def test_rows_that_a_policy_keeps_are_told(opened: Callable[..., Vault], server: PostgresServer) -> None:
    """Supabase's form: SELECT and INSERT have a policy, DELETE has none."""
    server.sql("DROP ROLE IF EXISTS writer")
    server.sql("CREATE ROLE writer LOGIN PASSWORD 'pw'")
    try:
        server.sql("GRANT SELECT, INSERT, UPDATE ON talks, thoughts TO writer")
        vault = opened(server.url.replace("postgres:open-sesame", "writer:pw"))
        record_turn(vault, "alice", SECRET, "ok", conversation_id="said")
        flush_long_term(vault)
        (told,) = erase(vault, of_texts(vault, "alice", [SECRET], long_term=True)).problems
        assert "grant it SELECT and DELETE" in told and "INSERT" not in told
        server.sql("GRANT DELETE ON talks, thoughts TO writer; ALTER TABLE talks ENABLE ROW LEVEL SECURITY")
        server.sql("CREATE POLICY seen ON talks FOR SELECT USING (true)")
        assert "kept 1 rows: a policy or trigger" in reach_again(vault, long_term=True)
        assert rows(server) == ["said"]
        server.sql("CREATE POLICY gone ON talks FOR DELETE USING (true)")
        assert reach_again(vault, long_term=True) == "" and rows(server) == []
    finally:
        server.sql("DROP TABLE talks, thoughts; DROP OWNED BY writer; DROP ROLE writer")


def test_sessions_are_in_utf8_whatever_the_variables_say(
    opened: Callable[..., Vault], server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGCLIENTENCODING", "LATIN1")
    vault = opened(server.url)
    record_turn(vault, "alice", SECRET, "好", conversation_id="said")
    assert flush_long_term(vault).waiting == 0 and rows(server) == ["said"]
    receipt = erase(vault, of_texts(vault, "alice", [SECRET], long_term=True))
    assert receipt.rows == 1 and receipt.problems == ()


def test_a_column_that_takes_no_id_is_a_problem(opened: Callable[..., Vault], server: PostgresServer) -> None:
    server.sql("ALTER TABLE talks ALTER who TYPE uuid USING NULL")
    vault = opened(server.url)
    record_turn(vault, "alice", SECRET, "ok", conversation_id="said")
    (told,) = erase(vault, of_texts(vault, "alice", [SECRET], long_term=True)).problems
    assert "22P02" in told and "until then" in told
    assert "22P02" in reach_again(opened(server.url), long_term=True)


def test_two_servers_of_one_address_are_two(
    opened: Callable[..., Vault], server: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A service of libpq's file leads to another server one day: what waits for the first is not done there, and an
    erasing there names the first. With a note in the form of before, an address alone, it is as it was."""
    services = tmp_path / "services"
    monkeypatch.setenv("PGSERVICEFILE", str(services))

    def lead_to(port: int) -> None:
        services.write_text(
            f"[one]\nhost=127.0.0.1\nport={port}\ndbname=postgres\nuser=postgres\npassword={server.password}\n"
        )

    vault = opened("postgresql://?service=one")
    assert "service=one" in vault.database_address
    lead_to(server.port)
    for user in ("alice", "bob"):
        record_turn(vault, user, SECRET, "ok", conversation_id=user)
    flush_long_term(vault)
    lead_to(1)
    (told,) = erase(vault, of_user(vault, "alice", long_term=True)).problems
    assert "until then" in told and "does not name it" not in told
    other = PostgresServer()
    try:
        for name in ("talks", "thoughts"):
            other.sql(f"CREATE TABLE {name} {TABLE}, UNIQUE (chat, at))")
        lead_to(other.port)
        assert "another server or table" in reach_again(vault, long_term=True)
        (told,) = erase(vault, of_user(vault, "bob", long_term=True)).problems
        assert "table public.talks, which this vault has used, was not asked" in told
    finally:
        other.remove()
    assert rows(server) == ["alice", "bob"]
    lead_to(server.port)
    assert reach_again(vault, long_term=True) == "" and rows(server) == [] and not (vault.root / NOTE).exists()


def test_two_tables_of_one_database_are_two(opened: Callable[..., Vault], server: PostgresServer) -> None:
    """Whether the mapping names another, or the search path leads to another."""
    server.sql("DROP SCHEMA IF EXISTS b CASCADE")
    server.sql("CREATE SCHEMA b")
    server.sql(f"CREATE TABLE b.talks {TABLE}, UNIQUE (chat, at))")
    mapped = {"MEMORY_TABLE_MAP": '{"conversations": "talks"}'}
    vault = opened(server.url, **mapped)
    for user in ("alice", "bob"):
        record_turn(vault, user, SECRET, "ok", conversation_id=user)
    flush_long_term(vault)
    server.kill()
    try:
        erase(vault, of_user(vault, "alice", long_term=True))
    finally:
        server.start()
    for other in (
        opened(server.url, MEMORY_TABLE_MAP='{"conversations": "b.talks"}'),
        opened(f"{server.url}?options=-csearch_path%3Db", **mapped),
    ):
        assert "another server or table" in reach_again(other, long_term=True)
    (told,) = erase(other, of_user(other, "bob", long_term=True)).problems
    assert "table public.talks, which this vault has used, was not asked" in told and "MEMORY_TABLE_MAP" in told
    assert rows(server) == ["alice", "bob"]
    assert reach_again(vault, long_term=True) == "" and rows(server) == [] and not (vault.root / NOTE).exists()


def test_notes_that_have_an_address_alone_count_as_before(opened: Callable[..., Vault], server: PostgresServer) -> None:
    vault = opened(server.url)
    for user in ("alice", "bob", "carol"):
        record_turn(vault, user, SECRET, "ok", conversation_id=user)
    flush_long_term(vault)
    used, address = vault.root / ".vault-memory/postgres-used", vault.database_address
    used.write_text(json.dumps([address, "postgres@former:5432/postgres"]))
    (told,) = erase(vault, of_user(vault, "alice", long_term=True)).problems
    assert "PostgreSQL at postgres@former:5432/postgres, which this vault has used, was not asked" in told
    used.write_text(json.dumps([address]))
    server.kill()
    try:
        erase(vault, of_user(vault, "bob", long_term=True))
    finally:
        server.start()
    noted = json.loads((vault.root / NOTE).read_text())
    assert [each["at"] for each in noted] == ["postgres@former:5432/postgres", address]
    (vault.root / NOTE).write_text(json.dumps(noted[1:]))
    assert reach_again(vault, long_term=True) == "" and rows(server) == ["carol"] and not (vault.root / NOTE).exists()


def test_a_server_that_does_not_say_which_it_is_is_known_by_where_it_is(
    opened: Callable[..., Vault], server: PostgresServer
) -> None:
    server.sql("CREATE ROLE guest LOGIN PASSWORD 'pw'")
    server.sql("REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC")
    try:
        server.sql("GRANT SELECT, INSERT, UPDATE, DELETE ON talks, thoughts TO guest")
        vault = opened(server.url.replace("postgres:open-sesame", "guest:pw"))
        record_turn(vault, "alice", SECRET, "ok", conversation_id="said")
        flush_long_term(vault)
        (place,) = json.loads((vault.root / ".vault-memory/postgres-used").read_text())
        assert place["server"] == f"127.0.0.1 127.0.0.1 {server.port}"
        assert erase(vault, of_user(vault, "alice", long_term=True)).problems == () and rows(server) == []
    finally:
        server.sql("GRANT EXECUTE ON FUNCTION pg_control_system() TO PUBLIC; DROP OWNED BY guest; DROP ROLE guest")
