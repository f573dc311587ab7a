"""`watch`: the daemon alone. `serve`: the HTTP server with the daemon inside, and `token`, what its callers must show.
`service`: have the system run the daemon."""

from __future__ import annotations

import shlex
import signal
import sys
import threading
from types import FrameType

import click

from vault_memory.core import layout
from vault_memory.errors import Unsupervised, UsageError, VaultMemoryError
from vault_memory.interfaces.cli import Context, echo, echo_text, pass_context, print_json_text, print_waits
from vault_memory.services.daemon import Daemon, Event, Service, install_service, service_status, uninstall_service
from vault_memory.services.vault import Vault


@click.command()
@click.option("--log-json", is_flag=True, help="Print each event as a line of JSON.")
@pass_context
def watch(context: Context, log_json: bool) -> None:
    """Follow every edit: index a file that has been quiet, and commit it as yours when it has been quiet longer.

    Only one daemon runs per vault. Ctrl-C stops it; SIGHUP makes it read the settings again.
    """
    ended, interrupted = threading.Event(), threading.Event()

    def on_signal(number: int, _: FrameType | None) -> None:
        if number in (signal.SIGINT, signal.SIGTERM):
            ended.set()
        interrupted.set()

    for name in ("SIGINT", "SIGTERM", "SIGHUP"):  # Windows has no SIGHUP
        if number := getattr(signal, name, None):
            signal.signal(number, on_signal)
    vault = context.open()
    on_event = _print_json if log_json else print_event
    while not ended.is_set():
        interrupted.clear()
        print_waits(vault.config)
        Daemon(vault, on_event).run(interrupted)
        if not ended.is_set():
            try:
                vault = context.open()
            except VaultMemoryError as error:
                echo(f"the old settings stay: {error}", err=True)


def print_event(event: Event) -> None:
    """One line for each event of the daemon; errors go to standard error."""
    line = f"{event.time:%H:%M:%S}  {event.kind:<9} {event.where}: {event.message}"
    echo(line, err=event.kind in ("trouble", "failed"))
    sys.stdout.flush()


def _print_json(event: Event) -> None:
    print_json_text(event.json())
    sys.stdout.flush()


@click.group()
def service() -> None:
    """Have systemd (Linux) or launchd (macOS) run `watch` for this vault from log-in on."""


@service.command()
@click.option("--print", "only_print", is_flag=True, help="Show the service's file and change nothing.")
@pass_context
def install(context: Context, only_print: bool) -> None:
    """Install the service and start it."""
    if only_print:
        planned = service_status(context.open())
        echo(f"# {planned.path}")
        echo_text(planned.text, nl=False)
        return
    installed = install_service(context.open())
    echo(f"{installed.path} is written")
    _print_state(installed)


@service.command()
@pass_context
def uninstall(context: Context) -> None:
    """Stop the service and delete its file."""
    removed = uninstall_service(context.open())
    echo(f"{removed.path} is deleted")
    _print_state(removed)


@service.command(short_help="Show whether the service is installed, and its state.")
@pass_context
def status(context: Context) -> None:
    """Show whether the service is installed, and its state."""
    current = service_status(context.open())
    echo(f"{current.path}: {'installed' if current.installed else 'not installed'}")
    _print_state(current)


def _print_state(shown: Service) -> None:
    if shown.state:
        echo(f"{shown.name} is {shown.state}")
    if shown.problem:
        raise Unsupervised(shown.problem)


@click.command()
@click.option("--host", metavar="ADDRESS", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port", type=click.IntRange(0, 65_535), help="The port; 0 takes any free one. Default: the setting serve.port."
)
@click.option("--public", is_flag=True, help="Allow an address that other machines reach. Put TLS in front of it.")
@pass_context
def serve(context: Context, host: str, port: int | None, public: bool) -> None:
    """Serve the vault over HTTP to callers with a token, and index and commit edits as `watch` does.

    When `watch` is running already, only `watch` indexes and commits. Ctrl-C stops the server.
    """
    context.flags["serve_port"] = port
    vault = context.open()
    if context.serve is None:
        raise UsageError("this program has no HTTP server: run `vault-memory serve` or `python -m vault_memory serve`")

    print_waits(vault.config)
    _secure_tokens(vault)

    def started(address: str) -> None:
        echo(f"serving {vault.root} at {address}; Ctrl-C stops it")
        if not public:  # behind TLS, callers use another address
            users = vault.user_ids()
            path = f"user/{users[0]}" if users else "users"
            token = shlex.quote(str(vault.root / layout.STATE_DIR / "token"))
            echo("To try it, paste this into another terminal:")
            echo(f"  curl -w '\\n' -H \"Authorization: Bearer $(cat {token})\" {address}/api/v1/{path}")

    context.serve(vault, host, public=public, tell=print_event, started=started)


@click.command()
@click.option("--user", "user_id", metavar="ID", help="Make a new token for this user's data only.")
@click.option("--revoke", is_flag=True, help="Make the user's token invalid.")
@pass_context
def token(context: Context, user_id: str | None, revoke: bool) -> None:
    """Show the vault's own token, which gives access to everything, or make a token for one user."""
    from vault_memory.services.admin import new_user_token, own_token, revoke_user_token

    vault = context.open()
    _secure_tokens(vault)
    if user_id is None:
        if revoke:
            raise UsageError("--revoke needs --user ID; to replace the vault's own token, delete .vault-memory/token")
        echo(own_token(vault.root))
    elif revoke:
        user_id = vault.user_of(user_id)
        revoke_user_token(vault, user_id)
        echo(f"the token of {user_id} is revoked")
    else:
        echo(new_user_token(vault, vault.user_of(user_id)))


def _secure_tokens(vault: Vault) -> None:
    from vault_memory.services.admin import secure_tokens

    for line in secure_tokens(vault.root):
        echo(f"tokens: {line}", err=True)
