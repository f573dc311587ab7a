"""Which turns are made of the requests and responses that pass the proxy, as time goes by."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.services.proxy.conftest import Seconds
from vault_memory.core.chat.request import read_request
from vault_memory.core.chat.response import ERROR_RESPONSE, ChatResponse
from vault_memory.services.notes.conversations import newest_turns
from vault_memory.services.proxy.turn_recorder import RETRY_S, TOOL_LOOP_IDLE_S, TurnRecorder, UserRequest
from vault_memory.services.vault import Vault

COMPLETE = ChatResponse("ok", is_complete=True)
TOOL_CALLS = ChatResponse("wait", is_complete=True, has_tool_calls=True)


@pytest.fixture
def recorder(vault: Vault, seconds: Seconds) -> TurnRecorder:
    return TurnRecorder(vault, seconds)


def said(vault: Vault, words: str, user_id: str = "alice", conversation: str = "c") -> UserRequest:
    chat = read_request({"messages": [{"role": "user", "content": words}]})
    assert chat is not None
    return UserRequest(chat, user_id, conversation, vault.now())


def turns(vault: Vault, user_id: str = "alice") -> list[tuple[str, str]]:
    rows = [row for _, row in newest_turns(vault, user_id, 20)][::-1]
    return [(row["user_message"], row["assistant_message"]) for row in rows]


def test_the_same_request_is_a_retry_for_a_while_only(vault: Vault, recorder: TurnRecorder, seconds: Seconds) -> None:
    one = said(vault, "hi")
    assert len(recorder.add(one, COMPLETE)) == 1 and recorder.add(one, COMPLETE) == []
    assert len(recorder.add(replace(one, user_id="bob"), COMPLETE)) == 1, "another person says the same"
    seconds.now = RETRY_S + 1
    assert len(recorder.add(one, COMPLETE)) == 1
    assert turns(vault) == [("hi", "ok")] * 2


def test_a_retry_after_a_failure_is_the_first_turn(vault: Vault, recorder: TurnRecorder) -> None:
    one = said(vault, "hi")
    assert (
        recorder.add(one, ERROR_RESPONSE) == []
        and recorder.add(one, ChatResponse(is_error=True), "the client hung up") == []
    )
    assert len(recorder.add(one, COMPLETE)) == 1
    assert turns(vault) == [("hi", "ok")]


def test_a_retry_after_half_a_response_is_recorded_when_it_is_whole(vault: Vault, recorder: TurnRecorder) -> None:
    one, half = said(vault, "hi"), ChatResponse("o")
    assert [len(recorder.add(one, response)) for response in (half, half, COMPLETE, half, COMPLETE)] == [1, 0, 1, 0, 0]
    assert turns(vault) == [("hi", "o\n[partial: the answer broke off]"), ("hi", "ok")]


def test_a_turn_off_the_record_is_forgotten_with_its_rounds(
    vault: Vault, recorder: TurnRecorder, seconds: Seconds
) -> None:
    one = said(vault, "one")
    recorder.add(one, TOOL_CALLS)
    assert recorder.leave_out(one) == recorder.add(one, TOOL_CALLS) == recorder.finish() == []
    assert not list((vault.root / ".vault-memory/open-turns").iterdir())
    seconds.now = TOOL_LOOP_IDLE_S
    assert recorder.add(one, COMPLETE) == [] and turns(vault) == []
    seconds.now = 2 * TOOL_LOOP_IDLE_S + 1
    assert len(recorder.add(one, COMPLETE)) == 1


def test_words_off_the_record_stay_so_whatever_else_the_client_changes(
    vault: Vault, recorder: TurnRecorder, seconds: Seconds
) -> None:
    """Other messages before, other instructions, another conversation: a round of the loop was a turn of its own."""
    for rounds in (TOOL_CALLS, COMPLETE):
        first, second = said(vault, "my  café"), said(vault, "my\ncafe\u0301", conversation="d")
        assert recorder.add(first, TOOL_CALLS) == recorder.leave_out(second) == recorder.add(first, rounds) == []
        assert not recorder.is_left_out(replace(first, user_id="bob")) and recorder.is_left_out(first)
    assert len(recorder.add(replace(first, user_id="bob"), COMPLETE)) == 1, "what another person says is theirs"
    assert len(recorder.add(said(vault, "other words"), COMPLETE)) == 1
    seconds.now = TOOL_LOOP_IDLE_S + 1
    assert len(recorder.add(first, COMPLETE)) == 1 and recorder.finish() == [], "said again, on the record"
    assert turns(vault) == [("other words", "ok"), ("my  café", "ok")]


def test_a_loop_without_an_end_is_recorded_after_half_an_hour_for_its_own_user(
    vault: Vault, recorder: TurnRecorder, seconds: Seconds
) -> None:
    assert recorder.add(said(vault, "one"), TOOL_CALLS) == []
    seconds.now = TOOL_LOOP_IDLE_S + 1
    recorded = recorder.add(said(vault, "two", "bob", "d"), COMPLETE)
    assert [turn.user_id for turn in recorded] == ["alice", "bob"]
    assert turns(vault) == [("one", "wait\n[partial: the tools came to no end]")]


def test_a_round_that_fails_and_is_tried_again_stays_one_turn(vault: Vault, recorder: TurnRecorder) -> None:
    one = said(vault, "hi")
    for response in (TOOL_CALLS, TOOL_CALLS, ERROR_RESPONSE):
        assert recorder.add(one, response) == []
    assert len(recorder.add(one, COMPLETE)) == 1 and recorder.finish() == []
    assert turns(vault) == [("hi", "wait\n\nok")]


def test_a_loop_goes_on_after_its_server_was_killed(vault: Vault) -> None:
    """Its rounds were in no record, up to half an hour of them."""
    state, key = vault.root / ".vault-memory/open-turns", "sk-proj-" + "aB3dE5fG7hJ9kL1mN2pQ" * 2
    killed = TurnRecorder(vault)
    one = said(vault, f"one, my key is {key}")
    assert killed.add(one, TOOL_CALLS) == killed.add(one, replace(TOOL_CALLS, text="more\ud83d")) == []
    beside = TurnRecorder(vault)
    assert beside.finish() == [], "a loop of a server that runs is its own"
    [file] = state.glob("*.jsonl")
    assert file.stat().st_mode & 0o777 == 0o600 and key not in file.read_text()
    file.write_bytes(file.read_bytes() + b'"torn')
    (state / "dead.1.jsonl").write_bytes(b"{}")
    killed._lock.close()  # type: ignore[union-attr]  # as the system does for a process that is gone
    again = TurnRecorder(vault)
    assert len(again.add(one, COMPLETE)) == 1 and again.finish() == []
    assert [reply for _, reply in turns(vault)] == ["wait\n\nmore\ufffd\n\nok"] and not [*state.iterdir()]


def test_conversations_at_the_same_time_do_not_end_each_others_loops(vault: Vault, recorder: TurnRecorder) -> None:
    assert recorder.add(said(vault, "one", conversation="a"), TOOL_CALLS) == []
    assert len(recorder.add(said(vault, "two", conversation="b"), COMPLETE)) == 1
    assert len(recorder.finish()) == 1
    assert [words for words, _ in turns(vault)] == ["two", "one"]


def test_a_loop_may_go_on_for_hours(vault: Vault, recorder: TurnRecorder, seconds: Seconds) -> None:
    """Somebody else's turn in between does not end a loop whose rounds keep coming."""
    one = said(vault, "one")
    for _ in range(4):
        assert recorder.add(one, TOOL_CALLS) == []
        seconds.now += TOOL_LOOP_IDLE_S - 60
        assert [turn.user_id for turn in recorder.add(said(vault, f"two {seconds.now}", "bob", "d"), COMPLETE)] == [
            "bob"
        ]
    assert len(recorder.add(one, COMPLETE)) == 1
    assert turns(vault) == [("one", "wait\n\nok")]


def test_the_same_words_in_another_conversation_are_another_turn(vault: Vault, recorder: TurnRecorder) -> None:
    for conversation in ("c", "d"):
        assert len(recorder.add(said(vault, "hi", conversation=conversation), COMPLETE)) == 1


@pytest.mark.slow
def test_open_loops_take_a_limited_memory_and_the_one_who_has_most_of_it_ends(
    vault: Vault, recorder: TurnRecorder
) -> None:
    assert recorder.add(said(vault, "hi", "bob"), TOOL_CALLS) == []
    ended = []
    for number in range(10):
        long = ChatResponse("tea " * 250_000 + "🍵", is_complete=True, has_tool_calls=True)
        ended += recorder.add(said(vault, f"hi {number}", conversation=f"c{number}"), long)
    assert [turn.user_id for turn in ended] == ["alice", "alice"]
    assert [words for words, _ in turns(vault)] == ["hi 0", "hi 1"]
    assert len(recorder.add(said(vault, "hi", "bob"), COMPLETE)) == 1
