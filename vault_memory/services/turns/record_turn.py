"""Record one turn: keep it, learn from it, commit what it changed.

The order is the promise: the turn is durable in `conversations/` before anything else happens; then preferences are read
from it without any lock; then, under the user's lock, the person's own pending edits are committed as the person's, and
the assistant's changes on top of them, one commit per preference and one for the logs, as one batch.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from vault_memory.adapters import files
from vault_memory.adapters.history import ASSISTANT, Draft, FileChange
from vault_memory.core import extraction, layout, trailers
from vault_memory.core.notes import journal
from vault_memory.core.notes.conversation import Turn
from vault_memory.core.privacy import private as privacy
from vault_memory.core.privacy import secrets
from vault_memory.core.profile.policy import Change, Signal
from vault_memory.errors import Busy, Changed
from vault_memory.services.person_edits import commit_person_edits
from vault_memory.services.profiles.profile_files import ProfileFiles, own_zone
from vault_memory.services.turns.withheld import count_withheld
from vault_memory.services.vault import Vault

_SHOWN_CHARS = 20_000
"""How far a message is looked through for what the logs may not show; they quote its beginning."""
_ATTEMPTS = 20
"""How often a write is redone when a person's save lands in the middle of it; each redo takes the save in."""


@dataclass(frozen=True)
class Recorded:
    """What became of a turn.

    `source` is the line of the conversation record, `conversations/2026-01-30.jsonl:12`; `sources` are the files to index
    again; `paused` says why the commits wait, if they do; `withheld` counts what the privacy gate kept back, by category.
    """

    source: str
    changes: tuple[Change, ...] = ()
    commits: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    paused: str | None = None
    withheld: Mapping[str, int] = field(default_factory=dict)


def extract_and_update(
    vault: Vault, student_id: str, user_msg: str, assistant_msg: str, skill_used: str | None = None
) -> Recorded:
    """The design's name for `record_turn` with its four arguments."""
    return record_turn(vault, student_id, user_msg, assistant_msg, skill=skill_used)


def record_turn(
    vault: Vault,
    user_id: str,
    user_message: str,
    assistant_message: str = "",
    *,
    skill: str | None = None,
    exit_code: int | None = None,
    conversation_id: str | None = None,
    created_at: datetime | None = None,
    reflection: Mapping[str, Any] | None = None,
    backend: str | None = None,
    record: bool = True,
) -> Recorded:
    """Keep a turn and learn from it. Off the record (`record=False`, or a user in `off_record`) nothing at all is kept.

    Raises `InvalidId`, `Busy` when another writer holds the user's files too long, and `VaultMemoryError` for a disk or git
    fault; the turn is then in the conversation record unless the message says otherwise.
    """
    layout.check_user_id(user_id)
    if not record or user_id.casefold() in map(str.casefold, vault.config.off_record):
        return Recorded("")
    at = created_at or vault.now()
    gate = _Gate()
    turn = Turn(
        gate(conversation_id) or f"conv_{uuid.uuid4().hex[:12]}", user_id, at, gate(user_message), gate(assistant_message),
        gate(reflection), skill=gate(skill), backend=gate(backend), exit_code=exit_code,
    )  # fmt: skip
    local = at.astimezone(vault.config.zone(own_zone(vault, user_id)))
    conversation = layout.conversation_source(local.date())
    with vault.writing(user_id):
        line = files.append_line(vault.path(user_id, conversation), turn.line().encode())
    recorded = _Learner(vault, turn, f"{conversation}:{line}", local).learn()
    gate.counts.update(recorded.withheld)
    count_withheld(vault, user_id, gate.counts)
    return replace(recorded, withheld=dict(gate.counts))


@dataclass(frozen=True)
class _Learner:
    """One turn on its way into the profile and the logs. `at` is its time in the user's zone, `source` its line."""

    vault: Vault
    turn: Turn
    source: str
    at: datetime

    def learn(self) -> Recorded:
        message = self.turn.user_message or ""
        existing = ProfileFiles.read(self.vault, self.turn.user_id, self.at.date()).profile.values()
        signals = extraction.extract(message, self.turn.assistant_message or "", existing, self.vault.lexicon())
        shown, withheld = privacy.without_private(message[:_SHOWN_CHARS])
        for _ in range(_ATTEMPTS):
            try:
                with self.vault.lock(self.turn.user_id):
                    return replace(self._write(signals, shown), withheld=withheld)
            except Changed:
                continue  # a person saved one of these files just now: their edit is committed first, then ours again
        raise Busy(
            f"the files of user {self.turn.user_id!r} keep changing; the turn is kept in {self.source}, its preferences "
            "are not: record it again when the editor has come to rest"
        )

    def _write(self, signals: list[Signal], shown: str) -> Recorded:
        user = self.turn.user_id
        daily = layout.daily_source(self.at.date())
        folder = layout.user_dir(user)
        commit_person_edits(
            self.vault, user, [folder / s for s in (layout.PROFILE, daily, layout.FEEDBACK, layout.MEMORY_LOG)]
        )
        state = ProfileFiles.read(self.vault, user, self.at.date())
        changes, evidence = state.merge(signals)
        drafts = state.drafts(changes, ASSISTANT, self.source)
        logs = [self._daily(daily, shown, changes)]
        if len(self.turn.assistant_message or "") > journal.MEMORY_REPLY_CHARS:
            logs.append(self._memory(shown))
        if evidence:
            logs.append(state.with_evidence(evidence, self.source, self.at))
        told = trailers.render(
            f"log({user}): {self.at:%Y-%m-%d %H:%M}", "", {"Vault-User": user, "Vault-Source": self.source}
        )
        drafts.append(Draft(told, ASSISTANT, tuple(logs)))
        flushed = self.vault.history.commit(drafts)
        touched = {change.path.relative_to(folder).as_posix() for draft in drafts for change in draft.changes}
        touched.add(self.source.rpartition(":")[0])
        return Recorded(
            self.source, tuple(changes), tuple(flushed.commits), tuple(sorted(touched)), paused=flushed.paused
        )

    def _daily(self, source: str, shown: str, changes: list[Change]) -> FileChange:
        learned = [change.summary() for change in changes]
        entry = journal.daily_entry(self.at, shown, self.turn.skill, learned, self.vault.config.locale)
        return self._appended(source, journal.daily_title(self.at.date()), entry)

    def _memory(self, shown: str) -> FileChange:
        locale = self.vault.config.locale
        entry = journal.memory_entry(self.at, shown, self.turn.skill, self.turn.exit_code, locale)
        return self._appended(layout.MEMORY_LOG, journal.memory_title(locale), entry)

    def _appended(self, source: str, title: str, entry: str) -> FileChange:
        before = files.read(self.vault.path(self.turn.user_id, source))
        text = journal.append((before or b"").decode("utf-8", "surrogateescape"), title, entry)
        path = layout.user_dir(self.turn.user_id) / source
        return FileChange(path, before, text.encode("utf-8", "surrogateescape"))


class _Gate:
    """Takes the secrets out of all that is to be kept of a turn, and counts them by category."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def __call__(self, value: Any) -> Any:
        if isinstance(value, str):
            redacted = secrets.redact(_utf8(value))
            self.counts.update(redacted.counts)
            return redacted.text
        if isinstance(value, Mapping):
            return {self(key): self(inner) for key, inner in value.items()}
        return [self(inner) for inner in value] if isinstance(value, (list, tuple)) else value


def _utf8(text: str) -> str:
    """The text without lone surrogates, which no file can hold; each becomes U+FFFD, and a pair its character."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
