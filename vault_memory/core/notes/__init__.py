"""The content of a vault's files: a note's front matter, body and conflict blocks, the chunks that are indexed, and
the record of turns. Also how three states of one file are merged into one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.core.notes import document, entries, journal, merge, note, stray
    from vault_memory.core.notes.document import Chunk, Document, Resume, Segment
    from vault_memory.core.notes.journal import Reply, Turn, parse_line
    from vault_memory.core.notes.line_merge import Clash, Side
    from vault_memory.core.notes.merge import carry_over, without_replaced
    from vault_memory.core.notes.profile_merge import merge_profile

__all__ = [
    "Chunk",
    "Clash",
    "Document",
    "Reply",
    "Resume",
    "Segment",
    "Side",
    "Turn",
    "carry_over",
    "document",
    "entries",
    "journal",
    "merge",
    "merge_profile",
    "note",
    "parse_line",
    "stray",
    "without_replaced",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "Chunk": "document",
        "Clash": "line_merge",
        "Document": "document",
        "Reply": "journal",
        "Resume": "document",
        "Segment": "document",
        "Side": "line_merge",
        "Turn": "journal",
        "carry_over": "merge",
        "merge_profile": "profile_merge",
        "parse_line": "journal",
        "without_replaced": "merge",
    },
)
