"""Erase, step by step. Each step may be done again from any state that a kill leaves: what holds nothing any more stays
as it is. So what is wanted stands in a private file until all is done, and who finds that file does it all again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from vault_memory.adapters import files
from vault_memory.adapters.erasing import (
    Erased,
    full_disk_told,
    look_for,
    new_tombstones,
    references_named,
    refuse_erasing,
    refuse_nested,
    still_said,
    tags_that_say,
    without_changes,
    write_tombstones,
)
from vault_memory.adapters.git import Repository
from vault_memory.core import layout
from vault_memory.core.erasing import MASK
from vault_memory.errors import Busy, ForeignFile, HistoryError, Unwritable
from vault_memory.services.erasing.needed import refuse_needed
from vault_memory.services.erasing.private_files import (
    DONE,
    JOURNAL,
    clear_private_files,
    files_without_text,
    forget_file,
    holding_files,
    kept_by_others,
    own_with_parts,
)
from vault_memory.services.erasing.reach import out_of_reach
from vault_memory.services.erasing.stores import clear_indexes, clear_long_term, clear_outbox, clear_short_term
from vault_memory.services.erasing.wanted import Wanted
from vault_memory.services.vault import LOCK_TIMEOUT_S, Vault

_LOCK = "locks/erasing.lock"
_MAX_NAMED = 10
Step = Callable[[str], None]


@dataclass(frozen=True)
class Preview:
    """What would be erased: `git` of history and the files that it tracks, `private` the other files, in which `forms`
    the texts were found, and the first `places` with the words around; `clauses` are parts of a text of which something
    was learned, and go along. `kept` has a line for each thing that stays,
    `out_of_reach` one for each place that holds it and cannot be reached from here."""

    git: Erased
    private: tuple[str, ...]
    forms: tuple[str, ...]
    places: tuple[str, ...]
    kept: tuple[str, ...]
    out_of_reach: tuple[str, ...]
    clauses: tuple[str, ...] = ()

    @property
    def is_nothing(self) -> bool:
        """Whether nothing here holds it; stores are not looked through."""
        return not (self.git.commits or self.git.refs or self.git.files or self.private)


@dataclass(frozen=True)
class Receipt:
    """What was erased, counted; and `left`: a line for each place where a second look, after all of it, found something
    still. `clauses` went along with the texts, and `renamed` are the files and folders, as they are called now, whose
    names held one; of what the annotated `tags` said nothing is left. A `was_resumed` erasing counts only what was left
    to do. `problems` says what could not be done."""

    commits: int
    files: int
    entries: int
    rows: int
    left: tuple[str, ...]
    kept: tuple[str, ...]
    out_of_reach: tuple[str, ...]
    problems: tuple[str, ...] = field(default=())
    was_resumed: bool = False
    clauses: tuple[str, ...] = ()
    renamed: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


def preview(vault: Vault, wanted: Wanted) -> Preview:
    """Look through history and files for what is wanted; nothing is changed. Raises `HistoryError` for a repository of
    which not all can be made anew, and `UsageError` for a text that the vault itself needs."""
    repository = Repository(vault.history.root)
    refuse_erasing(repository)
    refuse_nested(repository, wanted.request)
    refuse_needed(vault, wanted)
    in_git, private = look_for(repository, wanted.request), tuple(map(str, holding_files(vault, wanted)))
    forms, places = (erasure.found, erasure.places) if (erasure := wanted.erasure()) else ((), ())
    kept = _kept(vault, wanted, in_git)
    return Preview(in_git, private, forms, places, kept, out_of_reach(vault, wanted), wanted.clauses)


def erase(vault: Vault, wanted: Wanted, step: Step = lambda _: None) -> Receipt:
    """Erase what is wanted, and let it be known again. Writers wait meanwhile, or raise `Busy`. `step` is told what was
    done.

    Raises, with nothing changed, `UsageError` for a text that the vault itself needs, and `HistoryError` while commits
    wait or the repository is in a state in which not all can be made anew; and `Busy` while another process erases.
    `DiskFull` says whether anything was. After any other error `finish_erasing` goes on.
    """
    journal = vault.root / JOURNAL
    with _alone(vault, LOCK_TIMEOUT_S):
        repository = Repository(vault.history.root)
        refuse_erasing(repository)
        refuse_nested(repository, wanted.request)
        refuse_needed(vault, wanted)
        flushed = vault.history.flush()
        if flushed.waiting:
            raise HistoryError(
                f"nothing is erased while {flushed.waiting} changes wait for their commits: {flushed.paused}"
            )
        files.write_private(journal, json.dumps(wanted.as_dict()).encode(), vault.root)
        step("asked")
        return _erase(vault, wanted, step)


def finish_erasing(vault: Vault, step: Step = lambda _: None, wait_s: float = LOCK_TIMEOUT_S) -> Receipt | None:
    """Go on with what a kill has ended; None where nothing is begun, or is done now by whoever was at it.

    A killed eraser leaves processes that hold its lock for a moment, so a lock that is held tells nothing of it: this
    waits, `wait_s` at most, and raises `Busy` then. Else it raises what `erase` raises."""
    journal = vault.root / JOURNAL
    if not os.path.lexists(journal):
        return None
    with _alone(vault, wait_s):
        try:
            if (stored := files.read_private(journal, vault.root)) is None:
                return None
            if stored.startswith(DONE):
                forget_file(journal, vault.root, lambda: step("noted as done"))
                return None
            wanted = Wanted.of(json.loads(stored))
        except (ValueError, KeyError, TypeError, RecursionError, ForeignFile) as error:
            raise HistoryError(f"{journal} is damaged: delete it, then erase again what was to be erased") from error
        refuse_erasing(Repository(vault.history.root))
        return _erase(vault, wanted, step, was_resumed=True)


def _erase(vault: Vault, wanted: Wanted, step: Step, *, was_resumed: bool = False) -> Receipt:
    repository = Repository(vault.history.root)
    write_tombstones(repository.common_dir, wanted.tombstones(new_tombstones()))
    step("known again")
    entries, no_entries = clear_short_term(vault, wanted)
    entries += clear_outbox(vault, wanted)
    step("stores cleared")
    rows, no_rows = clear_long_term(vault, wanted)
    step("rows deleted")
    done = vault.history.erase(wanted.request)
    step("history made anew")
    with _records(vault, wanted):
        private = clear_private_files(vault, wanted)
    step("private files cleared")
    problems = clear_indexes(vault, wanted)
    step("indexes made")
    left = look_for(repository, wanted.request)
    found = [*map(str, left.files), *map(str, holding_files(vault, wanted))]
    found += [f"{left.commits} commits"] if left.commits else []
    if erasure := wanted.erasure():  # in another way, so that no fault of the first one is told as nothing
        found += still_said(repository, wanted.request, (*wanted.request.texts, *erasure.found))
    receipt = Receipt(
        done.commits,
        len({*map(str, done.files), *map(str, private)}),
        entries,
        rows,
        tuple(found),
        _kept(vault, wanted, done),
        out_of_reach(vault, wanted, after=True),
        (
            *filter(None, (no_entries, no_rows)),
            *problems,
        ),
        was_resumed,
        wanted.clauses,
        tuple(map(str, done.renamed)),
        done.tags,
    )
    step("looked again")
    forget_file(vault.root / JOURNAL, vault.root, lambda: step("noted as done"))
    return receipt


@contextmanager
def _alone(vault: Vault, wait_s: float) -> Iterator[None]:
    """Hold the lock of whoever erases, and those of all users; an error of the disk says what is left to do."""
    journal = vault.root / JOURNAL
    with ExitStack() as held:
        try:
            held.enter_context(files.lock(vault.root / layout.STATE_DIR / _LOCK, wait_s, vault.root))
        except Busy as error:
            raise Busy(f"another command is erasing in {vault.root}: wait until it is done, then try again") from error
        held.enter_context(vault.lock_all())
        try:
            with full_disk_told(vault.root, journal.exists):
                yield
        except OSError as error:
            goes_on = "; the next command goes on with what is being erased" if journal.exists() else ""
            raise Unwritable(
                f"{error.filename or vault.root} cannot be written ({error.strerror or error}): free some space, or "
                f"look at its permissions{goes_on}"
            ) from error


@contextmanager
def _records(vault: Vault, wanted: Wanted) -> Iterator[None]:
    with ExitStack() as held:
        for user_id in sorted({each.casefold(): each for each in vault.user_ids()}.values()):
            held.enter_context(vault.record_lock(user_id))
        yield


def _kept(vault: Vault, wanted: Wanted, in_git: Erased) -> tuple[str, ...]:
    lines = [
        f"{layout.user_dir(user_id)}: {count} of this user's files say the same, and stay theirs: `vault-memory erase "
        f"--user {user_id} --text …` takes it out there"
        for user_id, count in kept_by_others(vault, wanted).items()
    ]
    if own := own_with_parts(vault, wanted):
        lines.append(f"{_listed(own)}: they say what goes along, and not the text: `--text` takes each out there")
    if wanted.request.gone and not wanted.is_user:
        lines.append("other files and conversations that say the same: `vault-memory erase --text …` takes a text out")
    if wanted.request.gone and (empty := without_changes(Repository(vault.history.root), wanted.request)):
        lines.append(
            f"the messages of commits that change no file ({_listed(empty)}): look whether they tell of it; "
            "`vault-memory erase --text …` takes a text out"
        )
    tags = tags_that_say(Repository(vault.history.root)) if wanted.request.gone else []
    if tags := [name for name in tags if name not in in_git.tags]:
        lines.append(f"what tags say ({_listed(tags)}): look whether they tell of it; `git tag -d NAME` deletes one")
    lines += [
        f"what {path} was before, in history: it is another note now, or another's; `vault-memory erase --note {path}` "
        "takes both"
        for path in wanted.elsewhere
    ]
    lines += [
        f"{value}, learned from it, in the profile, or in evidence, logs and history: `vault-memory pref unset --user "
        f"{wanted.user_id} {value}` takes it out of the profile, and `--text` a name that is yours out of all"
        for value in wanted.values
    ]
    if erasure := wanted.erasure():
        if in_git.people:
            lines.append(f"when commits were made; who made {in_git.people:,} of them is called {MASK.decode()} there")
        if words := erasure.other_words:
            lines.append(f"another region's words for it ({', '.join(words)}): name each with --text, too")
        lines.append("the same in other words, in another spelling or language: `vault-memory search` finds it")
    if names := references_named(Repository(vault.history.root), wanted.users):
        lines.append(
            f"names of branches and tags ({_listed(names)}): `git branch -m OLD NEW` and `git tag -d NAME` take the id "
            "out of them, then `git reflog expire --expire=now --all` out of git's logs, and the same erasing, said "
            "again, out of what else git keeps"
        )
    settings = files.read(vault.root / layout.SETTINGS_FILE) or b""
    if any(f'"{user_id}"'.encode() in settings for user_id in wanted.users):
        lines.append(f"{layout.SETTINGS_FILE} names the user: take that out there")
    if wanted.erasure() and (others := files_without_text(vault)):
        lines.append(f"files that are no text (packed, encrypted, pictures) are not looked into: {_listed(others)}")
    return tuple(lines)


def _listed(names: Sequence[object]) -> str:
    more = f" and {len(names) - _MAX_NAMED:,} more" if len(names) > _MAX_NAMED else ""
    return ", ".join(map(str, names[:_MAX_NAMED])) + more
