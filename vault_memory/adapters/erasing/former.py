"""Which commit a former one is now: a map of ids, `.git/vault-memory-erased`, with no word of what was erased.

A line has an old id and the new one. What was made anew twice has two lines.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from vault_memory.adapters import files

MAP_FILE = "vault-memory-erased"
"""Beside the folder of what waits: that is dropped in a backup, and this is not."""
JOURNAL = "vault-memory/erasing"
"""What is being erased, until it is: it may hold a text, and only its owner may read it."""
SHORTEST_ID = 7
_LINE = re.compile(r"([0-9a-f]{40}) ([0-9a-f]{40})\n")


def read_map(common_dir: Path) -> dict[str, str]:
    """Old id → the new one of each commit and tag that was ever made anew. Other lines are passed over."""
    stored = files.read(common_dir / MAP_FILE, None) or b""
    return dict(_LINE.findall(stored.decode("ascii", "replace")))


def write_map(common_dir: Path, former: Mapping[str, str]) -> None:
    """Store the map, durably. An id that leads to one that is itself former leads to the last one then."""
    text = "".join(f"{old} {last_of(former, old)}\n" for old in former)
    files.write_private(common_dir / MAP_FILE, text.encode(), common_dir)


def last_of(former: Mapping[str, str], commit: str) -> str:
    """Where a former id leads to in the end; an id that is no former one leads to itself."""
    for _ in range(len(former)):
        if (later := former.get(commit, commit)) == commit:
            break
        commit = later
    return commit


def now_called(common_dir: Path, commit: str) -> str | None:
    """The id of the commit that a former one, named by its id or at least the first seven digits, is now; None for one
    that is no former one, or whose digits several have."""
    if len(commit) < SHORTEST_ID:
        return None
    found = {new for old, new in read_map(common_dir).items() if old.startswith(commit)}
    return found.pop() if len(found) == 1 else None
