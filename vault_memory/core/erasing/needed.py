"""What a vault itself needs: names, keys, labels, times and ids, without which its files cannot be read any more."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import PurePosixPath
from typing import Any, get_args

from vault_memory.core import graph, layout, memories, mistakes, reading, trailers
from vault_memory.core.diary import labels
from vault_memory.core.memorable import Kind
from vault_memory.core.notes import entries, note
from vault_memory.core.profile import FIELDS, LABELS, STRONG_MARKS, ChangeOp, Strength, SuggestionState
from vault_memory.core.record_kinds import KIND_OF_PATH

_MACHINE_VALUE = re.compile(
    r"[A-Za-z][A-Za-z0-9]*_\d+_[A-Za-z0-9]+(?:, [A-Za-z][A-Za-z0-9]*_\d+_[A-Za-z0-9]+)*"
    r"|\d{4}-\d\d(?:-\d\d)?(?:[T ]\d\d:\d\d.{0,24})?|[\w./-]+\.jsonl:\d+"
)
"""Ids, times, and the line of a record."""
_MACHINE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*_\d+_[A-Za-z0-9]+|\d{4}(?:-\d\d){0,2}")
_SETTING = re.compile(r"([^.]+)(?:\..*)?\.([^.]+)")


@cache
def words_of_every_vault() -> Mapping[str, str]:
    """Each word → where every vault has it: names of its files and folders, keys and labels of profiles and notes, and
    of messages of commits."""
    names = [layout.SETTINGS_FILE, layout.STATE_DIR, layout.MEMORY_DIR, layout.SKILLS_DIR, layout.ARCHIVE_DIR]
    names += [str(layout.SOUL), str(layout.AGENTS), layout.INDEX_FILE, *(glob for glob, _ in KIND_OF_PATH)]
    keys = [*sorted(_properties()), *mistakes.TEXTS]
    headed = [*LABELS, *(label for row in mistakes.TEXTS.values() for label in row)]
    found = dict.fromkeys((f"{each}_" for each in memories.ID_PREFIXES.values()), "the ids that it makes")
    found |= dict.fromkeys(names, "the names of its files")
    logs = [entries.REQUEST, entries.TASK, labels.MODULE, labels.RESULT, labels.LEARNED, labels.REMEMBERED]
    found |= dict.fromkeys((word for row in (*logs, *labels.OUTCOMES) for word in row), "the logs that turns write")
    found["main"] = "the name of its branch"
    found |= dict.fromkeys([*keys, *memories.TYPES, "true", "false", "null"], "the properties of its notes")
    found |= dict.fromkeys([*FIELDS, *headed], "the labels of profiles and notes")
    found |= dict.fromkeys(_closed_values(), "the values by which it reads profiles and evidence")
    return found | dict.fromkeys([*trailers.KEYS.values(), "Reason"], "the messages of its commits")


def _closed_values() -> Iterator[str]:
    for closed in (Strength, ChangeOp, SuggestionState, Kind):
        yield from get_args(closed)
    for field in FIELDS.values():
        yield from field.values
    yield from (*STRONG_MARKS, *graph.TYPES, *graph.RELATION_TYPES)


def words_of_name(path: PurePosixPath) -> Iterator[str]:
    """Ids and days in the name of a file."""
    for part in path.parts:
        if found := _MACHINE_NAME.match(part):
            yield found[0]


def words_of_file(path: PurePosixPath, data: bytes) -> Iterator[str]:
    """What programs read a file by, in its order: the keys of a record, of settings, of a skill or of one of Obsidian's
    bases, the properties of a note that the program gives it, and times, ids and numbers there; "" for a property of a
    person's own. A file that cannot be read has none, and one of a person's own has none but its being readable."""
    text = data.decode("utf-8", "replace")
    if path.suffix == ".md":
        for key, value in note.parse(text).meta.items():
            is_ours = key in _properties() or path.name == layout.SKILL
            yield key if is_ours else ""
            yield from _words(value) if is_ours else ()
    elif path.suffix in (".toml", ".jsonl", ".base"):
        with suppress(ValueError, RecursionError):
            yield from _words(_read(path, text))


def is_read(path: PurePosixPath, data: bytes) -> bool:
    """Whether a file can be read as what its name says: front matter, JSON, TOML or YAML; any other one always."""
    try:
        _read(path, data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return False
    return True


def _read(path: PurePosixPath, text: str) -> Any:
    suffix = path.suffix.lower()
    if suffix == ".md":
        block = note.split_front_matter(text.removeprefix("\ufeff"))
        return note.load_yaml(block[0]) if block else {}
    if suffix in (".json", ".canvas"):
        return json.loads(text)
    if suffix == ".jsonl":
        return [json.loads(line) for line in reading.lines(text) if line.strip()]
    if suffix == ".toml":
        return tomllib.loads(text)
    if suffix in (".base", ".yaml", ".yml"):
        return note.load_yaml(f"items:\n{text}" if text.startswith("- ") else text)
    return None


@cache
def _properties() -> frozenset[str]:
    return frozenset((*memories.PROPERTIES, *mistakes.PROPERTIES, *graph.PROPERTIES))


def words_of_git(settings: Iterable[tuple[str, str]]) -> Iterator[str]:
    """What git reads in its settings, (name, value): names, and values that are switches or numbers. What a person
    calls a branch or a remote is theirs."""
    for name, value in settings:
        if found := _SETTING.fullmatch(name):
            yield from found.groups()
        if value in ("true", "false", "auto", "always", "never", "input") or value.isdecimal():
            yield value


def _words(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield str(key)
            yield from _words(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _words(each)
    elif value is not None and (not isinstance(value, str) or _MACHINE_VALUE.fullmatch(value)):
        yield str(value)
