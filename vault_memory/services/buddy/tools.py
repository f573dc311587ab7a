"""The tools by their names, with the names that their document has for the arguments: `forceSave`, `from`."""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, get_type_hints

from vault_memory.errors import UsageError
from vault_memory.services.buddy import knowledge, memories, settings
from vault_memory.services.vault import Vault, open_vault

_OWN_NAMES = {
    "from_name": "from",
    "to_name": "to",
    "memory_id": "id",
    "memory_type": "type",
    "entity_type": "type",
    "relation_type": "type",
}
"""Arguments whose name in the document is none in Python, or says too little there."""
_KINDS: Mapping[Any, tuple[str, Callable[[Any], bool]]] = {
    str: ("a text", lambda value: isinstance(value, str)),
    bool: ("true or false", lambda value: isinstance(value, bool)),
    int: ("a whole number", lambda value: isinstance(value, int) and not isinstance(value, bool)),
    float: ("a number", lambda value: isinstance(value, (int, float)) and not isinstance(value, bool)),
    Sequence[str]: (
        "a list of texts",
        lambda value: isinstance(value, list) and all(isinstance(each, str) for each in value),
    ),
}


@dataclass(frozen=True)
class Parameter:
    """An argument of a tool: its name in the document and in Python, and its type (str, bool, int, float or
    Sequence[str]). One that is not required may be null, too."""

    name: str
    python_name: str
    type: Any
    is_required: bool


@dataclass(frozen=True)
class Tool:
    """A tool: its name, and the function that does it for a user of a vault."""

    name: str
    function: Callable[..., dict[str, Any]]

    @property
    def description(self) -> str:
        """What it does, in words."""
        return inspect.getdoc(self.function) or ""

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """Its arguments, in their order."""
        hints = get_type_hints(self.function)
        return tuple(
            Parameter(_document_name(each.name), each.name, _bare(hints[each.name]), each.default is each.empty)
            for each in inspect.signature(self.function).parameters.values()
            if each.name not in ("vault", "user_id") and each.kind is not each.KEYWORD_ONLY
        )


TOOLS: Mapping[str, Tool] = {
    function.__name__: Tool(function.__name__, function)
    for function in (
        memories.buddy_do,
        memories.buddy_add_memory,
        memories.buddy_remember,
        memories.buddy_remember_recent,
        memories.buddy_remember_stats,
        memories.buddy_delete_memory,
        knowledge.buddy_search_entities,
        knowledge.buddy_create_entity,
        knowledge.buddy_create_relation,
        knowledge.buddy_record_mistake,
        knowledge.buddy_get_mistake_patterns,
        memories.buddy_ask_ai,
        settings.buddy_config,
    )
}
"""Every tool by its name."""


def call_tool(vault: Vault | str | Path, user_id: str, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Call a tool by its name, with the arguments by their names in the document, as JSON has them. The vault may be
    named by its folder. Raises `UsageError` for an unknown tool, and for an argument that is unknown, missing or of a
    wrong type; `NotAVault`, and what the tool raises."""
    if name not in TOOLS:
        raise UsageError(f"there is no tool {name[:60]!r}.{_near(name, TOOLS)}")
    tool = TOOLS[name]
    parameters = {each.name: each for each in tool.parameters}
    given: dict[str, Any] = {}
    for key, value in arguments.items():
        if key not in parameters:
            raise UsageError(f"{name} has no argument {str(key)[:60]!r}.{_near(str(key), parameters)}")
        parameter = parameters[key]
        if value is None and not parameter.is_required:
            continue
        said, is_right = _KINDS[parameter.type]
        if not is_right(value):
            raise UsageError(f"{key} of {name} is {said}, not {str(value)[:60]!r}")
        given[parameter.python_name] = value
    for each in tool.parameters:
        if each.is_required and each.python_name not in given:
            raise UsageError(f"{name} needs the argument {each.name}")
    return tool.function(vault if isinstance(vault, Vault) else open_vault(vault), user_id, **given)


def _document_name(name: str) -> str:
    return _OWN_NAMES.get(name) or re.sub("_([a-z])", lambda match: match[1].upper(), name)


def _bare(hint: Any) -> Any:
    """The type without `| None`."""
    return next((kind for kind in _KINDS if hint in (kind, kind | None)), str)


def _near(name: str, known: Mapping[str, Any]) -> str:
    near = difflib.get_close_matches(name, known, 1)
    return f" Did you mean {near[0]!r}?" if near else f" There are {', '.join(known)}." if known else ""
