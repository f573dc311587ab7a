"""The tables for Obsidian: made for old vaults too, and never over a person's."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
import yaml

from vault_memory.services.admin import create_vault
from vault_memory.services.notes import write_tables
from vault_memory.services.starter import tables
from vault_memory.services.vault import Vault, open_vault


def names(paths: tuple) -> list[str]:
    return [str(path) for path in paths]


def test_a_new_vault_has_all_tables(vault: Vault) -> None:
    assert write_tables(vault).written == () == write_tables(vault).left
    assert {path.name for path in vault.root.glob("*.base")} == {"Entities.base", "Memories.base", "Mistakes.base"}


def test_missing_tables_are_written_and_a_persons_are_left(vault: Vault) -> None:
    """Issue 15: `.base` tables by a command, in one commit; a person's table stays byte for byte."""
    own = b"views:\n- type: table\n  name: mine\n"
    (vault.root / "Memories.base").write_bytes(own)
    (vault.root / "Mistakes.base").unlink()
    done = write_tables(vault)
    assert (names(done.written), names(done.left)) == (["Mistakes.base"], ["Memories.base"])
    assert (vault.root / "Memories.base").read_bytes() == own
    assert vault.history.log(limit=1)[0].subject == "vault: tables for Obsidian" and not vault.history.uncommitted()


def test_a_table_of_an_older_version_is_replaced(vault: Vault, old_table: bytes) -> None:
    (vault.root / "Memories.base").write_bytes(old_table)
    assert names(write_tables(vault).written) == ["Memories.base"]
    (vault.root / "Memories.base").write_bytes(old_table + b"# mine\n")
    assert names(write_tables(vault).left) == ["Memories.base"]


def test_an_adopted_vault_gets_them_in_its_language(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/tea.md").write_text("tea", "utf-8")
    root = create_vault(tmp_path / "notes", adopt=True, locale="en").root
    assert list(root.glob("*.base")) == []
    assert len(write_tables(open_vault(root)).written) == 3
    assert "displayName: Importance" in (root / "Memories.base").read_text("utf-8")


@pytest.mark.parametrize("locale", ["", "zh-CN", "en"])
def test_the_table_of_memories_finds_them_wherever_they_lie(locale: str) -> None:
    """By type, importance and expiry; the filter takes the third part of a path, so that months may be folders in it,
    and an archive or another folder of the same name is none."""
    base = yaml.safe_load(next(text for path, text in tables(locale).items() if path.name == "Memories.base"))
    assert 'file.path.split("/")[2] == "memories"' in base["filters"]["and"]
    by_type, by_importance, by_expiry = base["views"][1:4]
    assert by_type["groupBy"] == {"property": "note.type", "direction": "ASC"}
    assert by_importance["sort"] == [{"property": "importance", "direction": "DESC"}]
    assert by_expiry["sort"] == [{"property": "expires_at", "direction": "ASC"}]
    assert "!expires_at.isEmpty()" in by_expiry["filters"]["and"]
    shown = {
        column for view in base["views"] for column in view["order"] if not column.startswith(("file.", "formula."))
    }
    assert {f"note.{column}" for column in shown} == {name for name in base["properties"] if name.startswith("note.")}
    assert {name.partition(".")[2] for name in base["properties"] if name.startswith("formula.")} == {*base["formulas"]}


@pytest.fixture
def old_table() -> bytes:
    """Memories.base as it was when notes lay in one folder."""
    text = (Path(__file__).parent / "Memories.base.old").read_bytes()
    assert hashlib.sha256(text).hexdigest().startswith("793b68b2")
    return text
