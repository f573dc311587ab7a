"""One thing that archiving does, or would do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal


@dataclass(frozen=True)
class Step:
    """`pack`: days of conversation go into `path`, the file of their month. `move`: entries of an earlier year go
    there. `delete`: that month is deleted. `count` is the number of days or entries, `size` their bytes on the disk;
    `path` is relative to the vault."""

    kind: Literal["pack", "move", "delete"]
    path: PurePosixPath
    count: int
    size: int

    @property
    def amount(self) -> str:
        """How much it is: `31 days, 20,480 bytes`."""
        return f"{_counted(self.count, self.kind)}, {self.size:,} bytes"


def in_words(done: Sequence[Step]) -> str:
    """A line about steps that are done; it names every month that was deleted."""
    said = []
    for kind, what in (("pack", "of conversation packed"), ("move", "of earlier years moved")):
        if count := sum(step.count for step in done if step.kind == kind):
            said.append(f"{_counted(count, kind)} {what}")
    if deleted := [f"{step.path} ({step.amount})" for step in done if step.kind == "delete"]:
        said.append(f"deleted {', '.join(deleted)}")
    return "; ".join(said) or "nothing is old enough"


def _counted(count: int, kind: str) -> str:
    one, more = ("entry", "entries") if kind == "move" else ("day", "days")
    return f"{count:,} {one if count == 1 else more}"
