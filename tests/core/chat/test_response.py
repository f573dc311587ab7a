"""A chat model's response, read from the bytes that it sent."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.scripted_http import chunks, completion, message, message_events
from vault_memory.core.chat.response import ERROR_RESPONSE, ChatResponse, read_response

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


def test_tools_called_in_a_stream() -> None:
    assert read_response(SSE, b"".join(chunks("wait", end="tool_calls"))).has_tool_calls


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
