"""A chat model's response: one JSON object or a stream of events, in OpenAI's format or Anthropic's."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from vault_memory.core.chat.request import text_of

_TOOL_FINISH_REASONS = ("tool_calls", "function_call", "tool_use", "pause_turn")
_DONE = re.compile(rb"^data: ?\[DONE\]", re.MULTILINE)


@dataclass(frozen=True)
class ChatResponse:
    """A response and its `text` (of the first choice, if there are several). `is_complete`: the model ended it.

    `has_tool_calls`: the model goes on when the client has run a tool. `is_error`: an error, or not a chat response.
    """

    text: str = ""
    is_complete: bool = False
    has_tool_calls: bool = False
    is_error: bool = False


ERROR_RESPONSE = ChatResponse(is_error=True)


def read_response(media_type: str, data: bytes) -> ChatResponse:
    """The response in `data`, which may break off anywhere; an incomplete event is left out."""
    if media_type.partition(";")[0].strip().lower() == "text/event-stream":
        return _from_events(_events(data), is_done=_DONE.search(data) is not None)
    try:
        body = json.loads(data)
    except (ValueError, RecursionError):
        return ERROR_RESPONSE
    return _from_object(body) if isinstance(body, Mapping) else ERROR_RESPONSE


def _from_object(body: Mapping[str, Any]) -> ChatResponse:
    if body.get("type") == "message":
        return _complete(text_of(body.get("content")), body.get("stop_reason") or "end_turn")
    for choice in _first_choice(body):
        message = choice.get("message")
        if isinstance(message, Mapping):
            text = text_of(message.get("content"))
            return _complete(text, choice.get("finish_reason") or "stop", bool(message.get("tool_calls")))
    return ERROR_RESPONSE


def _from_events(events: Iterable[Mapping[str, Any]], *, is_done: bool) -> ChatResponse:
    """`is_done`: the stream ended with `[DONE]`; some servers send that and give no finish reason before it."""
    texts: list[str] = []
    finish_reason = ""
    is_error = has_tool_calls = False
    for event in events:
        is_error = is_error or bool(event.get("error")) or event.get("type") == "error"
        for choice in _first_choice(event):
            delta = choice.get("delta")
            if isinstance(delta, Mapping):
                texts.append(text_of(delta.get("content")))
                has_tool_calls = has_tool_calls or bool(delta.get("tool_calls"))
            finish_reason = str(choice.get("finish_reason") or finish_reason)
        delta = event.get("delta")
        if isinstance(delta, Mapping):
            text = delta.get("text") if delta.get("type") == "text_delta" else ""
            texts.append(text if isinstance(text, str) else "")
            finish_reason = str(delta.get("stop_reason") or finish_reason)
    text = "".join(texts)
    if is_error or not (finish_reason or (is_done and (text or has_tool_calls))):
        return ChatResponse(text, is_error=is_error or not text)
    return _complete(text, finish_reason, has_tool_calls)


def _complete(text: str, finish_reason: object, has_tool_calls: bool = False) -> ChatResponse:
    """Tool calls count whatever the finish reason is: some servers send `stop` with them."""
    return ChatResponse(text, is_complete=True, has_tool_calls=has_tool_calls or finish_reason in _TOOL_FINISH_REASONS)


def _first_choice(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The choice with index 0, if there is one."""
    choices = body.get("choices")
    maps = [c for c in choices if isinstance(c, Mapping)] if isinstance(choices, list) else []
    return [choice for choice in maps if choice.get("index", 0) == 0][:1]


def _events(data: bytes) -> Iterable[Mapping[str, Any]]:
    """The data of each complete event that is a JSON object; `[DONE]` is not one."""
    text = data.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    for event in re.split(r"\n\n+", text):
        lines = [line[5:].removeprefix(" ") for line in event.split("\n") if line.startswith("data:")]
        try:
            body = json.loads("\n".join(lines))
        except (ValueError, RecursionError):
            continue
        if isinstance(body, Mapping):
            yield body
