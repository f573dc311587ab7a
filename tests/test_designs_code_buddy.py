"""The memory system of the second design document: entries, duplicates, deletion, the language model and statistics, a
test for each of its sections. Its tools, entities and mistakes stand elsewhere."""

from __future__ import annotations

import json
import re
from datetime import timedelta

import pytest

import vault_memory
from tests.conftest import Cli, Clock
from tests.scripted_http import Reply, ScriptedServer
from vault_memory.errors import UsageError
from vault_memory.services.vault import Vault, open_vault

JWT = "Decided to use JWT tokens for user authentication"
ALIKE = "We decided to use JWT tokens for authentication"


@pytest.fixture
def smart(vault: Vault, chat: ScriptedServer) -> Vault:
    """The vault with a scripted language model."""
    return open_vault(
        vault.root, now=vault.now, llm_enabled=True, llm_base_url=chat.url, llm_model="m", llm_timeout_s=5.0
    )


def contents(vault: Vault) -> set[str]:
    return {each.content for each in vault_memory.list_memories(vault, "alice")}


# -- 記憶類型, 資料結構, 儲存機制 ----


@pytest.mark.parametrize("memory_type", ["decision", "pattern", "bugfix", "lesson", "feature", "note"])
def test_each_type_of_memory(vault: Vault, memory_type: str) -> None:
    """B1: 記憶類型."""
    vault_memory.store_memory(vault, "alice", JWT, memory_type)
    assert [each.type for each in vault_memory.list_memories(vault, "alice", memory_type)] == [memory_type]


def test_an_entry_has_id_type_title_content_tags_and_time(vault: Vault, clock: Clock) -> None:
    """B1: MemoryEntry, its examples, and 所有資料即時寫入檔案: what is stored is in its file, for good."""
    done = vault_memory.store_memory(
        vault, "alice", JWT, "decision", ttl_days=None, title="Use JWT for auth", tags=["auth", "security"]
    )
    task = vault_memory.store_memory(
        vault, "alice", "Implement login feature", "feature", ttl_days=None, tags=["buddy-do"], prefix="task"
    )
    assert re.fullmatch(r"mem_\d{13}_[a-z0-9]+", done) and re.fullmatch(r"task_\d{13}_[a-z0-9]+", task)
    clock.time += timedelta(days=3_000)
    entry = {each.id: each for each in vault_memory.list_memories(open_vault(vault.root, now=clock), "alice")}[done]
    assert (entry.type, entry.title, entry.content, entry.tags) == (
        "decision",
        "Use JWT for auth",
        JWT,
        ("auth", "security"),
    )
    assert entry.created_at and int(entry.created_at.timestamp()) == int(done.split("_")[1]) // 1000
    assert vault_memory.recall(vault, "alice", "security")[0].id == done, "title, content and tags are searched"


# -- 記憶去重機制 ----


def test_nothing_similar_is_stored(vault: Vault) -> None:
    """B5: 無相似記憶 → 直接儲存."""
    vault_memory.store_memory(vault, "alice", JWT)
    assert vault_memory.store_memory(vault, "alice", "Friday lunches are at noon").stored.similar == ()
    assert len(contents(vault)) == 2


def test_one_similar_and_no_model_is_asked_about(cli: Cli) -> None:
    """B5: 1 個相似 + 無 LLM → 提示使用者確認; forceSave 強制儲存; the result is {similar, score, reason}."""
    cli("memory", "add", "--user", "alice", JWT)
    done = cli.run("memory", "add", "--user", "alice", ALIKE, "--json")
    (similar,) = json.loads(done.stdout)["similar"]
    assert done.returncode == 1 and similar["score"] >= 0.35 and similar["reason"] and similar["content"] == JWT
    assert cli.json("memory", "stats", "--user", "alice")["memories"] == 1
    cli("memory", "add", "--user", "alice", ALIKE, "--force")
    assert cli.json("memory", "stats", "--user", "alice")["memories"] == 2


def test_one_similar_and_a_model_are_merged(smart: Vault, chat: ScriptedServer) -> None:
    """B5: 1 個相似 + LLM 已設定 → 自動合併, at the model's .60 and more."""
    vault_memory.store_memory(smart, "alice", JWT)
    merged = "We decided to use JWT tokens for user authentication"
    chat.will_say(json.dumps({"score": 0.6, "reason": "the same decision", "merged": merged}))
    stored = vault_memory.store_memory(smart, "alice", ALIKE).stored
    assert contents(smart) == {merged} and len(stored.merged) == 1 and chat.received[0].fields["temperature"] == 0
    chat.will_say(json.dumps({"score": 0.59, "reason": "another one", "merged": ""}))
    assert vault_memory.store_memory(smart, "alice", "They decided to use JWT tokens for authentication").stored.similar


def test_several_similar_are_always_asked_about(smart: Vault, chat: ScriptedServer) -> None:
    """B5: 多個相似 → 提示使用者確認，顯示相似列表; the model is not asked."""
    for text in (JWT, ALIKE):
        vault_memory.store_memory(smart, "alice", text, force_save=True)
    told = vault_memory.store_memory(smart, "alice", "Decided to use JWT tokens for authentication").stored.similar
    assert {each.content for each in told} == {JWT, ALIKE} and chat.received == []


def test_the_model_looks_among_the_ten_latest_where_words_find_nothing(smart: Vault, chat: ScriptedServer) -> None:
    """B5: 第二層: LLM 語義相似度 (≥60%), 檢查最近 10 筆記憶的語義."""
    for number in range(12):
        vault_memory.store_memory(smart, "alice", f"Note {number} on topic{number}", force_save=True)
    chat.will_say(json.dumps({"similar": []}))
    vault_memory.store_memory(smart, "alice", "Bob deploys on weekends")
    asked = chat.received[0].fields["messages"][-1]["content"]
    assert "topic11" in asked and "topic2" in asked and "topic1 " not in asked and "topic0" not in asked


def test_chinese_is_compared_by_pairs_of_characters(vault: Vault) -> None:
    """B5: words split on blanks would never find it."""
    old = vault_memory.store_memory(vault, "alice", "決定用 JWT 做使用者登入驗證")
    told = vault_memory.store_memory(vault, "alice", "我们决定使用者登入验证用 JWT").stored.similar
    assert [each.id for each in told] == [old] and told[0].score >= 0.35


# -- 記憶刪除機制 ----


@pytest.mark.parametrize("chosen", [("--query", "JWT"), ("--type", "decision"), ()])
def test_deleting_takes_two_steps(cli: Cli, chosen: tuple[str, ...]) -> None:
    """B6: 雙重確認流程, by query, type and id: list, preview of three, a code of six characters for five minutes."""
    ids = [
        cli("memory", "add", "--user", "alice", f"JWT rule {n}", "--type", "decision", "--force").strip()
        for n in range(4)
    ]
    told = cli.json("memory", "delete", "--user", "alice", *(chosen or ids))
    assert sorted(told["ids"]) == sorted(ids) and len(told["preview"]) == 3
    assert re.fullmatch(r"[A-Z0-9]{6}", told["confirmCode"]) and told["expiresAt"]
    assert cli.json("memory", "stats", "--user", "alice")["memories"] == 4, "no code, no deletion"
    receipt = cli.json("memory", "delete", "--user", "alice", "--code", told["confirmCode"])
    assert sorted(receipt["deleted"]) == sorted(ids) and all(each["absent"] for each in receipt["verified"])
    assert "no deletion waits" in cli("memory", "delete", "--user", "alice", "--code", told["confirmCode"], code=2)


def test_a_code_ends_after_five_minutes(vault: Vault, clock: Clock) -> None:
    """B6: 確認碼 5 分鐘後過期; 不輸入確認碼即自動取消."""
    memory_id = vault_memory.store_memory(vault, "alice", JWT)
    code = vault_memory.prepare_deletion(vault, "alice", ids=[memory_id]).code
    clock.time += timedelta(minutes=5)
    with pytest.raises(UsageError, match="older than five minutes"):
        vault_memory.delete_memories(vault, "alice", code)
    assert contents(vault) == {JWT}


# -- LLM 設定, LLM 功能一覽 ----


def test_the_settings_of_the_model(vault: Vault, chat: ScriptedServer) -> None:
    """B7: enabled, provider, baseUrl, apiKey, model, maxTokens 2048, temperature 0.7; the key is shown nowhere."""
    asking = open_vault(
        vault.root,
        now=vault.now,
        environ={"BUDDY_KEY": "sk-none-of-yours"},
        llm_enabled=True,
        llm_base_url=chat.url,
        llm_model="gpt-4o-mini",
        llm_key_env="BUDDY_KEY",
    )
    chat.will_say(json.dumps({"answer": "Yes.", "used": []}))
    assert str(vault_memory.ask_ai(asking, "alice", "Do we use JWT?")) == "Yes."
    fields = chat.received[0].fields
    assert (fields["model"], fields["max_tokens"], fields["temperature"]) == ("gpt-4o-mini", 2048, 0.7)
    assert chat.received[0].header("Authorization") == "Bearer sk-none-of-yours"
    chat.will_say(Reply(status=403))
    answer = vault_memory.ask_ai(asking, "alice", "Do we use JWT?")
    assert not answer.by_model and "403" in answer.text and "sk-none" not in f"{answer} {answer.degraded}"
    assert open_vault(vault.root, llm_provider="openai").config.llm_address() == "https://api.openai.com/v1"


def test_everything_but_the_model_works_offline(vault: Vault) -> None:
    """B1, B7: 完全離線可用: duplicates by words, deletion, recall; what needs a model says so."""
    vault_memory.store_memory(vault, "alice", JWT)
    answer = vault_memory.ask_ai(vault, "alice", "JWT?")
    assert JWT in answer.text and not answer.by_model and answer.degraded


# -- 注意事項 ----


def test_the_statistics_of_a_session(cli: Cli) -> None:
    """B9: totals over the stores; memoriesCreated and tasksCompleted 只在 Session 內有效."""
    cli("memory", "add", "--user", "alice", JWT, "--type", "decision")
    told = cli.json("memory", "stats", "--user", "alice")
    assert (told["memories"], told["byType"], told["entities"], told["mistakes"]) == (1, {"decision": 1}, 0, 0)
    assert (told["memoriesCreated"], told["tasksCompleted"]) == (0, 0), "another process made it"


def test_memories_created_count_in_this_process(vault: Vault) -> None:
    """B9."""
    before = vault_memory.memory_stats(vault, "bob").session.memories_created if vault.is_user("bob") else 0
    vault_memory.store_memory(vault, "bob", JWT)
    assert vault_memory.memory_stats(vault, "bob").as_dict()["memoriesCreated"] == before + 1
