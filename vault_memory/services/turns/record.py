"""Record one turn: keep it, learn from it, commit what it changed, index it.

The order is guaranteed. First the turn is made durable in `conversations/`. Then preferences are extracted from it,
without a lock. Then the assistant's changes are written on top of the person's own edits (`services/write.py`), one
commit per preference and one for the logs, as one batch. While a person is in the middle of a rebase or the like, or
when something is wrong with git or the disk, only the first step is taken: the others follow later (`learn_waiting`).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from vault_memory.adapters import files
from vault_memory.adapters.files import ReadCache
from vault_memory.adapters.history import ASSISTANT, Draft, FileChange
from vault_memory.adapters.private import folder_of
from vault_memory.core import layout, payload, reading, trailers
from vault_memory.core.diary import daily, outcome, tasks
from vault_memory.core.extraction import (
    CONCLUDED,
    INCIDENTAL,
    Lexicon,
    asks_to_be_left_out,
    extract_by_rules,
    problem,
    takes_back_the_last,
    why_nothing,
)
from vault_memory.core.forgetting import EVERYTHING, may_be_forgotten, means_everything, words_of
from vault_memory.core.memorable import Forget, Memorable, memorable, to_forget
from vault_memory.core.notes import Reply, Turn, journal
from vault_memory.core.privacy import private, secrets
from vault_memory.core.profile import (
    LANGUAGE,
    LOCALES,
    NOTE,
    Change,
    Profile,
    Row,
    Signal,
    Suggestion,
    labels_for,
    language_tag,
)
from vault_memory.core.text import comparable, fold, one_line, script_of_last
from vault_memory.core.trailers import Trailers
from vault_memory.errors import (
    Busy,
    ForeignFile,
    HistoryError,
    NotFound,
    TooLarge,
    Unwritable,
    UsageError,
    VaultMemoryError,
)
from vault_memory.services.forgetting import forget_said, is_forgotten_by
from vault_memory.services.longterm import note_for_long_term
from vault_memory.services.memories import (
    NOTHING_KEPT,
    Kept,
    KeptOfTurn,
    forget_accesses,
    keep_said,
    note_in_session,
    too_many,
)
from vault_memory.services.notes import bring_back, drop_summary, read_day
from vault_memory.services.profiles import LaterChanges, ProfileFiles, Unlearned, unlearned
from vault_memory.services.redactor import LEFT_OUT, Redactor
from vault_memory.services.shortterm import note_kept_turn
from vault_memory.services.turns.lived import as_lived, learned_from
from vault_memory.services.turns.redactions import add_redactions
from vault_memory.services.turns.update_memory import tasks_ended
from vault_memory.services.turns.validate import UNNAMED, new_conversation_id, validate_and_normalize
from vault_memory.services.vault import LOCK_TIMEOUT_S, Vault
from vault_memory.services.write import Plan, Written, index_problem, write

_MAX_SEARCHED_CHARS = 20_000
"""This much of a message is searched for private facts; the logs quote its beginning."""
_SUBJECT = re.compile(r"^(?:我(?![的们們])|I )")
"""What a memory may say that its turn does not: 養了一隻貓, behind a comma."""
_MARKER = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})\.([0-9]{1,15})(?:\.([0-9a-f]{8}))?")
_LATER = (Busy, HistoryError, ForeignFile, Unwritable, UsageError)
"""What is wrong for a while: a turn is learned from when it is over. `UsageError`: a folder is a link by now."""
RETRY_S = 600.0
"""A client's same request within this time is a retry; later, the person has said the same again."""
WAIT_S = 3.0
"""How long a turn waits in all for another writer of its user's files, and for turns before it to be learned from; then
it is only kept, since a person waits. A commit of many files holds them for a second or two on a busy machine."""
MAX_AHEAD = timedelta(days=1)
"""How much later than our clock a turn may be without a word about it: clocks and zones differ."""
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
    `to_forget` are the texts that it asks to forget, each one that `forget` takes: memories of them are gone now, and
    `services.forgetting` finds, shows and forgets what else holds them.
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
    quote, private_counts = _quote(vault, turn)
    private_counts = Counter(private_counts) + Counter(_reflection_for_logs(turn)[1])
    is_begun = False

    def begin() -> None:
        nonlocal is_begun
        is_begun = True

    with contextlib.ExitStack() as held:
        while True:
            before, at = None, _filed_at(vault, turn).astimezone(vault.config.zone())
            with contextlib.suppress(TooLarge, ForeignFile):  # it is raised again below: the turn is kept first
                before = ProfileFiles.read(vault, user_id, at, cache.read)
                at = before.at
            is_named = bool(conversation_id and created_at)
            kept = _append_to_record(vault, turn, as_of, at, held, is_named=is_named, goes_on=goes_on)
            if isinstance(kept, Recorded):
                return kept
            if kept:
                turn, line, marker = kept
                break
            user_id, as_of = vault.id_now(user_id, as_of)
            turn = replace(turn, user_id=user_id)
        unsent = note_for_long_term(vault, json.loads(turn.line()), is_whole=is_whole)
        try:
            if learn:
                until = time.monotonic() + WAIT_S
                if _learn_earlier(vault, user_id, marker, until) or before is None:
                    before = ProfileFiles.read(vault, user_id, at, cache.read)
                written = _learn(vault, turn, as_of, line, before, quote, cache, until, begin)
                _strike_off(vault, user_id, marker)
            else:
                written = Written(_NOTHING, (), None, ())
        except _LATER as error:  # raised, it would make the caller say the turn again
            written = Written(_NOTHING, (), _why_later(error), ())
        if not is_begun:
            with contextlib.suppress(*_LATER, OSError):  # it saves a look at the history
                _set_untouched(vault, user_id, marker)
    redactions = redact.counts + private_counts
    if redactions:
        add_redactions(vault, user_id, redactions, as_of)
    record_file = layout.user_dir(user_id) / line.source.rpartition(":")[0]
    paths = [record_file, *written.paths]
    index_is_wrong = index_problem(vault, paths) if index else None
    sources = sorted(path.relative_to(layout.user_dir(user_id)).as_posix() for path in paths)
    may_be_answered = turn.assistant_message is None and not is_whole
    forgotten = [each for each in written.result.memories if each.became == "forgotten"]
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
            *filter(None, [_in_the_future(vault, turn), problem() if learn else None, noted, unsent]),
            *(f"the memory {each} had to go: {too_many(vault)}" for each in written.result.expired),
        ),
        user_id,
        as_of,
        suggestions=written.result.suggestions,
        memories=written.result.memories,
        reason=_why_nothing(vault, turn, before, written) if learn and before else "",
        not_forgotten=written.result.not_forgotten,
        to_forget=_asked_to_forget(turn.user_message or "", forgotten, vault.lexicon()) if learn else (),
    )


def _asked_to_forget(message: str, gone: Sequence[Kept], lexicon: Lexicon) -> tuple[str, ...]:
    """With which texts `services.forgetting` finds what a message asks to forget: what it names, and what the memories
    of that say which are `gone`, as the person said it, where the name does not stand in these («where I live»)."""
    if means_everything(message):
        return (message.strip(),)
    found = list[str]()
    requests = to_forget(message, lexicon)
    for asked in requests:
        if asked.is_everything:
            return (EVERYTHING,)
        meant = [each.content for each in gone if len(requests) == 1 or asked.means(each.content)]
        name = words_of(asked.words) if may_be_forgotten(asked.words) else None
        others = [_SUBJECT.sub("", content) for content in meant if name is None or not name.stand_in(content)]
        if name and (not meant or len(others) < len(meant)):
            found.append(asked.words)
        found += filter(may_be_forgotten, others)
    return tuple(dict.fromkeys(found))


def _why_later(error: VaultMemoryError) -> str:
    """Why nothing was learned from a turn yet, and what will. Nobody is to try again: that would be another turn."""
    why = str(error).removesuffix(": try again")
    return (
        "nothing was learned from this turn yet, but it is in the record and need not be said again: the next turn "
        f"learns from it, too, and so does `vault-memory heartbeat --now commits` ({why})"
    )


def _why_nothing(vault: Vault, turn: Turn, before: ProfileFiles, written: Written[_Learned]) -> str:
    result = written.result
    if result.changes or result.suggestions or result.memories or result.not_forgotten or written.paused:
        return ""
    message = (turn.user_message or "")[:_MAX_SEARCHED_CHARS]
    return why_nothing(message, turn.assistant_message or "", before.profile.values(), vault.lexicon())


def _filed_at(vault: Vault, turn: Turn) -> datetime:
    """The time by which a turn has its place in the records and logs: among those of today, if it is of the future.
    There it would be the newest one for years."""
    return vault.now() if _in_the_future(vault, turn) else turn.created_at.astimezone()


def _in_the_future(vault: Vault, turn: Turn) -> str:
    if turn.created_at.astimezone() - vault.now() < MAX_AHEAD:
        return ""
    return (
        f"created_at {turn.created_at.isoformat()} is in the future by the clock of this machine: the turn is kept "
        "among those of today"
    )


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


def learn_waiting(vault: Vault, user_id: str, wait_s: float | None = None) -> int:
    """Learn from the turns of a user that nothing was learned from yet, oldest first, and index what that changed;
    return how many were left over.

    With `wait_s` it waits no longer for another writer, and after that time leaves the rest. Turns that somebody learns
    from now are not counted. Raises one of `_LATER` when it cannot be done now.
    """
    until = None if wait_s is None else time.monotonic() + wait_s
    return _learn_from(vault, user_id, _markers(vault, user_id), until)


def _learn_from(vault: Vault, user_id: str, waiting: Sequence[_Marker], until: float | None) -> int:
    """`learn_waiting` for these; `until` is of the monotonic clock."""
    as_of = vault.renamings()
    paths: dict[PurePosixPath, None] = {}
    try:
        for number, marker in enumerate(waiting):
            if number and until is not None and time.monotonic() > until:
                return len(waiting) - number
            with contextlib.ExitStack() as held:
                try:
                    held.enter_context(_marked(vault, user_id, marker))
                except Busy:
                    continue
                if reason := vault.history.stopped():
                    raise HistoryError(reason)
                found = _turn_of(vault, user_id, marker)
                # Its writer, or who learned from it later, may have been killed right after that.
                untouched = _untouched(vault, user_id, marker)
                if found:  # or before it waited for the long-term store, where one that waits already is the same
                    note_for_long_term(vault, json.loads(found[1].line()))
                if found and (untouched.exists() or not _is_learned(vault, *found[:2], marker)):
                    line, turn, is_reply = found
                    cache = ReadCache()
                    state = ProfileFiles.read(vault, user_id, _filed_at(vault, turn), cache.read)
                    quote, _ = _quote(vault, turn)
                    touch = partial(untouched.unlink, missing_ok=True)
                    learned = _learn(vault, turn, as_of, line, state, quote, cache, until, touch, is_reply=is_reply)
                    paths |= dict.fromkeys(learned.paths)
                _strike_off(vault, user_id, marker)
        return 0
    finally:
        vault.chats.step_aside()
        index_problem(vault, paths)


def _learn_earlier(vault: Vault, user_id: str, marker: _Marker, until: float) -> bool:
    """Learn from what waits before a turn, as order decides which of two preferences holds; whether there was any."""
    if reason := vault.history.stopped():
        raise HistoryError(reason)
    waiting = [other for other in _markers(vault, user_id) if other < marker]
    if left := _learn_from(vault, user_id, waiting, until):
        raise HistoryError(f"{left} turns before it are learned from first")
    return bool(waiting)


class _Line(NamedTuple):
    """A turn's line in the conversation record: where it is on this machine (`conversations/2026-01-30.jsonl:12`), and
    the beginning of the hash of its bytes."""

    source: str
    digest: str


def line_digest(line: bytes) -> str:
    """It is short, so that nobody who reads the history can tell by it which words a turn held that git does not."""
    return hashlib.sha256(line).hexdigest()[:8]


def _is_learned(vault: Vault, line: _Line, turn: Turn, marker: _Marker) -> bool:
    """Whether history has what was learned from a turn. A marker without a digest is of an earlier version, whose
    commits name the line alone."""
    since = min(turn.created_at.astimezone(), vault.now()) - timedelta(days=1)
    by_line = {trailers.KEYS["user"]: turn.user_id, trailers.KEYS["source"]: line.source}
    return vault.history.holds({trailers.KEYS["turn"]: line.digest} if marker.digest else by_line, since)


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
            marker = _next_marker(vault, user_id, day, line_digest(line)) if text and exit_code is not None else None
            _append(vault, user_id, name, line, marker, held)
            if marker:
                _set_untouched(vault, user_id, marker)
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


def _append_to_record(
    vault: Vault, turn: Turn, as_of: int, at: datetime, held: contextlib.ExitStack, *, is_named: bool, goes_on: bool
) -> tuple[Turn, _Line, _Marker] | Recorded | None:
    """Append the turn to the conversation record of its day; return it with its line and its marker, which is then
    `held`; or what is known of it, if it is in the record. None, and nothing is done, if the user got another id
    meanwhile."""
    conversation = layout.conversation_source(at.date())
    with vault.record_lock(turn.user_id):
        if vault.id_now(turn.user_id, as_of)[0] != turn.user_id:
            return None
        vault.new_user(turn.user_id)
        days = [conversation]
        if (turn.request or is_named) and at.date() > date.min:  # a client's loop of tools goes on over midnight
            days.append(layout.conversation_source(at.date() - timedelta(days=1)))
        if is_named and not turn.request and at.date() < date.max:  # a turn may have come when the zone was another
            days.append(layout.conversation_source(at.date() + timedelta(days=1)))
        records = [(name, journal.DayRecord(read_day(vault, turn.user_id, name))) for name in days]
        found = ((name, _kept(vault, turn, record, is_named=is_named, goes_on=goes_on)) for name, record in records)
        for name, kept in ((name, kept) for name, kept in found if kept):
            return Recorded(
                f"{name}:{kept.number}",
                degraded=() if turn.request else _not_kept(vault, turn, kept),
                user_id=turn.user_id,
                as_of=as_of,
                is_new=False,
                is_complete=kept.is_complete,
            )
        while records[0][1].with_name(turn.conversation_id, turn.created_at.isoformat()):
            turn = replace(turn, created_at=turn.created_at + timedelta(microseconds=1))
        line = turn.line().encode()
        bring_back(vault, turn.user_id, conversation)
        marker = _next_marker(vault, turn.user_id, at.date(), line_digest(line))
        number = _append(vault, turn.user_id, conversation, line, marker, held)
    return turn, _Line(f"{conversation}:{number}", marker.digest), marker


def _kept(
    vault: Vault, turn: Turn, record: journal.DayRecord, *, is_named: bool, goes_on: bool
) -> journal.KeptTurn | None:
    """The turn of a day's record that is the same."""
    if turn.request:
        asked = record.with_request(turn.conversation_id, turn.request)
        is_retry = asked is not None and vault.now() - asked.last_at <= timedelta(seconds=RETRY_S)
        return asked if is_retry or goes_on else None
    named = list(_named(turn, record)) if is_named else []
    same = [each for each in named if each.row.get("user_message") == turn.user_message]
    gone = [each for each in named if journal.is_forgotten(each.row)]  # which words it had nobody can tell
    return next(iter([*same, *gone]), None)


def _named(turn: Turn, record: journal.DayRecord) -> Iterator[journal.KeptTurn]:
    """The turns that were delivered under a turn's name: each with other words has got the next free microsecond."""
    at = turn.created_at
    while kept := record.with_name(turn.conversation_id, at.isoformat()):
        yield kept
        at += timedelta(microseconds=1)


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


def _append(
    vault: Vault, user_id: str, source: str, line: bytes, marker: _Marker | None, held: contextlib.ExitStack
) -> int:
    """Append a line to a record and return its number; its marker, if it has one, is then `held`. The caller holds the
    records' lock."""
    home = vault.path(user_id, ".")
    if marker is None:
        return files.append_line(home / source, line, below=home, within=vault.root)
    held.enter_context(_marked(vault, user_id, marker, make=True))
    try:
        old = replace(marker, digest="")  # a killed writer of an earlier version; its line is this turn's now
        if not (vault.unlearned(user_id) / old.name).is_symlink():  # that is nobody's marker: `doctor` names it
            _strike_off(vault, user_id, old)
        return files.append_line(home / source, line, below=home, within=vault.root)
    except BaseException:
        _strike_off(vault, user_id, marker)
        raise


class _Learned(NamedTuple):
    """What a turn has changed in the profile, what it only suggests, what it has left behind as memories, the ids of
    those that have expired for these, and what it asks to be forgotten and nothing was found for."""

    changes: tuple[Change, ...] = ()
    suggestions: tuple[Suggestion, ...] = ()
    memories: tuple[Kept, ...] = ()
    expired: tuple[str, ...] = ()
    not_forgotten: tuple[str, ...] = ()


_NOTHING = _Learned()


def _learn(
    vault: Vault,
    turn: Turn,
    as_of: int,
    line: _Line,
    before: ProfileFiles,
    quote: str,
    cache: ReadCache,
    until: float | None,
    begin: Callable[[], None],
    *,
    is_reply: bool = False,
) -> Written[_Learned]:
    """Write what the turn changes: the profile, its evidence, the typed memories, the daily log, MEMORY.md; of a turn
    whose question was learned from, what its reply adds to that (`is_reply`).

    `line` is that of the turn, `before` the profile before it, `quote` its message without private facts. It waits
    `until` then for another writer of the user's files; `begin` is called before anything is written. Raises `Busy` too
    when the user got another id than as of `as_of`: the turn's marker has that id, too.
    """
    at, said, existing = before.at, turn.user_message or "", before.profile.values()
    written = said or turn.context or ""
    signals = learned_from(said, turn.assistant_message or "", existing, vault.lexicon())
    if is_reply:
        heard = learned_from(said, "", existing, vault.lexicon())
        signals = [signal for signal in signals if signal not in heard]
    else:
        signals = as_lived(signals, said, existing, vault.lexicon())
    is_heard = vault.config.memories_from_turns and not is_reply
    told = memorable(said, "", vault.lexicon(), with_changes=True) if is_heard else []
    forgotten = [] if is_reply else to_forget(said, vault.lexicon())
    told = [each for each in told if not any(asked.means(each.content) for asked in forgotten)]
    if own := [each for each in told if not each.is_only_a_change]:
        signals = without_told(signals, own, said, existing, vault.lexicon())
    is_reversal = not (is_reply or signals or forgotten) and takes_back_the_last(said, vault.lexicon())
    before_it = turn_before(vault, turn, line.source) if is_reversal else None
    vault.chats.step_aside()
    folder, said_at = layout.user_dir(turn.user_id), min(turn.created_at.astimezone(), vault.now())
    later = LaterChanges(vault, turn.user_id, said_at)
    ended = 0

    def decide() -> Plan[_Learned]:
        nonlocal ended
        vault.refuse_renamed(turn.user_id, as_of)
        begin()
        state = ProfileFiles.read(vault, turn.user_id, said_at, cache.read, later, written)
        new = state.unrecorded(signals, line.source) if is_reply else signals
        if before_it:
            new = [replace(each, quote=said) for each in state.reversed(before_it.source, before_it.at)]
        counting, suggestions = state.hear(new, digest_of_conversation(turn))
        kept = NOTHING_KEPT
        if told:
            kept = keep_said(vault, turn.user_id, told, line.source, at, known_words(state, counting))
        if forgotten or before_it:
            taken_back = (before_it.source, before_it.at) if before_it else None
            kept += forget_said(vault, turn.user_id, forgotten, taken_back, line.source)
        gone = unlearned_with(state, forgotten, kept, said, counting)
        changes, evidence = state.merge([*counting, *gone.signals])
        is_in_profile = gone.stays or any(change.op == "remove" for change in changes)
        not_found = (*(gone.stays if is_in_profile else kept.not_found), *kept.left)
        learned = _Learned(tuple(changes), tuple(suggestions), kept.memories, kept.expired, not_found)
        labels = vault.config.locale or _labels(written, state.profile)
        logs = _log_entries(vault, turn, line.source, at, quote, learned, cache, labels, before_it, is_reply=is_reply)
        ended = tasks_ended(logs)
        logs += kept.reinforced
        if evidence or suggestions or gone.dismissed:
            logs.append(state.with_evidence([*evidence, *suggestions, *gone.dismissed], line.source))
        drafts = state.drafts(changes, ASSISTANT, line.source) if changes or not is_reply else []
        drafts = [*drafts, *kept.drafts]
        again = [each.id for each in kept.memories if each.became == "reinforced"]
        drafts = _with_logs(drafts, logs, turn.user_id, at, line, again, waits=vault.config.git_log_commits != "turn")
        return Plan(learned, [replace(draft, made_at=said_at) for draft in drafts])

    names = (layout.PROFILE, layout.daily_source(at.date()), layout.FEEDBACK, layout.MEMORY_LOG)
    wait_s = LOCK_TIMEOUT_S if until is None else max(0.0, until - time.monotonic())
    edited = [folder / name for name in names]
    # The next turn looks in the index for what this one leaves behind.
    done = write(vault, turn.user_id, edited, decide, cache=cache, index=False, index_first=bool(told), wait_s=wait_s)
    note_kept(vault, turn.user_id, done.result.memories, completed=ended)
    if before_it or forgotten:
        with contextlib.suppress(Busy, Unwritable):  # it is over after some days
            drop_summary(vault, turn.user_id)
    return done


def unlearned_with(
    state: ProfileFiles, forgotten: Sequence[Forget], kept: KeptOfTurn, said: str, named: Sequence[Signal] = ()
) -> Unlearned:
    """What goes from the profile with what a turn has asked to be `forgotten`, beside the memories that go; `named` are
    the preferences that it has `said` besides."""
    if not forgotten:
        return Unlearned()
    is_meant = is_forgotten_by(forgotten, kept.memories)

    def is_forgotten(row: Row) -> bool:
        is_earlier = row.at is None or row.at <= state.at  # of a turn that comes late: what is said since then stays
        return is_earlier and is_meant(row.quote)

    gone = [fold(each.content) for each in kept.memories if each.became == "forgotten"]

    def is_beside(row: Row) -> bool:
        return bool(row.quote) and any(fold(row.quote) in content for content in gone)

    return unlearned(state, is_forgotten, said, named, is_beside)


def note_kept(vault: Vault, user_id: str, kept: Sequence[Kept], *, completed: int = 0) -> None:
    """Count in this session what a turn has left behind, and forget how often that was recalled which it took back."""
    note_in_session(vault, user_id, created=sum(each.became == "remembered" for each in kept), completed=completed)
    if gone := [each.id for each in kept if each.became == "forgotten" and not each.stays]:
        with contextlib.suppress(Busy, Unwritable):  # nobody asks for the counts of what is deleted
            forget_accesses(vault, user_id, gone)


def without_told(
    signals: list[Signal],
    told: Sequence[Memorable],
    said: str,
    existing: Mapping[str, str | list[str]],
    lexicon: Lexicon,
) -> list[Signal]:
    """The signals without the notes of what is only told, a fact or a like: that is a memory of some days, whatever it
    is about. A note is what the person asks to have remembered, or how it is to be from now on."""
    tells = [comparable(each.content) for each in told if each.kind in ("preference", "fact")]
    notes = [
        each for each in signals if each.key == NOTE and any(tell in comparable(str(each.value)) for tell in tells)
    ]
    asked = [each.value for each in extract_by_rules(said, "", existing, lexicon)] if notes else []
    return [each for each in signals if each not in notes or each.value in asked]


def known_words(state: ProfileFiles, signals: Sequence[Signal]) -> list[str]:
    """What a profile knows, so that no memory says it again: its notes, and the words of this turn's preferences."""
    notes = [item.value for item in state.profile.items(NOTE)]
    return [*notes, *(signal.quote for signal in signals if signal.key not in (*INCIDENTAL, *CONCLUDED))]


def _with_logs(
    drafts: list[Draft],
    logs: Sequence[FileChange],
    user_id: str,
    at: datetime,
    line: _Line,
    reinforced: Sequence[str],
    *,
    waits: bool,
) -> list[Draft]:
    """The commits of a turn, the last one for its logs and the memories that it has `reinforced` (ids): one that
    `waits` becomes part of that before it."""
    if not logs:
        return drafts
    subject = trailers.logs_subject(user_id, f"{at:%Y-%m-%d %H:%M}")
    caused_by = Trailers(user=user_id, source=line.source, turn=line.digest)
    message = trailers.with_memories(trailers.render(subject, "", caused_by), reinforced)
    return [*drafts, Draft(message, ASSISTANT, tuple(logs), waits=waits)]


class TurnBefore(NamedTuple):
    """The turn before another: its line in the record, its time, and its message."""

    source: str
    at: datetime
    words: str


def turn_before(vault: Vault, turn: Turn, source: str) -> TurnBefore | None:
    """The turn before this one in its conversation, of the same day; None if there is none. Turns whose conversations
    nobody has named follow one another."""
    name, _, number = source.rpartition(":")
    record = journal.DayRecord(read_day(vault, turn.user_id, name))
    mine = digest_of_conversation(turn)
    for before, row in record.before(int(number)):
        conversation_id = str(row.get("conversation_id"))
        if conversation_id == turn.conversation_id or not (mine or _conversation_of(conversation_id)):
            with contextlib.suppress(TypeError, ValueError):
                at = datetime.fromisoformat(row["created_at"])
                return TurnBefore(f"{name}:{before}", at, str(row.get("user_message") or ""))
            return None
    return None


def digest_of_conversation(turn: Turn) -> str:
    """What tells the turn's conversation from others in the evidence; "" if nobody has named it."""
    return _conversation_of(turn.conversation_id)


def _conversation_of(conversation_id: str) -> str:
    return "" if UNNAMED.fullmatch(conversation_id) else line_digest(conversation_id.encode())


def _log_entries(
    vault: Vault,
    turn: Turn,
    source: str,
    at: datetime,
    quote: str,
    learned: _Learned,
    cache: ReadCache,
    labels: str,
    taken_back: TurnBefore | None = None,
    *,
    is_reply: bool,
) -> list[FileChange]:
    """The daily log with the turn's request, or with what came of it if the request is there already (`is_reply`);
    MEMORY.md with the task if the reply is long enough to be one. `labels` is the locale of their labels. Neither says
    any more what was said in the turn that is `taken_back`."""
    is_answered = turn.assistant_message or turn.exit_code is not None
    came = outcome(turn.exit_code, labels) if is_answered else ""
    remembered = [each.content for each in learned.memories if each.became == "remembered"]
    skill = private.without_private(turn.skill or "")[0]
    changes = [] if quote == private.PRIVATE else [change.summary() for change in learned.changes]
    told = daily.Request(at, quote, source, digest_of_conversation(turn), skill, came, changes)
    reflection = private.PRIVATE if turn.reflection and private.PRIVATE in quote else _reflection_for_logs(turn)[0]

    def in_log(text: str, kept: Callable[[str], str]) -> str:
        if taken_back:
            text = daily.without_words(text, taken_back.source, private.PRIVATE)
        tell = daily.with_reply if is_reply else daily.with_request
        shown = replace(told, words=kept(quote), reflection=kept(reflection), remembered=[*map(kept, remembered)])
        return tell(text, shown, labels)

    def in_memory(text: str, kept: Callable[[str], str]) -> str:
        if taken_back:
            said_at = taken_back.at.astimezone(at.tzinfo)
            text = tasks.without_words(text, said_at, taken_back.words, private.PRIVATE)
        is_task = len(turn.assistant_message or "") > tasks.MEMORY_REPLY_CHARS
        told = tasks.with_turn(text, at, kept(quote), skill, came, labels, is_reply=is_reply)
        return told if is_task else text

    def changed(source: str, edit: Callable[[str, Callable[[str], str]], str]) -> FileChange:
        path, before = layout.user_dir(turn.user_id) / source, cache.read(vault.path(turn.user_id, source))
        reading.check_utf_8(path, before or b"")
        text = (before or b"").decode("utf-8", "surrogateescape")
        after = b""
        for kept in (str, lambda said: secrets.redact(one_line(said)).text, lambda said: said and LEFT_OUT):
            after = edit(text, kept).encode("utf-8", "surrogateescape")
            if not secrets.secrets_added(path, [before], after):
                break  # words of several lines may be a secret on one: history would refuse the log
        return FileChange(path, before, after)

    is_quiet = turn.context is not None and not turn.user_message  # there is nothing to quote
    logs = [] if is_quiet else [changed(layout.daily_source(at.date()), in_log)]
    if taken_back or len(turn.assistant_message or "") > tasks.MEMORY_REPLY_CHARS:
        logs.append(changed(layout.MEMORY_LOG, in_memory))
    return [log for log in logs if log.after != (log.before or b"")]


def _quote(vault: Vault, turn: Turn) -> tuple[str, Mapping[str, int]]:
    """The turn's message for the logs: without private facts, of which it gives the counts; and nothing of a message
    that is not to be remembered."""
    message = (turn.user_message or "")[:_MAX_SEARCHED_CHARS]
    return (private.PRIVATE, {}) if asks_to_be_left_out(message, vault.lexicon()) else private.without_private(message)


def _reflection_for_logs(turn: Turn) -> tuple[str, Mapping[str, int]]:
    """The turn's reflection in a line without private facts, and how many of these were in it."""
    return private.without_private(journal.reflection_line(turn.reflection)[:_MAX_SEARCHED_CHARS])


def _labels(said: str, profile: Profile) -> str:
    """The locale of a log's labels in a vault that names none: that of the person's language, else of the script of
    what they said, else of their profile."""
    language = language_tag(str(profile.get(LANGUAGE) or ""))
    found = (labels_for(language), labels_for(script_of_last([said])), profile.locale, LOCALES[0])
    return next(labels for labels in found if labels and (language != "zh" or labels != "en"))


# --- turns that nothing was learned from yet --------------------------------------------------------------------------


@dataclass(frozen=True, order=True)
class _Marker:
    """A turn by the day of its record, the byte at which its line began, and the digest of the line.

    The empty file `conversations/.unlearned/DAY.OFFSET.DIGEST` stands for it until it is learned from. The byte gives
    the order; the digest names the turn, also when lines of another machine were merged into the record. It is "" in a
    marker of an earlier version. The file is made before the line, so no kill comes between. Who learns from the turn
    holds its lock; a marker that nobody holds is of a turn that could not be learned from at that time.
    """

    day: date
    offset: int
    digest: str = ""

    @property
    def name(self) -> str:
        return f"{self.day.isoformat()}.{self.offset}{'.' if self.digest else ''}{self.digest}"


@contextlib.contextmanager
def _marked(vault: Vault, user_id: str, marker: _Marker, *, make: bool = False) -> Iterator[None]:
    """Hold a marker; `make` it for a new turn, with its folder, and the user's, if they are not there.

    Raises `Busy` when somebody learns from that turn now, or the folder is gone: the user has another id by now. Of a
    new turn nobody can, but one whose writer was killed before its line may have left that marker: who looks at it is
    waited for."""
    home = vault.root / layout.user_dir(user_id)
    path = vault.unlearned(user_id) / marker.name
    with files.lock(path, WAIT_S if make else 0, home, vault.root, make=make, in_line=False):
        yield


def _strike_off(vault: Vault, user_id: str, marker: _Marker) -> None:
    """The turn is learned from, or is not in the record. The caller holds the marker."""
    _untouched(vault, user_id, marker).unlink(missing_ok=True)
    (vault.unlearned(user_id) / marker.name).unlink(missing_ok=True)


def _untouched(vault: Vault, user_id: str, marker: _Marker) -> Path:
    """A file beside a marker while nobody has begun to learn from the turn: it is not looked for in the history."""
    return vault.unlearned(user_id) / f"{marker.name}.kept"


def _set_untouched(vault: Vault, user_id: str, marker: _Marker) -> None:
    path, home = _untouched(vault, user_id, marker), vault.root / layout.user_dir(user_id)
    with folder_of(path, home, within=vault.root) as folder:
        os.close(folder.open(path.name, os.O_WRONLY | os.O_CREAT))


def _markers(vault: Vault, user_id: str) -> list[_Marker]:
    """The user's markers, in the order of their turns."""
    found = []
    for match in filter(None, map(_MARKER.fullmatch, files.names(vault.unlearned(user_id)))):
        with contextlib.suppress(ValueError):  # no day of a calendar: no marker of ours
            found.append(_Marker(date.fromisoformat(match[1]), int(match[2]), match[3] or ""))
    return sorted(found)


def turns_waiting(vault: Vault, user_id: str) -> int:
    """How many of the user's messages, and of the replies to them, wait to be learned from."""
    folder = vault.unlearned(user_id)
    return sum(not files.is_locked(folder / marker.name) for marker in _markers(vault, user_id))


def _next_marker(vault: Vault, user_id: str, day: date, digest: str) -> _Marker:
    """The marker of a line that is now appended to a day's record. The caller holds the records' lock."""
    path = vault.path(user_id, layout.conversation_source(day))
    return _Marker(day, path.stat().st_size if path.exists() else 0, digest)


def _turn_of(vault: Vault, user_id: str, marker: _Marker) -> tuple[_Line, Turn, bool] | None:
    """The line and the turn of a marker, and whether the line is a reply to that turn; None if it is not in the
    record."""
    source = layout.conversation_source(marker.day)
    data = files.read(vault.path(user_id, source), None) or b""
    begin = _begin_of(data, marker)
    line, ended, _ = data[begin:].partition(b"\n")
    number = data.count(b"\n", 0, begin) + 1
    try:
        kept = journal.DayRecord(data).at(number) if ended else None
        if kept is None:
            return None
        row = kept.joined if kept.number < number else kept.row
        known = {name: row[name] for name in Turn.__dataclass_fields__ if name in row}
        known |= {"conversation_id": str(row["conversation_id"]), "user_id": user_id}
        turn = Turn(**known | {"created_at": payload.check_time(datetime.fromisoformat(row["created_at"]))})
    except (ValueError, KeyError, TypeError, UsageError):
        return None
    return _Line(f"{source}:{kept.number}", line_digest(line)), turn, kept.number < number


def _begin_of(data: bytes, marker: _Marker) -> int:
    """The byte of a record at which the line of a marker begins; the record's end if it is not there."""
    begin = len(data) - len(data[marker.offset :].lstrip(b"\n"))
    if not marker.digest or line_digest(data[begin:].partition(b"\n")[0]) == marker.digest:
        return begin
    lines = re.finditer(rb"[^\n]+", data)
    return next((line.start() for line in lines if line_digest(line[0]) == marker.digest), len(data))
