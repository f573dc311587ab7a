"""Git's own formats and commands: objects, git's index, refs, settings, filters, the log, diffs, remotes, upkeep.
It knows nothing of intents, and nothing of who writes or why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.adapters.git.diff import (
        FileDifference,
        blame,
        blob_sizes,
        changed_files,
        diff,
        read_blobs,
        refuse_vast,
        refuse_vast_files,
    )
    from vault_memory.adapters.git.index_file import CONFLICT, DamagedIndex, GitIndexFile, IndexEntry, UnknownIndex
    from vault_memory.adapters.git.log import CommitLog, LogEntry, Moment
    from vault_memory.adapters.git.objects import (
        EMPTY_TREE,
        EXECUTABLE_MODE,
        FILE_MODES,
        FOLDER_MODE,
        Objects,
        TreeEntry,
        commit_body,
        object_id,
    )
    from vault_memory.adapters.git.process import run
    from vault_memory.adapters.git.remote import Remote, followed_remote, is_on_this_machine
    from vault_memory.adapters.git.repository import Filters, Head, Repository, refuse_tracked, tracked_state
    from vault_memory.adapters.git.settings import (
        NEXT_STEP,
        SIGNING,
        Allowed,
        Setting,
        allow,
        common_dir,
        settings_of,
    )
    from vault_memory.adapters.git.upkeep import Growth, commits_outside_graph, growth, pack_objects, write_commit_graph

__all__ = [
    "Allowed",
    "CONFLICT",
    "CommitLog",
    "DamagedIndex",
    "EMPTY_TREE",
    "EXECUTABLE_MODE",
    "FILE_MODES",
    "FOLDER_MODE",
    "FileDifference",
    "Filters",
    "GitIndexFile",
    "Growth",
    "Head",
    "IndexEntry",
    "LogEntry",
    "Moment",
    "NEXT_STEP",
    "Objects",
    "Remote",
    "Repository",
    "SIGNING",
    "Setting",
    "TreeEntry",
    "UnknownIndex",
    "allow",
    "blame",
    "blob_sizes",
    "changed_files",
    "commit_body",
    "common_dir",
    "commits_outside_graph",
    "diff",
    "followed_remote",
    "growth",
    "is_on_this_machine",
    "object_id",
    "pack_objects",
    "read_blobs",
    "refuse_tracked",
    "refuse_vast",
    "refuse_vast_files",
    "run",
    "settings_of",
    "tracked_state",
    "write_commit_graph",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "Allowed": "settings",
        "CONFLICT": "index_file",
        "CommitLog": "log",
        "EMPTY_TREE": "objects",
        "EXECUTABLE_MODE": "objects",
        "FILE_MODES": "objects",
        "FOLDER_MODE": "objects",
        "FileDifference": "diff",
        "Filters": "repository",
        "DamagedIndex": "index_file",
        "GitIndexFile": "index_file",
        "Growth": "upkeep",
        "Head": "repository",
        "IndexEntry": "index_file",
        "LogEntry": "log",
        "Moment": "log",
        "NEXT_STEP": "settings",
        "Objects": "objects",
        "Remote": "remote",
        "Repository": "repository",
        "SIGNING": "settings",
        "Setting": "settings",
        "TreeEntry": "objects",
        "UnknownIndex": "index_file",
        "allow": "settings",
        "blame": "diff",
        "blob_sizes": "diff",
        "changed_files": "diff",
        "commit_body": "objects",
        "common_dir": "settings",
        "commits_outside_graph": "upkeep",
        "diff": "diff",
        "followed_remote": "remote",
        "growth": "upkeep",
        "is_on_this_machine": "remote",
        "object_id": "objects",
        "pack_objects": "upkeep",
        "read_blobs": "diff",
        "refuse_tracked": "repository",
        "refuse_vast": "diff",
        "refuse_vast_files": "diff",
        "run": "process",
        "settings_of": "settings",
        "tracked_state": "repository",
        "write_commit_graph": "upkeep",
    },
)
