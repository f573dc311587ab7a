"""`embedding`: choose the model that makes the vectors of search by meaning, and see how far they are."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from vault_memory.core import layout
from vault_memory.errors import EndpointError, UsageError
from vault_memory.interfaces.cli import Context, echo, echo_over, one_line, pass_context, plural, print_json

if TYPE_CHECKING:
    from vault_memory.services.embedding import Reached, Trial, Work
    from vault_memory.services.vault import Vault

BATCH_PASSAGES = 64
"""Passages between two reports; a stop loses at most so many vectors."""
LINE_INTERVAL_S, BAR_WIDTH = 5.0, 30
"""How often progress is a new line, where there is no terminal, and the letters of the bar, where there is one."""
MAX_SHOWN_CHARS = 70
GOES_ON = "the same command goes on, and so does the daemon or `vault-memory heartbeat vectors`"


@click.group()
def embedding() -> None:
    """Choose the model behind search by meaning, and see how far its vectors are."""


@embedding.command(short_help="Let offline, local or http make the vectors.")
@click.argument("kind", type=click.Choice(["offline", "local", "http"]))
@click.argument("urls", metavar="[URL]...", nargs=-1)
@click.option("--model", metavar="NAME", help="The model's name; with local a small multilingual one if not given.")
@click.option(
    "--key-env",
    "key_envs",
    metavar="NAME",
    multiple=True,
    help="The NAME of the environment variable with the key of a URL: one for each, in their order; '-' for none.",
)
@click.option("--query-prefix", metavar="TEXT", help="What the model wants before a question, such as 'query: '.")
@click.option("--document-prefix", metavar="TEXT", help="What it wants before a passage, such as 'passage: '.")
@click.option("--price", type=click.FloatRange(0), metavar="AMOUNT", help="What a million tokens cost there.")
@click.option("--yes", is_flag=True, help="Say yes to what is shown, without a question.")
@pass_context
def use(
    context: Context,
    kind: str,
    urls: tuple[str, ...],
    model: str | None,
    key_envs: tuple[str, ...],
    query_prefix: str | None,
    document_prefix: str | None,
    price: float | None,
    yes: bool,
) -> None:
    """Let KIND make the vectors: offline (hashed words), local (a model on this machine) or http (one behind URLs).

    It shows what will be sent where and asks, tries the model on ten of the vault's passages, shows how long all of
    them take and what they cost, and asks again. Then it writes the settings into vault-memory.toml and computes the
    vectors. Ctrl-C stops it; the same command goes on. What is not given stays as it is set for this KIND.

    \b
    vault-memory embedding use local
    vault-memory embedding use http http://gpu:11434/api/embed --model bge-m3
    """
    from vault_memory.services.daemon import is_running
    from vault_memory.services.embedding import choose, greet, planned, work

    vault = context.open()
    given = {"model": model, "query_prefix": query_prefix, "document_prefix": document_prefix}
    settings = _settings(vault, kind, given, _endpoints(urls, key_envs))
    plan = planned(vault, settings)
    todo = work(plan)
    is_agreed = plan.config == vault.config  # it goes on with what was shown and agreed to before
    if todo.waiting or not is_agreed:
        _print_plan(plan, todo)
        if kind != "offline":
            what = f"Send the first {plural(len(todo.sample), 'passage')}" if kind == "http" else "Load the model"
            _agree(f"{what}, to try it?", yes or is_agreed)
            _try(plan, todo, price)
    else:
        _print_reached(greet(plan, todo))
    if not is_agreed:
        for space, count in todo.dropped.items():
            echo(f"the {plural(count, 'vector')} of {one_line(space)} go when all are there")
        _agree("Use this from now on?", yes)
        choose(vault, settings)
        echo(f"{layout.SETTINGS_FILE} is written: {plan.embedder.space} from now on")
        if is_running(vault.root):
            echo("`watch` and `serve` read settings when they start: start the running one again", err=True)
    _build(plan)


def _endpoints(urls: Sequence[str], key_envs: Sequence[str]) -> list[dict[str, str]]:
    if key_envs and len(key_envs) != len(urls):
        raise UsageError(f"{plural(len(key_envs), '--key-env')} for {plural(len(urls), 'URL')}: give one for each")
    names = key_envs or ("-",) * len(urls)
    return [{"url": url} | ({} if name == "-" else {"key_env": name}) for url, name in zip(urls, names, strict=True)]


def _settings(vault: Vault, kind: str, given: dict[str, str | None], endpoints: list[dict[str, str]]) -> dict[str, Any]:
    """The settings to write: what is given, and for the rest what is in force for this kind."""
    config = vault.config
    options = {name: value for name, value in given.items() if value is not None}
    if kind != "http" and endpoints:
        raise UsageError(f"{kind} has no URL: `vault-memory embedding use http URL` uses a model behind one")
    if kind == "offline":
        if options:
            raise UsageError("offline has no model: leave the options away")
        return {"kind": kind}
    is_same = config.embedding_kind == kind
    settings = {"kind": kind} | {n: getattr(config, f"embedding_{n}") if is_same else "" for n in given} | options
    if kind == "http":
        settings["endpoints"] = endpoints or (config.embedding_endpoints if is_same else [])
        if not (settings["endpoints"] and settings["model"]):
            raise UsageError("http needs a URL, such as http://localhost:11434/api/embed, and --model NAME")
    elif config.is_waiting("embedding"):
        settings["endpoints"] = []  # nobody has said yes to them, and a kind waits with them
    return settings


def _agree(question: str, yes: bool) -> None:
    if not (yes or (sys.stdin.isatty() and click.confirm(question, default=False))):
        echo("nothing was changed; with --yes this command says yes to what is shown above", err=True)
        raise SystemExit(1)


def _print_plan(vault: Vault, todo: Work) -> None:
    """What will be sent where, before anything is."""
    space, config = vault.embedder.space, vault.config
    echo(f"{one_line(space)}: {todo.waiting:,} of {plural(todo.passages, 'passage')} have no vector of it")
    if config.embedding_kind == "local":
        echo("nothing is sent: the model runs here; one that is not here yet is downloaded (huggingface.co), once")
    if config.embedding_kind != "http":
        return
    for endpoint in config.embedding_endpoints:
        key = f", with the key in ${endpoint['key_env']}" if endpoint.get("key_env") else ""
        echo(f"  to {one_line(endpoint['url'])}{key}")
    echo("is sent, without secrets and private sentences:")
    echo(f"  to try it, {plural(len(todo.sample), 'passage')} and some sentences of this program's own:")
    for text in todo.sample:
        echo(f"      {one_line(' '.join(text.split()))[:MAX_SHOWN_CHARS]}")
    echo("  then every passage of every user and of the shared notes, and later each new one and each question")


def _try(vault: Vault, todo: Work, price: float | None) -> None:
    """Try the model, and print what came of it."""
    from vault_memory.services.embedding import try_model

    trial = try_model(vault, todo)
    _print_reached(trial.reached)
    took = _duration(todo.waiting / trial.passages_per_s)
    echo(f"{trial.dimension:,} dimensions, {trial.passages_per_s:,.3g} passages a second")
    tokens = f"about {todo.tokens:,} tokens" + ("" if price is None else f", {todo.tokens / 1e6 * price:,.2f} to pay")
    echo(f"{plural(todo.waiting, 'passage')} to do: about {took}, {tokens}")
    _print_doubts(trial)


def _print_reached(models: Sequence[Reached]) -> None:
    for reached in models:
        echo(reached.problem or f"{reached.where} answers in {reached.ms:,} ms")


def _print_doubts(trial: Trial) -> None:
    from vault_memory.services.embedding import KNOWN_PAIRS, PAIRS

    for language, told in trial.pairs.items():
        if told < KNOWN_PAIRS:
            echo(
                f"warning: it seems to know no {language}: it told {told} of {PAIRS} pairs of sentences apart; words "
                "find such passages better",
                err=True,
            )
    if trial.question_problem:
        echo(
            f"warning: a question gets no vector in time, and words answer then ({trial.question_problem}): a larger "
            "embedding.query_timeout_ms waits longer",
            err=True,
        )


def _build(vault: Vault) -> None:
    """Compute the vectors that are missing, and show how far it is."""
    from vault_memory.services.indexing import embed, spaces

    space = vault.embedder.space
    left = {scope: spaces.lacking(vault.index(scope), space) for scope in vault.scopes()}
    total = sum(vault.index(scope).stats().chunks for scope in left)
    progress = _Progress(total, sum(left.values()))
    try:
        for scope in left:
            while embed(vault, scope, BATCH_PASSAGES):
                left[scope] = spaces.lacking(vault.index(scope), space)
                progress.show(sum(left.values()))
            left[scope] = 0
        progress.end(0)
    except KeyboardInterrupt:
        progress.end(sum(left.values()))
        echo(f"stopped; what is computed is kept: {GOES_ON}", err=True)
        raise SystemExit(130) from None
    except EndpointError as error:
        progress.end(sum(left.values()))
        raise EndpointError(f"{error}; what is computed is kept: {GOES_ON}") from error
    echo(f"every passage has its vector: {one_line(space)} answers")


class _Progress:
    """How far the vectors are: a bar at a terminal, else a line now and then; on standard error."""

    def __init__(self, total: int, left: int) -> None:
        self._total, self._first, self._began = total, left, time.monotonic()
        self._is_terminal, self._next = sys.stderr.isatty(), self._began
        if left:
            self.show(left)

    def show(self, left: int) -> None:
        """Say that so many passages are left, if it is time for it."""
        now = time.monotonic()
        if self._is_terminal:
            letters = BAR_WIDTH * (self._total - left) // max(self._total, 1)
            echo_over(f"[{'#' * letters}{'.' * (BAR_WIDTH - letters)}] {self._line(left, now)}")
        elif now >= self._next:
            self._next = now + LINE_INTERVAL_S
            echo(self._line(left, now), err=True)

    def end(self, left: int) -> None:
        """Say where it ended."""
        if self._first and self._is_terminal:
            self.show(left)
            echo(err=True)
        elif self._first:
            echo(self._line(left, time.monotonic()), err=True)

    def _line(self, left: int, now: float) -> str:
        done = self._first - left
        more = f", about {_duration((now - self._began) / done * left)} left" if done and left else ""
        return f"{self._total - left:,} of {plural(self._total, 'passage')}{more}"


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


@embedding.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@pass_context
def status(context: Context, as_json: bool) -> None:
    """Show whether the model answers, and how far its vectors are."""
    from vault_memory.services.embedding import embedding_status

    current = embedding_status(context.open())
    if as_json:
        print_json(asdict(current))
        return
    echo(f"model    {one_line(current.space)}")
    for reached in current.reached:
        answer = f"{reached.where} answers in {reached.ms:,} ms, {reached.dimension:,} dimensions"
        echo(f"asked    {reached.problem or answer}")
    for scope in current.scopes:
        vectors = f"{scope.vectors:,} of {plural(scope.passages, 'passage')}"
        echo(f"{scope.scope}: {vectors}; {one_line(scope.answers)} answers")
        if scope.gap:
            echo(f"degraded {scope.scope}: {scope.gap}")
    for line in current.degraded:
        echo(f"degraded {line}")
