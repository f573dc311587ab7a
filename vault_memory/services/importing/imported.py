"""What an import has done, or would do: the same counts for every source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType

from vault_memory.core.notes import Turn
from vault_memory.errors import Busy, HistoryError, UsageError
from vault_memory.services.turns import Kept, Learned, OldTurns
from vault_memory.services.vault import Vault

BATCH_TURNS = 500
BATCH_CHARS = 8_000_000
"""So much is in memory at a time, and added to the records at once."""
MAX_PROBLEMS = 30
"""So many are named; the others are counted."""

Progress = Callable[[str, int, int], None]
"""Gets what is being done, how far it is, and how far it goes."""


def no_progress(what: str, done: int, total: int) -> None:
    """For a caller that shows none."""


@dataclass(kw_only=True)
class Problems:
    """Places that are named, each with its reason (`MAX_PROBLEMS` of them); `more_problems` counts the rest."""

    problems: list[str] = field(default_factory=list)
    more_problems: int = 0

    def problem(self, line: str) -> None:
        """Name a place with its reason, once."""
        if line in self.problems:
            return
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(line)
        else:
            self.more_problems += 1


@dataclass
class Imported(Problems):
    """What became of the turns of one source. `first` and `last` are times of turns, None where there are none.

    `left_out` counts by reason. `learned` is None where nothing was to be learned, and where that could not be done
    to the end: `unlearned` says why. `index_problem` says why the index is out of date, if it is. `damaged` says where
    the source was cut, if it was; what came before is imported.
    """

    user_id: str
    conversations: int = 0
    kept: Kept = field(default_factory=Kept)
    first: datetime | None = None
    last: datetime | None = None
    left_out: Counter[str] = field(default_factory=Counter)
    learned: Learned | None = None
    unlearned: str | None = None
    index_problem: str | None = None
    damaged: str | None = None

    @property
    def turns(self) -> int:
        """How many turns the source has for this person."""
        return self.kept.added + self.kept.known + self.kept.completed


def imported_user(vault: Vault, user_id: str) -> str:
    """The id, if something may be imported for that user. Raises `InvalidId`, and `UsageError` for one who is off the
    record."""
    if vault.config.is_off_record(user_id):
        raise UsageError(
            f"user {user_id!r} is off the record, so nothing of them is kept: take the id out of `off_record` first"
        )
    return vault.new_user(user_id)


class Importer:
    """Takes the turns of one person, and counts."""

    def __init__(self, vault: Vault, user_id: str, *, dry_run: bool) -> None:
        self.imported = Imported(imported_user(vault, user_id))
        self._dry_run = dry_run
        self._old = OldTurns(vault, user_id, dry_run=dry_run)
        self.imported.kept = self._old.kept
        self._erased = vault.tombstones()
        self._conversations: set[str] = set()
        self._batch: list[Turn] = []
        self._chars = 0

    def add(self, turns: Iterable[Turn], left_out: Mapping[str, int] = MappingProxyType({})) -> None:
        """Take turns, and note how many were left out, by reason."""
        imported = self.imported
        for turn in turns:
            texts = [text for text in (turn.user_message, turn.assistant_message, turn.context) if text]
            if self._erased and self._erased.are_in(imported.user_id, texts):
                imported.left_out["holds what was erased here"] += 1
                continue
            self._conversations.add(turn.conversation_id)
            imported.first = min(imported.first or turn.created_at, turn.created_at)
            imported.last = max(imported.last or turn.created_at, turn.created_at)
            self._batch.append(turn)
            self._chars += sum(len(text or "") for text in (turn.user_message, turn.assistant_message, turn.context))
            if len(self._batch) >= BATCH_TURNS or self._chars >= BATCH_CHARS:
                self._keep()
        imported.conversations = len(self._conversations)
        imported.left_out.update(left_out)

    def finish(self, *, learn: bool, on_progress: Progress) -> None:
        """Keep what is left, index, and learn if that is wanted."""
        self._keep()
        if self._dry_run:
            return
        self.imported.index_problem = self._old.index(lambda done, total: on_progress("indexing", done, total))
        if learn:
            done = 0

            def on_turn() -> None:
                nonlocal done
                done += 1
                on_progress("learning", done, self.imported.turns)

            try:
                self.imported.learned = self._old.learn(
                    on_turn, lambda done, total: on_progress("remembering", done, total)
                )
            except (Busy, HistoryError) as error:
                self.imported.unlearned = f"{error}; the same import goes on then"

    def _keep(self) -> None:
        if self._batch:
            self._old.keep(self._batch)
        self._batch, self._chars = [], 0
