"""The settings of chat clients, as `docs/clients.md` gives them to people."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "clients.md"
ADDRESS, TOKEN, MODEL = "http://localhost:8765", "vault_alice_…", "MODEL"
_SDK = "OpenAI's SDK for Python, and what is built on it"
SECTIONS = {
    "claude-code": "Claude Code",
    "codex": "Codex",
    "opencode": "opencode",
    "aider": "aider",
    "continue": "Continue",
    "cline": "Cline",
    "llm": "llm",
    "open-webui": "Open WebUI",
    "smolagents": "smolagents",
    "instructor": _SDK,
    "langchain-openai": _SDK,
    "openai-agents": _SDK,
    "ai-sdk": "AI SDK",
}
_BLOCK = re.compile(r"(?:^In `~/([^`]+)`[^\n]*:\n\n)?^```(\w+)\n(.*?)^```$", re.M | re.S)


@dataclass
class Settings:
    """What a person sets: variables of the environment, files below the home folder, commands, lines of a program."""

    environ: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    commands: list[list[str]] = field(default_factory=list)
    code: list[str] = field(default_factory=list)


def settings(client: str, root: str = ADDRESS, token: str = TOKEN, model: str = MODEL) -> Settings:
    """A client's settings in the first blocks of its section, with a server's address, a token and a model in place."""
    page = PAGE.read_text(encoding="utf-8")
    section = page.partition(f"\n## {SECTIONS[client]}\n")[2].partition("\n## ")[0]
    found = Settings()
    for file, kind, text in _BLOCK.findall(section):
        set_up = text.replace(ADDRESS, root).replace(TOKEN, token).replace(MODEL, model)
        if file:
            found.files[file] = set_up
        elif kind == "sh":
            for words in map(shlex.split, set_up.splitlines()):
                if words[0] == "export":
                    found.environ |= dict(word.split("=", 1) for word in words[1:])
                else:
                    found.commands.append(words)
        else:
            found.code.append(set_up)
    return found
