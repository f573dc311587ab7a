"""A text or a file is taken out of all that a git repository holds: commits, names, messages, tags, notes, stashes,
logs of references, git's index, the files of the working tree; and nothing of before is left among git's objects. Also
the tombstones of what was erased."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.adapters.erasing.erase import erase_from_git, finish_erasing, full_disk_told, refuse_erasing
    from vault_memory.adapters.erasing.former import JOURNAL, now_called, read_map
    from vault_memory.adapters.erasing.incoming import brought_back
    from vault_memory.adapters.erasing.look import (
        held_files,
        look_for,
        paths_of,
        refuse_nested,
        still_said,
        tags_that_say,
        without_changes,
    )
    from vault_memory.adapters.erasing.messages import named_in
    from vault_memory.adapters.erasing.references import references_named
    from vault_memory.adapters.erasing.request import Erased, Request, known_by
    from vault_memory.adapters.erasing.stones import (
        machine_file,
        new_tombstones,
        read_tombstones,
        tombstones_of_history,
        write_tombstones,
    )
    from vault_memory.adapters.erasing.working_tree import files_of, ignored_files

__all__ = [
    "JOURNAL",
    "Erased",
    "Request",
    "brought_back",
    "erase_from_git",
    "files_of",
    "finish_erasing",
    "full_disk_told",
    "held_files",
    "ignored_files",
    "known_by",
    "look_for",
    "machine_file",
    "named_in",
    "new_tombstones",
    "now_called",
    "paths_of",
    "read_map",
    "read_tombstones",
    "references_named",
    "refuse_erasing",
    "refuse_nested",
    "still_said",
    "tags_that_say",
    "tombstones_of_history",
    "without_changes",
    "write_tombstones",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "Erased": "request",
        "JOURNAL": "former",
        "Request": "request",
        "known_by": "request",
        "brought_back": "incoming",
        "erase_from_git": "erase",
        "files_of": "working_tree",
        "finish_erasing": "erase",
        "full_disk_told": "erase",
        "held_files": "look",
        "ignored_files": "working_tree",
        "machine_file": "stones",
        "named_in": "messages",
        "look_for": "look",
        "now_called": "former",
        "paths_of": "look",
        "read_map": "former",
        "new_tombstones": "stones",
        "read_tombstones": "stones",
        "references_named": "references",
        "refuse_erasing": "erase",
        "refuse_nested": "look",
        "still_said": "look",
        "tags_that_say": "look",
        "tombstones_of_history": "stones",
        "without_changes": "look",
        "write_tombstones": "stones",
    },
)
