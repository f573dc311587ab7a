"""How the commands print: lines, tables, and JSON whose characters are not escaped.

Everything that a command prints goes through `echo` or `print_json`, which send no control character of a note, a path
or a message to the terminal: they are shown instead, in a pipe and a file too.
"""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vault_memory.core.text import escape_controls_in_json, show_controls

if TYPE_CHECKING:
    from vault_memory.config import Config


def echo(
    text: object = "", *, err: bool = False, nl: bool = True, fg: str | None = None, bold: bool | None = None
) -> None:
    """Print a text, its control characters shown, to standard output or standard error."""
    click.secho(show_controls(str(text)), err=err, nl=nl, fg=fg, bold=bold)


def one_line(text: str) -> str:
    """A foreign value on one line, with everything shown that is no visible character: it cannot look like another."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def print_json(value: Any) -> None:
    """Print one JSON value, indented, without escaping its characters."""
    print_json_text(json.dumps(value, ensure_ascii=False, indent=2, default=str))


def print_json_text(text: str) -> None:
    """Print a text that is JSON already."""
    click.echo(escape_controls_in_json(text))


def print_usage_error(error: click.ClickException) -> None:
    """Print what was wrong with a call, which may repeat what was typed."""
    shown = io.StringIO()
    error.show(shown)
    echo(shown.getvalue(), err=True, nl=False)


def print_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table for people; the last column takes the remaining width."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for number, heading in enumerate(headings):
        table.add_column(heading, overflow="fold", no_wrap=number == 0)
    for row in rows:
        table.add_row(*(Text(show_controls(cell)) for cell in row))
    console = Console()
    if not console.is_terminal:
        console = Console(width=200)  # a pipe has no width, and 80 columns would split what a person searches with grep
    console.print(table)


def print_waits(config: Config) -> None:
    """Say on standard error which settings of the file are not in force, for a command whose result does not."""
    for line in config.waits():
        echo(f"degraded: {line}", err=True)


def plural(count: int, noun: str) -> str:
    """`1 note`, `2 notes`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def show_programs(root: Path) -> None:
    """Print what the repository of the vault at `root` names that plain git would run there."""
    from vault_memory.services.admin import repository_programs

    if lines := repository_programs(root):
        echo("This repository names programs. vault-memory runs none of them; plain git commands of yours do:")
        for line in lines:
            echo(f"  {one_line(line)[:200]}")
