"""Requests that go on with what the provider keeps, without an HTTP server."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

from tests.services.proxy.conftest import Seconds
from tests.services.proxy.test_relay import prepared, relay_of
from tests.vaults import write
from vault_memory.core.chat import ChatResponse, Continued
from vault_memory.errors import NotFound
from vault_memory.services.admin.users import rename_user
from vault_memory.services.proxy import Prepared
from vault_memory.services.proxy.continued import MAX_ANSWERED, MAX_OWN, MAX_WORDS_CHARS, AnsweredRequests, Owners
from vault_memory.services.proxy.relay import Relay
from vault_memory.services.proxy.turn_recorder import UserRequest
from vault_memory.services.vault import Vault

GAVE = [{"type": "function_call_output", "call_id": "c1", "output": "80"}]


def ask(relay: Relay, given: Any, user_id: str = "alice", record: bool = True, **fields: Any) -> Prepared:
    return prepared(relay, json.dumps({"input": given} | fields).encode(), user_id, record=record)


def asked(vault: Vault, seconds: Seconds, words: str = "How hot?", **fields: Any) -> UserRequest:
    with relay_of(vault, seconds) as relay:
        request = ask(relay, words, **fields).asked
    assert request is not None
    return request


def test_after_a_restart_a_conversation_goes_on_under_another_id(vault: Vault, seconds: Seconds) -> None:
    """It is the same for a retry, and another one for each response that is gone on from."""
    with relay_of(vault, seconds) as relay:
        found = [ask(relay, "and?", previous_response_id=f"resp_{n}").asked for n in (1, 1, 2)]
        one, retry, other = [(each.conversation_id, each.chat.key) for each in found if each]
        assert one == retry != other and one[0] != other[0]
        assert ask(relay, GAVE, previous_response_id="resp_1").memory == "off; the request holds no words of a person"


def test_of_what_is_off_the_record_no_words_are_kept(vault: Vault, seconds: Seconds) -> None:
    with relay_of(vault, seconds) as relay:
        off = ask(relay, "I like dark themes", record=False).asked
        assert off is not None and off.chat.words == off.chat.text == ""
        relay._answered.keep(off, ChatResponse(response_id="resp_1"))
        round_of_tools = ask(relay, GAVE, previous_response_id="resp_1")
        assert round_of_tools.memory == "off; the request holds no words of a person" and not round_of_tools.is_turn
        later = ask(relay, "and?", previous_response_id="resp_1").asked
        assert later is not None and later.conversation_id == off.conversation_id


def test_a_user_with_another_id_is_known_and_the_next_with_that_id_is_not(vault: Vault, seconds: Seconds) -> None:
    write(vault, "alice", "notes/tea.md", "# Tea\n")
    known, before = AnsweredRequests(vault), vault.renamings()
    known.keep(asked(vault, seconds), ChatResponse(response_id="resp_1"))
    name = Continued("resp_1")
    assert known.find(name, "alice", before) and known.find(name, "bob", before) is None
    rename_user(vault, "alice", "carol")
    assert known.find(name, "carol", vault.renamings()) and known.find(name, "alice", vault.renamings()) is None
    # a server of models may count its responses from one: its ids are those of several people
    known.keep(asked(vault, seconds, user_id="bob"), ChatResponse(response_id="resp_1"))
    assert known.find(name, "carol", vault.renamings())


def is_refused(owners: Owners, user_id: str, as_of: int, *names: str) -> bool:
    try:
        owners.refuse_others((user_id, as_of), Continued(*names))
    except NotFound as error:
        assert any(name in str(error) for name in names)
        return True
    return False


def test_whose_a_response_is_follows_its_owner_to_another_id(vault: Vault) -> None:
    write(vault, "alice", "notes/tea.md", "# Tea\n")
    owners, before = Owners(vault), vault.renamings()
    owners.note(("alice", before), Continued("resp_1", "conv_1"))
    for names in (("resp_1",), ("", "conv_1"), ("resp_1", "conv_1"), ()):
        assert not is_refused(owners, "alice", before, *names) and is_refused(owners, "bob", before, *names) == bool(
            names
        )
    for unknown in (("resp_2",), ("conv_1",), ("", "resp_1"), ("resp_1", "conv_2"), ("resp_2", "conv_1")):
        assert is_refused(owners, "alice", before, *unknown)
    rename_user(vault, "alice", "carol")
    now = vault.renamings()
    assert not is_refused(owners, "carol", now, "resp_1") and is_refused(owners, "alice", now, "resp_1")
    owners.note(("alice", now), Continued("resp_1"))  # a server of models may count its responses from one
    assert not is_refused(owners, "carol", now, "resp_1") and not is_refused(owners, "alice", now, "resp_1")


def test_what_one_user_sends_forgets_nothing_of_anothers(vault: Vault) -> None:
    owners = Owners(vault)
    owners.note(("alice", 0), Continued("resp_1"))
    for number in range(MAX_OWN + 10):
        owners.note(("bob", 0), Continued(f"resp_of_bob_{number}"))
    assert not is_refused(owners, "alice", 0, "resp_1")
    assert is_refused(owners, "bob", 0, "resp_of_bob_9") and not is_refused(owners, "bob", 0, "resp_of_bob_10")


def test_of_a_conversation_the_newest_request_counts(vault: Vault, seconds: Seconds) -> None:
    """Its response may be recorded before that of the one before."""
    known, name = AnsweredRequests(vault), Continued(conversation_id="conv_1")
    first, second = (asked(vault, seconds, words, conversation="conv_1") for words in ("one", "two"))
    second = replace(second, at=first.at + timedelta(seconds=1))
    for request in (second, first):
        known.keep(request, ChatResponse(is_complete=True, response_id=f"resp_{request.chat.words}"))
    found = known.find(name, "alice", first.as_of)
    assert found and (found.request.chat.words, found.after) == ("two", "resp_two")
    assert known.find(Continued("resp_one"), "alice", first.as_of)


def test_what_is_kept_is_bounded(vault: Vault, seconds: Seconds) -> None:
    known, request = AnsweredRequests(vault), asked(vault, seconds)
    long = replace(request, chat=replace(request.chat, words="x" * (MAX_WORDS_CHARS // 4)))
    for number in range(MAX_ANSWERED + 10):
        known.keep(request, ChatResponse(response_id=f"resp_{number}"))
    kept = [known.find(Continued(f"resp_{n}"), "alice", request.as_of) for n in (0, 9, 10, MAX_ANSWERED)]
    assert [each is not None for each in kept] == [False, False, True, True]
    for number in range(10):
        known.keep(long, ChatResponse(response_id=f"long_{number}"))
    kept = [known.find(Continued(f"long_{n}"), "alice", request.as_of) for n in range(10)]
    assert [each is not None for each in kept] == [False] * 6 + [True] * 4
    assert known.find(Continued(f"resp_{MAX_ANSWERED}"), "alice", request.as_of) is None
