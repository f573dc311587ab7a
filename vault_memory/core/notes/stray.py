"""Private files that somebody has moved, copied or packed out of their place: they are known by what they hold.

A file manager, a sync program or a person makes `index 2.db`, `old-users/alice/conversations/…`, an index in a folder
that the settings name, `Backups/vault.tar.gz`, or `memory.zip`. They hold what the originals hold. So does an export of
another program's conversations that lies here to be imported.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
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
_FIELDS = tuple(re.compile(rb'"%s"\s*:\s*["n]' % name) for name in (b"conversation_id", b"user_message"))
_REPLY = re.compile(rb'"assistant_message"\s*:\s*["n]')
_CONVERSATIONS = (b"mapping", b"author", b"content_type", b"parts"), (b"chat_messages", b"sender")
_ABOUT_THEM = (
    *((b"conversation_id", b"is_anonymous", b"title"), (b"chatgpt_plus_user", b"email"), (b"conversations_memory",)),
    *((b"verified_phone_number", b"full_name", b"uuid"), (b"uuid", b"docs", b"filename", b"content")),
)
_EXPORTS = tuple(tuple(re.compile(b'"%s"' % name) for name in names) for names in (*_CONVERSATIONS, *_ABOUT_THEM))
"""The fields of what ChatGPT and Claude give out (`core.exports`) and of the files beside it: whose it is, what is
shared, projects, memories. A file with all of one is such."""
_PAGES = (".html", ".htm")
"""One of ChatGPT's holds all conversations once more."""
_DATABASE, _JOURNALS = b"SQLite format 3\0", (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83")
_NAME = b"chunks_identity"
"""Every index has one of this name; what a database holds by name stands at its beginning."""
_HEAD_BYTES = 256_000
_JSON = re.compile(rb"(?:\xef\xbb\xbf)?[\s\[]*\{")
_PACKED = (
    r"(?:tar|t[gbxlz]z2?|tzst|zip|7z|rar|gz|bz2|xz|zst|zz|z|lz4?|lzma|br|cpgz|cpio|xar|aar|bundle|dmg|iso|img|deb)"
)
_ARCHIVE = re.compile(rf"\.{_PACKED}(?:\.(?:old|bak|orig|enc|gpg))?$|\.(?:[zr]\d\d|part\d+)$", re.IGNORECASE)
_PART = re.compile(
    rf"\.{_PACKED}(?:[._-](?:part[._-]?)?|part[._-]?)(?:[ab][a-z]|\d{{1,4}})(?:\.split)?$", re.IGNORECASE
)
"""Names of archives, and of one that is in parts, of which one may be text."""
_DOCUMENTS = ("[Content_Types].xml", "_rels/", "word/", "xl/", "ppt/", "docProps/", "mimetype", "META-INF/")
"""How one of the first members begins of a zip that is a document or a program."""
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
"""How a text in UTF-16 begins. Without its zero bytes what is ASCII in it, such as the names of fields, is as usual."""
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
    is_wide = _head(pieces(), 2).startswith(_UTF_16)
    text: Pieces = partial(_without_zeros, pieces) if is_wide else pieces
    if (is_wide or suffix in (".jsonl", ".json", *_PAGES)) and _is_record(text(), is_page=suffix in _PAGES):
        return "private"
    try:
        return _kind(pieces, path.name)
    except packed.Unreadable:
        return "opaque"


def _is_record(pieces: Iterable[bytes], *, is_page: bool = False) -> bool:
    """Whether a file holds turns: one on a line, or its fields anywhere, as `jq .` or an export has them. A page only
    shows turns, unless it is one of an export."""
    lacking = [*([] if is_page else [{*_FIELDS, _REPLY}]), *map(set, _EXPORTS)]
    for piece in pieces:
        for fields in lacking:
            fields -= {field for field in fields if field.search(piece)}
        if not all(lacking) or (not is_page and is_turn(piece)):
            return True
    return False


def _without_zeros(pieces: Pieces) -> Iterator[bytes]:
    for number, piece in enumerate(pieces()):
        yield _plain(piece) if number else _plain(piece[2:])


def _plain(text: bytes) -> bytes:
    return text.replace(b"\0", b"")


def _kind(pieces: Pieces, name: str = "", *, packings: int = 0) -> Kind:
    """The kind of a file, or of what a compressed file holds. SQLite's journal of any database (`-wal`) is private: it
    holds the last pages of one."""
    head = _head(pieces(), packed.HEAD_BYTES)
    if head.startswith(_DATABASE):
        return "private" if _NAME in _head(pieces(), _HEAD_BYTES) else ""
    if head.startswith(_JOURNALS) or (_JSON.match(head) and _is_record(pieces())):
        return "private"
    if packed.is_archive(head):
        return _kind_of_members(packed.members(head, pieces()), is_zip=packed.is_zip(head))
    if packed.is_compressed(head) and packings < _MAX_PACKINGS:
        return _kind(lambda: packed.unpacked(pieces()), packings=packings + 1)
    is_part = head and (_PART.search(name) or (_ARCHIVE.search(name) and reading.not_utf_8(head)))
    return "opaque" if packed.is_opaque(head) or packed.is_compressed(head) or is_part else ""


def _kind_of_members(members: Iterable[packed.Member], *, is_zip: bool) -> Kind:
    """The kind of an archive. Of an archive in it the members come, too, if it is of the same form and stands there as
    it is; into any other nobody looks, nor into a database."""
    found: Kind = ""
    for name, head, is_open, is_known in members:
        text = _plain(head[2:]) if head.startswith(_UTF_16) else head
        is_record = _JSON.match(text) and any(
            all(each.search(text) for each in every) for every in (_FIELDS, *_EXPORTS)
        )
        if layout.is_private_packed(name) or is_record:
            return "private"
        is_shut = packed.is_archive(head) and not (is_open and is_zip == packed.is_zip(head)) and not _is_document(head)
        is_packed = packed.is_opaque(head) or packed.is_compressed(head) or head.startswith(_DATABASE)
        is_named = _PART.search(name) or (_ARCHIVE.search(name) and not is_open)
        if is_shut or is_packed or is_named or not is_known:
            found = "opaque"
    return found


def _is_document(head: bytes) -> bool:
    """Whether a zip with this beginning is a document of an office, a book, or a program."""
    return packed.is_zip(head) and any(m.name.startswith(_DOCUMENTS) for m in packed.members(head, [head]))


def _head(pieces: Iterable[bytes], size: int) -> bytes:
    head = b""
    for piece in pieces:
        head += piece
        if len(head) >= size:
            break
    return head[:size]
