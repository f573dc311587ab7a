"""Code Buddy's thirteen tools, under their own names, with their documents' arguments and answers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, create_model

from vault_memory.core import graph
from vault_memory.core.memories import TYPES
from vault_memory.errors import Forbidden
from vault_memory.interfaces.mcp.tool import Person, Question, Taken, Tool
from vault_memory.services import buddy

_TEXT = Annotated[str, Field(max_length=20_000)]
_LIMITED: dict[Any, Any] = {
    str: _TEXT,
    Sequence[str]: Annotated[list[Annotated[str, Field(max_length=2_000)]], Field(max_length=100)],
}
_OWN: dict[tuple[str, str], Any] = {
    ("buddy_add_memory", "type"): Literal[TYPES],
    ("buddy_remember", "type"): Literal[TYPES],
    ("buddy_delete_memory", "type"): Literal[TYPES],
    ("buddy_create_entity", "type"): Literal[graph.TYPES],
    ("buddy_create_relation", "type"): Literal[graph.RELATION_TYPES],
    ("buddy_remember", "limit"): Annotated[int, Field(ge=1, le=1_000)],
    ("buddy_remember_recent", "limit"): Annotated[int, Field(ge=1, le=1_000)],
    ("buddy_search_entities", "limit"): Annotated[int, Field(ge=1, le=1_000)],
}
"""Arguments that may not be any value of their type."""
_READ_ONLY = {
    *("buddy_remember", "buddy_remember_recent", "buddy_remember_stats", "buddy_search_entities"),
    "buddy_get_mistake_patterns",
}


_STANDS_FOR = {"buddy_remember": ("memory list", "recall"), "buddy_delete_memory": ("memory delete",)}


class _BuddyTaken(Taken):
    """The arguments by their names in the document."""

    model_config = ConfigDict(validate_by_name=False, validate_by_alias=True)


def _taken(tool: buddy.Tool) -> type[Taken]:
    fields: dict[str, Any] = {}
    for each in tool.parameters:
        kind = _OWN.get((tool.name, each.name)) or _LIMITED.get(each.type, each.type)
        named = partial(Field, alias=each.name)
        fields[each.python_name] = (kind, named()) if each.is_required else (kind | None, named(default=None))
    return create_model(f"{tool.name}_taken", __base__=_BuddyTaken, **fields)


def _described(tool: buddy.Tool) -> str:
    """What the tool does, with its arguments under the names of the document."""
    text = tool.description.partition(" Raises")[0].replace("\n", " ")
    for each in tool.parameters:
        text = re.sub(rf"\b{each.python_name}\b", each.name, text)
    return text


def _does(name: str, person: Person, taken: Taken) -> dict[str, Any]:
    given = taken.model_dump(by_alias=True, exclude_none=True)
    if name == "buddy_config" and given and not person.is_admin:
        raise Forbidden("the language model is that of all users: only the vault's own token changes its settings")
    return buddy.call_tool(person.vault, person.user_id, name, given)


def _ask_before_deleting(person: Person, taken: Taken) -> Question | None:
    if taken.model_dump().get("confirm_code") is not None:
        return None
    chosen = _does("buddy_delete_memory", person, taken)
    listed = "\n".join(f"- {each['content']}" for each in chosen["preview"])
    return Question(f"刪除 / 删除 / Delete: {chosen['count']}\n{listed}", {"confirmCode": chosen["confirmCode"]})


def _tool(tool: buddy.Tool) -> Tool:
    is_deletion = tool.name == "buddy_delete_memory"
    return Tool(
        tool.name,
        "buddy",
        _described(tool),
        _taken(tool),
        {"type": "object"},
        partial(_does, tool.name),
        reads_only=tool.name in _READ_ONLY,
        destroys=is_deletion,
        asks=_ask_before_deleting if is_deletion else None,
        stands_for=_STANDS_FOR.get(tool.name, ()),
    )


TOOLS = tuple(map(_tool, buddy.TOOLS.values()))
