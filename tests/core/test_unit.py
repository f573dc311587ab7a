"""What systemd and launchd read must be what we mean, whatever the vault's folder is called."""

from __future__ import annotations

import plistlib
import re

import pytest

from vault_memory.core import unit

ODD = '/home/王 小明/50% "note$"\\x'


def read_back(line: str) -> list[str]:
    """The words of an ExecStart line, by systemd's rules for quotes, `%` and `$`."""
    words = re.findall(r'"((?:[^"\\]|\\.)*)"', line.removeprefix("ExecStart="))
    return [
        re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], word.replace("%%", "%").replace("$$", "$"))
        for word in words
    ]


@pytest.mark.parametrize("path", ["/home/alice/vault", ODD, "/two\nlines"])
def test_the_command_survives_systemds_quoting(path: str) -> None:
    command = ["/usr/bin/python3", "-m", "vault_memory", "--vault", path, "watch"]
    text = unit.systemd(path, command)
    [line] = [line for line in text.splitlines() if line.startswith("ExecStart=")]
    assert read_back(line) == command
    assert [line for line in text.splitlines() if line.startswith("[")] == ["[Unit]", "[Service]", "[Install]"]
    assert "Restart=on-failure" in text


def test_the_agent_says_the_same_to_launchd() -> None:
    command = ["/usr/bin/python3", "-m", "vault_memory", "--vault", ODD, "watch"]
    agent = plistlib.loads(unit.launchd("vault-memory-x", command).encode())
    assert (agent["Label"], agent["ProgramArguments"]) == ("vault-memory-x", command)
    assert agent["RunAtLoad"] is True
    assert agent["KeepAlive"] == {"SuccessfulExit": False}


def test_every_vault_has_its_own_name() -> None:
    names = {unit.name_of(path) for path in ("/a/vault", "/b/vault", "/a/王", "/", ODD)}
    assert len(names) == 5
    assert all(re.fullmatch(r"vault-memory-[A-Za-z0-9-]+", name) for name in names)
    assert unit.name_of("/a/vault/").startswith("vault-memory-vault-")
