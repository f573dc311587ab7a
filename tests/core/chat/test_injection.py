"""Memory put into a request, to the byte, and taken out again."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.core.chat.injection import inject, without_injected

BLOCK = '<vault-memory>\n主題："dark"\\\n</vault-memory>'
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
texts = st.text(min_size=1)
contents = texts | st.lists(st.fixed_dictionaries({"type": st.just("text"), "text": texts}), min_size=1, max_size=3)
messages = st.lists(
    st.dictionaries(st.text(), anything, max_size=2).flatmap(
        lambda more: contents.map(lambda content: {**more, "role": "user", "content": content})
    ),
    min_size=1, max_size=4,
)  # fmt: skip


@given(
    st.dictionaries(st.text(), anything, max_size=3),
    messages,
    st.integers(0, 3),
    st.integers(0, 2),
    st.sampled_from([None, 2, "\t"]),
)
def test_only_one_message_changes_whatever_else_there_is(
    more: dict[str, Any], said: list[dict[str, Any]], place: int, part: int, indent: int | str | None
) -> None:
    request = {**more, "messages": said}
    place %= len(said)
    part %= len(said[place]["content"])
    text = json.dumps(request, indent=indent)
    after = inject(text, BLOCK, place, part)
    expected = copy.deepcopy(request)
    content = expected["messages"][place]["content"]
    if isinstance(content, str):
        expected["messages"][place]["content"] = f"{BLOCK}\n\n{content}"
    else:
        content.insert(part, {"type": "text", "text": f"{BLOCK}\n\n"})
    assert json.loads(after) == expected
    at = next(n for n, (a, b) in enumerate(zip(text, after, strict=False)) if a != b) if text != after else 0
    added = len(after) - len(text)
    assert text[:at] == after[:at] and text[at:] == after[at + added :], "one insertion, and nothing else"


def test_a_key_that_stands_twice_counts_as_json_counts_it() -> None:
    text = '{"messages": [], "messages" : [ {"content": "no", "content" : "hi" , "role":"user"} ] }'
    assert json.loads(inject(text, "M", 0))["messages"][0]["content"] == "M\n\nhi"


@pytest.mark.parametrize("text", ["{}", "[]", '{"messages": {}}', '{"messages": [{"content": 7}]}', ""])
def test_what_is_no_such_request_is_refused(text: str) -> None:
    with pytest.raises((ValueError, KeyError, StopIteration)):
        inject(text, "M", 0)


@given(st.text(alphabet="ab<>/\n vault-memory"))
def test_what_was_injected_comes_out_again(words: str) -> None:
    """E4: the person's words are left, and no more."""
    if "</" not in words:
        assert without_injected(f"{BLOCK}\n\n{words}") == words.lstrip()


def test_a_prompt_of_ours_is_taken_out_and_other_tags_stay() -> None:
    """E4: also what `build_enhanced_prompt` puts before a request."""
    profile = '<user-profile>\n- 主題：dark\n</user-profile>\n\n<active-skill name="tea">\nx\n</active-skill>\n\n'
    assert without_injected(profile + "hi <b>there</b>") == "hi <b>there</b>"
    assert without_injected("<vault-memory> never closed") == "<vault-memory> never closed"


def test_tags_that_are_never_closed_take_one_pass() -> None:
    """A megabyte of them is looked at once; each looked for its end through all the rest, and the server stood still."""
    text = "<vault-memory>\n<user-profile>\n" * 40_000 + "</b> hi"
    assert without_injected(text) == text
    assert without_injected(f"{text}{BLOCK} there") == "there", "from the first one to the end that it found"
