"""What the pages say is so: the README's tour works as pasted, and every command, option, field and link is there."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from vault_memory.core.notes.journal import parse_line
from vault_memory.core.profile.fields import FIELDS, SECTIONS
from vault_memory.interfaces.cli import cli

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def commands(group: click.Group, prefix: str = "vault-memory") -> Iterator[tuple[str, click.Command]]:
    """Every command a person may type, with its full name; `hook` is for git."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, f"{prefix} {name}")
        else:
            yield f"{prefix} {name}", command


def test_no_page_holds_the_marks_of_a_merge() -> None:
    marks = re.compile(r"^(<{7}|>{7}) ", re.MULTILINE)
    assert [page.name for page in PAGES if marks.search(page.read_text(encoding="utf-8"))] == []


def test_every_command_and_option_is_documented() -> None:
    sections = dict(re.findall(r"^### (.+?)\n(.*?)(?=^##|\Z)", read("docs/commands.md"), re.M | re.S))
    found = dict(commands(cli))
    assert sorted(sections) == sorted(found)
    lacking = [
        f"{name} {option}"
        for name, command in found.items()
        for parameter in command.params
        if isinstance(parameter, click.Option)
        for option in parameter.opts
        if not re.search(rf"(?<![\w-]){option}(?![\w-])", sections[name])
    ]
    assert lacking == []


def test_every_profile_field_is_in_the_format() -> None:
    lines = read("docs/vault-format.md").splitlines()
    rows = [[cell.strip(" `*") for cell in line.split("|")[1:-1]] for line in lines if line.startswith("|")]
    for field in FIELDS.values():
        if field.key == "note":
            continue
        row = next((row for row in rows if row[0] == field.key), None)
        assert row is not None, f"docs/vault-format.md lacks {field.key}"
        assert tuple(row[1:4]) == field.labels
        assert not field.values or row[4].replace("`", "").split() == list(field.values)
    for labels in SECTIONS.values():
        assert ["", *labels] in [row[:4] for row in rows]


def rooms() -> dict[str, str]:
    """The first paragraph of the docstring of each room and each flat file, on one line."""
    found = {}
    for floor in ("core", "adapters", "services", "interfaces"):
        for path in sorted((ROOT / "vault_memory" / floor).iterdir()):
            file = path / "__init__.py" if path.is_dir() else path
            if not path.name.startswith("__") and file.is_file():
                doc = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
                found[f"{floor}/{path.stem}"] = " ".join(doc.split("\n\n")[0].split())
    return found


def test_the_table_of_rooms_says_what_the_rooms_say() -> None:
    rows = re.findall(r"^\| `(\w+/\w+)` \| (.+) \|$", read("docs/architecture.md"), re.M)
    wanted = "\n".join(f"| `{room}` | {says} |" for room, says in rooms().items())
    assert dict(rows) == rooms(), f"the table of rooms in docs/architecture.md should be:\n{wanted}"


def test_links_between_pages_lead_somewhere() -> None:
    broken = [
        f"{page.name}: {target}"
        for page in PAGES
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
        if not (page.parent / target).exists()
    ]
    assert broken == []
    index = read("docs/README.md")
    assert [page.name for page in PAGES[2:] if page.name != "README.md" and page.name not in index] == []


def test_the_sample_conversation_is_made_of_turns() -> None:
    turns = [parse_line(line) for line in read("docs/sample-conversation.jsonl").splitlines()]
    assert len(turns) == 8 and all(turn["user_message"] and turn["created_at"] for turn in turns)


def shell(script: str, folder: Path) -> str:
    """Run a script as a person would who pastes it, on a machine where git knows nobody."""
    environ = {key: value for key, value in os.environ.items() if not key.startswith(("GIT_", "VAULT_MEMORY_"))}
    environ |= {
        "HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder),
        "GIT_CONFIG_NOSYSTEM": "1",
        "LC_ALL": "C.UTF-8",
        "TMPDIR": str(folder),
    }
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder, env=environ, text=True, capture_output=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_tour_of_the_readme_works_as_pasted(tmp_path: Path) -> None:
    """Done-when of the first release: grep, git log and a hand-written note work as the README shows."""
    (tmp_path / ".venv").symlink_to(sys.prefix)
    tour = read("README.md").partition("## A tour")[2]
    block = re.search(r"```sh\n(.*?)```", tour, re.S)
    assert block is not None
    output = shell(block[1], tmp_path)

    for expected in ("主題偏好：dark", "memory(alice): theme = dark", "Reason: 「我喜歡暗色主題」", "Vault-New: dark"):
        assert expected in output
    searched = output.partition("files indexed")[2] or output
    assert re.search(r"^deploy\.md:1 .*\n  星期五的部署", searched, re.M), "the note is found, with its line"
    assert re.search(r"^(USER|daily/\S+)\.md:\d.*\n(  .*\n)*.*(暗色主題|dark)", searched, re.M), (
        "Simplified finds Traditional"
    )
    assert re.search(r"^memory/alice/daily/.*暗色", searched, re.M), "grep finds it"


@pytest.mark.slow
def test_the_demo_shows_the_promise_and_never_replays_twice(tmp_path: Path) -> None:
    """`make demo`, as in a fresh clone whose .venv is ready."""
    for name in ("Makefile", "docs", "pyproject.toml", "constraints.txt"):
        (tmp_path / name).symlink_to(ROOT / name)
    shutil.copy(ROOT / ".gitignore", tmp_path)  # git follows no link here
    shell("git init -q && git add Makefile && git -c user.name=x -c user.email=x commit -q -m clone", tmp_path)
    (tmp_path / ".venv").symlink_to(sys.prefix)
    make = "make --no-print-directory --assume-old=.venv/.ready demo"
    output = shell(make, tmp_path)
    for expected in ("vault-memory init my-vault", "8 turns replayed", "主題偏好：dark", "memory(alice): theme = dark"):
        assert expected in output
    assert shell("git log --format=%s", tmp_path) == "clone\n", "the demo's vault is a repository of its own"
    lines = sum(1 for file in (tmp_path / "my-vault/memory/alice/conversations").glob("*.jsonl") for _ in file.open())
    assert lines == 8
    again = shell(make, tmp_path)
    assert "my-vault is there already" in again
    assert lines == sum(1 for f in (tmp_path / "my-vault/memory/alice/conversations").glob("*.jsonl") for _ in f.open())
    profile = (tmp_path / "my-vault/memory/alice/USER.md").read_text(encoding="utf-8")
    for value in ("dark", "TypeScript", "concise", "feat/票号-简述"):
        assert value in profile
    assert json.dumps(profile, ensure_ascii=False).count("主題偏好") == 1
