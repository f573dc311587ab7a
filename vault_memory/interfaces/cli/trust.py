"""`trust`: say yes to settings that came with the vault from elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click

from vault_memory.interfaces.cli import Context, echo, one_line, pass_context, plural

if TYPE_CHECKING:
    from vault_memory.config import Waiting


@click.command()
@click.option("--yes", is_flag=True, help="Say yes to what is shown, without a question.")
@pass_context
def trust(context: Context, yes: bool) -> None:
    """Show what waits for a yes of this machine, and ask.

    Settings in the vault's file that name where notes and keys go may have come from elsewhere, so they count as unset
    until then. The yes is for these values: one that changes later waits again. It also keeps tokens of which this
    machine does not know that it made them. Exit code 1 while anything waits.
    """
    from vault_memory.services.admin import to_trust
    from vault_memory.services.admin import trust as say_yes
    from vault_memory.services.daemon import is_running

    vault = context.open()
    waiting = to_trust(vault)
    if not waiting:
        echo("nothing waits: every setting in the file is in force")
        return
    echo(f"{vault.root}: {plural(len(waiting), 'value')} may have come from elsewhere")
    for value in waiting:
        _show(value)
    if not (yes or _is_agreed()):
        echo("nothing was changed; `vault-memory trust --yes` says yes to these values", err=True)
        raise SystemExit(1)
    say_yes(vault, waiting)
    echo(f"this machine said yes to {plural(len(waiting), 'value')}")
    if is_running(vault.root):
        echo("`watch` and `serve` read settings when they start: start the running one again")


def _show(value: Waiting) -> None:
    """The yes is for the whole value, of which no password or key is shown: it may stand on a screen or in a log."""
    from vault_memory.core.privacy import shown_address, without_credentials

    echo()
    echo(f"  {one_line(shown_address(value.key))}")
    for line in _lines(value.value, shown_address):
        look_alike = "" if line.isascii() else f"   (in ASCII: {ascii(line)[1:-1]})"  # а is not a
        echo(f"      {one_line(line)}{look_alike}")
    echo(f"      {one_line(without_credentials(value.effect))}")
    echo(f"      why it waits: {one_line(value.why)}")


def _lines(value: Any, shown: Callable[[str], str]) -> list[str]:
    """A value for people, each text as it is `shown`: a list has a line for each member."""
    if isinstance(value, list):
        return [line for member in value for line in _lines(member, shown)]
    if isinstance(value, Mapping):
        return [", ".join(f"{name} = {shown(str(inner))}" for name, inner in value.items())]
    return [shown(str(value))]


def _is_agreed() -> bool:
    return sys.stdin.isatty() and click.confirm("\nSay yes to these values?", default=False)
