"""The merge of two USER.md that plain git asks for."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from tests.services.sync.conftest import Machine, git
from vault_memory.services.sync import install_merge_driver, merge_driver, merge_driver_installed
from vault_memory.services.vault import Vault

BASE = "# 使用者\n\n- 主題偏好：light\n- 語言：zh-TW\n"
PATH = PurePosixPath("memory/alice/USER.md")


@pytest.fixture
def three(tmp_path: Path) -> list[Path]:
    return [tmp_path / name for name in ("base", "ours", "theirs")]


def merge(files: list[Path], *texts: str) -> tuple[list[str], str]:
    for file, text in zip(files, texts, strict=True):
        file.write_text(text)
    conflicts = merge_driver(*files, PATH)
    assert files[0].read_text() == texts[0] and files[2].read_text() == texts[2], "only `ours` is written"
    return conflicts, files[1].read_text()


def test_two_preferences_changed_by_two_sides_are_both_taken(three: list[Path]) -> None:
    conflicts, text = merge(three, BASE, BASE.replace("light", "dark"), BASE.replace("zh-TW", "en"))
    assert conflicts == [] and "主題偏好：dark" in text and "語言：en" in text


def test_one_preference_changed_by_two_sides_is_left_to_the_person(three: list[Path]) -> None:
    conflicts, text = merge(three, BASE, BASE.replace("light", "dark"), BASE.replace("light", "auto"))
    assert len(conflicts) == 1 and conflicts[0].startswith(f"{PATH}: ")
    assert "dark" in text and "auto" in text


def test_the_driver_is_missed_when_the_config_names_another(vault: Vault) -> None:
    install_merge_driver(vault.root)
    assert merge_driver_installed(vault.root)
    config = vault.root / ".git" / "config"
    config.write_text(config.read_text().replace("merge-driver %O", "merge-driver --old %O"))
    assert not merge_driver_installed(vault.root)
    install_merge_driver(vault.root)
    assert merge_driver_installed(vault.root)


def test_two_entities_in_one_file_are_between_marks(three: list[Path]) -> None:
    one, other = (f"---\nname: {name}\ntype: file\n---\n- of {name}\n" for name in ("a/b", "a-b"))
    for file, text in zip(three, ("", one, other), strict=True):
        file.write_text(text)
    (line,) = merge_driver(*three, PurePosixPath("memory/alice/entities/a-b.md"))
    assert "it is the file of two entities" in line
    text = three[1].read_text()
    assert text.startswith("<<<<<<< ") and f"{one}=======\n{other}>>>>>>> " in text


def test_plain_git_merges_memories_by_property(one: Machine, two: Machine) -> None:
    """What both machines counted is added up; a title that both changed is left to the person, without marks."""
    note = "memory/alice/memories/2026-01/mem_1768000000000_ab12cd.md"
    one.write(note, "---\nid: mem_1768000000000_ab12cd\ntitle: tea\naccess_count: 1\n---\nGreen tea.\n")
    one.sync()
    two.sync()
    for machine, count in ((one, 3), (two, 6)):
        machine.edit(note, "access_count: 1", f"access_count: {count}")
        git(machine.root, "commit", "-qam", "count")
    git(one.root, "push", "-q", "origin", "main")
    git(two.root, "pull", "-q", "--no-rebase", "--no-edit", "origin", "main")
    assert "access_count: 8\n" in two.read(note)
    git(two.root, "push", "-q", "origin", "main")
    git(one.root, "pull", "-q", "origin", "main")
    for machine, title in ((one, "green"), (two, "茶")):
        machine.edit(note, "title: tea", f"title: {title}")
        git(machine.root, "commit", "-qam", "title")
    git(one.root, "push", "-q", "origin", "main")
    with pytest.raises(AssertionError, match="title is 茶 here and green there"):
        git(two.root, "pull", "-q", "--no-rebase", "--no-edit", "origin", "main")
    assert "title: 茶\n" in two.read(note) and "<<<" not in two.read(note)
