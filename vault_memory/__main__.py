"""`python -m vault_memory` is `vault-memory`."""

from __future__ import annotations

from vault_memory.interfaces.cli import main

if __name__ == "__main__":
    main()
