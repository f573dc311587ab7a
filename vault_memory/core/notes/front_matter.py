"""The front matter of a note: the only place where YAML is read.

Anybody may have written it. So it is looked through event by event, which takes little memory, before the library
builds anything of it: 60,000 brackets end the whole process with a fault, and 500 bytes of aliases take gigabytes.
"""

from __future__ import annotations

from datetime import date
from typing import Any

MAX_CHARS = 64_000
"""Longer front matter is a mistake: a file that opens with a horizontal rule."""
MAX_DEPTH = 20
MAX_VALUES = 5_000
"""Keys and values together."""
MAX_NUMBER_CHARS = 100
"""A longer number takes long to compute and cannot be shown."""

_CORE = "tag:yaml.org,2002:"
_TEXT_TAGS = ("!", f"{_CORE}str")
_NUMBER_TAGS = (f"{_CORE}int", f"{_CORE}float")


def split(text: str) -> tuple[str, str] | None:
    """(YAML, body) when the first line is `---` and a later line, within `MAX_CHARS`, closes it."""
    first, newline, rest = text.partition("\n")
    if first.rstrip() != "---" or not newline:
        return None
    found = rest[:MAX_CHARS].split("\n")
    if len(rest) > MAX_CHARS:
        found.pop()  # the end of this line is not in sight
    position = 0
    for line in found:
        position += len(line) + 1
        if line.rstrip() in ("---", "..."):
            return rest[: position - len(line) - 1], rest[position:]
    return None


def load(yaml: str) -> dict[str, Any]:
    """The mapping of a YAML text: texts, numbers, truth values, lists and mappings; a date is a text (`2026-01-30`).

    Raises `ValueError` with the reason for anything else, and for more than the bounds above; aliases and tags are
    refused.
    """
    from frontmatter.default_handlers import YAMLHandler
    from yaml import YAMLError

    try:
        _check(yaml)
        values = YAMLHandler().load(yaml)
    except (YAMLError, ValueError, TypeError) as error:  # a date such as 2026-13-45 raises ValueError
        raise ValueError(" ".join(str(error).split())[:200]) from error
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise ValueError("it is not a list of `name: value` lines")
    return {str(key): _plain(value) for key, value in values.items()}


def _check(yaml: str) -> None:
    """Raise `ValueError` for what must not be built, `YAMLError` for what is not YAML. Reads no further than needed."""
    from frontmatter.default_handlers import SafeLoader
    from yaml.events import AliasEvent, CollectionEndEvent, CollectionStartEvent, NodeEvent, ScalarEvent
    from yaml.nodes import ScalarNode

    loader = SafeLoader(yaml)
    depth = count = 0
    try:
        while loader.check_event():
            event = loader.get_event()
            count += isinstance(event, NodeEvent)
            depth += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
            if isinstance(event, AliasEvent):
                raise ValueError(f"it has an alias (*{str(event.anchor)[:40]}), which is not read: write the value out")
            if depth > MAX_DEPTH or count > MAX_VALUES:
                raise ValueError(f"it has more than {MAX_VALUES:,} values or {MAX_DEPTH} levels")
            if (tag := getattr(event, "tag", None)) is not None and tag not in _TEXT_TAGS:
                raise ValueError(f"it has a tag ({tag[:40]}), which is not read")
            if isinstance(event, ScalarEvent) and len(event.value) > MAX_NUMBER_CHARS and tag is None:
                kind = loader.resolve(ScalarNode, event.value, event.implicit)  # type: ignore[no-untyped-call]
                if kind in _NUMBER_TAGS:
                    raise ValueError(f"it has a number of more than {MAX_NUMBER_CHARS} characters")
    finally:
        loader.dispose()


def _plain(value: Any) -> Any:
    """The value without Python's own types."""
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return str(value) if isinstance(value, date) else value
