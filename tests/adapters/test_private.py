"""Private files: never reached through a link, and private from their first byte."""

from __future__ import annotations

import contextlib
import os
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from vault_memory.adapters import files, private
from vault_memory.adapters.index import SqliteIndex
from vault_memory.adapters.log_file import LogFile
from vault_memory.adapters.state import StateFile
from vault_memory.errors import Changed, ForeignFile, IndexUnusable, VaultMemoryError

WAYS: dict[str, Callable[[Path, Path], object]] = {
    "append": lambda root, path: files.append_line(path, b"x", root),
    "write": lambda root, path: files.write_private(path, b"x", root),
    "read": lambda root, path: files.read_private(path, root),
    "lock": lambda root, path: files.lock(path, 1, root).__enter__(),
    "log": lambda root, path: LogFile(path, below=root).write("x"),
    "index": lambda root, path: SqliteIndex(path, root).files(),
    "state": lambda root, path: StateFile(root, "private/here").write({"x": 1}),
}

REPLACING = ("write", "state")
"""These put a new file of ours in the place of the old one, whosever that was."""


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "here").write_text("mine\n")
    (tmp_path / "outside" / "here.json").write_text("mine\n")
    (tmp_path / "outside" / "here").chmod(0o644)
    return tmp_path / "outside"


@pytest.mark.parametrize("way", WAYS)
def test_a_vault_that_was_moved_away_does_not_come_back_as_an_empty_folder(tmp_path: Path, way: str) -> None:
    root = tmp_path / "moved away"
    with contextlib.suppress(OSError, VaultMemoryError):
        WAYS[way](root, root / "private" / "here")
    assert not root.exists()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("planted", ["file", "missing file", "folder"])
def test_no_link_is_followed_and_it_is_named(tmp_path: Path, outside: Path, way: str, planted: str) -> None:
    root = tmp_path / "root"
    top = root / ".vault-memory" if way == "state" else root
    path = top / "private" / ("here.json" if way == "state" else "here")
    top.mkdir(parents=True)
    if planted == "folder":
        path.parent.symlink_to(outside)
    else:
        path.parent.mkdir()
        path.symlink_to(outside / (path.name if planted == "file" else "new"))
    before = {p: (p.read_bytes(), p.stat().st_mode) for p in outside.iterdir()}
    with pytest.raises(IndexUnusable if way == "index" else ForeignFile, match="is a link to .*delete the link"):
        WAYS[way](root, path)
    assert {p: (p.read_bytes(), p.stat().st_mode) for p in outside.iterdir()} == before


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
@pytest.mark.parametrize("way", [way for way in WAYS if way != "read"])
def test_a_new_file_and_its_folders_are_private_from_the_start(tmp_path: Path, way: str, umask: int) -> None:
    before = os.umask(umask)
    try:
        WAYS[way](tmp_path, tmp_path / "private" / "inner" / "here")
    finally:
        os.umask(before)
    made = [path for path in tmp_path.rglob("*") if path.name != ".vault-memory" or way == "state"]
    assert made and all(path.stat().st_mode & 0o077 == 0 for path in made), [oct(p.stat().st_mode) for p in made]


@pytest.mark.parametrize("way", WAYS)
def test_a_file_that_others_can_read_is_made_private(tmp_path: Path, way: str) -> None:
    path = tmp_path / "private" / "here"
    WAYS[way](tmp_path, path)
    made = [p for p in tmp_path.rglob("*") if p.name not in ("private", ".vault-memory", "inner")]
    for p in made:
        p.chmod(0o644)
    WAYS[way](tmp_path, path) if way != "lock" else files.lock(path.with_name("other"), 1, tmp_path).__enter__()
    if way != "lock":
        assert all(p.stat().st_mode & 0o077 == 0 for p in made if p.exists())


def test_what_sqlite_keeps_beside_an_index_is_private_too(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        index = SqliteIndex(tmp_path / "index.db")
        index.mark({})
        assert {p.name for p in tmp_path.iterdir()} == {"index.db", "index.db-wal", "index.db-shm"}
        assert all(p.stat().st_mode & 0o777 == 0o600 for p in tmp_path.iterdir())
    finally:
        os.umask(before)


@pytest.mark.parametrize("suffix", ["-wal", "-shm", "-journal"])
def test_a_link_beside_an_index_is_refused(tmp_path: Path, outside: Path, suffix: str) -> None:
    (tmp_path / f"index.db{suffix}").symlink_to(outside / "here")
    with pytest.raises(IndexUnusable, match=f"index.db{suffix} is a link"):
        SqliteIndex(tmp_path / "index.db").files()
    assert (outside / "here").read_text() == "mine\n"


def test_a_pipe_does_not_stop_the_program(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "here")
    with pytest.raises(ForeignFile, match="is not a file"):
        files.read_private(tmp_path / "here")


@pytest.mark.slow
def test_a_folder_that_becomes_a_link_meanwhile_is_not_followed(tmp_path: Path, outside: Path) -> None:
    """A pull swaps the folder again and again while files are written: each is refused, or lands in the folder."""
    root, parked, way = tmp_path / "root", tmp_path / "parked", tmp_path / "way"
    (root / "private").mkdir(parents=True)
    (root / "private" / "note").write_bytes(b"")
    (outside / "note").write_bytes(b"")
    way.symlink_to(outside)
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            os.rename(root / "private", parked)
            os.rename(way, root / "private")
            os.rename(root / "private", way)
            os.rename(parked, root / "private")

    swapper = threading.Thread(target=swap)
    swapper.start()
    refused, note = 0, b""
    enough, deadline = time.monotonic() + 0.7, time.monotonic() + 60
    try:
        while (now := time.monotonic()) < enough or (not refused and now < deadline):
            try:
                with private.folder_of(root / "private" / "here", root) as folder:
                    os.close(folder.open("here", os.O_WRONLY | os.O_CREAT | os.O_TRUNC))
                files.replace(root / "private" / "note", note + b"x", note, root)
                note += b"x"
            except (ForeignFile, FileNotFoundError):
                refused += 1
            except Changed as error:  # the folder was away, and nothing in its place
                assert error.found is None
    finally:
        stop.set()
        swapper.join()
    assert refused and (outside / "here").read_text() == "mine\n"
    assert stat.S_ISREG((root / "private" / "here").lstat().st_mode)
    assert (root / "private" / "note").read_bytes() == note and (outside / "note").read_bytes() == b""
    assert {path.name for path in outside.iterdir()} == {"here", "here.json", "note"}


WRITES: dict[str, Callable[[Path, Path], object]] = {
    "replace": lambda path, root: files.replace(path, b"ours\n", b"mine\n", root),
    "replace, new": lambda path, root: files.replace(path.with_name("new"), b"ours\n", None, root),
    "remove": lambda path, root: files.remove(path, b"mine\n", root),
    "append": lambda path, root: files.append_line(path, b"ours", path.parent, root),
}


@pytest.mark.parametrize("way", WRITES)
@pytest.mark.parametrize("to", ["outside", "itself"])
def test_a_note_s_folder_that_is_a_link_is_not_written_through(
    tmp_path: Path, outside: Path, way: str, to: str
) -> None:
    root = tmp_path / "root"
    (root / "memory").mkdir(parents=True)
    folder = root / "memory" / "alice"
    folder.symlink_to(outside if to == "outside" else folder)
    before = sorted(path.name for path in outside.iterdir())
    with pytest.raises(ForeignFile, match=f"{folder} is a link to .*: (put|delete)"):
        WRITES[way](folder / "here", root)
    assert (outside / "here").read_text() == "mine\n" and sorted(p.name for p in outside.iterdir()) == before


def test_a_new_connection_leaves_the_locks_of_another_thread(tmp_path: Path) -> None:
    """To close any descriptor of a database gives up all locks that this process holds on it (POSIX)."""
    path = tmp_path / "index.db"
    SqliteIndex(path).files()
    writer = apsw.Connection(str(path))
    writer.execute("BEGIN IMMEDIATE")
    thread = threading.Thread(target=lambda: SqliteIndex(path).files())
    thread.start()
    thread.join()
    other = "import apsw, sys; apsw.Connection(sys.argv[1]).execute('BEGIN IMMEDIATE')"
    done = subprocess.run([sys.executable, "-c", other, str(path)], capture_output=True, text=True, timeout=60)
    assert "BusyError" in done.stderr, "another process must still find the database locked"
    writer.execute("ROLLBACK")


def test_a_file_in_the_place_of_a_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / ".vault-memory").write_text("planted")
    for way in (
        lambda: StateFile(tmp_path, "x").write({"x": 1}),
        lambda: take_lock(tmp_path / ".vault-memory/locks/a"),
    ):
        with pytest.raises(ForeignFile, match=r"\.vault-memory is a file, and a folder belongs there"):
            way()
    (tmp_path / "folder").mkdir()
    with pytest.raises(ForeignFile, match="folder is not a file: delete it"):
        files.append_line(tmp_path / "folder", b"line")


def take_lock(path: Path) -> None:
    with files.lock(path, below=path.parent.parent.parent):
        pass


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root can give a file away")
@pytest.mark.parametrize(
    ("way", "planted"),
    [(way, planted) for way in WAYS for planted in ("file", "folder") if planted == "folder" or way not in REPLACING],
)
def test_what_belongs_to_another_user_is_refused(tmp_path: Path, way: str, planted: str) -> None:
    """Whoever may write the folder above can put an open one of their own in the place of a private one."""
    path = tmp_path / "private" / "here"
    WAYS["state" if way == "state" else "index" if way == "index" else "append"](tmp_path, path)
    folder = path.parent if way != "state" else tmp_path / ".vault-memory" / "private"
    taken = folder if planted == "folder" else path
    taken.chmod(0o777)
    os.chown(taken, 12345, 12345)
    with pytest.raises(IndexUnusable if way == "index" else ForeignFile, match=f"{taken} belongs to the user 12345"):
        WAYS[way](tmp_path, path)
    assert taken.stat().st_mode & 0o777 == 0o777


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root can give a file away")
@pytest.mark.parametrize("suffix", ["-wal", "-shm", "-journal"])
def test_what_another_user_puts_beside_an_index_is_refused(tmp_path: Path, suffix: str) -> None:
    (tmp_path / f"index.db{suffix}").touch()
    os.chown(tmp_path / f"index.db{suffix}", 12345, 12345)
    with pytest.raises(IndexUnusable, match=f"index.db{suffix} belongs to the user 12345"):
        SqliteIndex(tmp_path / "index.db").files()


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root can give a folder away")
def test_root_works_for_the_owner_of_the_vault_and_for_nobody_else(tmp_path: Path) -> None:
    """A user's folder that somebody else made in another's vault: what root puts there is the vault owner's."""
    os.chown(tmp_path, 12345, 12345)
    home = tmp_path / "memory" / "carol"
    home.mkdir(parents=True)
    os.chown(home, 23456, 23456)
    record = home / "conversations" / "2026-01-30.jsonl"
    for _ in range(2):
        files.append_line(record, b"x", below=home, within=tmp_path)
        SqliteIndex(home / "index.db", home, within=tmp_path).mark({})
    made = (record.parent, record, home / "index.db")
    assert [path.stat().st_uid for path in made] == [12345, 12345, 12345]
