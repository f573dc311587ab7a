"""The system's own supervisor of a person's programs: systemd on Linux, launchd on macOS.

It knows a daemon by a file in a folder of the person's; a program of the system is told to read it. Where that program is
missing (a container, a system without systemd) the file is all there is, and `Unsupervised` says what to do instead.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path

from vault_memory.adapters import files
from vault_memory.core import unit
from vault_memory.errors import Unsupervised, UsageError

_TIMEOUT_S = 30


class Supervisor(ABC):
    """One of the two. `name` is a daemon's, from `unit.name_of`; `environ` tells where the person's folders are."""

    program = ""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.environ = environ
        self.home = Path(environ.get("HOME") or Path.home())

    @abstractmethod
    def path(self, name: str) -> Path:
        """The file by which the supervisor knows the daemon."""

    @abstractmethod
    def text(self, name: str, vault: Path, command: Sequence[str]) -> str:
        """What stands in that file."""

    @abstractmethod
    def start(self, name: str) -> None:
        """Start the daemon now and at every log-in. Raises `Unsupervised`."""

    @abstractmethod
    def stop(self, name: str) -> None:
        """End the daemon and start it no more. Raises `Unsupervised`."""

    @abstractmethod
    def state(self, name: str) -> str:
        """What the supervisor says of the daemon, in its own words. Raises `Unsupervised`."""

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

    def _run(self, *words: str, check: bool = True) -> str:
        program = shutil.which(self.program, path=self.environ.get("PATH"))
        if program is None:
            raise Unsupervised(
                f"{self.program} is not on this machine: have whatever starts programs here run `vault-memory watch`"
            )
        try:
            done = subprocess.run(
                [program, *words], env=dict(self.environ), capture_output=True, text=True, timeout=_TIMEOUT_S
            )
        except subprocess.TimeoutExpired as error:
            raise Unsupervised(f"{self.program} did not answer within {_TIMEOUT_S} s: try again") from error
        if check and done.returncode:
            said = (done.stderr or done.stdout).strip()
            raise Unsupervised(f"`{self.program} {' '.join(words)}` failed: {said}")
        return done.stdout.strip()


class Systemd(Supervisor):
    """systemd's instance of the person, `systemctl --user`."""

    program = "systemctl"

    def path(self, name: str) -> Path:
        config = self.environ.get("XDG_CONFIG_HOME") or self.home / ".config"
        return Path(config, "systemd", "user", f"{name}.service")

    def text(self, name: str, vault: Path, command: Sequence[str]) -> str:
        return unit.systemd(str(vault), command)

    def start(self, name: str) -> None:
        self._run("--user", "daemon-reload")
        self._run("--user", "enable", "--now", f"{name}.service")

    def stop(self, name: str) -> None:
        self._run("--user", "disable", "--now", f"{name}.service")

    def state(self, name: str) -> str:
        return self._run("--user", "is-active", f"{name}.service", check=False)


class Launchd(Supervisor):
    """launchd's domain of the person, `launchctl … gui/UID`."""

    program = "launchctl"

    def path(self, name: str) -> Path:
        return self.home / "Library" / "LaunchAgents" / f"{name}.plist"

    def text(self, name: str, vault: Path, command: Sequence[str]) -> str:
        return unit.launchd(name, command)

    def start(self, name: str) -> None:
        self._run("bootout", f"{self._domain()}/{name}", check=False)  # an older one under this name
        self._run("bootstrap", self._domain(), str(self.path(name)))

    def stop(self, name: str) -> None:
        self._run("bootout", f"{self._domain()}/{name}")

    def state(self, name: str) -> str:
        said = self._run("print", f"{self._domain()}/{name}", check=False)
        lines = (line.strip() for line in said.splitlines())
        return next((line.removeprefix("state = ") for line in lines if line.startswith("state = ")), "not loaded")

    def _domain(self) -> str:
        return f"gui/{os.getuid()}"


def supervisor(platform: str, environ: Mapping[str, str]) -> Supervisor:
    """The one of a platform (`sys.platform`). Raises `UsageError` where we know none."""
    if platform.startswith("linux"):
        return Systemd(environ)
    if platform == "darwin":
        return Launchd(environ)
    raise UsageError(
        f"no service can be installed on {platform}: start `vault-memory watch` at log-in by its own means"
    )
