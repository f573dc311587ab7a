"""Forgetting in two steps: what would go, with a code; then that, with the code. Without the code nothing happens.

The order is guaranteed. What is begun is noted; then what git tracks is changed, in one commit; then the records, the
other stores and the index; then the note goes. After a kill each step can be taken again (`finish_forgetting`).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import PurePosixPath

from vault_memory.adapters import files
from vault_memory.adapters.files import ReadCache
from vault_memory.adapters.history import Author, Draft
from vault_memory.core import layout, trailers
from vault_memory.core.forgetting import Sought, Wish
from vault_memory.core.trailers import Trailers
from vault_memory.errors import HistoryError, NotFound, UsageError, VaultMemoryError
from vault_memory.services.codes import Codes
from vault_memory.services.forgetting.begun import Begun, end_begun, forgetting_lock, read_begun, write_begun
from vault_memory.services.forgetting.find import Found, Place, sought_by, spared_turns, survey, telling_names
from vault_memory.services.forgetting.receipt import Forgotten, receipt
from vault_memory.services.forgetting.stores import blank_records, empty_stores
from vault_memory.services.indexing import reconcile
from vault_memory.services.memories import drop_deletions, forget_accesses
from vault_memory.services.vault import Vault
from vault_memory.services.write import Plan, Written, refuse_uncommitted, refuse_while_waiting, write

_WISH = "wish"
_UNDATED = (
    "your own notes, and in LEARNING.md the counts and topics without a quiz: they do not say when they were written",
)


@dataclass(frozen=True)
class Forgetting:
    """What would be forgotten, place by place, and the code that does it until `expires_at`. `is_all`: everything that
    is known about the person. `stays` has a line for what may be meant and stays, and why."""

    code: str
    expires_at: datetime
    places: tuple[Place, ...]
    is_all: bool = False
    stays: tuple[str, ...] = ()


def prepare_forgetting(
    vault: Vault,
    user_id: str,
    *,
    text: str = "",
    key: str = "",
    turn: str = "",
    asked: str = "",
    since: date | None = None,
) -> Forgetting:
    """Find what is to be forgotten, named in exactly one way (`core.forgetting.Wish`). Nothing is changed yet. Raises
    `NotFound` where nothing is found, `UsageError` for what cannot be meant."""
    wish = Wish(text, key, turn, asked, since)
    finish_forgetting(vault, user_id)
    found = _found(vault, user_id, wish)
    code, expires_at = _codes(vault, user_id).offer({_WISH: found.digest})
    names = telling_names(vault, user_id, found.sought, found.changes)
    stays = (*(_UNDATED if wish.since else ()), *names, *spared_turns(found.sought))
    return Forgetting(code, expires_at, found.places, found.sought.is_all, stays)


def forget(
    vault: Vault,
    user_id: str,
    code: str,
    *,
    text: str = "",
    key: str = "",
    turn: str = "",
    asked: str = "",
    since: date | None = None,
    author: Author | None = None,
) -> Forgotten:
    """Forget what was shown with the code, named in the same way again: the state holds no word of it. The commit is
    the person's unless another `author` is given. The code is used up, whatever happens.

    Raises `UsageError` for a wrong, used or expired code, and where something else would go by now; `HistoryError`
    while one of the files is staged, or cannot be committed, so that git could not bring it back. Nothing is changed
    then. What goes wrong later is in the receipt, and done by the next `finish_forgetting`."""
    wish = Wish(text, key, turn, asked, since)
    vault.known_user(user_id)
    chosen, _ = _codes(vault, user_id).take(code)
    shown = chosen.get(_WISH)
    finish_forgetting(vault, user_id)
    with forgetting_lock(vault, user_id):
        _refuse_waiting(vault, user_id)
        found = _found(vault, user_id, wish)
        if found.digest != shown:
            raise UsageError("something else would be forgotten by now, or it was another wish: look at it again")
        _refuse_unsafe(vault, found)
        folder = layout.user_dir(user_id)
        begun = Begun(found.sought, tuple(change.path.relative_to(folder).as_posix() for change in found.changes))
        write_begun(vault, user_id, begun)
        try:
            written = _write(vault, user_id, found.sought, author or vault.history.person(), shown)
        except VaultMemoryError:
            end_begun(vault, user_id)  # nothing is changed
            raise
        return _rest(vault, user_id, begun, written)


def finish_forgetting(vault: Vault, user_id: str) -> bool:
    """Go on with what was being forgotten when a process ended; whether there was any. Raises what `write` raises."""
    if not vault.is_user(user_id) or read_begun(vault, user_id) is None:
        return False
    with forgetting_lock(vault, user_id):
        begun = read_begun(vault, user_id)
        if begun is None:
            return False
        _refuse_waiting(vault, user_id)
        done = _rest(vault, user_id, begun, _write(vault, user_id, begun.sought, vault.history.person(), None))
        if done.problems:
            raise VaultMemoryError(f"not all is forgotten yet: {'; '.join(done.problems)}")
        return True


def is_forgetting(vault: Vault, user_id: str) -> bool:
    """Whether something is being forgotten, now or since a process ended."""
    with suppress(VaultMemoryError):
        return read_begun(vault, user_id) is not None
    return True


def _found(vault: Vault, user_id: str, wish: Wish) -> Found:
    found = survey(vault, user_id, sought_by(vault, user_id, wish))
    if not found.places:
        names = "".join(f"; {line}" for line in telling_names(vault, user_id, found.sought))
        raise NotFound(
            f"nothing in {layout.user_dir(user_id)} is meant by that, so nothing would be forgotten: "
            f"`vault-memory search --user {user_id}` finds in which words it stands there{names}"
        )
    return found


def _refuse_waiting(vault: Vault, user_id: str) -> None:
    folder = layout.user_dir(user_id)
    refuse_while_waiting(vault, lambda path: path.is_relative_to(folder), "nothing can be forgotten now")
    if files.names(vault.unlearned(user_id)):
        raise HistoryError(
            "nothing is forgotten before the last turns are learned from: `vault-memory heartbeat --now commits`, or "
            "wait a moment"
        )


def _refuse_unsafe(vault: Vault, found: Found) -> None:
    """Raise where git holds a staged edit of a file: the words would stay there, and the commit would wait."""
    staged = vault.history.working_tree.staged(change.path for change in found.changes)
    if staged:
        named = ", ".join(sorted(map(str, staged)))
        raise HistoryError(f"{named} is staged, and nothing is changed: commit or unstage it first (`git restore -S`)")


def _write(vault: Vault, user_id: str, sought: Sought, author: Author, shown: str | None) -> Written[Found]:
    """Change what git tracks, in one commit: only what was `shown` with the code, if it was."""
    cache = ReadCache()

    def decide() -> Plan[Found]:
        found = survey(vault, user_id, sought, cache.read)
        if shown is not None and found.digest != shown:
            raise UsageError("something else would be forgotten by now: look at it again")
        for change in found.changes:
            refuse_uncommitted(vault, change.path, change.before)
        if not found.changes:
            return Plan(found)
        return Plan(found, [Draft(_message(user_id, found), author, found.changes)])

    first = survey(vault, user_id, sought, cache.read)
    return write(vault, user_id, [change.path for change in first.changes], decide, cache=cache, index=False)


def _rest(vault: Vault, user_id: str, begun: Begun, written: Written[Found]) -> Forgotten:
    """What follows the commit."""
    sought, problems = begun.sought, list[str]()
    try:
        blank_records(vault, user_id, sought)
    except VaultMemoryError as error:
        problems.append(f"the records of conversations: {error}")
    ids = _ids_of(begun.sources)
    problems += empty_stores(vault, user_id, sought, ids)
    with suppress(VaultMemoryError):  # counts, and deletions that wait: they name notes
        forget_accesses(vault, user_id, ids)
        drop_deletions(vault, user_id)
    days = {source.rpartition(":")[0] for source in sought.turns}
    try:
        reconcile(vault, user_id, [*begun.sources, *sorted(days)], confirm_deletions=True)
        vault.index(user_id).purge()
    except VaultMemoryError as error:
        problems.append(f"the index: {error}")
    if not problems:
        end_begun(vault, user_id)
    return receipt(vault, user_id, sought, written, problems, ids)


def _ids_of(sources: Sequence[str]) -> list[str]:
    """The ids of memories by the names of their notes."""
    return [PurePosixPath(source).stem.partition("-")[0] for source in sources]


def _message(user_id: str, found: Found) -> str:
    """The message of the commit. It counts; what was said is in none of its words."""
    places = len(found.places)
    what = "everything" if found.sought.is_all else f"{places:,} {'place' if places == 1 else 'places'}"
    named = Trailers(user=user_id, op="forget")
    if found.sought.by_turn:
        named = Trailers(user=user_id, op="forget", source=next(iter(found.sought.turns), None))
    return trailers.render(f"forget({user_id}): {what}", "", named)


def _codes(vault: Vault, user_id: str) -> Codes:
    return Codes(vault, "forgetting", user_id, "forgetting", "forget")
