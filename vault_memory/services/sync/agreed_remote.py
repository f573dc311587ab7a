"""Which remote a sync goes to, and whether this machine's yes covers the addresses behind it.

The name of the remote stands in the vault's settings or git's config, its addresses in git's config. All of it may have
come with the folder.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from vault_memory.adapters.git import Remote, followed_remote, is_on_this_machine
from vault_memory.adapters.machine import MachineRecord
from vault_memory.config import Waiting
from vault_memory.core.privacy import shown_address
from vault_memory.errors import UsageError
from vault_memory.services.vault import Vault

_SETTING = "git.remote"
_ADDRESSES = "git remote "
"""The beginning of the name under which the addresses of a remote wait for this machine's yes."""
_ADDRESS = re.compile(r"[/:\\]")
_SENT = "every note in git and its history is sent to these addresses, and merged from them"


def agreed_remote(vault: Vault, name: str = "") -> str:
    """The remote `name`, else the one in the settings, else the one that the branch follows.

    Raises `UsageError` when there is none, or when the remote in the settings, or an address, waits for a yes.
    """
    if not name and _setting_that_waits(vault):
        raise UsageError("; ".join([*vault.config.waits(), "or name the remote: `vault-memory sync REMOTE`"]))
    if _ADDRESS.search(name) and (other := _without_yes(vault, name, _SENT)):
        raise UsageError(
            f"git's config makes {shown_address(name)} into {_shown(other)}: take that out, or type that address"
        )
    if name:
        waiting = _on_this_machine(vault, name)
    else:
        name, waiting = vault.config.git_remote or _followed(vault), addresses_to_trust(vault)
    if not name:
        raise UsageError("this vault has no remote: name one with `git remote add origin ADDRESS`")
    if waiting:
        raise UsageError(
            f"the remote {shown_address(name)} is {_shown(waiting)}, to which this machine has not said yes: "
            "`vault-memory trust` shows it and asks; or give an address: `vault-memory sync ADDRESS`"
        )
    return name


def waiting_addresses(vault: Vault) -> Waiting | None:
    """The addresses that git uses for the remote in the vault's settings, unless this machine has said yes to them."""
    name = _setting_that_waits(vault) or vault.config.git_remote
    machine = MachineRecord(vault.root)
    if not name or (not _setting_that_waits(vault) and machine.doubts({_SETTING: name})):
        return None  # no remote, or one from the environment or the command line: the person's own words
    return _without_yes(vault, name, _SENT)


def addresses_to_trust(vault: Vault) -> Waiting | None:
    """The same; or, where the settings name no remote, those of the remote that the branch follows."""
    if vault.config.git_remote or _setting_that_waits(vault):
        return waiting_addresses(vault) or _on_this_machine(vault, vault.config.git_remote)
    name = _followed(vault)
    return _without_yes(vault, name, _SENT, is_agreed=False) if name else None


def agreed_setting(vault: Vault, seen: Collection[str]) -> dict[str, str]:
    """What a yes to the values named in `seen` covers, too: `git.remote`, where it will name the remote that the branch
    follows, whose addresses are among them. Another machine of the person may set it, and it changes nothing then."""
    if not any(key.startswith(_ADDRESSES) for key in seen) or vault.config.git_remote or _setting_that_waits(vault):
        return {}
    name = _followed(vault)
    return {_SETTING: name} if _ADDRESSES + name in seen else {}


def _on_this_machine(vault: Vault, name: str) -> Waiting | None:
    """The addresses of a remote if some are files of this machine, where a repository may have come with the vault."""
    waiting = _without_yes(vault, name, f"git runs the hooks of the repository there; {_SENT}") if name else None
    return waiting if waiting and any(map(is_on_this_machine, waiting.value)) else None


def _without_yes(vault: Vault, name: str, effect: str, *, is_agreed: bool = True) -> Waiting | None:
    """The addresses of a remote without this machine's yes. `is_agreed`: its name was typed, or agreed to as a setting.

    Then an address in place of a name is agreed to, too; one that stands in git's config (`branch.*.remote`) is not.
    """
    addresses = [
        address.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        for address in dict.fromkeys(Remote(vault.history.root, name).addresses())
    ]
    if (is_agreed and addresses == [name]) or addresses == MachineRecord(vault.root).agreed(_ADDRESSES).get(name):
        return None
    return Waiting(_ADDRESSES + name, addresses, effect, "git's config says where the remote is, and may change")


def _shown(waiting: Waiting) -> str:
    return ", ".join(map(shown_address, waiting.value))


def _followed(vault: Vault) -> str:
    """The remote that the branch follows; "" without one."""
    if not (vault.history.root / ".git").exists():
        return ""  # of a larger repository, which is not synced
    return followed_remote(vault.history.root, vault.history.state().branch or "") or ""


def _setting_that_waits(vault: Vault) -> str:
    """The value of `git.remote` in the file while it waits, else ""."""
    return next((str(value.value) for value in vault.config.waiting if value.key == _SETTING), "")
