"""The assistants that can be connected: where each has its configuration, and in which form it names a server and
hooks.

As their makers documented it in November 2026 (`docs/mcp.md` says where that is not known).
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import PurePath, PurePosixPath, PureWindowsPath
from typing import Any, Literal, Protocol

from vault_memory.core.assistants import json_text, toml_text
from vault_memory.core.assistants.ours import WHOLE_FILE, Ours, signed
from vault_memory.core.clients import HOOK_EVENTS

NAME = "vault-memory"
"""Of our entry in each configuration."""
HOOK_TIMEOUT_S = 5
CODEX_EVENTS = tuple(each for each in HOOK_EVENTS if each != "SessionEnd")
"""Codex has no event for the end of a session."""
Path = Sequence[str | int]
_OUR_HOOK = re.compile(r"\bhook event [\w-]+ --user ")

_BY_PYTHON = ("-P", "-m", "vault_memory")

Folder = Literal["home", "claude", "claude-desktop", "codex", "cursor", "vscode", "opencode"]


@dataclass(frozen=True)
class Command:
    """How this program is called for a vault and a user of it; `options` are those that a person has added to those of
    the server."""

    program: tuple[str, ...]
    vault: str
    user: str
    options: tuple[str, ...] = ()

    @property
    def server(self) -> tuple[str, ...]:
        """The words that start the MCP server."""
        return (*self.program, "--vault", self.vault, "mcp", "--user", self.user, *self.options)

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


def program_beside(python: PurePath, is_file: Callable[[PurePath], bool]) -> tuple[str, ...]:
    """The words that start this program, whatever the PATH of an assistant is: the script that was installed beside
    that Python, else the Python itself."""
    script = python.with_name(f"{NAME}.exe" if isinstance(python, PureWindowsPath) else NAME)
    return (str(script),) if is_file(script) else (str(python), *_BY_PYTHON)


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
        return _command_of(_words(_at(texts.read(text), path)))

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


def _command_of(words: Sequence[str]) -> Command | None:
    """The command whose words these are, as `install` writes them; None if they are others."""
    at = words.index("--vault") if "--vault" in words else 0
    program, rest = tuple(words[:at]), words[at:]
    if len(rest) < 5 or (rest[2], rest[3]) != ("mcp", "--user"):
        return None
    is_script = len(program) == 1 and PureWindowsPath(program[0]).stem == NAME
    is_whole = program[:1] and (PurePosixPath(program[0]).is_absolute() or PureWindowsPath(program[0]).is_absolute())
    if not is_whole or not (is_script or program[1:] == _BY_PYTHON):
        return None
    return Command(program, rest[1], rest[4], tuple(rest[5:]))


def _plugin(_: str, command: Command) -> str:
    """Our plugin, which is a file of its own."""
    words = json.dumps(command.hook_words("opencode"), ensure_ascii=False)
    shipped = (resources.files(__package__) / "opencode.js").read_text(encoding="utf-8")
    return signed(shipped.replace("__COMMAND__", words), "// {}")


def _hooks(client: str, events: Sequence[str]) -> dict[str, Any]:
    def merged(text: str, command: Command) -> str:
        hook = {"type": "command", "command": command.hook(client), "timeout": HOOK_TIMEOUT_S}
        for event in events:
            found = [*_our_hooks(json_text.read(text), event)]
            for path in reversed(found[1:]):
                text = _without_hook(text, path, text)
            if found:
                text = json_text.with_value(text, found[0], hook)
            else:
                number = len(_items(json_text.read(text), ("hooks", event)))
                text = json_text.with_value(text, ("hooks", event, number), {"hooks": [hook]})
        return text

    def parted(text: str, was: str) -> str:
        made = text
        hooks = json_text.read(text).get("hooks")
        for event in hooks if isinstance(hooks, Mapping) else ():
            for path in reversed([*_our_hooks({"hooks": hooks}, event)]):
                made = _without_hook(made, path, was)
        return text if made == text else json_text.settled(made, was)

    def holds(text: str) -> bool:
        return parted(text, text) != text

    return {"merged": merged, "ours": Ours(holds, parted, lambda _: False)}


def _our_hooks(fields: Mapping[str, Any], event: str) -> Iterator[Path]:
    """Where our hooks for an event are. A person may have put theirs beside one."""
    for group in range(len(_items(fields, ("hooks", event)))):
        path = ("hooks", event, group, "hooks")
        for number, hook in enumerate(_items(fields, path)):
            command = hook.get("command") if isinstance(hook, Mapping) else None
            if isinstance(command, str) and _OUR_HOOK.search(command):
                yield (*path, number)


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
