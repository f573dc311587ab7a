"""Conflicts: places where two sides changed the same thing. A person must decide the open ones; sync decided the others
by age."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable
from datetime import timedelta
from pathlib import PurePosixPath

from vault_memory.adapters import files, git
from vault_memory.core.notes import note
from vault_memory.core.profile import FIELDS
from vault_memory.core.trailers import KEYS, Trailers
from vault_memory.errors import TooLarge
from vault_memory.services.profiles import history
from vault_memory.services.sync.sides import CONFLICT_COPY
from vault_memory.services.vault import Vault

_MAX_AGE_DAYS = 7
_MAX_CONFLICTS = 20


def open_conflicts(vault: Vault, paths: Iterable[PurePosixPath]) -> list[str]:
    """A line for each conflict block in these files, and for each conflict copy in the vault."""
    lines = []
    for path in paths:
        try:
            text = (files.read(vault.root / path) or b"").decode("utf-8", "replace")
        except TooLarge:  # named among the withheld files
            continue
        lines += [f"{path}: {problem.removeprefix(note.CONFLICT_PROBLEM)}" for problem in note.conflict_problems(text)]
    with_patterns = {"GIT_LITERAL_PATHSPECS": "0"}
    listed = git.run(vault.root, "ls-files", "-z", "--", f"*{CONFLICT_COPY}*", extra=with_patterns)
    copies = [os.fsdecode(name) for name in listed.split(b"\0") if name]
    lines += [
        f"{copy}: the older text of a file that two sides changed: copy what you need from it, then delete it"
        for copy in copies
        if (vault.root / copy).exists()
    ]
    return lines


def decided_conflicts(vault: Vault) -> list[str]:
    """A line for each recent conflict over a preference, if the newer value, which sync kept, is still the value."""
    since = vault.now() - timedelta(days=_MAX_AGE_DAYS)
    lines = []
    for entry in vault.history.log(limit=_MAX_CONFLICTS, since=since, trailers={KEYS["conflict"]: None}):
        ours = Trailers.read(entry.trailers)
        user, key = ours.user or "", ours.key or ""
        if not vault.is_user(user) or key not in FIELDS:  # anybody may write a trailer
            continue
        newest = history(vault, user, key, limit=1)
        if newest and newest[0].commit == entry.commit:
            older = newest[0].old
            words = ["set", "--user", user, key, older] if older else ["unset", "--user", user, key]
            undo = shlex.join(["vault-memory", "pref", *words])  # who wrote the commit chose the value
            lines.append(f"{user}: {key} = {newest[0].new}; {entry.reason}; `{undo}` takes that instead")
    return lines
