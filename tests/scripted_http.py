"""The one scripted HTTP server of the tests: real HTTP on a free port of this machine, and the replies models give."""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

JSON = {"Content-Type": "application/json"}
SSE = {"Content-Type": "text/event-stream; charset=utf-8"}

Change = dict[str, str]


@dataclass
class Reply:
    """One reply. One part is sent with its length, several are sent chunked, one by one.

    `wait_s` is waited before anything is sent, `pause_s` before each part; `hold` waits before the last part. The
    server's `released` ends each of these waits. `breaks` closes the connection where the end of the reply should be,
    `silent` closes it without sending anything.
    """

    parts: list[bytes] = field(default_factory=list)
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: dict(JSON))
    wait_s: float = 0.0
    pause_s: float = 0.0
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

    @property
    def raw(self) -> bytes:
        lines = [f"{self.method} {self.path}", *(f"{name}: {value}" for name, value in self.headers)]
        return "\n".join([*lines, "", ""]).encode() + self.body

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)


Script = Reply | Callable[[Received], Reply]


@dataclass
class ScriptedServer:
    """A server between `with` and the end of the block: what it will reply, and what it received.

    `script` holds a reply, or a function that makes one from the request, for each request; its last entry is repeated.
    `answered` counts the replies of which all waits are over.
    """

    script: list[Script] = field(default_factory=list)
    url: str = ""
    received: list[Received] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)
    answered: int = 0
    broken_pipes: int = 0

    def will_say(self, *replies: Script | str | list[Change]) -> None:
        """Script the next replies: a text, or a list of changes, is said as a whole chat completion."""
        self.script = [completion(reply) if isinstance(reply, str | list) else reply for reply in replies]

    def chat_settings(self, **more: str) -> dict[str, str]:
        """The environment that makes this server a vault's chat model."""
        return {
            "VAULT_MEMORY_LLM_ENABLED": "1",
            "VAULT_MEMORY_LLM_BASE_URL": self.url,
            "VAULT_MEMORY_LLM_MODEL": "m",
        } | more

    def __enter__(self) -> Self:
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(self))
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,))
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._http.server_port}/v1"
        return self

    def __exit__(self, *_: object) -> None:
        self.released.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


def _handler_of(server: ScriptedServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _reply(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            body = self.rfile.read(length)
            if len(body) < length:  # its client was killed
                self.close_connection = True
                return
            received = Received(self.command, self.path, list(self.headers.items()), body)
            server.received.append(received)
            script = server.script.pop(0) if len(server.script) > 1 else server.script[0]
            reply = script if isinstance(script, Reply) else script(received)
            server.released.wait(reply.wait_s)
            self.close_connection = reply.breaks or reply.silent
            if reply.silent:
                return
            try:
                self._send(reply)
            except OSError:  # the client hung up
                server.broken_pipes += 1
                self.close_connection = True

        def _send(self, reply: Reply) -> None:
            is_chunked = len(reply.parts) > 1
            self.send_response(reply.status)
            for name, value in (JSON | reply.headers).items():
                self.send_header(name, value)
            if is_chunked:
                self.send_header("Transfer-Encoding", "chunked")
            else:
                self.send_header("Content-Length", str(sum(map(len, reply.parts)) + (1_000 if reply.breaks else 0)))
            self.end_headers()
            if self.command == "HEAD":
                return
            for number, part in enumerate(reply.parts, start=1):
                server.released.wait(reply.pause_s)
                if reply.hold and number == len(reply.parts):
                    server.released.wait(30)
                server.answered += number == len(reply.parts)
                self.wfile.write(b"%x\r\n%b\r\n" % (len(part), part) if is_chunked else part)
            if is_chunked and not reply.breaks:
                self.wfile.write(b"0\r\n\r\n")

        do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = _reply

        def log_message(self, *args: object) -> None:
            pass

    return Handler


@dataclass
class EndlessServer:
    """A server that sends the first bytes of a response, then `again` and again, until the client hangs up.

    `connections` counts those that were made, `left` those that the client has closed.
    """

    first: bytes = b""
    again: bytes = b""
    pause_s: float = 0.05
    connections: int = 0
    left: int = 0

    def __enter__(self) -> Self:
        self._is_over = threading.Event()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/v1"
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):  # it is closed
            while True:
                connection, _ = self._listening.accept()
                self.connections += 1
                threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            connection.settimeout(self.pause_s)
            connection.sendall(self.first)
            while not self._is_over.is_set():
                try:
                    if not connection.recv(1 << 20):
                        break
                except TimeoutError:
                    connection.sendall(self.again)
        self.left += 1


@dataclass
class EmbeddingServer(ScriptedServer):
    """An endpoint for embeddings. A `status` other than 200 refuses; so does every request after the `after`th.

    Texts that share a word with an entry of `alike` (word → what it means) lie near each other; others lie anywhere.
    """

    dimension: int = 8
    status: int = 200
    after: int = 10**9
    wait_s: float = 0.0
    alike: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.script = [self._embed]

    @property
    def settings(self) -> str:
        """The `endpoints` line of a vault's settings."""
        return f'endpoints = [{{ url = "{self.url}/embeddings" }}]\n'

    @property
    def texts(self) -> list[list[str]]:
        """The texts of each request."""
        return [received.fields["input"] for received in self.received]

    @property
    def models(self) -> list[str]:
        """The model of each request."""
        return [received.fields["model"] for received in self.received]

    def _embed(self, received: Received) -> Reply:
        status = self.status if len(self.received) <= self.after else 503
        if status != 200:
            return Reply([b"no"], status, wait_s=self.wait_s)
        rows = [{"index": n, "embedding": self._vector(text)} for n, text in enumerate(received.fields["input"])]
        return Reply([json.dumps({"data": rows}).encode()], wait_s=self.wait_s)

    def _vector(self, text: str) -> list[float]:
        meaning = next((meaning for word, meaning in self.alike.items() if word in text), text)
        digest = hashlib.shake_128(meaning.encode()).digest(self.dimension)
        raw = [byte - 127.5 for byte in digest]
        return [x / math.hypot(*raw) for x in raw]


def completion(said: str | list[Change] | None, end: str = "", **message: Any) -> Reply:
    """OpenAI's answer in one piece: a text, or changes of a profile as a model writes them."""
    content = json.dumps({"changes": said}, ensure_ascii=False) if isinstance(said, list) else said
    end = end or ("tool_calls" if "tool_calls" in message else "stop")
    choice = {"index": 0, "message": {"role": "assistant", "content": content, **message}, "finish_reason": end}
    body = {"id": "c1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "x_unknown": 1.0}
    return Reply([json.dumps(body, ensure_ascii=False).encode()])


LISTS = (
    "languages", "frameworks", "preferred_frameworks", "tools", "current_projects", "recent_topics", "weaknesses",
)  # fmt: skip


def change(key: str, value: str, quote: str, op: str = "", strength: str = "explicit") -> Change:
    """One change as a model writes it."""
    op = op or ("add" if key in LISTS else "set")
    return {"key": key, "op": op, "value": value, "strength": strength, "quote": quote}


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
