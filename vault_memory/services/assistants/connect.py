"""Connect an assistant with a vault: a server for its tools, hooks, and rules, merged into its own files."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from vault_memory.adapters import files, local_socket
from vault_memory.core.assistants import (
    ASSISTANTS,
    Assistant,
    Command,
    Place,
    program_beside,
    skill_text,
    with_rules,
    without_rules,
)
from vault_memory.errors import UsageError
from vault_memory.services.assistants.places import path_of
from vault_memory.services.vault import Vault

BACKUP = ".before-vault-memory"
"""Behind the name of a file that was changed: as it was before it was first."""
PROGRAM = "vault-memory"


@dataclass(frozen=True)
class Edit:
    """A change of a file: its bytes `before` (None: it is not there) and `after` it (None: it is deleted). `is_first`:
    there is nothing of ours in it before."""

    path: Path
    before: bytes | None
    after: bytes | None
    is_first: bool = False

    @property
    def backup(self) -> Path:
        """The file as it was before."""
        return self.path.with_name(self.path.name + BACKUP)


def connect(
    vault: Vault, client: str, user_id: str, rules: str = "", environ: Mapping[str, str] = os.environ
) -> list[Edit]:
    """The edits that connect an assistant for a user, with `rules` in that language; those that change nothing are left
    out, and nothing is written. Raises `UsageError` for an unknown one, and for a file that must stay as it is."""
    assistant = _assistant(client)
    command = Command(program_beside(Path(sys.executable), os.path.isfile), str(vault.root), user_id)
    places = [assistant.server, *([assistant.hooks] if assistant.hooks and local_socket.is_possible() else [])]
    edits = [_edit(path_of(each, environ), _merged(each, command), each.parted) for each in places]
    if rules:
        if assistant.rules is None:
            raise UsageError(f"{assistant.title} has no file for rules that is known here: leave --rules out")
        path = path_of(assistant.rules, environ)
        ruled = (lambda _: skill_text(rules)) if assistant.has_skills else _ruled(rules)
        edits.append(_edit(path, ruled, _no_skill if assistant.has_skills else without_rules))
    return [each for each in edits if each.after != each.before]


def disconnect(client: str, environ: Mapping[str, str] = os.environ) -> list[Edit]:
    """The edits that take all of it back. A file that holds nothing else is as it was before, to the byte; one that was
    made for it is deleted. Raises as `connect`."""
    assistant = _assistant(client)
    places = [assistant.server, *([assistant.hooks] if assistant.hooks else [])]
    edits = [_undone(path_of(each, environ), each.parted) for each in places]
    if assistant.rules is not None:
        path = path_of(assistant.rules, environ)
        edits.append(_undone(path, _no_skill if assistant.has_skills else without_rules))
    return [each for each in edits if each.after != each.before]


def write_edits(edits: Sequence[Edit]) -> None:
    """Make the changes; what a file held before the first one stays beside it until that is taken back. Raises
    `Changed` for a file that somebody has saved meanwhile, and `Unwritable`."""
    for edit in edits:
        if edit.after is None:
            files.remove(edit.path, edit.before or b"")
            if edit.path.parent.name == PROGRAM and not os.listdir(edit.path.parent):
                edit.path.parent.rmdir()  # the folder of our skill
        else:
            if edit.before is not None and edit.is_first:
                files.write_private(edit.backup, edit.before)
            files.replace(edit.path, edit.after, edit.before)
        kept = files.read(edit.backup)
        if kept is not None and kept == edit.after:
            files.remove(edit.backup, kept)


def _assistant(client: str) -> Assistant:
    if client not in ASSISTANTS:
        raise UsageError(f"{client[:60]!r} is no assistant that is known here; there are {', '.join(ASSISTANTS)}")
    return ASSISTANTS[client]


def _merged(place: Place, command: Command) -> Callable[[str], str]:
    return lambda text: place.merged(text, command)


def _ruled(locale: str) -> Callable[[str], str]:
    return lambda text: with_rules(text, locale)


def _no_skill(_: str) -> str:
    """A skill of our name is ours."""
    return ""


def _edit(path: Path, change: Callable[[str], str], undo: Callable[[str], str]) -> Edit:
    before = files.read(path)
    after = _changed(path, before or b"", change).encode()
    return Edit(path, before, after, is_first=_changed(path, before or b"", undo).encode() == before)


def _undone(path: Path, change: Callable[[str], str]) -> Edit:
    before = files.read(path)
    if before is None:
        return Edit(path, None, None)
    after: bytes | None = _changed(path, before, change).encode()
    was = files.read(path.with_name(path.name + BACKUP))
    if after == before:
        return Edit(path, before, before)
    if was is not None and _is_same(path, was, after or b"", change):
        after = was
    elif was is None and (after or b"").strip() in (b"", b"{}"):
        after = None
    return Edit(path, before, after)


def _is_same(path: Path, was: bytes, after: bytes, change: Callable[[str], str]) -> bool:
    """Whether a file holds what it did before, however its blanks are: then it is that again."""
    try:
        return "".join(_changed(path, was, change).split()) == "".join(after.decode("utf-8").split())
    except UsageError:
        return False


def _changed(path: Path, content: bytes, change: Callable[[str], str]) -> str:
    try:
        return change(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} stays as it is: it is not in UTF-8") from error
    except UsageError as error:
        raise UsageError(f"{path} stays as it is: {error}. Mend it, or add the entry of docs/mcp.md by hand") from error
