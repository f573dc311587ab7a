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
from vault_memory.errors import UsageError
from vault_memory.services.assistants.places import path_of
from vault_memory.services.vault import Vault

BACKUP = ".before-vault-memory"
"""Behind the name of a file that was changed: as it was before ours came. With a number behind that: as it was before
something went that somebody had added to ours."""
PROGRAM = "vault-memory"

_Told = TypeVar("_Told", bool, str)


@dataclass(frozen=True)
class Edit:
    """A change of a file: its bytes `before` (None: it is not there) and `after` it (None: it is deleted). `copy`:
    where those before are kept. `spent`: the copy from before ours came, which goes when that is taken back."""

    path: Path
    before: bytes | None
    after: bytes | None
    copy: Path | None = None
    spent: Path | None = None


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
    return [each for each in edits if each.after != each.before]


def disconnect(client: str, environ: Mapping[str, str] = os.environ) -> list[Edit]:
    """The edits that take all of it back, and bring back what ours took the place of. A file that nobody else has
    changed is as it was before, to the byte; one that was made for ours is deleted. Raises as `connect`."""
    assistant = _assistant(client)
    places = [assistant.server, *([assistant.hooks] if assistant.hooks else [])]
    edits = [_undone(path_of(each, environ), each.ours) for each in places]
    if assistant.rules is not None:
        edits.append(_undone(path_of(assistant.rules, environ), _rules_of(assistant)))
    return [each for each in edits if each.after != each.before]


def write_edits(edits: Sequence[Edit]) -> None:
    """Make the changes, each after its copy. Raises `Changed` for a file that somebody has saved meanwhile, and
    `Unwritable`."""
    for edit in edits:
        older = _beside(edit.path)
        if (edit.before is None or edit.copy == older) and older.exists():
            older.rename(_free(edit.path))  # ours was taken out by hand meanwhile, and not what the copy is for
        if edit.copy is not None:
            files.write_private(edit.copy, edit.before or b"")
        if edit.after is None:
            files.remove(edit.path, edit.before or b"")
        else:
            files.replace(edit.path, edit.after, edit.before)
        if edit.spent is not None:
            files.remove_private(edit.spent)
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
    before = files.read(path)
    if before is None:
        return Edit(path, None, _changed(path, b"", change))
    after = _changed(path, before, change)
    holds, adds = _told(path, before, ours.holds), _told(path, before, ours.adds)
    copy = None
    if not holds:
        copy = _beside(path)
    elif adds and not _told(path, after, ours.adds):
        copy = _free(path)
    return Edit(path, before, after, copy)


def _undone(path: Path, ours: Ours) -> Edit:
    before = files.read(path)
    if before is None or not _told(path, before, ours.holds):
        return Edit(path, before, before)
    was = files.read(_beside(path))
    old = _text(_beside(path), was or b"")
    after: bytes | None = _changed(path, before, lambda text: ours.parted(text, old))
    if was is None and not (after or b"").strip():
        after = None
    copy = _free(path) if _told(path, before, ours.adds) else None
    return Edit(path, before, after, copy, _beside(path) if was is not None else None)


def _beside(path: Path, number: int = 1) -> Path:
    return path.with_name(f"{path.name}{BACKUP}{f'-{number}' if number > 1 else ''}")


def _free(path: Path) -> Path:
    return next(each for number in count(2) if not (each := _beside(path, number)).exists())


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
        raise UsageError(f"{path} stays as it is: {error}. Mend it, or add the entry of docs/mcp.md by hand") from error


def _changed(path: Path, content: bytes, change: Callable[[str], str]) -> bytes:
    return _told(path, content, change).encode()
