"""Conversations of Claude's export."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from typing import Any

from vault_memory.core.exports import FORMATS, Conversation
from vault_memory.core.exports.claude import UNSEEN

NOW = datetime(2026, 1, 30, 12, tzinfo=UTC)
CLAUDE = FORMATS["claude"]
ROOT = "00000000-0000-4000-8000-000000000000"


def message(name: str, sender: str, text: str, second: int = 0, **more: Any) -> dict[str, Any]:
    at = f"2025-03-01T10:00:{second:02}.123456Z"
    content = [{"type": "text", "text": text, "start_timestamp": at}]
    shown = {"uuid": name, "sender": sender, "text": text, "content": content, "created_at": at, "updated_at": at}
    return shown | {"attachments": [], "files": []} | more


def conversation(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    named = {"uuid": "u-1", "name": "x", "created_at": "2025-03-01T09:59:00Z", "updated_at": "2025-03-01T10:10:00Z"}
    return named | {"account": {"uuid": "a"}, "chat_messages": list(messages)} | more


def read(value: dict[str, Any]) -> Conversation:
    assert CLAUDE.is_conversation(value) and not FORMATS["chatgpt"].is_conversation(value)
    return CLAUDE.read(value, "alice", NOW)


def said(found: Conversation) -> list[tuple[str | None, str | None]]:
    return [(turn.user_message, turn.assistant_message) for turn in found.turns]


def test_messages_become_turns() -> None:
    found = read(conversation(message("1", "human", "Hi", 1), message("2", "assistant", "Hello", 2)))
    (turn,) = found.turns
    assert said(found) == [("Hi", "Hello")] and found.left_out == {}
    assert (turn.conversation_id, turn.backend) == ("u-1", "claude")
    assert turn.created_at == datetime(2025, 3, 1, 10, 0, 1, 123456, tzinfo=UTC)


def test_only_what_was_said_counts_of_the_blocks() -> None:
    blocks = [
        {"type": "thinking", "thinking": "hmm"},
        {"type": "tool_use", "name": "search", "input": {"query": "x"}},
        {"type": "tool_result", "content": [{"type": "text", "text": "found"}], "text": "found"},
        {"type": "text", "text": "Here it is."},
        {"type": "text", "text": "And more."},
    ]
    unsupported = "This block is not supported on your current device yet."
    found = read(
        conversation(
            message("1", "human", "Hi", 1),
            message("2", "assistant", f"{unsupported}\n\nHere it is.", 2, content=blocks),
            message("3", "assistant", unsupported, 3, content=blocks[:3]),
            message("4", "human", "an older export", 4, content=[]),
        )
    )
    assert said(found) == [("Hi", "Here it is.\n\nAnd more."), ("an older export", None)]
    assert found.left_out == {UNSEEN: 1}


def test_what_was_edited_away_is_left_out() -> None:
    rows = [
        message("1", "human", "Hi", 1, parent_message_uuid=ROOT),
        message("2", "assistant", "Hello", 2, parent_message_uuid="1"),
        message("3", "human", "Hi there", 3, parent_message_uuid=ROOT),
        message("4", "assistant", "Hello there", 4, parent_message_uuid="3"),
    ]
    assert said(read(conversation(*rows))) == [("Hi there", "Hello there")]
    found = read(conversation(*rows, current_leaf_message_uuid="2"))
    assert said(found) == [("Hi", "Hello")] and found.left_out == {UNSEEN: 2}
    rows[0]["parent_message_uuid"] = "2"
    assert said(read(conversation(*rows[:2]))) in ([("Hi", "Hello")], []), "a circle ends"


def test_what_was_pasted_or_attached_stands_beside_the_words() -> None:
    pasted = {"file_name": "", "file_type": "txt", "file_size": 9, "extracted_content": "long text\nof somebody"}
    plan = {"file_name": "plan.md", "extracted_content": "# Plan"}
    files = [{"file_name": "plan.md"}, {"file_name": "photo.png"}]
    (first, second) = read(
        conversation(
            message("1", "human", "", 1, content=[], attachments=[pasted, plan], files=files),
            message("2", "assistant", "Hello", 2),
            message("3", "human", "and now?", 3),
        )
    ).turns
    assert first.user_message == "" and second.context is None
    assert first.context == "[pasted]\nlong text\nof somebody\n[file: plan.md]\n# Plan\n[file: photo.png]"


def test_whatever_else_stands_there_breaks_nothing() -> None:
    seeded = random.Random(1)
    junk: list[Any] = [None, 5, "x", [], {}, [None], {"text": 5}, True]

    def spoiled(value: Any) -> Any:
        if seeded.random() < 0.1:
            return seeded.choice(junk)
        if isinstance(value, dict):
            return {key: spoiled(inner) for key, inner in value.items()}
        return [spoiled(inner) for inner in value] if isinstance(value, list) else value

    whole = conversation(
        message("1", "human", "Hi", 1, parent_message_uuid=ROOT, attachments=[{"file_name": "a"}]),
        message("2", "assistant", "Hello", 2, parent_message_uuid="1"),
    )
    for _ in range(500):
        value = spoiled(whole)
        if CLAUDE.is_conversation(value):
            for turn in CLAUDE.read(value, "alice", NOW).turns:
                assert turn.line() and turn.conversation_id
