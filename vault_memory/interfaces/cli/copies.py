"""`backup` and `restore`."""

from __future__ import annotations

from pathlib import Path

import click

from vault_memory.interfaces.cli import Context, pass_context


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@pass_context
def backup(context: Context, file: Path) -> None:
    """Write the whole vault, its conversations and its git history into FILE (.tar.gz)."""
    from vault_memory.services.backup import backup as write

    for line in write(context.open(), file):
        click.echo(f"left out: {line}", err=True)
    click.echo(f"{file}: {file.stat().st_size:,} bytes; keep it safe, it holds everything that was said")


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
def restore(file: Path, folder: Path) -> None:
    """Bring the vault of a backup FILE back into the new folder DIR, and index it."""
    from vault_memory.services.backup import restore as read
    from vault_memory.services.reconcile import reconcile
    from vault_memory.services.vault import open_vault

    vault = open_vault(read(file, folder))
    for scope in vault.scopes():
        reconcile(vault, scope)
    click.echo(f"{vault.root} is restored")
