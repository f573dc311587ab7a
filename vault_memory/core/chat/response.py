"""A chat model's response: one JSON object or a stream of events, in one of OpenAI's formats or Anthropic's.

A stream of a long response has many times the size of its text. It is read as it comes, and only the text is kept.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from vault_memory.core.chat.items import Output
from vault_memory.core.chat.messages import text_of
from vault_memory.core.chat.shortened import MAX_READ_BYTES, is_readable

READ_AT_BYTES = 64 << 10
"""The events of a stream are read when so many bytes of it have come."""
MAX_EVENT_LINES = 1_000
"""Servers write an event in two or three; each line of it takes many times its size while it is read."""
MAX_TEXT_BYTES = 4 << 20
"""The text of a stream is kept up to this size in memory; in some scripts a character takes four bytes."""
_FIRST = (0, None, "0")
_TOOL_FINISH_REASONS = ("tool_calls", "function_call", "tool_use", "pause_turn")
_DONE = re.compile(rb"^data: ?\[DONE\]", re.MULTILINE)
_NO_DATA_LINES = re.compile(rb"(?:\n(?!data:)[^\n]++(?=\n))++")
_BLANK_LINES = re.compile(rb"\n\n\n+")
_DATA = b"data:"
_OBJECT = re.compile(rb"\s*+(?:data:\s*+)++\{")
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class ChatResponse:
    """A response and its `text` (of the first choice, if there are several). `is_complete`: the model ended it, and all
    of it was read.

    `has_tool_calls`: the model goes on when the client has run a tool. `is_error`: an error, or not a chat response.
    `is_readable`: not if nothing in it is in the format that its headers name, such as one in an encoding of its own,
    or if an event in it is not. `response_id`: by which a later request may go on from it (OpenAI's Responses API).
    `calls` are name and arguments of the tools that the client is to run, as far as they came.
    """

    text: str = ""
    is_complete: bool = False
    has_tool_calls: bool = False
    is_error: bool = False
    is_readable: bool = True
    response_id: str = ""
    calls: tuple[tuple[str, str], ...] = ()


ERROR_RESPONSE = ChatResponse(is_error=True)
UNREADABLE_RESPONSE = ChatResponse(is_error=True, is_readable=False)


def read_response(media_type: str, data: bytes) -> ChatResponse:
    """The response in `data`, which may break off anywhere; an incomplete event is left out."""
    reader = ResponseReader(media_type)
    reader.add(data)
    return reader.response()


class ResponseReader:
    """Reads a response from parts: `add` each, `read_on` when `is_due`, and at the end ask for the `response`.

    `is_cut`: the response is too large to be kept; what came before that is its text.
    """

    def __init__(self, media_type: str) -> None:
        self.is_stream = media_type.partition(";")[0].strip().lower() == "text/event-stream"
        self._unread = bytearray()
        self._read_at_bytes = READ_AT_BYTES
        self._stream = _Stream()
        self._has_begun = False
        self.is_cut = False

    @property
    def kept_bytes(self) -> int:
        """The memory that is taken."""
        return len(self._unread) + self._stream.text_bytes

    @property
    def is_due(self) -> bool:
        """Whether so much has come that `read_on` should be called; it may take some 50 ms."""
        return self.is_stream and len(self._unread) >= self._read_at_bytes

    def add(self, part: bytes) -> None:
        """Take the next bytes of the response."""
        if not self.is_cut:
            self._unread += part
            if not self.is_stream and len(self._unread) > MAX_READ_BYTES:
                self.cut()

    def cut(self) -> None:
        """Keep nothing of what is to come, and of what has come only the text that was read."""
        self._unread.clear()
        self.is_cut = True

    def read_on(self) -> None:
        """Read the events that are complete; of the rest only data is kept."""
        held = b"\r" if self._unread.endswith(b"\r") else b""  # the \n of an \r\n may be still to come
        lines = self._data_lines(len(self._unread) - len(held))
        end = lines.rfind(b"\n\n")
        if end >= 0:
            self._stream.take(lines[: end + 2])
            lines = lines[end:]
        last = lines.rfind(b"\n") + 1
        if len(lines) - last >= len(_DATA) and not lines.startswith(_DATA, last):
            lines = lines[:last] + b":"  # the rest of that line may be long
        self._unread = bytearray(lines + held)
        self._read_at_bytes = READ_AT_BYTES + len(self._unread) * 3 // 2  # it all is looked at each time
        if len(self._unread) > MAX_READ_BYTES or self._stream.text_bytes > MAX_TEXT_BYTES:
            self.cut()

    def response(self) -> ChatResponse:
        """The response as far as it came."""
        if self.is_stream:
            self._stream.take(self._data_lines(len(self._unread)))
            return self._stream.response()
        data = bytes(self._unread)
        if not is_readable(data):
            self.is_cut = True
            return ERROR_RESPONSE
        try:
            body = json.loads(data, strict=False)
        except (ValueError, RecursionError):
            return UNREADABLE_RESPONSE
        return _from_object(body) if isinstance(body, Mapping) else ERROR_RESPONSE

    def _data_lines(self, size: int) -> bytes:
        """The first bytes of what is unread: its lines of data, one blank line where there are several, and the last
        line, which may break off. Comments, other fields and a byte order mark say nothing, however much there is."""
        data = bytes(self._unread[:size])
        if not self._has_begun and size >= len(_BOM):
            self._has_begun, data = True, data.removeprefix(_BOM)
        lines = b"\n" + data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        return _BLANK_LINES.sub(b"\n\n", _NO_DATA_LINES.sub(b"", lines))[1:]


class _Stream:
    """What the events of a stream have said so far."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._finish_reason = ""
        self._is_error = self._has_tool_calls = self._is_done = False
        self.has_events = self._has_unreadable = self._has_deltas = False
        self._output = Output()
        self._calls: dict[int, tuple[list[str], list[str]]] = {}
        self.text_bytes = 0

    def take(self, lines: bytes) -> None:
        """Read the events in some lines."""
        self._is_done = self._is_done or _DONE.search(lines) is not None
        text = "".join(text for event in _events(lines) for text in self._read_or_miss(event))
        self._texts.append(text)
        self.text_bytes += sys.getsizeof(text)

    def _read_or_miss(self, event: Mapping[str, Any] | None) -> Iterable[str]:
        """The text of an event. One that cannot be read may have been text, as long as the model has not ended."""
        if event is not None:
            return self._read(event)
        self._has_unreadable = self._has_unreadable or not (self._finish_reason or self._output.status)
        return ()

    def _read(self, event: Mapping[str, Any]) -> Iterable[str]:
        """Keep what an event says of the response, and give its text.

        Some servers send messages in place of deltas, others all deltas once more as a message.
        """
        self.has_events = True
        self._is_error = self._is_error or bool(event.get("error")) or event.get("type") == "error"
        if str(event.get("type")).startswith("response."):
            yield self._output.read_event(event)
            return
        for choice in _first_choice(event):
            delta, message = choice.get("delta"), choice.get("message")
            if isinstance(delta, Mapping):
                piece = _said(delta)
                self._has_deltas = self._has_deltas or bool(piece)
                yield piece
                self._has_tool_calls = self._has_tool_calls or bool(delta.get("tool_calls"))
                self._add_calls(delta)
            if isinstance(message, Mapping):
                yield "" if self._has_deltas else _said(message)
                self._has_tool_calls = self._has_tool_calls or bool(message.get("tool_calls"))
                self._add_calls(message)
            self._finish_reason = str(choice.get("finish_reason") or self._finish_reason)
        delta, block, at = event.get("delta"), event.get("content_block"), event.get("index")
        if isinstance(block, Mapping) and block.get("type") == "tool_use":
            self._add_call(at, block.get("name"), "")
        if isinstance(delta, Mapping):
            if delta.get("type") == "input_json_delta":
                self._add_call(at, "", delta.get("partial_json"))
            text = delta.get("text") if delta.get("type") == "text_delta" else ""
            yield text if isinstance(text, str) else ""
            self._finish_reason = str(delta.get("stop_reason") or self._finish_reason)

    def _add_calls(self, message: Mapping[str, Any]) -> None:
        given = message.get("tool_calls")
        for position, call in enumerate(given if isinstance(given, list) else ()):
            function = call.get("function") if isinstance(call, Mapping) else None
            if isinstance(function, Mapping):
                self._add_call(call.get("index", position), function.get("name"), function.get("arguments"))

    def _add_call(self, at: object, *pieces: object) -> None:
        """Keep pieces of the name and the arguments of a call."""
        call = self._calls.setdefault(at if isinstance(at, int) else 0, ([], []))
        for kept, piece in zip(call, pieces, strict=True):
            if isinstance(piece, str) and piece:
                kept.append(piece)
                self.text_bytes += sys.getsizeof(piece)

    def response(self) -> ChatResponse:
        """Some servers end a stream with `[DONE]` and give no finish reason before it."""
        text, output = "".join(self._texts), self._output
        has_tool_calls = self._has_tool_calls or bool(output.calls)
        is_ended = self._finish_reason or output.is_ended or (self._is_done and (text or has_tool_calls))
        is_error = self._is_error or output.is_failed
        if is_error or self._has_unreadable or not is_ended:
            is_readable = (self.has_events or self._is_done) and not self._has_unreadable
            response = ChatResponse(text, is_error=is_error or not text, is_readable=is_readable)
        else:
            response = _complete(text, self._finish_reason, has_tool_calls)
        calls = [("".join(name), "".join(arguments)) for name, arguments in self._calls.values() if name]
        return replace(response, response_id=output.response_id, calls=(*output.calls, *calls))


def _from_object(body: Mapping[str, Any]) -> ChatResponse:
    if body.get("object") == "response":
        output = Output()
        text = output.read_body(body)
        if output.is_failed:
            return ChatResponse(text, is_error=True, response_id=output.response_id)
        # One in the background goes on: the client asks for it by its id.
        response = _complete(text, "", bool(output.calls) or not output.is_ended)
        return replace(response, response_id=output.response_id, calls=tuple(output.calls))
    if body.get("type") == "message":
        response = _complete(text_of(body.get("content")), body.get("stop_reason") or "end_turn")
        return replace(response, calls=tuple(_calls_of(body.get("content"))))
    for choice in _first_choice(body):
        message = choice.get("message")
        if isinstance(message, Mapping):
            response = _complete(_said(message), choice.get("finish_reason") or "stop", bool(message.get("tool_calls")))
            return replace(response, calls=tuple(_calls_of(message.get("tool_calls"))))
    return ERROR_RESPONSE


def _calls_of(given: object) -> Iterable[tuple[str, str]]:
    """Name and arguments of each call, in either API's form."""
    for call in given if isinstance(given, list) else ():
        inner = call.get("function", call) if isinstance(call, Mapping) else None
        if isinstance(inner, Mapping) and isinstance(inner.get("name"), str):
            arguments = inner.get("arguments", inner.get("input"))
            yield inner["name"], arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def _said(message: Mapping[str, Any]) -> str:
    """The text of a message, or of a delta of one. In OpenAI's format a model that declines says so in `refusal`."""
    return text_of(message.get("content")) or text_of(message.get("refusal"))


def _complete(text: str, finish_reason: object, has_tool_calls: bool = False) -> ChatResponse:
    """Tool calls count whatever the finish reason is: some servers send `stop` with them."""
    return ChatResponse(text, is_complete=True, has_tool_calls=has_tool_calls or finish_reason in _TOOL_FINISH_REASONS)


def _first_choice(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The choice with index 0, if there is one. Some servers send no index, null, or a string."""
    choices = body.get("choices")
    maps = [c for c in choices if isinstance(c, Mapping)] if isinstance(choices, list) else []
    return [choice for choice in maps if choice.get("index") in _FIRST][:1]


def _events(lines: bytes) -> Iterable[Mapping[str, Any] | None]:
    """The data of each event that is a JSON object; `[DONE]` is not one. None for one that is whole and cannot be read,
    such as one of too many lines. Control characters in a string are read, though JSON has them escaped."""
    start = 0
    while start < len(lines):
        end = lines.find(b"\n\n", start)
        event = lines[start : end if end >= 0 else len(lines)]
        start += len(event) + 2
        if not _OBJECT.match(event):
            continue
        body = _event(event)
        if body is not None or end >= 0:
            yield body


def _event(event: bytes) -> Mapping[str, Any] | None:
    if event.count(b"\n") > MAX_EVENT_LINES:
        return None
    data = b"\n".join(
        line.removeprefix(_DATA).removeprefix(b" ") for line in event.split(b"\n") if line.startswith(_DATA)
    )
    try:
        body = json.loads(data.decode("utf-8", "replace"), strict=False) if is_readable(data) else None
    except (ValueError, RecursionError):
        return None
    return body if isinstance(body, Mapping) else None
