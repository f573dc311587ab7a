"""A client's request as messages of parts, whichever API it is for: who speaks is judged part by part.

In OpenAI's chat completions and Anthropic's messages, a message is {role, content}, and a content is a text or a list
of parts. A reader of another API gives the same `Messages`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

INSTRUCTIONS, PERSON, MODEL, TOOL = "system", "user", "assistant", "tool"
TEXT, TOOL_RESULT, TOOL_CALL = "text", "tool_result", "tool_call"
_ROLES = {"developer": INSTRUCTIONS, "function": TOOL}
_KINDS = {"": TEXT, "input_text": TEXT, "output_text": TEXT, "tool_use": TOOL_CALL}


@dataclass(frozen=True)
class Part:
    """A part of a message: its `kind` (`TEXT`, `TOOL_RESULT`, `TOOL_CALL`, else as the client calls it: `image`), the
    `text` of a `TEXT`, of any other what stands in the request: `value`. `index` is its place in the content, 0 for a
    content that is a text."""

    kind: str
    text: str = ""
    value: Any = None
    index: int = 0


@dataclass(frozen=True)
class Message:
    """A message: its `role` (`INSTRUCTIONS`, `PERSON`, `MODEL`, `TOOL`, else as the client calls it), its parts, and
    its place in the request's list. The role only says on whose side it stands: clients and tools speak as `PERSON`,
    too. `name`: who speaks, where the client says so, as in a chat of several people."""

    role: str
    parts: tuple[Part, ...]
    index: int
    name: str = ""

    @property
    def text(self) -> str:
        """Its texts, joined by line breaks."""
        return "\n".join(part.text for part in self.parts if part.kind == TEXT)


@dataclass(frozen=True)
class Messages:
    """The messages of a request, and the `instructions` that stand outside of them.

    `forced_tool` is the one tool that the model must call, "" if it may do anything else: that call is its answer.
    `has_tools`: the model may call some. `is_probe`: it asks for one token only, by which a client tests the key or the
    remaining quota.
    """

    messages: tuple[Message, ...]
    instructions: tuple[str, ...] = ()
    forced_tool: str = ""
    is_probe: bool = False
    has_tools: bool = False


def read_messages(request: Any) -> Messages | None:
    """The messages of a request for chat completions or messages, in parsed JSON; None if it is none."""
    given = request.get("messages") if isinstance(request, Mapping) else None
    if not isinstance(given, list) or not all(isinstance(message, Mapping) for message in given):
        return None
    messages = tuple(
        Message(role_of(message.get("role")), read_parts(message.get("content")), index, name_of(message))
        for index, message in enumerate(given)
    )
    instructions = tuple(part.text for part in read_parts(request.get("system")) if part.kind == TEXT)
    is_probe = any(request.get(name) == 1 for name in ("max_tokens", "max_completion_tokens"))
    return Messages(messages, instructions, forced_tool(request), is_probe, has_tools=bool(request.get("tools")))


def role_of(given: object) -> str:
    """A role under the name that it has here."""
    return _ROLES.get(str(given), str(given))


def name_of(message: Mapping[str, Any]) -> str:
    """The `name` of who speaks in a message; "" if it has none."""
    name = message.get("name")
    return name.strip() if isinstance(name, str) else ""


def read_parts(content: Any) -> tuple[Part, ...]:
    """The parts of a content: a text, or a list of parts in which one without a `type` is a text."""
    if isinstance(content, str):
        return (Part(TEXT, content),)
    given = content if isinstance(content, list) else []
    return tuple(_part(value, index) for index, value in enumerate(given))


def text_of(content: Any) -> str:
    """The text of a content: the content itself, or the texts of its parts joined by line breaks."""
    return "\n".join(part.text for part in read_parts(content) if part.kind == TEXT)


def forced_tool(request: Mapping[str, Any]) -> str:
    """The tool that `tool_choice` names, "" if it names none: then the model goes on after a call."""
    choice = request.get("tool_choice")
    if not isinstance(choice, Mapping) or choice.get("type") not in ("function", "tool", "custom"):
        return ""
    inner = choice.get(str(choice["type"]))
    named = inner.get("name") if isinstance(inner, Mapping) else choice.get("name")
    return named if isinstance(named, str) else ""


def without_cache_marks(value: Any) -> Any:
    """A value without `cache_control`, which clients move on from request to request."""
    if isinstance(value, Mapping):
        return {key: without_cache_marks(inner) for key, inner in value.items() if key != "cache_control"}
    return [without_cache_marks(inner) for inner in value] if isinstance(value, list) else value


def digests(messages: Messages) -> dict[int, bytes]:
    """For each message on the person's side that has a text, by its index: a digest of all messages up to it.

    A provider's prompt cache holds the beginning of a request. Clients send the same message as a text and as a list
    with one part, and move `cache_control` on: that is the same. Instructions do not count: clients put the time there,
    and reminders, which they leave out later.
    """
    found: dict[int, bytes] = {}
    so_far = hashlib.blake2b(digest_size=16)
    for message in messages.messages:
        if message.role == INSTRUCTIONS:
            continue
        pieces = [_piece(part) for part in message.parts if part.text or part.kind != TEXT]
        for piece in (message.role.encode("utf-8", "surrogatepass"), *pieces):
            so_far.update(b"%d:" % len(piece) + piece)
        so_far.update(b".")
        if message.role == PERSON and any(part.text for part in message.parts):
            found[message.index] = so_far.digest()
    return found


def _piece(part: Part) -> bytes:
    if part.kind == TEXT:
        return b"t" + part.text.encode("utf-8", "surrogatepass")
    return b"v" + json.dumps(without_cache_marks(part.value), sort_keys=True).encode()


def _part(value: Any, index: int) -> Part:
    if not isinstance(value, Mapping):
        return Part("", value=value, index=index)
    kind = str(value.get("type") or "")
    kind = _KINDS.get(kind, kind)
    text = value.get("text")
    if kind == TEXT and isinstance(text, str):
        return Part(TEXT, text, index=index)
    return Part("" if kind == TEXT else kind, value=value, index=index)
