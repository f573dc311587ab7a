"""The protocol's own programs look at our server: the MCP inspector's command line, over stdio and over HTTP, and the
protocol's conformance suite, over HTTP.

    .venv/bin/python tests/clients/install.py protocol
    .venv/bin/python -m tests.interfaces.mcp.protocol

Prints what is wrong, and ends with one line of JSON: `looks` and `wrong`. Of the conformance suite these are the
scenarios that any server can pass; the others call tools, resources and prompts of a test server by name.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.clients.install import FOLDER, bin_folder
from vault_memory.services.admin import create_vault
from vault_memory.services.admin.access import new_user_token
from vault_memory.services.profiles import set_preference
from vault_memory.services.vault import open_vault

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "benchmarks"))

from proxy import Running

PRELOADED = "with_token.mjs"
TIMEOUT_S = 120.0
SCENARIOS = (
    "server-initialize",
    "ping",
    "tools-list",
    "resources-list",
    "prompts-list",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
)
CALLS: tuple[tuple[str, dict[str, object], str], ...] = (
    ("remember", {"content": "My dog is called Rex"}, "stored"),
    ("recall_memory", {"query": "dog", "top_k": 2}, "Rex"),
    ("set_preference", {"key": "theme", "value": "dark"}, "changes"),
    ("get_profile", {}, "dark"),
    ("preference_history", {"limit": 1}, "changes"),
    ("suggestions", {"action": "list"}, "suggestions"),
    ("record_turn", {"user_message": "I use Vue", "assistant_message": "Noted."}, "conversations/"),
    ("memory_summary", {}, "topic_hint"),
    ("search_memory", {"query": "Vue"}, "hits"),
    ("read_note", {"source": "USER.md"}, "dark"),
    ("build_prompt", {"request": "What is my dog called?"}, "Rex"),
    ("delete_memory", {"query": "Rex"}, "confirm_code"),
    ("forget", {"text": "Rex"}, "confirm_code"),
)


def inspected(server: list[str], environ: dict[str, str]) -> Iterator[str]:
    """What the inspector does with a server, given as its words: for each thing what is wrong, "" for nothing."""
    looks: list[tuple[list[str], str]] = [
        (["--method", "tools/list", "--strict"], "remember"),
        (["--method", "resources/list"], "USER.md"),
        (["--method", "resources/templates/list"], "memory://"),
        (["--method", "resources/read", "--uri", "memory://alice/USER.md"], "text/markdown"),
        (["--method", "prompts/list"], "recall-and-answer"),
        (
            ["--method", "prompts/get", "--prompt-name", "recall-and-answer", "--prompt-args", "question=What dog?"],
            "What dog?",
        ),
    ]
    for name, arguments, said in CALLS:
        pairs = [f"{key}={value}" for key, value in arguments.items()]
        looks.append(
            (["--method", "tools/call", "--tool-name", name, *(["--tool-arg", *pairs] if pairs else [])], said)
        )
    for words, said in looks:
        done = _run("mcp-inspector", "--cli", *words, *server, environ=environ)
        complaints = [line for line in done.stderr.split("\n") if line.startswith(("Warning", "Error", "  Issue"))]
        is_fine = not done.returncode and said in done.stdout and '"isError": true' not in done.stdout
        told = "; ".join(complaints) or ("" if is_fine else (done.stdout + done.stderr)[-500:])
        yield f"{' '.join(words)}: {told}" if told else ""


def conforming(url: str, environ: dict[str, str]) -> Iterator[str]:
    """What the conformance suite says of a server at an address: for each scenario what is wrong, "" for nothing."""
    preloaded = FOLDER / PRELOADED  # beside the packages that it imports
    preloaded.write_text(Path(__file__).with_name(PRELOADED).read_text(encoding="utf-8"), encoding="utf-8")
    loaded = environ | {"NODE_OPTIONS": f"--import {preloaded.as_uri()}"}
    for name in SCENARIOS:
        done = _run("conformance", "server", "--url", url, "--scenario", name, environ=loaded)
        yield f"{name}: {(done.stdout + done.stderr)[-800:]}" if done.returncode else ""


def _run(*words: str, environ: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words, env=environ, capture_output=True, text=True, timeout=TIMEOUT_S, stdin=subprocess.DEVNULL
    )


def main() -> int:
    """Look at a new vault's servers; 1 if anything is wrong."""
    with tempfile.TemporaryDirectory(prefix="protocol-") as folder:
        vault = open_vault(create_vault(Path(folder) / "vault").root)
        set_preference(vault, "alice", "theme", "light")
        token = new_user_token(vault, "alice")
        path = f"{bin_folder('protocol')}:{os.environ['PATH']}"
        environ = {**os.environ, "PATH": path, "HOME": folder, "MCP_TOKEN": token}
        program = [sys.executable, "-m", "vault_memory", "--vault", str(vault.root)]
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        server = Running(*program, "serve", VAULT_MEMORY_SERVE_PORT=str(port))
        try:
            url = f"http://127.0.0.1:{port}/mcp"
            ways = {
                "inspector, stdio": inspected(["--", *program, "mcp", "--user", "alice"], environ),
                "inspector, HTTP": inspected(
                    ["--server-url", url, "--header", f"Authorization: Bearer {token}"], environ
                ),
                "conformance": conforming(url, environ),
            }
            looks, problems = 0, 0
            for way, told in ways.items():
                for wrong in told:
                    looks, problems = looks + 1, problems + bool(wrong)
                    if wrong:
                        print(f"{way}: {wrong}", flush=True)
        finally:
            server.end()
    print(json.dumps({"looks": looks, "wrong": problems}))
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
