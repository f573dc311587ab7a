"""Requests to OpenAI's Responses API: what is read in them, and memory in their input."""

from __future__ import annotations

import json
from typing import Any
from unittest.mock import ANY

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.core.chat import (
    ID_BYTES,
    find_response_id,
    inject,
    is_round_of_tools,
    may_continue,
    read_continued,
    read_items,
)
from vault_memory.core.chat.items import MAX_ID_CHARS, Continued
from vault_memory.core.chat.messages import Messages

THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAA\u00e9=="}
CALL = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "kettle", "arguments": '{"a": 1.0}'}
GAVE = {"type": "function_call_output", "call_id": "c1", "output": "80"}
ASKED = {"type": "message", "id": "msg_1", "role": "user", "content": [{"type": "input_text", "text": "How hot?"}]}
BARE = {"role": "user", "content": "How hot?"}


def items(*listed: Any, **fields: Any) -> Messages:
    read = read_items({"model": "m", "input": [*listed]} | fields)
    assert read is not None
    return read


def shown(messages: Messages) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in messages.messages]


def test_an_input_is_a_text_or_a_list_of_items() -> None:
    whole = read_items({"input": "How hot?", "instructions": "Be brief."})
    assert whole and shown(whole) == [("user", "How hot?")] and whole.instructions == ("Be brief.",)
    picture = {
        "role": "user",
        "content": [{"type": "input_image", "image_url": "x"}, {"type": "input_text", "text": "?"}],
    }
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "80"}]}
    given = items({"role": "developer", "content": "You help."}, BARE, THOUGHT, CALL, GAVE, said, picture, ASKED)
    assert shown(given) == [
        *(("system", "You help."), ("user", "How hot?"), ("assistant", ""), ("assistant", ""), ("tool", "80")),
        *(("assistant", "80"), ("user", "?"), ("user", "How hot?")),
    ]
    assert [message.index for message in given.messages] == [*range(8)]
    assert [part.kind for part in given.messages[6].parts] == ["input_image", "text"]


def test_items_of_types_that_nobody_knows_are_not_the_persons() -> None:
    """None of them, whatever text it holds; a tool of next year gives its output as the others do."""
    unknown = [
        *({"type": "item_reference", "id": "msg_1"}, {"id": "msg_1"}, {}, {"type": 7, "content": "I use Vue."}),
        {"type": "additional_tools", "role": "user", "content": "I use Vue.", "tools": []},
        {"type": "dream_call_output", "call_id": "d", "output": [{"type": "input_text", "text": "I use Vue."}]},
        *({"type": "mcp_approval_response", "approve": True}, {"type": "message", "content": "I use Vue."}),
    ]
    assert "user" not in [message.role for message in items(*unknown).messages]


@pytest.mark.parametrize("given", [None, 7, {}, ["text"], [None], [[]], [BARE, "text"]])
def test_an_input_of_another_form_is_none(given: Any) -> None:
    assert read_items({"input": given}) is None and read_items(given) is None
    assert not is_round_of_tools(read_items({"input": given}))


def test_a_request_without_an_answer_is_none() -> None:
    """What came before is made short, or kept ready for the next request, which has the words again."""
    assert read_items({"input": [BARE, {"type": "compaction_trigger"}]}) is None
    assert read_items({"input": [BARE], "generate": False}) is None
    assert read_items({"input": "hi", "prompt_cache_options": {"prewarm": True}}) is None


def test_rounds_of_tools() -> None:
    assert is_round_of_tools(items(GAVE)) and is_round_of_tools(items(THOUGHT, CALL, GAVE))
    assert not is_round_of_tools(items(CALL)) and not is_round_of_tools(items(BARE))
    picture = {"role": "user", "content": [{"type": "input_image", "image_url": "x"}]}
    assert not is_round_of_tools(items(GAVE, picture)), "the person shows it"


def test_what_a_request_goes_on_with() -> None:
    assert read_continued({"previous_response_id": "resp_1", "store": True}) == Continued("resp_1", "", True)
    assert read_continued({"conversation": "conv_1"}) == read_continued({"conversation": {"id": "conv_1"}})
    assert read_continued({"input": "hi", "store": False}) == Continued() and not read_continued({"input": "hi"})
    assert read_continued({"messages": [], "previous_response_id": "x"}) == Continued(), "this is no such request"
    for odd in (None, 7, [], {}, {"id": 7}, True):
        assert not read_continued({"previous_response_id": odd, "conversation": odd}) and not read_continued(odd)
    long = [read_continued({"previous_response_id": "x" * 9_999 + end}).response_id for end in "ab"]
    assert len({*long}) == 2 and all(len(each) < MAX_ID_CHARS for each in long), "only their ends differ"


LIKE_AN_ID: Any = {"id": "resp_other", "response": {"id": "resp_other"}}
WORDS = st.text() | st.sampled_from([json.dumps(LIKE_AN_ID), '"id": "resp_other"', '\\"', "data: ", "\n\n", "id"])
NESTED = st.recursive(
    st.none() | st.booleans() | st.floats() | WORDS | st.just(LIKE_AN_ID),
    lambda inner: st.lists(inner) | st.dictionaries(WORDS.filter(lambda name: name not in ("id", "response")), inner),
    max_leaves=12,  # still lists in dictionaries in lists; a hundred leaves make the test take twice as long
)
AROUND = st.dictionaries(WORDS.filter(lambda name: name not in ("id", "response")), NESTED)


@given(AROUND, AROUND, WORDS, st.booleans(), st.sampled_from([None, 1]), st.integers(0, 3_000))
def test_the_id_of_a_response_is_found_without_parsing_it(
    before: Any, after: Any, name: str, is_ascii: bool, indent: int | None, cut: int
) -> None:
    """Where it breaks off before that, or has none, no other is taken for it."""
    found = Continued(read_continued({"previous_response_id": name}).response_id).response_id

    def written(value: Any) -> bytes:
        return json.dumps(value, ensure_ascii=is_ascii, indent=indent).encode("utf-8", "surrogatepass")

    whole = {**before, "id": name, **after}
    stream = b": ping\n\ndata: {}\n\ndata: " + written({**before, "response": whole, **after}).replace(
        b"\n", b"\ndata: "
    )
    for body, is_stream in ((written(whole), False), (stream + b"\n\ndata: [DONE]\n\n", True)):
        assert find_response_id(body, is_stream=is_stream) == (found if len(body) <= ID_BYTES else ANY)
        assert find_response_id(body[:cut], is_stream=is_stream) in ("", found)
    for body in (written({**before, "id": None, **after}), written([whole]), written(None)):
        assert find_response_id(body, is_stream=False) == ""
        assert find_response_id(b"data: " + body + b"\n\n", is_stream=True) == ""


@pytest.mark.parametrize("body", [b"", b'"id"', b'{"id": "\\q"}', b'{"id": 7}', b'{"id"}', b"]]]{", b'{"id": ["a"]}'])
def test_in_what_is_no_json_there_is_no_id(body: bytes) -> None:
    assert find_response_id(body, is_stream=False) == find_response_id(b"data:" + body, is_stream=True) == ""


@pytest.mark.parametrize("name", ["previous_response_id", "conversation"])
def test_that_a_request_may_go_on_is_seen_without_parsing_it(name: str) -> None:
    escaped = "".join(f"\\u{ord(letter):04X}" for letter in name)
    for written in (
        f'"{name}":"r"',
        f'"{name}" \n : "r"',
        f'"{escaped}":{{"id":"r"}}',
        f'"{name[:-1]}\\u{ord(name[-1]):04x}":7',
        f'"{name}":"r"'.replace("s", "\u017f"),
        f'"{name}":"r"'.replace("s", "\\u017F"),
    ):
        assert may_continue(f'{{"input": [[[[, {written}'.encode())
    assert may_continue(b"{'" + name.encode() + b"'}") and may_continue(b"") and may_continue(b"{\0}")
    for other in (f'"{name}": null', f'"x{name}": "r"', json.dumps({"input": f'"{name}": "r"'})):
        assert not may_continue(f"{{{other}}}".encode())


@pytest.mark.parametrize(
    ("given", "index", "part"),
    [
        ("How hot?", 0, 0),
        ([THOUGHT, CALL, GAVE, BARE, THOUGHT], 3, 0),
        ([{"type": "new", "messages": [1.0]}, ASKED], 1, 0),
        ([{"role": "user", "content": [{"type": "input_file", "file_id": "f"}, *ASKED["content"]]}], 0, 1),
    ],
)
def test_memory_goes_before_the_words_and_all_else_stays(given: Any, index: int, part: int) -> None:
    request = json.dumps({"a": 1.50, "input": given, "stream": True, "b": "\u8336"}, indent=1)
    changed = inject(request, 'Tea "80"', index, part)
    added = len(changed) - len(request)
    assert any(changed[:at] + changed[at + added :] == request for at in range(len(request)))
    content = json.loads(changed)["input"]
    content = content if isinstance(content, str) else content[index]["content"]
    if isinstance(content, list):
        assert content[part]["type"] == "input_text"
        content = content[part]["text"]
    assert content.startswith('Tea "80"\n\n')
