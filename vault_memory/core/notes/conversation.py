"""The turn record: one exchange between a person and the assistant, one line of `conversations/YYYY-MM-DD.jsonl`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True)
class Turn:
    """One exchange. Only `conversation_id`, `user_id` and `created_at` are always there.

    `reflection` is {summary, causes[]}; `exit_code` is that of the program that made the reply, 0 for success; `cid` is an
    outside content address.
    """

    conversation_id: str
    user_id: str
    created_at: datetime
    user_message: str | None = None
    assistant_message: str | None = None
    reflection: Mapping[str, Any] | None = None
    cid: str | None = None
    skill: str | None = None
    backend: str | None = None
    exit_code: int | None = None

    def line(self) -> str:
        """The record as one line of JSON, real characters, without a line end."""
        row: dict[str, Any] = {
            "conversation_id": self.conversation_id,
            "user_id": self.user_id,
            "user_message": self.user_message,
            "assistant_message": self.assistant_message,
            "reflection": self.reflection,
            "cid": self.cid,
            "created_at": self.created_at.isoformat(timespec="seconds"),
        }
        extra = {"skill": self.skill, "backend": self.backend, "exit_code": self.exit_code}
        row |= {key: value for key, value in extra.items() if value is not None}
        return json.dumps(row, ensure_ascii=False)


def parse_line(line: str) -> dict[str, Any]:
    """A record from its line, in today's names; lines of the older form {timestamp, user, assistant, backend} are read too.

    Raises `ValueError` for what is not a JSON object.
    """
    row = json.loads(line)
    if not isinstance(row, dict):
        raise ValueError("a turn must be a JSON object")
    for old, new in (("timestamp", "created_at"), ("user", "user_message"), ("assistant", "assistant_message")):
        if old in row and new not in row:
            row[new] = row.pop(old)
    return row
