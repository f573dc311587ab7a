"""Claude's export: `conversations.json`, a list of conversations.

    {"uuid", "name", "created_at", "chat_messages": [{"uuid", "sender", "created_at", "text", "content", …}, …]}

`sender` is `human` or `assistant`. `content` are blocks: `text`, and `thinking`, `tool_use`, `tool_result` …, which
nobody has said; the message's `text` joins all of them, and marks in words what it cannot show. What a person has
pasted is often an attachment without a name, its text in `extracted_content`. Newer exports name the message before
each (`parent_message_uuid`), and hold those that were edited away, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from vault_memory.core.exports.messages import Conversation, Message, beside, conversation_of, time_of

UNSEEN = "messages that were edited away, or say nothing"
_SAID = ("text", "voice_note")


def is_conversation(value: Any) -> bool:
    """Whether a value of JSON is one of Claude's conversations."""
    return isinstance(value, dict) and isinstance(value.get("chat_messages"), list)


def read(value: Mapping[str, Any], user_id: str, now: datetime) -> Conversation:
    """The turns of a conversation (`is_conversation`), as the person has seen it last."""
    rows = [row for row in value["chat_messages"] if isinstance(row, dict)]
    messages = [message for row in _branch(rows, value.get("current_leaf_message_uuid")) if (message := _message(row))]
    begun_at = time_of(value.get("created_at"))
    found = conversation_of(user_id, "claude", value.get("uuid"), messages, begun_at, now)
    if unseen := len(value["chat_messages"]) - len(messages):
        found.left_out[UNSEEN] += unseen
    return found


def _branch(rows: list[dict[str, Any]], leaf: Any) -> list[dict[str, Any]]:
    """The messages from the first to the one that was seen last; all of them where none names the one before it."""
    by_name = {row["uuid"]: row for row in rows if isinstance(row.get("uuid"), str)}
    before = {name: row.get("parent_message_uuid") for name, row in by_name.items()}
    if not any(parent in by_name for parent in before.values() if isinstance(parent, str)):
        return rows
    if leaf not in by_name:
        leaves = [name for name in by_name if name not in before.values()]
        leaf = max(leaves, key=lambda name: str(by_name[name].get("created_at")), default=None)
    way: dict[str, dict[str, Any]] = {}
    while isinstance(leaf, str) and leaf in by_name and leaf not in way:
        way[leaf] = by_name[leaf]
        leaf = before[leaf]
    return list(way.values())[::-1]


def _message(row: Mapping[str, Any]) -> Message | None:
    """What a person has seen of a message; None for nothing."""
    if row.get("sender") not in ("human", "assistant"):
        return None
    blocks = [block for block in _list(row.get("content")) if isinstance(block, dict)]
    said = [str(block.get("text") or "").strip() for block in blocks if block.get("type") in _SAID]
    texts = list(filter(None, said))
    if not blocks and isinstance(row.get("text"), str):
        texts = [row["text"].strip()]
    kinds = Counter("image" for block in blocks if block.get("type") == "image")
    message = Message(
        row["sender"] == "human", "\n\n".join(texts), time_of(row.get("created_at")), beside(kinds, _files(row))
    )
    return message if message.text or message.beside else None


def _files(row: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """(kind, name, text) of each file that came with a message, once."""
    found: dict[tuple[str, str], tuple[str, str, str]] = {}
    for each in [*_list(row.get("attachments")), *_list(row.get("files"))]:
        if isinstance(each, dict):
            name, text = (str(each.get(key) or "") for key in ("file_name", "extracted_content"))
            if not any(known == name for known, _ in found) or text:
                found[name, text] = ("file" if name else "pasted", name, text.strip())
    return list(found.values())


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
