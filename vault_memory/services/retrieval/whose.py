"""Whose notes a question reads when nobody was named."""

from __future__ import annotations

from vault_memory.core import layout
from vault_memory.errors import UsageError
from vault_memory.services.retrieval.search import Scope
from vault_memory.services.vault import Vault

_MAX_NAMED = 5


def whose(vault: Vault, user: str | None, scope: Scope | None = None, of_user: Scope = "user") -> tuple[str, Scope]:
    """The user and the scope to read; `of_user` is the scope of a user who names none. A vault without users has shared
    notes, where nobody need be named; in one with a single user that one and the shared notes are meant. Raises
    `UsageError` where several may be."""
    if user is not None:
        return vault.user_of(user), scope or of_user
    users = vault.user_ids()
    if scope == "shared" or (not users and scope != "user"):
        return layout.SHARED, "shared"
    if len(users) == 1:
        return users[0], scope or "all"
    if not users:
        raise UsageError("this vault has no user yet: leave the scope out to read the shared notes")
    named = ", ".join(users[:_MAX_NAMED]) + (", …" if len(users) > _MAX_NAMED else "")
    step = f"name one as the user (`--user {users[0]}`)"
    if of_user == "all":
        raise UsageError(f"this vault has {len(users)} users ({named}): {step}; what they share is read with each")
    raise UsageError(
        f"this vault has {len(users)} users ({named}): {step}, or read what they share with the scope `shared`"
    )
