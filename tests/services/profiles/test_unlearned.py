"""What a profile has learned from sentences that are to be forgotten (rows B6, E8)."""

from __future__ import annotations

from vault_memory.core.profile import Row
from vault_memory.services.profiles import ProfileFiles, Unlearned, set_preference, unlearned
from vault_memory.services.turns import record_turn
from vault_memory.services.vault import Vault


def without(vault: Vault, *quotes: str) -> Unlearned:
    def is_forgotten(row: Row) -> bool:
        return row.quote in quotes

    return unlearned(ProfileFiles.read(vault, "alice", vault.now()), is_forgotten)


def test_a_value_goes_with_all_that_says_it(vault: Vault) -> None:
    record_turn(vault, "alice", "I live in Rome")
    record_turn(vault, "alice", "I live in Milan")
    assert without(vault, "I live in Rome").values == ()
    assert without(vault, "I live in Rome", "I live in Milan").values == ("timezone = Europe/Rome",)
    assert without(vault).stays == ()


def test_a_suggestion_of_it_is_dismissed(vault: Vault) -> None:
    record_turn(vault, "alice", "我住在高雄")
    state = ProfileFiles.read(vault, "alice", vault.now())
    assert [each.value for each in state.open_suggestions()] == ["Asia/Taipei"]
    record_turn(vault, "alice", "忘掉我住在高雄")
    assert ProfileFiles.read(vault, "alice", vault.now()).open_suggestions() == []


def test_what_was_said_before_the_value_was_replaced_is_no_reason(vault: Vault) -> None:
    record_turn(vault, "alice", "I live in Rome")
    set_preference(vault, "alice", "timezone", "Europe/Berlin")
    record_turn(vault, "alice", "I live in Rome")
    assert without(vault, "I live in Rome").values == ("timezone = Europe/Rome",)


def test_what_a_command_has_confirmed_stays(vault: Vault) -> None:
    record_turn(vault, "alice", "I live in Rome")
    set_preference(vault, "alice", "timezone", "Europe/Rome")
    found = without(vault, "I live in Rome")
    assert found.values == () and "you set it yourself" in found.stays[0]
