"""Erasing by a Python program: a code, and what an interrupted one leaves to whoever opens the vault."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from datetime import timedelta

import pytest

import vault_memory
from tests.adapters.erasing.leftovers import leftovers
from tests.conftest import Clock
from tests.services.erasing.planting import SECRET, planted
from vault_memory import aio
from vault_memory.errors import HistoryError, NotFound, UsageError
from vault_memory.services.forgetting import prepare_forgetting
from vault_memory.services.turns import record_turn
from vault_memory.services.vault import Vault


def places_of(vault: Vault) -> set[str]:
    """Where the text stands. SQLite moves it from a log into its database whenever it likes."""
    return {place.removesuffix("-wal") for place in leftovers(vault.root, SECRET).places}


def test_g5_in_python_it_is_shown_and_then_erased(vault: Vault, clock: Clock) -> None:
    """G5: the code counts once, for what was shown, for five minutes; the state holds no word or hash of it."""
    planted(vault)
    before = places_of(vault)
    shown = vault_memory.prepare_erasing(vault, "alice", texts=[SECRET])
    assert shown.preview.git.commits > 2 and SECRET in shown.preview.forms
    assert f"what all know: {SECRET}" in shown.preview.places
    assert places_of(vault) == before
    with pytest.raises(UsageError, match="something else"):
        vault_memory.erase(vault, "alice", shown.code, texts=["another text"])
    with pytest.raises(UsageError, match="no erasing waits"):
        vault_memory.erase(vault, "alice", shown.code, texts=[SECRET])
    late = vault_memory.prepare_erasing(vault, "alice", texts=[SECRET]).code
    clock.time += timedelta(minutes=6)
    with pytest.raises(UsageError, match="older than five minutes"):
        vault_memory.erase(vault, "alice", late, texts=[SECRET])
    prepare_forgetting(vault, "alice", text="Zanzibar")
    code = asyncio.run(aio.prepare_erasing(vault, "alice", texts=[SECRET])).code
    vault_memory.prepare_erasing(vault, "alice", texts=[SECRET])
    receipt = asyncio.run(aio.erase(vault, "alice", code, texts=[SECRET]))
    assert receipt.left == () and leftovers(vault.root, SECRET).places == []
    assert not [*(vault.root / ".vault-memory").glob("erasures/*.json")]
    assert not [*(vault.root / ".vault-memory").glob("forgetting/*.json")]


def test_g5_everything_of_a_user_and_a_note(vault: Vault) -> None:
    record_turn(vault, "zenobia", "I like the dark theme", "ok")
    record_turn(vault, "bob", "I like the dark theme", "ok")
    note = vault.path("zenobia", "notes/plan.md")
    note.parent.mkdir()
    note.write_text("the plan for the garden of the west\n")
    code = vault_memory.prepare_erasing(vault, "zenobia", note="memory/zenobia/notes/plan.md").code
    assert vault_memory.erase(vault, "zenobia", code, note="memory/zenobia/notes/plan.md").left == ()
    assert not note.exists()
    prepare_forgetting(vault, "zenobia", key="theme")
    code = vault_memory.prepare_erasing(vault, "zenobia", everything=True).code
    with pytest.raises(UsageError):
        vault_memory.erase(vault, "bob", code, everything=True)
    assert vault_memory.erase(vault, "zenobia", code, everything=True).left == ()
    assert vault.user_ids() == ["bob"] and leftovers(vault.root, "zenobia").places == []
    code = vault_memory.prepare_erasing(vault, "zenobia", everything=True).code  # of whom a store may have something
    receipt = vault_memory.erase(vault, "zenobia", code, everything=True)
    assert (receipt.commits, receipt.left, leftovers(vault.root, "zenobia").places) == (0, (), [])
    with pytest.raises(NotFound):
        vault_memory.prepare_erasing(vault, "zenobia", texts=["the dark theme"])


def test_what_cannot_be_meant_is_told(vault: Vault) -> None:
    record_turn(vault, "alice", "hello", "hi")
    for wrong in ({}, {"texts": ["some text"], "everything": True}, {"texts": "some text"}, {"texts": [1]}):
        with pytest.raises(UsageError):
            vault_memory.prepare_erasing(vault, "alice", **wrong)
    for wrong in ({"note": "memory/alice/none.md"}, {"note": "mem_1769753100000_a1b2c3d4"}):
        with pytest.raises(NotFound):
            vault_memory.prepare_erasing(vault, "alice", **wrong)
    with pytest.raises(NotFound):
        vault_memory.prepare_erasing(vault, "nobody", everything=True)


def killed(vault: Vault, step: str) -> None:
    """An erasing of another process, which is killed after a step."""
    words = [sys.executable, "-m", "tests.services.erasing.planting", str(vault.root), step]
    assert subprocess.run(words, capture_output=True, timeout=120).returncode == -9


def test_a_program_that_opens_the_vault_goes_on_with_an_erasing(vault: Vault) -> None:
    """It opens it by name, or has it found; afterwards nothing is left."""
    planted(vault)
    killed(vault, "stores cleared")
    assert leftovers(vault.root, SECRET).places
    vault_memory.open_vault(vault.root)
    assert leftovers(vault.root, SECRET).places == []
    assert not (vault.root / ".vault-memory/erasing").exists()


def test_where_it_cannot_go_on_the_error_names_the_next_step(vault: Vault) -> None:
    """A stopped rebase, and a damaged note of what was wanted: nothing is read or written before that is mended."""
    planted(vault)
    killed(vault, "asked")
    stopped = vault.root / ".git/rebase-merge"
    stopped.mkdir()
    with pytest.raises(HistoryError, match="was interrupted.*rebase"):
        vault_memory.open_vault(vault.root)
    stopped.rmdir()
    journal = vault.root / ".vault-memory/erasing"
    wanted = journal.read_bytes()
    journal.write_text(json.dumps({"user_id": "alice"}))
    with pytest.raises(HistoryError, match="delete it, then erase again"):
        asyncio.run(aio.open_vault(vault.root))
    journal.write_bytes(wanted)
    journal.chmod(0o600)
    vault_memory.open_vault(vault.root)
    assert leftovers(vault.root, SECRET).places == []
