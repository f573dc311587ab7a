"""`history`: the preferences' own log."""

from __future__ import annotations

from dataclasses import asdict

import click

from vault_memory.interfaces.cli import Context, pass_context
from vault_memory.interfaces.cli.output import print_json, print_table


@click.command()
@click.option("--user", "user_id", metavar="ID", required=True)
@click.option("-n", "--limit", type=click.IntRange(1, 10_000), default=20, show_default=True, help="Most entries.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.argument("key", required=False)
@pass_context
def history(context: Context, user_id: str, limit: int, as_json: bool, key: str | None) -> None:
    """Show who changed which preference, when and why, newest first; with KEY, of that one (theme, say)."""
    from vault_memory.services.audit import history as read

    vault = context.open()
    entries = read(vault, user_id, key, limit=limit)
    zone = vault.config.zone()
    if as_json:
        print_json([asdict(entry) | {"at": entry.at.astimezone(zone).isoformat()} for entry in entries])
        return
    if not entries:
        click.echo("no preference has changed yet")
        return
    print_table(
        ["when", "who", "key", "change", "why", "where", "commit"],
        [
            [f"{e.at.astimezone(zone):%Y-%m-%d %H:%M}", e.author, e.key, _change(e.op, e.old, e.new), e.reason or e.strength, e.source, e.commit[:8]]
            for e in entries
        ],
    )  # fmt: skip


def _change(op: str, old: str, new: str) -> str:
    if op in ("strengthen", "weaken"):
        return f"{new}: {'strong' if op == 'strengthen' else 'no longer strong'}"
    return f"{old or '—'} → {new or '—'}"
