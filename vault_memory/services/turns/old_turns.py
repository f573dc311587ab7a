"""Turns of former times, out of another program: kept in the records of their days, and learned from if that is wanted.

A turn is known by its name, `conversation_id` and `created_at`: one that is in the records is not added again, however
often it comes. Nothing marks these turns as not learned from, since learning from them is a choice; it changes the
profile and its evidence, and leaves typed memories behind, as new turns do. Daily logs and MEMORY.md get nothing: their
days are over, and the records can be searched.
"""

from __future__ import annotations

import contextlib
import operator
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from functools import cache, partial
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from vault_memory.adapters import files
from vault_memory.adapters.files import ReadCache
from vault_memory.adapters.history import ASSISTANT, Draft
from vault_memory.core import layout, reading, trailers
from vault_memory.core.extraction import takes_back_the_last
from vault_memory.core.memorable import memorable, to_forget
from vault_memory.core.notes import Reply, Turn, journal
from vault_memory.core.profile import Change, Evidence, Signal, Suggestion
from vault_memory.core.trailers import Trailers
from vault_memory.services.memories import Kept as KeptMemory
from vault_memory.services.memories import KeptOfTurn
from vault_memory.services.notes import bring_back, read_day
from vault_memory.services.profiles import ProfileFiles, change_profile, profile_timezone
from vault_memory.services.redactor import Redactor
from vault_memory.services.turns.lived import as_lived, learned_from, told_in
from vault_memory.services.turns.redactions import add_redactions
from vault_memory.services.turns.steps.before import digest_of_conversation, turn_before
from vault_memory.services.turns.steps.learn import (
    kept_and_forgotten,
    known_words,
    note_kept,
    unlearned_with,
    without_told,
)
from vault_memory.services.turns.steps.markers import line_digest
from vault_memory.services.vault import Vault
from vault_memory.services.write import Plan, Written, index_problem, refuse_while_waiting, write

_Name = tuple[str, str]
_DAY = timedelta(days=1)
_INDEXED_FILES = 50
"""So many records are indexed between two reports of progress."""
MAX_REMEMBERED = 500
"""So many of the newest turns that say something worth a memory leave one behind: each is a commit, and whoever imports
years does not want thousands of them."""


@dataclass
class Kept:
    """How many turns are new in the records, how many were in them, to how many of these a reply was added, and what
    was redacted, by category."""

    added: int = 0
    known: int = 0
    completed: int = 0
    redactions: Counter[str] = field(default_factory=Counter)

    def add(self, other: Kept) -> None:
        self.added += other.added
        self.known += other.known
        self.completed += other.completed
        self.redactions.update(other.redactions)


@dataclass
class Learned:
    """What old turns have changed in the profile, the typed memories that they have left behind, reinforced or taken
    back, how many turns were left out of that (`MAX_REMEMBERED`, or no room for more memories), and why the commits
    wait, if they do."""

    changes: list[Change] = field(default_factory=list)
    memories: list[KeptMemory] = field(default_factory=list)
    not_remembered: int = 0
    paused: str | None = None


class _Line(NamedTuple):
    """A turn in a record: its line (`conversations/2026-01-30.jsonl:12`), the digest of that, and what it holds."""

    source: str
    digest: str
    row: Mapping[str, Any]

    @property
    def said(self) -> str:
        return str(self.row.get("user_message") or "")

    @property
    def reply(self) -> str:
        return str(self.row.get("assistant_message") or "")

    def turn(self, user_id: str) -> Turn:
        return Turn(self.row["conversation_id"], user_id, datetime.fromisoformat(self.row["created_at"]))


class OldTurns:
    """One person's turns of former times. `keep` takes them in batches; `learn` and `index` follow.

    With `dry_run` nothing is written, and `kept` says what would be.
    """

    def __init__(self, vault: Vault, user_id: str, *, dry_run: bool = False) -> None:
        self.kept = Kept()
        self._vault = vault
        self._user_id = user_id
        self._as_of = vault.renamings()
        self._dry_run = dry_run
        self._names: set[_Name] = set()
        self._days: set[date] = set()
        self._changed: dict[PurePosixPath, None] = {}

    def keep(self, turns: Sequence[Turn]) -> None:
        """Add to the records what is not in them. It is durable when this returns; a kill on the way leaves some of it,
        and the same call again adds the rest.

        Raises `NotFound` when the person has no id any longer, `InvalidId`, `Busy`, `ForeignFile`, and `Unwritable`.
        """
        batch = _Batch(self._vault, turns, self._names)
        user_id, _ = self._vault.id_now(self._user_id, self._as_of)
        self._vault.new_user(user_id)
        lacking = batch.lacking(user_id)  # secrets are taken out without the lock: a person's turn must not wait for it
        if lacking.lines and not self._dry_run:
            with self._locked() as user_id:
                lacking = batch.lacking(user_id)
                self._append(user_id, lacking.lines)
            if lacking.kept.redactions:
                add_redactions(self._vault, self._user_id, lacking.kept.redactions, self._as_of)
        self.kept.add(lacking.kept)
        self._names |= batch.days.keys()
        self._days.update(batch.days.values())

    @contextlib.contextmanager
    def _locked(self) -> Iterator[str]:
        """Hold the lock of the person's records; gives the id that they have now."""
        while True:
            user_id, _ = self._vault.id_now(self._user_id, self._as_of)
            with self._vault.record_lock(user_id):
                if self._vault.id_now(self._user_id, self._as_of)[0] == user_id:
                    self._vault.new_user(user_id)
                    yield user_id
                    return

    def _append(self, user_id: str, lines: Mapping[date, Sequence[bytes]]) -> None:
        home = self._vault.path(user_id, ".")
        for day in sorted(lines):
            source = layout.conversation_source(day)
            bring_back(self._vault, user_id, source)
            files.append_lines(home / source, lines[day], below=home, within=self._vault.root)
            self._changed[layout.user_dir(user_id) / source] = None

    def index(self, on_indexed: Callable[[int, int], None] = lambda done, total: None) -> str | None:
        """Index the records that have changed; return why that could not be done, if so: the next search tries again.
        `on_indexed` gets how many files are done, of how many."""
        paths = list(self._changed)
        for at in range(0, len(paths), _INDEXED_FILES):
            on_indexed(at, len(paths))
            if problem := index_problem(self._vault, paths[at : at + _INDEXED_FILES]):
                return problem
        return None

    def learn(
        self,
        on_turn: Callable[[], None] = lambda: None,
        on_remembered: Callable[[int, int], None] = lambda done, total: None,
    ) -> Learned:
        """Learn from the turns that were kept, or were in the records before, in the order in which they were said.
        `on_turn` is called for each; then `on_remembered` gets how many are done of those that say something worth a
        memory.

        One that was learned from teaches nothing again, so after a kill or an error the same call goes on. What
        somebody has changed after a turn stays. A memory lives from now on; it takes no other one's place. Raises
        `HistoryError` while a change of the profile waits for its commit, as nobody could tell when it was made, and
        what `write` raises.
        """
        learned, cache = Learned(), ReadCache()
        memorable_turns: deque[_Line] = deque(maxlen=MAX_REMEMBERED)
        for day in sorted({near for each in self._days for near in _around(each)}):
            user_id, as_of = self._vault.id_now(self._user_id, self._as_of)
            profile = layout.user_dir(user_id) / layout.PROFILE
            refuse_while_waiting(self._vault, partial(operator.eq, profile), f"nothing is learned for {profile}")
            for line in _turns(self._vault, user_id, day, self._names):
                if written := _learn(self._vault, user_id, as_of, line, cache):
                    learned.changes += written.result
                    learned.paused = written.paused
                if _is_memorable(self._vault, line.said):
                    learned.not_remembered += len(memorable_turns) == MAX_REMEMBERED
                    memorable_turns.append(line)
                on_turn()
        done = self._vault.history.turns() if memorable_turns else set()
        for number, line in enumerate(memorable_turns):
            on_remembered(number, len(memorable_turns))
            if line.digest not in done:
                self._remember(line, learned)
        return learned

    def _remember(self, line: _Line, learned: Learned) -> None:
        """Keep what one turn says as memories, and note in `learned` what became of it."""
        user_id, as_of = self._vault.id_now(self._user_id, self._as_of)
        written = _remember(self._vault, user_id, as_of, line)
        if written.result.expired:
            learned.not_remembered += 1
        elif written.result.memories:
            learned.memories += written.result.memories
            learned.paused = written.paused or learned.paused
            note_kept(self._vault, user_id, written.result.memories)


@dataclass
class _Lacking:
    """What records lack of a batch: the lines to add to each day's, and what they are."""

    lines: dict[date, list[bytes]] = field(default_factory=dict)
    kept: Kept = field(default_factory=Kept)


class _Batch:
    """Some old turns, each with the lines that it would be; secrets are taken out of a turn once, when that is asked
    for. `given` are the names of turns that came in batches before. `days` has the name of each turn and its day."""

    def __init__(self, vault: Vault, turns: Sequence[Turn], given: Collection[_Name]) -> None:
        self.days: dict[_Name, date] = {}
        self._vault = vault
        self._given = given
        self._turns: dict[_Name, Turn] = {}
        self._twice = 0
        self._redactors: dict[str, Redactor] = {}
        self._redacted: dict[_Name, Turn] = {}
        id_of = cache(lambda conversation_id: Redactor()(conversation_id))
        for turn in sorted(turns, key=lambda turn: turn.created_at):
            turn = replace(turn, conversation_id=id_of(turn.conversation_id))
            name = turn.conversation_id, turn.created_at.isoformat()
            known = self._turns.get(name)
            self._twice += known is not None
            if known is None or not known.assistant_message:
                self._turns[name] = turn

    def lacking(self, user_id: str) -> _Lacking:
        """What the records of a user lack now."""
        vault, found = self._vault, _Lacking(kept=Kept(known=self._twice))
        zone = vault.config.zone(profile_timezone(vault, user_id))
        known_in = cache(partial(_known_in, vault, user_id))
        for name, turn in self._turns.items():
            day = self.days[name] = turn.created_at.astimezone(zone).date()
            # The person may have told another time zone since an earlier import: then it is in the record beside.
            there = next(((at, names[name]) for at in _around(day) if name in (names := known_in(at))), None)
            if there is None and name not in self._given:
                found.lines.setdefault(day, []).append(self._line(name, user_id))
                found.kept.added += 1
            elif there and turn.assistant_message and not there[1]:
                found.lines.setdefault(there[0], []).append(self._reply(name, user_id))
                found.kept.completed += 1
            else:
                found.kept.known += 1
        for redact in self._redactors.values():
            found.kept.redactions.update(redact.counts)
        return found

    def _line(self, name: _Name, user_id: str) -> bytes:
        return replace(self._shown(name), user_id=user_id).line().encode()

    def _reply(self, name: _Name, user_id: str) -> bytes:
        text = self._shown(name).assistant_message or ""
        return Reply(name[0], user_id, name[1], text, self._vault.now(), 0).line().encode()

    def _shown(self, name: _Name) -> Turn:
        """A turn without secrets; those of its conversation are known."""
        if name not in self._redacted:
            turn, redact = self._turns[name], self._redactors.setdefault(name[0], Redactor())
            self._redacted[name] = replace(
                turn,
                user_message=redact(turn.user_message),
                context=redact(turn.context),
                assistant_message=redact(turn.assistant_message),
                reflection=redact(turn.reflection),
                skill=redact(turn.skill),
                backend=redact(turn.backend),
            )
        return self._redacted[name]


def _around(day: date) -> list[date]:
    """The day, and those beside it."""
    return [day, *(day + step for step in (-_DAY, _DAY) if date.min < day < date.max)]


def _rows(vault: Vault, user_id: str, day: date) -> Iterator[tuple[int, dict[str, Any]]]:
    """The lines of a day's record that are objects, each with its number."""
    for number, line in enumerate(reading.lines(read_day(vault, user_id, layout.conversation_source(day))), 1):
        if row := journal.row_of(line):
            yield number, row


def _turns(vault: Vault, user_id: str, day: date, names: Collection[_Name]) -> list[_Line]:
    """The turns of these names in a day's record, with their replies, in the order in which they were said."""
    source = layout.conversation_source(day)
    lines = reading.lines(read_day(vault, user_id, source))
    rows = ((number, row) for number, line in enumerate(lines, 1) if (row := journal.row_of(line)))
    found = [
        _Line(f"{source}:{number}", line_digest(lines[number - 1]), row)
        for number, row in journal.joined([*rows])
        if journal.name_of(row) in names
    ]
    return sorted(found, key=lambda line: datetime.fromisoformat(line.row["created_at"]))


def _known_in(vault: Vault, user_id: str, day: date) -> dict[_Name, bool]:
    """The names of the turns in a day's record, and whether there is a reply to each."""
    found: dict[_Name, bool] = {}
    for _, row in _rows(vault, user_id, day):
        name = journal.name_of(row)
        found[name] = found.get(name, False) or bool(row.get("assistant_message"))
    return found


def _learn(vault: Vault, user_id: str, as_of: int, line: _Line, cache: ReadCache) -> Written[list[Change]] | None:
    """Learn from a turn; None if it says nothing of its person."""
    source, said, turn = line.source, line.said, line.turn(user_id)
    existing = ProfileFiles.read(vault, user_id, turn.created_at, cache.read).profile.values()
    signals = learned_from(said, line.reply, existing, vault.lexicon())
    signals = as_lived(signals, said, existing, vault.lexicon())
    if told := memorable(said, "", vault.lexicon()) if signals and vault.config.memories_from_turns else []:
        signals = without_told(signals, told, said, existing, vault.lexicon())
    before_it = None
    if not signals and takes_back_the_last(said, vault.lexicon()):
        before_it = turn_before(vault, turn, source)
    if not (signals or before_it):
        return None

    def decide(state: ProfileFiles) -> tuple[list[Change], list[Evidence | Suggestion]]:
        vault.refuse_renamed(user_id, as_of)
        if state.has_heard(source):
            return [], []
        heard: list[Signal] = (
            [replace(each, quote=said) for each in state.reversed(before_it.source, before_it.at)]
            if before_it
            else signals
        )
        counting, suggestions = state.hear(heard, digest_of_conversation(turn))
        changes, evidence = state.merge(counting)
        return changes, [*evidence, *suggestions]

    return change_profile(vault, user_id, decide, ASSISTANT, source, turn.created_at, said)


def _is_memorable(vault: Vault, said: str) -> bool:
    """Whether a message says something worth a memory, or takes back what was."""
    if not vault.config.memories_from_turns:
        return False
    lexicon = vault.lexicon()
    heard = memorable(said, "", lexicon, with_changes=True)
    return bool(heard or to_forget(said, lexicon) or takes_back_the_last(said, lexicon))


def _remember(vault: Vault, user_id: str, as_of: int, line: _Line) -> Written[KeptOfTurn]:
    """Keep what an old turn says as memories, as a new turn does (`record_turn`), in commits that name it. Where others
    had to go for them (`expired` names these), nothing is kept."""
    turn, lexicon = line.turn(user_id), vault.lexicon()
    forgotten = to_forget(line.said, lexicon)
    told = told_in(line.said, forgotten, lexicon)
    is_reversal = not (told or forgotten) and takes_back_the_last(line.said, lexicon)
    before_it = turn_before(vault, turn, line.source) if is_reversal else None

    def decide() -> Plan[KeptOfTurn]:
        vault.refuse_renamed(user_id, as_of)
        state = ProfileFiles.read(vault, user_id, turn.created_at)
        signals = learned_from(line.said, line.reply, state.profile.values(), lexicon)
        sure = [signal for signal in signals if not signal.is_suggestion]
        known = known_words(state, sure)
        kept = kept_and_forgotten(
            vault, user_id, told, forgotten, before_it, line.source, state.at, known, said_until=turn.created_at
        )
        if kept.expired:
            return Plan(kept)
        drafts = [*kept.drafts]
        gone = unlearned_with(state, forgotten, kept, line.said, signals)
        changes, evidence = state.merge(gone.signals)
        if changes:
            of_profile = state.drafts(changes, ASSISTANT, line.source)
            added = state.with_evidence(evidence, line.source)
            drafts += [*of_profile[:-1], replace(of_profile[-1], changes=(*of_profile[-1].changes, added))]
        if kept.reinforced:
            subject = trailers.logs_subject(user_id, f"{state.at:%Y-%m-%d %H:%M}")
            message = trailers.render(subject, "", Trailers(user=user_id, source=line.source))
            drafts.append(Draft(message, ASSISTANT, kept.reinforced))
        named = [replace(draft, message=trailers.with_turns(draft.message, [line.digest])) for draft in drafts]
        return Plan(kept, [replace(draft, made_at=turn.created_at) for draft in named])

    edited = [layout.user_dir(user_id) / name for name in (layout.PROFILE, layout.FEEDBACK)] if forgotten else []
    return write(vault, user_id, edited, decide, index_first=True)
