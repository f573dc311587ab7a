"""Evidence: one line of feedback.jsonl for each signal, and how such lines are read.

A program of another version, a person or a remote may have written a line. Whatever reads the file reads it by
`newest_rows`: each row that comes out has the shape of `Row`, and a line that does not fit it is passed over.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Literal

from vault_memory.core import layout, reading
from vault_memory.core.profile.fields import FIELDS
from vault_memory.core.text import comparable

STRONG_AFTER = 3
"""A value that has been named this often is strong."""
MAX_ROWS = 10_000
"""So many of the newest lines that may be about what is asked for are read; a person makes fewer in years."""
MAX_ROW_BYTES = 64_000
"""Of a line; ours have some hundred. JSON can take sixty times its length in memory."""
MAX_TEXT_CHARS = 2_000
"""Of each text in a row but the quote: a value of ours has at most 200, one that a person wrote may be longer."""
MAX_QUOTE_CHARS = 1_000
"""So much of a quote is kept, and read."""
MAX_COUNT = 100_000

_OPS = ("", "set", "add", "remove", "restore")
_STRENGTHS = ("", "explicit", "adjustment", "observed", "manual")
_TEXTS = ("key", "op", "value", "strength", "quote", "source", "created_at", "current", "suggestion", "conversation")
_FIRST, _LAST = datetime(1, 1, 2), datetime(9999, 12, 31)
"""Times beyond these are in no calendar of some zones."""


@dataclass(frozen=True)
class Evidence:
    """One signal as feedback.jsonl keeps it.

    `current` is the value in the profile after the signal (for a list: the member that the signal names, empty if it is
    not there). `count` says how often that value has been named since it was added.
    """

    key: str
    op: str
    value: str
    strength: str
    applied: bool
    current: str
    count: int
    quote: str = ""

    @property
    def suggested_default(self) -> bool:
        """Whether the current value is strong, which makes it the person's default."""
        return bool(self.current) and self.count >= STRONG_AFTER and FIELDS[self.key].form != "text"

    def row(self) -> dict[str, Any]:
        """The JSON object for its line in feedback.jsonl."""
        return asdict(self) | {"suggested_default": self.suggested_default}


@dataclass(frozen=True)
class Row:
    """One line of feedback.jsonl: evidence, or a suggestion (`suggestion` says which state it is in).

    `key` is that of a field. A text that is missing is ""; `count` is None where there is none, else 0 to `MAX_COUNT`.
    `at` is `created_at`, None where that is no time with an offset.
    """

    key: str
    op: str
    value: str
    strength: str
    quote: str
    source: str
    created_at: str
    current: str
    suggestion: Literal["", "open", "dismissed"]
    conversation: str
    applied: bool
    count: int | None
    at: datetime | None


def newest_rows(data: bytes, *needles: bytes) -> Iterator[Row]:
    """The rows of feedback.jsonl, newest first, of the lines that contain one of `needles`: of at most `MAX_ROWS` such
    lines. A line that is no row is passed over."""
    read = 0
    for line in _lines_from_end(data):
        if any(needle in line for needle in needles):
            if (read := read + 1) > MAX_ROWS:
                return
            if row := read_row(line):
                yield row


def unreadable_lines(data: bytes) -> list[int]:
    """The numbers (1-based) of the lines that are no rows, the first one first, among the newest `MAX_ROWS` lines."""
    lines = list(enumerate(reading.lines(data), 1))[-MAX_ROWS:]
    return [number for number, line in lines if line.strip() and read_row(line) is None]


def read_row(line: bytes) -> Row | None:
    """The row of a line; None for what is no JSON object, is too long, is about no field, or has a part of a wrong kind
    or size."""
    if len(line) > MAX_ROW_BYTES:
        return None
    try:
        row = reading.json_value(line)
    except ValueError:
        return None
    if not isinstance(row, dict):
        return None
    texts = {name: "" if row.get(name) is None else row[name] for name in _TEXTS}
    if not all(isinstance(text, str) for text in texts.values()) or texts["key"] not in FIELDS:
        return None
    texts["quote"] = texts["quote"][:MAX_QUOTE_CHARS]
    if max(map(len, texts.values())) > MAX_TEXT_CHARS or not _is_known(texts):
        return None
    count, applied = row.get("count"), row.get("applied", False)
    if not isinstance(applied, bool):
        return None
    if count is not None and (type(count) is not int or not 0 <= count <= MAX_COUNT):  # a bool is an int, too
        return None
    return Row(**texts, applied=applied, count=count, at=_time(texts["created_at"]))  # type: ignore[arg-type]


def counts_in(rows_newest_first: Iterable[Row]) -> dict[tuple[str, str], int]:
    """How often each current value has been named: {(key, comparable value): n}.

    For a scalar only the newest row counts; a value that was replaced starts again at zero.
    """
    counts: dict[tuple[str, str], int] = {}
    closed: set[str] = set()
    for row in rows_newest_first:
        value = row.current or row.value
        if row.key in closed or row.count is None or not value:
            continue
        if FIELDS[row.key].form == "scalar":
            closed.add(row.key)
        counts.setdefault((row.key, comparable(value)), row.count)
    return counts


def _is_known(texts: dict[str, Any]) -> bool:
    """Whether op, strength, state of a suggestion and line of the turn are ones that we write."""
    return (
        texts["op"] in _OPS
        and texts["strength"] in _STRENGTHS
        and texts["suggestion"] in ("", "open", "dismissed")
        and (not texts["source"] or layout.turn_place(texts["source"]) is not None)
    )


def _lines_from_end(data: bytes) -> Iterator[bytes]:
    """The lines, the last one first; no more are made than are asked for."""
    end = len(data)
    while end > 0:
        start = data.rfind(b"\n", 0, end) + 1
        yield data[start:end]
        end = start - 1


def _time(text: str) -> datetime | None:
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    return at if at.tzinfo and _FIRST <= at.replace(tzinfo=None) < _LAST else None
