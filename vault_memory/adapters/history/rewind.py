"""Bring back what the person's git took away: text that waits for its commit, and commits made while a rebase began.

`git rebase --abort`, `git reset --hard` and a merge that gives up put every file back to what a commit holds. The
person wants to undo their own work; a turn learned at that moment must not be lost.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from vault_memory.adapters import files, git
from vault_memory.adapters.git import (
    FILE_MODES,
    Filters,
    Objects,
    Repository,
    bytes_of,
    commit_time,
    is_content,
    log_records,
)
from vault_memory.adapters.history.intents import Intent, IntentLog, is_gone
from vault_memory.adapters.history.model import ASSISTANT, Author, Draft, FileChange
from vault_memory.adapters.history.publish import GitIndexUpdate
from vault_memory.core import reading
from vault_memory.errors import Changed, HistoryError, TooLarge

OUR_MOVE = "vault-memory: "
"""How each of our lines in a branch's reflog begins."""

_REWINDING = re.compile(r"(?:rebase|reset|checkout|merge|pull|am|cherry-pick|revert)\b")
_DISCARDING = re.compile(r"reset\b|rebase \(abort\)")
"""What throws edits away; `git stash` resets, too."""
_ABORTED = "rebase (abort)"
_STAYS = "reset: moving to HEAD"
"""It moves no branch. If we committed after it had read HEAD, it dropped that commit."""
_REFLOG_TAIL_BYTES = 1 << 16
_RESTORED_WITHIN_S = 2.0
_MAX_MERGE_S = 60.0
"""Longest time of a merge: our commits later than this after its start did not meet it."""


class _Move(NamedTuple):
    """One line of a reflog: from which commit to which, when (seconds), and git's reason."""

    old: str
    new: str
    when: int
    why: str


class Rewind:
    """Finds what git took away in one repository, and brings it back. The caller holds the vault's lock."""

    def __init__(self, repository: Repository, objects: Objects, intents: IntentLog) -> None:
        self._repository = repository
        self._objects = objects
        self._intents = intents

    def take_up_dropped(self) -> set[PurePosixPath]:
        """Make intents of our commits that the person's git dropped, or took out of the files and the git index.

        Returns the files that had to be written.

        A rebase remembers where the branch was when it began, and its abort moves the branch back there: a commit
        made after it read the branch and before its first file appeared is then gone from the branch. A merge that
        meets such a commit gives up, and puts files and git index back to where HEAD was before: the commit stays,
        but looks undone.
        """
        head = self._repository.head()
        redone: set[PurePosixPath] = set()
        if head.ref is None or head.commit is None:
            return redone
        log = self._repository.common_dir / "logs" / head.ref
        for move in self._moves(log):
            if (move.why.startswith(_ABORTED) or move.why == _STAYS) and move.old != move.new:
                dropped = list(self._commits(move.old, head.commit))
                if move.why == _STAYS:  # the person has discarded their own edits, committed just then
                    dropped = [row for row in dropped if row[1].author == ASSISTANT]
                redone |= self._take_up(head.commit, dropped)
            elif move.why.startswith(OUR_MOVE):
                break
        if began := self._outrun_from(log):
            commits = self._commits(head.commit, began)
            undone = [row for row in commits if self._is_undone(row[1], began, head.commit)]
            redone |= self._take_up(began, undone)
        return redone

    def _take_up(self, head: str, commits: list[tuple[str, Draft]]) -> set[PurePosixPath]:
        tree = self._objects.tree_of(head)
        pending = self._intents.pending()
        known = {(intent.when, draft.message.strip()) for intent in pending for draft in intent.drafts}
        commits = [(when, draft) for when, draft in commits if (when, draft.message.strip()) not in known]
        for when, draft in reversed(commits):  # what waits was staged after them, and on top of them
            bases = {change.path: self._blob_at(tree, change.path) for change in draft.changes}
            self._intents.mark_written(self._intents.add((draft,), when, head, bases, first=True))
        chains = _by_path(draft for _, draft in commits)
        return {path for path, chain in chains.items() if self._redo(path, chain)}

    def _outrun_from(self, log: Path) -> str | None:
        """The HEAD at which a merge began, if we committed on it during the merge; else None.

        There may be many of ours since: on a busy machine a merge takes seconds.
        """
        began, at = self._began()
        for move in self._moves(log) if began else ():
            is_ours = move.why.startswith(OUR_MOVE)
            if is_ours and abs(move.when - at) > _MAX_MERGE_S:
                return None
            if move.old == began:
                return began if is_ours else None
        return None

    def _began(self) -> tuple[str | None, float]:
        """The HEAD at which git's last merge, rebase or reset began, and when (seconds); (None, 0.0) for none."""
        orig_head = self._repository.git_dir / "ORIG_HEAD"
        try:
            return (files.read(orig_head) or b"").decode("ascii", "replace").strip() or None, orig_head.stat().st_mtime
        except FileNotFoundError:
            return None, 0.0

    def _is_undone(self, draft: Draft, before: str, head: str) -> bool:
        """Whether the git index holds the old content of a file that the commit changed, and HEAD the new."""
        paths = {change.path: self._repository.prefix / change.path for change in draft.changes}
        staged = GitIndexUpdate(self._repository).blobs(list(paths.values()))
        then, now = self._objects.tree_of(before), self._objects.tree_of(head)
        return any(
            staged[name] == self._blob_at(then, path) != self._blob_at(now, path) for path, name in paths.items()
        )

    def put_back(self) -> set[PurePosixPath]:
        """Write waiting text again into files that git has put back to what HEAD holds; return these files.

        Logs may wait for long: of them all is written again that is gone, also where the person has written something
        since. What the person has deleted, also by a command that leaves no trace in a log of git's (`git restore`), or
        committed without it, stays deleted.
        """
        redone: set[PurePosixPath] = set()
        pending = self._intents.pending()
        logs = _by_path(draft for intent in pending for draft in intent.drafts if draft.waits)
        if not pending or not ((is_rewound := self._rewound_since(pending[0])) or logs):
            return redone
        bases = {path: blob for intent in reversed(pending) for path, blob in intent.bases.items()}
        tree = self._objects.tree_of(self._repository.head().commit)
        filters = Filters(self._repository, self._objects)
        moved = self._met_by_git(pending, logs, _REWINDING, _MAX_MERGE_S)
        thrown_away = self._met_by_git(pending, logs, _DISCARDING)
        gave_up = self._gave_up_since(pending[0])
        for path, chain in _by_path(draft for intent in pending for draft in intent.drafts).items():
            if not is_rewound and path not in logs:
                continue
            with contextlib.suppress(TooLarge):  # git has put back no file that is too large
                on_disk = files.read(self._repository.root / path)
                blob = filters.blob(self._repository.prefix / path, on_disk)
                is_lost = is_heads = blob == self._blob_at(tree, path)
                if path in logs:
                    is_restored = is_heads and (on_disk is None or self._is_restored(path))
                    known = moved.get(path, []) if blob != bases.get(path) else chain if gave_up else []
                    chain = known if is_restored else thrown_away.get(path, [])
                    is_lost = bool(chain) and is_gone(chain, on_disk)
                if is_lost and self._redo(path, chain):
                    redone.add(path)
        return redone

    def _met_by_git(
        self, pending: Sequence[Intent], logs: Iterable[PurePosixPath], which: re.Pattern[str], took_s: float = 0.0
    ) -> dict[PurePosixPath, list[FileChange]]:
        """The changes of logs that waited already at git's last move of such a kind, which may have taken so long; none
        of a log that the person has committed since."""
        committed: set[PurePosixPath] = set()
        for move in self._moves(self._repository.git_dir / "logs" / "HEAD"):
            if which.match(move.why):
                met = (intent for intent in pending if int(intent.when.split()[0]) <= move.when + took_s)
                chains = _by_path(draft for intent in met for draft in intent.drafts)
                return {path: chain for path, chain in chains.items() if path not in committed}
            with contextlib.suppress(HistoryError):  # a commit that git has thrown away since, or none: 000…
                if not move.why.startswith(OUR_MOVE):
                    trees = [self._objects.tree_of(commit) for commit in (move.old, move.new)]
                    committed |= {path for path in logs if len({self._blob_at(tree, path) for tree in trees}) > 1}
        return {}

    def _is_restored(self, path: PurePosixPath) -> bool:
        """Whether git has written a file, as far as its time tells: git writes its index right after the files."""
        try:
            written_at = (self._repository.root / path).lstat().st_mtime
            return 0 <= (self._repository.git_dir / "index").stat().st_mtime - written_at < _RESTORED_WITHIN_S
        except OSError:
            return False

    def _redo(self, path: PurePosixPath, chain: list[FileChange]) -> bool:
        """Make a chain of changes once more, on what the file holds now; False when it holds them already, or is too
        large."""
        file = self._repository.root / path
        try:
            on_disk = content = files.read(file)
        except TooLarge:
            return False
        if is_content(on_disk, chain[-1].new):
            return False
        for change in chain:
            content = self._redone(change, content)
        if content == on_disk:  # the person has committed it
            return False
        with contextlib.suppress(Changed):  # the person saved just now: the next call does it
            if content is not None:
                files.replace(file, content, on_disk, self._repository.root)
            elif on_disk is not None:
                files.remove(file, on_disk, self._repository.root)
        return True

    def _redone(self, change: FileChange, content: bytes | None) -> bytes | None:
        after = bytes_of(change.new)
        if after is None or content == after or is_content(content, change.old):
            return after
        from vault_memory.core.notes import carry_over  # a turn rarely needs it

        # A file that is gone was deleted, or another branch lacks it: its other lines stay out.
        return carry_over(change.path, bytes_of(change.old), after, content or b"")

    def _rewound_since(self, intent: Intent) -> bool:
        """Whether git has moved files of the working tree since a change was staged.

        Git's times are those at which its commands began, and a merge that fetches attachments takes long: the moves
        are counted from the commit at which HEAD was then. A merge that gives up moves nothing and need not leave a
        line in a log: one that began shortly before may have put the files back since.
        """
        when = int(intent.when.split()[0])
        if self._began()[1] >= when or self._gave_up_since(intent):
            return True
        for move in self._moves(self._repository.git_dir / "logs" / "HEAD"):
            is_later = move.when >= when or (move.old == move.new and move.when >= when - _MAX_MERGE_S)
            if not is_later and intent.head in (move.new, None):
                return False
            if _REWINDING.match(move.why):
                return True
        return False

    def _gave_up_since(self, intent: Intent) -> bool:
        """Whether a merge, rebase or reset that began since a change was staged, or shortly before, has left HEAD where
        it was."""
        began, at = self._began()
        return at >= int(intent.when.split()[0]) - _MAX_MERGE_S and self._is_at(began)

    def _is_at(self, commit: str | None) -> bool:
        """Whether HEAD is at a commit, or only our own commits came since."""
        head = self._repository.head()
        if head.commit == commit:
            return True
        for move in self._moves(self._repository.common_dir / "logs" / head.ref) if head.ref else ():
            if not move.why.startswith(OUR_MOVE):
                return False
            if move.old == commit:
                return True
        return False

    def held_before(self, paths: Iterable[PurePosixPath]) -> set[PurePosixPath]:
        """Those of the paths that a commit holds at which HEAD stood lately, by its log."""
        missing, found = set(paths), set()
        for move in self._moves(self._repository.git_dir / "logs" / "HEAD") if missing else ():
            with contextlib.suppress(HistoryError):  # a commit that git has thrown away since, or none: 000…
                tree = self._objects.tree_of(move.old)
                found |= {path for path in missing if self._blob_at(tree, path)}
            missing -= found
            if not missing:
                break
        return found

    def _moves(self, log: Path) -> Iterator[_Move]:
        """The moves in a reflog, newest first; the latest few hundred."""
        try:
            with files.opened(log) as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - _REFLOG_TAIL_BYTES))
                rows = reading.lines(file.read().decode("utf-8", "replace"))
        except (FileNotFoundError, NotADirectoryError):
            return
        for row in reversed(rows):
            facts, _, why = row.partition("\t")
            words = facts.split(" ")
            if len(words) > 4 and len(words[0]) == 40 and words[-2].isdigit():
                yield _Move(words[0], words[1], int(words[-2]), why)

    def _commits(self, tip: str, head: str) -> Iterator[tuple[str, Draft]]:
        """(committer's time, draft) of each commit of ours up to `tip` that `head` does not have, oldest first.

        Merges are left out: the next sync makes them again.
        """
        shape = "--format=format:%H%x00%P%x00%an%x00%ae%x00%aI%x00%ce%x00%cd%x00%B"
        args = ("log", "--reverse", "--no-merges", "--date=raw", "-z", shape, tip, "--not", head, "--")
        rows = log_records(git.run(self._repository.top, *args), 8)
        for commit, parent, name, email, made_at, committer, when, message in rows:
            if committer == ASSISTANT.email:
                author, changes = Author(name, email), self._changes(parent or None, commit)
                yield when, Draft(message, author, changes, made_at=commit_time(made_at))

    def _changes(self, parent: str | None, commit: str) -> tuple[FileChange, ...]:
        args = ("diff-tree", "-r", "-z", "--name-only", "--no-renames", "--root", "--no-commit-id", commit)
        names = [os.fsdecode(name) for name in git.run(self._repository.top, *args).split(b"\0") if name]
        before, after = self._objects.tree_of(parent), self._objects.tree_of(commit)
        paths = [PurePosixPath(name).relative_to(self._repository.prefix) for name in names]
        return tuple(FileChange(path, self._content(before, path), self._content(after, path)) for path in paths)

    def _content(self, tree: str, path: PurePosixPath) -> bytes | None:
        blob = self._blob_at(tree, path)
        return self._objects.read(blob)[1] if blob else None

    def _blob_at(self, tree: str, path: PurePosixPath) -> str | None:
        entry = self._objects.find(tree, self._repository.prefix / path)
        return entry.id if entry and entry.mode in FILE_MODES else None


def _by_path(drafts: Iterable[Draft]) -> dict[PurePosixPath, list[FileChange]]:
    chains: dict[PurePosixPath, list[FileChange]] = {}
    for draft in drafts:
        for change in draft.changes:
            chains.setdefault(change.path, []).append(change)
    return chains
