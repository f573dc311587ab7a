"""`save_conversation` and `extract_and_update` of one request are one turn, with the whole answer."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

from tests.conftest import Clock
from vault_memory.services.notes import newest_turns
from vault_memory.services.retrieval import SearchQuery, search
from vault_memory.services.turns import record_turn, redactions, save_conversation
from vault_memory.services.vault import Vault, open_vault

WHOLE = "".join(f"第{n}步：把水加熱到八十度，" for n in range(80))


def answers(vault: Vault, user_id: str = "alice") -> list[str]:
    """The answers of the record, oldest first, as readers get them."""
    return [turn["assistant_message"] for _, turn in newest_turns(vault, user_id, 20)][::-1]


def record(vault: Vault, user_id: str = "alice") -> bytes:
    (path,) = Path(vault.path(user_id, "conversations")).glob("*.jsonl")
    return path.read_bytes()


def test_the_rest_of_an_answer_is_added(vault: Vault) -> None:
    """A8: what was handed over of the answer stays as it is; a line with the rest makes it whole, also in a search."""
    begun = record_turn(vault, "alice", "怎麼泡茶", WHOLE[:500], skill="rag-kb")
    before = record(vault)
    saved = save_conversation(vault, "alice", "怎麼泡茶", WHOLE)
    assert saved.source == begun.source and saved.is_complete
    assert answers(vault) == [WHOLE] and record(vault).startswith(before)
    row = json.loads(record(vault)[len(before) :])
    assert row["assistant_message"] == WHOLE[500:] and row["continues"] is True
    assert search(vault, "alice", SearchQuery("第79步", mode="keyword")).hits[0].source.startswith("conversations/")
    memory = (vault.root / "memory" / "alice" / "MEMORY.md").read_text(encoding="utf-8")
    assert memory.count("怎麼泡茶") == 1
    again = record(vault)
    assert not save_conversation(vault, "alice", "怎麼泡茶", WHOLE).is_new and record(vault) == again
    assert answers(open_vault(vault.root)) == [WHOLE]


def test_the_same_words_twice_are_two_turns(vault: Vault) -> None:
    """A8: each answer goes to its own turn; one that begins otherwise is another turn's, and so is one much later."""
    for answer in (WHOLE, WHOLE[::-1]):
        record_turn(vault, "alice", "怎麼泡茶", answer[:500])
        save_conversation(vault, "alice", "怎麼泡茶", answer)
    assert answers(vault) == [WHOLE, WHOLE[::-1]]
    save_conversation(vault, "alice", "怎麼泡茶", "好的")
    assert answers(vault) == [WHOLE, WHOLE[::-1], "好的"]


def test_a_short_answer_and_one_that_was_never_begun(vault: Vault, clock: Clock) -> None:
    """A8: of a short answer nothing is missing; a turn that nobody learned from is learned from."""
    record_turn(vault, "alice", "hello", "world")
    assert save_conversation(vault, "alice", "hello", "world").is_new is False
    assert [change.key for change in save_conversation(vault, "alice", "我喜歡暗色主題", "好的").changes] == ["theme"]
    clock.time += timedelta(minutes=11)
    assert save_conversation(vault, "alice", "hello", "world").is_new
    assert answers(vault) == ["world", "好的", "world"]


def test_a_secret_that_was_cut_in_two_is_not_put_together(vault: Vault) -> None:
    """R-P: the rest comes from the redacted answer."""
    key = "sk-proj-Zk3vQ9xT7mLp2RnB8sYdW4cHfJ6gKa1E"
    answer = "很" * 470 + f" OPENAI_API_KEY={key} 收好。"
    record_turn(vault, "alice", "設定", answer[:500])
    saved = save_conversation(vault, "alice", "設定", answer)
    assert len(answers(vault)) == 1 and key.encode() not in record(vault) and answers(vault)[0].endswith(" 收好。")
    assert key[10:].encode() not in record(vault) and saved.source
    assert sum(redactions(vault, "alice").values()) >= 1


def test_nothing_is_kept_off_the_record(vault: Vault) -> None:
    vault.config.off_record.append("alice")
    assert save_conversation(vault, "alice", "hello", "world").source == ""
    assert vault.user_ids() == []
