"""The embedder over HTTP, against a real server on this machine."""

from __future__ import annotations

import contextlib
import json
import math
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from tests.adapters.embedding.contract import EmbedderContract
from tests.adapters.index.vectors import drawn
from vault_memory.adapters.embedding.base import Kind
from vault_memory.adapters.embedding.http import FAILURES, REST_S, Endpoint, HttpEmbedder
from vault_memory.errors import EndpointError

Reply = Callable[[dict[str, Any]], "bytes | int | None"]


def openai(body: dict[str, Any]) -> bytes:
    rows = [{"index": n, "embedding": [7 * x for x in drawn(text)]} for n, text in enumerate(body["input"])]
    return json.dumps({"data": rows[::-1]}).encode()


def ollama(body: dict[str, Any]) -> bytes:
    return json.dumps({"embeddings": [drawn(text) for text in body["input"]]}).encode()


class Server:
    """Answers as `reply` says: bytes are a body, a number is a status, None closes the connection in the middle."""

    def __init__(self) -> None:
        self.reply: Reply = openai
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.wait_s = 0.0
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        threading.Thread(target=self.http.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}/v1/embeddings"

    def _handler(server) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                server.bodies.append(body)
                server.headers.append(dict(self.headers))
                time.sleep(server.wait_s)
                reply = server.reply(body)
                self.send_response(reply if isinstance(reply, int) else 200)
                data = reply if isinstance(reply, bytes) else b"{"
                self.send_header("Content-Length", str(len(data) + (1000 if reply is None else 0)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                pass

        return Handler


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.http.shutdown()
    running.http.server_close()


@pytest.fixture
def second() -> Iterator[Server]:
    running = Server()
    yield running
    running.http.shutdown()
    running.http.server_close()


def embedder_of(*servers: Server, **more: Any) -> HttpEmbedder:
    return HttpEmbedder(
        "m", [Endpoint(server.url) for server in servers], **{"sleep": lambda _: None, "query_timeout_s": 10.0} | more
    )


class TestHttp(EmbedderContract):
    @pytest.fixture
    def embedder(self, server: Server) -> HttpEmbedder:
        return embedder_of(server)


def test_rows_come_back_in_the_order_of_the_texts_and_of_unit_length(server: Server) -> None:
    """A7"""
    texts = [f"text {n}" for n in range(150)]
    vectors = embedder_of(server).embed(texts)
    assert [len(body["input"]) for body in server.bodies] == [64, 64, 22]
    for text, vector in zip(texts, vectors, strict=True):
        assert list(vector) == pytest.approx(drawn(text)) and math.hypot(*vector) == pytest.approx(1)


def test_ollama_s_form_is_understood(server: Server) -> None:
    server.reply = ollama
    embedder = HttpEmbedder("m", [Endpoint(server.url.replace("/v1/embeddings", "/api/embed"))])
    assert list(embedder.embed(["x"])[0]) == pytest.approx(drawn("x"))


def test_prefixes_stand_before_the_texts_and_make_another_space(server: Server) -> None:
    embedder = embedder_of(server, query_prefix="query: ", document_prefix="passage: ")
    embedder.embed(["a"], "query")
    embedder.embed(["b"])
    assert [body["input"] for body in server.bodies] == [["query: a"], ["passage: b"]]
    assert embedder.space != embedder_of(server).space


def test_the_key_is_sent_and_never_told(server: Server) -> None:
    endpoint = Endpoint(server.url, "MY_KEY")
    HttpEmbedder("m", [endpoint], environ={"MY_KEY": "sesame"}).embed(["a"])
    assert server.headers[0]["Authorization"] == "Bearer sesame"
    server.reply = lambda body: 401
    with pytest.raises(EndpointError) as caught:
        HttpEmbedder("m", [endpoint], environ={"MY_KEY": "sesame"}, sleep=lambda _: None).embed(["a"])
    assert "sesame" not in str(caught.value)
    with pytest.raises(EndpointError, match="MY_KEY"):
        HttpEmbedder("m", [endpoint], environ={}, sleep=lambda _: None).embed(["a"])


def test_the_second_endpoint_answers_when_the_first_is_down(server: Server, second: Server) -> None:
    """A7: endpoints in order of preference."""
    server.reply = lambda body: 503
    embedder = embedder_of(server, second)
    assert list(embedder.embed(["a"])[0]) == pytest.approx(drawn("a")) and len(second.bodies) == 1


def test_a_passing_failure_is_tried_again(server: Server) -> None:
    answers: list[Reply] = [lambda body: 500, openai]
    server.reply = lambda body: answers.pop(0)(body)
    pauses: list[float] = []
    assert embedder_of(server, sleep=pauses.append).embed(["a"]) and len(pauses) == 1


def test_a_failing_endpoint_is_left_alone_for_a_while(server: Server) -> None:
    now = [100.0]
    server.reply = lambda body: 500
    embedder = embedder_of(server, clock=lambda: now[0], query_timeout_s=5.0)
    for _ in range(FAILURES + 3):
        with pytest.raises(EndpointError):
            embedder.embed(["a"], "query")
    assert len(server.bodies) == FAILURES
    now[0] += REST_S + 1
    server.reply = openai
    assert embedder.embed(["a"], "query")


def test_a_query_does_not_wait_for_an_endpoint_that_hangs(server: Server, second: Server) -> None:
    server.wait_s = second.wait_s = 2.0
    started = time.monotonic()
    with pytest.raises(EndpointError, match="0.3 s"):
        embedder_of(server, second, query_timeout_s=0.3).embed(["a"], "query")
    assert time.monotonic() - started < 1.0


def vectors(*rows: Sequence[Any]) -> Reply:
    return lambda body: json.dumps({"data": [{"embedding": list(row)} for row in rows]}).encode()


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (lambda body: b"<html>hello</html>", "no embeddings"),
        (lambda body: b"[]", "no embeddings"),
        (lambda body: None, "cannot be reached"),
        (vectors([1, 0]), "1 vectors for 2 texts"),
        (vectors([1, 0], [0, 0]), "zeros"),
        (vectors([1, 0], [1, float("nan")]), "zeros or of no numbers"),
        (vectors([1, 0], [1]), "1 dimensions instead of 2"),
        (vectors([1, 0], ["x", 1]), "no numbers"),
        (lambda body: 404, "404"),
    ],
)
def test_nonsense_is_refused_in_words(server: Server, reply: Reply, told: str) -> None:
    server.reply = reply
    with pytest.raises(EndpointError, match=told):
        embedder_of(server).embed(["a", "b"])


def test_another_dimension_than_before_is_refused(server: Server) -> None:
    embedder = embedder_of(server)
    embedder.embed(["a"])
    server.reply = vectors([1.0, 0.0])
    with pytest.raises(EndpointError, match="2 dimensions instead of 8"):
        embedder.embed(["a"])


def test_an_address_that_is_none_is_refused_at_once() -> None:
    with pytest.raises(EndpointError, match="http://"):
        HttpEmbedder("m", [Endpoint("file:///etc/passwd")])


SECRET, ILL = "sk-proj-" + "Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zAb3dEf6hIj9kLm2n", "憂鬱症"


@pytest.mark.parametrize("kind", ["document", "query"])
def test_no_secret_and_no_private_sentence_leaves_this_machine(server: Server, kind: Kind) -> None:
    """G7: requests to embedding endpoints."""
    embedder_of(server).embed([f"Deploy\n用這個 key：{SECRET} 部署。我有{ILL}，在吃藥。星期五上線"], kind)
    sent = json.dumps(server.bodies, ensure_ascii=False)
    assert SECRET not in sent and ILL not in sent
    assert "[redacted: api-key]" in sent and "[private]" in sent and "星期五上線" in sent


def test_a_question_that_is_private_as_a_whole_is_not_asked(server: Server) -> None:
    with pytest.raises(EndpointError, match="not sent"):
        embedder_of(server).embed([f"我有{ILL}嗎？"], "query")
    assert server.bodies == []


def test_headers_that_drip_in_do_not_hold_a_query_up(server: Server) -> None:
    """No time-out of a single read bounds their sum."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def drip() -> None:
            connection, _ = listening.accept()
            with connection, contextlib.suppress(OSError):
                for byte in b"HTTP/1.1 200 OK\r\nX: " + 100 * b"y":
                    connection.sendall(bytes([byte]))
                    time.sleep(0.05)

        threading.Thread(target=drip, daemon=True).start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/v1/embeddings"
        started = time.monotonic()
        with pytest.raises(EndpointError, match="within 0.3 s"):
            HttpEmbedder("m", [Endpoint(url)]).embed(["a"], "query")
        assert time.monotonic() - started < 1.0


def test_the_space_is_known_without_asking(server: Server) -> None:
    server.reply = lambda body: 500
    assert embedder_of(server).space == "http:m" and server.bodies == []
