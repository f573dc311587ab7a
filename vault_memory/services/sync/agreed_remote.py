"""Which remote a sync goes to when nobody names one, and whether this machine's yes covers the addresses behind it.

The name stands in the vault's settings, its addresses in git's config. Both may have come with the folder.
"""

from __future__ import annotations

from vault_memory.adapters.git import Remote, followed_remote
from vault_memory.adapters.machine import MachineRecord
from vault_memory.config import Waiting
from vault_memory.errors import UsageError
from vault_memory.services.vault import Vault

_SETTING = "git.remote"
_ADDRESSES = "git remote "
"""The beginning of the name under which the addresses of a remote wait for this machine's yes."""


def agreed_remote(vault: Vault, branch: str) -> str:
    """The remote in the settings, else the one that the branch follows.

    Raises `UsageError` when there is none, or when the remote in the settings, or an address of it, waits for a yes.
    """
    if _setting_that_waits(vault):
        raise UsageError("; ".join([*vault.config.waits(), "or name the remote: `vault-memory sync REMOTE`"]))
    if waiting := waiting_addresses(vault):
        raise UsageError(
            f"the remote {vault.config.git_remote} is {', '.join(waiting.value)}, to which this machine has not said "
            "yes: `vault-memory trust` shows it and asks; or name the remote: `vault-memory sync REMOTE`"
        )
    name = vault.config.git_remote or followed_remote(vault.history.root, branch)
    if not name:
        raise UsageError("this vault has no remote: name one with `git remote add origin ADDRESS`")
    return name


def waiting_addresses(vault: Vault) -> Waiting | None:
    """The addresses that git uses for the remote in the vault's settings, unless this machine has said yes to them."""
    name = _setting_that_waits(vault) or vault.config.git_remote
    machine = MachineRecord(vault.root)
    if not name or (not _setting_that_waits(vault) and machine.doubts({_SETTING: name})):
        return None  # no remote, or one from the environment or the command line: the person's own words
    addresses = [
        address.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        for address in dict.fromkeys(Remote(vault.history.root, name).addresses())
    ]
    if addresses == [name] or addresses == machine.agreed(_ADDRESSES).get(name):
        return None  # an address in place of a name was agreed to with the setting
    effect = "every note in git and its history is sent to these addresses, and merged from them"
    return Waiting(_ADDRESSES + name, addresses, effect, "git's config says where the remote is, and may change")


def _setting_that_waits(vault: Vault) -> str:
    """The value of `git.remote` in the file while it waits, else ""."""
    return next((str(value.value) for value in vault.config.waiting if value.key == _SETTING), "")
