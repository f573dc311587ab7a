"""The assistants that can be connected: where each has its configuration, and in which form it names a server and
hooks.

As their makers documented it in November 2026 (`docs/mcp.md` says where that is not known).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from typing import Any, Literal, Protocol

from vault_memory.core.assistants import json_text, toml_text
from vault_memory.core.assistants.command import NAME, Command, hook_of, server_of
from vault_memory.core.assistants.ours import WHOLE_FILE, Ours, signed
from vault_memory.core.clients import HOOK_EVENTS

HOOK_TIMEOUT_S = 5
CODEX_EVENTS = tuple(each for each in HOOK_EVENTS if each != "SessionEnd")
"""Codex has no event for the end of a session."""
Path = Sequence[str | int]
Folder = Literal["home", "claude", "claude-desktop", "codex", "cursor", "vscode", "opencode"]


@dataclass(frozen=True)
class Place:
    """A file of an assistant's, by a folder of the person's and its name in that. `merged` gives its text with our
    entries for a command, in which stays what a person has added to them. Raises `UsageError` for a text that stays as
    it is."""

    folder: Folder
    name: str
    merged: Callable[[str, Command], str]
    ours: Ours


@dataclass(frozen=True)
class Assistant:
    """An assistant: its `title`, the file that names its `server` and that for `hooks`, if it has these; where its
    `rules` go, and as a skill or as a section of a file with other rules."""

    title: str
    server: Place
    hooks: Place | None = None
    rules: tuple[Folder, str] | None = None
    has_skills: bool = False


class _Texts(Protocol):
    """The text of a file of one form: `json_text`, `toml_text`."""

    def read(self, text: str) -> dict[str, Any]: ...
    def with_value(self, text: str, path: Path, value: dict[str, Any]) -> str: ...
    def with_fields(self, text: str, path: Path, fields: dict[str, Any]) -> str: ...
    def restored(self, text: str, path: Path, was: str) -> str: ...
    def settled(self, text: str, was: str) -> str: ...
    def says_more(self, text: str, path: Path, fields: dict[str, Any]) -> bool: ...


def _server(texts: _Texts, path: Path, entry: Callable[[Command], dict[str, Any]]) -> dict[str, Any]:
    """Of a file that names servers. An entry of our name that does not start this program is a person's own."""

    def command_of(text: str) -> Command | None:
        return server_of(_words(_at(texts.read(text), path)))

    def merged(text: str, command: Command) -> str:
        old = command_of(text)
        if old is None:
            return texts.with_value(text, path, entry(command))
        return texts.with_fields(text, path, entry(replace(command, options=old.options)))

    def parted(text: str, was: str) -> str:
        if command_of(text) is None:
            return text
        return texts.settled(texts.restored(text, path, was), was)

    def adds(text: str) -> bool:
        command = command_of(text)
        return command is not None and texts.says_more(text, path, entry(replace(command, options=())))

    return {"merged": merged, "ours": Ours(lambda text: command_of(text) is not None, parted, adds)}


def _stdio(command: Command) -> dict[str, Any]:
    return {"command": command.server[0], "args": [*command.server[1:]]}


def _typed_stdio(command: Command) -> dict[str, Any]:
    return {"type": "stdio", **_stdio(command)}


def _opencode(command: Command) -> dict[str, Any]:
    return {"type": "local", "command": [*command.server], "enabled": True}


def _words(entry: Any) -> tuple[str, ...]:
    """The words by which an entry of any assistant's starts a server."""
    if not isinstance(entry, Mapping):
        return ()
    command, args = entry.get("command"), entry.get("args", [])
    words = command if isinstance(command, list) else [command, *(args if isinstance(args, list) else [])]
    return tuple(words) if all(isinstance(each, str) for each in words) else ()


def _plugin(_: str, command: Command) -> str:
    """Our plugin, which is a file of its own."""
    words = json.dumps(command.hook_words("opencode"), ensure_ascii=False)
    shipped = (resources.files(__package__) / "opencode.js").read_text(encoding="utf-8")
    return signed(shipped.replace("__COMMAND__", words), "// {}")


def _hooks(client: str, events: Sequence[str]) -> dict[str, Any]:
    """Of a file that names hooks by their event. What a person has put into one of ours, or beside it, stays."""

    def merged(text: str, command: Command) -> str:
        hook = {"type": "command", "command": command.hook(client), "timeout": HOOK_TIMEOUT_S}
        for event in events:
            fields = json_text.read(text)
            found = [*_our_hooks(fields, event, client)]
            for path in reversed(found):
                if path != found[0] and not _says_more(fields, path, client):
                    text = _without_hook(text, path, text)
                else:
                    text = json_text.with_fields(text, path, {"command": hook["command"]})
            if not found:
                number = len(_items(fields, ("hooks", event)))
                text = json_text.with_value(text, ("hooks", event, number), {"hooks": [hook]})
        return text

    def found_in(text: str) -> list[Path]:
        fields = json_text.read(text)
        events = fields.get("hooks")
        found = events if isinstance(events, Mapping) else ()
        return [path for event in found for path in _our_hooks(fields, event, client)]

    def parted(text: str, was: str) -> str:
        made = text
        for path in reversed(found_in(text)):
            made = _without_hook(made, path, was)
        return text if made == text else json_text.settled(made, was)

    def adds(text: str) -> bool:
        fields = json_text.read(text)
        return any(_says_more(fields, path, client) for path in found_in(text))

    return {"merged": merged, "ours": Ours(lambda text: bool(found_in(text)), parted, adds)}


def _our_hooks(fields: Mapping[str, Any], event: str, client: str) -> Iterator[Path]:
    """Where our hooks for an event are. A person may have put theirs beside one."""
    for group in range(len(_items(fields, ("hooks", event)))):
        path = ("hooks", event, group, "hooks")
        for number, hook in enumerate(_items(fields, path)):
            if isinstance(hook, Mapping) and hook_of(hook.get("command"), client) is not None:
                yield (*path, number)


def _says_more(fields: Mapping[str, Any], path: Path, client: str) -> bool:
    """Whether a hook of ours, or the group that goes with it, has what `install` has not written."""
    hook, group = _at(fields, path), _at(fields, path[:-2])
    plain = {"type": "command", "command": hook["command"], "timeout": HOOK_TIMEOUT_S}
    goes = all(isinstance(each, Mapping) and hook_of(each.get("command"), client) for each in group["hooks"])
    return hook != plain or (goes and len(group) > 1)


def _without_hook(text: str, path: Path, was: str) -> str:
    """The text without a hook, and without its group if there is no other in it."""
    group = path[:-2]
    alone = len(_items(json_text.read(text), path[:-1])) == 1
    return json_text.without(text, group if alone else path, was)


def _items(fields: Any, path: Path) -> list[Any]:
    found = _at(fields, path)
    return found if isinstance(found, list) else []


def _at(values: Any, path: Path) -> Any:
    for key in path:
        if isinstance(values, list) and isinstance(key, int):
            values = values[key]
        elif isinstance(values, Mapping):
            values = values.get(key)
        else:
            return None
    return values


ASSISTANTS: Mapping[str, Assistant] = {
    "claude-code": Assistant(
        "Claude Code",
        Place("home", ".claude.json", **_server(json_text, ("mcpServers", NAME), _typed_stdio)),
        Place("claude", "settings.json", **_hooks("claude-code", HOOK_EVENTS)),
        ("claude", f"skills/{NAME}/SKILL.md"),
        has_skills=True,
    ),
    "claude-desktop": Assistant(
        "Claude Desktop",
        Place("claude-desktop", "claude_desktop_config.json", **_server(json_text, ("mcpServers", NAME), _stdio)),
    ),
    "codex": Assistant(
        "Codex",
        Place("codex", "config.toml", **_server(toml_text, ("mcp_servers", NAME), _stdio)),
        Place("codex", "hooks.json", **_hooks("codex", CODEX_EVENTS)),
        ("codex", "AGENTS.md"),
    ),
    "cursor": Assistant("Cursor", Place("cursor", "mcp.json", **_server(json_text, ("mcpServers", NAME), _stdio))),
    "vscode": Assistant("VS Code", Place("vscode", "mcp.json", **_server(json_text, ("servers", NAME), _typed_stdio))),
    "opencode": Assistant(
        "opencode",
        Place("opencode", "opencode.json", **_server(json_text, ("mcp", NAME), _opencode)),
        Place("opencode", f"plugins/{NAME}.js", _plugin, WHOLE_FILE),
        rules=("opencode", "AGENTS.md"),
    ),
}
"""By the name under which `install` knows it."""


def command_in(client: str, text: str) -> tuple[str, ...]:
    """The words by which an assistant's configuration starts our server; none if it does not. Raises `UsageError` for a
    text that cannot be read."""
    if client == "codex":
        entry: Any = toml_text.read(text).get("mcp_servers")
    else:
        fields = json_text.read(text)
        entry = fields.get({"vscode": "servers", "opencode": "mcp"}.get(client, "mcpServers"))
    return _words(_at(entry, (NAME,)))
