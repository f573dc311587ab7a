"""The assistants that can be connected: where each has its configuration, and in which form it names a server and
hooks.

As their makers documented it in November 2026 (`docs/mcp.md` says where that is not known).
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import PurePath, PureWindowsPath
from typing import Any, Literal

from vault_memory.core.assistants import json_text, toml_text
from vault_memory.core.clients import HOOK_EVENTS

NAME = "vault-memory"
"""Of our entry in each configuration."""
HOOK_TIMEOUT_S = 5
CODEX_EVENTS = tuple(each for each in HOOK_EVENTS if each != "SessionEnd")
"""Codex has no event for the end of a session."""
_OUR_HOOK = re.compile(r"\bhook event [\w-]+ --user ")

Folder = Literal["home", "claude", "claude-desktop", "codex", "cursor", "vscode", "opencode"]


@dataclass(frozen=True)
class Command:
    """How this program is called for a vault and a user of it."""

    program: tuple[str, ...]
    vault: str
    user: str

    @property
    def server(self) -> tuple[str, ...]:
        """The words that start the MCP server."""
        return (*self.program, "--vault", self.vault, "mcp", "--user", self.user)

    def hook(self, client: str) -> str:
        """The line for a shell that a hook runs. Its exit code is always 0: 2 would keep the person's words from the
        model."""
        return f"{shlex.join(self.hook_words(client))} 2>/dev/null || true"

    def hook_words(self, client: str) -> tuple[str, ...]:
        """The words that a hook runs."""
        return (*self.program, "--vault", self.vault, "hook", "event", client, "--user", self.user)


@dataclass(frozen=True)
class Place:
    """A file of an assistant's, by a folder of the person's and its name in that. `merged` gives its text with our
    entries for a command, `parted` without them; both raise `UsageError` for a text that stays as it is."""

    folder: Folder
    name: str
    merged: Callable[[str, Command], str]
    parted: Callable[[str], str]


@dataclass(frozen=True)
class Assistant:
    """An assistant: its `title`, the file that names its `server` and that for `hooks`, if it has these; where its
    `rules` go, and as a skill or as a section of a file with other rules."""

    title: str
    server: Place
    hooks: Place | None = None
    rules: tuple[Folder, str] | None = None
    has_skills: bool = False


def program_beside(python: PurePath, is_file: Callable[[PurePath], bool]) -> tuple[str, ...]:
    """The words that start this program, whatever the PATH of an assistant is: the script that was installed beside
    that Python, else the Python itself."""
    script = python.with_name(f"{NAME}.exe" if isinstance(python, PureWindowsPath) else NAME)
    return (str(script),) if is_file(script) else (str(python), "-P", "-m", "vault_memory")


def _server_json(path: Sequence[str], entry: Callable[[Command], dict[str, Any]]) -> dict[str, Any]:
    def merged(text: str, command: Command) -> str:
        return json_text.with_member(text, path, entry(command))

    def parted(text: str) -> str:
        return json_text.without_member(text, path)

    return {"merged": merged, "parted": parted}


def _stdio(command: Command) -> dict[str, Any]:
    return {"command": command.server[0], "args": [*command.server[1:]]}


def _typed_stdio(command: Command) -> dict[str, Any]:
    return {"type": "stdio", **_stdio(command)}


def _opencode(command: Command) -> dict[str, Any]:
    return {"type": "local", "command": [*command.server], "enabled": True}


def _codex_merged(text: str, command: Command) -> str:
    return toml_text.with_table(text, ("mcp_servers", NAME), _stdio(command))


def _codex_parted(text: str) -> str:
    return toml_text.without_table(text, ("mcp_servers", NAME))


def _plugin(_: str, command: Command) -> str:
    """Our plugin, which is a file of its own."""
    words = json.dumps(command.hook_words("opencode"), ensure_ascii=False)
    shipped = (resources.files(__package__) / "opencode.js").read_text(encoding="utf-8")
    return shipped.replace("__COMMAND__", words)


def _no_plugin(_: str) -> str:
    return ""


def _hooks(client: str, events: Sequence[str]) -> dict[str, Any]:
    def merged(text: str, command: Command) -> str:
        group = {"hooks": [{"type": "command", "command": command.hook(client), "timeout": HOOK_TIMEOUT_S}]}
        fields = json_text.read(text)
        if all([each for each in _groups(fields, event) if _is_ours(each)] == [group] for event in events):
            return text
        text = parted(text)
        for event in events:
            text = json_text.with_item(text, ("hooks", event), group)
        return text

    def parted(text: str) -> str:
        hooks = json_text.read(text).get("hooks")
        for event in hooks if isinstance(hooks, Mapping) else ():
            if _groups({"hooks": hooks}, event):
                text = json_text.without_items(text, ("hooks", event), _is_ours)
        return text

    return {"merged": merged, "parted": parted}


def _groups(fields: Mapping[str, Any], event: str) -> list[Any]:
    hooks = fields.get("hooks")
    groups = hooks.get(event) if isinstance(hooks, Mapping) else None
    return groups if isinstance(groups, list) else []


def _is_ours(group: Any) -> bool:
    return bool(_OUR_HOOK.search(json.dumps(group, ensure_ascii=False)))


ASSISTANTS: Mapping[str, Assistant] = {
    "claude-code": Assistant(
        "Claude Code",
        Place("home", ".claude.json", **_server_json(("mcpServers", NAME), _typed_stdio)),
        Place("claude", "settings.json", **_hooks("claude-code", HOOK_EVENTS)),
        ("claude", f"skills/{NAME}/SKILL.md"),
        has_skills=True,
    ),
    "claude-desktop": Assistant(
        "Claude Desktop",
        Place("claude-desktop", "claude_desktop_config.json", **_server_json(("mcpServers", NAME), _stdio)),
    ),
    "codex": Assistant(
        "Codex",
        Place("codex", "config.toml", _codex_merged, _codex_parted),
        Place("codex", "hooks.json", **_hooks("codex", CODEX_EVENTS)),
        ("codex", "AGENTS.md"),
    ),
    "cursor": Assistant("Cursor", Place("cursor", "mcp.json", **_server_json(("mcpServers", NAME), _stdio))),
    "vscode": Assistant("VS Code", Place("vscode", "mcp.json", **_server_json(("servers", NAME), _typed_stdio))),
    "opencode": Assistant(
        "opencode",
        Place("opencode", "opencode.json", **_server_json(("mcp", NAME), _opencode)),
        Place("opencode", f"plugins/{NAME}.js", _plugin, _no_plugin),
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
    entry = entry.get(NAME) if isinstance(entry, Mapping) else None
    if not isinstance(entry, Mapping):
        return ()
    command, args = entry.get("command"), entry.get("args", [])
    words = command if isinstance(command, list) else [command, *(args if isinstance(args, list) else [])]
    return tuple(words) if all(isinstance(each, str) for each in words) else ()
