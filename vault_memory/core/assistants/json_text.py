"""The text of a JSON file with one member or item more, changed, or less. Every other byte stays as it is: the file is
a person's, and other programs write it, too."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from vault_memory.core.reading import json_value
from vault_memory.errors import UsageError

_SPACE = re.compile(r"[ \t\r\n]*")
_INDENT = re.compile(r"\n([ \t]+)\S")
_COMMENT = re.compile(r"^\s*(?://|/\*)|(?:[,{\[\]}]|\")\s*//|/\*.*?\*/|,\s*[}\]]", re.MULTILINE)
_decoder = json.JSONDecoder()


@dataclass(frozen=True)
class _Member:
    """A member of an object: where its key begins, and where its value does and ends."""

    key: str
    at: int
    value_at: int
    end: int


def read(text: str) -> dict[str, Any]:
    """The object of a text; empty for one of blanks. Raises `UsageError` for one that is no JSON, has comments, holds
    something else, or names a member of an object twice."""
    if not text.strip():
        return {}
    try:
        found = json.loads(text, object_pairs_hook=_once)
        json_value(text.encode())  # not too deep for others
    except (ValueError, RecursionError) as error:
        if _COMMENT.search(text):
            raise UsageError("it has comments, or commas at an end, which would be lost") from error
        raise UsageError(f"it is no JSON that can be read ({str(error)[:100]})") from error
    if not isinstance(found, dict):
        raise UsageError("it holds no JSON object")
    return found


def with_member(text: str, path: Sequence[str], value: Any) -> str:
    """The text with `value` at the keys of `path`; objects on the way are made. Raises `UsageError` as `read`, and
    where something else than an object is on the way."""
    read(text)
    if not text.strip():
        text = "{}\n"
    indent = _indent(text)
    at, depth = _SPACE.match(text).end(), 0  # type: ignore[union-attr]
    while True:
        if text[at] != "{":
            raise UsageError(f"{'.'.join(path[:depth])} is no object there")
        members, close = _members(text, at)
        found = next((each for each in members if each.key == path[depth]), None)
        if found is None or depth == len(path) - 1:
            break
        at, depth = found.value_at, depth + 1
    if found is not None and json.loads(text[found.value_at : found.end]) == value:
        return text
    for key in reversed(path[depth + 1 :]):
        value = {key: value}
    shown = json.dumps(value, ensure_ascii=False, indent=indent).replace("\n", "\n" + indent * (depth + 1))
    if found is not None:
        return text[: found.value_at] + shown + text[found.end :]
    member = f"\n{indent * (depth + 1)}{json.dumps(path[depth], ensure_ascii=False)}: {shown}"
    if members:
        return f"{text[: members[-1].end]},{member}{text[members[-1].end :]}"
    return f"{text[: at + 1]}{member}\n{indent * depth}{text[close:]}"


def without_member(text: str, path: Sequence[str]) -> str:
    """The text without the member at `path`, and without objects on the way that are empty then. Raises `UsageError` as
    `read`."""
    here = read(text)
    for key in path:
        if not isinstance(here, dict) or key not in here:
            return text
        here = here[key]
    at = _SPACE.match(text).end()  # type: ignore[union-attr]
    for depth, key in enumerate(path):
        members, close = _members(text, at)
        number = next(number for number, each in enumerate(members) if each.key == key)
        if depth == len(path) - 1:
            break
        at = members[number].value_at
    if len(members) == 1:
        if len(path) > 1:
            return without_member(text, path[:-1])
        return text[: at + 1] + text[close:]
    if number:
        return text[: members[number - 1].end] + text[members[number].end :]
    return text[: members[0].at] + text[members[1].at :]


def with_item(text: str, path: Sequence[str], value: Any) -> str:
    """The text with `value` as the last item of the list at `path`, which is made. Raises `UsageError` as
    `with_member`, and where something else than a list is there."""
    at = _place(text, path)
    if at is None:
        return with_member(text, path, [value])
    items = _items(text, at, path)
    if not items:
        return with_member(text, path, [value])
    indent = _indent(text)
    inner = "\n" + indent * (len(path) + 1)
    shown = json.dumps(value, ensure_ascii=False, indent=indent).replace("\n", inner)
    return f"{text[: items[-1][1]]},{inner}{shown}{text[items[-1][1] :]}"


def without_items(text: str, path: Sequence[str], is_meant: Callable[[Any], bool]) -> str:
    """The text without the items of the list at `path` that are meant, and without the list if all are. Raises
    `UsageError` as `with_item`."""
    while (at := _place(text, path)) is not None:
        items = _items(text, at, path)
        number = next((n for n, (begin, end) in enumerate(items) if is_meant(json.loads(text[begin:end]))), None)
        if number is None:
            break
        if len(items) == 1:
            return without_member(text, path)
        begin, end = (items[number - 1][1], items[number][1]) if number else (items[0][0], items[1][0])
        text = text[:begin] + text[end:]
    return text


def _place(text: str, path: Sequence[str]) -> int | None:
    """Where the value at `path` begins; None if nothing is there."""
    here: Any = read(text)
    if not text.strip():
        return None
    at = _skip(text, 0)
    for key in path:
        if not isinstance(here, dict) or key not in here:
            return None
        here = here[key]
        at = next(each.value_at for each in _members(text, at)[0] if each.key == key)
    return at


def _items(text: str, at: int, path: Sequence[str]) -> list[tuple[int, int]]:
    """Where each item of the list that begins at `at` begins and ends."""
    if text[at] != "[":
        raise UsageError(f"{'.'.join(path)} is no list there")
    items: list[tuple[int, int]] = []
    here = _skip(text, at + 1)
    while text[here] != "]":
        _, end = _decoder.raw_decode(text, here)
        items.append((here, end))
        here = _skip(text, end)
        if text[here] == ",":
            here = _skip(text, here + 1)
    return items


def _members(text: str, at: int) -> tuple[list[_Member], int]:
    """The members of the object that begins at `at`, and where its closing brace is. The text is valid JSON."""
    members: list[_Member] = []
    here = _skip(text, at + 1)
    while text[here] != "}":
        key, after = _decoder.raw_decode(text, here)
        value_at = _skip(text, _skip(text, after) + 1)
        _, end = _decoder.raw_decode(text, value_at)
        members.append(_Member(key, here, value_at, end))
        here = _skip(text, end)
        if text[here] == ",":
            here = _skip(text, here + 1)
    return members, here


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _indent(text: str) -> str:
    found = _INDENT.search(text)
    return found[1] if found else "  "


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name stands twice in one object")
    return found
