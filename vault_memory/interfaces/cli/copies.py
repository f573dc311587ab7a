"""`user list` and `user rename`; copies of one user or of the whole vault: `export`, `backup`, `restore`, `sync`."""

from __future__ import annotations

from pathlib import Path

import click

from vault_memory.errors import UsageError, VaultMemoryError, in_command
from vault_memory.interfaces.cli import Context, echo, pass_context, plural, print_json, print_waits, show_foreign


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
    from vault_memory.services.assistants import connections

    vault = context.open()
    left = rename_user(vault, old, new)
    echo(f"{old} is now {new}")
    for problem in left:
        echo(problem, err=True)
    for each in connections(ask=False):
        if each.user == old and Path(each.vault).resolve() == vault.root:
            command = f"`vault-memory install {each.client} --user {in_command(new)} --write`"
            echo(f"{each.title} is still connected for {old}: {command}", err=True)


class _Export(click.Group):
    """A group of which `files` is meant where no other command is named: `export --user ID DIR`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        is_named = bool(args) and (args[0] in self.commands or args[0] in ctx.help_option_names)
        return super().parse_args(ctx, args if is_named else ["files", *args])


_exported_user = click.option("--user", "user_id", metavar="ID", required=True, help="Whose files.")
_folder = click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))


@click.group(cls=_Export)
def export() -> None:
    """Copy one user's files into a folder, or write them as another program has them.

    `export --user ID DIR` is `export files --user ID DIR`.
    """


@export.command("files", short_help="Copy one user's files into a folder.")
@_exported_user
@_folder
@pass_context
def export_files(context: Context, user_id: str, folder: Path) -> None:
    """Copy one user's files, with conversations, into the new folder DIR."""
    from vault_memory.services.admin import export as copy

    vault, user_id = context.open_for(user_id)
    count = copy(vault, user_id, folder, on_left_out=lambda line: echo(line, err=True))
    echo(f"{plural(count, 'file')} copied to {folder}")


@export.command("code-buddy", short_help="Write what Code Buddy reads into a folder.")
@_exported_user
@_folder
@pass_context
def export_code_buddy(context: Context, user_id: str, folder: Path) -> None:
    """Write memories, entities, relations and mistakes as Code Buddy reads them, into the new folder DIR.

    Past memories are left out, and so is the key of the language model.
    """
    from vault_memory.services.buddy import export_code_buddy as write

    vault, user_id = context.open_for(user_id)
    done = write(vault, user_id, folder)
    for name, count in done.counts.items():
        echo(f"{name}: {plural(count, 'record')}")
    for line in done.remarks:
        echo(f"  {line}", err=True)


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@pass_context
def backup(context: Context, file: Path) -> None:
    """Write the whole vault, its conversations and its git history into FILE (.tar.gz)."""
    from vault_memory.services.admin import backup as write_backup

    for line in write_backup(context.open(), file):
        echo(line, err=True)
    echo(f"{file}: {file.stat().st_size:,} bytes. Keep it safe: it holds every conversation")


@click.command()
@click.option("--to", "commit", metavar="COMMIT", help="Take the file from this commit.")
@click.option("--date", metavar="YYYY-MM-DD[THH:MM]", help="Take the file as it was then.")
@click.argument("what", metavar="PATH|FILE")
@click.argument("folder", metavar="[DIR]", required=False, type=click.Path(path_type=Path))
@pass_context
def restore(context: Context, commit: str | None, date: str | None, what: str, folder: Path | None) -> None:
    """Bring back PATH, a file of the vault, from a commit or a date; or a whole vault from a backup FILE into DIR.

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
            "say what to restore: PATH with either --to COMMIT or --date DATE, or a backup FILE with a new folder DIR"
        )


def _restore_backup(archive: Path, folder: Path) -> None:
    from vault_memory.services.admin import restore as restore_backup
    from vault_memory.services.vault import open_vault

    root = restore_backup(
        archive,
        folder,
        on_left_out=lambda line: echo(f"left out: {line}", err=True),
        on_unhealthy=lambda line: echo(f"unhealthy: {line}", err=True),
    )
    echo(f"{root} is restored; its tokens are made anew: `vault-memory token`")
    print_waits(open_vault(root).config)
    try:
        show_foreign(root)
    except VaultMemoryError as error:
        echo(f"unhealthy: {error}", err=True)


def _restore_file(context: Context, text: str, when: str) -> None:
    from vault_memory.interfaces.cli.history import vault_path
    from vault_memory.services.notes import restore_file

    vault = context.open()
    path = vault_path(vault, text)
    if not restore_file(vault, path, when):
        echo(f"{path} is the same already; nothing is changed")
        return
    echo(f"{path} is restored to {when}; `vault-memory log {in_command(path)}` lists its other versions")


@click.command()
@click.argument("remote", required=False, default="")
@click.option(
    "--plugins",
    is_flag=True,
    help="Exchange Obsidian's plugins, themes and snippets, too, and take hidden files: programs run them.",
)
@click.option(
    "--take-out-private",
    is_flag=True,
    help="Make the commits that REMOTE lacks anew without private files; these stay on the disk.",
)
@pass_context
def sync(context: Context, remote: str, plugins: bool, take_out_private: bool) -> None:
    """Fetch from REMOTE, merge, and push.

    REMOTE is a name or an address. Default: git.remote in the settings, else the remote of the branch. Nothing is
    rebased or overwritten. Where two machines changed one preference, the newer value stays.
    """
    from vault_memory.services.sync import sync as run_sync

    done = run_sync(context.open(), remote, plugins=plugins, take_out_private=take_out_private)
    echo(f"received {plural(done.received, 'commit')}, sent {done.sent:,}")
    for note in done.notes:
        echo(f"  {note}")
