"""The watcher on a real file system, and everything that can go wrong there."""

from __future__ import annotations

import logging
import os
import queue
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from types import SimpleNamespace

import pytest

from tests.conftest import wait_until
from vault_memory.adapters.watcher import EVERYTHING, Hint, Watcher


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "vault"
    (root / "memory" / "alice").mkdir(parents=True)
    (root / "memory" / "alice" / "USER.md").write_text("one")
    (root / ".git" / "objects").mkdir(parents=True)
    return root


@pytest.fixture
def watcher(root: Path) -> Iterator[Watcher]:
    watcher = Watcher(root)
    watcher.start()
    yield watcher
    watcher.stop()


def hints_until(watcher: Watcher, *paths: str, seconds: float = 60.0) -> set[str]:
    """The paths of all hints until there was one for each of `paths`; fails after the deadline."""
    missing, hinted = set(paths), set()
    deadline = time.monotonic() + seconds
    while missing:
        try:
            hint = watcher.hints.get(timeout=max(0.01, deadline - time.monotonic()))
        except queue.Empty:
            raise AssertionError(f"no hint for {missing}, only for {hinted}") from None
        hinted.add(hint.path.as_posix())
        missing.discard(hint.path.as_posix())
    return hinted


def fence(watcher: Watcher, root: Path) -> set[str]:
    """The paths of all hints before now: those before the hint of a file that is written last."""
    name = f"memory/fence-{time.monotonic_ns()}.md"
    (root / name).write_text("")
    return {path for path in hints_until(watcher, name) if "fence" not in path}


def test_saves_in_every_style(watcher: Watcher, root: Path) -> None:
    """In place, through a temporary file (Obsidian, VS Code), by renaming the old file away (vim), and deleting."""
    note = root / "memory/alice/USER.md"
    note.write_text("in place")
    hints_until(watcher, "memory/alice/USER.md")
    temporary = note.with_name(".USER.md.tmp")
    temporary.write_text("atomic")
    temporary.replace(note)
    assert hints_until(watcher, "memory/alice/USER.md") == {"memory/alice/USER.md"}
    note.rename(note.with_name("USER.md~"))
    note.write_text("vim")
    note.with_name("USER.md~").unlink()
    assert hints_until(watcher, "memory/alice/USER.md") == {"memory/alice/USER.md"}
    note.rename(note.with_name("other.md"))
    hints_until(watcher, "memory/alice/USER.md", "memory/alice/other.md")
    note.with_name("other.md").unlink()
    hints_until(watcher, "memory/alice/other.md")


def test_temporary_files_give_no_hints(watcher: Watcher, root: Path) -> None:
    """Swap files, lock files, half-synced files, git, and our own index."""
    fence(watcher, root)
    for name in (".USER.md.swp", "4913", "USER.md~", ".syncthing.a.md.tmp", "a.md.icloud", "index.db-wal", "~$a.md"):
        (root / "memory/alice" / name).write_text("x")
    (root / ".git/objects/ab").write_text("x")
    (root / "memory/alice/USER.md").read_text()
    assert fence(watcher, root) == set()


def test_new_folders_are_watched(watcher: Watcher, root: Path) -> None:
    """Deep folders made at once, top-level ones, and ones that are moved in with their content."""
    (root / "memory/alice/a/b/c").mkdir(parents=True)
    (root / "memory/alice/a/b/c/n.md").write_text("x")
    hints_until(watcher, "memory/alice/a/b/c/n.md")
    (root / "notes").mkdir()
    (root / "notes/early.md").write_text("x")
    watcher.repair_watches()
    hints_until(watcher, "notes")
    (root / "notes/late.md").write_text("x")
    hints_until(watcher, "notes/late.md")
    outside = root.parent / "outside"
    outside.mkdir()
    (outside / "m.md").write_text("x")
    outside.rename(root / "notes/moved-in")
    hints_until(watcher, "notes/moved-in")
    (root / "notes/moved-in/m.md").write_text("y")
    hints_until(watcher, "notes/moved-in/m.md")


def test_a_folder_moved_out_gives_a_hint(watcher: Watcher, root: Path) -> None:
    (root / "memory/alice").rename(root.parent / "elsewhere")
    hints_until(watcher, "memory/alice")


def test_a_root_that_is_deleted_and_made_again(watcher: Watcher, root: Path) -> None:
    shutil.rmtree(root)
    watcher.repair_watches()
    (root / "memory/bob").mkdir(parents=True)
    watcher.repair_watches()
    hints_until(watcher, ".", "memory")
    (root / "memory/bob/USER.md").write_text("x")
    hints_until(watcher, "memory/bob/USER.md")


def test_a_dead_thread_is_replaced_and_gives_a_hint_for_everything(watcher: Watcher, root: Path) -> None:
    assert watcher._observer is not None
    watcher._observer.stop()
    watcher._observer.join()
    watcher.repair_watches()
    assert hints_until(watcher, ".") == {"."}
    (root / "memory/alice/USER.md").write_text("two")
    hints_until(watcher, "memory/alice/USER.md")


def test_an_exception_among_the_events_does_not_end_the_watch(watcher: Watcher, root: Path) -> None:
    from watchdog.events import FileModifiedEvent

    watcher._events.on_any_event(FileModifiedEvent(src_path=object()))  # type: ignore[arg-type]
    assert watcher.hints.get_nowait() == EVERYTHING
    (root / "memory/alice/USER.md").write_text("two")
    hints_until(watcher, "memory/alice/USER.md")


def test_names_of_every_kind(watcher: Watcher, root: Path) -> None:
    """Chinese, emoji, a line break, bytes that are not UTF-8, and 255 bytes."""
    names = ["主題 😀.md", "line\nbreak.md", "n" * 252 + ".md"]
    for name in names:
        (root / "memory/alice" / name).write_text("x")
    with open(os.fsencode(root) + b"/memory/alice/\xff.md", "w") as file:
        file.write("x")
    hints_until(watcher, *[f"memory/alice/{name}" for name in [*names, "\udcff.md"]])


@pytest.mark.slow
def test_an_overflow_of_the_queue_gives_a_hint_for_everything(watcher: Watcher, root: Path) -> None:
    """More events than the kernel keeps, while the thread that reads them waits."""
    script = (
        "import os\n"
        "for n in range(300): open(str(n), 'w').close()\n"
        "for n in range(300, 30000): os.utime(str(n % 300))\n"
    )
    inotify = watcher._observer._inotify_fd  # type: ignore[union-attr]
    with inotify._lock:  # as on a machine that is busy with something else
        subprocess.run([sys.executable, "-c", script], cwd=root / "memory/alice", check=True)
    hints_until(watcher, ".")
    watcher.repair_watches()
    hints_until(watcher, ".")
    (root / "memory/alice/after.md").write_text("x")
    hints_until(watcher, "memory/alice/after.md")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.skipif(sys.platform != "linux", reason="another thread reads elsewhere")
def test_the_death_of_the_thread_that_reads_is_noticed(watcher: Watcher, root: Path) -> None:
    """Watchdog reports neither its death nor any event from then on."""
    reader = watcher._observer._inotify_fd  # type: ignore[union-attr]
    fatal = SimpleNamespace(on_event=lambda event: 1 / 0, on_watch_deleted=lambda watch: None)
    reader.add_callback(os.fsencode(root / "memory"), 0x100, fatal, 1)
    (root / "memory" / "new.md").write_text("x")
    reader.join(60)
    assert not reader.is_alive()
    watcher.repair_watches()
    hints_until(watcher, ".")
    (root / "memory/alice/after.md").write_text("x")
    hints_until(watcher, "memory/alice/after.md")


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_folders_made_in_new_folders_are_watched(watcher: Watcher, root: Path) -> None:
    """watchdog sets a watch twice there and warns: nothing is lost, and the thread that reads goes on."""
    folders = [f"memory/alice/{n}/{m}" for n in range(100) for m in range(5)]
    for folder in folders:
        (root / folder).parent.mkdir(exist_ok=True)
        (root / folder).mkdir()
    fence(watcher, root)
    for folder in folders:
        (root / folder / "late.md").write_text("x")
    hints_until(watcher, *[f"{folder}/late.md" for folder in folders])


def test_a_warning_in_watchdogs_log_gives_a_hint_for_everything(watcher: Watcher, root: Path) -> None:
    logging.getLogger("watchdog.observers.inotify_c").warning("Inotify queue overflowed")
    assert watcher.hints.get(timeout=60) == EVERYTHING


def test_folders_without_a_watch_are_noticed(watcher: Watcher, root: Path) -> None:
    """As when `max_user_watches` is reached, which watchdog does not report."""
    assert watcher.polling == ""
    (root / "unwatched").mkdir()
    watcher.check_coverage()
    assert "unwatched" in watcher.polling
    assert "max_user_watches" in watcher.polling
    watcher.repair_watches()
    watcher.check_coverage()
    assert watcher.polling == ""


def test_stops_at_once_and_may_start_again(watcher: Watcher, root: Path) -> None:
    running = {*threading.enumerate()}
    watcher.stop()
    wait_until(lambda: running - {*threading.enumerate()}, "its threads have ended")
    watcher.start()
    (root / "memory/alice/USER.md").write_text("two")
    assert watcher.hints.get(timeout=60) == Hint(PurePosixPath("memory/alice/USER.md"))
