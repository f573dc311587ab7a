"""The vault as a whole: creating, checking, repairing and backing it up; its users, and the tokens that give access."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.services.admin.access import Caller, caller_of, new_user_token, own_token, revoke_user_token
    from vault_memory.services.admin.backup import backup, export, restore
    from vault_memory.services.admin.create_vault import create_vault
    from vault_memory.services.admin.doctor import doctor
    from vault_memory.services.admin.foreign import repository_programs
    from vault_memory.services.admin.status import Status, status
    from vault_memory.services.admin.users import rename_user, users

__all__ = [
    "Caller",
    "Status",
    "backup",
    "caller_of",
    "create_vault",
    "doctor",
    "export",
    "new_user_token",
    "own_token",
    "rename_user",
    "repository_programs",
    "restore",
    "revoke_user_token",
    "status",
    "users",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "Caller": "access",
        "Status": "status",
        "backup": "backup",
        "caller_of": "access",
        "create_vault": "create_vault",
        "doctor": "doctor",
        "export": "backup",
        "new_user_token": "access",
        "own_token": "access",
        "rename_user": "users",
        "repository_programs": "foreign",
        "restore": "backup",
        "revoke_user_token": "access",
        "status": "status",
        "users": "users",
    },
)
