"""`init`: make a vault. `hook`: what the vault's git hooks call."""

from __future__ import annotations

from pathlib import Path

import click

from vault_memory.interfaces.cli.output import plural


@click.command()
@click.argument("folder", metavar="[DIR]", default=".", type=click.Path(path_type=Path))
@click.option("--adopt", is_flag=True, help="Take on a folder that holds notes already; they are not touched.")
def init(folder: Path, adopt: bool) -> None:
    """Make DIR (default: this folder) a vault: starter notes, git repository, hooks, first commit.

    May be run again: what is there stays as it is, what is missing is added.
    """
    from vault_memory.services.admin.create_vault import create_vault
    from vault_memory.services.indexing.reconcile import reconcile
    from vault_memory.services.vault import open_vault

    created = create_vault(folder, adopt=adopt)
    for path in created.written:
        click.echo(f"  wrote {path}")
    for line in created.hooks:
        click.echo(f"  hook {line}")
    vault = open_vault(created.root)
    indexed = sum(len(reconcile(vault, scope).indexed) for scope in vault.scopes())
    changed = created.written or created.hooks
    click.echo(f"{created.root} is a vault{'' if changed else ' already'}; {plural(indexed, 'note')} indexed")
