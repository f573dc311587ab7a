"""`vault-memory trust` as a person meets it: what waits is shown whole and asked once; `--yes` needs no terminal."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

import pytest

from tests.conftest import Cli
from tests.scripted_http import ScriptedServer


def set_to(cli: Cli, text: str) -> None:
    (cli.folder / "vault-memory.toml").write_text(f"format = 1\n{text}")


def learning(url: str) -> str:
    return f'[llm]\nenabled = true\nmodel = "m"\nbase_url = "{url}"\nkey_env = "AWS_SECRET_ACCESS_KEY"\n'


def test_a_vault_of_ones_own_is_asked_nothing(cli: Cli) -> None:
    assert cli("trust") == "nothing waits: every setting in the file is in force\n"
    assert not any("vault-memory trust" in line for line in cli.json("status")["degraded"])


def test_the_journey_of_a_downloaded_vault(cli: Cli, chat: ScriptedServer) -> None:
    chat.will_say([])
    set_to(cli, learning(chat.url))
    key = {"AWS_SECRET_ACCESS_KEY": "sesame"}
    told = cli.run("turn", "--user", "alice", "--message", "我比較喜歡看圖表來理解事情", **key)
    assert told.returncode == 0 and "degraded: llm.base_url, llm.key_env in vault-memory.toml" in told.stderr
    for command in (["search", "--user", "alice", "圖表"], ["prompt", "--user", "alice", "圖表"], ["status"]):
        done = cli.run(*command)
        assert "`vault-memory trust`" in done.stdout + done.stderr, command
    assert "vault-memory trust" in cli.run("doctor").stdout
    shown = cli.run("trust")
    assert shown.returncode == 1 and "vault-memory trust --yes" in shown.stderr
    for word in ("llm.base_url", chat.url, "llm.key_env", "AWS_SECRET_ACCESS_KEY", f"is sent to {chat.url}"):
        assert word in shown.stdout, word
    assert chat.received == [], "nothing was sent by any of it"
    assert "this machine said yes to 2 values" in cli("trust", "--yes")
    assert cli("trust").startswith("nothing waits")
    cli("turn", "--user", "alice", "--message", "我比較喜歡看圖表來理解事情", **key)
    assert chat.received[0].header("authorization") == "Bearer sesame"
    set_to(cli, learning("http://evil.example/v1"))
    again = cli.run("trust")
    assert "evil.example" in again.stdout and "      AWS_SECRET_ACCESS_KEY" not in again.stdout, "only what changed"


def test_a_password_in_an_address_is_not_shown(cli: Cli) -> None:
    set_to(cli, learning("https://alice:Sup3r-One@example.org/v1"))
    subprocess.run(["git", "remote", "add", "origin", "https://u:Sup3r-Two@h/x"], cwd=cli.folder, check=True)
    shown = cli.run("trust").stdout
    assert "https://alice:***@example.org/v1" in shown and "https://u:***@h/x" in shown and "Sup3r" not in shown


def test_what_a_terminal_would_obey_or_hide_is_shown(cli: Cli) -> None:
    set_to(cli, 'index_dir = "/tmp/\\u001b]52;c;ZXZpbA==\\u0007\\u202E/\\u200Bа"\n')
    shown = cli.run("trust").stdout
    assert "\x1b" not in shown and "\x07" not in shown and "\u202e" not in shown and "\u200b" not in shown
    assert "\\x1b]52;c;ZXZpbA==\\x07\\u202e/\\u200b" in shown
    assert "(in ASCII: " in shown and "\\u0430" in shown, "а is not a"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such terminals")
@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 1), ("", 1)])
def test_at_a_terminal_it_asks(cli: Cli, answer: str, code: int) -> None:
    set_to(cli, 'index_dir = "/tmp/elsewhere"\n')
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "vault_memory", "trust"],
        cwd=cli.folder, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    os.write(ours, f"{answer}\n".encode())
    printed, _ = process.communicate(timeout=60)
    os.close(ours), os.close(theirs)
    assert process.returncode == code and "Say yes to these values? [y/N]" in printed
    assert cli.run("trust").returncode == code
