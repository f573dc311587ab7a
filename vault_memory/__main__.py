"""`python -m vault_memory` is `vault-memory`: the command line, and the servers that it can start."""

from __future__ import annotations

import importlib.util
import os
from functools import partial
from typing import Any

from vault_memory.errors import UsageError
from vault_memory.interfaces import cli

# One thread of numpy is enough for one vector. With more, idle ones keep spinning: a server did half the searches.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def serve(*args: Any, **named: Any) -> None:
    """Start the HTTP server, imported here, with MCP if that is installed. Raises `UsageError` without fastapi or
    uvicorn."""
    try:
        import fastapi  # noqa: F401
        import uvicorn  # noqa: F401
    except ModuleNotFoundError as error:
        raise UsageError(
            f"`serve` needs {error.name}, which is not installed: pip install 'vault-memory[serve]'"
        ) from error
    from vault_memory.interfaces import http

    if importlib.util.find_spec("mcp"):
        from vault_memory.interfaces.mcp import Endpoint

        named["mcp"] = Endpoint
    http.serve(*args, **named)


def mcp(*args: Any) -> None:
    """Start the MCP server on standard input and output, imported here. Raises `UsageError` without its SDK."""
    if not importlib.util.find_spec("mcp"):
        raise UsageError("`mcp` needs the SDK, which is not installed: pip install 'vault-memory[mcp]'")
    from vault_memory.interfaces.mcp import serve_stdio

    serve_stdio(*args)


main = partial(cli.main, serve, mcp)
"""Run the program."""

if __name__ == "__main__":
    main()
