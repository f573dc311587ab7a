"""What one side of a merge has moved into the archive: it is moved in the other states, too, before they are compared.

Else an entry that one machine has moved and another one has deleted or corrected is gone here and new there: it would
come back. The move itself is done again, as the nightly jobs do it, so that what is left to merge are changes of one
and the same file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import PurePosixPath

from vault_memory.adapters.git import FileDifference, changed_files
from vault_memory.core import layout, memories, reading, rotation
from vault_memory.core.memories import Memory
from vault_memory.core.merging import merge
from vault_memory.core.notes import note
from vault_memory.errors import LargeObject, UsageError
from vault_memory.services.vault import Vault


def with_moves_followed(vault: Vault, base: str, ours: str, theirs: str) -> tuple[str, str, str]:
    """The three commits of a merge; what one side has moved into the archive since `base` is there in all of them.

    They are in no branch, on top of the given ones, or these themselves. Nobody's log is touched that git leaves out of
    the disk, that is no text in UTF-8, or in which both sides' texts wait for a person's choice.
    """
    states = [_State(vault, commit) for commit in (base, ours, theirs)]
    changes = [changed_files(vault.history.root, base, side) for side in (ours, theirs)]
    for folder, log in _rotated_logs(changes):
        _follow_rotation(states, changes, folder, log)
    _follow_notes(states, changes)
    base, ours, theirs = (state.committed() for state in states)
    return base, ours, theirs


@dataclass
class _State:
    """A commit, and what is to be otherwise in it."""

    vault: Vault
    commit: str
    new: dict[PurePosixPath, bytes | None] = field(default_factory=dict)

    def read(self, path: PurePosixPath) -> bytes | None:
        return self.vault.history.blob(path, self.commit)

    def committed(self) -> str:
        changed = {path: text for path, text in self.new.items() if text != self.read(path)}
        return self.vault.history.with_entries(self.commit, changed)

    def newest_year(self, folder: PurePosixPath, log: str) -> int | None:
        """The newest year of a log in the archive."""
        listed = changed_files(self.vault.history.root, None, self.commit)
        return max(_years(listed, folder, log), default=None)


# Logs of earlier years ----------------------------------------------------------------------------------------------


def _rotated_logs(changes: Sequence[Sequence[FileDifference]]) -> dict[tuple[PurePosixPath, str], None]:
    """The folders of users and the logs of which a side has changed an archive."""
    return {
        (layout.user_dir(scope), log): None
        for side in changes
        for each in side
        if (scope := layout.scope_of(each.path)) != layout.SHARED
        for log in rotation.LOGS
        if _years([each], layout.user_dir(scope), log)
    }


def _years(files: Sequence[FileDifference], folder: PurePosixPath, log: str) -> set[int]:
    """The years of a log whose archives are among the files."""
    at = folder / layout.ARCHIVE_DIR
    found = {layout.year_of(log, each.path.name) for each in files if each.new and each.path.parent == at}
    return {year for year in found if year is not None}


def _follow_rotation(
    states: Sequence[_State], changes: Sequence[Sequence[FileDifference]], folder: PurePosixPath, log: str
) -> None:
    try:
        texts = [state.read(folder / log) or b"" for state in states]
        if any(map(_is_unclear, texts)) or states[1].vault.history.working_tree.left_out([folder / log]):
            return
        newest = [state.newest_year(folder, log) if log == layout.FEEDBACK else None for state in states]
        years = {
            year
            for side, files in enumerate(changes, 1)
            for year in _years(files, folder, log)
            if _is_moved(log, year, texts, newest, side)
        }
        if not years:
            return
        for state, text, known in zip(states, texts, newest, strict=True):
            kept, moved = rotation.rotated(log, text, max(years) + 1, known)
            for year, pieces in moved.items():
                path = folder / layout.year_source(log, year)
                state.new[path] = rotation.with_pieces(log, state.read(path), text, year, pieces)
                state.new[folder / log] = kept or None
    except LargeObject:  # of a size that is not merged either
        return


def _is_unclear(text: bytes) -> bool:
    return bool(reading.not_utf_8(text) or note.conflicts_in(text.decode("utf-8", "replace")))


def _is_moved(log: str, year: int, texts: Sequence[bytes], newest: Sequence[int | None], side: int) -> bool:
    """Whether a side, 1 or 2, whose archive of a year has changed, has moved that year there: its log has nothing left
    of what the other states' have of it. An archive that a person begins while the year lasts is no such move."""
    pieces = [
        {piece.strip() for piece in rotation.rotated(log, text, year + 1, known).moved.get(year, [])}
        for text, known in zip(texts, newest, strict=True)
    ]
    others = set().union(*(each for at, each in enumerate(pieces) if at != side))
    return bool(others) and pieces[side].isdisjoint(others)


# Notes with an id ---------------------------------------------------------------------------------------------------


def _follow_notes(states: Sequence[_State], changes: Sequence[Sequence[FileDifference]]) -> None:
    moves = [dict(_moved_notes(states[0].vault, side)) for side in changes]
    for path in dict.fromkeys(path for side in moves for path in side):
        places = [path, *(side.get(path, path) for side in moves)]
        texts = [state.read(place) for state, place in zip(states, places, strict=True)]
        place, ends = _settled(places, texts)
        if any(at != place and state.read(place) is not None for state, at in zip(states, places, strict=True)):
            continue  # another note has that name
        for state, at, text, end in zip(states, places, texts, ends, strict=True):
            if text is not None:
                state.new[at] = None
                state.new[place] = _with_end(text, end)


def _moved_notes(vault: Vault, changes: Sequence[FileDifference]) -> Iterator[tuple[PurePosixPath, PurePosixPath]]:
    """The notes of memories, entities and mistakes that have another path, known by their ids, and that path."""
    notes = [each for each in changes if _is_record(each.path)]
    gone = {_id(vault, each.path, each.old): each.path for each in notes if each.new is None}
    come = {_id(vault, each.path, each.new): each.path for each in notes if each.old is None} if gone else {}
    yield from ((path, come[name]) for name, path in gone.items() if name in come)


def _is_record(path: PurePosixPath) -> bool:
    place = layout.place_of(path)
    return place is not None and layout.kind_of(place) in merge.RECORDS


def _id(vault: Vault, path: PurePosixPath, blob: str | None) -> tuple[str, str]:
    """Whose it is, and its id, which all these notes have alike: the name of the file has it, or the note."""
    named = memories.decode("", path.stem).id
    try:
        text = vault.history.stored(blob).read() if blob and named == path.stem else b""
    except LargeObject:
        text = b""
    return layout.scope_of(path), memories.decode(text.decode("utf-8", "surrogateescape"), path.stem).id


def _settled(
    places: Sequence[PurePosixPath], texts: Sequence[bytes | None]
) -> tuple[PurePosixPath, list[datetime | None]]:
    """Where a note is to be in all states, and when it expires in each.

    A memory that one side has archived, and to which the other has given another time, is active: what it was archived
    for does not hold any more.
    """
    ends = [_memory(text).expires_at if text is not None else None for text in texts]
    archived = [at for at in (1, 2) if layout.is_archived(places[at])]
    active = [at for at in (1, 2) if at not in archived and texts[at] is not None]
    if archived and (given := next((at for at in active if ends[at] != ends[0]), None)):
        return places[given], [ends[0] if at in archived else end for at, end in enumerate(ends)]
    if archived:
        end = min((end for at in archived if (end := ends[at])), default=None)
        return max(places[at] for at in archived), [end or each for each in ends]
    return max(place for place in places[1:] if place != places[0]), ends


def _memory(text: bytes) -> Memory:
    return memories.decode(text.decode("utf-8", "surrogateescape"))


def _with_end(stored: bytes, end: datetime | None) -> bytes:
    """The note with that end of its time; as it is where its front matter cannot be read."""
    memory = _memory(stored)
    if memory.expires_at == end:
        return stored
    try:
        text = memories.with_properties(
            stored.decode("utf-8", "surrogateescape"), memory, replace(memory, expires_at=end)
        )
    except UsageError:
        return stored
    return text.encode("utf-8", "surrogateescape")
