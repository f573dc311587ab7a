"""Where memory goes into a client's request: the text is spliced into the JSON, and every other byte stays.

It goes into the person's last message, before the words, as text: each message before it stays unchanged, which a
provider's prompt cache needs, and the roles still alternate, which many models require.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

_BLANK = re.compile(r"[ \t\n\r]*")
_decode = json.JSONDecoder().raw_decode


@dataclass(frozen=True)
class Place:
    """Where memory goes into a request's JSON: before the character `at`, inside of a text or as a part of its own, of
    the type that the API has for texts."""

    at: int
    is_in_text: bool
    text_type: str = "text"

    def filled(self, text: str) -> str:
        """The JSON that is to be put in there for `text`."""
        quoted = json.dumps(text + "\n\n")
        return quoted[1:-1] if self.is_in_text else f'{{"type": "{self.text_type}", "text": {quoted}}}, '


def find_place(request_json: str, message_index: int, part_index: int = 0) -> Place:
    """The place before the person's words, where `read_request` has found them.

    The content of that message must be a text, or a list that has a part `part_index`. Raises `ValueError`, `KeyError`
    or `StopIteration` for JSON that is not a request of that form.
    """
    members = dict(_members(request_json, _skip_blank(request_json, 0)))
    messages = members.get("messages", members.get("input"))
    if messages is None:
        raise KeyError("messages")
    if request_json[messages] == '"':
        return Place(messages + 1, is_in_text=True)
    message = next(itertools.islice(_elements(request_json, messages), message_index, None))
    at = dict(_members(request_json, message))["content"]
    if request_json[at] == '"':
        return Place(at + 1, is_in_text=True)
    if request_json[at] != "[":
        raise ValueError("the content is neither a text nor a list")
    return Place(
        next(itertools.islice(_elements(request_json, at), part_index, None)),
        False,
        "text" if "messages" in members else "input_text",
    )


def inject(request_json: str, text: str, message_index: int, part_index: int = 0) -> str:
    """The request with `text` before the person's words. Raises what `find_place` raises."""
    place = find_place(request_json, message_index, part_index)
    return request_json[: place.at] + place.filled(text) + request_json[place.at :]


def _members(text: str, at: int) -> Iterator[tuple[str, int]]:
    """(key, position of its value) in the JSON object at `at`; of a key that comes twice, JSON takes the last."""
    _expect(text, at, "{")
    while text[at] != "}":
        at = _skip_blank(text, at + 1)
        if text[at] == "}":
            return
        _expect(text, at, '"')
        key, at = _decode(text, at)
        at = _skip_blank(text, at)
        _expect(text, at, ":")
        at = _skip_blank(text, at + 1)
        yield key, at
        at = _skip_blank(text, _decode(text, at)[1])


def _elements(text: str, at: int) -> Iterator[int]:
    """The position of each element of the JSON array at `at`."""
    _expect(text, at, "[")
    while text[at] != "]":
        at = _skip_blank(text, at + 1)
        if text[at] == "]":
            return
        yield at
        at = _skip_blank(text, _decode(text, at)[1])


def _skip_blank(text: str, at: int) -> int:
    blank = _BLANK.match(text, at)
    assert blank is not None
    return blank.end()


def _expect(text: str, at: int, mark: str) -> None:
    if text[at : at + 1] != mark:
        raise ValueError(f"expected {mark} at {at}")
