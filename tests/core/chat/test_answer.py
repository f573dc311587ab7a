"""A chat model's answer, read out of what it sent."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.scripted_http import chunks, completion, message, message_events
from vault_memory.core.chat.answer import FAILED, Answer, read

JSON, SSE = "application/json", "text/event-stream; charset=utf-8"


def test_answers_in_one_piece() -> None:
    assert read(JSON, completion("八十度").parts[0]) == Answer("八十度", is_whole=True)
    assert read(JSON, message("八十度").parts[0]) == Answer("八十度", is_whole=True)
    assert read(JSON, completion(None, tool_calls=[{}]).parts[0]) == Answer(is_whole=True, calls_tools=True)
    assert read(JSON, message("wait", stop_reason="tool_use").parts[0]) == Answer("wait", True, calls_tools=True)


@pytest.mark.parametrize("stream", [chunks("八十", "度"), message_events("八十", "度")])
def test_answers_as_events_are_whole_when_they_say_so(stream: list[bytes]) -> None:
    assert read(SSE, b"".join(stream)) == Answer("八十度", is_whole=True)
    assert read(SSE, b": comment\r\n\r\n" + b"".join(stream).replace(b"\n", b"\r\n")).text == "八十度"


@given(st.sampled_from([chunks("八十", "度"), message_events("八十", "度")]), st.data())
def test_an_answer_that_breaks_off_anywhere_gives_what_had_come(stream: list[bytes], data: st.DataObject) -> None:
    whole = b"".join(stream)
    got = read(SSE, whole[: data.draw(st.integers(0, len(whole)))])
    assert "八十度".startswith(got.text)
    assert got.text == "八十度" or not got.is_whole
    assert bool(got.text) or got.failed or got.is_whole


def test_of_several_choices_the_first_is_read() -> None:
    mixed = [*chunks("a")[:2], *chunks("x", index=1)[:-1], *chunks("b")[1:]]
    assert read(SSE, b"".join(mixed)) == Answer("ab", is_whole=True)


def test_tools_called_in_a_stream() -> None:
    assert read(SSE, b"".join(chunks("wait", end="tool_calls"))).calls_tools


def test_tools_are_called_where_they_stand_whatever_the_end_is_called() -> None:
    """Some servers of local models end such an answer with `stop`."""
    called = completion(None, tool_calls=[{"id": "t"}]).parts[0]
    assert read(JSON, called.replace(b'"tool_calls", ', b"").replace(b'"finish_reason": "tool_calls"', b'"finish_reason": "stop"')).calls_tools  # fmt: skip
    event = {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "id": "t"}]}}]}
    assert read(SSE, f"data: {json.dumps(event)}\n\n".encode() + b"".join(chunks(end="stop"))).calls_tools
    assert not read(JSON, completion("hi", tool_calls=[]).parts[0].replace(b'"tool_calls"}', b'"stop"}')).calls_tools
    assert read(JSON, message("wait", stop_reason="pause_turn").parts[0]).calls_tools, "the client sends it on as it is"


def test_a_stream_that_says_it_is_over_is_whole_without_a_reason() -> None:
    event = b'data: {"choices": [{"index": 0, "delta": {"content": "hi"}}]}\n\n'
    assert read(SSE, event + b"data: [DONE]\n\n") == Answer("hi", is_whole=True)
    assert not read(SSE, event).is_whole
    assert read(SSE, b"data: [DONE]\n\n").failed


@pytest.mark.parametrize(
    ("kind", "data"),
    [(JSON, b""), (JSON, b"<html>"), (JSON, b"[]"), (JSON, b"{}"), (JSON, b'{"error": {}}'), (JSON, b'{"choices": [7]}'),
     (JSON, b"[" * 100_000), (SSE, b"not an event"), (SSE, b'data: {"error": {"message": "x"}}\n\n'), ("", b"\xff")],
)  # fmt: skip
def test_what_is_no_answer_has_failed(kind: str, data: bytes) -> None:
    assert read(kind, data).failed and read(kind, data).text == ""
    assert read(JSON, b"7") == FAILED


def test_an_error_after_some_words_is_no_end() -> None:
    error: dict[str, Any] = {"type": "error", "error": {"type": "overloaded_error", "message": "x"}}
    got = read(SSE, b"".join(message_events("八十")[:3]) + f"event: error\ndata: {json.dumps(error)}\n\n".encode())
    assert (got.text, got.is_whole, got.failed) == ("八十", False, True)
