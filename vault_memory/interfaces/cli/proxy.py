"""`proxy log`: what became of the last requests to the chat proxy."""

from __future__ import annotations

import contextlib
import json
import sys
from datetime import datetime
from typing import Any

import click

from vault_memory.interfaces.cli import Context, echo, pass_context, print_json, print_json_text


@click.group()
def proxy() -> None:
    """Look at what the chat proxy did."""


@proxy.command(short_help="Show what became of the last requests.")
@click.option("-n", "--limit", type=click.IntRange(0, 100_000), default=20, show_default=True, help="How many at most.")
@click.option("--follow", is_flag=True, help="Go on with those that come, until Ctrl-C.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON; with --follow a line for each request.")
@pass_context
def log(context: Context, limit: int, follow: bool, as_json: bool) -> None:
    """Show the last requests: who asked what, with which memory, and whether a turn was made of it. No contents."""
    from vault_memory.services.proxy import last_requests

    rows = last_requests(context.open().root, limit, follow=follow)
    if as_json and not follow:
        print_json([*rows])
        return
    for row in rows:
        if as_json:
            print_json_text(json.dumps(row, ensure_ascii=False))
        else:
            echo("  ".join(_columns(row)))
        sys.stdout.flush()


def _columns(row: dict[str, Any]) -> list[str]:
    """What a row says, the parts that every row has first."""
    at = str(row.get("time", ""))
    with contextlib.suppress(ValueError):
        at = f"{datetime.fromisoformat(at):%m-%d %H:%M:%S}"
    always = [str(row.get(name) or "-") for name in ("user", "client", "door", "model", "status")]
    named = [f"{name}: {row[name]}" for name in ("memory", "turn", "conversation") if row.get(name)]
    return [at, *always, f"{row.get('ms', 0)} ms", *named]
