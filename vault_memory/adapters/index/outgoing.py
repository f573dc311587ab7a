"""Chunks as they may leave this machine for an embedding endpoint.

What a line is may be told by a line far above it: the first line of a key, the head of a table, «Passwords» as a
heading. So secrets are looked for in the whole file, and not in the chunk alone. Private facts stand in one sentence:
the embedder leaves those out itself (`embedding.outgoing`).
"""

from __future__ import annotations

from collections.abc import Mapping

import apsw

from vault_memory.adapters.embedding import outgoing
from vault_memory.adapters.index.database import rows
from vault_memory.core.privacy import redact_parts

_FILE_OF = (
    "SELECT (SELECT value FROM meta WHERE key = 'made'), f.file_id, f.content_hash"
    " FROM chunks c JOIN files f USING(file_id) WHERE c.chunk_id = ?"
)
_CHUNKS = "SELECT chunk_id, text FROM chunks WHERE file_id = ? ORDER BY position"


class OutgoingTexts:
    """The texts of chunks without the secrets of their files. One file is remembered: chunks come file by file."""

    def __init__(self) -> None:
        self._last: tuple[tuple[str, int, bytes] | None, Mapping[int, str]] = (None, {})

    def text(self, db: apsw.Connection, chunk_id: int) -> str:
        """The text of a chunk; "" for one that is gone meanwhile."""
        found: list[tuple[str, int, bytes]] = rows(db, _FILE_OF, (chunk_id,))
        if not found:
            return ""
        file, texts = self._last
        # A file that is as it was before an edit has other chunks; in an index made anew the ids begin again.
        if file != found[0] or chunk_id not in texts:
            chunks: list[tuple[int, str]] = rows(db, _CHUNKS, (found[0][1],))
            redacted = redact_parts([text for _, text in chunks])
            texts = dict(zip((each for each, _ in chunks), redacted, strict=True))
            self._last = found[0], texts
        return texts.get(chunk_id, "")

    def may_go(self, db: apsw.Connection, chunk_id: int, text: str) -> bool:
        """Whether a chunk holds neither a secret nor a private fact, so that any part of it may leave."""
        return self.text(db, chunk_id) == text == outgoing(text)
