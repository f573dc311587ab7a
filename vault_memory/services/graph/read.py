"""A user's graph as the notes have it now. A note is read once, and again when its stamp is another one: the look at
2,000 of them takes some milliseconds, and no index can be out of date."""

from __future__ import annotations

import time
from dataclasses import dataclass

from vault_memory.adapters import scan
from vault_memory.adapters.scan import Stamp
from vault_memory.core import graph, layout
from vault_memory.core.graph import Entity, Graph
from vault_memory.services.vault import Vault

MAX_NOTE_BYTES = 1_000_000
"""So much of a note is read."""
MAX_KEPT = 16
"""Graphs of so many users are kept."""


@dataclass(frozen=True)
class _Read:
    """A note as it was read: its stamp and hash, and the entity in it; or why it could not be read."""

    stamp: Stamp
    content_hash: bytes = b""
    entity: Entity | None = None
    problem: str = ""


@dataclass(frozen=True)
class _Kept:
    """A graph, the notes that it was made of, and their stamps."""

    stamps: dict[str, Stamp]
    notes: dict[str, _Read]
    graph: Graph


def graph_of(vault: Vault, user_id: str) -> Graph:
    """The user's graph, as the notes are now. Raises `NotFound` for an unknown user."""
    with vault.reading(user_id):
        found = scan.listed(vault.root, user_id, graph.FOLDER)
        kept: _Kept | None = vault.graphs.get(user_id)
        if kept and kept.stamps == found.files and not found.problems:
            return kept.graph
        before = kept.notes if kept else {}
        notes = {
            source: _unread(stamp, found.problems[source])
            if source in found.problems
            else _read(vault, user_id, source, stamp, before.get(source))
            for source, stamp in found.files.items()
        }
    notes = {source: each for source, each in notes.items() if each.entity or each.problem}
    made = kept.graph if kept and _is_same(kept.notes, notes) else _made(user_id, notes)
    vault.graphs.pop(user_id, None)
    # Threads may do this at once, and each is right.
    vault.graphs[user_id] = _Kept({source: each.stamp for source, each in notes.items()}, notes, made)
    while len(vault.graphs) > MAX_KEPT:
        vault.graphs.pop(next(iter(vault.graphs)), None)
    return made


def _read(vault: Vault, user_id: str, source: str, stamp: Stamp, before: _Read | None) -> _Read:
    if before is not None and before.stamp == stamp:
        return before
    try:
        content = scan.read(vault.root, user_id, source, MAX_NOTE_BYTES)
    except FileNotFoundError:
        return _Read(stamp)
    except OSError as error:
        return _unread(stamp, f"cannot be read: {error.strerror or error}")
    read_at = scan.stamp_to_record(content.stamp, time.time_ns())
    if before is not None and before.entity and before.content_hash == content.content_hash:
        return _Read(read_at, content.content_hash, before.entity)
    entity = graph.decode(content.data.decode("utf-8", "replace"), source)
    return _Read(read_at, content.content_hash, entity)


def _unread(stamp: Stamp, problem: str) -> _Read:
    return _Read(stamp, problem=problem)


def _is_same(before: dict[str, _Read], now: dict[str, _Read]) -> bool:
    return before.keys() == now.keys() and all(
        before[source].entity is each.entity and before[source].problem == each.problem for source, each in now.items()
    )


def _made(user_id: str, notes: dict[str, _Read]) -> Graph:
    entities = [each.entity for each in notes.values() if each.entity]
    unread = {source: each.problem for source, each in notes.items() if each.problem}
    ordered = sorted(entities, key=lambda each: (graph.name_key(each.name), each.source))
    return Graph(tuple(ordered), (layout.user_dir(user_id) / graph.FOLDER).as_posix(), unread)
