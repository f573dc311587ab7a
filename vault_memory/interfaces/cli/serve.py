"""`serve`: the HTTP server with the daemon inside. `token`: what its callers must show."""

from __future__ import annotations

import shlex

import click

from vault_memory.core import layout
from vault_memory.errors import UsageError
from vault_memory.interfaces.cli import Context, pass_context
from vault_memory.interfaces.cli.daemon import tell


@click.command()
@click.option("--host", metavar="ADDRESS", default="127.0.0.1", show_default=True, help="The address to listen at.")
@click.option("--port", type=click.IntRange(0, 65_535), help="The port; 0 for any free one. Default: the setting's.")
@click.option("--public", is_flag=True, help="The address may be one that others reach: TLS stands in front of it.")
@pass_context
def serve(context: Context, host: str, port: int | None, public: bool) -> None:
    """Serve the vault over HTTP, to callers who show a token, and follow its edits as `watch` does.

    Beside a running `watch` it leaves the following to that. Ctrl-C stops it.
    """
    context.flags["serve_port"] = port
    vault = context.open()
    if context.serve is None:
        raise UsageError("this program was put together without its HTTP door")

    def started(address: str) -> None:
        click.echo(f"serving {vault.root} at {address}; Ctrl-C stops it")
        if not public:  # others' addresses are not this one
            users = vault.user_ids()
            path = f"user/{users[0]}" if users else "users"
            token = shlex.quote(str(vault.root / layout.STATE_DIR / "token"))
            click.echo("To try it, paste this into another terminal:")
            click.echo(f"  curl -w '\\n' -H \"Authorization: Bearer $(cat {token})\" {address}/api/v1/{path}")

    context.serve(vault, host, public=public, tell=tell, started=started)


@click.command()
@click.option("--user", "user_id", metavar="ID", help="Make a new token that opens this user's data only.")
@click.option("--revoke", is_flag=True, help="Let the user's token open nothing any more.")
@pass_context
def token(context: Context, user_id: str | None, revoke: bool) -> None:
    """Show the vault's own token, which opens everything, or make one for a user."""
    from vault_memory.services.admin.access import new_user_token, own_token, revoke_user_token

    vault = context.open()
    if user_id is None:
        if revoke:
            raise UsageError("say whose with --user ID; to change the vault's own token, delete .vault-memory/token")
        click.echo(own_token(vault.root))
    elif revoke:
        revoke_user_token(vault, user_id)
        click.echo(f"the token of {user_id} opens nothing any more")
    else:
        click.echo(new_user_token(vault, user_id))
