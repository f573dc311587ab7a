"""Making a memory, and changing its properties: what its values may be."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from vault_memory.core.memories.note import DEFAULT_IMPORTANCE, PROPERTIES, TYPES, Memory, decode, encode, fraction
from vault_memory.core.notes import note
from vault_memory.core.reading import plain_text, without_surrogates
from vault_memory.core.text import one_line
from vault_memory.errors import TooLarge, UsageError

MAX_CONTENT_CHARS = 20_000
"""A memory is a few sentences; so much of a text is searched for private facts."""
MAX_TITLE_CHARS, MAX_NAME_CHARS = 60, 100
MAX_TTL_DAYS = 36_500
ID_PREFIXES = {
    "memory": "mem",
    "said": "said",
    "mistake": "mistake",
    "entity": "entity",
    "relation": "rel",
    "conversation": "conv",
}
"""What the ids that the program makes begin with, by what they are of; `_` follows."""
DEFAULT_PREFIX = ID_PREFIXES["memory"]

_PREFIX = re.compile(r"[a-z][a-z0-9]{0,19}")


def new_id(prefix: str, at: datetime, random: str) -> str:
    """`mem_1769753100000_a1b2c3`. Raises `UsageError` for a prefix that is no short word."""
    if not _PREFIX.fullmatch(prefix):
        raise UsageError(f"the prefix of a memory's id is a short word such as mem or task, not {_shown(prefix)}")
    return f"{prefix}_{int(at.timestamp() * 1000)}_{random}"


def prefix_of(memory_id: str) -> str:
    """The prefix of an id of ours; of another one, such as the name of a person's own note, that of a new memory."""
    prefix, *numbers = memory_id.split("_")
    return prefix if len(numbers) == 2 and _PREFIX.fullmatch(prefix) else DEFAULT_PREFIX


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
    if not isinstance(content, str) or not plain_text(content):
        raise UsageError("the content of a memory is empty: say what is to be remembered")
    if len(content) > MAX_CONTENT_CHARS:
        raise TooLarge(f"a memory has at most {MAX_CONTENT_CHARS:,} characters, not {len(content):,}: make it a note")
    content = plain_text(content)
    memory = Memory(
        id=memory_id,
        content=content,
        skill_id=_checked_name("skill_id", skill_id) if skill_id is not None else None,
        source=_checked_name("source", source) if source else "",
        created_at=at,
        metadata=_checked_metadata(metadata or {}),
    )
    made = changed(
        memory,
        at,
        memory_type=checked_type(memory_type),
        title=title or content.split("\n", 1)[0],
        tags=tags,
        importance=importance,
        ttl_days=ttl_days,
    )
    if made.metadata and decode(encode(made)).metadata != made.metadata:
        raise UsageError("metadata holds control characters, or a number such as nan, which no property keeps as it is")
    return made


def changed(
    memory: Memory,
    at: datetime,
    *,
    memory_type: str | None = None,
    title: str | None = None,
    tags: Sequence[str] | None = None,
    importance: float | None = None,
    ttl_days: float | None = None,
) -> Memory:
    """The memory with other properties; None leaves one as it is. `ttl_days` counts from `at`. Raises `UsageError`,
    which names the value that is wrong."""
    values: dict[str, Any] = {}
    if memory_type is not None:
        values["type"] = checked_type(memory_type)
    if title is not None:
        values["title"] = title_of(title)
    if tags is not None:
        values["tags"] = tuple(dict.fromkeys(filter(None, map(_tag, tags))))
    if importance is not None:
        values["importance"] = _checked_importance(importance)
    if ttl_days is not None:
        values["expires_at"] = at + timedelta(days=_checked_ttl_days(ttl_days))
    found = replace(memory, **values)
    written = encode(found)
    if note.parse(written).problems or decode(written).id != memory.id:
        raise UsageError("tags and metadata hold more, or longer numbers, than is read of a note: make them shorter")
    return found


def with_less(memory: Memory, content: str) -> Memory:
    """The memory with only a part of its content; a title that was made of that is made anew. Its id and times stay."""
    is_made = memory.content.startswith(memory.title)
    return replace(memory, content=content, title=title_of(content) if is_made else memory.title)


def title_of(text: str) -> str:
    """What a memory is called that is given a title, or whose content begins so: the text on one line, cut."""
    return str(one_line(without_surrogates(text)))[:MAX_TITLE_CHARS].rstrip()


def merged(new: Memory, old: Memory, content: str, memory_id: str, at: datetime) -> Memory:
    """The memory that takes the place of two that say the same, with this content: of the old one's type and the
    greater importance, with the tags and properties of both; it lives as long as the one that lives longer."""
    ends = [each.expires_at for each in (new, old)]
    memory = replace(
        old,
        id=memory_id,
        content=content,
        skill_id=new.skill_id or old.skill_id,
        source=new.source or old.source,
        created_at=at,
        expires_at=None if None in ends else max(end for end in ends if end),
        supersedes=f"{old.id}, {new.id}",
        metadata={**old.metadata, **new.metadata},
        problems=(),
    )
    title = content.split("\n", 1)[0]
    importance = max(new.importance, old.importance)
    return changed(memory, at, title=title, tags=[*old.tags, *new.tags], importance=importance)


def checked_type(memory_type: str) -> str:
    """The type, if there is one of that name. Raises `UsageError`."""
    if memory_type not in TYPES:
        raise UsageError(f"the type of a memory is one of {', '.join(TYPES)}, not {_shown(memory_type)}")
    return memory_type


def _checked_importance(importance: float) -> float:
    found = fraction(importance)
    if found is None:
        raise UsageError(f"the importance of a memory is a number from 0 to 1, not {_shown(importance)}")
    return found


def _checked_ttl_days(ttl_days: float) -> float:
    is_number = isinstance(ttl_days, (int, float)) and not isinstance(ttl_days, bool)
    if not is_number or not 1 <= ttl_days <= MAX_TTL_DAYS:
        raise UsageError(
            f"ttl_days is 1 to {MAX_TTL_DAYS:,} days, or None for a memory that does not expire, not {_shown(ttl_days)}"
        )
    return ttl_days


def _checked_metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Further properties, which are flat: texts, numbers, truth values and lists of these. Raises `UsageError`."""
    if not isinstance(metadata, Mapping):
        raise UsageError(f"metadata is a mapping of names to values, not {_shown(metadata)}")
    metadata = without_surrogates(dict(metadata))
    for key, value in metadata.items():
        if not isinstance(key, str) or not key.strip() or len(key) > MAX_NAME_CHARS or key != one_line(key):
            raise UsageError(f"a key of metadata is a short text on one line, not {_shown(key)}")
        if key in PROPERTIES:
            raise UsageError(f"metadata may not have {key!r}: it is a property of the memory itself")
        values = value if isinstance(value, (list, tuple)) else [value]
        if not all(isinstance(each, (str, int, float, bool)) for each in values):
            raise UsageError(
                f"metadata {key!r} is a text, a number, a truth value or a list of these, so that a person can edit "
                f"it; it may not be {_shown(value)}"
            )
    return {key: list(value) if isinstance(value, tuple) else value for key, value in metadata.items()}


def _tag(tag: str) -> str:
    return "-".join(plain_text(str(tag)).lstrip("#").split())[:MAX_NAME_CHARS]


def _checked_name(name: str, value: str) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > MAX_NAME_CHARS or value != one_line(value):
        raise UsageError(f"{name} is a text on one line of at most {MAX_NAME_CHARS} characters, not {_shown(value)}")
    return str(without_surrogates(value))


def _shown(value: Any) -> str:
    """A wrong value as a message has it."""
    text = repr(value)
    return text if len(text) <= MAX_NAME_CHARS else f"{text[:MAX_NAME_CHARS]}…"
