"""The memory in a Python program, as docs/integrate.md shows it."""

from __future__ import annotations

import asyncio
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

PAGE = Path(__file__).parents[2] / "docs" / "integrate.md"


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
    assert done.stdout.strip() == "[]"


def test_the_three_lines_of_the_page(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    """What one turn taught stands in the next one's prompt."""
    block = re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    assert block is not None
    asked: list[str] = []

    def ask_the_model(prompt: str) -> str:
        asked.append(prompt)
        return "好的"

    names: dict = {"ask_the_model": ask_the_model}
    exec(block[1].replace('"my-vault"', repr(str(vault.root))), names)  # noqa: S102
    assert names["chat"]("alice", "我喜歡暗色主題") == "好的"
    names["chat"]("alice", "幫我做一個按鈕")
    assert "<user-profile>" not in asked[0] and "主題偏好：dark" in asked[1]
    assert "Human: 我喜歡暗色主題" in asked[1]


def test_the_flow_of_the_designs_proxy(vault: Vault) -> None:
    """The design's proxy.py: prompt before, then extract, index in a thread, and search; A2, A4, A5, A13 by their names."""
    memory_dir = vault.root / "memory"
    extractor, engine = (
        PreferenceExtractor(str(memory_dir)),
        MemorySearchEngine(memory_dir, embedding_provider="compute"),
    )
    answer = "好的，之後都用暗色主題。" * 10
    extractor.extract_and_update(
        student_id="alice", user_msg="我喜歡暗色主題", assistant_msg=answer[:500], skill_used="coding-agent"
    )
    (memory_dir / "alice" / "notes.md").write_text("The heron waits by the river.\n", encoding="utf-8")
    indexing = threading.Thread(target=engine.index_student_memory, args=("alice",), daemon=True)
    indexing.start()
    indexing.join(30)
    found = engine.search("alice", "暗色", top_k=5, mode="hybrid")
    assert {"content", "source", "score", "line_range"} <= found[0].keys()
    assert engine.search("alice", "heron", mode="keyword")[0]["source"] == "notes.md"
    history = vault_memory.get_conversation_history(vault, "alice", 5)
    assert [(turn["user"], turn["assistant"]) for turn in history] == [("我喜歡暗色主題", answer)]
    text = vault_memory.build_enhanced_prompt(extractor.vault, "alice", "做一個按鈕", "coding-agent").text
    order = ["<user-profile>", "<recent-activity>", '<active-skill name="coding-agent">', "<conversation-history>", "<user-request>"]  # fmt: skip
    assert [text.index(mark) for mark in order] == sorted(text.index(mark) for mark in order)

    collector = FeedbackCollector(vault.root)
    assert collector.classify_adjustment("改亮色主題") == "theme"
    assert collector.extract_params("改亮色主題") == {"theme": "light"}
    assert collector.record_adjustment("bob", "改亮色主題")
    assert vault_memory.user_profile(vault, "bob").preferences["theme"] == "light"


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
            deadline = time.monotonic() + 20
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
