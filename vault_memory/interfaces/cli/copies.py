"""`backup`, `restore`, `sync`."""

from __future__ import annotations

from pathlib import Path

import click

from vault_memory.core import layout
from vault_memory.errors import UsageError
from vault_memory.interfaces.cli import Context, pass_context
from vault_memory.interfaces.cli.output import plural


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@pass_context
def backup(context: Context, file: Path) -> None:
    """Write the whole vault, its conversations and its git history into FILE (.tar.gz)."""
    from vault_memory.services.admin.backup import backup as write

    for line in write(context.open(), file):
        click.echo(f"left out: {line}", err=True)
    click.echo(f"{file}: {file.stat().st_size:,} bytes; keep it safe, it holds everything that was said")


@click.command()
@click.option("--to", "commit", metavar="COMMIT", help="The commit to bring the file back from.")
@click.option("--date", metavar="YYYY-MM-DD[THH:MM]", help="The moment to bring the file back from.")
@click.argument("what", metavar="PATH|FILE")
@click.argument("folder", metavar="[DIR]", required=False, type=click.Path(path_type=Path))
@pass_context
def restore(context: Context, commit: str | None, date: str | None, what: str, folder: Path | None) -> None:
    """Bring PATH, a file of the vault, back to what it was at a commit or a date; or the vault of a backup FILE into DIR.

    \b
    vault-memory restore memory/alice/USER.md --date 2026-01-30
    vault-memory restore backup.tar.gz new-folder
    """
    if folder is not None and commit is None and date is None:
        _restore_backup(Path(what), folder)
    elif folder is None and (commit is None) != (date is None):
        _restore_file(context, what, commit or date or "")
    else:
        raise UsageError(
            "say what to restore: a file of the vault with --to COMMIT or --date DATE, or a backup FILE and a new folder DIR"
        )


def _restore_backup(archive: Path, folder: Path) -> None:
    from vault_memory.services.admin.backup import restore as read
    from vault_memory.services.indexing.reconcile import reconcile
    from vault_memory.services.vault import open_vault

    vault = open_vault(read(archive, folder))
    for scope in vault.scopes():
        reconcile(vault, scope)
    click.echo(f"{vault.root} is restored")


def _restore_file(context: Context, text: str, when: str) -> None:
    from vault_memory.interfaces.cli.history import vault_path
    from vault_memory.services.indexing.reconcile import reconcile
    from vault_memory.services.notes.restore import restore_file

    vault = context.open()
    path = vault_path(vault, text)
    if not restore_file(vault, path, when):
        click.echo(f"{path} stands so already")
        return
    reconcile(vault, layout.scope_of(path))
    click.echo(f"{path} is as it was at {when}; `vault-memory log {path}` shows what it was before")


@click.command()
@click.argument("remote", required=False, default="")
@pass_context
def sync(context: Context, remote: str) -> None:
    """Fetch from REMOTE (a name or address; else git.remote in the settings, else the branch's own), merge, push.

    Nothing is rebased or overwritten. Where two machines changed one preference, the newer stays.
    """
    from vault_memory.services.indexing.reconcile import reconcile
    from vault_memory.services.sync.sync import sync as run

    vault = context.open()
    done = run(vault, remote)
    for scope in done.scopes:
        reconcile(vault, scope)
    click.echo(f"{plural(done.received, 'commit')} came, {done.sent:,} went")
    for note in done.notes:
        click.echo(f"  {note}")
