"""What becomes a turn of what went through the proxy, as time goes by."""

from __future__ import annotations

from dataclasses import replace

import pytest

from vault_memory.core.chat.answer import FAILED, Answer
from vault_memory.core.chat.request import read
from vault_memory.services.notes.conversations import newest_turns
from vault_memory.services.proxy.listen import IDLE_S, RETRY_S, Asked, Listener
from vault_memory.services.vault import Vault

WHOLE = Answer("ok", is_whole=True)
CALLS = Answer("wait", is_whole=True, calls_tools=True)


class Seconds:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def seconds() -> Seconds:
    return Seconds()


@pytest.fixture
def listener(vault: Vault, seconds: Seconds) -> Listener:
    return Listener(vault, seconds)


def asked(vault: Vault, words: str, user_id: str = "alice", conversation: str = "c") -> Asked:
    found = read({"messages": [{"role": "user", "content": words}]})
    assert found is not None
    return Asked(found, user_id, conversation, vault.now())


def turns(vault: Vault, user_id: str = "alice") -> list[tuple[str, str]]:
    rows = [row for _, row in newest_turns(vault, user_id, 20)][::-1]
    return [(row["user_message"], row["assistant_message"]) for row in rows]


def test_the_same_request_is_a_retry_for_a_while_only(vault: Vault, listener: Listener, seconds: Seconds) -> None:
    one = asked(vault, "hi")
    assert len(listener.hear(one, WHOLE)) == 1 and listener.hear(one, WHOLE) == []
    assert len(listener.hear(replace(one, user_id="bob"), WHOLE)) == 1, "another person says the same"
    seconds.now = RETRY_S + 1
    assert len(listener.hear(one, WHOLE)) == 1
    assert turns(vault) == [("hi", "ok")] * 2


def test_a_retry_after_a_failure_is_the_first_turn(vault: Vault, listener: Listener) -> None:
    one = asked(vault, "hi")
    assert listener.hear(one, FAILED) == [] and listener.hear(one, Answer(failed=True), "the client hung up") == []
    assert len(listener.hear(one, WHOLE)) == 1
    assert turns(vault) == [("hi", "ok")]


def test_a_loop_that_nobody_ends_is_recorded_in_time_for_its_own_person(
    vault: Vault, listener: Listener, seconds: Seconds
) -> None:
    assert listener.hear(asked(vault, "one"), CALLS) == []
    seconds.now = IDLE_S + 1
    heard = listener.hear(asked(vault, "two", "bob", "d"), WHOLE)
    assert [turn.user_id for turn in heard] == ["alice", "bob"]
    assert turns(vault) == [("one", "wait\n[partial: the tools came to no end]")]


def test_a_round_that_fails_and_is_tried_again_stays_one_turn(vault: Vault, listener: Listener) -> None:
    one = asked(vault, "hi")
    for answer in (CALLS, CALLS, FAILED):
        assert listener.hear(one, answer) == []
    assert len(listener.hear(one, WHOLE)) == 1 and listener.finish() == []
    assert turns(vault) == [("hi", "wait\n\nok")]


def test_conversations_beside_each_other_do_not_end_each_others_loops(vault: Vault, listener: Listener) -> None:
    assert listener.hear(asked(vault, "one", conversation="a"), CALLS) == []
    assert len(listener.hear(asked(vault, "two", conversation="b"), WHOLE)) == 1
    assert len(listener.finish()) == 1
    assert [words for words, _ in turns(vault)] == ["two", "one"]


def test_a_loop_may_go_on_for_hours(vault: Vault, listener: Listener, seconds: Seconds) -> None:
    """Somebody else's turn in between does not end a loop whose rounds keep coming."""
    one = asked(vault, "one")
    for _ in range(4):
        assert listener.hear(one, CALLS) == []
        seconds.now += IDLE_S - 60
        assert [turn.user_id for turn in listener.hear(asked(vault, f"two {seconds.now}", "bob", "d"), WHOLE)] == [
            "bob"
        ]
    assert len(listener.hear(one, WHOLE)) == 1
    assert turns(vault) == [("one", "wait\n\nok")]


def test_the_same_words_in_another_conversation_are_said_again(vault: Vault, listener: Listener) -> None:
    for conversation in ("c", "d"):
        assert len(listener.hear(asked(vault, "hi", conversation=conversation), WHOLE)) == 1
