"""State that may be deleted or damaged at any time, and is never written half."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from vault_memory.adapters.state import StateFile
from vault_memory.errors import Busy


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    state = StateFile(tmp_path, "redactions/alice")
    assert state.read() == {}
    state.write({"健康": 2, "where": {"memory/alice": None}})
    assert state.read() == {"健康": 2, "where": {"memory/alice": None}}
    assert state.path == tmp_path / ".vault-memory" / "redactions" / "alice.json"
    assert "健康" in state.path.read_text(encoding="utf-8")


@pytest.mark.parametrize("damaged", [b"", b"{", b"[1]", b"null", b'"text"', b"\xff\xfe{}"])
def test_a_damaged_file_is_empty_and_can_be_written(tmp_path: Path, damaged: bytes) -> None:
    state = StateFile(tmp_path, "tally")
    state.path.parent.mkdir()
    state.path.write_bytes(damaged)
    assert state.read() == {}
    state.update(lambda tally: {**tally, "asked": 1})
    assert state.read() == {"asked": 1}


def test_no_update_is_lost(tmp_path: Path) -> None:
    def count() -> None:
        for _ in range(20):
            StateFile(tmp_path, "tally").update(lambda tally: {"asked": tally.get("asked", 0) + 1})

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert StateFile(tmp_path, "tally").read() == {"asked": 80}


def test_an_update_that_fails_leaves_the_file_and_frees_the_lock(tmp_path: Path) -> None:
    state = StateFile(tmp_path, "tally")
    state.write({"asked": 1})
    with pytest.raises(TypeError):
        state.update(lambda tally: {"asked": object()})
    assert state.read() == {"asked": 1}
    with state.lock(0), pytest.raises(Busy), StateFile(tmp_path, "tally").lock(0):
        pass


def test_half_of_a_pair_is_written_and_read_as_a_replacement(tmp_path: Path) -> None:
    """A name that is not UTF-8 ended with a UnicodeEncodeError."""
    state = StateFile(tmp_path, "noted")
    state.write({"a\udcffb": ["\ud83d"]})
    assert state.read() == {"a\ufffdb": ["\ufffd"]}
