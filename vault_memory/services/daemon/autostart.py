"""Have the system start a vault's daemon at log-in, and keep it running."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from vault_memory.adapters.user_service import Supervisor, supervisor
from vault_memory.core import unit
from vault_memory.errors import Unsupervised
from vault_memory.services.daemon.daemon_record import is_running
from vault_memory.services.vault import Vault


@dataclass(frozen=True)
class Service:
    """A daemon as the system's supervisor knows it: by which file, with which text. `state` is what it says of it, and
    `problem` what kept us from asking or telling it, with the next step."""

    name: str
    path: Path
    text: str
    installed: bool
    state: str = ""
    problem: str = ""


def service(vault: Vault, platform: str = sys.platform) -> Service:
    """What there is, or would be. Changes nothing."""
    system, name = _system(vault, platform)
    path = system.path(name)
    text = system.text(name, vault.root, _command(vault))
    if not path.exists():
        return Service(name, path, text, installed=False)
    try:
        return Service(name, path, text, installed=True, state=system.state(name))
    except Unsupervised as error:
        return Service(name, path, text, installed=True, problem=str(error))


def install_service(vault: Vault, platform: str = sys.platform) -> Service:
    """Write the file and start the daemon, unless one runs already: that one is left to end by itself."""
    system, name = _system(vault, platform)
    system.install(name, system.text(name, vault.root, _command(vault)))
    try:
        system.start(name)
    except Unsupervised as error:
        found = service(vault, platform)
        return Service(name, found.path, found.text, installed=True, problem=str(error))
    return service(vault, platform)


def uninstall_service(vault: Vault, platform: str = sys.platform) -> Service:
    """End the daemon that the system runs, and delete the file."""
    system, name = _system(vault, platform)
    problem = ""
    if system.path(name).exists():
        try:
            system.stop(name)
        except Unsupervised as error:
            problem = str(error)
    found = service(vault, platform)
    system.remove(name)
    still = "a daemon still runs here: stop it by hand" if problem and is_running(vault.root) else ""
    return Service(name, found.path, found.text, installed=False, problem=still)


def _system(vault: Vault, platform: str) -> tuple[Supervisor, str]:
    return supervisor(platform, vault.environ), unit.name_of(str(vault.root))


def _command(vault: Vault) -> list[str]:
    return [sys.executable, "-m", "vault_memory", "--vault", str(vault.root), "watch"]
