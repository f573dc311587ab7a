"""What went with the words of a message goes with them again, for whom, how long, and what it is not used for."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.vaults import write
from vault_memory.adapters import git
from vault_memory.core import layout
from vault_memory.services.admin.users import rename_user
from vault_memory.services.indexing.reconcile import reconcile
from vault_memory.services.proxy import Prepared
from vault_memory.services.proxy.injections import MAX_AGE_S, MAX_CONVERSATIONS, Conversation, Injection, Injections
from vault_memory.services.proxy.relay import Relay
from vault_memory.services.turns.record import record_turn
from vault_memory.services.vault import Vault, open_vault

QUESTION = "How hot is the water for green tea?"
TALK = Conversation("alice", 0, "c")
ASIDE = "<system-reminder>\nBe brief.\n</system-reminder>"
MARK = {"cache_control": {"type": "ephemeral"}}


class Now:
    """The time of day, which a test moves."""

    def __init__(self) -> None:
        self.at = datetime.fromisoformat("2026-11-24T09:00:00+08:00")

    def __call__(self) -> datetime:
        return self.at


@pytest.fixture
def now() -> Now:
    return Now()


@pytest.fixture
def tea(vault: Vault, now: Now) -> Vault:
    """A vault that knows something of tea."""
    patient = open_vault(vault.root, now=now, proxy_memory_timeout_ms=20_000)
    say(patient, 80)
    return patient


def say(vault: Vault, degrees: int) -> None:
    write(vault, "alice", "notes/tea.md", f"# Tea\n\nGreen tea wants water of {degrees} degrees.\n")
    for scope in ("alice", layout.SHARED):
        reconcile(vault, scope)


@contextmanager
def relaying(vault: Vault) -> Iterator[Relay]:
    relay = Relay(vault)
    try:
        yield relay
    finally:
        asyncio.run(relay.close())


def ask(relay: Relay, *messages: dict[str, Any], **more: Any) -> Prepared:
    """A request as it goes on, and what went with its words kept, as when it is sent."""
    body = json.dumps({"model": "m", "messages": messages}).encode()

    async def prepare() -> Prepared:
        return await relay.prepare(body, await relay.read(body), more.pop("user_id", "alice"), **more)

    prepared = asyncio.run(prepare())
    if prepared.keep:
        prepared.keep().result(30)
    return prepared


def went(prepared: Prepared) -> list[Any]:
    """The contents of the messages as they go on."""
    return [message["content"] for message in json.loads(prepared.body)["messages"]]


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def model(content: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content}


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


LATER = (model("wait"), {"role": "tool", "content": "80"})


def kept_files(vault: Vault, user_id: str = "alice") -> list[Path]:
    return sorted((vault.root / ".vault-memory/injected" / user_id).glob("*.json"))


def test_each_request_begins_with_what_the_provider_got_before(tea: Vault) -> None:
    """In another process, too, and when the memory is another by now; the mark moves on, and a list becomes a text."""
    with relaying(tea) as relay:
        (first,) = went(ask(relay, user([text(ASIDE), text(QUESTION, **MARK)])))
    assert first[0] == text(ASIDE) and first[2] == text(QUESTION, **MARK)
    assert first[1]["type"] == "text" and "80 degrees" in first[1]["text"]
    say(tea, 70)
    said = [user([text(ASIDE), text(QUESTION)]), model("80"), user([text("And black tea?", **MARK)])]
    with relaying(tea) as relay:
        again, _, black = went(ask(relay, *said))
        assert again == [*first[:2], text(QUESTION)] and "70 degrees" in black[0]["text"]
    say(tea, 60)
    with relaying(tea) as relay:
        again, _, black = went(ask(relay, *said))
        assert again == [*first[:2], text(QUESTION)] and "60 degrees" in black[0]["text"], "who says it again"
    with relaying(tea) as relay:
        round_of_tools = ask(relay, *said[:2], user("And black tea?"), *LATER)
        assert round_of_tools.memory.startswith("injected; passages=1;"), (
            "of the words that it belongs to, in a new process"
        )
        assert went(round_of_tools)[:3] == [again, "80", [black[0], text("And black tea?")]]
        later = went(ask(relay, *said[:2], user("And black tea?"), *LATER, user("And green tea in summer?")))
        assert later[:3] == went(round_of_tools)[:3] and "60 degrees" in later[-1], "a text stays one"


def test_a_client_that_makes_a_request_on_its_own_gets_no_memory_but_the_earlier_ones(tea: Vault) -> None:
    with relaying(tea) as relay:
        first = went(ask(relay, user(QUESTION)))
        said = user(QUESTION), model("80")
        own = ask(relay, *said, user("Your task is to create a detailed summary of the conversation so far."))
        assert own.memory.startswith("off; the client made this") and went(own)[0] == first[0]
        assert "vault-memory" not in went(own)[-1]
        picture = ask(relay, *said, user([{"type": "image", "source": "x"}]))
        assert picture.memory.startswith("off; the request holds no words") and went(picture)[0] == first[0]


def test_after_a_message_that_was_edited_nothing_is_put_back(tea: Vault) -> None:
    with relaying(tea) as relay:
        history = [user(QUESTION), model("80"), user("And black tea?")]
        first, _, second = went(ask(relay, *history[:1])) + ["80"] + went(ask(relay, *history))[2:]
        edited = went(ask(relay, history[0], model("70"), history[2], model("95"), user("And oolong?")))
        assert edited[:3] == [first, "70", "And black tea?"]
        assert went(ask(relay, *history, model("95"), user("And oolong?")))[:3] == [first, "80", second]
        other = ask(relay, *history, model("95"), user("And oolong?"), conversation="another")
        assert went(other)[:3] == [QUESTION, "80", "And black tea?"]


def test_words_that_went_on_without_memory_go_without_it_in_later_rounds(tea: Vault) -> None:
    """It would stand before what the model has thought since."""
    hasty = open_vault(tea.root, now=tea.now, proxy_memory_timeout_ms=10)
    with relaying(hasty) as relay:
        late = ask(relay, user(QUESTION), waited_s=1.0)
        assert late.memory.startswith("degraded; memory took longer") and went(late) == [QUESTION]
    with relaying(tea) as relay:
        assert went(ask(relay, user(QUESTION), *LATER))[0] == QUESTION
        assert "80 degrees" in went(ask(relay, user(QUESTION)))[0], "whoever says it again gets the present memory"


def test_what_is_off_the_record_is_on_no_disk(tea: Vault) -> None:
    with relaying(tea) as relay:
        (first,) = went(ask(relay, user(QUESTION), record=False))
        assert "80 degrees" in first and not kept_files(tea)
        assert went(ask(relay, user(QUESTION), model("80"), user("hi"), record=False))[0] == first
        assert not kept_files(tea)
    with relaying(tea) as relay:
        assert went(ask(relay, user(QUESTION), model("80"), user("hi"), record=False))[0] == QUESTION


def test_nobody_else_finds_it(tea: Vault) -> None:
    """Neither the next one with an id, nor another user, nor one who is gone; nor does a file tell what was said."""
    said = user(QUESTION), model("80"), user("hi")
    record_turn(tea, "bob", "hello")
    with relaying(tea) as relay:
        first = went(ask(relay, user(QUESTION)))[0]
        off_record = went(ask(relay, user("Tea?"), record=False))[0]
        assert went(ask(relay, *said))[0] == first and went(ask(relay, *said, user_id="bob"))[0] == QUESTION
        (file,) = kept_files(tea)
        assert file.stat().st_mode & 0o777 == 0o600 and "How hot" not in file.read_text(encoding="utf-8")
        assert git.run(tea.root, "status", "--porcelain", ".vault-memory") == b""
        rename_user(tea, "alice", "carol")
        record_turn(tea, "alice", "I am another one")
        for user_id in ("alice", "carol", "nobody"):
            assert went(ask(relay, *said, user_id=user_id))[0] == QUESTION
            assert "80 degrees" not in went(ask(relay, user("Tea?"), *said[1:], user_id=user_id))[0]
        assert "80 degrees" in off_record


@pytest.mark.parametrize("damage", ["{", "[]", '{"as_of": 0, "at": 1e9}', '{"as_of": 0, "at": 2e9, "messages": {}}'])
def test_a_damaged_file_is_as_none(tea: Vault, damage: str) -> None:
    with relaying(tea) as relay:
        ask(relay, user(QUESTION))
        kept_files(tea)[0].write_text(damage, encoding="utf-8")
        prepared = ask(relay, user(QUESTION), model("80"), user("hi"))
        assert went(prepared)[0] == QUESTION and not prepared.memory.startswith("degraded")


def test_a_link_is_not_followed_and_the_client_is_told(tea: Vault, tmp_path: Path) -> None:
    with relaying(tea) as relay:
        ask(relay, user(QUESTION))
        (file,) = kept_files(tea)
        file.rename(tmp_path / "elsewhere")
        file.symlink_to(tmp_path / "elsewhere")
        before = (tmp_path / "elsewhere").read_bytes()
        prepared = ask(relay, user(QUESTION), model("80"), user("hi"))
        assert went(prepared)[0] == QUESTION and "earlier memory was not put back" in prepared.memory
        assert (tmp_path / "elsewhere").read_bytes() == before
        assert "memory is not kept for later requests" in ask(relay, user("something else")).memory


def test_a_conversation_is_forgotten_a_month_after_its_last_words(tea: Vault, now: Now) -> None:
    said = user(QUESTION), model("80"), user("hi")
    with relaying(tea) as relay:
        first = went(ask(relay, user(QUESTION)))[0]
        now.at += timedelta(seconds=MAX_AGE_S - 60)
        assert went(ask(relay, *said))[0] == first
        now.at += timedelta(seconds=MAX_AGE_S + 60)
        assert went(ask(relay, *said))[0] == QUESTION


def test_what_takes_more_room_than_the_conversation_itself_is_halved(tea: Vault) -> None:
    injections = Injections(tea, lambda: b"key")
    budget = tea.config.proxy_memory_tokens
    messages = [bytes([number]) * 16 for number in range(10)]

    def keep(own_tokens: int) -> list[int]:
        for message in messages:
            block = Injection("word" * (budget - 20))
            injections.keep(TALK, message, block, own_tokens, on_disk=True)
        found = injections.find(TALK, messages)
        return [number for number, message in enumerate(messages) if message in found]

    assert keep(10 * budget) == [*range(10)]
    assert keep(0) == [6, 7, 8, 9], "four fit"


def test_only_so_many_conversations_are_kept(tea: Vault) -> None:
    injections = Injections(tea, lambda: b"key")
    folder = tea.root / ".vault-memory/injected/alice"
    injections.keep(TALK, b"m", Injection("x"), 0, on_disk=True)
    for number in range(MAX_CONVERSATIONS + 10):
        (folder / f"{number}.json").write_text("{}")
    gone = folder.parent / "gone"
    gone.mkdir()
    (gone / "c.json").write_text("{}")
    for number in range(50):
        injections.keep(Conversation("alice", 0, f"c{number}"), b"m", Injection("x"), 0, on_disk=True)
    assert len(kept_files(tea)) <= MAX_CONVERSATIONS + 50 and not [*gone.iterdir()]
    assert injections.find(Conversation("alice", 0, "c49"), [b"m"])
