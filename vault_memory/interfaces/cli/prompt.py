"""`prompt`: what a model would be told along with a request."""

from __future__ import annotations

from dataclasses import asdict

import click

from vault_memory.interfaces.cli import Context, pass_context
from vault_memory.interfaces.cli.output import plural, print_json


@click.command()
@click.option("--user", "user_id", metavar="ID", required=True, help="Who asks.")
@click.option("--skill", metavar="NAME", help="The skill at work, a folder under skills/.")
@click.option("--group", is_flag=True, help="Others read along: leave out profile, memories, logs and history.")
@click.option("--budget", type=click.IntRange(200), metavar="TOKENS", help="Most tokens, about.")
@click.option("--explain", is_flag=True, help="Say on standard error what was injected, from where, and what was cut.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON: text, chat messages, passages and what was cut.")
@click.argument("text")
@pass_context
def prompt(
    context: Context,
    user_id: str,
    skill: str | None,
    group: bool,
    budget: int | None,
    explain: bool,
    as_json: bool,
    text: str,
) -> None:
    """Build the prompt for the request TEXT."""
    from vault_memory.services.daemon.daemon_record import is_running
    from vault_memory.services.indexing.reconcile import reconcile
    from vault_memory.services.retrieval.build_prompt import build_enhanced_prompt

    vault = context.open()
    if user_id in vault.user_ids() and not is_running(vault.root):
        for scope in (user_id, ""):
            reconcile(vault, scope)  # nobody else keeps the index fresh
    built = build_enhanced_prompt(vault, user_id, text, skill, private=not group, budget=budget)
    if as_json:
        print_json(asdict(built))
        return
    click.echo(built.text)
    if explain:
        for passage in built.passages:
            score = "" if passage.score is None else f"  {passage.score:.3f}"
            click.echo(f"{passage.section:<22}{passage.place}{score}", err=True)
        for cut in built.cut:
            click.echo(f"cut for the budget: {plural(cut.pieces, 'piece')} of {cut.name}", err=True)
        click.echo(f"about {built.tokens} tokens", err=True)
    for problem in built.degraded:
        click.echo(f"degraded: {problem}", err=True)
