"""What the proxy reads in the body of a request: the chat in it, where its words stand, what it goes on with."""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from vault_memory.config import Config
from vault_memory.core.chat import (
    MAX_READ_BYTES,
    ChatRequest,
    Continued,
    Place,
    Shortened,
    digests,
    find_place,
    is_ambiguous,
    is_round_of_tools,
    is_unreadable,
    may_continue,
    read_chat,
    read_continued,
    read_items,
    read_messages,
    shorten,
)
from vault_memory.core.clients import conversation_of
from vault_memory.services.proxy.relayed import by_name

_TOO_LARGE = "the request is too large or has too many values to be read"


@dataclass(frozen=True)
class ReadRequest:
    """What was read in a request's body: the chat in it (None: no words of a person), its model, and the `user` field.

    `place` is where its words stand in the `short` form; `said` are the digests by which messages are known
    (`core.chat.digests`). `problem` says why a body was not read, though it may hold a chat; "" if it was. `name` is
    what its conversation is known by: the id that a header gives it, else its first message. `continued` is what the
    chat goes on with, and `is_round`: it holds nothing but what tools gave. `may_continue`: it may go on with
    something else, which was not read.
    """

    chat: ChatRequest | None = None
    place: Place | None = None
    said: Mapping[int, bytes] = field(default_factory=dict)
    short: Shortened = Shortened(b"")
    model: str | None = None
    user: str | None = None
    problem: str = ""
    name: str = ""
    continued: Continued = Continued()
    is_round: bool = False
    may_continue: bool = False

    @property
    def has_earlier(self) -> bool:
        """Whether it holds messages that may have been sent before: others than the person's last one, or a round of a
        tool loop."""
        if self.chat is None or self.chat.is_tool_round:
            return bool(self.said)
        return any(index != self.chat.message_index for index in self.said)


def read_body(body: bytes, headers: Iterable[tuple[bytes, bytes]], key: bytes, config: Config) -> ReadRequest:
    """Read a body. With the secret `key` long texts in it are left out while it is parsed (`core.chat.shorten`)."""
    shortened = shorten(body, key)
    problem = _TOO_LARGE
    if shortened.is_readable:
        try:
            fields = json.loads(shortened.text)
            return _read_fields(fields, shortened, body, by_name(headers), config)
        except RecursionError:
            problem = "the request is nested too deeply to be read"
        except (json.JSONDecodeError, UnicodeDecodeError):
            is_marked = body.startswith(BOM_UTF8)  # what is no JSON otherwise, the provider refuses itself
            problem = "the request begins with a byte order mark, with which no JSON begins" if is_marked else ""
            return ReadRequest(problem=problem, may_continue=True)
        except ValueError:
            problem = "the request has a number that is too long to be read"
    return ReadRequest(problem=problem, may_continue=may_continue(shortened.short))


def _read_fields(
    fields: Any, shortened: Shortened, body: bytes, headers: Mapping[str, str], config: Config
) -> ReadRequest:
    if not isinstance(fields, dict):
        return ReadRequest(may_continue=True)  # others may read the first object of an array
    messages = read_messages(fields) or read_items(fields)
    chat = read_chat(messages, config.proxy_housekeeping, headers, config.proxy_asides) if messages else None
    place = None
    if chat is not None:
        place = find_place(shortened.text, chat.message_index, chat.part_index)
        words, context = (shortened.restored(text, body) for text in (chat.words, chat.context))
        chat = replace(chat, words=words, context=context)
        if len(words) + len(context) > MAX_READ_BYTES:
            return ReadRequest(problem=_TOO_LARGE, may_continue=may_continue(shortened.short))
    said = digests(messages) if messages else {}
    continued, of_any_api = read_continued(fields), read_continued(fields | {"messages": None})
    return ReadRequest(
        *(chat, place, said, shortened, _text(fields.get("model")), _text(fields.get("user"))),
        name=conversation_of(headers) or next((digest.hex() for digest in said.values()), ""),
        continued=continued,
        is_round=is_round_of_tools(messages),
        may_continue=bool(of_any_api)
        and not continued
        or is_unreadable(fields)
        or (may_continue(shortened.short) and is_ambiguous(shortened.text)),
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
