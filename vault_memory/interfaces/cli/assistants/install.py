"""`install` and `uninstall`: connect an assistant on this machine with a vault, and take that back."""

from __future__ import annotations

import difflib
import getpass
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vault_memory.core import reading
from vault_memory.core.assistants import ASSISTANTS, RULES_LOCALES
from vault_memory.errors import UsageError, VaultMemoryError
from vault_memory.interfaces.cli import Context, echo, pass_context

if TYPE_CHECKING:
    from vault_memory.services.assistants import Edit

_CLIENT = click.Choice([*ASSISTANTS])


@click.command()
@click.option("--write", is_flag=True, help="Write what is shown.")
@click.option("--user", "name", metavar="ID", help="Whose memory it is. Default: your login name.")
@click.option("--rules", type=click.Choice(RULES_LOCALES), help="Also tell the model when to remember and recall.")
@click.option("--list", "as_list", is_flag=True, help="Show which assistants are connected, and whether it answers.")
@click.argument("client", type=_CLIENT, required=False)
@pass_context
def install(
    context: Context, write: bool, name: str | None, rules: str | None, as_list: bool, client: str | None
) -> None:
    """Connect the assistant CLIENT with this vault, or the only one here: its tools, and hooks where it has them.

    Shows what would change in the assistant's own files; --write changes them, and keeps a copy of each beside it.
    """
    if as_list:
        _print_list()
        return
    if client is None:
        raise UsageError(f"name an assistant: {', '.join(ASSISTANTS)}; --list shows which are connected")
    from vault_memory.services.assistants import connect
    from vault_memory.services.vault import find_vault

    context.vault_path = str(find_vault(given=context.vault_path, or_only=True))
    vault = context.open()
    user_id = vault.new_user(vault.user_of(name or getpass.getuser()))
    vault.refuse_former(user_id)
    assistant = ASSISTANTS[client]
    is_new = "" if vault.is_user(user_id) else ", who is new: the first thing that is kept makes the user"
    echo(f"{assistant.title} gets the memory of {user_id} in {vault.root}{is_new}", err=True)
    _do(connect(vault, client, user_id, rules or ""), "is connected already", write=write)
    if assistant.rules and not rules:
        echo(f"to tell the model when to remember and recall, too: --rules {vault.config.locale or 'zh-TW'}", err=True)
    if client == "codex":
        echo("Codex asks once whether it may run new hooks: its command /hooks shows them", err=True)


@click.command()
@click.option("--write", is_flag=True, help="Write what is shown.")
@click.argument("client", type=_CLIENT)
def uninstall(write: bool, client: str) -> None:
    """Take back what `install` has written for the assistant CLIENT. The memory itself stays. Exit code 1 where a file
    has to stay as it is; the others are undone all the same."""
    from vault_memory.services.assistants import disconnect

    edits = disconnect(client)
    problems = [each.problem for each in edits if each.problem]
    if len(problems) < len(edits) or not edits:
        _do([each for each in edits if not each.problem], "is not connected", write=write)
    for problem in problems:
        echo(f"not taken back: {problem}; then run `vault-memory uninstall {client} --write` again", err=True)
    if problems:
        raise SystemExit(1)


def _do(edits: Sequence[Edit], nothing: str, *, write: bool) -> None:
    from vault_memory.services.assistants import write_edits

    if not edits:
        echo(f"nothing to change: it {nothing}")
        return
    for edit in edits:
        if edit.after == edit.before:
            echo(f"left over beside {edit.path}: {', '.join(each.name for each in edit.spent)}")
        for line in _diff(edit):
            echo(line, fg="green" if line.startswith("+") else "red" if line.startswith("-") else None)
    if not write:
        echo("nothing was written; --write writes it", err=True)
        return
    write_edits(edits)
    for edit in edits:
        if edit.after == edit.before:
            echo(f"{', '.join(each.name for each in edit.spent)} in {edit.path.parent} is deleted: left over", err=True)
            continue
        copy = f"; as it was before: {edit.copy}" if edit.copy else ""
        echo(f"{edit.path} is {'deleted' if edit.after is None else 'written'}{copy}", err=True)
    echo("start the assistant again", err=True)


def _diff(edit: Edit) -> list[str]:
    before, after = (reading.lines((each or b"").decode("utf-8", "replace")) for each in (edit.before, edit.after))
    old = "/dev/null" if edit.before is None else str(edit.path)
    new = "/dev/null" if edit.after is None else str(edit.path)
    return list(difflib.unified_diff(before, after, old, new, n=1, lineterm=""))


def _print_list() -> None:
    from vault_memory.services.assistants import connections

    for each in connections():
        if each.problem and not each.command:
            echo(f"{each.client:<15} cannot be read: {each.problem}")
        elif not each.command:
            echo(f"{each.client:<15} {'not connected' if each.is_here else 'not found on this machine'}")
        else:
            hooks = ", with hooks" if each.has_hooks else ""
            echo(f"{each.client:<15} {each.user or '(login name)'} in {each.vault}{hooks}: {each.problem or 'answers'}")
            for line in _last_heard(each.vault, each.client):
                echo(f"{'':<15} {line}")


def _last_heard(vault: str, client: str) -> list[str]:
    from vault_memory.services.assistants import heard_hooks

    try:
        found = [each for each in heard_hooks(Path(vault)) if each.client == client]
    except VaultMemoryError as error:
        return [str(error)]
    lines = [f"{each.event}: {each.problem}, {each.at}" for each in found if each.problem]
    if found:
        last = max(reversed(found), key=lambda each: each.at)
        lines.insert(0, f"last heard {last.at} ({last.event})")
    return lines
