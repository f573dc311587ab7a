"""The semantic memory of the design document: its class, its scenarios and its integration points, one test for each.

The document keeps memories in a table of a database; here they are notes (`docs/memories.md` says what differs).
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

import vault_memory
from tests.conftest import Clock
from tests.scripted_http import ScriptedServer
from vault_memory import SemanticMemory
from vault_memory.errors import UsageError
from vault_memory.services.daemon import heartbeat
from vault_memory.services.vault import Vault, open_vault

LIKES = ("音樂", "籃球", "狗", "藍色", "爬山", "壽司", "看電影", "下雨天", "數學", "吉他")
OTHERS = tuple(f"第 {number} 次會議改到星期五下午" for number in range(40))


@dataclass
class Service:
    """The design's service, in a vault with the clock of the test, and a user who is a UUID."""

    memory: SemanticMemory
    user_id: UUID

    def __getattr__(self, name: str) -> Any:
        """A method of the service, for that user, run to its end."""
        return lambda *args, **more: asyncio.run(getattr(self.memory, name)(self.user_id, *args, **more))


@pytest.fixture
def service(vault: Vault) -> Service:
    memory = SemanticMemory(vault.root)
    memory.vault = vault
    return Service(memory, uuid4())


def notes(vault: Vault, user_id: object) -> list[Path]:
    return sorted((vault.root / "memory" / str(user_id) / "memories").rglob("*.md"))


# -- 五、验证方案: 5.3 E2E 验证场景 ----


def test_scenario_1_what_is_said_in_conversation_is_stored(vault: Vault) -> None:
    """存储验证 (E4): 对话中说"我喜欢咖啡" → a memory in the store, of the type preference, for seven days."""
    vault_memory.record_turn(vault, "alice", "我喜欢咖啡", "好的")
    (memory,) = vault_memory.list_memories(vault, "alice")
    assert (memory.memory_type, memory.content, memory.access_count) == ("preference", "我喜欢咖啡", 0)
    assert len(notes(vault, "alice")) == 1 and memory.source.startswith("conversations/")


def test_scenario_2_a_new_session_finds_it_by_meaning(vault: Vault) -> None:
    """检索验证 (E10): 新会话问"我喜欢什么饮料" → it answers, among 50 others of which ten begin 我喜歡; offline."""
    vault_memory.record_turn(vault, "alice", "我喜欢咖啡", "好的")
    for text in (*(f"我喜歡{thing}" for thing in LIKES), *OTHERS):
        vault_memory.store_memory(vault, "alice", text, "note", force_save=True)
    another_session = open_vault(vault.root, now=vault.now)
    found = vault_memory.recall(another_session, "alice", "我喜欢什么饮料")
    assert found[0].content == "我喜欢咖啡" and found.degraded == []
    assert sum(value for part, value in found[0].explain.items() if part != "search") == pytest.approx(
        found[0].score, abs=1e-3
    )


def test_scenario_3_the_system_prompt_has_it(vault: Vault) -> None:
    """注入验证 (E7): 检查 LLM System Prompt 包含记忆段落."""
    vault_memory.record_turn(vault, "alice", "我喜欢咖啡", "好的")
    vault_memory.record_turn(vault, "alice", "今天天气如何", "晴天", conversation_id="another")
    system, *others = vault_memory.build_enhanced_prompt(vault, "alice", "我喜欢什么饮料").messages
    section = system["content"].partition("<recalled-memories>")[2].partition("</recalled-memories>")[0]
    assert system["role"] == "system" and "preference: 我喜欢咖啡" in section
    assert "<recalled-memories>" not in str(others) and others[-1]["content"].endswith("我喜欢什么饮料")


def test_scenario_4_seven_days_later_it_is_gone(vault: Vault, clock: Clock) -> None:
    """TTL 验证 (E1, E2): 7 天后记忆自动过期: at once in recall and prompts; the note goes to the archive by itself."""
    vault_memory.record_turn(vault, "alice", "我喜欢咖啡", "好的")
    clock.time += timedelta(days=6, hours=23)
    assert [each.content for each in vault_memory.list_memories(vault, "alice")] == ["我喜欢咖啡"]
    clock.time += timedelta(hours=1)
    assert vault_memory.recall(vault, "alice", "我喜欢什么饮料") == []
    assert (
        "我喜欢咖啡" not in vault_memory.build_enhanced_prompt(vault, "alice", "我喜欢什么饮料").messages[0]["content"]
    )
    heartbeat(vault, "memories", force=True)
    assert notes(vault, "alice") == []
    (past,) = vault_memory.recall(vault, "alice", "我喜欢什么饮料", history=True)
    assert past.path.startswith("memory/alice/archive/memories/")


# -- 3.1 新增数据库表 ----


def test_the_columns_of_the_table_are_properties_of_the_memory(service: Service) -> None:
    """E1: each column with its default; `metadata` is free; the embedding is in the index."""
    first, second = (
        service.store_memory("部署前要跑測試"),
        service.store_memory("Bob 負責部署", "fact", "web-deploy", 0.9, None, {"project": "shop"}),
    )
    by_id = {each.id: each for each in vault_memory.list_memories(service.memory.vault, str(service.user_id))}
    plain, full = by_id[first], by_id[second]
    assert (plain.memory_type, plain.skill_id, plain.importance, plain.access_count) == ("insight", None, 0.5, 0)
    assert (plain.last_accessed_at, dict(plain.metadata)) == (None, {}) and plain.created_at and plain.expires_at
    assert plain.expires_at - plain.created_at == timedelta(days=7)
    assert (full.memory_type, full.skill_id, full.importance, full.expires_at) == ("fact", "web-deploy", 0.9, None)
    assert full.metadata == {"project": "shop"}
    assert len(notes(service.memory.vault, service.user_id)) == 2


@pytest.mark.parametrize("memory_type", ["insight", "pattern", "preference", "fact"])
def test_the_types_of_the_constraint(service: Service, memory_type: str) -> None:
    """E1: CONSTRAINT valid_memory_type."""
    service.store_memory("部署前要跑測試", memory_type)
    (found,) = service.recall("部署", memory_types=[memory_type])
    assert found.memory_type == memory_type
    with pytest.raises(UsageError, match="'secret'"):
        service.store_memory("部署前要跑測試", "secret")


# -- 3.2 核心模块 ----


def test_recall_is_limited_by_skill_type_and_number(service: Service) -> None:
    """E3: recall(user_id, query, skill_id, top_k=5, memory_types)."""
    for number in range(7):
        service.store_memory(f"部署筆記 {number}", "pattern", "web-deploy" if number % 2 else None)
    service.store_memory("部署由 Bob 決定", "fact")
    assert len(service.recall("部署")) == 5 and len(service.recall("部署", top_k=8)) == 8
    assert {each.skill_id for each in service.recall("部署", "web-deploy", 8)} == {"web-deploy"}
    assert [each.content for each in service.recall("部署", None, 8, ["fact"])] == ["部署由 Bob 決定"]
    assert len(service.recall_memory("部署")) == 3
    assert asyncio.run(service.memory.recall(uuid4(), "部署")) == []


def test_memories_out_of_a_conversation(service: Service) -> None:
    """E4: extract_from_conversation(user_id, messages, skill_id): stored, and returned; by rules without a model."""
    messages = [
        {"role": "system", "content": "<relevant-memories>\n我喜歡茶\n</relevant-memories>"},
        {"role": "user", "content": "我喜欢咖啡"},
        {"role": "assistant", "content": "你喜歡牛奶嗎？"},
        {"role": "user", "content": "We decided to deploy on Thursdays only."},
    ]
    found = service.extract_from_conversation(messages, "web-deploy")
    assert {(each.memory_type, each.content) for each in found} == {
        ("preference", "我喜欢咖啡"),
        ("decision", "We decided to deploy on Thursdays only"),
    }
    assert {each.skill_id for each in found} == {"web-deploy"} and found.degraded == []
    assert {each.id for each in service.recall("咖啡 deploy", "web-deploy")} == {each.id for each in found}


def test_a_model_extracts_what_the_rules_do_not_hear(service: Service, chat: ScriptedServer) -> None:
    """E4: 从对话中提取记忆（LLM 调用）; at temperature 0; what the person did not say is dropped."""
    vault = service.memory.vault
    service.memory.vault = open_vault(
        vault.root, now=vault.now, llm_enabled=True, llm_base_url=chat.url, llm_model="m", llm_timeout_s=5.0
    )
    said = "Mornings are for deep work, please no calls before ten"
    row = {"type": "preference", "importance": 0.6, "turn": 1}
    found = [
        row | {"content": said, "quote": said},
        row | {"content": "Hates Mondays", "quote": "I hate Mondays"},
    ]
    chat.will_say(json.dumps({"memories": found, "summary": "deep work in the mornings"}))
    kept = service.extract_from_conversation([{"role": "user", "content": said}])
    assert chat.received[0].fields["temperature"] == 0
    assert [each.content for each in kept] == [said] and kept.dropped >= 1 and kept.degraded == []


def test_what_is_often_needed_is_proposed_for_the_profile(service: Service, clock: Clock) -> None:
    """E5: consolidate_to_profile(user_id): 将高频记忆聚合到 Profile; the person accepts, or it is needed again."""
    service.store_memory("Bob 負責正式環境的部署", "insight", None, 0.8, None)
    for _ in range(4):
        service.recall("誰負責部署")
        clock.time += timedelta(hours=1)
    (proposed,) = service.consolidate_to_profile().proposed
    assert "Bob 負責正式環境的部署" in proposed.value
    assert service.consolidate_to_profile().proposed == []


# -- 3.3 集成点, 3.4 新增工具 ----


def test_a_prompt_has_the_three_best_of_the_skill(vault: Vault) -> None:
    """E7: PromptBuilder: recall(user_id, user_message, skill_id, top_k=3), formatted as a section of the prompt."""
    for number in range(5):
        vault_memory.store_memory(vault, "alice", f"部署步驟 {number}：檢查設定", "pattern", "web-deploy")
    vault_memory.store_memory(vault, "alice", "部署步驟 9：寄信給客戶", "pattern", "mailing")
    system = vault_memory.build_enhanced_prompt(vault, "alice", "部署步驟有哪些", "web-deploy").messages[0]["content"]
    assert system.count("pattern: 部署步驟") == 3 and "寄信給客戶" not in system


def test_the_hook_at_the_end_of_a_conversation(vault: Vault) -> None:
    """E7: _on_conversation_end: what it holds is kept, each turn once, and what it was about."""
    for said in ("我喜欢咖啡", "怎么选咖啡豆？"):
        vault_memory.record_turn(vault, "alice", said, "好的", conversation_id="c1")
    ended = vault_memory.end_conversation(vault, "alice", "c1")
    assert ended.turns == 2 and "咖啡" in vault_memory.context_summary(vault, "alice")
    assert vault_memory.end_conversation(vault, "alice", "c1").turns == 0
    assert [each.content for each in vault_memory.list_memories(vault, "alice")] == ["我喜欢咖啡"]


def test_the_tools_remember_and_recall_memory(service: Service) -> None:
    """E2, E6: remember(content, importance=0.7), type fact, permanent; recall_memory(query, top_k=3)."""
    memory_id = service.remember("Bob 有正式環境的權限")
    (found,) = service.recall_memory("誰有權限")
    assert (found.id, found.memory_type, found.importance, found.expires_at) == (memory_id, "fact", 0.7, None)
    assert service.memory and service.remember("權限每季檢查一次", 1)


# -- 六、待确认问题 ----


def test_the_capacity_is_limited_and_says_so(vault: Vault) -> None:
    """E8: 每用户最多存储多少条记忆: as many as `memories.capacity` says; what goes is named."""
    small = open_vault(vault.root, now=vault.now, memories_capacity=2)
    least = vault_memory.store_memory(small, "alice", "tea one", importance=0.1)
    vault_memory.store_memory(small, "alice", "Bob deploys")
    stored = vault_memory.store_memory(small, "alice", "Use JWT").stored
    assert stored.expired == (least,) and len(vault_memory.list_memories(small, "alice")) == 2


def test_a_user_sees_and_deletes_own_memories(service: Service) -> None:
    """E8: 用户是否需要查看/删除记忆的能力: yes, in two steps, with a receipt."""
    vault, user_id = service.memory.vault, str(service.user_id)
    memory_id = service.store_memory("Bob 有正式環境的權限")
    assert [each.id for each in vault_memory.list_memories(vault, user_id)] == [memory_id]
    code = vault_memory.prepare_deletion(vault, user_id, ids=[memory_id]).code
    receipt = vault_memory.delete_memories(vault, user_id, code)
    assert receipt.ids == (memory_id,) and all(look.is_absent for look in receipt.looks)
    assert service.recall("權限") == [] and notes(vault, user_id) == []
