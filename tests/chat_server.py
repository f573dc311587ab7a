"""A chat endpoint that answers what the test scripts: a real HTTP server on a free port of this machine."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Change = dict[str, str]


@dataclass
class Answer:
    """One answer. `body` None closes the connection without a word; `drip_s` is slept before each of its bytes."""

    status: int = 200
    body: bytes | None = b""
    headers: dict[str, str] = field(default_factory=dict)
    wait_s: float = 0.0
    drip_s: float = 0.0


@dataclass
class ChatServer:
    """What the endpoint will say (`script`, the last one again and again) and what it was sent."""

    url: str = ""
    script: list[Answer] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    raw: list[bytes] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)

    def will_say(self, *answers: Answer | str | list[Change]) -> None:
        """Script the next answers: a text, or a list of changes, becomes a good completion."""
        self.script = [a if isinstance(a, Answer) else Answer(body=completion(a)) for a in answers]

    def environ(self, **more: str) -> dict[str, str]:
        """The settings that lead a vault here."""
        return {
            "VAULT_MEMORY_LLM_ENABLED": "1",
            "VAULT_MEMORY_LLM_BASE_URL": self.url,
            "VAULT_MEMORY_LLM_MODEL": "m",
        } | more


def completion(said: str | list[Change], finish_reason: str = "stop") -> bytes:
    """A chat completion with that content."""
    content = said if isinstance(said, str) else json.dumps({"changes": said}, ensure_ascii=False)
    message = {"role": "assistant", "content": content}
    return json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": finish_reason}]}).encode()


def change(key: str, value: str, quote: str, op: str = "", strength: str = "explicit") -> Change:
    """One change as a model writes it."""
    lists = (
        "languages",
        "frameworks",
        "preferred_frameworks",
        "tools",
        "current_projects",
        "recent_topics",
        "weaknesses",
    )
    op = op or ("add" if key in lists else "set")
    return {"key": key, "op": op, "value": value, "strength": strength, "quote": quote}


@contextmanager
def chat_server() -> Iterator[ChatServer]:
    """A server that runs until the end of the block."""
    state = ChatServer()

    class Endpoint(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["Content-Length"]))
            state.raw.append(self.requestline.encode() + b"\n" + bytes(self.headers) + raw)
            state.requests.append({"path": self.path, "headers": dict(self.headers), "body": json.loads(raw)})
            answer = state.script.pop(0) if len(state.script) > 1 else state.script[0]
            state.released.wait(answer.wait_s)
            if answer.body is None:
                self.close_connection = True
                return
            self.send_response(answer.status)
            for name, value in {"Content-Type": "application/json", **answer.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            try:
                for byte in [answer.body] if not answer.drip_s else [bytes([b]) for b in answer.body]:
                    if answer.drip_s and state.released.wait(answer.drip_s):
                        return
                    self.wfile.write(byte)
                    self.wfile.flush()
            except OSError:
                pass  # the client had enough

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
