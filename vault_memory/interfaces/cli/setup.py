"""`init`: make a vault. `hook` and `merge-driver`: called by git, not by a person."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import click

from vault_memory.interfaces.cli.output import echo, plural


@click.command()
@click.argument("folder", metavar="[DIR]", default=".", type=click.Path(path_type=Path))
@click.option("--adopt", is_flag=True, help="Accept a folder that holds notes already; they are not changed.")
def init(folder: Path, adopt: bool) -> None:
    """Make DIR (default: the current folder) a vault: starter notes, git repository, hooks, first commit.

    It may be run again: it adds what is missing and changes nothing else.
    """
    from vault_memory.services.admin import create_vault

    created = create_vault(folder, adopt=adopt)
    for path in created.written:
        echo(f"  wrote {path}")
    for line in created.hooks:
        echo(f"  hook {line}")
    changed = created.written or created.hooks
    echo(f"{created.root} is a vault{'' if changed else ' already'}; {plural(created.indexed, 'note')} indexed")


@click.group()
def hook() -> None:
    """Commands that the vault's git hooks call."""


@hook.command("pre-commit")
def pre_commit() -> None:
    """Print why the staged files must not be committed; the exit code is then 1. Print nothing when they may."""
    from vault_memory.services.sync import check_staged

    if reasons := check_staged(Path.cwd()):
        echo("\n".join(reasons))
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
        echo("\n".join(conflicts), err=True)
        raise SystemExit(1)
