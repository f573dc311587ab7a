"""Every place of a user's files in which what is to be forgotten stands, and the files without it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, time, tzinfo
from pathlib import Path, PurePosixPath

from vault_memory.adapters import files, scan
from vault_memory.adapters.history import FileChange
from vault_memory.core import forgetting, layout, reading
from vault_memory.core.forgetting import Sought, SoughtTurn, Taken, Wish
from vault_memory.core.privacy import PRIVATE
from vault_memory.core.profile import Row, read_row
from vault_memory.errors import NotFound
from vault_memory.services.forgetting.asked import said_of_others, sought_by_asking
from vault_memory.services.notes import read_day, read_ended
from vault_memory.services.profiles import evidence_sources, profile_timezone
from vault_memory.services.vault import Vault

Read = Callable[[Path], bytes | None]
EVIDENCE, CONVERSATION, SUMMARY = "evidence", "conversation", "summary"
_OF_ONE = ("memory", "mistake", "entity", "note")
"""Kinds of file of which a preview shows the beginning, and all goes."""
MAX_NAMES = 10
MIN_QUOTE_CHARS = 4
"""A shorter quote of evidence, such as «Vim», is no text by which other places are found."""


@dataclass(frozen=True)
class Place:
    """A file in which it stands (`source`, in the user's folder), of which kind, and the beginning of each part that
    goes."""

    source: str
    kind: str
    shows: tuple[str, ...]


@dataclass(frozen=True)
class Found:
    """The places, what is `sought` with the turns that were found, and the change of each file that git tracks."""

    places: tuple[Place, ...]
    sought: Sought
    changes: tuple[FileChange, ...]

    @property
    def digest(self) -> str:
        """What tells whether something else is sought, or would go by now."""
        whole = {
            change.path.as_posix(): _hash(change.before)
            for place, change in zip(self.places, self.changes, strict=False)  # the changes are of the first places
            if place.kind in _OF_ONE and change.after is None
        }
        shown = [[place.source, place.kind, [*place.shows]] for place in self.places]
        told = json.dumps([self.sought.as_dict(), shown, whole])
        return hashlib.sha256(told.encode()).hexdigest()


def sought_by(vault: Vault, user_id: str, wish: Wish) -> Sought:
    """What is looked for by a wish, with the turns that are forgotten whole. Raises `NotFound` for an unknown user, and
    for a turn that is not in the record."""
    vault.known_user(user_id)
    zone = zone_of(vault, user_id)
    sought = Sought(synonyms=vault.config.search_synonyms)
    if wish.is_all:
        sought = replace(sought, is_all=True)
    elif wish.text:
        sought = replace(sought, texts=(wish.text,))
    elif wish.key:
        rows = [row for row in _rows(vault, user_id) if row.key == wish.key and row.op != "restore"]
        quotes = {row.quote for row in rows if PRIVATE not in row.quote and len(row.quote) >= MIN_QUOTE_CHARS}
        named = {row.source: SoughtTurn((), "", "", "", row.at) for row in rows if row.source}
        sought = replace(sought, key=wish.key, texts=tuple(sorted(quotes)), turns=named)
    elif wish.turn:
        sought = replace(sought, by_turn=True, turns={wish.turn: SoughtTurn((), "", "", "", None)})
    elif wish.asked:
        sought = sought_by_asking(vault, user_id, wish.asked, [*_rows(vault, user_id)])
    elif wish.since:
        sought = replace(sought, since=datetime.combine(wish.since, time.min, zone))
    turns = _turns(vault, user_id, sought, zone)
    if wish.turn and wish.turn not in turns:
        raise NotFound(
            f"{layout.user_dir(user_id)} has no turn {wish.turn}, or it is forgotten already: `vault-memory history "
            f"--user {user_id}` and the daily logs name the turns"
        )
    if wish.asked and not sought.is_all:  # the logs of turns of other machines may be here
        others = said_of_others(vault, user_id, wish.asked, turns, sought)
        sought = replace(sought, spared={**sought.spared, **{of: (turns[of].conversation_id,) for of in others}})
        turns = {**sought.turns, **{of: turn for of, turn in turns.items() if of not in others}}
    return replace(sought, turns=turns)


def survey(vault: Vault, user_id: str, sought: Sought, read: Read = files.read) -> Found:
    """Look through all files of the user's. `read` reads those that git tracks."""
    zone, folder = zone_of(vault, user_id), layout.user_dir(user_id)
    places, changes = list[Place](), list[FileChange]()
    gone, left = list[Row](), list[Row]()

    def note(source: str, kind: str, before: bytes, taken: Taken) -> None:
        after = None if taken.after is None else taken.after.encode("utf-8", "surrogateescape")
        places.append(Place(source, kind, taken.shows))
        changes.append(FileChange(folder / source, before, after))

    for source in evidence_sources(vault, user_id):
        stored = read(vault.path(user_id, source))
        if stored is not None:
            kept, went, shows = forgetting.of_evidence(stored, sought)
            gone += went
            left += filter(None, map(read_row, reading.lines(kept)))
            if kept != stored:
                note(source, EVIDENCE, stored, Taken(kept.decode("utf-8", "surrogateescape") or None, shows))
    unsupported = forgetting.unsupported(gone, left)
    for source in _sources(vault, user_id):
        kind = layout.kind_of(layout.Place(user_id, source))
        stored = None if kind == CONVERSATION else read(vault.path(user_id, source))
        if stored is None:
            continue
        text = stored.decode("utf-8", "surrogateescape")
        if kind == "profile":
            taken = forgetting.of_profile(text, sought, unsupported)
        else:
            taken = forgetting.taken_out(kind, source, text, sought, zone)
        if taken:
            note(source, kind, stored, taken)
    for source, turn in sought.turns.items():
        if turn.lines:
            places.append(Place(source, CONVERSATION, (forgetting.shown(turn.words),)))
    if (ended := read_ended(vault, user_id)).summary and (places or sought.stand_in(ended.summary)):
        places.append(Place(f"{layout.CONVERSATIONS_DIR}/", SUMMARY, (forgetting.shown(ended.summary),)))
    return Found(tuple(places), sought, tuple(changes))


def zone_of(vault: Vault, user_id: str) -> tzinfo:
    """The person's time zone."""
    return vault.config.zone(profile_timezone(vault, user_id))


def turns_now(vault: Vault, user_id: str, sought: Sought) -> Mapping[str, SoughtTurn]:
    """The turns that are in the record now, with words, of those that are sought."""
    return _turns(vault, user_id, sought, zone_of(vault, user_id))


def shared_notes(vault: Vault, sought: Sought) -> Iterator[str]:
    """Where the texts stand in the notes that are all users'."""
    for source in scan.scan(vault.root, layout.SHARED).files if sought.texts else ():
        stored = files.read(vault.root / source, None) or b""
        if lines := sought.lines(stored.decode("utf-8", "replace")):
            yield f"{source}:{','.join(str(number + 1) for number in sorted(lines)[:10])}"


def spared_turns(sought: Sought) -> Iterator[str]:
    """A line for the turns that stay though they say it."""
    if sought.spared:
        named = ", ".join([*sought.spared][:MAX_NAMES])
        yield f"{named}: says it of somebody else, or in a memory that stays (`forget TEXT` takes it, too)"


def telling_names(vault: Vault, user_id: str, sought: Sought, changes: Collection[FileChange] = ()) -> list[str]:
    """A line for each note, of the user's or shared, whose name, or a folder's, says one of the texts: a search and a
    prompt name it. Those that go by the `changes` are left out."""
    gone, spared = {change.path for change in changes if change.after is None}, sought.spared_ids
    places = [
        layout.scope_dir(scope) / source
        for scope in (user_id, layout.SHARED)
        for source in map(PurePosixPath, _sources(vault, scope))
        if layout.kind_of(layout.Place(scope, source.as_posix())) in _OF_ONE  # other files are called by their days
        and any(map(sought.stand_in, (*source.parent.parts, source.stem)))
        and source.stem.partition("-")[0] not in spared
    ]
    left = [path for path in places if path not in gone]
    named = [f"the name of {path} says it: give the file or its folder another name" for path in left[:MAX_NAMES]]
    return [*named, f"{len(left) - MAX_NAMES:,} more such names"] if len(left) > MAX_NAMES else named


def _turns(vault: Vault, user_id: str, sought: Sought, zone: tzinfo) -> dict[str, SoughtTurn]:
    found: dict[str, SoughtTurn] = {}
    for source in _sources(vault, user_id):
        if layout.recorded_day(source):
            found |= forgetting.turns_in(read_day(vault, user_id, source), source, sought, zone)
    return {source: turn for source, turn in found.items() if _is_that(turn, sought.turns.get(source), sought)}


def _is_that(turn: SoughtTurn, named: SoughtTurn | None, sought: Sought) -> bool:
    """Whether a turn on a line that is named is the turn that is meant: each machine counts its own lines."""
    if named is None or named.at is None or turn.at is None or abs((named.at - turn.at).total_seconds()) < 1:
        return True
    return sought.stand_in(turn.words)


def _sources(vault: Vault, scope: str) -> list[str]:
    return sorted(scan.scan(vault.root, scope).files)


def _rows(vault: Vault, user_id: str) -> Iterator[Row]:
    for source in evidence_sources(vault, user_id):
        yield from filter(None, map(read_row, reading.lines(files.read(vault.path(user_id, source)) or b"")))


def _hash(content: bytes | None) -> str:
    return hashlib.sha256(content or b"").hexdigest()
