"""The exports that are read: how each program's conversations are told, and how they become turns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from vault_memory.core.exports import chatgpt, claude
from vault_memory.core.exports.messages import Conversation


@dataclass(frozen=True)
class Format:
    """One program's export. `title` is its name for people; `read` takes (conversation, user id, now)."""

    title: str
    is_conversation: Callable[[Any], bool]
    read: Callable[[Any, str, datetime], Conversation]


FORMATS = {
    "chatgpt": Format("ChatGPT", chatgpt.is_conversation, chatgpt.read),
    "claude": Format("Claude", claude.is_conversation, claude.read),
}
