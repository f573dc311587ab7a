"""One mistake and its note: flat front matter, and a section for each of its texts.

A person may write such a note by hand, with headings in any of our languages, or without any: what stands before the
first heading is what was done. A line of a text that looks like one of the headings gets a backslash in the note.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from vault_memory.core.notes import note
from vault_memory.core.text import one_line, slug

FOLDER = "mistakes"
OTHER = "other"
"""The type of a mistake that names none."""

TEXTS: Mapping[str, tuple[str, ...]] = {
    "action": ("Action", "動作", "动作", "做了什麼", "做了什么"),
    "user_correction": ("User correction", "使用者的更正", "用户的更正", "使用者更正", "用户更正", "更正"),
    "correct_method": ("Correct method", "正確的方法", "正确的方法", "正確方法", "正确方法"),
    "impact": ("Impact", "影響", "影响"),
    "prevention_method": ("Prevention", "預防", "预防", "預防方法", "预防方法", "Prevention method"),
}
"""The texts of a mistake in the order of its note, each with the headings that its section may have; the first is that
of a new note."""

_OF_HEADING = {label.casefold(): name for name, labels in TEXTS.items() for label in labels}
_HEADING = re.compile(
    rf"(?P<escape>\\*)##[ \t]+(?P<label>{'|'.join(map(re.escape, _OF_HEADING))})[ \t]*[：:]?[ \t]*",
    re.IGNORECASE | re.ASCII,
)
ID = re.compile(r"[A-Za-z][A-Za-z0-9]*_\d+_[A-Za-z0-9]+")


@dataclass(frozen=True, kw_only=True)
class Mistake:
    """One mistake: what was done (`action`), what the person said to it, how it is done rightly, what came of it, how
    it is prevented; the rule that it broke, if there is one. `error_type` is a short name; `created_at` has an offset,
    and is None where the note does not say. `metadata` are the note's other properties; `problems` says in words what
    of the note could not be understood.
    """

    id: str
    action: str
    error_type: str = OTHER
    user_correction: str = ""
    correct_method: str = ""
    impact: str = ""
    prevention_method: str = ""
    related_rule: str | None = None
    created_at: datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    problems: tuple[str, ...] = ()

    @property
    def texts(self) -> dict[str, str]:
        """What it says, by the names of `TEXTS`."""
        return {name: getattr(self, name) for name in TEXTS}

    def as_dict(self) -> dict[str, Any]:
        """The mistake as JSON shows it; the time is ISO 8601 with its offset."""
        at = self.created_at.isoformat(timespec="seconds") if self.created_at else None
        own = {"id": self.id, "error_type": self.error_type, **self.texts, "related_rule": self.related_rule}
        return {**own, "created_at": at, "metadata": dict(self.metadata)}


def source_of(mistake: Mistake) -> str:
    """Where a new mistake's note lies in its user's folder: in that of its month. A commit names all files of a folder
    in which it changes one."""
    words = slug(mistake.action.split("\n", 1)[0])
    month = f"{mistake.created_at:%Y-%m}/" if mistake.created_at else ""
    return f"{FOLDER}/{month}{mistake.id}-{words}.md" if words else f"{FOLDER}/{month}{mistake.id}.md"


def encode(mistake: Mistake) -> str:
    """The note of a mistake; texts that it lacks have no section."""
    at = mistake.created_at
    own = {
        "id": mistake.id,
        "error_type": mistake.error_type,
        "created_at": at.isoformat(timespec="seconds") if at else None,
        "related_rule": mistake.related_rule,
    }
    meta = {key: value for key, value in own.items() if value is not None}
    sections = (f"## {TEXTS[name][0]}\n\n{_escaped(text)}\n" for name, text in mistake.texts.items() if text)
    return note.render({**meta, **mistake.metadata}, "\n".join(sections))


def decode(text: str, name: str = "") -> Mistake:
    """The mistake in a note; `name` is its file's, without `.md`, and gives the id where the note does not."""
    parsed = note.parse(text)
    return read(parsed.meta, parsed.body, name, parsed.problems)


def read(meta: Mapping[str, Any], body: str, name: str, problems: Sequence[str] = ()) -> Mistake:
    """The mistake of a note's front matter and body, as `decode` reads it."""
    properties = note.Properties(meta, problems)
    value, wrong = properties.value, properties.problems
    texts = texts_of(body)
    if not texts.get("action"):
        wrong.append("it does not say what was done: write that below `## Action`")
    named = ID.match(name)
    return Mistake(
        id=value("id", _line, named[0] if named else name, "an id"),
        error_type=value("error_type", _line, OTHER, "a short name"),
        related_rule=value("related_rule", _line, None, "a name"),
        created_at=value("created_at", note.moment, None, "a time such as 2026-01-30T14:05:00+08:00"),
        metadata={key: stored for key, stored in meta.items() if key not in PROPERTIES},
        problems=tuple(wrong),
        **{"action": "", **texts},
    )


PROPERTIES = ("id", "error_type", "created_at", "related_rule")
"""In the order in which a note has them."""


def _escaped(text: str) -> str:
    """The text with one more backslash before each line that looks like a heading of ours."""
    return "\n".join(f"\\{line}" if _HEADING.fullmatch(line) else line for line in text.split("\n"))


def texts_of(body: str) -> dict[str, str]:
    """The texts of a note's body by their names, each without blank lines around it; sections of one name are
    joined."""
    found: dict[str, list[list[str]]] = {"action": [[]]}
    rows: list[str] = found["action"][0]
    for line in body.replace("\r\n", "\n").split("\n"):
        heading = _HEADING.fullmatch(line)
        if heading is None:
            rows.append(line)
        elif heading["escape"]:
            rows.append(line[1:])
        else:
            rows = []
            found.setdefault(_OF_HEADING[heading["label"].casefold()], []).append(rows)
    texts = {name: ["\n".join(part).strip() for part in parts] for name, parts in found.items()}
    return {name: "\n\n".join(filter(None, parts)) for name, parts in texts.items()}


def _line(stored: Any) -> str | None:
    return one_line(str(stored)) or None if isinstance(stored, (str, int, float)) else None
