"""What the program has made of parts of an erased text: memories, evidence and lines of logs, known by the turn that
they are from, now and in any commit."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from vault_memory.adapters import files
from vault_memory.adapters.erasing import files_of, held_files, known_by
from vault_memory.adapters.git import ObjectReader, Repository
from vault_memory.core import layout, memories, reading
from vault_memory.core.erasing import (
    MASK,
    WHOLE,
    Erasure,
    Part,
    Parts,
    asked_in,
    is_an_id,
    is_cut,
    is_known_by,
    said_in_record,
    share_in,
    words_of_every_vault,
)
from vault_memory.core.notes import entries
from vault_memory.core.profile import NOTE, Profile, read_row
from vault_memory.errors import TooLarge, UsageError, in_command
from vault_memory.services.notes import turn_at
from vault_memory.services.vault import Vault

_LOSSY = ("utf-8", "surrogatepass")
_MADE = ("memory", "note", "daily", "memory-log", "feedback")
"""Kinds of files in which each line, or all, says of which turn it was made; a note where a person has put a memory."""
_HERE = "here"
_MAY_QUOTE = ("learning", "entity", "mistake")
"""Others that the program writes."""


class _Made(NamedTuple):
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


class Learned:
    """What was made of the turns of a user, also under `former` ids, that say one of the texts."""

    def __init__(self, vault: Vault, user_id: str, former: Sequence[str], texts: Sequence[str]) -> None:
        self._vault, self._user_id, self._scopes = vault, user_id, (user_id, *former)
        self._erasure, self._parts = Erasure(texts), Parts(texts)
        self._memories: dict[str, tuple[str, str]] = {}
        self._records: dict[str, Mapping[str, Any] | None] = {}

    def parts(self) -> tuple[Part, ...]:
        """Each file with words that were made of a part of a text, and these; of words of which nothing tells what
        their turn said, only what stands in a text as a whole. Raises `VaultMemoryError` for an archive that cannot be
        read."""
        needed = "\n".join(words_of_every_vault()).encode()  # a value such as `detailed` stays
        found: dict[tuple[PurePosixPath, tuple[str, str, str]], dict[str, None]] = {}
        for source, is_here, all_made in self._turns():
            is_told = any(made.line[2] and not is_cut(made.said) for made in all_made)
            found_in = self._of(source, is_here, dict.fromkeys(made.said for made in all_made), is_told)
            for part in (*found_in, *(part for made in all_made for part in self._in_names(made))):
                with suppress(UsageError):  # it stands in the mark itself
                    if not Erasure([part]).holds(needed):
                        for made in all_made:
                            found.setdefault((made.path, made.line), {})[part] = None
        all_parts = dict.fromkeys(part for parts in found.values() for part in parts)
        if known := [part for part in all_parts if is_known_by(part)]:
            for path, kind in self._of_user():
                if kind in _MAY_QUOTE:
                    found.setdefault((path, WHOLE), {}).update(dict.fromkeys(known))
        return tuple(Part(path, tuple(parts), line) for (path, line), parts in sorted(found.items()))

    def erased_before(self) -> tuple[str, ...]:
        """The ids of memories that have lost words to an erasing, also where only a commit has the memory still, or has
        it with the mark: what a store was sent of them says these words."""
        masked = (path for path, _, data in self._versions(("memory", "note")) if MASK in data)
        return tuple(dict.fromkeys(name for path in masked if is_an_id(name := known_by(path.name))))

    def values(self) -> tuple[str, ...]:
        """The values of today's profile whose evidence quotes one of the texts or a part of it, each behind its key and
        as a command has it."""
        vault, user_id = self._vault, self._user_id
        try:
            profile = Profile.decode(files.read(vault.path(user_id, layout.PROFILE)) or b"")
        except TooLarge:  # `status` says so
            return ()
        found: dict[str, None] = {}
        for line in reading.lines(files.read(vault.path(user_id, layout.FEEDBACK), None) or b""):
            if (row := read_row(line)) is None or row.key == NOTE:
                continue
            is_held = any(item.value == row.value for item in profile.items(row.key)) if row.value else False
            is_said = is_held and self._is_said(row.quote)
            is_here = is_held and self._is_here(row.source, _second(row.at), row.quote)
            if is_said or (is_held and any(True for _ in self._of(row.source, is_here, [row.quote]))):
                found[f"{row.key} {in_command(row.value)}"] = None
        return tuple(found)

    def _turns(self) -> Iterator[tuple[str, bool, list[_Made]]]:
        """(source, whether this machine's record tells of it, what was made of it) of each turn of which something was
        made that may have to do with the texts. Another machine has other turns at the same places: a memory and a line
        of evidence tell the second, a log the minute, and, where two turns were in one, how they begin."""
        of_places: dict[str, list[_Made]] = {}
        for made in list(self._all_made()):
            dated = made._replace(at=_second_of(self._first(made.memory))) if made.memory else made
            of_places.setdefault(made.source or str(made.path), []).append(dated)
        for source, all_made in of_places.items():
            if not any(self._is_said(made.said) or any(self._parts.of(made.said, ())) for made in all_made):
                continue
            turns: dict[int | str, list[_Made]] = {}
            for made in sorted(all_made, key=lambda made: (isinstance(made.at, str), made.at == "")):
                turns.setdefault(self._turn_of(made, turns, all_made), []).append(made)
            for turn, all_of_it in turns.items():
                yield source, turn == _HERE, all_of_it

    def _first(self, memory_id: str) -> str:
        """The memory that a turn made, of which this one was split off or edited: its id tells when that was."""
        seen = {memory_id}
        while (found := self._memories.get(memory_id)) and found[1] not in seen:
            source, before = found
            if self._memories.get(before, ("", ""))[0] != source:
                break
            seen.add(memory_id := before)
        return memory_id

    def _turn_of(self, made: _Made, turns: Mapping[int | str, Sequence[_Made]], others: Sequence[_Made]) -> int | str:
        """Which of the turns at one place it was made of: `_HERE`, or when that was. The surest come first."""
        if isinstance(made.at, int):
            is_here = self._is_here(made.source, made.at, "" if made.memory else made.said)
            return _HERE if is_here and not self._tells_another(others, made.at) else made.at
        told = {
            when: [each.said for each in all_of_it]
            for when, all_of_it in turns.items()
            if any(_is_the_time(made.at, each.at) for each in all_of_it)
        }
        if (turn := self._turn(made.source)) and _is_the_time(made.at, self._second_here(made.source)):
            told = {_HERE: [turn.get("user_message") or "", *told.pop(_HERE, [])], **told}
        if len(told) < 2:
            return next(iter(told), made.at)

        def likeness(when: int | str) -> tuple[bool, float, float]:
            """Another machine may be in another zone; and one turn may say all that another says, and more."""
            at = self._second_here(made.source) if when == _HERE else when
            fullest = max(told[when], key=len)
            return self._shown(at) == made.at, share_in(made.said, told[when]), share_in(fullest, [made.said])

        return max(told, key=likeness)

    def _of(self, source: str, is_here: bool, all_said: Collection[str], is_told: bool = False) -> Iterator[str]:
        """The parts of the texts in words that were made of one turn; `is_told` by a log, whole."""
        if not any(True for said in all_said for _ in self._parts.of(said, ())):
            return  # whatever the turn says
        turn = self._left_of(source, is_here, all_said, is_told)
        for each in all_said:
            if turn is None:
                yield from self._parts.as_a_whole(each)
                continue
            # Words that are a cut beginning of a text as well are a part all the same: they may stand where no title
            # ends. Of a quotation (`…`), which is cut within its words, only what is not found by itself.
            for said in dict.fromkeys((each, self._masked(each)) if "…" not in each else (self._masked(each),)):
                yield from self._parts.of(said, turn) if turn else ()

    def _in_names(self, made: _Made) -> Iterator[str]:
        """What titles and names have of a text that stands in the words themselves, where they are cut within it."""
        if made.names and self._is_said(made.said):
            for name in made.names:
                yield from self._parts.cut_off(name, made.said)

    def _left_of(self, source: str, is_here: bool, all_said: Collection[str], is_told: bool) -> tuple[str, ...] | None:
        """What the person says in a turn without the texts, for of that memories are made, and not of the reply, which
        may say it again. Where the turn does not say a text, or nobody can look at it, as it was forgotten, what was
        made of it tells instead; where that says no text either, nothing, or None for a turn that nobody can look
        at."""
        if layout.turn_place(source) is None:
            return None
        turn = self._turn(source) if is_here else None
        own = () if turn is None else (self._masked(turn.get("user_message") or ""),)
        if turn is not None and any(map(self._is_said, said_in_record(turn))):
            return own
        told = tuple(self._masked(said) for said in all_said if self._is_said(said))
        return (*own, *told) if told else None if turn is None and not is_told else ()

    def _is_here(self, source: str, at: int | str, quote: str) -> bool:
        """Whether the turn at a place in the records of this machine is the one that was at this second. Evidence of a
        turn whose client's clock is ahead has the time of this machine, and a quote of it."""
        if (turn := self._turn(source)) is None:
            return False
        second = self._second_here(source)
        if isinstance(second, str) or isinstance(at, str) or at == second:
            return True
        return at < second and share_in(quote, [turn.get("user_message") or ""]) == 1

    def _tells_another(self, others: Sequence[_Made], at: int) -> bool:
        """Whether a turn of this second that is not the one here is told by a memory, or by a log."""
        turn = self._turn(others[0].source) or {}
        if self._second_here(others[0].source) in (at, ""):
            return False
        message = turn.get("user_message") or ""
        logs = [each.said for each in others if each.line[2] and each.at == self._shown(at)]
        are_here = (
            share_in(said, [message]) == 1 and (is_cut(said) or share_in(message, [said]) == 1) for said in logs
        )
        return any(each.memory and each.at == at for each in others) or not all(are_here)

    def _shown(self, at: int | str) -> str:
        """What a log of this machine shows for a time; another machine may be in another zone."""
        return f"{datetime.fromtimestamp(at, self._vault.config.zone()):%H:%M}" if isinstance(at, int) else at

    def _second_here(self, source: str) -> int | str:
        """When the turn was at a place in the records of this machine; "" where that is not known. A turn of the future
        is among those of the day on which it came, and what was made of it tells that time."""
        at, place = _time(self._turn(source) or {}), layout.turn_place(source)
        if at is None or place is None:
            return ""
        day = at.astimezone(self._vault.config.zone()).date()
        return "" if layout.conversation_source(day) > place[0] else _second(at)

    def _turn(self, source: str) -> Mapping[str, Any] | None:
        if source not in self._records:
            self._records[source] = turn_at(self._vault, self._user_id, source)
        return self._records[source]

    def _is_said(self, words: str) -> bool:
        return self._erasure.holds(words.encode(*_LOSSY))

    def _masked(self, words: str) -> str:
        return self._erasure.masked(words.encode(*_LOSSY)).decode(*_LOSSY)

    def _all_made(self) -> Iterator[_Made]:
        """Of each memory, each line of evidence and each request in a log, in files and commits."""
        seen: set[tuple[PurePosixPath, bytes]] = set()
        for path, kind, data in self._versions():
            if kind in ("memory", "note"):
                if kind == "memory" or b"\nsource: " in data:
                    memory = memories.decode(data.decode("utf-8", "replace"), path.stem)
                    if kind == "memory" or layout.turn_place(memory.source):
                        names = (memory.title, memory.heading, path.stem.partition("-")[2].replace("-", " "))
                        known = known_by(path.name)
                        self._memories[known] = memory.source, memory.supersedes or ""
                        yield _Made(path, memory.source, "", memory.content, names=names, memory=known)
                continue
            new = dict.fromkeys(line for line in reading.lines(data) if (path, line) not in seen)
            seen.update((path, line) for line in new)
            for line in new:
                if kind == "feedback":
                    if row := read_row(line):
                        at, name = _second(row.at), (row.source, row.created_at, "")
                        yield _Made(path, row.source, at, row.quote, name)
                        if row.key == NOTE:  # any other value is a word of a field, which is no text
                            yield _Made(path, row.source, at, row.value, name)
                            profile = layout.user_dir(layout.scope_of(path)) / layout.PROFILE
                            yield _Made(profile, row.source, at, row.value)
                elif request := entries.request_in(line.decode("utf-8-sig", "replace")):
                    name = request.source, request.time, request.words
                    yield _Made(path, request.source, request.time, asked_in(request), name)
                elif kind == "memory-log":
                    yield _Made(path, "", "", re.split(": |：", line.decode("utf-8", "replace"), maxsplit=1)[-1])

    def _versions(self, kinds_made: Collection[str] = _MADE) -> Iterator[tuple[PurePosixPath, str, bytes]]:
        """(path, kind, content) of each file of the user that is made of turns, as it is and as commits have it."""
        made = [(path, kind) for path, kind in self._of_user() if kind in kinds_made]
        top = self._repository.top
        for path, kind in made:
            if (place := top / path).is_file() and not place.is_symlink():
                yield path, kind, files.read(place, None) or b""
        kinds = dict(made)
        held = [each for each in self._held if each[0] in kinds]
        with ObjectReader(top) as reader:
            for (path, _), (_, data) in zip(held, reader.read_all([blob for _, blob in held]), strict=True):
                yield path, kinds[path], data

    def _of_user(self) -> Iterator[tuple[PurePosixPath, str]]:
        """(path, kind) of each file of the user, on the disk and in commits."""
        paths = (*files_of(self._repository), *(path for path, _ in self._held))
        for path in dict.fromkeys(path for path in paths if layout.scope_of(path) in self._scopes):
            if path.suffix == ".jsonl":
                is_evidence = path.name.startswith(PurePosixPath(layout.FEEDBACK).stem)
                yield path, "feedback" if is_evidence else "conversation"
            elif place := layout.place_of(path):
                yield path, layout.kind_of(place)

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


def _second(at: datetime | None) -> int | str:
    """The second of a time; "" where there is none."""
    return int(at.timestamp()) if at else ""


def _second_of(memory_id: str) -> int | str:
    """When the turn was of which a memory was made at once, by its id; "" for any other memory."""
    prefix, _, rest = memory_id.partition("_")
    is_of_a_turn = prefix == memories.SAID_PREFIX and is_an_id(memory_id)
    return int(rest.partition("_")[0]) // 1000 if is_of_a_turn else ""
