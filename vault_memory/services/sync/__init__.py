"""The exchange with a remote: fetch, merge, push; and the conflicts that it leaves for a person.
Also what plain git calls: the merge driver for USER.md, and the check of staged files before a commit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.services.sync.agreed_remote import (
        addresses_to_trust,
        agreed_remote,
        agreed_setting,
        waiting_addresses,
    )
    from vault_memory.services.sync.check_staged import check_staged
    from vault_memory.services.sync.conflicts import decided_conflicts, open_conflicts
    from vault_memory.services.sync.merge_driver import (
        install_merge_driver,
        is_our_setting,
        merge_driver,
        merge_driver_installed,
    )
    from vault_memory.services.sync.refusals import claims_line, private_in_git, wrong_in_git
    from vault_memory.services.sync.sync import sync

__all__ = [
    "addresses_to_trust",
    "agreed_remote",
    "agreed_setting",
    "check_staged",
    "claims_line",
    "decided_conflicts",
    "install_merge_driver",
    "is_our_setting",
    "merge_driver",
    "merge_driver_installed",
    "open_conflicts",
    "private_in_git",
    "sync",
    "waiting_addresses",
    "wrong_in_git",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "check_staged": "check_staged",
        "claims_line": "refusals",
        "decided_conflicts": "conflicts",
        "install_merge_driver": "merge_driver",
        "is_our_setting": "merge_driver",
        "merge_driver": "merge_driver",
        "merge_driver_installed": "merge_driver",
        "open_conflicts": "conflicts",
        "private_in_git": "refusals",
        "sync": "sync",
        "wrong_in_git": "refusals",
        "addresses_to_trust": "agreed_remote",
        "agreed_remote": "agreed_remote",
        "agreed_setting": "agreed_remote",
        "waiting_addresses": "agreed_remote",
    },
)
