"""A chat model's response, read from the bytes that it sent."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.pace import assert_at_most
from tests.scripted_http import chunks, completion, message, message_events
from vault_memory.core.chat.response import ERROR_RESPONSE, READ_AT_BYTES, ChatResponse, ResponseReader, read_response

JSON, SSE = "application/json", "text/event-stream; charset=utf-8"


def test_responses_in_one_piece() -> None:
    assert read_response(JSON, completion("八十度").parts[0]) == ChatResponse("八十度", is_complete=True)
    assert read_response(JSON, message("八十度").parts[0]) == ChatResponse("八十度", is_complete=True)
    assert read_response(JSON, completion(None, tool_calls=[{}]).parts[0]) == ChatResponse(
        is_complete=True, has_tool_calls=True
    )
    assert read_response(JSON, message("wait", stop_reason="tool_use").parts[0]) == ChatResponse(
        "wait", True, has_tool_calls=True
    )


@pytest.mark.parametrize("stream", [chunks("八十", "度"), message_events("八十", "度")])
def test_a_stream_that_gives_a_finish_reason_is_complete(stream: list[bytes]) -> None:
    assert read_response(SSE, b"".join(stream)) == ChatResponse("八十度", is_complete=True)
    assert read_response(SSE, b": comment\r\n\r\n" + b"".join(stream).replace(b"\n", b"\r\n")).text == "八十度"


@given(st.sampled_from([chunks("八十", "度"), message_events("八十", "度")]), st.data())
def test_a_response_that_breaks_off_gives_the_text_so_far(stream: list[bytes], data: st.DataObject) -> None:
    whole = b"".join(stream)
    got = read_response(SSE, whole[: data.draw(st.integers(0, len(whole)))])
    assert "八十度".startswith(got.text)
    assert got.text == "八十度" or not got.is_complete
    assert bool(got.text) or got.is_error or got.is_complete


def test_of_several_choices_the_first_is_read_response() -> None:
    mixed = [*chunks("a")[:2], *chunks("x", index=1)[:-1], *chunks("b")[1:]]
    assert read_response(SSE, b"".join(mixed)) == ChatResponse("ab", is_complete=True)


@pytest.mark.parametrize("index", ["null", '"0"'])
def test_an_index_that_is_none_is_the_firsts(index: str) -> None:
    """Such a chat was in no record, and nothing said so."""
    stream = b"".join(chunks("ab")).replace(b'"index": 0', b'"index": ' + index.encode())
    assert index.encode() in stream and read_response(SSE, stream) == ChatResponse("ab", is_complete=True)


def test_tools_called_in_a_stream() -> None:
    assert read_response(SSE, b"".join(chunks("wait", end="tool_calls"))).has_tool_calls


CALL = {"index": 0, "id": "t", "type": "function", "function": {"name": "tea", "arguments": '{"a": "茶"}'}}
PIECES = [
    {"tool_calls": [{**CALL, "function": {"name": "tea", "arguments": '{"a":'}}]},
    {"tool_calls": [{"index": 0, "function": {"arguments": ' "茶"}'}}]},
]
BLOCKS = [
    {"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "name": "tea", "input": {}}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": '{"a": "茶"}'}},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
]


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        (JSON, completion(None, tool_calls=[CALL]).parts[0]),
        (JSON, json.dumps({"type": "message", "content": [{"type": "tool_use", "name": "tea", "input": {"a": "茶"}}]})),
        (SSE, "".join(f"data: {json.dumps({'choices': [{'delta': each}]})}\n\n" for each in PIECES)),
        (SSE, "".join(f"data: {json.dumps(each)}\n\n" for each in BLOCKS)),
    ],
)
def test_calls_have_their_arguments_in_whatever_form(kind: str, data: str | bytes) -> None:
    data = data if isinstance(data, bytes) else data.encode()
    assert read_response(kind, data).calls == (("tea", '{"a": "茶"}'),)


def test_tool_calls_count_whatever_the_finish_reason_is() -> None:
    """Some servers of local models end such a response with `stop`."""
    called = completion(None, tool_calls=[{"id": "t"}]).parts[0]
    stopped = called.replace(b'"finish_reason": "tool_calls"', b'"finish_reason": "stop"')
    assert read_response(JSON, stopped.replace(b'"tool_calls", ', b"")).has_tool_calls
    event = {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "id": "t"}]}}]}
    assert read_response(SSE, f"data: {json.dumps(event)}\n\n".encode() + b"".join(chunks(end="stop"))).has_tool_calls
    assert not read_response(
        JSON, completion("hi", tool_calls=[]).parts[0].replace(b'"tool_calls"}', b'"stop"}')
    ).has_tool_calls
    assert read_response(JSON, message("wait", stop_reason="pause_turn").parts[0]).has_tool_calls, (
        "the client sends it back unchanged"
    )


def test_a_stream_that_ends_with_done_is_complete_without_a_finish_reason() -> None:
    event = b'data: {"choices": [{"index": 0, "delta": {"content": "hi"}}]}\n\n'
    assert read_response(SSE, event + b"data: [DONE]\n\n") == ChatResponse("hi", is_complete=True)
    assert not read_response(SSE, event).is_complete
    assert read_response(SSE, b"data: [DONE]\n\n").is_error


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        *(
            (JSON, data)
            for data in (b"", b"<html>", b"[]", b"{}", b'{"error": {}}', b'{"choices": [7]}', b"[" * 100_000)
        ),
        (SSE, b"not an event"),
        (SSE, b'data: {"error": {"message": "x"}}\n\n'),
        ("", b"\xff"),
    ],
)
def test_data_that_is_not_a_response_is_an_error(kind: str, data: bytes) -> None:
    assert read_response(kind, data).is_error and read_response(kind, data).text == ""
    assert read_response(JSON, b"7") == ERROR_RESPONSE


def test_a_response_with_an_error_after_some_words_is_not_complete() -> None:
    error: dict[str, Any] = {"type": "error", "error": {"type": "overloaded_error", "message": "x"}}
    got = read_response(
        SSE, b"".join(message_events("八十")[:3]) + f"event: error\ndata: {json.dumps(error)}\n\n".encode()
    )
    assert (got.text, got.is_complete, got.is_error) == ("八十", False, True)


TORN = b'data: {"choices": [{"index": 0, "delta": {"content": "not\n\n'


def test_an_event_that_cannot_be_read_is_missed() -> None:
    """The reply was kept without it, and nobody said so: «take it [not] twice a day»."""
    begin, first, second, *end = chunks("八十", "度")
    assert read_response(SSE, b"".join([begin, TORN, *end])) == ChatResponse(is_error=True, is_readable=False)
    got = read_response(SSE, b"".join([begin, first, TORN, second, *end]))
    assert got == ChatResponse("八十度", is_readable=False)
    for no_text in (b"data: ping\n\n", b"data:\n\n"):
        assert read_response(SSE, b"".join([first, no_text, second, *end])).is_complete
    after = b"".join([first, second, end[0], TORN, end[1]])
    assert read_response(SSE, after) == ChatResponse("八十度", is_complete=True), "the model had ended"
    assert read_response(SSE, b"".join([first, TORN.rstrip()])) == ChatResponse("八十"), "it breaks off"


def test_a_control_character_within_a_text_is_read() -> None:
    event = b'data: {"choices": [{"index": 0, "delta": {"content": "a\tb"}}]}\n\ndata: [DONE]\n\n'
    assert read_response(SSE, event) == ChatResponse("a\tb", is_complete=True)
    assert read_response(JSON, completion("a~b").parts[0].replace(b"~", b"\t")).text == "a\tb"


def test_what_a_model_says_as_it_declines_is_its_reply() -> None:
    """OpenAI has it in a field of its own: the turn had an empty reply."""
    declined = completion(None, refusal="I cannot help with that.").parts[0]
    stream = b"".join(chunks("I cannot")).replace(b'"content"', b'"refusal"')
    assert read_response(JSON, declined) == ChatResponse("I cannot help with that.", is_complete=True)
    assert read_response(SSE, stream) == ChatResponse("I cannot", is_complete=True)


def test_messages_in_place_of_deltas() -> None:
    def sent(*messages: str) -> bytes:
        events = ({"choices": [{"index": 0, "message": {"content": each}}]} for each in messages)
        return b"".join(f"data: {json.dumps(event)}\n\n".encode() for event in events) + b"data: [DONE]\n\n"

    assert read_response(SSE, sent("ha", "ha")) == ChatResponse("haha", is_complete=True)
    assert read_response(SSE, b"".join(chunks("ha", "ha")[:-1]) + sent("haha")).text == "haha", "sent once more"


@given(st.sampled_from([b"\n", b"\r\n", b"\r"]), st.data())
def test_a_stream_read_in_parts_is_the_same_as_the_whole(end: bytes, data: st.DataObject) -> None:
    noise = b"id: 7\nevent\n: hi\n\n"
    whole = b"\xef\xbb\xbf" + noise.join([b"", *chunks("八十", "度", "。"), b"\n\n"]).replace(b"\n", end)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=9)))
    reader = ResponseReader(SSE)
    for start, stop in zip([0, *cuts], [*cuts, len(whole)], strict=True):
        reader.add(whole[start:stop])
        reader.read_on()
    assert reader.response() == read_response(SSE, whole) == ChatResponse("八十度。", is_complete=True)


@pytest.mark.parametrize("noise", [b"\xef\xbb\xbf", b": x\n" * 100_000, b"\r" * 3_000_000, b"x" * 3_000_000 + b"\n"])
def test_what_is_no_data_counts_for_nothing_however_much_there_is(noise: bytes) -> None:
    """Such a stream left no turn, and each blank line took 2.5 us."""
    whole = noise + b"".join(chunks("八十", "度")[1:])

    def read() -> None:
        reader, kept = ResponseReader(SSE), 0
        for start in range(0, len(whole), 16 << 10):
            reader.add(whole[start : start + (16 << 10)])
            if reader.is_due:
                reader.read_on()
            kept = max(kept, reader.kept_bytes)
        assert reader.response() == ChatResponse("八十度", is_complete=True) and not reader.is_cut
        assert kept < 2 * READ_AT_BYTES

    assert_at_most(100, read)


def test_an_event_of_very_many_lines_is_left_out_in_little_memory() -> None:
    endless = b"data:x\n" * 280_000
    tracemalloc.start()
    try:
        got = read_response(SSE, endless + b"\n" + b"".join(chunks("八十")))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert got == ChatResponse("八十", is_complete=True)
    assert peak < 6 * len(endless)


@pytest.mark.slow
def test_of_a_long_stream_only_the_text_is_kept() -> None:
    reader, largest = ResponseReader(SSE), 0
    for part in chunks(*["x" * 10] * 50_000):
        reader.add(part)
        if reader.is_due:
            reader.read_on()
        largest = max(largest, reader.kept_bytes)
    assert reader.response() == ChatResponse("x" * 500_000, is_complete=True) and not reader.is_cut
    assert largest < 2 * READ_AT_BYTES + 600_000


def test_what_is_too_large_is_cut_and_what_has_too_many_values_is_not_parsed() -> None:
    reader = ResponseReader(SSE)
    reader.add(b"".join(chunks("八十"))[:-20] + b"data: " + b"x" * 3_000_000)
    reader.read_on()
    reader.add(b"".join(chunks("度")))
    assert reader.is_cut and reader.response().text == "八十" and not reader.response().is_complete
    many = b'{"type":"message","content":[' + b"{}," * 200_000 + b'{"text":"hi"}]}'
    assert read_response(JSON, many) == ERROR_RESPONSE
    got = read_response(SSE, b'data: {"choices":[' + b"{}," * 200_000 + b"{}]}\n\n" + b"".join(chunks("度")))
    assert got == ChatResponse("度", is_readable=False)


def answered(*output: Any, status: str = "completed", **more: Any) -> dict[str, Any]:
    return {"id": "resp_1", "object": "response", "status": status, "output": [*output], "error": None} | more


def said(*texts: str, kind: str = "output_text") -> dict[str, Any]:
    field = "refusal" if kind == "refusal" else "text"
    return {"type": "message", "role": "assistant", "content": [{"type": kind, field: text} for text in texts]}


def called(call_id: str, kind: str = "function_call", **more: Any) -> dict[str, Any]:
    return {"type": kind, "call_id": call_id, "name": "kettle", "arguments": "{}"} | more


def events_of(response: dict[str, Any], has_deltas: bool = True) -> list[dict[str, Any]]:
    """A response as OpenAI streams it, each text in two deltas, or as some servers do, without."""
    events: list[dict[str, Any]] = [
        {"type": f"response.{kind}", "response": response | {"status": "in_progress", "output": []}}
        for kind in ("created", "in_progress")
    ]
    for at, item in enumerate(response["output"]):
        events.append({"type": "response.output_item.added", "output_index": at, "item": item | {"content": []}})
        for number, part in enumerate(item.get("content", ()) if has_deltas else ()):
            kind, text = part["type"], part.get("text") or part["refusal"]
            where = {"output_index": at, "content_index": number}
            events += ({"type": f"response.{kind}.delta", "delta": piece} | where for piece in (text[:1], text[1:]))
            events.append({"type": f"response.{kind}.done", kind.removeprefix("output_"): text} | where)
        events.append({"type": "response.output_item.done", "output_index": at, "item": item})
    return [*events, {"type": f"response.{response['status']}", "response": response}]


def both(response: dict[str, Any]) -> ChatResponse:
    """A response as it is read from one piece; a stream says the same, with deltas and without."""
    got = read_response(JSON, json.dumps(response).encode())
    assert streamed(events_of(response)) == streamed(events_of(response, has_deltas=False)) == got
    return got


def streamed(events: list[dict[str, Any]]) -> ChatResponse:
    lines = (f"event: {event['type']}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n" for event in events)
    return read_response(SSE, "".join(lines).encode())


def test_openais_responses_in_one_piece_and_streamed() -> None:
    thought = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hot?"}], "encrypted_content": "x"}
    search = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
    response = answered(thought, search, said("八十", "度"), said("C", kind="refusal"))
    assert both(response) == ChatResponse("八十\n度\nC", is_complete=True, response_id="resp_1")
    assert both(answered(said("八十度"), status="incomplete")).is_complete, "a limit has ended it"
    whole = [each for each in events_of(response) if each["type"] == "response.completed"]
    assert streamed(whole).text == "八十\n度\nC", "some servers stream no more than that"
    bare = [{key: value for key, value in each.items() if key != "response"} for each in events_of(response)]
    assert not streamed(bare).is_complete


def test_a_call_that_the_client_is_to_answer_has_an_id_and_no_output() -> None:
    """Whatever the type of its item is. Tools of the provider have no such id, or their output stands beside them."""
    hosted = called("h1", "shell_call"), {"type": "shell_call_output", "call_id": "h1", "output": []}
    assert not both(answered(*hosted, {"type": "mcp_call", "id": "m", "output": "80"}, said("80"))).has_tool_calls
    for kind in ("function_call", "custom_tool_call", "computer_call", "kettle_call_of_next_year"):
        assert both(answered(said("wait"), called("c1", kind))).has_tool_calls
    assert both(answered(*hosted, called("c2"))).has_tool_calls
    assert both(answered({"type": "mcp_approval_request", "id": "a1", "name": "kettle"})).has_tool_calls
    began = [each for each in events_of(answered(called("c1"))) if each["type"] != "response.output_item.done"]
    assert streamed(began).has_tool_calls
    codex = events_of(answered(said("wait"), called("c1")))
    codex[-1] = codex[-1] | {"response": answered()}  # as ChatGPT's own address ends a stream
    got = streamed(codex)
    assert got == ChatResponse("wait", True, has_tool_calls=True, response_id="resp_1", calls=got.calls) and got.calls


def test_responses_that_fail_or_go_on() -> None:
    failed = answered(said("八十"), status="failed", error={"code": "server_error", "message": "x"})
    assert both(failed) == ChatResponse("八十", is_error=True, response_id="resp_1")
    error = {"type": "error", "code": "rate_limit_exceeded", "message": "x", "param": None, "sequence_number": 3}
    events = events_of(answered(said("八十度")))
    got = streamed([*events[:4], error])
    assert (got.text, got.is_error, got.is_complete) == ("八", True, False)
    for number in range(len(events)):
        got = streamed(events[:number])
        assert "八十度".startswith(got.text) and not got.is_complete
        assert got.response_id == ("resp_1" if number else "")
    queued = read_response(JSON, json.dumps(answered(status="queued")).encode())
    assert queued == ChatResponse(is_complete=True, has_tool_calls=True, response_id="resp_1"), "in the background"


@pytest.mark.parametrize("value", [None, 7, "x", [], {}, [7], [{"type": 7, "content": 7}], {"id": []}])
def test_responses_of_another_form_do_no_harm(value: Any) -> None:
    for name in ("output", "status", "id", "content", "item", "response", "delta", "output_index", "call_id"):
        item = {"type": "message", "content": [{"type": "output_text", "text": "hi"}]} | {name: value}
        body = answered(item) | {name: value}
        read_response(JSON, json.dumps(body).encode())
        streamed([each | {name: value} for each in events_of(answered(said("hi")))])
        streamed([{"type": "response.output_item.done", "item": item}, {"type": f"response.{value}", "response": body}])
