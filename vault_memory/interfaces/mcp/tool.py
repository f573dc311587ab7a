"""What a tool is: its name, a text for the model, what it takes and gives, and the function that does it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from mcp_types import Tool as Listed
from mcp_types import ToolAnnotations
from pydantic import BaseModel, ConfigDict

from vault_memory.core import chat, privacy
from vault_memory.core.layout import without_folders
from vault_memory.services import turns
from vault_memory.services.vault import Vault

Toolset = Literal["memory", "profile", "learning", "vault", "buddy"]
TOOLSETS: tuple[Toolset, ...] = ("memory", "profile", "learning", "vault", "buddy")
DEFAULT_TOOLSETS: tuple[Toolset, ...] = ("memory", "profile", "learning", "vault")

SHORT = 200
"""So many characters names, ids and codes have at most: nobody writes longer ones."""
ENDLESS = 1_000_000
"""A number that only keeps out nonsense."""

TEXT: dict[str, Any] = {"type": "string"}
MAY_BE_TEXT: dict[str, Any] = {"anyOf": [TEXT, {"type": "null"}]}
WHOLE: dict[str, Any] = {"type": "integer"}
NUMBER: dict[str, Any] = {"type": "number"}
TRUTH: dict[str, Any] = {"type": "boolean"}


class Taken(BaseModel):
    """The arguments of a tool: what it does not know is refused, and no text becomes a number."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Nothing(Taken):
    """No arguments."""


@dataclass(frozen=True)
class Person:
    """For whom a tool works: a user of a vault, whose id it was as of that renaming (`Vault.renamings`). `is_admin`:
    they may change what is all users'."""

    vault: Vault
    user_id: str
    as_of: int
    second_looks: turns.SecondLooks
    is_admin: bool = False

    @property
    def is_known(self) -> bool:
        """Whether the vault has the user; a new one begins with the first thing that is kept."""
        return self.vault.is_user(self.user_id)


@dataclass(frozen=True)
class Question:
    """What a person is asked before a tool goes on, and the arguments with which it does after a yes."""

    text: str
    then: Mapping[str, Any]


@dataclass(frozen=True)
class Tool:
    """`does` takes the person and the checked arguments, and returns what `gives`, a schema, describes. `asks`: with a
    client that can ask the person, these arguments are a question first; None where they need none."""

    name: str
    toolset: Toolset
    text: str
    takes: type[Taken]
    gives: Mapping[str, Any]
    does: Callable[[Person, Any], dict[str, Any]]
    reads_only: bool = False
    destroys: bool = False
    is_idempotent: bool = False
    asks: Callable[[Person, Any], Question | None] | None = None
    is_prompt: bool = False
    """Its texts have our own tags, with what is foreign in them escaped already."""
    stands_for: tuple[str, ...] = ()
    """The commands that do the same for a person (`pref set`): errors name them as the next step."""

    @cached_property
    def listed(self) -> Listed:
        """The tool as `tools/list` has it. Hints that have their default are left out, and whether it reaches out of
        this machine, which the settings decide: every model pays for them."""
        return Listed(
            name=self.name,
            description=self.text,
            input_schema=slim(self.takes.model_json_schema(by_alias=True)),
            output_schema=dict(self.gives),
            annotations=ToolAnnotations(
                read_only_hint=self.reads_only or None,
                destructive_hint=None if self.reads_only else self.destroys,
                idempotent_hint=(self.is_idempotent and not self.reads_only) or None,
            ),
        )

    def call(self, person: Person, arguments: Mapping[str, Any], *, can_ask: bool) -> dict[str, Any] | Question:
        """Check the arguments and do it; or the question that comes first. Raises `pydantic.ValidationError`, and what
        the tool raises."""
        taken = self.takes.model_validate(arguments)
        question = self.asks(person, taken) if can_ask and self.asks else None
        if question is not None:
            return question
        answer: dict[str, Any] = shown(self.does(person, taken), person.vault, is_ours=self.is_prompt)
        return answer


_COMMAND = re.compile(r"`vault-memory ([^`]+)`")


def for_model(text: str, called: Tool, tools: Iterable[Tool]) -> str:
    """What an error says, with the tools that a model has where it names a command: of the same toolset as the one that
    was `called`, if there is one. What no tool does a person has to do."""
    near = sorted(tools, key=lambda tool: tool.toolset != called.toolset)

    def named(command: re.Match[str]) -> str:
        words = f"{command[1]} "
        found = (tool.name for tool in near if any(words.startswith(f"{each} ") for each in tool.stands_for))
        return f"the tool {name}" if (name := next(found, None)) else f"{command[0]} (for the user to run)"

    return _COMMAND.sub(named, text)


def record(**fields: Any) -> dict[str, Any]:
    """The schema of an object with these members."""
    return {"type": "object", "properties": fields}


def rows(**fields: Any) -> dict[str, Any]:
    """The schema of a list of such objects."""
    return {"type": "array", "items": record(**fields)}


TEXTS: dict[str, Any] = {"type": "array", "items": TEXT}


def slim(schema: Any) -> Any:
    """A schema without what a model does not need: titles, what only repeats our names, a default that is empty, as
    what is left out is (null is then no other value), and limits that it does not come near; an error tells them."""
    if isinstance(schema, list):
        return [slim(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {key: value for key, value in schema.items() if key not in ("title", "additionalProperties")}
    if kept.get("maxLength", SHORT + 1) <= SHORT:
        del kept["maxLength"]
    if kept.get("maximum", 0) >= ENDLESS:
        del kept["maximum"]
    if not kept.get("default", True):
        kept.pop("default")
        branches = [each for each in kept.get("anyOf", ()) if each != {"type": "null"}]
        if len(branches) == 1:
            del kept["anyOf"]
            kept |= branches[0]
    if schema.get("type") == "object":
        kept.pop("description", None)
        kept["properties"] = {name: slim(each) for name, each in schema.get("properties", {}).items()}
        return kept
    return {key: slim(value) for key, value in kept.items()}


def shown(value: Any, vault: Vault, *, is_ours: bool = False) -> Any:
    """What a model may see of a value: every text without secrets and folders of this machine, and, unless it
    `is_ours`, with nothing in it that looks like a tag or a turn of a conversation."""
    if isinstance(value, str):
        clean = privacy.redact(without_folders(value, vault.root)).text
        return clean if is_ours else chat.escape(clean)
    if isinstance(value, Mapping):
        return {str(key): shown(each, vault, is_ours=is_ours) for key, each in value.items()}
    return [shown(each, vault, is_ours=is_ours) for each in value] if isinstance(value, (list, tuple)) else value
