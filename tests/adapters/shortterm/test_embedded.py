"""What the embedded store alone promises: it may be lost at any time, and stays small and private."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from vault_memory.adapters.shortterm import EmbeddedStore
from vault_memory.errors import Busy, ForeignFile


def test_it_is_private(tmp_path: Path) -> None:
    store = EmbeddedStore(tmp_path)
    store.put("a", "x", 60)
    files = [*store.path.parent.iterdir()]
    assert len(files) >= 2 and {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert stat.S_IMODE(store.path.parent.stat().st_mode) == 0o700


def test_anybody_may_delete_it(tmp_path: Path) -> None:
    store = EmbeddedStore(tmp_path)
    store.put("a", "x", 60)
    for file in store.path.parent.iterdir():
        file.unlink()
    assert store.get("a") is None
    store.put("a", "y", 60)
    assert EmbeddedStore(tmp_path).get("a") == "y"


def test_a_damaged_one_is_made_anew(tmp_path: Path) -> None:
    store = EmbeddedStore(tmp_path)
    store.put("a", "x", 60)
    store.close()
    store.path.write_bytes(b"no database" * 500)
    with pytest.raises(Busy, match="made anew"):
        store.get("a")
    store.put("a", "y", 60)
    assert store.get("a") == "y"


def test_a_link_is_refused(tmp_path: Path) -> None:
    store = EmbeddedStore(tmp_path)
    store.path.parent.mkdir(mode=0o700)
    store.path.symlink_to(tmp_path / "elsewhere.db")
    with pytest.raises(ForeignFile):
        store.put("a", "x", 60)
    assert not (tmp_path / "elsewhere.db").exists()


def test_what_expires_takes_no_room(tmp_path: Path) -> None:
    """C2: what nobody reads any more goes away with the next write."""
    at = 1_000_000.0
    store = EmbeddedStore(tmp_path, lambda: at)
    for number in range(300):
        store.put(f"conv:{number}:latest", "x" * 3_000, 60)
    full = store.path.stat().st_size
    at += 61
    for number in range(300):
        store.put(f"conv:{number}:latest", "x" * 3_000, 60)
    assert store.path.stat().st_size <= full * 1.1


def test_a_session_that_changes_often_stays_small(tmp_path: Path) -> None:
    """C2"""
    store = EmbeddedStore(tmp_path)
    for _ in range(2_000):
        store.update("session:s1", lambda old: f"{len(old or '') % 7}" + "x" * 2_000, 172_800)
    assert sum(os.path.getsize(file) for file in store.path.parent.iterdir()) <= 120_000
