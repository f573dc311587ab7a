"""The knowledge graph by the command line, as a person uses it."""

from __future__ import annotations

import json
import os
import re
import shlex
from pathlib import Path

from tests.conftest import Cli

PAGE = Path(__file__).parents[3] / "docs" / "graph.md"


def test_a_graph_from_adding_to_drawing(cli: Cli) -> None:
    """B2: entities, observations, relations by name; search, neighbourhood, path; a rename keeps the relations."""
    user = ("--user", "alice")
    made = cli.json("graph", "add", *user, "--type", "component", "AuthService", "--tag", "security")
    assert made["entity"]["id"].startswith("entity_") and made["is_new"] and made["commits"]
    assert f"Vault-Entity: {made['entity']['id']}" in cli.git("log", "-1", "--format=%B")
    assert "AuthService" in cli("graph", "observe", *user, "authservice", "管理使用者的資料")
    assert "all of it was there already" in cli.run("graph", "observe", *user, "AuthService", "管理使用者的資料").stderr
    said = cli.run("graph", "relate", *user, "AuthService", "depends_on", "Redis", "--description", "session 放在這裡")
    assert (
        said.stdout == "AuthService depends_on Redis  — session 放在這裡\n"
        and "made without a type: Redis" in said.stderr
    )
    cli("graph", "relate", *user, "Redis", "uses", "src/a|b.py")
    cli("graph", "add", *user, "--type", "technology", "redis")

    assert [each["name"] for each in cli.json("graph", "search", *user, "aut")["entities"]] == ["AuthService"]
    assert cli("graph", "search", *user, "资料") == "AuthService  component\n"
    assert cli("graph", "search", *user, "zzz") == "no entities\n"
    assert cli("graph", "list", *user, "--type", "technology") == "Redis  technology\n"
    assert len(cli.json("graph", "list", *user)["entities"]) == 3
    shown = cli("graph", "show", *user, "AUTHSERVICE")
    assert "tags: security" in shown and "- 管理使用者的資料" in shown and "AuthService depends_on Redis" in shown
    assert len(cli.json("graph", "show", *user, "Redis")["relations"]) == 2
    assert "src/a|b.py  stub" in cli("graph", "neighbours", *user, "AuthService", "--depth", "2")
    assert cli("graph", "path", *user, "src/a|b.py", "AuthService").splitlines() == [
        "Redis uses src/a|b.py",
        "AuthService depends_on Redis  — session 放在這裡",
    ]
    cli("graph", "add", *user, "--type", "file", "alone")
    assert cli.run("graph", "path", *user, "alone", "Redis").returncode == 1
    assert cli.json("graph", "path", *user, "Redis", "redis") == {"path": [], "degraded": []}
    assert "-->|depends_on|" in cli("graph", "export", *user)
    cli("graph", "add", *user, "AuthService", "--observation", "more of it")
    told = cli.run("graph", "add", *user, "Unheard", "--observation", "x")
    assert told.returncode == 2 and "say it by --type" in told.stderr
    assert "digraph {" in cli("graph", *user, "--format", "dot") == cli("graph", "export", *user, "--format", "dot")
    assert (
        len(json.loads(cli("graph", "export", *user, "--format", "json", "--around", "AuthService"))["entities"]) == 2
    )

    entities = cli.folder / "memory/alice/entities"
    os.rename(entities / "Redis.md", entities / "Valkey.md")
    assert "AuthService depends_on Valkey" in cli("graph", "show", *user, "valkey")
    assert "Is it 'Valkey'" in cli("graph", "show", *user, "Valkay", code=1)
    assert "entities 4," in cli("memory", "stats", *user)
    cli("graph", "observe", *user, "Redis", "has another name now")
    assert cli.git("status", "--porcelain") == " D memory/alice/entities/Redis.md\n"  # the person's, until it is quiet


def test_a_name_and_the_name_of_a_file_are_two(cli: Cli) -> None:
    """B2: `src-app.py` is not `src/app.py`, though the note of that one is called so; a person's link leads to it."""
    user = ("--user", "alice")
    cli("graph", "add", *user, "--type", "file", "src/app.py", "--observation", "one")
    cli("graph", "relate", *user, "App", "uses", "src/app.py")
    cli("graph", "add", *user, "--type", "component", "src-app.py", "--observation", "other")
    cli("graph", "relate", *user, "App", "uses", "src-app.py")
    assert cli("graph", "list", *user).splitlines()[1:] == ["src-app.py  component", "src/app.py  file"]
    entities = cli.folder / "memory/alice/entities"
    (entities / "Mine.md").write_text("see [[src-app.py]] and [[src-app.py 2]]\n", encoding="utf-8")
    told = [each["to"] for each in cli.json("graph", "show", *user, "Mine")["relations"]]
    assert told == ["src/app.py", "src-app.py"]
    assert [each["to"] for each in cli.json("graph", "show", *user, "App")["relations"]] == told


def test_wrong_calls_are_named(cli: Cli) -> None:
    assert "Invalid value for '--type'" in cli("graph", "add", "--user", "alice", "--type", "person", "x", code=2)
    assert "is not in this vault" in cli("graph", "list", "--user", "nobody", code=1)
    cli("graph", "add", "--user", "alice", "--type", "file", "x")
    assert "it is a file" in cli("graph", "add", "--user", "alice", "--type", "feature", "x", code=2)
    assert "no entity 'y'" in cli("graph", "observe", "--user", "alice", "y", "z", code=1)
    refuse = {"VAULT_MEMORY_GRAPH_MISSING_ENTITY": "refuse"}
    assert "no entity 'y'" in cli("graph", "relate", "--user", "alice", "x", "uses", "y", code=1, **refuse)


def test_the_picture_of_the_page_is_what_the_command_draws(cli: Cli) -> None:
    """docs/graph.md: its commands, pasted, make its picture."""
    page = PAGE.read_text(encoding="utf-8")
    (commands,) = re.findall(r"<!-- the picture's commands -->\n```sh\n(.*?)```", page, re.S)
    (picture,) = re.findall(r"```mermaid\n(.*?)```", page, re.S)
    *adding, export = commands.strip().splitlines()
    for line in adding:
        cli(*shlex.split(line)[1:])
    assert cli(*shlex.split(export)[1:]) == picture


def test_marks_of_a_conflict_are_told_by_status_and_are_no_observations(cli: Cli) -> None:
    """B2: what git leaves in an entity's note is nobody's observation; `status` and `graph show` name the lines."""
    cli("graph", "add", "--user", "alice", "--type", "technology", "Redis", "--observation", "fast")
    path = cli.folder / "memory/alice/entities/Redis.md"
    text = path.read_text(encoding="utf-8")
    block = "- fast\n<<<<<<< HEAD\n- small\n=======\n- restarted each night\n>>>>>>> origin/main\n"
    path.write_text(text.replace("- fast\n", block), encoding="utf-8")
    cli("reindex")
    shown = cli.json("graph", "show", "--user", "alice", "Redis")
    assert shown["observations"] == ["fast", "small", "restarted each night"]
    first = path.read_text(encoding="utf-8").split("\n").index("<<<<<<< HEAD") + 1
    assert [each for each in shown["problems"] if f"lines {first}-{first + 4} hold two texts" in each]
    assert f"memory/alice/entities/Redis.md: lines {first}-{first + 4} hold two texts" in cli.run("status").stdout


def test_what_a_terminal_would_obey_is_kept_by_no_record(cli: Cli) -> None:
    """B2, B3: observations, mistakes and memories are cleaned in one way."""
    words = "\x1b[31mred\x1b[0m\x07 alert\u202e"
    cli("graph", "add", "--user", "alice", "--type", "technology", "Redis", "--observation", words)
    cli("mistake", "add", "--user", "alice", words, "--correct", words)
    cli("memory", "add", "--user", "alice", words, "--force")
    notes = [
        path.read_text(encoding="utf-8")
        for folder in ("entities", "mistakes", "memories")
        for path in (cli.folder / "memory/alice" / folder).rglob("*.md")
    ]
    assert len(notes) == 3 and all("red alert\n" in note for note in notes)
    assert not [note for note in notes if re.search("[\x00-\x09\x0b-\x1f\u202e]", note)]
