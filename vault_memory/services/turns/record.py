"""Record one turn: keep it, learn from it, commit what it changed, index it.

The order is guaranteed. First the turn is made durable in `conversations/`. Then preferences are extracted from it,
without a lock. Then the assistant's changes are written on top of the person's own edits (`services/write.py`), one
commit per preference and one for the logs, as one batch. While a person is in the middle of a rebase or the like, or
when something is wrong with git or the disk, only the first step is taken: the others follow later (`learn_waiting`).
"""

from __future__ import annotations

import contextlib
import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

from vault_memory.adapters.files import ReadCache
from vault_memory.core import layout, payload
from vault_memory.core.extraction import problem, why_nothing
from vault_memory.core.notes import Reply, Turn, journal
from vault_memory.core.profile import Change, Suggestion
from vault_memory.errors import ForeignFile, NotFound, TooLarge, VaultMemoryError
from vault_memory.services.forgetting import asked_for
from vault_memory.services.longterm import note_for_long_term
from vault_memory.services.memories import Kept, too_many
from vault_memory.services.notes import bring_back, read_day
from vault_memory.services.profiles import ProfileFiles
from vault_memory.services.redactor import Redactor
from vault_memory.services.shortterm import note_kept_turn
from vault_memory.services.turns.redactions import add_redactions
from vault_memory.services.turns.steps.append import InRecord, append_line, append_turn, filed_at, in_the_future
from vault_memory.services.turns.steps.learn import NOTHING, Learned, learn_turn
from vault_memory.services.turns.steps.logs import MAX_SEARCHED_CHARS, quote_of, reflection_of
from vault_memory.services.turns.steps.markers import WAIT_S, line_digest, next_marker, set_untouched, strike_off
from vault_memory.services.turns.steps.waiting import LATER, learn_earlier
from vault_memory.services.turns.validate import new_conversation_id, validate_and_normalize
from vault_memory.services.vault import Vault
from vault_memory.services.write import Written, index_problem

_NO_WORDS = ("user_id", "created_at", "exit_code")
"""Fields of a turn that hold nothing of what was said."""


@dataclass(frozen=True)
class Recorded:
    """A recorded turn.

    `source` is the line of the conversation record, `conversations/2026-01-30.jsonl:12`; it is empty off the record.
    `sources` are the files that changed. `paused` says why the commits wait, if they do, or why nothing was learned.
    `redactions` counts what was kept out, by category. `degraded` says in words what could not be used.
    `user_id` is the person's id as of `as_of` (`Vault.renamings`). `is_new`: not if it was in the record already.
    `is_complete`: its reply is in the record, too, and has ended. `suggestions` wait for the person to accept them.
    `memories` are the typed memories that it has left behind, or reinforced. `reason` says why a turn that asks to be
    remembered has changed nothing; `not_forgotten` says in words for what nothing was found that it asks to forget.
    `to_forget` is what it asks to forget, in its words: memories of that are gone now, and `services.forgetting` finds,
    shows and forgets what else holds it, if it is `asked` with `source`.
    """

    source: str
    changes: tuple[Change, ...] = ()
    commits: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    paused: str | None = None
    redactions: Mapping[str, int] = field(default_factory=dict)
    degraded: tuple[str, ...] = ()
    user_id: str = ""
    as_of: int = 0
    is_new: bool = True
    is_complete: bool = False
    suggestions: tuple[Suggestion, ...] = ()
    memories: tuple[Kept, ...] = ()
    reason: str = ""
    not_forgotten: tuple[str, ...] = ()
    to_forget: tuple[str, ...] = ()


def record_turn(
    vault: Vault,
    user_id: str,
    user_message: str | None,
    assistant_message: str | None = "",
    *,
    skill: str | None = None,
    exit_code: int | None = None,
    conversation_id: str | None = None,
    created_at: datetime | str | None = None,
    reflection: Mapping[str, Any] | str | None = None,
    cid: str | None = None,
    backend: str | None = None,
    record: bool = True,
    learn: bool = True,
    index: bool = True,
    as_of: int | None = None,
    request: str | None = None,
    goes_on: bool = False,
    context: str | None = None,
    known: dict[str, str] | None = None,
    is_whole: bool = False,
) -> Recorded:
    """Keep a turn and learn from it. Off the record (`record=False`, or a user in `off_record`) nothing is kept.

    `core.payload.normalized` says of what form it is. `conversation_id` and `created_at` name a turn: said again under
    the same name, the same words are the same turn; if there is more in it than in the record, `degraded` says so.
    Where `assistant_message` is None, `add_reply` adds it, unless the turn `is_whole` without one. Then `request` names
    what the client has sent: the same within `RETRY_S` of its turn's last line is a retry of it, and at any time if the
    request `goes_on` with it.
    `context` came with the message, but from whom is uncertain: it is kept, and nothing is learned from it.
    `known` are the secrets that were found in this conversation before (`Redactor`).

    The turn can be searched when this returns; with `index=False` only after the caller has indexed `sources`. With
    `learn=False` it is only kept, and the caller calls `learn_waiting`. It is that of the person who had `user_id` as
    of `as_of` (`Vault.renamings`; None: now), whatever the id is by now. Raises `NotFound` when that person has none,
    what `validate_and_normalize` raises, and `VaultMemoryError` when the turn cannot be kept. What goes wrong after it
    is in the conversation record, with git, a disk or an index, or because another writer holds the user's files, is in
    the result.
    """
    asked = layout.check_user_id(user_id)
    said = validate_and_normalize(
        vault,
        {
            "conversation_id": conversation_id or new_conversation_id(),
            "user_id": user_id,
            "user_message": user_message,
            "assistant_message": assistant_message,
            "reflection": reflection,
            "cid": cid,
            "created_at": created_at,
            "skill": skill,
            "backend": backend,
            "exit_code": exit_code,
            "context": context,
        },
    )
    user_id, as_of = vault.id_now(user_id, vault.renamings() if as_of is None else as_of)
    if not record or vault.config.is_off_record(asked, user_id):
        return Recorded("", user_id=user_id, as_of=as_of)
    redact = Redactor(known)
    texts = {name: redact(value) for name, value in said.items() if name not in _NO_WORDS}
    vault.refuse_erased(user_id, lambda: payload.said_texts(texts), "this turn")
    at = datetime.fromisoformat(said["created_at"])
    turn = Turn(user_id=user_id, created_at=at, exit_code=exit_code, request=request, **texts)
    cache = ReadCache()
    quote, private_counts = quote_of(vault, turn)
    private_counts = Counter(private_counts) + Counter(reflection_of(turn)[1])
    is_begun = False

    def begin() -> None:
        nonlocal is_begun
        is_begun = True

    with contextlib.ExitStack() as held:
        while True:
            before, at = None, filed_at(vault, turn).astimezone(vault.config.zone())
            with contextlib.suppress(TooLarge, ForeignFile):  # it is raised again below: the turn is kept first
                before = ProfileFiles.read(vault, user_id, at, cache.read)
                at = before.at
            is_named = bool(conversation_id and created_at)
            kept = append_turn(vault, turn, as_of, at, held, is_named=is_named, goes_on=goes_on)
            if isinstance(kept, InRecord):
                return _known(vault, turn, as_of, kept)
            if kept:
                turn, line, marker = kept
                break
            user_id, as_of = vault.id_now(user_id, as_of)
            turn = replace(turn, user_id=user_id)
        unsent = note_for_long_term(vault, json.loads(turn.line()), is_whole=is_whole)
        try:
            if learn:
                until = time.monotonic() + WAIT_S
                if learn_earlier(vault, user_id, marker, until) or before is None:
                    before = ProfileFiles.read(vault, user_id, at, cache.read)
                written = learn_turn(vault, turn, as_of, line, before, quote, cache, until, begin)
                strike_off(vault, user_id, marker)
            else:
                written = Written(NOTHING, (), None, ())
        except LATER as error:  # raised, it would make the caller say the turn again
            written = Written(NOTHING, (), _why_later(error), ())
        if not is_begun:
            with contextlib.suppress(*LATER, OSError):  # it saves a look at the history
                set_untouched(vault, user_id, marker)
    redactions = redact.counts + private_counts
    if redactions:
        add_redactions(vault, user_id, redactions, as_of)
    record_file = layout.user_dir(user_id) / line.source.rpartition(":")[0]
    paths = [record_file, *written.paths]
    index_is_wrong = index_problem(vault, paths) if index else None
    sources = sorted(path.relative_to(layout.user_dir(user_id)).as_posix() for path in paths)
    may_be_answered = turn.assistant_message is None and not is_whole
    noted = "" if may_be_answered else note_kept_turn(vault, json.loads(turn.line()))
    return Recorded(
        line.source,
        written.result.changes,
        written.commits,
        tuple(sources),
        written.paused,
        dict(redactions),
        (
            *vault.config.waits(),
            *_degraded(index_is_wrong),
            *filter(None, [in_the_future(vault, turn), problem() if learn else None, noted, unsent]),
            *(f"the memory {each} had to go: {too_many(vault)}" for each in written.result.expired),
        ),
        user_id,
        as_of,
        suggestions=written.result.suggestions,
        memories=written.result.memories,
        reason=_why_nothing(vault, turn, before, written) if learn and before else "",
        not_forgotten=written.result.not_forgotten,
        to_forget=asked_for(turn.user_message or "", vault.lexicon()) if learn else (),
    )


def _known(vault: Vault, turn: Turn, as_of: int, found: InRecord) -> Recorded:
    return Recorded(
        f"{found.source}:{found.kept.number}",
        degraded=() if turn.request else _not_kept(vault, turn, found.kept),
        user_id=turn.user_id,
        as_of=as_of,
        is_new=False,
        is_complete=found.kept.is_complete,
    )


def _not_kept(vault: Vault, turn: Turn, kept: journal.KeptTurn) -> tuple[str, ...]:
    """What a turn that is in the record already has more than that, in words."""
    if journal.is_forgotten(kept.row):
        return ("the turn is forgotten, and stays so: nothing of it is kept",)
    row = kept.joined
    more = [
        *(["reply"] if not str(row.get("assistant_message") or "").startswith(turn.assistant_message or "") else []),
        *(["reflection"] if turn.reflection not in (None, payload.kept_reflection(row.get("reflection"))) else []),
    ]
    told = f"the turn is in the record without this {' and this '.join(more)}, and its line stays as it is: send "
    told += "what is said later as a turn with a created_at of its own"
    if vault.config.longterm_enabled:  # it is sent what is in the record
        told += "; the row of the long-term store gets it by `persist_long_term`"
    return (told,) if more else ()


def _why_later(error: VaultMemoryError) -> str:
    """Why nothing was learned from a turn yet, and what will. Nobody is to try again: that would be another turn."""
    why = str(error).removesuffix(": try again")
    return (
        "nothing was learned from this turn yet, but it is in the record and need not be said again: the next turn "
        f"learns from it, too, and so does `vault-memory heartbeat --now commits` ({why})"
    )


def _why_nothing(vault: Vault, turn: Turn, before: ProfileFiles, written: Written[Learned]) -> str:
    result = written.result
    if result.changes or result.suggestions or result.memories or result.not_forgotten or written.paused:
        return ""
    message = (turn.user_message or "")[:MAX_SEARCHED_CHARS]
    return why_nothing(message, turn.assistant_message or "", before.profile.values(), vault.lexicon())


def record_turns(vault: Vault, turns: Iterable[Mapping[str, Any]]) -> Iterator[Recorded]:
    """Record many turns, each given as the arguments of `record_turn`; the index is updated once, with the last, and no
    entry in a log waits for its commit then.

    Raises what `record_turn` raises; what was recorded before that is indexed too, as far as its index can be used.
    """
    paths: dict[PurePosixPath, None] = {}
    rest = iter(turns)
    turn = next(rest, None)
    try:
        while turn is not None:
            recorded = record_turn(vault, **turn, index=False)
            folder = layout.user_dir(recorded.user_id)
            paths |= dict.fromkeys(folder / source for source in recorded.sources)
            turn = next(rest, None)
            if turn is None:
                degraded = _degraded(index_problem(vault, paths))
                recorded = replace(recorded, degraded=(*recorded.degraded, *degraded))
                paths.clear()
            yield recorded
    finally:
        index_problem(vault, paths)  # not at the end: an error has ended it, which is told instead
        with contextlib.suppress(VaultMemoryError):  # whoever writes next is told
            vault.history.flush()


def _degraded(index_problem: str | None) -> list[str]:
    return [f"index: {index_problem}"] if index_problem else []


def add_reply(
    vault: Vault,
    user_id: str,
    source: str,
    text: str,
    exit_code: int | None = None,
    *,
    as_of: int | None = None,
    known: dict[str, str] | None = None,
    asked: str = "",
) -> Recorded:
    """Keep what was said to a turn that is in the record on the line `source`, as a line of its own.

    `exit_code` is 0 for a whole reply, after which nothing is added; 1 for one that broke off; None while the model
    waits for a tool. `known` is as in `record_turn`, `asked` the message (`Redactor`). The caller calls
    `learn_waiting`, and indexes `sources`. Adding the same twice adds nothing (no `is_new`). Raises `NotFound` when no
    turn is there, and what `record_turn` raises.
    """
    user_id, as_of = vault.id_now(user_id, vault.renamings() if as_of is None else as_of)
    if vault.config.is_off_record(user_id):
        return Recorded("", user_id=user_id, as_of=as_of)
    redact = Redactor(known, asked)
    text = redact(text)
    vault.refuse_erased(user_id, lambda: [text], "this reply")
    name, _, number = source.rpartition(":")
    day = layout.day_of(name)
    while True:
        with vault.record_lock(user_id), contextlib.ExitStack() as held:
            now, as_of = vault.id_now(user_id, as_of)
            if now != user_id:
                user_id = now
                continue
            turn = journal.DayRecord(read_day(vault, user_id, name)).at(int(number))
            if turn is None or day is None:
                raise NotFound(f"{layout.user_dir(user_id)}/{source} holds no turn any more: its reply is not recorded")
            recorded = Recorded(
                source,
                sources=(name,),
                redactions=dict(redact.counts),
                user_id=user_id,
                as_of=as_of,
                is_complete=exit_code is not None,
            )
            last = turn.replies[-1][1] if turn.replies else {}
            is_said = text == last.get("assistant_message") and exit_code == last.get("exit_code")
            if turn.is_complete or is_said or not (text or exit_code is not None):
                return replace(recorded, redactions={}, is_new=False, is_complete=turn.is_complete)
            conversation_id, created_at = journal.name_of(turn.row)
            reply = Reply(conversation_id, user_id, created_at, text, vault.now(), exit_code)
            line = reply.line().encode()
            bring_back(vault, user_id, name)
            marker = next_marker(vault, user_id, day, line_digest(line)) if text and exit_code is not None else None
            append_line(vault, user_id, name, line, marker, held)
            if marker:
                set_untouched(vault, user_id, marker)
            break
    if redact.counts:
        add_redactions(vault, user_id, redact.counts, as_of)
    if exit_code is None:
        return recorded
    whole = journal.with_replies(turn.row, [*turn.replies, (0, json.loads(reply.line()))]) | {"user_id": user_id}
    degraded = filter(None, [note_for_long_term(vault, whole), note_kept_turn(vault, whole)])
    return replace(recorded, degraded=tuple(degraded))


def has_request(
    vault: Vault, user_id: str, conversation_id: str, request: str, at: datetime, *, as_of: int | None = None
) -> bool:
    """Whether a turn of a request (`record_turn`) is in a record of the days about `at`. Raises `NotFound` where the
    person of `as_of` has no id any longer."""
    user_id, _ = vault.id_now(user_id, vault.renamings() if as_of is None else as_of)
    days = (journal.DayRecord(read_day(vault, user_id, source)) for source in layout.sources_about(at))
    return any(each.with_request(conversation_id, request) is not None for each in days)
