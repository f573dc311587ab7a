"""`python -m vault_memory` is `vault-memory`: the command line, and the HTTP server that it can start."""

from __future__ import annotations

import os
from functools import partial
from typing import Any

from vault_memory.errors import UsageError
from vault_memory.interfaces import cli

# One thread of numpy is enough for one vector. With more, idle ones keep spinning: a server did half the searches.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def serve(*args: Any, **named: Any) -> None:
    """Start the HTTP server, imported here. Raises `UsageError` without fastapi or uvicorn."""
    try:
        import fastapi  # noqa: F401
        import uvicorn  # noqa: F401
    except ModuleNotFoundError as error:
        raise UsageError(
            f"`serve` needs {error.name}, which is not installed: pip install 'vault-memory[serve]'"
        ) from error
    from vault_memory.interfaces import http

    http.serve(*args, **named)


main = partial(cli.main, serve)
"""Run the program."""

if __name__ == "__main__":
    main()
