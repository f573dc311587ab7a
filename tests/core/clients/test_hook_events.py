from __future__ import annotations

import json
from typing import Any

import pytest

from vault_memory.core.clients import HookEvent, conversation_of, read_hook_event
from vault_memory.errors import UsageError

PROMPT = {"hook_event_name": "UserPromptSubmit", "session_id": "s1", "prompt": "你好", "cwd": "/x"}


def test_an_event_is_read_and_answered() -> None:
    event = read_hook_event("claude-code", PROMPT)
    assert event == HookEvent("UserPromptSubmit", "claude-code", "s1", "你好")
    assert event.is_asked
    answer = json.loads(event.answer("記得"))
    assert answer == {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "記得"}}
    assert event.answer("") == ""
    stop = read_hook_event("codex", PROMPT | {"hook_event_name": "Stop", "last_assistant_message": None})
    assert (stop.text, stop.is_asked) == ("", False)
    assert not read_hook_event("claude-code", PROMPT | {"agent_id": "a1"}).is_asked


@pytest.mark.parametrize("client", ["claude-code", "codex", "opencode"])
def test_the_session_is_the_conversation_of_the_client_s_requests(client: str) -> None:
    assert conversation_of(read_hook_event(client, PROMPT).headers) == "s1"


@pytest.mark.parametrize(
    ("client", "fields", "why"),
    [
        ("netscape", PROMPT, "no client with hooks"),
        ("codex", [], "JSON object"),
        ("codex", PROMPT | {"hook_event_name": "Nope"}, "no event"),
        ("codex", PROMPT | {"session_id": " "}, "no session_id"),
        ("codex", PROMPT | {"session_id": None}, "no session_id"),
    ],
)
def test_what_is_no_event_is_refused(client: str, fields: Any, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        read_hook_event(client, fields)
