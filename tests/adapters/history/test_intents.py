"""Reading intents without the lock, and sweeping what a killed writer left."""

from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
import sys
import threading
import time
import zlib
from pathlib import Path, PurePosixPath

import pytest

from tests.adapters.conftest import USER, Vault
from vault_memory.adapters.git import Objects
from vault_memory.adapters.history.intents import IntentLog
from vault_memory.adapters.history.model import ASSISTANT, Draft, FileChange
from vault_memory.errors import Unwritable

OUTSIDE = ("../outside", "/tmp/vault-memory-outside", "notes/../../outside", ".git/hooks/pre-push", "way/outside")


def test_intents_can_be_counted_while_another_thread_commits(tmp_path: Path) -> None:
    """An intent is renamed when its files are written, and removed when it is committed."""
    log = IntentLog(tmp_path, tmp_path, Objects(tmp_path))
    draft = Draft("memory(alice): theme = dark", ASSISTANT, ())
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            intent = log.mark_written(log.add((draft,), "1769752800 +0800", None, {}))
            log.keep(intent, ())

    writer = threading.Thread(target=work)
    seen: set[int] = set()
    deadline = time.monotonic() + 60
    writer.start()
    try:
        looks = 0
        while looks < 3_000 or (len(seen) < 2 and time.monotonic() < deadline):
            seen.add(len(log.pending()))
            looks += 1
    finally:
        stop.set()
        writer.join()
    assert seen <= {0, 1}
    assert len(seen) == 2


def test_the_temporary_file_of_a_killed_writer_is_swept(tmp_path: Path) -> None:
    log = IntentLog(tmp_path / "intents", tmp_path, Objects(tmp_path))
    log.sweep()
    log.add((Draft("memory(alice): theme = dark", ASSISTANT, ()),), "1769752800 +0800", None, {})
    ended = subprocess.Popen(["true"])
    ended.wait()
    (tmp_path / "intents" / f".00000002.staged.{ended.pid}-3.vault-memory.tmp").write_bytes(b"{")
    living = tmp_path / "intents" / f".00000003.staged.{os.getpid()}-4.vault-memory.tmp"
    living.write_bytes(b"{")
    log.sweep()
    assert sorted(p.name for p in (tmp_path / "intents").iterdir()) == [living.name, "00000001.staged"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes have no names here")
def test_a_pipe_or_link_with_the_name_of_a_temporary_file_is_nobody_s_save(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    log = IntentLog(tmp_path / "intents", root, Objects(tmp_path))
    log.add((Draft("a turn", ASSISTANT, (FileChange(USER, None, b"one\n"),)),), "1769752800 +0800", None, {})
    home = (root / USER).parent
    home.mkdir(parents=True)
    (tmp_path / "secret").write_text("secret")
    os.mkfifo(home / ".USER.md.1-1.vault-memory.tmp")
    (home / ".USER.md.1-2.vault-memory.tmp").symlink_to(tmp_path / "secret")
    signal.alarm(10)
    try:
        log.finish_killed()
    finally:
        signal.alarm(0)
    assert (root / USER).read_bytes() == b"one\n"


@pytest.mark.parametrize("name", OUTSIDE)
@pytest.mark.parametrize("state", ["staged", "written"])
def test_an_intent_that_we_never_wrote_is_not_carried_out(vault: Vault, tmp_path: Path, name: str, state: str) -> None:
    """A copied or adopted `.git` may hold an intent that writes a file outside the vault, and so runs as a program."""
    (vault.root / "way").symlink_to(tmp_path)
    vault.history.commit([Draft("a turn", ASSISTANT, (FileChange(USER, None, b"one\n"),))])
    content = base64.b64encode(zlib.compress(b"touch evil\n")).decode()
    record = {
        "when": "1769750000 +0800", "head": None, "bases": {name: None}, "contents": [content],
        "drafts": [{"message": "x", "author": ["a", "a@b"], "changes": [[name, None, 0]], "merges": None}],
    }  # fmt: skip
    intents = vault.root / ".git" / "vault-memory" / "intents"
    intents.mkdir(exist_ok=True)
    (intents / f"00000009.{state}").write_text(json.dumps(record))
    vault.history.flush()
    is_set_aside = (state, name) != ("written", "way/outside")  # that one only commits what it says, and writes no file
    assert any(f"00000009.{state}.damaged" in line for line in vault.history.state().damaged) == is_set_aside
    assert not (tmp_path / "outside").exists() and not (vault.root / ".git/hooks/pre-push").exists()
    assert not Path("/tmp/vault-memory-outside").exists()


LONG = "own/" + "想" * 90 + ".md"  # some disks count letters, and take it
LONGER = PurePosixPath("own", "f" * 300)
GOOD: dict[str, object] = {
    "when": "1769750000 +0800", "head": None, "bases": {"a.md": None},
    "contents": [base64.b64encode(zlib.compress(b"text\n")).decode()],
    "drafts": [{"message": "x", "author": ["a", "a@b"], "changes": [["a.md", None, 0]], "merges": None}],
}  # fmt: skip


def draft_with(**values: object) -> dict[str, object]:
    [draft] = GOOD["drafts"]  # type: ignore[misc]
    return {**GOOD, "drafts": [{**draft, **values}]}


DAMAGED: dict[str, object] = {
    "no object": [],
    "no bases": {**GOOD, "bases": []},
    "a time in words": {**GOOD, "when": "today"},
    "a time that is a number": {**GOOD, "when": 5},
    "a branch for a head": {**GOOD, "head": "main"},
    "an option for a base": {**GOOD, "bases": {"a.md": "--all"}},
    "a NUL in a path": draft_with(changes=[["a\0.md", None, 0]]),
    "a long name": draft_with(changes=[["a" * 300, None, 0]]),
    **({"more bytes than this disk takes": draft_with(changes=[[LONG, None, 0]])} if sys.platform == "linux" else {}),
    "a number for a path": draft_with(changes=[[5, None, 0]]),
    "a number for a message": draft_with(message=5),
    "an author without address": draft_with(author=["a"]),
    "a number for an author": draft_with(author=[5, 5]),
    "a merge of a name": draft_with(merges="HEAD"),
    "a number for the time of its author": draft_with(made_at=5),
    "a time of its author without a zone": draft_with(made_at="2024-05-06T07:08:09"),
    "a mode that is a list": draft_with(tree_only=[["a.md", [], "0" * 40]]),
    "a private file": draft_with(changes=[[".vault-memory/token", None, 0]]),
    "an object that git has not": {**GOOD, "contents": [{"blob": "1" * 40}]},
    "an object by another name": {**GOOD, "contents": [{"blob": "HEAD"}]},
    "no content": draft_with(changes=[["a.md", None, 7]]),
    "a folder": draft_with(changes=[["memory", None, 0]]),
    "below a file": draft_with(changes=[["vault-memory.toml/x.md", None, 0]]),
}


def plant(vault: Vault, name: str, text: str) -> Path:
    intents = vault.root / ".git" / "vault-memory" / "intents"
    intents.mkdir(parents=True, exist_ok=True)
    (intents / name).write_text(text)
    return intents / name


@pytest.mark.slow
@pytest.mark.parametrize("state", ["staged", "written"])
@pytest.mark.parametrize("what", [*DAMAGED, "cut"])
def test_a_damaged_intent_is_named_and_set_aside(vault: Vault, state: str, what: str) -> None:
    (vault.root / "memory").mkdir(exist_ok=True)
    (vault.root / "vault-memory.toml").touch()
    text = json.dumps(GOOD)[:99] if what == "cut" else json.dumps(DAMAGED[what])
    path = plant(vault, f"00000001.{state}", text)
    if what in (
        "a folder",
        "below a file",
        "more bytes than this disk takes",
    ):  # these can be read; to carry them out is another thing
        assert vault.history.state().damaged == ()
        if state == "written":
            return  # it writes no file
    else:
        assert [line.split()[0] for line in vault.history.state().damaged] == [str(path)]
    done = vault.history.commit([Draft("a turn", ASSISTANT, (FileChange(USER, None, b"one\n"),))])
    assert len(done.commits) == 1
    assert [line.split()[0] for line in vault.history.state().damaged] == [f"{path}.damaged"]
    assert path.with_name(f"{path.name}.damaged").read_text() == text


def test_an_intent_that_is_a_link_is_set_aside(vault: Vault, tmp_path: Path) -> None:
    (tmp_path / "good").write_text(json.dumps(GOOD))
    path = plant(vault, "00000002.written", "")
    path.unlink()
    path.symlink_to(tmp_path / "good")
    assert vault.history.flush().commits == ()
    assert "is damaged" in vault.history.state().damaged[0]


@pytest.mark.slow
def test_a_planted_intent_of_the_last_number_hides_none(vault: Vault) -> None:
    plant(vault, "99999999.written", json.dumps(GOOD))
    (vault.root / ".git/MERGE_HEAD").write_text("0" * 40)  # nothing can be committed now
    for number in (b"one\n", b"two\n"):
        before = None if number == b"one\n" else b"one\n"
        vault.history.commit([Draft("a turn", ASSISTANT, (FileChange(USER, before, number),))])
    names = sorted(path.name for path in (vault.root / ".git/vault-memory/intents").iterdir())
    assert names == ["00000001.written", "00000002.written", "00000003.written"]
    assert vault.history.state().waiting == 3
    (vault.root / ".git/MERGE_HEAD").unlink()
    vault.history.flush()
    assert vault.history.state().waiting == 0 and vault.history.blob(USER) == b"two\n"


def test_a_name_that_the_disk_does_not_take_is_refused_before_anything_is_written(vault: Vault) -> None:
    """It was found when the files before it were on the disk; the next writer took the intent for a damaged one."""
    changes = (FileChange(PurePosixPath("own/good.md"), None, b"good\n"), FileChange(LONGER, None, b"x\n"))
    with pytest.raises(Unwritable, match="takes no such name: give it a shorter one"):
        vault.history.commit([Draft("both", ASSISTANT, changes)])
    assert not (vault.root / "own").exists() and vault.history.uncommitted([LONGER]) == []
    assert vault.history.state().waiting == 0 and vault.history.state().damaged == ()


def test_an_intent_holds_names_of_255_letters(tmp_path: Path) -> None:
    """Some disks count letters, not bytes; an intent of theirs was set aside."""
    log = IntentLog(tmp_path, tmp_path, Objects(tmp_path))
    change = FileChange(PurePosixPath(LONG), None, b"x\n")
    log.add((Draft("note", ASSISTANT, (change,)),), "1769752800 +0800", None, {change.path: None})
    assert len(log.pending()) == 1 and log.damaged() == []
