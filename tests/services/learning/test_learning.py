"""C1, C2, C3, C5: the learning profile in its file and history, the contexts of sessions, and the summary."""

from __future__ import annotations

import json
import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Clock
from tests.redis_server import RedisServer
from tests.services.memories.conftest import Home
from tests.vaults import write
from vault_memory.core.learning import sessions_key
from vault_memory.errors import InvalidId, NotFound, UsageError
from vault_memory.services.admin import status
from vault_memory.services.admin.users import rename_user
from vault_memory.services.learning import (
    learning_profile,
    memory_summary,
    rename_sessions,
    session_context,
    update_session,
    update_user,
)
from vault_memory.services.retrieval import SearchQuery, search
from vault_memory.services.turns import record_turn
from vault_memory.services.vault import Vault, open_vault

LIMITS = "微积分-极限"


def quiz(rate: float = 0.4, topic: str = LIMITS, difficulty: str = "easy") -> dict[str, Any]:
    metadata = {"difficulty": difficulty, "correct_rate": rate}
    return {"intent": "quiz", "topic": topic, "artifact": "quiz_set", "metadata": metadata}


@pytest.fixture
def home(vault: Vault) -> Home:
    return Home(vault)


def test_the_event_of_the_design(vault: Vault) -> None:
    """C1, C5: mastery, count and topics as the design says, in a file that a person reads."""
    done = update_user(vault, "u123", quiz())
    assert done.as_dict() == {
        "user_id": "u123",
        "mastery": {LIMITS: "medium"},
        "preferences": {"preferred_artifact": None, "difficulty_preference": None},
        "history": {"quiz_sessions": 1, "homework_help_count": 0, "topics_visited": [LIMITS]},
        "updated_at": "2026-01-30T14:05:01+08:00",
    }
    text = (vault.root / "memory/u123/LEARNING.md").read_text()
    assert f"| {LIMITS} | medium | 0.48 | 2026-01-30 |" in text and "## 掌握程度" in text and "- 测验次数：1" in text
    assert learning_profile(vault, "u123") == done.profile
    assert search(vault, "u123", SearchQuery("极限")).hits[0].source == "LEARNING.md"


def test_quizzes_of_a_session_are_one_commit(vault: Vault, home: Home, clock: Clock) -> None:
    """C5: batched per session, in the author's name of the assistant, and what is committed is the last state."""
    before = len(home.log())
    for rate in (1.0, 1.0, 0.0, 1.0):
        update_user(vault, "alice", quiz(rate, difficulty="hard"))
        clock.time += timedelta(seconds=40)
    assert len(home.log()) == before
    clock.time += timedelta(minutes=11)
    update_user(vault, "alice", quiz())
    vault.history.flush()
    new = home.log()[: len(home.log()) - before]
    assert len(new) == 2 and {entry.author for entry in new} == {"vault-memory"}
    assert home.is_clean()


def test_a_turn_takes_the_quizzes_along(vault: Vault, home: Home) -> None:
    update_user(vault, "alice", quiz(1.0))
    update_user(vault, "alice", quiz(0.0))
    record_turn(vault, "alice", "我喜歡暗色主題", "好")
    vault.history.flush()
    assert home.is_clean() and home.log()[0].author == "vault-memory"


def test_the_persons_mastery_wins_until_new_evidence(vault: Vault, home: Home) -> None:
    """C1: edited by hand, committed as theirs; the next quiz goes on from there."""
    update_user(vault, "alice", quiz(0.0, difficulty="hard"))
    path = vault.root / "memory/alice/LEARNING.md"
    path.write_text(path.read_text().replace("| weak |", "| strong |"))
    assert learning_profile(vault, "alice").mastery == {LIMITS: "strong"}
    update_user(vault, "alice", quiz(0.8))
    assert learning_profile(vault, "alice").mastery == {LIMITS: "strong"}
    vault.history.flush()
    assert {entry.author for entry in home.log()} >= {"vault-memory"} and home.is_clean()
    assert len({entry.author for entry in home.log()}) > 1


def test_what_may_not_be_kept(vault: Vault) -> None:
    done = update_user(vault, "alice", quiz(topic="math AKIAIOSFODNN7EXAMPLE"))
    assert "AKIA" not in (vault.root / "memory/alice/LEARNING.md").read_text() and done.redactions == {"api-key": 1}
    assert done.degraded == ("a part of the event is left out: it is private (api-key)",)
    for secret in ("AKIAIOSFODNN7EXAMPLE", "我的电话号码是13812345678", "住址：台北市信義路五段七號", "我的血型"):
        before = learning_profile(vault, "alice")
        done = update_user(vault, "alice", quiz(topic=secret))
        assert "the topic is left out: it is private" in done.degraded[0]
        assert done.profile.quiz_sessions == before.quiz_sessions + 1 and done.profile.mastery == before.mastery
        assert secret not in (vault.root / "memory/alice/LEARNING.md").read_text()
    context = update_session(vault, "alice", "s", message="key AKIAIOSFODNN7EXAMPLE")
    assert "AKIA" not in context.last_user_message
    refused = update_session(vault, "alice", "s2", "quiz", message="please don't remember that I moved to Berlin")
    assert refused.last_user_message == "" and refused.recent_intents == ("quiz",)
    with pytest.raises(InvalidId):
        update_user(vault, "../x", quiz())
    with pytest.raises(NotFound):
        learning_profile(vault, "nobody")


@pytest.mark.parametrize(
    "topic", ["电话号码格式", "身份证校验码", "银行卡号 Luhn 算法", "住址-作文", "phone number formats"]
)
def test_a_subject_is_not_private_without_a_value(vault: Vault, topic: str) -> None:
    """C1: a topic is the subject of a lesson."""
    done = update_user(vault, "alice", quiz(topic=topic))
    assert list(done.profile.mastery) == [topic] and done.degraded == () and not done.redactions


def test_off_the_record_nothing_is_kept(vault: Vault) -> None:
    off = open_vault(vault.root, off_record=["alice"])
    assert not update_user(off, "alice", quiz()).is_kept and not off.is_user("alice")
    update_session(off, "alice", "s", "quiz")
    with pytest.raises(NotFound):
        session_context(off, "alice", "s")


def test_what_cannot_be_read_is_told(vault: Vault) -> None:
    write(vault, "alice", "LEARNING.md", "## Mastery\n\n| a | b |\n|---|---|\n| x | best |\n")
    search(vault, "alice", SearchQuery("x"))
    assert "mastery of 'x'" in str(status(vault))


def test_sessions_have_bounds_owners_and_an_end(vault: Vault, clock: Clock) -> None:
    """C2, C5: bounded, with a TTL of two days, a user's own."""
    update_session(vault, "alice", "s456", "quiz", LIMITS, "quiz_set")
    with pytest.raises(NotFound):
        session_context(vault, "bob", "s456")
    with pytest.raises(NotFound):
        session_context(vault, "", "s456")
    for number in range(400):
        update_session(vault, "alice", f"s{number % 300}", "quiz" * 20, LIMITS * 10, "quiz_set", "x" * 900)
    files = sorted((vault.root / ".vault-memory").glob("short-term.db*"))
    assert sum(file.stat().st_size for file in files if file.suffix != ".db-shm") <= 64_000
    assert all(file.stat().st_mode & 0o777 == 0o600 for file in files)
    assert session_context(vault, "alice", "s99").current_topic == LIMITS * 10
    with pytest.raises(NotFound):
        session_context(vault, "alice", "s100")
    clock.time += timedelta(days=1)
    update_session(vault, "alice", "s1", "quiz")
    clock.time += timedelta(days=1, seconds=1)
    assert session_context(vault, "alice", "s1").recent_intents[-1] == "quiz"
    with pytest.raises(NotFound):
        session_context(vault, "alice", "s99")
    vault.short_term.put(sessions_key("alice", ""), "damaged", 60)
    assert update_session(vault, "alice", "s1", "quiz").recent_intents == ("quiz",)
    for wrong in ("", " ", "x" * 201):
        with pytest.raises(UsageError, match="session_id"):
            update_session(vault, "alice", wrong, "quiz")


def test_halves_of_surrogate_pairs_are_left_out(vault: Vault) -> None:
    """What a program sends may be cut within an emoji."""
    assert update_session(vault, "alice", "s", "quiz", message="cut \ud83d").last_user_message == "cut"
    assert list(update_user(vault, "alice", quiz(topic="a\ud83d")).profile.mastery) == ["a"]


def test_sessions_are_in_redis_and_outlive_it(vault: Vault, tmp_path: Path) -> None:
    """C2: with `REDIS_URL` other machines see them, with their time to live; while Redis is away this one does."""
    server = RedisServer(tmp_path)
    try:
        shared = open_vault(vault.root, now=vault.now, environ={"REDIS_URL": server.url})
        update_session(shared, "alice", "s456", "quiz", LIMITS, "quiz_set")
        update_session(shared, "", "open", topic="代數")
        assert json.loads(str(server.client.get("sessions:alice")))["s456"]["current_topic"] == LIMITS
        assert json.loads(str(server.client.get("session:open")))["open"]["current_topic"] == "代數"
        assert 172_790 < server.client.ttl("sessions:alice") <= 172_800
        server.kill()
        assert update_session(shared, "alice", "s456", "homework_help").recent_intents == ("quiz", "homework_help")
        assert memory_summary(shared, "alice", "s456").topic_hint == LIMITS
        server.start()
        again = open_vault(vault.root, now=vault.now, environ={"REDIS_URL": server.url})
        assert session_context(again, "alice", "s456").recent_intents == ("quiz", "homework_help")
        assert "homework_help" in str(server.client.get("sessions:alice"))
        rename_sessions(again, "alice", "anna")
        assert not server.client.exists("sessions:alice") and server.client.exists("sessions:anna")
    finally:
        server.kill()


def test_a_session_is_named_without_control_characters(vault: Vault) -> None:
    with pytest.raises(UsageError, match="session_id holds a control character"):
        update_session(vault, "alice", "s\0x", intent="quiz")


def test_a_renamed_user_keeps_the_session(vault: Vault) -> None:
    update_user(vault, "alice", quiz())
    update_session(vault, "alice", "s", "quiz", LIMITS)
    vault.history.flush()
    rename_user(vault, "alice", "anna")
    assert session_context(vault, "anna", "s").current_topic == LIMITS
    assert learning_profile(vault, "anna").quiz_sessions == 1


def test_the_summary_is_fast_and_asks_nobody(vault: Vault) -> None:
    """C3: below 5 ms, also for a learner of many topics."""
    for number in range(3):
        update_user(vault, "alice", quiz(0.0, f"t{number}", "hard"))
    rows = "".join(f"| topic {number} | weak | 0.1 | 2026-01-30 |\n" for number in range(200))
    path = vault.root / "memory/alice/LEARNING.md"
    path.write_text(path.read_text().replace("| t0 |", f"{rows}| t0 |"))
    update_session(vault, "alice", "s", "quiz", "t1", "quiz_set")
    took = []
    for _ in range(50):
        began = time.perf_counter()
        found = memory_summary(vault, "alice", "s")
        took.append(time.perf_counter() - began)
    assert found.user_mastery_hint == "weak" and found.topic_hint == "t1"
    assert sorted(took)[10] < 0.005
    assert memory_summary(vault, "newcomer", "s").as_dict()["recent_behavior"] == ""


def _quizzes(root: Path) -> None:
    vault = open_vault(root)
    for _ in range(5):
        update_user(vault, "alice", quiz(1.0))
        update_session(vault, "alice", "s", "quiz")


def test_processes_lose_no_quiz(vault: Vault, home: Home) -> None:
    """C5: read and written by several at once."""
    with ProcessPoolExecutor(3, multiprocessing.get_context("spawn")) as pool:
        list(pool.map(_quizzes, [vault.root] * 3))
    assert learning_profile(vault, "alice").quiz_sessions == 15
    vault.history.flush()
    assert home.is_clean()
