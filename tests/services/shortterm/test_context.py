"""Turns in the short-term store, embedded and in a real Redis that is killed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

import vault_memory
from tests.redis_server import RedisServer
from vault_memory.adapters.shortterm.mirrored import RETRY_AFTER_S
from vault_memory.errors import NotFound, UsageError
from vault_memory.services.admin import doctor, rename_user, status, to_trust, trust
from vault_memory.services.admin.checks import CHECKS
from vault_memory.services.admin.doctor import Finding
from vault_memory.services.learning import session_context, update_session
from vault_memory.services.turns import add_reply, record_turn, save_conversation
from vault_memory.services.vault import Vault, open_vault

REFLECTION = {"summary": "went well", "causes": ["tests first"]}


@pytest.fixture
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    server = RedisServer(tmp_path_factory.mktemp("redis"))
    yield server
    server.kill()


@pytest.fixture
def with_redis(vault: Vault, server: RedisServer) -> Vault:
    return open_vault(vault.root, now=vault.now, environ={"REDIS_URL": server.url})


def test_what_is_stored_can_be_loaded(vault: Vault) -> None:
    """D3: store_short_term 写入后能 load_recent_context 取回"""
    vault_memory.store_short_term(vault, "c1", "alice", "你好 🌊", "hello", REFLECTION)
    found = vault_memory.load_recent_context(vault, "c1")
    assert found is not None
    tokens = found.pop("token_data")
    assert abs(found.pop("ts") - vault.now().timestamp()) < 60
    assert found == {
        "user_msg": "你好 🌊",
        "assistant_msg": "hello",
        "reflection": REFLECTION,
        "user_id": "alice",
    }
    assert tokens["user"] and tokens["reflection"] and tokens["encoding"]
    assert vault_memory.load_recent_context(vault, "c2") is None
    vault_memory.store_short_term(vault, conversation_id="c2", user_id="alice", user_msg=None, assistant_msg=None)
    assert (vault_memory.load_recent_context(vault, "c2") or {})["token_data"]["user"] == []


@pytest.mark.parametrize("is_shared", [False, True])
def test_a_turn_of_a_wrong_clock_does_not_stay(vault: Vault, server: RedisServer, is_shared: bool) -> None:
    """One whose time is in the future gives way to what is said now; one of a clock that differs a little does not."""
    vault = open_vault(vault.root, now=vault.now, environ={"REDIS_URL": server.url} if is_shared else {})
    for minutes, stays in ((60 * 24 * 365, False), (2, True)):
        later = (vault.now() + timedelta(minutes=minutes)).isoformat()
        record_turn(vault, "alice", "from the future", "x", conversation_id=f"c{minutes}", created_at=later)
        record_turn(vault, "alice", "now", "x", conversation_id=f"c{minutes}")
        found = vault_memory.load_recent_context(vault, f"c{minutes}") or {}
        assert found["user_msg"] == ("from the future" if stays else "now")


def test_it_stays_two_days_or_as_long_as_the_settings_say(vault: Vault) -> None:
    """D3, D7: TTL 172800 s; MEMORY_REDIS_TTL_SECONDS"""
    short = open_vault(vault.root, now=vault.now, environ={"MEMORY_REDIS_TTL_SECONDS": "60"})
    vault_memory.store_short_term(vault, "c1", "alice", "long", "x", None)
    vault_memory.store_short_term(short, "c2", "alice", "short", "x", None)
    later = replace(vault, now=lambda: vault.now() + timedelta(seconds=61))
    assert vault_memory.load_recent_context(later, "c2") is None
    assert vault_memory.load_recent_context(later, "c1")
    much_later = replace(vault, now=lambda: vault.now() + timedelta(seconds=172_801))
    assert vault_memory.load_recent_context(much_later, "c1") is None


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("MEMORY_REDIS_TTL_SECONDS", "two days"),
        ("MEMORY_REDIS_TTL_SECONDS", "0"),
        ("MEMORY_FLUSH_BATCH_SIZE", "0"),
        ("MEMORY_TABLE_MAP", """'{"conversations":"conv2"}'"""),
        ("VAULT_MEMORY_LONGTERM_ENABLED", "perhaps"),
        ("VAULT_MEMORY_LONGTERM_ENABLED", "true"),
        ("REDIS_URL", "redis://:hidden@127.0.0.1:1/0?family=6"),
    ],
)
def test_a_wrong_setting_of_a_store_loses_no_turn(vault: Vault, variable: str, value: str) -> None:
    """A8, D7: the turn is kept, the default counts, and `status` and `doctor` say which variable it is."""
    wrong = open_vault(vault.root, now=vault.now, environ={variable: value})
    done = record_turn(wrong, "alice", "hello", "hi", conversation_id="c1")
    named = "longterm.enabled" if value == "true" else variable
    assert done.source and any(named in line for line in done.degraded)
    assert any(named in line for line in status(wrong).degraded)
    assert any(named in found.message and not found.ok for found in doctor(wrong))
    assert (vault_memory.load_recent_context(wrong, "c1") or {})["user_msg"] == "hello"
    assert update_session(wrong, "alice", "s1", "quiz").recent_intents == ("quiz",)
    assert wrong.config.shortterm_ttl_s == 172_800 and not wrong.config.longterm_enabled
    assert "hidden" not in str(done.degraded)
    if variable == "MEMORY_TABLE_MAP":
        assert any("JSON" in line and "without quotes around it" in line for line in done.degraded)


@pytest.mark.parametrize(
    "variable", ["MEMORY_REDIS_TTL_SECONDS", "MEMORY_TABLE_MAP", "MEMORY_FLUSH_BATCH_SIZE", "REDIS_URL"]
)
def test_an_empty_variable_is_none(vault: Vault, variable: str) -> None:
    empty = open_vault(vault.root, now=vault.now, environ={variable: ""})
    assert record_turn(empty, "alice", "hello", "hi").degraded == record_turn(vault, "alice", "hi", "hi").degraded
    assert empty.config.waits() == []


@pytest.mark.parametrize(
    ("conversation_id", "user_id", "named"), [("", "alice", "conversation_id"), ("c1", "", "user id"), (7, "alice", "")]
)
def test_without_an_id_nothing_is_stored(vault: Vault, conversation_id: str, user_id: str, named: str) -> None:
    with pytest.raises(UsageError, match=named):
        vault_memory.store_short_term(vault, conversation_id, user_id, "x", "y", None)
    with pytest.raises(UsageError):
        vault_memory.load_recent_context(vault, "")


def test_no_secret_and_nothing_off_the_record_is_stored(vault: Vault) -> None:
    vault_memory.store_short_term(vault, "c1", "alice", "my password is Tunes-2020-x9", "noted: Tunes-2020-x9", None)
    assert "Tunes" not in json.dumps(vault_memory.load_recent_context(vault, "c1"))
    off = replace(vault, config=replace(vault.config, off_record=["alice"]))
    vault_memory.store_short_term(off, "c2", "alice", "x", "y", None)
    assert vault_memory.load_recent_context(off, "c2") is None


def test_every_kept_turn_is_at_hand(vault: Vault) -> None:
    """D3: whichever door it comes through, whole, and the later one wherever it comes first"""
    vault_memory.store_conversation(vault, "c1", "alice", "hello", "hi there", REFLECTION)
    found = vault_memory.load_recent_context(vault, "c1")
    assert found and (found["user_msg"], found["reflection"]) == ("hello", REFLECTION)
    assert [turn["user"] for turn in vault_memory.get_conversation_history(vault, "alice")] == ["hello"]
    old = vault.now() - timedelta(hours=1)
    record_turn(vault, "alice", "before", "x", conversation_id="c1", created_at=old)
    assert (vault_memory.load_recent_context(vault, "c1") or {})["user_msg"] == "hello"
    record_turn(vault, "alice", "long ago", "x", conversation_id="c2", created_at=vault.now() - timedelta(days=3))
    assert vault_memory.load_recent_context(vault, "c2") is None
    begun = record_turn(vault, "alice", "question", None, conversation_id="c3")
    assert vault_memory.load_recent_context(vault, "c3") is None
    add_reply(vault, "alice", begun.source, "answer", 0)
    assert (vault_memory.load_recent_context(vault, "c3") or {})["assistant_msg"] == "answer"
    record_turn(vault, "alice", "ask", "a" * 500, conversation_id="c4")
    save_conversation(vault, "alice", "ask", "a" * 500 + " and the rest")
    assert (vault_memory.load_recent_context(vault, "c4") or {})["assistant_msg"].endswith(" and the rest")


def test_other_programs_find_turns_in_redis(with_redis: Vault, server: RedisServer) -> None:
    """A8, D3: keys, forms and times to live are those of the designs."""
    vault_memory.store_conversation(with_redis, "c1", "alice", "hello", "hi there", REFLECTION)
    latest = json.loads(str(server.client.get("conv:c1:latest")))
    assert list(latest) == ["user_msg", "assistant_msg", "reflection", "token_data", "user_id", "ts"]
    assert 172_790 < server.client.ttl("conv:c1:latest") <= 172_800
    (entry,) = map(json.loads, server.client.lrange("conversation:alice", 0, -1))
    assert (entry.keys(), entry["user"]) == ({"timestamp", "user", "assistant", "backend"}, "hello")
    assert 7_775_990 < server.client.ttl("conversation:alice") <= 7_776_000
    (pending,) = map(json.loads, server.client.lrange("pending:list", 0, -1))
    assert pending["created_at"] == entry["timestamp"] and pending["token_data"] == latest["token_data"]
    assert pending["assistant_message"] == "hi there" and pending["reflection"] == REFLECTION
    record_turn(with_redis, "alice", "please don't remember that I moved to Berlin", "ok", conversation_id="c2")
    assert server.client.llen("conversation:alice") == 1 and not server.client.exists("conv:c2:latest")
    vault_memory.store_short_term(with_redis, "c3", "alice", "please don't remember that I moved to Berlin", "ok")
    assert not server.client.exists("conv:c3:latest")
    rename_user(with_redis, "alice", "alicia")
    assert not server.client.exists("conversation:alice")


def test_redis_is_killed_and_no_word_is_lost(with_redis: Vault, server: RedisServer) -> None:
    """Acceptance row 4: Redis 重啟後 JSONL 備份檔仍保留對話紀錄; and what it missed, it gets."""
    assert status(with_redis).degraded == ()
    record_turn(with_redis, "alice", "one", "1", conversation_id="c1")
    server.kill()
    recorded = record_turn(with_redis, "alice", "two", "2", conversation_id="c1")
    assert any(f"Redis at 127.0.0.1:{server.port}: it cannot be reached" in line for line in recorded.degraded)
    assert any("cannot be reached" in line for line in status(with_redis).degraded)
    assert (vault_memory.load_recent_context(with_redis, "c1") or {})["user_msg"] == "two"
    server.start()
    told = [turn["user"] for turn in vault_memory.get_conversation_history(with_redis, "alice")]
    assert told == ["one", "two"]
    again = open_vault(with_redis.root, now=with_redis.now, environ=with_redis.environ)  # another process
    assert status(again).degraded == () and RETRY_AFTER_S < 5
    assert json.loads(str(server.client.get("conv:c1:latest")))["user_msg"] == "two"
    assert [json.loads(each)["user"] for each in server.client.lrange("conversation:alice", 0, -1)] == ["two"]


def test_a_wrong_password_loses_nothing(vault: Vault, server: RedisServer) -> None:
    wrong = open_vault(vault.root, now=vault.now, environ={"REDIS_URL": server.url.replace("open-sesame", "guess")})
    recorded = record_turn(wrong, "alice", "one", "1", conversation_id="c1")
    assert any("refuses the password in REDIS_URL" in line for line in recorded.degraded)
    assert "guess" not in str(recorded) and vault_memory.load_recent_context(wrong, "c1")


def test_an_address_in_the_file_needs_a_yes(vault: Vault, server: RedisServer, tmp_path: Path) -> None:
    """A vault that came from elsewhere sends no turn to its sender's Redis."""
    settings = vault.root / "vault-memory.toml"
    own = settings.read_text()
    server.client.config_set("requirepass", "")
    address = 'redis_url = "redis://{}/0"'
    settings.write_text(own.replace("[shortterm]", f"[shortterm]\n{address.format(f'127.0.0.1:{server.port}')}"))
    waiting = open_vault(vault.root, now=vault.now, environ={})
    record_turn(waiting, "alice", "one", "1", conversation_id="c1")
    assert server.client.keys() == [] and any("shortterm.redis_url" in line for line in waiting.config.waits())
    trust(waiting, [each for each in to_trust(waiting) if each.key == "shortterm.redis_url"])
    record_turn(open_vault(vault.root, now=vault.now, environ={}), "alice", "two", "2", conversation_id="c1")
    assert server.client.exists("conv:c1:latest")
    settings.write_text(own.replace("[shortterm]", f"[shortterm]\n{address.format(':secret@127.0.0.1')}"))
    refused = open_vault(vault.root, environ={})
    assert refused.redis_url == "" and "must have no password in it" in str(refused.config.waits())
    assert "secret" not in str(refused.config.waits())


def test_status_and_doctor_say_where_the_store_is(vault: Vault, with_redis: Vault, server: RedisServer) -> None:
    """Issue: the stores are shown, with the reason when Redis is away, and without its password."""
    assert status(vault).stores == {"short-term": "embedded"}
    assert server.password not in str(status(with_redis))
    assert status(with_redis).stores["short-term"].startswith("Redis at 127.0.0.1:") and _check(with_redis).ok
    server.kill()
    found = _check(with_redis)
    assert not found.ok and "cannot be reached" in found.message and server.password not in str(found)


@pytest.mark.parametrize(
    "url",
    [
        "redis://:SEC?Hunter2Zq@127.0.0.1:6379/0",
        "redis://:SEC#Hunter2Zq@127.0.0.1:6379/0",
        "redis://:SEC/Hunter2Zq@127.0.0.1:6379/0",
        "redis:Hunter2Zq@127.0.0.1",
        "Hunter2Zq",
        "redis://127.0.0.1:1/Hunter2Zq",
        "rediss://Hunter2Zq:Hunter2Zq@[::1/0",
        "redis://:x@Hunter2Zq/y@127.0.0.1:6379/0",
        "redis://:x@Hunter2Zq#1@127.0.0.1:6379/0",
    ],
)
def test_of_an_address_that_cannot_be_read_nothing_is_shown(vault: Vault, url: str) -> None:
    wrong = open_vault(vault.root, now=vault.now, environ={"REDIS_URL": url})
    recorded = record_turn(wrong, "alice", "one", "1", conversation_id="c1")
    assert recorded.degraded and "hunter2zq" not in f"{recorded} {status(wrong)} {_check(wrong)}".lower()


def test_a_key_that_another_program_has_taken_is_told_and_made_up_for(with_redis: Vault, server: RedisServer) -> None:
    server.client.set("conversation:alice", "theirs")
    for number in range(3):
        recorded = record_turn(with_redis, "alice", f"turn {number}", "x", conversation_id="c1")
        assert any("of another kind" in line for line in recorded.degraded)
    again = open_vault(with_redis.root, now=with_redis.now, environ=with_redis.environ)
    assert any("of another kind" in line for line in status(again).degraded) and not _check(again).ok
    server.client.delete("conversation:alice")
    record_turn(again, "alice", "turn 3", "x", conversation_id="c1")
    kept = [json.loads(each)["user"] for each in server.client.lrange("conversation:alice", 0, -1)]
    assert kept == [f"turn {number}" for number in range(4)] and status(again).degraded == ()
    assert server.client.llen("pending:list") == 4


def test_a_taken_key_of_a_conversation_or_a_session(with_redis: Vault, server: RedisServer) -> None:
    server.client.rpush("conv:c1:latest", "theirs")
    server.client.rpush("session:s456", "theirs")
    recorded = record_turn(with_redis, "alice", "two", "2", conversation_id="c1")
    assert any("of another kind" in line for line in recorded.degraded)
    assert (vault_memory.load_recent_context(with_redis, "c1") or {})["user_msg"] == "two"
    assert update_session(with_redis, "", "s456", intent="quiz").recent_intents == ("quiz",)
    assert any("of another kind" in line for line in status(with_redis).degraded)
    server.client.delete("conv:c1:latest", "session:s456")
    assert status(with_redis).degraded == ()
    assert "two" in str(server.client.get("conv:c1:latest")) and "quiz" in str(server.client.get("session:s456"))


def test_a_value_of_another_program_is_not_overwritten(with_redis: Vault, server: RedisServer) -> None:
    """Of our kind, and yet not ours: it is told, the embedded store serves, and what was missed is made up for."""
    theirs = json.dumps({"user": {"name": "theirs"}, "ts": "noon"})
    server.client.set("conv:c1:latest", theirs)
    server.client.set("session:s456", "[]")
    server.client.rpush("pending:list", "a job", "another job")
    server.client.rpush("conversation:alice", '{"role": "user"}')
    keys = ("conv:c1:latest", "session:s456", "pending:list", "conversation:alice")

    def held() -> list[object]:
        return [*map(server.client.get, keys[:2]), *(server.client.lrange(key, 0, -1) for key in keys[2:])]

    before = held()
    record_turn(with_redis, "alice", "one", "1", conversation_id="c1")
    recorded = record_turn(with_redis, "alice", "two", "2", conversation_id="c1")
    for key in ("conv:c1:latest", "pending:list", "conversation:alice"):
        assert any(f"{key!r} of Redis" in line and "another program" in line for line in recorded.degraded)
    assert (vault_memory.load_recent_context(with_redis, "c1") or {})["user_msg"] == "two"
    assert update_session(with_redis, "", "s456", intent="quiz").recent_intents == ("quiz",)
    assert any("another program uses it" in line for line in status(with_redis).degraded)
    assert held() == before and {server.client.ttl(key) for key in keys} == {-1}
    server.client.delete(*keys)
    assert status(with_redis).degraded == ()
    assert [json.loads(each)["user"] for each in server.client.lrange("conversation:alice", 0, -1)] == ["one", "two"]
    assert server.client.llen("pending:list") == 2 and "two" in str(server.client.get("conv:c1:latest"))
    assert "quiz" in str(server.client.get("session:s456"))


@pytest.mark.parametrize(
    "theirs",
    [
        '{"cookie": {"originalMaxAge": 86400000, "path": "/"}, "passport": {"user": "42"}}',
        '{"cart": {"items": [1, 2]}, "theme": {"dark": true}}',
        '{"s456": {"updated_at": "2026-01-30T09:00:00+08:00"}}',
        "{}",
    ],
)
def test_a_session_of_another_program_is_not_overwritten(with_redis: Vault, server: RedisServer, theirs: str) -> None:
    """A web server keeps its sessions under the same names, as objects of objects."""
    for user_id, key in (("", "session:s456"), ("alice", "sessions:alice")):
        server.client.set(key, theirs)
        update_session(with_redis, user_id, "s456", intent="quiz")
        assert update_session(with_redis, user_id, "s456", intent="hint").recent_intents == ("quiz", "hint")
        assert (server.client.get(key), server.client.ttl(key)) == (theirs, -1)
        server.client.delete(key)
        assert update_session(with_redis, user_id, "s456", intent="next").recent_intents[-1] == "next"
        assert "next" in str(server.client.get(key))


def test_a_renamed_user_takes_along_what_is_ours(with_redis: Vault, server: RedisServer) -> None:
    record_turn(with_redis, "alice", "mine", "1", conversation_id="c1")
    update_session(with_redis, "alice", "s1", intent="quiz")
    server.client.rpush("conversation:alice", "a job of theirs")
    server.client.set("sessions:alicia", "theirs")
    told = "\n".join(rename_user(with_redis, "alice", "alicia"))
    assert "'conversation:alice'" in told and "'sessions:alicia'" in told and "another program" in told
    assert server.client.lrange("conversation:alice", 0, -1) == ["a job of theirs"]
    assert server.client.get("sessions:alicia") == "theirs" and server.client.get("sessions:alice") is None
    assert session_context(with_redis, "alicia", "s1").recent_intents == ("quiz",)


def test_a_renaming_while_redis_is_away_leaves_nothing_to_the_next_of_that_id(
    with_redis: Vault, server: RedisServer
) -> None:
    """It answers nothing for a while and keeps what it has; `status` says what is still to go there."""
    record_turn(with_redis, "alice", "the first alice", "1", conversation_id="c1")
    update_session(with_redis, "alice", "s1", intent="quiz")
    with server.held():
        told = "\n".join(rename_user(with_redis, "alice", "alicia"))
        assert "removes conversation:alice" in told and "no answer" in told
        assert any("still to be removed there" in line for line in status(with_redis).degraded)
    assert server.client.llen("conversation:alice") == 1
    again = open_vault(with_redis.root, now=with_redis.now, environ=with_redis.environ)
    record_turn(again, "alice", "the second alice", "1", conversation_id="c2")
    assert [json.loads(each)["user"] for each in server.client.lrange("conversation:alice", 0, -1)] == [
        "the second alice"
    ]
    with pytest.raises(NotFound):
        session_context(again, "alice", "s1")
    assert session_context(again, "alicia", "s1").recent_intents == ("quiz",)
    assert status(again).degraded == () and server.client.get("sessions:alice") is None


def test_a_whole_turn_without_an_answer_is_kept(with_redis: Vault, server: RedisServer) -> None:
    """D3: every text of a turn may be None."""
    vault_memory.store_conversation(with_redis, "c1", "alice", "only I spoke", None, {"summary": "s", "causes": []})
    record_turn(with_redis, "alice", "I am asked", None, conversation_id="c2")
    assert (vault_memory.load_recent_context(with_redis, "c1") or {})["user_msg"] == "only I spoke"
    assert vault_memory.load_recent_context(with_redis, "c2") is None, "its answer may come"
    assert server.client.llen("conversation:alice") == server.client.llen("pending:list") == 1


def test_a_name_that_is_no_encoding_is_told(vault: Vault) -> None:
    wrong = open_vault(vault.root, now=vault.now, environ={"TOKENIZER_NAME": "nope"})
    assert any("'nope' is none that tiktoken knows" in line for line in status(wrong).degraded)
    assert not _check(wrong).ok and _check(vault).ok


def _check(vault: Vault) -> Finding:
    (found,) = doctor(vault, checks=[each for each in CHECKS if each.name == "stores"])
    return found


def test_what_is_delivered_twice_is_there_once(with_redis: Vault, server: RedisServer) -> None:
    """D3, bad input: a turn has a name, its conversation and its time; a second delivery adds nothing."""
    at = with_redis.now()
    for _ in range(2):
        vault_memory.store_short_term(with_redis, "c0", "alice", "hello", "hi")
        record_turn(with_redis, "alice", "hello", "hi", conversation_id="c1", created_at=at)
    assert len(vault_memory.get_conversation_history(with_redis, "alice")) == 1
    assert server.client.llen("conversation:alice") == server.client.llen("pending:list") == 1
    assert (vault_memory.load_recent_context(with_redis, "c0") or {})["user_msg"] == "hello"
