"""`turn`: record a turn, and show what was learned from it. `end-conversation`: keep what of many turns is worth it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import click

from vault_memory.core import payload, reading
from vault_memory.core.privacy import PRIVATE_CATEGORIES
from vault_memory.errors import UsageError
from vault_memory.interfaces.cli import Context, echo, pass_context, plural, print_json
from vault_memory.services.redactor import Redactor
from vault_memory.services.turns import (
    Recorded,
    conversation_id_at,
    new_conversation_id,
    record_turn,
    record_turns,
    validate_and_normalize,
)
from vault_memory.services.vault import Vault


@click.command()
@click.option("--user", "user_id", metavar="ID", help="Whose turn it is; with --jsonl, the user of every line.")
@click.option("--message", help="What the person said.")
@click.option("--reply", default="", help="What the assistant answered.")
@click.option("--skill", help="The skill that was in use.")
@click.option("--exit-code", type=int, help="Exit code of the skill's program; 0 is success.")
@click.option(
    "--reflection",
    metavar="TEXT|JSON",
    help='What the assistant thought of the turn afterwards: a text, or {"summary": …, "causes": […]}.',
)
@click.option("--off-record", is_flag=True, help="Keep nothing of this turn.")
@click.option(
    "--jsonl",
    "file",
    type=click.Path(path_type=Path, allow_dash=True),
    help="Record a file of turns; - is standard input.",
)
@pass_context
def turn(
    context: Context,
    user_id: str | None,
    message: str | None,
    reply: str,
    skill: str | None,
    exit_code: int | None,
    reflection: str | None,
    off_record: bool,
    file: Path | None,
) -> None:
    """Record a turn of conversation and learn from it.

    Give one turn (--user and --message) or a file of turns (--jsonl). The file has one JSON object per line, with the
    fields of a conversation record: user_id, user_message, assistant_message, reflection, created_at, skill, exit_code.
    """
    if user_id is None:
        vault = context.open(logs_wait=True)
    else:
        vault, user_id = context.open_to_write(user_id, logs_wait=True)
    if file is not None:
        if message is not None or reply or skill or exit_code is not None or reflection:
            raise UsageError(
                "--jsonl reads turns from a file: leave out --message, --reply, --skill, --exit-code and --reflection"
            )
        _replay(vault, file, user_id, record=not off_record)
        return
    if user_id is None or message is None:
        raise UsageError("give one turn with --user ID and --message TEXT, or a file of turns with --jsonl FILE")
    recorded = record_turn(
        vault,
        user_id,
        message,
        reply,
        skill=skill,
        exit_code=exit_code,
        reflection=reflection,
        record=not off_record,
    )
    _show(recorded)
    if vault.config.llm_enabled:
        _look_again(vault, recorded)


@click.command(name="end-conversation")
@click.option("--user", "user_id", metavar="ID", required=True, help="Whose conversation it is.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.argument("conversation", required=False)
@pass_context
def end_conversation(context: Context, user_id: str, as_json: bool, conversation: str | None) -> None:
    """Keep what of a conversation is worth a memory, and what it was about.

    CONVERSATION is the conversation_id of its turns; without it the turns are meant that name none. The daemon does the
    same after half an hour without a word.
    """
    from vault_memory.services.distilling import end_conversation as end

    vault, user_id = context.open_for(user_id)
    ended = end(vault, user_id, conversation)
    if as_json:
        kept = [memory.as_dict() for memory in ended.memories]
        print_json({**asdict(ended), "memories": kept})
        return
    echo(f"{plural(ended.turns, 'turn')} looked at, {len(ended.memories)} kept as memories")
    for memory in ended.memories:
        echo(f"  {memory.id}  {memory.type}  {memory.content}")
    if ended.dropped:
        echo(f"  {ended.dropped} that the model proposed left out: the person did not say so")
    if ended.summary:
        echo(f"about: {ended.summary}")
    for reason in ended.degraded:
        echo(f"degraded: {reason}", err=True)


def _look_again(vault: Vault, recorded: Recorded) -> None:
    """Ask the language model for further preferences, after the turn is recorded and its changes are printed."""
    from vault_memory.services.turns import second_look

    look = second_look(vault, recorded.user_id, recorded.source, as_of=recorded.as_of)
    for change in look.changes:
        echo(f"  {change.summary()}  「{change.quote}」 (second look)")
    for reason in look.degraded:
        echo(f"degraded: {reason}", err=True)


def _show(recorded: Recorded) -> None:
    if not recorded.source:
        echo("off the record: nothing was kept")
        return
    echo(f"kept in memory/{recorded.user_id}/{recorded.source}")
    for change in recorded.changes:
        echo(f"  {change.summary()}" + (f"  「{change.quote}」" if change.quote else ""))
    for each in recorded.suggestions:
        echo(f"  perhaps {each.summary()}: `vault-memory pref accept --user {recorded.user_id} {each.id}` says yes")
    for kept in recorded.memories:
        echo(f"  {kept.became} {kept.summary()}  ({kept.id})")
    for missed in recorded.not_forgotten:
        echo(f"  {missed}")
    if recorded.to_forget:
        command = f"vault-memory forget --user {recorded.user_id} --asked {recorded.source}"
        echo(f"  to forget it in logs, records and all else, too: `{command}` shows what would go, and asks")
    if recorded.reason:
        echo(f"  learned nothing: {recorded.reason}")
    for category, count in recorded.redactions.items():
        echo(f"  redacted: {category} ({count})")
    if not PRIVATE_CATEGORIES.isdisjoint(recorded.redactions):
        echo(f"  private facts are not learned; one to be kept belongs in a note, memory/{recorded.user_id}/notes/…")
    if recorded.paused:
        echo(f"not committed yet: {recorded.paused}", err=True)
    for reason in recorded.degraded:
        echo(f"degraded: {reason}", err=True)


def _replay(vault: Vault, file: Path, user_id: str | None, *, record: bool) -> None:
    turns = list(_turns(vault, file, user_id, record=record))
    recorded = record_turns(vault, ({**fields, "record": record} for fields in turns))
    is_quiet = not sys.stderr.isatty()
    with click.progressbar(recorded, length=len(turns), label="turns", file=sys.stderr, hidden=is_quiet) as bar:
        known, learned, remembered, degraded = 0, 0, 0, dict.fromkeys(vault.config.waits())
        for each in bar:
            known += not each.is_new
            learned += len(each.changes)
            remembered += sum(kept.became == "remembered" for kept in each.memories)
            degraded |= dict.fromkeys(each.degraded)
    more = f", {remembered:,} {'memory' if remembered == 1 else 'memories'} kept" if remembered else ""
    there = f", {known:,} of them in the record already" if known else ""
    echo(f"{plural(len(turns), 'turn')} replayed{there}, {plural(learned, 'change')} of preferences{more}")
    for reason in degraded:
        echo(f"degraded: {reason}", err=True)


def _turns(vault: Vault, file: Path, user_id: str | None, *, record: bool = True) -> Iterator[dict[str, Any]]:
    """The turns of a file, as arguments of `record_turn`. One wrong line raises `UsageError`, and so does one to be
    recorded (`record`) that holds what was erased."""
    from vault_memory.core.notes import journal

    name = "standard input" if str(file) == "-" else str(file)
    try:
        stream = sys.stdin.buffer if str(file) == "-" else file.open("rb")
        data = stream.read()
    except OSError as error:
        raise UsageError(f"cannot read {name}: {error.strerror}") from error
    rows = []
    for number, raw in enumerate(reading.lines(data), 1):
        if raw.strip():
            try:
                rows.append((number, journal.parse_line(raw.decode("utf-8-sig" if number == 1 else "utf-8"))))
            except ValueError as error:
                raise UsageError(f"{name}:{number} is not a turn ({error}); nothing was recorded") from error
    of_time: dict[str, dict[str, int]] = {}
    for number, row in journal.joined(rows):
        given = {key: value for key, value in row.items() if value not in (None, "")}
        if not (user_id or "user_id" in given):
            raise UsageError(f"{name}:{number} has no user_id: add it or give --user ID; nothing was recorded")
        try:
            fields = validate_and_normalize(
                vault, {"conversation_id": new_conversation_id(), "user_id": user_id} | given
            )
            if record and not vault.config.is_off_record(fields["user_id"]):
                vault.refuse_erased(fields["user_id"], partial(_said, fields), "this turn")
        except UsageError as error:
            raise UsageError(f"{name}:{number}: {error}; nothing was recorded") from error
        if not any(fields.get(key) for key in ("user_message", "assistant_message", "reflection", "context")):
            raise UsageError(f"{name}:{number} holds no message, reply or reflection; nothing was recorded")
        if user_id and fields["user_id"] != user_id:
            raise UsageError(
                f"{name}:{number} has the user_id {fields['user_id']!r}, and --user says {user_id!r}: leave out --user "
                "to record it for that user, or take the user_id out of the line; nothing was recorded"
            )
        if "created_at" not in given:
            del fields["created_at"]  # two lines with the time of their check would be one turn
        elif "conversation_id" not in given:
            fields |= _name_of(fields, of_time)
        yield fields


def _said(fields: Mapping[str, Any]) -> list[str]:
    """The texts of a turn as they would be kept."""
    redact = Redactor()
    return [redact(text) for text in payload.said_texts(fields)]


def _name_of(fields: Mapping[str, Any], of_time: dict[str, dict[str, int]]) -> dict[str, Any]:
    """What names a turn whose line has only a time. The second one of a time that says something else is a microsecond
    later, as `record_turn` has it, too; `of_time` are the different ones so far, by the conversation of their time."""
    conversation_id = conversation_id_at(fields["user_id"], fields["created_at"])
    others = of_time.setdefault(conversation_id, {})
    number = others.setdefault(json.dumps({**fields, "conversation_id": ""}), len(others))
    at = datetime.fromisoformat(fields["created_at"]) + timedelta(microseconds=number)
    return {"conversation_id": conversation_id, "created_at": at.isoformat()}
