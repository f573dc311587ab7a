"""`search`, `ask`, `prompt`: what is remembered. `reindex`: rebuild the index. `bench`: measure how good search is."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import click

from vault_memory.core import layout, reading
from vault_memory.core.record_kinds import SEARCHABLE_KINDS
from vault_memory.core.text import tokens, typed
from vault_memory.errors import NotAVault
from vault_memory.interfaces.cli import (
    Context,
    echo,
    echo_marked,
    echo_text,
    pass_context,
    plural,
    print_json,
    print_table,
    print_waits,
)

if TYPE_CHECKING:
    from vault_memory.services.retrieval import Group, Hit, Mode, Scope, SearchResult
    from vault_memory.services.vault import Vault

_DAY = click.DateTime(["%Y-%m-%d"])


_anybody = click.option(
    "--user", "user_id", metavar="ID", help="Whose memory is read. Default: that of the only user, if there is one."
)


@click.command()
@_anybody
@click.option(
    "--mode",
    type=click.Choice(["hybrid", "vector", "keyword"]),
    default="hybrid",
    show_default=True,
    help="Search by words, by meaning, or both.",
)
@click.option("-k", "--top-k", type=int, default=5, show_default=True, help="Show at most so many hits.")
@click.option(
    "--scope",
    type=click.Choice(["user", "shared", "all"]),
    help="Search the user's notes, the shared notes of the vault, or both. Default: user with --user, else all.",
)
@click.option(
    "--kind",
    "kinds",
    metavar="KIND",
    type=click.Choice(SEARCHABLE_KINDS),
    multiple=True,
    help=f"Only notes of this kind; may repeat. Kinds: {', '.join(SEARCHABLE_KINDS)}.",
)
@click.option("--since", metavar="YYYY-MM-DD", type=_DAY, help="Only notes of this day or later.")
@click.option("--until", metavar="YYYY-MM-DD", type=_DAY, help="Only notes of this day or earlier.")
@click.option("--tag", "tags", multiple=True, help="Only notes with this tag; if repeated, notes with all the tags.")
@click.option("--path", default="", metavar="FOLDER", help="Only notes in this folder of the vault, or this one note.")
@click.option("--history", is_flag=True, help="Past memories too: expired, replaced and archived ones.")
@click.option(
    "--passages/--notes",
    "passages",
    default=None,
    help="All passages, or of each note the best one. Default: notes; with --json passages.",
)
@click.option("--backlinks", is_flag=True, help="Name the notes that link to each note found.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with all that --explain shows.")
@click.option("--explain", is_flag=True, help="Show why each hit was found.")
@click.argument("query", required=False)
@pass_context
def search(
    context: Context,
    user_id: str | None,
    mode: Mode,
    top_k: int,
    scope: Scope | None,
    kinds: tuple[str, ...],
    since: datetime | None,
    until: datetime | None,
    tags: tuple[str, ...],
    path: str,
    history: bool,
    passages: bool | None,
    backlinks: bool,
    as_json: bool,
    explain: bool,
    query: str | None,
) -> None:
    """Search for QUERY, by words and by meaning: in a user's memory, in the shared notes, or both.

    In QUERY, "an exact phrase" must stand as it is, and honglou* finds the words that begin so. Without QUERY the
    filters list notes, each by its beginning.
    """
    from vault_memory.services.retrieval import SearchQuery, whose
    from vault_memory.services.retrieval import search as find

    vault = context.open()
    user_id, scope = whose(vault, user_id, scope)
    group: Group = "" if (as_json if passages is None else passages) else "note"
    asked = SearchQuery(
        query or "",
        top_k,
        mode,
        scope,
        kinds,
        since.date() if since else None,
        until.date() if until else None,
        tags,
        history=history,
        path=path,
        is_typed=True,
        group=group,
        backlinks=backlinks,
    )
    if query is None and not asked.is_listing:
        raise click.UsageError("say what to search for, or list notes by --path, --tag, --kind, --since or --until")
    result = find(vault, user_id, asked)
    repeats = sum(len(hit.evidence.repeated_at) for hit in result.hits)
    if as_json:
        print_json(
            {"hits": [_row(vault, hit) for hit in result.hits], "collapsed": repeats, "degraded": result.degraded}
        )
        return
    terms = typed.terms(query or "")
    for hit in result.hits:
        _print_hit(vault, hit, terms, explain=explain)
    _print_end(result, asked.is_listing)
    if repeats and not explain:
        echo(f"({plural(repeats, 'repeated passage')} left out; --explain shows where they are)", err=True)
    for reason in result.degraded:
        echo(f"degraded: {reason}", err=True)


def _row(vault: Vault, hit: Hit) -> dict[str, Any]:
    from vault_memory.services.notes import file_of

    return {**hit.as_dict(), "scope": hit.scope or "shared", **_paths(file_of(vault, hit.scope, hit.source))}


def _print_hit(vault: Vault, hit: Hit, terms: Collection[str], *, explain: bool) -> None:
    """Print the passages of a hit, each at its place, or where the hit is all of its note the best one."""
    from vault_memory.services.notes import file_of

    file = file_of(vault, hit.scope, hit.source)
    packed = f"  in {file.relative_to(vault.root)}" if file.suffix == ".gz" else ""
    for passage in hit.passages if hit.more is None else hit.passages[:1]:
        first, last = passage.line_range
        location = f"{hit.source}:{first}" + (f"-{last}" if last != first else "")
        echo(f"{location}  {hit.score:.3f}{packed}", bold=True)
        for line in reading.lines(passage.text):
            echo_marked(f"  {line}", tokens.places(f"  {line}", terms))
    if hit.more:
        echo(f"  +{plural(hit.more, 'more passage')}")
    if hit.backlinks:
        echo(f"  linked from {', '.join(hit.backlinks)}")
    if explain:
        parts = {key: value for key, value in hit.explain.items() if key != "collapsed"}
        echo("  " + "  ".join(f"{key}={value}" for key, value in parts.items()))
        if hit.evidence.repeated_at:
            echo(f"  the same text is also at {', '.join(hit.evidence.repeated_at)}")


def _print_end(result: SearchResult, is_listing: bool) -> None:
    """Say what was not shown, or why there is nothing to show."""
    listed = result.listed
    if result.hits:
        if listed is not None and listed > len(result.hits):
            echo(f"({len(result.hits)} of {plural(listed, 'note')}; -k shows more)", err=True)
    elif listed == 0:
        echo("nothing found: no note is of that path, tag, kind and day")
    elif listed and not is_listing:
        echo(f"nothing found in {plural(listed, 'note')} of that path, tag, kind and day")
    else:
        echo("nothing found" + (": the nearest passages hold too little of it" if result.fit else ""))


@click.command()
@_anybody
@click.option("--json", "as_json", is_flag=True, help="Print JSON: content, path, lines and commit.")
@click.argument("note", metavar="NOTE[:LINES]")
@pass_context
def read(context: Context, user_id: str | None, as_json: bool, note: str) -> None:
    """Print a note by its path, file name, title or alias, or lines of it (`Tea:12-30`).

    Standard error says where it stands, and in which commit.
    """
    from vault_memory.services.retrieval import read_named, whose

    vault = context.open()
    user_id, scope = whose(vault, user_id, of_user="all")
    found = read_named(vault, user_id, note, scope)
    first, last = found.line_range
    if as_json:
        print_json(found.as_dict())
        return
    echo(f"{found.path}:{first}-{last}" + (f"@{found.commit[:8]}" if found.commit else "  in no commit"), err=True)
    echo_text(found.content, nl=not found.content.endswith("\n"))


@click.command()
@_anybody
@click.option("-k", "--top-k", type=int, default=10, show_default=True, help="Show at most so many notes.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.argument("note")
@pass_context
def related(context: Context, user_id: str | None, top_k: int, as_json: bool, note: str) -> None:
    """List the notes around NOTE (a path, file name, title or alias), and what ties each of them to it."""
    from vault_memory.services.retrieval import related as around
    from vault_memory.services.retrieval import whose

    vault = context.open()
    user_id, scope = whose(vault, user_id, of_user="all")
    found = around(vault, user_id, note, scope, top_k)
    if as_json:
        print_json({"notes": [each.as_dict() for each in found]})
        return
    for each in found:
        echo(f"{each.path}  {each.score:.3f}  {each.why}")
    if not found:
        echo("nothing is tied to it: no links, no shared tags, no note that says alike")


def _paths(path: Path) -> dict[str, str | None]:
    """The path of a hit's file, and its link for Obsidian, which opens Markdown only."""
    is_note = path.suffix == ".md"
    return {"path": str(path), "obsidian": f"obsidian://open?path={quote(str(path), safe='')}" if is_note else None}


@click.command()
@click.option("--user", "user_id", metavar="ID", help="Rebuild only this user's index.")
@pass_context
def reindex(context: Context, user_id: str | None) -> None:
    """Rebuild the search index from the files. No note is changed."""
    from vault_memory.services.indexing import rebuild

    vault = context.open()
    scopes = [vault.known_user(vault.user_of(user_id))] if user_id else vault.scopes()
    for scope in scopes:
        report = rebuild(vault, scope)
        echo(f"{layout.label(scope)}: {plural(len(report.indexed), 'file')} indexed")
        for source, problem in report.failed.items():
            echo(f"  {source}: {problem}", err=True)


@click.command()
@click.option("--user", "user_id", metavar="ID", required=True, help="Whose memories.")
@click.option("--skill", "skill_id", metavar="NAME", help="Only memories of this skill.")
@click.option(
    "-k", "--top-k", type=click.IntRange(1, 20), default=5, show_default=True, help="At most so many memories."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.argument("question")
@pass_context
def ask(context: Context, user_id: str, skill_id: str | None, top_k: int, as_json: bool, question: str) -> None:
    """Ask the language model QUESTION; it gets the memories that bear on it.

    Without a model the memories are the answer.
    """
    from vault_memory.services.retrieval import ask_ai

    vault, user_id = context.open_for(user_id)
    answer = ask_ai(vault, user_id, question, skill_id, top_k)
    if as_json:
        used, found = ([each.as_dict() for each in some] for some in (answer.used, answer.memories))
        told = {"answer": answer.text, "by_model": answer.by_model, "used": used, "memories": found}
        print_json({**told, "degraded": list(answer.degraded)})
        return
    echo_text(answer.text)
    for memory in answer.used:
        echo(f"from {memory.id}  {memory.heading}  {memory.path}", err=True)
    for reason in answer.degraded:
        echo(f"degraded: {reason}", err=True)


@click.command()
@click.option("--user", "user_id", metavar="ID", required=True, help="Whose request it is.")
@click.option("--skill", metavar="NAME", help="The skill in use, a folder under skills/.")
@click.option("--group", is_flag=True, help="Others can read the reply: leave out profile, memories, logs and history.")
@click.option("--context-summary", default="", metavar="TEXT", help="What this conversation has been about.")
@click.option("--budget", type=click.IntRange(200), metavar="TOKENS", help="About how many tokens the prompt may have.")
@click.option(
    "--explain", is_flag=True, help="Print to standard error what was included, from where, and what was cut."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON: text, chat messages, passages and what was cut.")
@click.argument("text")
@pass_context
def prompt(
    context: Context,
    user_id: str,
    skill: str | None,
    group: bool,
    context_summary: str,
    budget: int | None,
    explain: bool,
    as_json: bool,
    text: str,
) -> None:
    """Build the prompt for the request TEXT."""
    from vault_memory.services.retrieval import build_enhanced_prompt

    vault, user_id = context.open_for(user_id)
    built = build_enhanced_prompt(
        vault, user_id, text, skill, private=not group, budget=budget, context_summary=context_summary
    )
    if as_json:
        print_json(asdict(built))
        return
    echo_text(built.text)
    if explain:
        for passage in built.passages:
            score = "" if passage.score is None else f"  {passage.score:.3f}"
            echo(f"{passage.section:<22}{passage.place}{score}", err=True)
        for cut in built.cut:
            echo(f"cut to fit the budget: {plural(cut.pieces, 'piece')} of {cut.name}", err=True)
        echo(f"about {built.tokens} tokens", err=True)
    for problem in built.degraded:
        echo(f"degraded: {problem}", err=True)


@click.command()
@click.argument("datasets", metavar="DATASET...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--queries", default="queries.jsonl", show_default=True, help="Name of the file of questions in each DATASET."
)
@click.option(
    "--mode",
    type=click.Choice(["hybrid", "vector", "keyword"]),
    default="hybrid",
    show_default=True,
    help="Search by words, by meaning, or both.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@pass_context
def bench(context: Context, datasets: tuple[Path, ...], queries: str, mode: Mode, as_json: bool) -> None:
    """Measure search on folders of questions with known answers. No language model judges.

    docs/commands.md describes a DATASET. In a vault, search runs with the vault's settings and embedder; elsewhere with
    the defaults, offline.
    """
    from vault_memory.services.retrieval import bench as measure

    vault = _vault(context)
    settings: dict[str, Any] = {"config": vault.config, "embedder": vault.embedder} if vault else {}
    if vault:
        print_waits(vault.config)
    results = [measure(folder, queries=queries, mode=mode, **settings) for folder in datasets]
    if as_json:
        print_json({result.dataset: {"queries": result.queries, **result.figures} for result in results})
        return
    columns = list(results[0].figures)
    rows = [[r.dataset, str(r.queries), *(f"{r.figures[name]:.3f}".rstrip("0") for name in columns)] for r in results]
    print_table(["dataset", "questions", *columns], rows)


def _vault(context: Context) -> Vault | None:
    """The vault that was named or holds the current folder; None outside a vault."""
    try:
        return context.open()
    except NotAVault:
        if context.vault_path:
            raise
        return None
