"""What a person or a model has said in a file, a name or the message of a commit, without what the program itself
writes there: times, days, ids, lines of records, keys and the subjects of its commits. A price of 12.25 is not said by
the log of a Christmas Day."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import PurePosixPath
from typing import Any

from vault_memory.core import graph, layout, memories, mistakes, reading, trailers
from vault_memory.core.profile import FIELDS

_H = "[0-9a-f]"
_ID = rf"[A-Za-z][A-Za-z0-9]*_\d+_[A-Za-z0-9]+|conv_{_H}+|{_H}{{8}}-(?:{_H}{{4}}-){{3}}{_H}{{12}}"
_DAY = r"\d{4}-\d\d(?:-\d\d)?"
_TIME = rf"{_DAY}(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?"
_LINE = r"[\w./-]+\.jsonl:\d+"
_MADE = rf"(?:{_ID}|{_TIME}|{_LINE})"
_VALUE = rf"(?:{_MADE}(?:, {_MADE})*|-?\d+(?:\.\d+)?|true|false|null)"
_WHOLE_ID = re.compile(_ID)
_WHOLE = re.compile(rf"{_MADE}(?:, {_MADE})*")
_NAME_OF_A_DAY = re.compile(r"(?:memory-|feedback-)?\d{4}(?:-\d\d){0,2}(?:\.[a-z]+)*")
_NAME_WITH_ID = re.compile(rf"(?:{_ID})-?")
_KINDS = "archive|forget|graph|import|log|memory|memories|mistakes|user"
_SUBJECT = re.compile(rf"(?P<kind>{_KINDS})\((?P<user>[^()\s]+)\): (?P<rest>.*)")
_OF_A_USER = re.compile(rf"\b(?:{_KINDS})\([^()\s]+\): ".encode())
_OF_A_NAME = ("graph", "memories", "mistakes")
"""Kinds of our commits whose subjects name what they are about. A preference stands in trailers, and the others say
only how much was done."""
_SAID_OF = ("old", "new")
"""Our trailers that say what somebody has said."""
_EDIT = re.compile(r"(?:- )?(?:add|edit|delete) (?:.* \(([^()]+)\)|(\S+))")
"""An edit by hand, as the program tells it: `edit 想法 (memory/alice/notes/idea.md)`."""
_COMMIT = re.compile(rf"\b{_H}{{40}}\b|(?<= to ){_H}{{12}}$", re.MULTILINE)
_SIGNED = re.compile(r"[A-Za-z-]+-[Bb]y|Vault-.*")


def is_an_id(text: str) -> bool:
    """Whether it is an id, that a program has made, and nothing else."""
    return _WHOLE_ID.fullmatch(text) is not None


def is_of_a_user(message: bytes) -> bool:
    """Whether a message is one of ours that tells of a user, or quotes one."""
    return _OF_A_USER.search(message) is not None


@cache
def _in_notes() -> re.Pattern[str]:
    """In each note: properties that hold no words."""
    known = "|".join(sorted({*memories.PROPERTIES, *mistakes.PROPERTIES, *graph.PROPERTIES, "updated_at"}))
    item = rf"- (?:'{_TIME}'|\"{_TIME}\"|{_ID})"
    return re.compile(rf"^(?:(?:{known}): *(['\"]?){_VALUE}\1|{item})[ \t]*\r?$", re.MULTILINE)


@cache
def _in_ours() -> re.Pattern[str]:
    """In notes, logs and profiles of the program: headings, beginnings of lines and cells that are times, and where
    something was said."""
    joined = "|".join(map(re.escape, FIELDS["joined"].labels))
    return re.compile(
        rf"^#{{1,2}} (?:{_TIME}|\d\d:\d\d)(?: %%{_H}{{8}}%%)?[ \t]*\r?$|^- \d\d:\d\d(?= )|^- (?:{joined})[:：] *{_TIME}"
        rf"|(?<=\| ){_TIME}(?= \|)| · {_LINE}[ \t]*\r?$|%%{_MADE}(?: {_MADE})*%%",
        re.MULTILINE,
    )


def said_in_file(path: PurePosixPath, text: str) -> list[str]:
    """What is said in a file of the vault, or in some of its lines, in pieces."""
    kind = _kind_of(path)
    if path.name.endswith((".jsonl", ".jsonl.gz")):
        return [text] if kind == "note" else [*_in_records(text)]
    if path.suffix != ".md":
        return [text]
    pieces = _between(_in_notes(), text)
    return pieces if kind == "note" else [each for piece in pieces for each in _between(_in_ours(), piece)]


def _kind_of(path: PurePosixPath) -> str:
    scope = layout.scope_of(path)
    source = path.relative_to(layout.scope_dir(scope)).as_posix().removesuffix(".gz")
    if layout.year_of(layout.FEEDBACK, source.removeprefix(f"{layout.ARCHIVE_DIR}/")) is not None:
        return "feedback"
    return layout.kind_of(layout.Place(scope, source))


def _between(made: re.Pattern[str], text: str) -> list[str]:
    pieces, at = [], 0
    for found in made.finditer(text):
        pieces.append(text[at : found.start()])
        at = found.end()
    return [*pieces, text[at:]]


def _in_records(text: str) -> Iterator[str]:
    for line in reading.lines(text):
        try:
            yield from said_in_record(json.loads(line))
        except (ValueError, RecursionError):
            yield line


def said_in_record(value: Any) -> Iterator[str]:
    """What is said in a record, or in a part of one."""
    if isinstance(value, Mapping):
        for each in value.values():
            yield from said_in_record(each)
    elif isinstance(value, list):
        for each in value:
            yield from said_in_record(each)
    elif isinstance(value, str) and not _WHOLE.fullmatch(value):
        yield value


def said_in_name(path: PurePosixPath) -> list[str]:
    """What the names of a file and of its folders say, inside its scope."""
    scope = layout.scope_of(path)
    parts = path.relative_to(layout.scope_dir(scope)).parts
    return [
        part[found.end() :] if (found := _NAME_WITH_ID.match(part)) else part
        for part in parts
        if scope == layout.SHARED or not _NAME_OF_A_DAY.fullmatch(part)
    ]


def said_in_message(message: str) -> list[tuple[str, str]]:
    """(scope, words) of what the message of a commit says: of one of ours what is named, the reason and the values, as
    its user's; of another one all but who has signed it."""
    told = trailers.parse(message)
    ours = _SUBJECT.fullmatch(told.subject)
    scope = ours["user"] if ours else told.trailers.get(trailers.KEYS["user"], "")
    lines = [told.subject, *reading.lines(told.body)]
    if layout.is_user_id(scope):
        said = [told.reason, *(told.trailers.get(trailers.KEYS[each], "") for each in _SAID_OF)]
        if ours is None:
            said += lines
        elif ours["kind"] in _OF_A_NAME:
            said += [_verb().sub("", ours["rest"]), *(_item().sub("", line) for line in lines[1:])]
        return [(scope, each) for each in said if each]
    files = {line: PurePosixPath(found[1] or found[2]) for line in lines if (found := _EDIT.fullmatch(line))}
    own = [f"{key}: {value}" for key, value in told.trailers.items() if not _SIGNED.fullmatch(key)]
    rest = "\n".join([*(line for line in lines if line not in files), told.reason, *own])
    of_files = [
        (layout.scope_of(path), said)
        for line, path in files.items()
        for said in (line[: line.rfind(" ")], *said_in_name(path))
    ]
    return [*((layout.SHARED, piece) for piece in _between(_COMMIT, rest)), *of_files]


@cache
def _verb() -> re.Pattern[str]:
    return re.compile(rf"^(?:undo )?[a-z]+ (?:(?:{'|'.join(memories.TYPES)}) )?")


@cache
def _item() -> re.Pattern[str]:
    return re.compile(rf"^- (?:(?:{_ID}) )?(?:(?:{'|'.join(memories.TYPES)}) )?")
