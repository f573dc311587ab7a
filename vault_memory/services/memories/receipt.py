"""The receipt of a deletion: each store is looked through for what should be gone, and what brings it back is named.

Every line is of a look at the store itself after the deletion, not of what the deletion meant to do. A further store
adds its look to `_looks`.
"""

from __future__ import annotations

import json
import mmap
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from vault_memory.adapters import files
from vault_memory.adapters.index import Traces
from vault_memory.core import layout
from vault_memory.core.memories import Memory
from vault_memory.core.profile import Change, Profile
from vault_memory.core.text import same
from vault_memory.errors import VaultMemoryError, in_command
from vault_memory.services.memories.accesses import accesses
from vault_memory.services.memories.files import MemoryFile, memory_rows
from vault_memory.services.notes import ENDED_FILE
from vault_memory.services.profiles import value_in_words
from vault_memory.services.vault import Vault
from vault_memory.services.write import Written


@dataclass(frozen=True)
class Look:
    """A look for deleted memories in one store: whether none is there any more, and what was looked at, in words."""

    store: str
    is_absent: bool
    says: str


@dataclass(frozen=True)
class Receipt:
    """A deletion: the ids of the memories, the commits that deleted them (`paused` says why one waits), a look at each
    store, a command for each note and value that brings it back, and what still holds the words, in words. `values` are
    those of the profile that went along (`timezone = America/New_York`)."""

    ids: tuple[str, ...]
    commits: tuple[str, ...]
    paused: str | None
    looks: tuple[Look, ...]
    restore: tuple[str, ...]
    kept: tuple[str, ...]
    values: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The receipt as JSON shows it."""
        return {
            "deleted": list(self.ids),
            "commits": list(self.commits),
            "paused": self.paused,
            "verified": [{"store": each.store, "absent": each.is_absent, "says": each.says} for each in self.looks],
            "restore": list(self.restore),
            "kept": list(self.kept),
            "values": list(self.values),
        }


@dataclass(frozen=True)
class Deleted:
    """What a write has deleted: the notes, the values of the profile (`changes`), and why other values stay; by how
    many commits, if none waits."""

    files: tuple[MemoryFile, ...]
    changes: tuple[Change, ...]
    stays: tuple[str, ...]
    commits: int


def seen_before(vault: Vault, user_id: str, sources: Iterable[str]) -> Traces | None:
    """What the index holds of notes that are about to be deleted; None where it cannot be asked."""
    try:
        return vault.index(user_id).traces(tuple(sources))
    except VaultMemoryError:
        return None


def receipt(
    vault: Vault,
    user_id: str,
    written: Written[Deleted],
    traces: Traces | None,
    is_waiting: Callable[[str], bool],
) -> Receipt:
    """The receipt of a deletion that was `written`. `traces` are those of before; `is_waiting` tells of a source
    whether another deletion has chosen it."""
    found, changes = written.result.files, written.result.changes
    before = _commit_before(vault, written)
    paths = [layout.user_dir(user_id) / file.source for file in found]
    held = [path for path in paths if before and vault.history.entry(path, before)]
    copies = "and so have exports and backups of before, and what a sync has sent to other places"
    history = f"git's history: {_many(len(held), 'note')} as of commit {(before or '')[:12]}; {copies}"
    kept = [history] if held else []
    kept += written.result.stays
    kept += dict.fromkeys(_kept(vault, user_id, [file.memory for file in found]))
    return Receipt(
        tuple(file.memory.id for file in found),
        written.commits,
        written.paused,
        (
            *_looks(vault, user_id, found, paths, traces, is_waiting),
            *([_asked("profile", lambda: _in_profile(vault, user_id, changes))] if changes else []),
        ),
        (
            *(f"vault-memory restore {in_command(path)} --to {before}" for path in held),
            *dict.fromkeys(f"vault-memory pref restore --user {user_id} {each.key} --to {before}" for each in changes),
        ),
        tuple(kept),
        tuple(value_in_words(each.key, each.old) for each in changes),
    )


def _kept(vault: Vault, user_id: str, gone: Sequence[Memory]) -> Iterator[str]:
    """What else has the words of deleted memories, or words made of them."""
    ids = {memory.id for memory in gone}
    for memory in gone:
        if memory.source:
            yield f"where {memory.id} comes from: {memory.source}"
        if memory.supersedes and memory.supersedes not in ids:
            yield f"the memory {memory.supersedes}, whose place {memory.id} took"
        if memory.superseded_by and memory.superseded_by not in ids:
            yield f"the memory {memory.superseded_by}, which took the place of {memory.id}"
    for name in _LOGS:
        with suppress(VaultMemoryError):
            text = files.read(vault.path(user_id, name)) or b""
            for named in sorted(ids):
                if named.encode() in text:
                    yield f"{name} names {named}"
    for path in sorted((vault.root / layout.STATE_DIR / "logs").glob("*.jsonl*")):
        if not path.is_symlink() and _holds(path, sorted(ids)):
            yield f"{path.relative_to(vault.root).as_posix()} names the note, whose name has its first words: delete it"
    with suppress(VaultMemoryError):
        yield from _still_said(vault, user_id, _words(gone))


_LOGS = (layout.PROFILE, layout.MEMORY_LOG, layout.FEEDBACK)
"""Files of a user's in which a line may be made of a memory, and then names it."""
MAX_SEARCHED_CHARS = 40
"""By so much of a piece of it a memory is looked for elsewhere: a log quotes the beginning of what was said."""
MIN_SEARCHED_BYTES = 12
"""A shorter piece, such as a heading of one word, stands in other texts as well."""
_PIECE = re.compile(r"[\n\r\t<>\[\]&\"\\]|\s{2,}|^\W+", re.MULTILINE)
MAX_NAMED = 10
"""So many files that say the same are named, and so many lines of one."""


def _words(gone: Sequence[Memory]) -> list[str]:
    """Words of memories by which they are looked for in other places: of each the beginning of its first piece and that
    of its longest one. A piece goes as far as other places write the same: to a line's end, a mark or two blanks."""
    found: list[str] = []
    for memory in gone:
        pieces = [piece for each in _PIECE.split(memory.content) if any(map(str.isalnum, piece := each.strip()))]
        long_enough = [each for each in pieces if len(each.encode()) >= MIN_SEARCHED_BYTES]
        chosen = [*long_enough[:1], max(pieces, key=lambda each: len(each.encode()))] if pieces else []
        found += [each[:MAX_SEARCHED_CHARS].strip() for each in chosen]
    return list(dict.fromkeys(found))


def _in_json(words: str) -> str:
    return json.dumps(words, ensure_ascii=False)[1:-1]


def _still_said(vault: Vault, user_id: str, words: Sequence[str]) -> Iterator[str]:
    """The files of the user's that say the same words, and what takes them out there."""
    sources = vault.index(user_id).holding([*words, *map(_in_json, words)])
    named = 0
    for source in dict.fromkeys([*sources, layout.FEEDBACK]):
        text = (files.read(vault.path(user_id, source), None) or b"").decode("utf-8", "replace")
        lines = [
            str(number)
            for number, line in enumerate(text.split("\n"), 1)
            if any(each in line or _in_json(each) in line for each in words)
        ]
        if not lines and source == layout.FEEDBACK:
            continue
        named += 1
        if named <= MAX_NAMED:
            at = f":{','.join(lines[:MAX_NAMED])}" if lines else ""
            yield f"{source}{at} says the same: {_how_to_remove(source, is_there=bool(text))}"
    if named > MAX_NAMED:
        yield f"{_many(named - MAX_NAMED, 'more file')} that say the same: `vault-memory search` finds them"


def _how_to_remove(source: str, *, is_there: bool) -> str:
    if layout.recorded_day(source) and not is_there:
        return "its month is packed in archive/conversations/; unpack it (gunzip), take the words out there, pack it"
    if source.endswith(".jsonl"):
        return "leave the line empty (the numbers of the others count), or take the words out of it"
    return "take it out there; git's history keeps what was committed"


def _looks(
    vault: Vault,
    user_id: str,
    found: tuple[MemoryFile, ...],
    paths: list[PurePosixPath],
    traces: Traces | None,
    is_waiting: Callable[[str], bool],
) -> Iterator[Look]:
    ids = {file.memory.id for file in found}
    there = [str(path) for path in paths if os.path.lexists(vault.root / path)]
    yield _look("files", there, f"{_many(len(paths), 'path')} on the disk")
    yield _asked("ids", lambda: _rows(vault, user_id, ids))
    yield from _in_index(vault, user_id, traces)
    yield _asked("bytes", lambda: _in_bytes(vault, user_id, _words([file.memory for file in found])))
    yield _asked("state", lambda: _in_state(vault, user_id, found, is_waiting))
    committed = [str(path) for path in paths if vault.history.entry(path) is not None]
    yield _look("git", committed, "the tree of HEAD")


def _rows(vault: Vault, user_id: str, ids: set[str]) -> Look:
    there = [row.source for row in memory_rows(vault, user_id, ids)]
    return _look("ids", there, "all notes of memories, read anew where they have changed")


def _in_index(vault: Vault, user_id: str, traces: Traces | None) -> Iterator[Look]:
    if traces is None:
        for store in ("words", "vectors"):
            yield Look(store, False, "the index could not be asked before: `vault-memory reindex` makes it anew")
        return
    try:
        left = vault.index(user_id).remains(traces)
    except VaultMemoryError as error:
        for store in ("words", "vectors"):
            yield Look(store, False, f"not looked at: {error}")
        return
    chunks = _many(len(traces.chunk_ids), "passage")
    for store, count in (("words", left.files + left.words), ("vectors", left.vectors)):
        yield Look(store, not count, f"{chunks} in the index" + (f": {count:,} rows are left" if count else ""))


def _in_bytes(vault: Vault, user_id: str, words: Sequence[str]) -> Look:
    """Whether the words stand in a file of the index or of the state, though nothing that is indexed says them."""
    told = vault.index(user_id).holding(words)
    looked_at = [path for suffix in ("", "-wal") if (path := Path(f"{vault.index_path(user_id)}{suffix}")).exists()]
    ended = vault.path(user_id, f"{layout.CONVERSATIONS_DIR}/{ENDED_FILE}")
    own = [path for path in _state_of(vault, user_id) if path not in looked_at]
    own += [ended] if ended.exists() else []
    there = [path.name for path in looked_at if not told and _holds(path, words)]
    there += [path.relative_to(vault.root).as_posix() for path in own if _holds(path, words)]
    names = ", ".join(path.name for path in looked_at)
    also = f"; {_many(len(told), 'indexed file')} that the receipt names as kept say the same" if told else ""
    return _look("bytes", there, f"the bytes of {names} and of {_many(len(own), 'file')} of the state{also}")


def _in_profile(vault: Vault, user_id: str, changes: Sequence[Change]) -> Look:
    profile = Profile.decode(files.read(vault.path(user_id, layout.PROFILE)) or b"")
    gone = [each for each in changes if any(same(item.value, each.old) for item in profile.items(each.key))]
    return _look("profile", [value_in_words(each.key, each.old) for each in gone], "the values of USER.md")


def _state_of(vault: Vault, user_id: str) -> list[Path]:
    """The files of the state that are this user's: in a folder of the user's name, or so called."""
    state = vault.root / layout.STATE_DIR
    found = (path for path in state.rglob("*") if path.is_file() and not path.is_symlink())
    return [path for path in found if user_id in (path.stem, path.name, *path.relative_to(state).parts)]


def _holds(path: Path, words: Sequence[str]) -> bool:
    """Whether a file's bytes hold one of the words, plain or as JSON writes them."""
    wanted = {form.encode() for each in words for form in (each, _in_json(each), json.dumps(each)[1:-1])}
    with files.opened(path) as file:
        if not os.fstat(file.fileno()).st_size:
            return False
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return any(data.find(each) >= 0 for each in wanted)


def _in_state(vault: Vault, user_id: str, found: tuple[MemoryFile, ...], is_waiting: Callable[[str], bool]) -> Look:
    counted = accesses(vault, user_id).keys()
    there = [file.memory.id for file in found if file.memory.id in counted or is_waiting(file.source)]
    return _look("state", there, "counts of recalls, and deletions that wait")


def _asked(store: str, look: Callable[[], Look]) -> Look:
    try:
        return look()
    except VaultMemoryError as error:
        return Look(store, False, f"not looked at: {error}")


def _look(store: str, there: list[str], where: str) -> Look:
    more = ", …" if len(there) > 3 else ""
    return Look(store, not there, f"{where}: still {', '.join(there[:3])}{more}" if there else where)


def _commit_before(vault: Vault, written: Written[Deleted]) -> str | None:
    """The commit that holds what was deleted: the one before the deletion, or the last one while that waits."""
    try:
        return vault.history.commit_named(
            f"{written.commits[-1]}~{written.result.commits}" if written.commits else "HEAD"
        )
    except VaultMemoryError:
        return None


def _many(count: int, thing: str) -> str:
    return f"1 {thing}" if count == 1 else f"{count:,} {thing}s"
