"""Connect an assistant with a vault: a server for its tools, hooks, and rules, merged into its own files."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TypeVar

from vault_memory.adapters import files, local_socket
from vault_memory.core.assistants import (
    ASSISTANTS,
    SECTION,
    WHOLE_FILE,
    Assistant,
    Command,
    Ours,
    Place,
    program_beside,
    skill_text,
    with_rules,
)
from vault_memory.errors import UsageError, VaultMemoryError
from vault_memory.services.assistants.places import named, path_of
from vault_memory.services.vault import Vault

BACKUP = ".before-vault-memory"
"""Behind the name of a file that was changed: as it was before ours came. With a number behind that: as it was before
something went that somebody had added to ours."""
PROGRAM = "vault-memory"

_Told = TypeVar("_Told", bool, str)


@dataclass(frozen=True)
class Edit:
    """A change of a file: its bytes `before` (None: it is not there) and `after` it (None: it is deleted). `copy`:
    where those before are kept. `spent`: files of ours beside it that go: the copy from before ours came, when that is
    taken back, and what was left there when this was ended in the middle. `problem`: why the file stays as it
    is, though something of ours may be in it, and what to do."""

    path: Path
    before: bytes | None
    after: bytes | None
    copy: Path | None = None
    spent: tuple[Path, ...] = ()
    problem: str = ""

    @property
    def changes(self) -> bool:
        """Whether there is anything to do."""
        return self.after != self.before or bool(self.spent)


def connect(
    vault: Vault, client: str, user_id: str, rules: str = "", environ: Mapping[str, str] = os.environ
) -> list[Edit]:
    """The edits that connect an assistant for a user, with `rules` in that language; those that change nothing are left
    out, and nothing is written. Raises `UsageError` for an unknown one, and for a file that must stay as it is."""
    assistant = _assistant(client)
    command = Command(program_beside(Path(sys.executable), os.path.isfile), str(vault.root), user_id)
    places = [assistant.server, *([assistant.hooks] if assistant.hooks and local_socket.is_possible() else [])]
    edits = [_edit(path_of(each, environ), _merged(each, command), each.ours) for each in places]
    if rules:
        if assistant.rules is None:
            raise UsageError(f"{assistant.title} has no file for rules that is known here: leave --rules out")
        path = path_of(assistant.rules, environ)
        ruled = (lambda _: skill_text(rules)) if assistant.has_skills else _ruled(rules)
        edits.append(_edit(path, ruled, _rules_of(assistant)))
    return [each for each in edits if each.changes]


def disconnect(client: str, environ: Mapping[str, str] = os.environ) -> list[Edit]:
    """The edits that take all of it back, and bring back what ours took the place of. A file that nobody else has
    changed is as it was before, to the byte; one that was made for ours is deleted. A file that must stay as it is
    stops none of the others: its edit has a `problem`, and changes nothing. Raises `UsageError` for an unknown one."""
    assistant = _assistant(client)
    places: list[tuple[Place | tuple[str, str], Ours]] = [(assistant.server, assistant.server.ours)]
    if assistant.hooks is not None:
        places.append((assistant.hooks, assistant.hooks.ours))
    if assistant.rules is not None:
        places.append((assistant.rules, _rules_of(assistant)))
    edits = [_undone(place, ours, environ) for place, ours in places]
    return [each for each in edits if each.changes or each.problem]


def write_edits(edits: Sequence[Edit]) -> None:
    """Make the changes, each after its copy. Raises `Changed` for a file that somebody has saved meanwhile, and
    `Unwritable`."""
    for edit in (each for each in edits if each.changes):
        older = _beside(edit.path)
        kept = files.read(older) if edit.before is None or edit.copy == older else None
        if kept is not None and kept != edit.before:
            older.rename(_free(edit.path, kept))  # ours was taken out by hand meanwhile, and not what the copy is for
        if edit.copy is not None:
            files.write_private(edit.copy, edit.before or b"")
        if edit.after == edit.before:
            pass
        elif edit.after is None:
            files.remove(edit.path, edit.before or b"")
        else:
            files.replace(edit.path, edit.after, edit.before)
        for spent in edit.spent:
            files.remove_private(spent)
        if edit.after is None and edit.path.parent.name == PROGRAM and not os.listdir(edit.path.parent):
            edit.path.parent.rmdir()  # the folder of our skill


def _assistant(client: str) -> Assistant:
    if client not in ASSISTANTS:
        raise UsageError(f"{client[:60]!r} is no assistant that is known here; there are {', '.join(ASSISTANTS)}")
    return ASSISTANTS[client]


def _merged(place: Place, command: Command) -> Callable[[str], str]:
    return lambda text: place.merged(text, command)


def _ruled(locale: str) -> Callable[[str], str]:
    return lambda text: with_rules(text, locale)


def _rules_of(assistant: Assistant) -> Ours:
    return WHOLE_FILE if assistant.has_skills else SECTION


def _edit(path: Path, change: Callable[[str], str], ours: Ours) -> Edit:
    before, litter = files.read(path), tuple(files.abandoned_for(path))
    if before is None:
        return Edit(path, None, _changed(path, b"", change), spent=litter)
    after = _changed(path, before, change)
    holds, adds = _told(path, before, ours.holds), _told(path, before, ours.adds)
    copy = None
    if not holds:
        copy = _beside(path)
    elif adds and not _told(path, after, ours.adds):
        copy = _free(path, before)
    return Edit(path, before, after, copy if after != before else None, litter)


def _undone(place: Place | tuple[str, str], ours: Ours, environ: Mapping[str, str]) -> Edit:
    path = named(place, environ)
    try:
        return _taken_back(path_of(place, environ), ours)
    except VaultMemoryError as error:
        problem = str(error)
    except OSError as error:
        problem = f"{path} stays as it is: it cannot be read ({error.strerror}). Mend that"
    return Edit(path, None, None, problem=problem)


def _taken_back(path: Path, ours: Ours) -> Edit:
    before, litter = files.read(path), tuple(files.abandoned_for(path))
    was = files.read(_beside(path))
    if before is None or not _told(path, before, ours.holds):
        is_same = was is not None and was == before  # it was taken back already, but for the copy
        return Edit(path, before, before, spent=(*litter, _beside(path)) if is_same else litter)
    old = _text(_beside(path), was or b"")
    after: bytes | None = _changed(path, before, lambda text: ours.parted(text, old))
    if was is None and not (after or b"").strip():
        after = None
    copy = _free(path, before) if _told(path, before, ours.adds) else None
    return Edit(path, before, after, copy, litter if was is None else (*litter, _beside(path)))


def _beside(path: Path, number: int = 1) -> Path:
    return path.with_name(f"{path.name}{BACKUP}{f'-{number}' if number > 1 else ''}")


def _free(path: Path, content: bytes) -> Path:
    """Where a copy with this content can be: a name that is free, or one that has it, of a run that was ended then."""
    return next(each for number in count(2) if files.read(each := _beside(path, number)) in (None, content))


def _text(path: Path, content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} stays as it is: it is not in UTF-8") from error


def _told(path: Path, content: bytes, tell: Callable[[str], _Told]) -> _Told:
    text = _text(path, content)
    try:
        return tell(text)
    except UsageError as error:
        raise UsageError(f"{path} stays as it is: {error}. Mend it, or do by hand what docs/mcp.md says") from error


def _changed(path: Path, content: bytes, change: Callable[[str], str]) -> bytes:
    return _told(path, content, change).encode()
