"""Compute the fields of USER.md that come from the logs: modules, how often and how the person asks, issues that return.

The person's hand wins: after an edit of such a field (or `pref set`, or `undo`) only what was said since then counts, and
nothing changes before there is enough of it. Committed as the assistant's, and only when something changes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime

from vault_memory.adapters import files
from vault_memory.adapters.history import ASSISTANT
from vault_memory.core import layout
from vault_memory.core.profile import interaction
from vault_memory.core.profile.fields import FIELDS, same
from vault_memory.core.profile.interaction import Asked, Talk
from vault_memory.core.profile.policy import Change, Evidence
from vault_memory.core.profile.profile import Profile
from vault_memory.services.notes.conversations import newest_turns
from vault_memory.services.person_edits import commit_person_edits
from vault_memory.services.profiles.audit import PreferenceChange, history
from vault_memory.services.profiles.profile_files import ProfileFiles, change_profile
from vault_memory.services.vault import Vault

_WHY = "computed from the last turns"
_Row = tuple[datetime, str, str, str, str]
"""Of one line of evidence: when, the turn's line, key, strength, value."""


def compute_interaction(vault: Vault, user_id: str) -> list[Change]:
    """Bring one user's computed fields up to the logs; return what changed. A second run changes nothing."""
    folder = layout.user_dir(vault.known_user(user_id))
    if files.read(vault.path(user_id, layout.PROFILE)) is None:
        return []
    with vault.lock(user_id):
        commit_person_edits(vault, user_id, [folder / layout.PROFILE])
    rows = list(_rows(vault, user_id))
    adjusted = {source for _, source, _, strength, _ in rows if strength == "adjustment"}
    talks = [
        (at, Talk(str(turn.get("user_message") or ""), turn.get("skill"), source in adjusted))
        for source, turn in newest_turns(vault, user_id, interaction.WINDOW)
        if (at := _moment(turn.get("created_at")))
    ]

    def since(key: str) -> list[Talk]:
        edit = _last(vault, user_id, key, manual=True)
        if edit is None:
            return [talk for _, talk in talks]
        later = [talk for at, talk in talks if at > edit.at]
        return later if len(later) >= interaction.ENOUGH else []

    modules = interaction.modules(since("most_used_modules"))
    styles = {
        "feedback_frequency": interaction.feedback_frequency(since("feedback_frequency")),
        "question_style": interaction.question_style(since("question_style")),
    }
    issues = _new_issues(vault, user_id, rows)

    def decide(state: ProfileFiles) -> tuple[list[Change], list[Evidence]]:
        changes: list[Change] = []
        for module in modules:
            changes += _put(state.profile, changes, "most_used_modules", module)
        if modules:
            for item in state.profile.items("most_used_modules"):
                if not any(same(item.value, module) for module in modules):
                    changes += _take(state.profile, changes, "most_used_modules", item.value)
        for key, value in styles.items():
            changes += _put(state.profile, changes, key, value) if value else []
        for issue in issues:
            changes += _put(state.profile, changes, "common_issues", issue)
        return changes, []

    return change_profile(vault, user_id, decide, ASSISTANT)[0]


def _put(profile: Profile, so_far: list[Change], key: str, value: str) -> list[Change]:
    before = so_far[-1].profile if so_far else profile
    standing = [item.value for item in before.items(key)]
    if any(same(value, other) for other in standing):
        return []
    is_scalar = FIELDS[key].form == "scalar"
    old = standing[0] if is_scalar and standing else ""
    return [Change(key, "set" if is_scalar else "add", old, value, "observed", _WHY, before.put(key, value))]


def _take(profile: Profile, so_far: list[Change], key: str, value: str) -> list[Change]:
    before = so_far[-1].profile if so_far else profile
    return [Change(key, "remove", value, "", "observed", _WHY, before.without(key, value))]


def _new_issues(vault: Vault, user_id: str, rows: list[_Row]) -> list[str]:
    """The topics that returned, each with something new since the list last changed: one that a person took out stays out."""
    edit, change = (_last(vault, user_id, "common_issues", manual=manual) for manual in (True, False))
    asked = [row for row in rows if row[2] == "recent_topics" and (edit is None or row[0] > edit.at)]
    returned = interaction.common_issues(Asked(topic, at.date()) for at, _, _, _, topic in asked)
    return [
        topic
        for topic in returned
        if change is None or any(at > change.at and same(named, topic) for at, _, _, _, named in asked)
    ][-(FIELDS["common_issues"].bound or 0) :]


def _last(vault: Vault, user_id: str, key: str, *, manual: bool) -> PreferenceChange | None:
    """The last change of a key; with `manual`, the last one by the person's hand."""
    found = history(vault, user_id, key, limit=100 if manual else 1)
    return next((change for change in found if not manual or change.strength == "manual"), None)


def _rows(vault: Vault, user_id: str) -> Iterator[_Row]:
    """The evidence of feedback.jsonl, oldest first; lines that cannot be read are passed over."""
    for line in (files.read(vault.path(user_id, layout.FEEDBACK)) or b"").splitlines():
        try:
            row = json.loads(line)
            at = _moment(row["created_at"])
            if at and row["op"] != "remove":
                yield at, str(row["source"]), str(row["key"]), str(row["strength"]), str(row["value"])
        except (ValueError, KeyError, TypeError):
            continue


def _moment(text: object) -> datetime | None:
    try:
        moment = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return moment if moment.tzinfo else None
