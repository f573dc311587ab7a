"""An embedding endpoint that a test scripts: a real HTTP server on a free port of this machine."""

from __future__ import annotations

import hashlib
import json
import math
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class EmbeddingServer:
    """What the endpoint does and what it was sent. `status` other than 200 refuses; `after` refuses from that request on.

    Texts that share a word with an entry of `alike` (word → what it means) lie near each other; all else is drawn by hash.
    """

    dimension: int = 8
    url: str = ""
    status: int = 200
    after: int = 10**9
    wait_s: float = 0.0
    alike: dict[str, str] = field(default_factory=dict)
    texts: list[list[str]] = field(default_factory=list)
    raw: list[bytes] = field(default_factory=list)
    models: list[str] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)

    @property
    def settings(self) -> str:
        """The `endpoints` line of a vault's settings."""
        return f'endpoints = [{{ url = "{self.url}" }}]\n'

    def vector(self, text: str) -> list[float]:
        meaning = next((meaning for word, meaning in self.alike.items() if word in text), text)
        digest = hashlib.shake_128(meaning.encode()).digest(self.dimension)
        raw = [byte - 127.5 for byte in digest]
        return [x / math.hypot(*raw) for x in raw]

    def answer(self, texts: Sequence[str]) -> bytes:
        return json.dumps({"data": [{"index": n, "embedding": self.vector(t)} for n, t in enumerate(texts)]}).encode()


@contextmanager
def embedding_server(dimension: int = 8) -> Iterator[EmbeddingServer]:
    """A server that runs until the end of the block."""
    state = EmbeddingServer(dimension)

    class Endpoint(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["Content-Length"]))
            body = json.loads(raw)
            state.raw.append(raw)
            state.texts.append(body["input"])
            state.models.append(body["model"])
            state.released.wait(state.wait_s)
            status = state.status if len(state.texts) <= state.after else 503
            data = state.answer(body["input"]) if status == 200 else b"no"
            try:
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)
            except OSError:
                pass  # the client had enough

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_port}/v1/embeddings"
    try:
        yield state
    finally:
        state.released.set()
        server.shutdown()
        server.server_close()
        thread.join()
