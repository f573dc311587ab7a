from __future__ import annotations

import json
from typing import Any

import pytest

from vault_memory.core.clients import HookEvent, conversation_of, read_hook_event
from vault_memory.errors import UsageError

PROMPT = {"hook_event_name": "UserPromptSubmit", "session_id": "s1", "prompt": "你好", "cwd": "/x"}


def test_an_event_is_read_and_answered() -> None:
    event = read_hook_event("claude-code", PROMPT)
    assert event is not None and event == HookEvent("UserPromptSubmit", "claude-code", "s1", "你好")
    assert event.is_asked
    answer = json.loads(event.answer("記得"))
    assert answer == {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "記得"}}
    assert event.answer("") == ""
    stop = read_hook_event("codex", PROMPT | {"hook_event_name": "Stop", "last_assistant_message": None})
    assert stop is not None and (stop.text, stop.is_asked) == ("", False)
    of_agent = read_hook_event("claude-code", PROMPT | {"agent_id": "a1"})
    assert of_agent is not None and not of_agent.is_asked
    assert read_hook_event("claude-code", PROMPT | {"hook_event_name": "SubagentStop"}) is None


@pytest.mark.parametrize("client", ["claude-code", "codex", "opencode"])
def test_the_session_is_the_conversation_of_the_client_s_requests(client: str) -> None:
    event = read_hook_event(client, PROMPT)
    assert event is not None and conversation_of(event.headers) == "s1"


@pytest.mark.parametrize(
    ("text", "is_command"),
    [
        ("/compact", True),
        ("/model opus", True),
        ("/plugin:deploy staging\nnow", True),
        ("!ls -la", True),
        ("/etc/hosts is empty", False),
        ("/ is full", False),
        ("what does /compact do", False),
    ],
)
def test_a_command_of_the_client_is_known(text: str, is_command: bool) -> None:
    assert HookEvent("UserPromptSubmit", "claude-code", "s1", text).is_command is is_command


@pytest.mark.parametrize(
    ("client", "fields", "why"),
    [
        ("netscape", PROMPT, "no client with hooks"),
        ("codex", [], "JSON object"),
        ("codex", PROMPT | {"hook_event_name": 5}, "no hook_event_name"),
        ("codex", PROMPT | {"session_id": " "}, "no session_id"),
        ("codex", PROMPT | {"session_id": None}, "no session_id"),
    ],
)
def test_what_is_no_event_is_refused(client: str, fields: Any, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        read_hook_event(client, fields)
