"""Named pipes in `.git`: each is named, and nothing waits for their other end."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from vault_memory.adapters.git import run
from vault_memory.errors import HistoryError
from vault_memory.services.admin.access import caller_of, new_user_token, own_token
from vault_memory.services.turns import record_turn
from vault_memory.services.vault import Vault

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name == "nt", reason="named pipes are POSIX")]

_PATIENCE_S = 20
_ASKED = {".gitattributes": ("text", "memory/alice/notes/new.md")}


def said(vault: Vault, *args: str) -> str:
    """What a command prints; it ends within a third of the shortest time limit of git."""
    done = subprocess.run(
        [sys.executable, "-m", "vault_memory", "--vault", str(vault.root), *args],
        capture_output=True,
        timeout=_PATIENCE_S,
    )
    return (done.stdout + done.stderr).decode()


@pytest.mark.parametrize(
    "name",
    ["HEAD", "config", "index", "packed-refs", "logs/HEAD", "logs/refs/heads/main", "../.gitattributes", "../.mailmap"],
)
def test_a_pipe_in_the_place_of_a_file_of_git_is_named(vault: Vault, name: str) -> None:
    pipe = Path(os.path.normpath(vault.root / ".git" / name))
    pipe.unlink(missing_ok=True)
    os.mkfifo(pipe)
    turn = said(vault, "turn", "--user", "alice", "--message", "我喜歡暗色主題", "--reply", "好")
    others = [said(vault, command) for command in ("status", "doctor", "init")]
    assert any(str(pipe) in each for each in (turn, *others)), (turn, others)
    assert not any("Traceback" in each for each in (turn, *others))


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_tokens_open_the_vault_whatever_stands_in_the_place_of_gits_index(
    vault: Vault, make: Callable[[Path], None]
) -> None:
    """It was «this token is not valid here» for everybody."""
    token, alices = own_token(vault.root), new_user_token(vault, "alice")
    index = vault.root / ".git/index"
    index.unlink(missing_ok=True)
    make(index)
    assert caller_of(vault, token).admin and caller_of(vault, alices).user_id == "alice"
    assert record_turn(vault, "alice", "hello").source, "the words are kept"


def test_a_pipe_that_the_config_includes_is_named(vault: Vault) -> None:
    pipe = vault.root / ".git/deeper/included"
    pipe.parent.mkdir()
    os.mkfifo(pipe)
    (pipe.parent / "more").write_text('[include] path = "included"\n')
    with (vault.root / ".git/config").open("a") as config:
        config.write("[Include]\n\tpath = /dev/null\n\tpath = deeper/more ; a comment\n")
    assert str(pipe) in said(vault, "status")
    assert str(pipe) in said(vault, "turn", "--user", "alice", "--message", "我喜歡暗色主題", "--reply", "好")
    pipe.unlink()
    assert record_turn(vault, "alice", "我喜歡暗色主題").commits


@pytest.mark.parametrize("name", ["objects/info/commit-graph", "refs/heads/topic"])
def test_a_pipe_deeper_in_git_is_named_when_git_hangs(vault: Vault, name: str) -> None:
    pipe = vault.root / ".git" / name
    pipe.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(pipe)
    with socket.socket(socket.AF_UNIX) as monitor:  # as git's own monitor has one, which holds nobody up
        monitor.bind(str(vault.root / ".git/a.ipc"))
        with pytest.raises(HistoryError, match=re.escape(f"{pipe} is a pipe")):
            run(vault.root, "log", "--all", "-1", timeout_s=1)


@pytest.mark.parametrize("name", ["00000001.staged", "00000001.written"])
def test_a_pipe_in_the_place_of_an_intent_is_set_aside_and_named(vault: Vault, name: str) -> None:
    intents = vault.root / ".git/vault-memory/intents"
    intents.mkdir(parents=True, exist_ok=True)
    os.mkfifo(intents / name)
    assert any(f"{intents / name} is damaged" in line for line in vault.history.state().damaged)
    assert f"{intents / name}.damaged is damaged" in said(vault, "status")


@pytest.mark.parametrize("name", [".gitignore", ".gitattributes"])
def test_a_pipe_that_git_meets_in_a_folder_of_notes_is_named_when_git_hangs(vault: Vault, name: str) -> None:
    pipe = vault.root / "memory/alice/notes" / name
    pipe.parent.mkdir(parents=True)
    (pipe.parent / "new.md").write_text("new\n")
    os.mkfifo(pipe)
    with pytest.raises(HistoryError, match=re.escape(f"{pipe} is a pipe")):
        run(vault.root, "check-attr" if name == ".gitattributes" else "status", *_ASKED.get(name, ()), timeout_s=1)
