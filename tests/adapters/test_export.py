"""A file of JSON, or the archive that it came in: by names, as a stream, within bounds."""

from __future__ import annotations

import contextlib
import io
import os
import random
import struct
import zipfile
from pathlib import Path

import pytest

from vault_memory.adapters.archive.export import opened_parts
from vault_memory.core.exports import Damaged
from vault_memory.core.layout import is_export
from vault_memory.errors import ForeignFile, TooLarge, UsageError

DATA = b"[" + b'{"mapping": {}}, ' * 5_000 + b"{}]"


def archive(path: Path, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(name, data)
    return path


def read(path: Path) -> dict[str, bytes]:
    with opened_parts(path, is_export) as parts:
        return {part.name: b"".join(part.pieces) for part in parts}


def test_a_file_is_read_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "any name.json"
    path.write_bytes(DATA)
    with opened_parts(path, is_export) as (part,):
        assert (part.name, part.size, b"".join(part.pieces)) == (path.name, len(DATA), DATA)


def test_an_archive_is_read_by_the_names_in_it(tmp_path: Path) -> None:
    names = {
        "export/conversations-001.json": b"[2]",
        "export/conversations-000.json": b"[1]",
        "__MACOSX/export/conversations-000.json": b"junk",
        "export/._conversations-000.json": b"junk",
        "shared_conversations.json": b"[]",
        "chat.html": b"<html>",
        "../conversations.json": b"[0]",
        "windows\\conversations.json": b"[3]",
    }
    found = read(archive(tmp_path / "a.zip", **names))
    assert list(found.values()) == [b"[0]", b"[1]", b"[2]", b"[3]"], "in the order of their names"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.zip"], "nothing is unpacked"


def test_what_cannot_be_opened_says_what_to_do(tmp_path: Path) -> None:
    cut = archive(tmp_path / "cut.zip", **{"conversations.json": DATA})
    cut.write_bytes(cut.read_bytes()[:-30])
    other = archive(tmp_path / "other.zip", **{"photo.png": b"x"})
    locked = archive(tmp_path / "locked.zip", **{"conversations.json": DATA})
    data = bytearray(locked.read_bytes())
    data[data.rindex(b"PK\x01\x02") + 8] |= 1
    locked.write_bytes(data)
    for path, words in (
        (tmp_path / "none.json", "cannot read"),
        (tmp_path, "is a folder"),
        (cut, "cut or damaged"),
        (other, "holds no conversations.json"),
        (locked, "encrypted"),
    ):
        with pytest.raises(UsageError, match=words):
            read(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes have no names here")
def test_a_pipe_is_no_export(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ForeignFile):
        read(tmp_path / "pipe")


def test_a_member_that_is_damaged_is_read_up_to_there(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("conversations.json", DATA * 40)
    data = path.read_bytes()
    path.write_bytes(data.replace(b"mapping", b"MAPPING", 1))
    found = b""
    with opened_parts(path, is_export) as (part,), pytest.raises(Damaged, match="archive is damaged"):
        for piece in part.pieces:
            found += piece
    assert len(found) > len(DATA)


def test_no_damage_of_an_archive_is_an_error_of_another_kind(tmp_path: Path) -> None:
    seeded, path = random.Random(1), archive(tmp_path / "a.zip", **{"conversations.json": DATA, "user.json": b"{}"})
    whole = path.read_bytes()
    for _ in range(400):
        data = bytearray(whole)
        for _ in range(seeded.randint(1, 4)):
            data[seeded.choice([seeded.randrange(len(data)), -seeded.randrange(1, 180)])] = seeded.randrange(256)
        path.write_bytes(data)
        with contextlib.suppress(UsageError, Damaged):
            read(path)


def test_a_list_of_members_without_end_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    size = 200_000_000
    with path.open("wb") as file:
        file.write(b"PK\x03\x04")
        file.truncate(size + 4)
        file.seek(0, io.SEEK_END)
        file.write(struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0xFFF0, 0xFFF0, size, 4, 0))
    with pytest.raises(TooLarge, match="list of its files"):
        read(path)


def test_an_export_that_is_larger_than_anybodys_ends(tmp_path: Path) -> None:
    path = archive(tmp_path / "bomb.zip", **{"conversations.json": b" " * (9 << 20)})
    with opened_parts(path, is_export, 3 << 20) as (part,), pytest.raises(Damaged, match="no more is read"):
        assert sum(map(len, part.pieces)) == 0
