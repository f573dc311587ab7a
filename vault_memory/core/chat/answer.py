"""A chat model's answer, read out of what it sent: one JSON object or a stream of events, in OpenAI's form or Anthropic's."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from vault_memory.core.chat.request import text_of

_TOOL_ENDS = ("tool_calls", "function_call", "tool_use", "pause_turn")
_DONE = re.compile(rb"^data: ?\[DONE\]", re.MULTILINE)


@dataclass(frozen=True)
class Answer:
    """The `text` (of the first choice, if there are several). `is_whole`: the model said that it came to an end.

    `calls_tools`: it goes on when the client has called a tool. `failed`: what came is an error, or no answer at all.
    """

    text: str = ""
    is_whole: bool = False
    calls_tools: bool = False
    failed: bool = False


FAILED = Answer(failed=True)


def read(media_type: str, data: bytes) -> Answer:
    """The answer in `data`, which may break off anywhere; an event that is torn is left out."""
    if media_type.partition(";")[0].strip().lower() == "text/event-stream":
        return _streamed(_events(data), is_done=_DONE.search(data) is not None)
    try:
        said = json.loads(data)
    except (ValueError, RecursionError):
        return FAILED
    return _whole(said) if isinstance(said, Mapping) else FAILED


def _whole(said: Mapping[str, Any]) -> Answer:
    if said.get("type") == "message":
        return _ended(text_of(said.get("content")), said.get("stop_reason") or "end_turn")
    for choice in _first(said):
        message = choice.get("message")
        if isinstance(message, Mapping):
            text = text_of(message.get("content"))
            return _ended(text, choice.get("finish_reason") or "stop", bool(message.get("tool_calls")))
    return FAILED


def _streamed(events: Iterable[Mapping[str, Any]], *, is_done: bool) -> Answer:
    """`is_done`: the stream says that it is over, though some servers give no reason for the answer's end before."""
    pieces: list[str] = []
    end = ""
    failed = calls = False
    for event in events:
        failed = failed or bool(event.get("error")) or event.get("type") == "error"
        for choice in _first(event):
            delta = choice.get("delta")
            if isinstance(delta, Mapping):
                pieces.append(text_of(delta.get("content")))
                calls = calls or bool(delta.get("tool_calls"))
            end = str(choice.get("finish_reason") or end)
        delta = event.get("delta")
        if isinstance(delta, Mapping):
            text = delta.get("text") if delta.get("type") == "text_delta" else ""
            pieces.append(text if isinstance(text, str) else "")
            end = str(delta.get("stop_reason") or end)
    text = "".join(pieces)
    if failed or not (end or (is_done and (text or calls))):
        return Answer(text, failed=failed or not text)
    return _ended(text, end, calls)


def _ended(text: str, end: object, calls: bool = False) -> Answer:
    """`calls`: tools are called, whatever the reason that is given for the end: some servers say `stop`."""
    return Answer(text, is_whole=True, calls_tools=calls or end in _TOOL_ENDS)


def _first(said: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The choice of number 0, if there is one."""
    choices = said.get("choices")
    found = [c for c in choices if isinstance(c, Mapping)] if isinstance(choices, list) else []
    return [choice for choice in found if choice.get("index", 0) == 0][:1]


def _events(data: bytes) -> Iterable[Mapping[str, Any]]:
    """The data of each event that has come whole and is a JSON object; `[DONE]` is none."""
    text = data.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    for event in re.split(r"\n\n+", text):
        lines = [line[5:].removeprefix(" ") for line in event.split("\n") if line.startswith("data:")]
        try:
            said = json.loads("\n".join(lines))
        except (ValueError, RecursionError):
            continue
        if isinstance(said, Mapping):
            yield said
