"""What a person does with preferences directly: set, unset, restore, undo, and ask where one comes from.

All of it is authored as the person, goes through the same files and the same commits as what is learned, and leaves
evidence, so that the history of a preference is one list whoever changed it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from vault_memory.adapters import files
from vault_memory.core import layout
from vault_memory.core.privacy.private import PRIVATE
from vault_memory.core.profile.fields import FIELDS, NOTE, clean, same
from vault_memory.core.profile.policy import Change, Evidence, Signal
from vault_memory.core.profile.profile import Profile
from vault_memory.errors import NotFound, UsageError
from vault_memory.services.notes.conversations import turn_at
from vault_memory.services.person_edits import hand_changes
from vault_memory.services.profiles.audit import PreferenceChange, history, profile_at
from vault_memory.services.profiles.profile_files import ProfileFiles, change_profile
from vault_memory.services.vault import Vault

_UNDO_REACH = 1000
"""How many changes back `undo` looks for one that still stands."""


@dataclass(frozen=True)
class Preference:
    """One value of the profile. `strong` is what the profile's JSON calls `suggested_default`."""

    key: str
    value: str
    strong: bool


@dataclass(frozen=True)
class Blame:
    """Where a standing value comes from: the change that brought it, and the turn's own words (None: not from a turn)."""

    change: PreferenceChange
    said: str | None


def preferences(vault: Vault, user_id: str) -> list[Preference]:
    """Every value of the user's profile, in the order of its fields."""
    profile = Profile.decode(files.read(vault.path(vault.known_user(user_id), layout.PROFILE)) or b"")
    return [Preference(key, item.value, item.strong) for key in FIELDS for item in profile.items(key)]


def set_preference(vault: Vault, user_id: str, key: str, value: str) -> list[Change]:
    """Set a scalar, or add to a list, as the person's own word. Raises `UsageError` for what the key cannot hold."""
    return _signal(vault, vault.new_user(user_id), _wanted(key, value))


def replace_preferences(
    vault: Vault,
    user_id: str,
    values: Mapping[str, str | Sequence[str] | None],
    check: Callable[[bytes | None], None] = lambda stored: None,
) -> list[Change]:
    """Make these the values of their keys (None or empty: none), as the person's own word; other keys stay.

    `check` sees what USER.md holds before anything is decided, under the user's lock, and may raise. Raises `UsageError` for
    what a key cannot hold, and then nothing is changed.
    """
    wanted = {_known(key): [value] if isinstance(value, str) else list(value or ()) for key, value in values.items()}
    for key, members in wanted.items():
        if FIELDS[key].form == "scalar" and len(members) > 1:
            raise UsageError(f"{key} has one value, not {len(members)}")
    signals = {key: [_wanted(key, member) for member in members] for key, members in wanted.items()}

    def decide(state: ProfileFiles) -> tuple[list[Change], list[Evidence]]:
        check(state.stored)
        todo: list[Signal] = []
        for key, members in wanted.items():
            standing = [item.value for item in state.profile.items(key)]
            if FIELDS[key].form != "scalar" or not members:
                gone = [value for value in standing if not any(same(value, member) for member in members)]
                todo += [Signal(key, "remove", value, "manual") for value in gone]
            todo += [s for s in signals[key] if not any(same(s.value, value) for value in standing)]
        return state.merge(todo)

    return change_profile(vault, vault.new_user(user_id), decide, vault.history.person())[0]


def unset_preference(vault: Vault, user_id: str, key: str, value: str | None = None) -> list[Change]:
    """Take a value away; without `value` all values of the key. Raises `NotFound` if it is not there."""
    standing = [p.value for p in preferences(vault, user_id) if p.key == _known(key)]
    gone = [v for v in standing if value is None or same(v, value)]
    if not gone:
        raise NotFound(f"{key} {'has no value' if value is None else f'does not hold {value!r}'}: nothing to unset")
    return _signal(vault, user_id, *(Signal(key, "remove", v, "manual") for v in gone))


def restore_preference(vault: Vault, user_id: str, key: str, commit: str) -> list[Change]:
    """Bring one key back to what it was at a commit; everything else stays.

    Raises `NotFound` for an unknown commit, and for one from before the person had a profile.
    """
    vault.known_user(user_id)
    _known(key)
    then = profile_at(vault, user_id, commit)
    if then is None:
        raise NotFound(f"user {user_id!r} had no {layout.PROFILE} at {commit[:12]}: choose a later commit")
    return _bring_back(vault, user_id, key, Profile.decode(then), f"restore {key} to {commit[:12]}")


def commit_at(vault: Vault, user_id: str, moment: datetime) -> str:
    """The last commit on the user's profile up to a moment. Raises `NotFound` if there was none yet."""
    entries = vault.history.log([layout.user_dir(vault.known_user(user_id)) / layout.PROFILE], limit=1, until=moment)
    if not entries:
        raise NotFound(f"{user_id} had no profile yet at {moment:%Y-%m-%d %H:%M}: choose a later date")
    return entries[0].commit


def undo(vault: Vault, user_id: str) -> list[Change]:
    """Take back the last thing that the assistant learned and that was not taken back yet. Raises `NotFound` if nothing is left."""
    undone: set[str] = set()
    for change in history(vault, user_id, limit=_UNDO_REACH):
        if change.op == "restore" and change.undoes:
            undone.add(change.undoes)
        elif change.strength != "manual" and change.commit not in undone:
            before = Profile.decode(profile_at(vault, user_id, f"{change.commit}^") or b"")
            reason = f"undo {change.commit[:12]}"
            return _bring_back(vault, user_id, change.key, before, reason, undoes=change.commit)
    raise NotFound(f"nothing that was learned of {user_id} is left to undo")


def blame(vault: Vault, user_id: str, key: str) -> list[Blame]:
    """For each standing value of a key: the change that brought it. Empty when nothing stands or nobody set it by a commit."""
    entries = history(vault, user_id, _known(key), limit=_UNDO_REACH)
    found = []
    for preference in preferences(vault, user_id):
        if preference.key == key:
            change = next(
                (e for e in entries if same(e.new, preference.value) and e.op in ("set", "add", "restore")), None
            )
            if change:
                found.append(Blame(change, _said(vault, user_id, change)))
    return found


def _known(key: str) -> str:
    if key not in FIELDS:
        raise UsageError(f"{key!r} is no key of the profile; the keys are {', '.join(FIELDS)}")
    return key


def _wanted(key: str, value: str) -> Signal:
    row = FIELDS[_known(key)]
    if not clean(value, "scalar" if key == NOTE else row.form):
        raise UsageError(f"{key} needs a value; `vault-memory pref unset {key}` takes one away")
    if row.values and value not in row.values:
        raise UsageError(f"{value!r} is no value of {key}: use one of {', '.join(row.values)}")
    return Signal(key, "set" if row.form == "scalar" else "add", value, "manual")


def _signal(vault: Vault, user_id: str, *signals: Signal) -> list[Change]:
    return change_profile(vault, user_id, lambda state: state.merge(signals), vault.history.person())[0]


def _bring_back(vault: Vault, user_id: str, key: str, then: Profile, reason: str, undoes: str = "") -> list[Change]:
    def decide(state: ProfileFiles) -> tuple[list[Change], list[Evidence]]:
        after = state.profile.with_items(key, then.items(key))
        # One step: a list that comes back whole is one restoration, not a change per member.
        steps = hand_changes(state.profile, after)
        if not steps:
            return [], []
        old, new = ("、".join(i.value for i in p.items(key)) for p in (state.profile, after))
        restored = Change(key, "restore", old, new, "manual", reason, after, undoes)
        told = [
            Evidence(key, "restore", step.new or step.old, "manual", True, step.new, 1 if step.new else 0, reason)
            for step in steps
        ]
        return [restored], told

    return change_profile(vault, user_id, decide, vault.history.person())[0]


def _said(vault: Vault, user_id: str, change: PreferenceChange) -> str | None:
    """The person's words on the line that a change names, if they hold its reason.

    Conversations stay on the machine where they were held: after a sync the same line here may be of another talk.
    """
    message = (turn_at(vault, user_id, change.source) or {}).get("user_message")
    pieces = map(_bare, change.reason.split(PRIVATE))
    return message if isinstance(message, str) and all(piece in _bare(message) for piece in pieces) else None


def _bare(text: str) -> str:
    """Letters and digits only: what a message has over several lines, its reason has on one."""
    return "".join(filter(str.isalnum, text))
