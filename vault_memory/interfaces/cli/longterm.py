"""`longterm`: turns in the tables of a PostgreSQL, such as Supabase's."""

from __future__ import annotations

import sys
from dataclasses import asdict
from datetime import datetime

import click

from vault_memory.core.reading import lines
from vault_memory.interfaces.cli import Context, echo, pass_context, plural, print_json, print_waits

_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group()
def longterm() -> None:
    """Send turns to the tables of your own PostgreSQL or Supabase, and see what waits."""


@longterm.command(short_help="See whether the mapped tables can be written.")
@_json
@pass_context
def check(context: Context, as_json: bool) -> None:
    """Look in the database whether the mapped tables can be written. Nothing is written.

    It exits with 1 if one of them cannot."""
    from vault_memory.services.longterm import check_long_term

    vault = context.open()
    print_waits(vault.config)
    tables = [*check_long_term(vault)]
    if as_json:
        print_json([asdict(table) for table in tables])
    for table in [] if as_json else tables:
        echo(f"{table.logical} → {table.table}: {'cannot be written' if table.problems else 'can be written'}")
        for problem in table.problems:
            echo(f"  {problem}")
        if not table.problems and not table.is_keyed:
            echo(
                "  it has no unique key by conversation and time: writing there takes a lock, and only adds what is not"
            )
            echo("  there; `vault-memory longterm print-ddl` shows the statement that makes the key")
    if any(table.problems for table in tables):
        sys.exit(1)


@longterm.command(short_help="Send the turns that wait.")
@click.option("--since", type=click.DateTime(["%Y-%m-%d"]), metavar="DAY", help="Send recorded turns from DAY on, too.")
@_json
@pass_context
def flush(context: Context, since: datetime | None, as_json: bool) -> None:
    """Send the turns that wait, which the daemon does by itself each minute.

    With --since all recorded turns from that day on, such as those from before it was enabled; none is in the database
    twice."""
    from vault_memory.services.erasing import reach_again
    from vault_memory.services.longterm import flush_long_term, note_since

    vault = context.open()
    print_waits(vault.config)
    if since is not None:
        count = note_since(vault, since.date())
        if not as_json:
            echo(f"{plural(count, 'turn')} of the records to be sent")
    if waits := reach_again(vault, long_term=True):
        echo(waits, err=True)
    done = flush_long_term(vault)
    if as_json:
        print_json(asdict(done))
    else:
        echo(f"{plural(done.sent, 'turn')} sent, {done.waiting:,} waiting")
        if done.refused:
            echo(f"{done.refused:,} refused: `vault-memory longterm status` says why", err=True)
    if done.refused:
        sys.exit(1)


@longterm.command("status")
@_json
@pass_context
def longterm_status(context: Context, as_json: bool) -> None:
    """Show what waits, and why. The database is not asked."""
    from vault_memory.services.erasing import still_to_erase
    from vault_memory.services.longterm import long_term_state

    vault = context.open()
    print_waits(vault.config)
    state = long_term_state(vault)
    if as_json:
        print_json({**asdict(state), "to_erase": still_to_erase(vault)})
        return
    echo(f"enabled: {'yes' if state.is_enabled else 'no'}")
    oldest = f", the oldest of {state.counts.oldest}" if state.counts.oldest else ""
    echo(f"waiting: {plural(state.counts.waiting, 'turn')}{oldest}")
    if state.counts.begun:
        until = f"sent when it comes, at the latest {state.counts.begun_until}"
        echo(f"  {state.counts.begun:,} without an answer yet: {until}")
    for reason, count in state.counts.reasons:
        echo(f"  {count:,} refused: {reason}")
    if state.last_round:
        echo(f"last round: {state.last_round}, {plural(state.last_sent, 'turn')} sent")
    if state.problem:
        echo(f"  {state.problem}")
    if waits := still_to_erase(vault):
        echo(waits)


@longterm.command("print-ddl", short_help="Print SQL that would make the tables.")
@pass_context
def print_ddl(context: Context) -> None:
    """Print SQL that would make the mapped tables, for you to run. vault-memory itself never makes or changes one."""
    from vault_memory.services.longterm import tables_ddl

    for line in lines(tables_ddl(context.open())):
        echo(line)
