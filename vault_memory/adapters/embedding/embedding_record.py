"""How each model was asked whose vectors an index may still hold: `.vault-memory/embedding.json`, by space.

While a new model's vectors are being computed the former one's answer, and its settings are no longer in
`vault-memory.toml`. The file holds addresses and names of variables, never a key. It may be deleted at any time.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from vault_memory.adapters import files
from vault_memory.config import Config
from vault_memory.core import layout

_SETTINGS = ("kind", "model", "endpoints", "query_prefix", "document_prefix")
_LOCK_TIMEOUT_S = 5.0


def settings_of(config: Config) -> dict[str, Any]:
    """The settings that say how a model is asked."""
    return {name: getattr(config, f"embedding_{name}") for name in _SETTINGS}


def remember(root: Path, space: str, config: Config) -> None:
    """Note that this is how the vectors of `space` are made."""
    now = settings_of(config)
    if _kept(root).get(space) == now:
        return
    path = _path(root)
    with files.lock(path.with_suffix(".lock"), _LOCK_TIMEOUT_S):
        text = json.dumps(_kept(root) | {space: now}, ensure_ascii=False, indent=1)
        files.replace(path, text.encode() + b"\n", files.read(path))


def recall(root: Path, space: str, config: Config) -> Config | None:
    """`config` with the settings that made `space`; None when they are forgotten."""
    try:
        settings = _kept(root)[space]
        return replace(config, **{f"embedding_{name}": settings[name] for name in _SETTINGS})
    except (KeyError, TypeError):
        return None


def _kept(root: Path) -> dict[str, Any]:
    try:
        kept = json.loads(files.read(_path(root)) or b"{}")
    except ValueError:
        return {}  # damaged: as good as deleted
    return kept if isinstance(kept, dict) else {}


def _path(root: Path) -> Path:
    return root / layout.STATE_DIR / "embedding.json"
