"""The record of turns in `conversations/`: a turn, the replies to it, and their lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from vault_memory.core import payload, reading
from vault_memory.core.profile import LOCALES, labels_for
from vault_memory.core.text import one_line, script_of

REFLECTION = ("反思", "反思", "Reflection")


@dataclass(frozen=True)
class Turn:
    """One exchange of a person and the assistant. Only `conversation_id`, `user_id` and `created_at` are always set.

    `conversation_id` and `created_at` name it. Its reply may follow in lines of its own (`Reply`). `request` is a keyed
    hash of the request that a chat client has made. `context` came with the message, from whom is uncertain: nothing is
    learned from it, and no log quotes it.
    `reflection` is {summary, causes[]}; `exit_code` is that of the program that made the reply, 0 for success; `cid` is
    an outside content address.
    """

    conversation_id: str
    user_id: str
    created_at: datetime
    user_message: str | None = None
    assistant_message: str | None = None
    reflection: Mapping[str, Any] | None = None
    cid: str | None = None
    skill: str | None = None
    backend: str | None = None
    exit_code: int | None = None
    request: str | None = None
    context: str | None = None

    def line(self) -> str:
        """The record as one line of JSON, real characters, without a line end."""
        row: dict[str, Any] = {
            "conversation_id": self.conversation_id,
            "user_id": self.user_id,
            "user_message": self.user_message,
            "assistant_message": self.assistant_message,
            "reflection": self.reflection,
            "cid": self.cid,
            "created_at": self.created_at.isoformat(),
        }
        extra = {"skill": self.skill, "backend": self.backend, "exit_code": self.exit_code, "request": self.request}
        extra |= {"context": self.context}
        row |= {key: value for key, value in extra.items() if value is not None}
        return json.dumps(row, ensure_ascii=False)


@dataclass(frozen=True)
class Reply:
    """What was said to a turn whose line is in the record already; the first three and `created_at` are the turn's.

    `exit_code` is 0 for a whole reply, 1 for one that broke off, and None while the model waits for a tool: more
    follows. One that `continues` begins behind the last character of what is in the record.
    """

    conversation_id: str
    user_id: str
    created_at: str
    assistant_message: str
    completed_at: datetime
    exit_code: int | None = None
    continues: bool = False

    def line(self) -> str:
        """The reply as one line of JSON, without a line end."""
        row: dict[str, Any] = {
            "conversation_id": self.conversation_id,
            "user_id": self.user_id,
            "assistant_message": self.assistant_message,
            "created_at": self.created_at,
            "completes": True,
            "completed_at": self.completed_at.isoformat(),
        }
        extra = {"exit_code": self.exit_code, "continues": self.continues or None}
        row |= {key: value for key, value in extra.items() if value is not None}
        return json.dumps(row, ensure_ascii=False)


def name_of(row: Mapping[str, Any]) -> tuple[str, str]:
    """What names the turn of a line: a turn and the replies to it have the same."""
    return str(row.get("conversation_id")), str(row.get("created_at"))


def is_reply(row: Mapping[str, Any]) -> bool:
    """Whether a line is a reply to the turn of another one."""
    return bool(row.get("completes"))


_FORGOTTEN = "forgotten_at"
_NAMES = ("conversation_id", "user_id", "created_at", "completes", "request")


def is_forgotten(row: Mapping[str, Any]) -> bool:
    """Whether a line is left of a turn that is forgotten: it has the turn's name and none of its words."""
    return bool(row.get(_FORGOTTEN))


def forgotten(row: Mapping[str, Any], at: datetime) -> str:
    """The line that is left of a turn, or of a reply to one, when it is forgotten. The lines behind it keep their
    numbers, and what is delivered again under its name is known."""
    left = {name: row[name] for name in _NAMES if row.get(name) is not None}
    said = {} if is_reply(row) else {"user_message": None}
    return json.dumps({**left, **said, "assistant_message": None, _FORGOTTEN: at.isoformat()}, ensure_ascii=False)


def with_replies(row: Mapping[str, Any], replies: Sequence[tuple[int, Mapping[str, Any]]]) -> dict[str, Any]:
    """A turn with the replies to it, each with the number of its line: their texts, in order, and the last exit code.

    A reply that broke off counts only while no other follows. `reply_lines` are their numbers.
    """
    if not replies:
        return dict(row)
    rows = [row, *(reply for _, reply in replies)]
    kept = [each for each in rows[:-1] if not each.get("exit_code")] + rows[-1:]
    said = [each for each in kept if each.get("assistant_message")]
    texts = [("" if each.get("continues") else "\n\n") + str(each["assistant_message"]) for each in said]
    ended = {"exit_code": rows[-1].get("exit_code")} if "exit_code" in rows[-1] else {}
    joined = "".join(texts).removeprefix("\n\n") if texts else row.get("assistant_message")
    return {**row, "assistant_message": joined, **ended, "reply_lines": [number for number, _ in replies]}


def joined(rows: Sequence[tuple[int, Mapping[str, Any]]]) -> Iterator[tuple[int, dict[str, Any]]]:
    """The turns of a record's lines, each with its number and its replies. A reply to no turn among them is left out;
    of two turns of one name the later has the replies, as where they are read from the end."""
    turns = {name_of(row): number for number, row in rows if not is_reply(row)}
    replies: dict[int | None, list[tuple[int, Mapping[str, Any]]]] = {}
    for number, row in rows:
        if is_reply(row):
            replies.setdefault(turns.get(name_of(row)), []).append((number, row))
    for number, row in rows:
        if not is_reply(row):
            yield number, with_replies(row, replies.get(number, []))


def parse_line(line: str) -> dict[str, Any]:
    """A record from its line, with today's names; the older form {timestamp, user, assistant, backend} is read too.

    Raises `ValueError` for what is not a JSON object.
    """
    row = reading.json_value(line)
    if not isinstance(row, dict):
        raise ValueError("a turn must be a JSON object")
    for old, new in (("timestamp", "created_at"), ("user", "user_message"), ("assistant", "assistant_message")):
        if old in row and new not in row:
            row[new] = row.pop(old)
    return row


_TEXT = ("conversation_id", "created_at", "user_message", "assistant_message", "context", "skill", "backend", "request")


def row_of(line: bytes) -> dict[str, Any] | None:
    """A line of a conversation record, with today's names; None for what is no JSON object.

    A person may have written a value of another type by hand, and any program a field that we add when we read: texts
    are texts or None here.
    """
    try:
        row = parse_line(line.decode("utf-8", "replace"))
    except ValueError:
        return None
    row.pop("reply_lines", None)
    return row | {name: str(row[name]) for name in _TEXT if not isinstance(row.get(name), (str, type(None)))}


Row = tuple[int, dict[str, Any]]
"""A line of a record: its number, and what it says."""


@dataclass(frozen=True)
class KeptTurn:
    """A turn of a record, with the number of its line, and the replies that follow it."""

    number: int
    row: Mapping[str, Any]
    replies: tuple[Row, ...]

    @property
    def is_complete(self) -> bool:
        """Whether there is a whole reply, or the turn is forgotten, so that nothing is added to it."""
        is_answered = self.row.get("assistant_message") is not None or is_forgotten(self.row)
        return is_answered or any(row.get("exit_code") == 0 for _, row in self.replies)

    @property
    def last_at(self) -> datetime:
        """When its newest line was written, as far as it says so."""
        newest = self.replies[-1][1].get("completed_at") if self.replies else self.row.get("created_at")
        try:
            return datetime.fromisoformat(str(newest)).astimezone()
        except (ValueError, OverflowError):
            return datetime.fromtimestamp(0).astimezone()

    @property
    def joined(self) -> dict[str, Any]:
        """The turn with its replies."""
        return with_replies(self.row, self.replies)


class DayRecord:
    """The lines of one day's record: which turn a line is of, and whether a turn is there already. No line is ever
    rewritten, and the record alone says what is known of a turn: any process may go on with it."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def at(self, number: int) -> KeptTurn | None:
        """The turn on a line, or the one to which that line replies, with the replies up to it; None: there is none."""
        row = self._row(number)
        if row is None or not is_reply(row):
            return self._turn(number, row) if row else None
        named = self._named(row)
        asked = [(n, each) for n, each in named if n < number and not is_reply(each)][-1:]
        return next((self._turn(n, each, number) for n, each in asked), None)

    def with_name(self, conversation_id: str, created_at: str) -> KeptTurn | None:
        """The newest turn of this name."""
        named = self._named({"conversation_id": conversation_id, "created_at": created_at})
        asked = [(n, row) for n, row in named if not is_reply(row)][-1:]
        return next((self._turn(n, row) for n, row in asked), None)

    def with_request(self, conversation_id: str, request: str) -> KeptTurn | None:
        """The newest turn of a request in a conversation."""
        asked = [(n, row) for n, row in self._holding(request) if row.get("request") == request]
        own = [(n, row) for n, row in asked if str(row.get("conversation_id")) == conversation_id][-1:]
        return next((self._turn(n, row) for n, row in own), None)

    def before(self, number: int) -> Iterator[Row]:
        """The turns on the lines before a line, newest first."""
        for each in range(min(number - 1, len(self._lines)), 0, -1):
            row = self._row(each)
            if row is not None and not is_reply(row):
                yield each, row

    @cached_property
    def _lines(self) -> list[bytes]:
        return self._data.split(b"\n")

    def _row(self, number: int) -> dict[str, Any] | None:
        return row_of(self._lines[number - 1]) if 0 < number <= len(self._lines) else None

    def _turn(self, number: int, row: Mapping[str, Any], last: int | None = None) -> KeptTurn:
        named = self._named(row)
        following = [each for each in named if number < each[0] <= (last or each[0]) and is_reply(each[1])]
        return KeptTurn(number, row, tuple(following))

    def _named(self, row: Mapping[str, Any]) -> list[Row]:
        name = name_of(row)
        return [(number, each) for number, each in self._holding(name[1]) if name_of(each) == name]

    def _holding(self, text: str) -> Iterator[Row]:
        needle = json.dumps(text, ensure_ascii=False).encode()
        if needle in self._data:
            for number, line in enumerate(self._lines, 1):
                if needle in line and (row := self._row(number)):
                    yield number, row


def is_turn(line: bytes) -> bool:
    """Whether a line holds a turn, or a reply to one."""
    if b'"assistant' not in line:  # to parse a megabyte takes some ten times as long
        return False
    try:
        row = parse_line(line.decode("utf-8-sig", "replace"))
    except ValueError:
        return False
    return row.keys() >= {"created_at", "assistant_message"} and ("user_message" in row or is_reply(row))


def reflection_line(reflection: object) -> str:
    """A reflection as one line: its summary, then its causes; "" for what is none."""
    told = payload.kept_reflection(reflection) or {"summary": "", "causes": ()}
    parts = [part for each in (told["summary"], *told["causes"]) if (part := one_line(each))]
    return ("; " if _locale_of("".join(parts)) == "en" else "；").join(parts)


def labelled_reflection(reflection: object) -> str:
    """That line for who reads it outside its record: it says, in its own language, that it is a reflection."""
    line = reflection_line(reflection)
    return line and reflection_bullet(line, _locale_of(line))


def reflection_bullet(line: str, locale: str) -> str:
    """A reflection's line with its label."""
    return f"{REFLECTION[LOCALES.index(locale)]}{': ' if locale == 'en' else '：'}{line}"


def _locale_of(text: str) -> str:
    return labels_for(script_of(text)) or LOCALES[0]
