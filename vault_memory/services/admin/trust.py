"""Say yes, on this machine, to what may have come with a vault from elsewhere: the sensitive settings of its file (see
`config.py` for which these are), the addresses of its remote and programs in its repository's own git config, and its
tokens."""

from __future__ import annotations

from collections.abc import Iterable

from vault_memory.adapters.machine import MachineRecord
from vault_memory.config import Waiting
from vault_memory.services.admin.access import unknown_tokens
from vault_memory.services.sync import addresses_to_trust, agreed_setting
from vault_memory.services.vault import GIT_CONFIG, Vault

_TOKENS = "tokens"


def to_trust(vault: Vault) -> tuple[Waiting, ...]:
    """What a person may say yes to: settings that are not in force, the addresses of a remote, what the
    repository's own git config would start, and tokens of which nobody knows who made them."""
    addresses = filter(None, [addresses_to_trust(vault)])
    return (*vault.config.waiting, *addresses, *_git_settings(vault), *_tokens(vault))


def _git_settings(vault: Vault) -> list[Waiting]:
    values: dict[str, list[str]] = {}
    for key, value in vault.history.refused_settings():
        values.setdefault(key, []).append(value)
    effect, why = "git starts it, or goes where it says, when vault-memory calls git", "it stands in .git"
    return [Waiting(GIT_CONFIG + key, value, effect, why) for key, value in values.items()]


def _tokens(vault: Vault) -> list[Waiting]:
    tokens = unknown_tokens(vault.root)
    effect = "they open this vault over HTTP to whoever has them; `vault-memory init` ends them"
    why = "this machine does not know that it made them"
    return [Waiting(_TOKENS, tokens, effect, why)] if tokens else []


def trust(vault: Vault, values: Iterable[Waiting]) -> None:
    """Let exactly these values take effect: those that a person has seen, of `to_trust`, not those in the file now.

    Whoever opens the vault after this gets them; a process that has it open must be started again. Raises
    `Unwritable` or `Busy`.
    """
    machine = MachineRecord(vault.root)
    seen = {value.key: value.value for value in values}
    if seen.pop(_TOKENS, None):
        machine.note_own_tokens()
    if seen:
        machine.say_yes(agreed_setting(vault, seen) | seen)
