"""Record one turn: keep it, learn from it, commit what it changed.

The order is the promise: the turn is durable in `conversations/` before anything else happens; then preferences are read
from it without any lock; then, under the user's lock, the person's own pending edits are committed as the person's, and
the assistant's changes on top of them, one commit per preference and one for the logs, as one batch.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any

from vault_memory.adapters import files
from vault_memory.adapters.history import ASSISTANT, Draft, FileChange
from vault_memory.core import extraction, journal, layout, trailers
from vault_memory.core.conversation import Turn
from vault_memory.core.extraction import privacy
from vault_memory.core.preference import Change, Evidence, Signal, counts_in, merge
from vault_memory.core.profile import Profile, new_profile
from vault_memory.errors import Busy, Changed
from vault_memory.services.person_edits import commit_person_edits
from vault_memory.services.vault import Vault

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
    vault: Vault, user_id: str, user_message: str, assistant_message: str = "", *, skill: str | None = None,
    exit_code: int | None = None, conversation_id: str | None = None, created_at: datetime | None = None,
    reflection: Mapping[str, Any] | None = None, backend: str | None = None, record: bool = True,
) -> Recorded:
    """Keep a turn and learn from it. `record=False` is off the record: nothing at all is kept.

    Raises `InvalidId`, `Busy` when another writer holds the user's files too long, and `VaultMemoryError` for a disk or git
    fault; the turn is then in the conversation record unless the message says otherwise.
    """
    vault.new_user(user_id)
    if not record:
        return Recorded("")
    at = created_at or vault.now()
    message, reply = privacy.redact(user_message), privacy.redact(assistant_message)
    turn = Turn(
        conversation_id or f"conv_{uuid.uuid4().hex[:12]}", user_id, at, message.text, reply.text, reflection,
        skill=skill, backend=backend, exit_code=exit_code,
    )  # fmt: skip
    day = at.astimezone(vault.config.zone(_own_zone(vault, user_id))).date()
    conversation = layout.conversation_source(day)
    with vault.lock(user_id):
        line = files.append_line(vault.path(user_id, conversation), turn.line().encode())
    learner = _Learner(vault, turn, f"{conversation}:{line}", day)
    recorded = learner.learn()
    return replace(recorded, withheld=_sum(message.counts, reply.counts, recorded.withheld))


@dataclass(frozen=True)
class _Learner:
    """One turn on its way into the profile and the logs."""

    vault: Vault
    turn: Turn
    source: str
    day: Any

    def learn(self) -> Recorded:
        existing = self._profile().values()
        signals = extraction.extract(
            self.turn.user_message or "", self.turn.assistant_message or "", existing, self.vault.lexicon()
        )
        shown, withheld = privacy.without_private(self.turn.user_message or "")
        for _ in range(_ATTEMPTS):
            try:
                with self.vault.lock(self.turn.user_id):
                    return replace(self._write(signals, shown), withheld=withheld)
            except Changed:
                continue  # a person saved one of these files just now: their edit is committed first, then ours again
        raise Busy(
            f"the files of user {self.turn.user_id!r} keep changing; the turn is kept in {self.source}, its preferences "
            "are not: run the turn again when the editor has come to rest"
        )

    def _write(self, signals: list[Signal], shown: str) -> Recorded:
        user = self.turn.user_id
        daily, memory = layout.daily_source(self.day), layout.MEMORY_LOG
        touched = [layout.PROFILE, daily, layout.FEEDBACK, memory]
        commit_person_edits(self.vault, user, [layout.user_dir(user) / source for source in touched])

        stored = self._read(layout.PROFILE)
        profile = self._profile() if stored is None else Profile.decode(stored, self.vault.config.locale)
        feedback = self._read(layout.FEEDBACK) or b""
        changes, evidence = merge(profile, signals, counts_in(_rows_newest_first(feedback)))
        drafts = []
        if stored is None:
            change = self._change(layout.PROFILE, None, profile.encode())
            drafts.append(Draft(f"memory({user}): create {layout.PROFILE}", ASSISTANT, (change,)))
        before = profile.encode()
        for made in changes:
            after = made.profile.encode()
            drafts.append(Draft(self._message(made), ASSISTANT, (self._change(layout.PROFILE, before, after),)))
            before = after
        logs = [self._daily(daily, shown, changes)]
        if len(self.turn.assistant_message or "") > journal.MEMORY_REPLY_CHARS:
            logs.append(self._memory(memory, shown))
        if evidence:
            logs.append(self._change(layout.FEEDBACK, feedback or None, feedback + self._evidence(evidence)))
        subject = f"log({user}): {self._local():%Y-%m-%d %H:%M}"
        drafts.append(Draft(trailers.render(subject, "", {"Vault-User": user, "Vault-Source": self.source}), ASSISTANT, tuple(logs)))  # fmt: skip
        flushed = self.vault.history.commit(drafts)
        sources = {PurePosixPath(change.path).relative_to(layout.user_dir(user)).as_posix() for d in drafts for change in d.changes}  # fmt: skip
        conversation = self.source.rpartition(":")[0]
        return Recorded(
            self.source, tuple(changes), tuple(flushed.commits), tuple(sorted({*sources, conversation})), flushed.paused
        )

    def _daily(self, source: str, shown: str, changes: list[Change]) -> FileChange:
        entry = journal.daily_entry(
            self._local(), shown, self.turn.skill, [change.summary() for change in changes], self.vault.config.locale
        )
        return self._appended(source, journal.daily_title(self.day), entry)

    def _memory(self, source: str, shown: str) -> FileChange:
        locale = self.vault.config.locale
        entry = journal.memory_entry(self._local(), shown, self.turn.skill, self.turn.exit_code, locale)
        return self._appended(source, journal.memory_title(locale), entry)

    def _appended(self, source: str, title: str, entry: str) -> FileChange:
        before = self._read(source)
        text = journal.append((before or b"").decode("utf-8", "surrogateescape"), title, entry)
        return self._change(source, before, text.encode("utf-8", "surrogateescape"))

    def _evidence(self, evidence: list[Evidence]) -> bytes:
        at = self._local().isoformat(timespec="seconds")
        rows = [item.row() | {"source": self.source, "created_at": at} for item in evidence]
        return b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)

    def _message(self, change: Change) -> str:
        return trailers.render(
            f"memory({self.turn.user_id}): {change.summary()}",
            privacy.without_private(change.quote)[0],
            {
                "Vault-User": self.turn.user_id,
                "Vault-Key": change.key,
                "Vault-Op": change.op,
                "Vault-Old": change.old,
                "Vault-New": change.new,
                "Vault-Strength": change.strength,
                "Vault-Source": self.source,
            },
        )

    def _profile(self) -> Profile:
        """The profile on disk, or the one a new user begins with."""
        stored = self._read(layout.PROFILE)
        config = self.vault.config
        if stored is not None:
            return Profile.decode(stored, config.locale)
        return new_profile(
            config.locale, language=config.locale, timezone=config.timezone, joined=self.day.isoformat()
        )

    def _local(self) -> datetime:
        return self.turn.created_at.astimezone(self.vault.config.zone(_own_zone(self.vault, self.turn.user_id)))

    def _read(self, source: str) -> bytes | None:
        return files.read(self.vault.path(self.turn.user_id, source))

    def _change(self, source: str, before: bytes | None, after: bytes) -> FileChange:
        return FileChange(layout.user_dir(self.turn.user_id) / source, before, after)


def _own_zone(vault: Vault, user_id: str) -> str | None:
    """The time zone that the user's profile names, if it names one."""
    stored = files.read(vault.path(user_id, layout.PROFILE))
    value = Profile.decode(stored).get("timezone") if stored else None
    return value if isinstance(value, str) else None


def _rows_newest_first(data: bytes) -> Iterator[dict[str, Any]]:
    """The evidence, last line first; a line that a person broke is passed over, and stays in the file."""
    for line in reversed(data.splitlines()):
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict):
            yield row


def _sum(*counts: Mapping[str, int]) -> dict[str, int]:
    total: dict[str, int] = {}
    for part in counts:
        for category, count in part.items():
            total[category] = total.get(category, 0) + count
    return total
