"""B8: importing what Code Buddy keeps, and writing it back, as a program calls it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from vault_memory.errors import InvalidId, UsageError
from vault_memory.services.buddy import call_tool, export_code_buddy
from vault_memory.services.graph import get_entity, graph_of
from vault_memory.services.importing import ImportedCodeBuddy, Taken, import_code_buddy
from vault_memory.services.memories import edit_memory, list_memories, memory_files, prepare_deletion
from vault_memory.services.mistakes import list_mistakes
from vault_memory.services.vault import Vault, open_vault

AT = 1706976000000
KEY = "sk-abcdefghijklmnopqrstuvwxyz0123456789ABCD"

MEMORIES: list[dict[str, Any]] = [
    {
        "id": f"task_{AT}_abc123",
        "type": "feature",
        "title": "Task: Implement login feature...",
        "content": "Implement login feature with JWT authentication",
        "tags": ["buddy-do", "implement", "medium"],
        "timestamp": AT,
    },
    {
        "id": f"mem_{AT + 100_000}_def456",
        "type": "decision",
        "title": "Use JWT for auth",
        "content": "Decided to use JWT tokens for user authentication",
        "tags": ["auth", "security"],
        "timestamp": AT + 100_123,
    },
]
ENTITIES: list[dict[str, Any]] = [
    {
        "id": f"entity_{AT + 200_000}_ghi789",
        "name": "LoginSystem",
        "type": "component",
        "observations": ["Handles user authentication", "Uses JWT tokens"],
        "tags": [],
        "createdAt": AT + 200_000,
    },
    {
        "id": f"entity_{AT + 200_001}_ghi790",
        "name": "A/B [[x|y]] #1 🎉",
        "type": "technology",
        "observations": [],
        "tags": ["auth"],
        "createdAt": AT + 200_777,
    },
]
RELATIONS: list[dict[str, Any]] = [
    {
        "id": f"rel_{AT + 300_000}_r1",
        "from": "LoginSystem",
        "to": "A/B [[x|y]] #1 🎉",
        "type": "uses",
        "description": "為了登入",
        "createdAt": AT + 300_000,
    },
    {
        "id": f"rel_{AT + 300_001}_r2",
        "from": "A/B [[x|y]] #1 🎉",
        "to": "LoginSystem",
        "type": "related_to",
        "createdAt": AT + 300_456,
    },
]
MISTAKES: list[dict[str, Any]] = [
    {
        "id": f"mistake_{AT + 400_000}_m1",
        "timestamp": AT + 400_321,
        "action": "Edited without reading",
        "errorType": "procedure-violation",
        "userCorrection": "Read first",
        "correctMethod": "Read, then edit",
        "impact": "Broke formatting",
        "preventionMethod": "Always read first",
        "relatedRule": "READ_FIRST",
    }
]
CONFIG = {
    "llm": {
        "enabled": True,
        "provider": "openai",
        "baseUrl": "https://api.openai.com/v1",
        "apiKey": KEY,
        "model": "gpt-4o-mini",
        "maxTokens": 2048,
        "temperature": 0.7,
    }
}
ALL = {"memory.json": MEMORIES, "entities.json": ENTITIES, "relations.json": RELATIONS, "mistakes.json": MISTAKES}


def buddy_folder(folder: Path, config: Any = None, **files: Any) -> Path:
    """A folder of Code Buddy's with these lists: `memory=[…]`."""
    (folder / "data").mkdir(parents=True, exist_ok=True)
    for name, records in files.items():
        text = records if isinstance(records, str) else json.dumps(records, ensure_ascii=False, indent=2)
        (folder / "data" / f"{name}.json").write_text(text, encoding="utf-8")
    if config is not None:
        (folder / "config.json").write_text(json.dumps(config))
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return buddy_folder(
        tmp_path / "buddy", CONFIG, memory=MEMORIES, entities=ENTITIES, relations=RELATIONS, mistakes=MISTAKES
    )


def run(vault: Vault, folder: Path, **more: Any) -> ImportedCodeBuddy:
    return import_code_buddy(vault, "alice", folder, **more)


def counts(found: ImportedCodeBuddy) -> dict[str, tuple[int, int, int]]:
    return {each.name: (each.added, each.known, each.refused) for each in found.files}


def test_everything_comes_in_with_its_id_and_time(vault: Vault, folder: Path) -> None:
    """B8"""
    before = {path: path.read_bytes() for path in folder.rglob("*.json")}
    found = run(vault, folder)
    assert counts(found) == {
        "memory.json": (2, 0, 0),
        "entities.json": (2, 0, 0),
        "relations.json": (2, 0, 0),
        "mistakes.json": (1, 0, 0),
    }
    assert not found.problems and not found.damaged and not found.paused and not found.index_problem
    newest, task = (file.memory for file in list_memories(vault, "alice"))
    assert (newest.id, task.id) == (MEMORIES[1]["id"], MEMORIES[0]["id"])
    assert task.created_at and task.created_at.isoformat() == "2024-02-04T00:00:00+08:00" and task.expires_at is None
    assert (task.type, task.title, task.content) == ("feature", MEMORIES[0]["title"], MEMORIES[0]["content"])
    view = get_entity(vault, "alice", "LoginSystem")
    assert view.entity.id == ENTITIES[0]["id"] and list(view.entity.observations) == ENTITIES[0]["observations"]
    assert {each.id for each in view.relations} == {each["id"] for each in RELATIONS}
    (mistake,) = (file.mistake for file in list_mistakes(vault, "alice"))
    assert (mistake.id, mistake.related_rule) == (MISTAKES[0]["id"], "READ_FIRST")
    assert before == {path: path.read_bytes() for path in folder.rglob("*.json")}
    assert not [*vault.history.uncommitted()] and vault.history.log(limit=1)[0].author != "vault-memory"


def test_again_it_adds_nothing(vault: Vault, folder: Path) -> None:
    """B8: idempotent, from a new process too."""
    run(vault, folder)
    head, files = vault.history.log(limit=1)[0].commit, tree(vault)
    found = run(open_vault(vault.root), folder)
    assert counts(found) == {
        "memory.json": (0, 2, 0),
        "entities.json": (0, 2, 0),
        "relations.json": (0, 2, 0),
        "mistakes.json": (0, 1, 0),
    }
    assert found.settings == [] and vault.history.log(limit=1)[0].commit == head and tree(vault) == files


def test_two_at_once_import_each_record_once(vault: Vault, folder: Path) -> None:
    """B8: whoever comes second finds it there."""
    others = [open_vault(vault.root) for _ in range(3)]
    with ThreadPoolExecutor(3) as pool:
        found = [counts(each) for each in pool.map(lambda each: run(each, folder), others)]
    for name, records in ALL.items():
        assert sum(each[name][0] for each in found) == len(records), name
    assert len(list_memories(vault, "alice")) == 2 and len(list_mistakes(vault, "alice")) == 1
    assert not [*vault.history.uncommitted()]


def test_an_import_that_was_killed_goes_on(vault: Vault, tmp_path: Path) -> None:
    """B8: after a `kill -9` at any moment the same import adds what is missing."""
    records = [{"id": f"mem_{AT + at}_{at:x}", "content": f"Fact {at}", "timestamp": AT + at} for at in range(60)]
    mistakes = [{"id": f"mistake_{AT + at}_{at:x}", "action": f"Did {at}", "timestamp": AT + at} for at in range(20)]
    folder = buddy_folder(tmp_path / "b", memory=records, entities=ENTITIES, relations=RELATIONS, mistakes=mistakes)
    command = [sys.executable, "-m", "vault_memory", "import", "code-buddy", "--user", "alice", str(folder)]
    for delay_s in (0.6, 0.9, 1.3):
        process = subprocess.Popen(command, cwd=vault.root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with suppress(subprocess.TimeoutExpired):
            process.wait(delay_s)
        process.send_signal(signal.SIGKILL)
        process.wait()
    after = open_vault(vault.root)
    run(after, folder)
    assert {file.memory.id for file in list_memories(after, "alice")} == {each["id"] for each in records}
    assert {file.mistake.id for file in list_mistakes(after, "alice")} == {each["id"] for each in mistakes}
    assert len(graph_of(after, "alice").relations) == 2 and not [*after.history.uncommitted()]
    assert all(added == 0 for added, *_ in counts(run(after, folder)).values())


def test_a_dry_run_says_the_same_and_writes_nothing(vault: Vault, folder: Path) -> None:
    """B8"""
    files = tree(vault)
    dry = run(vault, folder, dry_run=True)
    assert tree(vault) == files and not vault.is_user("alice")
    real = run(vault, folder)
    assert (counts(dry), dry.settings, dry.remarks) == (counts(real), real.settings, real.remarks)
    assert counts(run(vault, folder, dry_run=True)) == counts(run(vault, folder))


def test_the_round_trip_is_byte_for_byte(vault: Vault, folder: Path, tmp_path: Path) -> None:
    """B8: `export code-buddy` writes what was imported, and importing that changes nothing."""
    run(vault, folder)
    out = tmp_path / "out"
    done = export_code_buddy(vault, "alice", out)
    assert done.counts == {name: len(records) for name, records in ALL.items()}
    for name in ALL:
        assert (out / "data" / name).read_bytes() == (folder / "data" / name).read_bytes(), name
    files = tree(vault)
    assert {added for added, _, refused in counts(run(vault, out)).values()} == {0} and tree(vault) == files
    for path in (out, *out.rglob("*")):
        assert path.stat().st_mode & 0o077 == 0, "nobody else reads it"
    other = open_vault(vault.root)
    run_for_bob = import_code_buddy(other, "bob", out)
    assert {added for added, *_ in counts(run_for_bob).values()} == {2, 1}
    export_code_buddy(other, "bob", tmp_path / "bob")
    assert (tmp_path / "bob/data/entities.json").read_bytes() == (folder / "data/entities.json").read_bytes()


def test_what_was_made_here_goes_out_with_what_it_loses(vault: Vault, tmp_path: Path) -> None:
    call_tool(vault, "alice", "buddy_do", {"task": "Fix the login"})
    call_tool(vault, "alice", "buddy_add_memory", {"title": "t", "content": "I like tea", "type": "preference"})
    call_tool(vault, "alice", "buddy_create_relation", {"from": "A", "to": "B", "type": "uses"})
    done = export_code_buddy(vault, "alice", tmp_path / "out")
    assert done.counts == {"memory.json": 2, "entities.json": 0, "relations.json": 1, "mistakes.json": 0}
    assert "note there" in done.remarks[0] and "2 ×" in done.remarks[1]
    types = [each["type"] for each in json.loads((tmp_path / "out/data/memory.json").read_text())]
    assert types == ["feature", "note"]
    for place in (tmp_path / "out", vault.root / "memory/alice/out"):
        with pytest.raises(UsageError):
            export_code_buddy(vault, "alice", place)


def test_the_key_is_neither_taken_nor_written(vault: Vault, folder: Path, tmp_path: Path) -> None:
    """B7, B8: settings come in, and those that say where words go wait for a yes."""
    found = run(vault, folder)
    assert found.settings == ["llm.enabled", "llm.provider", "llm.model"]
    assert any("apiKey" in remark and "llm.key_env" in remark for remark in found.remarks)
    opened = open_vault(vault.root)
    assert opened.config.llm_model == "gpt-4o-mini" and not opened.config.llm_enabled and opened.config.waiting
    export_code_buddy(opened, "alice", tmp_path / "out")
    for path in [*vault.root.rglob("*"), *(tmp_path / "out").rglob("*")]:
        assert not path.is_file() or KEY.encode() not in path.read_bytes(), path
    own = buddy_folder(tmp_path / "own", {"llm": {"model": "other", "temperature": 7, "maxTokens": 99}})
    again = run(opened, own)
    assert again.settings == ["llm.max_tokens"] and again.settings_here == ["llm.model"]
    told = "\n".join(again.remarks)
    assert "llm.model has another value here" in told and "temperature" in told


def test_what_has_changed_here_or_there_is_told_and_stays(vault: Vault, folder: Path) -> None:
    run(vault, folder)
    edit_memory(vault, "alice", MEMORIES[0]["id"], title="Mine", importance=0.9)
    changed = [MEMORIES[0], MEMORIES[1] | {"content": "Decided to use sessions"}]
    found = run(vault, buddy_folder(folder, memory=changed))
    assert counts(found)["memory.json"] == (0, 2, 0)
    assert MEMORIES[1]["id"] in found.problems[0] and "stays" in found.problems[0] and len(found.problems) == 1
    (file,) = memory_files(vault, "alice", [MEMORIES[0]["id"]])
    assert (file.memory.title, file.memory.importance) == ("Mine", 0.9)


def test_fifty_megabytes_that_are_broken_in_the_middle(vault: Vault, tmp_path: Path) -> None:
    """B8, bad input: what comes before is imported, the newest that fit, and the place is named."""
    small = replace(vault, config=replace(vault.config, memories_capacity=30))
    text = "一段很長的文字 with some words in it. " * 25
    path = buddy_folder(tmp_path / "big") / "data/memory.json"
    count = 0
    with path.open("w", encoding="utf-8") as file:
        file.write("[")
        while file.tell() < 50_000_000:
            record = {
                "id": f"mem_{AT + count}_{count:x}",
                "type": "note",
                "title": f"n {count}",
                "timestamp": AT + count,
            }
            file.write(json.dumps(record | {"content": f"{count} {text}", "tags": []}, ensure_ascii=False) + ",")
            count += 1
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2] + b'\xff"}}]' + data[len(data) // 2 :])
    found = run(small, path.parent.parent)
    (taken,) = [each for each in found.files if each.is_there]
    assert taken.added == 30 and taken.refused == pytest.approx(count // 2 - 30, abs=count // 50)
    assert (
        "memory.json" in found.damaged[0] and "record" in found.damaged[0] and "before is imported" in found.damaged[0]
    )
    assert any("memories.capacity" in remark for remark in found.remarks)
    newest = list_memories(small, "alice")
    assert len(newest) == 30 and newest[0].memory.title == f"n {taken.refused + 29}"
    assert counts(run(small, path.parent.parent))["memory.json"][0] == 0, "nothing of mine makes room for it"


@pytest.mark.parametrize(
    "text",
    ["", "[", "{", "[{]", "null", "3", '"text"', "[" * 100_000, '[{"id": 1e9999}]', "\ufeff[]", "[[], [[]], {}]", "]"],
)
def test_what_is_no_list_of_records_ends_nothing(vault: Vault, folder: Path, text: str) -> None:
    """B8: the other files are imported."""
    found = run(vault, buddy_folder(folder, memory=text, mistakes=text))
    assert counts(found)["entities.json"] == (2, 0, 0) and counts(found)["memory.json"][0] == 0
    assert found.damaged or found.problems or text in ("", "\ufeff[]", "]")


def test_ids_that_are_none_or_come_twice_lose_no_words(vault: Vault, tmp_path: Path) -> None:
    """B8: a name in a path, a second record of one id, none at all; the same ones when they come again."""
    twice = f"mem_{AT}_a"
    records = [
        {"id": twice, "content": "the first", "timestamp": AT},
        {"id": twice, "content": "the second", "timestamp": AT},
        {"id": twice, "content": "the first", "timestamp": AT},
        {"id": "../../../etc/passwd", "content": "outside", "timestamp": AT},
        {"content": "without any", "timestamp": AT},
        {"id": ["x"], "content": "a list"},
    ]
    mistakes = [{"id": "../x", "action": "outside"}, {"id": "m", "action": "short"}, {"action": ""}]
    found = run(vault, buddy_folder(tmp_path / "b", memory=records, mistakes=mistakes))
    assert counts(found)["memory.json"] == (5, 0, 0) and counts(found)["mistakes.json"] == (2, 0, 1)
    assert "mistakes.json, record 3" in found.problems[0] and "action" in found.problems[0]
    contents = {file.memory.content for file in list_memories(vault, "alice")}
    assert contents == {"the first", "the second", "outside", "without any", "a list"}
    again = run(vault, buddy_folder(tmp_path / "b", memory=records, mistakes=mistakes))
    assert counts(again)["memory.json"] == (0, 5, 0) and counts(again)["mistakes.json"] == (0, 2, 1)
    assert not any(file.memory.problems for file in list_memories(vault, "alice"))


def test_a_relation_to_what_is_not_there(vault: Vault, tmp_path: Path) -> None:
    """B8, bad input: made as a stub or refused, as configured; never dropped without a word."""
    folder = buddy_folder(
        tmp_path / "b", relations=[{"from": "A", "to": "A", "type": "uses"}, {"from": "A", "to": "B"}]
    )
    found = run(vault, folder)
    assert counts(found)["relations.json"] == (2, 0, 0) and len(graph_of(vault, "alice").relations) == 2
    assert any("without a type" in remark for remark in found.remarks)
    strict = replace(vault, config=replace(vault.config, graph_missing_entity="refuse"))
    refused = import_code_buddy(strict, "bob", folder)
    assert counts(refused)["relations.json"] == (0, 0, 2) and "'A'" in refused.problems[0]


def test_two_entities_of_one_name_become_one(vault: Vault, tmp_path: Path) -> None:
    records = [
        {"id": f"entity_{AT}_a", "name": "Redis", "type": "technology", "observations": ["fast"]},
        {"id": f"entity_{AT}_b", "name": "ＲＥＤＩＳ", "type": "technology", "observations": ["in memory"]},
        {"id": f"entity_{AT}_c", "name": "redis", "type": "component"},
    ]
    found = run(vault, buddy_folder(tmp_path / "b", entities=records))
    (entity,) = graph_of(vault, "alice").entities
    assert entity.observations == ("fast", "in memory") and entity.id == f"entity_{AT}_a"
    assert any("another entity has that name" in remark for remark in found.remarks)
    assert counts(found)["entities.json"] == (2, 0, 1) and "technology" in found.problems[0]


def test_what_is_private_stays_out(vault: Vault, tmp_path: Path) -> None:
    """B8: counted, and a record of which nothing is left is named."""
    records = [
        {"id": f"mem_{AT}_a", "content": "The key is AKIAIOSFODNN7EXAMPLE, and tea is nice", "timestamp": AT},
        {"id": f"mem_{AT}_b", "content": "我有糖尿病", "timestamp": AT},
    ]
    entities = [{"name": "AKIAIOSFODNN7EXAMPLE", "type": "file"}, {"name": "ok", "type": "file"}]
    found = run(vault, buddy_folder(tmp_path / "b", memory=records, entities=entities))
    assert counts(found)["memory.json"] == (1, 0, 1) and counts(found)["entities.json"] == (1, 0, 1)
    assert found.redactions["api-key"] == 1 and f"mem_{AT}_b" in found.problems[0]
    for path in (vault.root / "memory").rglob("*.md"):
        assert b"AKIAIOSFODNN7" not in path.read_bytes() and "糖尿病".encode() not in path.read_bytes()
    again = run(vault, buddy_folder(tmp_path / "b", memory=records, entities=entities))
    assert counts(again)["memory.json"] == (0, 1, 1) and len(again.problems) == 2


def test_the_folder_may_be_the_project_or_the_data(vault: Vault, folder: Path, tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / ".opencode").mkdir(parents=True)
    folder.rename(project / ".opencode/code-buddy")
    (project / "config.json").write_text('{"llm": {"model": "not this"}}')
    assert run(vault, project, dry_run=True).settings == ["llm.enabled", "llm.provider", "llm.model"]
    assert counts(run(vault, project / ".opencode/code-buddy/data"))["memory.json"] == (2, 0, 0)


def test_what_cannot_be_imported_is_told(vault: Vault, folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"\.opencode/code-buddy"):
        run(vault, tmp_path)
    with pytest.raises(InvalidId):
        import_code_buddy(vault, "../x", folder)
    quiet = replace(vault, config=replace(vault.config, off_record=["alice"]))
    with pytest.raises(UsageError, match="off the record"):
        run(quiet, folder)
    memory = folder / "data/memory.json"
    memory.rename(tmp_path / "elsewhere.json")
    memory.symlink_to(tmp_path / "elsewhere.json")
    (folder / "data/mistakes.json").unlink()
    os.mkfifo(folder / "data/mistakes.json")
    found = run(vault, folder)
    assert [line.split()[0] for line in found.damaged] == ["memory.json", "mistakes.json"]
    assert counts(found)["relations.json"] == (2, 0, 0)


def test_only_some_of_the_files(vault: Vault, tmp_path: Path) -> None:
    found = run(vault, buddy_folder(tmp_path / "b", memory=MEMORIES))
    assert Taken("relations.json", is_there=False) in found.files and not found.damaged
    assert prepare_deletion(vault, "alice", ids=[MEMORIES[0]["id"]]).memories


def tree(vault: Vault) -> dict[str, bytes]:
    """The notes and settings of the vault."""
    paths = [*(vault.root / "memory").rglob("*.md"), vault.root / "vault-memory.toml"]
    return {str(path): path.read_bytes() for path in paths}


@pytest.mark.parametrize("is_turned", [False, True])
def test_entities_whose_files_would_have_one_name_come_out_as_they_went_in(
    vault: Vault, tmp_path: Path, is_turned: bool
) -> None:
    """B8: one's name is what another's file is called; all keep their ids, and relations lead where they led."""
    names = ["水門", "src/app.py", "src-app.py", "C#", "C-", "docs/README.md", "docs-README-md", "a|b", "a-b"]
    entities = [
        ENTITIES[0] | {"id": f"entity_{AT + at}_e{at}", "name": name, "createdAt": AT + at}
        for at, name in enumerate(reversed(names) if is_turned else names)
    ]
    relations = [
        {"id": f"rel_{AT + at}_r{at}", "from": begin, "to": end, "type": "uses", "createdAt": AT + at}
        for at, (begin, end) in enumerate((begin, end) for begin in ("水門", "C-") for end in names)
    ]
    found = run(vault, buddy_folder(tmp_path / "b", entities=entities, relations=relations))
    assert counts(found)["entities.json"] == (9, 0, 0) and counts(found)["relations.json"] == (18, 0, 0)
    assert not found.remarks and not found.problems
    export_code_buddy(vault, "alice", tmp_path / "out")
    for name in ("entities.json", "relations.json"):
        assert (tmp_path / "out/data" / name).read_bytes() == (tmp_path / "b/data" / name).read_bytes()
    assert {added for added, *_ in counts(run(vault, tmp_path / "out")).values()} == {0}
