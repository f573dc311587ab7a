"""What a person does with preferences directly: set, unset, restore, take back, and ask where one comes from.

The commits have the person as author. They change the same files as learned preferences and add evidence too, so the
history of a preference is one list, no matter who changed it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Literal

from vault_memory.adapters import files
from vault_memory.adapters.git import CommitLog
from vault_memory.core import layout
from vault_memory.core.privacy import PRIVATE, redact
from vault_memory.core.profile import (
    FIELDS,
    Change,
    Evidence,
    Item,
    Profile,
    Signal,
    canonical,
    changes_between,
    taken_back,
)
from vault_memory.core.text import comparable, same
from vault_memory.errors import HistoryError, NotFound, UsageError
from vault_memory.services.notes import turn_at
from vault_memory.services.profiles.history import PreferenceChange, history, profile_at
from vault_memory.services.profiles.profile_files import ProfileFiles, change_profile
from vault_memory.services.profiles.values import value_problem
from vault_memory.services.vault import Vault
from vault_memory.services.write import refuse_uncommitted, refuse_while_waiting

MAX_CHANGES = 200
"""Of values by one call; each is a commit of the whole profile."""
_MAX_LOOKED_AT = 1000
"""`learned` and `blame` look at this many of the newest changes."""


@dataclass(frozen=True)
class Preference:
    """One value of the profile. `strong` is what the profile's JSON calls `suggested_default`."""

    key: str
    value: str
    strong: bool


@dataclass(frozen=True)
class BlamedValue:
    """Where a current value comes from: the change, and the person's message in that turn (None: not from a turn)."""

    change: PreferenceChange
    message: str | None


def list_preferences(vault: Vault, user_id: str) -> list[Preference]:
    """Every value of the user's profile, in the order of its fields."""
    with vault.reading(user_id):
        profile = Profile.decode(files.read(vault.path(user_id, layout.PROFILE)) or b"")
    return [Preference(key, item.value, item.strong) for key in FIELDS for item in profile.items(key)]


def set_preference(vault: Vault, user_id: str, key: str, value: str) -> list[Change]:
    """Set a scalar, or add one value to a list, as the person's edit; secrets are redacted.

    Raises `UsageError` for a wrong key or value.
    """
    return _apply(vault, vault.new_user(user_id), _set_signal(key, value))


def replace_preferences(
    vault: Vault,
    user_id: str,
    values: Mapping[str, str | Sequence[str] | None],
    check: Callable[[bytes | None], None] = lambda stored: None,
) -> list[Change]:
    """Make these the values of their keys (None or empty: no value), as the person's edit; other keys stay. Secrets are
    redacted.

    `check` gets the bytes of USER.md before anything is decided, under the user's lock, and may raise. Raises
    `UsageError` for an unknown key or an invalid value; nothing is changed then.
    """
    wanted = {
        _checked_key(key): [value] if isinstance(value, str) else list(value or ()) for key, value in values.items()
    }
    for key, members in wanted.items():
        if FIELDS[key].form == "scalar" and len(members) > 1:
            raise UsageError(f"{key} has one value, not {len(members)}")
    signals = {key: [_set_signal(key, member) for member in members] for key, members in wanted.items()}

    def decide(state: ProfileFiles) -> tuple[list[Change], list[Evidence]]:
        check(state.stored)
        needed: list[Signal] = []
        for key, members in wanted.items():
            current = [item.value for item in state.profile.items(key)]
            kept, present = {comparable(signal.value) for signal in signals[key]}, set(map(comparable, current))
            if FIELDS[key].form != "scalar" or not members:
                gone = [value for value in current if comparable(value) not in kept]
                needed += [Signal(key, "remove", value, "manual") for value in gone]
            needed += [signal for signal in signals[key] if comparable(signal.value) not in present]
        if len(needed) > MAX_CHANGES:
            raise UsageError(
                f"that makes {len(needed)} changes, more than {MAX_CHANGES} at once: put the whole text of the profile"
            )
        return state.merge(needed)

    return change_profile(vault, vault.new_user(user_id), decide, vault.history.person()).result


def unset_preference(vault: Vault, user_id: str, key: str, value: str | None = None) -> list[Change]:
    """Remove a value; without `value` all values of the key. Raises `NotFound` if it is not there."""
    current = [p.value for p in list_preferences(vault, user_id) if p.key == _checked_key(key)]
    gone = [v for v in current if value is None or same(v, canonical(key, value))]
    if not gone:
        raise NotFound(f"{key} {'has no value' if value is None else f'does not hold {value!r}'}: nothing to unset")
    return _apply(vault, user_id, *(Signal(key, "remove", v, "manual") for v in gone))


def restore_preference(vault: Vault, user_id: str, key: str, commit: str) -> list[Change]:
    """Give one key the values that it had at a commit; everything else stays.

    Raises `NotFound` for an unknown commit, and for one before the person had a profile.
    """
    vault.known_user(user_id)
    _checked_key(key)
    then = profile_at(vault, user_id, commit)
    if then is None:
        raise NotFound(f"user {user_id!r} had no {layout.PROFILE} at {commit[:12]}: choose a later commit")
    values, path = Profile.decode(then).items(key), layout.user_dir(user_id) / layout.PROFILE

    def decide(now: Profile) -> Sequence[Item]:
        refuse_uncommitted(vault, path, files.read(vault.root / path))
        return values

    return _restore(vault, user_id, key, decide, f"restore {key} to {commit[:12]}")


def commit_at(vault: Vault, user_id: str, key: str, moment: datetime) -> str:
    """The commit with the value that a key of the user's profile had at a moment: of those that may have changed it the
    one that its author made last by then. Raises `NotFound` if there was none by then."""
    path = layout.user_dir(vault.known_user(user_id)) / layout.PROFILE
    commit = CommitLog(vault.history.root).last_made(path, moment, _checked_key(key))
    if commit is None:
        raise NotFound(f"{user_id} had no profile yet at {moment:%Y-%m-%d %H:%M}: choose a later date")
    return commit


@dataclass(frozen=True)
class Learned:
    """A change that the assistant has made, and whether it is `learned` still, `undone`, or `changed` by the person
    since: then there is nothing of it left to take back."""

    change: PreferenceChange
    state: Literal["learned", "undone", "changed"]


def learned(vault: Vault, user_id: str) -> Iterator[Learned]:
    """The assistant's changes of a user's preferences, newest first, each with what became of it."""
    undone: set[str] = set()
    confirmed: set[tuple[str, str]] = set()
    now = Profile.decode(files.read(vault.path(user_id, layout.PROFILE)) or b"")
    for change in history(vault, user_id, limit=_MAX_LOOKED_AT):
        if change.op == "restore" and change.undoes:
            undone.add(change.undoes)
        elif change.strength == "manual":  # what the person has set since is theirs, also if it is the same
            confirmed.add((change.key, comparable(change.new)))
        elif change.commit in undone:
            yield Learned(change, "undone")
        else:
            is_theirs = bool(change.new) and (change.key, comparable(change.new)) in confirmed
            is_left = not is_theirs and _before(vault, user_id, change)(now) != [*now.items(change.key)]
            yield Learned(change, "learned" if is_left else "changed")


def take_back(vault: Vault, user_id: str, change: PreferenceChange) -> list[Change]:
    """Take back one change of the assistant's, and nothing that was written since; empty where nothing of it is left.

    Raises `HistoryError` while changes of the profile wait for their commits, or turns to be learned from.
    """
    wanted = _before(vault, user_id, change)
    return _restore(vault, user_id, change.key, wanted, f"undo {change.commit[:12]}", undoes=change.commit)


def refuse_unsettled(vault: Vault, user_id: str) -> None:
    """Raise `HistoryError` while it is not settled what was learned last: commits or turns wait."""
    folder = layout.user_dir(user_id)
    refuse_while_waiting(vault, lambda path: path.is_relative_to(folder), f"nothing of {folder} can be put back now")
    if files.names(vault.unlearned(user_id)):
        raise HistoryError(
            "nothing is undone before the last turns are learned from: `vault-memory heartbeat --now commits`, or "
            "wait a moment"
        )


def _before(vault: Vault, user_id: str, change: PreferenceChange) -> Callable[[Profile], list[Item]]:
    """What the values of a key would be without a change, given the profile as it is."""
    revs = (f"{change.commit}^", change.commit)
    before, after = (Profile.decode(profile_at(vault, user_id, rev) or b"") for rev in revs)
    return partial(taken_back, change.key, before, after)


def blame(vault: Vault, user_id: str, key: str) -> list[BlamedValue]:
    """The origin of each current value of a key; a value that no commit set is left out."""
    entries = history(vault, user_id, _checked_key(key), limit=_MAX_LOOKED_AT)
    origins = []
    for preference in list_preferences(vault, user_id):
        if preference.key == key:
            change = next(
                (e for e in entries if same(e.new, preference.value) and e.op in ("set", "add", "restore")), None
            )
            if change:
                origins.append(BlamedValue(change, _turn_message(vault, user_id, change)))
    return origins


def _checked_key(key: str) -> str:
    if key not in FIELDS:
        raise UsageError(value_problem(key, ""))
    return key


def _set_signal(key: str, value: str) -> Signal:
    row = FIELDS[_checked_key(key)]
    if not isinstance(value, str):
        raise UsageError(
            f"{key} takes a text, not a {type(value).__name__}: set each of several values by its own call"
        )
    signal = Signal(key, "set" if row.form == "scalar" else "add", canonical(key, redact(value).text), "manual")
    if not signal.cleaned():
        raise UsageError(f"{key} needs a value; `vault-memory pref unset {key}` removes it")
    if problem := value_problem(key, signal.cleaned()):
        raise UsageError(problem)
    return signal


def _apply(vault: Vault, user_id: str, *signals: Signal) -> list[Change]:
    return change_profile(vault, user_id, lambda state: state.merge(signals), vault.history.person()).result


def _restore(
    vault: Vault,
    user_id: str,
    key: str,
    wanted: Callable[[Profile], Sequence[Item]],
    reason: str,
    undoes: str = "",
) -> list[Change]:
    """Give a key the values that are `wanted`, given the profile as it is now."""

    def decide(state: ProfileFiles) -> tuple[list[Change], list[Evidence]]:
        values = tuple(wanted(state.profile))
        after = state.profile.with_items(key, values)
        # A whole list is restored in one change, not in a change per member.
        steps = changes_between(state.profile, after)
        if not steps:
            return [], []
        old, new = ("、".join(i.value for i in p.items(key)) for p in (state.profile, after))
        restored = Change(key, "restore", old, new, "manual", reason, values, undoes)
        evidence = [
            Evidence(key, "restore", step.new or step.old, "manual", True, step.new, 1 if step.new else 0, reason)
            for step in steps
        ]
        return [restored], evidence

    return change_profile(vault, user_id, decide, vault.history.person()).result


def _turn_message(vault: Vault, user_id: str, change: PreferenceChange) -> str | None:
    """The message on the line that a change names, if it contains the reason of the change.

    Conversations are not synced: after a sync the same line on this machine may belong to another turn.
    """
    message = (turn_at(vault, user_id, change.source) or {}).get("user_message")
    pieces = map(_letters_and_digits, change.reason.split(PRIVATE))
    if isinstance(message, str) and all(piece in _letters_and_digits(message) for piece in pieces):
        return message
    return None


def _letters_and_digits(text: str) -> str:
    """Letters and digits only, because a reason is on one line where the message may have several."""
    return "".join(filter(str.isalnum, text))
