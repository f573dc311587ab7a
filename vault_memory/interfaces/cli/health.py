"""`status`, `doctor`, `heartbeat`, `archive`, `resume`, and `proxy log`: the last requests to the proxy."""

from __future__ import annotations

import contextlib
import json
import sys
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from vault_memory.core import layout
from vault_memory.errors import VaultMemoryError
from vault_memory.interfaces.cli import (
    Context,
    echo,
    pass_context,
    plural,
    print_json,
    print_json_text,
    print_waits,
)

if TYPE_CHECKING:
    from vault_memory.services.admin import Status
    from vault_memory.services.archiving import Step


MAX_WARNINGS = 10
"""Of a scope that are printed: an adopted vault may have hundreds of one kind."""


@click.command()
@click.option("--user", "user_id", metavar="ID", help="Only this user's notes.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@pass_context
def status(context: Context, user_id: str | None, as_json: bool) -> None:
    """Show what is indexed, pending and failed, whether a daemon runs, and git's state; exit code 1 when unhealthy."""
    from vault_memory.services.admin import status as vault_status

    vault = context.open()
    current = vault_status(vault, None if user_id is None else vault.user_of(user_id))
    if as_json:
        print_json(asdict(current) | {"healthy": not current.unhealthy})
    else:
        _print_status(current)
    if current.unhealthy:
        raise SystemExit(1)


def _print_status(current: Status) -> None:
    echo(f"vault    {current.root}")
    record = current.daemon.record
    running = (
        f"{record.state}, process {record.pid}, since {record.started}" if current.daemon.running and record else ""
    )
    echo(f"daemon   {running or ('starting' if current.daemon.running else 'not running')}")
    git = f"branch {current.history.branch or '(detached)'}, commit {(current.history.head or 'none')[:8]}"
    echo(
        f"git      {git}"
        + (f", {plural(current.history.waiting, 'commit')} waiting" if current.history.waiting else "")
        + (
            f", log entries of {plural(current.history.logs, 'turn')} wait, as they should"
            if current.history.logs
            else ""
        )
    )
    size = current.growth
    echo(f"history  {size.bytes / 1e6:.1f} MB, {size.loose:,} loose objects, {plural(size.packs, 'pack')}")
    for scope in current.scopes:
        parts = [f"{scope.indexed:,} indexed"]
        parts += [f"{len(scope.pending):,} pending"] if scope.pending else []
        parts += [f"{len(scope.failed):,} failed"] if scope.failed else []
        parts += [plural(len(scope.warned), "warning")] if scope.warned else []
        parts += [f"{scope.memories:,} memories"] if scope.memories else []
        parts += [f"{scope.vectors_pending:,} without vector"] if scope.vectors_pending else []
        echo(f"{scope.scope or '(shared)':<8} {', '.join(parts)}; index {scope.index_bytes / 1e6:.1f} MB")
        if scope.redactions:
            kinds = ", ".join(f"{category} {count:,}" for category, count in scope.redactions.items())
            echo(f"         redacted: {kinds}")
        for source, problem in scope.failed.items():
            echo(f"         failed: {source}: {problem}")
        for source, problem in list(scope.warned.items())[:MAX_WARNINGS]:
            echo(f"         warning: {source}: {problem}")
        if len(scope.warned) > MAX_WARNINGS:
            echo(f"         and {len(scope.warned) - MAX_WARNINGS:,} more: `vault-memory status --json` has all")
    for job in current.jobs:
        if job.last:
            echo(f"job      {job.name} ({job.when}): {job.last.said}, {job.last.started:%Y-%m-%d %H:%M}")
    for name, place in current.stores.items():
        echo(f"store    {name}: {place}")
    for client, at in _last_of_clients(current).items():
        echo(f"hooks    {client}: last heard {at}")
    for line in current.decided:
        echo(f"decided  {line}")
    for line in current.degraded:
        echo(f"degraded {line}")
    for line in current.unhealthy:
        echo(f"unhealthy {line}", fg="red")


def _last_of_clients(current: Status) -> dict[str, str]:
    return {each.client: each.at for each in sorted(current.hooks, key=lambda each: each.at)}


@click.command()
@click.option("--fix", is_flag=True, help="Repair what is safe to repair.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@pass_context
def doctor(context: Context, fix: bool, as_json: bool) -> None:
    """Check the vault, git and this machine; exit code 1 when something is wrong."""
    from vault_memory.services.admin import doctor as check

    findings = check(context.open(), fix=fix)
    if as_json:
        print_json([asdict(finding) for finding in findings])
    else:
        for finding in findings:
            echo(f"{'ok   ' if finding.ok else 'WRONG'} {finding.name}: {finding.message}")
            if not finding.ok:
                hint = " (`vault-memory doctor --fix` does it)" if finding.fixable and not fix else ""
                echo(f"      → {finding.next_step}{hint}")
    if not all(finding.ok for finding in findings):
        raise SystemExit(1)


@click.command()
@click.option("--now", "force", is_flag=True, help="Run it now, due or not.")
@click.argument("job", required=False)
@pass_context
def heartbeat(context: Context, force: bool, job: str | None) -> None:
    """Run the scheduled jobs that are due, or only JOB. A running daemon does this by itself."""
    from vault_memory.services.daemon import commit_left_logs
    from vault_memory.services.daemon import heartbeat as run_due_jobs

    vault = context.open()
    if force:
        commit_left_logs(vault, at_once=True)
    outcomes = run_due_jobs(vault, job, force=force)
    for outcome in outcomes:
        echo(f"{'ok   ' if outcome.ok else 'WRONG'} {outcome.job}: {outcome.said}")
    if not outcomes:
        echo("no job is due")
    if not all(outcome.ok for outcome in outcomes):
        raise SystemExit(1)


@click.command()
@click.option("--user", "user_id", metavar="ID", help="Only this user's files.")
@click.option("--dry-run", is_flag=True, help="Only show what would be done, and change nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@pass_context
def archive(context: Context, user_id: str | None, dry_run: bool, as_json: bool) -> None:
    """Pack old conversations and rotate the logs of earlier years, as the job `archive` does every night."""
    from vault_memory.services.archiving import archive_user, planned_steps

    vault = context.open()
    users = vault.user_ids() if user_id is None else [vault.known_user(vault.user_of(user_id))]
    work = planned_steps if dry_run else archive_user
    keeps = dry_run and vault.config.archive_retention != "delete"
    steps, failed = [], False
    for user in users:
        try:
            for step in work(vault, user):
                steps.append(step)
                if not as_json:
                    echo(_in_words(step, is_done=not dry_run, is_kept=keeps))
        except VaultMemoryError as error:  # the other users have theirs
            failed = True
            echo(f"{layout.label(user)}: {error}", err=True)
    if as_json:
        print_json([asdict(step) | {"done": not dry_run} for step in steps])
    elif not steps and not failed:
        echo("nothing is old enough")
    print_waits(vault.config)
    if failed:
        raise SystemExit(1)


def _in_words(step: Step, *, is_done: bool, is_kept: bool) -> str:
    would = "" if is_done else "would be "
    if step.kind == "delete" and is_kept:
        return f"stays: {step.path} ({step.amount}); with archive.retention delete it would be deleted"
    if step.kind == "delete":
        return f"{would}deleted: {step.path} ({step.amount})"
    return f"{would}{'packed' if step.kind == 'pack' else 'moved'}: {step.amount}, to {step.path}"


@click.command()
@pass_context
def resume(context: Context) -> None:
    """Confirm that many files were deleted on purpose: remove them from the index, and let that be committed."""
    from vault_memory.services.indexing import confirm_deletions

    for scope, removed in confirm_deletions(context.open()).items():
        echo(f"{layout.label(scope)}: {plural(len(removed), 'file')} removed")


@click.group()
def proxy() -> None:
    """Look at what the chat proxy did."""


@proxy.command(short_help="Show what became of the last requests.")
@click.option("-n", "--limit", type=click.IntRange(0, 100_000), default=20, show_default=True, help="How many at most.")
@click.option("--follow", is_flag=True, help="Go on with those that come, until Ctrl-C.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON; with --follow a line for each request.")
@pass_context
def log(context: Context, limit: int, follow: bool, as_json: bool) -> None:
    """Show the last requests: who asked what, with which memory, and whether a turn was made of it. No contents."""
    from vault_memory.services.proxy import last_requests

    rows = last_requests(context.open().root, limit, follow=follow)
    if as_json and not follow:
        print_json([*rows])
        return
    for row in rows:
        if as_json:
            print_json_text(json.dumps(row, ensure_ascii=False))
        else:
            echo("  ".join(_columns(row)))
        sys.stdout.flush()


def _columns(row: dict[str, Any]) -> list[str]:
    """What a row says, the parts that every row has first."""
    at = str(row.get("time", ""))
    with contextlib.suppress(ValueError):
        at = f"{datetime.fromisoformat(at):%m-%d %H:%M:%S}"
    always = [str(row.get(name) or "-") for name in ("user", "client", "door", "model", "status")]
    named = [f"{name}: {row[name]}" for name in ("memory", "turn", "conversation") if row.get(name)]
    return [at, *always, f"{row.get('ms', 0)} ms", *named]
