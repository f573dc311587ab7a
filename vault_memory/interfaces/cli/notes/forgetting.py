"""`forget`: take what somebody names out of every place that a prompt or a search would reach."""

from __future__ import annotations

import shlex
from datetime import date, datetime
from itertools import groupby

import click

from vault_memory.interfaces.cli import Context, echo, one_line, pass_context, plural, print_json
from vault_memory.services.forgetting import Forgetting, Forgotten, Place

MAX_SHOWN = 3
"""So many parts of each kind are shown; `--json` shows all."""
_KINDS = {
    "profile": "values and lines of the profile",
    "evidence": "lines of evidence and suggestions",
    "memory": "memories",
    "entity": "entities, or lines of them",
    "mistake": "mistakes",
    "daily": "lines of daily logs",
    "memory-log": "lines of MEMORY.md",
    "learning": "lines of LEARNING.md",
    "conversation": "turns of conversations",
    "summary": "the summary of the last conversation",
    "note": "lines of notes, or notes",
}


@click.command()
@click.option("--user", "user_id", metavar="ID", required=True, help="Whose memory.")
@click.option("--key", default="", help="Forget a preference, and what was said about it: theme, tools, …")
@click.option("--turn", default="", metavar="SOURCE", help="Forget one turn, conversations/2026-01-30.jsonl:12.")
@click.option("--asked", default="", metavar="SOURCE", help="Forget what a turn asked to forget, and that turn.")
@click.option("--since", type=click.DateTime(["%Y-%m-%d"]), metavar="DATE", help="Forget all from that day on.")
@click.option("--code", help="Forget what was shown with this code; name it in the same way again.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.argument("text", required=False, default="")
@pass_context
def forget(
    context: Context,
    user_id: str,
    key: str,
    turn: str,
    asked: str,
    since: datetime | None,
    code: str | None,
    as_json: bool,
    text: str,
) -> None:
    """Forget TEXT wherever it stands, in two steps.

    Or a preference (--key), a turn (--turn), what a turn asked to forget (--asked), everything from a day on (--since),
    or «everything about me». The first
    step changes nothing: it shows what would go, and a code that counts for five minutes, once. Git's history keeps
    what was in git: `erase` takes it out there, too.
    """
    from vault_memory.services import forgetting

    vault, user_id = context.open_for(user_id)
    day = since.date() if since else None
    if code is not None:
        done = forgetting.forget(vault, user_id, code, text=text, key=key, turn=turn, asked=asked, since=day)
        _show_done(done, as_json=as_json)
        return
    found = forgetting.prepare_forgetting(vault, user_id, text=text, key=key, turn=turn, asked=asked, since=day)
    until = found.expires_at.astimezone(vault.config.zone())
    if as_json:
        places = [{"source": each.source, "kind": each.kind, "shows": [*each.shows]} for each in found.places]
        told = {"confirmCode": found.code, "expiresAt": until.isoformat(timespec="seconds"), "places": places}
        print_json(told | {"stays": [*found.stays]})
        return
    echo("everything would be forgotten that is known about you:" if found.is_all else "would be forgotten:")
    _show_places(found)
    if found.places:
        echo("each goes with all that it says; git brings back what was in git, by the commands of the receipt")
    for line in found.stays:
        echo(f"stays: {line}")
    again = shlex.join(
        ["vault-memory", "forget", "--user", user_id, *_named(text, key, turn, asked, day), "--code", found.code]
    )
    echo(f"to forget it, until {until:%H:%M:%S}: {again}")


def _named(text: str, key: str, turn: str, asked: str, since: date | None) -> list[str]:
    if text:
        return ["--", text] if text.startswith("-") else [text]
    named = {"--key": key, "--turn": turn, "--asked": asked, "--since": str(since or "")}
    return next([option, value] for option, value in named.items() if value)


def _show_places(found: Forgetting) -> None:
    def kind(place: Place) -> int:
        return [*_KINDS].index(place.kind)

    for number, of_kind in groupby(sorted(found.places, key=kind), key=kind):
        parts = [(place.source, part) for place in of_kind for part in place.shows]
        echo(f"{len(parts):,} {[*_KINDS.values()][number]}", bold=True)
        for source, part in parts[:MAX_SHOWN]:
            echo(f"  {source}  {one_line(part)}")
        if len(parts) > MAX_SHOWN:
            echo(f"  and {len(parts) - MAX_SHOWN:,} more")


def _show_done(done: Forgotten, *, as_json: bool) -> None:
    if as_json:
        print_json(done.as_dict())
        return
    parts = sum(len(each.shows) for each in done.places)
    echo(f"forgotten: {plural(parts, 'part')} of {plural(len(done.places), 'place')}")
    if done.paused:
        echo(f"the commit waits: {done.paused}", err=True)
    for look in done.looks:
        echo(f"  {'gone' if look.is_absent else 'NOT verified'}  {look.store}: {one_line(look.says)}")
    for line in done.kept:
        echo(f"  kept  {one_line(line)}")
    for line in done.restore:
        echo(f"  back  {one_line(line)}")
    for line in done.problems:
        echo(f"not done yet, and tried again with `vault-memory heartbeat --now commits`: {line}", err=True)
