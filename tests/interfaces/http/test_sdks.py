"""The official SDKs of OpenAI and Anthropic with the proxy: all they notice is that the model knows the person."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pydantic
import pytest

from tests.interfaces.http.proxied import QUESTION, TEA, Proxy
from tests.scripted_http import SSE, Reply, chunks, completion, message, message_events
from vault_memory.services.admin.access import new_user_token

pytestmark = pytest.mark.slow  # each test starts a server


def test_the_openai_sdk_is_answered_with_memory_and_the_turn_is_recorded(proxy: Proxy) -> None:
    """G1: non-stream; the memory is put before the words of the last user message, all else stays as it was sent."""
    proxy.provider.will_say(completion("八十度，三分鐘。"))
    earlier = [
        {"role": "system", "content": "You are kind."},
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "hello"},
    ]
    answer = proxy.openai().chat.completions.with_raw_response.create(
        model="m",
        messages=[*earlier, {"role": "user", "content": QUESTION}],
        extra_headers={"X-Conversation-Id": "c-7"},
    )
    assert answer.parse().choices[0].message.content == "八十度，三分鐘。"
    assert answer.headers["X-Vault-Memory"].startswith("injected; passages=")
    (received,) = proxy.provider.received
    assert received.path == "/v1/chat/completions" and received.header("authorization") == "Bearer sk-upstream"
    assert not [name for name, _ in received.headers if name.lower().startswith(("x-vault", "x-conversation"))]
    assert proxy.token not in str(received.headers)
    sent = received.fields["messages"]
    assert sent[:-1] == earlier
    assert sent[-1]["content"].startswith("<vault-memory>\n") and sent[-1]["content"].endswith(f"\n\n{QUESTION}")
    assert TEA in sent[-1]["content"] and "主題偏好：dark" in sent[-1]["content"]
    turn = proxy.turn()
    assert (turn["user_message"], turn["assistant_message"]) == (QUESTION, "八十度，三分鐘。")
    assert (turn["conversation_id"], turn["backend"], turn["exit_code"]) == ("c-7", "m", 0)


def test_the_openai_sdk_streams(proxy: Proxy) -> None:
    proxy.provider.will_say(Reply(chunks("八十", "度"), headers=SSE))
    stream = proxy.openai().chat.completions.create(
        model="m", messages=[{"role": "user", "content": QUESTION}], stream=True
    )
    assert "".join(c.choices[0].delta.content or "" for c in stream) == "八十度"
    turn = proxy.turn()
    assert turn["assistant_message"] == "八十度" and turn["conversation_id"].startswith("conv_")


def test_a_part_is_handed_on_as_soon_as_it_comes(proxy: Proxy) -> None:
    proxy.provider.will_say(Reply(chunks("first", "last"), headers=SSE, hold=True))
    stream = iter(
        proxy.openai().chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}], stream=True)
    )
    seen = [next(stream), next(stream)]
    assert seen[1].choices[0].delta.content == "first", "though the provider holds the rest back"
    proxy.provider.released.set()
    assert [c.choices[0].delta.content for c in stream][0] == "last"


def test_the_async_openai_sdk_with_many_at_once(proxy: Proxy) -> None:
    import openai

    proxy.provider.will_say(Reply(chunks("ok"), headers=SSE))

    async def one(client: openai.AsyncOpenAI, number: int) -> str:
        words = [{"role": "user", "content": f"question {number}"}]
        stream = await client.chat.completions.create(model="m", messages=words, stream=True)  # type: ignore[arg-type]
        return "".join([c.choices[0].delta.content or "" async for c in stream])

    async def several() -> list[str]:
        async with openai.AsyncOpenAI(base_url=f"{proxy.url}/v1", api_key=proxy.token, max_retries=0) as client:
            return await asyncio.gather(*(one(client, number) for number in range(8)))

    assert asyncio.run(several()) == ["ok"] * 8
    proxy.turn(9)
    assert {t["user_message"] for t in proxy.turns()[1:]} == {f"question {n}" for n in range(8)}


def test_the_anthropic_sdk_is_answered_with_memory(proxy: Proxy) -> None:
    proxy.provider.will_say(message("八十度。"))
    said = proxy.anthropic().messages.create(
        model="m", max_tokens=9, system="Be kind.", messages=[{"role": "user", "content": QUESTION}]
    )
    assert said.content[0].text == "八十度。"  # type: ignore[union-attr]
    (received,) = proxy.provider.received
    assert received.header("x-api-key") == "sk-upstream" and received.header("authorization") is None
    assert received.header("anthropic-version") and received.fields["system"] == "Be kind."
    assert TEA in received.fields["messages"][0]["content"]
    assert proxy.turn()["assistant_message"] == "八十度。"


def test_the_anthropic_sdk_streams_and_parts_are_kept(proxy: Proxy) -> None:
    proxy.provider.will_say(Reply(message_events("八十", "度。"), headers=SSE))
    image: Any = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    words: Any = {"type": "text", "text": QUESTION, "cache_control": {"type": "ephemeral"}}
    with proxy.anthropic().messages.stream(
        model="m", max_tokens=9, messages=[{"role": "user", "content": [image, words]}]
    ) as stream:
        assert stream.get_final_text() == "八十度。"
    first, memory, last = proxy.provider.received[0].fields["messages"][0]["content"]
    assert [first, last] == [image, words] and memory["type"] == "text" and TEA in memory["text"]
    assert proxy.turn()["user_message"] == QUESTION


def test_the_async_anthropic_sdk(proxy: Proxy) -> None:
    import anthropic

    proxy.provider.will_say(message("ok"))

    async def ask() -> Any:
        async with anthropic.AsyncAnthropic(base_url=proxy.url, api_key=proxy.token, max_retries=0) as client:
            return await client.messages.create(
                model="m", max_tokens=9, messages=[{"role": "user", "content": QUESTION}]
            )

    assert asyncio.run(ask()).content[0].text == "ok"
    assert proxy.token not in str(proxy.provider.received[0].headers)


TOOLS: Any = [{"type": "function", "function": {"name": "kettle", "parameters": {"type": "object"}}}]


def test_a_tool_loop_is_one_turn_and_its_rounds_begin_alike(proxy: Proxy) -> None:
    call = {"id": "t1", "type": "function", "function": {"name": "kettle", "arguments": "{}"}}
    proxy.provider.will_say(completion("我看看。", tool_calls=[call]), completion("八十度。"))
    messages: list[Any] = [{"role": "user", "content": QUESTION}]
    client = proxy.openai()
    first = client.chat.completions.create(model="m", messages=messages, tools=TOOLS)
    messages += [
        first.choices[0].message.model_dump(exclude_none=True),
        {"role": "tool", "tool_call_id": "t1", "content": "80"},
    ]
    client.chat.completions.create(model="m", messages=messages, tools=TOOLS)
    turn = proxy.turn()
    assert (turn["user_message"], turn["assistant_message"]) == (QUESTION, "我看看。\n\n八十度。")
    one, two = (received.fields for received in proxy.provider.received)
    assert one["messages"] == two["messages"][:1] and two["messages"][1:] == messages[1:]
    assert one["tools"] == TOOLS


def test_parallel_tools_and_several_choices_arrive_whole(proxy: Proxy) -> None:
    """Streamed: two tool calls at once, two choices, logprobs and usage reach the client as the provider sent them."""
    calls = [
        {"index": n, "id": f"t{n}", "type": "function", "function": {"name": "kettle", "arguments": ""}} for n in (0, 1)
    ]
    head: dict[str, Any] = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    logprobs = {"content": [{"token": "x", "logprob": -0.5, "bytes": None, "top_logprobs": []}]}
    deltas: list[dict[str, Any]] = [
        {"index": 0, "delta": {"role": "assistant", "tool_calls": calls}, "finish_reason": None},
        {
            "index": 0,
            "delta": {"tool_calls": [{"index": 1, "function": {"arguments": '{"n": 1}'}}]},
            "finish_reason": None,
        },
        {"index": 1, "delta": {"content": "other"}, "finish_reason": "stop", "logprobs": logprobs},
        {"index": 0, "delta": {}, "finish_reason": "tool_calls"},
    ]
    events: list[dict[str, Any]] = [head | {"choices": [delta]} for delta in deltas]
    events.append(head | {"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}})
    data = [f"data: {json.dumps(event)}\n\n".encode() for event in events]
    proxy.provider.will_say(Reply([*data, b"data: [DONE]\n\n"], headers=SSE))
    words: Any = [
        {"type": "text", "text": QUESTION},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}},
    ]
    with proxy.openai().chat.completions.stream(
        model="m", messages=[{"role": "user", "content": words}], tools=TOOLS, n=2, logprobs=True,
        stream_options={"include_usage": True},
    ) as stream:  # fmt: skip
        final = stream.get_final_completion()
    tools = final.choices[0].message.tool_calls
    assert tools and [tool.id for tool in tools] == ["t0", "t1"] and tools[1].function.arguments == '{"n": 1}'
    assert final.choices[1].message.content == "other" and final.usage and final.usage.total_tokens == 3
    sent = proxy.provider.received[0].fields
    assert (sent["n"], sent["logprobs"], sent["stream_options"]) == (2, True, {"include_usage": True})
    assert sent["messages"][0]["content"][1:] == words and TEA in sent["messages"][0]["content"][0]["text"]


class Tea(pydantic.BaseModel):
    degrees: int


def test_structured_outputs_are_parsed(proxy: Proxy) -> None:
    proxy.provider.will_say(completion('{"degrees": 80}'))
    done = proxy.openai().chat.completions.parse(
        model="m", messages=[{"role": "user", "content": QUESTION}], response_format=Tea
    )
    assert done.choices[0].message.parsed == Tea(degrees=80)
    assert proxy.provider.received[0].fields["response_format"]["json_schema"]["name"] == "Tea"
    assert proxy.turn()["assistant_message"] == '{"degrees": 80}'


def test_the_responses_api_streams_through(proxy: Proxy) -> None:
    """From a server that streams no more than it must."""
    import openai

    shown = {
        "id": "r", "object": "response", "created_at": 1, "model": "m", "output": [], "status": "completed",
        "parallel_tool_calls": True, "tool_choice": "auto", "tools": [],
    }  # fmt: skip
    delta = {"type": "response.output_text.delta", "item_id": "i", "output_index": 0, "content_index": 0, "delta": "80"}
    completed = {"type": "response.completed", "sequence_number": 2, "response": shown}
    events = [delta | {"sequence_number": 1, "logprobs": []}, completed]
    data = [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events]
    proxy.provider.will_say(Reply(data, headers=SSE))
    stream = proxy.openai().responses.create(model="m", input=QUESTION, stream=True)
    assert [event.type for event in stream] == ["response.output_text.delta", "response.completed"]
    new_user_token(proxy.vault, "bob")
    with pytest.raises(openai.PermissionDeniedError, match="X-Vault-Token"):
        proxy.openai().responses.retrieve("r")  # it may be another user's
    assert [(r.method, r.path) for r in proxy.provider.received] == [("POST", "/v1/responses")]
    assert proxy.provider.received[0].fields["input"].endswith(f"\n\n{QUESTION}")
    assert proxy.turn()["assistant_message"] == "80"


def test_models_and_tokens_are_asked_of_the_right_provider(proxy: Proxy) -> None:
    model = {"id": "vendor/m", "object": "model", "created": 1, "owned_by": "x"}
    proxy.provider.will_say(Reply([json.dumps(model).encode()]))
    assert proxy.openai().models.retrieve("vendor/m").id == "vendor/m"
    theirs = {"id": "m", "type": "model", "display_name": "M", "created_at": "2026-01-01T00:00:00Z"}
    listed = {"data": [theirs], "has_more": False, "first_id": "m", "last_id": "m"}
    proxy.provider.will_say(Reply([json.dumps(listed).encode()]))
    client = proxy.anthropic()
    assert [each.id for each in client.models.list(limit=5)] == ["m"]
    proxy.provider.will_say(Reply([b'{"input_tokens": 7}']))
    assert client.messages.count_tokens(model="m", messages=[{"role": "user", "content": "hi"}]).input_tokens == 7
    one, two, three = proxy.provider.received
    assert (one.path, one.header("authorization")) == ("/v1/models/vendor%2Fm", "Bearer sk-upstream")
    assert (two.path, two.header("x-api-key")) == ("/v1/models?limit=5", "sk-upstream")
    assert three.path == "/v1/messages/count_tokens" and proxy.token not in str([one, two, three])


def test_anthropics_tool_loop_is_one_turn(proxy: Proxy) -> None:
    """Streamed by the beta helper; the tool results come with the role `user`, beside a reminder of the client."""
    use = {"type": "tool_use", "id": "t1", "name": "kettle", "input": {}}
    start: dict[str, Any] = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
        "stop_reason": None,
    }
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": start | {"usage": {"input_tokens": 1, "output_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": use},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "{}"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 5}},
        {"type": "message_stop"},
    ]
    called = [f"event: {e['type']}\ndata: {json.dumps(e)}\n\n".encode() for e in events]
    proxy.provider.will_say(Reply(called, headers=SSE), Reply(message_events("八十", "度。"), headers=SSE))
    tools: Any = [{"name": "kettle", "input_schema": {"type": "object"}}]
    messages: list[Any] = [{"role": "user", "content": QUESTION}]
    for number in (1, 2):
        billing: Any = [{"type": "text", "text": f"x-anthropic-billing-header: cch={number}ee5;"}]
        with proxy.anthropic().beta.messages.stream(
            model="m", max_tokens=9, system=billing, tools=tools, messages=messages
        ) as stream:
            said = stream.get_final_message()
        result = {"type": "tool_result", "tool_use_id": "t1", "content": "80"}
        reminder = {"type": "text", "text": "<system-reminder>no todos</system-reminder>"}
        messages += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result, reminder]}]
    assert said.content[0].text == "八十度。"  # type: ignore[union-attr]
    turn = proxy.turn()
    assert (turn["user_message"], turn["assistant_message"]) == (QUESTION, "八十度。")
    one, two = (received.fields["messages"] for received in proxy.provider.received)
    assert one == two[:1]


def test_the_async_sdks_stream(proxy: Proxy) -> None:
    import anthropic
    import openai

    async def ask() -> tuple[str, str]:
        async with openai.AsyncOpenAI(base_url=f"{proxy.url}/v1", api_key=proxy.token, max_retries=0) as client:
            words: Any = [{"role": "user", "content": "one"}]
            async with client.chat.completions.stream(model="m", messages=words) as stream:
                one = (await stream.get_final_completion()).choices[0].message.content
        said: Any = [{"role": "user", "content": "two"}]
        async with (
            anthropic.AsyncAnthropic(base_url=proxy.url, auth_token=proxy.token, max_retries=0) as claude,
            claude.messages.stream(model="m", max_tokens=9, messages=said) as stream,
        ):
            return str(one), await stream.get_final_text()

    proxy.provider.will_say(Reply(chunks("a", "b"), headers=SSE), Reply(message_events("c", "d"), headers=SSE))
    assert asyncio.run(ask()) == ("ab", "cd")
    proxy.turn(3)


def test_the_sdks_show_the_providers_own_errors(proxy: Proxy) -> None:
    import anthropic
    import openai

    said = b'{"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}}'
    proxy.provider.will_say(Reply([said], 429, {"Content-Type": "application/json", "Retry-After": "7"}))
    with pytest.raises(anthropic.RateLimitError, match="slow down") as caught:
        proxy.anthropic().messages.create(model="m", max_tokens=9, messages=[{"role": "user", "content": "hi"}])
    assert caught.value.response.headers["Retry-After"] == "7"
    with pytest.raises(openai.AuthenticationError):
        openai.OpenAI(base_url=f"{proxy.url}/v1", api_key="sk-wrong", max_retries=0).models.list()
