"""Which files are no longer there: an index may still hold their text."""

from __future__ import annotations

import os
from collections.abc import Iterable

from vault_memory.core import layout
from vault_memory.services.notes.conversations import Folders


def gone(vault: Folders, scope: str, sources: Iterable[str]) -> list[str]:
    """Those of the sources of a scope whose files are not there: deleted, or in a folder that is a link by now, which
    nobody follows. A day of conversation may be in the file of its month. What cannot be looked at counts as there."""
    home = os.path.realpath(vault.folder(scope))
    is_linked: dict[str, bool] = {}
    found = []
    for source in sources:
        folder = os.path.dirname(f"{home}/{source}")
        if folder not in is_linked:
            is_linked[folder] = os.path.realpath(folder) != folder
        if is_linked[folder] or (_is_missing(f"{home}/{source}") and not _is_archived(scope, home, source)):
            found.append(source)
    return found


def _is_missing(path: str) -> bool:
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def _is_archived(scope: str, home: str, source: str) -> bool:
    day = layout.recorded_day(source) if scope != layout.SHARED else None
    return day is not None and not _is_missing(f"{home}/{layout.month_source(day)}")
