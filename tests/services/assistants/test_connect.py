from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from vault_memory.core.assistants import ASSISTANTS
from vault_memory.errors import Changed, UsageError
from vault_memory.services.assistants import connect, connections, disconnect, heard_hooks, note_heard, write_edits
from vault_memory.services.vault import Vault

HOOKS = '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}, "n": 1.50}\n'


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    home = tmp_path / "home"
    home.mkdir()
    return {"HOME": str(home), "PATH": "/usr/bin:/bin"}


def files_of(environ: dict[str, str]) -> dict[str, bytes]:
    home = Path(environ["HOME"])
    return {str(path.relative_to(home)): path.read_bytes() for path in home.rglob("*") if path.is_file()}


@pytest.mark.parametrize("client", [*ASSISTANTS])
def test_what_is_connected_is_taken_back_exactly(bare_vault: Vault, environ: dict[str, str], client: str) -> None:
    home = Path(environ["HOME"])
    for name, text in {
        ".claude.json": '{"numStartups": 3}',
        ".claude/settings.json": HOOKS,
        ".codex/config.toml": 'model = "gpt-5" # mine\n',
        ".codex/AGENTS.md": "# Mine\n",
        ".config/opencode/opencode.json": '{"mcp": {"other": {"type": "local", "command": ["x"]}}}',
    }.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    before = files_of(environ)
    rules = "zh-TW" if ASSISTANTS[client].rules else ""
    edits = connect(bare_vault, client, "alice", rules, environ)
    assert files_of(environ) == before  # nothing is written before it is asked for
    write_edits(edits)
    assert connect(bare_vault, client, "alice", rules, environ) == []
    found = next(each for each in connections(environ, ask=False) if each.client == client)
    assert (found.vault, found.user) == (str(bare_vault.root), "alice")
    assert found.has_hooks == (ASSISTANTS[client].hooks is not None)
    write_edits(connect(bare_vault, client, "bob", rules, environ))  # another user takes the place
    found = next(each for each in connections(environ, ask=False) if each.client == client)
    assert found.user == "bob"
    write_edits(disconnect(client, environ))
    assert files_of(environ) == before
    assert disconnect(client, environ) == []


def test_what_the_person_has_changed_since_stays(bare_vault: Vault, environ: dict[str, str]) -> None:
    settings = Path(environ["HOME"]) / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(HOOKS)
    write_edits(connect(bare_vault, "claude-code", "alice", environ=environ))
    told = json.loads(settings.read_text())
    assert "hook event claude-code --user alice" in json.dumps(told["hooks"]["Stop"])
    settings.write_text(json.dumps(told | {"model": "opus"}))
    write_edits(disconnect("claude-code", environ))
    assert json.loads(settings.read_text()) == json.loads(HOOKS) | {"model": "opus"}


@pytest.mark.parametrize(
    ("name", "text", "client"),
    [
        (".claude/settings.json", '{\n  // mine\n  "model": "opus"\n}\n', "claude-code"),
        (".claude.json", '{"mcpServers": ', "claude-code"),
        (".claude.json", '{"mcpServers": []}', "claude-code"),
        (".codex/config.toml", "model = \n", "codex"),
    ],
)
def test_a_file_that_is_broken_or_has_comments_stays(
    bare_vault: Vault, environ: dict[str, str], name: str, text: str, client: str
) -> None:
    path = Path(environ["HOME"]) / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    with pytest.raises(UsageError, match=f"{name} stays as it is"):
        connect(bare_vault, client, "alice", environ=environ)
    assert files_of(environ) == {name: text.encode()}


def test_a_save_meanwhile_is_not_lost(bare_vault: Vault, environ: dict[str, str]) -> None:
    path = Path(environ["HOME"]) / ".claude.json"
    path.write_text("{}")
    edits = connect(bare_vault, "claude-code", "alice", environ=environ)
    path.write_text('{"numStartups": 4}')
    with pytest.raises(Changed):
        write_edits(edits)
    assert path.read_text() == '{"numStartups": 4}'


def test_a_link_and_the_mode_stay(bare_vault: Vault, environ: dict[str, str], tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.json"
    real.write_text("{}")
    real.chmod(0o600)
    link = Path(environ["HOME"]) / ".claude.json"
    link.symlink_to(real)
    write_edits(connect(bare_vault, "claude-code", "alice", environ=environ))
    assert link.is_symlink()
    assert "vault-memory" in real.read_text()
    assert stat.S_IMODE(real.stat().st_mode) == 0o600


def test_what_does_not_answer_is_said(environ: dict[str, str]) -> None:
    path = Path(environ["HOME"]) / ".cursor" / "mcp.json"
    path.parent.mkdir()
    for command, why in (("/nowhere/vault-memory", "cannot be started"), ("/bin/false", "exit code 1")):
        path.write_text(json.dumps({"mcpServers": {"vault-memory": {"command": command, "args": []}}}))
        found = next(each for each in connections(environ) if each.client == "cursor")
        assert why in found.problem


def test_an_unknown_assistant_is_refused(bare_vault: Vault, environ: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="there are claude-code, claude-desktop, codex"):
        connect(bare_vault, "netscape", "alice", environ=environ)
    with pytest.raises(UsageError, match="no file for rules"):
        connect(bare_vault, "cursor", "alice", "en", environ)


def test_what_was_heard_is_noted(vault: Vault) -> None:
    note_heard(vault.root, "zzz", "event", vault.now(), "no client")
    assert [each.client for each in heard_hooks(vault.root)] == ["zzz"]
    note_heard(vault.root, "codex", "event", vault.now(), "it was no JSON")
    note_heard(vault.root, "codex", "Stop", vault.now(), "a full disk")
    note_heard(vault.root, "codex", "Stop", vault.now())
    (heard,) = heard_hooks(vault.root)
    assert (heard.client, heard.event, heard.count, heard.problem) == ("codex", "Stop", 2, "")
    note_heard(vault.root / "gone", "codex", "Stop", vault.now())  # no hook may fail by it
