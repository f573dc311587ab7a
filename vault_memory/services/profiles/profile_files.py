"""One user's USER.md and feedback.jsonl: the profile and the evidence for it, read and changed together."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

from vault_memory.adapters import files
from vault_memory.adapters.files import ReadCache
from vault_memory.adapters.git import CommitLog
from vault_memory.adapters.history import ASSISTANT, Author, Draft, FileChange
from vault_memory.core import layout, reading, trailers
from vault_memory.core.privacy import redact, without_private
from vault_memory.core.profile import (
    FIELDS,
    LOCALES,
    MAX_QUOTE_CHARS,
    NOTE,
    Change,
    Evidence,
    Profile,
    Row,
    Signal,
    Suggestion,
    changed,
    changes_between,
    counts_in,
    labels_for,
    merge,
    new_profile,
    newest_rows,
    subject,
    suggestions,
    versions,
    with_replaced,
)
from vault_memory.core.text import comparable, fold, same, script_of
from vault_memory.core.trailers import Trailers
from vault_memory.errors import TooLarge
from vault_memory.services.profiles.evidence import all_evidence
from vault_memory.services.profiles.values import is_offered, value_problem
from vault_memory.services.vault import Vault
from vault_memory.services.write import Plan, Written, write

_MAX_LATER_COMMITS = 1_000
_LOOKED_BACK = 40
"""So many of a key's newest changes are looked at for the one that a turn takes back."""


class LaterChanges:
    """What was changed in a user's profile after `at`, but by turns: by hand or with a command. One is for all attempts
    of a write: git is asked once, since the file may be saved again before it has answered."""

    def __init__(self, vault: Vault, user_id: str, at: datetime) -> None:
        self._vault = vault
        self._path = layout.user_dir(user_id) / layout.PROFILE
        self._at = at
        self._found: set[tuple[str, str]] = set()
        self._seen: Profile | None = None

    def commits(self, profile: Profile) -> set[tuple[str, str]]:
        """What was changed up to this state of the profile, as `subject` names it."""
        self._found |= self._in_history() if self._seen is None else _subjects(changes_between(self._seen, profile))
        self._seen = profile
        return self._found

    def _in_history(self) -> set[tuple[str, str]]:
        found: set[tuple[str, str]] = set()
        since, of_a_turn = self._at.replace(microsecond=0), trailers.KEYS["source"]  # git counts seconds
        # What a turn has changed is in the evidence.
        for entry in self._vault.history.log([self._path], limit=_MAX_LATER_COMMITS, since=since, lacking=of_a_turn):
            ours = Trailers.read(entry.trailers)
            if entry.time + timedelta(seconds=1) <= self._at:
                continue
            if ours.key in FIELDS:
                found |= {subject(ours.key, value) for value in (ours.old, ours.new) if value}
            elif entry.author != ASSISTANT.name:  # many edits at once are one commit
                parent = CommitLog(self._vault.history.root).parent(entry.commit)
                before = (self._vault.history.blob(self._path, parent) if parent else None) or b""
                after = self._vault.history.blob(self._path, entry.commit)
                if after and not (reading.not_utf_8(before) or reading.not_utf_8(after)):
                    found |= _subjects(changes_between(Profile.decode(before), Profile.decode(after)))
        return found


@dataclass(frozen=True)
class ProfileFiles:
    """Both files as they are on disk; `at` is the time of the change, in the user's time zone: that of the turn, if a
    turn is the reason.

    `stored` holds the bytes of USER.md; for a user without one it is None, and `profile` is a new profile: its labels
    are those of the vault's locale, else of the script of what the person `said`. `feedback` is all evidence so far,
    that of earlier years too, and `stored_feedback` the file to which more is added.
    """

    vault: Vault
    user_id: str
    at: datetime
    stored: bytes | None
    profile: Profile
    stored_feedback: bytes | None
    feedback: bytes
    later: LaterChanges

    @classmethod
    def read(
        cls,
        vault: Vault,
        user_id: str,
        at: datetime,
        read: Callable[[Path], bytes | None] = files.read,
        later: LaterChanges | None = None,
        said: str = "",
    ) -> ProfileFiles:
        """Read both files with `read`. A caller that will change them holds the user's lock; `later` is what it has
        found in an attempt before, `said` the person's words, if it has any."""
        later = later or LaterChanges(vault, user_id, at)
        config = vault.config
        labels = config.locale or labels_for(script_of(said)) or LOCALES[0]
        stored = read(vault.path(user_id, layout.PROFILE))
        if stored is None:
            at = at.astimezone(config.zone())
            joined = at.date().isoformat()
            profile = new_profile(labels, joined=joined, language=config.locale, timezone=config.timezone)
        else:
            profile = Profile.decode(stored, labels)
            at = at.astimezone(config.zone(_timezone_in(profile)))
        stored_feedback = read(vault.path(user_id, layout.FEEDBACK))
        return cls(vault, user_id, at, stored, profile, stored_feedback, all_evidence(vault, user_id, read), later)

    def merge(self, signals: Sequence[Signal]) -> tuple[list[Change], list[Evidence]]:
        """The changes that these signals make, by the merge policy and the evidence so far, and the evidence to add.

        What somebody has changed after `at` stays, and a value that its field cannot have is no signal. New values are
        redacted as they will stand in the file: the name of a secret may be in another value.
        """
        possible = [each for each in signals if each.op == "remove" or not value_problem(each.key, each.cleaned())]
        notes = [item.value for item in self.profile.items(NOTE)]
        signals = self._with_lateness([*with_replaced(possible, notes)])
        keys = {_json(signal.key) for signal in signals}
        counts = counts_in(newest_rows(self.feedback, *keys))
        changes, evidence = merge(self.profile, signals, counts)
        finished = changed(self.profile, changes)
        shown = redact(finished.text).text if changes else finished.text
        if shown == finished.text:
            return changes, evidence
        instead = _read_otherwise(self.profile, finished, Profile.parse(shown, finished.default_locale), changes)
        signals = [replace(each, value=instead.get((each.key, each.cleaned()), each.value)) for each in signals]
        return merge(self.profile, signals, counts)

    def hear(self, signals: Sequence[Signal], conversation: str = "") -> tuple[list[Signal], list[Suggestion]]:
        """The signals that count, and the suggestions to keep (`core.profile.suggestions`), of what was heard in a
        `conversation`."""
        if not any(signal.is_suggestion for signal in signals):
            return [*signals], []
        signals = self._with_lateness(
            [each for each in signals if not each.is_suggestion or is_offered(each.key, each.cleaned())]
        )
        keys = {_json(signal.key) for signal in signals}
        open_ones = suggestions.waiting(newest_rows(self.feedback, *keys), self.profile, is_offered)
        asked = {signal.key for signal in signals if signal.is_suggestion}
        open_ones = [each for each in open_ones if each.key in asked and not self._is_stale(each)]
        dismissed = suggestions.dismissed_values(newest_rows(self.feedback, suggestions.DISMISSED))
        return suggestions.heard(signals, self.profile, open_ones, dismissed, conversation, self.at.date())

    def _is_stale(self, suggestion: Suggestion) -> bool:
        """Whether its value was changed after it was heard, by hand too."""
        with suppress(ValueError):
            at = datetime.fromisoformat(suggestion.created_at)
            saved_at = self.vault.saved_at(layout.user_dir(self.user_id) / layout.PROFILE)
            if saved_at is None or saved_at <= at:
                return False
            then = replace(self, at=at, later=LaterChanges(self.vault, self.user_id, at))
            return subject(suggestion.key, suggestion.value) in then._changed_since({suggestion.key})
        return True

    def open_suggestions(self) -> list[Suggestion]:
        """What waits for the person's decision, newest first."""
        return suggestions.waiting(newest_rows(self.feedback, b'"key"'), self.profile, is_offered)

    def unrecorded(self, signals: Iterable[Signal], source: str) -> list[Signal]:
        """The signals that add something to a turn's evidence: no other value for a scalar, none counts twice."""
        rows = self.evidence_of(source)
        scalars = {row.key for row in rows}
        members = {(row.key, comparable(row.value)) for row in rows}
        return [
            signal
            for signal in signals
            if (signal.key not in scalars if FIELDS[signal.key].form == "scalar" else True)
            and (signal.key, comparable(signal.value)) not in members
        ]

    def _with_lateness(self, signals: Sequence[Signal]) -> Sequence[Signal]:
        """The signals, marked where their value was changed after `at`: by a turn, a command or a request, which are
        evidence, or by hand, which is a commit. Nothing is looked up where nobody has written the profile since."""
        saved_at = self.vault.saved_at(layout.user_dir(self.user_id) / layout.PROFILE)
        if saved_at is None or saved_at <= self.at or all(signal.strength == "manual" for signal in signals):
            return signals
        changed = self._changed_since({signal.key for signal in signals})
        return [replace(signal, is_late=subject(signal.key, signal.cleaned()) in changed) for signal in signals]

    def _changed_since(self, keys: set[str]) -> set[tuple[str, str]]:
        """What of these keys was changed after `at`, as `subject` names it. Evidence of the future is older: the clock
        has jumped back, and what is said now would change nothing until it has caught up."""
        found: set[tuple[str, str]] = set()
        for row in newest_rows(self.feedback, *map(_json, keys)):
            is_of_value = row.applied or same(row.value, row.current)
            if row.key in keys and is_of_value and row.at and self.at < row.at <= self.vault.now():
                found.add(subject(row.key, row.value))
        return found | self.later.commits(self.profile)

    def drafts(self, changes: Sequence[Change], author: Author, source: str, memory: str = "") -> list[Draft]:
        """One commit per change; first one that creates a missing USER.md. `source` is the turn's line, or empty, and
        so is `memory`, the id of the memory that is the reason.

        One commit for all changes where the `versions` of a long profile are too much. Raises `ForeignFile` when the
        file is not in UTF-8.
        """
        drafts = []
        before = self.profile.encode()
        path = layout.user_dir(self.user_id) / layout.PROFILE
        reading.check_utf_8(path, before)
        if self.stored is None:
            subject = f"memory({self.user_id}): create {layout.PROFILE}"
            created = trailers.render(subject, "", Trailers(user=self.user_id))
            drafts.append(Draft(created, author, (FileChange(path, None, before),)))
        found = versions(self.profile, changes)
        messages = [self._message(change, source, memory) for change in changes]
        if len(found) < len(changes):
            subject = f"memory({self.user_id}): {len(changes)} changes of preferences"
            messages = [trailers.render(subject, "", Trailers(user=self.user_id, source=source or None))]
        for message, after in zip(messages, found, strict=True):
            drafts.append(Draft(message, author, (FileChange(path, before, after),)))
            before = after
        return drafts

    def with_evidence(self, evidence: Iterable[Evidence | Suggestion], source: str) -> FileChange:
        """feedback.jsonl with a new line for each signal and suggestion. What a person wrote may hold a secret."""
        origin = {"source": source, "created_at": self.at.isoformat()}
        evidence = [
            replace(item, value=redact(item.value).text, quote=without_private(item.quote)[0][:MAX_QUOTE_CHARS])
            for item in evidence
        ]
        lines = [json.dumps(item.row() | origin, ensure_ascii=False).encode() + b"\n" for item in evidence]
        before = self.stored_feedback or b""
        gap = b"" if before.endswith(b"\n") or not before else b"\n"
        path = layout.user_dir(self.user_id) / layout.FEEDBACK
        return FileChange(path, self.stored_feedback, before + gap + b"".join(lines))

    def evidence_of(self, source: str) -> list[Row]:
        """The rows of evidence that one turn has given so far; suggestions are none."""
        rows = newest_rows(self.feedback, _json(source))
        return [row for row in rows if row.source == source and not row.suggestion]

    def has_heard(self, source: str) -> bool:
        """Whether a turn on the line `source` of the record, of the time `at`, has given evidence or a suggestion."""
        return any(row.source == source and row.at == self.at for row in newest_rows(self.feedback, _json(source)))

    def reversed(self, source: str, said_at: datetime) -> list[Signal]:
        """The signals that take back what one turn has changed: the turn on the line `source` of the record, of that
        time (the line alone may be another machine's, too).

        Git says what a value was before, and whether the turn's change is the newest of it: what anybody has changed
        since stays. What goes comes first: a note that has replaced another would be replaced by that.
        """
        from vault_memory.services.profiles.history import history  # a turn seldom needs it

        signals = []
        for row in self.evidence_of(source):
            if row.applied and row.at == said_at:
                changes = history(self.vault, self.user_id, row.key, limit=_LOOKED_BACK)
                if FIELDS[row.key].form != "scalar":
                    changes = [each for each in changes if same(row.value, each.new or each.old)]
                if changes and changes[0].source == source:
                    signals.append(_reverse(row, changes[0].old))
        return sorted(signals, key=lambda signal: signal.op != "remove")

    def _message(self, change: Change, source: str, memory: str) -> str:
        reason = without_private(change.quote)[0]
        subject = f"memory({self.user_id}): {change.summary()}"
        named = replace(Trailers.of_change(self.user_id, change, source), memory=memory or None)
        return trailers.render(subject, reason, named)


def _json(text: str) -> bytes:
    return json.dumps(text).encode()


def _reverse(row: Row, old: str) -> Signal:
    """The signal that takes back one row of evidence; `old` is what a scalar was before."""
    is_scalar = FIELDS[row.key].form == "scalar"
    if row.op == "remove":
        return Signal(row.key, "set" if is_scalar else "add", row.value, "explicit")
    if is_scalar and old:
        return Signal(row.key, "set", old, "explicit")
    return Signal(row.key, "remove", row.value, "explicit")


def _subjects(changes: Iterable[Change]) -> set[tuple[str, str]]:
    return {subject(change.key, value) for change in changes for value in (change.old, change.new) if value}


def _read_otherwise(
    before: Profile, after: Profile, shown: Profile, changes: Iterable[Change]
) -> dict[tuple[str, str], str]:
    """The values that `shown` holds in place of new ones of `after`: {(key, value): value}.

    Where values became one, as the lines of a private key do, each of them is what stands there instead.
    """
    instead: dict[tuple[str, str], str] = {}
    for key in {change.key for change in changes}:
        old, new, now = ([item.value for item in profile.items(key)] for profile in (before, after, shown))
        others = [value for value in now if value not in new]
        for at, value in enumerate(new):
            if value not in old and value not in now:
                instead[key, value] = now[at] if len(now) == len(new) else "".join(others[:1])
    return instead


Decision = tuple[Sequence[Change], Sequence[Evidence | Suggestion]]


def change_profile(
    vault: Vault,
    user_id: str,
    decide: Callable[[ProfileFiles], Decision],
    author: Author,
    source: str = "",
    said_at: datetime | None = None,
    said: str = "",
    memory: str = "",
) -> Written[list[Change]]:
    """Commit what `decide` wants changed in the present files: one commit per change, the evidence with the last one.

    `source` is the line of the turn, if a turn is the reason, `said` the person's words, and `said_at` its time, which
    the commits get as their author's; `memory` is the id of the memory, if one is the reason. Raises what `write`
    raises.
    """
    at, cache = min(said_at or vault.now(), vault.now()), ReadCache()
    later = LaterChanges(vault, user_id, at)

    def plan() -> Plan[list[Change]]:
        state = ProfileFiles.read(vault, user_id, at, cache.read, later, said)
        changes, evidence = decide(state)
        drafts = state.drafts(changes, author, source, memory) if changes else []
        if evidence:
            added = state.with_evidence(evidence, source)
            if drafts:
                drafts[-1] = replace(drafts[-1], changes=(*drafts[-1].changes, added))
            else:
                keys = ", ".join(dict.fromkeys(item.key for item in evidence))
                subject = f"log({user_id}): {keys} {_what_happened(evidence)}"
                caused_by = Trailers(user=user_id, source=source or None, memory=memory or None)
                drafts.append(Draft(trailers.render(subject, "", caused_by), author, (added,)))
        return Plan(list(changes), [replace(draft, made_at=at) for draft in drafts] if said_at else drafts)

    folder = layout.user_dir(user_id)
    return write(vault, user_id, [folder / layout.PROFILE, folder / layout.FEEDBACK], plan, cache=cache)


def _what_happened(evidence: Iterable[Evidence | Suggestion]) -> str:
    """What became of values that did not change the profile, for the subject of their commit."""
    found = {item.suggestion for item in evidence if isinstance(item, Suggestion)}
    return "dismissed" if "dismissed" in found else "suggested" if found else "named again"


def profile_timezone(vault: Vault, user_id: str) -> str | None:
    """The time zone in the user's profile, if there is one that can be read."""
    with suppress(TooLarge):
        stored = files.read(vault.path(user_id, layout.PROFILE))
        return _timezone_in(Profile.decode(stored)) if stored else None
    return None


def goes_by(vault: Vault, user_id: str, name: str) -> bool:
    """Whether a name that a client gives who speaks is this user's: the id, a name from `[identities]`, or the name in
    the profile; or nobody's, as it only says that a person speaks («user»). Case, blanks and signs do not matter."""
    names = [user_id, *(other for other, user in vault.config.identities.items() if user == user_id), *_NOBODYS]
    if _bare(name) in {"", *map(_bare, names)}:
        return True
    with suppress(TooLarge):
        stored = files.read(vault.path(user_id, layout.PROFILE))
        return bool(stored) and _bare(str(Profile.decode(stored or b"").get("display_name") or "")) == _bare(name)
    return False


_NOBODYS = ("user", "human", "me", "you")


def _bare(name: str) -> str:
    return "".join(char for char in fold(name) if char.isalnum())


def _timezone_in(profile: Profile) -> str | None:
    value = profile.get("timezone")
    return value if isinstance(value, str) else None
