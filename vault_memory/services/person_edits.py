"""Commit what the person changed by hand, as the person, before anybody else touches it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath

from vault_memory.adapters.history import Author, Draft, FileChange
from vault_memory.core import layout, trailers
from vault_memory.core.preference import Change, ChangeOp
from vault_memory.core.profile import FIELDS, Item, Profile
from vault_memory.services.vault import Vault


def commit_person_edits(vault: Vault, user_id: str | None = None, paths: Iterable[PurePosixPath] | None = None) -> int:
    """Commit every edit that nobody has committed yet, in one user's folder or in the whole vault; return how many files.

    `paths` (vault-relative) narrows the look to those files. A profile gives one commit per preference, any other file
    one commit. The caller holds the user's lock when it is about to write to the same files.
    """
    prefix = layout.user_dir(user_id) if user_id is not None else None
    author = vault.history.person()
    drafts: list[Draft] = []
    edits = 0
    for path, before, after in vault.history.uncommitted(paths):
        if prefix is not None and not path.is_relative_to(prefix):
            continue
        edits += 1
        place = layout.place_of(path)
        if place and place.scope != layout.SHARED and place.source == layout.PROFILE and before and after:
            drafts += _profile_drafts(vault, author, path, place.scope, before, after)
        else:
            verb = "add" if before is None else "delete" if after is None else "edit"
            drafts.append(Draft(f"{verb} {path}", author, (FileChange(path, before, after),)))
    if drafts:
        vault.history.commit(drafts)
    return edits


def _profile_drafts(
    vault: Vault, author: Author, path: PurePosixPath, user_id: str, before: bytes, after: bytes
) -> list[Draft]:
    """One draft per preference that differs; the last one brings the file to exactly the person's bytes."""
    changes = hand_changes(Profile.decode(before, vault.config.locale), Profile.decode(after, vault.config.locale))
    if not changes:
        return [Draft(f"edit {path}", author, (FileChange(path, before, after),))]
    drafts, previous = [], before
    for number, change in enumerate(changes, 1):
        content = after if number == len(changes) else change.profile.encode()
        message = trailers.render(
            _subject(change),
            "",
            {
                "Vault-User": user_id,
                "Vault-Key": change.key,
                "Vault-Op": change.op,
                "Vault-Old": change.old,
                "Vault-New": change.new,
                "Vault-Strength": "manual",
            },
        )
        drafts.append(Draft(message, author, (FileChange(path, previous, content),)))
        previous = content
    return drafts


def hand_changes(old: Profile, new: Profile) -> list[Change]:
    """The preferences that differ between two states of a profile, one change each, in the order of the fields."""
    changes: list[Change] = []
    state = old
    for key, row in FIELDS.items():
        was, now = old.items(key), new.items(key)
        for op, before, after in _steps(was, now, scalar=row.form == "scalar"):
            items = [item for item in state.items(key) if item != before]
            state = state.with_items(key, [*items, after] if after else items)
            changes.append(
                Change(key, op, before.value if before else "", after.value if after else "", "manual", "", state)
            )
    return changes


def _steps(
    was: Sequence[Item], now: Sequence[Item], *, scalar: bool
) -> Iterator[tuple[ChangeOp, Item | None, Item | None]]:
    """What became of each value: (operation, the item before, the item after)."""
    old, new = {item.value: item for item in was}, {item.value: item for item in now}
    if scalar and was and now and was[0].value != now[0].value:
        yield "set", was[0], now[0]
        return
    for value, item in old.items():
        if value not in new:
            yield "remove", item, None
        elif new[value].strong != item.strong:
            yield "strengthen" if new[value].strong else "weaken", item, new[value]
    for value, item in new.items():
        if value not in old:
            yield "set" if scalar else "add", None, item


def _subject(change: Change) -> str:
    if change.op == "set" and change.old:
        return f"{layout.PROFILE}: {change.key} {change.old} → {change.new}"
    return f"{layout.PROFILE}: {change.summary()}"
