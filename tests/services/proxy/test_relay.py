"""The relay without its HTTP server: which memory a request gets, and what the client is told about it."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from tests.conftest import wait_until
from tests.pace import assert_in_proportion
from tests.services.proxy.conftest import Seconds
from tests.vaults import write
from vault_memory.adapters.embedding.base import Kind, Vector
from vault_memory.core import layout
from vault_memory.core.chat import ChatResponse
from vault_memory.errors import UsageError
from vault_memory.services.indexing.reconcile import embed, reconcile
from vault_memory.services.proxy import Prepared
from vault_memory.services.proxy.giving import MEMORIES_PER_USER, SAME_MEMORY_S
from vault_memory.services.proxy.relay import Relay
from vault_memory.services.proxy.relayed import holds_token
from vault_memory.services.retrieval import Memory
from vault_memory.services.turns import learn_waiting, turns_waiting
from vault_memory.services.vault import ChatsInProgress, Vault, open_vault

QUESTION = "How hot is the water for green tea?"
NOTE = "Green tea wants water of 80 degrees."


@contextmanager
def relay_of(vault: Vault, seconds: Seconds) -> Iterator[Relay]:
    relay = Relay(vault, clock=seconds)
    try:
        yield relay
    finally:
        asyncio.run(relay.close())


@pytest.fixture
def relay(vault: Vault, seconds: Seconds) -> Iterator[Relay]:
    vault.new_user("alice")
    write(vault, "alice", "notes/tea.md", f"# Tea\n\n{NOTE}\n")
    for scope in ("alice", layout.SHARED):
        reconcile(vault, scope)
    patient = open_vault(vault.root, now=vault.now, proxy_memory_timeout_ms=20_000)
    with relay_of(patient, seconds) as relay:
        yield relay


def ask(
    relay: Relay,
    *messages: dict[str, Any],
    user_id: str = "alice",
    conversation: str | None = None,
    record: bool = True,
) -> Prepared:
    body = json.dumps({"model": "m", "messages": list(messages)}).encode()
    return prepared(relay, body, user_id, conversation, record)


def prepared(
    relay: Relay, body: bytes, user_id: str = "alice", conversation: str | None = None, record: bool = True
) -> Prepared:
    async def prepare() -> Prepared:
        return await relay.prepare(body, await relay.read(body), user_id, conversation, record=record)

    return asyncio.run(prepare())


async def at_once(relay: Relay, requests: int, user_id: str = "alice") -> list[Prepared]:
    """So many requests of one user, each with other words."""

    async def one(number: int) -> Prepared:
        body = json.dumps({"messages": [user(f"{QUESTION} {number}")]}).encode()
        return await relay.prepare(body, await relay.read(body), user_id)

    return await asyncio.gather(*map(one, range(requests)))


def user(words: str) -> dict[str, Any]:
    return {"role": "user", "content": words}


LATER = ({"role": "assistant", "content": None, "tool_calls": [{"id": "t"}]}, {"role": "tool", "content": "80"})


def first_words(prepared: Prepared) -> str:
    words: str = json.loads(prepared.body)["messages"][0]["content"]
    return words


def test_rounds_of_a_tool_loop_keep_their_memory_for_hours(relay: Relay, seconds: Seconds) -> None:
    """If the messages before changed in the middle of a loop, the provider's cache would not hold."""
    first = first_words(ask(relay, user(QUESTION)))
    assert NOTE in first
    write(relay.vault, "alice", "notes/tea.md", "# Tea\n\nGreen tea wants water of 70 degrees.\n")
    reconcile(relay.vault, "alice")
    for _ in range(5):
        seconds.now += 1_000
        assert first_words(ask(relay, user(QUESTION), *LATER)) == first


def test_words_stay_off_the_record_for_half_an_hour_after_the_last_round(relay: Relay, seconds: Seconds) -> None:
    """A response may take an hour, and so may the tools of many rounds."""
    system = {"role": "system", "content": "Be brief."}

    def is_off(*messages: dict[str, Any]) -> bool:
        return ask(relay, *messages).not_recorded == "the same words were said off the record"

    before, off = ask(relay, user(QUESTION)), ask(relay, user(QUESTION), record=False)
    assert before.not_recorded is None and off.not_recorded == ""
    relay.record(before, lambda: (ChatResponse("80", is_complete=True), True))
    told = "an earlier answer was not recorded: the same words were said off the record"
    wait_until(lambda: told in ask(relay, user("hi")).memory, "what was meant to be kept is not left out in silence")
    seconds.now = 3_000
    relay.record(off, lambda: (ChatResponse("80", is_complete=True), True))
    wait_until(lambda: is_off(user(QUESTION)), "the end of the response counts")
    for seconds.now in (4_700, 6_400):
        wait_until(lambda: is_off(system, user(QUESTION), *LATER), "each round of its tools counts")
    wait_until(lambda: is_off(user("hi"), user(QUESTION)), "the same words are off, whatever stands before them")
    seconds.now = 8_300
    assert ask(relay, user(QUESTION)).not_recorded is None, "the same words said again do not count"
    titles = {"role": "system", "content": "You are a title generator."}
    assert ask(relay, titles, user("hello"), record=False).memory.startswith("off; the client made this")
    wait_until(lambda: is_off(user("hello")), "words with which no person seemed to speak, too")


@pytest.mark.parametrize(
    ("name", "is_theirs"),
    [(None, True), ("alice", True), ("Alice", True), ("user", True), ("xiao_an", True), ("al", True), ("bob", False)],
)
def test_who_has_another_name_in_a_chat_of_several_people_is_not_heard(
    vault: Vault, seconds: Seconds, name: str | None, is_theirs: bool
) -> None:
    """OpenAI's `name` of a message: the user's id, one from `[identities]`, that of the profile, or another's."""
    vault.new_user("alice")
    write(vault, "alice", layout.PROFILE, "# 使用者\n\n- 稱呼：Xiao An\n")
    named = open_vault(vault.root, now=vault.now, identities={"al": "alice", "bob": "bob"})
    with relay_of(named, seconds) as relay:
        message = user("I live in Berlin.") | ({} if name is None else {"name": name})
        request = ask(relay, message).user_request
        assert request is not None
        assert (request.chat.words, request.chat.context) == (
            ("I live in Berlin.", "") if is_theirs else ("", "I live in Berlin.")
        )


def test_a_retry_gets_the_same_memory_and_a_later_request_the_present_one(relay: Relay, seconds: Seconds) -> None:
    first = first_words(ask(relay, user(QUESTION)))
    write(relay.vault, "alice", "notes/tea.md", "# Tea\n\nGreen tea wants water of 70 degrees.\n")
    reconcile(relay.vault, "alice")
    seconds.now = SAME_MEMORY_S - 1
    assert first_words(ask(relay, user(QUESTION))) == first
    assert "70 degrees" in first_words(ask(relay, user(QUESTION), conversation="another"))
    seconds.now = SAME_MEMORY_S + 1
    assert "70 degrees" in first_words(ask(relay, user(QUESTION)))


def test_for_an_unknown_user_the_status_says_that_nothing_was_injected(relay: Relay) -> None:
    prepared = ask(relay, user("hi"), user_id="newcomer")
    assert prepared.memory.startswith("off; ") and first_words(prepared) == "hi"
    assert "newcomer" not in relay.vault.user_ids(), "a request makes no user"


class Held:
    """A model that embeds documents at once, and queries when it is released."""

    space = "test:held"
    dimension = 2

    def __init__(self) -> None:
        self.released = threading.Event()

    def embed(self, texts: Sequence[str], kind: Kind = "document") -> Sequence[Vector]:
        if kind == "query":
            assert self.released.wait(60)
        return [[1.0, 0.0] for _ in texts]


def test_memory_that_takes_too_long_is_left_out(relay: Relay, seconds: Seconds) -> None:
    """A request waits no longer than the setting says, not for others' memory either; its turn is still recorded."""
    held = Held()
    hasty = open_vault(relay.vault.root, embedder=held, proxy_memory_timeout_ms=10)
    for scope in ("alice", layout.SHARED):
        while embed(hasty, scope):
            pass
    with relay_of(hasty, seconds) as slow:
        try:
            for number, prepared in enumerate(asyncio.run(at_once(slow, 8))):  # more than get their memory at once
                assert prepared.memory == "degraded; memory took longer than 0.01 s"
                assert first_words(prepared) == f"{QUESTION} {number}" and prepared.user_request is not None
        finally:
            held.released.set()


def test_what_a_request_has_waited_counts_as_time_for_its_memory(relay: Relay) -> None:
    """A request that waited long for its turn goes on at once."""

    async def prepare(waited_s: float) -> Prepared:
        body = json.dumps({"messages": [user(QUESTION)]}).encode()
        return await relay.prepare(body, await relay.read(body), "alice", waited_s=waited_s)

    assert NOTE in first_words(asyncio.run(prepare(1.0)))
    late = asyncio.run(prepare(20.0))
    assert late.memory.startswith("degraded; memory took longer") and first_words(late) == QUESTION


def test_one_user_who_asks_much_at_once_leaves_threads_for_others(
    relay: Relay, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, other_has_ended = list[str](), threading.Event()

    def build_memory(vault: Vault, user_id: str, *_: object, **__: object) -> Memory:
        begun.append(user_id)
        assert user_id == "bob" or other_has_ended.wait(30)
        return Memory()

    async def ask_at_once() -> list[Prepared]:
        crowd = asyncio.ensure_future(at_once(relay, 8))
        while len(begun) < MEMORIES_PER_USER:
            await asyncio.sleep(0.01)
        other = await at_once(relay, 1, "bob")
        other_has_ended.set()
        return [*other, *await crowd]

    monkeypatch.setattr("vault_memory.services.proxy.giving.build_memory", build_memory)
    assert {each.memory for each in asyncio.run(ask_at_once())} == {"off; no memory bears on this request"}
    assert begun == ["alice"] * MEMORIES_PER_USER + ["bob"] + ["alice"] * (8 - MEMORIES_PER_USER)


def test_a_turn_that_was_recorded_but_cannot_be_indexed_is_reported_as_that(relay: Relay) -> None:
    prepared = ask(relay, user("I like dark themes"))
    index = relay.vault.index_path("alice")
    for leftover in index.parent.glob(f"{index.name}*"):
        leftover.unlink()
    index.mkdir()
    broken = open_vault(relay.vault.root, now=relay.vault.now, proxy_memory_timeout_ms=20_000)
    with relay_of(broken, Seconds()) as second:
        second.record(prepared, lambda: (ChatResponse("ok", is_complete=True), True))
        for thread in (second._recording._record_thread, second._recording._learn_thread):
            thread.submit(lambda: None).result(30)  # what was submitted before has been done then
        assert "dark" in broken.path("alice", "USER.md").read_text(encoding="utf-8")
        index.rmdir()
        for scope in ("alice", layout.SHARED):
            reconcile(broken, scope)
        statuses = [ask(second, user(words)).memory for words in ("one", "two")]
    assert statuses[0].startswith("degraded; an earlier turn cannot be searched yet: ")
    assert not statuses[1].startswith("degraded"), "it is reported once"


def test_a_turn_that_nothing_was_learned_from_is_reported_once(relay: Relay) -> None:
    vault = relay.vault
    in_a_merge = vault.root / ".git" / "MERGE_HEAD"
    in_a_merge.write_text("0" * 40 + "\n")
    with relay_of(open_vault(vault.root, now=vault.now, proxy_memory_timeout_ms=20_000), Seconds()) as second:
        second.record(ask(second, user("I like dark themes")), lambda: (ChatResponse("ok", is_complete=True), True))
        for thread in (second._recording._record_thread, second._recording._learn_thread):
            thread.submit(lambda: None).result(30)  # what was submitted before has been done then
        assert turns_waiting(vault, "alice") == 2, "the question and the reply"
        statuses = [ask(second, user(words)).memory for words in ("one", "two")]
    assert statuses[0].startswith("degraded; nothing was learned from an earlier turn yet: ") and "merge" in statuses[0]
    assert not statuses[1].startswith("degraded")


def test_a_turn_is_kept_while_another_writer_holds_the_users_files(relay: Relay) -> None:
    vault = relay.vault
    with relay_of(open_vault(vault.root, now=vault.now), Seconds()) as second, vault.lock("alice"):
        for words in ("I like dark themes", "I use Python every day"):
            second.record(ask(relay, user(words)), lambda: (ChatResponse("ok", is_complete=True), True))
        second._recording._record_thread.submit(lambda: None).result(30)
        (record,) = vault.path("alice", "conversations").glob("*.jsonl")
        assert "dark" in record.read_text() and "Python" in record.read_text()
        assert not vault.path("alice", "USER.md").exists()
    learn_waiting(vault, "alice")  # if the relay has given up on a slow machine
    text = vault.path("alice", "USER.md").read_text(encoding="utf-8")
    assert "dark" in text and "Python" in text and turns_waiting(vault, "alice") == 0


def test_learning_lets_a_chat_go_first_and_the_words_are_kept_before(relay: Relay) -> None:
    vault = open_vault(relay.vault.root, now=relay.vault.now, proxy_memory_timeout_ms=20_000)
    chats = vault.__dict__["chats"] = ChatsInProgress(wait_s=600)
    with relay_of(vault, Seconds()) as second:
        with chats.one():
            asked = ask(second, user("I like dark themes"))
            assert asked.user_request
            asyncio.run(second._recording.accept(asked, asked.user_request))
            (record,) = vault.path("alice", "conversations").glob("*.jsonl")
            assert "dark themes" in record.read_text()
            with pytest.raises(TimeoutError):
                second._recording._learn_thread.submit(lambda: None).result(0.5)
            assert not vault.path("alice", "USER.md").exists()
        second._recording._learn_thread.submit(lambda: None).result(60)
        assert "dark" in vault.path("alice", "USER.md").read_text(encoding="utf-8")


def test_a_number_that_is_too_long_is_named(relay: Relay) -> None:
    read = asyncio.run(relay.read(b'{"n": ' + b"9" * 5_000 + b', "messages": [{"role": "user", "content": "hi"}]}'))
    assert "number" in read.problem


def test_a_request_that_is_nested_too_deeply_goes_on_unchanged(relay: Relay) -> None:
    deep = b'{"messages": [{"role": "user", "content": [{"text": "hi"}, {"x": %b"x"%b}]}]}' % (
        b"[" * 90_000,
        b"]" * 90_000,
    )
    request = prepared(relay, deep)
    assert request.memory.startswith("degraded; the request is nested") and request.body == deep


def test_a_vault_token_in_the_address_is_never_sent_to_the_provider(relay: Relay) -> None:
    path = f"/models?key=vault_alice_{'0' * 64}"
    with pytest.raises(UsageError, match="vault token"):
        asyncio.run(relay.send(Prepared(b"", "off; passed through"), "openai", "GET", path, []))


@pytest.mark.slow
def test_a_token_in_many_layers_of_encoding_is_found_in_a_time_of_its_length() -> None:
    token = b"vault_alice_" + b"ab" * 32
    assert holds_token(b"X: " + token.replace(b"_", b"%5f")) and holds_token(
        token.replace(b"_", b"%" + b"25" * 9 + b"5f")
    )
    assert not holds_token(b"a%20b") and not holds_token(b"100%")
    assert_in_proportion(lambda size: holds_token(b"%" + b"25" * size), 1_000_000)


def test_users_take_turns_in_having_theirs_recorded(vault: Vault, seconds: Seconds) -> None:
    """Another user's turn was recorded 24 s late, after 762 chats of one."""
    order, recorded = list[str](), list[str]()
    released = threading.Event()

    with relay_of(vault, seconds) as relay:

        def record(user_id: str, number: int) -> None:
            def read() -> tuple[ChatResponse, bool]:
                assert released.wait(60)
                order.append(user_id)
                return ChatResponse("ok", is_complete=True), True

            asked = ask(relay, user(f"hi {number}"), user_id=user_id)
            relay.record(asked, read, recorded=lambda: recorded.append(user_id))

        for number in range(4):
            record("alice", number)
        record("bob", 0)
        released.set()
    assert order.index("bob") <= 2 and len(order) == len(recorded) == 5
