"""How the commands print: lines, tables, and JSON whose characters are not escaped."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from vault_memory.config import Config


def print_json(value: Any) -> None:
    """Print one JSON value, indented, without escaping its characters."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2, default=str))


def print_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table for people; the last column takes the remaining width."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for number, heading in enumerate(headings):
        table.add_column(heading, overflow="fold", no_wrap=number == 0)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    console = Console()
    if not console.is_terminal:
        console = Console(width=200)  # a pipe has no width, and 80 columns would split what a person searches with grep
    console.print(table)


def print_waits(config: Config) -> None:
    """Say on standard error which settings of the file are not in force, for a command whose result does not."""
    for line in config.waits():
        click.echo(f"degraded: {line}", err=True)


def plural(count: int, noun: str) -> str:
    """`1 note`, `2 notes`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def show_programs(root: Path) -> None:
    """Print what the repository of the vault at `root` names that plain git would run there."""
    from vault_memory.services.admin import repository_programs

    if lines := repository_programs(root):
        click.echo("This repository names programs. vault-memory runs none of them; plain git commands of yours do:")
        for line in lines:
            click.echo(f"  {line!r}"[:200] if not line.isprintable() else f"  {line}")
