"""`bench`: how well search finds, on questions with known answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vault_memory.errors import NotAVault
from vault_memory.interfaces.cli import Context, pass_context
from vault_memory.interfaces.cli.output import print_json, print_table

if TYPE_CHECKING:
    from vault_memory.services.retrieval.search import Mode
    from vault_memory.services.vault import Vault


@click.command()
@click.argument("datasets", metavar="DATASET...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--queries", default="queries.jsonl", show_default=True, help="The file of questions in each DATASET.")
@click.option("--mode", type=click.Choice(["hybrid", "vector", "keyword"]), default="hybrid", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@pass_context
def bench(context: Context, datasets: tuple[Path, ...], queries: str, mode: Mode, as_json: bool) -> None:
    """Measure search on folders of questions with known answers (docs/benchmarks.md has the form); no model judges.

    Inside a vault its settings and its embedder are measured, elsewhere the offline ones.
    """
    from vault_memory.services.retrieval.bench import bench as measure

    vault = _vault(context)
    settings: dict[str, Any] = {"config": vault.config, "embedder": vault.embedder} if vault else {}
    results = [measure(folder, queries=queries, mode=mode, **settings) for folder in datasets]
    if as_json:
        print_json({result.dataset: {"queries": result.queries, **result.figures} for result in results})
        return
    columns = list(results[0].figures)
    rows = [[r.dataset, str(r.queries), *(f"{r.figures[name]:.3f}".rstrip("0") for name in columns)] for r in results]
    print_table(["dataset", "questions", *columns], rows)


def _vault(context: Context) -> Vault | None:
    """The vault that the person stands in or names; None outside any."""
    try:
        return context.open()
    except NotAVault:
        if context.vault_path:
            raise
        return None
