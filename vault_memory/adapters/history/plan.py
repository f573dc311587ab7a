"""What a flush will commit: drafts become objects on top of HEAD, or wait, or are in history already."""

from __future__ import annotations

import functools
import itertools
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from vault_memory.adapters import files, git
from vault_memory.adapters.git import (
    CONFLICT,
    FOLDER_MODE,
    NEXT_STEP,
    SIGNING,
    CommitLog,
    Content,
    Filters,
    Head,
    Objects,
    Repository,
    Stored,
    TreeEntry,
    bytes_of,
    commit_body,
    log_records,
    object_id,
    settings_of,
)
from vault_memory.adapters.history.intents import Intent, check_path, is_gone, net_changes, with_successors
from vault_memory.adapters.history.model import ASSISTANT, Author, Draft, FileChange
from vault_memory.adapters.history.publish import GitIndexUpdate
from vault_memory.core import layout
from vault_memory.core.privacy import Finding, Moved, places, secrets_added, shown_path
from vault_memory.core.trailers import joined_logs, turns_of, with_turns, without_turns
from vault_memory.errors import HistoryError, LargeObject, TooLarge, in_command

_FORBIDDEN_IN_NAMES = str.maketrans("\n\r\0", "   ", "<>")
_SIGN_TIMEOUT_S = 120.0
_Fingerprint = tuple[str, str, str, str]
_Secret = tuple[FileChange, list[bytes | None]]


class _Step(NamedTuple):
    """A draft of an intent, the files that the intent removes, and those of its drafts that must wait."""

    draft: Draft
    intent: Intent
    moved: Moved
    left: list[Draft]


@dataclass
class _Made:
    """What is planned so far: the tree, the last commit, and the paths that were changed on the way."""

    tree: str
    tip: str | None
    touched: set[PurePosixPath]


@dataclass
class _Past:
    """The commits since a draft was staged: a flush may have been killed before it could strike the draft off.

    They are recognised by author, time and message, which survive even a rebase, and logs by the turns that they name:
    another commit may have taken them along.
    """

    commits: Counter[_Fingerprint]
    turns: set[str]

    def has(self, draft: Draft, intent: Intent) -> bool:
        """Whether a draft is a commit already."""
        turns = turns_of(draft.message) if draft.waits else []
        return self.turns.issuperset(turns) if turns else self.commits[_fingerprint(draft, intent)] > 0

    def take(self, draft: Draft, intent: Intent) -> bool:
        """`has`; and that commit is no other draft's."""
        is_there = self.has(draft, intent)
        if is_there and not draft.waits:
            self.commits[_fingerprint(draft, intent)] -= 1
        return is_there


class _Look(NamedTuple):
    """What a draft changes and names in the tree, the secrets that it brings in, and why it must wait."""

    changed: list[PurePosixPath]
    paths: list[PurePosixPath]
    secrets: list[_Secret]
    reasons: list[str]


class CannotCommit(Exception):
    """Commits must wait; the message says why. Stays inside this package."""


@dataclass
class Plan:
    """The outcome of planning: `commits` oldest first, the changes of the git index, and the drafts that must wait.

    Paths are from the repository's top. `folders` gives the old and the new tree of each folder above a change.
    `left_out` are paths whose file on disk does not count. `kept_back` are the files of drafts that wait because git
    leaves a file of theirs out. `waiting` are the changes of each file that are to be committed.
    """

    head: Head
    commits: list[str] = field(default_factory=list)
    changes: dict[PurePosixPath, tuple[str, str] | None] = field(default_factory=dict)
    folders: dict[PurePosixPath, tuple[str | None, str | None]] = field(default_factory=dict)
    left_out: set[PurePosixPath] = field(default_factory=set)
    left: list[tuple[Intent, tuple[Draft, ...]]] = field(default_factory=list)
    blocked: dict[PurePosixPath, str] = field(default_factory=dict)
    kept_back: set[PurePosixPath] = field(default_factory=set)
    waiting: dict[PurePosixPath, list[FileChange]] = field(default_factory=dict)


class Planner:
    """Plans one flush. New objects gather in `objects`; nothing else is changed. `pause` is called between files."""

    def __init__(
        self, repository: Repository, objects: Objects, sign: bool, pause: Callable[[], None] = lambda: None
    ) -> None:
        self._repository = repository
        self._objects = objects
        self._filters = Filters(repository, objects)
        self._sign = sign
        self._pause = pause

    def plan(self, pending: Sequence[Intent], git_index: GitIndexUpdate) -> Plan:
        """Plan the commits of these intents on top of HEAD. Raises `CannotCommit` when none can be made."""
        plan = Plan(self._repository.head())
        for intent in pending:
            for draft in intent.drafts:
                for change in draft.changes:
                    plan.waiting.setdefault(change.path, []).append(change)
        before = self._objects.tree_of(plan.head.commit)
        past = self._in_history_since(pending, plan.head)
        recommitted = self._find_blocked(pending, git_index, before, plan, past)
        made = _Made(before, plan.head.commit, set(recommitted))
        logs: list[_Step] = []
        left: list[list[Draft]] = []
        for intent in pending:
            changes = [change for draft in intent.drafts for change in self._committed(draft)]
            removed = [change for change in changes if change.new is None and isinstance(change.old, bytes)]
            moved = Moved((change.path, self._known(change, made.tree)) for change in removed)
            left.append([])
            steps = deque(_Step(draft, intent, moved, left[-1]) for draft in intent.drafts)
            if not any(step.draft.waits for step in steps):
                logs = self._make_logs(logs, made, plan, past)
            while steps:
                step = steps.popleft()
                if step.draft.waits:
                    logs.append(step)
                elif not past.take(step.draft, intent):
                    below = [each for each in logs if not _are_apart(each.draft, step.draft)]
                    taken = [each for each in [*logs, *itertools.islice(steps, 1)] if _takes(step.draft, each.draft)]
                    is_followed = bool(steps) and steps[0] in taken
                    self._make_logs(below, made, plan, past)
                    self._make(step, taken if is_followed else [], made, plan, past)
                    logs = [each for each in logs if each not in below and not (is_followed and each in taken)]
                    if is_followed:
                        steps.popleft()
        self._make_logs(logs, made, plan, past)
        plan.left = [
            (intent, tuple(draft for draft in intent.drafts if draft in kept))
            for intent, kept in zip(pending, left, strict=True)
        ]
        self._index_changes(plan, made.touched, before, made.tree)
        if self._filters.problem:
            raise CannotCommit(f"commits wait until git's attributes can be read: {self._filters.problem}")
        return plan

    # Step by step ---------------------------------------------------------------------------------------------------

    def _make(self, step: _Step, logs: Sequence[_Step], made: _Made, plan: Plan, past: _Past) -> None:
        """Plan the commit of a draft, with the logs that it takes along; or leave it, and plan theirs."""
        draft = step.draft
        look = self._looked_at(draft, made.tree, step.moved, plan)
        if look.reasons:
            self._leave(step, look, plan)
            self._make_logs(logs, made, plan, past)
            return
        if draft.merges and self._is_behind(made.tip, draft.merges, plan.head) and self._is_as_merged(draft):
            made.tree, made.tip = self._objects.tree_of(draft.merges), draft.merges
        else:
            made.tree = self._with(step, look, made.tree, plan)
            taken = [each.draft for each in logs if self._is_added(each, made, plan, past)]
            message = with_turns(draft.message, [turn for each in taken for turn in turns_of(each.message)])
            whole = replace(draft, message=message) if taken else draft
            made.tip = self._commit(made.tree, made.tip, whole, step.intent.when)
        plan.commits.append(made.tip)
        made.touched.update(look.paths)
        plan.left_out |= self._taken_from_merged(draft).difference(look.changed)

    def _make_logs(self, logs: Sequence[_Step], made: _Made, plan: Plan, past: _Past) -> list[_Step]:
        """Plan one commit for the logs of each user; none of them is left."""
        groups: dict[tuple[Author, str], list[_Step]] = {}
        for step in logs:
            groups.setdefault((step.draft.author, _scope(step.draft)), []).append(step)
        for group in groups.values():
            if added := [step for step in group if self._is_added(step, made, plan, past)]:
                *_, last = added
                message = functools.reduce(joined_logs, (step.draft.message for step in added))
                made.tip = self._commit(made.tree, made.tip, replace(last.draft, message=message), last.intent.when)
                plan.commits.append(made.tip)
        return []

    def _is_added(self, step: _Step, made: _Made, plan: Plan, past: _Past) -> bool:
        """Add the changes of logs to the tree; False if they must wait, or if history has them: the person may have
        committed them with plain git."""
        if past.take(step.draft, step.intent):
            return False
        look = self._looked_at(step.draft, made.tree, step.moved, plan)
        if look.reasons:
            self._leave(step, look, plan)
            return False
        before, made.tree = made.tree, self._with(step, look, made.tree, plan)
        made.touched.update(look.paths)
        return made.tree != before

    def _without_edited_lines(self, change: FileChange, tree: str) -> FileChange:
        """A change of a log without the lines which it completes and that are not as the tree has them: a person has
        written there, and with the line their words would be the assistant's. Their edit then has all of it."""
        old, new, held = bytes_of(change.old), bytes_of(change.new), self._blob_in(tree, change.path)
        if not old or not new or new.startswith(old) or held == self._blob(change.path, change.old):
            return change
        from vault_memory.core.merging import without_replaced  # a turn rarely needs it

        kept = set((self._content(held) or b"").split(b"\n"))
        return change._replace(new=without_replaced(old, new, kept))

    def _is_deleted(self, change: FileChange, plan: Plan) -> bool:
        """Whether the person has taken out what a log tells: it was in no commit, and comes into none. What a later
        change of ours has replaced is there as long as that is."""
        try:
            on_disk = files.read(self._repository.root / change.path)
        except TooLarge:
            return False
        if not is_gone([change], on_disk):
            return False
        waiting = plan.waiting.get(change.path, [])
        later = waiting[waiting.index(change) + 1 :] if change in waiting else []
        return is_gone(with_successors(change, later), on_disk)

    def _leave(self, step: _Step, look: _Look, plan: Plan) -> None:
        """Let a draft wait, and later ones on the same files."""
        plan.blocked.update(dict.fromkeys(look.paths, look.reasons[0]))
        if not plan.kept_back.isdisjoint(look.changed):
            plan.kept_back.update(look.paths)
        step.left.append(step.draft)

    def _with(self, step: _Step, look: _Look, tree: str, plan: Plan) -> str:
        """The tree with the changes of a draft."""
        changes = self._mended(step.draft, look.secrets, tree, step.moved)
        if step.draft.waits:  # a mended change has been made on what the tree has
            changes = [each for each in changes if not self._is_deleted(each, plan)]
            edited = [change for change in changes if change in step.draft.changes]
            changes = [self._without_edited_lines(each, tree) if each in edited else each for each in changes]
        applied = self._applied(tree, changes)
        return self._objects.put(applied, self._tree_only(step.draft))

    def _looked_at(self, draft: Draft, tree: str, moved: Moved, plan: Plan) -> _Look:
        changed = [self._repository.prefix / change.path for change in draft.changes]
        paths = [*changed, *self._tree_only(draft)]
        secrets = self._secrets(draft, tree, moved)
        # An entry that a merge sets in the tree alone does not wait for a file that git leaves out.
        asked = [*changed, *(path for path in paths if path not in plan.kept_back)]
        reasons = [plan.blocked[path] for path in asked if path in plan.blocked] or self._unmended(secrets, tree, moved)
        return _Look(changed, paths, secrets, reasons)

    # What stands in the way -----------------------------------------------------------------------------------------

    def _find_blocked(
        self,
        pending: Sequence[Intent],
        git_index: GitIndexUpdate,
        tree: str,
        plan: Plan,
        past: _Past,
    ) -> set[PurePosixPath]:
        """Fill `plan.blocked`; return the paths whose entry in the git index a killed flush of ours left behind."""
        top = self._repository.prefix
        ours: dict[PurePosixPath, set[str | None]] = {}
        for intent in pending:
            for draft in intent.drafts:
                for change in draft.changes:
                    known = ours.setdefault(top / change.path, set())
                    if past.has(draft, intent):
                        known |= {intent.bases.get(change.path), self._blob(change.path, change.old)}
        self._find_staged_in_tree_only(pending, git_index, tree, plan)
        for path, name in self._filters.refused(list(ours)).items():
            plan.blocked[path] = (
                f"{path} goes through the filter {name!r} of this repository's own config, which is not run: "
                f"{NEXT_STEP}"
            )
        for intent in pending:
            for change in intent.net_changes().values():
                if self._filters.fails(top / change.path, change.new):
                    plan.blocked.setdefault(top / change.path, f"the git filter of {change.path} fails")
        staged = git_index.blobs(list(ours))
        behind = set()
        for path, known in ours.items():
            entry = self._objects.find(tree, path)
            committed = entry.id if entry else None
            if (entry and entry.mode == FOLDER_MODE) or (entry is None and self._file_above(path, tree, git_index)):
                plan.blocked[path] = (
                    f"{path} replaces a folder, or is in a folder that replaces a file: commit that first"
                )
            elif staged[path] != committed:
                if staged[path] in known:
                    behind.add(path)
                else:
                    plan.blocked[path] = _staged(path)
        plan.kept_back = {top / path for path in self.on_left_out(pending, git_index)}
        plan.blocked |= {path: _left_out(path) for path in plan.kept_back}
        return behind

    def on_left_out(self, pending: Sequence[Intent], git_index: GitIndexUpdate) -> set[PurePosixPath]:
        """The files that git leaves out and that held, below a draft, what HEAD did not: by that flag the person says
        that this text shall not be committed. Paths are from the vault's root."""
        top = self._repository.prefix
        changes = [(intent, change) for intent in pending for change in intent.net_changes().values()]
        left_out = git_index.left_out([top / change.path for _, change in changes])
        return {
            change.path
            for intent, change in changes
            if top / change.path in left_out and intent.bases.get(change.path) != self._blob(change.path, change.old)
        }

    def _find_staged_in_tree_only(
        self, pending: Sequence[Intent], git_index: GitIndexUpdate, tree: str, plan: Plan
    ) -> None:
        """Block the entries that a merge sets and the person has staged. One that git leaves out is not staged."""
        entries = [self._tree_only(draft) for intent in pending for draft in intent.drafts]
        paths = [path for each in entries for path, entry in each.items() if entry]
        left_out = git_index.left_out(paths)
        for path, blob in git_index.blobs(paths).items():
            committed = self._objects.find(tree, path)
            if path not in left_out and blob not in (CONFLICT, committed.id if committed else None):
                plan.blocked[path] = _staged(path)

    def _file_above(self, path: PurePosixPath, tree: str, git_index: GitIndexUpdate) -> bool:
        """Whether git still has a file where a new path needs a folder."""
        folders = [folder for folder in path.parents if folder.name]
        entries = [self._objects.find(tree, folder) for folder in folders]
        return any(entry and entry.mode != FOLDER_MODE for entry in entries) or any(git_index.blobs(folders).values())

    def _in_history_since(self, pending: Sequence[Intent], head: Head) -> _Past:
        first = pending[0]
        if head.commit is None or head.commit == first.head:
            return _Past(Counter(), set())
        since = first.staged_at - 1
        args = ["log", "-z", "--format=format:%H%x00%an%x00%ae%x00%at%x00%B", f"--since=@{since}", head.commit]
        try:
            out = git.run(self._repository.top, *args, *(["--not", first.head] if first.head else []), "--")
        except HistoryError:  # the commit it was staged on is gone
            out = git.run(self._repository.top, *args, "--")
        rows = log_records(out, 5)
        commits = Counter((name, email, at, without_turns(message)) for _, name, email, at, message in rows)
        return _Past(commits, {turn for *_, message in rows for turn in turns_of(message)})

    # Secrets --------------------------------------------------------------------------------------------------------

    def _secrets(self, draft: Draft, tree: str, moved: Moved) -> list[_Secret]:
        """The changes that bring in a secret, each with what history has of its file: in HEAD and in what is merged."""
        found = []
        for change in self._committed(draft):
            self._pause()
            merged = self._blob_in(self._objects.tree_of(draft.merges), change.path) if draft.merges else None
            if isinstance(change.new, Stored) and change.new.id == merged:
                continue
            known = [self._known(change, tree), *([self._content(merged)] if merged else [])]
            if self._added(change.path, known, bytes_of(change.new), tree, moved):
                found.append((change, known))
        return found

    def _known(self, change: FileChange, tree: str) -> bytes | None:
        """What a tree holds of the file, which `before` may not be: it may be the person's, and wait for a commit."""
        held = self._blob_in(tree, change.path)
        return bytes_of(change.old) if held == self._blob(change.path, change.old) else self._content(held)

    def _added(
        self, path: PurePosixPath, known: Sequence[bytes | None], text: bytes | None, tree: str, moved: Moved
    ) -> list[Finding]:
        def has_folder(folder: PurePosixPath) -> bool:
            return self._objects.find(tree, self._repository.prefix / folder) is not None

        return secrets_added(path, known, text, moved, has_folder)

    def _unmended(self, secrets: list[_Secret], tree: str, moved: Moved) -> list[str]:
        """Why a draft must wait: a secret that it brings in is still in the file on disk."""
        reasons = []
        for change, known in secrets:
            name = shown_path(change.path)
            try:
                found = self._added(change.path, known, files.read(self._repository.root / change.path), tree, moved)
            except TooLarge as error:
                reasons.append(f"{name} holds a secret: its commits wait until it is taken out; {error}")
                continue
            if found:
                reasons.append(f"{name} holds a secret, {places(found)}: its commits wait until it is taken out")
        return reasons

    def _mended(self, draft: Draft, secrets: list[_Secret], tree: str, moved: Moved) -> list[FileChange]:
        """The changes of a draft without the secrets that the person has taken out of the files since."""
        clean = {change.path: change for change in self._committed(draft)}
        for change, known in secrets:
            merged = self._merged(change, self._blob_in(tree, change.path))
            still = self._added(change.path, known, merged, tree, moved)
            clean[change.path] = change._replace(new=known[0] if still else merged)
        return list(clean.values())

    # The commits ----------------------------------------------------------------------------------------------------

    def _applied(self, tree: str, changes: Iterable[FileChange]) -> str:
        """The tree with some changes made on top of it."""
        blobs = {}
        for change in changes:
            path = self._repository.prefix / change.path
            held = self._blob_in(tree, change.path)
            if not (self._is(held, change.path, change.old) or self._is(held, change.path, change.new)):
                try:
                    change = change._replace(new=self._merged(change, held))
                except TooLarge:  # the person has put a large file there: HEAD stays as they left it
                    continue
            blobs[path] = self._filters.add(path, change.new)
        return self._objects.put(tree, blobs, self._programs(blobs))

    def _programs(self, paths: Iterable[PurePosixPath]) -> list[PurePosixPath]:
        """Those files that may be run, as git sees it."""
        if not self._repository.has_modes():
            return []
        return [path for path in paths if _mode(self._repository.top / path) & 0o100]

    def _merged(self, change: FileChange, held: str | None) -> bytes | None:
        """The text in HEAD, which moved after the draft was staged, with our change if it is missing."""
        check_path(self._repository.root, change.path)  # what a link leads to is never committed
        theirs = self._content(held) if held else b""
        on_disk = files.read(self._repository.root / change.path)
        if change.new is None or theirs is None or on_disk is None or self._blob(change.path, on_disk) == held:
            return on_disk  # the person has decided: the file on disk is what they want
        from vault_memory.core.merging import carry_over  # a turn rarely needs it

        theirs = bytes_of(self._filters.smudged(self._repository.prefix / change.path, theirs)) or b""
        return carry_over(change.path, bytes_of(change.old), bytes_of(change.new) or b"", theirs)

    def _is_behind(self, tip: str | None, other: str, head: Head) -> bool:
        """Whether `other` has all commits of HEAD, and nothing is planned on top of HEAD yet."""
        if tip is None or tip != head.commit:
            return tip is None
        return CommitLog(self._repository.top).is_ancestor(tip, other)

    def _is_as_merged(self, draft: Draft) -> bool:
        """Whether the commit that a draft merges has in its tree what the draft wants there."""
        wanted = {path for path, entry in self._tree_only(draft).items() if entry}
        return len(wanted) == len(draft.tree_only) and wanted == self._taken_from_merged(draft)

    def _taken_from_merged(self, draft: Draft) -> set[PurePosixPath]:
        """The files that a draft takes from the commit it merges into the tree, and not to the disk."""
        if not draft.tree_only:
            return set()
        merged = self._objects.tree_of(draft.merges)
        entries = self._tree_only(draft).items()
        return {path for path, entry in entries if entry and self._objects.find(merged, path) == entry}

    def _committed(self, draft: Draft) -> list[FileChange]:
        """The changes of a draft but those of files for which its commit has another entry."""
        others = dict(draft.tree_only)
        return [change for change in draft.changes if change.path not in others] if others else [*draft.changes]

    def _tree_only(self, draft: Draft) -> dict[PurePosixPath, TreeEntry | None]:
        return {self._repository.prefix / path: entry for path, entry in draft.tree_only}

    def _commit(self, tree: str, parent: str | None, draft: Draft, when: str) -> str:
        parents = [commit for commit in (parent, draft.merges) if commit]
        if self._sign:
            return self._signed_commit(tree, parents, draft, when)
        author = signature(draft.author, _made_at(draft, when))
        body = commit_body(tree, parents, author, signature(ASSISTANT, when), draft.message)
        return self._objects.add("commit", body)

    def _signed_commit(self, tree: str, parents: list[str], draft: Draft, when: str) -> str:
        if refused := settings_of(self._repository.top).refused_for(SIGNING):
            raise CannotCommit(f"the config of this repository sets {refused.key} = {refused.value}: {NEXT_STEP}")
        self._objects.write()
        clean, made_at = _clean(draft.author), _made_at(draft, when)
        extra = {"GIT_AUTHOR_NAME": clean.name, "GIT_AUTHOR_EMAIL": clean.email, "GIT_AUTHOR_DATE": made_at}
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
                stdin=draft.message.encode("utf-8", "replace"),
                extra=extra,
                timeout_s=_SIGN_TIMEOUT_S,
            )
        except HistoryError as error:
            raise CannotCommit(f"signing failed, commits wait: {error}") from error
        return out.decode().strip()

    def _index_changes(self, plan: Plan, touched: set[PurePosixPath], before: str, after: str) -> None:
        for path in touched:
            entry = self._objects.find(after, path)
            if entry and entry.mode == FOLDER_MODE:  # in the place of the file that was taken out
                entry = None
            plan.changes[path] = (entry.mode.decode(), entry.id) if entry else None
            for folder in path.parents:
                if folder not in plan.folders:
                    plan.folders[folder] = (self._folder(before, folder), self._folder(after, folder))

    def _folder(self, tree: str, folder: PurePosixPath) -> str | None:
        entry = self._objects.find(tree, folder)
        return entry.id if entry and entry.mode == FOLDER_MODE else None

    def _blob(self, path: PurePosixPath, content: Content) -> str | None:
        return self._filters.blob(self._repository.prefix / path, content)

    def _is(self, held: str | None, path: PurePosixPath, content: Content) -> bool:
        """Whether a blob is that of a content, be it as on disk or as git holds it."""
        return held == self._blob(path, content) or (isinstance(content, bytes) and held == object_id("blob", content))

    def _blob_in(self, tree: str, path: PurePosixPath) -> str | None:
        entry = self._objects.find(tree, self._repository.prefix / path)
        return entry.id if entry else None

    def _content(self, blob: str | None) -> bytes | None:
        """A blob's bytes; None for no blob, and for a large one, which only the person's git commits."""
        try:
            return self._objects.read(blob, files.MAX_FILE_BYTES)[1] if blob else None
        except LargeObject:
            return None


def head_tree(repository: Repository, objects: Objects) -> str:
    """The tree that HEAD holds, which can be read. Raises `HistoryError`, which says what a person does."""
    commit = repository.head().commit
    try:
        tree = objects.tree_of(commit)
        objects.tree(tree)
    except HistoryError as error:
        raise HistoryError(f"HEAD is at {commit}, and {error}, or put .git back from a backup") from error
    return tree


def _mode(path: Path) -> int:
    try:
        return path.lstat().st_mode
    except OSError:
        return 0


def _staged(path: PurePosixPath) -> str:
    return f"{path} is staged: its commits wait until it is committed or unstaged"


def _left_out(path: PurePosixPath) -> str:
    return (
        f"git leaves {path} out (skip-worktree), and it held edits that are in no commit: its commits wait for "
        f"`git update-index --no-skip-worktree {in_command(path)}`, which lets your edits be committed too"
    )


def _are_apart(one: Draft, other: Draft) -> bool:
    return net_changes([one]).keys().isdisjoint(net_changes([other]).keys())


def _takes(draft: Draft, logs: Draft) -> bool:
    """Whether a commit can take logs along: those of its own user, if they are by its author."""
    is_own = bool(draft.changes) and logs.waits and draft.author == logs.author and _scope(draft) == _scope(logs)
    return is_own and not draft.merges and _are_apart(draft, logs)


def _scope(draft: Draft) -> str:
    return layout.scope_of(draft.changes[0].path)


def git_time(time: datetime) -> str:
    """A time as git writes it: seconds and zone. Git knows none before 1970, and no seconds in a zone."""
    return f"{max(0, int(time.timestamp()))} {f'{time:%z}'[:5]}"


def time_of(when: str) -> datetime:
    """The time that `git_time` has written; that of a clock that nobody has is 1970."""
    try:
        seconds, zone = when.split()
        return datetime.fromtimestamp(int(seconds), datetime.strptime(zone, "%z").tzinfo)
    except (ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(0, UTC)


def _made_at(draft: Draft, when: str) -> str:
    """When its author made a draft that is committed at `when`."""
    return git_time(draft.made_at) if draft.made_at else when


def signature(author: Author, when: str) -> str:
    """An author as git writes it into a commit; `when` is seconds and zone."""
    clean = _clean(author)
    return f"{clean.name} <{clean.email}> {when}"


def _clean(author: Author) -> Author:
    """Without the characters that end a name or address in a commit; never empty."""
    name, email = (" ".join(text.translate(_FORBIDDEN_IN_NAMES).split()) for text in author)
    return Author(name or "unknown", email or "unknown@localhost")


def _fingerprint(draft: Draft, intent: Intent) -> _Fingerprint:
    return (*_clean(draft.author), _made_at(draft, intent.when).split()[0], without_turns(draft.message))
