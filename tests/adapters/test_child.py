"""A function in a process of its own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from vault_memory.adapters import child
from vault_memory.services.daemon.vector_worker import embed_all


def test_its_failure_is_its_exit_code(tmp_path: Path) -> None:
    """Whatever lies in the folder where the parent runs: the child finds this very package."""
    with child.start(embed_all, str(tmp_path), "alice", "{}", environ=os.environ) as process:
        assert process.wait(60) == 1, "there is no vault"


@pytest.mark.parametrize("shadow", ["vault_memory.py", "json.py"])
def test_the_folder_of_the_parent_has_no_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shadow: str) -> None:
    (tmp_path / shadow).write_text("raise SystemExit(7)\n")
    monkeypatch.chdir(tmp_path)
    with child.start(embed_all, str(tmp_path), "alice", "{}", environ=os.environ) as process:
        assert process.wait(60) == 1
