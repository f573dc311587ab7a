"""What the hooks of chat clients say, and what they may be answered.

A hook is a command that a client runs at a moment of its own, such as when its person has typed something: it gets an
event as JSON and may answer with a text for the model. Claude Code and Codex have one form, and our plugin for opencode
says the same.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vault_memory.errors import UsageError

START, PROMPT, STOP, COMPACT, END = "SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd"
HOOK_EVENTS = (START, PROMPT, STOP, COMPACT, END)
_TEXTS = {PROMPT: "prompt", STOP: "last_assistant_message"}
_HEADERS = {
    "claude-code": ("x-claude-code-session-id", {}),
    "codex": ("session-id", {}),
    "opencode": ("x-session-id", {"user-agent": "opencode/"}),
}
"""Client → the header by which its requests name the session, and others by which it is known there."""
HOOK_CLIENTS = tuple(_HEADERS)
MAX_SESSION_CHARS = 200
_COMMAND = re.compile(r"\s*(?:/[\w:-]+(?!\S)|!)")
"""A path (`/etc/hosts is empty`) is none."""


@dataclass(frozen=True)
class HookEvent:
    """What happens in a `session` of a client: its `name` is one of `HOOK_EVENTS`. `text` is what the person has typed
    (`PROMPT`), or the model's last words (`STOP`). `is_of_agent`: in an agent that another has called."""

    name: str
    client: str
    session: str
    text: str = ""
    is_of_agent: bool = False

    @property
    def is_command(self) -> bool:
        """Whether the person has typed a command of the client (`/model opus`, `!ls`): it may never reach the model."""
        return self.name == PROMPT and _COMMAND.match(self.text) is not None

    @property
    def headers(self) -> dict[str, str]:
        """The headers of a request of the same session, by which a chat knows its client and conversation."""
        name, others = _HEADERS[self.client]
        return {name: self.session, **others}

    @property
    def is_asked(self) -> bool:
        """Whether the client waits for a text for the model."""
        return self.name in (START, PROMPT) and not self.is_of_agent

    def answer(self, text: str) -> str:
        """A text for the model as the client reads it; "" for none."""
        if not text:
            return ""
        told = {"hookEventName": self.name, "additionalContext": text}
        return json.dumps({"hookSpecificOutput": told}, ensure_ascii=False)


def read_hook_event(client: str, fields: Any) -> HookEvent | None:
    """The event in parsed JSON; None for one of which nothing is to be remembered (`SubagentStop`). Raises `UsageError`
    for what is none of this client's."""
    if client not in _HEADERS:
        raise UsageError(f"{client[:60]!r} is no client with hooks; there are {', '.join(HOOK_CLIENTS)}")
    if not isinstance(fields, Mapping):
        raise UsageError("an event of a hook is a JSON object")
    name, session = fields.get("hook_event_name"), fields.get("session_id")
    if not isinstance(name, str) or not name:
        raise UsageError("the event has no hook_event_name")
    if name not in HOOK_EVENTS:
        return None
    if not isinstance(session, str) or not session.strip():
        raise UsageError(f"the event {name} names no session_id")
    text = fields.get(_TEXTS.get(name, ""))
    return HookEvent(
        name,
        client,
        session.strip()[:MAX_SESSION_CHARS],
        text if isinstance(text, str) else "",
        is_of_agent=bool(fields.get("agent_id")),
    )
