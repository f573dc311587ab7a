"""Write the history that was made anew over a remote's: by force, with a lease, and only over what came from here."""

from __future__ import annotations

from dataclasses import dataclass

from vault_memory.adapters.erasing import read_map
from vault_memory.adapters.git import CommitLog, Remote, Repository
from vault_memory.core.privacy import shown_address
from vault_memory.errors import HistoryError, UsageError
from vault_memory.services.sync import agreed_remote
from vault_memory.services.vault import Vault


@dataclass(frozen=True)
class Overwrite:
    """A branch of a remote that is at `theirs`, a commit from before, and would be at `head`. `needed`: it is not there
    already."""

    remote: str
    branch: str
    theirs: str
    head: str
    needed: bool


def prepare_overwrite(vault: Vault, name: str = "") -> Overwrite:
    """Ask the remote where its branch is. Raises `HistoryError` where it has commits that were never here, which would
    be lost, and what `agreed_remote` and `Remote` raise."""
    name = agreed_remote(vault, name)
    root, state = vault.history.root, vault.history.state()
    if state.paused or not state.branch or not state.head:
        raise HistoryError(f"nothing is pushed now: {state.paused or 'there is no commit'}")
    theirs = Remote(root, name).tip(state.branch)
    if theirs is None:
        raise UsageError(f"{shown_address(name)} has no branch {state.branch}: `vault-memory sync` sends it")
    commits = CommitLog(root)
    is_former = theirs in read_map(Repository(root).common_dir)
    if not is_former and not (commits.has(theirs) and commits.is_ancestor(theirs, state.head)):
        raise HistoryError(
            f"{shown_address(name)} has commits that were never here ({theirs[:10]}), and would lose them: fetch them "
            "into another clone and send them from there after this vault is there, or erase there first"
        )
    return Overwrite(name, state.branch, theirs, state.head, is_former)


def overwrite(vault: Vault, planned: Overwrite) -> None:
    """Push over the remote's branch. Raises `HistoryError` where it has moved since it was looked at."""
    if not Remote(vault.history.root, planned.remote).push(planned.branch, planned.head, over=planned.theirs):
        raise HistoryError(
            f"{shown_address(planned.remote)} has moved since, or does not let itself be overwritten: nothing was "
            "changed there; look at it, then push again"
        )
