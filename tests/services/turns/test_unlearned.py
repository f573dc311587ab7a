"""A turn that is kept and could not be learned from is learned from later, by itself, once, and in order."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import resource
import shutil
import threading
import time
from pathlib import Path, PurePosixPath

import pytest

from tests.services.test_person_edits import git, read, save, subjects
from vault_memory.adapters.history.intents import MAX_INTENTS
from vault_memory.errors import Busy
from vault_memory.services.admin import rename_user, status
from vault_memory.services.daemon import heartbeat
from vault_memory.services.notes import newest_turns, turn_at
from vault_memory.services.person_edits import commit_person_edits
from vault_memory.services.profiles import compute_interaction
from vault_memory.services.retrieval import build_enhanced_prompt
from vault_memory.services.turns import learn_waiting, record_turn, redactions, turns_waiting
from vault_memory.services.vault import Vault, open_vault

USER = PurePosixPath("memory/alice/USER.md")


def paused(vault: Vault, *messages: str, user: str = "alice") -> None:
    """Say these on an old commit."""
    git(vault, "checkout", "-q", "--detach")
    for message in messages:
        recorded = record_turn(vault, user, message, "Noted.")
        assert recorded.paused and "HEAD is detached" in recorded.paused and not recorded.changes
        assert recorded.sources == (recorded.source.partition(":")[0],)
    git(vault, "switch", "-q", "main")


@pytest.fixture
def begun(vault: Vault) -> Vault:
    record_turn(vault, "alice", "I prefer dark mode", "Noted.")
    return vault


def test_turns_on_an_old_commit_write_nothing_there_and_are_learned_from_by_the_next(begun: Vault) -> None:
    vault = begun
    for folder in ("memory", "memory/alice"):
        (vault.root / folder).chmod(0o750)
    paused(vault, "I prefer light mode", "I use Python every day")
    assert git(vault, "status", "--porcelain") == "" and turns_waiting(vault, "alice") == 2
    assert {path.stat().st_mode & 0o777 for path in (vault.root / "memory", vault.root / "memory/alice")} == {0o750}
    assert any("2 messages and replies are kept" in line for line in status(vault).unhealthy)
    record_turn(vault, "alice", "I prefer short answers", "Noted.")
    text = read(vault, USER)
    assert "light" in text and "Python" in text and turns_waiting(vault, "alice") == 0
    assert not status(vault).unhealthy
    log = git(vault, "log", "--reverse", "--format=%(trailers:key=Vault-Source,valueonly)", "--grep", "^Vault-Turn")
    numbers = [line.rpartition(":")[2] for line in log.split()]
    assert numbers == ["1", "2", "3", "4"]


def test_a_turn_is_learned_from_though_a_commit_of_another_machine_names_its_line(begun: Vault) -> None:
    """Lines of records are counted on each machine, and the records are not synced."""
    vault = begun
    save(vault, PurePosixPath("Home.md"), "from elsewhere\n")
    message = "x\n\nVault-User: alice\nVault-Source: conversations/2026-01-30.jsonl:2\n"
    git(vault, "commit", "-qam", message)
    paused(vault, "I use Python every day")
    assert learn_waiting(vault, "alice") == 0 and "Python" in read(vault, USER)


def test_an_earlier_turn_does_not_overwrite_a_later_one(begun: Vault) -> None:
    vault = begun
    paused(vault, "I prefer light mode")
    record_turn(vault, "alice", "I prefer dark mode", "Noted.")
    assert "dark" in read(vault, USER) and "light" not in read(vault, USER)


def test_a_line_of_a_remote_in_one_user_s_evidence_keeps_nobody_from_learning(begun: Vault) -> None:
    """`{"suggestion": "open", "key": []}` in alice's stopped the job `commits` before bob's turn."""
    vault = begun
    line = '{"suggestion": "open", "key": [], "x": ["languages", "theme"]}\n'
    path = vault.path("alice", "feedback.jsonl")
    path.write_text(path.read_text() + line)
    paused(vault, "I use Python every day")
    paused(vault, "I use Rust every day", user="bob")
    (outcome,) = heartbeat(vault, only="commits", force=True)
    assert (outcome.ok, outcome.said) == (True, "2 turns learned from that waited")
    assert "Python" in read(vault, USER) and "Rust" in vault.path("bob", "USER.md").read_text()


@pytest.mark.parametrize("odd", [5, [], ["x"], {"a": [1]}, True, None, "9999-12-31T23:59:59-23:59", "2026-01-30"])
def test_a_line_of_a_record_with_odd_values_stops_nothing(begun: Vault, odd: object) -> None:
    """A person, a backup or another program may have written it, and a marker for it."""
    vault = begun
    names = ("conversation_id", "user_message", "assistant_message", "skill", "context", "request", "exit_code",
             "reflection", "cid", "backend", "reply_lines", "completes", "completed_at", "created_at")  # fmt: skip
    path = vault.path("alice", "conversations/2026-01-30.jsonl")
    row = json.loads(path.read_text()) | {"user_message": "I use Python every day"}
    for name in names:
        line = json.dumps(row | {name: odd}).encode()
        marker = f"2026-01-30.{path.stat().st_size}.{hashlib.sha256(line).hexdigest()[:8]}"
        path.write_bytes(path.read_bytes() + line + b"\n")
        (vault.unlearned("alice") / marker).touch()
    assert learn_waiting(vault, "alice") == 0 and turns_waiting(vault, "alice") == 0
    assert "Python" in read(vault, USER)
    build_enhanced_prompt(vault, "alice", "hello")
    compute_interaction(vault, "alice")
    assert all(turn_at(vault, "alice", source) for source, _ in newest_turns(vault, "alice", 99))
    record_turn(vault, "alice", "I prefer light mode", "Noted.")
    assert "light" in read(vault, USER)


def test_the_job_commits_learns_from_what_waits(begun: Vault) -> None:
    vault = begun
    paused(vault, "I use Python every day")
    (outcome,) = heartbeat(vault, only="commits", force=True)
    assert outcome.ok and "1 turns learned from" in outcome.said
    assert "Python" in read(vault, USER)
    assert learn_waiting(vault, "alice") == 0


def test_turns_are_kept_at_once_while_another_writer_holds_the_users_files(begun: Vault) -> None:
    vault = begun
    with vault.lock("alice"):
        for message in ("I prefer light mode", "I use Python every day", "my password is hunter22-Xy9!"):
            kept = record_turn(vault, "alice", message, "Noted.", learn=False)
            assert kept.source and kept.paused is None and not kept.commits
        with pytest.raises(Busy):
            learn_waiting(vault, "alice", 0)
    assert turns_waiting(vault, "alice") == 3 and redactions(vault, "alice")
    assert learn_waiting(vault, "alice", 60) == 0 == turns_waiting(vault, "alice")
    assert "light" in read(vault, USER) and "Python" in read(vault, USER)
    assert not list((vault.root / "memory/alice/conversations/.unlearned").iterdir())


@pytest.mark.slow
def test_a_turn_waits_a_few_seconds_for_another_writer(begun: Vault) -> None:
    """It gives up before others do, and one that is not learned from does not wait at all."""
    vault, has_given_up = begun, threading.Event()

    def wait_longer() -> None:
        try:
            with vault.lock("alice"):
                pass
        except Busy:
            has_given_up.set()

    with vault.lock("alice"):
        patient = threading.Thread(target=wait_longer)
        patient.start()
        began = time.monotonic()
        record_turn(vault, "alice", "thanks", "Noted.", learn=False)
        at_once, began = time.monotonic() - began, time.monotonic()
        kept = record_turn(vault, "alice", "I prefer light mode", "Noted.")
        assert at_once < (time.monotonic() - began) / 2
        assert (kept.paused or "").startswith("nothing was learned from this turn yet") and not has_given_up.is_set()
        assert "need not be said again" in (kept.paused or "") and "try again" not in (kept.paused or "")
        assert list(vault.unlearned("alice").glob("*.kept"))  # so it is not looked for in the history, which takes long
    patient.join()
    record_turn(vault, "alice", "thanks", "Noted.")
    assert "light" in read(vault, USER) and turns_waiting(vault, "alice") == 0


def test_within_a_time_one_turn_is_learned_from_at_least_and_in_order(begun: Vault) -> None:
    vault = begun
    for message in ("I prefer light mode", "I prefer dark mode"):
        record_turn(vault, "alice", message, "Noted.", learn=False)
    assert learn_waiting(vault, "alice", 0) == 1 and "light" in read(vault, USER)
    assert learn_waiting(vault, "alice") == 0
    assert "dark" in read(vault, USER) and "light" not in read(vault, USER)


def test_turns_wait_although_what_is_derived_was_deleted(begun: Vault) -> None:
    """`.vault-memory/` may be deleted whenever one likes; a backup has no part of it."""
    paused(begun, "I prefer light mode")
    shutil.rmtree(begun.root / ".vault-memory")
    record_turn(begun, "alice", "thanks", "Noted.")
    assert "light" in read(begun, USER)


def test_a_renamed_users_turns_wait_under_the_new_name(begun: Vault) -> None:
    vault = begun
    paused(vault, "I use Python every day")
    rename_user(vault, "alice", "alix")
    assert turns_waiting(vault, "alix") == 1
    record_turn(vault, "alix", "thanks", "Noted.")
    assert "Python" in read(vault, PurePosixPath("memory/alix/USER.md"))


def marker(vault: Vault, offset: int) -> Path:
    (record,) = (vault.root / "memory/alice/conversations").glob("*.jsonl")
    path = vault.root / "memory/alice/conversations/.unlearned" / f"{record.stem}.{offset}"
    path.touch()
    return path


def test_a_turn_whose_writer_was_killed_after_its_line_is_learned_from(begun: Vault) -> None:
    vault = begun
    (record,) = (vault.root / "memory/alice/conversations").glob("*.jsonl")
    first = record.read_bytes()
    record.write_bytes(first + first.replace(b"dark mode", b"light mode"))
    marker(vault, len(first))
    record_turn(vault, "alice", "thanks", "Noted.")
    assert "light" in read(vault, USER) and turns_waiting(vault, "alice") == 0


@pytest.mark.parametrize("line", [b"", b'{"user_message": "I prefer li'])
def test_a_turn_whose_writer_was_killed_before_its_line_is_forgotten(begun: Vault, line: bytes) -> None:
    vault = begun
    (record,) = (vault.root / "memory/alice/conversations").glob("*.jsonl")
    size = record.stat().st_size
    record.write_bytes(record.read_bytes() + line)
    marker(vault, size)
    assert learn_waiting(vault, "alice") == 0 == turns_waiting(vault, "alice")


def test_a_turn_whose_writer_was_killed_after_its_commits_is_not_learned_from_twice(begun: Vault) -> None:
    vault = begun
    before = subjects(vault)
    marker(vault, 0)
    assert learn_waiting(vault, "alice") == 0 == turns_waiting(vault, "alice")
    assert subjects(vault) == before


def killed(vault: Vault, message: str) -> Path:
    """Say this; its writer is killed right after the line. Returns the marker."""
    record_turn(vault, "alice", message, "Noted.", learn=False)
    (kept,) = vault.unlearned("alice").glob("*.kept")
    kept.unlink()
    return kept.with_suffix("")


def test_a_turn_that_was_learned_from_under_an_earlier_id_is_not_learned_from_twice(begun: Vault) -> None:
    vault = begun
    marker = killed(vault, "I prefer light mode")
    assert learn_waiting(vault, "alice") == 0 and "light" in read(vault, USER)
    marker.touch()  # its writer was killed before it struck that off
    rename_user(vault, "alice", "alix")
    before = subjects(vault)
    assert learn_waiting(vault, "alix") == 0 == turns_waiting(vault, "alix")
    assert subjects(vault) == before


def test_a_turn_is_found_among_lines_that_were_merged_into_the_record(begun: Vault) -> None:
    vault = begun
    marker = killed(vault, "I prefer light mode")
    (record,) = (vault.root / "memory/alice/conversations").glob("*.jsonl")
    first, second = record.read_bytes().splitlines(keepends=True)
    other = first.replace(b"dark mode", b"short answers")
    record.write_bytes(other + first + second)
    assert learn_waiting(vault, "alice") == 0 and "light" in read(vault, USER)
    assert "jsonl:3\n" in git(vault, "log", "-1", "--format=%B")
    record.write_bytes(other + second + other)
    before = subjects(vault)
    marker.touch()
    assert learn_waiting(vault, "alice") == 0 and subjects(vault) == before


def test_a_marker_of_an_earlier_version_in_the_place_of_a_new_turn_is_not_taken_for_it(begun: Vault) -> None:
    """Its writer was killed before its line, which that turn has by now."""
    vault = begun
    (record,) = (vault.root / "memory/alice/conversations").glob("*.jsonl")
    marker(vault, record.stat().st_size)
    record_turn(vault, "alice", "I prefer light mode", "Noted.")
    assert subjects(vault)[0] == "memory(alice): theme = light" and turns_waiting(vault, "alice") == 0
    assert git(vault, "log", "--format=%B").count("Vault-Turn: ") == 2


def test_a_turn_without_git_is_learned_from_when_git_is_back(begun: Vault, tmp_path: Path) -> None:
    vault = begun
    shutil.move(vault.root / ".git", tmp_path / "git")
    assert (record_turn(vault, "alice", "I prefer light mode", "Noted.").paused or "").startswith("nothing was learned")
    shutil.move(tmp_path / "git", vault.root / ".git")
    record_turn(vault, "alice", "thanks", "Noted.")
    assert "light" in read(vault, USER)


@pytest.mark.parametrize("name", ["USER.md", "daily/*.md"])
def test_nothing_is_added_to_a_file_in_utf_16(begun: Vault, name: str) -> None:
    vault = begun
    (path,) = (vault.root / "memory/alice").glob(name)
    text = path.read_text()
    path.write_text(text, encoding="utf-16")
    before = path.read_bytes()
    recorded = record_turn(vault, "alice", "I prefer light mode", "Noted.")
    assert path.read_bytes() == before and "save it in UTF-8" in (recorded.paused or "")
    path.write_text(text)
    record_turn(vault, "alice", "thanks", "Noted.")
    assert "light" in read(vault, USER)


@pytest.mark.parametrize("name", ["USER.md", "feedback.jsonl"])
def test_a_turn_beside_a_file_that_is_too_large_is_kept(begun: Vault, name: str) -> None:
    vault, path = begun, begun.root / "memory/alice" / name
    text = path.read_bytes()
    path.write_bytes(text + b"\n" * 20_000_001)
    recorded = record_turn(vault, "alice", "I prefer light mode", "Noted.")
    assert recorded.source and "nothing was learned from this turn yet" in (recorded.paused or "")
    paused(vault, "I use Python every day", user="bob")
    ran = {outcome.job: outcome for outcome in heartbeat(vault, only="commits", force=True)}
    assert not ran["commits"].ok and "is not read" in ran["commits"].said
    assert (turns_waiting(vault, "alice"), turns_waiting(vault, "bob")) == (1, 0)
    path.write_bytes(text)
    assert learn_waiting(vault, "alice") == 0
    assert "light" in read(vault, USER) and turns_waiting(vault, "alice") == 0


def test_a_turn_beside_a_pipe_in_the_place_of_a_file_is_kept(begun: Vault) -> None:
    vault, path = begun, begun.root / "memory/alice/USER.md"
    if not hasattr(os, "mkfifo"):
        pytest.skip("needs named pipes")
    path.unlink()
    os.mkfifo(path)
    recorded = record_turn(vault, "alice", "I use Python every day", "Noted.")
    assert recorded.source and "no file but a pipe" in (recorded.paused or "")
    path.unlink()
    git(vault, "checkout", "-q", "--", "memory/alice/USER.md")
    assert learn_waiting(vault, "alice") == 0 and "Python" in read(vault, USER)


@pytest.mark.slow
def test_hundreds_of_turns_beside_a_staged_file_need_few_descriptors_and_are_learned_from(begun: Vault) -> None:
    """A turn whose commits wait is an intent; beyond some, turns are only kept. Logs that may wait are one intent."""
    vault = open_vault(begun.root, now=begun.now, git_log_commits="turn")
    log = next((vault.root / "memory/alice/daily").iterdir())
    git(vault, "rm", "-q", "--cached", str(log.relative_to(vault.root)))
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    opened = len(os.listdir("/proc/self/fd"))
    resource.setrlimit(resource.RLIMIT_NOFILE, (opened + 40, before[1]))
    try:
        for number in range(MAX_INTENTS + 20):
            recorded = record_turn(vault, "alice", f"remark {number}", "Noted.", index=False)
        assert "changes wait" in (recorded.paused or "") and turns_waiting(vault, "alice") >= 15
        git(vault, "reset", "-q")
        assert vault.history.flush().paused is None
        assert learn_waiting(vault, "alice") == 0 == vault.history.state().waiting
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert all(f" remark {number} → " in log.read_text() for number in range(MAX_INTENTS + 20))


@pytest.mark.skipif(not hasattr(fcntl, "F_SETLEASE"), reason="the system does not tell who writes")
def test_an_editor_that_writes_in_place_loses_nothing(begun: Vault) -> None:
    """It empties the file, writes some of it, waits, and writes the rest."""
    vault = begun
    path = vault.root / USER
    text = path.read_text()
    with path.open("w") as editor:
        editor.write(text)
        editor.flush()
        recorded = record_turn(vault, "alice", "I prefer light mode", "Noted.")
        assert "is open for writing in another program" in (recorded.paused or "")
        assert commit_person_edits(vault, None) == 0
        editor.write("My own last line\n")
    assert commit_person_edits(vault, None) == 1
    record_turn(vault, "alice", "thanks", "Noted.")
    assert "light" in path.read_text() and path.read_text().endswith("My own last line\n")


def test_a_file_that_was_emptied_just_now_is_no_edit_yet(begun: Vault) -> None:
    vault = begun
    path = vault.root / USER
    text = path.read_text()
    path.write_text("")
    recorded = record_turn(vault, "alice", "I prefer light mode", "Noted.")
    assert "was emptied just now" in (recorded.paused or "") and path.read_text() == ""
    assert commit_person_edits(vault, None) == 0
    path.write_text(text)
    record_turn(vault, "alice", "thanks", "Noted.")
    assert "light" in path.read_text()
    path.write_text("")
    minute_ago = time.time() - 60
    os.utime(path, (minute_ago, minute_ago))
    assert commit_person_edits(vault, None) == 1


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(fcntl, "F_SETLEASE"), reason="the system does not tell who writes")
def test_an_editor_that_saves_in_place_again_and_again_loses_nothing(begun: Vault) -> None:
    vault = begun
    lines = [f"line {number}" for number in range(60)]
    user = vault.root / USER

    def edit() -> None:
        for line in lines:
            with user.open("r+") as editor:
                editor.seek(0, os.SEEK_END)
                editor.write(line + "\n")
                time.sleep(0.005)
            time.sleep(0.015)

    thread = threading.Thread(target=edit)
    thread.start()
    number = 0
    while thread.is_alive():
        number += 1
        record_turn(vault, "alice", f"I prefer {'light' if number % 2 else 'dark'} mode", "Noted.")
    assert [line for line in user.read_text().split("\n") if line.startswith("line ")] == lines
