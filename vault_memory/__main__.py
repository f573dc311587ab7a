"""`python -m vault_memory` is `vault-memory`: the command line, and the HTTP door that it can open."""

from __future__ import annotations

import os
from typing import Any

from vault_memory.errors import UsageError
from vault_memory.interfaces import cli


def main() -> None:
    """Run the program."""
    # Threads of numpy's own gain nothing on one vector, and spin for a while after it: they took a server half its searches.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    cli.main(serve)


def serve(*args: Any, **named: Any) -> None:
    """The HTTP door, imported when it is opened. Raises `UsageError` where what it needs is not installed."""
    try:
        import fastapi  # noqa: F401
        import uvicorn  # noqa: F401
    except ModuleNotFoundError as error:
        raise UsageError(
            f"`serve` needs {error.name}, which is not installed: pip install 'vault-memory[serve]'"
        ) from error
    from vault_memory.interfaces.http import server

    server.serve(*args, **named)


if __name__ == "__main__":
    main()
