"""`hook` and `merge-driver`: what git calls. No person types these."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import click


@click.group()
def hook() -> None:
    """What the vault's git hooks call."""


@hook.command("pre-commit")
def pre_commit() -> None:
    """Print why the staged files should not be committed, and end with 1; nothing when all is well."""
    from vault_memory.services.sync.check_staged import check_staged

    if reasons := check_staged(Path.cwd()):
        click.echo("\n".join(reasons))
        raise SystemExit(1)


@click.command("merge-driver")
@click.argument("base", type=click.Path(path_type=Path))
@click.argument("ours", type=click.Path(path_type=Path))
@click.argument("theirs", type=click.Path(path_type=Path))
@click.argument("name", metavar="PATH")
def merge_driver(base: Path, ours: Path, theirs: Path, name: str) -> None:
    """Merge two USER.md into the file OURS; ends with 1 when a person must decide."""
    from vault_memory.services.sync.merge_driver import merge_driver as merge

    if conflicts := merge(base, ours, theirs, PurePosixPath(name)):
        click.echo("\n".join(conflicts), err=True)
        raise SystemExit(1)
