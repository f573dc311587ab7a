"""The messages of a conversation, whoever has given them out, and the turns that they make."""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

from vault_memory.core.notes import Turn
from vault_memory.core.text import one_line

MAX_AHEAD = timedelta(days=1)
"""A clock of another zone may be ahead by so much; a later time is a mistake, and would stand above all new turns."""
WITHOUT_A_TIME = "turns without a time"
IN_THE_FUTURE = "turns with a time in the future"
_MAX_ID_CHARS = 200
_MILLISECONDS_FROM = 1e11
"""A time of so many seconds is in the year 5138; some programs count milliseconds."""
_SECONDS = re.compile(r"[0-9]{9,13}(?:\.[0-9]+)?")
_STEP = timedelta(microseconds=1)


@dataclass(frozen=True)
class Message:
    """What one side has said. `beside` is what came with it: the names of pictures, the text of attached files.

    `at` is None where nobody says when. `model` is the model that has made a reply.
    """

    is_persons: bool
    text: str
    at: datetime | None
    beside: str = ""
    model: str = ""


@dataclass
class Conversation:
    """The turns of a conversation, in their order, and how much was left out of it, by reason."""

    turns: list[Turn] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)


def conversation_of(
    user_id: str,
    service: str,
    conversation_id: Any,
    messages: Iterable[Message],
    begun_at: datetime | None,
    now: datetime,
) -> Conversation:
    """A conversation of these messages: each of the person's begins a turn, to which all replies up to the next belong.

    A message without a time was said right after the one before it, the first one when the conversation began. No two
    turns have the same time: it names them. So the same messages always are turns of the same names.
    """
    spoken = _timed(messages, begun_at)
    if not isinstance(conversation_id, str) or not 0 < len(one_line(conversation_id)) <= _MAX_ID_CHARS:
        first = next(iter(spoken), None)
        said = f"{begun_at} {first.at} {first.text}" if first else ""
        conversation_id = f"{service}_{hashlib.sha256(said.encode('utf-8', 'replace')).hexdigest()[:16]}"
    found = Conversation()
    times: set[datetime] = set()
    for part in _turns(spoken):
        at = part[0].at
        if at is None or at - now > MAX_AHEAD:
            found.left_out[WITHOUT_A_TIME if at is None else IN_THE_FUTURE] += 1
            continue
        at = free_time(at, times)
        found.turns.append(_turn(user_id, service, one_line(conversation_id), at, part))
    return found


def free_time(at: datetime, times: set[datetime]) -> datetime:
    """The time, or the first one after it that is not among `times`; it is then."""
    while at in times:
        at += _STEP
    times.add(at)
    return at


def time_of(value: Any, zone: tzinfo = UTC) -> datetime | None:
    """A time as programs write it: seconds or milliseconds since 1970, or ISO 8601, without an offset in `zone`; None
    for anything else, and for one that no calendar has in some zone."""
    try:
        if isinstance(value, str) and _SECONDS.fullmatch(value):
            value = float(value)
        if isinstance(value, str):
            at = datetime.fromisoformat(value.strip())
            at = at if at.tzinfo else at.replace(tzinfo=zone)
        elif isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) and value > 0:
            at = datetime.fromtimestamp(value / 1000 if value > _MILLISECONDS_FROM else value, UTC)
        else:
            return None
        return at if 1 < at.year < 9999 else None
    except (ValueError, OverflowError, OSError):
        return None


def beside(kinds: Counter[str], named: Sequence[tuple[str, str, str]]) -> str:
    """A line for each thing that came with a message, `[image: plan.png]`, with its text below, if it has one: for
    those that are `named` (kind, name, text), and for the others of these `kinds`."""
    unnamed = kinds - Counter(kind for kind, _, _ in named)
    lines = [f"[{kind}: {one_line(name)}]" if name else f"[{kind}]" for kind, name, _ in named]
    texts = [f"{line}\n{text}" if text else line for line, (_, _, text) in zip(lines, named, strict=True)]
    return "\n".join([*texts, *(f"[{kind}]" for kind in unnamed.elements())])


def _timed(messages: Iterable[Message], begun_at: datetime | None) -> list[Message]:
    """The messages that say something, each with a time, if any is known."""
    spoken: list[Message] = []
    last = begun_at - _STEP if begun_at else None
    for each in messages:
        if each.text or each.beside:
            last = each.at or (last + _STEP if last else None)
            spoken.append(Message(each.is_persons, each.text, last, each.beside, each.model))
    return spoken


def _turns(messages: Iterable[Message]) -> Iterator[list[Message]]:
    part: list[Message] = []
    for each in messages:
        if each.is_persons and part:
            yield part
            part = []
        part.append(each)
    if part:
        yield part


def _turn(user_id: str, service: str, conversation_id: str, at: datetime, part: Sequence[Message]) -> Turn:
    asked = part[0] if part[0].is_persons else None
    replies = part[1:] if asked else part
    texts = [text for each in replies for text in (each.text, each.beside) if text]
    model = next((each.model for each in replies if each.model), "")
    return Turn(
        conversation_id,
        user_id,
        at,
        asked.text if asked else None,
        "\n\n".join(texts) or None,
        backend=f"{service}/{one_line(model)}" if model else service,
        context=(asked.beside if asked else "") or None,
    )
