"""Folders are walked as `os.walk` does it, and deeper than it can."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from vault_memory.adapters.scan import walk


def test_it_gives_what_the_systems_walk_gives(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "c").mkdir()
    for name in ("x", "a/x", "a/b/y", "c/z"):
        (tmp_path / name).write_text("")
    (tmp_path / "link").symlink_to("a")
    (tmp_path / "gone").symlink_to("nowhere")
    assert sorted(walk(tmp_path)) == sorted(os.walk(tmp_path))
    for folder, folders, _ in walk(tmp_path):
        assert not Path(folder).is_relative_to(tmp_path / "a")
        folders[:] = [name for name in folders if name != "a"]
    told: list[OSError] = []
    assert list(walk(tmp_path / "none", told.append)) == [] and told[0].filename == str(tmp_path / "none")


def test_folders_deeper_than_pythons_stack(tmp_path: Path) -> None:
    number = os.open(tmp_path, os.O_RDONLY)
    try:
        for _ in range(1_200):
            os.mkdir("a", dir_fd=number)
            inner = os.open("a", os.O_RDONLY, dir_fd=number)
            os.close(number)
            number = inner
    finally:
        os.close(number)
    try:
        assert len(list(walk(tmp_path))) == 1_201
    finally:
        subprocess.run(["rm", "-rf", tmp_path / "a"], check=True)  # Python's own removal ends at this depth, too
