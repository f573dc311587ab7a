"""The durable intents: what is to become commits, kept so that a `kill -9` loses neither content nor author nor message.

One file per `stage`, under `vault-memory/intents` in git's own folder: `<number>.staged` while the vault's files are
being written, `<number>.written` when they all are. A killed writer leaves a `.staged` one, and whoever comes next
finishes it; a `.written` one waits for its commits only, and the person may have edited the file since.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import re
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from vault_memory.adapters import files
from vault_memory.adapters.history.model import Author, Draft, FileChange
from vault_memory.errors import HistoryError

_NAME = re.compile(r"(\d{8})\.(staged|written)")


@dataclass(frozen=True)
class Intent:
    """The drafts of one `stage`, with what is needed to commit them later.

    `when` is git's `<seconds> <zone>`; `head` the commit that HEAD was at; `bases` the blob that HEAD held at each path
    (None: no such file). Where `before` of a first change is not that blob, it is a person's text that nobody has
    committed.
    """

    path: Path
    drafts: tuple[Draft, ...]
    when: str
    head: str | None
    bases: dict[PurePosixPath, str | None]

    @property
    def is_written(self) -> bool:
        """Whether all files of the drafts were written to the vault."""
        return self.path.suffix == ".written"

    def ends(self) -> dict[PurePosixPath, FileChange]:
        """Each path's change from before the first draft to after the last, in the order they come."""
        return ends(self.drafts)


def ends(drafts: Iterable[Draft]) -> dict[PurePosixPath, FileChange]:
    """Each path's change from before the first draft to after the last, in the order they come."""
    found: dict[PurePosixPath, FileChange] = {}
    for draft in drafts:
        for change in draft.changes:
            first = found.get(change.path, change)
            found[change.path] = FileChange(change.path, first.before, change.after)
    return found


class IntentLog:
    """The intents of one repository. Who changes them holds the vault's lock."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def pending(self) -> list[Intent]:
        """All intents, oldest first. May be asked without the lock, too."""
        while True:
            try:
                return [_load(self._folder / name) for name in self._names()]
            except FileNotFoundError:
                continue  # whoever holds the lock has just marked or struck off this one: look again

    def sweep(self) -> None:
        """Remove what a writer left who was killed before its intent had a name."""
        with contextlib.suppress(FileNotFoundError):
            for temp in files.abandoned(self._folder):
                temp.unlink(missing_ok=True)

    def unwritten(self) -> list[Intent]:
        """Those whose files a killed writer may not have written."""
        return [_load(self._folder / name) for name in self._names() if name.endswith(".staged")]

    def count(self) -> int:
        """How many drafts wait."""
        return sum(len(intent.drafts) for intent in self.pending())

    def add(
        self, drafts: tuple[Draft, ...], when: str, head: str | None, bases: dict[PurePosixPath, str | None]
    ) -> Intent:
        """Make the drafts durable."""
        names = self._names()
        number = int(names[-1][:8]) + 1 if names else 1
        intent = Intent(self._folder / f"{number:08d}.staged", drafts, when, head, bases)
        files.replace(intent.path, _dump(intent), None)
        return intent

    def mark_written(self, intent: Intent) -> Intent:
        """Note that the files of an intent are written."""
        target = intent.path.with_suffix(".written")
        os.replace(intent.path, target)
        return replace(intent, path=target)

    def keep(self, intent: Intent, drafts: tuple[Draft, ...]) -> None:
        """Leave only these drafts of an intent; none removes it."""
        if not drafts:
            intent.path.unlink(missing_ok=True)
        elif drafts != intent.drafts:
            files.replace(intent.path, _dump(replace(intent, drafts=drafts)), files.read(intent.path))

    def _names(self) -> list[str]:
        try:
            return sorted(name for name in os.listdir(self._folder) if _NAME.fullmatch(name))
        except FileNotFoundError:
            return []


def _dump(intent: Intent) -> bytes:
    # Each content once, by a number: in a chain every `after` is the next one's `before`.
    contents: dict[bytes, int] = {}

    def number(content: bytes | None) -> int | None:
        return None if content is None else contents.setdefault(content, len(contents))

    drafts = [
        {
            "message": draft.message,
            "author": list(draft.author),
            "changes": [[str(c.path), number(c.before), number(c.after)] for c in draft.changes],
            "merges": draft.merges,
        }
        for draft in intent.drafts
    ]
    record = {
        "when": intent.when,
        "head": intent.head,
        "bases": {str(path): base for path, base in intent.bases.items()},
        "drafts": drafts,
        "contents": [base64.b64encode(zlib.compress(content, 1)).decode() for content in contents],
    }
    return json.dumps(record).encode()


def _load(path: Path) -> Intent:
    try:
        record = json.loads(path.read_bytes())
        contents = [zlib.decompress(base64.b64decode(content)) for content in record["contents"]]

        def content(number: int | None) -> bytes | None:
            return None if number is None else contents[number]

        drafts = tuple(_draft(row, content) for row in record["drafts"])
        bases = {PurePosixPath(name): base for name, base in record["bases"].items()}
        return Intent(path, drafts, record["when"], record["head"], bases)
    except (ValueError, KeyError, IndexError, TypeError, zlib.error) as error:
        raise HistoryError(f"{path} is damaged ({error}): what it was to commit is on disk; delete it") from error


def _draft(row: dict[str, Any], content: Any) -> Draft:
    changes = tuple(
        FileChange(PurePosixPath(p), content(before), content(after)) for p, before, after in row["changes"]
    )
    return Draft(row["message"], Author(*row["author"]), changes, row["merges"])
