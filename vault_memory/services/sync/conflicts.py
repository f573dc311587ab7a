"""Where two people, or a person and the assistant, changed the same thing: what is undecided, and what age decided."""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import timedelta
from pathlib import PurePosixPath

from vault_memory.adapters import files
from vault_memory.adapters.git import process as git
from vault_memory.core.notes import conflict
from vault_memory.services.profiles.audit import history
from vault_memory.services.sync.sync import CONFLICT_COPY
from vault_memory.services.vault import Vault

_SHOWN_DAYS = 7
_MOST = 20


def undecided(vault: Vault, paths: Iterable[PurePosixPath]) -> list[str]:
    """The conflict blocks that stand in these files now, and every conflict copy in the vault; a line each."""
    found = []
    for path in paths:
        text = (files.read(vault.root / path) or b"").decode("utf-8", "replace")
        found += [f"{path}: {problem.removeprefix(conflict.PROBLEM)}" for problem in conflict.problems(text)]
    plain = {"GIT_LITERAL_PATHSPECS": "0"}
    listed = git.run(vault.root, "ls-files", "-z", "--", f"*{CONFLICT_COPY}*", extra=plain)
    copies = [os.fsdecode(name) for name in listed.split(b"\0") if name]
    found += [
        f"{copy}: an older text of a file that two sides changed: take over what you need, then delete it"
        for copy in copies
        if (vault.root / copy).exists()
    ]
    return found


def decided(vault: Vault) -> list[str]:
    """The preferences that two machines changed in the last days, of which a sync kept the newer, and still stands."""
    since = vault.now() - timedelta(days=_SHOWN_DAYS)
    found = []
    for entry in vault.history.log(limit=_MOST, since=since, trailers={"Vault-Conflict": None}):
        user, key = entry.trailers.get("Vault-User", ""), entry.trailers.get("Vault-Key", "")
        if user not in vault.user_ids():
            continue
        newest = history(vault, user, key, limit=1)
        if newest and newest[0].commit == entry.commit:
            older = newest[0].old
            undo = f"pref set --user {user} {key} {older}" if older else f"pref unset --user {user} {key}"
            found.append(f"{user}: {key} = {newest[0].new}; {entry.reason}; `vault-memory {undo}` takes that instead")
    return found
