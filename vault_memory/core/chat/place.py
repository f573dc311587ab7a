"""Where memory goes into a client's request: texts are spliced into the JSON, and every other byte stays.

It goes before the person's words, inside of their message, so that the roles still alternate, which many models
require. There it is also before the place up to which a client has the provider cache the prompt: that is often the
words' own part (`benchmarks/prompt_cache.py`).
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

_BLANK = re.compile(r"[ \t\n\r]*")
_decode = json.JSONDecoder().raw_decode

Insertion = tuple[int, str]
"""Where something is put into a request's JSON, and what."""


@dataclass(frozen=True)
class Place:
    """Where words stand in a request's JSON: `text`, from its first quote until after its last one (None: they are in
    no text). `part` is where their part begins, None if the whole content is one text; `kind` is the part's type."""

    text: tuple[int, int] | None
    part: int | None = None
    kind: str = "text"

    @property
    def form(self) -> str:
        """The form in which memory goes in: "" inside of the text, else as a part of its own, of this type.

        As the client has it, a text or a list: some servers take texts only.
        """
        return "" if self.part is None else self.kind

    def insertions(self, memory: str, form: str) -> list[Insertion]:
        """What puts `memory` before the words, in a form that it had in an earlier request.

        The same message may be a list of parts in one request and a text in the next: of an own part it stays one,
        then, which makes parts of the text, too. Raises `ValueError` if it cannot have that form here.
        """
        quoted = json.dumps(memory + "\n\n")
        if not form and self.text:
            return [(self.text[0] + 1, quoted[1:-1])]
        head = f'{{"type": {json.dumps(form)}, "text": '
        if form and self.part is not None:
            return [(self.part, f"{head}{quoted}}}, ")]
        if form and self.text:
            return [(self.text[0], f"[{head}{quoted}}}, {head}"), (self.text[1], "}]")]
        raise ValueError("these words are in no text")


def find_place(request_json: str, message_index: int, part_index: int = 0) -> Place:
    """The place of the person's words, where `read_request` has found them.

    The content of that message must be a text, or a list that has a part `part_index`. Raises `ValueError`, `KeyError`
    or `StopIteration` for JSON that is not a request of that form.
    """
    return find_places(request_json, {message_index: part_index})[message_index]


def find_places(request_json: str, wanted: dict[int, int]) -> dict[int, Place]:
    """The places of the words in several messages, by the message's index; `wanted` names the part in each.

    Raises what `find_place` raises.
    """
    fields = dict(_members(request_json, _skip_blank(request_json, 0)))
    messages = fields["messages"] if "messages" in fields else fields["input"]
    if request_json[messages] == '"':  # the whole input of OpenAI's responses may be one text
        return {index: _text_at(request_json, messages) for index in wanted}
    found = {}
    for index, message in itertools.islice(enumerate(_elements(request_json, messages)), max(wanted) + 1):
        if index in wanted:
            found[index] = _place_in(request_json, dict(_members(request_json, message))["content"], wanted[index])
    if len(found) < len(wanted):
        raise ValueError("the request has fewer messages")
    return found


def _place_in(text: str, content: int, part_index: int) -> Place:
    if text[content] == '"':
        return _text_at(text, content)
    if text[content] != "[":
        raise ValueError("the content is neither a text nor a list")
    part = next(itertools.islice(_elements(text, content), part_index, None))
    members = dict(_members(text, part)) if text[part] == "{" else {}
    kind = _decode(text, members["type"])[0] if "type" in members else "text"
    words = members.get("text")
    span = (words, _decode(text, words)[1]) if words is not None and text[words] == '"' else None
    return Place(span, part, kind if isinstance(kind, str) and span else "text")


def _text_at(text: str, at: int) -> Place:
    return Place((at, _decode(text, at)[1]))


def inject(request_json: str, text: str, message_index: int, part_index: int = 0) -> str:
    """The request with `text` before the person's words. Raises what `find_place` raises."""
    place = find_place(request_json, message_index, part_index)
    for at, inserted in reversed(place.insertions(text, place.form)):
        request_json = request_json[:at] + inserted + request_json[at:]
    return request_json


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
