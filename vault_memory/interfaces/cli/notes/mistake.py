"""`mistake add|list|patterns`: what the assistant did wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import click

from vault_memory.core.mistakes import TEXTS, Pattern
from vault_memory.core.reading import lines
from vault_memory.interfaces.cli import Context, echo, one_line, pass_context, plural, print_json
from vault_memory.services import mistakes

_user = click.option("--user", "user_id", metavar="ID", required=True, help="Whose mistakes.")
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_type = click.option("--type", "error_type", metavar="NAME", help="Only mistakes of this type.")
_like = click.option("--like", metavar="TEXT", help="Only mistakes of what this request is about.")


@click.group()
def mistake() -> None:
    """Record mistakes, and show what they have in common."""


@mistake.command()
@_user
@click.option("--type", "error_type", metavar="NAME", default="other", show_default=True, help="A short name of yours.")
@click.option("--correction", "user_correction", default="", help="What you said to it.")
@click.option("--correct", "correct_method", default="", help="How it is done rightly.")
@click.option("--impact", default="", help="What came of it.")
@click.option("--prevention", "prevention_method", default="", help="How it is prevented.")
@click.option("--rule", "related_rule", metavar="NAME", help="The rule that it broke.")
@_json
@click.argument("action")
@pass_context
def add(
    context: Context,
    user_id: str,
    error_type: str,
    user_correction: str,
    correct_method: str,
    impact: str,
    prevention_method: str,
    related_rule: str | None,
    as_json: bool,
    action: str,
) -> None:
    """Record that ACTION was a mistake, committed under your name.

    Prompts for requests that are about to repeat it show it, with its prevention.
    """
    vault, user_id = context.open_to_write(user_id)
    noted = mistakes.record_mistake(
        vault,
        user_id,
        action,
        error_type,
        user_correction,
        correct_method,
        impact,
        prevention_method,
        related_rule,
        author=vault.history.person(),
    ).noted
    if as_json:
        print_json(noted.as_dict())
        return
    echo("".join(noted.ids) or f"nothing is kept: {user_id} is off the record")
    for kind, count in noted.redactions.items():
        echo(f"left out: {kind} {count:,}", err=True)
    for reason in (*([f"the commit waits: {noted.paused}"] if noted.paused else []), *noted.degraded):
        echo(reason, err=True)


@mistake.command("list")
@_user
@_type
@_like
@click.option("-n", "--limit", type=click.IntRange(1), default=20, show_default=True, help="Show at most so many.")
@_json
@pass_context
def list_(context: Context, user_id: str, error_type: str | None, like: str | None, limit: int, as_json: bool) -> None:
    """List mistakes with all that is known of them, the newest first."""
    vault, user_id = context.open_for(user_id)
    found = mistakes.list_mistakes(vault, user_id, error_type=error_type, like=like, limit=limit)
    if as_json:
        print_json([file.as_dict(user_id) for file in found])
        return
    for file in found:
        each = file.mistake
        day = f"{each.created_at:%Y-%m-%d}  " if each.created_at else ""
        echo(f"{day}{one_line(each.error_type)}  {one_line(each.id)}", bold=True)
        for name, text_of in each.texts.items():
            for line in lines(text_of):
                echo(f"  {TEXTS[name][0]}: {line}")
        if each.related_rule:
            echo(f"  Rule: {one_line(each.related_rule)}")
        for problem in each.problems:
            echo(f"  not understood: {problem}", err=True)
    if not found:
        echo("no mistakes")


@mistake.command()
@_user
@_type
@_like
@_json
@pass_context
def patterns(context: Context, user_id: str, error_type: str | None, like: str | None, as_json: bool) -> None:
    """Show which mistakes are made again: by type, and by similar text.

    Each with its number, whether it becomes more (the last 30 days against the 30 before), and the newest prevention.
    """
    vault, user_id = context.open_for(user_id)
    found = mistakes.get_mistake_patterns(vault, user_id, error_type=error_type, like=like)
    if as_json:
        print_json(found.as_dict())
        return
    echo(plural(found.total, "mistake"))
    _show("by type", found.by_type, lambda each: each.error_type)
    _show("made more than once", found.similar, lambda each: each.action)


def _show(heading: str, found: Sequence[Pattern], name: Callable[[Pattern], str]) -> None:
    if found:
        echo(heading, bold=True)
    for each in found:
        last = f", last {each.last_at:%Y-%m-%d}" if each.last_at else ""
        echo(f"  {each.count:,} × {one_line(name(each))}  ({each.trend}{last})")
        if each.prevention_method:
            echo(f"      prevention: {one_line(each.prevention_method)}")
