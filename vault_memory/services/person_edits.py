"""Commit what the person changed by hand, as the person, before anybody else touches it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from vault_memory.adapters.history import Author, Draft, FileChange
from vault_memory.core import layout, trailers
from vault_memory.core.notes import note
from vault_memory.core.privacy import secrets
from vault_memory.core.profile.fields import FIELDS
from vault_memory.core.profile.policy import Change, ChangeOp
from vault_memory.core.profile.profile import Item, Profile
from vault_memory.errors import Changed
from vault_memory.services.vault import Vault

_ATTEMPTS = 20
_LISTED = 20
_TITLE_BYTES = 65_536
_TITLE_CHARS = 80


def commit_person_edits(vault: Vault, scope: str | None, paths: Sequence[PurePosixPath] | None = None) -> int:
    """Commit every edit in a scope (None: in all) that nobody has committed yet; return how many files.

    The caller holds the user's lock (every user's): without it the assistant's text could be on disk and not yet in its
    draft, and be taken for the person's. `paths` (vault-relative) narrows the look to those files. A profile gives one
    commit per preference, all the other files of a scope one commit together. Raises `Changed` when they never come to rest.
    """
    for attempt in range(_ATTEMPTS):
        drafts = _drafts(vault, scope, paths)
        try:
            if drafts:
                vault.history.commit(drafts, found=True)
            break
        except Changed:  # the editor saved again just now: look again
            if attempt == _ATTEMPTS - 1:
                raise
            vault.history.let_git_finish()
    return len({change.path for draft in drafts for change in draft.changes})


def _drafts(vault: Vault, scope: str | None, paths: Sequence[PurePosixPath] | None) -> list[Draft]:
    author = vault.history.person()
    drafts: list[Draft] = []
    others: dict[str, list[FileChange]] = {}
    for change in vault.history.uncommitted(paths):
        owner = layout.scope_of(change.path)
        if scope in (None, owner):
            by_key = edit_drafts(vault, author, *change)
            drafts += by_key
            if not by_key:
                others.setdefault(owner, []).append(change)
    return drafts + [Draft(_message(changes), author, tuple(changes)) for changes in others.values()]


def _message(changes: Sequence[FileChange]) -> str:
    """`edit 想法 (notes/idea.md)`; for many `add 12 files, delete 1 file`, and then a line for each of the first ones."""
    lines = [f"{_verb(change)} {_named(change)}" for change in changes]
    if len(lines) == 1:
        return trailers.render(lines[0])
    verbs = [_verb(change) for change in changes]
    counts = [(verb, verbs.count(verb)) for verb in ("add", "edit", "delete") if verb in verbs]
    subject = ", ".join(f"{verb} {count} {'file' if count == 1 else 'files'}" for verb, count in counts)
    more = [f"and {len(lines) - _LISTED} more"] if len(lines) > _LISTED else []
    return (
        trailers.render(subject)
        + "\n"
        + "".join(f"- {trailers.single_line(line)}\n" for line in lines[:_LISTED] + more)
    )


def _verb(change: FileChange) -> str:
    return "add" if change.before is None else "delete" if change.after is None else "edit"


def _named(change: FileChange) -> str:
    """A note by its title, if it has one, and its path."""
    if change.path.suffix != ".md":
        return str(change.path)
    data = change.after if change.after is not None else change.before or b""
    read = note.parse(data[:_TITLE_BYTES].decode("utf-8", "replace"))
    heading = re.search(r"^# +(.+?)[ #]*$", read.body, re.MULTILINE)
    title = trailers.single_line(secrets.redact(read.title or (heading[1] if heading else "")).text)
    return f"{title[:_TITLE_CHARS]} ({change.path})" if title else str(change.path)


def edit_drafts(
    vault: Vault, author: Author, path: PurePosixPath, before: bytes | None, after: bytes | None
) -> list[Draft]:
    """For an edited USER.md one draft per preference that differs, else none; the last one ends with exactly `after`."""
    user_id = layout.scope_of(path)
    if not before or not after or not user_id or path != layout.user_dir(user_id) / layout.PROFILE:
        return []
    changes = hand_changes(Profile.decode(before, vault.config.locale), Profile.decode(after, vault.config.locale))
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
