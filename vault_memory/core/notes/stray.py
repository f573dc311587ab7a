"""Private files that somebody has moved, copied or packed out of their place: they are known by what they hold.

A file manager, a sync program or a person makes `index 2.db`, `old-users/alice/conversations/…`, an index in a folder
that the settings name, `Backups/vault.tar.gz`, or `memory.zip`. They hold what the originals hold. So does an export of
another program's conversations that lies here to be imported.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import PurePosixPath
from typing import Literal

from vault_memory.core import layout, reading
from vault_memory.core.notes import packed
from vault_memory.core.notes.journal import is_turn

Pieces = Callable[[], Iterable[bytes]]
"""The lines of a file with their ends, long ones in pieces; it is read no further than needed."""
Kind = Literal["", "private", "opaque"]
"""Nothing of ours, or private as before; or an archive into which nobody can look here, so that it may be."""
_FIELDS = (
    (b'"conversation_id"', b'"user_message"', b'"assistant_message"'),
    (b'"mapping"', b'"author"', b'"content_type"', b'"parts"'),
    (b'"chat_messages"', b'"sender"'),
)
"""Of a record of ours, and of what ChatGPT and Claude give out (`core.exports`): a file with all of one is such."""
_DATABASE, _JOURNALS = b"SQLite format 3\0", (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83")
_NAME = b"chunks_identity"
"""Every index has one of this name; what a database holds by name stands at its beginning."""
_HEAD_BYTES = 256_000
_JSON = re.compile(rb"(?:\xef\xbb\xbf)?[\s\[]*\{")
_ARCHIVE = re.compile(r"\.(?:tar(?:\.[a-z0-9]+)?|t[gbxl]z2?|tzst|zip|7z|rar)$", re.IGNORECASE)
_MAX_PACKINGS = 3
"""Of compressed files in each other."""


def is_stray(path: PurePosixPath, pieces: Pieces) -> bool:
    """Whether a file of the vault is a conversation record or a search index, or packs such, state or git's folder, as
    a backup does; and is not private by its place (`layout.is_private`): it is as private as before."""
    return kind(path, pieces) == "private"


def became(path: PurePosixPath, before: bytes | None, after: bytes | None) -> Kind:
    """Of which kind an edit makes a file, if it was of none. What a person has committed as it is was their own
    decision."""
    is_now = kind(path, partial(reading.lines, after or b"", keep_ends=True))
    return is_now if is_now and not kind(path, partial(reading.lines, before or b"", keep_ends=True)) else ""


def kind(path: PurePosixPath, pieces: Pieces) -> Kind:
    """Of which kind a file is by its content."""
    if layout.is_private(path):
        return ""
    suffix = path.suffix.casefold() or path.name.casefold()
    if suffix in (".jsonl", ".json"):
        return "private" if _is_record(pieces()) else ""
    try:
        return _kind(pieces, may_be_record=suffix != ".md")
    except packed.Unreadable:
        return "opaque"


def _is_record(pieces: Iterable[bytes]) -> bool:
    """Whether a file holds turns: one on a line, or its fields anywhere, as `jq .` or an export has them."""
    lacking = [set(fields) for fields in _FIELDS]
    for piece in pieces:
        for fields in lacking:
            fields -= {field for field in fields if field in piece}
        if not all(lacking) or is_turn(piece):
            return True
    return False


def _kind(pieces: Pieces, *, may_be_record: bool, packings: int = 0) -> Kind:
    """The kind of a file, or of what a compressed file holds. SQLite's journal of any database (`-wal`) is private: it
    holds the last pages of one."""
    head = _head(pieces(), packed.HEAD_BYTES)
    if head.startswith(_DATABASE):
        return "private" if _NAME in _head(pieces(), _HEAD_BYTES) else ""
    if head.startswith(_JOURNALS) or (may_be_record and _JSON.match(head) and _is_record(pieces())):
        return "private"
    if packed.is_archive(head):
        return _kind_of_members(packed.names(head, pieces()))
    if packed.is_opaque(head) or (packed.is_compressed(head) and packings == _MAX_PACKINGS):
        return "opaque"
    if packed.is_compressed(head):
        return _kind(lambda: packed.unpacked(pieces()), may_be_record=True, packings=packings + 1)
    return ""


def _kind_of_members(names: Iterable[str]) -> Kind:
    found: Kind = ""
    for name in names:
        if layout.is_private_packed(PurePosixPath(name)):
            return "private"
        if _ARCHIVE.search(name):
            found = "opaque"
    return found


def _head(pieces: Iterable[bytes], size: int) -> bytes:
    head = b""
    for piece in pieces:
        head += piece
        if len(head) >= size:
            break
    return head[:size]
