"""The kinds of record that a vault stores, by path. A new kind also gets its text in `core/notes` and its verbs in
`services/notes`."""

from __future__ import annotations

KIND_OF_PATH: list[tuple[str, str]] = [
    ("USER.md", "profile"),
    ("MEMORY.md", "memory-log"),
    ("LEARNING.md", "learning"),
    ("feedback.jsonl", "feedback"),
    ("daily/*.md", "daily"),
    ("conversations/*.jsonl", "conversation"),
    ("memories/**/*.md", "memory"),
    ("entities/*.md", "entity"),
    ("mistakes/**/*.md", "mistake"),
]
"""(glob inside a user's folder, kind); the first match wins, and a file that matches none is a `note`. `**/` are any
folders, or none."""

SEARCHABLE_KINDS = (*(kind for _, kind in KIND_OF_PATH if kind != "feedback"), "note")
"""The kinds that a search can be limited to."""
