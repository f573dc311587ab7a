"""OpenAI's Responses API at the proxy: all that its SDK notices is that the model knows the person, whoever keeps what
was said before."""

from __future__ import annotations

import gzip
import json
import socket
from collections.abc import Callable
from itertools import count
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from tests.clients.provider import Answer, Call, say
from tests.interfaces.http.conftest import Server
from tests.interfaces.http.proxied import QUESTION, TEA, Proxy
from tests.scripted_http import Reply
from vault_memory.services.admin.access import new_user_token, own_token

pytestmark = pytest.mark.slow  # each test starts a server

TOOLS: Any = [{"type": "function", "name": "kettle", "parameters": {"type": "object"}, "strict": False}]
MEMORY = "<vault-memory>"


def answer(proxy: Proxy, *answers: str | Answer) -> None:
    """Script the provider's next answers, each as a whole or as a stream, as it is asked for."""
    numbers = count(1)

    def reply(said: str | Answer) -> Any:
        return lambda received: say(received, Answer(said) if isinstance(said, str) else said, next(numbers))

    proxy.provider.script = [reply(said) for said in answers]


def inputs(proxy: Proxy) -> list[Any]:
    return [received.fields["input"] for received in proxy.provider.received]


def called(name: str = "kettle") -> Answer:
    return Answer("", [Call(name, {"water": 1})])


@pytest.mark.parametrize("is_streamed", [False, True])
def test_the_sdk_is_answered_with_memory_and_the_turn_is_recorded(proxy: Proxy, is_streamed: bool) -> None:
    answer(proxy, "八十度，三分鐘。")
    client, asked = proxy.openai(), {"model": "m", "input": QUESTION, "instructions": "Be kind.", "store": False}
    if is_streamed:
        with client.responses.stream(**asked) as stream:
            kinds = [event.type for event in stream]
            final = stream.get_final_response()
        assert kinds[0] == "response.created" and kinds[-1] == "response.completed"
    else:
        raw = client.responses.with_raw_response.create(**asked)
        final = raw.parse()
        assert raw.headers["X-Vault-Memory"].startswith("injected; passages=")
    assert final.output_text == "八十度，三分鐘。"
    (received,) = proxy.provider.received
    assert received.path == "/v1/responses" and received.header("authorization") == "Bearer sk-upstream"
    assert {**received.fields, "input": QUESTION} == {**asked, **({"stream": True} if is_streamed else {})}
    assert received.fields["input"].startswith(f"{MEMORY}\n") and received.fields["input"].endswith(f"\n\n{QUESTION}")
    assert TEA in received.fields["input"]
    turn = proxy.turn()
    assert (turn["user_message"], turn["assistant_message"]) == (QUESTION, "八十度，三分鐘。")
    assert (turn["backend"], turn["exit_code"]) == ("m", 0)


def test_a_tool_loop_with_its_history_is_one_turn(proxy: Proxy) -> None:
    """Items go on as they are; all rounds have the same memory, in the person's item."""
    answer(proxy, called(), Answer("Wait.", called().calls), "80.")
    picture = {"type": "input_image", "image_url": "data:image/png;base64,AA", "detail": "auto"}
    words = {"type": "input_text", "text": QUESTION}
    given: list[Any] = [{"role": "developer", "content": "Help."}, {"role": "user", "content": [picture, words]}]
    for _ in range(3):
        made = proxy.openai().responses.create(model="m", input=given, tools=TOOLS, store=False)
        thought = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAé\u2028="}
        given = [*given, thought, *(item.to_dict() for item in made.output)]
        given += [
            {"type": "function_call_output", "call_id": item.call_id, "output": "80"}
            for item in made.output
            if item.type == "function_call"
        ]
    first, *_, last = inputs(proxy)
    assert first == last[: len(first)], "the provider's cache holds"
    shown, memory, asked = last[1]["content"]
    assert (shown, asked, memory["type"]) == (picture, words, "input_text") and TEA in memory["text"]
    assert [last[0], *last[2:]] == [given[0], *given[2 : len(last)]]
    turn = proxy.turn()
    assert (turn["user_message"], turn["assistant_message"]) == (QUESTION, "Wait.\n\n80.")


def test_a_history_that_the_provider_keeps(proxy: Proxy) -> None:
    """One conversation, and one turn for each question; what a tool gave belongs to the question before."""
    answer(proxy, called(), "80.", "3 minutes.", "Noted.", "Noted, too.")
    client = proxy.openai()
    one = client.responses.create(model="m", input=QUESTION, tools=TOOLS)
    gave: Any = [{"type": "function_call_output", "call_id": "call_00010", "output": "I use Vue."}]
    two = client.responses.with_raw_response.create(model="m", input=gave, tools=TOOLS, previous_response_id=one.id)
    assert two.headers["X-Vault-Memory"] == "off; the provider has it with the words"
    three = client.responses.create(model="m", input="And how long?", previous_response_id=two.parse().id)
    with client.responses.stream(model="m", input="ok", previous_response_id=three.id) as stream:
        four = [event.response.id for event in stream if event.type == "response.created"][0]
    five = client.responses.create(model="m", input=[{"role": "user", "content": "ok"}], previous_response_id=four)
    assert five.output_text == "Noted, too." and inputs(proxy)[1] == gave
    proxy.turn(5)
    turns = proxy.turns()[1:]
    assert [(turn["user_message"], turn["assistant_message"]) for turn in turns] == [
        (QUESTION, "80."), ("And how long?", "3 minutes."), ("ok", "Noted."), ("ok", "Noted, too."),
    ]  # fmt: skip
    assert len({turn["conversation_id"] for turn in turns}) == 1


def test_a_conversation_that_the_provider_keeps(proxy: Proxy) -> None:
    answer(proxy, "80.", called(), "3 minutes.", "3 minutes, still.", "Yes.")
    client, gave = proxy.openai(), {"type": "function_call_output", "call_id": "call_00020", "output": "3"}
    given: list[Any] = [QUESTION, "go on", [gave], "go on"]
    for each in given:
        client.responses.create(model="m", input=each, tools=TOOLS, conversation="conv_1")
    client.responses.create(model="m", input="go on", conversation={"id": "conv_2"})
    proxy.turn(5)
    turns = proxy.turns()[1:]
    assert [(turn["user_message"], turn["assistant_message"]) for turn in turns] == [
        (QUESTION, "80."), ("go on", "3 minutes."), ("go on", "3 minutes, still."), ("go on", "Yes."),
    ]  # fmt: skip
    first, *others, last = [turn["conversation_id"] for turn in turns]
    assert {*others} == {first} != {last}


def test_nobody_joins_another_users_conversation(proxy: Proxy) -> None:
    import openai

    answer(proxy, "80.", "70.", "65.", "60.")
    theirs = proxy.openai().responses.create(model="m", input=QUESTION)
    bob = openai.OpenAI(base_url=f"{proxy.url}/v1", api_key=new_user_token(proxy.vault, "bob"), max_retries=0)
    with pytest.raises(openai.NotFoundError, match=theirs.id):
        bob.responses.create(model="m", input="What did I ask?", previous_response_id=theirs.id)
    by_bob, body = {"Authorization": f"Bearer {bob.api_key}"}, {"model": "m", "previous_response_id": theirs.id}
    for address in ("compact", "input_tokens"):
        assert httpx.post(f"{proxy.url}/v1/responses/{address}", json=body, headers=by_bob).status_code == 404
    assert len(proxy.provider.received) == 1, "the provider would have gone on from it"
    with pytest.raises(openai.NotFoundError, match="before this server started"):  # it may be hers
        bob.responses.create(model="m", input="And I?", previous_response_id="resp_of_before_the_start")
    mine = bob.responses.create(model="m", input="And I?")
    bob.responses.create(model="m", input="And now?", previous_response_id=mine.id)
    program = openai.OpenAI(base_url=f"{proxy.url}/v1", api_key=own_token(proxy.vault.root), max_retries=0)
    header = {"X-Vault-User": "bob"}
    program.responses.create(model="m", input="And we?", previous_response_id=theirs.id, extra_headers=header)
    proxy.turn()
    ids = [turn["conversation_id"] for user in ("alice", "bob") for turn in proxy.turns(user)]
    assert len(ids) == 5 and len({*ids}) == 4


def one_piece(text: str, **fields: Any) -> bytes:
    message = {"type": "message", "content": [{"type": "output_text", "text": text}]}
    return json.dumps({"id": "resp_1", "object": "response", "output": [message], **fields}).encode()


def events(text: str) -> bytes:
    created = {"sequence_number": 0, "response": {"created_at": 1, "id": "resp_1", "instructions": text}}
    return b": ping\r\n\r\nevent: response.created\r\ndata: " + json.dumps(created).encode() + b"\r\n\r\n"


def brotli_like(data: bytes) -> bytes:
    return bytes(255 - byte for byte in data)


@pytest.mark.parametrize(
    ("address", "body", "headers", "is_known"),
    [
        ("responses", one_piece("x" * 2_100_000), {}, True),
        ("responses", one_piece("x", tools=[{}] * 100_001), {}, True),
        ("responses", gzip.compress(one_piece("x" * 2_100_000)), {"Content-Encoding": "gzip"}, True),
        ("responses", events("x" * 2_100_000), {"Content-Type": "text/event-stream"}, True),
        (
            "responses",
            gzip.compress(events("x")),
            {"Content-Type": "text/event-stream", "Content-Encoding": "gzip"},
            True,
        ),
        ("responses/compact", one_piece("x", object="response.compaction"), {}, True),
        ("responses", gzip.compress(gzip.compress(one_piece("x"))), {"Content-Encoding": "gzip, gzip"}, False),
        ("responses", brotli_like(one_piece("x")), {"Content-Encoding": "br"}, False),
        ("responses", json.dumps({"output": "x" * 20_000, "id": "resp_1"}).encode(), {}, False),
    ],
    ids=["large", "values", "gzip", "stream", "stream in gzip", "compact", "gzip twice", "br", "id at the end"],
)
def test_a_response_of_any_size_and_encoding_is_nobody_elses(
    proxy: Proxy, address: str, body: bytes, headers: dict[str, str], is_known: bool
) -> None:
    """Where its id cannot be read nobody goes on from it, not even its user: better than all."""
    bob = {"Authorization": f"Bearer {new_user_token(proxy.vault, 'bob')}"}
    alice = {"Authorization": f"Bearer {proxy.token}"}
    proxy.provider.will_say(Reply([body], headers={"Content-Type": "application/json"} | headers), Reply([b"{}"]))
    asked = {"model": "m", "input": "hi"}
    with httpx.stream("POST", f"{proxy.url}/v1/{address}", json=asked, headers=alice, timeout=60) as answered:
        assert b"".join(answered.iter_raw()) == body
    asked["previous_response_id"] = "resp_1"
    for place in ("responses", "responses/compact"):
        assert httpx.post(f"{proxy.url}/v1/{place}", json=asked, headers=bob).status_code == 404
    status = httpx.post(f"{proxy.url}/v1/responses", json=asked, headers=alice).status_code
    assert status == (200 if is_known else 404) and len(proxy.provider.received) == 1 + is_known


def test_who_has_an_account_of_their_own_may_name_what_is_in_it(proxy: Proxy) -> None:
    """It is noted as nobody's here: with the shared key the same id is another's."""
    answer(proxy, "80.", "70.")
    bob = {"X-Vault-Token": new_user_token(proxy.vault, "bob")}
    own = bob | {"Authorization": "Bearer sk-bobs-own"}
    made = httpx.post(f"{proxy.url}/v1/responses", json={"model": "m", "input": "hi"}, headers=own).json()["id"]
    asked = {"model": "m", "input": "and?", "previous_response_id": made}
    assert httpx.post(f"{proxy.url}/v1/responses", json=asked, headers=own).status_code == 200
    assert httpx.post(f"{proxy.url}/v1/responses", json=asked, headers=bob).status_code == 404


def test_a_conversation_at_the_shared_key_is_its_users_from_when_they_were_alone(proxy: Proxy) -> None:
    answer(proxy, "80.", "70.")
    asked, alice = {"model": "m", "input": "hi", "conversation": "conv_1"}, {"Authorization": f"Bearer {proxy.token}"}
    assert httpx.post(f"{proxy.url}/v1/responses", json=asked, headers=alice).status_code == 200
    bob = {"Authorization": f"Bearer {new_user_token(proxy.vault, 'bob')}"}
    statuses = [httpx.post(f"{proxy.url}/v1/responses", json=asked, headers=who).status_code for who in (bob, alice)]
    assert statuses == [404, 200]
    other = asked | {"conversation": {"id": "conv_2"}}
    assert httpx.post(f"{proxy.url}/v1/responses", json=other, headers=alice).status_code == 404


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        ({"input": "x " * 1_100_000}, {}),
        ({"input": "Please write a 5-10 word title for: tea"}, {}),
        ({"input": "hi"}, {"x-openai-subagent": "review"}),
        ({"input": [{"type": "function_call_output", "call_id": "c", "output": "3"}]}, {}),
        ({"input": [{"role": "developer", "content": "Be brief."}]}, {}),
    ],
    ids=["too large", "housekeeping", "an agent's", "what a tool gave", "instructions"],
)
def test_a_response_to_what_no_person_said_is_its_users_too(
    proxy: Proxy, body: dict[str, Any], headers: dict[str, str]
) -> None:
    answer(proxy, "80.", "70.")
    headers |= {"Authorization": f"Bearer {proxy.token}"}
    theirs = httpx.post(f"{proxy.url}/v1/responses", json=body, headers=headers, timeout=60).json()["id"]
    bob = {"Authorization": f"Bearer {new_user_token(proxy.vault, 'bob')}"}
    asked = {"model": "m", "input": "hi", "previous_response_id": theirs}
    assert httpx.post(f"{proxy.url}/v1/responses", json=asked, headers=bob).status_code == 404
    assert httpx.post(f"{proxy.url}/v1/responses", json=asked, headers=headers).status_code == 200


def large(**fields: Any) -> bytes:
    return json.dumps({"input": "x " * 1_100_000} | fields).encode()


def many(**fields: Any) -> bytes:
    return json.dumps({"input": [[]] * 100_001} | fields).encode()


def of_another_api(**fields: Any) -> bytes:
    return json.dumps({"input": "hi", "messages": []} | fields).encode()


def with_a_long_number(**fields: Any) -> bytes:
    return json.dumps({"input": "hi"} | fields)[:-1].encode() + b', "x": ' + b"9" * 5_000 + b"}"


@pytest.mark.parametrize("written", [large, many, of_another_api, with_a_long_number])
def test_nobody_goes_on_from_anothers_response_in_what_is_not_read(proxy: Proxy, written: Callable[..., bytes]) -> None:
    answer(proxy, "80.", "70.", "60.")
    theirs = proxy.openai().responses.create(model="m", input=QUESTION).id
    bob = {"Authorization": f"Bearer {new_user_token(proxy.vault, 'bob')}"}
    refused = httpx.post(
        f"{proxy.url}/v1/responses", content=written(previous_response_id=theirs), headers=bob, timeout=60
    )
    assert refused.status_code == 400 and "another user's" in refused.text and len(proxy.provider.received) == 1
    proxy.provider.will_say(Reply([b"{}"]))
    body = written(previous_response_id=None)
    assert httpx.post(f"{proxy.url}/v1/responses", content=body, headers=bob, timeout=60).status_code == 200


def test_nobody_goes_on_from_anothers_response_in_what_only_others_read(proxy: Proxy) -> None:
    """As a lenient parser would, or one that takes the first of two members."""
    answer(proxy, "80.", "70.")
    theirs = proxy.openai().responses.create(model="m", input=QUESTION).id
    bob = {"Authorization": f"Bearer {new_user_token(proxy.vault, 'bob')}"}
    plain = json.dumps({"input": "hi", "previous_response_id": theirs})
    for body in (
        plain.encode("utf-16"),
        plain.encode("utf-8-sig"),
        gzip.compress(plain.encode()),
        plain.replace('"', "'").encode(),
        f"{plain} // and more".encode(),
        f'{plain[:-1]}, "previous_response_id": "resp_mine"}}'.encode(),
        f'{{"input": "hi", "conversation": {{"id": "{theirs}", "id": "conv_mine"}}}}'.encode(),
        f'{plain[:-1]}, "previous_response_id": null}}'.encode(),
        f'{{"input": "hi", "conversation": "{theirs}", "conversation": {{"id": null}}}}'.encode(),
        json.dumps({"input": "hi", "Previous_Response_Id": theirs}).encode(),
        json.dumps({"input": "hi", "previou\u017f_response_id": theirs}, ensure_ascii=False).encode(),
        json.dumps({"input": "hi", "conver\u017fation": theirs}).encode(),
        json.dumps({"input": "hi", "previous_response_id": [theirs]}).encode(),
        json.dumps({"input": "hi", "previous_response_id": 123}).encode(),
        json.dumps({"input": "hi", "conversation": {"id": 5}}).encode(),
        json.dumps({"input": "hi", "conversation": [{"id": theirs}]}).encode(),
        json.dumps({"input": "hi", "conversation": {"ID": theirs}}).encode(),
        json.dumps({"input": "hi", "conversation": {"id": None, "Id": theirs}}).encode(),
        json.dumps([{"input": "hi", "previous_response_id": theirs}]).encode(),
        json.dumps([{"input": "hi"}]).encode(),
    ):
        refused = httpx.post(f"{proxy.url}/v1/responses", content=body, headers=bob)
        assert refused.status_code == 400 and "another user's" in refused.text, body
    assert len(proxy.provider.received) == 1


@pytest.mark.parametrize(
    "query",
    [
        *("previous_response_id={}", "conversation={}", "Conversation={}", "a=1&conver%73ation[id]={}"),
        *("x;previous.response.id={}", "%20PREVIOUS%5fresponse_id={}", "conver%C5%BFation={}"),
    ],
)
@pytest.mark.parametrize("address", ["responses", "responses/compact", "responses/input_tokens"])
def test_nobody_goes_on_from_anothers_response_by_the_address(proxy: Proxy, address: str, query: str) -> None:
    answer(proxy, "80.", "70.")
    theirs = proxy.openai().responses.create(model="m", input=QUESTION).id
    bob = {"Authorization": f"Bearer {new_user_token(proxy.vault, 'bob')}"}
    url, body = f"{proxy.url}/v1/{address}", {"model": "m", "input": "hi"}
    refused = httpx.post(f"{url}?{query.format(theirs)}", json=body, headers=bob)
    assert refused.status_code == 400 and "another user's" in refused.text
    assert len(proxy.provider.received) == 1
    assert httpx.post(f"{url}?stream=no&api-version=7", json=body, headers=bob).status_code == 200


def test_an_error_makes_no_turn_and_a_response_that_failed_a_marked_one(proxy: Proxy) -> None:
    import openai

    failed = {"id": "r", "object": "response", "status": "failed", "output": [], "error": {"code": "x", "message": "y"}}
    error = {"error": {"message": "slow down", "type": "rate_limit_error", "param": None, "code": "x"}}
    proxy.provider.will_say(Reply([json.dumps(error).encode()], 429), Reply([json.dumps(failed).encode()]))
    with pytest.raises(openai.RateLimitError, match="slow down"):
        proxy.openai().responses.create(model="m", input="one")
    proxy.openai().responses.create(model="m", input="two")
    turn = proxy.turn()
    assert (turn["user_message"], turn["exit_code"]) == ("two", 1) and turn["assistant_message"].startswith("[partial")


@pytest.mark.parametrize(
    "body",
    [
        *({"input": 7}, {"input": [7]}, {"input": []}, {}, {"input": None, "previous_response_id": "r"}),
        {"input": [{"type": "dream", "of": [1.5]}, {"type": "dream_output", "output": [{}]}]},
        {"input": [{"role": "user", "content": [{"type": "input_file", "file_data": "A" * 5_000_000}]}]},
        {"input": [{"role": "user", "content": "hi " * 1_700_000}]},
        {"input": [{"role": "user", "content": [{"type": "input_text", "text": "[" * 60_000}] * 5}], "deep": [[[[]]]]},
    ],
    ids=lambda body: json.dumps(body)[:60],
)
def test_odd_requests_go_on_as_they_are(proxy: Proxy, body: dict[str, Any]) -> None:
    answer(proxy, "ok")
    sent = json.dumps(body).encode()
    response = proxy.post("/v1/responses", sent)
    assert response.status_code == 200 and response.headers["x-vault-memory"].startswith(("off; ", "degraded; ", "inj"))
    got = proxy.provider.received[0].body
    assert got == sent or MEMORY.encode() in got


def test_hundreds_of_parts_and_items(proxy: Proxy) -> None:
    answer(proxy, "ok")
    parts = [{"type": f"input_{number}", "n": number} for number in range(200)]
    items = [{"type": "dream", "id": f"d_{number}", "deep": [[[number]]]} for number in range(200)]
    words = {"type": "input_text", "text": QUESTION}
    proxy.post("/v1/responses", {"input": [*items, {"role": "user", "content": [*parts, words]}, *items]})
    (given,) = inputs(proxy)
    content = given[200]["content"]
    assert [*given[:200], *given[201:]] == items * 2 and [*content[:200], content[201]] == [*parts, words]
    assert content[200]["text"].startswith(MEMORY) and proxy.turn()["user_message"] == QUESTION


def test_a_websocket_is_answered_426_at_once(server: Server) -> None:
    """Codex tried seven times, and went on after as many seconds."""
    address = urlsplit(server.address)
    token = new_user_token(server.vault, "alice")
    handshake = "Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    for headers, status in ((handshake, b"426"), ("", b"502")):  # of any other `GET` the provider judges: there is none
        with socket.create_connection((address.hostname, address.port), timeout=30) as connection:
            head = f"GET /v1/responses HTTP/1.1\r\nHost: {address.netloc}\r\nAuthorization: Bearer {token}\r\n{headers}"
            connection.sendall(f"{head}Connection: close\r\n\r\n".encode())
            said = b"".join(iter(lambda: connection.recv(65_536), b""))
        assert said.startswith(b"HTTP/1.1 " + status)
        assert (b"upgrade: HTTP/1.1" in said) == (status == b"426")
    assert server.client.get("/v1/responses", headers={"Upgrade": "websocket"}).status_code == 401, "a token is needed"
