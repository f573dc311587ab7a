"""`/healthz`: the process runs. `/readyz`: whether its data is fresh and sound, or why not. Status: every detail."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
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
from vault_memory.services.vault import Vault

router = APIRouter(tags=["health"])
Look = tuple[list[Reason], int | None]

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


class Readiness:
    """Looks at a vault for all who ask: there is one `look` at a time, and who comes meanwhile shares its result. In a
    large vault a look takes seconds, and many at once took 400 MB."""

    def __init__(self, look: Callable[[], Look]) -> None:
        self._look = look
        self._looking: asyncio.Task[Look] | None = None

    async def look(self) -> Look:
        """The result of a look that is not over yet."""
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(asyncio.to_thread(self._look))
        return await asyncio.shield(self._looking)  # whoever goes away ends it for nobody


def look_at(vault: Vault) -> Look:
    """What is wrong with a vault, and how many files are not indexed yet."""
    try:
        current = status(vault)
    except VaultMemoryError as error:  # the status itself cannot be read
        return shown([str(error)], vault.root), None
    return shown(current.unhealthy, vault.root), sum(len(scope.pending) for scope in current.scopes)


@router.get("/readyz", responses={**responses(), 503: {"model": Ready, "description": "Not ready."}})
async def readyz(caller: TheCaller, request: Request, response: Response) -> Ready:
    """200 if there is no problem and no file has waited a minute to be indexed, else 503."""
    readiness: Readiness = request.app.state.readiness
    reasons, pending = await readiness.look()
    if not request.app.state.is_ready():
        reasons = [*reasons, Reason("indexing the edits made before the start")]
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
