"""`watch`: the daemon alone, beside somebody's own proxy. `service`: have the system run it."""

from __future__ import annotations

import signal
import sys
import threading
from types import FrameType

import click

from vault_memory.errors import Unsupervised, VaultMemoryError
from vault_memory.interfaces.cli import Context, pass_context
from vault_memory.services.daemon.autostart import Service, install_service, uninstall_service
from vault_memory.services.daemon.autostart import service as look
from vault_memory.services.daemon.daemon import Daemon
from vault_memory.services.daemon.event_log import Happening


@click.command()
@click.option("--log-json", is_flag=True, help="Print what happens as lines of JSON.")
@pass_context
def watch(context: Context, log_json: bool) -> None:
    """Follow every edit of the vault: index it at once, commit it as yours once it has come to rest.

    One daemon per vault. Ctrl-C stops it, SIGHUP makes it read the settings anew.
    """
    ended, interrupted = threading.Event(), threading.Event()

    def heed(number: int, _: FrameType | None) -> None:
        if number in (signal.SIGINT, signal.SIGTERM):
            ended.set()
        interrupted.set()

    for name in ("SIGINT", "SIGTERM", "SIGHUP"):  # Windows knows no SIGHUP
        if number := getattr(signal, name, None):
            signal.signal(number, heed)
    vault = context.open()
    told = _tell_json if log_json else tell
    while not ended.is_set():
        interrupted.clear()
        Daemon(vault, told).run(interrupted)
        if not ended.is_set():
            try:
                vault = context.open()
            except VaultMemoryError as error:
                click.echo(f"the settings stay as they were: {error}", err=True)


def tell(happening: Happening) -> None:
    """One line about what the daemon did; troubles go to standard error."""
    line = f"{happening.time:%H:%M:%S}  {happening.kind:<9} {happening.where}: {happening.message}"
    click.echo(line, err=happening.kind in ("trouble", "failed"))
    sys.stdout.flush()


def _tell_json(happening: Happening) -> None:
    click.echo(happening.json())
    sys.stdout.flush()


@click.group()
def service() -> None:
    """Have systemd (Linux) or launchd (macOS) run `watch` for this vault from log-in on."""


@service.command()
@click.option("--print", "only_print", is_flag=True, help="Show the unit and change nothing.")
@pass_context
def install(context: Context, only_print: bool) -> None:
    """Install the service and start it."""
    if only_print:
        found = look(context.open())
        click.echo(f"# {found.path}\n{found.text}", nl=False)
        return
    installed = install_service(context.open())
    click.echo(f"{installed.path} is written")
    _state(installed)


@service.command()
@pass_context
def uninstall(context: Context) -> None:
    """Stop the service and take it away."""
    removed = uninstall_service(context.open())
    click.echo(f"{removed.path} is gone")
    _state(removed)


@service.command()
@pass_context
def status(context: Context) -> None:
    """Show whether the service is installed, and what the system says of it."""
    found = look(context.open())
    click.echo(f"{found.path}: {'installed' if found.installed else 'not installed'}")
    _state(found)


def _state(found: Service) -> None:
    if found.state:
        click.echo(f"{found.name} is {found.state}")
    if found.problem:
        raise Unsupervised(found.problem)
