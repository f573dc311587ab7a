"""Each check finds what it looks for, and `fix` repairs what can be repaired safely."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.vaults import copied, write
from vault_memory.core import layout
from vault_memory.errors import IndexUnusable
from vault_memory.services.admin.access import new_user_token
from vault_memory.services.admin.checks import CHECKS, Check
from vault_memory.services.admin.doctor import Finding, doctor
from vault_memory.services.admin.status import status
from vault_memory.services.indexing.reconcile import reconcile
from vault_memory.services.memories import list_memories
from vault_memory.services.vault import Vault, open_vault

pytestmark = pytest.mark.slow


@pytest.fixture
def vault(tmp_path: Path, new_vault: Path) -> Vault:
    vault = open_vault(copied(new_vault, tmp_path / "vault"))
    write(vault, "alice", "USER.md", "# 使用者資料\n")
    for scope in vault.scopes():
        reconcile(vault, scope)
    return vault


def found(vault: Vault, name: str, *, fix: bool = False) -> Finding:
    [finding] = [f for f in doctor(vault, fix=fix) if f.name == name]
    return finding


def test_a_new_vault_is_well(vault: Vault) -> None:
    findings = doctor(vault)
    assert [f for f in findings if not f.ok] == []
    assert [f.name for f in findings] == [check.name for check in CHECKS]


def test_what_is_missing_is_put_back(vault: Vault) -> None:
    (vault.root / "context" / "SOUL.md").unlink()
    assert "SOUL.md" in found(vault, "vault").message
    assert found(vault, "vault", fix=True).ok
    assert (vault.root / "context" / "SOUL.md").is_file()


def test_a_gitignore_without_our_rules(vault: Vault) -> None:
    (vault.root / ".gitignore").write_text("mine\n")
    assert not found(vault, "vault").ok
    assert found(vault, "vault", fix=True).ok
    assert "mine" in (vault.root / ".gitignore").read_text().splitlines()


def test_evidence_that_cannot_be_read_is_named(vault: Vault) -> None:
    write(vault, "alice", "feedback.jsonl", '{"key": "theme", "op": "set", "value": "dark"}\n{"key": []}\n\n{\n')
    said = found(vault, "evidence")
    assert not said.ok and "memory/alice/feedback.jsonl, line 2: 2 lines are no evidence" in said.message
    write(vault, "alice", "feedback.jsonl", '{"key": "theme", "op": "set", "value": "dark"}\n')
    assert found(vault, "evidence").ok


def test_tokens_that_others_can_read_are_closed(vault: Vault) -> None:
    new_user_token(vault, "alice")
    tokens = [vault.root / ".vault-memory" / name for name in ("token", "tokens/alice")]
    for path in tokens:
        path.chmod(0o644)
    said = found(vault, "tokens")
    assert not said.ok and "token, alice" in said.message
    assert found(vault, "tokens", fix=True).ok
    assert [path.stat().st_mode & 0o777 for path in tokens] == [0o600, 0o600]


def test_hooks_are_installed_again(vault: Vault) -> None:
    hook = vault.root / ".git" / "hooks" / "post-checkout"
    hook.unlink()
    assert "post-checkout" in found(vault, "hooks").message
    assert found(vault, "hooks", fix=True).ok
    assert os.access(hook, os.X_OK)


def test_an_index_that_lies_is_corrected(vault: Vault) -> None:
    write(vault, "alice", "new.md", "text\n")
    finding = found(vault, "index")
    assert (finding.ok, finding.fixable) == (False, True)
    assert "new.md" in finding.message
    assert found(vault, "index", fix=True).ok


def test_an_index_of_rubbish_is_rebuilt(vault: Vault) -> None:
    path = vault.index_path("alice")
    for each in path.parent.glob("index.db*"):
        each.unlink()
    path.write_bytes(b"this is no database" * 1000)
    assert found(vault, "index", fix=True).ok
    assert set(vault.index("alice").files()) == {"USER.md"}


def test_notes_that_cannot_be_read(vault: Vault) -> None:
    write(vault, "alice", "bad.md", "").write_bytes(b"\xff\n")
    reconcile(vault, "alice")
    assert "memory/alice/bad.md" in found(vault, "notes").message


def _memory(vault: Vault, name: str, properties: str) -> None:
    write(vault, "alice", f"memories/{name}.md", f"---\nid: {name}\n{properties}---\nI like tea {name}\n")
    reconcile(vault, "alice")


def test_two_memories_of_one_id_are_named_and_what_is_recalled_of_them(vault: Vault) -> None:
    _memory(vault, "mem_1_a", "")
    _memory(vault, "mem_1_b", "")
    assert found(vault, "memories").ok
    write(vault, "alice", "memories/copy.md", "---\nid: mem_1_a\n---\nI like coffee\n")
    reconcile(vault, "alice")
    said = found(vault, "memories")
    assert not said.ok and "memories/copy.md" in said.message and "mem_1_a" in said.message
    assert any("memories/copy.md" in line for line in status(vault).degraded)


def test_a_memory_whose_place_nothing_took_is_named(vault: Vault) -> None:
    _memory(vault, "mem_1_a", "superseded_by: mem_1_b\n")
    assert "mem_1_b" in found(vault, "memories").message
    assert any("memories/mem_1_a.md is recalled again" in line for line in status(vault).degraded)
    assert [file.memory.id for file in list_memories(vault, "alice")] == ["mem_1_a"]
    _memory(vault, "mem_1_b", "")
    assert [file.memory.id for file in list_memories(vault, "alice")] == ["mem_1_b"]
    assert "no two" in found(vault, "memories").message
    assert not any("mem_1_a" in line for line in status(vault).degraded)


def test_memories_that_took_the_place_of_each_other_are_named(vault: Vault) -> None:
    for name, successor in (("mem_1_a", "mem_1_b"), ("mem_1_b", "mem_1_c"), ("mem_1_c", "mem_1_b")):
        _memory(vault, name, f"superseded_by: {successor}\n")
    said = found(vault, "memories")
    assert not said.ok and "mem_1_b.md is not recalled" in said.message and "mem_1_c.md took the place" in said.message
    named = [line for line in status(vault).degraded if "is not recalled" in line]
    assert len(named) == 2 and "mem_1_a" not in "".join(named), "it is past, as any that was replaced"


def test_a_memory_that_takes_its_own_place_is_named_and_recalled(vault: Vault) -> None:
    _memory(vault, "mem_1_a", "superseded_by: mem_1_a\n")
    assert "superseded_by" in found(vault, "notes").message
    assert [file.memory.id for file in list_memories(vault, "alice")] == ["mem_1_a"]


def test_a_job_that_is_not_there(vault: Vault) -> None:
    settings = vault.root / layout.SETTINGS_FILE
    settings.write_text('format = 1\noff_record = ["telegram:1", "alice"]\n')
    assert "off_record names nobody by 'telegram:1'," in found(open_vault(vault.root), "settings").message
    settings.write_text('format = 1\n[schedule]\nfull-chekc = "04:00"\n')
    finding = found(open_vault(vault.root), "settings")
    assert "full-chekc" in finding.message
    assert "full-check" in finding.next_step


def test_what_a_dead_process_left(vault: Vault) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    left = vault.root / "memory" / "alice" / f".USER.md.{dead.pid}-0.vault-memory.tmp"
    left.write_text("half")
    assert not found(vault, "leftovers").ok
    assert found(vault, "leftovers", fix=True).ok
    assert not left.exists()


def test_a_check_that_fails_is_a_finding(vault: Vault) -> None:
    def inspect(vault: Vault) -> tuple[str, str]:
        raise IndexUnusable("it is broken")

    def repair(vault: Vault) -> None:
        raise IndexUnusable("it stays broken")

    [finding] = doctor(vault, fix=True, checks=[Check("x", inspect, repair)])
    assert (finding.ok, finding.message) == (False, "it is broken (repairing it failed: it stays broken)")
