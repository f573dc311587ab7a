"""`pref set|unset|list|history|blame|restore|suggestions|accept|dismiss|explain` and `undo`."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from itertools import groupby, islice
from operator import attrgetter

import click

from vault_memory.core.profile import Change
from vault_memory.errors import UsageError
from vault_memory.interfaces.cli import Context, echo, one_line, pass_context, plural, print_json, print_table
from vault_memory.interfaces.cli.history import history
from vault_memory.services import profiles, turns

MIN_SHOWN_CHANCE = 0.05
"""Less likely proposals are shown as JSON only."""
_user = click.option("--user", "user_id", metavar="ID", required=True, help="Whose preferences.")
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group()
def pref() -> None:
    """Show, set and restore preferences; `history` and `blame` show where a value comes from."""


pref.add_command(history)


@pref.command("list")
@_user
@_json
@pass_context
def list_(context: Context, user_id: str, as_json: bool) -> None:
    """Show every preference that is set."""
    vault, user_id = context.open_for(user_id)
    found = profiles.list_preferences(vault, user_id)
    if as_json:
        print_json([{"key": p.key, "value": p.value, "suggested_default": p.strong} for p in found])
        return
    for key, values in groupby(found, key=attrgetter("key")):
        echo(f"{key} = {', '.join(p.value + (' (strong)' if p.strong else '') for p in values)}")
    if waiting := profiles.list_suggestions(vault, user_id):
        echo(f"{plural(len(waiting), 'suggestion')} more: `vault-memory pref suggestions --user {user_id}`", err=True)


@pref.command("set")
@_user
@click.argument("key")
@click.argument("value")
@pass_context
def set_(context: Context, user_id: str, key: str, value: str) -> None:
    """Set KEY to VALUE, or add VALUE to a list. The change is committed under your name."""
    vault, user_id = context.open_to_write(user_id)
    _show(profiles.set_preference(vault, user_id, key, value))


@pref.command()
@_user
@click.argument("key")
@click.argument("value", required=False)
@pass_context
def unset(context: Context, user_id: str, key: str, value: str | None) -> None:
    """Remove VALUE from KEY, or all its values."""
    vault, user_id = context.open_for(user_id)
    _show(profiles.unset_preference(vault, user_id, key, value))


@pref.command()
@_user
@_json
@click.argument("key")
@pass_context
def blame(context: Context, user_id: str, as_json: bool, key: str) -> None:
    """Show who set KEY, when, and the sentence it was learned from."""
    vault, user_id = context.open_for(user_id)
    found = profiles.blame(vault, user_id, key)
    zone = vault.config.zone()
    if as_json:
        print_json(
            [asdict(b.change) | {"at": b.change.at.astimezone(zone).isoformat(), "said": b.message} for b in found]
        )
        return
    for b in found:
        when = f"{b.change.at.astimezone(zone):%Y-%m-%d %H:%M}"
        echo(f"{key} = {b.change.new}")
        echo(f"  {b.change.author}, {when}, commit {b.change.commit[:8]} ({b.change.strength})")
        if b.message is not None:
            echo(f"  {b.change.source}: 「{b.message}」")
        elif b.change.reason:
            echo(f"  {b.change.reason}")
    if not found:
        echo(f"{key}: no commit set its value")


@pref.command()
@_user
@_json
@click.argument("message")
@click.option("--after", "reply", metavar="TEXT", default="", help="The reply that MESSAGE follows.")
@pass_context
def explain(context: Context, user_id: str, as_json: bool, message: str, reply: str) -> None:
    """Show what MESSAGE would teach, and why.

    Each proposal has its chance, who made it and what weighed most. Nothing is recorded.
    """
    vault, user_id = context.open_for(user_id)
    found = turns.explain_message(vault, user_id, message, reply)
    if as_json:
        print_json(found)
        return
    for row in [row for row in found if row["chance"] >= MIN_SHOWN_CHANCE]:
        echo(f"{row['key']} {row['op']} {one_line(row['value'])}: {row['decision']}, chance {row['chance']:.2f}")
        echo(f"  proposed by {row['proposed_by']}, score by its words {row['score']:+.2f}")
        for side in ("for", "against"):
            weighed = ", ".join(f"{one_line(name)!r} {value:+.2f}" for name, value in row[side].items())
            echo(f"  {side}: {weighed or '-'}")
    if not any(row["chance"] >= MIN_SHOWN_CHANCE for row in found):
        echo("nothing in it is likely to be a preference")


@pref.command()
@_user
@click.argument("key")
@click.option("--to", "commit", metavar="COMMIT", help="Take the value of this commit.")
@click.option("--date", metavar="YYYY-MM-DD[THH:MM]", help="Take the value of this moment.")
@pass_context
def restore(context: Context, user_id: str, key: str, commit: str | None, date: str | None) -> None:
    """Bring back the value that KEY had at a commit or a date.

    Nothing else in the profile changes.
    """
    if (commit is None) == (date is None):
        raise UsageError("give either --to COMMIT or --date YYYY-MM-DD")
    vault, user_id = context.open_for(user_id)
    if date is not None:
        try:
            moment = datetime.fromisoformat(date)
        except ValueError as error:
            raise UsageError(f"--date must be like 2026-01-30 or 2026-01-30T14:00, not {date!r}") from error
        if len(date) <= len("2026-01-30"):
            moment = moment.replace(hour=23, minute=59, second=59)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=vault.config.zone())
        commit = profiles.commit_at(vault, user_id, key, moment)
    assert commit is not None
    _show(profiles.restore_preference(vault, user_id, key, commit))


@pref.command(short_help="Show what was heard and is in doubt.")
@_user
@_json
@pass_context
def suggestions(context: Context, user_id: str, as_json: bool) -> None:
    """Show what was heard and is in doubt: it is in no profile until it is heard again, or you accept it."""
    vault, user_id = context.open_for(user_id)
    found = profiles.list_suggestions(vault, user_id)
    if as_json:
        print_json([{"id": each.id} | asdict(each) for each in found])
        return
    for each in found:
        quote = f"  「{one_line(each.quote)}」" if each.quote else ""
        echo(f"{each.id}  {one_line(each.summary())}{quote}  {each.source}, {each.created_at[:16].replace('T', ' ')}")
    if found:
        echo(f"`vault-memory pref accept --user {user_id} ID` writes one; `pref dismiss` says no for good", err=True)
    else:
        echo("nothing waits for a decision")


@pref.command()
@_user
@click.argument("names", metavar="ID...", nargs=-1, required=True)
@pass_context
def accept(context: Context, user_id: str, names: tuple[str, ...]) -> None:
    """Write suggestions into the profile, under your name. ID is that of `pref suggestions`, or a key."""
    vault, user_id = context.open_for(user_id)
    for name in names:
        _show(profiles.accept_suggestion(vault, user_id, name))


@pref.command()
@_user
@click.argument("names", metavar="ID...", nargs=-1, required=True)
@pass_context
def dismiss(context: Context, user_id: str, names: tuple[str, ...]) -> None:
    """Say no to suggestions for good. ID is that of `pref suggestions`, or a key."""
    vault, user_id = context.open_for(user_id)
    for name in names:
        echo(f"not {profiles.dismiss_suggestion(vault, user_id, name).summary()}")


@click.command()
@_user
@click.option("--list", "is_list", is_flag=True, help="Show what was learned, and what of it is left to undo.")
@click.option("-n", "--limit", type=click.IntRange(1, 1_000), default=20, show_default=True, help="List so many.")
@_json
@pass_context
def undo(context: Context, user_id: str, is_list: bool, limit: int, as_json: bool) -> None:
    """Undo the last thing that the assistant learned: a preference or a memory.

    Again for the one before. What you have changed since is yours and stays.
    """
    from vault_memory.services import undoing

    vault, user_id = context.open_for(user_id)
    if not is_list:
        done = undoing.undo(vault, user_id)
        print_json({"done": done}) if as_json else echo(done)
        return
    found = [*islice(undoing.steps(vault, user_id), limit)]
    zone = vault.config.zone()
    if as_json:
        names = ("commit", "did", "reason", "source", "state")
        print_json([{n: getattr(s, n) for n in names} | {"at": s.at.astimezone(zone).isoformat()} for s in found])
        return
    if not found:
        echo("nothing was learned yet")
        return
    rows = [
        [f"{s.at.astimezone(zone):%Y-%m-%d %H:%M}", s.state, s.did, s.reason, s.source, s.commit[:8]] for s in found
    ]
    print_table(["when", "now", "what", "why", "where", "commit"], rows)


def _show(changes: list[Change]) -> None:
    for change in changes:
        echo(change.summary())
    if not changes:
        echo("nothing to change: the value is the same already")
