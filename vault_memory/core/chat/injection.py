"""Recalled memory put into a chat request, and taken out again.

The memory goes into the last message of the person, before its words, as text: so each message before it stays as it was,
which a provider's prompt cache needs, and the roles go on alternating, which many models insist on. The request is not
written anew: the text is spliced into its JSON, and every other byte stays.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator

from vault_memory.core.chat.prompt import BLOCK, ORDER

_INJECTED = "|".join([BLOCK, *(name for name in ORDER if name not in ("soul", "agents", "user-request"))])
_OPENING = re.compile(rf"<({_INJECTED})(?: name=\"[^\"\n]*\")?>(?=\n)")
_SPACE = re.compile(r"\s*")
_BLANK = re.compile(r"[ \t\n\r]*")
_decode = json.JSONDecoder().raw_decode


def without_injected(text: str) -> str:
    """The text without what we, or a prompt of ours, put into it: what the person really said."""
    return without(text, _OPENING, "\n</{}>")


def without(text: str, opening: re.Pattern[str], closing: str) -> str:
    """The text without each span from an opening tag (group 1: its name) to its `closing` (`{}`: the name), and what is blank
    behind it. A tag that is never closed stays. Takes one pass, however often such a tag stands there."""
    if "</" not in text:
        return text
    pieces: list[str] = []
    at = 0
    unclosed = set()
    for tag in opening.finditer(text):
        if tag.start() < at or tag[1] in unclosed:
            continue
        end = closing.format(tag[1])
        found = text.find(end, tag.end())
        if found < 0:
            unclosed.add(tag[1])
            continue
        pieces.append(text[at : tag.start()])
        at = _end(_SPACE, text, found + len(end))
    return "".join([*pieces, text[at:]])


def inject(request: str, injected: str, place: int, part: int = 0) -> str:
    """The request (JSON text) with a text before the words of message number `place` (from 0).

    The content of that message must be a text, or a list in which the words begin with part number `part`, as
    `exchange.read` has found it. Raises `ValueError` for what is no such request.
    """
    messages = dict(_members(request, _skip(request, 0)))["messages"]
    message = next(itertools.islice(_elements(request, messages), place, None))
    at = dict(_members(request, message))["content"]
    text = json.dumps(injected + "\n\n")
    if request[at] == '"':
        return request[: at + 1] + text[1:-1] + request[at + 1 :]
    if request[at] != "[":
        raise ValueError("the content is neither a text nor a list")
    at = next(itertools.islice(_elements(request, at), part, None))
    return f'{request[:at]}{{"type": "text", "text": {text}}}, {request[at:]}'


def _members(text: str, at: int) -> Iterator[tuple[str, int]]:
    """(key, where its value begins) of the object that begins at `at`; of a key that stands twice JSON takes the last."""
    _expect(text, at, "{")
    while text[at] != "}":
        at = _skip(text, at + 1)
        if text[at] == "}":
            return
        _expect(text, at, '"')
        key, at = _decode(text, at)
        at = _skip(text, at)
        _expect(text, at, ":")
        at = _skip(text, at + 1)
        yield key, at
        at = _skip(text, _decode(text, at)[1])


def _elements(text: str, at: int) -> Iterator[int]:
    """Where each element of the array begins that begins at `at`."""
    _expect(text, at, "[")
    while text[at] != "]":
        at = _skip(text, at + 1)
        if text[at] == "]":
            return
        yield at
        at = _skip(text, _decode(text, at)[1])


def _skip(text: str, at: int) -> int:
    return _end(_BLANK, text, at)


def _end(blank: re.Pattern[str], text: str, at: int) -> int:
    found = blank.match(text, at)
    assert found is not None
    return found.end()


def _expect(text: str, at: int, mark: str) -> None:
    if text[at : at + 1] != mark:
        raise ValueError(f"expected {mark} at {at}")
