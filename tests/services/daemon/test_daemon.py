"""The daemon over a real vault: real threads and processes, real git, a real watcher."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from hashlib import sha256
from pathlib import Path, PurePosixPath

import pytest

from tests.conftest import wait_until
from tests.vaults import copied, write
from vault_memory.errors import Busy
from vault_memory.services.admin import status
from vault_memory.services.daemon.daemon import Daemon
from vault_memory.services.daemon.daemon_record import is_running, lock_path, read_record, write_record
from vault_memory.services.daemon.event_log import Event
from vault_memory.services.erasing import erase, of_texts
from vault_memory.services.indexing.reconcile import reconcile
from vault_memory.services.memories import remember
from vault_memory.services.turns import record_turn
from vault_memory.services.vault import CHAT_WAIT_S, Vault, open_vault

pytestmark = pytest.mark.slow

PROFILE = "# 使用者資料\n\n## 使用偏好\n- 主題偏好：{theme}\n"


@pytest.fixture
def vault(tmp_path: Path, new_vault: Path) -> Vault:
    """A vault with short quiet times and one user."""
    root = copied(new_vault, tmp_path / "vault")
    vault = open_vault(root, watch_settle_ms=30, watch_commit_quiet_ms=150)
    write(vault, "alice", "USER.md", PROFILE.format(theme="auto"))
    return vault


class Running:
    """A daemon in a thread of its own, and its events."""

    def __init__(self, vault: Vault, **times: float) -> None:
        self.events: list[Event] = []
        self.daemon = Daemon(vault, self.events.append, **times)
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.daemon.run, args=(self.stop,))

    def kinds(self, where: str = "") -> set[str]:
        return {event.kind for event in self.events if where in event.where}


@contextmanager
def running(vault: Vault, **times: float) -> Iterator[Running]:
    run = Running(vault, **times)
    run.thread.start()
    try:
        assert run.daemon.ready.wait(60)
        yield run
    finally:
        run.stop.set()
        run.thread.join(60)
        assert not run.thread.is_alive(), "it ends when it is told to"


def indexed(vault: Vault, scope: str = "alice") -> dict[str, bytes]:
    return {source: state.content_hash for source, state in vault.index(scope).files().items()}


def is_current(vault: Vault) -> bool:
    """Whether the index knows alice's files by the very bytes they have."""
    folder = vault.root / "memory" / "alice"
    on_disk = {p.relative_to(folder).as_posix(): sha256(p.read_bytes()).digest() for p in folder.rglob("*.md")}
    return indexed(vault) == on_disk


def log(vault: Vault, *words: str) -> list[str]:
    command = ["git", "-C", str(vault.root), "log", *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def test_catches_up_with_what_happened_while_it_was_off(vault: Vault) -> None:
    """Edits, new files and deletions; indexed, and committed as the person's."""
    write(vault, "alice", "old.md", "old\n")
    reconcile(vault, "alice")
    vault.path("alice", "old.md").unlink()
    write(vault, "alice", "new.md", "new\n")
    with running(vault):
        assert set(indexed(vault)) == {"USER.md", "new.md"}
        assert "Home.md" in indexed(vault, "")
        wait_until(lambda: log(vault, "--", "memory/alice/new.md"), "the commit")


def test_an_event_in_the_log_holds_nothing_that_a_terminal_obeys() -> None:
    event = Event(datetime(2026, 1, 30), "held", "\x9b31m\u202e中", "\x7f\n")
    assert json.loads(event.json())["where"] == event.where and "中" in event.json()
    assert not re.search("[\x00-\x1f\x7f-\x9f\u202e]", event.json())


def test_no_event_shows_a_secret_in_the_name_of_a_file(vault: Vault) -> None:
    key = "gh" + "p_" + "aB3dE6gH9jK2mN5pQ8sT1vW4xZ7cF0hJ3lM6"
    names = [f"my_{key}.md", f"{key}/a.md", "password-Tr0ub4dor99.md"]
    write(vault, "alice", names[0], "---\nbroken: [\n---\nx\n")
    with running(vault) as run:
        write(vault, "alice", names[1], "x\n")
        write(vault, "alice", names[2], "x\n")
        wait_until(lambda: indexed(vault).keys() >= set(names), "the files are indexed")
        wait_until(lambda: len([event for event in run.events if event.kind == "withheld"]) == 3, "all are withheld")
        wait_until(lambda: "indexed" in run.kinds("alice"), "the event")
    told = "".join(event.json() for event in run.events) + (vault.root / ".vault-memory/logs/daemon.jsonl").read_text()
    assert "[redacted: " in told and key not in told and "Tr0ub4dor99" not in told


def test_an_edit_is_found_and_committed_as_the_persons(vault: Vault) -> None:
    subprocess.run(["git", "-C", str(vault.root), "config", "user.name", "Alice Chen"], check=True)
    subprocess.run(["git", "-C", str(vault.root), "config", "user.email", "alice@example.org"], check=True)
    with running(vault) as run:
        wait_until(lambda: "committed" in run.kinds("alice") or log(vault, "--grep=USER.md"), "the first commit")
        before = indexed(vault)["USER.md"]
        write(vault, "alice", "USER.md", PROFILE.format(theme="dark"))
        wait_until(lambda: indexed(vault)["USER.md"] != before, "the edit is indexed")
        wait_until(lambda: log(vault, "--grep=Vault-Key: theme", "--format=%an <%ae>"), "the edit is committed")
    assert log(vault, "--grep=Vault-Key: theme", "--format=%an <%ae>") == ["Alice Chen <alice@example.org>"]
    assert log(vault, "--format=%an", "-1", "--author=vault-memory") == ["vault-memory"]


@pytest.mark.parametrize("style", ["in place", "atomic", "vim", "rename", "delete", "new folder"])
def test_every_style_of_edit_is_noticed(vault: Vault, style: str) -> None:
    note = write(vault, "alice", "note.md", "before\n")
    with running(vault):
        before = indexed(vault)
        if style == "in place":
            note.write_text("after\n")
        elif style == "atomic":
            note.with_name(".note.md.tmp").write_text("after\n")
            note.with_name(".note.md.tmp").replace(note)
        elif style == "vim":
            note.rename(note.with_name("note.md~"))
            note.write_text("after\n")
            note.with_name("note.md~").unlink()
        elif style == "rename":
            note.rename(note.with_name("other.md"))
        elif style == "delete":
            note.unlink()
        else:
            write(vault, "alice", "deep/er/note.md", "new\n")
        expected = {p.relative_to(note.parent).as_posix() for p in note.parent.rglob("*.md")}
        wait_until(lambda: indexed(vault) != before and set(indexed(vault)) == expected, f"{style} is indexed")


def test_shared_notes_are_followed_and_committed_too(vault: Vault) -> None:
    with running(vault):
        write(vault, "", "projects/plan.md", "a plan\n")
        wait_until(lambda: "projects/plan.md" in indexed(vault, ""), "a shared note is indexed")
        wait_until(lambda: log(vault, "--", "projects/plan.md"), "and committed")
    assert "projects/plan.md" not in indexed(vault)


def test_a_chat_goes_first_but_not_for_ever(vault: Vault) -> None:
    """Indexing, committing and embedding take the interpreter, and a person waits for the chat."""
    with running(vault) as run:
        wait_until(lambda: "committed" in run.kinds("alice"), "it has caught up")
        run.events.clear()
        vault.chats.begin()
        began = time.monotonic()
        write(vault, "alice", "notes/tea.md", "綠茶\n")
        wait_until(lambda: "indexed" in run.kinds("alice"), "the edit is indexed")
        assert time.monotonic() - began >= CHAT_WAIT_S
        vault.chats.end()
        wait_until(lambda: "committed" in run.kinds("alice"), "the edit is committed")


def test_a_file_written_all_the_time_is_one_commit_when_it_rests(vault: Vault) -> None:
    with running(vault):
        wait_until(lambda: log(vault, "--", "memory/alice/USER.md"), "the first commit")
        stop = time.monotonic() + 1
        while time.monotonic() < stop:
            write(vault, "alice", "draft.md", f"{time.monotonic()}\n")
        wait_until(lambda: log(vault, "--", "memory/alice/draft.md"), "the commit")
        last = vault.path("alice", "draft.md").read_bytes()
        shown = subprocess.run(
            ["git", "-C", str(vault.root), "show", "HEAD:memory/alice/draft.md"], capture_output=True, check=True
        ).stdout
    assert shown == last
    assert len(log(vault, "--format=%h", "--", "memory/alice/draft.md")) == 1


@pytest.mark.slow
def test_a_checkout_of_many_files_is_found_whole(vault: Vault) -> None:
    with running(vault):
        for n in range(1500):
            write(vault, "alice", f"many/{n % 10}/{n}.md", f"note {n}\n")
        wait_until(lambda: len(indexed(vault)) == 1501, "all are indexed", 60)
        for n in range(0, 1500, 2):
            write(vault, "alice", f"many/{n % 10}/{n}.md", f"changed {n}\n")
        (vault.root / ".vault-memory" / "rescan").touch()
        wait_until(lambda: is_current(vault), "all changes are indexed", 60)
        wait_until(lambda: not read_record(vault.root).problems, "nothing is wrong")  # type: ignore[union-attr]


def test_a_git_hook_can_request_a_scan(vault: Vault) -> None:
    """Edits that the watcher cannot see (here: written through a second name) are found when a hook requests a scan."""
    note = write(vault, "alice", "note.md", "before\n")
    outside = vault.root.parent / "second-name.md"
    os.link(note, outside)
    with running(vault):
        before = indexed(vault)["note.md"]
        outside.write_text("after\n")
        (vault.root / ".vault-memory" / "rescan").touch()
        wait_until(lambda: indexed(vault)["note.md"] != before, "the edit is found")
        assert not (vault.root / ".vault-memory" / "rescan").exists()


def test_what_the_watcher_cannot_see_is_found_by_the_next_scan(vault: Vault) -> None:
    note = write(vault, "alice", "note.md", "before\n")
    outside = vault.root.parent / "second-name.md"
    os.link(note, outside)
    with running(vault, full_scan_s=0.2):
        before = indexed(vault)["note.md"]
        outside.write_text("after\n")
        wait_until(lambda: indexed(vault)["note.md"] != before, "the edit is found")


def test_text_that_another_process_indexed_gets_its_vectors(vault: Vault) -> None:
    """As after a turn in somebody's proxy: the daemon finds nothing to index there, and computes the vectors."""
    with running(vault):
        write(vault, "alice", "note.md", "text\n")
        reconcile(vault, "alice")
        space = vault.embedder.space
        wait_until(lambda: vault.index("alice").stats().pending.get(space) == 0, "every passage has its vector")


def test_a_mass_deletion_is_neither_indexed_nor_committed_before_it_is_confirmed(vault: Vault) -> None:
    for n in range(20):
        write(vault, "alice", f"notes/{n}.md", f"note {n}\n")
    with running(vault, full_scan_s=0.2) as run:
        wait_until(lambda: log(vault, "--", "memory/alice/notes/19.md"), "the notes are committed")
        shutil.rmtree(vault.path("alice", "notes"))
        wait_until(lambda: "held" in run.kinds("alice"), "it is held")
        write(vault, "bob", "later.md", "hints before this one are dealt with before it\n")
        wait_until(lambda: log(vault, "--", "memory/bob/later.md"), "what came after it is indexed and committed")
        assert len(indexed(vault)) == 21
        assert not log(vault, "--diff-filter=D", "--format=%h")
        record = read_record(vault.root)
        assert record is not None
        assert record.held == {"memory/alice": 20}
        write(vault, "alice", "mine.md", "an edit of the same user's does not wait with it\n")
        wait_until(lambda: log(vault, "--", "memory/alice/mine.md"), "the edit is committed")
        assert not log(vault, "--diff-filter=D", "--format=%h")
        assert len(reconcile(vault, "alice", confirm_deletions=True).removed) == 20
        wait_until(lambda: log(vault, "--diff-filter=D", "--format=%h"), "the deletion is committed")
        assert indexed(vault).keys() == {"USER.md", "mine.md"}


def test_a_second_daemon_is_refused_with_the_first_ones_process(vault: Vault) -> None:
    with running(vault):
        assert is_running(vault.root)
        with pytest.raises(Busy, match=str(os.getpid())):
            Daemon(vault).run(threading.Event())
        record = read_record(vault.root)
        assert record is not None
        assert (record.pid, record.state, record.problems) == (os.getpid(), "watching", {})
    assert not is_running(vault.root)
    record = read_record(vault.root)
    assert record is not None
    assert record.state == "stopped"


def test_a_damaged_record_is_none(vault: Vault) -> None:
    with running(vault):
        pass
    (vault.root / ".vault-memory" / "daemon.json").write_text("{")
    assert read_record(vault.root) is None
    assert not is_running(vault.root)


def test_an_error_in_one_scope_is_reported_and_stops_no_other(vault: Vault) -> None:
    write(vault, "bob", "USER.md", PROFILE.format(theme="dark"))
    bob = vault.index_path("bob")
    bob.mkdir()  # nothing can be opened there
    with running(vault) as run:
        assert set(indexed(vault)) == {"USER.md"}
        record = read_record(vault.root)
        assert record is not None
        assert "index.db" in record.problems["memory/bob"]
        write(vault, "alice", "note.md", "text\n")
        wait_until(lambda: "note.md" in indexed(vault), "the other's edit is indexed")
        bob.rmdir()
        wait_until(lambda: "well" in run.kinds("memory/bob"), "it works again")
        assert set(indexed(vault, "bob")) == {"USER.md"}


def test_a_worker_that_crashes_is_reported_and_started_again(vault: Vault) -> None:
    """A broken `.git/HEAD` for a while: commits wait, indexing goes on, the record says so."""
    head = vault.root / ".git" / "HEAD"
    good = head.read_text()
    with running(vault) as run:
        wait_until(lambda: log(vault, "--", "memory/alice/USER.md"), "the first commit")
        head.write_text("nonsense\n")
        write(vault, "alice", "note.md", "text\n")
        wait_until(lambda: "note.md" in indexed(vault), "the edit is indexed all the same")
        wait_until(lambda: "trouble" in run.kinds("commit"), "the error is reported")
        record = read_record(vault.root)
        assert record is not None
        assert record.restarts["commit"] >= 1
        head.write_text(good)
        wait_until(lambda: log(vault, "--", "memory/alice/note.md"), "the edit is committed after all")
        wait_until(lambda: not read_record(vault.root).problems, "the error is cleared")  # type: ignore[union-attr]


def test_deleting_what_is_derived_disturbs_nothing(vault: Vault) -> None:
    """Anyone may delete `.vault-memory/` and every index at any time; the daemon goes on, and stays the only one."""
    with running(vault, full_scan_s=0.2):
        (vault.root / ".vault-memory").rename(vault.root.parent / "state")
        for path in vault.index_path("alice").parent.glob("index.db*"):
            path.unlink()
        wait_until(lambda: set(indexed(vault)) == {"USER.md"}, "the index is filled again")
        wait_until(lambda: lock_path(vault.root).exists() and is_running(vault.root), "the lock is held again")
        with pytest.raises(Busy):
            Daemon(vault).run(threading.Event())


def test_a_vault_that_is_moved_away_and_back(vault: Vault) -> None:
    """Nothing is written where it was, and it is watched again when it is back."""
    with running(vault) as run:
        wait_until(lambda: log(vault, "--", "memory/alice/USER.md"), "the first commit")
        away = vault.root.with_name("away")
        vault.root.rename(away)
        wait_until(lambda: any("is gone" in event.message for event in run.events), "that is reported")
        assert not vault.root.exists()
        away.rename(vault.root)
        write(vault, "alice", "note.md", "text\n")
        wait_until(lambda: "note.md" in indexed(vault), "it is watched again")
        wait_until(lambda: not read_record(vault.root).problems, "and its error is cleared")  # type: ignore[union-attr]
        assert run.thread.is_alive()


SCRIPT = """
import signal, sys, threading
from vault_memory.services.daemon import Daemon
from vault_memory.services.vault import open_vault
stop = threading.Event()
signal.signal(signal.SIGTERM, lambda *_: stop.set())
Daemon(open_vault(sys.argv[1], watch_settle_ms=30, watch_commit_quiet_ms=150)).run(stop)
"""


@pytest.mark.slow
def test_killed_in_the_middle_and_started_again(vault: Vault) -> None:
    """After `kill -9` at any moment the next start finishes the work; no lock stays."""
    command = [sys.executable, "-c", SCRIPT, str(vault.root)]
    for round_ in range(4):
        process = subprocess.Popen(command)
        wait_until(lambda: is_running(vault.root), "the daemon runs")
        for n in range(100):
            write(vault, "alice", f"{n}.md", f"round {round_} note {n}\n")
        process.send_signal(signal.SIGKILL)
        process.wait()
    process = subprocess.Popen(command)
    wait_until(lambda: is_current(vault), "caught up", 60)
    wait_until(lambda: not vault.history.uncommitted(), "everything is committed", 60)
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0, "it ends when it is told to"
    assert not reconcile(vault, "alice", full_hash=True).indexed
    subprocess.run(["git", "-C", str(vault.root), "fsck", "--strict"], check=True, capture_output=True)


def test_the_record_survives_a_round_trip(vault: Vault) -> None:
    from vault_memory.services.daemon.daemon_record import DaemonRecord

    record = DaemonRecord(started="2026-01-30T14:05:00+08:00", problems={"memory/王": "說明"})
    write_record(vault.root, record)
    assert read_record(vault.root) == record


def test_a_user_may_have_the_name_of_the_daemon(vault: Vault) -> None:
    with running(vault):
        assert record_turn(vault, "daemon", "I prefer dark mode").commits


def has_run(vault: Vault, *command: str) -> bool:
    """Run the person's git: it fails where the daemon's own git holds the lock, and the person tries again."""
    return subprocess.run(["git", "-C", str(vault.root), *command], check=False).returncode == 0


def test_an_edit_that_waited_for_the_person_is_committed_by_a_scan(vault: Vault) -> None:
    """No watcher sees git's index. Scans come more often than the quiet time ends, and do not keep it from its end."""
    vault = open_vault(vault.root, watch_settle_ms=30, watch_commit_quiet_ms=600)
    write(vault, "alice", "note.md", "one\n")
    with running(vault, full_scan_s=0.2) as run:
        wait_until(lambda: log(vault, "--", "memory/alice/note.md"), "it is committed")
        wait_until(lambda: has_run(vault, "rm", "-q", "--cached", "memory/alice/note.md"), "it is out of the index")
        write(vault, "alice", "note.md", "two\n")
        wait_until(lambda: "waiting" in run.kinds("alice"), "it waits for the person")
        wait_until(lambda: has_run(vault, "reset", "-q"), "the person's index is as the commit")
        wait_until(lambda: vault.history.blob(PurePosixPath("memory/alice/note.md")) == b"two\n", "it is committed")


def is_made(lock: Path) -> bool:
    """Take a lock as git does: where one is, it belongs to another."""
    with suppress(FileExistsError):
        lock.touch(exist_ok=False)
        return True
    return False


def test_an_edit_that_met_another_gits_lock_is_committed_soon_after_it_and_named_until_then(vault: Vault) -> None:
    """No scan comes meanwhile, and no watcher sees git's lock go: what waited was in no commit until the next scan."""
    note = PurePosixPath("memory/alice/note.md")
    with running(vault, full_scan_s=3600) as run:
        wait_until(lambda: log(vault, "--", "memory/alice/USER.md"), "the first commit")
        lock = vault.root / ".git" / "index.lock"
        wait_until(lambda: is_made(lock), "the daemon's own git has given the lock back")
        write(vault, "alice", "note.md", "one\n")
        wait_until(lambda: "waiting" in run.kinds("alice"), "it waits for the other git")
        wait_until(
            lambda: any("wait for their commits" in line for line in status(vault).unhealthy), "`status` says so"
        )
        lock.unlink()
        wait_until(lambda: vault.history.blob(note) == b"one\n", "it is committed")
        wait_until(lambda: not read_record(vault.root).problems, "and `status` is silent")  # type: ignore[union-attr]


def test_g5_no_event_names_a_file_whose_name_is_erased(vault: Vault) -> None:
    """The daemon sees that it is gone while the eraser is at it: its log has nothing for the second look to find."""
    record_turn(vault, "alice", "hello", "ok")
    with running(vault) as run:
        remember(vault, "alice", "My parrot Zebulon sleeps in the attic")
        wait_until(lambda: any("zebulon" in source for source in indexed(vault)), "the memory is indexed")
        assert erase(vault, of_texts(vault, "alice", ["My parrot Zebulon sleeps in the attic"])).left == ()
        wait_until(lambda: "removed" in run.kinds("alice"), "the daemon sees it")
    assert [event.message for event in run.events if event.kind == "removed"] == ["1 file"]
    assert "zebulon" not in (vault.root / ".vault-memory/logs/daemon.jsonl").read_text().lower()
