"""What the program has made of parts of an erased text: memories, evidence and lines of logs, known by the turn that
they are from, now and in any commit."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import PurePosixPath

from vault_memory.adapters import files
from vault_memory.adapters.erasing import known_by
from vault_memory.core import layout, reading
from vault_memory.core.erasing import (
    MASK,
    WHOLE,
    Erasure,
    Part,
    Parts,
    is_an_id,
    is_cut,
    is_known_by,
    said_in_record,
    words_of_every_vault,
)
from vault_memory.core.profile import NOTE, read_row
from vault_memory.errors import UsageError, in_command
from vault_memory.services.erasing.learned.made import Made, MadeOfTurns, second
from vault_memory.services.vault import Vault

_LOSSY = ("utf-8", "surrogatepass")
_MAY_QUOTE = ("learning", "entity", "mistake")
"""Kinds of files that the program writes, besides those that say of which turn they are."""


class Learned:
    """What was made of the turns of a user, also under `former` ids, that say one of the texts."""

    def __init__(self, vault: Vault, user_id: str, former: Sequence[str], texts: Sequence[str]) -> None:
        self._vault, self._user_id = vault, user_id
        self._made = MadeOfTurns(vault, user_id, former)
        self._erasure, self._parts = Erasure(texts), Parts(texts)

    def parts(self) -> tuple[Part, ...]:
        """Each file with words that were made of a part of a text, and these; of words of which nothing tells what
        their turn said, only what stands in a text as a whole. Raises `VaultMemoryError` for an archive that cannot be
        read."""
        needed = "\n".join(words_of_every_vault()).encode()  # a value such as `detailed` stays
        found: dict[tuple[PurePosixPath, tuple[str, str, str]], dict[str, None]] = {}
        for source, is_here, all_made in self._made.turns(self._may_matter):
            is_told = any(made.line[2] and not is_cut(made.said) for made in all_made)
            said = dict.fromkeys(made.said for made in all_made)
            found_in = tuple(dict.fromkeys(self._of(source, is_here, said, is_told)))
            for part in (*found_in, *(part for made in all_made for part in self._in_names(made, found_in))):
                with suppress(UsageError):  # it stands in the mark itself
                    if not Erasure([part]).holds(needed):
                        for made in all_made:
                            found.setdefault((made.path, made.line), {})[part] = None
        all_parts = dict.fromkeys(part for parts in found.values() for part in parts)
        if known := [part for part in all_parts if is_known_by(part)]:
            for path, kind in self._made.of_user():
                if kind in _MAY_QUOTE:
                    found.setdefault((path, WHOLE), {}).update(dict.fromkeys(known))
        return tuple(Part(path, tuple(parts), line) for (path, line), parts in sorted(found.items()))

    def erased_before(self) -> tuple[str, ...]:
        """The ids of memories that have lost words to an erasing, also where only a commit has the memory still, or has
        it with the mark: what a store was sent of them says these words."""
        masked = (path for path, _, data in self._made.versions(("memory", "note")) if MASK in data)
        return tuple(dict.fromkeys(name for path in masked if is_an_id(name := known_by(path.name))))

    def values(self) -> tuple[str, ...]:
        """The values of the profile, also of former ones, whose evidence quotes one of the texts or a part of it, each
        behind its key and as a command has it."""
        found: dict[str, None] = {}
        for line in reading.lines(files.read(self._vault.path(self._user_id, layout.FEEDBACK), None) or b""):
            if (row := read_row(line)) is None or row.key == NOTE or not row.value:
                continue
            is_here = self._made.is_here(row.source, second(row.at), row.quote)
            if self._is_said(row.quote) or any(True for _ in self._of(row.source, is_here, [row.quote])):
                found[f"{row.key} {in_command(row.value)}"] = None
        return tuple(found)

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

    def _in_names(self, made: Made, found_in: Sequence[str]) -> Iterator[str]:
        """What titles and names have of a text or a part that stands in the words, where they are cut within it."""
        of_parts = Parts(found_in)
        for name in made.names:
            if self._is_said(made.said):
                yield from self._parts.cut_off(name, made.said)
            yield from of_parts.cut_off(name, made.said)

    def _left_of(self, source: str, is_here: bool, all_said: Collection[str], is_told: bool) -> tuple[str, ...] | None:
        """What the person says in a turn without the texts, for of that memories are made, and not of the reply, which
        may say it again. Where the turn does not say a text, or nobody can look at it, as it was forgotten, what was
        made of it tells instead; where that says no text either, nothing, or None for a turn that nobody can look
        at."""
        if layout.turn_place(source) is None:
            return None
        turn = self._made.turn(source) if is_here else None
        own = () if turn is None else (self._masked(turn.get("user_message") or ""),)
        if turn is not None and any(map(self._is_said, said_in_record(turn))):
            return own
        told = tuple(self._masked(said) for said in all_said if self._is_said(said))
        return (*own, *told) if told else None if turn is None and not is_told else ()

    def _may_matter(self, words: str) -> bool:
        return self._is_said(words) or any(True for _ in self._parts.of(words, ()))

    def _is_said(self, words: str) -> bool:
        return self._erasure.holds(words.encode(*_LOSSY))

    def _masked(self, words: str) -> str:
        return self._erasure.masked(words.encode(*_LOSSY)).decode(*_LOSSY)
