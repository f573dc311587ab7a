"""The embedder over HTTP, against a real server on this machine."""

from __future__ import annotations

import gzip
import json
import math
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from tests.adapters.embedding.contract import EmbedderContract
from tests.adapters.index.vectors import drawn
from tests.conftest import wait_until
from tests.scripted_http import EndlessServer, Received, Reply, ScriptedServer
from vault_memory.adapters.embedding.base import Kind
from vault_memory.adapters.embedding.http import MAX_DIMENSIONS, MAX_FAILURES, REST_S, Endpoint, HttpEmbedder
from vault_memory.errors import EndpointError

pytestmark = pytest.mark.slow


def openai(request: Received) -> Reply:
    texts = request.fields["input"]
    return rows([{"index": n, "embedding": [7 * x for x in drawn(text)]} for n, text in enumerate(texts)][::-1])


def ollama(request: Received) -> Reply:
    return Reply([json.dumps({"embeddings": [drawn(text) for text in request.fields["input"]]}).encode()])


def rows(data: list[dict[str, Any]]) -> Reply:
    return Reply([json.dumps({"data": data}).encode()])


def vectors(*values: Sequence[Any]) -> Reply:
    return rows([{"embedding": list(row)} for row in values])


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer([openai]) as running:
        yield running


@pytest.fixture
def second() -> Iterator[ScriptedServer]:
    with ScriptedServer([openai]) as running:
        yield running


def endpoint_of(server: ScriptedServer, key_env: str = "") -> Endpoint:
    return Endpoint(f"{server.url}/embeddings", key_env)


def embedder_of(*servers: ScriptedServer, **more: Any) -> HttpEmbedder:
    return HttpEmbedder(
        "m", [endpoint_of(server) for server in servers], **{"sleep": lambda _: None, "query_timeout_s": 10.0} | more
    )


class TestHttp(EmbedderContract):
    @pytest.fixture
    def embedder(self, server: ScriptedServer) -> HttpEmbedder:
        return embedder_of(server)


def test_rows_come_back_in_the_order_of_the_texts_and_of_unit_length(server: ScriptedServer) -> None:
    """A7"""
    texts = [f"text {n}" for n in range(150)]
    vectors = embedder_of(server).embed(texts)
    assert [len(request.fields["input"]) for request in server.received] == [64, 64, 22]
    for text, vector in zip(texts, vectors, strict=True):
        assert list(vector) == pytest.approx(drawn(text)) and math.hypot(*vector) == pytest.approx(1)


def test_ollama_s_form_is_understood(server: ScriptedServer) -> None:
    server.will_say(ollama)
    embedder = HttpEmbedder("m", [Endpoint(server.url.replace("/v1", "/api/embed"))])
    assert list(embedder.embed(["x"])[0]) == pytest.approx(drawn("x"))


def test_prefixes_stand_before_the_texts_and_make_another_space(server: ScriptedServer) -> None:
    embedder = embedder_of(server, query_prefix="query: ", document_prefix="passage: ")
    embedder.embed(["a"], "query")
    embedder.embed(["b"])
    embedder.embed(["c"], "probe")
    assert [request.fields["input"] for request in server.received] == [["query: a"], ["passage: b"], ["query: c"]]
    assert embedder.space != embedder_of(server).space


def test_the_key_is_sent_and_never_told(server: ScriptedServer) -> None:
    endpoint = endpoint_of(server, "MY_KEY")
    HttpEmbedder("m", [endpoint], environ={"MY_KEY": "sesame"}).embed(["a"])
    assert server.received[0].header("Authorization") == "Bearer sesame"
    server.will_say(Reply(status=401))
    with pytest.raises(EndpointError) as caught:
        HttpEmbedder("m", [endpoint], environ={"MY_KEY": "sesame"}, sleep=lambda _: None).embed(["a"])
    assert "sesame" not in str(caught.value)
    with pytest.raises(EndpointError, match="MY_KEY"):
        HttpEmbedder("m", [endpoint], environ={}, sleep=lambda _: None).embed(["a"])


def test_the_second_endpoint_answers_when_the_first_is_down(server: ScriptedServer, second: ScriptedServer) -> None:
    """A7: endpoints in order of preference."""
    server.will_say(Reply(status=503))
    embedder = embedder_of(server, second)
    assert list(embedder.embed(["a"])[0]) == pytest.approx(drawn("a")) and len(second.received) == 1


def test_a_passing_failure_is_tried_again(server: ScriptedServer) -> None:
    server.will_say(Reply(status=500), openai)
    pauses: list[float] = []
    assert embedder_of(server, sleep=pauses.append).embed(["a"]) and len(pauses) == 1


def test_a_failing_endpoint_is_left_alone_for_a_while(server: ScriptedServer) -> None:
    now = [100.0]
    server.will_say(Reply(status=500))
    embedder = embedder_of(server, clock=lambda: now[0], query_timeout_s=5.0)
    for _ in range(MAX_FAILURES + 3):
        with pytest.raises(EndpointError):
            embedder.embed(["a"], "query")
    assert len(server.received) == MAX_FAILURES
    now[0] += REST_S + 1
    server.will_say(openai)
    assert embedder.embed(["a"], "query")


def test_a_query_does_not_wait_for_an_endpoint_that_hangs(server: ScriptedServer, second: ScriptedServer) -> None:
    for each in (server, second):
        each.will_say(Reply(wait_s=60.0))
    with pytest.raises(EndpointError, match="0.3 s"):
        embedder_of(server, second, query_timeout_s=0.3).embed(["a"], "query")
    assert (server.answered, second.answered) == (0, 0)


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (Reply([b"<html>hello</html>"]), "without embeddings"),
        (Reply([b"[]"]), "without embeddings"),
        (Reply([b"{"], breaks=True), "cannot be reached"),
        (vectors([1, 0]), "1 vectors for 2 texts"),
        (vectors([1, 0], [0, 0]), "zeros"),
        (vectors([1, 0], [1, float("nan")]), "no numbers"),
        (vectors([1, 0], [1]), "1 dimensions instead of 2"),
        (vectors([1, 0], ["x", 1]), "no numbers"),
        (vectors([1, 0], [True, False]), "no numbers"),
        (vectors([1], [1]), "gave 1 dimensions: a model has 2 to 8,192"),
        (vectors(*2 * [[1] * (MAX_DIMENSIONS + 1)]), "gave 8,193 dimensions: a model has 2 to 8,192"),
        (vectors(*2 * [[1] * 100_000]), "more than"),
        (rows([{"index": 0, "embedding": [1, 0]}] * 2), "not those of the texts"),
        (rows([{"index": 0, "embedding": [1, 0]}, {"index": True, "embedding": [1, 0]}]), "not those of the texts"),
        (rows([{"index": 0, "embedding": [1, 0]}, {"embedding": [1, 0]}]), "not those of the texts"),
        (rows([{"index": 0, "embedding": [1, 0]}, {"index": [], "embedding": [1, 0]}]), "not those of the texts"),
        (Reply([gzip.compress(b"{}")], headers={"Content-Encoding": "gzip"}), "compressed"),
        (Reply([b'{"data":[' + b"{}," * 20_000 + b"{}]}"]), "more than 16,584 values"),
        (Reply(status=404), "404"),
    ],
)
def test_nonsense_is_refused_in_words(server: ScriptedServer, reply: Reply, told: str) -> None:
    server.will_say(reply)
    with pytest.raises(EndpointError, match=told):
        embedder_of(server).embed(["a", "b"])


def test_another_dimension_than_before_is_refused(server: ScriptedServer) -> None:
    embedder = embedder_of(server)
    embedder.embed(["a"])
    server.will_say(vectors([1.0, 0.0]))
    with pytest.raises(EndpointError, match="2 dimensions instead of 8"):
        embedder.embed(["a"])


def test_an_address_that_is_none_is_refused_at_once() -> None:
    with pytest.raises(EndpointError, match="http://"):
        HttpEmbedder("m", [Endpoint("file:///etc/passwd")])


SECRET, ILL = "sk-proj-" + "Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zAb3dEf6hIj9kLm2n", "憂鬱症"


@pytest.mark.parametrize("kind", ["document", "query"])
def test_no_secret_and_no_private_sentence_leaves_this_machine(server: ScriptedServer, kind: Kind) -> None:
    """G7: requests to embedding endpoints."""
    embedder_of(server).embed([f"Deploy\n用這個 key：{SECRET} 部署。我有{ILL}，在吃藥。星期五上線"], kind)
    sent = json.dumps([request.fields for request in server.received], ensure_ascii=False)
    assert SECRET not in sent and ILL not in sent
    assert "[redacted: api-key]" in sent and "[private]" in sent and "星期五上線" in sent


def test_a_question_that_is_private_as_a_whole_is_not_asked(server: ScriptedServer) -> None:
    with pytest.raises(EndpointError, match="not sent"):
        embedder_of(server).embed([f"我有{ILL}嗎？"], "query")
    assert server.received == []


DRIPPING_HEAD = b"HTTP/1.1 200 OK\r\nX: ", b"y"
"""No time-out of a single read bounds their sum."""


def test_headers_that_drip_in_do_not_hold_a_query_up() -> None:
    with EndlessServer(*DRIPPING_HEAD) as slow:
        with pytest.raises(EndpointError, match="within 0.3 s"):
            HttpEmbedder("m", [Endpoint(slow.url)]).embed(["a"], "query")
        wait_until(lambda: slow.left == 1, "the connection is closed")


def test_a_question_that_ran_out_of_time_counts_at_once() -> None:
    with EndlessServer(*DRIPPING_HEAD) as slow:
        embedder = HttpEmbedder("m", [Endpoint(slow.url)], query_timeout_s=0.1)
        for _ in range(MAX_FAILURES + 2):
            with pytest.raises(EndpointError) as caught:
                embedder.embed(["a"], "query")
        assert "is left alone" in str(caught.value) and slow.connections == MAX_FAILURES
        assert not [each for each in threading.enumerate() if each.name.startswith("vault-memory query")]


def test_a_batch_takes_its_time_limit_of_an_endpoint_once(second: ScriptedServer) -> None:
    with EndlessServer(*DRIPPING_HEAD) as slow:
        alone = HttpEmbedder("m", [Endpoint(slow.url)], timeout_s=0.2, sleep=lambda _: None)
        with pytest.raises(EndpointError, match="within 0.2 s"):
            alone.embed(["a"])
        assert slow.connections == 1
        both = HttpEmbedder("m", [Endpoint(slow.url), endpoint_of(second)], timeout_s=0.2)
        assert both.embed(["a"]), "the second one has its own time"


def test_the_space_is_known_without_asking(server: ScriptedServer) -> None:
    server.will_say(Reply(status=500))
    assert embedder_of(server).space == "http:m" and server.received == []
