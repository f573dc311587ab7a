"""The system's supervisor of a person's programs: systemd on Linux, launchd on macOS.

A service is a file in one of the person's folders, which the supervisor's command is told to read. Where that command
is missing (a container, a system without systemd) only the file is written, and `Unsupervised` says what to do.
"""

from __future__ import annotations

import hashlib
import os
import plistlib
import re
import shutil
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path

from vault_memory.adapters import files
from vault_memory.core import reading
from vault_memory.errors import Unsupervised, UsageError

_COMMAND_TIMEOUT_S = 30
_MAX_FOLDER_CHARS = 40


def service_name(vault: Path) -> str:
    """The name of the service of the vault at this path: `vault-memory-my-vault-1f2e3d`, different for every path."""
    folder = re.sub(r"[^A-Za-z0-9]+", "-", vault.name).strip("-")[:_MAX_FOLDER_CHARS]
    digest = hashlib.sha256(str(vault).encode("utf-8", "surrogateescape")).hexdigest()[:6]
    return "-".join(filter(None, ("vault-memory", folder, digest)))


class Supervisor(ABC):
    """systemd or launchd. `name` is from `service_name`; `environ` says where the person's folders are."""

    program = ""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.environ = environ
        self.home = Path(environ.get("HOME") or Path.home())

    @abstractmethod
    def path(self, name: str) -> Path:
        """The file that describes the service."""

    @abstractmethod
    def text(self, name: str, vault: Path, command: Sequence[str]) -> str:
        """What that file holds: run `command` from log-in on, and again when it fails."""

    @abstractmethod
    def start(self, name: str) -> None:
        """Start the service now and at every log-in. Raises `Unsupervised`."""

    @abstractmethod
    def stop(self, name: str) -> None:
        """Stop the service and do not start it again. Raises `Unsupervised`."""

    @abstractmethod
    def state(self, name: str) -> str:
        """The supervisor's word for the state of the service. Raises `Unsupervised`."""

    def install(self, name: str, text: str) -> Path:
        """Write the file."""
        path = self.path(name)
        files.replace(path, text.encode("utf-8", "surrogateescape"), files.read(path))
        return path

    def remove(self, name: str) -> Path | None:
        """Delete the file; None when there is none."""
        path = self.path(name)
        content = files.read(path)
        if content is None:
            return None
        files.remove(path, content)
        return path

    def _run(self, *arguments: str, check: bool = True) -> str:
        program = shutil.which(self.program, path=self.environ.get("PATH"))
        if program is None:
            raise Unsupervised(
                f"{self.program} is not on this machine: start `vault-memory watch` with the program that starts "
                "services here"
            )
        try:
            done = subprocess.run(
                [program, *arguments],
                env=dict(self.environ),
                capture_output=True,
                text=True,
                timeout=_COMMAND_TIMEOUT_S,
            )
        except subprocess.TimeoutExpired as error:
            raise Unsupervised(f"{self.program} did not answer within {_COMMAND_TIMEOUT_S} s: try again") from error
        if check and done.returncode:
            reason = (done.stderr or done.stdout).strip()
            raise Unsupervised(f"`{self.program} {' '.join(arguments)}` failed: {reason}")
        return done.stdout.strip()


class Systemd(Supervisor):
    """The person's own systemd, `systemctl --user`."""

    program = "systemctl"

    def path(self, name: str) -> Path:
        config = self.environ.get("XDG_CONFIG_HOME") or self.home / ".config"
        return Path(config, "systemd", "user", f"{name}.service")

    def text(self, name: str, vault: Path, command: Sequence[str]) -> str:
        """A user unit. After a wrong setting (exit 2) it is not restarted: only a person can correct that."""
        description = str(vault).replace("\n", " ").replace("%", "%%")
        return f"""\
[Unit]
Description=vault-memory follows {description}

[Service]
ExecStart={" ".join(map(_systemd_quoted, command))}
ExecReload=/bin/kill -HUP $MAINPID
Restart=on-failure
RestartPreventExitStatus=2
RestartSec=10
TimeoutStopSec=10

[Install]
WantedBy=default.target
"""

    def start(self, name: str) -> None:
        self._run("--user", "daemon-reload")
        self._run("--user", "enable", "--now", f"{name}.service")

    def stop(self, name: str) -> None:
        self._run("--user", "disable", "--now", f"{name}.service")

    def state(self, name: str) -> str:
        return self._run("--user", "is-active", f"{name}.service", check=False)


class Launchd(Supervisor):
    """The person's own launchd domain, `launchctl … gui/UID`."""

    program = "launchctl"

    def path(self, name: str) -> Path:
        return self.home / "Library" / "LaunchAgents" / f"{name}.plist"

    def text(self, name: str, vault: Path, command: Sequence[str]) -> str:
        agent = {
            "Label": name,
            "ProgramArguments": list(command),
            "RunAtLoad": True,
            "KeepAlive": {"SuccessfulExit": False},
            "ThrottleInterval": 10,
            "ProcessType": "Background",
        }
        return plistlib.dumps(agent, sort_keys=False).decode()

    def start(self, name: str) -> None:
        self._run("bootout", f"{self._domain()}/{name}", check=False)  # an older service of this name
        self._run("bootstrap", self._domain(), str(self.path(name)))

    def stop(self, name: str) -> None:
        self._run("bootout", f"{self._domain()}/{name}")

    def state(self, name: str) -> str:
        printed = self._run("print", f"{self._domain()}/{name}", check=False)
        rows = (line.strip() for line in reading.lines(printed))
        return next((line.removeprefix("state = ") for line in rows if line.startswith("state = ")), "not loaded")

    def _domain(self) -> str:
        return f"gui/{os.getuid()}"


def supervisor(platform: str, environ: Mapping[str, str]) -> Supervisor:
    """The supervisor of a platform (`sys.platform`). Raises `UsageError` where there is none for it."""
    if platform.startswith("linux"):
        return Systemd(environ)
    if platform == "darwin":
        return Launchd(environ)
    raise UsageError(
        f"a service can be installed on Linux and macOS, not on {platform}: start `vault-memory watch` at log-in by "
        "the means of that system"
    )


def _systemd_quoted(word: str) -> str:
    """A word of ExecStart: systemd interprets blanks, quotes, backslashes, `%` and `$` in it."""
    for char, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("$", "$$"), ("%", "%%")):
        word = word.replace(char, escaped)
    return f'"{word}"'
