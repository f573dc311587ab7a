"""`/healthz`: the process runs. `/readyz`: whether its data is fresh and sound, or why not. Status: every detail."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.encoders import jsonable_encoder
from pydantic import BaseModel, Field

from vault_memory.core.layout import without_folders
from vault_memory.errors import VaultMemoryError
from vault_memory.interfaces.http.guard import TheAdmin, TheCaller, TheVault
from vault_memory.interfaces.http.problem import Reason, responses
from vault_memory.interfaces.http.problem import reasons as shown
from vault_memory.services.admin import status

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
"""A shortened example; `services/admin/status.py` explains every field."""


class Alive(BaseModel):
    """The process runs."""

    alive: bool = True


class Ready(BaseModel):
    """Whether the vault is fresh and sound; `pending` counts files that changed and are not yet indexed.

    Only the vault's own token gets the reasons, which name users, and the count.
    """

    ready: bool = Field(examples=[True])
    reasons: list[Reason] = Field([], examples=[["indexing the edits made before the start"]])
    pending: int | None = Field(None, examples=[0])


@router.get("/healthz", responses=responses(400, 403, 413, 421, 429, every_endpoint=False))
async def healthz() -> Alive:
    """The process runs; needs no token."""
    return Alive()


@router.get("/readyz", responses={**responses(), 503: {"model": Ready, "description": "Not ready."}})
def readyz(vault: TheVault, caller: TheCaller, request: Request, response: Response) -> Ready:
    """200 if there is no problem and no file has waited a minute to be indexed, else 503."""
    pending = None
    try:
        current = status(vault)
        reasons = shown(current.unhealthy, vault.root)
        pending = sum(len(scope.pending) for scope in current.scopes)
    except VaultMemoryError as error:  # the status itself cannot be read
        reasons = shown([str(error)], vault.root)
    if not request.app.state.is_ready():
        reasons.append(Reason("indexing the edits made before the start"))
    response.status_code = 503 if reasons else 200
    if not caller.admin:
        return Ready(ready=not reasons, reasons=[], pending=None)
    return Ready(ready=not reasons, reasons=reasons, pending=pending)


@router.get("/api/v1/status", responses={**responses(), 200: _STATUS})
def vault_status(vault: TheVault, _: TheAdmin) -> dict[str, Any]:
    """What is indexed, pending and failed, as `vault-memory status --json` prints it; needs the vault's own token."""
    document: dict[str, Any] = json.loads(
        without_folders(json.dumps(jsonable_encoder(asdict(status(vault)))), vault.root)
    )
    del document["root"]
    return document
