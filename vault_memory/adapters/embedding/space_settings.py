"""The settings of each model whose vectors an index may still hold: `.vault-memory/embedding.json`, by vector space.

While a new model's vectors are being computed, a search still asks the former model, whose settings are no longer in
`vault-memory.toml`. The file holds addresses and names of environment variables, never a key.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from vault_memory.adapters.state import StateFile
from vault_memory.config import Config

_SETTINGS = ("kind", "model", "endpoints", "query_prefix", "document_prefix")


def settings_of(config: Config) -> dict[str, Any]:
    """The settings that decide how a model is asked."""
    return {name: getattr(config, f"embedding_{name}") for name in _SETTINGS}


def save_settings(root: Path, space: str, config: Config) -> None:
    """Note that the vectors of `space` are made with the settings of `config`."""
    state, settings = _state(root), settings_of(config)
    if state.read().get(space) != settings:
        state.update(lambda spaces: spaces | {space: settings})


def config_of_space(root: Path, space: str, config: Config) -> Config | None:
    """`config` with the settings that made `space`; None when they are not known any more."""
    try:
        settings = _state(root).read()[space]
        return replace(config, **{f"embedding_{name}": settings[name] for name in _SETTINGS})
    except (KeyError, TypeError):
        return None


def _state(root: Path) -> StateFile:
    return StateFile(root, "embedding")
