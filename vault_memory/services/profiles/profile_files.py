"""One user's USER.md and feedback.jsonl, read together and changed together.

Whoever changes a preference (a turn, `pref set`, `restore`) does the same: under the user's lock, commit the person's own
edits first, read both files, decide, and hand drafts to history. What they share stands here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any

from vault_memory.adapters import files
from vault_memory.adapters.history import Author, Draft, FileChange, Flushed
from vault_memory.core import layout, trailers
from vault_memory.core.privacy import private as privacy
from vault_memory.core.profile.policy import Change, Evidence, Signal, counts_in, merge
from vault_memory.core.profile.profile import Profile, new_profile
from vault_memory.errors import Busy, Changed
from vault_memory.services.person_edits import commit_person_edits
from vault_memory.services.vault import Vault

_ATTEMPTS = 20
"""How often a write is redone when a person's save lands in the middle of it; each redo takes the save in."""


@dataclass(frozen=True)
class ProfileFiles:
    """What stands on disk. `stored` is None for a user without USER.md; `profile` is then the one to begin with."""

    vault: Vault
    user_id: str
    stored: bytes | None
    profile: Profile
    feedback: bytes

    @classmethod
    def read(cls, vault: Vault, user_id: str, today: date) -> ProfileFiles:
        """Read both files; the caller holds the user's lock when it means to change them."""
        config = vault.config
        stored = files.read(vault.path(user_id, layout.PROFILE))
        if stored is None:
            profile = new_profile(
                config.locale, language=config.locale, timezone=config.timezone, joined=today.isoformat()
            )
        else:
            profile = Profile.decode(stored, config.locale)
        return cls(vault, user_id, stored, profile, files.read(vault.path(user_id, layout.FEEDBACK)) or b"")

    def merge(self, signals: Sequence[Signal]) -> tuple[list[Change], list[Evidence]]:
        """What these signals change, by the merge policy and by the evidence so far."""
        marks = {json.dumps(signal.key).encode() for signal in signals}
        return merge(self.profile, signals, counts_in(_rows_newest_first(self.feedback, *marks)))

    def drafts(self, changes: Iterable[Change], author: Author, source: str) -> list[Draft]:
        """One commit per change, after one that creates USER.md if it is not there. `source` is the turn's line, or empty."""
        drafts = []
        before = self.profile.encode()
        if self.stored is None:
            created = FileChange(self._path(layout.PROFILE), None, before)
            drafts.append(Draft(f"memory({self.user_id}): create {layout.PROFILE}", author, (created,)))
        for change in changes:
            after = change.profile.encode()
            drafts.append(
                Draft(self._message(change, source), author, (FileChange(self._path(layout.PROFILE), before, after),))
            )
            before = after
        return drafts

    def with_evidence(self, evidence: Iterable[Evidence], source: str, at: datetime) -> FileChange:
        """feedback.jsonl with a line for each signal added."""
        told = {"source": source, "created_at": at.isoformat(timespec="seconds")}
        evidence = [replace(item, quote=privacy.without_private(item.quote)[0]) for item in evidence]
        lines = [json.dumps(item.row() | told, ensure_ascii=False).encode() + b"\n" for item in evidence]
        gap = b"" if self.feedback.endswith(b"\n") or not self.feedback else b"\n"
        return FileChange(self._path(layout.FEEDBACK), self.feedback or None, self.feedback + gap + b"".join(lines))

    def heard_in(self, source: str) -> list[Mapping[str, Any]]:
        """The evidence that one turn has given so far."""
        mark = json.dumps(source).encode()
        return [row for row in _rows_newest_first(self.feedback, mark) if row.get("source") == source]

    def _message(self, change: Change, source: str) -> str:
        fields = {
            "Vault-User": self.user_id,
            "Vault-Key": change.key,
            "Vault-Op": change.op,
            "Vault-Old": change.old,
            "Vault-New": change.new,
            "Vault-Strength": change.strength,
        }
        fields |= {"Vault-Source": source} if source else {}
        fields |= {"Vault-Undoes": change.undoes} if change.undoes else {}
        reason = privacy.without_private(change.quote)[0]
        return trailers.render(f"memory({self.user_id}): {change.summary()}", reason, fields)

    def _path(self, source: str) -> Any:
        return layout.user_dir(self.user_id) / source


Decision = tuple[Sequence[Change], Sequence[Evidence]]


def change_profile(
    vault: Vault, user_id: str, decide: Callable[[ProfileFiles], Decision], author: Author, source: str = ""
) -> tuple[list[Change], Flushed]:
    """Let `decide` look at the files and commit what it wants changed, one commit per change, evidence with the last.

    A person's save that lands meanwhile is committed as the person's, and `decide` looks again. `source` is the turn's
    line, if it was a turn. Raises `Busy` when the file never rests.
    """
    now = vault.now().astimezone(vault.config.zone(own_zone(vault, user_id)))
    folder = layout.user_dir(user_id)
    for _ in range(_ATTEMPTS):
        try:
            with vault.writing(user_id):
                commit_person_edits(vault, user_id, [folder / layout.PROFILE, folder / layout.FEEDBACK])
                state = ProfileFiles.read(vault, user_id, now.date())
                changes, evidence = decide(state)
                drafts = state.drafts(changes, author, source) if changes else []
                if evidence:
                    told = state.with_evidence(evidence, source, now)
                    if drafts:
                        drafts[-1] = replace(drafts[-1], changes=(*drafts[-1].changes, told))
                    else:
                        about = ", ".join(dict.fromkeys(item.key for item in evidence))
                        drafts.append(Draft(f"log({user_id}): {about} named again", author, (told,)))
                return list(changes), vault.history.commit(drafts)
        except Changed:
            continue
    raise Busy(f"the profile of {user_id!r} keeps changing: try again when the editor has come to rest")


def own_zone(vault: Vault, user_id: str) -> str | None:
    """The time zone that the user's profile names, if it names one."""
    stored = files.read(vault.path(user_id, layout.PROFILE))
    value = Profile.decode(stored).get("timezone") if stored else None
    return value if isinstance(value, str) else None


def _rows_newest_first(data: bytes, *marks: bytes) -> Iterator[Mapping[str, Any]]:
    """The evidence on lines that hold one of `marks`, last line first; a line that a person broke is passed over."""
    for line in reversed(data.splitlines()) if marks else ():
        if any(mark in line for mark in marks):
            try:
                row = json.loads(line)
            except ValueError:
                continue
            if isinstance(row, dict):
                yield row
