"""Where memory goes: before the words, in the form that it had, in any API's request."""

from __future__ import annotations

import json
from typing import Any

import pytest

from vault_memory.core.chat import digests, read_messages
from vault_memory.core.chat.place import find_place, find_places, inject
from vault_memory.core.chat.shortened import shorten

MARK = {"cache_control": {"type": "ephemeral"}}


def filled(request: dict[str, Any], memory: str, form: str | None, part_index: int = 0) -> Any:
    """The request with `memory` before the words of its first message; without a form as new memory goes in."""
    text = json.dumps(request)
    place = find_place(text, 0, part_index)
    insertions = place.insertions(memory, place.form if form is None else form)
    return json.loads(shorten(text.encode()).with_all(text.encode(), insertions))


def text(words: str, kind: str = "text", **more: Any) -> dict[str, Any]:
    return {"type": kind, "text": words, **more}


@pytest.mark.parametrize("field", ["messages", "input"])
@pytest.mark.parametrize("kind", ["text", "input_text"])
def test_memory_keeps_its_form_however_the_client_packs_the_words(field: str, kind: str) -> None:
    """For the provider a text is the same as a list with one part."""
    as_text, as_part = ({field: [{"role": "user", "content": content}]} for content in ("hi", [text("hi", kind)]))

    def content(request: dict[str, Any], form: str | None) -> Any:
        return filled(request, "M", form)[field][0]["content"]

    assert content(as_text, None) == "M\n\nhi" and content(as_part, None) == [text("M\n\n", kind), text("hi", kind)]
    assert content(as_text, kind) == content(as_part, kind) == content(as_part, None)
    assert content(as_part, "") == [text("M\n\nhi", kind)]


def test_memory_goes_into_an_input_that_is_a_text() -> None:
    assert filled({"input": "hi"}, "M", None) == {"input": "M\n\nhi"}


def test_a_part_without_a_text_has_no_words() -> None:
    picture = {"messages": [{"role": "user", "content": [{"type": "image"}, text("hi")]}]}
    assert filled(picture, "M", None)["messages"][0]["content"][0] == text("M\n\n")
    with pytest.raises(ValueError, match="no text"):
        filled(picture, "M", "")


def test_several_messages_at_once() -> None:
    body = json.dumps({"messages": [{"role": "user", "content": words} for words in "aéc"]}, ensure_ascii=False)
    places = find_places(body, {0: 0, 2: 0})
    insertions = [each for place in places.values() for each in place.insertions("M", "")]
    changed = shorten(body.encode()).with_all(body.encode(), insertions).decode()
    assert changed == inject(inject(body, "M", 0), "M", 2)
    for wanted in ({3: 0}, {0: 0, 3: 0}):
        with pytest.raises(ValueError, match="fewer"):
            find_places(body, wanted)


def known(*messages: dict[str, Any]) -> list[bytes]:
    read = read_messages({"messages": list(messages)})
    assert read is not None
    return [*digests(read).values()]


def said(role: str, content: Any) -> dict[str, Any]:
    return {"role": role, "content": content}


def test_a_message_is_known_again_in_whatever_form_it_comes() -> None:
    first = known(said("user", "hi"), said("assistant", [text("ho")]), said("user", [text("more", **MARK)]))
    moved = said("user", [text("hi", **MARK)]), said("assistant", "ho"), said("user", "more")
    assert known(said("system", "Be kind."), *moved) == first and len(set(first)) == 2
    result = {"type": "tool_result", "content": [text("80")]}
    marked = {"type": "tool_result", "content": [text("80", **MARK)]} | MARK
    assert known(said("user", [result, text("hi")])) == known(said("user", [marked, text("hi")]))


@pytest.mark.parametrize(
    "edited",
    [
        [said("user", "HI"), said("assistant", "ho"), said("user", "more")],
        [said("user", "hi"), said("assistant", "no"), said("user", "more")],
        [said("user", "hi"), said("user", "more")],
        [said("user", "hiho"), said("assistant", ""), said("user", "more")],
        [said("assistant", "hi"), said("user", "ho"), said("user", "more")],
        [said("user", "hi"), said("assistant", [text("ho"), {"type": "image", "source": 1}]), said("user", "more")],
    ],
)
def test_a_message_after_an_edited_one_is_another(edited: list[dict[str, Any]]) -> None:
    assert known(said("user", "hi"), said("assistant", "ho"), said("user", "more"))[-1] != known(*edited)[-1]
