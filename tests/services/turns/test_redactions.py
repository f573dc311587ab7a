"""Counts of what the privacy gate took out: they add up, follow a user, and never hold a word."""

from __future__ import annotations

import threading
from pathlib import Path

from vault_memory.services.turns.record import record_turn
from vault_memory.services.turns.redactions import add_redactions, redactions, rename_redactions
from vault_memory.services.vault import Vault

PASSWORD = "Xk9#mP2$vQ7w"


def counts_file(vault: Vault) -> Path:
    return vault.root / ".vault-memory" / "redactions" / "alice.json"


def test_a_turn_adds_what_was_taken_out_of_it(vault: Vault) -> None:
    said = f"password: {PASSWORD}"
    once = dict(record_turn(vault, "alice", said).redactions)
    assert once.get("password", 0) >= 1
    record_turn(vault, "alice", said)
    assert redactions(vault, "alice") == {category: 2 * count for category, count in once.items()}
    assert PASSWORD not in counts_file(vault).read_text()


def test_a_turn_without_redactions_writes_no_counts(vault: Vault) -> None:
    assert record_turn(vault, "alice", "我喜歡暗色主題").redactions == {}
    assert not counts_file(vault).exists()


def test_counts_of_several_threads_add_up(bare_vault: Vault) -> None:
    def add() -> None:
        for _ in range(10):
            add_redactions(bare_vault, "alice", {"health": 1, "api-key": 2})

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert redactions(bare_vault, "alice") == {"api-key": 80, "health": 40}


def test_damaged_counts_start_again(bare_vault: Vault) -> None:
    add_redactions(bare_vault, "alice", {"health": 1})
    counts_file(bare_vault).write_text('{"health": "many", "card": 1}')
    assert redactions(bare_vault, "alice") == {"card": 1}
    counts_file(bare_vault).write_text("{")
    add_redactions(bare_vault, "alice", {"health": 3})
    assert redactions(bare_vault, "alice") == {"health": 3}


def test_counts_follow_a_user_to_another_id(bare_vault: Vault) -> None:
    rename_redactions(bare_vault, "alice", "anna")  # nothing was counted yet
    add_redactions(bare_vault, "alice", {"health": 2})
    rename_redactions(bare_vault, "alice", "anna")
    assert (redactions(bare_vault, "anna"), redactions(bare_vault, "alice")) == ({"health": 2}, {})
