"""Save a note, and merge what others saved in it meanwhile."""

from __future__ import annotations

from pathlib import PurePosixPath

from vault_memory.adapters import files
from vault_memory.adapters.files import ReadCache
from vault_memory.adapters.history import Author, Draft, FileChange
from vault_memory.core import layout
from vault_memory.core.merging import merge
from vault_memory.core.notes import note
from vault_memory.core.privacy import redact
from vault_memory.services.person_edits import edit_drafts
from vault_memory.services.vault import Vault
from vault_memory.services.write import Plan, write


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

    What was saved after `base` was read is first committed as the person's edit, then merged: a profile by key, where
    this call's value wins, any other note by lines. Where both changed the same lines, both texts are kept, and the
    line ranges of these conflicts are returned. A file that cannot be merged (it is not Markdown) raises `Changed`.
    Without `merging` any save after `base` raises `Changed`. A profile gets one commit per preference, like a person's
    edit.
    """
    file, cache = files.contained(vault.root, path), ReadCache()

    def decide() -> Plan[bytes]:
        current = cache.read(file)
        content = _content(path, base, current, text) if merging or current == base else None
        if content is None:
            raise files.changed(file, current)
        if content == current:
            return Plan(content)
        drafts = edit_drafts(vault, author, path, current, content)
        return Plan(content, drafts or [Draft(redact(message).text, author, (FileChange(path, current, content),))])

    written = write(vault, layout.scope_of(path), [path], decide, cache=cache)
    return note.conflicts_in(written.result.decode("utf-8", "replace"))


def _content(path: PurePosixPath, base: bytes | None, current: bytes | None, text: bytes) -> bytes | None:
    """The new content of the note; None when the texts cannot be merged."""
    if current is None or current in (base, text):
        return text
    merged = merge.merge_file(path, base, current, text, lambda key: "theirs")
    return merged.text.encode("utf-8", "surrogateescape") if merged else None
