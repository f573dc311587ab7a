"""`erase`: a user, a text or a note goes for good, from history too."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vault_memory.errors import UsageError, VaultMemoryError
from vault_memory.interfaces.cli import Context, echo, pass_context, plural

if TYPE_CHECKING:
    from vault_memory.services.erasing import Preview, Receipt

_MAX_SHOWN = 10


@click.command()
@click.option("--user", "user_id", metavar="ID", default="", help="All of this user; with --text: whose text it is.")
@click.option("--text", "texts", metavar="TEXT", multiple=True, help="A text, in all its forms. May be given again.")
@click.option("--note", metavar="PATH|ID", default="", help="A note: its path in the vault, or the id of a memory.")
@click.option("--long-term", is_flag=True, help="Delete rows of the long-term store, too.")
@click.option("--backup", "backup_file", metavar="FILE", type=click.Path(path_type=Path), help="Write a backup first.")
@click.option("--push", "remote", metavar="REMOTE", default="", help="Then write the new history over this remote's.")
@pass_context
def erase(
    context: Context,
    user_id: str,
    texts: tuple[str, ...],
    note: str,
    long_term: bool,
    backup_file: Path | None,
    remote: str,
) -> None:
    """Erase a user, a text or a note for good: from files, git's history, conversations, indexes and stores.

    It shows what would go and what cannot be reached, and asks. It cannot be undone, and no backup is made unless
    --backup names one: that would hold what is to be gone. Commits keep their dates and authors and get other hashes;
    the former ones lead to them. Afterwards what was erased is refused when an import, a sync or a restore brings it
    back. An erasing that was interrupted goes on with the next command.

    \b
    vault-memory erase --user alice
    vault-memory erase --user alice --text '我的舊地址'
    vault-memory erase --note memory/alice/notes/plan.md
    vault-memory erase --push origin
    """
    from vault_memory.services import erasing

    vault = context.open()
    kinds = sum((bool(texts), bool(note), bool(user_id and not texts and not note)))
    if kinds > 1 or (kinds == 0 and not remote):
        raise UsageError("say what to erase: --user ID, --text TEXT (with --user ID: whose), or --note PATH")
    if kinds:
        name = vault.user_of(user_id) if user_id else ""
        if note:
            wanted = erasing.of_note(vault, note, name, long_term=long_term)
        elif texts:
            wanted = erasing.of_texts(vault, name, texts, long_term=long_term)
        else:
            wanted = erasing.of_user(vault, name, long_term=long_term)
        if remote:
            erasing.prepare_overwrite(vault, remote)  # before anything goes: what only the remote has would be lost
        shown = erasing.preview(vault, wanted)
        _show_preview(shown)
        if shown.is_nothing:
            echo("no file and no commit holds it; indexes and stores are looked through all the same")
        if backup_file is None:
            echo("no backup is made: it would hold what is to be gone (--backup FILE makes one first)")
        _ask(wanted.in_words(), "nothing was erased")
        if backup_file is not None:
            from vault_memory.services.admin import backup

            for line in backup(vault, backup_file):
                echo(line, err=True)
            echo(f"{backup_file} holds all of it: delete it when you no longer need it")
        _show_receipt(erasing.erase(vault, wanted))
    if remote:
        _push(context, remote)


def _push(context: Context, remote: str) -> None:
    from vault_memory.services import erasing

    vault = context.open()
    planned = erasing.prepare_overwrite(vault, remote)
    if not planned.needed:
        echo(f"{remote}: nothing there is from before an erasing; `vault-memory sync` sends what is new")
        return
    echo(
        f"the branch {planned.branch} of {remote} would be overwritten: {planned.theirs[:10]} becomes "
        f"{planned.head[:10]}, if it is there still. Its other branches and tags, and what it keeps of deleted commits "
        "stay; who has cloned it must clone anew"
    )
    _ask(f"push {remote}", f"{remote} is as it was")
    erasing.overwrite(vault, planned)
    echo(f"{remote} has the new history")


def _ask(words: str, otherwise: str) -> None:
    """Go on only where the person types these words."""
    echo(f"Type «{words}» to go on, anything else to stop:")
    if sys.stdin.readline().strip() != words:
        raise VaultMemoryError(f"that was something else: {otherwise}")


def _show_preview(shown: Preview) -> None:
    echo(f"to be erased: {plural(shown.git.commits, 'commit')} made anew, {plural(shown.git.refs, 'reference')} moved")
    _list("found as", shown.forms)
    _list("goes along, learned from a part of it", shown.clauses)
    _list("stands in", shown.places)
    _list("goes, what a tag says", shown.git.tags)
    _list("files changed or deleted", [*map(str, shown.git.files), *shown.private])
    _list("stays", shown.kept)
    _list("cannot be reached from here", shown.out_of_reach)


def _show_receipt(receipt: Receipt) -> None:
    echo(
        f"erased: {plural(receipt.commits, 'commit')} made anew, {plural(receipt.files, 'file')} changed or deleted, "
        f"{receipt.entries:,} entries of stores and {plural(receipt.rows, 'row')} of the long-term store deleted"
    )
    _list("went along, learned from a part of it", receipt.clauses)
    _list("is called now", receipt.renamed)
    _list("went, what a tag said", receipt.tags)
    _list("stays", receipt.kept)
    _list("still out of reach", receipt.out_of_reach)
    _list("problem", receipt.problems)
    if receipt.left:
        _list("still there", receipt.left)
        raise VaultMemoryError("a second look found something still: run the same command again")
    echo("a second look through history and files found nothing")


def _list(what: str, lines: Sequence[str]) -> None:
    for line in lines[:_MAX_SHOWN]:
        echo(f"  {what}: {line}")
    if len(lines) > _MAX_SHOWN:
        echo(f"  {what}: and {len(lines) - _MAX_SHOWN:,} more")
