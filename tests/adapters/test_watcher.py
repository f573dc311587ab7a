"""The watcher on a real file system, and the traps it must not fall into."""

from __future__ import annotations

import logging
import os
import queue
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from types import SimpleNamespace

import pytest

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


def heard(watcher: Watcher, *paths: str, seconds: float = 5.0) -> set[str]:
    """All that is hinted at until each of `paths` was; fails after the deadline."""
    missing, found = set(paths), set()
    deadline = time.monotonic() + seconds
    while missing:
        try:
            hint = watcher.hints.get(timeout=max(0.01, deadline - time.monotonic()))
        except queue.Empty:
            raise AssertionError(f"never heard of {missing}, only of {found}") from None
        found.add(hint.path.as_posix())
        missing.discard(hint.path.as_posix())
    return found


def fence(watcher: Watcher, root: Path) -> set[str]:
    """Everything hinted at before now: a file written last, and all that came before it."""
    name = f"memory/fence-{time.monotonic_ns()}.md"
    (root / name).write_text("")
    return {path for path in heard(watcher, name) if "fence" not in path}


def test_saves_in_every_style(watcher: Watcher, root: Path) -> None:
    """In place, by way of a temporary file (Obsidian, VS Code), by renaming the old one away (vim), and deleting."""
    note = root / "memory/alice/USER.md"
    note.write_text("in place")
    heard(watcher, "memory/alice/USER.md")
    temporary = note.with_name(".USER.md.tmp")
    temporary.write_text("atomic")
    temporary.replace(note)
    assert heard(watcher, "memory/alice/USER.md") == {"memory/alice/USER.md"}
    note.rename(note.with_name("USER.md~"))
    note.write_text("vim")
    note.with_name("USER.md~").unlink()
    assert heard(watcher, "memory/alice/USER.md") == {"memory/alice/USER.md"}
    note.rename(note.with_name("other.md"))
    heard(watcher, "memory/alice/USER.md", "memory/alice/other.md")
    note.with_name("other.md").unlink()
    heard(watcher, "memory/alice/other.md")


def test_what_comes_and_goes_is_passed_over(watcher: Watcher, root: Path) -> None:
    """Swap files, lock files, half-synced files, git, and our own index."""
    fence(watcher, root)
    for name in (".USER.md.swp", "4913", "USER.md~", ".syncthing.a.md.tmp", "a.md.icloud", "index.db-wal", "~$a.md"):
        (root / "memory/alice" / name).write_text("x")
    (root / ".git/objects/ab").write_text("x")
    (root / "memory/alice/USER.md").read_text()
    assert fence(watcher, root) == set()


def test_new_folders_are_watched(watcher: Watcher, root: Path) -> None:
    """Deep ones made at once, ones at the top, and ones that are moved in with their content."""
    (root / "memory/alice/a/b/c").mkdir(parents=True)
    (root / "memory/alice/a/b/c/n.md").write_text("x")
    heard(watcher, "memory/alice/a/b/c/n.md")
    (root / "notes").mkdir()
    (root / "notes/early.md").write_text("x")
    watcher.tend()
    heard(watcher, "notes")
    (root / "notes/late.md").write_text("x")
    heard(watcher, "notes/late.md")
    outside = root.parent / "outside"
    outside.mkdir()
    (outside / "m.md").write_text("x")
    outside.rename(root / "notes/moved-in")
    heard(watcher, "notes/moved-in")
    (root / "notes/moved-in/m.md").write_text("y")
    heard(watcher, "notes/moved-in/m.md")


def test_a_folder_moved_out_is_hinted_at(watcher: Watcher, root: Path) -> None:
    (root / "memory/alice").rename(root.parent / "elsewhere")
    heard(watcher, "memory/alice")


def test_a_root_that_is_deleted_and_made_anew(watcher: Watcher, root: Path) -> None:
    shutil.rmtree(root)
    watcher.tend()
    (root / "memory/bob").mkdir(parents=True)
    watcher.tend()
    heard(watcher, ".", "memory")
    (root / "memory/bob/USER.md").write_text("x")
    heard(watcher, "memory/bob/USER.md")


def test_a_dead_thread_is_replaced_and_everything_looked_at(watcher: Watcher, root: Path) -> None:
    assert watcher._observer is not None
    watcher._observer.stop()
    watcher._observer.join()
    watcher.tend()
    assert heard(watcher, ".") == {"."}
    (root / "memory/alice/USER.md").write_text("two")
    heard(watcher, "memory/alice/USER.md")


def test_an_exception_among_the_events_does_not_end_the_watch(watcher: Watcher, root: Path) -> None:
    from watchdog.events import FileModifiedEvent

    watcher._events.on_any_event(FileModifiedEvent(src_path=object()))  # type: ignore[arg-type]
    assert watcher.hints.get_nowait() == EVERYTHING
    (root / "memory/alice/USER.md").write_text("two")
    heard(watcher, "memory/alice/USER.md")


def test_names_of_every_kind(watcher: Watcher, root: Path) -> None:
    """Chinese, emoji, a line break, bytes that are not UTF-8, and 255 bytes."""
    names = ["主題 😀.md", "line\nbreak.md", "n" * 252 + ".md"]
    for name in names:
        (root / "memory/alice" / name).write_text("x")
    with open(os.fsencode(root) + b"/memory/alice/\xff.md", "w") as file:
        file.write("x")
    heard(watcher, *[f"memory/alice/{name}" for name in [*names, "\udcff.md"]])


@pytest.mark.slow
def test_an_overflow_of_the_queue_hints_at_everything(watcher: Watcher, root: Path) -> None:
    """More events than the kernel keeps, while the thread that reads them is held up."""
    script = "import os\nfor n in range(30000): os.utime(str(n % 300), dir_fd=None) if n >= 300 else open(str(n), 'w').close()"
    inotify = watcher._observer._inotify_fd  # type: ignore[union-attr]
    with inotify._lock:  # as a machine does that is busy with something else
        subprocess.run([sys.executable, "-c", script], cwd=root / "memory/alice", check=True)
    heard(watcher, ".", seconds=20)
    watcher.tend()
    heard(watcher, ".")
    (root / "memory/alice/after.md").write_text("x")
    heard(watcher, "memory/alice/after.md")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.skipif(sys.platform != "linux", reason="another thread reads elsewhere")
def test_the_death_of_the_thread_that_reads_is_noticed(watcher: Watcher, root: Path) -> None:
    """Whatever ends it, watchdog goes on without a word and without an event."""
    reader = watcher._observer._inotify_fd  # type: ignore[union-attr]
    fatal = SimpleNamespace(on_event=lambda event: 1 / 0, on_watch_deleted=lambda watch: None)
    reader.add_callback(os.fsencode(root / "memory"), 0x100, fatal, 1)
    (root / "memory" / "new.md").write_text("x")
    reader.join(5)
    assert not reader.is_alive()
    watcher.tend()
    heard(watcher, ".")
    (root / "memory/alice/after.md").write_text("x")
    heard(watcher, "memory/alice/after.md")


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_folders_made_in_folders_just_made_are_watched_once_and_well(watcher: Watcher, root: Path) -> None:
    """watchdog sets a watch twice there and warns of it: nothing is lost, and the thread that reads goes on."""
    folders = [f"memory/alice/{n}/{m}" for n in range(100) for m in range(5)]
    for folder in folders:
        (root / folder).parent.mkdir(exist_ok=True)
        (root / folder).mkdir()
    fence(watcher, root)
    for folder in folders:
        (root / folder / "late.md").write_text("x")
    heard(watcher, *[f"{folder}/late.md" for folder in folders])


def test_the_log_of_watchdog_is_listened_to(watcher: Watcher, root: Path) -> None:
    logging.getLogger("watchdog.observers.inotify_c").warning("Inotify queue overflowed")
    assert watcher.hints.get(timeout=1) == EVERYTHING


def test_folders_without_a_watch_are_noticed(watcher: Watcher, root: Path) -> None:
    """As when `max_user_watches` is reached: watchdog says nothing about it."""
    assert watcher.polling == ""
    (root / "unwatched").mkdir()
    watcher.audit()
    assert "unwatched" in watcher.polling
    assert "max_user_watches" in watcher.polling
    watcher.tend()
    watcher.audit()
    assert watcher.polling == ""


def test_stops_at_once_and_may_start_again(watcher: Watcher, root: Path) -> None:
    began = time.monotonic()
    watcher.stop()
    assert time.monotonic() - began < 1
    watcher.start()
    (root / "memory/alice/USER.md").write_text("two")
    assert watcher.hints.get(timeout=5) == Hint(PurePosixPath("memory/alice/USER.md"))
