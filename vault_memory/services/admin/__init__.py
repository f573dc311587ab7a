"""The vault as a whole: creating, checking, repairing and backing it up; its users, and the tokens that give access."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.services.admin.access import (
        Caller,
        caller_of,
        new_user_token,
        own_token,
        people,
        revoke_user_token,
        secure_tokens,
    )
    from vault_memory.services.admin.adopt import Adoption, plan_adoption
    from vault_memory.services.admin.backup import backup, check_new_folder, export
    from vault_memory.services.admin.create_vault import create_vault
    from vault_memory.services.admin.doctor import doctor
    from vault_memory.services.admin.foreign import repository_identity, repository_programs
    from vault_memory.services.admin.restore import restore
    from vault_memory.services.admin.status import Status, status
    from vault_memory.services.admin.trust import to_trust, trust
    from vault_memory.services.admin.users import rename_user, users

__all__ = [
    "Adoption",
    "Caller",
    "Status",
    "backup",
    "caller_of",
    "check_new_folder",
    "create_vault",
    "doctor",
    "export",
    "new_user_token",
    "own_token",
    "people",
    "plan_adoption",
    "rename_user",
    "repository_identity",
    "repository_programs",
    "restore",
    "revoke_user_token",
    "secure_tokens",
    "status",
    "to_trust",
    "trust",
    "users",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "Adoption": "adopt",
        "Caller": "access",
        "Status": "status",
        "backup": "backup",
        "check_new_folder": "backup",
        "caller_of": "access",
        "create_vault": "create_vault",
        "doctor": "doctor",
        "export": "backup",
        "new_user_token": "access",
        "own_token": "access",
        "people": "access",
        "plan_adoption": "adopt",
        "rename_user": "users",
        "repository_identity": "foreign",
        "repository_programs": "foreign",
        "restore": "restore",
        "revoke_user_token": "access",
        "secure_tokens": "access",
        "status": "status",
        "to_trust": "trust",
        "trust": "trust",
        "users": "users",
    },
)
