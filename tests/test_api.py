"""The memory in a Python program, as docs/integrate.md shows it."""

from __future__ import annotations

import asyncio
import functools
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import vault_memory
from vault_memory import FeedbackCollector, MemorySearchEngine, PreferenceExtractor, aio
from vault_memory.errors import NotFound
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
    assert any("- 請求：教我怎麼泡綠茶\n- 模組：coding-agent\n" in log for log in logs)
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
