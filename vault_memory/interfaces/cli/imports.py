"""`import chatgpt|claude|super-happy-coder|redis|code-buddy`: take in what other programs keep."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vault_memory.errors import UsageError, VaultMemoryError, in_command
from vault_memory.interfaces.cli import Context, echo, echo_over, pass_context, plural, print_waits
from vault_memory.services.vault import Vault

if TYPE_CHECKING:
    from vault_memory.services.importing import Imported, ImportedCodeBuddy, ImportedStudent

LINE_INTERVAL_S = 10.0
"""Between two lines of progress where there is no terminal; there they are shown over each other, oftener."""
TERMINAL_INTERVAL_S = 0.1
MAX_LEFT = 10
"""So many of the files that were not taken are named."""


@click.group("import")
def import_() -> None:
    """Take in what other programs keep. Run it again at any time: nothing is added twice."""


_dry_run = click.option("--dry-run", is_flag=True, help="Only count what would be added, and write nothing.")


def _common(command: Callable[..., None]) -> Callable[..., None]:
    """The options of every import of conversations."""
    learn = click.option(
        "--learn/--no-learn",
        default=False,
        show_default=True,
        help="Learn preferences and memories from the old turns, too.",
    )
    return learn(_dry_run(command))


def _export(name: str, title: str) -> None:
    """Make the command for the export of one program."""

    @import_.command(name, short_help=f"Import an export of {title}.")
    @click.option("--user", "user_id", metavar="ID", required=True, help="Whose conversations they are.")
    @_common
    @click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
    @pass_context
    def command(context: Context, user_id: str, learn: bool, dry_run: bool, files: Sequence[Path]) -> None:
        from vault_memory.services.importing import import_conversations

        vault, user_id = context.open_for(user_id)
        progress = _Progress()
        found = import_conversations(
            vault, user_id, name, files, learn=learn, dry_run=dry_run, on_progress=progress.show
        )
        progress.end()
        _print_imported(vault, found)
        _print_next(f"{name} {' '.join(map(in_command, files))} --user {found.user_id}", found, dry_run=dry_run)
        print_waits(vault.config)
        if problem := found.damaged or found.unlearned:
            raise VaultMemoryError(problem)

    command.help = (
        f"Add the turns of an export of {title} to a user's conversations.\n\n"
        "FILE is the archive (.zip) as it was exported, or the conversations.json in it. What is there already is not "
        "added again."
    )


_export("chatgpt", "ChatGPT")
_export("claude", "Claude")


@import_.command("super-happy-coder", short_help="Import the memory/ tree of a Super Happy Coder.")
@click.option(
    "--user",
    "students",
    metavar="STUDENT[=ID]",
    multiple=True,
    help="Only this student's folder, under that id; may repeat.",
)
@_common
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@pass_context
def super_happy_coder(context: Context, students: Sequence[str], learn: bool, dry_run: bool, folder: Path) -> None:
    """Import the memory/ tree of a Super Happy Coder: each folder in DIR becomes a user.

    USER.md is adopted where there is none here, logs are merged, and turns are added to the conversations. Nothing in
    DIR is changed.
    """
    from vault_memory.services.importing import import_super_happy_coder

    vault, wanted, progress = context.open(), _wanted(students), _Progress()
    found = import_super_happy_coder(
        vault, folder, students=wanted, learn=learn, dry_run=dry_run, on_progress=progress.show
    )
    taken: list[Imported] = []
    for each in found:
        progress.end()
        _print_student(vault, each)
        if each.imported:
            taken.append(each.imported)
            command = f"super-happy-coder {in_command(folder)} --user {_named(each, each.imported)}"
            _print_next(command, each.imported, dry_run=dry_run)
    print_waits(vault.config)
    if not taken:
        raise UsageError(f"{folder} holds no student's folder that could be imported")
    if any(each.unlearned for each in taken):
        raise SystemExit(1)


@import_.command(short_help="Import the conversations that a Redis holds.")
@click.option(
    "--user",
    "students",
    metavar="STUDENT[=ID]",
    multiple=True,
    help="Only this student's list, under that id; may repeat.",
)
@_common
@pass_context
def redis(context: Context, students: Sequence[str], learn: bool, dry_run: bool) -> None:
    """Import the lists conversation:STUDENT of the Redis at REDIS_URL: each becomes a user's conversations.

    Nothing in Redis is changed. What is here already is not added again.
    """
    from vault_memory.services.importing import import_redis

    vault, wanted, progress = context.open(), _wanted(students), _Progress()
    taken: list[Imported] = []
    for each in import_redis(vault, students=wanted, learn=learn, dry_run=dry_run, on_progress=progress.show):
        progress.end()
        _print_whose(each)
        if each.imported:
            _print_imported(vault, each.imported)
            _print_next(f"redis --user {_named(each, each.imported)}", each.imported, dry_run=dry_run)
            taken.append(each.imported)
    print_waits(vault.config)
    if not taken:
        raise UsageError("Redis holds no list conversation:STUDENT that could be imported")
    if any(each.unlearned for each in taken):
        raise SystemExit(1)


@import_.command("code-buddy", short_help="Import the memories, graph and mistakes of Code Buddy.")
@click.option("--user", "user_id", metavar="ID", required=True, help="Whose they are.")
@_dry_run
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@pass_context
def code_buddy(context: Context, user_id: str, dry_run: bool, folder: Path) -> None:
    """Import what Code Buddy keeps of a project: memories, entities, relations, mistakes and settings.

    DIR is its folder .opencode/code-buddy, or the project. What is here already stays as it is, and settings that this
    vault has. Nothing in DIR is changed, and the key in its config.json is not taken.
    """
    from vault_memory.services.importing import import_code_buddy

    vault, user_id = context.open_for(user_id)
    progress = _Progress()
    found = import_code_buddy(vault, user_id, folder, dry_run=dry_run, on_progress=progress.show)
    progress.end()
    _print_code_buddy(found)
    if dry_run:
        echo("  nothing was written: that is what it would be")
    print_waits(vault.settings_now())
    if found.damaged:
        raise VaultMemoryError("; ".join(found.damaged))
    if any(each.refused for each in found.files):
        raise SystemExit(1)


def _print_code_buddy(found: ImportedCodeBuddy) -> None:
    for each in found.files:
        refused = f", {each.refused:,} not taken" if each.refused else ""
        counts = f"{each.added:,} new, {each.known:,} there already{refused}" if each.is_there else "is not there"
        echo(f"  {each.name}: {counts}")
    for what, keys in (("taken", found.settings), ("here already", found.settings_here)):
        if keys:
            echo(f"  config.json: {what}: {', '.join(keys)}")
    for reason, count in found.remarks.items():
        echo(f"  {reason} ({count:,})")
    for category, count in found.redactions.items():
        echo(f"  redacted: {category} ({count:,})")
    _print_problems(found)
    if found.paused:
        echo(f"not committed yet: {found.paused}", err=True)


def _wanted(students: Sequence[str]) -> dict[str, str] | None:
    """Students, each with the id of its user; None for all."""
    return {name or user_id: user_id for name, _, user_id in (each.rpartition("=") for each in students)} or None


def _named(found: ImportedStudent, imported: Imported) -> str:
    """How the option `--user` names a student."""
    user_id = imported.user_id
    return in_command(found.student if found.student == user_id else f"{found.student}={user_id}")


def _print_whose(found: ImportedStudent) -> None:
    if found.imported is None:
        echo(f"{found.student}: skipped: {found.why}", err=True)
    else:
        echo(f"{found.student} → memory/{found.imported.user_id}")


def _print_student(vault: Vault, found: ImportedStudent) -> None:
    _print_whose(found)
    imported = found.imported
    if imported is None:
        return
    if found.profile:
        echo(f"  USER.md: {found.profile}")
    echo(f"  MEMORY.md and daily logs: {found.entries:,} new entries in {plural(found.logs, 'file')}")
    _print_imported(vault, imported)
    for line in found.left[:MAX_LEFT]:
        echo(f"  left where it is: {line}")
    if len(found.left) > MAX_LEFT:
        echo(f"  left where it is: {plural(len(found.left) - MAX_LEFT, 'file')} more")
    if found.paused:
        echo(f"not committed yet: {found.paused}", err=True)
    if imported.unlearned:
        echo(f"not learned: {imported.unlearned}", err=True)


def _print_imported(vault: Vault, found: Imported) -> None:
    zone, kept = vault.config.zone(), found.kept
    days = [f"{at.astimezone(zone):%Y-%m-%d}" for at in (found.first, found.last) if at]
    span = f", {' to '.join(days)}" if days else ""
    echo(f"  {plural(found.conversations, 'conversation')} with {plural(found.turns, 'turn')}{span}")
    replies = f", {kept.completed:,} of them without their reply, which is new" if kept.completed else ""
    there = kept.known + kept.completed
    echo(f"  memory/{found.user_id}/conversations: {plural(kept.added, 'new turn')}, {there:,} there already{replies}")
    for reason, count in found.left_out.items():
        echo(f"  left out: {reason} ({count:,})")
    for category, count in kept.redactions.items():
        echo(f"  redacted: {category} ({count:,})")
    _print_problems(found)


def _print_problems(found: Imported | ImportedCodeBuddy) -> None:
    for line in found.problems:
        echo(f"  {line}", err=True)
    if found.more_problems:
        echo(f"  and {found.more_problems:,} more", err=True)
    if found.index_problem:
        echo(f"degraded: index: {found.index_problem}", err=True)


def _print_next(command: str, found: Imported, *, dry_run: bool) -> None:
    """What was learned, or how it is."""
    if dry_run:
        echo("  nothing was written: that is what it would be")
    elif found.learned is not None:
        shown = f"`vault-memory history --user {found.user_id}` shows them"
        echo(f"  learned: {plural(len(found.learned.changes), 'change')} of preferences; {shown}")
        became = Counter(each.became for each in found.learned.memories)
        if became:
            said = ", ".join(f"{kind} {count:,}" for kind, count in became.items())
            echo(f"  memories: {said}; `vault-memory memory list --user {found.user_id}` shows them")
        if left := found.learned.not_remembered:
            echo(f"  not remembered: {plural(left, 'more turn')} with something memorable: the newest go first")
        if found.learned.paused:
            echo(f"not committed yet: {found.learned.paused}", err=True)
    elif found.turns and not found.unlearned:
        echo(f"  nothing was learned from these turns: `vault-memory import {command} --learn` does that")


class _Progress:
    """How far it is, on standard error: over one line at a terminal, else a line now and then."""

    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty()
        self._interval_s = TERMINAL_INTERVAL_S if self._is_terminal else LINE_INTERVAL_S
        self._next = time.monotonic() + self._interval_s

    def show(self, what: str, done: int, total: int) -> None:
        """Say it, if it is time for it."""
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + self._interval_s
        line = f"{what}: {100 * min(done, total) // max(total, 1)} %"
        if self._is_terminal:
            echo_over(line)
        else:
            echo(line, err=True)

    def end(self) -> None:
        """Make room for the outcome."""
        if self._is_terminal:
            echo_over("")
