"""Who speaks in the recorded sessions: each request gives the words that were typed, and each question one turn."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tests.clients import recording
from vault_memory.core.chat import read_items, read_messages
from vault_memory.core.chat.request import read_chat

SESSIONS = sorted((Path(__file__).parent / "recorded").glob("*/*.jsonl"))


@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: f"{path.parent.name} {path.stem}")
def test_each_request_gives_the_words_that_were_typed(path: Path) -> None:
    expected = tomllib.loads((path.parent / "expected.toml").read_text(encoding="utf-8"))[path.stem]
    turns: dict[tuple[str, str], str] = {}
    for number, (exchange, turn) in enumerate(zip(recording.read(path), expected["requests"], strict=True), 1):
        messages = read_messages(exchange.body) or read_items(exchange.body)
        chat = read_chat(messages, (), dict(exchange.headers)) if messages else None
        if chat is None or chat.is_housekeeping:
            assert turn == 0, f"request {number} is of a turn"
            continue
        turns[chat.conversation, chat.key] = chat.words
        if turn == 0:
            assert chat.is_tool_round, f"request {number} is of no turn: {chat.words[:200]}"
        elif expected["turns"][turn - 1] not in expected.get("unknowable", ()):
            assert chat.words == expected["turns"][turn - 1], f"request {number}"
    assert len(turns) == len(expected["turns"])
