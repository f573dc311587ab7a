"""Texts that go to a chat model and come from it: a prompt's sections and budget, a client's request with the person's
words in it and memory put into it, and the model's response."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.core.chat import prompt
    from vault_memory.core.chat.escaping import escape, escape_line
    from vault_memory.core.chat.items import (
        ID_BYTES,
        Continued,
        find_response_id,
        is_ambiguous,
        is_continued_by_query,
        is_round_of_tools,
        is_unreadable,
        may_continue,
        read_continued,
        read_items,
    )
    from vault_memory.core.chat.messages import Messages, digests, read_messages
    from vault_memory.core.chat.place import Insertion, Place, find_place, find_places, inject
    from vault_memory.core.chat.prompt import Cut, Section, without_injected
    from vault_memory.core.chat.request import ChatRequest, conversation_id, read_chat, read_request
    from vault_memory.core.chat.response import ChatResponse, ResponseReader, read_response
    from vault_memory.core.chat.shortened import MAX_READ_BYTES, Shortened, has_more_values, shorten

__all__ = [
    "ID_BYTES",
    "MAX_READ_BYTES",
    "ChatRequest",
    "ChatResponse",
    "Continued",
    "Cut",
    "Insertion",
    "Messages",
    "Place",
    "ResponseReader",
    "Section",
    "Shortened",
    "conversation_id",
    "digests",
    "escape",
    "escape_line",
    "find_place",
    "find_places",
    "find_response_id",
    "has_more_values",
    "inject",
    "is_round_of_tools",
    "may_continue",
    "prompt",
    "read_chat",
    "read_continued",
    "read_items",
    "read_messages",
    "read_request",
    "read_response",
    "is_ambiguous",
    "is_continued_by_query",
    "is_unreadable",
    "shorten",
    "without_injected",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "ChatRequest": "request",
        "ChatResponse": "response",
        "Continued": "items",
        "Cut": "prompt",
        "ID_BYTES": "items",
        "Insertion": "place",
        "MAX_READ_BYTES": "shortened",
        "Messages": "messages",
        "Place": "place",
        "ResponseReader": "response",
        "Section": "prompt",
        "Shortened": "shortened",
        "conversation_id": "request",
        "digests": "messages",
        "escape": "escaping",
        "escape_line": "escaping",
        "find_place": "place",
        "find_places": "place",
        "find_response_id": "items",
        "has_more_values": "shortened",
        "inject": "place",
        "is_round_of_tools": "items",
        "may_continue": "items",
        "read_chat": "request",
        "read_continued": "items",
        "read_items": "items",
        "is_ambiguous": "items",
        "is_continued_by_query": "items",
        "is_unreadable": "items",
        "read_messages": "messages",
        "read_request": "request",
        "read_response": "response",
        "shorten": "shortened",
        "without_injected": "prompt",
    },
)
