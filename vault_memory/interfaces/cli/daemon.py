"""`watch`: the daemon alone, beside somebody's own proxy."""

from __future__ import annotations

import signal
import sys
import threading
from datetime import datetime

import click

from vault_memory.interfaces.cli import Context, pass_context
from vault_memory.services.bulletin import Happening
from vault_memory.services.daemon import Daemon


@click.command()
@pass_context
def watch(context: Context) -> None:
    """Follow every edit of the vault: index it at once, commit it as yours once it has come to rest.

    One daemon per vault. Ctrl-C stops it.
    """
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    Daemon(context.open(), _tell).run(stop)


def _tell(happening: Happening) -> None:
    line = f"{datetime.now():%H:%M:%S}  {happening.kind:<9} {happening.where}: {happening.message}"
    click.echo(line, err=happening.kind in ("trouble", "failed"))
    sys.stdout.flush()
