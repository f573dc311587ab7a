"""Users who got another id on one side of a merge: what a sync does with their files, and when it stops.

The commits of `user rename` tell of it. Tokens and conversations are of one machine, and a remote's word moves none of
them: whoever writes there could have them moved to an id whose token somebody else holds. So the person runs the
command on each machine that has something of the user's alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath

from vault_memory.adapters import files
from vault_memory.adapters.git import FOLDER_MODE, CommitLog, LogEntry, TreeEntry
from vault_memory.adapters.scan import walk
from vault_memory.core import layout
from vault_memory.core.trailers import KEYS, Trailers
from vault_memory.errors import HistoryError, TooLarge
from vault_memory.services.vault import Vault

_MAX_RENAMINGS = 1_000
"""In what one merge takes in; git is asked about each."""


@dataclass(frozen=True)
class Renaming:
    """A commit of `user rename`."""

    old: str
    new: str
    commit: str


@dataclass
class _Person:
    """Somebody on one side: the ids that they have had since the base, and the renamings between them."""

    ids: list[str]
    steps: list[Renaming] = field(default_factory=list)
    is_in_base: bool = True


@dataclass(frozen=True)
class Renamings:
    """The users who got another id since `base`, the commit at which the two sides of a merge parted."""

    vault: Vault
    base: str | None
    ours: str | None
    theirs: str

    @cached_property
    def here(self) -> list[Renaming]:
        """Those of our side, oldest first."""
        return self._since_base(self.ours)

    @cached_property
    def there(self) -> list[Renaming]:
        """Those of the remote, oldest first."""
        return self._since_base(self.theirs)

    def refuse_pending(self) -> list[str]:
        """The ids here of users who get another one by this merge.

        Raises `HistoryError` when one of them has something that only this machine holds: it would be the next
        person's who gets the id.
        """
        pending = sorted(self._pending(), key=lambda each: self.there.index(each[1][0]))
        given_up = [user_id for user_id, _ in pending]
        if held := next(filter(self._is_here_alone, given_up), None):
            old, steps = pending[0]  # also one who has nothing here: the new id of `held` may be that one's old id
            new = next((step.new for step in steps if not self.vault.is_user(step.new)), steps[0].new)
            commit = steps[0].commit[:10]
            ids = f"{'-- ' if '-' in (old[0], new[0]) else ''}{old} {new}"  # none of them is an option
            raise HistoryError(
                f"on another machine {old} was renamed to {new}, and this one alone has a token, conversations or "
                f"edits of {held}: run `vault-memory user rename {ids}` here, then sync again; nothing was "
                f"merged. If that was no renaming of yours: `git show {commit}` shows it, and `git pull --no-rebase` "
                "takes the remote's files without a renaming here"
            )
        return given_up

    def _pending(self) -> Iterator[tuple[str, list[Renaming]]]:
        """The id of each user who is here and has another one on the remote, with the renamings that lead there."""
        for ours, theirs in self._people():
            at = _last(theirs.ids, ours.ids[-1])
            if at is not None and (steps := theirs.steps[at:]) and self.vault.is_user(ours.ids[-1]):
                yield ours.ids[-1], steps

    def moved(self) -> tuple[str | None, str]:
        """The commits `base` and `theirs` with the folders of users under the ids that they have here, so that each
        file is merged with the same person's.

        Raises `HistoryError` when the remote has another user with such an id.
        """
        if self.base is None or not self.here:
            return self.base, self.theirs
        history, at_base = self.vault.history, dict[PurePosixPath, PurePosixPath | None]()
        for ours, theirs in self._people():
            if ours.steps and ours.is_in_base:
                is_same = ours.ids[-1] in theirs.ids or theirs.ids[-1] in ours.ids
                at_base[layout.user_dir(ours.ids[0])] = layout.user_dir(ours.ids[-1]) if is_same else None
        for new in self._moves.values():
            entry = history.entry(new, self.theirs)
            if entry and entry.mode == FOLDER_MODE and new not in self._moves:
                raise HistoryError(
                    f"the remote has another user {new.name!r}, an id that somebody has got here: `vault-memory user "
                    f"rename {new.name} NEW` gives that person one that nobody has; then sync again"
                )
        return self._with_moved(self.base, at_base), self._with_moved(self.theirs, self._moves)

    def _with_moved(self, commit: str, folders: Mapping[PurePosixPath, PurePosixPath | None]) -> str:
        """A commit in which these folders have other paths, or are gone (None)."""
        history = self.vault.history
        entries: dict[PurePosixPath, TreeEntry | None] = dict.fromkeys(folders)
        entries |= {new: history.entry(old, commit) for old, new in folders.items() if new}
        return history.with_entries(commit, entries)

    @cached_property
    def _moves(self) -> dict[PurePosixPath, PurePosixPath]:
        """The folders of the remote's commit whose users got another id here, and not there."""
        return {
            layout.user_dir(theirs.ids[-1]): layout.user_dir(ours.ids[-1])
            for ours, theirs in self._people()
            if ours.is_in_base and ours.ids[-1] not in theirs.ids and theirs.ids[-1] in ours.ids
        }

    def _people(self) -> Iterator[tuple[_Person, _Person]]:
        """Everybody who got another id on a side, as of our side and of the remote's.

        Those who are not in `base` are the same on both sides if they had the same id first, as the vault's users are.
        """
        known = [
            user_id
            for user_id in dict.fromkeys(each.old for each in [*self.here, *self.there])
            if self.vault.history.entry(layout.user_dir(user_id), self.base or "") is not None
        ]
        here, there = (_followed(known, renamings) for renamings in (self.here, self.there))
        yield from zip(here[: len(known)], there[: len(known)], strict=True)
        taken, born = {person.ids[-1] for person in here}, here[len(known) :]
        for theirs in there[len(known) :]:
            ours = next((person for person in born if person.ids[0] == theirs.ids[0]), None)
            if ours:
                born.remove(ours)
                yield ours, theirs
            elif theirs.ids[0] not in taken:
                yield _Person(theirs.ids[:1], is_in_base=False), theirs

    def places(self, path: PurePosixPath, *, there: bool) -> list[tuple[PurePosixPath, str]]:
        """Where a side had a file since the two parted: paths, the newest first, each with the last commit on it."""
        steps, tip = (self.there, self.theirs) if there else (self.here, self.ours or "")
        if there:
            at = {new: old for old, new in self._moves.items()}
            folder = next((each for each in at if path.is_relative_to(each)), None)
            path = at[folder] / path.relative_to(folder) if folder else path
        places = [(path, tip)]
        for each in reversed(steps):
            folder = layout.user_dir(each.new)
            if path.is_relative_to(folder):
                path = layout.user_dir(each.old) / path.relative_to(folder)
                places.append((path, each.commit))
        return places

    def _since_base(self, tip: str | None) -> list[Renaming]:
        """The renamings of one side; one that two machines have made side by side counts once, as does one that is in
        what both sides have already."""
        if self.base is None or tip is None:
            return []
        commits, found = CommitLog(self.vault.history.root), list[Renaming]()
        if new := self._read(self.base, tip):
            last = {(each.old, each.new): each.commit for each in self._read(None, self.base)}
            for each in new:
                same = last.get((each.old, each.new))
                if same is None or commits.is_ancestor(same, each.commit):
                    found.append(each)
                    last[each.old, each.new] = each.commit
        return found

    def _read(self, since: str | None, tip: str) -> list[Renaming]:
        entries = CommitLog(self.vault.history.root).between(since, tip, KEYS["renamed_from"])
        if since and len(entries) > _MAX_RENAMINGS:
            raise HistoryError(
                f"the commits since the last sync rename users more than {_MAX_RENAMINGS:,} times: nothing of them is "
                "taken in; if you trust them, merge them yourself with `git pull --no-rebase`"
            )
        return [renaming for entry in entries if (renaming := _renaming(entry))]

    def _is_here_alone(self, user_id: str) -> bool:
        """Whether this machine alone holds something of a user: a token, a file that is in no commit, such as a
        conversation, or a commit that the remote does not have."""
        root, home = self.vault.root, layout.user_dir(user_id)
        if os.path.lexists(root / layout.user_token(user_id)):
            return True
        if self.ours and CommitLog(root).is_changed(home, self.theirs, self.ours):
            return True
        here = list(_files_below(root, home))
        # A file whose changes git does not see stays in git under its name, whatever a remote deletes.
        return bool(self.vault.history.working_tree.unseen(here)) or any(not self._is_kept(path) for path in here)

    def _is_kept(self, path: PurePosixPath) -> bool:
        if layout.is_private(path):
            return False
        try:
            content = files.read(self.vault.root / path)
        except TooLarge:
            return False
        return content is None or self.vault.history.is_kept(path, content)


def _renaming(entry: LogEntry) -> Renaming | None:
    """The renaming that a commit tells of; None if what it says are no ids: anybody may write a trailer."""
    said = Trailers.read(entry.trailers)
    old, new = said.renamed_from or "", said.user or ""
    if old != new and layout.is_user_id(old) and layout.is_user_id(new):
        return Renaming(old, new, entry.commit)
    return None


def _followed(user_ids: Sequence[str], renamings: Sequence[Renaming]) -> list[_Person]:
    """The people who had these ids at first, and then those who came later and got another one."""
    people = [_Person([user_id]) for user_id in user_ids]
    for each in renamings:
        person = next((one for one in people if one.ids[-1] == each.old), None)
        if person is None:
            person = _Person([each.old], is_in_base=False)
            people.append(person)
        person.ids.append(each.new)
        person.steps.append(each)
    return people


def _last(ids: Sequence[str], user_id: str) -> int | None:
    return max((at for at, one in enumerate(ids) if one == user_id), default=None)


def _files_below(root: Path, folder: PurePosixPath) -> Iterator[PurePosixPath]:
    """The files of a user, without the index."""
    for place, _, names in walk(root / folder):
        for name in names:
            if not layout.is_index(name):
                yield PurePosixPath(Path(place, name).relative_to(root))
