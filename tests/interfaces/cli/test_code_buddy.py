"""B8: Code Buddy's data by the command line, there and back."""

from __future__ import annotations

import json
from pathlib import Path

from tests.conftest import Cli
from tests.services.importing.test_code_buddy import (
    ALL,
    CONFIG,
    ENTITIES,
    KEY,
    MEMORIES,
    MISTAKES,
    RELATIONS,
    buddy_folder,
)


def folder_in(tmp_path: Path) -> Path:
    return buddy_folder(
        tmp_path / "project/.opencode/code-buddy",
        CONFIG,
        memory=MEMORIES,
        entities=ENTITIES,
        relations=RELATIONS,
        mistakes=MISTAKES,
    )


def test_there_and_back(cli: Cli, tmp_path: Path) -> None:
    """B8: a dry run, the import, the same again, and what is here then by each command; then the export."""
    folder, project = folder_in(tmp_path), str(tmp_path / "project")
    dry = cli("import", "code-buddy", "--user", "alice", "--dry-run", project)
    assert "memory.json: 2 new, 0 there already" in dry and "nothing was written" in dry
    assert cli("user", "list") == ""
    done = cli("import", "code-buddy", "--user", "alice", project)
    assert "relations.json: 2 new, 0 there already" in done and "config.json: taken: llm.enabled" in done
    assert KEY not in done and "apiKey" in done
    again = cli("import", "code-buddy", "--user", "alice", str(folder))
    assert "memory.json: 0 new, 2 there already" in again and "mistakes.json: 0 new, 1 there already" in again
    assert cli.git("status", "--short") == "" and KEY not in cli.git("log", "-p")

    (found,) = cli.json("memory", "show", "--user", "alice", MEMORIES[1]["id"])
    assert (found["title"], found["expires_at"]) == ("Use JWT for auth", None)
    assert found["created_at"] == "2024-02-04T00:01:40+08:00"
    assert "JWT" in cli("recall", "--user", "alice", "how do users authenticate?")
    assert "LoginSystem" in cli("graph", "search", "--user", "alice", "ginsys")
    assert "procedure-violation" in cli("mistake", "list", "--user", "alice")

    out = tmp_path / "out"
    told = cli("export", "code-buddy", "--user", "alice", str(out))
    assert "memory.json: 2 records" in told
    for name in ALL:
        assert (out / "data" / name).read_bytes() == (folder / "data" / name).read_bytes(), name
    assert KEY not in (out / "config.json").read_text()
    back = cli("import", "code-buddy", "--user", "alice", str(out))
    assert " 1 new" not in back and " 2 new" not in back


def test_a_broken_file_is_named_and_ends_with_1(cli: Cli, tmp_path: Path) -> None:
    """B8, bad input: what comes before it and the other files are imported."""
    folder = folder_in(tmp_path)
    memory = folder / "data/memory.json"
    memory.write_bytes(memory.read_bytes()[:-40])
    said = cli("import", "code-buddy", "--user", "alice", str(folder), code=1)
    assert "memory.json: it is cut or damaged in record 2" in said
    assert [each["id"] for each in cli.json("memory", "list", "--user", "alice")] == [MEMORIES[0]["id"]]
    assert json.loads(cli("graph", "export", "--user", "alice", "--format", "json"))["entities"]
    assert "Code Buddy's files" in cli("import", "code-buddy", "--user", "alice", str(tmp_path), code=2)


def test_the_copy_of_all_files_is_named_as_before(cli: Cli, tmp_path: Path) -> None:
    cli("turn", "--user", "alice", "--message", "hello", "--reply", "hi")
    for number, words in enumerate((("--user", "alice"), ("files", "--user", "alice"))):
        copy = tmp_path / f"copy{number}"
        assert "copied to" in cli("export", *words, str(copy)) and (copy / "USER.md").is_file()
    assert "code-buddy" in cli("export", "--help") and "--user" in cli("export", str(tmp_path / "x"), code=2)


def test_records_that_are_left_out_end_with_1(cli: Cli, tmp_path: Path) -> None:
    """B8, bad input: they are named, the others are taken, and a script can tell."""
    entities = [*ENTITIES, {"name": "loginsystem", "type": "technology"}]
    memories = [*MEMORIES, {"id": "mem_1706976000009_x", "content": "long " * 6_000}]
    folder = buddy_folder(tmp_path / "b", entities=entities, memory=memories)
    done = cli.run("import", "code-buddy", "--user", "alice", str(folder))
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "entities.json: 2 new, 0 there already, 1 not taken" in done.stdout
    assert "memory.json: 2 new, 0 there already, 1 not taken" in done.stdout
    assert "entities.json, record 3: there is an entity 'LoginSystem' already" in done.stderr
