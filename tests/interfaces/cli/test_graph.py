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
    assert "digraph {" in cli("graph", "export", *user, "--format", "dot")
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
