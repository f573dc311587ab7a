"""A scripted provider: one answer, said in the format of the API that was asked, as a whole or as a stream.

It knows OpenAI's chat completions and responses and Anthropic's messages, as far as real clients need them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.scripted_http import JSON, SSE, Received, Reply

CHAT, MESSAGES, RESPONSES = "/chat/completions", "/messages", "/responses"


@dataclass(frozen=True)
class Call:
    """A tool that the model calls."""

    name: str
    arguments: Mapping[str, Any]
    namespace: str = ""
    """Of OpenAI's Responses API: a group of tools, such as those of an MCP server in Codex."""


@dataclass(frozen=True)
class Answer:
    """What the model says, and the tools it calls."""

    text: str = ""
    calls: list[Call] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """For a recording."""
        return {"text": self.text, "calls": [{"name": each.name, "arguments": each.arguments} for each in self.calls]}

    @classmethod
    def of_json(cls, value: Mapping[str, Any]) -> Answer:
        """From a recording."""
        return cls(value["text"], [Call(each["name"], each["arguments"]) for each in value["calls"]])


def door(path: str) -> str | None:
    """Which of the three APIs a path asks; None: another address."""
    address = path.partition("?")[0].rstrip("/")
    return next((each for each in (CHAT, MESSAGES, RESPONSES) if address.endswith(each)), None)


def say(received: Received, answer: Answer, number: int = 1) -> Reply:
    """The reply to a request of one of the three APIs. `number` makes its ids: no two replies may have the same."""
    fields = received.fields
    is_stream = bool(fields.get("stream"))
    model = str(fields.get("model", "m"))
    api = door(received.path)
    if api == MESSAGES:
        return _messages(answer, model, number, is_stream)
    if api == RESPONSES:
        return _responses(answer, model, number, is_stream)
    return _chat(answer, model, number, is_stream)


def _reply(events: list[tuple[str, Any]], is_stream: bool, whole: Any, end: bytes = b"") -> Reply:
    if not is_stream:
        return Reply([json.dumps(whole, ensure_ascii=False).encode()], headers=dict(JSON))
    parts = [
        (f"event: {name}\n" if name else "").encode() + f"data: {json.dumps(event, ensure_ascii=False)}\n\n".encode()
        for name, event in events
    ]
    return Reply([*parts, *([end] if end else [])], headers=dict(SSE))


def _chat(answer: Answer, model: str, number: int, is_stream: bool) -> Reply:
    calls = [
        {
            "index": at,
            "id": f"call_{number:04}{at}",
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)},
        }
        for at, call in enumerate(answer.calls)
    ]
    end = "tool_calls" if calls else "stop"
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    head = {"id": f"chatcmpl-{number:04}", "created": 1_700_000_000, "model": model}
    message: dict[str, Any] = {"role": "assistant", "content": answer.text or None}
    if calls:
        message["tool_calls"] = [{key: value for key, value in call.items() if key != "index"} for call in calls]
    deltas: list[tuple[dict[str, Any], str | None]] = [({"role": "assistant", "content": ""}, None)]
    deltas += [({"content": answer.text}, None)] * bool(answer.text)
    deltas += [({"tool_calls": [call]}, None) for call in calls]
    deltas.append(({}, end))
    events: list[tuple[str, Any]] = [
        (
            "",
            head
            | {
                "object": "chat.completion.chunk",
                "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
            },
        )
        for delta, finish in deltas
    ]
    events.append(("", head | {"object": "chat.completion.chunk", "choices": [], "usage": usage}))
    whole = head | {
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": end}],
        "usage": usage,
    }
    return _reply(events, is_stream, whole, b"data: [DONE]\n\n")


def _messages(answer: Answer, model: str, number: int, is_stream: bool) -> Reply:
    blocks: list[dict[str, Any]] = [{"type": "text", "text": answer.text}] * bool(answer.text)
    blocks += [
        {"type": "tool_use", "id": f"toolu_{number:04}{at}", "name": call.name, "input": dict(call.arguments)}
        for at, call in enumerate(answer.calls)
    ]
    stop = "tool_use" if answer.calls else "end_turn"
    usage = {
        "input_tokens": 100,
        "output_tokens": 10,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
    }
    whole = {
        "id": f"msg_{number:04}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": blocks,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": usage,
    }
    events: list[tuple[str, Any]] = [
        (
            "message_start",
            {"type": "message_start", "message": whole | {"content": [], "stop_reason": None}},
        )
    ]
    for at, block in enumerate(blocks):
        is_text = block["type"] == "text"
        begun = block | ({"text": ""} if is_text else {"input": {}})
        delta = (
            {"type": "text_delta", "text": block["text"]}
            if is_text
            else {"type": "input_json_delta", "partial_json": json.dumps(block["input"], ensure_ascii=False)}
        )
        for event in (
            {"type": "content_block_start", "index": at, "content_block": begun},
            {"type": "content_block_delta", "index": at, "delta": delta},
            {"type": "content_block_stop", "index": at},
        ):
            events.append((str(event["type"]), event))
    delta = {"stop_reason": stop, "stop_sequence": None}
    events.append(("message_delta", {"type": "message_delta", "delta": delta, "usage": usage}))
    events.append(("message_stop", {"type": "message_stop"}))
    return _reply(events, is_stream, whole)


def _responses(answer: Answer, model: str, number: int, is_stream: bool) -> Reply:
    items: list[dict[str, Any]] = []
    if answer.text:
        part = {"type": "output_text", "text": answer.text, "annotations": []}
        items.append(
            {
                "id": f"msg_{number:04}",
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "content": [part],
            }
        )
    items += [
        {
            "id": f"fc_{number:04}{at}",
            "type": "function_call",
            "call_id": f"call_{number:04}{at}",
            "name": call.name,
            "arguments": json.dumps(call.arguments, ensure_ascii=False),
            "status": "completed",
            **({"namespace": call.namespace} if call.namespace else {}),
        }
        for at, call in enumerate(answer.calls)
    ]
    usage = {
        "input_tokens": 100,
        "output_tokens": 10,
        "total_tokens": 110,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    }
    head = {
        "id": f"resp_{number:04}",
        "object": "response",
        "created_at": 1_700_000_000,
        "model": model,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
    }
    whole = head | {"status": "completed", "output": items, "usage": usage}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": head | {"status": "in_progress", "output": []}}
    ]
    for at, item in enumerate(items):
        events.append({"type": "response.output_item.added", "output_index": at, "item": _begun(item)})
        where = {"item_id": item["id"], "output_index": at}
        if item["type"] == "message":
            part, where = item["content"][0], where | {"content_index": 0}
            events.append({"type": "response.content_part.added", **where, "part": part | {"text": ""}})
            events.append({"type": "response.output_text.delta", **where, "delta": part["text"], "logprobs": []})
            events.append({"type": "response.output_text.done", **where, "text": part["text"], "logprobs": []})
            events.append({"type": "response.content_part.done", **where, "part": part})
        else:
            given = item["arguments"]
            events.append({"type": "response.function_call_arguments.delta", **where, "delta": given})
            events.append({"type": "response.function_call_arguments.done", **where, "arguments": given})
        events.append({"type": "response.output_item.done", "output_index": at, "item": item})
    events.append({"type": "response.completed", "response": whole})
    numbered = [(str(event["type"]), event | {"sequence_number": at}) for at, event in enumerate(events)]
    return _reply(numbered, is_stream, whole)


def _begun(item: dict[str, Any]) -> dict[str, Any]:
    return item | {"status": "in_progress"} | ({"content": []} if item["type"] == "message" else {"arguments": ""})
