from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.core.assistants.json_text import read, with_item, with_member, without_items, without_member
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
            with_member(text, PATH, value)
        return
    made = with_member(text, PATH, value)
    assert read(made) == before | {"mcpServers": {**before.get("mcpServers", {}), "vault-memory": value}}
    assert made.endswith(end)
    assert with_member(made, PATH, value) == made
    left = without_member(made, PATH)
    if "vault-memory" not in before.get("mcpServers", {}) and before.get("mcpServers") != {}:
        assert read(left) == before


def test_every_other_byte_stays() -> None:
    text = '{\r\n    "n": 1.50, "list": [1,2,  3],\r\n    "mcpServers": {"x": {"command": "\\u4f60"}}\r\n}\r\n'
    made = with_member(text, PATH, {"command": "v"})
    assert made.startswith(text[: text.index("}}\r\n")])
    assert without_member(made, PATH) == text


@given(st.lists(VALUES, max_size=4), INDENTS, st.integers(0, 3))
def test_an_item_comes_and_goes(before: list[Any], indent: Any, more: int) -> None:
    ours = {"hooks": "ours"}
    text = json.dumps({"hooks": {"Stop": before, "n": 1}}, indent=indent, ensure_ascii=False)
    made = with_item(text, ("hooks", "Stop"), ours)
    assert read(made)["hooks"]["Stop"] == [*before, ours]
    for _ in range(more):
        made = with_item(made, ("hooks", "Stop"), ours)
    left = without_items(made, ("hooks", "Stop"), lambda each: each == ours)
    assert left == text if before else read(left) == {"hooks": {"n": 1}}
    first = json.dumps({"hooks": {"Stop": [ours, ours, *before]}}, indent=indent, ensure_ascii=False)
    left = without_items(first, ("hooks", "Stop"), lambda each: each == ours)
    assert read(left) == ({"hooks": {"Stop": before}} if before else {})


def test_what_is_no_list_is_left_alone() -> None:
    with pytest.raises(UsageError, match="hooks.Stop is no list"):
        with_item('{"hooks": {"Stop": {}}}', ("hooks", "Stop"), 1)
    with pytest.raises(UsageError, match="hooks is no object"):
        with_item('{"hooks": []}', ("hooks", "Stop"), 1)
    assert with_item("", ("a",), 1) == '{\n  "a": [\n    1\n  ]\n}\n'


def test_a_new_file_and_an_empty_one() -> None:
    made = with_member("", PATH, {"command": "v"})
    assert made == '{\n  "mcpServers": {\n    "vault-memory": {\n      "command": "v"\n    }\n  }\n}\n'
    assert read(without_member(made, PATH)) == {}
    assert read(with_member(" \n", PATH, 1)) == {"mcpServers": {"vault-memory": 1}}


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
        with_member(text, PATH, 1)
    with pytest.raises(UsageError, match=why):
        without_member(text, PATH)
