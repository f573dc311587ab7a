"""A provider of chat models that answers what the test scripts: a real HTTP server on a free port of this machine."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SSE = {"Content-Type": "text/event-stream; charset=utf-8"}


@dataclass
class Reply:
    """One answer: its `parts` are sent one by one, chunked. `hold` waits before the last part until the test lets go.

    `breaks` closes the connection where the answer's end should be; `silent` says nothing at all until then.
    """

    parts: list[bytes]
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})
    hold: bool = False
    breaks: bool = False
    silent: bool = False


@dataclass
class Received:
    """One request as it arrived."""

    method: str
    path: str
    headers: list[tuple[str, str]]
    body: bytes

    @property
    def fields(self) -> Any:
        return json.loads(self.body)

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)


@dataclass
class Provider:
    """What it will say (`script`; the last reply again and again) and what it was asked."""

    url: str = ""
    script: list[Reply] = field(default_factory=list)
    received: list[Received] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)
    broken_pipes: int = 0

    def will_say(self, *replies: Reply) -> None:
        self.script = list(replies)


def completion(text: str | None, **message: Any) -> Reply:
    """OpenAI's answer in one piece."""
    end = "tool_calls" if "tool_calls" in message else "stop"
    choice = {"index": 0, "message": {"role": "assistant", "content": text, **message}, "finish_reason": end}
    body = {"id": "c1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "x_unknown": 1.0}
    return Reply([json.dumps(body, ensure_ascii=False).encode()])


def chunks(*pieces: str, end: str = "stop", index: int = 0) -> list[bytes]:
    """OpenAI's answer as a stream of events."""
    events: list[dict[str, Any]] = [
        {"index": index, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}
    ]
    events += [{"index": index, "delta": {"content": piece}, "finish_reason": None} for piece in pieces]
    events.append({"index": index, "delta": {}, "finish_reason": end})
    head = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    lines = [json.dumps(head | {"choices": [event]}, ensure_ascii=False) for event in events]
    return [f"data: {line}\n\n".encode() for line in [*lines, "[DONE]"]]


def message(text: str, **more: Any) -> Reply:
    """Anthropic's answer in one piece."""
    body = {
        "id": "m1", "type": "message", "role": "assistant", "model": "m", "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn", "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1},
    }  # fmt: skip
    return Reply([json.dumps(body | more, ensure_ascii=False).encode()])


def message_events(*pieces: str) -> list[bytes]:
    """Anthropic's answer as a stream of events."""
    start = {"id": "m1", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": None}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": start | {"usage": {"input_tokens": 1, "output_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *(
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}}
            for piece in pieces
        ),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}},
        {"type": "message_stop"},
    ]
    return [f"event: {e['type']}\ndata: {json.dumps(e, ensure_ascii=False)}\n\n".encode() for e in events]


@contextmanager
def provider() -> Iterator[Provider]:
    """A server that runs until the end of the block."""
    state = Provider()

    class Endpoint(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            state.received.append(Received(self.command, self.path, list(self.headers.items()), body))
            reply = state.script.pop(0) if len(state.script) > 1 else state.script[0]
            if reply.silent:
                state.released.wait(30)
                self.close_connection = True
                return
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            try:
                for number, part in enumerate(reply.parts):
                    if reply.hold and number == len(reply.parts) - 1:
                        state.released.wait(30)
                    self.wfile.write(b"%x\r\n%b\r\n" % (len(part), part))
                if reply.breaks:
                    self.close_connection = True
                else:
                    self.wfile.write(b"0\r\n\r\n")
            except OSError:
                state.broken_pipes += 1
                self.close_connection = True

        do_GET = do_POST = do_DELETE = _answer

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield state
    finally:
        state.released.set()
        server.shutdown()
        server.server_close()
        thread.join()
