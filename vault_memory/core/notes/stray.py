"""Private files that somebody has moved or copied out of their place: they are known by what they hold.

A file manager, a sync program or a person makes `index 2.db`, `old-users/alice/conversations/…`, an index in a folder
that the settings name, or `Backups/vault.tar.gz`. They hold what the originals hold.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import PurePosixPath

from vault_memory.core import layout, reading
from vault_memory.core.notes.journal import is_turn

Pieces = Callable[[], Iterable[bytes]]
"""The lines of a file with their ends, long ones in pieces; it is read no further than needed."""
_MAY_BE_OURS = re.compile(r"db|sqlite|gz|^[^.]*$", re.IGNORECASE)
"""Names of other files are not read: a vault may have gigabytes of pictures."""
_FIELDS = (b'"conversation_id"', b'"user_message"', b'"assistant_message"')
_DATABASE, _JOURNALS = b"SQLite format 3\0", (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83")
_NAME = b"chunks_identity"
"""Every index has one of this name; what a database holds by name stands at its beginning."""
_HEAD_BYTES = 256_000
_GZIP, _FIRST_IN_BACKUP = b"\x1f\x8b", b".git/"
"""A backup begins with git's objects, so that the time in which it holds the locks is short."""
_BLOCK_BYTES, _BLOCKS = 512, 8
"""Of a tar file: a name stands at the beginning of one."""


def is_stray(path: PurePosixPath, pieces: Pieces) -> bool:
    """Whether a file of the vault is a conversation record, a search index or a backup, and not private by its place
    (`layout.is_private`): it is as private as before. JSONL is read for turns, and what may be a database or an archive
    by its name for the others."""
    if layout.is_private(path):
        return False
    if path.name.casefold().endswith((".jsonl", ".json")):
        return _is_record(pieces)
    return _MAY_BE_OURS.search(path.name) is not None and not layout.is_text_kind(path) and _is_ours(pieces)


def _is_record(pieces: Pieces) -> bool:
    """Whether a file holds turns: one on a line, or its fields anywhere, as `jq .` writes them."""
    fields = set(_FIELDS)
    for piece in pieces():
        fields -= {field for field in fields if field in piece}
        if not fields or is_turn(piece):
            return True
    return False


def becomes_stray(path: PurePosixPath, before: bytes | None, after: bytes | None) -> bool:
    """Whether an edit makes a file such a one. What a person has committed as it is was their own decision."""
    was, is_now = (
        is_stray(path, partial(reading.lines, content or b"", keep_ends=True)) for content in (before, after)
    )
    return is_now and not was


def _is_ours(pieces: Pieces) -> bool:
    """Whether a file is an index of ours, SQLite's journal of some database (`-wal`), which holds its last pages, or a
    backup."""
    head = b""
    for piece in pieces():
        head += piece
        if len(head) >= len(_DATABASE) and not head.startswith((_DATABASE, _GZIP, *_JOURNALS)):
            return False
        if len(head) > _HEAD_BYTES:
            break
    if head.startswith(_DATABASE):
        return _NAME in head[:_HEAD_BYTES]
    return head.startswith(_JOURNALS) or (head.startswith(_GZIP) and _is_backup(head))


def _is_backup(packed: bytes) -> bool:
    """Whether git's folder comes first in a tar file, perhaps behind a header with a time or a long name."""
    try:
        blocks = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(packed, _BLOCK_BYTES * _BLOCKS)
    except zlib.error:
        return False
    return any(blocks[at:].startswith(_FIRST_IN_BACKUP) for at in range(0, len(blocks), _BLOCK_BYTES))
