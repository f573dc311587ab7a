"""Import the conversations that a chat service gives out (`conversations.json`, or the archive with it)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from vault_memory.adapters.archive import Part, opened_parts
from vault_memory.core import layout
from vault_memory.core.exports import FORMATS, Damaged, elements
from vault_memory.errors import UsageError
from vault_memory.services.importing.imported import Imported, Importer, Progress, no_progress
from vault_memory.services.vault import Vault

_NO_CONVERSATION = "entries that are no conversation"


def import_conversations(
    vault: Vault,
    user_id: str,
    format_name: str,
    paths: Sequence[Path],
    *,
    learn: bool = False,
    dry_run: bool = False,
    on_progress: Progress = no_progress,
) -> Imported:
    """Add the turns of these exports to a person's records; `format_name` is a key of `FORMATS`.

    With `learn` the profile learns from them, too. With `dry_run` nothing is written. What is cut or damaged is
    imported up to that place, which `damaged` names. Raises `UsageError` for a file of another program, `InvalidId`,
    and what `OldTurns` raises.
    """
    importer = Importer(vault, user_id, dry_run=dry_run)
    for path in paths:
        with opened_parts(path, layout.is_export) as parts:
            for part in parts:
                _import_part(vault, importer, format_name, part, on_progress)
    imported = importer.imported
    if not imported.conversations and imported.left_out[_NO_CONVERSATION]:
        title = FORMATS[format_name].title
        raise UsageError(f"{paths[0]} holds no conversation of {title}: give the conversations.json of its export")
    importer.finish(learn=learn, on_progress=on_progress)
    return imported


def _import_part(vault: Vault, importer: Importer, format_name: str, part: Part, on_progress: Progress) -> None:
    source, imported, now = FORMATS[format_name], importer.imported, vault.now()

    def pieces() -> Iterator[bytes]:
        done = 0
        for piece in part.pieces:
            done += len(piece)
            on_progress(f"reading {part.name}", done, part.size)
            yield piece

    try:
        for value in elements(pieces()):
            if source.is_conversation(value):
                conversation = source.read(value, imported.user_id, now)
                importer.add(conversation.turns, conversation.left_out)
            else:
                _refuse_other(format_name, part.name, value)
                imported.left_out[_NO_CONVERSATION] += 1
    except Damaged as error:
        imported.damaged = f"{part.name}: {error}; what comes before is imported: export it again"


def _refuse_other(format_name: str, name: str, value: object) -> None:
    """Raise `UsageError` for an entry of another program's export."""
    for other, format_ in FORMATS.items():
        if other != format_name and format_.is_conversation(value):
            raise UsageError(f"{name} is an export of {format_.title}: `vault-memory import {other}` reads it")
