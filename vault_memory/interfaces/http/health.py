"""`/healthz`: the process lives. `/readyz`: what it serves is fresh and well, or why not. Status: all that is known of it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from vault_memory.interfaces.http.identify import TheAdmin, TheCaller, TheVault
from vault_memory.interfaces.http.problem import responses
from vault_memory.services.status import status

router = APIRouter(tags=["health"])


class Alive(BaseModel):
    """The process answers."""

    alive: bool = True


class Ready(BaseModel):
    """Whether all is fresh and well. The reasons, which name users, are for the vault's own token only."""

    ready: bool = Field(examples=[True])
    reasons: list[str] = Field([], examples=[["catching up with the edits before the start"]])


@router.get("/healthz")
async def healthz() -> Alive:
    """The process lives; needs no token."""
    return Alive()


@router.get("/readyz", responses={**responses(), 503: {"model": Ready, "description": "Not ready."}})
def readyz(vault: TheVault, caller: TheCaller, request: Request, response: Response) -> Ready:
    """200 when every file is indexed and nothing is amiss, else 503."""
    reasons = list(status(vault).unhealthy)
    if not request.app.state.is_ready():
        reasons.append("catching up with the edits before the start")
    response.status_code = 503 if reasons else 200
    return Ready(ready=not reasons, reasons=reasons if caller.admin else [])


@router.get("/api/v1/status", responses=responses())
def vault_status(vault: TheVault, _: TheAdmin) -> dict[str, Any]:
    """What is indexed, pending and failed, as `vault-memory status --json` prints it. For the vault's own token."""
    return asdict(status(vault))
