"""Conversation records and indexes that were moved or copied out of their place."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import json
import lzma
import sqlite3
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial, reduce
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.exports import test_chatgpt as chatgpt
from tests.core.exports import test_claude as claude
from tests.pace import assert_in_proportion
from vault_memory.core import reading
from vault_memory.core.notes.journal import Reply, Turn
from vault_memory.core.notes.stray import is_stray, kind
from vault_memory.services.admin.backup import backup
from vault_memory.services.turns import record_turn
from vault_memory.services.vault import Vault

packed_text = partial(gzip.compress, mtime=0)  # the same in each process that collects the tests
TURN = Turn("c", "alice", datetime(2026, 1, 30, 14, 5), "tea?", "Green.").line()
REPLY = Reply("c", "alice", "2026-01-30T14:05:00", "Green.", datetime(2026, 1, 30, 14, 6), 0).line()


@pytest.mark.parametrize(
    ("path", "text", "is_record"),
    [
        ("old/alice/conversations/2026-01-30.jsonl", TURN, True),
        ("talks.JSONL", f'{{"conversation_id": "c", "us\n{TURN}\n', True),  # its first line was cut by a kill
        ("talks.jsonl", REPLY, True),
        ("talks.jsonl", '{"timestamp": "2026-01-30T14:05", "user": "tea?", "assistant": "Green."}', True),
        ("pretty.jsonl", json.dumps(json.loads(TURN), indent=2), True),  # as `jq .` writes it
        ("all.json", f"[{TURN}]", True),
        ("saved/.jsonl", f"\ufeff{TURN}\n", True),  # some editors save with a byte order mark
        ("conversations.json", json.dumps([chatgpt.conversation(chatgpt.message("user", "Hi"))]), True),
        ("claude.json", json.dumps([claude.conversation(claude.message("1", "human", "Hi"))], indent=2), True),
        ("mapping.json", '{"mapping": {"properties": {"author": {}, "content_type": {}}}}', False),
        ("memory/alice/conversations/2026-01-30.jsonl", TURN, False),  # private by its place
        ("notes/format.md", f"# The form\n\n{TURN}\n", False),
        ("talk of today.md", TURN, True),  # Obsidian shows no JSONL
        ("log.jsonl", '{"timestamp": "2026-01-30T14:05", "user": "alice", "action": "log-in"}', False),
        ("set.jsonl", '["assistant"]\n{"user": "tea?", "assistant": "Green."}\n\n', False),
    ],
)
def test_a_record_is_known_wherever_it_lies(path: str, text: str, is_record: bool) -> None:
    assert is_stray(PurePosixPath(path), lambda: text.encode().splitlines(keepends=True)) == is_record


@pytest.mark.parametrize("name", ["index 2.db", "Copy of index.db", "alice.sqlite", "index_copy", "index.db (1).old"])
def test_a_copy_of_an_index_is_known_wherever_it_lies(vault: Vault, name: str) -> None:
    record_turn(vault, "alice", "My zebra talk", "ok")
    vault.index("alice").close()
    data = vault.index_path("alice").read_bytes()
    assert is_stray(PurePosixPath("memory/alice", name), lambda: [data]) is (not name.startswith("index.db"))
    assert is_stray(PurePosixPath("old", "x.db-wal"), lambda: [b"\x37\x7f\x06\x82 pages"])


def test_a_database_of_another_program_is_no_index(tmp_path: Path) -> None:
    with contextlib.closing(sqlite3.connect(tmp_path / "x.db")) as database:
        database.execute("CREATE TABLE notes (text)")
    data = (tmp_path / "x.db").read_bytes()
    assert not is_stray(PurePosixPath("x.db"), lambda: io.BytesIO(data))


@pytest.fixture
def told(vault: Vault) -> Vault:
    record_turn(vault, "alice", "My zebra talk", "ok")
    vault.index("alice").close()
    return vault


def test_a_backup_is_known_wherever_it_lies(told: Vault, tmp_path: Path) -> None:
    backup(told, tmp_path / "b.tar.gz")
    data = (tmp_path / "b.tar.gz").read_bytes()
    name = PurePosixPath("Backups/b.tar.gz")
    for written in (data, gzip.decompress(data), packed_text(data), bz2.compress(gzip.decompress(data))):
        assert is_stray(name, partial(reading.lines, written, keep_ends=True))
        assert is_stray(PurePosixPath("b"), partial(list, [written]))
    assert not is_stray(name, lambda: [packed_text(b"notes")])


COMMANDS = [
    ("tar -cf {out} -C {vault} .", "everything, as tar writes it"),
    ("tar -czf {out} -C {above} {name}", "from above"),
    ("tar -cJf {out} -C {vault} memory", "xz"),
    ("tar -cjf {out} -C {vault}/memory alice", "bzip2, of one user"),
    ("tar --format=v7 -cf {out} -C {vault} memory", "no mark of its format"),
    ("tar --format=posix -czf {out} -C {vault} .vault-memory", "state, with headers for times"),
    ("tar -cf {out} -C {vault}/memory/alice conversations", "conversations alone"),
    ("python -m tarfile -c {out} {vault}/memory", "absolute names"),
    ("python -m zipfile -c {out} {vault}", "zip"),
    ("python -m zipfile -c {out} {vault}/.vault-memory/", "state"),
    ("python -m zipfile -c {out} {record}", "one day"),
    ("python -m zipfile -c {out} {vault}/.git", "git's folder"),
    ("git -C {vault} archive -o {out} HEAD", ""),
    ("tar -cf {out} -C {vault} notes vault-memory.toml", ""),
    ("python -m zipfile -c {out} {vault}/notes {vault}/memory/alice/USER.md", ""),
]


@pytest.mark.parametrize(("command", "holds"), COMMANDS)
def test_an_archive_of_what_is_private_is_known(told: Vault, tmp_path: Path, command: str, holds: str) -> None:
    (told.root / "notes" / ("long" * 30)).mkdir(parents=True)
    (told.root / "notes" / ("long" * 30) / ("名" * 50 + ".md")).write_text("a\n", encoding="utf-8")
    record = next((told.root / "memory/alice/conversations").iterdir())
    words = command.format(
        out=tmp_path / "a.zip", vault=told.root, above=told.root.parent, name=told.root.name, record=record
    ).split()
    subprocess.run([sys.executable if words[0] == "python" else words[0], *words[1:]], check=True)
    data = (tmp_path / "a.zip").read_bytes()
    for name in ("old/a.zip", "a", "talks.txt"):
        assert kind(PurePosixPath(name), lambda: reading.lines(data, keep_ends=True)) == ("private" if holds else "")


def test_a_packed_record_or_index_is_known(told: Vault) -> None:
    index = told.index_path("alice").read_bytes()
    for data in (packed_text(f"{TURN}\n".encode()), lzma.compress(index), bz2.compress(f"[{TURN}]".encode())):
        assert is_stray(PurePosixPath("memory/alice/x.bin"), partial(list, [data]))
    assert is_stray(PurePosixPath("talks.bak.old"), lambda: [f"{TURN}\n".encode()])


@pytest.mark.parametrize(
    "data",
    [
        b"7z\xbc\xaf\x27\x1c\0\4",
        b"Rar!\x1a\x07\1\0",
        b"\x28\xb5\x2f\xfd\x04\0zstandard",
        b"\x1f\x8b damaged, damaged, damaged",
        packed_text(tarfile.TarInfo("notes.md").tobuf() + bytes(10_000))[:-9],
        b"\xfd7zXZ\0 damaged",
        reduce(lambda data, _: packed_text(data), range(5), b"notes"),
    ],
)
def test_an_archive_that_cannot_be_looked_into_is_no_notes(data: bytes) -> None:
    assert kind(PurePosixPath("old/a.bin"), lambda: [data]) == "opaque"


CHATGPT = (
    '{"title": "t", "mapping": {"a": {"message": {"author": {"role": "user"}, '
    '"content": {"content_type": "text", "parts": ["I am ill"]}}}}}'
)


def zipped(*members: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in members:
            info = zipfile.ZipInfo("x")
            info.filename, info.compress_type = name, method  # with the slashes that stand there
            archive.writestr(info, data)
    return out.getvalue()


def tarred(name: str, data: bytes) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        info = tarfile.TarInfo(name)
        info.size = len(data)
        archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


SHEET = zipped(("sheet.xml", b"<a/>"))
TAR = tarred("notes.md", b"tea")


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("a.zip", zipped(("b.tar.gz", packed_text(b"a"))), "opaque"),
        ("a.zip", zipped(("b", packed_text(b"a"))), "opaque"),
        ("a.zip", zipped(("b.zip", SHEET)), "opaque"),
        ("a.zip", zipped(("b.tar.zst.old", b"x")), "opaque"),
        (
            "a.zip",
            zipped(("b.zip", zipped(("memory/a/conversations/x.jsonl", b"x"))), method=zipfile.ZIP_STORED),
            "private",
        ),
        ("a.pages", zipped(("Index.zip", SHEET), method=zipfile.ZIP_STORED), ""),
        ("a.docx", zipped(("word/embeddings/Book.xlsx", zipped(("[Content_Types].xml", b"<a/>")))), ""),
        ("a.zip", zipped(("memory", SHEET)), "opaque"),
        ("a.zip", zipped(("memory", TAR)), "opaque"),
        ("a.zip", zipped(("memory", TAR), method=zipfile.ZIP_STORED), "opaque"),
        ("a.tar", tarred("memory.zip", SHEET), "opaque"),
        ("a.tgz", packed_text(tarred("memory", SHEET)), "opaque"),
        ("a.tar", tarred("memory.tar", TAR), ""),
        ("a.tar", tarred("book.epub", zipped(("mimetype", b"application/epub+zip"))), ""),
        ("a.tar", tarred("x.db", b"SQLite format 3\0" + bytes(600)), "opaque"),
        ("a.zip", zipped(("conversations\\2026-01-30.jsonl", b"x")), "private"),  # as programs of Windows write it
        ("a.zip", zipped(("talks.txt", TURN.encode())), "private"),
        ("a.zip", zipped(("2026-01-30.jsonl.xz", lzma.compress(TURN.encode()))), "opaque"),
        ("a.zip", zipped(("2026-01-30.jsonl", b'{"level": "info"}')), ""),
        ("vault.json", zipped(("talks", TURN.encode())), "private"),
        ("2026-01-30.jsonl", packed_text(TURN.encode()), "private"),
        ("api.json", b'{"conversation_id": {}, "user_message": {}, "assistant_message": {}}', ""),
        *((f"m.tar{end}", b'{"a": "the middle of one, which is text"}', "opaque") for end in (".ab", ".partac", "-07")),
        *((f"m.tgz{end}", b"text", "opaque") for end in (".09", ".part-ab", ".part_ab", ".part.ab", ".ab.split")),
        ("build.zsh", b"echo hi", ""),
        *(
            (name, b"text", "")
            for name in ("README.pt.br.md", "a.zip.md", "x.tar.gz.md", "app.bundle.js", "data.bz2.py")
        ),
        ("a.zip", zipped(("b.docx", zipped(("docProps/app.xml", b"<a/>"), ("word/numbering.xml", b"<a/>")))), ""),
        ("a.zip", zipped(("chat.html", b"<html>")), "private"),
        ("a.zip", zipped(("my chats.json", f"[{CHATGPT}]".encode())), "private"),
        ("a.zip", zipped(("user.json", b'{"email": "pat@example.org", "chatgpt_plus_user": true}')), "private"),
        ("a.zip", zipped(("talks.json", TURN.encode("utf-16"))), "private"),
        ("talk of today.md", f"{TURN}\n".encode(), "private"),
        ("talks.txt", f"{TURN}\n".encode("utf-16"), "private"),
        ("talks.jsonl", b"\xfe\xff" + f"{TURN}\n".encode("utf-16-be"), "private"),
        ("notes.txt", "我的筆記\n".encode("utf-16"), ""),
        ("last.zip", b"\x12\0\x99" * 1000, "opaque"),
        ("bike.md", b"AA01 is my bike", ""),
        ("zips.csv", b"07070,Rutherford,NJ\n", ""),
        ("BZh.txt", b"BZh is no word", ""),
        ("new.gz", b"a text of that name", ""),
    ],
)
def test_what_an_archive_holds_and_what_is_none(name: str, data: bytes, expected: str) -> None:
    assert kind(PurePosixPath(name), lambda: reading.lines(data, keep_ends=True)) == expected


def tar_header(size: int, kind_: bytes) -> bytes:
    info = tarfile.TarInfo("a")
    info.size, info.type = size, kind_
    return info.tobuf(tarfile.USTAR_FORMAT)


DIGITS = tar_header(100_000, b"x") + b"1" * 100_000 + bytes(352)
LISTED = b"PK\x01\x02" + b"a" * 24 + b"\xff\xff" + b"a" * 16


@pytest.mark.parametrize(
    "archive",
    [
        lambda size: packed_text(DIGITS * (size // 4)),
        lambda size: b"PK\x03\x04" + b"a" * 26 + LISTED * (100 * size),
        lambda size: b"PK\x03\x04" * (2_000 * size),
    ],
)
def test_a_hostile_archive_takes_a_time_in_proportion_to_its_length(archive: Callable[[int], bytes]) -> None:
    """216 bytes took twelve seconds, a megabyte a hundred, and the server answered nobody meanwhile."""
    assert_in_proportion(lambda size: kind(PurePosixPath("a.zip"), partial(list, [archive(size)])), 160)


def test_a_bomb_is_not_unpacked_without_end() -> None:
    zeros = packed_text(tarfile.TarInfo("notes.md").tobuf()) + packed_text(bytes(50_000_000)) * 12
    assert kind(PurePosixPath("a.gz"), lambda: [zeros]) == "opaque"


def test_other_files_are_read_no_further_than_their_beginning() -> None:
    def picture() -> Iterator[bytes]:
        yield b"\x89PNG\r\n\x1a\n" + bytes(3000)
        raise AssertionError("the rest is not read")

    assert kind(PurePosixPath("a.png"), picture) == ""


@given(
    st.binary(max_size=3000), st.sampled_from([b"", b"PK\x03\x04", b"\x1f\x8b\x08", b"BZh9", b"\xfd7zXZ\0", b"]\0\0"])
)
def test_any_bytes_have_a_kind(data: bytes, head: bytes) -> None:
    assert kind(PurePosixPath("a.bin"), lambda: reading.lines(head + data, keep_ends=True)) in ("", "private", "opaque")


@pytest.mark.parametrize("member", ["conversations.json", "export/conversations-003.json"])
def test_an_export_of_a_chat_service_is_private_in_its_archive_too(member: str) -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("chat.html", "<html>")
        archive.writestr(member, "[]")
    assert is_stray(PurePosixPath("Downloads/export.zip"), lambda: [data.getvalue()])


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("chat.html", f"<html><script>var jsonData = [{CHATGPT}];</script></html>", "private"),
        ("page.html", '<pre>{"conversation_id": "c", "user_message": "hi", "assistant_message": "hi"}</pre>', ""),
        (
            "shared_conversations.json",
            '[{"id": "s", "conversation_id": "x", "title": "t", "is_anonymous": true}]',
            "private",
        ),
        ("user.json", '{"id": "user-a", "email": "pat@example.org", "chatgpt_plus_user": true}', "private"),
        ("memories.json", '[{"conversations_memory": "Pat is ill", "account_uuid": "a"}]', "private"),
        ("users.json", '[{"uuid": "u", "full_name": "Pat", "verified_phone_number": "+1"}]', "private"),
        ("projects.json", '[{"uuid": "p", "docs": [{"uuid": "d", "filename": "x.md", "content": "y"}]}]', "private"),
        ("package.json", '{"name": "x", "author": "y", "parts": []}', ""),
    ],
)
def test_what_lies_beside_the_conversations_of_an_export_is_private_too(name: str, text: str, expected: str) -> None:
    """`chat.html` holds all conversations once more: it was sent."""
    assert kind(PurePosixPath(f"export/{name}"), lambda: [text.encode()]) == expected
