"""`init`: make a vault. `hook` and `merge-driver`: called by git, not by a person."""

from __future__ import annotations

import sys
from pathlib import Path, PurePosixPath

import click

from vault_memory.interfaces.cli import echo, plural, show_foreign

_MAX_NAMED = 20
"""Files that `init --adopt` leaves untracked and names."""


@click.command()
@click.argument("folder", metavar="[DIR]", default=".", type=click.Path(path_type=Path))
@click.option("--adopt", is_flag=True, help="Accept a folder that holds notes already; they are not changed.")
@click.option(
    "--track",
    type=click.Choice(["markdown", "everything"]),
    help="With --adopt, in a folder without git: the files that git is to track. Default: asked, else markdown.",
)
def init(folder: Path, adopt: bool, track: str | None) -> None:
    """Make DIR (default: the current folder) a vault: starter notes, git repository, hooks, first commit.

    It may be run again: it adds what is missing and changes nothing else. With --adopt it shows what it will add and
    asks first, if there is a terminal.
    """
    from vault_memory.services.admin import create_vault

    is_foreign = adopt and folder.is_dir() and any(folder.iterdir()) and not (folder / "vault-memory.toml").exists()
    try:
        track_all = _ask_to_adopt(folder, track) if is_foreign else False
    except click.Abort:
        echo("nothing was changed", err=True)
        raise
    created = create_vault(folder, adopt=adopt, track_all=track_all)
    for path in created.written:
        echo(f"  wrote {path}")
    for line in created.hooks:
        echo(f"  hook {line}")
    if not is_foreign:
        show_foreign(created.root)
    for line in created.notes:
        echo(f"  note {line}")
    changed = created.written or created.hooks
    echo(f"{created.root} is a vault{'' if changed else ' already'}; {plural(created.indexed, 'note')} indexed")


def _ask_to_adopt(folder: Path, track: str | None) -> bool:
    """Show what adopting changes, and ask if there is a terminal; whether everything is to be tracked."""
    from vault_memory.services.admin import plan_adoption

    planned = plan_adoption(folder, track_all=track == "everything")
    echo(f"{planned.root} will get:")
    for path in planned.files:
        echo(f"  {path}")
    for path, lines in planned.rules.items():
        echo(f"  in {path}, above your own lines:")
        for line in lines:
            echo(f"    {line}")
    echo("  git hooks; your own hooks keep running")
    echo("  in .git/config merge.vault-memory-profile, by which git merges USER.md")
    echo("  .vault-memory/, which git ignores, with a token for the HTTP server")
    if planned.has_git:
        echo("Git goes on to track what your own .gitignore says.")
    else:
        echo(f"Git will track {plural(planned.tracked, 'file')}, and leave {plural(len(planned.left), 'file')} alone.")
        if planned.tracked:
            echo("`vault-memory watch` and `serve` commit your files, under your name.")
        for path, size in planned.left[:_MAX_NAMED]:
            echo(f"  left: {path} ({size:,} bytes)")
        if len(planned.left) > _MAX_NAMED:
            echo(f"  left: {len(planned.left) - _MAX_NAMED:,} more, which are smaller")
    show_foreign(planned.root)
    if not sys.stdin.isatty():
        if not planned.has_git and track is None:
            echo("No terminal to ask at: Markdown only. `--track everything` tracks all files.")
    elif planned.has_git or track:
        click.confirm("Go on, and make the first commit of these?", default=True, abort=True)
    else:
        choices = click.Choice(["markdown", "everything", "nothing"])
        track = click.prompt("Track what? (nothing: leave the folder as it is)", type=choices, default="markdown")
        if track == "nothing":
            raise click.Abort
    return track == "everything"


@click.group()
def hook() -> None:
    """Commands that the vault's git hooks call."""


@hook.command("pre-commit")
def pre_commit() -> None:
    """Print why the staged files must not be committed; the exit code is then 1. Print nothing when they may."""
    from vault_memory.services.sync import check_staged

    if reasons := check_staged(Path.cwd()):
        for reason in reasons:
            echo(reason)
        raise SystemExit(1)


@click.command("merge-driver")
@click.argument("base", type=click.Path(path_type=Path))
@click.argument("ours", type=click.Path(path_type=Path))
@click.argument("theirs", type=click.Path(path_type=Path))
@click.argument("name", metavar="PATH")
def merge_driver(base: Path, ours: Path, theirs: Path, name: str) -> None:
    """Merge two versions of USER.md into the file OURS; the exit code is 1 when a person must decide."""
    from vault_memory.services.sync import merge_driver as merge

    if conflicts := merge(base, ours, theirs, PurePosixPath(name)):
        for conflict in conflicts:
            echo(conflict, err=True)
        raise SystemExit(1)
