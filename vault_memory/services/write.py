"""The one order in which notes are changed.

    lock → commit the person's edits as theirs → decide → commit → again if the person saved meanwhile → index

A turn, a preference, a note, a restore, a sync use it with their `decide`; `init` and `user rename` do not.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath
from typing import Generic, TypeVar

from vault_memory.adapters.files import ReadCache
from vault_memory.adapters.history import Author, Draft, FileChange, Flushed
from vault_memory.core import layout, reading
from vault_memory.core.erasing import said_in_file, said_in_name
from vault_memory.errors import Busy, Changed, HistoryError, IndexUnusable, UsageError
from vault_memory.services.indexing import reconcile
from vault_memory.services.person_edits import commit_edits
from vault_memory.services.vault import LOCK_TIMEOUT_S, Vault

MAX_ATTEMPTS = 50
"""A write is tried this often when the person keeps saving one of its files."""
MAX_IN_A_COMMIT = 200
"""Of more notes that are added at once each commit holds so many."""

Result = TypeVar("Result")


@dataclass(frozen=True)
class Plan(Generic[Result]):
    """What a writer decided: the commits to make, and the result for the writer's caller."""

    result: Result
    drafts: Sequence[Draft] = ()


@dataclass(frozen=True)
class Written(Generic[Result]):
    """A finished write: the result of the plan, the new commits, why they wait (`paused`), and the changed files.

    `index_problem` says why the index is out of date, if it is. The write stands, and the next search tries again.
    """

    result: Result
    commits: tuple[str, ...]
    paused: str | None
    paths: tuple[PurePosixPath, ...]
    index_problem: str | None = None


def write(
    vault: Vault,
    scope: str | None,
    paths: Sequence[PurePosixPath] | None,
    decide: Callable[[], Plan[Result]],
    *,
    cache: ReadCache | None = None,
    inspect: Callable[[Sequence[PurePosixPath]], None] = lambda paths: None,
    index: bool = True,
    index_first: bool = False,
    wait_s: float = LOCK_TIMEOUT_S,
) -> Written[Result]:
    """Write to a user's files, to the shared notes (`scope` is empty) or to the whole vault (None).

    First the pending edits in `paths` are committed (vault-relative; None: all files). Then `decide` reads the files
    and makes the plan; it is called again when a file is saved before its plan is committed. `decide` reads through
    `cache`, which may hold files that the writer has read before. `inspect` gets the paths that may hold the person's
    edits, before one of them is committed, and may refuse them by raising. With `index=False` the caller updates the
    index, once for a batch; with `index_first` it is updated before the lock is given back, because the next writer
    decides by what the index holds. `wait_s` is how long it waits for another writer.

    Raises `Busy` when the files keep changing, and what `decide`, `inspect` and history raise. The index is
    updated last, mostly without the lock; what is wrong with it fails no write.
    """
    cache = cache or ReadCache()
    edited: list[PurePosixPath] = []

    def attempt() -> tuple[Plan[Result], Flushed] | None:
        """Commit the edits, then what `decide` plans; None when a file was saved in between."""
        for part in vault.history.uncommitted_in_parts(paths, cache=cache, inspect=inspect):
            edits = [edit for edit in part if scope in (None, layout.scope_of(edit.path))]
            try:
                commit_edits(vault, edits)
            except Changed:
                vault.history.wait_for_git()
                return None
            edited.extend(edit.path for edit in edits)
        plan = decide()  # in neither `try`: a `Changed` that `decide` raises is for the writer's caller
        _refuse_erased(vault, plan.drafts)
        try:
            return plan, vault.history.commit(plan.drafts, cache=cache)
        except Changed:
            return None

    for _ in range(MAX_ATTEMPTS):
        problem = None
        with locked(vault, scope, wait_s):
            done = attempt()
            if done and index_first:
                problem = index_problem(vault, _written(edited, done[0]))
        if done:
            plan, flushed = done
            written = _written(edited, plan)
            if index and not index_first:
                problem = index_problem(vault, written)
            return Written(
                plan.result, tuple(flushed.commits), _why_waiting(flushed, _written((), plan)), written, problem
            )
        cache.clear()
    where = "the vault" if scope is None else layout.label(scope)
    raise Busy(f"the files of {where} keep changing: try again when the editor has stopped saving")


@dataclass(frozen=True)
class Added:
    """What became of many new notes, by id: which are `new`, which were `known` already, and which others had to go."""

    new: tuple[str, ...]
    known: tuple[str, ...]
    gone: tuple[str, ...] = ()


def add_notes(
    vault: Vault,
    user_id: str,
    notes: Mapping[str, FileChange],
    known_ids: Callable[[], Collection[str]],
    message: Callable[[Sequence[str]], str],
    author: Author,
    *,
    overflow: Callable[[Sequence[FileChange]], tuple[Sequence[Draft], tuple[str, ...]]] = lambda notes: ((), ()),
    dry_run: bool = False,
) -> Written[Added]:
    """Add the notes (id → its file) whose ids are not among the known ones, in commits of up to `MAX_IN_A_COMMIT` with
    a `message` for these ids. `overflow` is asked, under the user's lock, what must go for the new ones. With `dry_run`
    nothing is written. Raises what `write` raises."""

    def decide() -> Plan[Added]:
        known = known_ids()
        new = [note_id for note_id in notes if note_id not in known]
        parts = [new[at : at + MAX_IN_A_COMMIT] for at in range(0, len(new), MAX_IN_A_COMMIT)]
        drafts = [Draft(message(part), author, tuple(notes[each] for each in part)) for part in parts]
        over, gone = overflow([notes[each] for each in new])
        return Plan(Added(tuple(new), tuple(each for each in notes if each in known), gone), [*drafts, *over])

    if dry_run:
        return Written(decide().result, (), None, ())
    return write(vault, user_id, [note.path for note in notes.values()], decide)


def _refuse_erased(vault: Vault, drafts: Sequence[Draft]) -> None:
    """Raise `UsageError` for a file that was erased, and for lines, new in a file, with a text that was."""
    stones = vault.tombstones()
    if not stones:
        return
    for change in (change for draft in drafts for change in draft.changes):
        if not isinstance(change.new, bytes):
            continue  # gone, or what a sync brought, which was looked through when it came
        if stones.has_path(change.path):
            raise UsageError(f"{change.path} was erased from this vault, and is not written again: choose another name")
        old = set(reading.lines(change.old)) if isinstance(change.old, bytes) else set()
        added = b"\n".join(line for line in reading.lines(change.new) if line not in old).decode("utf-8", "replace")
        scope, is_new = layout.scope_of(change.path), change.old is None
        what = f"a new file of {layout.label(scope)}" if is_new else str(change.path)  # its name may say the text
        said = [*said_in_file(change.path, added), *(said_in_name(change.path) if is_new else ())]
        vault.refuse_erased(scope, partial(list, said), what)


def _written(edited: Sequence[PurePosixPath], plan: Plan[Result]) -> tuple[PurePosixPath, ...]:
    """The files that have changed, each once."""
    return tuple(dict.fromkeys([*edited, *(change.path for draft in plan.drafts for change in draft.changes)]))


def _why_waiting(flushed: Flushed, paths: Iterable[PurePosixPath]) -> str | None:
    """Why the commits of these files wait; None if they do not. What those of another user wait for is not said."""
    waiting = [path for path in paths if path in flushed.waiting_paths]
    said = (flushed.reasons[path] for path in waiting if path in flushed.reasons)
    return next(said, None if flushed.reasons else flushed.paused) if waiting else None


@contextmanager
def locked(vault: Vault, scope: str | None, wait_s: float = LOCK_TIMEOUT_S) -> Iterator[None]:
    """Hold the locks for a scope: its user's, none (shared notes), or every user's (None). Raises `Busy`."""
    with vault.lock_all() if scope is None else vault.writing(scope, wait_s) if scope else nullcontext():
        yield


def refuse_while_waiting(vault: Vault, paths: Callable[[PurePosixPath], bool], wanted: str) -> None:
    """Make the commits that wait. Raises `HistoryError` when some of these files still wait: what is `wanted` reads in
    git what was last, and would take another change for it."""
    flushed = vault.history.flush()
    stopped = vault.history.stopped()  # turns are only kept, and are learned from later
    if stopped or any(map(paths, flushed.waiting_paths)):
        raise HistoryError(
            f"{wanted}: some of its changes wait for their commits ({flushed.paused or stopped}): finish that, then "
            "`vault-memory heartbeat --now commits` makes them"
        )


def refuse_uncommitted(vault: Vault, path: PurePosixPath, text: bytes | None) -> None:
    """Raise `HistoryError` when a file's text could not be committed: what replaces it would destroy it."""
    if text is not None and not vault.history.is_kept(path, text):
        raise HistoryError(
            f"{path} holds text that is in no commit and would be lost, so nothing is changed: `vault-memory status` "
            "says why it waits; commit that text or move it to another file, then try again"
        )


def index_problem(vault: Vault, paths: Iterable[PurePosixPath]) -> str | None:
    """Update the indexes for files that are written; return why that could not be done, if so. The files stand."""
    try:
        index_paths(vault, paths)
    except (Busy, IndexUnusable, HistoryError) as error:  # git is asked whether it tracks the index
        return str(error)
    return None


def index_paths(vault: Vault, paths: Iterable[PurePosixPath]) -> None:
    """Update the indexes for these files (vault-relative); files that are never indexed are skipped."""
    sources: dict[str, list[str]] = {}
    for path in paths:
        if location := layout.place_of(path):
            sources.setdefault(location.scope, []).append(location.source)
    for scope, changed in sources.items():
        reconcile(vault, scope, changed)
