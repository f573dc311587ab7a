"""Files are replaced completely or not at all, and never over words that the writer has not read."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.adapters import files
from vault_memory.errors import Busy, Changed, ForeignFile, Unwritable, UsageError

IS_ROOT = os.name != "nt" and os.geteuid() == 0


def litter(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if files.is_temporary(path.name)]


def test_replace_makes_changes_and_keeps_the_mode(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "USER.md"
    old_mask = os.umask(0o027)
    try:
        files.replace(path, b"one", None)
    finally:
        os.umask(old_mask)
    assert path.read_bytes() == b"one" and stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o604)
    files.replace(path, b"two", b"one")
    assert path.read_bytes() == b"two" and stat.S_IMODE(path.stat().st_mode) == 0o604
    assert litter(tmp_path) == []


def test_a_cached_file_is_opened_again_only_when_its_stamp_differs(tmp_path: Path) -> None:
    path, cache = tmp_path / "USER.md", files.ReadCache()
    assert cache.read(path) is None
    path.write_bytes(b"one")
    first = cache.read(path)
    assert first == b"one" and cache.read(path) is first
    path.write_bytes(b"longer")
    assert cache.read(path) == b"longer"
    os.utime(path, ns=(0, 0))
    assert cache.read(path) == b"longer"
    path.unlink()
    assert cache.read(path) is None


def test_replace_returns_the_stamp_of_what_it_wrote(tmp_path: Path) -> None:
    path = tmp_path / "USER.md"
    for before, after in ((None, b"one"), (b"one", b"two")):
        stamp = files.replace(path, after, before)
        on_disk = files.FileStamp.of(path.stat())
        assert stamp == on_disk._replace(ctime_ns=stamp.ctime_ns)
    assert files.replace(path, b"two", b"two") == files.FileStamp()


@pytest.mark.parametrize(("on_disk", "expected"), [(b"other", b"read"), (None, b"read"), (b"there", None)])
def test_replace_refuses_what_was_not_read(tmp_path: Path, on_disk: bytes | None, expected: bytes | None) -> None:
    path = tmp_path / "a.md"
    if on_disk is not None:
        path.write_bytes(on_disk)
    with pytest.raises(Changed, match=r"a\.md") as caught:
        files.replace(path, b"new", expected)
    assert caught.value.found == on_disk == files.read(path)


def race(path: Path, write: threading.Event, rounds: int, saves: list[bytes]) -> threading.Thread:
    """An editor that saves again and again, atomically."""

    def save() -> None:
        for number in range(rounds):
            text = b"by hand %d" % number
            temp = path.with_name(".editor")
            temp.write_bytes(text)
            saves.append(text)
            os.replace(temp, path)
        write.set()

    return threading.Thread(target=save)


@pytest.mark.slow
def test_a_save_in_the_window_is_never_lost(tmp_path: Path) -> None:
    """Whenever a save lands between check and rename: what is displaced is what was read, or it is put back."""
    path = tmp_path / "USER.md"
    path.write_bytes(b"start")
    done, saves = threading.Event(), []
    person = race(path, done, 3000, saves)
    person.start()
    replaced = [b"start"]
    while not done.is_set():
        seen = files.read(path)
        try:
            files.replace(path, b"ours %d" % len(replaced), seen)
            replaced.append(b"ours %d" % len(replaced))
        except Changed:
            pass
    person.join()
    assert files.read(path) in (saves[-1], replaced[-1])
    if files.read(path) == replaced[-1]:
        with pytest.raises(Changed):
            files.replace(path, b"x", saves[-1])
    assert litter(tmp_path) == []


@given(content=st.binary(max_size=200), before=st.one_of(st.none(), st.binary(max_size=200)))
def test_any_bytes(tmp_path_factory: pytest.TempPathFactory, content: bytes, before: bytes | None) -> None:
    path = tmp_path_factory.mktemp("any") / "f"
    if before is not None:
        path.write_bytes(before)
    files.replace(path, content, before)
    assert files.read(path) == content
    files.remove(path, content)
    assert files.read(path) is None


def test_long_names(tmp_path: Path) -> None:
    path = tmp_path / ("名" * 84 + ".md")
    assert len(os.fsencode(path.name)) == 255
    files.replace(path, b"1", None)
    files.replace(path, b"2", b"1")
    assert files.read(path) == b"2"


def test_remove_refuses_what_was_not_read(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"edited")
    with pytest.raises(Changed):
        files.remove(path, b"read")
    assert files.read(path) == b"edited"
    files.remove(path, b"edited")
    with pytest.raises(Changed):
        files.remove(path, b"edited")


def test_append_line_numbers_and_heals(tmp_path: Path) -> None:
    path = tmp_path / "conversations" / "2026-01-30.jsonl"
    assert [files.append_line(path, line) for line in (b'{"a":1}', b'{"a":2}\n')] == [1, 2]
    with path.open("ab") as torn:
        torn.write(b'{"a":')
    assert files.append_line(path, b'{"a":4}') == 4
    assert path.read_bytes() == b'{"a":1}\n{"a":2}\n{"a":\n{"a":4}\n'
    with pytest.raises(UsageError):
        files.append_line(path, b"a\nb")


def test_lines_are_appended_all_or_none(tmp_path: Path) -> None:
    path = tmp_path / "conversations" / "2026-01-30.jsonl"
    assert files.append_lines(path, [b"1", b"2\n"]) == 1
    with path.open("ab") as torn:
        torn.write(b"3")
    with pytest.raises(UsageError):
        files.append_lines(path, [b"4", b"a\nb"])
    assert files.append_lines(path, [b"4", b"5"]) == 4
    assert path.read_bytes() == b"1\n2\n3\n4\n5\n" and stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("relative", ["../x", "/etc/passwd", "", ".", "a/../../x", "a\0b", "out/x"])
def test_paths_that_lead_out_are_refused(tmp_path: Path, relative: str) -> None:
    root = tmp_path / "vault"
    root.mkdir()
    (root / "out").symlink_to(tmp_path)
    with pytest.raises(UsageError):
        files.contained(root, relative)


def test_paths_inside_are_resolved(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert files.contained(tmp_path, "link/x.md") == tmp_path.resolve() / "real" / "x.md"


def test_lock_excludes_processes_and_threads(tmp_path: Path) -> None:
    path = tmp_path / "locks" / "alice.lock"
    code = (
        "import sys; from pathlib import Path; from vault_memory.adapters import files\n"
        "with files.lock(Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"
    )
    root = str(Path(__file__).parents[2])
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=root
    )
    assert holder.stdout is not None and holder.stdout.readline() == b"held\n"
    with pytest.raises(Busy, match=r"alice\.lock"), files.lock(path, timeout_s=0.05):
        pass
    holder.kill()
    holder.wait()
    with files.lock(path, timeout_s=5):
        refused: list[bool] = []

        def other() -> None:
            try:
                with files.lock(path, timeout_s=0.05):
                    pass
            except Busy:
                refused.append(True)

        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        assert refused == [True]


def test_who_waits_for_a_lock_comes_next(tmp_path: Path) -> None:
    """A holder that took its lock again at once kept another waiting for half a minute."""
    path, taken, is_over, is_held = tmp_path / "lock", list[int](), threading.Event(), threading.Event()

    def hold_again_and_again() -> None:
        while not is_over.is_set():
            with files.lock(path, 10):
                taken.append(1)
                is_held.set()
                is_over.wait(0.02)

    thread = threading.Thread(target=hold_again_and_again)
    thread.start()
    try:
        assert is_held.wait(10)
        for _ in range(5):
            with files.lock(path, 10):
                pass
    finally:
        is_over.set()
        thread.join()
    assert len(taken) <= 25, "it was over a hundred"


def test_the_folder_of_the_locks_may_be_deleted_at_any_time(tmp_path: Path) -> None:
    """Anybody may delete `.vault-memory/`: a writer that takes a lock at that moment still gets it."""
    stop = threading.Event()

    def delete() -> None:
        while not stop.is_set():
            shutil.rmtree(tmp_path / "state", ignore_errors=True)

    deleter = threading.Thread(target=delete)
    deleter.start()
    try:
        for _ in range(300):
            with files.lock(tmp_path / "state" / "locks" / "alice.lock", 5):
                pass
    finally:
        stop.set()
        deleter.join()


def test_temporaries_are_those_of_a_file_or_of_ended_processes(tmp_path: Path) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    dead, living, others = (
        tmp_path / f".USER.md.{ended.pid}-3.vault-memory.tmp",
        tmp_path / f".USER.md.{os.getpid()}-3.vault-memory.tmp",
        tmp_path / f".U.{ended.pid}-3.vault-memory.tmp",
    )
    for temp in (dead, living, others):
        temp.touch()
        assert files.is_temporary(temp.name)
    assert sorted(files.temporaries(tmp_path / "USER.md")) == sorted([dead, living])
    assert sorted(files.abandoned(tmp_path)) == sorted([dead, others])
    assert not files.is_temporary(".USER.md.swp") and not files.is_temporary("a.vault-memory.tmp")


# Bad disks ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 KiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    if not IS_ROOT or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("only root can mount a small disk")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_disk_leaves_the_old_file(small_disk: Path) -> None:
    path, lines = small_disk / "USER.md", small_disk / "a.jsonl"
    files.replace(path, b"old", None)
    files.append_line(lines, b"first")
    with pytest.raises(Unwritable, match="free some space"):
        files.replace(path, b"x" * 200_000, b"old")
    with pytest.raises(Unwritable, match="free some space"):
        files.append_line(lines, b"x" * 200_000)
    with pytest.raises(Unwritable):
        files.replace(small_disk / "new.md", b"x" * 200_000, None)
    assert path.read_bytes() == b"old" and lines.read_bytes() == b"first\n"
    assert sorted(p.name for p in small_disk.iterdir()) == ["USER.md", "a.jsonl"]


def test_a_read_only_folder(small_disk: Path) -> None:
    path = small_disk / "USER.md"
    path.write_bytes(b"old")
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    for act in (
        lambda: files.replace(path, b"new", b"old"),
        lambda: files.remove(path, b"old"),
        lambda: files.append_line(path, b"new"),
    ):
        with pytest.raises(Unwritable, match=r"USER\.md"):
            act()
    assert path.read_bytes() == b"old" and len(list(small_disk.iterdir())) == 1


@pytest.mark.skipif(os.name == "nt", reason="a process that starts another copies no open files there")
def test_a_lock_is_given_back_although_a_starting_process_has_a_copy_of_the_open_file(tmp_path: Path) -> None:
    path, copies = tmp_path / "lock", list[int]()
    with files.lock(path):
        for number in range(256):
            with contextlib.suppress(OSError):
                if os.path.samestat(os.fstat(number), path.stat()):
                    copies.append(os.dup(number))
        assert copies and files.is_locked(path)
    try:
        assert not files.is_locked(path)
        with files.lock(path, 0):
            pass
    finally:
        for number in copies:
            os.close(number)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes have no names here")
def test_a_named_pipe_in_the_place_of_a_lock_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "lock")
    signal.alarm(10)
    try:
        assert not files.is_locked(tmp_path / "lock")
    finally:
        signal.alarm(0)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes have no names here")
@pytest.mark.parametrize("reader", [files.read, lambda path: files.ReadCache().read(path)])
def test_a_named_pipe_in_the_place_of_a_note_is_named_and_not_waited_for(
    tmp_path: Path, reader: Callable[[Path], bytes | None]
) -> None:
    os.mkfifo(tmp_path / "USER.md")
    signal.alarm(10)
    try:
        with pytest.raises(ForeignFile, match="USER.md.*pipe"):
            reader(tmp_path / "USER.md")
    finally:
        signal.alarm(0)


def test_a_name_that_no_file_can_have_is_no_traceback(tmp_path: Path) -> None:
    long, loop = tmp_path / ("f" * 300), tmp_path / "loop"
    assert files.read(long) is None and files.ReadCache().read(long) is None
    with pytest.raises(Unwritable, match="a name that this disk takes"):
        files.replace(long, b"x", None)
    loop.symlink_to(loop)
    with pytest.raises(ForeignFile, match="leads to itself"):
        files.read(loop)
    with pytest.raises(ForeignFile, match="leads to itself"):
        files.replace(loop, b"x", None)
    if sys.version_info < (3, 13):  # later ones resolve it to itself, and it is refused when it is read
        with pytest.raises(UsageError):
            files.contained(tmp_path, "loop/x.md")
    assert [path.name for path in tmp_path.iterdir()] == ["loop"]


def test_a_private_file_is_written_while_somebody_deletes_its_folder(tmp_path: Path) -> None:
    """All of `.vault-memory/` may be deleted at any time; the daemon ended by itself at such a moment."""
    folder, done = tmp_path / "state" / "inner", threading.Event()

    def delete() -> None:
        while not done.wait(0.01):
            shutil.rmtree(tmp_path / "state", ignore_errors=True)

    deleting = threading.Thread(target=delete)
    deleting.start()
    try:
        for number in range(100):
            files.write_private(folder / "x.json", str(number).encode(), tmp_path)
    finally:
        done.set()
        deleting.join()
