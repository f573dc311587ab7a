"""What stores beside the files hold: the short-term store, turns that wait for the long-term store, its rows, and the
indexes. An entry that holds a text goes as a whole: it has the same words as tokens, too."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set
from datetime import datetime
from pathlib import Path

from vault_memory.adapters import files, shortterm
from vault_memory.adapters.erasing import known_by, named_in
from vault_memory.adapters.index import remove_index
from vault_memory.adapters.longterm import RowsKept
from vault_memory.adapters.state import Place
from vault_memory.core import layout, recent
from vault_memory.core.erasing import is_an_id
from vault_memory.core.longterm import targets
from vault_memory.errors import Busy, ConfigError, EndpointError, IndexUnusable, VaultMemoryError
from vault_memory.services.erasing.private_files import names_of
from vault_memory.services.erasing.unreached import POSTGRES, REDIS, Unreached, noted_unreached, used_elsewhere
from vault_memory.services.erasing.wanted import Wanted
from vault_memory.services.indexing import reconcile
from vault_memory.services.longterm import Dropped, drop_rows, note_memories_again, said_in, told_at
from vault_memory.services.vault import Vault

_KEYS = (recent.context_key("*"), recent.history_key("*"), "sessions:*", "session:*", recent.PENDING_KEY)


def clear_short_term(vault: Vault, wanted: Wanted) -> tuple[int, str]:
    """Take entries out of the short-term store: how many, and what could not be done, in words ("": nothing). A Redis
    that is away, and each other one that the vault has ever used, is noted as unreached."""
    store, values = vault.short_term, 0
    missed, told = used_elsewhere(vault, REDIS, wanted, lambda used: store.is_shared and used.address == store.address)
    try:
        dropped = drop_entries(vault, wanted)
    except (EndpointError, ConfigError) as error:
        if store.address or isinstance(error, EndpointError):  # nothing was ever written at an address that is wrong
            missed.append(Unreached(REDIS, Place(store.address), wanted, vault.now()))
        told.append(f"the short-term store was not asked: {error}")
    else:
        values = dropped.values
        if left := ", ".join(dropped.foreign):
            told.append(f"another program's values stay in the short-term store, under keys that we use, too: {left}")
    told += noted_unreached(vault, missed, "it keeps it until it expires")
    return values, "; ".join(told)


def drop_entries(vault: Vault, wanted: Wanted, asked_at: datetime | None = None) -> shortterm.Dropped:
    """Take entries out of the short-term store, those of users whom only another vault knows never; with the time at
    which that was asked for, none that was said later. Raises what the store raises; where Redis is away, the embedded
    one is done before."""
    theirs = {"", wanted.user_id, *wanted.former_ids}
    erasure = wanted.erasure()

    def left(key: str, value: str) -> str | None:
        owner = recent.owner(key, value)
        is_said = erasure is not None and owner in theirs and erasure.holds(value.encode("utf-8", "surrogatepass"))
        if not is_said and owner not in wanted.users:
            return value
        return recent.said_after(key, value, asked_at.timestamp()) if asked_at else None

    return vault.short_term.drop(_KEYS, left)


def clear_outbox(vault: Vault, wanted: Wanted) -> int:
    """Take turns out of those that wait for the long-term store; how many."""
    others = {folder.name for folder in wanted.request.spared}
    erasure, names = wanted.erasure(), _names(wanted)

    def holds(user_id: str, turn: str) -> bool:
        is_named = not wanted.is_user and any(name.search(_bytes(turn)) for name in names)
        is_said = erasure is not None and user_id not in others and erasure.holds(_bytes(turn))
        return user_id in wanted.users or is_named or is_said

    return vault.outbox.drop(holds)


def _names(wanted: Wanted) -> list[re.Pattern[bytes]]:
    """By what a row names an erased user or note, or a memory that loses words: its row goes as a whole."""
    return [each for each in (names_of(wanted), named_in(_memories(wanted))) if each]


def _memories(wanted: Wanted) -> set[str]:
    """The ids of memories of which a part of a text goes, or went before."""
    made = (*(known_by(str(part.path)) for part in wanted.request.parts), *wanted.before)
    return {name for name in made if is_an_id(name)}


def clear_long_term(vault: Vault, wanted: Wanted) -> tuple[int, str]:
    """Delete rows of the long-term store: how many, and what could not be done, in words ("": nothing). A database that
    is away, and each other one that the vault has ever used, is noted as unreached. Nothing is asked where that is not
    wanted."""
    if not wanted.long_term:
        return 0, ""
    dropped, address, problem = Dropped(), _address(vault), ""
    try:
        drop_long_term(vault, wanted, dropped)
    except VaultMemoryError as error:
        problem = f"no row of the long-term store was deleted after the first {dropped.rows:,}: {error}"
        if isinstance(error, RowsKept):
            problem = f"{dropped.rows:,} rows of the long-term store were deleted, and not all that are to go: {error}"

    def is_done(place: Place) -> bool:
        """With a problem an address without more is not done: which of its tables it stands for is not known."""
        return (bool(place.table) or not problem) and dropped.is_done(place)

    missed, told = used_elsewhere(vault, POSTGRES, wanted, is_done, address if problem else None)
    if problem:
        told.insert(0, problem)
        others = _not_done(vault, dropped, address, {each.at for each in missed})
        missed += [Unreached(POSTGRES, each, wanted, vault.now()) for each in others]
    told += noted_unreached(vault, missed, "erase it again when that answers")
    return dropped.rows, "; ".join(told)


def drop_long_term(
    vault: Vault, wanted: Wanted, dropped: Dropped, asked_at: datetime | None = None, at: Place | None = None
) -> None:
    """Delete rows of the long-term store, as `drop_rows` does; with the time at which that was asked for none of a
    later one. What memories that lose words say by now is sent again. Raises what that raises, and `ConfigError` where
    no table is mapped."""
    if not targets(vault.config.longterm_tables, vault.config.longterm_columns_map):
        raise ConfigError("no table is mapped: set longterm.tables and longterm.columns_map (docs/stores.md)")
    erasure, names = wanted.erasure(), _names(wanted)

    def holds(values: Sequence[str | None]) -> bool:
        texts = [_bytes(each) for each in said_in(values)]
        is_named = any(name.search(each) for each in texts for name in names)
        return wanted.is_user or is_named or (erasure is not None and any(map(erasure.holds, texts)))

    def is_meant(values: Sequence[str | None]) -> bool:
        at = told_at(values) if asked_at else None  # a row that tells no time is none that we have written since
        return (at is None or asked_at is None or at <= asked_at) and holds(values)

    drop_rows(vault, (wanted.user_id, *wanted.former_ids), is_meant, dropped, at)
    if _memories(wanted):
        note_memories_again(vault, wanted.user_id)


def _not_done(vault: Vault, dropped: Dropped, address: str | None, missed: Set[Place]) -> list[Place]:
    """What of the database that is set now is not done, besides what is `missed` already: tables that were looked at,
    and others by the names that are mapped, in each server that was ever met at that address."""
    left = [each for each in dropped.looked if not dropped.is_done(each)]
    mapped = targets(vault.config.longterm_tables, vault.config.longterm_columns_map)
    if address is not None:
        met = dict.fromkeys(each.server for each in (*dropped.looked, *missed) if each.address == address)
        names = [each.table for each in mapped[len(dropped.looked) :]] if mapped else [""]
        left += [Place(address, server, table=name) for server in met or [""] for name in names]
    return [each for each in left if not any(known.is_at(each) or each.is_at(known) for known in missed)]


def _address(vault: Vault) -> str | None:
    """Which database is set now; None for none, and for an address that is wrong, at which nothing was ever written."""
    try:
        return vault.database_address
    except ConfigError:
        return None


def clear_indexes(vault: Vault, wanted: Wanted) -> list[str]:
    """Bring the indexes to the files, with nothing of before in their pages; why one could not be, in words."""
    problems: list[str] = []
    for user_id in wanted.users:
        remove_index(vault.index_path(user_id))
    erasure = wanted.erasure()
    for scope in () if wanted.is_user else (layout.SHARED, wanted.user_id):
        path = vault.index_path(scope)
        if not path.exists():
            continue
        try:
            reconcile(vault, scope, full_hash=True, confirm_deletions=bool(wanted.request.gone))
            is_purged = vault.index(scope).purge()
            looks = [each.holds for each in (erasure, wanted.request.parts_of_all) if each]
            if not is_purged or any(holds(page) for page in _pages(path) for holds in looks):
                remove_index(path)  # it is derived: made anew it holds nothing of before
                reconcile(vault, scope)
        except (Busy, IndexUnusable) as error:
            remove_index(path)
            problems.append(f"the index of {layout.label(scope)} is made anew by the next search: {error}")
    return problems


def _pages(path: Path) -> Iterable[bytes]:
    for suffix in ("", "-wal"):
        yield files.read(Path(f"{path}{suffix}"), None) or b""


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
