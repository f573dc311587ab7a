"""Have the system start a vault's daemon at log-in and keep it running."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from vault_memory.adapters.user_service import Supervisor, service_name, supervisor
from vault_memory.errors import Unsupervised
from vault_memory.services.daemon.daemon_record import is_running
from vault_memory.services.vault import Vault


@dataclass(frozen=True)
class Service:
    """A daemon as a service of the system: its file, the file's text and, in the supervisor's words, its `state`.
    `problem` is why the supervisor could not be asked, with the next step."""

    name: str
    path: Path
    text: str
    installed: bool
    state: str = ""
    problem: str = ""


def service_status(vault: Vault, platform: str = sys.platform) -> Service:
    """The service as it is, or as `install_service` would make it."""
    system, name = _supervisor(vault, platform)
    path = system.path(name)
    text = system.text(name, vault.root, _command(vault))
    if not path.exists():
        return Service(name, path, text, installed=False)
    try:
        return Service(name, path, text, installed=True, state=system.state(name))
    except Unsupervised as error:
        return Service(name, path, text, installed=True, problem=str(error))


def install_service(vault: Vault, platform: str = sys.platform) -> Service:
    """Write the file and start the service. A daemon that runs already is not stopped."""
    system, name = _supervisor(vault, platform)
    system.install(name, system.text(name, vault.root, _command(vault)))
    try:
        system.start(name)
    except Unsupervised as error:
        current = service_status(vault, platform)
        return Service(name, current.path, current.text, installed=True, problem=str(error))
    return service_status(vault, platform)


def uninstall_service(vault: Vault, platform: str = sys.platform) -> Service:
    """Stop the service and delete its file."""
    system, name = _supervisor(vault, platform)
    problem = ""
    if system.path(name).exists():
        try:
            system.stop(name)
        except Unsupervised as error:
            problem = str(error)
    current = service_status(vault, platform)
    system.remove(name)
    problem = "a daemon of this vault still runs: stop it by hand" if problem and is_running(vault.root) else ""
    return Service(name, current.path, current.text, installed=False, problem=problem)


def _supervisor(vault: Vault, platform: str) -> tuple[Supervisor, str]:
    return supervisor(platform, vault.environ), service_name(vault.root)


def _command(vault: Vault) -> list[str]:
    return [sys.executable, "-P", "-m", "vault_memory", "--vault", str(vault.root), "watch"]
