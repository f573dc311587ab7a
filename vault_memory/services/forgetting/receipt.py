"""The receipt of a forgetting: each store is looked through again, and what still has the words is named."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from vault_memory.core.forgetting import Sought
from vault_memory.core.text import synonyms
from vault_memory.errors import VaultMemoryError, in_command
from vault_memory.services.forgetting.find import (
    Found,
    Place,
    shared_notes,
    spared_turns,
    survey,
    telling_names,
    turns_now,
)
from vault_memory.services.forgetting.stores import rows_left
from vault_memory.services.memories import Look, without_successor
from vault_memory.services.vault import Vault
from vault_memory.services.write import Written

MAX_NAMED, MAX_SEARCHED = 10, 200


@dataclass(frozen=True)
class Forgotten:
    """What was forgotten: the `places`, the commits (`paused` says why one waits), a look at each store, a command for
    each file that brings it back as it was, what still has the words or is recalled again, and what could not be done
    yet: it is tried again with the waiting commits, and by the next forgetting."""

    places: tuple[Place, ...]
    commits: tuple[str, ...]
    paused: str | None
    looks: tuple[Look, ...]
    restore: tuple[str, ...]
    kept: tuple[str, ...]
    problems: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """The receipt as JSON shows it."""
        return {
            "forgotten": [{"source": each.source, "kind": each.kind, "count": len(each.shows)} for each in self.places],
            "commits": list(self.commits),
            "paused": self.paused,
            "verified": [{"store": each.store, "absent": each.is_absent, "says": each.says} for each in self.looks],
            "restore": list(self.restore),
            "kept": list(self.kept),
            "problems": list(self.problems),
        }


def receipt(
    vault: Vault,
    user_id: str,
    sought: Sought,
    written: Written[Found],
    problems: Sequence[str],
    ids: Collection[str],
) -> Forgotten:
    """The receipt of what was `written`, with the memories of these `ids`."""
    found, before = written.result, _commit_before(vault, written.commits)
    held = [change.path for change in found.changes if before and vault.history.entry(change.path, before)]
    return Forgotten(
        found.places,
        written.commits,
        written.paused,
        tuple(_looks(vault, user_id, sought, ids)),
        tuple(f"vault-memory restore {in_command(path)} --to {before}" for path in held),
        tuple(_kept(vault, user_id, sought, found, ids, (before or "")[:12] if held else "")),
        tuple(problems),
    )


def _looks(vault: Vault, user_id: str, sought: Sought, ids: Collection[str]) -> Iterator[Look]:
    left = [each for each in survey(vault, user_id, sought).places if each.kind != "conversation"]
    yield _look("files", [each.source for each in left], "the profile, memories, logs, evidence and all other notes")
    yield _look("records", [*turns_now(vault, user_id, sought)], "the records of conversations, in the archive too")
    of_spared = replace(sought, spared={})
    stays = {each.source for each in survey(vault, user_id, of_spared).places} if sought.spared else set()
    stays |= {source.rpartition(":")[0] for source in sought.spared}
    for text in sought.texts[:MAX_NAMED]:
        yield _searched(vault, user_id, sought, text, stays)
    if vault.config.longterm_enabled:
        yield _rows_looked_at(vault, user_id, sought, ids)


def _rows_looked_at(vault: Vault, user_id: str, sought: Sought, ids: Collection[str]) -> Look:
    try:
        left = rows_left(vault, user_id, sought, ids)
    except VaultMemoryError as error:
        return Look("long-term store", False, f"not looked at: {error}")
    return _look("long-term store", [f"{left:,} rows"] if left else [], "its rows of these turns and memories")


def _searched(vault: Vault, user_id: str, sought: Sought, text: str, stays: Collection[str]) -> Look:
    """The passages that the index proposes for a search, past memories too, but those of files in which something
    `stays` that says it. Shared notes are named as kept."""
    try:
        terms = synonyms.query_terms(text, sought.synonyms)
        found = vault.index(user_id).search(terms, limit=MAX_SEARCHED).chunks if terms.search_terms else []
    except VaultMemoryError as error:
        return Look("search", False, f"not looked at: {error}")
    said = [each.source for each in found if each.source not in stays and sought.stand_in(each.text)]
    return _look("search", said, "the index, for its words")


def _kept(vault: Vault, user_id: str, sought: Sought, found: Found, ids: Collection[str], before: str) -> Iterator[str]:
    if before:
        yield f"git's history, as of commit {before} and earlier; so have exports, backups and remotes what they got"
    if any(each.kind == "conversation" for each in found.places):
        yield "backups that were made with conversations; the records here have a line without words for each turn"
    notes = [*shared_notes(vault, sought)]
    for place in notes[:MAX_NAMED]:
        yield f"{place} says the same and belongs to all users: take it out there"
    if len(notes) > MAX_NAMED:
        yield f"{len(notes) - MAX_NAMED:,} more notes that belong to all users"
    if len(vault.user_ids()) > 1:
        yield "what other users have is theirs, and was not looked at"
    if vault.config.longterm_enabled:
        yield "backups and logs of the long-term store's server"
    yield from telling_names(vault, user_id, sought)
    yield from spared_turns(sought)
    with suppress(VaultMemoryError):  # `status` tells it, too
        yield from without_successor(vault, user_id, ids)


def _look(store: str, there: Sequence[str], where: str) -> Look:
    more = ", …" if len(there) > 3 else ""
    return Look(store, not there, f"{where}: still {', '.join(there[:3])}{more}" if there else where)


def _commit_before(vault: Vault, commits: Sequence[str]) -> str | None:
    """The commit that holds what was forgotten: the one before, or the last one while the commit waits."""
    try:
        return vault.history.commit_named(f"{commits[-1]}^" if commits else "HEAD")
    except VaultMemoryError:
        return None
