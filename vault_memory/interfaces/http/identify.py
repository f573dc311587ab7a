"""Whose request it is, for the endpoints: the guard has checked the token, here it is asked what it opens."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Path, Request
from fastapi.security import HTTPBearer

from vault_memory.core.identity import resolve
from vault_memory.errors import Forbidden, InvalidId, Unauthenticated
from vault_memory.services.admin.access import Caller
from vault_memory.services.vault import Vault

_scheme = HTTPBearer(auto_error=False, description="The vault's own token, or a user's.")


async def identify(request: Request, _: Annotated[object, Depends(_scheme)] = None) -> Caller:
    """The caller, as the guard knows it. Raises `Unauthenticated` where no guard stands before the app."""
    caller = request.scope.get("caller")
    if not isinstance(caller, Caller):
        raise Unauthenticated("this request did not come through the guard")
    return caller


async def vault_of(request: Request) -> Vault:
    """The vault that this app serves."""
    vault: Vault = request.app.state.vault
    return vault


async def administrate(caller: Annotated[Caller, Depends(identify)]) -> Caller:
    """The caller, if it holds the vault's own token. Raises `Forbidden`."""
    if not caller.admin:
        raise Forbidden("a user's token opens that user's data only: this needs the vault's own token")
    return caller


async def own_user(
    caller: Annotated[Caller, Depends(identify)],
    vault: Annotated[Vault, Depends(vault_of)],
    student_id: Annotated[
        str, Path(description="A user id, or an outside name from `[identities]`.", examples=["alice"], max_length=256)
    ],
) -> str:
    """The user id that the path names, if the caller may act for it.

    Raises `Forbidden`, in the same words whether that user exists or not, and `InvalidId` for an id that cannot be.
    """
    return acting_for(vault, caller, student_id)


def acting_for(vault: Vault, caller: Caller, name: str) -> str:
    """The user id behind a user id or outside name, if the caller may act for it. Raises `Forbidden` or `InvalidId`."""
    try:
        user_id = resolve(vault.config.identities, name)
    except InvalidId:
        if caller.admin:
            raise
        user_id = ""
    if not caller.admin and user_id != caller.user_id:
        raise Forbidden("this token opens another user's data")
    return user_id


TheVault = Annotated[Vault, Depends(vault_of)]
TheUser = Annotated[str, Depends(own_user)]
TheCaller = Annotated[Caller, Depends(identify)]
TheAdmin = Annotated[Caller, Depends(administrate)]
