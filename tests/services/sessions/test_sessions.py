from __future__ import annotations

from typing import Any

import pytest

from vault_memory.core.chat import ChatResponse, read_request
from vault_memory.core.clients import HookEvent
from vault_memory.errors import NotFound
from vault_memory.services.admin import rename_user
from vault_memory.services.memories import list_memories, remember
from vault_memory.services.notes import newest_turns
from vault_memory.services.profiles import set_preference, user_profile
from vault_memory.services.proxy import TurnRecorder, UserRequest
from vault_memory.services.sessions.sessions import Sessions
from vault_memory.services.vault import Vault, open_vault


@pytest.fixture
def sessions(vault: Vault) -> Sessions:
    set_preference(vault, "alice", "theme", "dark")
    remember(vault, "alice", "My dog is called Rex")
    return Sessions(vault)


def happen(sessions: Sessions, name: str, text: str = "", session: str = "s1", **more: Any) -> str:
    """Have something happen in a session of alice's, and all that comes of it done."""
    answer, work = sessions.answer("alice", HookEvent(name, more.pop("client", "claude-code"), session, text, **more))
    work()
    return answer


def turns(vault: Vault) -> list[tuple[str, str]]:
    found = [turn for _, turn in newest_turns(vault, "alice", 20)][::-1]
    return [(str(each["user_message"] or each.get("context")), str(each["assistant_message"] or "")) for each in found]


def test_a_session_gets_the_profile_once_and_what_bears_on_each_question(sessions: Sessions) -> None:
    begun = happen(sessions, "SessionStart")
    assert "dark" in begun
    assert "Rex" not in begun
    asked = happen(sessions, "UserPromptSubmit", "What is my dog called?")
    assert "Rex" in asked
    assert "dark" not in asked
    assert "Rex" not in happen(sessions, "UserPromptSubmit", "And how old is my dog?")  # it was given before
    happen(sessions, "PreCompact")
    assert "dark" in happen(sessions, "SessionStart")
    assert "Rex" in happen(sessions, "UserPromptSubmit", "What was my dog called?")


def test_a_question_without_a_beginning_gets_the_profile_too(sessions: Sessions) -> None:
    asked = happen(sessions, "UserPromptSubmit", "What is my dog called?")
    assert "dark" in asked
    assert "Rex" in asked


def test_words_and_reply_are_one_turn_and_are_learned_from(sessions: Sessions, vault: Vault) -> None:
    happen(sessions, "UserPromptSubmit", "以後後端都用 Rust")
    assert turns(vault) == [("以後後端都用 Rust", "")]
    happen(sessions, "Stop", "好的")
    happen(sessions, "Stop", "好的")
    assert turns(vault) == [("以後後端都用 Rust", "好的")]
    assert user_profile(vault, "alice").preferences["languages"] == ["Rust"]


def test_the_same_words_again_are_another_turn(sessions: Sessions, vault: Vault) -> None:
    for _ in range(2):
        happen(sessions, "UserPromptSubmit", "go on")
        happen(sessions, "Stop", "Done.")
    happen(sessions, "UserPromptSubmit", "go on", session="s2")
    assert turns(vault) == [("go on", "Done."), ("go on", "Done."), ("go on", "")]


def test_a_reply_goes_to_its_own_question(sessions: Sessions, vault: Vault) -> None:
    """The next question may come before the reply to the last one is written."""
    _, record = sessions.answer("alice", HookEvent("UserPromptSubmit", "codex", "s1", "first"))
    _, reply = sessions.answer("alice", HookEvent("Stop", "codex", "s1", "one"))
    _, record_next = sessions.answer("alice", HookEvent("UserPromptSubmit", "codex", "s1", "second"))
    for work in (record, reply, record_next):
        work()
    assert turns(vault) == [("first", "one"), ("second", "")]


@pytest.mark.parametrize(
    ("client", "typed", "words"),
    [
        ("claude-code", "<system-reminder>\nI prefer Vue.\n</system-reminder>", None),
        ("opencode", '"I like light themes"', "I like light themes"),
        ("codex", "I like light themes\nOutput of ls:\nI prefer Vue.", "I like light themes"),
        ("claude-code", "  ", None),
        ("codex", "Give this conversation a name. I prefer Vue.", None),
    ],
)
def test_only_the_person_s_words_count(
    sessions: Sessions, vault: Vault, client: str, typed: str, words: str | None
) -> None:
    """The rules are those of the proxy: what a program or a document says teaches nothing."""
    happen(sessions, "UserPromptSubmit", typed, client=client)
    assert [said for said, _ in turns(vault)] == ([words] if words else [])
    assert "preferred_frameworks" not in user_profile(vault, "alice").preferences


def test_an_agent_that_another_has_called_is_not_the_person(sessions: Sessions, vault: Vault) -> None:
    assert happen(sessions, "UserPromptSubmit", "I prefer Vue", is_of_agent=True) == ""
    assert turns(vault) == []


def test_secrets_do_not_reach_the_disk_nor_the_reply(sessions: Sessions, vault: Vault) -> None:
    happen(sessions, "UserPromptSubmit", "my password is hunter2secret, log in")
    happen(sessions, "Stop", "I used hunter2secret.")
    written = [path.read_bytes() for path in vault.root.rglob("*") if path.is_file()]
    assert not any(b"hunter2secret" in content for content in written)


def test_off_the_record_nothing_is_kept(vault: Vault) -> None:
    off = open_vault(vault.root, now=vault.now, off_record=["alice"])
    sessions = Sessions(off)
    happen(sessions, "UserPromptSubmit", "I prefer Vue")
    happen(sessions, "Stop", "Noted.")
    happen(sessions, "SessionEnd")
    assert not off.is_user("alice")


def test_the_end_leaves_no_log_uncommitted(sessions: Sessions, vault: Vault) -> None:
    happen(sessions, "SessionEnd", session="nothing was said in it")
    happen(sessions, "UserPromptSubmit", "What is new?")
    happen(sessions, "Stop", "Nothing.")
    happen(sessions, "SessionEnd")
    assert not vault.history.has_waiting()
    assert [each.memory.content for each in list_memories(vault, "alice")] == ["My dog is called Rex"]


def test_nobody_begins_under_an_id_that_was_given_up(sessions: Sessions, vault: Vault) -> None:
    """The hooks of an assistant still name it; who takes it on purpose has it."""
    happen(sessions, "UserPromptSubmit", "What is new?")
    rename_user(vault, "alice", "carol")
    with pytest.raises(NotFound, match="'alice' has the id 'carol' now: connect the assistant again"):
        happen(sessions, "UserPromptSubmit", "I prefer light themes")
    assert vault.user_ids() == ["carol"]
    set_preference(vault, "alice", "theme", "light")
    assert "light" in happen(sessions, "UserPromptSubmit", "What is new?", session="s2")


@pytest.mark.parametrize("is_same_process", [True, False])
def test_a_session_stays_with_the_person_with_whom_it_began(
    sessions: Sessions, vault: Vault, is_same_process: bool
) -> None:
    set_preference(vault, "bob", "theme", "light")
    happen(sessions, "UserPromptSubmit", "What is new?")
    rename_user(vault, "alice", "carol")
    rename_user(vault, "bob", "alice")
    later = sessions if is_same_process else Sessions(vault)
    for name in ("UserPromptSubmit", "Stop", "SessionStart", "SessionEnd"):
        with pytest.raises(NotFound, match="'alice' has the id 'carol' now: connect the assistant again"):
            happen(later, name, "I prefer Rust")
    assert turns(vault) == []
    assert "light" in happen(later, "UserPromptSubmit", "What is new?", session="s2")


@pytest.mark.parametrize("is_same_process", [True, False])
def test_a_session_that_began_as_nobodys_is_not_of_who_gets_the_id(vault: Vault, is_same_process: bool) -> None:
    remember(vault, "bob", "My boat is called Ada")
    first = Sessions(vault)
    happen(first, "SessionStart")
    rename_user(vault, "bob", "alice")
    later = first if is_same_process else Sessions(vault)
    with pytest.raises(NotFound, match="'bob' has got the id 'alice' meanwhile"):
        happen(later, "UserPromptSubmit", "What is my boat called?")
    assert turns(vault) == []


def test_a_session_goes_on_where_a_renaming_was_taken_back(sessions: Sessions, vault: Vault) -> None:
    happen(sessions, "UserPromptSubmit", "What is new?")
    rename_user(vault, "alice", "carol")
    rename_user(vault, "carol", "alice")
    happen(sessions, "UserPromptSubmit", "And now?")
    happen(sessions, "Stop", "Nothing.")
    assert turns(vault) == [("What is new?", ""), ("And now?", "Nothing.")]


def test_of_a_long_prompt_both_ends_are_searched_for_and_all_is_kept(sessions: Sessions, vault: Vault) -> None:
    """To search for a megabyte takes seconds, while the person waits."""
    text = "Look at this log.\n" + "lighthouse " * 50_000 + "\nWhat is my dog called?"
    assert "Rex" in happen(sessions, "UserPromptSubmit", text)
    happen(sessions, "Stop", "Rex.")
    happen(sessions, "UserPromptSubmit", text)
    happen(sessions, "UserPromptSubmit", "short")
    assert [(len(words), reply) for words, reply in turns(vault)] == [(len(text), "Rex."), (len(text), ""), (5, "")]


def test_a_command_of_the_client_is_a_turn_when_the_model_replies(sessions: Sessions, vault: Vault) -> None:
    """What only the client obeys (`/compact`, `!ls`) has no reply."""
    for typed in ("/compact", "/model opus", "!ls"):
        happen(sessions, "UserPromptSubmit", typed)
    happen(sessions, "UserPromptSubmit", "/deploy I prefer Vue")
    happen(sessions, "Stop", "Deployed.")
    happen(sessions, "UserPromptSubmit", "/etc/hosts is empty")
    assert turns(vault) == [("/deploy I prefer Vue", "Deployed."), ("/etc/hosts is empty", "")]


@pytest.mark.parametrize("is_kept", [False, True])
def test_what_was_not_answered_and_is_said_again_is_one_turn_with_the_proxy(
    sessions: Sessions, vault: Vault, is_kept: bool
) -> None:
    """Esc: the client takes the words back out of the conversation, or keeps them; only its request tells."""
    proxy = TurnRecorder(vault)
    happen(sessions, "UserPromptSubmit", "go on")
    happen(sessions, "UserPromptSubmit", "go on")
    assert turns(vault) == [("go on", "")]
    messages = [{"role": "user", "content": "go on"}, {"role": "assistant", "content": "I w"}] if is_kept else []
    fields = {"messages": [*messages, {"role": "user", "content": "go on"}], "tools": [{}]}
    chat = read_request(fields, headers={"x-claude-code-session-id": "s1"})
    assert chat is not None
    request = UserRequest(chat, "alice", "s1", vault.now())
    accepted = proxy.accept(request)
    happen(sessions, "Stop", "Done.")
    proxy.complete(request, ChatResponse("Done.", is_complete=True), accepted=accepted)
    happen(sessions, "UserPromptSubmit", "and now?")
    assert turns(vault) == [*([("go on", "")] if is_kept else []), ("go on", "Done."), ("and now?", "")]
