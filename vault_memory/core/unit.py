"""What a system's own supervisor is told of a daemon: the text of a systemd unit or of a launchd agent. Pure."""

from __future__ import annotations

import hashlib
import plistlib
import re
from collections.abc import Sequence


def name_of(vault: str) -> str:
    """A name for the daemon of the vault at a path: `vault-memory-my-vault-1f2e3d`, another one for every path."""
    folder = re.sub(r"[^A-Za-z0-9]+", "-", vault.rstrip("/").rpartition("/")[2]).strip("-")[:40]
    mark = hashlib.sha256(vault.encode("utf-8", "surrogateescape")).hexdigest()[:6]
    return "-".join(filter(None, ("vault-memory", folder, mark)))


def systemd(vault: str, command: Sequence[str]) -> str:
    """A user unit that runs `command` for the vault at a path from log-in on, and again when it dies.

    It is not started again after a wrong setting (exit 2), which only a person can mend.
    """
    shown = vault.replace("\n", " ").replace("%", "%%")
    return f"""\
[Unit]
Description=vault-memory follows {shown}

[Service]
ExecStart={" ".join(map(_quoted, command))}
ExecReload=/bin/kill -HUP $MAINPID
Restart=on-failure
RestartPreventExitStatus=2
RestartSec=10
TimeoutStopSec=10

[Install]
WantedBy=default.target
"""


def launchd(name: str, command: Sequence[str]) -> str:
    """An agent that does the same."""
    agent = {
        "Label": name,
        "ProgramArguments": list(command),
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ThrottleInterval": 10,
        "ProcessType": "Background",
    }
    return plistlib.dumps(agent, sort_keys=False).decode()


def _quoted(word: str) -> str:
    """A word of ExecStart: systemd reads blanks, quotes, backslashes, `%` and `$` in it."""
    for char, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("$", "$$"), ("%", "%%")):
        word = word.replace(char, escaped)
    return f'"{word}"'
