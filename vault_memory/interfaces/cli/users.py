"""`user list`, `user rename` and `export`."""

from __future__ import annotations

from pathlib import Path

import click

from vault_memory.interfaces.cli import Context, echo, pass_context, plural, print_json


@click.group()
def user() -> None:
    """List users, or change a user's id."""


@user.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@pass_context
def list_users(context: Context, as_json: bool) -> None:
    """List the users of this vault."""
    from vault_memory.services.admin import users

    found = users(context.open())
    if as_json:
        print_json([{"user_id": one.user_id, "display_name": one.display_name or None} for one in found])
    else:
        for one in found:
            echo(f"{one.user_id}  {one.display_name}".rstrip())


@user.command()
@click.argument("old")
@click.argument("new")
@pass_context
def rename(context: Context, old: str, new: str) -> None:
    """Change a user's id from OLD to NEW. Notes, conversations and history move along.

    Another machine that shares the vault by sync has its own conversations and tokens: the sync there says when to run
    this command on it, too."""
    from vault_memory.services.admin import rename_user

    rename_user(context.open(), old, new)
    echo(f"{old} is now {new}")


@click.command()
@click.option("--user", "user_id", metavar="ID", required=True, help="Whose files.")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@pass_context
def export(context: Context, user_id: str, folder: Path) -> None:
    """Copy one user's files, with conversations, into the new folder DIR."""
    from vault_memory.services.admin import export as copy

    vault, user_id = context.open_for(user_id)
    count = copy(vault, user_id, folder, on_left_out=lambda line: echo(line, err=True))
    echo(f"{plural(count, 'file')} copied to {folder}")
