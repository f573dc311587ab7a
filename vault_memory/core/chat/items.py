"""OpenAI's Responses API, in which a request's `input` is a text or a list of items, and a response's `output` is a
list of items: messages, calls of tools and what these gave, reasoning, references to what the provider keeps.

New types of items are made each year. So an item is known by its form: a message has a role, a call that the client is
to answer has a `call_id` for which the response holds no output.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote_plus

from vault_memory.core.chat.messages import (
    MODEL,
    PERSON,
    TEXT,
    TOOL,
    Message,
    Messages,
    Part,
    forced_tool,
    name_of,
    read_parts,
    role_of,
)

_ANSWERS = ("_output", "_response")
"""How the types end of items that answer an item of the model: what a tool gave, a person's consent to a call."""
_ENDED = ("completed", "incomplete", "failed", "cancelled")
_DELTAS = ("response.output_text.delta", "response.refusal.delta")
MAX_ID_CHARS = 200
"""Of a response or a conversation; a longer id is known by its hash."""
ID_BYTES = 16 << 10
"""The id of a response is looked for in so much of the beginning of its body. Providers write it before instructions,
tools and output, and before all that a person or a model may have made long."""
_TOKEN = re.compile(rb"""("(?:[^"\\]++|\\.)*+"|")(\s*+:)?|[\[{]|[\]}]""", re.DOTALL)
_CONTINUED_BY = ("previous_response_id", "conversation")
_CONTINUED = re.compile(rb"""(?i:["'](?:previous_response_id|conversation)["'](?!\s*+:\s*+null))""")
_PARAMETERS = re.compile("[&;]")
_SIGNS = re.compile(r"[\W_]+")
_ESCAPED = re.compile(rb"\\u00([2-7][0-9A-Fa-f])")
_LONG_S = re.compile(rb"\xc5\xbf|\\u017[fF]")
"""Another letter case of `s`: some servers find the name of a member by it."""
_CONSENT = "mcp_approval_request"
"""The one item without a `call_id` that waits for the client."""


def read_items(request: Any) -> Messages | None:
    """The messages of a request for a response, in parsed JSON; None if it is none, or asks for no answer, but that
    what came before is made short or kept ready. The index of a message is that of its item, 0 for an input that is a
    text."""
    if not isinstance(request, Mapping) or _is_without_answer(request):
        return None
    given = request.get("input")
    if isinstance(given, str):
        given = [{"role": PERSON, "content": given}]
    if not isinstance(given, list) or not all(isinstance(item, Mapping) for item in given):
        return None
    instructions = request.get("instructions")
    return Messages(
        tuple(_message(item, index) for index, item in enumerate(given)),
        tuple(part.text for part in read_parts(instructions) if part.kind == TEXT),
        forced_tool(request),
        has_tools=bool(request.get("tools")),
    )


@dataclass(frozen=True)
class Continued:
    """What a request goes on from, of which the provider keeps the messages: a response, or a conversation, by id.
    `is_stored`: its own response may be gone on from, too."""

    response_id: str = ""
    conversation_id: str = ""
    is_stored: bool = False

    def __bool__(self) -> bool:
        return bool(self.response_id or self.conversation_id)


def read_continued(request: Any) -> Continued:
    """What a request for a response goes on from, in parsed JSON."""
    if not isinstance(request, Mapping) or request.get("messages") is not None:
        return Continued()
    conversation = request.get("conversation")
    named = conversation.get("id") if isinstance(conversation, Mapping) else conversation
    response_id, conversation_id = (_id(each) for each in (request.get("previous_response_id"), named))
    return Continued(response_id, conversation_id, request.get("store") is not False)


def find_response_id(beginning: bytes, *, is_stream: bool) -> str:
    """The id of a response in the first `ID_BYTES` of its body, as they are decompressed; "" where it is not in there.

    The body may break off anywhere, and is not parsed: it may be of any size.
    """
    if not is_stream:
        return _string_at([b'"id"'], beginning[:ID_BYTES])
    lines = beginning[:ID_BYTES].removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    events = (_data_of(event.split(b"\n")) for event in lines.split(b"\n\n"))
    return next(filter(None, (_string_at([b'"response"', b'"id"'], event) for event in events)), "")


def _data_of(lines: Iterable[bytes]) -> bytes:
    return b"\n".join(line.removeprefix(b"data:") for line in lines if line.startswith(b"data:"))


def _string_at(names: list[bytes], text: bytes) -> str:
    """The text that a JSON object has at a member of a member, as far as `text` goes; "" if it has none."""
    at: list[bytes] = []
    for token in _TOKEN.finditer(text):
        string, colon = token[1], token[2]
        if string == b'"':  # it breaks off in a text: each quotation mark in that would be tried
            return ""
        if string is None:
            at = [*at, b""] if token[0] in b"[{" else at[:-1]
        elif colon and at:
            at[-1] = string
        elif at == names:
            with suppress(ValueError):
                return _id(json.loads(string.decode("utf-8", "replace"), strict=False))
    return ""


def may_continue(body: bytes) -> bool:
    """Whether a request that is not parsed may name what it goes on from: it has a member of such a name, at any depth
    and with any escapes, or it is not in UTF-8."""
    plain = _ESCAPED.sub(lambda found: bytes([int(found[1], 16)]), body) if b"\\u00" in body else body
    plain = _LONG_S.sub(b"s", plain)
    return b"\0" in body or not body.lstrip().startswith(b"{") or _CONTINUED.search(plain) is not None


def is_unreadable(request: Mapping[str, Any]) -> bool:
    """Whether a request for a response names what it goes on from, and not by a text, or not as `id`: some servers find
    that in any letter case."""
    conversation = request.get("conversation")
    named = conversation.get("id") if isinstance(conversation, Mapping) else conversation
    if isinstance(conversation, Mapping) and any(name != "id" and name.casefold() == "id" for name in conversation):
        return True
    return any(not isinstance(each, str | None) for each in (request.get("previous_response_id"), named))


def is_continued_by_query(query: str) -> bool:
    """Whether the query of an address names what a request goes on from, in any letter case and with any signs."""
    names = (unquote_plus(each.partition("=")[0]).casefold() for each in _PARAMETERS.split(query))
    return any(_SIGNS.sub("_", name).strip("_").startswith(_CONTINUED_BY) for name in names)


def is_ambiguous(text: str) -> bool:
    """Whether others may read something else in a request than `read_continued` does, of what it goes on from: a member
    of an object of this JSON stands in it twice, or has such a name in other letter case."""
    found = False

    def note(pairs: list[tuple[str, Any]]) -> None:
        nonlocal found
        names = {name for name, _ in pairs}
        other_case = any(name.casefold() in _CONTINUED_BY and name not in _CONTINUED_BY for name in names)
        found = found or other_case or len(names) < len(pairs)

    json.loads(text, object_pairs_hook=note)
    return found


def is_round_of_tools(messages: Messages | None) -> bool:
    """Whether a request holds what tools gave and nothing of a person, not even a picture."""
    given = messages.messages if messages else ()
    persons = [part for message in given if message.role == PERSON for part in message.parts]
    return any(message.role == TOOL for message in given) and all(part.kind == TEXT for part in persons)


class Output:
    """What a response says, from its events as they come or from its whole body.

    `status` is "" until it has ended; `calls` are (name, arguments) of the tools that the client is to run.
    """

    def __init__(self) -> None:
        self.response_id = self.status = ""
        self._open: dict[str, tuple[str, str]] = {}
        self._place: tuple[int, int] | None = None
        self._told: set[int] = set()
        self._has_items = False

    @property
    def calls(self) -> list[tuple[str, str]]:
        """The calls that nothing in the response answers."""
        return [*self._open.values()]

    @property
    def is_ended(self) -> bool:
        """Whether the model ended it, or was made to end it by a limit."""
        return self.status in ("completed", "incomplete")

    @property
    def is_failed(self) -> bool:
        """Whether it ended without being answered."""
        return self.status in ("failed", "cancelled")

    def read_event(self, event: Mapping[str, Any]) -> str:
        """Keep what an event says of the response, and give its text."""
        kind, at = event.get("type"), _number(event.get("output_index"))
        if kind in _DELTAS:
            self._told.add(at)
            return self._joined(event.get("delta"), (at, _number(event.get("content_index"))))
        item, response = event.get("item"), event.get("response")
        if kind == "response.output_item.done" and isinstance(item, Mapping):
            self._has_items = True
            return "".join(self._item(item, at))
        return self.read_body(response, str(kind)) if isinstance(response, Mapping) else ""

    def read_body(self, response: Mapping[str, Any], kind: str = "") -> str:
        """Keep what a whole response says; give its text, if no event has told of it. Some servers send no `status`:
        the `kind` of their event has it."""
        self.response_id = _id(response.get("id")) or self.response_id
        status = response.get("status") or kind.removeprefix("response.")
        self.status = status if status in _ENDED else self.status
        output = response.get("output")
        if self._has_items or not isinstance(output, list):
            return ""
        items = [(at, item) for at, item in enumerate(output) if isinstance(item, Mapping)]
        self._has_items = bool(items)
        return "".join(piece for at, item in items for piece in self._item(item, at))

    def _item(self, item: Mapping[str, Any], at: int) -> Iterator[str]:
        """Keep what a whole item says; give its text, if no delta has."""
        kind, call_id = _text(item.get("type")), _text(item.get("call_id"))
        if kind.endswith(_ANSWERS):
            self._open.pop(call_id, None)
        elif call_id or kind == _CONSENT:
            self._open[call_id or _text(item.get("id"))] = _called(item)
        if kind == "message" and at not in self._told:
            for number, part in enumerate(_parts(item)):
                yield self._joined(part.get("text") or part.get("refusal"), (at, number))

    def _joined(self, text: object, place: tuple[int, int]) -> str:
        """A piece of text, on a line of its own if it stands in another part than the one before."""
        if not isinstance(text, str) or not text:
            return ""
        is_apart, self._place = self._place not in (None, place), place
        return f"\n{text}" if is_apart else text


def _is_without_answer(request: Mapping[str, Any]) -> bool:
    given, cache = request.get("input"), request.get("prompt_cache_options")
    last = given[-1] if isinstance(given, list) and given else None
    is_prewarm = request.get("generate") is False or (isinstance(cache, Mapping) and cache.get("prewarm") is True)
    return is_prewarm or (isinstance(last, Mapping) and last.get("type") == "compaction_trigger")


def _message(item: Mapping[str, Any], index: int) -> Message:
    """An item as a message. What no message is has one part, with which it stays whole."""
    kind = _text(item.get("type"))
    if kind in ("", "message") and "role" in item:
        return Message(role_of(item["role"]), read_parts(item.get("content")), index, name_of(item))
    if kind.endswith(_ANSWERS):
        return Message(TOOL, read_parts(item.get("output")), index)
    return Message(MODEL if kind else "", (Part(kind, value=item),), index)


def _called(item: Mapping[str, Any]) -> tuple[str, str]:
    return _text(item.get("name")), _text(item.get("arguments")) or _text(item.get("input"))


def _parts(item: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    content = item.get("content")
    return [part for part in content if isinstance(part, Mapping)] if isinstance(content, list) else []


def _number(value: object) -> int:
    return value if isinstance(value, int) else -1


def _id(value: object) -> str:
    """An id of bounded length. Of a long one no part tells it from others: gateways make ids of which only the end
    differs."""
    text = _text(value)
    if len(text) <= MAX_ID_CHARS:
        return text
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=32).hexdigest()


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
