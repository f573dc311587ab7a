"""The files for systemd and launchd say what we mean, whatever the name of the vault's folder."""

from __future__ import annotations

import plistlib
import re
from pathlib import Path

import pytest

from vault_memory.adapters.user_service import Launchd, Systemd, service_name

ODD = '/home/王 小明/50% "note$"\\x'


def unquoted(line: str) -> list[str]:
    """The words of an ExecStart line, by systemd's rules for quotes, `%` and `$`."""
    words = re.findall(r'"((?:[^"\\]|\\.)*)"', line.removeprefix("ExecStart="))
    return [
        re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], word.replace("%%", "%").replace("$$", "$"))
        for word in words
    ]


@pytest.mark.parametrize("path", ["/home/alice/vault", ODD, "/two\nlines"])
def test_systemd_runs_exactly_the_command(path: str) -> None:
    command = ["/usr/bin/python3", "-m", "vault_memory", "--vault", path, "watch"]
    text = Systemd({}).text("vault-memory-x", Path(path), command)
    [line] = [line for line in text.splitlines() if line.startswith("ExecStart=")]
    assert unquoted(line) == command
    assert [line for line in text.splitlines() if line.startswith("[")] == ["[Unit]", "[Service]", "[Install]"]
    assert "Restart=on-failure" in text


def test_launchd_runs_exactly_the_command() -> None:
    command = ["/usr/bin/python3", "-m", "vault_memory", "--vault", ODD, "watch"]
    agent = plistlib.loads(Launchd({}).text("vault-memory-x", Path(ODD), command).encode())
    assert (agent["Label"], agent["ProgramArguments"]) == ("vault-memory-x", command)
    assert agent["RunAtLoad"] is True
    assert agent["KeepAlive"] == {"SuccessfulExit": False}


def test_every_vault_has_its_own_name() -> None:
    names = {service_name(Path(path)) for path in ("/a/vault", "/b/vault", "/a/王", "/", ODD)}
    assert len(names) == 5
    assert all(re.fullmatch(r"vault-memory-[A-Za-z0-9-]+", name) for name in names)
    assert service_name(Path("/a/vault/")).startswith("vault-memory-vault-")
