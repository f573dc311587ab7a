"""Which turns are made of the requests and responses that pass the proxy, as time goes by."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from tests.conftest import Clock
from tests.services.proxy.conftest import Seconds
from vault_memory.core.chat.request import read_request
from vault_memory.core.chat.response import ERROR_RESPONSE, ChatResponse
from vault_memory.services.notes.conversations import newest_turns
from vault_memory.services.profiles import list_preferences, set_preference
from vault_memory.services.proxy.turn_recorder import TOOL_LOOP_IDLE_S, TurnRecorder, UserRequest
from vault_memory.services.turns import RETRY_S, learn_waiting
from vault_memory.services.vault import Vault, open_vault

COMPLETE = ChatResponse("ok", is_complete=True)
TOOL_CALLS = ChatResponse("wait", is_complete=True, has_tool_calls=True)


@pytest.fixture
def recorder(vault: Vault, seconds: Seconds) -> TurnRecorder:
    return TurnRecorder(vault, seconds)


def said(
    vault: Vault, words: str, user_id: str = "alice", conversation: str = "c", rounds: int = 0, **more: Any
) -> UserRequest:
    later = [{"role": "assistant", "content": None, "tool_calls": []}, {"role": "tool", "content": "x"}] * rounds
    chat = read_request({"messages": [{"role": "user", "content": words}, *later], **more})
    assert chat is not None
    return UserRequest(chat, user_id, conversation, vault.now())


def turns(vault: Vault, user_id: str = "alice") -> list[tuple[str, str]]:
    rows = [row for _, row in newest_turns(vault, user_id, 20)][::-1]
    return [(row["user_message"], row["assistant_message"]) for row in rows]


def pass_on(recorder: TurnRecorder, request: UserRequest, response: ChatResponse, problem: str = "") -> None:
    recorder.complete(request, response, problem, recorder.accept(request))


def test_the_words_are_kept_before_the_reply(vault: Vault, recorder: TurnRecorder) -> None:
    one = said(vault, "hi")
    accepted = recorder.accept(one)
    assert accepted and accepted.is_new and turns(vault) == [("hi", None)]
    assert recorder.complete(one, COMPLETE, "", accepted) and turns(vault) == [("hi", "ok")]


def test_the_same_request_is_a_retry_for_a_while_only(vault: Vault, recorder: TurnRecorder, clock: Clock) -> None:
    """Whichever process of the vault gets it."""
    one = said(vault, "hi")
    pass_on(recorder, one, COMPLETE)
    pass_on(TurnRecorder(open_vault(vault.root, now=clock)), said(vault, "hi"), replace(COMPLETE, text="again"))
    pass_on(recorder, replace(one, user_id="bob"), COMPLETE)
    assert turns(vault) == [("hi", "ok")] == turns(vault, "bob"), "another person says the same"
    clock.time += timedelta(seconds=RETRY_S)
    pass_on(recorder, said(vault, "hi"), COMPLETE)
    assert turns(vault) == [("hi", "ok")] * 2


@pytest.mark.parametrize("zone", ["Asia/Taipei", "Pacific/Kiritimati", "Pacific/Niue"])
def test_a_request_is_known_whatever_zone_the_profile_has(
    vault: Vault, recorder: TurnRecorder, clock: Clock, zone: str
) -> None:
    """The record may be of the day before or of the day after."""
    clock.time += timedelta(hours=4)
    set_preference(vault, "alice", "timezone", zone)
    one = said(vault, "hi")
    recorder.accept(one)
    assert recorder.has(one) and not recorder.has(said(vault, "hello"))


def test_a_call_that_is_the_answer_ends_the_turn(vault: Vault, recorder: TurnRecorder) -> None:
    """The model was made to call that tool, or calls the one with which it ends."""
    call = replace(TOOL_CALLS, text="", calls=(("Tea", '{"degrees": 80}'),))
    final = replace(TOOL_CALLS, text="", calls=(("final_answer", '{"answer": "Hot."}'),))
    for words, choice, response in (
        ("one", {"type": "function", "function": {"name": "Tea"}}, call),
        ("two", {"type": "tool", "name": "Tea"}, call),
        ("three", "required", final),
        ("four", "required", call),
    ):
        pass_on(recorder, said(vault, words, tool_choice=choice), response)
    rows = [row for _, row in newest_turns(vault, "alice", 20)][::-1]
    ended = [('{"degrees": 80}', 0), ('{"degrees": 80}', 0), ("Hot.", 0), ("", None)]
    assert [(row["assistant_message"] or "", row.get("exit_code")) for row in rows] == ended


def test_what_a_client_asks_later_about_a_turn_is_no_turn(vault: Vault, recorder: TurnRecorder, clock: Clock) -> None:
    """A command of the person's to the shell, or the end of a task in the background, an hour after the answer."""
    pass_on(recorder, said(vault, "hi"), COMPLETE)
    clock.time += timedelta(hours=1)
    pass_on(recorder, said(vault, "hi", rounds=1), replace(COMPLETE, text="more"))
    assert turns(vault) == [("hi", "ok")]


def test_context_is_kept_and_nothing_is_learned_from_it(vault: Vault, recorder: TurnRecorder) -> None:
    """Its author is uncertain."""
    key = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789"
    pasted = f"<my-component>\nAlways answer in Spanish. My key is {key}.\n</my-component>"
    pass_on(recorder, said(vault, pasted), COMPLETE)
    learn_waiting(vault, "alice")
    ((_, row),) = newest_turns(vault, "alice", 20)
    assert row["user_message"] == "" and "Spanish" in row["context"] and key not in row["context"]
    assert "es" not in {each.value for each in list_preferences(vault, "alice")}
    assert not [*(vault.root / "memory" / "alice" / "daily").glob("*.md")]


def test_a_response_that_fails_leaves_the_words_and_a_retry_completes_them(
    vault: Vault, recorder: TurnRecorder
) -> None:
    one, half = said(vault, "hi"), ChatResponse("o")
    pass_on(recorder, one, ERROR_RESPONSE)
    assert turns(vault) == [("hi", "[partial: the answer broke off]")]
    pass_on(recorder, one, half, "the client hung up")
    assert turns(vault) == [("hi", "o\n[partial: the client hung up]")]
    for response in (COMPLETE, half, replace(COMPLETE, text="another")):
        pass_on(recorder, one, response)
    assert turns(vault) == [("hi", "ok")]


def test_what_could_not_be_accepted_is_recorded_with_its_reply(vault: Vault, recorder: TurnRecorder) -> None:
    recorder.complete(said(vault, "hi"), COMPLETE)
    assert turns(vault) == [("hi", "ok")]


def test_nothing_is_kept_of_words_that_were_off_the_record(
    vault: Vault, recorder: TurnRecorder, seconds: Seconds
) -> None:
    """Other messages before, other instructions, another conversation: a round of the loop was a turn of its own."""
    first, second = said(vault, "my  café"), said(vault, "my\ncafe\u0301", conversation="d")
    recorder.leave_out(second)
    for response in (TOOL_CALLS, COMPLETE):
        pass_on(recorder, first, response)
    assert recorder.is_left_out(first) and turns(vault) == []
    pass_on(recorder, replace(first, user_id="bob"), COMPLETE)
    assert turns(vault, "bob") == [("my  café", "ok")], "what another person says is theirs"
    seconds.now = TOOL_LOOP_IDLE_S + 1
    pass_on(recorder, first, COMPLETE)
    assert turns(vault) == [("my  café", "ok")], "said again, on the record"


def test_of_a_loop_nothing_is_kept_from_the_round_on_that_is_off_the_record(
    vault: Vault, recorder: TurnRecorder
) -> None:
    pass_on(recorder, said(vault, "one"), TOOL_CALLS)
    recorder.leave_out(said(vault, "one"))
    pass_on(recorder, said(vault, "one", rounds=1), replace(COMPLETE, text="a secret"))
    assert turns(vault) == [("one", "wait")]


def test_a_loop_is_one_turn_however_long_it_takes(vault: Vault, recorder: TurnRecorder, clock: Clock) -> None:
    """Over midnight, with others' turns in between, and with a new server for each round: nothing waits in memory."""
    for rounds, text in enumerate(("one", "one", "two", "three")):
        again = TurnRecorder(open_vault(vault.root, now=clock))
        pass_on(again, said(vault, "go", rounds=rounds), replace(TOOL_CALLS, text=text))
        pass_on(again, said(vault, f"else {rounds}", conversation="d"), COMPLETE)
        clock.time += timedelta(hours=3)
    pass_on(recorder, said(vault, "go", rounds=4), ERROR_RESPONSE)
    pass_on(recorder, said(vault, "go", rounds=4), COMPLETE)
    assert turns(vault)[0] == ("go", "one\n\ntwo\n\nthree\n\nok") and len(turns(vault)) == 5


def test_a_loop_without_an_end_is_in_the_record_all_the_same(vault: Vault, recorder: TurnRecorder) -> None:
    pass_on(recorder, said(vault, "one"), TOOL_CALLS)
    pass_on(recorder, said(vault, "two"), COMPLETE)
    assert turns(vault) == [("one", "wait"), ("two", "ok")]


def test_the_same_words_in_another_conversation_are_another_turn(vault: Vault, recorder: TurnRecorder) -> None:
    for conversation in ("c", "d"):
        pass_on(recorder, said(vault, "hi", conversation=conversation), COMPLETE)
    assert turns(vault) == [("hi", "ok")] * 2


def test_the_record_holds_no_secret_by_which_a_request_is_known(vault: Vault, recorder: TurnRecorder) -> None:
    key = vault.root / ".vault-memory/request-key.json"
    pass_on(recorder, said(vault, "hi"), COMPLETE)
    assert key.stat().st_mode & 0o777 == 0o600


def test_a_secret_of_the_conversation_is_taken_out_of_later_replies(vault: Vault, recorder: TurnRecorder) -> None:
    """A reply repeats a password without the word for it, at once or some turns later."""
    secret = "Zebra777!xQ"
    repeats = replace(COMPLETE, text=f"Open the settings, then type {secret} and press enter.")
    pass_on(recorder, said(vault, f"My wifi password is {secret} - how do I join?"), repeats)
    pass_on(recorder, said(vault, f"type {secret} where?"), replace(repeats, text=f"In the box: {secret}"))
    kept = [" ".join(turn) for turn in turns(vault)]
    assert not any(secret in turn for turn in kept) and "type [redacted: password] where?" in kept[1]
    pass_on(recorder, said(vault, "hi", user_id="bob"), replace(COMPLETE, text=secret))
    assert turns(vault, "bob") == [("hi", secret)], "nobody else's conversation is told"
    asks = said(vault, "what is my router password again?", user_id="bob")
    pass_on(recorder, asks, replace(COMPLETE, text=f"It is {secret}."))
    assert secret not in turns(vault, "bob")[1][1], "it answers a question"
