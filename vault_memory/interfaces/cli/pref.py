"""`pref set|unset|list|history|blame|restore` and `undo`."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime

import click

from vault_memory.core.profile import Change
from vault_memory.errors import UsageError
from vault_memory.interfaces.cli import Context, echo, pass_context, print_json
from vault_memory.interfaces.cli.history import history
from vault_memory.services import profiles

_user = click.option("--user", "user_id", metavar="ID", required=True, help="Whose preferences.")
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group()
def pref() -> None:
    """Show, set and restore preferences; `history` and `blame` show where a value comes from."""


pref.add_command(history)


@pref.command("list")
@_user
@_json
@pass_context
def list_(context: Context, user_id: str, as_json: bool) -> None:
    """Show every preference that is set."""
    found = profiles.list_preferences(context.open(), user_id)
    if as_json:
        print_json([{"key": p.key, "value": p.value, "suggested_default": p.strong} for p in found])
        return
    for p in found:
        echo(f"{p.key} = {p.value}{' (strong)' if p.strong else ''}")


@pref.command("set")
@_user
@click.argument("key")
@click.argument("value")
@pass_context
def set_(context: Context, user_id: str, key: str, value: str) -> None:
    """Set KEY to VALUE, or add VALUE to a list. The change is committed under your name."""
    vault = context.open()
    _show(profiles.set_preference(vault, user_id, key, value))


@pref.command()
@_user
@click.argument("key")
@click.argument("value", required=False)
@pass_context
def unset(context: Context, user_id: str, key: str, value: str | None) -> None:
    """Remove VALUE from KEY, or all its values."""
    vault = context.open()
    _show(profiles.unset_preference(vault, user_id, key, value))


@pref.command()
@_user
@_json
@click.argument("key")
@pass_context
def blame(context: Context, user_id: str, as_json: bool, key: str) -> None:
    """Show who set KEY, when, and the sentence it was learned from."""
    vault = context.open()
    found = profiles.blame(vault, user_id, key)
    zone = vault.config.zone()
    if as_json:
        print_json(
            [asdict(b.change) | {"at": b.change.at.astimezone(zone).isoformat(), "said": b.message} for b in found]
        )
        return
    for b in found:
        when = f"{b.change.at.astimezone(zone):%Y-%m-%d %H:%M}"
        echo(f"{key} = {b.change.new}")
        echo(f"  {b.change.author}, {when}, commit {b.change.commit[:8]} ({b.change.strength})")
        if b.message is not None:
            echo(f"  {b.change.source}: 「{b.message}」")
        elif b.change.reason:
            echo(f"  {b.change.reason}")
    if not found:
        echo(f"{key}: no commit set its value")


@pref.command()
@_user
@click.argument("key")
@click.option("--to", "commit", metavar="COMMIT", help="Take the value of this commit.")
@click.option("--date", metavar="YYYY-MM-DD[THH:MM]", help="Take the value of this moment.")
@pass_context
def restore(context: Context, user_id: str, key: str, commit: str | None, date: str | None) -> None:
    """Bring back the value that KEY had at a commit or a date.

    Nothing else in the profile changes.
    """
    if (commit is None) == (date is None):
        raise UsageError("give either --to COMMIT or --date YYYY-MM-DD")
    vault = context.open()
    if date is not None:
        try:
            moment = datetime.fromisoformat(date)
        except ValueError as error:
            raise UsageError(f"--date must be like 2026-01-30 or 2026-01-30T14:00, not {date!r}") from error
        if len(date) <= len("2026-01-30"):
            moment = moment.replace(hour=23, minute=59, second=59)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=vault.config.zone())
        commit = profiles.commit_at(vault, user_id, moment)
    assert commit is not None
    _show(profiles.restore_preference(vault, user_id, key, commit))


@click.command()
@_user
@pass_context
def undo(context: Context, user_id: str) -> None:
    """Undo the last preference that the assistant learned."""
    vault = context.open()
    _show(profiles.undo(vault, user_id))


def _show(changes: list[Change]) -> None:
    for change in changes:
        echo(change.summary())
    if not changes:
        echo("nothing to change: the value is the same already")
