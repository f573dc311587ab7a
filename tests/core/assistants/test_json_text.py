from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.core.assistants.json_text import (
    read,
    restored,
    settled,
    with_fields,
    with_value,
    without,
)
from vault_memory.errors import UsageError

LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=8)
NAMES = st.text(max_size=4) | st.sampled_from(["mcpServers", "hooks", "a"])
VALUES = st.recursive(
    LEAVES, lambda of: st.lists(of, max_size=3) | st.dictionaries(NAMES, of, max_size=3), max_leaves=12
)
OBJECTS = st.dictionaries(NAMES, VALUES, max_size=4)
INDENTS = st.sampled_from([None, 1, 2, 4, "\t"])
PATH = ("mcpServers", "vault-memory")


@given(OBJECTS, INDENTS, VALUES, st.sampled_from(["", "\n", "  \n\n"]))
def test_only_the_member_changes(before: dict[str, Any], indent: Any, value: Any, end: str) -> None:
    text = json.dumps(before, indent=indent, ensure_ascii=False) + end
    if not isinstance(before.get("mcpServers", {}), dict):
        with pytest.raises(UsageError, match="mcpServers is no object"):
            with_value(text, PATH, value)
        return
    made = with_value(text, PATH, value)
    assert read(made) == before | {"mcpServers": {**before.get("mcpServers", {}), "vault-memory": value}}
    assert made.endswith(end)
    assert with_value(made, PATH, value) == made
    left = without(made, PATH)
    if "vault-memory" not in before.get("mcpServers", {}) and before.get("mcpServers") != {}:
        assert read(left) == before


def test_every_other_byte_stays() -> None:
    text = '{\r\n    "n": 1.50, "list": [1,2,  3],\r\n    "mcpServers": {"x": {"command": "\\u4f60"}}\r\n}\r\n'
    made = with_value(text, PATH, {"command": "v"})
    assert made.startswith(text[: text.index("}}\r\n")])
    assert without(made, PATH) == text


@given(st.lists(VALUES, max_size=4), INDENTS, st.integers(0, 3))
def test_an_item_comes_and_goes(before: list[Any], indent: Any, more: int) -> None:
    ours = {"hooks": "ours"}
    text = json.dumps({"hooks": {"Stop": before, "n": 1}}, indent=indent, ensure_ascii=False)
    made = text
    for number in range(more):
        made = with_value(made, ("hooks", "Stop", len(before) + number), ours)
    assert read(made)["hooks"]["Stop"] == [*before, *[ours] * more]
    for number in reversed(range(more)):
        made = without(made, ("hooks", "Stop", len(before) + number), text)
    assert made == text if before else read(made) == read(text)
    first = json.dumps({"hooks": {"Stop": [ours, ours, *before]}}, indent=indent, ensure_ascii=False)
    left = without(without(first, ("hooks", "Stop", 0)), ("hooks", "Stop", 0))
    assert read(left) == ({"hooks": {"Stop": before}} if before else {})


@given(OBJECTS, INDENTS, VALUES, OBJECTS)
def test_what_stood_there_comes_back(was: dict[str, Any], indent: Any, value: Any, since: dict[str, Any]) -> None:
    """Whatever a person has changed elsewhere since, and in the form in which it was written."""
    if not isinstance(was.get("mcpServers", {}), dict):
        return
    text = json.dumps(was, indent=indent, ensure_ascii=False)
    made = with_value(text, PATH, value)
    assert settled(restored(made, PATH, text), text) == text
    others = {name: value for name, value in since.items() if name != "mcpServers"}
    changed = with_fields(made, ("elsewhere",), others) if others else made
    left = read(restored(changed, PATH, text))
    assert left == (was | {"elsewhere": read(changed)["elsewhere"]} if others else was)


def test_what_is_empty_stays_where_it_was_before() -> None:
    text = '{"hooks": {"Stop": []}, "n": 1.50}'
    made = with_value(with_value(text, ("hooks", "Stop", 0), 1), ("hooks", "Start", 0), 1)
    made = without(without(made, ("hooks", "Start", 0), text), ("hooks", "Stop", 0), text)
    assert read(made) == read(text)
    assert settled(made.replace("1.50", "1.5"), text) == text
    assert settled(made.replace("1.50", "2"), text) != text
    assert settled('{"n": true}', '{"n": 1}') == '{"n": true}'


def test_what_is_no_list_is_left_alone() -> None:
    with pytest.raises(UsageError, match="hooks.Stop is no list"):
        with_value('{"hooks": {"Stop": {}}}', ("hooks", "Stop", 0), 1)
    with pytest.raises(UsageError, match="hooks is no object"):
        with_value('{"hooks": []}', ("hooks", "Stop", 0), 1)
    assert with_value("", ("a", 0), 1) == '{\n  "a": [\n    1\n  ]\n}\n'


def test_a_new_file_and_an_empty_one() -> None:
    made = with_value("", PATH, {"command": "v"})
    assert made == '{\n  "mcpServers": {\n    "vault-memory": {\n      "command": "v"\n    }\n  }\n}\n'
    assert read(without(made, PATH)) == {}
    assert read(with_value(" \n", PATH, 1)) == {"mcpServers": {"vault-memory": 1}}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{\n  // mine\n  "a": 1\n}', "comments"),
        ('{"a": 1, /* mine */ "b": 2}', "comments"),
        ('{"a": [1, 2,],}', "commas at an end"),
        ('{"a": 1', "no JSON"),
        ('{"a": 1, "a": 2}', "twice"),
        ("[1]", "no JSON object"),
        ("[" * 100_000, "no JSON"),
    ],
)
def test_what_cannot_be_read_is_left_alone(text: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        with_value(text, PATH, 1)
    with pytest.raises(UsageError, match=why):
        without(text, PATH)
