"""A question to the language model, answered with what is remembered: real vault, real HTTP."""

from __future__ import annotations

import json

import pytest

from tests.conftest import Clock
from tests.scripted_http import Reply, ScriptedServer, completion
from vault_memory.errors import UsageError
from vault_memory.services.memories import store_memory
from vault_memory.services.retrieval import ask_ai
from vault_memory.services.vault import Vault, open_vault

QUESTION = "誰可以部署正式環境？"
BOB = "Bob 有正式環境的部署權限"


@pytest.fixture
def asked(vault: Vault, clock: Clock, chat: ScriptedServer) -> Vault:
    return open_vault(vault.root, now=clock, llm_enabled=True, llm_base_url=chat.url, llm_model="m", llm_timeout_s=2.0)


def says(answer: str, *used: int) -> Reply:
    return completion(json.dumps({"answer": answer, "used": used}, ensure_ascii=False))


def test_the_answer_names_the_memories_that_it_used(asked: Vault, chat: ScriptedServer) -> None:
    """B4, B7: at the temperature of the settings, 0.7; the memories go along as data."""
    memory_id = store_memory(asked, "alice", BOB, "fact")
    store_memory(asked, "alice", "正式環境的部署在週五關閉", "lesson")
    chat.script = [says("Bob 可以。", 1, 1, 7)]
    answer = ask_ai(asked, "alice", QUESTION)
    told = json.loads(chat.received[0].fields["messages"][1]["content"])
    (used,) = answer.used
    assert answer.by_model and answer.text == "Bob 可以。" and not answer.degraded
    assert used.content == told["memories"][0]["content"] and len(answer.memories) == 2
    assert str(answer) == f"Bob 可以。\n[{used.id}] {used.title}" and memory_id in [each.id for each in answer.memories]
    assert (chat.received[0].fields["temperature"], chat.received[0].fields["max_tokens"]) == (0.7, 2048)


def test_without_a_model_it_says_so_with_what_recall_found(vault: Vault) -> None:
    """B1, B4: usable offline."""
    store_memory(vault, "alice", BOB, "fact")
    answer = ask_ai(vault, "alice", QUESTION)
    assert answer.text == f"沒有語言模型可以回答；記憶中找到的是：\n- {BOB}"
    assert not answer.by_model and "llm.enabled" in answer.degraded[-1]
    assert ask_ai(vault, "alice", "Who deploys?").text.startswith("There is no language model")
    assert ask_ai(vault, "nobody", QUESTION).text == "沒有語言模型可以回答，記憶中也沒有找到相關的內容。"
    with pytest.raises(UsageError, match="empty"):
        ask_ai(vault, "alice", " ")


@pytest.mark.parametrize(
    "reply",
    [
        completion("Bob."),
        completion('{"answer": "Bob"}'),
        completion('{"answer": "Bob", "used": ["1"]}'),
        completion('{"answer": " ", "used": []}'),
        completion('{"answer": "Bob", "us'),
        completion("x" * 2_000_000),
        Reply(status=500),
        Reply([b"{}"], wait_s=30),
    ],
    ids=["prose", "no-used", "no-numbers", "empty", "cut", "huge", "down", "slow"],
)
def test_a_model_that_answers_nonsense_counts_as_none(asked: Vault, chat: ScriptedServer, reply: Reply) -> None:
    store_memory(asked, "alice", BOB, "fact")
    chat.script = [reply]
    answer = ask_ai(asked, "alice", QUESTION)
    assert BOB in answer.text and not answer.by_model
    (why,) = answer.degraded
    assert answer.text == f"語言模型沒有給出答案（{why}）；記憶中找到的是：\n- {BOB}"
    chat.released.set()


def test_a_model_that_fails_is_told_from_none(asked: Vault, chat: ScriptedServer) -> None:
    """B7: what failed, in the language of the question, and neither the key nor what was asked or answered."""
    keyed = open_vault(
        asked.root,
        now=asked.now,
        environ={"KEY": "sk-not-to-be-shown"},
        llm_enabled=True,
        llm_base_url=chat.url,
        llm_model="m",
        llm_key_env="KEY",
    )
    chat.script = [Reply([b'{"error": "sk-not-to-be-shown"}'], status=401), completion("Pelikan")]
    refused = ask_ai(keyed, "alice", "Who deploys the Albatross?")
    assert refused.text.startswith("The language model gave no answer (the chat endpoint 127.0.0.1:")
    assert refused.text.endswith("answered 401; check the key in KEY), and nothing was found in memory.")
    assert refused.degraded == (refused.text.partition("(")[2].rpartition(")")[0],)
    store_memory(keyed, "alice", BOB, "fact")
    nonsense = ask_ai(keyed, "alice", "谁可以部署正式环境？")
    assert "语言模型没有给出答案（the chat model m does not follow the schema" in nonsense.text
    told = f"{refused.text} {refused.degraded} {nonsense.text} {nonsense.degraded}"
    assert not any(word in told for word in ("sk-not", "Albatross", "Pelikan"))


def test_secrets_go_neither_to_the_model_nor_out_of_its_answer(asked: Vault, chat: ScriptedServer) -> None:
    """A8, B4."""
    note = asked.root / "memory/alice/memories/mem_1769753100000_abcd1234.md"
    note.parent.mkdir(parents=True)
    note.write_text("正式環境的部署權限，密碼是 hunter2-Tiger-99\n")
    chat.script = [says("密碼是 hunter2-Tiger-99", 1)]
    answer = ask_ai(asked, "alice", f"{QUESTION} 我的密碼是 Kitten-2024-xy")
    assert "hunter2" not in chat.received[0].body.decode() and "Kitten" not in chat.received[0].body.decode()
    assert "hunter2" not in answer.text


def test_a_setting_that_waits_for_a_yes_is_told(vault: Vault, clock: Clock, chat: ScriptedServer) -> None:
    """B7: where words go is in force after `trust` only."""
    settings = vault.root / "vault-memory.toml"
    lines = f'[llm]\nenabled = true\nbase_url = "{chat.url}"\nmodel = "m"\n'
    settings.write_text(settings.read_text().replace("[llm]\n", lines))
    answer = ask_ai(open_vault(vault.root, now=clock), "alice", QUESTION)
    (waits,) = answer.degraded
    assert chat.received == [] and "vault-memory trust" in waits
