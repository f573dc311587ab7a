"""One typed memory and its note: flat front matter, which Obsidian can edit, and the content as the body.

A person may write anything into such a note. What can be understood counts, the rest is named in `problems` and stays
where it is: keys that are not known here are the memory's `metadata`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from vault_memory.core.notes import note
from vault_memory.core.reading import without_surrogates
from vault_memory.core.text import normalize, one_line
from vault_memory.errors import TooLarge, UsageError

FOLDER = "memories"
ARCHIVED = "archive/memories"
TYPES = ("decision", "pattern", "bugfix", "lesson", "feature", "note", "insight", "preference", "fact")
DEFAULT_IMPORTANCE = 0.5
MAX_CONTENT_CHARS = 20_000
"""A memory is a few sentences; so much of a text is searched for private facts."""
MAX_TITLE_CHARS, MAX_SLUG_CHARS, MAX_NAME_CHARS = 60, 40, 100
MAX_TTL_DAYS = 36_500

_ID = re.compile(r"[A-Za-z][A-Za-z0-9]*_\d+_[A-Za-z0-9]+")
_PREFIX = re.compile(r"[a-z][a-z0-9]{0,19}")
_NO_WORD = re.compile(r"[\W_]+")


@dataclass(frozen=True, kw_only=True)
class Memory:
    """One memory. `importance` is 0 to 1; without `expires_at` it is permanent; times have an offset, and are None
    where the note does not say. `source` says where it comes from, `conversations/2026-01-30.jsonl:12`. `supersedes`
    and `superseded_by` are ids. `problems` says in words what of the note could not be understood."""

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
    supersedes: str | None = None
    superseded_by: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    problems: tuple[str, ...] = ()

    @property
    def memory_type(self) -> str:
        """`type` by the name that `store_memory` has for it."""
        return self.type

    def is_past(self, at: datetime) -> bool:
        """Whether it has expired at a time, or another one has taken its place."""
        return self.superseded_by is not None or (self.expires_at is not None and self.expires_at <= at)

    def as_dict(self) -> dict[str, Any]:
        """The memory as JSON shows it; times are ISO 8601 with their offset."""
        return {**properties_of(self, is_complete=True), "content": self.content, "metadata": dict(self.metadata)}


# Making one -----------------------------------------------------------------------------------------------------------


def new_id(prefix: str, at: datetime, random: str) -> str:
    """`mem_1769753100000_a1b2c3`. Raises `UsageError` for a prefix that is no short word."""
    if not _PREFIX.fullmatch(prefix):
        raise UsageError(f"the prefix of a memory's id is a short word such as mem or task, not {prefix!r}")
    return f"{prefix}_{int(at.timestamp() * 1000)}_{random}"


def new_memory(
    memory_id: str,
    content: str,
    memory_type: str,
    at: datetime,
    *,
    importance: float = DEFAULT_IMPORTANCE,
    ttl_days: float | None = None,
    skill_id: str | None = None,
    title: str = "",
    tags: Sequence[str] = (),
    source: str = "",
    metadata: Mapping[str, Any] | None = None,
) -> Memory:
    """A memory that is made now. `ttl_days` is how long it lives (None: for good). Raises `UsageError`, which names the
    value that is wrong."""
    if not isinstance(content, str) or not content.strip():
        raise UsageError("the content of a memory is empty: say what is to be remembered")
    if len(content) > MAX_CONTENT_CHARS:
        raise TooLarge(f"a memory has at most {MAX_CONTENT_CHARS:,} characters, not {len(content):,}: make it a note")
    content = without_surrogates(content).replace("\r\n", "\n").strip()
    memory = Memory(
        id=memory_id,
        content=content,
        type=checked_type(memory_type),
        title=one_line(without_surrogates(title) or content.split("\n", 1)[0])[:MAX_TITLE_CHARS].rstrip(),
        tags=tuple(dict.fromkeys(filter(None, map(_tag, tags)))),
        importance=checked_importance(importance),
        skill_id=_checked_name("skill_id", skill_id) if skill_id is not None else None,
        source=_checked_name("source", source) if source else "",
        created_at=at,
        expires_at=expiry(at, ttl_days),
        metadata=checked_metadata(without_surrogates(dict(metadata or {}))),
    )
    if decode(encode(memory)).id != memory_id:
        raise UsageError("tags and metadata hold more, or longer numbers, than is read of a note: make them shorter")
    return memory


def checked_type(memory_type: str) -> str:
    """The type, if there is one of that name. Raises `UsageError`."""
    if memory_type not in TYPES:
        raise UsageError(f"the type of a memory is one of {', '.join(TYPES)}, not {memory_type!r}")
    return memory_type


def checked_importance(importance: float) -> float:
    """The importance as a number from 0 to 1. Raises `UsageError`."""
    found = _fraction(importance)
    if found is None:
        raise UsageError(f"the importance of a memory is a number from 0 to 1, not {importance!r}")
    return found


def expiry(at: datetime, ttl_days: float | None) -> datetime | None:
    """When a memory of `at` that lives `ttl_days` expires; None for good. Raises `UsageError` below one day."""
    if ttl_days is None:
        return None
    is_number = isinstance(ttl_days, (int, float)) and not isinstance(ttl_days, bool)
    if not is_number or not 1 <= ttl_days <= MAX_TTL_DAYS:
        raise UsageError(
            f"ttl_days is 1 to {MAX_TTL_DAYS:,} days, or None for a memory that does not expire, not {ttl_days!r}"
        )
    return at + timedelta(days=ttl_days)


def checked_metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Further properties, which are flat: texts, numbers, truth values and lists of these. Raises `UsageError`."""
    for key, value in metadata.items():
        if not isinstance(key, str) or not key.strip() or len(key) > MAX_NAME_CHARS or key != one_line(key):
            raise UsageError(f"a key of metadata is a short text on one line, not {key!r}")
        if key in _PROPERTIES:
            raise UsageError(f"metadata may not have {key!r}: it is a property of the memory itself")
        values = value if isinstance(value, (list, tuple)) else [value]
        if not all(isinstance(each, (str, int, float, bool)) for each in values):
            raise UsageError(
                f"metadata {key!r} is a text, a number, a truth value or a list of these, so that a person can edit "
                f"it; it may not be {value!r}"
            )
    return {key: list(value) if isinstance(value, tuple) else value for key, value in metadata.items()}


def file_name(memory: Memory) -> str:
    """The name of the memory's note: its id, and a few words for a person."""
    slug = _NO_WORD.sub("-", normalize("NFC", memory.title).lower())[:MAX_SLUG_CHARS].strip("-")
    return f"{memory.id}-{slug}.md" if slug else f"{memory.id}.md"


def _tag(tag: str) -> str:
    return "-".join(without_surrogates(str(tag)).lstrip("#").split())[:MAX_NAME_CHARS]


def _checked_name(name: str, value: str) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > MAX_NAME_CHARS or value != one_line(value):
        raise UsageError(f"{name} is a text on one line of at most {MAX_NAME_CHARS} characters, not {value!r}")
    return str(without_surrogates(value))


# Its note -------------------------------------------------------------------------------------------------------------


def encode(memory: Memory) -> str:
    """The note of a memory. `with_properties` changes one that is there."""
    return note.render({**properties_of(memory), **memory.metadata}, memory.content + "\n")


def decode(text: str, name: str = "") -> Memory:
    """The memory in a note; `name` is its file's, without `.md`, and gives the id where the note does not."""
    parsed = note.parse(text)
    return read(parsed.meta, parsed.body, name, parsed.problems)


def read(meta: Mapping[str, Any], body: str, name: str, problems: Sequence[str] = ()) -> Memory:
    """The memory of a note's front matter and body, as `decode` reads it."""
    wrong = list(problems)

    def value(key: str, understood: Callable[[Any], Any], default: Any, wanted: str) -> Any:
        stored = meta.get(key)
        if stored is None or stored == "":
            return default
        found = understood(stored)
        if found is None:
            wrong.append(f"{key}: {str(stored)[:40]!r} is not {wanted}")
        return default if found is None else found

    content = body.replace("\r\n", "\n").strip()
    if not content:
        wrong.append("the memory is empty")
    named = _ID.match(name)
    parsed = note.Note(meta)
    return Memory(
        id=value("id", _text, named[0] if named else name, "an id"),
        content=content,
        type=value("type", lambda stored: stored if stored in TYPES else None, "note", f"one of {', '.join(TYPES)}"),
        title=parsed.title,
        tags=parsed.tags,
        importance=value("importance", _fraction, DEFAULT_IMPORTANCE, "a number from 0 to 1"),
        skill_id=value("skill_id", _text, None, "a name"),
        source=value("source", _text, "", "a text"),
        created_at=value("created_at", _moment, None, "a time such as 2026-01-30T14:05:00+08:00"),
        expires_at=value("expires_at", _moment, None, "a time such as 2026-02-06T14:05:00+08:00"),
        access_count=value("access_count", _count, 0, "a whole number"),
        last_accessed_at=value("last_accessed_at", _moment, None, "a time such as 2026-01-30T14:05:00+08:00"),
        supersedes=value("supersedes", _text, None, "an id"),
        superseded_by=value("superseded_by", _text, None, "an id"),
        metadata={key: stored for key, stored in meta.items() if key not in _PROPERTIES},
        problems=tuple(wrong),
    )


def with_properties(text: str, before: Memory, after: Memory) -> str:
    """The note of `before` with the properties that `after` has differently; its content and all else stay. Raises
    `UsageError` where its front matter cannot be read."""
    old, new = properties_of(before, is_complete=True), properties_of(after, is_complete=True)
    changes = {key: value if value != [] else None for key, value in new.items() if value != old[key]}
    try:
        return note.with_meta(text, changes) if changes else text
    except ValueError as error:
        raise UsageError(
            f"the front matter of {before.id} is not valid YAML, so it is left as it is: {error}"
        ) from error


def properties_of(memory: Memory, *, is_complete: bool = False) -> dict[str, Any]:
    """The memory's own properties as a note has them; those without a value too, if it `is_complete`."""
    found = {key: _stored(getattr(memory, key)) for key in _PROPERTIES}
    always = ("importance", "access_count")
    return {key: value for key, value in found.items() if is_complete or key in always or value not in (None, "", [])}


_PROPERTIES = (
    *("id", "type", "title", "tags", "importance", "skill_id", "source", "created_at", "expires_at"),
    *("access_count", "last_accessed_at", "supersedes", "superseded_by"),
)
"""In the order in which a note has them."""


def _stored(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat(timespec="seconds")
    return list(value) if isinstance(value, tuple) else value


def _text(stored: Any) -> str | None:
    return one_line(str(stored)) if isinstance(stored, (str, int, float)) else None


def _fraction(stored: Any) -> float | None:
    if isinstance(stored, bool) or not isinstance(stored, (int, float)) or not math.isfinite(stored):
        return None
    return float(stored) if 0 <= stored <= 1 else None


def _count(stored: Any) -> int | None:
    return stored if isinstance(stored, int) and not isinstance(stored, bool) and stored >= 0 else None


def _moment(stored: Any) -> datetime | None:
    """A time; without an offset it is of this system's zone, as a person writes it into a property."""
    try:
        found = datetime.fromisoformat(str(stored))
        return found if found.tzinfo else found.astimezone()
    except (ValueError, OverflowError, OSError):
        return None
