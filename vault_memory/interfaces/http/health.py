"""`/healthz`: the process lives. `/readyz`: what it serves is fresh and well, or why not. Status: all that is known of it."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.encoders import jsonable_encoder
from pydantic import BaseModel, Field

from vault_memory.errors import VaultMemoryError
from vault_memory.interfaces.http.identify import TheAdmin, TheCaller, TheVault
from vault_memory.interfaces.http.problem import responses, seen_from_outside
from vault_memory.services.admin.status import status

router = APIRouter(tags=["health"])

_STATUS = {
    "content": {
        "application/json": {
            "example": {
                "scopes": [{"scope": "alice", "indexed": 3, "pending": ["USER.md"], "failed": {}, "problem": ""}],
                "daemon": {"running": True, "record": {"pid": 4711, "state": "watching"}},
                "history": {"branch": "main", "paused": None, "waiting": 0},
                "degraded": [],
                "unhealthy": [],
            }
        }
    }
}
"""The status in short: what it holds besides stands in docs/commands.md."""


class Alive(BaseModel):
    """The process answers."""

    alive: bool = True


class Ready(BaseModel):
    """Whether all is fresh and well; `pending` files have changed just now, and are not indexed as they are.

    The reasons, which name users, and the number of files are for the vault's own token only.
    """

    ready: bool = Field(examples=[True])
    reasons: list[str] = Field([], examples=[["catching up with the edits before the start"]])
    pending: int | None = Field(None, examples=[0])


@router.get("/healthz", responses={s: told for s, told in responses().items() if s in (400, 403, 413, 421, 429)})
async def healthz() -> Alive:
    """The process lives; needs no token."""
    return Alive()


@router.get("/readyz", responses={**responses(), 503: {"model": Ready, "description": "Not ready."}})
def readyz(vault: TheVault, caller: TheCaller, request: Request, response: Response) -> Ready:
    """200 when nothing is amiss and no file has waited for a minute to be indexed, else 503."""
    pending = None
    try:
        looked = status(vault)
        reasons = [seen_from_outside(reason, vault.root) for reason in looked.unhealthy]
        pending = sum(len(scope.pending) for scope in looked.scopes)
    except VaultMemoryError as error:  # so little is well that nobody can look
        reasons = [seen_from_outside(str(error), vault.root)]
    if not request.app.state.is_ready():
        reasons.append("catching up with the edits before the start")
    response.status_code = 503 if reasons else 200
    if not caller.admin:
        return Ready(ready=not reasons, reasons=[], pending=None)
    return Ready(ready=not reasons, reasons=reasons, pending=pending)


@router.get("/api/v1/status", responses={**responses(), 200: _STATUS})
def vault_status(vault: TheVault, _: TheAdmin) -> dict[str, Any]:
    """What is indexed, pending and failed, as `vault-memory status --json` prints it. For the vault's own token."""
    told: dict[str, Any] = json.loads(
        seen_from_outside(json.dumps(jsonable_encoder(asdict(status(vault)))), vault.root)
    )
    del told["root"]
    return told
