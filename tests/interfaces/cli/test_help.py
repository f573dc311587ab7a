"""What `--help` prints for every command: it fits a terminal, no summary is cut off, every option says what it does."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest

from vault_memory.interfaces.cli import cli

TERMINAL_COLUMNS = 80


def contexts(command: click.Command, name: str, parent: click.Context | None = None) -> Iterator[click.Context]:
    """A context for `command` and for each command below it; those that only git calls are not listed."""
    context = click.Context(command, info_name=name, parent=parent, terminal_width=TERMINAL_COLUMNS)
    yield context
    if isinstance(command, click.Group):
        for child_name in command.list_commands(context):
            child = command.get_command(context, child_name)
            assert child is not None
            yield from contexts(child, child_name, context)


CONTEXTS = list(contexts(cli, "vault-memory"))
each_command = pytest.mark.parametrize("context", CONTEXTS, ids=[context.command_path for context in CONTEXTS])


@each_command
def test_help_fits_a_terminal_and_is_whole(context: click.Context) -> None:
    lines = context.get_help().splitlines()
    assert [line for line in lines if len(line) > TERMINAL_COLUMNS] == []
    assert [line for line in lines if line.endswith("...") and not line.startswith("Usage:")] == []
    assert context.command.help


@each_command
def test_every_option_says_what_it_does(context: click.Context) -> None:
    options = (parameter for parameter in context.command.params if isinstance(parameter, click.Option))
    assert [option.opts for option in options if not option.help] == []
