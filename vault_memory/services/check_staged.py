"""What the pre-commit hook looks for in the files that a person is about to commit."""

from __future__ import annotations

from pathlib import Path


def check_staged(folder: Path) -> list[str]:
    """Why these files should not be committed, a line each; empty when all is well. `folder` is in the repository."""
    return []
