"""One typed memory and its note: flat front matter, which Obsidian can edit, and the content as the body.

A person may write anything into such a note. What can be understood counts, the rest is named in `problems` and stays
where it is: keys that are not known here are the memory's `metadata`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from vault_memory.core.notes import note
from vault_memory.core.privacy import ERASED
from vault_memory.core.text import one_line, slug
from vault_memory.errors import UsageError

FOLDER = "memories"
TYPES = ("decision", "pattern", "bugfix", "lesson", "feature", "note", "insight", "preference", "fact")
DEFAULT_IMPORTANCE = 0.5
MAX_HEADING_CHARS = 80

_ID = re.compile(r"[A-Za-z][A-Za-z0-9]*_\d+_[A-Za-z0-9]+")
_MARKS = re.compile(r"^\s*(?:#{1,6} |[-*+>] |\d+\. )*")
"""Of a heading, a list or a quotation, at the beginning of a line."""
_MAX_LEFT_BYTES = 3


@dataclass(frozen=True, kw_only=True)
class Memory:
    """One memory. `importance` is 0 to 1; without `expires_at` it is permanent; times have an offset, and are None
    where the note does not say. `source` says where it comes from, `conversations/2026-01-30.jsonl:12`. `said_on`
    are the days (`2026-01-30`) on which its person said it in conversation, `reinforced_at` is when its time began
    anew. `supersedes` and `superseded_by` are ids. `problems` says in words what of the note could not be understood.
    """

    id: str
    content: str
    type: str = "note"
    title: str = ""
    tags: tuple[str, ...] = ()
    importance: float = DEFAULT_IMPORTANCE
    skill_id: str | None = None
    source: str = ""
    created_at: datetime | None = None
    expires_at: datetime | None = None
    access_count: int = 0
    last_accessed_at: datetime | None = None
    said_on: tuple[str, ...] = ()
    reinforced_at: datetime | None = None
    supersedes: str | None = None
    superseded_by: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    problems: tuple[str, ...] = ()

    @property
    def memory_type(self) -> str:
        """`type` by the name that `store_memory` has for it."""
        return self.type

    @property
    def heading(self) -> str:
        """What it is called on a line of a list: its title, else how its content begins."""
        first = next((line for line in (_MARKS.sub("", line) for line in self.content.split("\n")) if line.strip()), "")
        said = one_line(self.title or first)
        return said if len(said) <= MAX_HEADING_CHARS else f"{said[: MAX_HEADING_CHARS - 1].rstrip()}…"

    def is_past(self, at: datetime) -> bool:
        """Whether it has expired at a time, another one has taken its place, or it was emptied."""
        is_expired = self.expires_at is not None and self.expires_at <= at
        return is_expired or self.superseded_by is not None or is_emptied(self.content)

    def as_dict(self) -> dict[str, Any]:
        """The memory as JSON shows it; times are ISO 8601 with their offset."""
        return {**properties_of(self, is_complete=True), "content": self.content, "metadata": dict(self.metadata)}


def is_emptied(content: str) -> bool:
    """Whether nothing but the mark of an erasing is left of what a memory says, or a word such as *I* or 我 beside it:
    it is none any more."""
    left = "".join(filter(str.isalnum, content.replace(ERASED, "")))
    return ERASED in content and len(left.encode()) <= _MAX_LEFT_BYTES


def file_name(memory: Memory) -> str:
    """The name of the memory's note: its id, and a few words for a person."""
    words = slug(memory.title)
    return f"{memory.id}-{words}.md" if words else f"{memory.id}.md"


def source_of(memory: Memory) -> str:
    """Where a new memory's note lies in its user's folder: in that of its month. A commit names all files of a folder
    in which it changes one, so no folder may grow with all that is ever remembered."""
    month = f"{memory.created_at:%Y-%m}/" if memory.created_at else ""
    return f"{FOLDER}/{month}{file_name(memory)}"


def encode(memory: Memory) -> str:
    """The note of a memory. `with_properties` changes one that is there."""
    return note.render({**properties_of(memory), **memory.metadata}, memory.content + "\n")


def decode(text: str, name: str = "") -> Memory:
    """The memory in a note; `name` is its file's, without `.md`, and gives the id where the note does not."""
    parsed = note.parse(text)
    return read(parsed.meta, parsed.body, name, parsed.problems)


def read(meta: Mapping[str, Any], body: str, name: str, problems: Sequence[str] = ()) -> Memory:
    """The memory of a note's front matter and body, as `decode` reads it."""
    properties = note.Properties(meta, problems)
    value, wrong = properties.value, properties.problems
    content = body.replace("\r\n", "\n").strip()
    if not content:
        wrong.append("the memory is empty")
    named = _ID.match(name)
    parsed = note.Note(meta)
    own_id = value("id", _text, named[0] if named else name, "an id")

    def another(stored: Any) -> str | None:
        """The id of another memory: none takes its own place."""
        return found if (found := _text(stored)) != own_id else None

    return Memory(
        id=own_id,
        content=content,
        type=value("type", lambda stored: stored if stored in TYPES else None, "note", f"one of {', '.join(TYPES)}"),
        title=parsed.title,
        tags=parsed.tags,
        importance=value("importance", fraction, DEFAULT_IMPORTANCE, "a number from 0 to 1"),
        skill_id=value("skill_id", _text, None, "a name"),
        source=value("source", _text, "", "a text"),
        created_at=value("created_at", note.moment, None, "a time such as 2026-01-30T14:05:00+08:00"),
        expires_at=value("expires_at", note.moment, None, "a time such as 2026-02-06T14:05:00+08:00"),
        access_count=value("access_count", _count, 0, "a whole number from 0"),
        last_accessed_at=value("last_accessed_at", note.moment, None, "a time such as 2026-01-30T14:05:00+08:00"),
        said_on=value("said_on", _days, (), "days such as 2026-01-30"),
        reinforced_at=value("reinforced_at", note.moment, None, "a time such as 2026-01-30T14:05:00+08:00"),
        supersedes=value("supersedes", _text, None, "an id"),
        superseded_by=value("superseded_by", another, None, "the id of another memory"),
        metadata={key: stored for key, stored in meta.items() if key not in PROPERTIES},
        problems=tuple(wrong),
    )


def with_content(text: str, before: Memory, after: Memory) -> str:
    """The note of `before` with the content of `after`, and with the properties that it has differently, as
    `with_properties` writes them."""
    written = with_properties(text, before, after)
    parts = note.split_front_matter(written.removeprefix("\ufeff"))
    body = parts[1] if parts else written
    return f"{written[: len(written) - len(body)]}{after.content}\n"


def with_properties(text: str, before: Memory, after: Memory) -> str:
    """The note of `before` with the properties that `after` has differently; its content and all else stay, and so does
    what a person wrote in place of a count and could not be understood. Raises `UsageError` where its front matter
    cannot be read."""
    old, new = properties_of(before, is_complete=True), properties_of(after, is_complete=True)
    kept = {key for key in _COUNTED if any(problem.startswith(f"{key}: ") for problem in before.problems)}
    changes = {
        key: value if value != [] else None for key, value in new.items() if value != old[key] and key not in kept
    }
    try:
        return note.with_meta(text, changes) if changes else text
    except ValueError as error:
        raise UsageError(
            f"the front matter of {before.id} is not valid YAML, so it is left as it is: {error}"
        ) from error


def properties_of(memory: Memory, *, is_complete: bool = False) -> dict[str, Any]:
    """The memory's own properties as a note has them; those without a value too, if it `is_complete`."""
    found = {key: _stored(getattr(memory, key)) for key in PROPERTIES}
    always = ("importance", "access_count")
    return {key: value for key, value in found.items() if is_complete or key in always or value not in (None, "", [])}


PROPERTIES = (
    *("id", "type", "title", "tags", "importance", "skill_id", "source", "created_at", "expires_at"),
    *("access_count", "last_accessed_at", "said_on", "reinforced_at", "supersedes", "superseded_by"),
)
"""In the order in which a note has them."""
_COUNTED = ("access_count", "last_accessed_at", "said_on", "reinforced_at")
"""What is written without anybody asking for it."""


def _stored(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat(timespec="seconds")
    return list(value) if isinstance(value, tuple) else value


def _text(stored: Any) -> str | None:
    return one_line(str(stored)) if isinstance(stored, (str, int, float)) else None


def fraction(stored: Any) -> float | None:
    """The number, if it is one from 0 to 1."""
    if isinstance(stored, bool) or not isinstance(stored, (int, float)) or not math.isfinite(stored):
        return None
    return float(stored) if 0 <= stored <= 1 else None


def _count(stored: Any) -> int | None:
    return stored if isinstance(stored, int) and not isinstance(stored, bool) and stored >= 0 else None


def _days(stored: Any) -> tuple[str, ...] | None:
    """Days in their order, each once."""
    try:
        found = {date.fromisoformat(str(each)) for each in (stored if isinstance(stored, list) else [stored])}
    except ValueError:
        return None
    return tuple(each.isoformat() for each in sorted(found))
