"""A function in a child process."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from vault_memory.adapters import child
from vault_memory.services.daemon.vector_worker import embed_all


def test_an_exception_is_exit_code_1(tmp_path: Path) -> None:
    with child.start(embed_all, str(tmp_path), "alice", "{}", environ=os.environ) as process:
        assert process.wait(60) == 1, "there is no vault"


@pytest.mark.parametrize("shadow", ["vault_memory.py", "json.py"])
def test_modules_in_the_parents_folder_are_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shadow: str
) -> None:
    (tmp_path / shadow).write_text("raise SystemExit(7)\n")
    monkeypatch.chdir(tmp_path)
    with child.start(embed_all, str(tmp_path), "alice", "{}", environ=os.environ) as process:
        assert process.wait(60) == 1
