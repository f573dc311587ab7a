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
from vault_memory.adapters.history.model import ASSISTANT, WAITING_DIR, Author, Draft, FileChange
from vault_memory.adapters.history.publish import GitIndexUpdate
from vault_memory.core import reading
from vault_memory.errors import Changed, HistoryError, LargeObject, TooLarge

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
_RESET_S = 10.0
"""Longest time from a file that a reset writes to the line in git's log; as a rule it is some milliseconds."""
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
        self._met_file = repository.git_dir / WAITING_DIR / "met"

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
        redone = set()
        for path, chain in _by_path(draft for _, draft in commits).items():
            try:
                if self._redo(path, chain):
                    redone.add(path)
            except Changed:  # the person saved just now: what waits is written with the next call
                redone.add(path)
        return redone

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
        committed without it, stays deleted. So each move of git's is met once: what is missing later, the person has
        taken out.
        """
        redone: set[PurePosixPath] = set()
        pending, (moves, looked_at), are_met = self._intents.pending(), self._not_met(), True
        logs = _by_path(draft for intent in pending for draft in intent.drafts if draft.waits)
        is_rewound = bool(pending) and self._rewound_since(pending[0])
        tree = self._objects.tree_of(self._repository.head().commit) if pending else ""
        filters = Filters(self._repository, self._objects)
        for path, chain in _by_path(draft for intent in pending for draft in intent.drafts).items():
            if path not in logs and not is_rewound:
                continue
            try:
                on_disk, held = files.read(self._repository.root / path), self._blob_at(tree, path)
                is_lost = is_heads = filters.blob(self._repository.prefix / path, on_disk) == held
                if path in logs:
                    chain = self._taken(path, pending, moves, held, is_heads)
                    is_lost = bool(chain) and is_gone(chain, on_disk, self._content(tree, path))
                if is_lost and self._redo(path, chain):
                    redone.add(path)
            except (TooLarge, LargeObject):  # git has put back no file that is too large
                continue
            except Changed:  # the person saved just now: the next call does it
                redone.add(path)
                are_met = False
        if are_met and any(not move.why.startswith(OUR_MOVE) for move in moves):
            files.replace(self._met_file, looked_at, files.read(self._met_file), sync=False)
        return redone

    def _taken(
        self, path: PurePosixPath, pending: Sequence[Intent], moves: list[_Move], held: str | None, is_heads: bool
    ) -> list[FileChange]:
        """What waits for a log and may have been taken out of it by these moves of git's: by one that throws edits away
        all that had been staged, by another what was staged while git ran, for git refuses to write over an edited
        file. The log must have been written since. `held` is the blob that HEAD holds of it (None: no file)."""
        written_at = self._written_at(path)
        if written_at is None and held:  # git puts a file back, and does not delete it
            return []
        staged = [intent for intent in pending if path in intent.net_changes()]
        taken: set[Path] = set()
        is_restored = is_heads and self._is_restored(path)
        for move in moves:
            if move.why.startswith("commit") and self._differs(path, move):
                # It is as the person has committed it: only what was said since may be taken out by a later move.
                taken &= {intent.path for intent in staged if intent.staged_at >= move.when}
                break
            if _DISCARDING.match(move.why) and (written_at is None or written_at >= move.when - _RESET_S):
                taken |= self._staged_until(path, staged, move.when, held)
            elif _REWINDING.match(move.why) and is_restored:
                taken |= {intent.path for intent in staged if 0 <= intent.staged_at - move.when <= _MAX_MERGE_S}
        else:
            began, at = self._began()  # a merge that gives up leaves no line
            if is_restored and self._is_at(began):
                taken |= {intent.path for intent in staged if 0 <= intent.staged_at - int(at) <= _MAX_MERGE_S}
        drafts = (draft for intent in staged if intent.path in taken for draft in intent.drafts)
        return _by_path(drafts).get(path, [])

    def _staged_until(
        self, path: PurePosixPath, staged: Sequence[Intent], reset_at: int, held: str | None
    ) -> set[Path]:
        """Those that waited for a file when a reset wrote it. Git notes the reset a moment later, and who came between
        found what HEAD holds."""
        until = [intent for intent in staged if intent.staged_at <= reset_at + _MAX_MERGE_S]
        filters = Filters(self._repository, self._objects)
        for at in range(len(until) - 1, 0, -1):
            found = filters.blob(self._repository.prefix / path, bytes_of(until[at].net_changes()[path].old))
            if until[at].staged_at >= reset_at - _RESET_S and found == held:
                return {intent.path for intent in until[:at]}
        return {intent.path for intent in until}

    def _differs(self, path: PurePosixPath, move: _Move) -> bool:
        """Whether a move has changed a file."""
        with contextlib.suppress(HistoryError):  # a commit that git has thrown away since, or none: 000…
            then, now = (self._objects.tree_of(commit) for commit in (move.old, move.new))
            return self._blob_at(then, path) != self._blob_at(now, path)
        return False

    def _written_at(self, path: PurePosixPath) -> float | None:
        """When a file was written (seconds); None if there is none."""
        try:
            return (self._repository.root / path).lstat().st_mtime
        except OSError:
            return None

    def _is_restored(self, path: PurePosixPath) -> bool:
        """Whether git has written or removed a file, as far as its time tells: git writes its index right after the
        files."""
        written_at = self._written_at(path)
        try:
            index_at = (self._repository.git_dir / "index").stat().st_mtime
        except OSError:
            return False
        return written_at is None or 0 <= index_at - written_at < _RESTORED_WITHIN_S

    def _redo(self, path: PurePosixPath, chain: list[FileChange]) -> bool:
        """Make a chain of changes once more, on what the file holds now; False when it holds them already, or is too
        large. Raises `Changed` if the person saves it at this moment."""
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
        if content is not None:
            files.replace(file, content, on_disk, self._repository.root)
        elif on_disk is not None:
            files.remove(file, on_disk, self._repository.root)
        return True

    def _redone(self, change: FileChange, content: bytes | None) -> bytes | None:
        after = bytes_of(change.new)
        if after is None or content == after or is_content(content, change.old):
            return after
        from vault_memory.core.merging import carry_over  # a turn rarely needs it

        # A file that is gone was deleted, or another branch lacks it: its other lines stay out.
        return carry_over(change.path, bytes_of(change.old), after, content or b"")

    def _rewound_since(self, intent: Intent) -> bool:
        """Whether git has moved files of the working tree since a change was staged.

        Git's times are those at which its commands began, and a merge that fetches attachments takes long: the moves
        are counted from the commit at which HEAD was then. A merge that gives up moves nothing and need not leave a
        line in a log: one that began shortly before may have put the files back since.
        """
        when = intent.staged_at
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
        return at >= intent.staged_at - _MAX_MERGE_S and self._is_at(began)

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

    def _not_met(self) -> tuple[list[_Move], bytes]:
        """HEAD's moves that `put_back` has not met yet, the newest first, and what to note when it has."""
        start, rows = self._tail(self._repository.git_dir / "logs" / "HEAD")
        size, _, last = (files.read(self._met_file) or b"").partition(b" ")
        met = int(size) - start if size.isdigit() else 0
        is_same_log = met > 0 and rows[:met].endswith(last)  # git shortens a log, or the branch has a new one
        now = b"%d %s" % (start + len(rows), rows[rows.rfind(b"\n", 0, -1) + 1 :])
        return list(_moves_in(rows[met:] if is_same_log else rows)), now

    def _moves(self, log: Path) -> Iterator[_Move]:
        """The moves in a reflog, newest first; the latest few hundred."""
        return _moves_in(self._tail(log)[1])

    def _tail(self, log: Path) -> tuple[int, bytes]:
        """The end of a reflog, and where in it that begins."""
        try:
            with files.opened(log) as file:
                start = file.seek(max(0, file.seek(0, os.SEEK_END) - _REFLOG_TAIL_BYTES))
                return start, file.read()
        except (FileNotFoundError, NotADirectoryError):
            return 0, b""

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


def _moves_in(rows: bytes) -> Iterator[_Move]:
    """The moves of a part of a reflog, newest first."""
    for row in reversed(reading.lines(rows.decode("utf-8", "replace"))):
        facts, _, why = row.partition("\t")
        words = facts.split(" ")
        if len(words) > 4 and len(words[0]) == 40 and words[-2].isdigit():
            yield _Move(words[0], words[1], int(words[-2]), why)
