"""The exports that are read: how each program's conversations are told, and how they become turns."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

from vault_memory.core.exports import chatgpt, claude
from vault_memory.core.exports.messages import Conversation

_FILE = re.compile(r"conversations(?:-\d+)?\.json")


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


def is_export(member: str) -> bool:
    """Whether a file of an archive holds conversations, by its name: `conversations.json`, `conversations-000.json`, in
    any folder but the one for what macOS keeps beside files."""
    path = PurePosixPath(member.replace("\\", "/"))  # as some programs on Windows write it
    return _FILE.fullmatch(path.name) is not None and "__MACOSX" not in path.parts
