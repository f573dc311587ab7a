"""A Markdown note: its YAML front matter and body, and the conflict blocks in it, where two texts for the same lines
stand until a person has decided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from vault_memory.core.notes import front_matter

CONFLICT_OPEN = (
    "<<<<<<< 兩邊都改了這幾行：留下對的，再刪去三行記號"
    " · two texts for the same lines: keep what is right, delete the 3 marks"
)
CONFLICT_MIDDLE = "======="
CONFLICT_CLOSE = ">>>>>>> 另一邊到此為止 · end of the other text"
CONFLICT_PROBLEM = "conflict: "
"""How the problem of a file that holds a conflict block begins."""


@dataclass(frozen=True)
class Note:
    """`meta` is the front matter, `body` all that follows it, beginning at line `body_line` (1-based) of the file."""

    meta: Mapping[str, Any] = field(default_factory=dict)
    body: str = ""
    body_line: int = 1
    problems: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The front matter's `title`, or empty."""
        value = self.meta.get("title")
        return str(value).strip() if isinstance(value, (str, int, float)) else ""

    @property
    def tags(self) -> tuple[str, ...]:
        """The front matter's `tags`, a list or words divided by commas or blanks, without `#`."""
        value = self.meta.get("tags") or ()
        if isinstance(value, str):
            value = value.replace(",", " ").split()
        if not isinstance(value, (list, tuple)):
            return ()
        return tuple(tag for item in value if isinstance(item, (str, int, float)) and (tag := str(item).lstrip("#")))


def parse(text: str) -> Note:
    """Split a note into front matter and body. `problems` names broken front matter; the body is complete even then."""
    text = text.removeprefix("\ufeff")
    block = front_matter.split(text)
    if block is None:
        return Note(body=text)
    yaml, body = block
    body_line = text[: len(text) - len(body)].count("\n") + 1
    try:
        meta = front_matter.load(yaml)
    except ValueError as error:
        return Note({}, body, body_line, (f"front matter (lines 1-{body_line - 1}) is not valid YAML: {error}",))
    return Note(meta, body, body_line)


def render(meta: Mapping[str, Any], body: str) -> str:
    """A note's text: front matter (left out when `meta` is empty), then the body as it stands. Inverse of `parse`."""
    if not meta:
        return body
    import yaml

    # Not python-frontmatter's `export`: it strips what Python takes for a blank, and with it the end of a last value.
    block = yaml.safe_dump(dict(meta), allow_unicode=True, sort_keys=False, default_flow_style=False, width=10_000)
    return f"---\n{block}---\n{body}"


def conflict_block(ours: list[str], theirs: list[str]) -> list[str]:
    """The lines of a conflict block; each line ends with its line break."""
    return [CONFLICT_OPEN + "\n", *ours, CONFLICT_MIDDLE + "\n", *theirs, CONFLICT_CLOSE + "\n"]


def conflicts_in(text: str) -> list[tuple[int, int]]:
    """The conflict blocks of a text, as their first and last line (1-based, inclusive)."""
    found, start = [], 0
    if CONFLICT_OPEN not in text:
        return []
    for number, line in enumerate(text.split("\n"), 1):
        mark = line.rstrip()
        if mark == CONFLICT_OPEN and not start:
            start = number
        elif mark == CONFLICT_CLOSE and start:
            found.append((start, number))
            start = 0
    return found


def conflict_problems(text: str) -> list[str]:
    """A line for each conflict block, for a person."""
    return [
        f"{CONFLICT_PROBLEM}lines {first}-{last} hold two texts: keep what is right and delete the three marks"
        for first, last in conflicts_in(text)
    ]
