"""Of a memory an erasing leaves nothing but its mark: then it is no memory any more."""

from __future__ import annotations

from vault_memory.services.erasing import erase, of_texts
from vault_memory.services.memories import list_memories, memory_files, statistics, store_memory
from vault_memory.services.retrieval import build_enhanced_prompt, recall
from vault_memory.services.turns import record_turn
from vault_memory.services.vault import Vault

TEXT = "I like mangos from Zanzibar. Remember that the spare key hangs behind the mirror"


def test_an_emptied_memory_is_in_no_list_no_recall_and_no_prompt(vault: Vault) -> None:
    record_turn(vault, "alice", TEXT, "ok")
    record_turn(vault, "alice", "I like green tea a lot", "ok")
    stays, goes = list_memories(vault, "alice")
    erase(vault, of_texts(vault, "alice", [TEXT]))
    assert [each.memory.id for each in list_memories(vault, "alice")] == [stays.memory.id]
    assert [each.memory.id for each in list_memories(vault, "alice", history=True)] == [stays.memory.id]
    assert list_memories(vault, "alice", offset=1) == []
    for history in (False, True):
        for query in ("erased", "(erased)", "what do I like?"):
            found = recall(vault, "alice", query, history=history)
            assert not [each for each in found if "erased" in each.content], query
    told = statistics(vault, "alice")
    assert (told.active, told.past) == (1, 1)
    text = build_enhanced_prompt(vault, "alice", "what do I like? (erased)").text
    profile = text.partition("<user-profile>")[2].partition("</user-profile>")[0]
    assert "Joined" in profile or "加入" in profile
    assert "erased" not in profile
    assert "erased" not in text.partition("<recalled-memories>")[2].partition("</recalled-memories>")[0]
    assert memory_files(vault, "alice", [goes.memory.id])[0].memory.content == "(erased)", "it can be deleted by its id"


def test_a_memory_of_which_words_are_left_stays_one(vault: Vault) -> None:
    store_memory(vault, "alice", "The key of Zanzibar hangs behind the mirror")
    erase(vault, of_texts(vault, "alice", ["hangs behind the mirror"]))
    (left,) = list_memories(vault, "alice")
    assert left.memory.content == "The key of Zanzibar (erased)"


def test_what_an_emptied_memory_has_replaced_does_not_come_back(vault: Vault) -> None:
    record_turn(vault, "alice", "I live in Leeds", "ok")
    record_turn(vault, "alice", "I live in York now", "ok")
    (now,) = list_memories(vault, "alice")
    assert now.memory.supersedes
    erase(vault, of_texts(vault, "alice", ["I live in York now"]))
    assert list_memories(vault, "alice") == []
