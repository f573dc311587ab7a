"""A text or a file is taken out of all that a git repository holds: commits, names, messages, tags, notes, stashes,
logs of references, git's index, the files of the working tree; and nothing of before is left among git's objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.adapters.erasing.erase import Erased, Request, erase_from_git, finish_erasing
    from vault_memory.adapters.erasing.former import JOURNAL, now_called

__all__ = ["JOURNAL", "Erased", "Request", "erase_from_git", "finish_erasing", "now_called"]

__getattr__ = lazy_exports(
    __name__,
    {
        "Erased": "erase",
        "JOURNAL": "former",
        "Request": "erase",
        "erase_from_git": "erase",
        "finish_erasing": "erase",
        "now_called": "former",
    },
)
