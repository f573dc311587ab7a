"""A user's knowledge graph: adding to it, searching it, what is around an entity, ways, and the whole as text."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import PlainTextResponse
from pydantic import BaseModel, Field

from vault_memory.core.graph import RELATION_TYPES, TYPES, Entity, Part
from vault_memory.interfaces.http.body import JsonRoute
from vault_memory.interfaces.http.guard import TheUser, TheVault
from vault_memory.interfaces.http.problem import Reason, reason, reasons, responses
from vault_memory.interfaces.http.response import in_page_thread, page
from vault_memory.services.graph import (
    Added,
    add_observation,
    create_entity,
    create_relation,
    draw_graph,
    find_path,
    get_entity,
    left_out,
    list_entities,
    neighbours,
    search_entities,
)
from vault_memory.services.vault import Vault

router = APIRouter(prefix="/api/v1/user/{student_id}/graph", tags=["graph"], route_class=JsonRoute)

MAX_OFFSET = 1_000_000
_ID = "entity_1769753100000_a1b2c3d4"
_RELATION_ID = "rel_1769753100000_b2c3d4e5"
_AT = "2026-01-30T14:05:00+08:00"

Name = Annotated[str, Field(min_length=1, max_length=500, examples=["Redis"])]
EntityType = Annotated[str, Field(pattern=f"^({'|'.join(TYPES)})$", examples=["technology"])]
RelationType = Annotated[str, Field(pattern=f"^({'|'.join(RELATION_TYPES)})$", examples=["depends_on"])]
Text = Annotated[str, Field(min_length=1, max_length=20_000, examples=["登入的 session 放在這裡"])]
Texts = Annotated[list[Text], Field(max_length=1_000, fail_fast=True, examples=[["登入的 session 放在這裡"]])]
Tag = Annotated[str, Field(max_length=200)]
Depth = Annotated[int, Query(ge=1, le=20, description="How many steps away.")]
Named = Annotated[
    str,
    Query(min_length=1, max_length=500, description="A name, an alias, a former name or an id.", examples=["Redis"]),
]


class EntityIn(BaseModel):
    """An entity to add."""

    name: Name
    type: EntityType
    observations: Texts = []
    tags: list[Tag] = Field([], max_length=100, fail_fast=True, examples=[["cache"]])
    aliases: list[Name] = Field([], max_length=100, fail_fast=True, examples=[["redis-server"]])


class RelationIn(BaseModel):
    """A relation to add, by the names of its entities."""

    from_: Name = Field(alias="from", examples=["LoginSystem"])
    to: Name
    type: RelationType
    description: str = Field("", max_length=20_000, examples=["session 放在這裡"])


class ObservationsIn(BaseModel):
    """What was observed of an entity."""

    name: Name
    observations: Texts = Field(min_length=1)


class EntityOut(BaseModel):
    """An entity. Without a `type` it is a stub: others name it, and nobody has said what it is. `path` is its note."""

    id: str = Field(examples=[_ID])
    name: str = Field(examples=["Redis"])
    type: str | None = Field(examples=["technology"])
    observations: list[str] = Field(examples=[["登入的 session 放在這裡"]])
    tags: list[str] = Field(examples=[["cache"]])
    aliases: list[str] = Field(examples=[[]])
    created_at: datetime | None = Field(examples=[_AT])
    path: str = Field(examples=["memory/alice/entities/Redis.md"])


class RelationOut(BaseModel):
    """A relation. `is_mention`: a link that a person wrote, without a type of its own. `is_dangling`: there is no
    entity of the name `to`."""

    id: str = Field(examples=[_RELATION_ID])
    from_: str = Field(alias="from", examples=["LoginSystem"])
    to: str = Field(examples=["Redis"])
    type: str = Field(examples=["depends_on"])
    description: str = Field(examples=["session 放在這裡"])
    created_at: datetime | None = Field(examples=[_AT])
    is_mention: bool = Field(examples=[False])
    is_dangling: bool = Field(examples=[False])


class AddedOut(BaseModel):
    """What became of an addition: the entity as it is now (null for a user who is off the record), the relation,
    whether anything is new, entities that were made without a type because the relation names them, and what was kept
    out, by category."""

    entity: EntityOut | None = Field(examples=[None])
    relation: RelationOut | None = Field(examples=[None])
    is_new: bool = Field(examples=[True])
    stubs: list[str] = Field(examples=[[]])
    commits: list[str] = Field(examples=[["1a2b3c4d5e6f7a8b9c0d1a2b3c4d5e6f7a8b9c0d"]])
    redactions: dict[str, int] = Field(examples=[{}])
    paused: Reason | None = Field(None, examples=[None])
    degraded: list[Reason] = Field(examples=[[]])


class EntitiesOut(BaseModel):
    """Entities; `next` is the `offset` of the next page, null on the last."""

    entities: list[EntityOut]
    degraded: list[Reason] = Field(examples=[[]])
    next: int | None = Field(None, examples=[None])


class EntityViewOut(EntityOut):
    """An entity with the relations that begin or end at it; `problems` says what of its note was not understood."""

    relations: list[RelationOut]
    problems: list[Reason] = Field(examples=[[]])


class PartOut(BaseModel):
    """A part of the graph."""

    entities: list[EntityOut]
    relations: list[RelationOut]
    degraded: list[Reason] = Field(examples=[[]])


class PathOut(BaseModel):
    """The relations of a shortest way; null if there is none."""

    path: list[RelationOut] | None = Field(examples=[[]])
    degraded: list[Reason] = Field(examples=[[]])


@router.post("/entities", status_code=201, responses=responses(409, 415))
def add_entity(vault: TheVault, user_id: TheUser, body: EntityIn) -> AddedOut:
    """Add an entity; one that is called so already gets what is new. Secrets and private facts are left out."""
    made = create_entity(vault, user_id, body.name, body.type, body.observations, body.tags, aliases=body.aliases)
    return _added_out(vault, user_id, made)


@router.post("/relations", status_code=201, responses=responses(404, 409, 415))
def add_relation(vault: TheVault, user_id: TheUser, body: RelationIn) -> AddedOut:
    """Add a relation. An entity that is not there is made without a type, or the response is 404, by the settings."""
    made = create_relation(vault, user_id, body.from_, body.to, body.type, body.description)
    return _added_out(vault, user_id, made)


@router.post("/observations", status_code=201, responses=responses(404, 409, 415))
def add_observations(vault: TheVault, user_id: TheUser, body: ObservationsIn) -> AddedOut:
    """Add observations to an entity that is there."""
    return _added_out(vault, user_id, add_observation(vault, user_id, body.name, body.observations))


@router.get("/entities", response_model=EntitiesOut, responses=responses(404))
async def entities(
    request: Request,
    vault: TheVault,
    user_id: TheUser,
    query: Annotated[
        str, Query(max_length=2_000, description="In a name, an observation or a tag.", examples=["aut"])
    ] = "",
    entity_type: Annotated[
        EntityType | None, Query(alias="type", description="Only of this type.", examples=["technology"])
    ] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 20,
    offset: Annotated[int, Query(ge=0, le=MAX_OFFSET)] = 0,
) -> Response:
    """The entities that a query finds, the best first; without one all, by name."""

    def read() -> EntitiesOut:
        found = search_entities(vault, user_id, query) if query else list_entities(vault, user_id, entity_type)
        of_type = [each for each in found if entity_type in (None, each.type)]
        rows, has_more = page((_entity_out(user_id, each) for each in of_type[offset : offset + limit + 1]), limit)
        after = offset + len(rows) if has_more else None
        return EntitiesOut(entities=rows, degraded=reasons(found.degraded, vault.root), next=after)

    return await in_page_thread(request, user_id, read)


@router.get("/entity", response_model=EntityViewOut, responses=responses(404))
async def entity(request: Request, vault: TheVault, user_id: TheUser, name: Named) -> Response:
    """One entity with its relations."""

    def read() -> EntityViewOut:
        view = get_entity(vault, user_id, name)
        return EntityViewOut(
            **_entity_fields(user_id, view.entity),
            relations=[RelationOut(**each.as_dict()) for each in view.relations],
            problems=reasons(view.problems, vault.root),
        )

    return await in_page_thread(request, user_id, read)


@router.get("/neighbours", response_model=PartOut, responses=responses(404))
async def near(request: Request, vault: TheVault, user_id: TheUser, name: Named, depth: Depth = 1) -> Response:
    """What is around an entity, along relations or against them, the nearest first."""
    return await in_page_thread(
        request, user_id, lambda: _part_out(vault, user_id, neighbours(vault, user_id, name, depth))
    )


@router.get("/path", response_model=PathOut, responses=responses(404))
async def path(
    request: Request,
    vault: TheVault,
    user_id: TheUser,
    begin: Annotated[Named, Query(alias="from")],
    end: Annotated[Named, Query(alias="to")],
) -> Response:
    """A shortest way from one entity to another, along relations or against them."""

    def read() -> PathOut:
        found = find_path(vault, user_id, begin, end)
        way = None if found is None else [RelationOut(**each.as_dict()) for each in found]
        return PathOut(path=way, degraded=reasons(left_out(vault, user_id), vault.root))

    return await in_page_thread(request, user_id, read)


_DRAWN = {"content": {"text/plain": {"schema": {"type": "string"}}, "application/json": {"schema": {"type": "object"}}}}


@router.get("/export", response_class=PlainTextResponse, responses={**responses(404), 200: _DRAWN})
async def export(
    request: Request,
    vault: TheVault,
    user_id: TheUser,
    form: Annotated[Literal["mermaid", "dot", "json"], Query(alias="format")] = "mermaid",
    around: Annotated[
        str | None, Query(min_length=1, max_length=500, description="Only what is around it.", examples=["Redis"])
    ] = None,
    depth: Depth = 1,
) -> Response:
    """The graph as text: Mermaid, DOT or JSON; all of it, or what is around an entity."""
    kind = "application/json" if form == "json" else "text/plain; charset=utf-8"
    return await in_page_thread(
        request, user_id, lambda: Response(draw_graph(vault, user_id, form, around, depth), media_type=kind)
    )


def _added_out(vault: Vault, user_id: str, made: Added) -> AddedOut:
    return AddedOut(
        entity=_entity_out(user_id, made.entity) if made.entity else None,
        relation=RelationOut(**made.relation.as_dict()) if made.relation else None,
        is_new=made.is_new,
        stubs=list(made.stubs),
        commits=list(made.commits),
        redactions=dict(made.redactions),
        paused=reason(made.paused, vault.root) if made.paused else None,
        degraded=reasons(made.degraded, vault.root),
    )


def _part_out(vault: Vault, user_id: str, part: Part) -> PartOut:
    return PartOut(
        entities=[_entity_out(user_id, each) for each in part.entities],
        relations=[RelationOut(**each.as_dict()) for each in part.relations],
        degraded=reasons(left_out(vault, user_id), vault.root),
    )


def _entity_out(user_id: str, entity: Entity) -> EntityOut:
    return EntityOut(**_entity_fields(user_id, entity))


def _entity_fields(user_id: str, entity: Entity) -> dict[str, Any]:
    return entity.as_dict() | {"path": f"memory/{user_id}/{entity.source}"}
