"""`user list`, `user rename` and `export`."""

from __future__ import annotations

from pathlib import Path

import click

from vault_memory.interfaces.cli import Context, pass_context
from vault_memory.interfaces.cli.output import plural, print_json


@click.group()
def user() -> None:
    """List users, give one another id."""


@user.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@pass_context
def list_users(context: Context, as_json: bool) -> None:
    """Show who has a memory in this vault."""
    from vault_memory.services.admin.users import users

    found = users(context.open())
    if as_json:
        print_json([{"user_id": one.user_id, "display_name": one.display_name or None} for one in found])
    else:
        for one in found:
            click.echo(f"{one.user_id}  {one.display_name}".rstrip())


@user.command()
@click.argument("old")
@click.argument("new")
@pass_context
def rename(context: Context, old: str, new: str) -> None:
    """Give the user OLD the id NEW; notes, conversations and history stay theirs."""
    from vault_memory.services.admin.users import rename_user
    from vault_memory.services.indexing.reconcile import reconcile

    vault = context.open()
    rename_user(vault, old, new)
    reconcile(vault, new)
    click.echo(f"{old} is now {new}")


@click.command()
@click.option("--user", "user_id", metavar="ID", required=True)
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@pass_context
def export(context: Context, user_id: str, folder: Path) -> None:
    """Copy one user's files, conversations too, into the new folder DIR."""
    from vault_memory.services.admin.backup import export as copy

    click.echo(f"{plural(copy(context.open(), user_id, folder), 'file')} copied to {folder}")
