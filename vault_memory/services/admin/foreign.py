"""What a repository that came from elsewhere would run: programs in its own git config, and its hooks."""

from __future__ import annotations

import os
from pathlib import Path

from vault_memory.adapters import files
from vault_memory.adapters.git import Repository, settings_of
from vault_memory.services import starter
from vault_memory.services.sync import is_our_setting


def repository_programs(root: Path) -> list[str]:
    """A line for each setting and hook of the repository that holds `root` by which git would start a program that is
    neither ours nor the person's own; vault-memory runs none of them, plain git does."""
    programs = [each for each in settings_of(root).programs if not is_our_setting(*each)]
    lines = [f"git setting {key} = {value}" for key, value in programs]
    folder = starter.hooks_folder(Repository(root).git_dir)
    hooks = sorted(folder.iterdir()) if folder.is_dir() else []
    return lines + [
        f"git hook {path}"
        for path in hooks
        if path.suffix != ".sample" and os.access(path, os.X_OK) and not starter.is_our_hook(files.read(path) or b"")
    ]
