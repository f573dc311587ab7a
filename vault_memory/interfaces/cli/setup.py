"""`init`: make a vault. `trust`: say yes to settings that came from elsewhere. `hook` and `merge-driver`: called by
git, not by a person."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import click

from vault_memory.core.profile import LOCALES
from vault_memory.errors import in_command
from vault_memory.interfaces.cli import Context, echo, one_line, pass_context, plural, show_foreign

if TYPE_CHECKING:
    from vault_memory.config import Waiting

_MAX_NAMED = 20
"""Files that `init --adopt` leaves untracked and names."""


@click.command()
@click.argument("folder", metavar="[DIR]", default=".", type=click.Path(path_type=Path))
@click.option("--adopt", is_flag=True, help="Accept a folder that holds notes already; they are not changed.")
@click.option(
    "--track",
    type=click.Choice(["markdown", "everything"]),
    help="With --adopt, in a folder without git: the files that git is to track. Default: asked, else markdown.",
)
@click.option(
    "--locale",
    type=click.Choice(LOCALES),
    help="Language of new profiles and of headings. Default: each person's own words decide.",
)
def init(folder: Path, adopt: bool, track: str | None, locale: str | None) -> None:
    """Make DIR (default: the current folder) a vault: starter notes, git repository, hooks, first commit.

    It may be run again: it adds what is missing and changes nothing else. With --adopt it shows what it will add and
    asks first, if there is a terminal.
    """
    from vault_memory.services.admin import create_vault

    is_foreign = adopt and folder.is_dir() and any(folder.iterdir()) and not (folder / "vault-memory.toml").exists()
    try:
        track_all = _ask_to_adopt(folder, track) if is_foreign else False
    except click.Abort:
        echo("nothing was changed", err=True)
        raise
    created = create_vault(folder, adopt=adopt, track_all=track_all, locale=locale or "")
    for path in created.written:
        echo(f"  wrote {path}")
    for line in created.hooks:
        echo(f"  hook {line}")
    if not is_foreign:
        show_foreign(created.root)
    for line in created.notes:
        echo(f"  note {line}")
    changed = created.written or created.hooks
    echo(f"{created.root} is a vault{'' if changed else ' already'}; {plural(created.indexed, 'note')} indexed")
    if created.example:
        here = "" if Path.cwd().is_relative_to(created.root) else f"--vault {in_command(str(created.root))} "
        echo(f"try: vault-memory {here}search {in_command(created.example)}")


def _ask_to_adopt(folder: Path, track: str | None) -> bool:
    """Show what adopting changes, and ask if there is a terminal; whether everything is to be tracked."""
    from vault_memory.services.admin import plan_adoption

    planned = plan_adoption(folder, track_all=track == "everything")
    echo(f"{planned.root} will get:")
    for path in planned.files:
        echo(f"  {path}")
    for path, lines in planned.rules.items():
        echo(f"  in {path}, above your own lines:")
        for line in lines:
            echo(f"    {line}")
    echo("  git hooks; your own hooks keep running")
    echo("  in .git/config merge.vault-memory-profile, by which git merges USER.md")
    echo("  .vault-memory/, which git ignores, with a token for the HTTP server")
    if planned.has_git:
        echo("Git goes on to track what your own .gitignore says.")
    else:
        echo(f"Git will track {plural(planned.tracked, 'file')}, and leave {plural(len(planned.left), 'file')} alone.")
        if planned.tracked:
            echo("`vault-memory watch` and `serve` commit your files, under your name.")
        for path, size in planned.left[:_MAX_NAMED]:
            echo(f"  left: {path} ({size:,} bytes)")
        if len(planned.left) > _MAX_NAMED:
            echo(f"  left: {len(planned.left) - _MAX_NAMED:,} more, which are smaller")
    show_foreign(planned.root)
    if not sys.stdin.isatty():
        if not planned.has_git and track is None:
            echo("No terminal to ask at: Markdown only. `--track everything` tracks all files.")
    elif planned.has_git or track:
        click.confirm("Go on, and make the first commit of these?", default=True, abort=True)
    else:
        choices = click.Choice(["markdown", "everything", "nothing"])
        track = click.prompt("Track what? (nothing: leave the folder as it is)", type=choices, default="markdown")
        if track == "nothing":
            raise click.Abort
    return track == "everything"


@click.command()
@click.option("--yes", is_flag=True, help="Say yes to what is shown, without a question.")
@pass_context
def trust(context: Context, yes: bool) -> None:
    """Show what waits for a yes of this machine, and ask.

    Settings in the vault's file that name where notes and keys go may have come from elsewhere, so they count as unset
    until then. The yes is for these values: one that changes later waits again. It also keeps tokens of which this
    machine does not know that it made them. Exit code 1 while anything waits.
    """
    from vault_memory.services.admin import to_trust
    from vault_memory.services.admin import trust as say_yes
    from vault_memory.services.daemon import is_running

    vault = context.open()
    waiting = to_trust(vault)
    if not waiting:
        echo("nothing waits: every setting in the file is in force")
        return
    echo(f"{vault.root}: {plural(len(waiting), 'value')} may have come from elsewhere")
    for value in waiting:
        _show(value)
    if not (yes or _is_agreed()):
        echo("nothing was changed; `vault-memory trust --yes` says yes to these values", err=True)
        raise SystemExit(1)
    say_yes(vault, waiting)
    echo(f"this machine said yes to {plural(len(waiting), 'value')}")
    if is_running(vault.root):
        echo("`watch` and `serve` read settings when they start: start the running one again")


def _show(value: Waiting) -> None:
    """The yes is for the whole value, of which no password or key is shown: it may stand on a screen or in a log."""
    from vault_memory.core.privacy import shown_address, without_credentials

    echo()
    echo(f"  {one_line(shown_address(value.key))}")
    for line in _lines(value.value, shown_address):
        look_alike = "" if line.isascii() else f"   (in ASCII: {ascii(line)[1:-1]})"  # а is not a
        echo(f"      {one_line(line)}{look_alike}")
    echo(f"      {one_line(without_credentials(value.effect))}")
    echo(f"      why it waits: {one_line(value.why)}")


def _lines(value: Any, shown: Callable[[str], str]) -> list[str]:
    """A value for people, each text as it is `shown`: a list has a line for each member."""
    if isinstance(value, list):
        return [line for member in value for line in _lines(member, shown)]
    if isinstance(value, Mapping):
        return [", ".join(f"{name} = {shown(str(inner))}" for name, inner in value.items())]
    return [shown(str(value))]


def _is_agreed() -> bool:
    return sys.stdin.isatty() and click.confirm("\nSay yes to these values?", default=False)


@click.command("merge-driver")
@click.argument("base", type=click.Path(path_type=Path))
@click.argument("ours", type=click.Path(path_type=Path))
@click.argument("theirs", type=click.Path(path_type=Path))
@click.argument("name", metavar="PATH")
def merge_driver(base: Path, ours: Path, theirs: Path, name: str) -> None:
    """Merge two versions of USER.md or of a memory into the file OURS; the exit code is 1 when a person must decide."""
    from vault_memory.services.sync import merge_driver as merge

    if conflicts := merge(base, ours, theirs, PurePosixPath(name)):
        for conflict in conflicts:
            echo(conflict, err=True)
        raise SystemExit(1)
