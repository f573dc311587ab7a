"""Make a text the content of a note, whatever somebody else has made of the note meanwhile."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import PurePosixPath

from vault_memory.adapters import files
from vault_memory.adapters.history import Author, Draft, FileChange
from vault_memory.core import layout
from vault_memory.core.notes import conflict, merge
from vault_memory.errors import Busy, Changed
from vault_memory.services.person_edits import commit_person_edits, edit_drafts
from vault_memory.services.vault import Vault

_ATTEMPTS = 20


def save_note(
    vault: Vault,
    path: PurePosixPath,
    base: bytes | None,
    text: bytes,
    message: str,
    author: Author,
    *,
    merging: bool = True,
) -> list[tuple[int, int]]:
    """Write `text`, which was made from `base` (None: there was no note), and commit it. Raises `Changed` or `Busy`.

    What was saved since `base` was read is committed as the person's first and then merged in: a profile by key, of which
    this call has the last word, any other note by lines. Where both changed the same lines, both texts are kept; the line
    ranges of these conflicts are returned. Only a file that cannot be merged (no Markdown) raises `Changed`.
    A profile gives one commit per preference, in the person's way. Without `merging` anything saved since raises `Changed`.
    """
    scope = layout.scope_of(path)
    place = files.contained(vault.root, path)
    for _ in range(_ATTEMPTS):
        with vault.writing(scope) if scope else nullcontext():
            commit_person_edits(vault, scope, [path])
            found = files.read(place)
            content = _content(path, base, found, text) if merging or found == base else None
            if content is None:
                raise files.changed(place, found)
            try:
                if content != found:
                    drafts = edit_drafts(vault, author, path, found, content)
                    vault.history.commit(drafts or [Draft(message, author, (FileChange(path, found, content),))])
            except Changed:
                continue  # a save landed just now: it is taken in by the next round
            return conflict.conflicts_in(content.decode("utf-8", "replace"))
    raise Busy(f"{path} keeps changing: try again when the editor has come to rest")


def _content(path: PurePosixPath, base: bytes | None, found: bytes | None, text: bytes) -> bytes | None:
    """What the note is to hold; None when that cannot be decided."""
    if found is None or found in (base, text):
        return text
    merged = merge.merge_file(path, base, found, text, lambda key: "theirs")
    return merged.text.encode("utf-8", "surrogateescape") if merged else None
