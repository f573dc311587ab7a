"""A list in JSON, element by element, however it is cut into pieces, and wherever it ends."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.pace import assert_in_proportion
from vault_memory.core.exports import Damaged, elements
from vault_memory.core.exports.elements import MAX_ELEMENT_CHARS

leaf = st.none() | st.booleans() | st.integers() | st.text(max_size=8)
values = st.recursive(leaf, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner))
objects = st.dictionaries(st.text(max_size=3), values, max_size=3)


def pieces(data: bytes, size: int) -> Iterator[bytes]:
    return (data[at : at + size] for at in range(0, len(data), size))


def read(data: bytes, size: int = 7) -> tuple[list[Any], str]:
    """What is read, and where it ended too soon."""
    found: list[Any] = []
    try:
        for value in elements(pieces(data, size)):
            found.append(value)
    except Damaged as error:
        return found, str(error)
    return found, ""


@given(st.lists(objects, max_size=5), st.integers(1, 40), st.sampled_from([None, 2]), st.booleans())
def test_whatever_the_pieces_the_elements_are_the_same(
    wanted: list[Any], size: int, indent: int | None, is_ascii: bool
) -> None:
    data = json.dumps(wanted, indent=indent, ensure_ascii=is_ascii).encode("utf-8", "surrogatepass")
    found, damage = read(data, size)
    assert damage == "" and len(found) == len(wanted)
    if is_ascii:
        assert found == wanted


@given(st.lists(objects, min_size=1, max_size=4), st.data())
def test_before_a_cut_everything_is_there(wanted: list[Any], data: st.DataObject) -> None:
    whole = json.dumps(wanted).encode()
    cut = data.draw(st.integers(1, len(whole) - 1))
    found, damage = read(whole[:cut])
    assert found == wanted[: len(found)] and damage
    assert len(found) >= len(wanted) - 1 or cut < len(whole) - len(json.dumps(wanted[-1])) - 2


def test_a_single_object_a_mark_at_the_beginning_and_nothing() -> None:
    assert read(b'{"a": 1}') == ([{"a": 1}], "")
    assert read(b'\xef\xbb\xbf [ {"a": 1} , {"b": 2} ] ') == ([{"a": 1}, {"b": 2}], "")
    assert read(b'{"a": 1}\n{"a": 2}\n') == ([{"a": 1}, {"a": 2}], "")
    assert read(b"") == read(b" \n") == read(b"[]") == ([], "")
    assert read(b'["a\xff", "b\nc"]') == (["a�", "b\nc"], ""), "a wrong byte, and a line end in a text"


@pytest.mark.parametrize(
    ("data", "damage"),
    [
        (b'[{"a": 1}, {"b": ', "conversation 2"),
        (b'[{"a": 1},', "behind conversation 1"),
        (b'[{"a": 1}, what {"b": 2}]', "conversation 2"),
        (b"# a note\n", "conversation 1"),
        (b'[{"a": 1}, ' + b"[" * 100_000, "conversation 2"),
        (b'[{"a": 1}, ' + b"9" * 5_000 + b"]", "conversation 2"),
    ],
)
def test_it_says_where_it_ends(data: bytes, damage: str) -> None:
    found, said = read(data, 1 << 20)
    assert len(found) == (data[:1] == b"[") and damage in said


def test_an_element_without_end_is_given_up() -> None:
    asked = 0

    def endless() -> Iterator[bytes]:
        nonlocal asked
        yield b'[{"a": 1}, {"b": "'
        while True:
            asked += 1
            yield b"x" * 10_000_000

    found = elements(endless())
    assert next(found) == {"a": 1}
    with pytest.raises(Damaged, match="no end"):
        next(found)
    assert asked * 10_000_000 <= 4 * MAX_ELEMENT_CHARS


def test_the_time_is_in_proportion_to_the_length() -> None:
    def of_one(size: int) -> None:
        assert len(list(elements(pieces(b'[{"a": "' + b"x" * size + b'"}]', 1 << 16)))) == 1

    def of_many(size: int) -> None:
        assert len(list(elements(pieces(b"[" + b'{"a": "some text"}, ' * (size // 20) + b"{}]", 1 << 16)))) > 1

    assert_in_proportion(of_one, 40_000_000)
    assert_in_proportion(of_many, 4_000_000)
