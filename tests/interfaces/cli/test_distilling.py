"""What stays of conversations, by the command line, as a person sees it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Cli
from tests.scripted_http import ScriptedServer, completion

CROWD = ["我喜歡襪子", "我喜歡爬山", "我喜歡貓頭鷹", "我喜歡下雨天", "我喜歡老電影"]
KEY = "sk-very-secret-key-0123456789"


@pytest.fixture(autouse=True)
def _turns_give_no_memories(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a turn gives memories by itself, its conversation does not give them again: here the end gives them."""
    monkeypatch.setenv("VAULT_MEMORY_MEMORIES_FROM_TURNS", "0")


def test_what_was_said_in_a_conversation_answers_in_a_new_one_offline(cli: Cli) -> None:
    """E4, E7, E10: 「我喜欢咖啡」 in a conversation, its end, and a new one that asks for a drink."""
    for words in [*CROWD, "我喜欢咖啡", "別記這句：我喜歡紅茶"]:
        cli("turn", "--user", "alice", "--message", words, "--reply", "好的")
    ended = cli.json("end-conversation", "--user", "alice")
    assert (ended["turns"], ended["by_rules"], ended["degraded"]) == (7, True, [])
    (coffee,) = [each for each in ended["memories"] if each["content"] == "我喜欢咖啡"]
    assert (coffee["type"], coffee["source"].rpartition(":")[2]) == ("preference", "6") and coffee["expires_at"]
    assert f"Vault-Memory: {coffee['id']}" in cli.git("log", "--format=%B")
    found = cli.json("recall", "--user", "alice", "我喜欢什么饮料")["memories"]
    assert found[0]["content"] == "我喜欢咖啡" and "紅茶" not in json.dumps(found, ensure_ascii=False)
    assert "0 turns looked at" in cli("end-conversation", "--user", "alice")
    assert "'nothing'" in cli("end-conversation", "--user", "alice", "nothing", code=1)
    assert cli.git("status", "--porcelain") == ""
    assert cli.json("status")["healthy"]


def test_a_model_answers_with_memories_and_its_key_is_told_nobody(
    cli: Cli, chat: ScriptedServer, tmp_path: Path
) -> None:
    """B4, B7: `ask`, the key in a private file outside the vault, the temperature of the settings."""
    memory_id = cli("memory", "add", "--user", "alice", "Bob 有正式環境的部署權限").strip()
    without = cli.run("ask", "--user", "alice", "誰可以部署？")
    assert "沒有語言模型可以回答" in without.stdout and "Bob" in without.stdout and "llm.enabled" in without.stderr

    key = tmp_path / "key"
    key.write_text(KEY)
    key.chmod(0o644)
    settings = chat.chat_settings(VAULT_MEMORY_LLM_KEY_FILE=str(key))
    chat.will_say(completion(json.dumps({"answer": "Bob 可以。", "used": [1]})))
    refused = cli.run("ask", "--user", "alice", "誰可以部署？", **settings)
    assert "chmod 600" in refused.stderr and chat.received == []
    key.chmod(0o600)
    answered = cli.run("ask", "--user", "alice", "誰可以部署？", **settings)
    assert answered.stdout == "Bob 可以。\n" and memory_id in answered.stderr
    assert chat.received[0].header("Authorization") == f"Bearer {KEY}"
    assert chat.received[0].fields["temperature"] == 0.7
    assert KEY not in without.stderr + refused.stdout + refused.stderr + answered.stdout + answered.stderr
    told = [path for path in cli.folder.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
    assert told == []


def test_a_frequent_memory_is_proposed_by_the_heartbeat_and_accepted(cli: Cli) -> None:
    """E5: proposes, names the memory, and the person decides."""
    memory_id = cli("memory", "add", "--user", "alice", "--type", "insight", "早上喝手沖咖啡").strip()
    for _ in range(3):
        cli("recall", "--user", "alice", "手沖咖啡")
    assert "1 lines proposed" in cli("heartbeat", "--now", "consolidation")
    shown = cli("pref", "suggestions", "--user", "alice")
    assert "note += 早上喝手沖咖啡" in shown and memory_id in shown
    (proposal,) = cli.json("pref", "suggestions", "--user", "alice")
    cli("pref", "accept", "--user", "alice", proposal["id"])
    assert "- 早上喝手沖咖啡" in (cli.folder / "memory/alice/USER.md").read_text()
    assert cli.git("status", "--porcelain") == ""
