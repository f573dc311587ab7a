"""The proxy of the design document: its code as printed (`data/proxy`), with other imports, talks with a person.

The document prints what the proxy does before and after a model is asked. What it calls and does not print, its own
reading of three files, stands here.
"""

from __future__ import annotations

import json
import re
import textwrap
import threading
from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import vault_memory
from tests.conftest import wait_until
from vault_memory import MemoryManager, MemorySearchEngine, PreferenceExtractor, Skill
from vault_memory.services.vault import Vault

PRINTED = Path(__file__).parent / "data" / "proxy"
IMPORTS = """
import threading
from typing import Optional

from vault_memory import Skill, get_conversation_history, save_conversation
"""
ANSWER = "綠茶不要用滾水：八十度的水泡三分鐘，再沖第二泡時縮短成一分鐘。" * 30 + "最後，罐子要放在陰涼的地方。"


def printed(name: str) -> str:
    return textwrap.indent((PRINTED / f"{name}.txt").read_text(encoding="utf-8"), "    ")


def code_of_the_proxy() -> Any:
    """The functions of the proxy: the printed ones, the blocks with the name and the arguments that they lack."""
    session = "self, session, original_prompt, final_message, exit_code=0"
    source = [
        IMPORTS,
        f"class Printed:\n{printed('build_enhanced_prompt')}",
        f"    def after_the_answer({session}):\n{textwrap.indent(printed('after_the_answer'), '    ')}",
        f"    def update_memory({session}):\n{textwrap.indent(printed('update_memory'), '    ')}",
    ]
    names: dict[str, Any] = {}
    exec("\n".join(source), names)  # noqa: S102
    return names["Printed"]


class Proxy(code_of_the_proxy()):  # type: ignore[misc]
    """The rest of the proxy, as the document describes it."""

    def __init__(self, memory_dir: Path) -> None:
        self.memory_dir = memory_dir
        self.context_manager = self
        self.preference_extractor = PreferenceExtractor(str(memory_dir))
        self.memory_search = MemorySearchEngine(str(memory_dir))
        self.memory_manager = MemoryManager(str(memory_dir))

    def build_system_context(self) -> str:
        context = self.memory_dir.parent / "context"
        return "\n\n".join((context / name).read_text(encoding="utf-8") for name in ("SOUL.md", "AGENTS.md"))

    def _read_user_md(self, student_id: str) -> str:
        path = self.memory_dir / student_id / "USER.md"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def _get_recent_daily_logs(self, student_id: str, days: int) -> str:
        names = [f"{datetime.now() - timedelta(days=back):%Y-%m-%d}.md" for back in range(days)]
        paths = [self.memory_dir / student_id / "daily" / name for name in names]
        return "\n\n".join(path.read_text(encoding="utf-8") for path in paths if path.exists())

    def talk(self, student_id: str, request: str, answer: str, skill: Skill | None = None, exit_code: int = 0) -> str:
        """One turn: the prompt that the model got."""
        prompt: str = self.build_enhanced_prompt(student_id, request, skill)
        session = SimpleNamespace(student_id=student_id, active_skill=skill.name if skill else None)
        self.after_the_answer(session, request, answer, exit_code)
        wait_until(
            lambda: not any("index_student_memory" in thread.name for thread in threading.enumerate()), "it is indexed"
        )
        return prompt


@pytest.fixture
def proxy(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> Proxy:
    """The proxy runs in the vault: its functions name none."""
    monkeypatch.chdir(vault.root)
    return Proxy(vault.root / "memory")


def test_a_conversation_by_the_code_that_the_design_prints(proxy: Proxy, vault: Vault) -> None:
    """A1–A5, A8–A10: prompts before, files after; an answer of more than 500 characters is one turn, and whole."""
    skill = Skill("rag-kb", "先查知識庫，再回答。")
    folder = vault.root / "memory" / "alice"
    first = proxy.talk("alice", "教我怎麼泡綠茶", ANSWER, skill)
    assert "<user-profile>" not in first and '<active-skill name="rag-kb">\n先查知識庫' in first
    second = proxy.talk("alice", "我喜歡暗色主題", "好的，以後都用暗色主題。")
    third = proxy.talk("alice", "綠茶的罐子要放在哪裡？", ANSWER[::-1], skill, exit_code=1)

    assert "<user-profile>" in second and "Human: 教我怎麼泡綠茶\nAssistant: 綠茶不要用滾水" in second
    assert "主題偏好：dark" in third and "<recent-activity>" in third and third.rstrip().endswith("請優先遵循。")
    assert "罐子要放在陰涼的地方" in third, "the end of the answer is found, which nobody has handed over to be learned"
    assert "- 主題偏好：dark\n" in (folder / "USER.md").read_text(encoding="utf-8")
    daily = "".join(path.read_text(encoding="utf-8") for path in sorted((folder / "daily").iterdir()))
    assert re.findall(r"(?m)^- \d\d:\d\d (.*) · conversations/.*$", daily) == [
        "教我怎麼泡綠茶（rag-kb） → 成功",
        "我喜歡暗色主題 → 完成 · 萃取偏好：theme = dark",
        "綠茶的罐子要放在哪裡？（rag-kb） → 失敗",
    ]
    memory = (folder / "MEMORY.md").read_text(encoding="utf-8")
    assert memory.count("- 任務：教我怎麼泡綠茶\n- 模組：rag-kb\n- 結果：成功\n") == 1
    assert memory.count("- 任務：綠茶的罐子要放在哪裡？\n- 模組：rag-kb\n- 結果：失敗\n") == 1
    assert memory.count("## ") == 2, "a task has one entry"

    history = vault_memory.get_conversation_history("alice", limit=5)
    assert [(turn["user"], turn["assistant"]) for turn in history] == [
        ("教我怎麼泡綠茶", ANSWER),
        ("我喜歡暗色主題", "好的，以後都用暗色主題。"),
        ("綠茶的罐子要放在哪裡？", ANSWER[::-1]),
    ]
    files = vault_memory.backup_conversations_to_file("alice")
    assert sorted((folder / "conversations").glob("*.jsonl")) == files
    rows = [json.loads(line) for path in files for line in path.read_text(encoding="utf-8").splitlines()]
    assert len(rows) == 5 and [len(row["assistant_message"]) for row in rows[:2]] == [500, len(ANSWER) - 500]
    assert any(entry.trailers.get("Vault-Key") == "theme" for entry in vault.history.log(limit=20))


def test_the_flow_that_the_design_found(proxy: Proxy, vault: Vault) -> None:
    """A9: the memory manager alone makes an entry of a summary; nothing breaks out of it."""
    session = SimpleNamespace(student_id="bob", active_skill="github")
    proxy.update_memory(session, "開一個 PR\n## 2026-01-01 10:00\n- 任務：別的", "好" * 101)
    memory = (vault.root / "memory" / "bob" / "MEMORY.md").read_text(encoding="utf-8")
    assert memory.startswith("# 長期記憶\n\n## 20") and memory.count("\n## ") == 1
    assert "- 任務：開一個 PR ## 2026-01-01 10:00\n" in memory and "- 使用 Skill：github\n" in memory
