"""Reading intents without the lock, and sweeping what a killed writer left."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import threading
import time
import zlib
from pathlib import Path

import pytest

from tests.adapters.conftest import USER, Vault
from vault_memory.adapters.history.intents import IntentLog
from vault_memory.adapters.history.model import ASSISTANT, Draft, FileChange
from vault_memory.errors import HistoryError

OUTSIDE = ("../outside", "/tmp/vault-memory-outside", "notes/../../outside", ".git/hooks/pre-push", "way/outside")


def test_intents_can_be_counted_while_another_thread_commits(tmp_path: Path) -> None:
    """An intent is renamed when its files are written, and removed when it is committed."""
    log = IntentLog(tmp_path, tmp_path)
    draft = Draft("memory(alice): theme = dark", ASSISTANT, ())
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            intent = log.mark_written(log.add((draft,), "1769752800 +0800", None, {}))
            log.keep(intent, ())

    writer = threading.Thread(target=work)
    seen: set[int] = set()
    deadline = time.monotonic() + 20
    writer.start()
    try:
        looks = 0
        while looks < 3_000 or (len(seen) < 2 and time.monotonic() < deadline):
            seen.add(log.count())
            looks += 1
    finally:
        stop.set()
        writer.join()
    assert seen <= {0, 1}
    assert len(seen) == 2


def test_the_temporary_file_of_a_killed_writer_is_swept(tmp_path: Path) -> None:
    log = IntentLog(tmp_path / "intents", tmp_path)
    log.sweep()
    log.add((Draft("memory(alice): theme = dark", ASSISTANT, ()),), "1769752800 +0800", None, {})
    ended = subprocess.Popen(["true"])
    ended.wait()
    (tmp_path / "intents" / f".00000002.staged.{ended.pid}-3.vault-memory.tmp").write_bytes(b"{")
    living = tmp_path / "intents" / f".00000003.staged.{os.getpid()}-4.vault-memory.tmp"
    living.write_bytes(b"{")
    log.sweep()
    assert sorted(p.name for p in (tmp_path / "intents").iterdir()) == [living.name, "00000001.staged"]


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
    try:
        vault.history.flush()
    except HistoryError as error:
        assert "00000009" in str(error) or "symbolic link" in str(error)
    else:
        assert (state, name) == ("written", "way/outside"), "that one only commits what it says, and writes no file"
    assert not (tmp_path / "outside").exists() and not (vault.root / ".git/hooks/pre-push").exists()
    assert not Path("/tmp/vault-memory-outside").exists()
