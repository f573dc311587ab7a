"""The text of a settings file (TOML) with other values in one table. Every other line stays as it is, comments too."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from vault_memory.core import reading


def with_values(text: str, table: str, values: Mapping[str, Any]) -> str:
    """`text` with these values of `table`: texts, numbers, truth values, or lists of tables of texts.

    A key that is there keeps its place and the comment behind it; a new one follows the line that shows its default in
    a comment, else the table's header. Raises `ValueError` for what is no TOML, and for a table in another form than
    `[table]` and `key = value`.
    """
    before = reading.toml_table(text)
    held = before.get(table, {})
    lines = reading.lines(text)
    header = re.compile(rf"\s*\[\s*{re.escape(table)}\s*\]\s*(#.*)?")
    if not any(map(header.fullmatch, lines)):
        lines += ["", f"[{table}]"]
    for key, value in values.items():
        if held.get(key) != value or key not in held:
            start = next(number for number, line in enumerate(lines) if header.fullmatch(line)) + 1
            lines = [*lines[:start], *_set(lines[start:], key, f"{key} = {_toml(value)}")]
    changed = ("\r\n" if "\r\n" in text else "\n").join([*lines, ""])
    if reading.toml_table(changed) != {**before, table: {**held, **values}}:
        raise ValueError(f"[{table}] is not written as lines `key = value` below its name")
    return changed


def _set(lines: list[str], key: str, assignment: str) -> list[str]:
    """The lines after a table's header with this assignment to `key`."""
    header = re.compile(r"\[+[^\[\],{]+\]+\s*(#.*)?")
    end = next((number for number, line in enumerate(lines) if header.fullmatch(line)), len(lines))
    place = re.compile(rf"""\s*(["']?){re.escape(key)}\1\s*=""")
    first = next((number for number, line in enumerate(lines[:end]) if place.match(line)), None)
    if first is None:
        shown = [number for number, line in enumerate(lines[:end]) if re.match(rf"#\s*{re.escape(key)}\s*=", line)]
        at = shown[-1] + 1 if shown else 0
        return [*lines[:at], assignment, *lines[at:]]
    last = next(
        (number for number in range(first, end) if _table("\n".join(lines[first : number + 1])) is not None), first
    )
    inner = [line for line in lines[first + 1 : last + 1] if line.lstrip().startswith("#")]
    behind = _comment("\n".join(lines[first : last + 1]))
    return [*lines[:first], *inner, assignment + behind, *lines[last + 1 :]]


def _comment(assignment: str) -> str:
    """The comment behind an assignment, which may go over several lines."""
    value, at = _table(assignment), assignment.rfind("\n") + 1
    while (at := assignment.find("#", at)) >= 0:
        if value is not None and _table(assignment[:at]) == value:
            return f"  {assignment[at:]}"
        at += 1
    return ""


def _table(text: str) -> dict[str, Any] | None:
    try:
        return reading.toml_table(text)
    except ValueError:
        return None


def _toml(value: str | float | list[dict[str, str]]) -> str:
    if isinstance(value, (str, bool, int, float)):
        return json.dumps(value, ensure_ascii=False)  # such a value of JSON is one of TOML
    tables = (", ".join(f"{key} = {_toml(inner)}" for key, inner in table.items()) for table in value)
    return "[" + ", ".join(f"{{ {table} }}" for table in tables) + "]"
