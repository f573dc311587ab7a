"""Read a note by any of its names: its path, its file's name, its title, an alias."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import PurePosixPath
from typing import Any

from vault_memory.core import layout, reading
from vault_memory.core.notes import naming
from vault_memory.errors import NotFound, UsageError, in_command
from vault_memory.services.notes import gone, note_stamp, read_note
from vault_memory.services.retrieval.query import Scope, SearchQuery
from vault_memory.services.retrieval.search import reader, refresh
from vault_memory.services.vault import Vault

_LINES = re.compile(r"(.+):(\d{1,7})(?:-(\d{1,7}))?", re.DOTALL)
_MAX_NAMED = 5


@dataclass(frozen=True)
class NoteText:
    """Lines `line_range` (first and last, 1-based, inclusive; (1, 0): it is empty) of a note as it is on disk. `path`
    is from the root of the vault; `commit` is the newest that holds the note so (empty: no commit does)."""

    source: str
    scope: str
    path: str
    content: str
    line_range: tuple[int, int]
    commit: str

    def as_dict(self) -> dict[str, Any]:
        """As JSON shows it."""
        return asdict(self) | {"scope": self.scope or "shared"}


def find_note(vault: Vault, user_id: str, scope: Scope, name: str) -> tuple[str, str]:
    """Scope and source of the one note that is called so, for a known user. Raises `NotFound`, and `UsageError` where
    several are."""
    scopes = SearchQuery("", scope=scope).scopes(user_id)
    for each in scopes:
        for source in _paths(each, name):
            if note_stamp(vault, each, source) is not None:
                return each, source
    refresh(vault, scopes)
    found = []
    for each in scopes:
        called = dict(vault.index(each).called(naming.key(name)))
        lost = gone(vault, each, called)
        found += [(how, each, source) for source, how in called.items() if source not in lost]
    best = [(each, source) for how, each, source in found if how == max(how for how, *_ in found)]
    if len(best) > 1:
        paths = ", ".join(str(layout.scope_dir(each) / source) for each, source in best[:_MAX_NAMED])
        raise UsageError(f"{len(best)} notes are called {name[:200]!r}: name one by its path ({paths})")
    if not best:
        raise NotFound(f"no note is called {name[:200]!r}: `vault-memory search {in_command(name[:80])}` finds notes")
    return best[0]


def read_named(vault: Vault, user_id: str, name: str, scope: Scope = "user") -> NoteText:
    """The note that is called so, or of `name:12-30` those lines, with its commit. Raises `NotFound`, and `UsageError`
    where several notes are called so or the note has no such line."""
    with reader(vault, user_id, scope):
        return _read(vault, user_id, name, scope)


def _read(vault: Vault, user_id: str, name: str, scope: Scope) -> NoteText:
    lines = _LINES.fullmatch(name)
    try:
        place, wanted = find_note(vault, user_id, scope, name), None
    except NotFound:
        if lines is None:
            raise
        place, wanted = find_note(vault, user_id, scope, lines[1]), lines
    note = read_note(vault, *place)
    rows = reading.lines(note.content, keep_ends=True)
    first, last = 1, len(rows)
    if wanted:
        first, last = int(wanted[2]), int(wanted[3] or wanted[2])
        if not 1 <= first <= last or first > len(rows):
            raise UsageError(f"{note.source} has the lines 1 to {len(rows):,}, not {first}-{last}")
    last = min(last, len(rows))
    path = layout.scope_dir(place[0]) / note.source
    commit = _commit(vault, path, note.content)
    return NoteText(note.source, place[0], str(path), "".join(rows[first - 1 : last]), (first, last), commit)


def _commit(vault: Vault, path: PurePosixPath, content: str) -> str:
    held = vault.history.blob(path)
    if held is None or held.decode("utf-8", "replace") != content:
        return ""
    newest = vault.history.log([path], limit=1)
    return newest[0].commit if newest else ""


def _paths(scope: str, name: str) -> Sequence[str]:
    """The sources that a name may be the path of, from the root of the scope or of the vault."""
    path, home = PurePosixPath(name.lstrip("/")), layout.scope_dir(scope)
    inside = path.relative_to(home) if path.is_relative_to(home) else path
    return [f"{inside}{end}" for end in ("", ".md")]
