"""Reading intents without the lock, and sweeping what a killed writer left."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from pathlib import Path

from vault_memory.adapters.history.intents import IntentLog
from vault_memory.adapters.history.model import ASSISTANT, Draft


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
