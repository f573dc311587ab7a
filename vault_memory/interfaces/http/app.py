"""The application: all endpoints behind one guard."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from fastapi import Depends, FastAPI, Request
from starlette.routing import Route

from vault_memory import __version__
from vault_memory.interfaces.http import problem, proxy
from vault_memory.interfaces.http.endpoints import (
    erasing,
    forgetting,
    graph,
    health,
    learning,
    memories,
    memory,
    mistakes,
    notes,
    users,
)
from vault_memory.interfaces.http.guard import STREAMED, Guard, identify, speaking_for
from vault_memory.interfaces.http.response import PAGE_THREADS, PLACES_PER_USER, UserPlaces
from vault_memory.services.turns import SecondLooks
from vault_memory.services.vault import Vault

Mcp = Callable[[Vault, Callable[[Request], str]], Any]
"""Makes the app at `/mcp`, with its `lifespan`, of a vault and of what says for whom a request is answered."""


def create_app(
    vault: Vault,
    is_ready: Callable[[], bool] = lambda: True,
    searching: memory.Searching | None = None,
    mcp: Mcp | None = None,
) -> FastAPI:
    """The app that serves a vault. `is_ready`: whether the daemon has indexed the edits made before the start.
    `searching` replaces the search in threads of this process. Without `mcp` there is nothing at `/mcp`."""
    mcp_app = mcp(vault, partial(speaking_for, vault)) if mcp else None
    app = FastAPI(
        title="vault-memory",
        version=__version__,
        description=__doc__,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=mcp_app.lifespan if mcp_app else None,
    )
    app.state.vault, app.state.is_ready = vault, is_ready
    app.state.readiness = health.Readiness(partial(health.look_at, vault))
    app.state.searching = searching or memory.in_threads(vault)
    app.state.page_threads = ThreadPoolExecutor(PAGE_THREADS, "page")
    app.state.places = UserPlaces(1 if vault.config.embedding_kind == "offline" else PLACES_PER_USER)
    app.state.second_looks = SecondLooks(vault)
    app.state.endings = asyncio.Semaphore(memory.MAX_CONCURRENT_ENDINGS)
    app.add_middleware(Guard, vault=vault)
    problem.install(app)
    for subject in (health, users, memory, notes, memories, forgetting, erasing, graph, mistakes, learning):
        app.include_router(subject.router)
    app.include_router(proxy.routes(vault, app.state.second_looks))
    if mcp_app:
        app.router.routes.append(Route(STREAMED, mcp_app))

    @app.get("/openapi.json", include_in_schema=False, dependencies=[Depends(identify)])
    async def openapi() -> dict[str, Any]:
        document = app.openapi()
        document["components"]["schemas"] |= problem.schemas(memories.SimilarProblem)
        return document

    return app
