"""`search` and `reindex`."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import click

from vault_memory.core import layout
from vault_memory.interfaces.cli import Context, pass_context
from vault_memory.interfaces.cli.output import plural, print_json

if TYPE_CHECKING:
    from vault_memory.services.retrieval.search import Mode

_DAY = click.DateTime(["%Y-%m-%d"])


@click.command()
@click.option("--user", "user_id", metavar="ID", required=True, help="Whose memory is searched.")
@click.option("--mode", type=click.Choice(["hybrid", "vector", "keyword"]), default="hybrid", show_default=True)
@click.option("-k", "--top-k", type=int, default=5, show_default=True, help="Most hits.")
@click.option(
    "--scope", type=click.Choice(["user", "shared", "all"]), default="user", show_default=True,
    help="The user's own notes, the vault's shared ones, or both.",
)  # fmt: skip
@click.option("--kind", "kinds", type=click.Choice(layout.KINDS), multiple=True, help="Only such notes; may repeat.")
@click.option("--since", type=_DAY, help="Only notes of this day (YYYY-MM-DD) or later.")
@click.option("--until", type=_DAY, help="Only notes of this day or earlier.")
@click.option("--tag", "tags", multiple=True, help="Only notes with this tag; may repeat, and then all are asked for.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--explain", is_flag=True, help="Show why each hit was found.")
@click.argument("query")
@pass_context
def search(
    context: Context,
    user_id: str,
    mode: Mode,
    top_k: int,
    scope: str,
    kinds: tuple[str, ...],
    since: datetime | None,
    until: datetime | None,
    tags: tuple[str, ...],
    as_json: bool,
    explain: bool,
    query: str,
) -> None:
    """Search a user's memory for QUERY, by words and by meaning."""
    from vault_memory.services.daemon.daemon_record import is_running
    from vault_memory.services.indexing.reconcile import reconcile
    from vault_memory.services.retrieval.search import search as find

    vault = context.open()
    vault.known_user(user_id)
    if not is_running(vault.root):
        for name in {"user": [user_id], "shared": [layout.SHARED], "all": [user_id, layout.SHARED]}[scope]:
            reconcile(vault, name)  # nobody else keeps the index fresh
    days = since.date() if since else None, until.date() if until else None
    result = find(vault, user_id, query, top_k, mode, scope, kinds, *days, tuple(tag.lstrip("#") for tag in tags))
    repeats = sum(len(hit.explain["collapsed"]) for hit in result.hits)
    if as_json:
        rows = [
            {
                "content": hit.content,
                "source": hit.source,
                "line_range": list(hit.line_range),
                **_places(vault.path(hit.scope, hit.source)),
                "score": round(hit.score, 4),
                "kind": hit.kind,
                "scope": hit.scope or "shared",
                **({"explain": dict(hit.explain)} if explain else {}),
            }
            for hit in result.hits
        ]
        print_json({"hits": rows, "collapsed": repeats, "degraded": result.degraded})
        return
    for hit in result.hits:
        first, last = hit.line_range
        place = f"{hit.source}:{first}" + (f"-{last}" if last != first else "")
        click.secho(f"{place}  {hit.score:.3f}", bold=True)
        click.echo("\n".join(f"  {line}" for line in hit.content.splitlines()))
        if explain:
            told = {key: value for key, value in hit.explain.items() if key != "collapsed"}
            click.echo("  " + "  ".join(f"{key}={value}" for key, value in told.items()))
            if same := hit.explain["collapsed"]:
                click.echo(f"  the same stands in {plural(len(same), 'other place')}: {', '.join(same)}")
    if not result.hits:
        click.echo("nothing found")
    if repeats and not explain:
        click.echo(f"({plural(repeats, 'repetition')} left out: --explain names where)", err=True)
    for reason in result.degraded:
        click.echo(f"degraded: {reason}", err=True)


def _places(path: Path) -> dict[str, str | None]:
    """Where a hit's file is, for an editor and for Obsidian, which opens Markdown alone."""
    is_note = path.suffix == ".md"
    return {"path": str(path), "obsidian": f"obsidian://open?path={quote(str(path), safe='')}" if is_note else None}


@click.command()
@click.option("--user", "user_id", metavar="ID", help="Only this user's index.")
@pass_context
def reindex(context: Context, user_id: str | None) -> None:
    """Rebuild the search index from the files; nothing but speed is lost meanwhile."""
    from vault_memory.services.indexing.rebuild import rebuild

    vault = context.open()
    scopes = [vault.known_user(user_id)] if user_id else vault.scopes()
    for scope in scopes:
        report = rebuild(vault, scope)
        click.echo(f"{layout.label(scope)}: {plural(len(report.indexed), 'file')} indexed")
        for source, problem in report.failed.items():
            click.echo(f"  {source}: {problem}", err=True)
