"""The intents as somebody sees them who does not hold the lock."""

from __future__ import annotations

import os
import subprocess
import threading
from pathlib import Path

from vault_memory.adapters.history.intents import IntentLog
from vault_memory.adapters.history.model import ASSISTANT, Draft


def test_who_looks_while_another_commits_is_not_disturbed(tmp_path: Path) -> None:
    """An intent changes its name when its files are written, and goes when it is committed."""
    log = IntentLog(tmp_path)
    draft = Draft("memory(alice): theme = dark", ASSISTANT, ())
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            intent = log.mark_written(log.add((draft,), "1769752800 +0800", None, {}))
            log.keep(intent, ())

    writer = threading.Thread(target=work)
    writer.start()
    try:
        seen = {log.count() for _ in range(3_000)}
    finally:
        stop.set()
        writer.join()
    assert seen <= {0, 1}
    assert len(seen) == 2


def test_what_a_killed_writer_was_about_to_name_is_swept(tmp_path: Path) -> None:
    log = IntentLog(tmp_path / "intents")
    log.sweep()
    log.add((Draft("memory(alice): theme = dark", ASSISTANT, ()),), "1769752800 +0800", None, {})
    ended = subprocess.Popen(["true"])
    ended.wait()
    (tmp_path / "intents" / f".00000002.staged.{ended.pid}-3.vault-memory.tmp").write_bytes(b"{")
    living = tmp_path / "intents" / f".00000003.staged.{os.getpid()}-4.vault-memory.tmp"
    living.write_bytes(b"{")
    log.sweep()
    assert sorted(p.name for p in (tmp_path / "intents").iterdir()) == [living.name, "00000001.staged"]
