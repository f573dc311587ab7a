"""What a flush will commit: drafts become objects on top of HEAD, or wait, or turn out to be in history already."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from vault_memory.adapters import files
from vault_memory.adapters.git import diff as lines
from vault_memory.adapters.git import process as git
from vault_memory.adapters.git.filters import Filters
from vault_memory.adapters.git.objects import FOLDER, Objects, commit_body
from vault_memory.adapters.git.repository import Head, Repository
from vault_memory.adapters.history.index_step import IndexStep
from vault_memory.adapters.history.intents import Intent
from vault_memory.adapters.history.model import ASSISTANT, Author, Draft, FileChange
from vault_memory.errors import HistoryError

_ENDS_A_NAME = str.maketrans("\n\r\0", "   ", "<>")
_SIGN_TIMEOUT_S = 120.0
_Fingerprint = tuple[str, str, str, str]


class CannotCommit(Exception):
    """Commits must wait; the message says why. Never leaves this package."""


@dataclass
class Plan:
    """The outcome of planning: `commits` oldest first, what the index must be told, and the drafts that are left over.

    Paths are from the repository's top. `folders` gives the old and the new tree of each folder above a change.
    """

    head: Head
    commits: list[str] = field(default_factory=list)
    changes: dict[PurePosixPath, tuple[str, str] | None] = field(default_factory=dict)
    folders: dict[PurePosixPath, tuple[str | None, str | None]] = field(default_factory=dict)
    left: list[tuple[Intent, tuple[Draft, ...]]] = field(default_factory=list)
    blocked: dict[PurePosixPath, str] = field(default_factory=dict)


class Planner:
    """Plans one flush. New objects gather in `objects`; nothing else is changed."""

    def __init__(self, repository: Repository, objects: Objects, sign: bool) -> None:
        self._repository = repository
        self._objects = objects
        self._filters = Filters(repository, objects)
        self._sign = sign

    def plan(self, pending: Sequence[Intent], index: IndexStep, person: Callable[[], Author]) -> Plan:
        """Plan the commits of these intents on top of HEAD. Raises `CannotCommit` when none can be made."""
        plan = Plan(self._repository.head())
        before = self._objects.tree_of(plan.head.commit)
        tree, tip = before, plan.head.commit
        in_history = self._in_history_since(pending, plan.head)
        recommitted = self._find_blocked(pending, index, before, plan, in_history)
        touched: set[PurePosixPath] = set(recommitted)
        for intent in pending:
            left = []
            for draft in intent.drafts:
                if in_history[_fingerprint(draft, intent)] > 0:
                    in_history[_fingerprint(draft, intent)] -= 1
                    continue
                paths = [self._repository.prefix / change.path for change in draft.changes]
                reasons = [plan.blocked[path] for path in paths if path in plan.blocked]
                if reasons:  # and so must wait whatever comes later on the same files
                    plan.blocked.update(dict.fromkeys(paths, reasons[0]))
                    left.append(draft)
                    continue
                if by_hand := self._edits_before(draft, intent, tree):
                    message, edits = by_hand
                    tree = self._applied(tree, edits)
                    tip = self._commit(tree, tip, person(), intent.when, message)
                    plan.commits.append(tip)
                if draft.merges and self._is_behind(tip, draft.merges, plan.head):
                    tree, tip = self._objects.tree_of(draft.merges), draft.merges
                else:
                    tree = self._applied(tree, draft.changes)
                    tip = self._commit(tree, tip, draft.author, intent.when, draft.message, draft.merges)
                plan.commits.append(tip)
                touched.update(paths)
            plan.left.append((intent, tuple(left)))
        self._tell_index(plan, touched, before, tree)
        return plan

    # What stands in the way -----------------------------------------------------------------------------------------

    def _find_blocked(
        self,
        pending: Sequence[Intent],
        index: IndexStep,
        tree: str,
        plan: Plan,
        in_history: Counter[_Fingerprint],
    ) -> set[PurePosixPath]:
        """Fill `plan.blocked`; return the paths whose index entry a killed flush of ours has left behind."""
        top = self._repository.prefix
        ours: dict[PurePosixPath, set[str | None]] = {}
        for intent in pending:
            for draft in intent.drafts:
                for change in draft.changes:
                    known = ours.setdefault(top / change.path, set())
                    if in_history[_fingerprint(draft, intent)]:
                        known |= {intent.bases.get(change.path), self._blob(change.path, change.before)}
        in_index = index.blobs(list(ours))
        behind = set()
        for path, known in ours.items():
            entry = self._objects.find(tree, path)
            committed = entry.id if entry else None
            if (entry and entry.mode == FOLDER) or (entry is None and self._file_above(path, tree, index)):
                plan.blocked[path] = (
                    f"{path} is in the way of a folder, or lies in one that was a file: commit that first"
                )
            elif in_index[path] != committed:
                if in_index[path] in known:
                    behind.add(path)
                else:
                    plan.blocked[path] = f"{path} is staged: its commits wait until it is committed or unstaged"
        return behind

    def _file_above(self, path: PurePosixPath, tree: str, index: IndexStep) -> bool:
        """Whether git still holds a file where a new path needs a folder."""
        folders = [folder for folder in path.parents if folder.name]
        entries = [self._objects.find(tree, folder) for folder in folders]
        return any(entry and entry.mode != FOLDER for entry in entries) or any(index.blobs(folders).values())

    def _in_history_since(self, pending: Sequence[Intent], head: Head) -> Counter[_Fingerprint]:
        """Which drafts are commits already, because a flush was killed before it could strike them off its list.

        They are known by author, time and message, which survive even a rebase.
        """
        first = pending[0]
        if head.commit is None or head.commit == first.head:
            return Counter()
        since = int(first.when.split()[0]) - 1
        args = ["log", "-z", "--format=format:%an%x00%ae%x00%at%x00%B", f"--since=@{since}", head.commit]
        try:
            out = git.run(self._repository.top, *args, *(["--not", first.head] if first.head else []), "--")
        except HistoryError:  # the commit it was staged on is gone
            out = git.run(self._repository.top, *args, "--")
        fields = out.decode("utf-8", "replace").split("\0")
        rows = (fields[at : at + 4] for at in range(0, len(fields) - 3, 4))
        return Counter((name, email, at, message.strip()) for name, email, at, message in rows)

    # The commits ----------------------------------------------------------------------------------------------------

    def _edits_before(self, draft: Draft, intent: Intent, tree: str) -> tuple[str, tuple[FileChange, ...]] | None:
        """The person's text that lay under a draft uncommitted: theirs must become theirs before ours goes on top."""
        edits = []
        for change in draft.changes:
            base = intent.bases.get(change.path)
            if base == self._blob_in(tree, change.path) != self._blob(change.path, change.before):
                edits.append(FileChange(change.path, self._content(base), change.before))
        return ("edit " + ", ".join(str(edit.path) for edit in edits), tuple(edits)) if edits else None

    def _applied(self, tree: str, changes: Iterable[FileChange]) -> str:
        """The tree with some changes made on top of it."""
        blobs = {}
        for change in changes:
            path = self._repository.prefix / change.path
            held = self._blob_in(tree, change.path)
            if held not in (self._blob(change.path, change.before), self._blob(change.path, change.after)):
                change = change._replace(after=self._merged(change, held))
            blobs[path] = self._filters.add(path, change.after)
        return self._objects.put(tree, blobs)

    def _merged(self, change: FileChange, held: str | None) -> bytes | None:
        """HEAD has moved on since the draft was staged: what it holds, with our change in it if it is not there yet."""
        theirs = self._content(held)
        on_disk = files.read(self._repository.root / change.path)
        if change.after is None or theirs is None or on_disk is None or self._blob(change.path, on_disk) == held:
            return on_disk  # the person has settled it: what lies on disk is what they want
        return lines.union(self._repository.git_dir / "vault-memory", theirs, change.before or b"", change.after)

    def _is_behind(self, tip: str | None, other: str, head: Head) -> bool:
        """Whether `other` holds all that HEAD does, and nothing has been planned on top of HEAD yet."""
        if tip is None or tip != head.commit:
            return tip is None
        return git.run(self._repository.top, "merge-base", tip, other, ok=(0, 1)).decode().strip() == tip

    def _commit(
        self, tree: str, parent: str | None, author: Author, when: str, message: str, merged: str | None = None
    ) -> str:
        parents = [commit for commit in (parent, merged) if commit]
        if self._sign:
            return self._signed_commit(tree, parents, author, when, message)
        body = commit_body(tree, parents, identity(author, when), identity(ASSISTANT, when), message)
        return self._objects.add("commit", body)

    def _signed_commit(self, tree: str, parents: list[str], author: Author, when: str, message: str) -> str:
        self._objects.write()
        clean = _clean(author)
        extra = {"GIT_AUTHOR_NAME": clean.name, "GIT_AUTHOR_EMAIL": clean.email, "GIT_AUTHOR_DATE": when}
        extra |= {
            "GIT_COMMITTER_NAME": ASSISTANT.name,
            "GIT_COMMITTER_EMAIL": ASSISTANT.email,
            "GIT_COMMITTER_DATE": when,
        }
        args = ["-c", "core.fsync=loose-object", "commit-tree", "-S", tree, *(f"-p{p}" for p in parents), "-F", "-"]
        try:
            out = git.run(
                self._repository.top,
                *args,
                stdin=message.encode("utf-8", "replace"),
                extra=extra,
                timeout_s=_SIGN_TIMEOUT_S,
            )
        except HistoryError as error:
            raise CannotCommit(f"signing failed, commits wait: {error}") from error
        return out.decode().strip()

    def _tell_index(self, plan: Plan, touched: set[PurePosixPath], before: str, after: str) -> None:
        for path in touched:
            entry = self._objects.find(after, path)
            plan.changes[path] = (entry.mode.decode(), entry.id) if entry else None
            for folder in path.parents:
                if folder not in plan.folders:
                    plan.folders[folder] = (self._folder(before, folder), self._folder(after, folder))

    def _folder(self, tree: str, folder: PurePosixPath) -> str | None:
        entry = self._objects.find(tree, folder)
        return entry.id if entry and entry.mode == FOLDER else None

    def _blob(self, path: PurePosixPath, content: bytes | None) -> str | None:
        return self._filters.blob(self._repository.prefix / path, content)

    def _blob_in(self, tree: str, path: PurePosixPath) -> str | None:
        entry = self._objects.find(tree, self._repository.prefix / path)
        return entry.id if entry else None

    def _content(self, blob: str | None) -> bytes | None:
        return self._objects.read(blob)[1] if blob else None


def identity(author: Author, when: str) -> str:
    """An author as git writes it into a commit: `when` is seconds and zone."""
    clean = _clean(author)
    return f"{clean.name} <{clean.email}> {when}"


def _clean(author: Author) -> Author:
    """Without the characters that end a name or address in a commit; nobody is nameless."""
    name, email = (" ".join(text.translate(_ENDS_A_NAME).split()) for text in author)
    return Author(name or "unknown", email or "unknown@localhost")


def _fingerprint(draft: Draft, intent: Intent) -> _Fingerprint:
    return (*_clean(draft.author), intent.when.split()[0], draft.message.strip())
