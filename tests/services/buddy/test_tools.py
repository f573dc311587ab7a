"""The thirteen tools of Code Buddy, called by their names with the arguments of their document."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Clock
from tests.scripted_http import ScriptedServer, completion
from vault_memory import api
from vault_memory.core import layout
from vault_memory.errors import InvalidId, NotAVault, NotFound, UsageError
from vault_memory.services.admin import create_vault, to_trust, trust
from vault_memory.services.buddy import TOOLS, call_tool
from vault_memory.services.memories import memory_files, store_memory
from vault_memory.services.vault import Vault, open_vault

TASK = "Implement login feature with JWT authentication"


class Buddy:
    """The tools for alice."""

    def __init__(self, vault: Vault) -> None:
        self.vault = vault

    def __call__(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        found = call_tool(self.vault, "alice", f"buddy_{tool}", arguments)
        assert json.loads(json.dumps(found)) == found, "an answer is JSON"
        return found

    def add(self, content: str, title: str = "", kind: str = "decision", **more: Any) -> dict[str, Any]:
        return self("add_memory", title=title or content, content=content, type=kind, **more)


@pytest.fixture
def buddy(vault: Vault) -> Buddy:
    return Buddy(vault)


def test_there_are_thirteen_with_their_documents_arguments(vault: Vault) -> None:
    """B4: each is a function of the library, too."""
    known = {name: [each.name for each in tool.parameters] for name, tool in TOOLS.items()}
    assert known == {
        "buddy_do": ["task", "context"],
        "buddy_add_memory": ["title", "content", "type", "tags", "forceSave"],
        "buddy_remember": ["query", "limit", "type"],
        "buddy_remember_recent": ["limit"],
        "buddy_remember_stats": [],
        "buddy_delete_memory": ["query", "id", "type", "confirmCode"],
        "buddy_search_entities": ["query", "limit"],
        "buddy_create_entity": ["name", "type", "observations", "tags"],
        "buddy_create_relation": ["from", "to", "type", "description"],
        "buddy_record_mistake": [
            *("action", "errorType", "userCorrection", "correctMethod", "impact", "preventionMethod", "relatedRule")
        ],
        "buddy_get_mistake_patterns": [],
        "buddy_ask_ai": ["prompt"],
        "buddy_config": ["enabled", "provider", "baseUrl", "apiKey", "model", "maxTokens", "temperature"],
    }
    assert all(tool.description and hasattr(api, name) for name, tool in TOOLS.items())
    assert api.buddy_remember_stats(vault, "alice")["total"] == 0


def test_the_page_names_the_arguments_that_there_are() -> None:
    """`docs/code-buddy.md`: those of the tools in its table, and what they are called in Python."""
    page = (Path(__file__).parents[3] / "docs" / "code-buddy.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(buddy_\w+)` \|([^|]*)\|", page, re.MULTILINE)
    assert {name: set(re.findall(r"`(\w+)`", told)) for name, told in rows} == {
        name: {each.name for each in tool.parameters} for name, tool in TOOLS.items()
    }
    (said,) = re.findall(r"In Python the arguments are written as Python does (.*?)\.\s", page)
    names = {each.python_name: each.name for tool in TOOLS.values() for each in tool.parameters}
    told = set(re.findall(r"`(\w+)`", said))
    assert told - names.keys() <= {*names.values()} and {name for name in names if names[name] in told} <= told


def test_a_new_user_has_nothing_and_no_error(buddy: Buddy) -> None:
    assert buddy("remember", query="x")["memories"] == buddy("remember_recent")["memories"] == []
    assert buddy("search_entities", query="x")["entities"] == []
    assert buddy("get_mistake_patterns") == {"total": 0, "byType": [], "similar": [], "byMonth": {}}
    assert buddy("remember_stats")["total"] == 0
    assert not buddy.vault.is_user("alice")


def test_a_task_becomes_a_permanent_feature_memory(buddy: Buddy) -> None:
    """B1, B3a, B4"""
    done = buddy("do", task=TASK)
    assert re.fullmatch(r"task_\d{13}_[0-9a-f]{8}", done["id"])
    entry = done["memory"]
    assert (entry["type"], entry["title"], entry["content"]) == ("feature", f"Task: {TASK}", TASK)
    assert entry["tags"] == ["buddy-do", "implement", "medium"]
    assert (done["stored"], done["taskType"], done["complexity"]) == (True, "implement", "medium")
    (file,) = memory_files(buddy.vault, "alice", [done["id"]])
    assert file.memory.expires_at is None and file.memory.created_at
    assert str(entry["timestamp"]) == done["id"].split("_")[1]
    assert entry["timestamp"] // 1000 == int(file.memory.created_at.timestamp())
    again = buddy("do", task=TASK)
    assert (again["id"], again["stored"], again["reinforced"]) == (done["id"], False, True)
    with_context = buddy("do", task="Fix the login", context="src/login.py")["memory"]
    assert with_context["content"] == "Fix the login\n\nContext: src/login.py" and with_context["tags"][1] == "fix"


def test_similar_memories_are_told_and_a_person_decides(buddy: Buddy) -> None:
    """B4, B5"""
    first = buddy.add("Decided to use JWT tokens for user authentication", "Use JWT", tags=["auth", "security"])
    assert first["stored"] and first["memory"]["tags"] == ["auth", "security"] and first["similar"] == []
    second = buddy.add("Decided to use JWT tokens for all user authentication")
    assert (second["stored"], second["id"], second["memory"]) == (False, "", None)
    (similar,) = second["similar"]
    assert similar["similar"] and similar["id"] == first["id"] and similar["score"] >= 0.35 and similar["reason"]
    assert buddy.add("Decided to use JWT tokens for all user authentication", forceSave=True)["stored"]


def test_remember_finds_by_words_meaning_and_every_part_of_a_word(buddy: Buddy) -> None:
    """B4: hybrid over title, content and tags; a substring is never lost to the ranking."""
    ids = {
        "title": buddy.add("The cookie is gone", "OAuth is out")["id"],
        "content": buddy.add("我們決定用 JWT 做授權（authorization）")["id"],
        "tag": buddy.add("Redis runs on port 6380", tags=["Authentication"])["id"],
    }
    many = [buddy.add(f"Note {number} about autumn in city {number}", forceSave=True)["id"] for number in range(40)]
    found = buddy("remember", query="aut")
    assert {each["id"] for each in found["memories"]} == {*ids.values(), *many} and found["total"] == 43
    assert {each["id"] for each in buddy("remember", query="ＡＵＴＨ")["memories"][:3]} == {*ids.values()}
    assert buddy("remember", query="aut", limit=5)["total"] == 43
    assert buddy("remember", query="授权")["memories"][0]["id"] == ids["content"]
    street = buddy.add("The office is in the Königsstraße")["id"]
    assert [each["id"] for each in buddy("remember", query="KONIGSSTRASSE")["memories"]][:1] == [street]
    assert buddy("delete_memory", query="königsstrasse")["count"] == 1
    meant = buddy("remember", query="which port does redis use?")["memories"][0]
    assert meant["id"] == ids["tag"] and meant["score"] > 0
    assert buddy("remember", query="aut", type="lesson")["memories"] == []
    for wrong in ({"query": " "}, {"query": "x", "limit": 0}, {"query": "x", "type": "idea"}):
        with pytest.raises(UsageError):
            buddy("remember", **wrong)


def test_remember_finds_a_part_in_the_middle_of_a_long_memory(buddy: Buddy) -> None:
    words = " ".join(f"w{number}" for number in range(1_500))
    long = buddy.add(f"{words} xylophonist {words}\n\n# Heading\n\nand a tail", "long")["id"]
    for query in ("lophon", "w1499 xylo", "Heading", "and a ta", "w1499\n\n# Head", "Heading\n\nand"):
        assert [each["id"] for each in buddy("remember", query=query)["memories"]] == [long], query


def test_the_newest_come_first(buddy: Buddy) -> None:
    """B4"""
    ids = [buddy.add(f"Fact number {number} of city {number}", forceSave=True)["id"] for number in range(7)]
    assert [each["id"] for each in buddy("remember_recent")["memories"]] == ids[:1:-1]
    assert [each["id"] for each in buddy("remember_recent", limit=2)["memories"]] == ids[:4:-1]


def test_totals_over_all_four_stores(buddy: Buddy, clock: Clock) -> None:
    """B4, B9: what was done counts for this process and this user alone."""
    buddy("do", task=TASK)
    buddy.add("Decided to use Redis")
    buddy.vault.now()
    buddy("create_entity", name="Redis", type="technology", observations=["in memory"])
    buddy("create_relation", **{"from": "Login", "to": "Redis", "type": "uses"})
    buddy("record_mistake", **MISTAKE)
    stats = buddy("remember_stats")
    assert stats["total"] == 2 + 2 + 1 + 1
    assert [stats[key] for key in ("memories", "entities", "relations", "mistakes")] == [2, 2, 1, 1]
    assert stats["byType"] == {"decision": 1, "feature": 1} and stats["permanent"] == 2
    assert (stats["tasksCompleted"], stats["memoriesCreated"]) == (1, 2)
    other = call_tool(buddy.vault, "bob", "buddy_remember_stats", {})
    assert (other["total"], other["tasksCompleted"]) == (0, 0)


def test_deleting_takes_two_steps(buddy: Buddy) -> None:
    """B4, B6"""
    ids = [buddy.add(f"JWT rule {number} for city {number}", forceSave=True)["id"] for number in range(4)]
    chosen = buddy("delete_memory", query="jwt")
    assert re.fullmatch("[A-Z2-9]{6}", chosen["confirmCode"]) and chosen["count"] == 4
    assert {each["id"] for each in chosen["memories"]} == {*ids} and len(chosen["preview"]) == 3
    assert "JWT rule" in chosen["preview"][0]["content"] and len(buddy("remember_recent")["memories"]) == 4
    with pytest.raises(UsageError, match="alone"):
        buddy("delete_memory", query="jwt", confirmCode=chosen["confirmCode"])
    receipt = buddy("delete_memory", confirmCode=chosen["confirmCode"].lower())
    assert {*receipt["deleted"]} == {*ids} and all(each["absent"] for each in receipt["verified"])
    assert buddy("remember_recent")["memories"] == []
    kept = buddy.add("Decided to use Redis")["id"]
    assert buddy("delete_memory", id=kept)["count"] == buddy("delete_memory", type="decision")["count"] == 1
    for wrong in ({}, {"id": kept, "query": "x"}, {"confirmCode": "AAAAAA"}):
        with pytest.raises(UsageError):
            buddy("delete_memory", **wrong)
    with pytest.raises(NotFound):
        buddy("delete_memory", id="mem_1_none")


def test_entities_and_relations(buddy: Buddy) -> None:
    """B2, B4: by name; a part of a word finds an entity by name, observation and tag."""
    made = buddy("create_entity", name="LoginSystem", type="component", observations=["Uses JWT"], tags=["auth"])
    assert made["isNew"] and re.fullmatch(r"entity_\d{13}_\w+", made["entity"]["id"])
    assert made["entity"]["observations"] == ["Uses JWT"] and made["entity"]["createdAt"] > 1e12
    more = buddy("create_entity", name="ｌｏｇｉｎsystem", type="component", observations=["Sends mail"])
    assert (made["isChanged"], more["isNew"], more["isChanged"]) == (True, False, True)
    again = buddy("create_entity", name="LoginSystem", type="component")
    assert (again["isNew"], again["isChanged"]) == (False, False)
    assert more["entity"]["observations"] == ["Uses JWT", "Sends mail"] and more["entity"]["id"] == made["entity"]["id"]
    relation = buddy("create_relation", **{"from": "LoginSystem", "to": "Redis", "type": "uses", "description": "why"})
    assert relation["relation"] | {"id": "", "createdAt": 0} == {
        "id": "",
        "from": "LoginSystem",
        "to": "Redis",
        "type": "uses",
        "description": "why",
        "createdAt": 0,
    }
    assert relation["made"] == ["Redis"] and relation["isNew"]
    again = buddy("create_relation", **{"from": "loginsystem", "to": "REDIS", "type": "uses", "description": "why"})
    assert (again["isNew"], again["isChanged"], again["relation"]) == (False, False, relation["relation"])
    for query in ("ginsys", "jw", "AUT"):
        assert [each["name"] for each in buddy("search_entities", query=query)["entities"]] == ["LoginSystem"]
    with pytest.raises(UsageError, match="depends_on"):
        buddy("create_relation", **{"from": "A", "to": "B", "type": "likes"})


MISTAKE = {
    "action": "Edited the file without reading it",
    "errorType": "procedure-violation",
    "userCorrection": "Read first",
    "correctMethod": "Read, then edit",
    "impact": "Broke the formatting",
    "preventionMethod": "Always read before editing",
    "relatedRule": "READ_BEFORE_EDIT",
}


def test_mistakes_and_their_patterns(buddy: Buddy) -> None:
    """B3, B4"""
    assert re.fullmatch(r"mistake_\d{13}_\w+", buddy("record_mistake", **MISTAKE)["id"])
    buddy("record_mistake", **MISTAKE | {"preventionMethod": "Open it first"})
    patterns = buddy("get_mistake_patterns")
    (kind,) = patterns["byType"]
    assert (patterns["total"], kind["errorType"], kind["count"]) == (2, "procedure-violation", 2)
    assert kind["preventionMethod"] == "Open it first" and len(patterns["similar"]) == 1


def test_a_question_and_its_answer_become_a_note(vault: Vault, clock: Clock, chat: ScriptedServer) -> None:
    """B3a, B4, B7"""
    asked = open_vault(vault.root, now=clock, llm_enabled=True, llm_base_url=chat.url, llm_model="m", llm_timeout_s=2.0)
    store_memory(asked, "alice", "Bob 有正式環境的部署權限", "fact")
    chat.script = [completion(json.dumps({"answer": "Bob 可以。", "used": [1]}, ensure_ascii=False))]
    buddy = Buddy(asked)
    found = buddy("ask_ai", prompt="誰可以部署正式環境？")
    assert found["answer"] == "Bob 可以。" and found["byModel"] and found["used"][0]["type"] == "fact"
    (note,) = memory_files(asked, "alice", [found["noteId"]])
    assert (note.memory.type, note.memory.expires_at) == ("note", None)
    assert (
        note.memory.content == "誰可以部署正式環境？\n\nBob 可以。" and note.memory.title == "AI: 誰可以部署正式環境？"
    )


def test_without_a_model_the_answer_lists_what_is_known(buddy: Buddy) -> None:
    """B1, B4: usable offline; nothing is noted, for nothing was said."""
    buddy.add("Bob 有正式環境的部署權限")
    found = buddy("ask_ai", prompt="誰可以部署正式環境？")
    assert "Bob" in found["answer"] and not found["byModel"] and found["noteId"] == "" and found["degraded"]
    assert buddy("remember_stats")["memories"] == 1


def test_what_is_private_stays_out(buddy: Buddy) -> None:
    """B4: the gates hold for every tool."""
    done = buddy("do", task="Deploy with the key AKIAIOSFODNN7EXAMPLE to the cluster")
    assert "AKIAIOSFODNN7" not in json.dumps(done) and done["redactions"] == {"api-key": 1}
    buddy("create_entity", name="Cluster", type="component", observations=["key AKIAIOSFODNN7EXAMPLE opens it"])
    buddy("record_mistake", **MISTAKE | {"impact": "AKIAIOSFODNN7EXAMPLE was in the log"})
    for path in (buddy.vault.root / "memory").rglob("*.md"):
        assert "AKIAIOSFODNN7" not in path.read_text(encoding="utf-8")
    with pytest.raises(UsageError, match="health"):
        buddy.add("我有糖尿病")
    quiet = Buddy(replace(buddy.vault, config=replace(buddy.vault.config, off_record=["alice"])))
    assert quiet.add("Decided to use tea")["id"] == quiet("do", task="Fix it")["id"] == ""
    assert quiet("remember_stats")["tasksCompleted"] == 1, "that of the task above"


def test_no_tool_reaches_another_user(buddy: Buddy) -> None:
    """B4: walls."""
    theirs = call_tool(buddy.vault, "bob", "buddy_do", {"task": TASK})
    assert buddy("remember", query="login")["memories"] == []
    with pytest.raises(NotFound):
        buddy("delete_memory", id=theirs["id"])
    with pytest.raises(InvalidId):
        call_tool(buddy.vault, "../bob", "buddy_remember_recent", {})


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("buddy_dance", {}, "no tool 'buddy_dance'"),
        ("buddy_remembr", {}, "Did you mean 'buddy_remember'"),
        ("buddy_do", {}, "needs the argument task"),
        ("buddy_do", {"task": 3}, "task of buddy_do is a text"),
        ("buddy_do", {"task": None}, "task of buddy_do is a text"),
        ("buddy_do", {"task": " "}, "empty"),
        ("buddy_do", {"taks": "x"}, "Did you mean 'task'"),
        ("buddy_do", {"task": "x", "vault": "y"}, "no argument 'vault'"),
        ("buddy_remember", {"query": "x", "limit": True}, "a whole number"),
        ("buddy_remember", {"query": "x", "limit": 1.5}, "a whole number"),
        ("buddy_add_memory", {"title": "x", "content": "y", "type": "note", "tags": "z"}, "a list of texts"),
        ("buddy_add_memory", {"title": "x", "content": "y", "type": "idea"}, "'idea'"),
        ("buddy_config", {"temperature": "hot"}, "a number"),
        ("buddy_create_entity", {"name": "x", "type": "person"}, "'person'"),
    ],
)
def test_a_wrong_call_is_told(vault: Vault, name: str, arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=re.escape(said)):
        call_tool(vault, "alice", name, arguments)


def test_null_is_as_not_given(buddy: Buddy) -> None:
    assert buddy.add("Decided to use Redis", tags=None, forceSave=None)["stored"]


class TestConfig:
    """`buddy_config`, B4 and B7."""

    KEY = "sk-abcdefghijklmnopqrstuvwxyz0123456789ABCD"

    def test_it_shows_the_settings_and_never_a_key(self, vault: Vault) -> None:
        shown = Buddy(vault)("config")
        assert shown["llm"] == {
            "enabled": False,
            "provider": "",
            "baseUrl": "",
            "model": "",
            "maxTokens": 2048,
            "temperature": 0.7,
            "apiKey": "not set",
        }
        with_key = open_vault(
            vault.root, llm_base_url=f"https://ann:{self.KEY}@x.example/v1?key={self.KEY}", llm_key_env="MY_KEY"
        )
        shown = Buddy(replace(with_key, environ={**with_key.environ, "MY_KEY": self.KEY}))("config")
        assert self.KEY not in json.dumps(shown)
        assert shown["llm"]["apiKey"] == "configured: MY_KEY" and shown["llm"]["baseUrl"] == "https://x.example/v1"

    def test_a_key_is_not_taken(self, vault: Vault) -> None:
        with pytest.raises(UsageError, match=r"llm\.key_env") as error:
            Buddy(vault)("config", apiKey=self.KEY)
        assert self.KEY not in str(error.value)
        with pytest.raises(UsageError, match="secret"):
            Buddy(vault)("config", model=self.KEY)
        assert self.KEY not in (vault.root / layout.SETTINGS_FILE).read_text(encoding="utf-8")

    def test_what_it_sets_is_committed_and_an_address_waits(self, vault: Vault) -> None:
        """A program does not decide where a person's words go."""
        done = Buddy(vault)("config", model="qwen3", maxTokens=512, temperature=0.2, baseUrl="https://evil.example/v1")
        assert {*done["changed"]} == {"llm.model", "llm.max_tokens", "llm.temperature", "llm.base_url"}
        assert (done["llm"]["model"], done["llm"]["maxTokens"], done["llm"]["temperature"]) == ("qwen3", 512, 0.2)
        assert done["llm"]["baseUrl"] == "" and "trust" in done["waiting"][0]
        (entry,) = vault.history.log(limit=1)
        assert entry.subject.startswith("settings: llm.") and entry.author == "vault-memory"
        assert not [*vault.history.uncommitted()]
        assert open_vault(vault.root).config.llm_max_tokens == 512
        assert Buddy(vault)("config", model="qwen3")["changed"] == []

    def test_it_is_enabled_where_a_model_is_asked(self, vault: Vault) -> None:
        """Switched on without an address nothing is asked, and the answer says what is missing."""
        done = Buddy(vault)("config", enabled=True, model="m")
        assert done["changed"] == ["llm.enabled", "llm.model"] and not done["llm"]["enabled"]
        assert "llm.base_url" in done["waiting"][-1]
        waits = Buddy(vault)("config", provider="openai")
        assert not waits["llm"]["enabled"] and len(waits["waiting"]) == 2
        anew = open_vault(vault.root)
        trust(anew, to_trust(anew))
        shown = Buddy(vault)("config")
        assert shown["llm"]["enabled"] and shown["waiting"] == [] and "openai" in shown["llm"]["baseUrl"]

    @pytest.mark.parametrize("wrong", [{"temperature": 9.0}, {"maxTokens": 1}, {"provider": "evil"}])
    def test_a_wrong_value_changes_nothing(self, vault: Vault, wrong: dict[str, Any]) -> None:
        before = (vault.root / layout.SETTINGS_FILE).read_bytes()
        with pytest.raises(UsageError):
            Buddy(vault)("config", **wrong)
        assert (vault.root / layout.SETTINGS_FILE).read_bytes() == before


def test_every_tool_works_in_a_vault_that_was_just_made(tmp_path: Any) -> None:
    """B4: without a network."""
    vault = open_vault(create_vault(tmp_path / "new").root)
    for name, arguments in (("buddy_do", {"task": TASK}), ("buddy_remember", {"query": "jwt"}), ("buddy_config", {})):
        assert call_tool(vault, "ann", name, arguments)


def test_a_tool_takes_the_folder_of_a_vault(tmp_path: Path) -> None:
    root = create_vault(tmp_path / "new").root
    assert call_tool(str(root), "ann", "buddy_do", {"task": TASK})["memory"]["type"] == "feature"
    assert call_tool(root, "ann", "buddy_remember_stats", {})["memories"] == 1
    with pytest.raises(NotAVault):
        call_tool(tmp_path, "ann", "buddy_remember_stats", {})
