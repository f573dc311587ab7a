"""A question to an endpoint that is slow, endless, large or gone: the limits hold."""

from __future__ import annotations

import gzip
import socket
from collections.abc import Iterator
from concurrent.futures import Future

import pytest

from tests.conftest import wait_until
from tests.scripted_http import EndlessServer, Reply, ScriptedServer
from vault_memory.adapters.models import question
from vault_memory.adapters.models.chat import ChatModel
from vault_memory.adapters.models.question import Answer, Lost, OutOfTime, Unanswered, ask
from vault_memory.errors import EndpointError

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
HINT = b"HTTP/1.1 103 Early Hints\r\n\r\n"


def asked(url: str, timeout_s: float = 30.0, max_bytes: int = 1_000, max_values: int = 10) -> Answer:
    return ask(url, {"問": "\ud800"}, {}, timeout_s=timeout_s, max_bytes=max_bytes, max_values=max_values)


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer([Reply([b'{"a": [1, 2]}'])]) as running:
        yield running


def test_what_is_asked_and_answered(server: ScriptedServer) -> None:
    assert asked(server.url) == Answer(200, value={"a": [1, 2]})
    (request,) = server.received
    assert request.fields == {"問": "\ud800"} and request.header("Accept-Encoding") == "identity"
    server.will_say(Reply([b"{}"], 503, {"Retry-After": "7"}), Reply([b"<html>"]), Reply([b"\xff\xfe{\0}\0"]))
    assert asked(server.url) == Answer(503, "7")
    assert asked(server.url).value is None and asked(server.url).value is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "again"),
    [
        (b"", b""),
        (HEAD + b"X-Long: ", b"y"),
        (b"", HINT),
        (HEAD + b"Content-Length: 900\r\n\r\n", b" "),
        (CHUNKED, b"1\r\n \r\n"),
        (CHUNKED + b"5;", b"x"),
    ],
    ids=["silent", "head", "1xx", "body", "chunks", "chunk-extension"],
)
def test_one_time_limit_holds_for_all_that_comes(first: bytes, again: bytes) -> None:
    """Each piece comes long before any time-out of a single read."""
    with EndlessServer(first, again) as slow:
        with pytest.raises(OutOfTime, match=r"did not answer within 0\.5 s"):
            asked(slow.url, timeout_s=0.5)
        wait_until(lambda: slow.left == 1, "the connection is closed")
        with pytest.raises(EndpointError, match=r"within 0\.5 s"):
            ChatModel(slow.url, "m", timeout_s=0.5).complete([{"role": "user", "content": "?"}], {})
        assert slow.connections == 2, "what ran out of time is not asked again"


@pytest.mark.slow
def test_a_question_that_is_not_read_ends_in_time() -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}/"
        with pytest.raises(OutOfTime):
            ask(url, "x" * 20_000_000, {}, timeout_s=0.5, max_bytes=1_000, max_values=10)


@pytest.mark.parametrize(
    ("first", "again", "told"),
    [
        (b"", HINT * 100, "or 32,768 before them"),
        (HEAD + b"X-Long: ", b"y" * 4_096, "or 32,768 before them"),
        (CHUNKED, b"1\r\n \r\n" * 100, "more than 1,000 bytes"),
        (HEAD + b"Content-Length: 99999999\r\n\r\n", b" " * 1_000, "more than 1,000 bytes"),
    ],
    ids=["1xx", "head", "chunks", "body"],
)
def test_one_size_limit_holds_for_all_that_comes(first: bytes, again: bytes, told: str) -> None:
    with EndlessServer(first, again, pause_s=0.001) as endless, pytest.raises(Unanswered, match=told):
        asked(endless.url)


@pytest.mark.parametrize("encoding", ["gzip", "gzip, gzip", "br"])
def test_a_compressed_answer_is_refused_unread(server: ScriptedServer, encoding: str) -> None:
    server.will_say(Reply([gzip.compress(b"[" + b" " * 1_000_000 + b"]")], headers={"Content-Encoding": encoding}))
    with pytest.raises(Unanswered, match="compressed"):
        asked(server.url, max_bytes=10_000_000)


def test_many_values_are_not_parsed(server: ScriptedServer) -> None:
    server.will_say(Reply([b"[" + b"{}," * 20 + b"{}]"]))
    with pytest.raises(Unanswered, match="more than 10 values"):
        asked(server.url)


def test_who_is_not_there_is_lost() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        with pytest.raises(Lost, match="ConnectError"):
            asked(f"http://127.0.0.1:{closed.getsockname()[1]}/")


@pytest.mark.parametrize("url", ["http://host:port/", "http://a b/", "ftp://127.0.0.1/", "http://[::1/"])
def test_an_address_that_is_none(url: str) -> None:
    with pytest.raises(Unanswered, match="cannot be"):
        asked(url)


def test_a_look_up_that_does_not_end_is_not_waited_for() -> None:
    """And no second thread looks the same name up."""
    question._looked_up["slow.test", 80] = Future()
    try:
        with pytest.raises(OutOfTime):
            asked("http://slow.test/", timeout_s=0.2)
    finally:
        del question._looked_up["slow.test", 80]


def test_each_address_of_a_name_is_tried(server: ScriptedServer) -> None:
    port = int(server.url.rpartition(":")[2].partition("/")[0])
    found = question._looked_up["two.test", port] = Future[list[str]]()
    found.set_result(["127.0.0.2", "127.0.0.1"])
    try:
        assert asked(f"http://two.test:{port}/").status == 200
    finally:
        del question._looked_up["two.test", port]


def test_the_proxy_that_the_environment_names_is_used(server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", server.url.removeprefix("http://").removesuffix("/v1"))
    assert asked("http://model.test/v1").status == 200
    monkeypatch.setenv("http_proxy", "socks5://127.0.0.1:9")
    with pytest.raises(Unanswered, match="cannot be used"):
        asked("http://model.test/v1")
