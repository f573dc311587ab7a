"""`install`, and the hooks of assistants, as processes that a client starts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Cli, wait_until
from vault_memory.core.layout import STATE_DIR
from vault_memory.services.sessions.asking import SOCKET

pytestmark = pytest.mark.slow


class Hooks:
    """The hooks of a client in one session of alice's."""

    def __init__(self, cli: Cli, client: str = "claude-code") -> None:
        self.cli, self.client = cli, client

    def __call__(self, name: str, **fields: Any) -> str:
        """Run the hook for an event, as a client does; the text that the model gets."""
        event = {"hook_event_name": name, "session_id": "s1", "cwd": "/", **fields}
        told = self.raw(json.dumps(event))
        return str(json.loads(told)["hookSpecificOutput"]["additionalContext"]) if told else ""

    def raw(self, given: str, user: str = "alice") -> str:
        command = [sys.executable, "-m", "vault_memory", "--vault", str(self.cli.folder)]
        command += ["hook", "event", self.client, "--user", user]
        elsewhere = self.cli.folder.parent
        done = subprocess.run(command, input=given, cwd=elsewhere, capture_output=True, encoding="utf-8", timeout=60)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    @property
    def socket(self) -> Path:
        return self.cli.folder / STATE_DIR / SOCKET


@contextmanager
def answering(hooks: Hooks) -> Iterator[subprocess.Popen[bytes]]:
    """The process that answers, until the end of the block."""
    command = [sys.executable, "-m", "vault_memory", "--vault", str(hooks.cli.folder), "hook", "answer"]
    process = subprocess.Popen(command)
    try:
        wait_until(hooks.socket.exists, "a process that answers")
        yield process
    finally:
        process.terminate()
        process.wait()


def record_of(cli: Cli) -> list[dict[str, Any]]:
    records = sorted((cli.folder / "memory/alice/conversations").glob("*.jsonl"))
    return [json.loads(line) for path in records for line in path.read_text().splitlines()]


def test_a_session_is_remembered_from_its_first_hook_on(cli: Cli) -> None:
    """A1, A2: no server runs; the first hook starts the process that answers, which ends with the vault."""
    cli("pref", "set", "--user", "alice", "theme", "dark")
    hooks = Hooks(cli)
    assert hooks("SessionStart", source="startup") == ""  # what it would have got comes with the first question
    assert "dark" in hooks("UserPromptSubmit", prompt="以後後端都用 Rust")
    hooks("Stop", last_assistant_message="好的。")
    wait_until(lambda: len(record_of(cli)) == 2, "words and reply")
    said, reply = record_of(cli)
    assert said["user_message"] == "以後後端都用 Rust"
    assert (reply["assistant_message"], reply["completes"]) == ("好的。", True)
    wait_until(lambda: "Rust" in (cli.folder / "memory/alice/USER.md").read_text(), "what was learned")
    assert "dark" in hooks("SessionStart", source="compact")
    assert "claude-code: last heard" in cli("status")
    elsewhere = cli.folder.with_name("moved")
    cli.folder.rename(elsewhere)
    wait_until(lambda: not (elsewhere / STATE_DIR / SOCKET).exists() or not _listens(elsewhere), "its end")
    assert hooks.raw("{}") == ""  # the vault is gone: nothing is said, and nothing is made where it was
    assert not cli.folder.exists()


def test_a_session_that_began_before_anybody_answered_is_not_of_who_gets_the_id(cli: Cli) -> None:
    cli("remember", "--user", "bob", "My boat is called Ada")
    hooks = Hooks(cli)
    hooks("SessionStart", source="startup")
    noted = cli.folder / STATE_DIR / "hook-sessions.json"
    wait_until(lambda: noted.exists() and _listens(cli.folder), "the session that begins")
    cli("user", "rename", "bob", "alice")
    assert hooks("UserPromptSubmit", prompt="What is my boat called?") == ""
    wait_until(lambda: "'bob' has got the id 'alice' meanwhile" in cli("status"), "the refusal")
    assert record_of(cli) == []
    elsewhere = cli.folder.with_name("moved")
    cli.folder.rename(elsewhere)
    wait_until(lambda: not (elsewhere / STATE_DIR / SOCKET).exists() or not _listens(elsewhere), "its end")


def _listens(root: Path) -> bool:
    from vault_memory.adapters import local_socket

    connection = local_socket.connect(root / STATE_DIR, SOCKET)
    if connection is not None:
        connection.close()
    return connection is not None


def test_a_hook_that_fails_is_silent_and_status_tells(cli: Cli) -> None:
    hooks = Hooks(cli)
    for given in ("", "no JSON", "[]", '{"hook_event_name": "Stop"}', "{" * 100_000, "\udcff"):
        hooks.raw(given.encode("utf-8", "replace").decode())
    assert "the hook event of claude-code failed" in cli("status")
    with answering(hooks):
        hooks.raw(json.dumps({"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "hi"}), user="a/b")
        wait_until(lambda: "the hook UserPromptSubmit of claude-code failed" in cli("status"), "the failure")
        hooks("UserPromptSubmit", prompt="hi")
        wait_until(lambda: "failed" not in cli("status"), "that all is well again")


def test_two_sessions_at_once_and_a_second_process(cli: Cli) -> None:
    hooks = Hooks(cli)
    with answering(hooks):
        cli("--vault", str(cli.folder), "hook", "answer")  # another one answers already: it ends at once
        environ = os.environ | {"PYTHONIOENCODING": "utf-8"}
        command = [sys.executable, "-m", "vault_memory", "--vault", str(cli.folder)]
        command += ["hook", "event", "codex", "--user", "alice"]
        several = [subprocess.Popen(command, stdin=subprocess.PIPE, text=True, env=environ) for _ in range(4)]
        for number, each in enumerate(several):
            event = {"hook_event_name": "UserPromptSubmit", "session_id": f"s{number}", "prompt": f"question {number}"}
            assert each.stdin is not None
            each.stdin.write(json.dumps(event))
            each.stdin.close()
        assert [each.wait() for each in several] == [0] * 4
        wait_until(lambda: len(record_of(cli)) == 4, "all words")
    assert sorted(row["user_message"] for row in record_of(cli)) == [f"question {number}" for number in range(4)]


def test_settings_are_followed(cli: Cli) -> None:
    """Whoever goes off the record is so from the next word on."""
    hooks = Hooks(cli)
    with answering(hooks):
        hooks("UserPromptSubmit", prompt="the first")
        wait_until(lambda: len(record_of(cli)) == 1, "the words")
        settings = cli.folder / "vault-memory.toml"
        settings.write_text('off_record = ["alice"]\n' + settings.read_text())
        hooks("UserPromptSubmit", prompt="the second")
        hooks("SessionEnd")
        heard = cli.folder / STATE_DIR / "hooks.json"
        wait_until(lambda: heard.exists() and "SessionEnd" in heard.read_text(), "the end of the session")
    assert [row["user_message"] for row in record_of(cli)] == ["the first"]


def test_a_hook_does_not_wait_for_what_comes_of_it(cli: Cli) -> None:
    """Where nobody needs an answer the hook has ended before the process that answers has read a word."""
    hooks = Hooks(cli)
    with answering(hooks) as process:
        hooks("UserPromptSubmit", prompt="hello")
        wait_until(lambda: len(record_of(cli)) == 1, "the words")
        process.send_signal(19)  # stopped: it cannot read
        try:
            hooks("Stop", last_assistant_message="Hello!")
            assert len(record_of(cli)) == 1
        finally:
            process.send_signal(18)
        wait_until(lambda: len(record_of(cli)) == 2, "words and reply")


def test_install_in_an_empty_home(cli: Cli, tmp_path: Path) -> None:
    """Issue: install, hooks and tools, shown, written, listed and taken back."""
    home = tmp_path / "person"
    home.mkdir()
    environ: dict[str, Any] = {"HOME": str(home), "XDG_CONFIG_HOME": str(home / ".config")}
    shown = cli("install", "claude-code", "--user", "alice", **environ)
    assert '+    "vault-memory": {' in shown
    assert not [*home.rglob("*.json")]
    assert "not found on this machine" in cli("install", "--list", **environ)
    cli("install", "claude-code", "--user", "alice", "--rules", "zh-TW", "--write", **environ)
    assert (home / ".claude/skills/vault-memory/SKILL.md").read_text().startswith("---\nname: vault-memory")
    assert "already" in cli("install", "claude-code", "--user", "alice", **environ)
    command = json.loads((home / ".claude/settings.json").read_text())["hooks"]["SessionEnd"][0]["hooks"][0]["command"]
    assert subprocess.run(command, shell=True, input=b"no JSON", timeout=60).returncode == 0  # noqa: S602
    listed = cli("install", "--list", **environ)
    assert f"claude-code     alice in {cli.folder}, with hooks: answers" in listed
    cli("uninstall", "claude-code", "--write", **environ)
    assert not [path for path in home.rglob("*") if path.is_file()]


def test_a_wrong_call_of_install_is_told(cli: Cli, tmp_path: Path) -> None:
    environ: dict[str, Any] = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
    assert "name an assistant" in cli("install", code=2, **environ)
    (tmp_path / ".claude.json").write_text("{ // mine\n}")
    assert "stays as it is: it has comments" in cli("install", "claude-code", "--write", code=2, **environ)
    assert (tmp_path / ".claude.json").read_text() == "{ // mine\n}"
    assert "is new" in cli.run("install", "cursor", "--user", "zoe", **environ).stderr


def test_what_cannot_be_taken_back_is_told_and_all_else_is(cli: Cli, tmp_path: Path) -> None:
    environ: dict[str, Any] = {"HOME": str(tmp_path / "person")}
    cli("install", "codex", "--user", "alice", "--rules", "en", "--write", **environ)
    rules = tmp_path / "person/.codex/AGENTS.md"
    whole = rules.read_text()
    rules.write_text(whole.replace("<!-- vault-memory: end -->", ""))
    shown = cli.run("uninstall", "codex", **environ)
    assert (shown.returncode, "nothing was written; --write writes it" in shown.stderr) == (1, True)
    for left in (["config.toml", "hooks.json"], []):
        done = cli.run("uninstall", "codex", "--write", **environ)
        assert done.returncode == 1 and not any((rules.parent / name).exists() for name in left)
        assert f"not taken back: {rules} stays as it is: our section there has no end: put a line" in done.stderr
        assert "then run `vault-memory uninstall codex --write` again" in done.stderr
    rules.write_text(whole)
    cli("uninstall", "codex", "--write", **environ)
    assert not rules.exists()


def test_whoever_is_connected_under_a_former_id_is_told(cli: Cli, tmp_path: Path) -> None:
    environ: dict[str, Any] = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
    cli("pref", "set", "--user", "alice", "theme", "dark")
    cli("install", "cursor", "--user", "alice", "--write", **environ)
    told = cli.run("user", "rename", "alice", "carol", **environ).stderr
    assert "Cursor is still connected for alice: `vault-memory install cursor --user carol --write`" in told
    for words in (("mcp",), ("install", "cursor")):
        refused = cli.run(*words, "--user", "alice", stdin="", **environ)
        assert refused.returncode and "user 'alice' has the id 'carol' now" in refused.stderr
    cli("install", "cursor", "--user", "carol", "--write", **environ)
