"""What a walk over real files finds, and what it leaves alone."""

from __future__ import annotations

import hashlib
import os
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vault_memory.adapters import scan
from vault_memory.adapters.records import put_days
from vault_memory.core import layout

NAMES = st.sampled_from(
    ["a.md", "b.jsonl", ".hidden.md", "c.txt", "memory", "alice", "conversations", "x.md", ".git", "d"]
)
TREES = st.lists(st.lists(NAMES, min_size=1, max_size=5), max_size=15)


def put(root: Path, path: str, text: str = "text") -> Path:
    place = root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")
    return place


@given(tree=TREES)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_names_are_those_of_the_layout(tmp_path_factory: pytest.TempPathFactory, tree: list[list[str]]) -> None:
    """The walk chooses by name without building paths, for speed; here it must agree with `layout.place_of`."""
    root = tmp_path_factory.mktemp("vault")
    for parts in [["memory", "alice", "a.md"], *tree]:
        try:
            put(root, "/".join(parts))
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            continue  # the same name as a file and as a folder
    files = [PurePosixPath(p.relative_to(root).as_posix()) for p in root.rglob("*") if p.is_file()]
    places = {place for path in files if (place := layout.place_of(path))}
    scopes = {place.scope for place in places} | {layout.SHARED}
    found = {layout.Place(scope, source) for scope in scopes for source in scan.scan(root, scope).files}
    assert found == places
    for scope in scopes:
        sources = [place.source for place in places if place.scope == scope]
        assert scan.look(root, scope, sources).files == scan.scan(root, scope).files


def test_links_are_not_followed(tmp_path: Path) -> None:
    """A link may lead out of the vault, to another user, nowhere, or round in a circle."""
    outside = put(tmp_path, "outside/secret.md")
    root = tmp_path / "vault"
    put(root, "memory/bob/USER.md")
    alice = put(root, "memory/alice/USER.md").parent
    (alice / "out.md").symlink_to(outside)
    (alice / "dangling.md").symlink_to(alice / "nothing.md")
    (alice / "folder").symlink_to(outside.parent)
    (alice / "loop").symlink_to(alice)
    (alice / "bob").symlink_to(root / "memory/bob")
    (alice / "picture.png").symlink_to(outside)
    found = scan.scan(root, "alice")
    assert set(found.problems) == {"out.md", "dangling.md", "folder", "loop", "bob"}
    assert set(found.files) == {"USER.md", *found.problems}
    assert "link" in found.problems["loop"]
    assert scan.look(root, "alice", ["folder/secret.md", "bob/USER.md", "out.md"]).problems.keys() == {"out.md"}
    with pytest.raises(OSError):
        scan.read(root, "alice", "out.md", 100)


def test_a_user_whose_folder_is_a_link_has_no_files(tmp_path: Path) -> None:
    put(tmp_path, "memory/bob/USER.md")
    (tmp_path / "memory/alice").symlink_to(tmp_path / "memory/bob")
    assert scan.scan(tmp_path, "alice").files == {}
    assert scan.look(tmp_path, "alice", ["USER.md"]).files == {}


def test_pipes_and_sockets_are_named_and_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # a socket's path must be short
    put(tmp_path, "memory/alice/USER.md")
    os.mkfifo("memory/alice/pipe.md")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("memory/alice/socket.md")
        found = scan.scan(tmp_path, "alice")
    assert set(found.problems) == {"pipe.md", "socket.md"}
    with pytest.raises(OSError, match="regular"):
        scan.read(tmp_path, "alice", "pipe.md", 100)


def test_names_that_are_not_utf8_are_told(tmp_path: Path) -> None:
    folder = put(tmp_path, "memory/alice/USER.md").parent
    with open(os.fsencode(folder) + b"/\xff.md", "wb") as file:
        file.write(b"text")
    found = scan.scan(tmp_path, "alice")
    assert found.problems == {"\ufffd.md": "the file's name is not UTF-8: rename it"}


def test_a_vault_inside_a_vault_is_left_to_itself(tmp_path: Path) -> None:
    put(tmp_path, layout.SETTINGS_FILE)
    put(tmp_path, "notes/mine.md")
    put(tmp_path, f"notes/other/{layout.SETTINGS_FILE}")
    put(tmp_path, "notes/other/deep/theirs.md")
    assert set(scan.scan(tmp_path, layout.SHARED).files) == {"notes/mine.md"}
    assert scan.look(tmp_path, layout.SHARED, ["notes/other/deep/theirs.md", "notes/mine.md"]).files.keys() == {
        "notes/mine.md"
    }


def test_settings_in_the_layouts_own_folders_hide_nothing(tmp_path: Path) -> None:
    """Anybody may have put them there, a remote too: the notes beside them left the index without a word."""
    for folder in ("memory/alice", "memory/alice/notes", "skills", "context/x"):
        put(tmp_path, f"{folder}/{layout.SETTINGS_FILE}")
        put(tmp_path, f"{folder}/a.md")
    assert scan.scan(tmp_path, "alice").files.keys() == {"a.md", "notes/a.md"}
    assert scan.look(tmp_path, "alice", ["a.md", "notes/a.md"]).files.keys() == {"a.md", "notes/a.md"}
    shared = {"skills/a.md", "context/x/a.md"}
    assert scan.scan(tmp_path, layout.SHARED).files.keys() == shared
    assert scan.look(tmp_path, layout.SHARED, shared).files.keys() == shared


def test_folders_deeper_than_the_stack(tmp_path: Path) -> None:
    folder = put(tmp_path, "memory/alice/USER.md").parent
    here = os.open(folder, os.O_RDONLY)
    for _ in range(1200):  # one by one: the whole path would be too long for one call
        os.mkdir("d", dir_fd=here)
        deeper = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = deeper
    os.close(here)
    assert set(scan.scan(tmp_path, "alice").files) == {"USER.md"}
    subprocess.run(["rm", "-r", str(folder)], check=True)  # pytest's own way of tidying up is not up to it


def test_nothing_there_is_nothing_found(tmp_path: Path) -> None:
    assert scan.scan(tmp_path, "alice").files == {}
    found = scan.look(tmp_path, "alice", ["gone.md", "no/such/folder.md", "n" * 300 + ".md", "../../etc/passwd.md"])
    assert found.files == {}
    with pytest.raises(FileNotFoundError):
        scan.read(tmp_path, "alice", "gone.md", 100)


def test_a_closed_folder_is_unseen_and_not_empty() -> None:
    with tempfile.TemporaryDirectory() as name, nobody(Path(name)) as root:
        folder = put(root, "memory/alice/closed/a.md").parent
        folder.chmod(0)
        found = scan.scan(root, "alice")
        folder.chmod(0o700)
    assert found.unseen == ["closed"]
    assert "cannot be listed" in found.problems["closed"]


@contextmanager
def nobody(folder: Path) -> Iterator[Path]:
    """Act as a user whom permissions bind, in a folder that is theirs; for root is not bound by any."""
    me = os.geteuid()
    if me == 0:
        os.chown(folder, 65534, 65534)
        os.seteuid(65534)
    try:
        yield folder
    finally:
        os.seteuid(me)


def test_of_a_big_file_a_part_is_read_and_hashed(tmp_path: Path) -> None:
    data = os.urandom(3_000_000)
    place = put(tmp_path, "memory/alice/big.md")
    place.write_bytes(data)
    content = scan.read(tmp_path, "alice", "big.md", 1000)
    assert content.data == data[:1000]
    assert content.content_hash == hashlib.sha256(data[:1000]).digest()
    assert content.stamp == scan.scan(tmp_path, "alice").files["big.md"]


def test_a_day_in_the_archive_is_there_as_if_it_had_its_file(tmp_path: Path) -> None:
    """A8: under its own name; a day with a file, too, is that file; its stamp changes with its content alone."""
    first, second = date(2025, 10, 1), date(2025, 10, 2)
    archive = tmp_path / "memory/alice/archive/conversations/2025-10.jsonl.gz"
    put(tmp_path, "memory/alice/USER.md")
    put_days(archive, {first: b"a\n", second: b"b\nc\n"}, tmp_path)
    sources = ["conversations/2025-10-01.jsonl", "conversations/2025-10-02.jsonl", "conversations/2025-10-03.jsonl"]
    found = scan.scan(tmp_path, "alice")
    assert set(found.files) == {"USER.md", *sources[:2]} and not found.problems
    assert scan.look(tmp_path, "alice", sources).files == {source: found.files[source] for source in sources[:2]}
    content = scan.read(tmp_path, "alice", sources[1], 3)
    assert (content.data, content.content_hash) == (b"b\nc", hashlib.sha256(b"b\nc").digest())
    assert content.stamp == found.files[sources[1]]
    with pytest.raises(FileNotFoundError):
        scan.read(tmp_path, "alice", sources[2], 9)

    put_days(archive, {date(2025, 10, 9): b"z\n"}, tmp_path)
    assert scan.scan(tmp_path, "alice").files[sources[0]] == found.files[sources[0]], "another day came in"
    day = put(tmp_path, f"memory/alice/{sources[0]}", "the file\n")
    assert scan.read(tmp_path, "alice", sources[0], 99).data == b"the file\n"
    assert scan.scan(tmp_path, "alice").files[sources[0]] == scan.stamp_of(day.stat())


def test_the_days_of_a_damaged_month_are_unseen_and_not_gone(tmp_path: Path) -> None:
    archive = put(tmp_path, "memory/alice/archive/conversations/2025-10.jsonl.gz", "no gzip")
    (archive.parent / "2025-09.jsonl.gz").symlink_to(archive)
    (archive.parent / "notes.jsonl.gz").write_text("no month")
    found = scan.scan(tmp_path, "alice")
    assert "conversations/2025-10-01.jsonl" in found.unseen and "conversations/2025-10-31.jsonl" in found.unseen
    assert found.problems.keys() == {f"archive/conversations/{name}.jsonl.gz" for name in ("2025-09", "2025-10")}
    assert "link" in found.problems["archive/conversations/2025-09.jsonl.gz"]
    assert scan.look(tmp_path, "alice", ["conversations/2025-10-05.jsonl"]).unseen == ["conversations/2025-10-05.jsonl"]
