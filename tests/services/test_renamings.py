"""What was begun for a person is finished for that person, though the id is another's by now."""

from __future__ import annotations

import asyncio
import json
import threading
from datetime import timedelta
from pathlib import Path

import pytest

from tests.conftest import wait_until_inside
from tests.vaults import write
from vault_memory.adapters import files
from vault_memory.adapters.index import SqliteIndex
from vault_memory.core.chat import ChatResponse, read_request
from vault_memory.errors import Busy, IndexUnusable, NotFound
from vault_memory.services.admin.checks import CHECKS
from vault_memory.services.admin.doctor import doctor
from vault_memory.services.admin.users import rename_user
from vault_memory.services.indexing.reconcile import embed, reconcile
from vault_memory.services.notes.conversations import newest_turns
from vault_memory.services.profiles.preferences import set_preference
from vault_memory.services.proxy.relay import Relay
from vault_memory.services.proxy.turn_recorder import TurnRecorder, UserRequest
from vault_memory.services.retrieval.query import SearchQuery
from vault_memory.services.retrieval.search import find_passages, search
from vault_memory.services.turns import record_turn, record_turns
from vault_memory.services.turns.redactions import add_redactions, redactions
from vault_memory.services.turns.steps.markers import markers, set_untouched
from vault_memory.services.turns.steps.waiting import learn_from
from vault_memory.services.vault import Vault, open_vault

COMPLETE = ChatResponse("ok", is_complete=True)
TOOL_CALLS = ChatResponse("wait", is_complete=True, has_tool_calls=True)


def said(vault: Vault, words: str, user_id: str = "erin") -> UserRequest:
    chat = read_request({"messages": [{"role": "user", "content": words}]})
    assert chat is not None
    return UserRequest(chat, user_id, "c", vault.now(), as_of=vault.renamings())


def words(vault: Vault, user_id: str) -> list[str]:
    return [row["user_message"] for _, row in newest_turns(vault, user_id, 20)][::-1]


def test_chats_in_flight_are_recorded_to_the_person_and_not_to_the_id(vault: Vault) -> None:
    """An open tool loop and a response that comes late went to whoever had the id by then."""
    other = open_vault(vault.root, now=vault.now)  # `user rename` is another process
    recorder = TurnRecorder(vault)
    loop, late = said(vault, "my loop"), said(vault, "my stream")
    accepted = recorder.accept(loop)
    recorder.complete(loop, TOOL_CALLS, "", accepted)
    rename_user(other, "erin", "fred")
    assert vault.user_ids() == ["fred"]
    record_turn(other, "erin", "I am another one")
    reply = recorder.complete(loop, COMPLETE, "", accepted)
    assert reply and reply.user_id == "fred"
    for _ in range(2):  # a retry is still one
        recorder.complete(late, COMPLETE)
    recorder.complete(said(vault, "the new one speaks"), COMPLETE)
    assert words(vault, "fred") == ["my loop", "my stream"]
    assert [row["assistant_message"] for _, row in newest_turns(vault, "fred", 20)] == ["ok", "wait\n\nok"]
    assert words(vault, "erin") == ["I am another one", "the new one speaks"]


def test_a_loop_goes_on_under_the_new_id(vault: Vault) -> None:
    recorder = TurnRecorder(vault)
    recorder.complete(said(vault, "one"), TOOL_CALLS)
    rename_user(vault, "erin", "fred")
    recorder.complete(said(vault, "one", "fred"), COMPLETE)
    assert words(vault, "fred") == ["one"] and vault.user_ids() == ["fred"]


def test_a_turn_that_waits_for_a_renaming_follows_it(vault: Vault) -> None:
    record_turn(vault, "erin", "hello")
    before = vault.renamings()
    with vault.record_lock("erin"):
        said = {"user_message": "我喜歡暗色主題", "as_of": before}
        waiting = threading.Thread(target=record_turn, args=(vault, "erin"), kwargs=said)
        waiting.start()
        wait_until_inside(waiting, files.lock)
        (vault.root / "memory/erin").rename(vault.root / "memory/fred")
        vault.log_renaming("erin", "fred")
    waiting.join(60)
    assert vault.user_ids() == ["fred"] and words(vault, "fred") == ["hello", "我喜歡暗色主題"]
    assert record_turn(vault, "erin", "later", as_of=before).user_id == "fred"
    with pytest.raises(NotFound, match="has got the id 'fred'"):
        record_turn(vault, "fred", "who had no folder", as_of=before)


def test_a_change_that_waits_for_a_renaming_is_refused(vault: Vault) -> None:
    """It would bring the old id back to life."""
    record_turn(vault, "erin", "hello")
    errors: list[Exception] = []

    def change() -> None:
        try:
            set_preference(vault, "erin", "theme", "dark")
        except Exception as error:
            errors.append(error)

    with vault.lock("erin"):
        waiting = threading.Thread(target=change)
        waiting.start()
        wait_until_inside(waiting, files.lock)
        (vault.root / "memory/erin").rename(vault.root / "memory/fred")
        vault.log_renaming("erin", "fred")
    waiting.join(60)
    assert [type(error) for error in errors] == [Busy] and "'fred'" in str(errors[0])
    assert vault.user_ids() == ["fred"]


def test_the_memory_of_one_person_is_never_in_a_chat_of_another(vault: Vault) -> None:
    """For a minute after, the next one with an id got the block of the one before."""
    question = "What is the secret tea?"
    write(vault, "carl", "notes/tea.md", "# Tea\n\nThe secret tea is heliotrope.\n")
    reconcile(vault, "carl")
    patient = open_vault(vault.root, now=vault.now, proxy_memory_timeout_ms=20_000)
    relay, body = Relay(patient), json.dumps({"messages": [{"role": "user", "content": question}]}).encode()

    def ask(as_of: int | None = None) -> tuple[bytes, str]:
        async def prepare() -> tuple[bytes, str]:
            prepared = await relay.prepare(body, await relay.read(body), "carl", "c", as_of=as_of)
            return prepared.body, prepared.memory

        return asyncio.run(prepare())

    before = vault.renamings()
    assert b"heliotrope" in ask()[0]
    rename_user(vault, "carl", "dora")
    record_turn(vault, "carl", "I am another one")
    assert b"heliotrope" not in ask()[0]
    theirs, status = ask(before)
    assert theirs == body and "'dora'" in status, "the first carl, whose token was checked before it ended"
    asyncio.run(relay.close())


def test_the_log_of_renamings_is_private_and_may_be_deleted(vault: Vault) -> None:
    record_turn(vault, "erin", "hello")
    rename_user(vault, "erin", "fred")
    log = Path(vault.root / ".vault-memory/renamings")
    assert log.stat().st_mode & 0o777 == 0o600 and vault.id_now("erin", 0)[0] == "fred"
    as_of = vault.renamings()
    log.unlink()
    assert vault.id_now("fred", as_of) == ("fred", 0)


def test_no_reader_brings_an_id_back(vault: Vault) -> None:
    """Whatever was in flight with an id whose user has another one by now finds nobody, and makes no folder."""
    record_turn(vault, "erin", "the codename is quokka", learn=False)
    index, as_of, [marker] = vault.index("erin"), vault.renamings(), markers(vault, "erin")
    (vault.root / "memory/erin").rename(vault.root / "memory/fred")  # as `rename_user` does; the log comes next
    for read in (index.stats, lambda: vault.index("erin").stats(), lambda: set_untouched(vault, "erin", marker)):
        with pytest.raises((IndexUnusable, FileNotFoundError)):
            read()
    assert not reconcile(vault, "erin").indexed and embed(vault, "erin") == 0 == learn_from(vault, "erin", [marker], 0)
    assert not list(newest_turns(vault, "erin", 5)) and vault.user_ids() == ["fred"]
    vault.log_renaming("erin", "fred")
    add_redactions(vault, "erin", {"api-key": 1}, as_of)
    assert redactions(vault, "erin") == {} and redactions(vault, "fred") == {"api-key": 1}


def test_who_reads_while_a_user_is_renamed_is_told_that_nobody_has_the_id(vault: Vault) -> None:
    record_turn(vault, "erin", "hello")
    with pytest.raises(NotFound, match="'erin'"), vault.reading("erin"):
        (vault.root / "memory/erin").rename(vault.root / "memory/fred")
        find_passages(vault, "erin", SearchQuery("hello"))
    with pytest.raises(NotFound, match="'fred'"), vault.reading("fred"):
        (vault.root / "memory/fred").rename(vault.root / "memory/erin")
    assert vault.user_ids() == ["erin"]


def test_an_index_alone_is_no_user(vault: Vault) -> None:
    record_turn(vault, "erin", "hello")
    for name in ("ghost", "other"):
        (vault.root / "memory" / name).mkdir()
        SqliteIndex(vault.root / "memory" / name / "index.db").stats()
    assert vault.user_ids() == ["erin"] and not vault.is_user("ghost")
    with pytest.raises(NotFound):
        vault.known_user("ghost")
    rename_user(vault, "erin", "ghost")
    assert words(vault, "ghost") == ["hello"]
    [found] = doctor(vault, checks=[check for check in CHECKS if check.name == "leftovers"])
    assert "memory/other" in found.message and found.fixable
    [found] = doctor(vault, checks=[check for check in CHECKS if check.name == "leftovers"], fix=True)
    assert found.ok and not (vault.root / "memory/other").exists()


def test_the_next_user_of_an_id_gets_no_index_of_the_last(vault: Vault, tmp_path: Path) -> None:
    """With `index_dir` the index does not move with the folder."""
    apart = open_vault(vault.root, now=vault.now, index_dir=str(tmp_path / "indexes"))
    turns = ({"created_at": vault.now() - timedelta(number), "learn": False} for number in range(6))  # as many records
    for _ in record_turns(apart, ({"user_id": "erin", "user_message": "quokka"} | turn for turn in turns)):
        pass
    assert search(apart, "erin", SearchQuery("quokka")).hits
    rename_user(apart, "erin", "fred")
    record_turn(apart, "erin", "hello")
    assert not search(apart, "erin", SearchQuery("quokka")).hits
    assert search(apart, "fred", SearchQuery("quokka")).hits


def test_a_piece_of_work_writes_nothing_to_whom_its_id_was_given(vault: Vault) -> None:
    other = open_vault(vault.root, now=vault.now)
    set_preference(vault, "erin", "theme", "dark")
    begun = vault.renamings()
    with pytest.raises(Busy, match="'fred'"), vault.meaning("erin", begun):
        rename_user(other, "erin", "fred")
        set_preference(other, "fred", "theme", "light")  # another id is none of its business
        set_preference(vault, "erin", "theme", "light")
    assert vault.user_ids() == ["fred"]
    record_turn(other, "erin", "I am another one")
    set_preference(vault, "erin", "theme", "light")
    with pytest.raises(Busy, match="'fred'"), vault.meaning("erin", begun):
        pytest.fail("nothing is begun")
