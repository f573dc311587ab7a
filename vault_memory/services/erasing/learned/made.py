"""What the program has made of turns, in files and commits, and of which turn each is."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, tzinfo
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from vault_memory.adapters import files
from vault_memory.adapters.erasing import files_of, held_files, known_by
from vault_memory.adapters.git import ObjectReader, Repository
from vault_memory.core import layout, memories, reading
from vault_memory.core.erasing import MASK, WHOLE, asked_in, is_an_id, is_cut, share_in
from vault_memory.core.notes import entries
from vault_memory.core.profile import NOTE, read_row
from vault_memory.services.notes import turn_at
from vault_memory.services.profiles import profile_timezone
from vault_memory.services.vault import Vault

_MADE = ("memory", "note", "daily", "memory-log", "feedback")
"""Kinds of files in which each line, or all, says of which turn it was made; a note where a person has put a memory."""
_HERE = "here"
_LAST_S = 253_000_000_000
"""A later second is in no calendar: nobody was there."""


class Made(NamedTuple):
    """Words in a file that were made of a turn: its place ("" where that is not told); when it was, as a time, or as a
    log tells it (`HH:MM`, "" for neither); and the line in which they are, as it names the turn. `names` are titles and
    the name of the file that were made of these, and may be cut; `memory` is its id."""

    path: PurePosixPath
    source: str
    at: int | str
    said: str
    line: tuple[str, str, str] = WHOLE
    names: tuple[str, ...] = ()
    memory: str = ""


class MadeOfTurns:
    """What was made of the turns of a user, also under `former` ids."""

    def __init__(self, vault: Vault, user_id: str, former: Sequence[str]) -> None:
        self._vault, self._user_id, self._scopes = vault, user_id, (user_id, *former)
        self._memories: dict[str, tuple[str, str]] = {}
        self._records: dict[str, Mapping[str, Any] | None] = {}

    def turns(self, may_matter: Callable[[str], bool]) -> Iterator[tuple[str, bool, list[Made]]]:
        """(source, whether this machine's record tells of it, what was made of it) of each turn of which something was
        made whose words may matter. Another machine has other turns at the same places: a memory and a line of evidence
        tell the second, a log the minute, and, where two turns were in one, their words."""
        of_places: dict[str, list[Made]] = {}
        for made in self._all():
            of_places.setdefault(made.source or str(made.path), []).append(made)
        for source, undated in of_places.items():
            if not any(may_matter(made.said) for made in undated):
                continue
            all_made = [made._replace(at=self._made_at(made, undated)) if made.memory else made for made in undated]
            turns: dict[int | str, list[Made]] = {}
            for made in sorted(all_made, key=lambda made: (isinstance(made.at, str), made.at == "")):
                turns.setdefault(self._turn_of(made, turns, all_made), []).append(made)
            for turn, all_of_it in turns.items():
                yield source, turn == _HERE, all_of_it

    def _made_at(self, made: Made, others: Sequence[Made]) -> int | str:
        """When the turn was of which a memory was made. Its id tells, or that of the one of which it was split off or
        edited; a turn of another machine at the same place may have replaced one as well, which its log tells."""
        at, first = _second_of(made.memory), self._first(made.memory)
        if first == made.memory or self._second_here(made.source) == at:
            return at
        before = [each.said for each in others if each.memory == first]
        logs = [each.said for each in others if each.line[2] and _is_the_time(each.at, at)]
        is_of_a_turn = logs and share_in(made.said, logs) > share_in(made.said, before)
        return at if is_of_a_turn else _second_of(first)

    def _first(self, memory_id: str) -> str:
        """The memory of a turn at the same place of which this one was split off or edited, or which it replaced."""
        seen = {memory_id}
        while (found := self._memories.get(memory_id)) and found[1] not in seen:
            source, before = found
            if self._memories.get(before, ("", ""))[0] != source:
                break
            seen.add(memory_id := before)
        return memory_id

    def _turn_of(self, made: Made, turns: Mapping[int | str, Sequence[Made]], others: Sequence[Made]) -> int | str:
        """Which of the turns at one place it was made of: `_HERE`, or when that was. The surest come first."""
        if isinstance(made.at, int):
            is_here = self.is_here(made.source, made.at, "" if made.memory else made.said)
            return _HERE if is_here and not self._tells_another(others, made.at) else made.at
        told = {
            when: [each.said for each in all_of_it]
            for when, all_of_it in turns.items()
            if any(_is_the_time(made.at, each.at) for each in all_of_it)
        }
        turn = self.turn(made.source)
        message = str((turn or {}).get("user_message") or "")
        is_whole = made.line[2] and not is_cut(made.said) and MASK.decode() not in made.said
        if is_whole and turn and share_in(made.said, [message]) < 1:
            told.pop(_HERE, None)  # a log quotes the message of its turn
        elif turn and _is_the_time(made.at, self._second_here(made.source)):
            told = {_HERE: [message, *told.pop(_HERE, [])], **told}
        if len(told) < 2:
            return next(iter(told), made.at)

        def likeness(when: int | str) -> tuple[bool, float, float]:
            """Another machine may be in another zone; and one turn may say all that another says, and more."""
            at = self._second_here(made.source) if when == _HERE else when
            fullest = max(told[when], key=len)
            return self._shown(at) == made.at, share_in(made.said, told[when]), share_in(fullest, [made.said])

        return max(told, key=likeness)

    def is_here(self, source: str, at: int | str, quote: str) -> bool:
        """Whether the turn at a place in the records of this machine is the one that was at this second. Evidence of a
        turn whose client's clock is ahead has the time of this machine, and a quote of it."""
        if (turn := self.turn(source)) is None:
            return False
        second = self._second_here(source)
        if isinstance(second, str) or isinstance(at, str) or at == second:
            return True
        return at < second and share_in(quote, [turn.get("user_message") or ""]) == 1

    def _tells_another(self, others: Sequence[Made], at: int) -> bool:
        """Whether a turn of this second that is not the one here is told by a memory, or by a log."""
        turn = self.turn(others[0].source) or {}
        if self._second_here(others[0].source) in (at, ""):
            return False
        message = turn.get("user_message") or ""
        logs = [each.said for each in others if each.line[2] and each.at == self._shown(at)]
        are_here = (
            share_in(said, [message]) == 1 and (is_cut(said) or share_in(message, [said]) == 1) for said in logs
        )
        return any(each.memory and each.at == at for each in others) or not all(are_here)

    def _shown(self, at: int | str) -> str:
        """What a log of this user shows for a time; another machine, or an earlier profile, may have another zone."""
        return f"{datetime.fromtimestamp(at, self._zone):%H:%M}" if isinstance(at, int) else at

    def _second_here(self, source: str) -> int | str:
        """When the turn was at a place in the records of this machine; "" where that is not known. A turn of the future
        is among those of the day on which it came, and what was made of it tells that time."""
        at, place = _time(self.turn(source) or {}), layout.turn_place(source)
        return second(at) if at and place and place[0] in layout.sources_about(at) else ""

    def turn(self, source: str) -> Mapping[str, Any] | None:
        """The record at a place on this machine; None for none, and for a turn that was forgotten."""
        if source not in self._records:
            self._records[source] = turn_at(self._vault, self._user_id, source)
        return self._records[source]

    def _all(self) -> Iterator[Made]:
        """Of each memory, each line of evidence and each request in a log, in files and commits."""
        seen: set[tuple[PurePosixPath, bytes]] = set()
        for path, kind, data in self.versions():
            if kind in ("memory", "note"):
                if kind == "memory" or b"\nsource: " in data:
                    memory = memories.decode(data.decode("utf-8", "replace"), path.stem)
                    if kind == "memory" or layout.turn_place(memory.source):
                        names = (memory.title, memory.heading, path.stem.partition("-")[2].replace("-", " "))
                        known = known_by(path.name)
                        self._memories[known] = memory.source, memory.supersedes or ""
                        yield Made(path, memory.source, "", memory.content, names=names, memory=known)
                continue
            new = dict.fromkeys(line for line in reading.lines(data) if (path, line) not in seen)
            seen.update((path, line) for line in new)
            for line in new:
                if kind == "feedback":
                    if row := read_row(line):
                        at, name = second(row.at), (row.source, row.created_at, "")
                        yield Made(path, row.source, at, row.quote, name)
                        if row.key == NOTE:  # any other value is a word of a field, which is no text
                            yield Made(path, row.source, at, row.value, name)
                            profile = layout.user_dir(layout.scope_of(path)) / layout.PROFILE
                            yield Made(profile, row.source, at, row.value)
                elif request := entries.request_in(line.decode("utf-8-sig", "replace")):
                    name = request.source, request.time, request.words
                    yield Made(path, request.source, request.time, asked_in(request), name)
                elif kind == "memory-log":
                    yield Made(path, "", "", re.split(": |：", line.decode("utf-8", "replace"), maxsplit=1)[-1])

    def versions(self, kinds_made: Collection[str] = _MADE) -> Iterator[tuple[PurePosixPath, str, bytes]]:
        """(path, kind, content) of each file of the user that is made of turns, as it is and as commits have it."""
        made = [(path, kind) for path, kind in self.of_user() if kind in kinds_made]
        top = self._repository.top
        for path, kind in made:
            if (place := top / path).is_file() and not place.is_symlink():
                yield path, kind, files.read(place, None) or b""
        kinds = dict(made)
        held = [each for each in self._held if each[0] in kinds]
        with ObjectReader(top) as reader:
            for (path, _), (_, data) in zip(held, reader.read_all([blob for _, blob in held]), strict=True):
                yield path, kinds[path], data

    def of_user(self) -> Iterator[tuple[PurePosixPath, str]]:
        """(path, kind) of each file of the user, on the disk and in commits."""
        paths = (*files_of(self._repository), *(path for path, _ in self._held))
        for path in dict.fromkeys(path for path in paths if layout.scope_of(path) in self._scopes):
            if path.suffix == ".jsonl":
                is_evidence = path.name.startswith(PurePosixPath(layout.FEEDBACK).stem)
                yield path, "feedback" if is_evidence else "conversation"
            elif place := layout.place_of(path):
                yield path, layout.kind_of(place)

    @cached_property
    def _zone(self) -> tzinfo:
        return self._vault.config.zone(profile_timezone(self._vault, self._user_id))

    @cached_property
    def _repository(self) -> Repository:
        return Repository(self._vault.history.root)

    @cached_property
    def _held(self) -> list[tuple[PurePosixPath, str]]:
        return held_files(self._repository)


def _time(turn: Mapping[str, Any]) -> datetime | None:
    with suppress(KeyError, ValueError):
        return datetime.fromisoformat(str(turn["created_at"]))
    return None


def _is_the_time(told: int | str, at: int | str) -> bool:
    """Whether what one line tells, a minute in some zone, or nothing, may be this time. Zones differ by quarters of an
    hour."""
    if not isinstance(told, str) or not told or at == "":
        return True
    minute = int(told[:2]) * 60 + int(told[3:])
    return told == at if isinstance(at, str) else (minute - at // 60) % 15 == 0


def second(at: datetime | None) -> int | str:
    """The second of a time; "" where there is none."""
    return int(at.timestamp()) if at else ""


def _second_of(memory_id: str) -> int | str:
    """When the turn was of which a memory was made at once, by its id; "" for any other memory."""
    prefix, _, rest = memory_id.partition("_")
    is_of_a_turn = prefix == memories.SAID_PREFIX and is_an_id(memory_id)
    at = int(rest.partition("_")[0]) // 1000 if is_of_a_turn else _LAST_S
    return at if at < _LAST_S else ""
