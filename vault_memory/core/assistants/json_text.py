"""The text of a JSON file with one value more, changed, or less. Every other byte stays as it is: the file is a
person's, and other programs write it, too.

A path leads to a value by names in objects and by numbers in lists.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vault_memory.core.reading import json_value
from vault_memory.errors import UsageError

Path = Sequence[str | int]

_SPACE = re.compile(r"[ \t\r\n]*")
_INDENT = re.compile(r"\n([ \t]+)\S")
_COMMENT = re.compile(r"^\s*(?://|/\*)|(?:[,{\[\]}]|\")\s*//|/\*.*?\*/|,\s*[}\]]", re.MULTILINE)
_decoder = json.JSONDecoder()


@dataclass(frozen=True)
class _Part:
    """A member of an object or an item of a list: where it begins, and where its value does and ends."""

    key: str | int
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


def with_value(text: str, path: Path, value: Any) -> str:
    """The text with `value` at `path`; what is missing on the way is made, and the number of items adds one. Raises
    `UsageError` as `read`, and where something else than an object or list is on the way."""
    read(text)
    if not text.strip():
        text = "{}\n"
    indent = _indent(text)
    at, depth = _skip(text, 0), 0
    while True:
        kind, brace = ("object", "{") if isinstance(path[depth], str) else ("list", "[")
        if text[at] != brace:
            raise UsageError(f"{'.'.join(map(str, path[:depth]))} is no {kind} there")
        parts, close = _parts(text, at)
        found = next((each for each in parts if each.key == path[depth]), None)
        if found is None or depth == len(path) - 1:
            break
        at, depth = found.value_at, depth + 1
    if found is not None and json.loads(text[found.value_at : found.end]) == value:
        return text
    for key in reversed(path[depth + 1 :]):
        value = {key: value} if isinstance(key, str) else [value]
    shown = json.dumps(value, ensure_ascii=False, indent=indent).replace("\n", "\n" + indent * (depth + 1))
    if found is not None:
        return text[: found.value_at] + shown + text[found.end :]
    name = f"{json.dumps(path[depth], ensure_ascii=False)}: " if brace == "{" else ""
    part = f"\n{indent * (depth + 1)}{name}{shown}"
    if parts:
        return f"{text[: parts[-1].end]},{part}{text[parts[-1].end :]}"
    return f"{text[: at + 1]}{part}\n{indent * depth}{text[close:]}"


def with_fields(text: str, path: Path, fields: Mapping[str, Any]) -> str:
    """The text with these members in the object at `path`, whose others stay. Raises as `with_value`."""
    for key, value in fields.items():
        text = with_value(text, (*path, key), value)
    return text


def restored(text: str, path: Path, was: str) -> str:
    """The text with what another text has at `path`: its value as it is written there, or nothing. Raises `UsageError`
    as `read`."""
    read(was)
    if (place := _place(was, path)) is None:
        return without(text, path, was)
    old = was[place.value_at : place.end]
    made = with_value(text, path, json.loads(old))
    place = _place(made, path)
    return made if place is None else made[: place.value_at] + old + made[place.end :]


def without(text: str, path: Path, was: str = "") -> str:
    """The text without the value at `path`, and without what is empty by that and was not there in `was`. Raises
    `UsageError` as `read`."""
    read(text)
    if _place(text, path) is None:
        return text
    above = _place(text, path[:-1])
    at = above.value_at if above else _skip(text, 0)
    parts, close = _parts(text, at)
    number = next(number for number, each in enumerate(parts) if each.key == path[-1])
    if len(parts) == 1:
        if path[:-1] and _place(was, path[:-1]) is None:
            return without(text, path[:-1], was)
        return text[: at + 1] + text[close:]
    if number:
        return text[: parts[number - 1].end] + text[parts[number].end :]
    return text[: parts[0].at] + text[parts[1].at :]


def settled(text: str, was: str) -> str:
    """The text, or `was` if it says the same: then only blanks and forms of numbers have changed."""
    return was if json.dumps(read(text)) == json.dumps(read(was)) else text


def says_more(text: str, path: Path, fields: Mapping[str, Any]) -> bool:
    """Whether the object at `path` says more than these members, or something else."""
    place = _place(text, path)
    found = json.loads(text[place.value_at : place.end]) if place else {}
    return {key: value for key, value in found.items() if value or key in fields} != dict(fields)


def _place(text: str, path: Path) -> _Part | None:
    """What is at `path`; None if nothing is."""
    found = None
    if not text.strip():
        return None
    at = _skip(text, 0)
    for key in path:
        parts, _ = _parts(text, at) if text[at] in "{[" else ([], at)
        found = next((each for each in parts if each.key == key), None)
        if found is None:
            return None
        at = found.value_at
    return found


def _parts(text: str, at: int) -> tuple[list[_Part], int]:
    """What is in the object or list that begins at `at`, and where its closing brace is. The text is valid JSON."""
    parts: list[_Part] = []
    is_object = text[at] == "{"
    here = _skip(text, at + 1)
    while text[here] not in "}]":
        key: str | int = len(parts)
        value_at = here
        if is_object:
            key, after = _decoder.raw_decode(text, here)
            value_at = _skip(text, _skip(text, after) + 1)
        _, end = _decoder.raw_decode(text, value_at)
        parts.append(_Part(key, here, value_at, end))
        here = _skip(text, end)
        if text[here] == ",":
            here = _skip(text, here + 1)
    return parts, here


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
