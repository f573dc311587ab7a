"""The vault's git history: durable drafts that become commits, and the log of those that did.

`History` is the only door; the other modules of this package are its rooms.
"""

from __future__ import annotations

from vault_memory.adapters.history.committer import History
from vault_memory.adapters.history.model import ASSISTANT, Author, Draft, Entry, FileChange, Flushed, HistoryState

__all__ = ["ASSISTANT", "Author", "Draft", "Entry", "FileChange", "Flushed", "History", "HistoryState"]
