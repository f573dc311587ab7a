"""Import the conversations that a Redis holds as lists `conversation:{student_id}`, as Super Happy Coder and this
product keep them there: {timestamp, user, assistant, backend}.

Each list becomes turns of the user of that id. Nothing in Redis is changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime, timedelta

from vault_memory.adapters.shortterm import RedisStore
from vault_memory.core import layout, reading, recent
from vault_memory.core.exports import super_happy_coder as records
from vault_memory.core.notes import Turn, journal
from vault_memory.errors import InvalidId, UsageError
from vault_memory.services.importing.imported import Importer, Progress, no_progress
from vault_memory.services.importing.super_happy_coder import ImportedStudent
from vault_memory.services.notes import read_day
from vault_memory.services.profiles import profile_timezone
from vault_memory.services.vault import Vault

_DAY = timedelta(days=1)


def import_redis(
    vault: Vault,
    *,
    students: Mapping[str, str] | None = None,
    learn: bool = False,
    dry_run: bool = False,
    on_progress: Progress = no_progress,
) -> Iterator[ImportedStudent]:
    """Import the lists of the vault's Redis, one after the other, and give what became of each.

    `students` limits it to these, each with the id of its user; without it every list is imported under the id that its
    name is, or means in `identities`. One whose name is no id, or that is of another kind, is skipped. A turn that the
    records hold already, in whichever conversation, is not added again: the lists name none. With `learn` profiles
    learn from the turns, too. With `dry_run` nothing is written.

    Raises `UsageError` where no Redis is set, or has no such list, `ConfigError`, `EndpointError` when Redis cannot be
    used, and what `OldTurns` raises.
    """
    url = vault.redis_url
    if not url:
        raise UsageError("no Redis is set: REDIS_URL=redis://:password@host:6379/0 before the command names it")
    store = RedisStore(url)
    try:
        begin = recent.history_key("")
        names = sorted(key.removeprefix(begin) for key in store.keys(f"{begin}*"))
        if lacking := sorted(set(students or ()) - set(names)):
            raise UsageError(f"Redis has no list {recent.history_key(lacking[0])!r}")
        for at, name in enumerate(names if students is None else students):
            on_progress(f"{name}: conversations", at, len(names))
            found = ImportedStudent(name)
            try:
                user_id = vault.user_of((students or {}).get(name) or name)
                store.newest(recent.history_key(name), 1)  # another program's key may be of another kind
                importer = Importer(vault, user_id, dry_run=dry_run)
            except (InvalidId, UsageError) as error:
                found.why = str(error)
                yield found
                continue
            found.imported = importer.imported
            zone = vault.config.zone(profile_timezone(vault, user_id))
            turns = records.Student(user_id, name, zone, vault.now())
            entries = enumerate((each.encode() for each in store.all(recent.history_key(name))), 1)
            importer.add(_new(vault, found, turns.turns(entries)))
            importer.add((), turns.left_out)
            importer.finish(learn=learn, on_progress=on_progress)
            yield found
    finally:
        store.close()


def _new(vault: Vault, found: ImportedStudent, given: Iterable[Turn | tuple[int, str]]) -> Iterator[Turn]:
    """The turns but for those that stand in the records in another conversation, which are counted."""
    assert found.imported
    days: dict[date, dict[tuple[datetime, str], set[str]]] = {}
    for each in given:
        if not isinstance(each, Turn):
            found.imported.problem(f"{recent.history_key(found.student)}, entry {each[0]}: {each[1]}: skipped")
            continue
        at, there = each.created_at, set[str]()
        for day in {(at + step).date() for step in (-_DAY, _DAY * 0, _DAY)}:
            if day not in days:
                days[day] = _said_on(vault, found.imported.user_id, day)
            there |= days[day].get((at, each.user_message or ""), set())
        if there - {each.conversation_id}:
            found.imported.kept.known += 1
        else:
            yield each


def _said_on(vault: Vault, user_id: str, day: date) -> dict[tuple[datetime, str], set[str]]:
    """What was said when, by a day's record, and in which conversations."""
    said: dict[tuple[datetime, str], set[str]] = {}
    for line in reading.lines(read_day(vault, user_id, layout.conversation_source(day))):
        if row := journal.row_of(line):
            try:
                at = datetime.fromisoformat(row["created_at"])
            except (KeyError, TypeError, ValueError):
                continue
            said.setdefault((at, row.get("user_message") or ""), set()).add(row.get("conversation_id") or "")
    return said
