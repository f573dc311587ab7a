"""LEARNING.md: read it, and let an event change it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from vault_memory.adapters import files
from vault_memory.adapters.history import ASSISTANT, Draft, FileChange
from vault_memory.core import layout, learning, trailers
from vault_memory.core.learning import Event, LearningProfile
from vault_memory.core.privacy import places, redact, secrets_added, states_a_value
from vault_memory.core.profile import LOCALES, labels_for
from vault_memory.core.text import script_of
from vault_memory.core.trailers import Trailers
from vault_memory.errors import UsageError
from vault_memory.services.memories import is_all_left_out, public
from vault_memory.services.vault import Vault
from vault_memory.services.write import Plan, write


@dataclass(frozen=True)
class Learned:
    """The profile after an event. `redactions` counts what was kept out of it, by category; `paused` says why its
    commit waits longer than it should, `degraded` what could not be used. For a user who is off the record nothing is
    kept (`is_kept`)."""

    user_id: str
    profile: LearningProfile
    is_kept: bool = True
    redactions: Mapping[str, int] = field(default_factory=dict)
    paused: str | None = None
    degraded: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The profile as JSON shows it."""
        return self.profile.as_dict(self.user_id)


def learning_profile(vault: Vault, user_id: str) -> LearningProfile:
    """What the user masters, prefers and has done, as LEARNING.md says now; an empty profile where there is none.
    Raises `NotFound` for an unknown user, `TooLarge`."""
    with vault.reading(user_id):
        return read_profile(vault, user_id)


def read_profile(vault: Vault, user_id: str) -> LearningProfile:
    """`learning_profile` also for a user who is not known yet."""
    stored = files.read(vault.path(user_id, layout.LEARNING))
    return LearningProfile() if stored is None else _decoded(stored)


@lru_cache(64)
def _decoded(stored: bytes) -> LearningProfile:
    """The profile in a file's bytes. A router asks for it before each message, and it has seldom changed."""
    return learning.decode(stored)


def update_user(vault: Vault, user_id: str, event: Mapping[str, Any]) -> Learned:
    """Let an event change the user's LEARNING.md: {intent, topic, artifact, metadata: {difficulty, correct_rate}}. The
    first one makes the user. It is in the file when this returns; its commit is that of the user's next ones, as those
    of the logs.

    A topic that is a secret or a private fact is left out, and the rest of the event counts.

    Raises `UsageError`, which names the field that is wrong, `InvalidId`, `Busy`, and what the disk
    and git raise.
    """
    step = learning.read_event(event)
    layout.check_user_id(user_id)
    if vault.config.is_off_record(user_id):
        return Learned(user_id, read_profile(vault, user_id), is_kept=False)
    counts: Counter[str] = Counter()
    said, step = step, _public(step, counts)
    left_out = "the topic" if said.topic and step.topic is None else "a part of the event"
    path = layout.user_dir(user_id) / layout.LEARNING
    at = vault.now().astimezone(vault.config.zone())

    def decide() -> Plan[LearningProfile]:
        stored = files.read(vault.path(user_id, layout.LEARNING))
        before = LearningProfile() if stored is None else learning.decode(stored)
        after = learning.learned(before, step, at)
        text = (stored or b"").decode("utf-8", "surrogateescape")
        locale = vault.config.locale or labels_for(script_of(step.topic or "")) or LOCALES[0]
        new = learning.with_learning(text, before, after, locale).encode("utf-8", "surrogateescape")
        if found := secrets_added(path, [stored], new):
            raise UsageError(f"{path} would hold what looks like a secret ({places(found)}): name the topic without")
        subject = trailers.logs_subject(user_id, f"{at:%Y-%m-%d %H:%M}")
        message = trailers.render(subject, "", Trailers(user=user_id))
        waits = vault.config.git_log_commits != "turn"
        return Plan(learning.decode(new), [Draft(message, ASSISTANT, (FileChange(path, stored, new),), waits=waits)])

    done = write(vault, user_id, [path], decide)
    return Learned(
        user_id,
        done.result,
        redactions=dict(counts),
        paused=done.paused,
        degraded=(
            *([f"{left_out} is left out: it is private ({', '.join(counts)})"] if counts else []),
            *([f"index: {done.index_problem}"] if done.index_problem else []),
        ),
    )


def _public(step: Event, counts: Counter[str]) -> Event:
    """The event without secrets and private facts: without its topic, where nothing else is in that. A topic is the
    subject of a lesson, which is private only if it states somebody's facts."""
    if step.topic is None:
        return step
    if states_a_value(step.topic):
        topic = public(step.topic, counts)
    else:
        redacted = redact(step.topic)
        topic = redacted.text
        counts.update(redacted.counts)
    return replace(step, topic=None if is_all_left_out(topic) else topic)
