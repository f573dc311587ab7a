"""`mcp`: one user's memory for an assistant, which waits until it answers: nothing of a daemon is imported here."""

from __future__ import annotations

import getpass

import click

from vault_memory.errors import UsageError
from vault_memory.interfaces.cli import Context, echo, pass_context, print_waits


@click.command()
@click.option("--user", "name", metavar="ID", help="Whose memory it is. Default: your login name.")
@click.option(
    "--toolsets",
    metavar="LIST",
    default="memory,profile,learning,vault",
    show_default=True,
    help="Groups of tools, separated by commas; there is also buddy.",
)
@pass_context
def mcp(context: Context, name: str | None, toolsets: str) -> None:
    """Serve one user's memory to an assistant by MCP, over standard input and output.

    The assistant starts this itself. It ends when the assistant closes the input.
    """
    if context.mcp is None:
        raise UsageError("this program has no MCP server: run `vault-memory mcp` or `python -m vault_memory mcp`")
    vault = context.open()
    user_id = vault.new_user(vault.user_of(name or getpass.getuser()))
    vault.refuse_former(user_id)
    print_waits(vault.config)
    is_new = "" if vault.is_user(user_id) else ", who is new: the first thing that is kept makes the user"
    echo(f"the memory of {user_id} in {vault.root}{is_new}", err=True)
    context.mcp(vault, user_id, [each.strip() for each in toolsets.split(",") if each.strip()])
