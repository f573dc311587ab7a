"""`turn`: record what was said, and show what was learned from it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from vault_memory.errors import UsageError
from vault_memory.interfaces.cli import Context, pass_context
from vault_memory.interfaces.cli.output import plural
from vault_memory.services.turns.record_turn import Recorded, record_turn
from vault_memory.services.vault import Vault


@click.command()
@click.option("--user", "user_id", metavar="ID", help="Whose turn it is; with --jsonl, of lines that name nobody.")
@click.option("--message", help="What the person said.")
@click.option("--reply", default="", help="What the assistant answered.")
@click.option("--skill", help="The skill that was at work.")
@click.option("--exit-code", type=int, help="How the program behind the reply ended; 0 is success.")
@click.option("--off-record", is_flag=True, help="Keep nothing at all of this turn.")
@click.option(
    "--jsonl", "file", type=click.Path(path_type=Path, allow_dash=True), help="Replay a file of turns; - for stdin."
)
@pass_context
def turn(
    context: Context, user_id: str | None, message: str | None, reply: str, skill: str | None, exit_code: int | None,
    off_record: bool, file: Path | None,
) -> None:  # fmt: skip
    """Record a turn of conversation and learn from it.

    Either one turn (--user and --message), or a file of turns, one JSON object a line with the fields of a conversation
    record: user_id, user_message, assistant_message, created_at, skill, exit_code.
    """
    vault = context.open()
    if file is not None:
        if message is not None or reply or skill or exit_code is not None:
            raise UsageError(
                "--jsonl takes its turns from the file: leave --message, --reply, --skill and --exit-code out"
            )
        _replay(vault, file, user_id, record=not off_record)
        return
    if user_id is None or message is None:
        raise UsageError("name the person and what was said: --user ID --message TEXT, or a file with --jsonl FILE")
    recorded = record_turn(vault, user_id, message, reply, skill=skill, exit_code=exit_code, record=not off_record)
    _index(vault, user_id, recorded.sources)
    _show(user_id, recorded)
    if vault.config.llm_enabled:
        _look_again(vault, user_id, recorded.source)


def _look_again(vault: Vault, user_id: str, source: str) -> None:
    """Let the language model look too, now that everything of the turn is kept and told."""
    from vault_memory.services.turns.second_look import second_look

    look = second_look(vault, user_id, source)
    _index(vault, user_id, look.sources)
    for change in look.changes:
        click.echo(f"  {change.summary()}  「{change.quote}」 (second look)")
    for reason in look.degraded:
        click.echo(f"degraded: {reason}", err=True)


def _show(user_id: str, recorded: Recorded) -> None:
    if not recorded.source:
        click.echo("off the record: nothing was kept")
        return
    click.echo(f"kept in memory/{user_id}/{recorded.source}")
    for change in recorded.changes:
        click.echo(f"  {change.summary()}" + (f"  「{change.quote}」" if change.quote else ""))
    for category, count in recorded.withheld.items():
        click.echo(f"  withheld: {category} ({count})")
    if recorded.paused:
        click.echo(f"written, not committed yet: {recorded.paused}", err=True)


def _replay(vault: Vault, file: Path, user_id: str | None, *, record: bool) -> None:
    turns = list(_turns(file, user_id))
    sources: dict[str, set[str]] = {}
    learned = 0
    with click.progressbar(turns, label="turns", file=sys.stderr) as bar:
        for fields in bar:
            recorded = record_turn(vault, record=record, **fields)
            sources.setdefault(fields["user_id"], set()).update(recorded.sources)
            learned += len(recorded.changes)
    for user, touched in sources.items():
        _index(vault, user, touched)
    click.echo(f"{plural(len(turns), 'turn')} replayed, {plural(learned, 'change')} of preferences")


def _turns(file: Path, user_id: str | None) -> Iterator[dict[str, Any]]:
    """The turns of a file as arguments of `record_turn`; all lines are checked before the first turn is recorded."""
    from vault_memory.core.notes.conversation import parse_line

    name = "standard input" if str(file) == "-" else str(file)
    try:
        stream = sys.stdin.buffer if str(file) == "-" else file.open("rb")
        data = stream.read()
    except OSError as error:
        raise UsageError(f"cannot read {name}: {error.strerror}") from error
    for number, raw in enumerate(data.split(b"\n"), 1):
        if not raw.strip():
            continue
        try:
            row = parse_line(raw.decode("utf-8"))
            fields = {
                "user_id": row.get("user_id") or user_id,
                "user_message": row.get("user_message") or "",
                "assistant_message": row.get("assistant_message") or "",
                "created_at": datetime.fromisoformat(row["created_at"]).astimezone() if row.get("created_at") else None,
                "conversation_id": row.get("conversation_id"),
                "reflection": row.get("reflection"),
                "skill": row.get("skill"),
                "backend": row.get("backend"),
                "exit_code": row.get("exit_code"),
            }
        except (ValueError, TypeError) as error:
            raise UsageError(f"{name}:{number} is no turn ({error}): nothing was recorded") from error
        for key, value in fields.items():
            wanted = {"created_at": datetime, "reflection": dict, "exit_code": int}.get(key, str)
            if value is not None and not isinstance(value, wanted):
                raise UsageError(f"{name}:{number}: {key} must be {wanted.__name__}: nothing was recorded")
        if not fields["user_id"]:
            raise UsageError(f"{name}:{number} names no user_id, and --user gives none: nothing was recorded")
        yield fields


def _index(vault: Vault, user_id: str, sources: Any) -> None:
    from vault_memory.services.indexing.reconcile import reconcile

    if sources:
        reconcile(vault, user_id, sorted(sources))
