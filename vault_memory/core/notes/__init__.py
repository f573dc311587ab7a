"""The content of a vault's files: a note's front matter, body and conflict blocks, the chunks that are indexed, and
the record of turns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.core.notes import document, entries, journal, naming, note, said, stray
    from vault_memory.core.notes.document import Chunk, Document, Resume, Segment
    from vault_memory.core.notes.journal import Reply, Turn, parse_line

__all__ = [
    "Chunk",
    "Document",
    "Reply",
    "Resume",
    "Segment",
    "Turn",
    "document",
    "entries",
    "journal",
    "naming",
    "note",
    "parse_line",
    "said",
    "stray",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "Chunk": "document",
        "Document": "document",
        "Reply": "journal",
        "Resume": "document",
        "Segment": "document",
        "Turn": "journal",
        "parse_line": "journal",
    },
)
