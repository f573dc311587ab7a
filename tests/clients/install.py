"""Install the chat clients that people really use, each at one version, into `.clients/` beside this checkout.

    make clients                              # all but the heavy ones
    python tests/clients/install.py codex aider
    python tests/clients/install.py open-webui  # 7 GB

Only who records sessions anew needs them (`record.py`); the tests replay what is recorded. Node 22 is installed, too,
since several clients need it. One client that cannot be installed is named at the end, and the others are there.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / ".clients"
NODE = "node@22"
NPM = {
    "claude-code": ["@anthropic-ai/claude-code@2.1.330"],
    "codex": ["@openai/codex@0.169.0"],
    "opencode": ["opencode-ai@1.18.33"],
    "cline": ["cline@3.0.65"],
    "continue": ["@continuedev/cli@1.5.47"],
    "ai-sdk": ["ai@7.0.173", "@ai-sdk/openai@4.0.118", "@ai-sdk/anthropic@4.0.105", "zod@4"],
}
PYPI = {
    "aider": ["aider-chat==0.86.2"],
    "smolagents": ["smolagents[openai]==1.26.0"],
    "instructor": ["instructor==1.17.0"],
    "langchain-openai": ["langchain-openai==1.7.3"],
    "openai-agents": ["openai-agents==0.24.0"],
    "llm": ["llm==0.36"],
    "open-webui": ["open-webui==0.12.4"],
}
CHECKERS = {
    "protocol": ["@modelcontextprotocol/inspector@2.12.0", "@modelcontextprotocol/conformance@0.1.16", "undici@7"],
}
"""No clients, but what `tests/interfaces/mcp/protocol.py` looks at our server with; not installed unless named."""
HEAVY = {"open-webui"}
"""Not installed unless named: it takes 7 GB, for it comes with models' runtimes."""
MAX_PYTHON = (3, 12)
"""aider needs Python 3.12 or older."""


def version(client: str) -> str:
    """The version at which a client is installed, which names the folder of its recordings."""
    first = (NPM | PYPI | CHECKERS)[client][0]
    return first.replace("==", "@").rpartition("@")[2]


def bin_folder(client: str) -> Path:
    """Where a client's commands are."""
    return FOLDER / "node_modules" / ".bin" if client not in PYPI else FOLDER / client / "bin"


def install(client: str) -> None:
    """Install one client, unless it is there at this version. Raises `CalledProcessError`."""
    packages = (NPM | PYPI | CHECKERS)[client]
    mark = FOLDER / f"{client}.json"
    if mark.exists() and json.loads(mark.read_text()) == packages:
        return
    FOLDER.mkdir(exist_ok=True)
    if client not in PYPI:
        package = FOLDER / "package.json"
        if not package.exists():
            package.write_text('{"private": true}\n')
        subprocess.run(
            ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", NODE, *packages], cwd=FOLDER, check=True
        )
    else:
        venv.create(FOLDER / client, clear=True, symlinks=True, with_pip=True)
        python = FOLDER / client / "bin" / "python"
        subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True)
    mark.write_text(json.dumps(packages))


def main(names: list[str]) -> int:
    """Install the named clients, or all but the heavy ones. Returns how many could not be installed."""
    if sys.version_info[:2] > MAX_PYTHON:
        print(f"Some clients need Python {'.'.join(map(str, MAX_PYTHON))} or older; this is {sys.version.split()[0]}.")
    os.nice(10)
    missing = []
    for client in names or [name for name in (NPM | PYPI) if name not in HEAVY]:
        print(f"{client} {version(client)} ...", flush=True)
        try:
            install(client)
        except (subprocess.CalledProcessError, OSError) as error:
            missing.append(client)
            print(f"{client} cannot be installed here: {error}", file=sys.stderr)
    print(f"In {FOLDER}." + (f" Not installed: {', '.join(missing)}." if missing else ""))
    return len(missing)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
