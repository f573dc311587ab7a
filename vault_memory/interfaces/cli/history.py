"""`history`: the changes of preferences. `log`, `blame`, `diff`: the commits on any file."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path, PurePosixPath

import click

from vault_memory.core import layout, reading
from vault_memory.interfaces.cli import Context, echo, pass_context, print_json, print_table
from vault_memory.services.vault import Vault

_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_limit = click.option(
    "-n", "--limit", type=click.IntRange(1, 10_000), default=20, show_default=True, help="Show at most so many entries."
)


@click.command()
@click.option("--user", "user_id", metavar="ID", required=True, help="Whose preferences.")
@_limit
@_json
@click.argument("key", required=False)
@pass_context
def history(context: Context, user_id: str, limit: int, as_json: bool, key: str | None) -> None:
    """Show who changed which preference, when and why.

    Newest first. With KEY, such as theme, only the changes of that preference.
    """
    from vault_memory.services.profiles import history as preference_history

    vault, user_id = context.open_for(user_id)
    entries = preference_history(vault, user_id, key, limit=limit)
    zone = vault.config.zone()
    if as_json:
        print_json([asdict(entry) | {"at": entry.at.astimezone(zone).isoformat()} for entry in entries])
        return
    if not entries:
        echo("no preference has changed yet")
        return
    rows = []
    for e in entries:
        when, why = f"{e.at.astimezone(zone):%Y-%m-%d %H:%M}", e.reason or e.strength
        rows.append([when, e.author, e.key, _change(e.op, e.old, e.new), why, e.source, e.commit[:8]])
    print_table(["when", "who", "key", "change", "why", "where", "commit"], rows)


def _change(op: str, old: str, new: str) -> str:
    if op in ("strengthen", "weaken"):
        return f"{new}: {'strong' if op == 'strengthen' else 'no longer strong'}"
    return f"{old or '—'} → {new or '—'}"


@click.command()
@_limit
@_json
@click.argument("path", required=False)
@pass_context
def log(context: Context, limit: int, as_json: bool, path: str | None) -> None:
    """Show the newest commits on PATH, a file or a folder, or on the whole vault. PATH may be deleted."""
    from vault_memory.services.notes import file_log

    vault = context.open()
    zone = vault.config.zone()
    entries = file_log(vault, vault_path(vault, path) if path else None, limit=limit)
    if as_json:
        print_json([asdict(entry) | {"time": entry.time.astimezone(zone).isoformat()} for entry in entries])
        return
    rows = [[f"{e.time.astimezone(zone):%Y-%m-%d %H:%M}", e.author, e.commit[:8], e.subject, e.reason] for e in entries]
    print_table(["when", "who", "commit", "what", "why"], rows)


@click.command()
@_json
@click.argument("path")
@pass_context
def blame(context: Context, as_json: bool, path: str) -> None:
    """Show who wrote each line of PATH, when and why."""
    from vault_memory.services.notes import file_blame

    vault = context.open()
    zone = vault.config.zone()
    lines = file_blame(vault, vault_path(vault, path))
    if as_json:
        print_json([{"line": b.number, "text": b.text, "commit": asdict(b.entry) if b.entry else None} for b in lines])
        return
    rows = []
    for b in lines:
        if b.entry:
            columns = [f"{b.entry.time.astimezone(zone):%Y-%m-%d}", b.entry.author, b.entry.commit[:8]]
        else:
            columns = ["", "", "not committed"]
        rows.append([str(b.number), *columns, b.text, b.entry.reason if b.entry else ""])
    print_table(["line", "when", "who", "commit", "text", "why"], rows)


@click.command()
@click.option(
    "--from",
    "since",
    metavar="COMMIT|DATE",
    default="",
    help="The older version. Default: before the last commit on PATH.",
)
@click.option(
    "--to", "until", metavar="COMMIT|DATE", default="", help="The newer version. Default: the file as it is now."
)
@click.argument("path")
@pass_context
def diff(context: Context, since: str, until: str, path: str) -> None:
    """Show what changed in PATH: in its last commit and since then, or between two commits or dates."""
    from vault_memory.services.notes import file_diff

    vault = context.open()
    for line in reading.lines(file_diff(vault, vault_path(vault, path), since, until)):
        colour = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1]) if line[:3] not in ("+++", "---") else None
        echo(line, fg=colour)


def vault_path(vault: Vault, text: str) -> PurePosixPath:
    """The vault-relative path of `text`: relative to the current folder if that is in the vault, else to the vault."""
    absolute = Path(os.path.abspath(text))
    relative = absolute.relative_to(vault.root) if absolute.is_relative_to(vault.root) else Path(text)
    vault.path(layout.SHARED, relative.as_posix())  # refuses a path outside the vault
    return PurePosixPath(relative.as_posix())
