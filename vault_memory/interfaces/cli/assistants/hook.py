"""`hook`: what git's hooks and those of assistants call. A person waits for each, so little is imported here."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from vault_memory.interfaces.cli import Context, echo, pass_context

MAX_EVENT_BYTES = 16 << 20


@click.group()
def hook() -> None:
    """Commands that the hooks of git and of assistants call."""


@hook.command("pre-commit")
def pre_commit() -> None:
    """Print why the staged files must not be committed; the exit code is then 1. Print nothing when they may."""
    from vault_memory.services.sync import check_staged

    if reasons := check_staged(Path.cwd()):
        for reason in reasons:
            echo(reason)
        raise SystemExit(1)


@hook.command()
@click.argument("client")
@click.option("--user", "name", metavar="ID", required=True, help="Whose memory it is.")
@pass_context
def event(context: Context, client: str, name: str) -> None:
    """Give an assistant what bears on the event that comes as JSON on standard input, and record what was said.

    It says nothing of what goes wrong, and the exit code is 0: `vault-memory status` tells.
    """
    from vault_memory.core.clients import read_hook_event
    from vault_memory.services.sessions import ask

    root = Path(context.vault_path or ".").resolve()
    told = ""
    try:
        given = sys.stdin.buffer.read(MAX_EVENT_BYTES + 1)
        told = "event"
        happened = read_hook_event(client, json.loads(given[:MAX_EVENT_BYTES]))
        if happened is None:
            return
        told = happened.name
        if answer := happened.answer(ask(root, name, happened)):
            click.echo(answer)
    except Exception as error:  # whatever it is: an assistant would show it to the person, or stop
        _note(root, client, told, error)


def _note(root: Path, client: str, event: str, error: Exception) -> None:
    from datetime import datetime

    from vault_memory.core import layout
    from vault_memory.services.assistants import note_heard

    if (root / layout.SETTINGS_FILE).is_file():  # else it was moved, and nothing is made where it was
        note_heard(root, client[:60], event, datetime.now().astimezone(), f"{type(error).__name__}: {error}")


@hook.command()
@click.option("--began", default="", hidden=True)
@pass_context
def answer(context: Context, began: str) -> None:
    """Answer the hooks of assistants until nobody has asked for half an hour. `hook event` starts this."""
    from vault_memory.services.sessions import answer_hooks

    answer_hooks(context.open(logs_wait=True), began=began)
