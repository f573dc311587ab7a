"""The text of a TOML file with one table more or less. Every other line stays as it is, comments too."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from vault_memory.core.reading import toml_table
from vault_memory.errors import UsageError

_HEADER = re.compile(r"^[ \t]*\[", re.MULTILINE)


def read(text: str) -> dict[str, Any]:
    """The values of a text. Raises `UsageError` for one that is no TOML."""
    try:
        return toml_table(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"it is no TOML that can be read ({str(error)[:100]})") from error


def with_table(text: str, path: Sequence[str], values: Mapping[str, Any]) -> str:
    """The text with this table at its end, in place of one of that name. Raises `UsageError` as `read`, and where the
    file has it in a form of its own."""
    kept = without_table(text, path)
    lines = [
        f"[{'.'.join(path)}]",
        *(f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in values.items()),
    ]
    gap = "" if not kept else "\n" if kept.endswith("\n") else "\n\n"
    made = kept + gap + "\n".join(lines) + "\n"
    try:
        found: Any = read(made)
        for key in path:
            found = found[key]
    except (UsageError, KeyError, TypeError):
        found = None
    if found != dict(values):
        raise UsageError(f"{path[0]} is written there in a form to which no table can be added")
    return made


def without_table(text: str, path: Sequence[str]) -> str:
    """The text without the table of that name, and those below it. Raises `UsageError` as `read`, and where the table
    has another form than lines below `[its.name]`."""
    if not _has(read(text), path):
        return text
    name = r"\.".join(rf"\s*[\"']?{re.escape(each)}[\"']?\s*" for each in path)
    made = text
    while found := re.search(rf"^[ \t]*\[{name}(?:\.[^\]\n]*)?\][^\n]*\n?", made, re.MULTILINE):
        after = _HEADER.search(made, found.end())
        before = made[: found.start()]
        before = before[:-1] if before.endswith("\n\n") else before
        made = before + (made[after.start() :] if after else "")
    if _has(read(made), path):
        raise UsageError(f"{'.'.join(path)} is written there in a form from which it cannot be taken")
    return made


def _has(values: Any, path: Sequence[str]) -> bool:
    for key in path:
        if not isinstance(values, Mapping) or key not in values:
            return False
        values = values[key]
    return True
