from __future__ import annotations

import json
import os
import stat
import time
from pathlib import Path

import pytest

from vault_memory.core.assistants import ASSISTANTS
from vault_memory.errors import Changed, UsageError
from vault_memory.services.assistants import connect, connections, disconnect, heard_hooks, note_heard, write_edits
from vault_memory.services.assistants.connect import BACKUP
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


def placed(environ: dict[str, str], name: str, text: str) -> Path:
    path = Path(environ["HOME"]) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def changed(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


OWN = '{\n  "mcpServers": {\n    "vault-memory": {"command": "mine", "env": {"K": "v"}}\n  }, "n": 1.50\n}\n'
OWN_TABLE = 'model = "x"\n\n[mcp_servers.vault-memory]\ncommand = "mine" # my own\nenv = { A = "b" }\n\n[tui]\nx = 1\n'
DIVIDED_TABLE = f'{OWN_TABLE}\n[mcp_servers.vault-memory.env]\nC = "d"\n\n[more]\n'.replace("env = {", "v = {")


@pytest.mark.parametrize(
    ("name", "client", "text"),
    [
        (".cursor/mcp.json", "cursor", OWN),
        (".codex/config.toml", "codex", OWN_TABLE),
        (".codex/config.toml", "codex", DIVIDED_TABLE),
        (".claude/skills/vault-memory/SKILL.md", "claude-code", "my own skill\n"),
        (".config/opencode/plugins/vault-memory.js", "opencode", "// my own\n"),
        (".claude.json", "claude-code", '{"mcpServers": {}}'),
        (".config/Code/User/mcp.json", "vscode", '{"servers": {}}'),
        (".config/opencode/opencode.json", "opencode", '{"mcp": {}}'),
        (".claude/settings.json", "claude-code", '{"hooks": {}}'),
        (".claude/settings.json", "claude-code", '{"hooks": {"Stop":[]}, "n": 1.50}'),
        (".claude/settings.json", "claude-code", ""),
        (".claude.json", "claude-code", "\n"),
        (".codex/config.toml", "codex", ""),
        (".codex/AGENTS.md", "codex", ""),
    ],
)
def test_what_ours_takes_the_place_of_comes_back(
    bare_vault: Vault, environ: dict[str, str], name: str, client: str, text: str
) -> None:
    path = placed(environ, name, text)
    before = files_of(environ)
    rules = "en" if ASSISTANTS[client].rules else ""
    write_edits(connect(bare_vault, client, "alice", rules, environ))
    assert path.with_name(path.name + BACKUP).read_text() == text
    write_edits(connect(bare_vault, client, "bob", rules, environ))
    assert path.with_name(path.name + BACKUP).read_text() == text
    write_edits(disconnect(client, environ))
    assert files_of(environ) == before


@pytest.mark.parametrize(
    ("name", "client", "text", "old", "new"),
    [
        (".cursor/mcp.json", "cursor", OWN, "1.50", "2"),
        (".claude.json", "claude-code", '{\n  "a": 1,\n  "mcpServers": {}\n}\n', '"a": 1', '"a": 2'),
        (".codex/config.toml", "codex", OWN_TABLE, "[tui]\nx = 1\n", "# mine\n[tui]\n\n# x\n"),
        (".codex/config.toml", "codex", DIVIDED_TABLE, "x = 1\n", "x = 2 # mine\n"),
        (".codex/AGENTS.md", "codex", "# a\n", "# a\n", "# b\n"),
    ],
)
def test_so_it_does_where_somebody_has_saved_meanwhile_and_no_copy_stays(
    bare_vault: Vault, environ: dict[str, str], name: str, client: str, text: str, old: str, new: str
) -> None:
    path = placed(environ, name, text)
    write_edits(connect(bare_vault, client, "alice", "en" if ASSISTANTS[client].rules else "", environ))
    changed(path, old, new)
    write_edits(disconnect(client, environ))
    assert files_of(environ) == {name: text.replace(old, new).encode()}


def test_a_hook_that_a_person_has_put_beside_ours_stays(bare_vault: Vault, environ: dict[str, str]) -> None:
    path = placed(environ, ".claude/settings.json", '{"model": "opus"}\n')
    write_edits(connect(bare_vault, "claude-code", "alice", environ=environ))
    told = json.loads(path.read_text())
    mine = {"type": "command", "command": "notify-send done"}
    told["hooks"]["Stop"][0]["hooks"].insert(0, mine)
    told["hooks"]["SessionEnd"].append(told["hooks"]["SessionEnd"][0])  # ours stands there twice
    path.write_text(json.dumps(told))
    write_edits(connect(bare_vault, "claude-code", "bob", environ=environ))
    now = json.loads(path.read_text())["hooks"]
    assert now["Stop"][0]["hooks"][0] == mine
    assert "--user bob" in now["Stop"][0]["hooks"][1]["command"]
    assert [len(now["Stop"][0]["hooks"]), *(len(now[event]) for event in now)] == [2, *[1] * len(now)]
    write_edits(disconnect("claude-code", environ))
    assert json.loads(path.read_text()) == {"model": "opus", "hooks": {"Stop": [{"hooks": [mine]}]}}
    assert list(files_of(environ)) == [".claude/settings.json"]


_LIKE_OURS = "/usr/bin/vault-memory --vault /v hook event claude-code --user me"
OTHERS = [
    "/opt/mytool hook event deploy --user me",
    "notify-send done; vault-memory --vault ~/v hook event claude-code --user alice",
    f"{_LIKE_OURS} && say done",
    f"{_LIKE_OURS} 2>/dev/null || true; say done",
    f"{_LIKE_OURS} --quiet 2>/dev/null || true",
    f"tee -a ~/log.json | {_LIKE_OURS} 2>/dev/null || true",
    "/usr/local/bin/wrap vault-memory --vault /v hook event claude-code --user me 2>/dev/null || true",
    "/opt/mytool --vault /v hook event claude-code --user me 2>/dev/null || true",
    f"python ~/my.py # was: {_LIKE_OURS}",
    f"{_LIKE_OURS} 2>/dev/null || true # 'mine",
    f"echo 'say {_LIKE_OURS}",
]


@pytest.mark.parametrize("command", OTHERS)
@pytest.mark.parametrize("form", [None, 2])
def test_a_hook_of_another_program_is_never_ours(
    bare_vault: Vault, environ: dict[str, str], command: str, form: int | None
) -> None:
    hook = {"type": "command", "command": command}
    text = json.dumps({"hooks": {"Stop": [{"hooks": [hook]}]}}, indent=form)
    path = placed(environ, ".claude/settings.json", text)
    assert disconnect("claude-code", environ) == []
    write_edits(connect(bare_vault, "claude-code", "alice", environ=environ))
    assert path.with_name(path.name + BACKUP).read_text() == text
    stop = json.loads(path.read_text())["hooks"]["Stop"]
    assert stop[0] == {"hooks": [hook]} and len(stop) == 2
    write_edits(disconnect("claude-code", environ))
    assert files_of(environ) == {".claude/settings.json": text.encode()}


@pytest.mark.parametrize(
    "program",
    ["/old/venv/bin/vault-memory", "'/my venv/bin/vault-memory'", "/old/bin/python3.12 -P -m vault_memory",
     r"'C:\Old\Scripts\vault-memory.exe'"],
)  # fmt: skip
def test_a_hook_of_an_installation_that_has_moved_is_ours(
    bare_vault: Vault, environ: dict[str, str], program: str
) -> None:
    line = f"{program} --vault '/my v' hook event claude-code --user me 2>/dev/null || true"
    text = json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": line, "timeout": 5}]}]}})
    path = placed(environ, ".claude/settings.json", text)
    write_edits(connect(bare_vault, "claude-code", "alice", environ=environ))
    assert len(json.loads(path.read_text())["hooks"]["Stop"]) == 1 and line not in path.read_text()
    write_edits(disconnect("claude-code", environ))
    assert files_of(environ) == {}


@pytest.mark.parametrize(
    ("name", "client", "old", "new"),
    [
        (".claude/settings.json", "claude-code", '"timeout": 5', '"timeout": 20'),
        (".claude/settings.json", "claude-code", '"timeout": 5', '"timeout": 5, "async": true'),
        (".claude/settings.json", "claude-code", '"hooks": [', '"matcher": "startup", "hooks": ['),
        (".cursor/mcp.json", "cursor", '"command": ', '"env": {"K": "v"}, "command": '),
        (".cursor/mcp.json", "cursor", '"alice"\n', '"alice",\n        "--toolsets"\n'),
        (".codex/config.toml", "codex", "args = ", 'env = { K = "v" }\nargs = '),
    ],
)
def test_what_a_person_adds_to_ours_stays_and_a_copy_of_it_when_ours_goes(
    bare_vault: Vault, environ: dict[str, str], name: str, client: str, old: str, new: str
) -> None:
    path = Path(environ["HOME"]) / name
    write_edits(connect(bare_vault, client, "alice", environ=environ))
    changed(path, old, new)
    added = path.read_text()
    assert connect(bare_vault, client, "alice", environ=environ) == []
    write_edits(connect(bare_vault, client, "bob", environ=environ))
    assert path.read_text() == added.replace("alice", "bob")
    edits = disconnect(client, environ)
    assert [each.copy for each in edits if each.path == path] == [path.with_name(path.name + BACKUP + "-2")]
    write_edits(edits)
    assert files_of(environ) == {f"{name}{BACKUP}-2": added.replace("alice", "bob").encode()}


def test_a_skill_that_a_person_has_changed_is_kept(bare_vault: Vault, environ: dict[str, str]) -> None:
    path = placed(environ, ".claude/skills/vault-memory/SKILL.md", "my own\n")
    write_edits(connect(bare_vault, "claude-code", "alice", "en", environ))
    for number, locale in ((2, "zh-TW"), (3, "")):
        changed(path, "\n---\n", "\n---\nand mine\n")
        edited = path.read_text()
        edits = connect(bare_vault, "claude-code", "alice", locale, environ) if locale else []
        write_edits(edits or disconnect("claude-code", environ))
        assert path.with_name(f"{path.name}{BACKUP}-{number}").read_text() == edited
    assert path.read_text() == "my own\n"


def test_a_copy_outlives_what_is_taken_out_by_hand(bare_vault: Vault, environ: dict[str, str]) -> None:
    path = placed(environ, ".cursor/mcp.json", OWN)
    for text in ("{}", None):
        write_edits(connect(bare_vault, "cursor", "alice", environ=environ))
        path.write_text(text) if text else path.unlink()
    write_edits(connect(bare_vault, "cursor", "alice", environ=environ))
    write_edits(disconnect("cursor", environ))
    assert sorted(files_of(environ).values()) == sorted([OWN.encode(), b"{}"])


def test_what_a_run_that_was_killed_has_left_goes(bare_vault: Vault, environ: dict[str, str]) -> None:
    path = placed(environ, ".claude.json", OWN)
    dead, alive = (path.with_name(f"..claude.json.{pid}-0.vault-memory.tmp") for pid in (999_999_999, os.getpid()))
    copy = path.with_name(path.name + BACKUP)
    foreign = path.with_name("..claude.json.1-0.tmp")

    def killed() -> None:
        for each in (dead, alive, foreign, dead.with_name(f".{copy.name}.999999999-1.vault-memory.tmp")):
            each.write_text("half")
        copy.write_text(OWN)  # before the file itself was changed, or after it was changed back

    killed()
    write_edits(connect(bare_vault, "claude-code", "alice", environ=environ))
    left = [each for each in path.parent.iterdir() if each.is_file()]
    assert sorted(left) == sorted([path, copy, foreign, alive])
    write_edits(disconnect("claude-code", environ))
    killed()
    (edit,) = disconnect("claude-code", environ)
    assert edit.after == edit.before and copy.exists()
    write_edits([edit])
    assert files_of(environ) == {path.name: OWN.encode(), foreign.name: b"half", alive.name: b"half"}
    assert disconnect("claude-code", environ) == []


def test_a_copy_that_a_killed_run_has_made_is_the_copy(bare_vault: Vault, environ: dict[str, str]) -> None:
    path = placed(environ, ".cursor/mcp.json", OWN)
    write_edits(connect(bare_vault, "cursor", "alice", environ=environ))
    changed(path, '"--user"', '"--user", "alice", "--toolsets"')
    path.with_name(path.name + BACKUP + "-2").write_bytes(path.read_bytes())
    write_edits(disconnect("cursor", environ))
    assert sorted(each.name for each in path.parent.iterdir()) == ["mcp.json", "mcp.json.before-vault-memory-2"]


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


@pytest.mark.parametrize(
    ("name", "marker"),
    [
        (".codex/AGENTS.md", "<!-- vault-memory: end -->"),
        (".codex/AGENTS.md", "<!-- vault-memory: begin"),
        (".codex/config.toml", "]"),
        (".codex/hooks.json", "}"),
    ],
)
def test_a_file_that_cannot_be_undone_stops_none_of_the_others(
    bare_vault: Vault, environ: dict[str, str], name: str, marker: str
) -> None:
    for each, text in ((".codex/AGENTS.md", "# Mine\n"), (".codex/config.toml", 'model = "x"\n')):
        placed(environ, each, text)
    before = files_of(environ)
    write_edits(connect(bare_vault, "codex", "alice", "en", environ))
    path = Path(environ["HOME"]) / name
    whole = path.read_bytes()
    changed(path, marker, "")
    half = path.read_bytes()
    edits = disconnect("codex", environ)
    assert [each.path for each in edits if each.problem] == [path]
    assert f"{path} stays as it is: " in "".join(each.problem for each in edits)
    write_edits(edits)
    copy = {f"{name}{BACKUP}": before[name]} if name in before else {}
    assert files_of(environ) == {**before, name: half, **copy}
    path.write_bytes(whole)
    write_edits(disconnect("codex", environ))
    assert files_of(environ) == before


def test_so_neither_does_one_that_cannot_be_reached(bare_vault: Vault, environ: dict[str, str]) -> None:
    write_edits(connect(bare_vault, "codex", "alice", "en", environ))
    home = Path(environ["HOME"])
    rules, hooks = home / ".codex/AGENTS.md", home / ".codex/hooks.json"
    rules.unlink()
    rules.symlink_to(rules)
    hooks.unlink()
    hooks.mkdir()
    edits = disconnect("codex", environ)
    assert [each.path for each in edits if each.problem] == [hooks, rules]
    write_edits(edits)
    assert files_of(environ) == {}


def test_a_link_to_itself_is_told(bare_vault: Vault, environ: dict[str, str]) -> None:
    link = Path(environ["HOME"]) / ".claude.json"
    link.symlink_to(link)
    with pytest.raises(UsageError, match="leads to itself"):
        connect(bare_vault, "claude-code", "alice", environ=environ)
    found = {each.client: each.problem for each in connections(environ)}
    assert "leads to itself" in found.pop("claude-code")
    assert not any(found.values())


def test_servers_that_are_silent_or_never_are_asked_at_once(environ: dict[str, str], tmp_path: Path) -> None:
    for name, key, command in (
        (".cursor/mcp.json", "mcpServers", ["/bin/sleep", "600"]),
        (".config/Code/User/mcp.json", "servers", ["/bin/sleep", "600"]),
        (".config/Claude/claude_desktop_config.json", "mcpServers", ["/bin/cat", "/dev/zero"]),
    ):
        entry = {"command": command[0], "args": command[1:]}
        placed(environ, name, json.dumps({key: {"vault-memory": entry}}))
    began = time.monotonic()
    found = {each.client: each.problem for each in connections(environ, wait_s=2.0) if each.command}
    assert time.monotonic() - began < 3.9
    assert found.pop("claude-desktop") == "it does not answer: what it says is none"
    assert set(found.values()) == {"it does not answer within 2 s"}


def test_what_does_not_answer_is_said(environ: dict[str, str]) -> None:
    path = Path(environ["HOME"]) / ".cursor" / "mcp.json"
    path.parent.mkdir()
    for command, why in (
        ("/nowhere/vault-memory", "cannot be started"),
        ("/bin/\0false", "cannot be started"),
        ("/bin/false", "exit code 1"),
    ):
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
