"""The text of a TOML file with one table more, changed, or less. Every other byte stays as it is, comments too."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from vault_memory.core.reading import TOML_TEXT, toml_table
from vault_memory.errors import UsageError

Path = Sequence[str | int]

_TOKEN = re.compile(rf"(?P<text>{TOML_TEXT.pattern})|(?P<open>[\[{{])|(?P<close>[\]}}])|(?P<end>\n|\Z)", re.DOTALL)


@dataclass(frozen=True)
class _Statement:
    """A header (its `key` is None) or a key with its value: where it begins and ends, its line break too, and the table
    that it is in or begins."""

    at: int
    end: int
    table: tuple[str, ...]
    key: str | None


def read(text: str) -> dict[str, Any]:
    """The values of a text. Raises `UsageError` for one that is no TOML."""
    try:
        return toml_table(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"it is no TOML that can be read ({str(error)[:100]})") from error


def with_value(text: str, path: Path, value: Mapping[str, Any]) -> str:
    """The text with this table in place of the one of that name and those below it, or at its end. Raises `UsageError`
    as `read`, and where the file has it in another form than lines below `[its.name]`."""
    blocks = _blocks(text, path)
    if blocks:
        made = _cut(text, blocks[1:])
        made = made[: blocks[0][0]] + _table(path, value) + made[blocks[0][1] :]
    else:
        gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
        made = text + gap + _table(path, value)
    return _checked(text, made, path, value)


def with_fields(text: str, path: Path, fields: Mapping[str, Any]) -> str:
    """The text with these keys in the table at `path`; all else in it stays. Raises as `with_value`."""
    table = _at(read(text), path)
    if not isinstance(table, Mapping):
        return with_value(text, path, fields)
    made = text
    statements = [each for each in _statements(text) if each.table == tuple(path)]
    for each in reversed(statements):
        if each.key is not None and each.key in fields and table[each.key] != fields[each.key]:
            made = made[: each.at] + _line(each.key, fields[each.key]) + made[each.end :]
    missing = "".join(_line(key, value) for key, value in fields.items() if key not in table)
    if missing and statements:
        made = made[: statements[0].end] + missing + made[statements[0].end :]
    return _checked(text, made, path, {**table, **fields})


def restored(text: str, path: Path, was: str) -> str:
    """The text with the table of that name, and those below it, as another text has them and where it has them, or
    without. Raises `UsageError` as `with_value`."""
    blocks, old = _blocks(text, path), _blocks(was, path)
    kept = min(1, len(blocks), len(old))  # ours took the place of the first one
    made = _cut(text, blocks[kept:])
    if kept:
        (begin, end), first = blocks[0], was[slice(*old[0])]
        made = made[:begin] + first + ("" if first.endswith("\n") or not made[end:] else "\n") + made[end:]
    for block in old[kept:]:
        made = _put_back(made, path, was, block)
    return _checked(text, made, path, _at(read(was), path))


def settled(text: str, was: str) -> str:
    """The text, or `was` if they differ in blanks at the end only."""
    return was if text.rstrip() == was.rstrip() else text


def says_more(text: str, path: Path, fields: Mapping[str, Any]) -> bool:
    """Whether the table of that name holds more than these values, or others, or comments."""
    return "".join(text[begin:end] for begin, end in _blocks(text, path)) != _table(path, fields)


def _table(path: Path, values: Mapping[str, Any]) -> str:
    return f"[{'.'.join(map(str, path))}]\n" + "".join(_line(key, value) for key, value in values.items())


def _line(key: str, value: Any) -> str:
    return f"{key} = {json.dumps(value, ensure_ascii=False)}\n"


def _checked(text: str, made: str, path: Path, value: Any) -> str:
    """The text that was made, if it says at `path` what it shall, and all else as before."""
    try:
        found = read(made)
    except UsageError:
        found = {}
    if _at(found, path) != value or _rest(found, path) != _rest(read(text), path):
        raise UsageError(f"{'.'.join(map(str, path))} is written there in a form that cannot be changed")
    return made


def _at(values: Any, path: Path) -> Any:
    for key in path:
        if not isinstance(values, Mapping) or key not in values:
            return None
        values = values[key]
    return values


def _rest(values: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """The values without those at `path`, and without tables that are empty then."""
    key, *below = path
    rest = {name: value for name, value in values.items() if name != key}
    if below and key in values:
        inner = values[str(key)]
        inner = _rest(inner, below) if isinstance(inner, Mapping) else inner
        return rest | ({str(key): inner} if inner != {} else {})
    return rest


def _cut(text: str, blocks: Sequence[tuple[int, int]]) -> str:
    """The text without these blocks, each with one blank line before it."""
    for begin, end in reversed(blocks):
        before = text[:begin]
        text = (before[:-1] if before.endswith("\n\n") else before) + text[end:]
    return text


def _put_back(text: str, path: Path, was: str, block: tuple[int, int]) -> str:
    """The text with a block that `_cut` took out of `was`, before the table that follows it there, else at the end: not
    among the values of another table."""
    begin, end = block
    below = [
        (header, at) for header, at in _headers(was).items() if at >= end and header[0][: len(path)] != tuple(path)
    ]
    gap = was[end : below[0][1] if below else len(was)]
    here = _headers(text)
    place = next((here[header] for header, _ in below if header in here), len(text))
    if f"\n{text[:place]}".endswith(f"\n{gap}"):
        place -= len(gap)  # comments that stood between the two still do
    before, old, after = text[:place], was[begin - was[:begin].endswith("\n\n") : end], text[place:]
    lead = "" if not before or before.endswith("\n") else "\n"
    return before + lead + old + ("" if not after or old.endswith("\n") else "\n") + after


def _headers(text: str) -> dict[tuple[tuple[str, ...], int], int]:
    """Where each header is, by its table and how many of that table stand above: of a list there are several."""
    found: dict[tuple[tuple[str, ...], int], int] = {}
    for each in _statements(text):
        if each.key is None:
            number = next(number for number in count() if (each.table, number) not in found)
            found[each.table, number] = each.at
    return found


def _blocks(text: str, path: Path) -> list[tuple[int, int]]:
    """Where the table of that name, and those below it, begin and end: with the last of their values. What stands
    below that until the next table belongs to no table: it is a person's."""
    blocks: list[tuple[int, int]] = []
    is_inside = False
    for each in _statements(text):
        if each.table[: len(path)] != tuple(path):
            is_inside = False
        elif is_inside:
            blocks[-1] = (blocks[-1][0], each.end)
        elif each.key is None:
            blocks.append((each.at, each.end))
            is_inside = True
    return blocks


def _statements(text: str) -> Iterator[_Statement]:
    """The statements of a text. Raises `UsageError` as `read`."""
    read(text)
    begin, depth = 0, 0
    table: tuple[str, ...] = ()
    for token in _TOKEN.finditer(text):
        depth += bool(token["open"]) - bool(token["close"])
        if depth or token["end"] is None:
            continue
        line = text[begin : token.end()].strip()
        if line and not line.startswith("#"):
            key, inner = next(iter(toml_table(line).items()))
            is_header = line.startswith("[")
            if is_header:
                table = (key, *_names(inner))
            yield _Statement(begin, token.end(), table, None if is_header else key)
        begin = token.end()


def _names(value: Any) -> Iterator[str]:
    """The names in a header, below the first one: `[a.b]` and `[[a.b]]` are read as values in one another."""
    while value and isinstance(value, Mapping):
        key, value = next(iter(value.items()))
        yield key
