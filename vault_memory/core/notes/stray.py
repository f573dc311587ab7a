"""Private files that somebody has moved or copied out of their place: they are known by what they hold.

A file manager, a sync program or a person makes `index 2.db`, `old-users/alice/conversations/…` or an index in a folder
that the settings name. They hold what the originals hold.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import PurePosixPath

from vault_memory.core import layout
from vault_memory.core.notes.journal import is_turn

Pieces = Callable[[], Iterable[bytes]]
"""The lines of a file, in pieces of any length where they are long; it is read no further than needed."""
_MAY_BE_INDEX = re.compile(r"db|sqlite|^[^.]*$", re.IGNORECASE)
"""Names of other files are not read: a vault may have gigabytes of pictures."""
_DATABASE, _JOURNALS = b"SQLite format 3\0", (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83")
_NAME = b"chunks_identity"
"""Every index has one of this name; what a database holds by name stands at its beginning."""
_HEAD_BYTES = 256_000


def is_stray(path: PurePosixPath, pieces: Pieces) -> bool:
    """Whether a file of the vault is a conversation record or a search index, and not private by its place
    (`layout.is_private`): it is as private as before. JSONL is read for turns, and what may be a database by its name
    for an index."""
    if layout.is_private(path):
        return False
    if path.name.casefold().endswith(".jsonl"):
        return any(map(is_turn, pieces()))
    return _MAY_BE_INDEX.search(path.name) is not None and not layout.is_text_kind(path) and _is_index(pieces)


def becomes_stray(path: PurePosixPath, before: bytes | None, after: bytes | None) -> bool:
    """Whether an edit makes a file such a one. What a person has committed as it is was their own decision."""
    was, is_now = (is_stray(path, partial((content or b"").split, b"\n")) for content in (before, after))
    return is_now and not was


def _is_index(pieces: Pieces) -> bool:
    """Whether a file is an index of ours, or SQLite's journal of some database (`-wal`), which holds its last pages."""
    head = b""
    for piece in pieces():
        head += piece
        if len(head) >= len(_DATABASE) and not head.startswith((_DATABASE, *_JOURNALS)):
            return False
        if len(head) > _HEAD_BYTES:
            break
    return head.startswith(_JOURNALS) or (head.startswith(_DATABASE) and _NAME in head[:_HEAD_BYTES])
