"""Update the fields of USER.md that are computed from the turns and the evidence (`core.profile.computed`).

The person's own edit wins: after an edit of such a field (also by `pref set` or `undo`) only later turns count, and the
field stays until there are enough of them. The commits have the assistant as author, and are made only when something
changes.
"""

from __future__ import annotations

from datetime import datetime

from vault_memory.adapters import files
from vault_memory.adapters.history import ASSISTANT
from vault_memory.core import layout
from vault_memory.core.profile import (
    FIELDS,
    Change,
    Item,
    PastTurn,
    Profile,
    Row,
    TopicMention,
    newest_rows,
    with_value,
    without_value,
)
from vault_memory.core.profile import computed as interaction
from vault_memory.core.text import same
from vault_memory.services.notes import newest_turns
from vault_memory.services.profiles.evidence import all_evidence
from vault_memory.services.profiles.history import PreferenceChange, history
from vault_memory.services.profiles.profile_files import change_profile
from vault_memory.services.vault import Vault

_REASON = "computed from the last turns"
_MAX_CHANGES = 100
"""The person's last edit of a field is looked for in this many of its newest changes."""


def compute_interaction(vault: Vault, user_id: str) -> list[Change]:
    """Update one user's computed fields; return what changed. A second run changes nothing."""
    if files.read(vault.path(vault.known_user(user_id), layout.PROFILE)) is None:
        return []
    return change_profile(vault, user_id, lambda state: (_changes(vault, user_id, state.profile), []), ASSISTANT).result


def _changes(vault: Vault, user_id: str, profile: Profile) -> list[Change]:
    """The changes to make. The person's edits are committed by now, so the history shows which fields they edited."""
    rows = _rows(vault, user_id)
    adjustments = {row.source for row in rows if row.strength == "adjustment"}
    turns = [
        (at, PastTurn(str(turn.get("user_message") or ""), turn.get("skill"), source in adjustments))
        for source, turn in newest_turns(vault, user_id, interaction.MAX_TURNS)
        if (at := _time_in(turn.get("created_at")))
    ]

    def turns_for(key: str) -> list[PastTurn]:
        edit = _last_change(vault, user_id, key, is_manual=True)
        if edit is None:
            return [turn for _, turn in turns]
        later = [turn for at, turn in turns if at > edit.at]
        return later if len(later) >= interaction.MIN_TURNS else []

    modules = interaction.modules(turns_for("most_used_modules"))
    styles = {
        "feedback_frequency": interaction.feedback_frequency(turns_for("feedback_frequency")),
        "question_style": interaction.question_style(turns_for("question_style")),
    }
    changes: list[Change] = []
    for module in modules:
        changes += _put(profile, changes, "most_used_modules", module)
    if modules:
        for item in profile.items("most_used_modules"):
            if not any(same(item.value, module) for module in modules):
                changes += _remove(profile, changes, "most_used_modules", item.value)
    for key, value in styles.items():
        changes += _put(profile, changes, key, value) if value else []
    for issue in _new_issues(vault, user_id, rows):
        changes += _put(profile, changes, "common_issues", issue)
    return changes


def _put(profile: Profile, so_far: list[Change], key: str, value: str) -> list[Change]:
    items = _items(profile, so_far, key)
    if any(same(value, item.value) for item in items):
        return []
    is_scalar = FIELDS[key].form == "scalar"
    old = items[0].value if is_scalar and items else ""
    after = tuple(with_value(key, items, value))
    return [Change(key, "set" if is_scalar else "add", old, value, "observed", _REASON, after)]


def _remove(profile: Profile, so_far: list[Change], key: str, value: str) -> list[Change]:
    after = tuple(without_value(_items(profile, so_far, key), value))
    return [Change(key, "remove", value, "", "observed", _REASON, after)]


def _items(profile: Profile, so_far: list[Change], key: str) -> tuple[Item, ...]:
    """The values of a key after the changes that are made so far."""
    return next((change.items for change in reversed(so_far) if change.key == key), profile.items(key))


def _new_issues(vault: Vault, user_id: str, rows: list[Row]) -> list[str]:
    """The topics that returned, if named again since the list last changed: one that a person removed stays away."""
    edit, change = (_last_change(vault, user_id, "common_issues", is_manual=manual) for manual in (True, False))
    mentions = [
        (row.at, row.value)
        for row in rows
        if row.key == "recent_topics" and row.at and (edit is None or row.at > edit.at)
    ]
    returned = interaction.common_issues(TopicMention(value, at.date()) for at, value in mentions)
    return [
        topic
        for topic in returned
        if change is None or any(at > change.at and same(value, topic) for at, value in mentions)
    ][-(FIELDS["common_issues"].max_items or 0) :]


def _last_change(vault: Vault, user_id: str, key: str, *, is_manual: bool) -> PreferenceChange | None:
    """The last change of a key; with `is_manual`, the person's last own change of it."""
    changes = history(vault, user_id, key, limit=_MAX_CHANGES if is_manual else 1)
    return next((change for change in changes if not is_manual or change.strength == "manual"), None)


def _rows(vault: Vault, user_id: str) -> list[Row]:
    """The evidence of adjustments and topics, oldest first."""
    found = newest_rows(all_evidence(vault, user_id), b'"adjustment"', b'"recent_topics"')
    return [row for row in found if row.op != "remove" and not row.suggestion][::-1]


def _time_in(text: object) -> datetime | None:
    """An ISO time with an offset; None for any other text."""
    try:
        time = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return time if time.tzinfo else None
