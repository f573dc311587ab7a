"""`search` and `reindex`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from vault_memory.core import layout
from vault_memory.interfaces.cli import Context, pass_context
from vault_memory.interfaces.cli.output import plural, print_json

if TYPE_CHECKING:
    from vault_memory.services.search import Mode


@click.command()
@click.option("--user", "user_id", metavar="ID", required=True, help="Whose memory is searched.")
@click.option("--mode", type=click.Choice(["hybrid", "vector", "keyword"]), default="hybrid", show_default=True)
@click.option("-k", "--top-k", type=int, default=5, show_default=True, help="Most hits.")
@click.option(
    "--scope", type=click.Choice(["user", "shared", "all"]), default="user", show_default=True,
    help="The user's own notes, the vault's shared ones, or both.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--explain", is_flag=True, help="Show why each hit was found.")
@click.argument("query")
@pass_context
def search(
    context: Context, user_id: str, mode: Mode, top_k: int, scope: str, as_json: bool, explain: bool, query: str
) -> None:
    """Search a user's memory for QUERY, by words and by meaning."""
    from vault_memory.services.daemon_record import is_running
    from vault_memory.services.reconcile import reconcile
    from vault_memory.services.search import search as find

    vault = context.open()
    vault.known_user(user_id)
    if not is_running(vault.root):
        for name in {"user": [user_id], "shared": [layout.SHARED], "all": [user_id, layout.SHARED]}[scope]:
            reconcile(vault, name)  # nobody else keeps the index fresh
    result = find(vault, user_id, query, top_k, mode, scope)
    if as_json:
        rows = [
            {
                "content": hit.content,
                "source": hit.source,
                "line_range": list(hit.line_range),
                "score": round(hit.score, 4),
                "kind": hit.kind,
                "scope": hit.scope or "shared",
                **({"explain": dict(hit.explain)} if explain else {}),
            }
            for hit in result.hits
        ]
        print_json({"hits": rows, "degraded": result.degraded})
        return
    for hit in result.hits:
        first, last = hit.line_range
        place = f"{hit.source}:{first}" + (f"-{last}" if last != first else "")
        click.secho(f"{place}  {hit.score:.3f}", bold=True)
        click.echo("\n".join(f"  {line}" for line in hit.content.splitlines()))
        if explain:
            click.echo("  " + "  ".join(f"{key}={value}" for key, value in hit.explain.items()))
    if not result.hits:
        click.echo("nothing found")
    for reason in result.degraded:
        click.echo(f"degraded: {reason}", err=True)


@click.command()
@click.option("--user", "user_id", metavar="ID", help="Only this user's index.")
@pass_context
def reindex(context: Context, user_id: str | None) -> None:
    """Rebuild the search index from the files; nothing but speed is lost meanwhile."""
    from vault_memory.services.rebuild import rebuild

    vault = context.open()
    scopes = [vault.known_user(user_id)] if user_id else vault.scopes()
    for scope in scopes:
        report = rebuild(vault, scope)
        click.echo(f"{layout.label(scope)}: {plural(len(report.indexed), 'file')} indexed")
        for source, problem in report.failed.items():
            click.echo(f"  {source}: {problem}", err=True)
