"""Reading a note of a scope, as the index sees it: which there are, what one says, and whether it has changed."""

from __future__ import annotations

from dataclasses import dataclass

from vault_memory.adapters import scan
from vault_memory.core import layout
from vault_memory.core.layout import Place
from vault_memory.errors import NotFound, TooLarge
from vault_memory.services.vault import Vault

MAX_NOTE_BYTES = 5_000_000


@dataclass(frozen=True)
class NoteText:
    """A note: its path inside its scope, and what it says."""

    source: str
    content: str


def note_sources(vault: Vault, user_id: str) -> list[str]:
    """The Markdown of a user, by path: the profile first, then the other notes. None for an unknown user."""
    if not vault.is_user(layout.check_user_id(user_id)):
        return []
    found = scan.scan(vault.root, user_id)
    readable = [source for source in found.files if source.endswith(".md") and source not in found.problems]
    return sorted(readable, key=lambda source: (source != layout.PROFILE, source))


def read_note(vault: Vault, scope: str, source: str) -> NoteText:
    """A note of a user, or of the shared scope (""), or the record of a day's conversations. Raises `NotFound` for a
    path that the index does not hold: hidden, a link, outside of the scope; `TooLarge` above `MAX_NOTE_BYTES`."""
    if note_stamp(vault, scope, source) is None:
        raise NotFound(f"there is no note {source[:200]!r} here: a search names the sources of what it finds")
    try:
        found = scan.read(vault.root, scope, source, MAX_NOTE_BYTES + 1)
    except OSError as error:
        raise NotFound(f"{source} cannot be read: {error.strerror or error}") from error
    if len(found.data) > MAX_NOTE_BYTES:
        raise TooLarge(f"{source} is larger than {MAX_NOTE_BYTES:,} bytes: search finds the passages in it")
    return NoteText(source, found.data.decode("utf-8", "replace"))


def note_stamp(vault: Vault, scope: str, source: str) -> tuple[int, ...] | None:
    """What changes when the note is saved; None where there is none that may be read."""
    if "\0" in source or layout.place_of(layout.scope_dir(scope) / source) != Place(scope, source):
        return None
    found = scan.look(vault.root, scope, [source])
    return None if source in found.problems else found.files.get(source)
