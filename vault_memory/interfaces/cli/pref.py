"""`pref set|unset|list|history|blame|restore` and `undo`."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime

import click

from vault_memory.core.profile.policy import Change
from vault_memory.errors import UsageError
from vault_memory.interfaces.cli import Context, pass_context
from vault_memory.interfaces.cli.history import history
from vault_memory.interfaces.cli.output import print_json
from vault_memory.services.profiles import preferences
from vault_memory.services.vault import Vault

_user = click.option("--user", "user_id", metavar="ID", required=True)
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group()
def pref() -> None:
    """See, set and restore preferences; `history` and `blame` tell where one comes from."""


pref.add_command(history)


@pref.command("list")
@_user
@_json
@pass_context
def list_(context: Context, user_id: str, as_json: bool) -> None:
    """Show every preference that is set."""
    found = preferences.preferences(context.open(), user_id)
    if as_json:
        print_json([{"key": p.key, "value": p.value, "suggested_default": p.strong} for p in found])
        return
    for p in found:
        click.echo(f"{p.key} = {p.value}{' (strong)' if p.strong else ''}")


@pref.command("set")
@_user
@click.argument("key")
@click.argument("value")
@pass_context
def set_(context: Context, user_id: str, key: str, value: str) -> None:
    """Set KEY to VALUE, or add VALUE to a list; committed as yours."""
    vault = context.open()
    _show(vault, user_id, preferences.set_preference(vault, user_id, key, value))


@pref.command()
@_user
@click.argument("key")
@click.argument("value", required=False)
@pass_context
def unset(context: Context, user_id: str, key: str, value: str | None) -> None:
    """Take VALUE of KEY away, or every value of it."""
    vault = context.open()
    _show(vault, user_id, preferences.unset_preference(vault, user_id, key, value))


@pref.command()
@_user
@_json
@click.argument("key")
@pass_context
def blame(context: Context, user_id: str, as_json: bool, key: str) -> None:
    """Show who set KEY, when, and in which words."""
    vault = context.open()
    found = preferences.blame(vault, user_id, key)
    zone = vault.config.zone()
    if as_json:
        print_json([asdict(b.change) | {"at": b.change.at.astimezone(zone).isoformat(), "said": b.said} for b in found])
        return
    for b in found:
        when = f"{b.change.at.astimezone(zone):%Y-%m-%d %H:%M}"
        click.echo(f"{key} = {b.change.new}")
        click.echo(f"  {b.change.author}, {when}, commit {b.change.commit[:8]} ({b.change.strength})")
        if b.said is not None:
            click.echo(f"  {b.change.source}: 「{b.said}」")
        elif b.change.reason:
            click.echo(f"  {b.change.reason}")
    if not found:
        click.echo(f"{key}: no commit set what stands there")


@pref.command()
@_user
@click.argument("key")
@click.option("--to", "commit", metavar="COMMIT", help="The commit to bring KEY back from.")
@click.option("--date", metavar="YYYY-MM-DD[THH:MM]", help="The moment to bring KEY back from.")
@pass_context
def restore(context: Context, user_id: str, key: str, commit: str | None, date: str | None) -> None:
    """Bring KEY alone back to what it was at a commit or a date."""
    if (commit is None) == (date is None):
        raise UsageError("say when: --to COMMIT or --date YYYY-MM-DD")
    vault = context.open()
    if date is not None:
        try:
            moment = datetime.fromisoformat(date)
        except ValueError as error:
            raise UsageError(f"{date!r} is no date such as 2026-01-30 or 2026-01-30T14:00") from error
        if len(date) <= len("2026-01-30"):
            moment = moment.replace(hour=23, minute=59, second=59)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=vault.config.zone())
        commit = preferences.commit_at(vault, user_id, moment)
    assert commit is not None
    _show(vault, user_id, preferences.restore_preference(vault, user_id, key, commit))


@click.command()
@_user
@pass_context
def undo(context: Context, user_id: str) -> None:
    """Take back the last preference that the assistant learned."""
    vault = context.open()
    _show(vault, user_id, preferences.undo(vault, user_id))


def _show(vault: Vault, user_id: str, changes: list[Change]) -> None:
    from vault_memory.core import layout
    from vault_memory.services.indexing.reconcile import reconcile

    for change in changes:
        click.echo(change.summary())
    if changes:
        reconcile(vault, user_id, [layout.PROFILE])
    else:
        click.echo("nothing to change: it stands so already")
