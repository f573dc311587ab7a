"""Taking what is forgotten out of what git does not track: the records of turns, what is known of ended conversations,
the short-term store, the outbox of the long-term store and its rows, and what a chat was given."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from vault_memory.adapters import files
from vault_memory.adapters.records import archived_day, put_days
from vault_memory.adapters.state import StateFolder
from vault_memory.core import forgetting, layout, reading, recent
from vault_memory.core.forgetting import Sought, SoughtTurn
from vault_memory.errors import ConfigError, EndpointError, VaultMemoryError
from vault_memory.services.erasing import former_ids
from vault_memory.services.forgetting.find import zone_of
from vault_memory.services.longterm import Dropped, Holds, count_rows, drop_rows, moment_of, said_in
from vault_memory.services.notes import bring_back, ending, read_day, read_ended, write_ended
from vault_memory.services.vault import Vault

_WAIT_S = 5.0


def blank_records(vault: Vault, user_id: str, sought: Sought) -> None:
    """Leave no words of the turns in the records; each keeps its line. Raises `Busy`, `Unwritable` or what the archive
    raises: what is done stays done."""
    home = vault.root / layout.user_dir(user_id)
    by_day: dict[str, list[SoughtTurn]] = {}
    for source, turn in sought.turns.items():
        by_day.setdefault(source.rpartition(":")[0], []).append(turn)
    for source, turns in sorted(by_day.items()):
        with vault.record_lock(user_id):
            after = forgetting.without_turns(before := read_day(vault, user_id, source), turns, vault.now())
            if after == before:
                continue
            _out_of_archive(vault, user_id, source, home)
            files.write_private(vault.path(user_id, source), after, home, within=vault.root)


def _out_of_archive(vault: Vault, user_id: str, source: str, home: Path) -> None:
    """Bring a day back, and leave none of its lines in the archive: where a day is in both, its lines are joined."""
    bring_back(vault, user_id, source)
    day = layout.recorded_day(source)
    if day and archived_day(home, day, vault.root) is not None:
        put_days(home / layout.month_source(day), {}, vault.root, without=[day])


def empty_stores(vault: Vault, user_id: str, sought: Sought, ids: Collection[str]) -> list[str]:
    """Take it out of every other store, with the memories of these ids; returns in words what could not be done, and is
    tried again later."""
    problems = []
    for name, work in (
        ("the summary of the last conversation", _drop_ended),
        ("the short-term store", _drop_short_term),
        ("the outbox of the long-term store", _drop_waiting),
        ("the rows of the long-term store", partial(_drop_rows, ids=ids)),
        ("what chats were given", _drop_injected),
    ):
        try:
            work(vault, user_id, sought)
        except VaultMemoryError as error:
            problems.append(f"{name}: {error}")
    return problems


def _drop_ended(vault: Vault, user_id: str, sought: Sought) -> None:
    """The summary goes, as nobody can tell of which words it was made; so do memories that are to be stored."""
    zone = zone_of(vault, user_id)
    with ending(vault, user_id, _WAIT_S):
        ended = read_ended(vault, user_id)
        waiting = {
            name: note
            for name, note in ended.waiting.items()
            if forgetting.taken_out("memory", f"{name}.md", note, sought, zone) is None
        }
        if ended.summary or len(waiting) < len(ended.waiting):
            ended.summary, ended.summary_at, ended.waiting = "", "", waiting
            write_ended(vault, user_id, ended)


def _drop_short_term(vault: Vault, user_id: str, sought: Sought) -> None:
    history, spared = recent.history_key(user_id), sought.spared_ids
    turns = sought.turns.values()
    times = {turn.created_at for turn in turns if turn.created_at}
    last = {(recent.context_key(turn.conversation_id), int(turn.at.timestamp())) for turn in turns if turn.at}

    def left(key: str, value: str) -> str | None:
        row = recent.decoded(value) or {}
        if row.get("user_id") != user_id and key != history:
            return value
        is_of_turn = row.get("created_at") in times or row.get("timestamp") in times or (key, row.get("ts")) in last
        is_spared = row.get("conversation_id") in spared or key in map(recent.context_key, spared)
        is_said = not is_spared and sought.stand_in(_said(row))
        return None if sought.is_all or is_of_turn or is_said else value

    vault.short_term.drop([recent.context_key("*"), history, recent.PENDING_KEY], left)


def _said(row: Mapping[str, Any]) -> str:
    return "\n\n".join(str(value) for value in row.values() if isinstance(value, (str, dict)))


def _drop_waiting(vault: Vault, user_id: str, sought: Sought) -> None:
    names = {(turn.conversation_id, turn.created_at) for turn in sought.turns.values() if turn.created_at}

    def holds(whose: str, text: str) -> bool:
        turn = reading.json_value(text)
        return whose == user_id and (turn.get("conversation_id"), turn.get("created_at")) in names

    vault.outbox.drop(holds)


def _drop_rows(vault: Vault, user_id: str, sought: Sought, ids: Collection[str]) -> None:
    """After those that wait: what is being sent at this moment is there then."""
    if vault.config.longterm_enabled:
        users = (user_id, *former_ids(vault, user_id))
        try:
            drop_rows(vault, users, _row_is_sought(sought, ids, users), Dropped())
        except (ConfigError, EndpointError) as error:
            raise EndpointError(
                f"{error} It is asked until its rows are gone, and nothing else is forgotten before; where it is gone "
                "for good, set `enabled = false` under [longterm], and its rows are not asked for"
            ) from error


def rows_left(vault: Vault, user_id: str, sought: Sought, ids: Collection[str]) -> int:
    """How many rows of the long-term store are still to go. Raises what `drop_rows` raises."""
    users = (user_id, *former_ids(vault, user_id))
    return count_rows(vault, users, _row_is_sought(sought, ids, users))


def _row_is_sought(sought: Sought, ids: Collection[str], users: Collection[str]) -> Holds:
    """Whether a row is that of a turn that is forgotten or of a memory of these ids, or says what is sought; that it is
    one of these users' says nothing."""
    named = {
        (turn.conversation_id, datetime.fromisoformat(turn.created_at))
        for turn in sought.turns.values()
        if turn.created_at
    }

    spared = sought.spared_ids

    def holds(values: Sequence[str | None]) -> bool:
        at = moment_of(values[1])
        is_named = (values[0], at) in named or values[0] in ids
        said = said_in(value for value in values[2:] if value not in users) if values[0] not in spared else ()
        return sought.is_all or is_named or sought.is_since(at) or any(map(sought.stand_in, said))

    return holds


def _drop_injected(vault: Vault, user_id: str, sought: Sought) -> None:
    """All of it: memory that went with a message may say it, and is put back when the message is sent again."""
    StateFolder(vault.root, f"{layout.INJECTED_DIR}/{layout.check_user_id(user_id)}").drop()
