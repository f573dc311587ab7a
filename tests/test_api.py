"""The memory in a Python program, as docs/integrate.md shows it."""

from __future__ import annotations

import asyncio
import functools
import inspect
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

import vault_memory
from vault_memory import (
    FeedbackCollector,
    MemoryManager,
    MemorySearchEngine,
    PreferenceExtractor,
    SemanticMemory,
    Skill,
    aio,
)
from vault_memory.adapters.embedding import OfflineEmbedder
from vault_memory.errors import InvalidId, NotAVault, NotFound, UsageError
from vault_memory.services.indexing import embed
from vault_memory.services.notes import newest_turns
from vault_memory.services.vault import Vault

PAGE = Path(__file__).parents[1] / "docs" / "integrate.md"


def python_of_the_page() -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.S | re.M)


def test_every_public_name_is_there_and_told() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for name in vault_memory.__all__:
        assert getattr(vault_memory, name).__doc__
        assert name == "Vault" or f"`{name}" in page, name
    with pytest.raises(AttributeError):
        _ = vault_memory.nonsense  # type: ignore[attr-defined]


def test_asyncio_has_every_function_of_a_vault() -> None:
    functions = {name for name in vault_memory.__all__ if name.islower()} - {"aio", "create_vault"}
    assert [name for name in functions if not hasattr(aio, name)] == []


def test_importing_the_package_imports_nothing_of_it() -> None:
    script = "import sys, vault_memory; print([m for m in sys.modules if m.startswith('vault_memory.')])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "['vault_memory.lazy']"


def test_the_three_lines_of_the_page(vault: Vault) -> None:
    """What one turn taught stands in the next one's prompt."""
    asked: list[str] = []

    def ask_the_model(prompt: str) -> str:
        asked.append(prompt)
        return "好的"

    names: dict = {"ask_the_model": ask_the_model}
    exec(python_of_the_page()[0].replace("my-vault", str(vault.root)), names)  # noqa: S102
    assert names["chat"]("alice", "我喜歡暗色主題") == "好的"
    names["chat"]("alice", "幫我做一個按鈕")
    assert "<user-profile>" not in asked[0] and "主題偏好：dark" in asked[1]
    assert "Human: 我喜歡暗色主題" in asked[1]


def test_memories_by_the_designs_names(vault: Vault) -> None:
    """B1, E1, E2, E3: store_memory, remember, recall and recall_memory, for a user named by an outside name, too."""
    memory_id = vault_memory.store_memory(
        vault, "alice", "部署前要跑完整測試", "lesson", skill_id="web-deploy", ttl_days=30
    )
    vault_memory.remember(vault, user_id="alice", content="Bob 有正式環境的權限")
    found = vault_memory.recall(vault, "alice", "部署", "web-deploy", top_k=3, memory_types=["lesson"])
    assert [each.id for each in found] == [memory_id] and found.degraded == []
    assert found[0].memory_type == "lesson" and found[0].score > 0.5
    assert [each.content for each in vault_memory.recall_memory(vault, "alice", "誰有权限")] == ["Bob 有正式環境的權限"]


def test_the_designs_semantic_memory(vault: Vault) -> None:
    """E1, E2, E3: the class of design 004, with its UUIDs."""
    user_id = UUID("12345678-1234-5678-1234-567812345678")

    async def use() -> None:
        memory = SemanticMemory(vault.root)
        memory_id = await memory.store_memory(user_id, "我喜歡咖啡", "preference", importance=0.6, ttl_days=None)
        await memory.remember(user_id, "咖啡機在廚房")
        assert memory_id in [each.id for each in await memory.recall(user_id, "咖啡", memory_types=["preference"])]
        assert len(await memory.recall_memory(user_id, "咖啡")) == 2
        assert await memory.recall("nobody", "咖啡") == []

    asyncio.run(use())
    assert vault.is_user(str(user_id))


def test_memories_are_listed_counted_and_deleted(vault: Vault) -> None:
    """B6, B9, E8 in Python: two steps, a receipt, and what is left."""
    tea = vault_memory.remember(vault, "alice", "tea is nice")
    car = vault_memory.store_memory(vault, "alice", "the car is red", "lesson")
    assert [each.id for each in vault_memory.list_memories(vault, "alice")] == [car, tea]
    assert [each.id for each in vault_memory.list_memories(vault, "alice", "lesson", limit=1)] == [car]
    assert [each.id for each in vault_memory.list_memories(vault, "alice", offset=1)] == [tea]
    assert vault_memory.memory_stats(vault, "alice").as_dict()["memoriesCreated"] == 2
    deletion = vault_memory.prepare_deletion(vault, "alice", query="TEA")
    assert [each.content for each in deletion.previewed] == ["tea is nice"]
    receipt = vault_memory.delete_memories(vault, "alice", deletion.code)
    assert receipt.ids == (tea,) and all(look.is_absent for look in receipt.looks) and receipt.restore
    assert [each.id for each in asyncio.run(aio.list_memories(vault, "alice"))] == [car]


def test_a_thing_is_forgotten(vault: Vault) -> None:
    """B6, E8 in Python, and for asyncio: two steps, a receipt, and nothing left."""
    vault_memory.record_turn(vault, "alice", "我喜歡芒果", "好")
    vault_memory.remember(vault, "alice", "tea is nice")
    shown = vault_memory.prepare_forgetting(vault, "alice", text="芒果")
    assert {place.kind for place in shown.places} == {"memory", "daily", "conversation"}
    receipt = asyncio.run(aio.forget(vault, "alice", shown.code, text="芒果"))
    assert all(look.is_absent for look in receipt.looks) and receipt.restore and not receipt.problems
    assert [each.content for each in vault_memory.list_memories(vault, "alice")] == ["tea is nice"]


def test_mistakes_are_recorded_listed_and_told_by_their_patterns(vault: Vault) -> None:
    """B3 in Python, for a user named by an outside name, too, and for asyncio."""
    first = vault_memory.record_mistake(vault, "alice", "沒有跑測試就部署", "deploy", prevention_method="看 CI")
    second = asyncio.run(aio.record_mistake(vault, user_id="alice", action="没跑测试就部署", error_type="Deploy"))
    assert [each.id for each in vault_memory.list_mistakes(vault, "alice", "deploy")] == [second, first]
    assert vault_memory.list_mistakes(vault, "alice", like="寫詩") == []
    found = vault_memory.get_mistake_patterns(vault, "alice")
    assert (found.total, found.by_type[0].count, found.similar[0].prevention_method) == (2, 2, "看 CI")
    assert asyncio.run(aio.get_mistake_patterns(vault, "alice", like="deploy")).total == 2
    prompt = vault_memory.build_enhanced_prompt(vault, "alice", "deploy the site")
    assert "看 CI" in prompt.text or "没跑测试" in prompt.text
    with pytest.raises(InvalidId):
        vault_memory.record_mistake(vault, None, "x")  # type: ignore[arg-type]


NAN = float("nan")


@pytest.mark.parametrize(
    "wrong",
    [
        {"content": " "},
        {"content": None},
        {"memory_type": "secret"},
        {"memory_type": None},
        {"importance": 7},
        {"importance": NAN},
        {"importance": True},
        {"importance": "0.5"},
        {"ttl_days": 0},
        {"ttl_days": -1},
        {"ttl_days": NAN},
        {"ttl_days": "7"},
        {"metadata": {"a": {"b": 1}}},
        {"metadata": {"a": "x" * 410_000}},
        {"metadata": {"title": "x"}},
        {"metadata": {1: "x"}},
        {"metadata": [1]},
        {"metadata": "x"},
        {"skill_id": 5},
        {"user_id": "../bob"},
        {"user_id": ""},
        {"user_id": None},
        {"user_id": True},
        {"user_id": ["alice"]},
    ],
)
def test_bad_input_through_the_library(vault: Vault, wrong: dict[str, Any]) -> None:
    """Bad input of the memories' issue: each is a `UsageError`, by both doors, and makes nobody."""
    given = {"user_id": "alice", "content": "tea is nice"} | wrong
    with pytest.raises(UsageError):
        vault_memory.store_memory(vault, **given)
    with pytest.raises(UsageError):
        asyncio.run(SemanticMemory(vault.root).store_memory(**given))
    assert vault.user_ids() == []


@pytest.mark.parametrize("wrong", [{"top_k": 0}, {"top_k": -1}, {"memory_types": ["secret"]}, {"user_id": None}])
def test_bad_recalls_through_the_library(vault: Vault, wrong: dict[str, Any]) -> None:
    vault_memory.remember(vault, "alice", "tea is nice")
    given = {"user_id": "alice", "query": "tea"} | wrong
    with pytest.raises(UsageError):
        vault_memory.recall(vault, **given)
    with pytest.raises(UsageError):
        asyncio.run(SemanticMemory(vault.root).recall(**given))
    assert vault_memory.recall(vault, "alice", "") == []


SEMANTIC_MEMORY = {
    "store_memory": ["user_id", "content", "memory_type", "skill_id", "importance", "ttl_days"],
    "recall": ["user_id", "query", "skill_id", "top_k", "memory_types"],
    "extract_from_conversation": ["user_id", "messages", "skill_id"],
    "consolidate_to_profile": ["user_id"],
    "remember": ["user_id", "content", "importance"],
    "recall_memory": ["user_id", "query", "top_k"],
}
"""The names of design 004: each method, with its parameters in their order."""


def test_every_name_of_the_designs_semantic_memory() -> None:
    """E1 to E6: names, order and defaults of the design; all are coroutines."""
    for name, parameters in SEMANTIC_MEMORY.items():
        method = getattr(SemanticMemory, name)
        signature = inspect.signature(method).parameters
        assert [*signature][1 : len(parameters) + 1] == parameters and inspect.iscoroutinefunction(method), name
    defaults = {name: p.default for name, p in inspect.signature(SemanticMemory.store_memory).parameters.items()}
    assert (defaults["skill_id"], defaults["importance"], defaults["ttl_days"]) == (None, 0.5, 7)
    assert inspect.signature(SemanticMemory.recall).parameters["top_k"].default == 5
    assert inspect.signature(SemanticMemory.recall_memory).parameters["top_k"].default == 3
    assert inspect.signature(SemanticMemory.remember).parameters["importance"].default == 0.7


def test_the_designs_semantic_memory_extracts_and_consolidates(vault: Vault) -> None:
    """E4, E5: offline; another conversation finds what this one held."""
    user_id = UUID("12345678-1234-5678-1234-567812345678")

    async def use() -> None:
        memory = SemanticMemory(vault.root)
        said = [{"role": "user", "content": "我喜欢咖啡"}, {"role": "assistant", "content": "好的"}]
        (kept,) = await memory.extract_from_conversation(user_id, said, "chat")
        assert isinstance(kept, vault_memory.Memory) and kept.skill_id == "chat" and kept.expires_at is not None
        assert [each.id for each in await memory.recall(user_id, "我喜欢什么饮料")] == [kept.id]
        assert (await memory.consolidate_to_profile(user_id)).changes == []
        for call in (memory.extract_from_conversation("../x", said), memory.consolidate_to_profile("../x")):
            with pytest.raises(InvalidId):
                await call

    asyncio.run(use())


class DesignsProxy:
    """The design's proxy.py, sections 3.5 and 3.6, with its imports changed: its own prompt before, its calls after."""

    def __init__(self, memory_dir: str) -> None:
        self.memory_dir = memory_dir
        self.preference_extractor = PreferenceExtractor(memory_dir)
        self.memory_search = MemorySearchEngine(memory_dir, compute_client=None, embedding_provider="compute")
        self.vault = self.preference_extractor.vault
        self.get_conversation_history = functools.partial(vault_memory.get_conversation_history, self.vault)

    def build_enhanced_prompt(self, student_id: str, prompt: str) -> str:
        parts = []
        user_md = Path(self.memory_dir, student_id, "USER.md")
        if user_md.exists():
            parts.append(f"<user-profile>\n{user_md.read_text(encoding='utf-8')}\n</user-profile>")
        relevant_memories = self.memory_search.search(student_id, prompt, top_k=5, mode="hybrid")
        if relevant_memories:
            memory_text = "\n\n".join(f"[{m['source']}] {m['content']}" for m in relevant_memories)
            parts.append(f"<relevant-memories>\n{memory_text}\n</relevant-memories>")
        history_text = ["<conversation-history>"]
        for entry in self.get_conversation_history(student_id, limit=5):
            history_text.append(f"Human: {entry['user']}")
            history_text.append(f"Assistant: {entry['assistant'][:300]}...")
        parts.append("\n".join([*history_text, "</conversation-history>"]))
        parts.append(f"<user-request>\n{prompt}\n</user-request>")
        return "\n\n".join(parts)

    def after_the_answer(self, student_id: str, original_prompt: str, final_message: str, skill: str | None) -> None:
        self.preference_extractor.extract_and_update(
            student_id=student_id, user_msg=original_prompt, assistant_msg=final_message[:500], skill_used=skill
        )
        thread = threading.Thread(target=self.memory_search.index_student_memory, args=(student_id,), daemon=True)
        thread.start()
        thread.join(30)


def test_the_flow_of_the_designs_proxy(vault: Vault) -> None:
    """A2, A3, A4, A5, A9, A10 by the design's names: prompt before, record after, and the next prompt knows it."""
    proxy = DesignsProxy(str(vault.root / "memory"))
    answer = "綠茶不要用滾水：八十度的水泡三分鐘，再沖第二泡時縮短成一分鐘。" * 5
    assert "<relevant-memories>" not in proxy.build_enhanced_prompt("alice", "教我怎麼泡綠茶"), "nobody knows her yet"
    proxy.after_the_answer("alice", "教我怎麼泡綠茶", answer, "coding-agent")
    proxy.after_the_answer("alice", "我喜歡暗色主題", "好的", None)
    folder = vault.root / "memory" / "alice"
    assert "- 主題偏好：dark\n" in (folder / "USER.md").read_text(encoding="utf-8")
    logs = [log.read_text(encoding="utf-8") for log in (folder / "daily").iterdir()]
    assert any(" 教我怎麼泡綠茶（coding-agent） → 完成 · " in log for log in logs)
    assert "- 任務：教我怎麼泡綠茶\n- 模組：coding-agent\n" in (folder / "MEMORY.md").read_text(encoding="utf-8")

    (folder / "notes.md").write_text("綠茶的罐子放在廚房左邊的櫃子。\n", encoding="utf-8")
    (hit,) = proxy.memory_search.search("alice", "橱柜里的罐子", mode="keyword")
    assert (hit["source"], hit["line_range"], hit["content"]) == ("notes.md", (1, 1), "綠茶的罐子放在廚房左邊的櫃子。")
    theirs = proxy.build_enhanced_prompt("alice", "綠茶的罐子放在哪裡")
    ours = vault_memory.build_enhanced_prompt(proxy.vault, "alice", "綠茶的罐子放在哪裡", "coding-agent").text
    for text in (theirs, ours):
        assert "主題偏好：dark" in text and "廚房左邊" in text and "Human: 我喜歡暗色主題" in text
    marks = [
        *("# SOUL", "# AGENTS", "<user-profile>", "<relevant-memories>", "廚房左邊", "<recent-activity>"),
        *('<active-skill name="coding-agent">', "<conversation-history>", "<user-request>"),
        "請根據以上資訊，使用繁體中文",
    ]
    assert [mark for mark in marks if mark not in ours] == []
    assert [ours.index(mark) for mark in marks] == sorted(ours.index(mark) for mark in marks)


def test_the_designs_collector_makes_a_strong_preference_of_three(vault: Vault) -> None:
    """A13, Phase D: 「改暗色主題」 reaches USER.md at once, and the third time as a strong preference."""
    collector = FeedbackCollector(vault.root)
    assert collector.classify_adjustment("改暗色主題") == "theme"
    assert collector.classify_adjustment("今天天氣如何") is None
    assert collector.extract_params("改暗色主題") == {"theme": "dark"}
    asked = [("改暗色主題", 1, "dark\n"), ("換成暗色主題吧", 0, "dark\n"), ("請改成暗色主題", 1, "dark（強偏好）\n")]
    for text, changes, line in asked:
        assert len(collector.record_adjustment("bob", text)) == changes
        assert f"- 主題偏好：{line}" in (vault.root / "memory" / "bob" / "USER.md").read_text(encoding="utf-8")


def test_the_objects_of_the_page(vault: Vault, capsys: pytest.CaptureFixture[str]) -> None:
    """docs/integrate.md, as pasted."""
    block = next(block for block in python_of_the_page() if "PreferenceExtractor" in block)
    exec(block.replace("my-vault", str(vault.root)), {})  # noqa: S102
    said = capsys.readouterr().out
    assert "八十度" in said and said.endswith("theme = dark\n")


def test_the_designs_proxy_of_the_page(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    """docs/integrate.md, as pasted."""
    monkeypatch.chdir(vault.root)
    names: dict = {}
    exec(next(block for block in python_of_the_page() if "save_conversation" in block), names)  # noqa: S102
    names["after_the_answer"]("alice", "教我怎麼泡綠茶", "水" * 600, "rag-kb", 1)
    assert [turn["assistant"] for turn in vault_memory.get_conversation_history("alice")] == ["水" * 600]
    memory = (vault.root / "memory" / "alice" / "MEMORY.md").read_text(encoding="utf-8")
    assert memory.count("## ") == 1 and "- 模組：rag-kb\n- 結果：失敗\n" in memory


def test_the_asyncio_of_the_page(vault: Vault) -> None:
    """docs/integrate.md, as pasted."""
    asked: list[list[dict[str, str]]] = []

    async def ask_the_model(messages: list[dict[str, str]]) -> str:
        asked.append(messages)
        return "好的"

    names: dict = {"ask_the_model": ask_the_model}
    exec(next(block for block in python_of_the_page() if "import aio" in block), names)  # noqa: S102
    for message in ("我喜歡暗色主題", "幫我做一個按鈕"):
        assert asyncio.run(names["chat"](vault, "alice", message)) == "好的"
    assert "主題偏好：dark" in asked[1][0]["content"] and asked[1][-1]["content"].endswith("幫我做一個按鈕")


def test_a_search_finds_what_was_written_by_hand_just_now(vault: Vault) -> None:
    vault_memory.record_turn(vault, "alice", "hello")
    (vault.root / "memory" / "alice" / "bird.md").write_text("The heron waits.\n")
    assert vault_memory.search(vault, "alice", "heron").hits[0].source == "bird.md"
    with pytest.raises(NotFound):
        vault_memory.search(vault, "nobody", "heron")


def test_async_calls_leave_the_loop_free(vault: Vault) -> None:
    """While another writer holds alice's files, her turn waits in its thread and the loop goes on."""

    async def work() -> None:
        with vault.lock("alice"):
            turn = asyncio.create_task(aio.record_turn(vault, "alice", "我喜歡暗色主題", "好的"))
            deadline = time.monotonic() + 60
            beats = 0
            while beats < 20 and time.monotonic() < deadline:
                await asyncio.sleep(0.01)
                beats += 1
            assert beats == 20 and not turn.done()
        recorded = await turn
        assert [change.key for change in recorded.changes] == ["theme"]
        assert (await aio.search(vault, "alice", "暗色")).hits
        assert "dark" in (await aio.build_enhanced_prompt(vault, "alice", "做一個按鈕")).text

    asyncio.run(work())


def test_without_a_vault_the_one_around_is_taken(vault: Vault, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A2, A4, A8, A10: the folder, its parents, or the environment, as for the command line; named, it comes first."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NotAVault, match="vault-memory init"):
        vault_memory.get_conversation_history("alice")
    monkeypatch.setenv("VAULT_MEMORY_VAULT", str(vault.root))
    vault_memory.record_turn("alice", "我喜歡暗色主題", "好的")
    monkeypatch.delenv("VAULT_MEMORY_VAULT")
    monkeypatch.chdir(vault.root / "context")
    vault_memory.save_conversation("alice", "hello", "world")
    vault_memory.set_preference("alice", key="design_style", value="minimal")
    assert vault_memory.user_profile("alice").preferences["theme"] == "dark"
    assert [hit.source[:14] for hit in vault_memory.search("alice", "hello world", top_k=1).hits] == ["conversations/"]
    assert "主題偏好：dark" in vault_memory.build_enhanced_prompt(student_id="alice", prompt="做一個按鈕").text
    assert "設計風格：minimal" in MemoryManager().build_enhanced_prompt("alice", "做一個按鈕")
    assert MemorySearchEngine().search("alice", "hello")[0]["kind"] == "conversation"
    monkeypatch.chdir(tmp_path)
    assert len(vault_memory.get_conversation_history(vault=vault, student_id="alice")) == 2
    assert asyncio.run(aio.get_conversation_history(vault, "alice", 1))[0]["assistant"] == "world"


def test_a_changed_setting_counts_for_a_vault_that_was_found(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(vault.root)
    assert vault_memory.extract_and_update("alice", "hello", "world").source
    settings = vault.root / "vault-memory.toml"
    settings.write_text(settings.read_text(encoding="utf-8").replace("# off_record = []", 'off_record = ["alice"]'))
    assert not vault_memory.extract_and_update("alice", "hello", "world").source


def test_an_outside_name_is_its_user_in_every_call(vault: Vault) -> None:
    """A15: `telegram:12345` is alice for functions and objects; other outside names are refused."""
    vault.config.identities["telegram:12345"] = "alice"
    name = "telegram:12345"
    vault_memory.extract_and_update(vault, name, "我喜歡暗色主題", "好的")
    vault_memory.save_conversation(vault, student_id=name, user_msg="hello", assistant_msg="world")
    assert vault.user_ids() == ["alice"] and len(vault_memory.get_conversation_history(vault, name)) == 2
    assert vault_memory.user_profile(vault, name).preferences["theme"] == "dark"
    assert (
        vault_memory.search(vault, name, "hello").hits
        and "dark" in vault_memory.build_enhanced_prompt(vault, name, "做一個按鈕").text
    )
    for objects in (MemoryManager, MemorySearchEngine, FeedbackCollector, PreferenceExtractor):
        own = objects(vault.root)
        own.vault.config.identities[name] = "alice"
        if isinstance(own, MemoryManager):
            assert own.update_memory(name, "- 任務：hello\n- 結果：成功\n")
        elif isinstance(own, MemorySearchEngine):
            assert own.search(name, "hello") and own.index_student_memory(name).scope == "alice"
        elif isinstance(own, FeedbackCollector):
            own.record_adjustment(name, "改成亮色主題")
        else:
            assert own.extract_and_update(name, "hello", "again").user_id == "alice"
    assert vault.user_ids() == ["alice"]
    with pytest.raises(InvalidId, match=r"'telegram:9' is nobody here: map it to a user id under \[identities\]"):
        vault_memory.record_turn(vault, "telegram:9", "hello")
    vault.config.identities["alice"] = "bob"  # it may come from a remote
    assert vault_memory.record_turn(vault, "alice", "hello").user_id == "alice"


class Compute:
    """A compute client with a model of its own: its vectors are those of hashed words, and it may be down."""

    model = "own"

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.is_down = False

    def embed(self, text: str) -> list[float]:
        if self.is_down:
            raise ConnectionError("no route to the machine")
        self.texts.append(text)
        return [float(x) for x in OfflineEmbedder().embed([text])[0]]


def test_the_programs_own_client_computes_the_vectors(vault: Vault) -> None:
    """A5, A7: what is indexed is embedded by the client, questions too; without it words answer, and the list says
    so. Another program's vectors stay beside them."""
    client = Compute()
    engine = MemorySearchEngine(vault.root / "memory", compute_client=client)
    vault_memory.record_turn(vault, "alice", "綠茶要用幾度的水？", "八十度。")
    (vault.root / "memory" / "alice" / "own.md").write_text("The router's password: hunter2xyz9\n")
    engine.index_student_memory("alice")
    assert client.texts and not any("hunter2xyz9" in text for text in client.texts)
    assert engine.vault.index("alice").spaces()["http:client:own"].pending == 0
    hits = engine.search("alice", "綠茶的水溫")
    assert client.texts[-1] == "綠茶的水溫" and hits[0]["explain"]["space"] == "http:client:own"
    assert hits.degraded == [] and {(hit["source"], hit["line_range"]) for hit in hits}
    while embed(vault, "alice"):  # as the daemon does, for the settings' own model
        pass
    assert vault.index("alice").spaces()["http:client:own"].pending == 0
    client.is_down = True
    (failed,) = engine.search("alice", "綠茶的茶葉").degraded
    assert failed == "embedding: the compute client Compute failed: ConnectionError: no route to the machine"
    (vault.root / "memory" / "alice" / "bird.md").write_text("The heron waits.\n")
    assert engine.index_student_memory("alice").indexed == ("bird.md",)
    found = engine.search("alice", "heron")
    assert found[0]["source"] == "bird.md"
    assert found.degraded and "http:client:own" in found.degraded[0]
    asked = len(client.texts)
    plain = MemorySearchEngine(vault.root, compute_client=client, embedding_provider="local")
    assert plain.search("alice", "heron") and len(client.texts) == asked


def test_a_skill_of_the_programs_own(vault: Vault) -> None:
    """A10, A16: a skill is named, or given with its name and content."""
    own = Skill("brewing", "Ask for the water first.")
    text = MemoryManager(vault.root).build_enhanced_prompt("alice", "green tea?", own)
    assert '<active-skill name="brewing">\nAsk for the water first.\n</active-skill>' in text
    assert vault_memory.build_enhanced_prompt(vault, "alice", "green tea?", own).text == text


def test_a_payload_becomes_a_record_with_and_without_a_vault(
    vault: Vault, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """D1: by the design's name; of a vault its outside names and its clock."""
    payload = {
        "conversation_id": "c",
        "user_id": "telegram:12345",
        "user_message": "hello",
        "reflection": "it went well",
    }
    monkeypatch.chdir(tmp_path)
    record = vault_memory.validate_and_normalize(payload)
    assert list(record) == [
        *("conversation_id", "user_id", "user_message", "assistant_message", "reflection", "cid", "created_at"),
        "token_data",
    ]
    assert record["user_id"] == "telegram:12345"
    assert record["token_data"].keys() == {"user", "assistant", "reflection", "encoding"}
    assert record["reflection"] == {"summary": "it went well", "causes": []}
    vault.config.identities["telegram:12345"] = "alice"
    of_vault = asyncio.run(aio.validate_and_normalize(payload, vault))
    assert of_vault["user_id"] == "alice" and of_vault["created_at"].startswith("2026-01-30T14:05:")
    with pytest.raises(UsageError, match="has no user_id"):
        vault_memory.validate_and_normalize({"conversation_id": "c"})
    monkeypatch.chdir(vault.root)
    with pytest.raises(InvalidId, match="telegram:12345"):
        vault_memory.validate_and_normalize(payload)


def test_the_payload_of_the_page(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    """docs/integrate.md, as pasted."""
    monkeypatch.chdir(vault.root)
    names: dict[str, Any] = {}
    exec(next(block for block in python_of_the_page() if "def deliver" in block), names)  # noqa: S102
    payload = {"conversation_id": "c", "user_id": "alice", "user_message": "hello", "reflection": '{"summary": "well"}'}
    given = payload | {"created_at": "2026-01-29T09:00:00", "session": 7}
    assert [names["deliver"](given) for _ in range(2)] == ["conversations/2026-01-29.jsonl:1"] * 2
    turns = list(newest_turns(vault, "alice", 9))
    assert [turn["reflection"] for _, turn in turns] == [{"summary": "well", "causes": []}]
