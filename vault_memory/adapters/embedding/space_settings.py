"""The settings of each model whose vectors an index may still hold: `.vault-memory/embedding.json`, by vector space.

While a new model's vectors are being computed, a search still asks the former model, whose settings are no longer in
`vault-memory.toml`. The file holds addresses and names of environment variables, never a key. It lies in the vault, so
it may have come from elsewhere: only settings that this machine has used before are taken from it.
"""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path
from typing import Any

from vault_memory.adapters.machine import MachineRecord
from vault_memory.adapters.state import StateFile
from vault_memory.config import Config
from vault_memory.errors import Busy, Unwritable

_SETTINGS = ("kind", "model", "endpoints", "query_prefix", "document_prefix")


def settings_of(config: Config) -> dict[str, Any]:
    """The settings that decide how a model is asked."""
    return {name: getattr(config, f"embedding_{name}") for name in _SETTINGS}


def save_settings(root: Path, space: str, config: Config) -> None:
    """Note that the vectors of `space` are made with the settings of `config`, which are in force here."""
    state, settings = _state(root), settings_of(config)
    if state.read().get(space) != settings:
        state.update(lambda spaces: spaces | {space: settings})
    machine, used = MachineRecord(root), {_used(space): settings}
    if machine.doubts(used):
        # Without a place for the record the vectors are still made; only the former model is not asked after a change.
        with contextlib.suppress(Busy, Unwritable):
            machine.say_yes(used)


def config_of_space(root: Path, space: str, config: Config) -> Config | None:
    """`config` with the settings that made `space`; None when this machine does not know them (any more)."""
    try:
        settings = _state(root).read()[space]
        if MachineRecord(root).doubts({_used(space): settings}):
            return None
        return replace(config, **{f"embedding_{name}": settings[name] for name in _SETTINGS})
    except (KeyError, TypeError):
        return None


def _used(space: str) -> str:
    """The name under which this machine notes the settings of a space."""
    return f"space {space}"


def _state(root: Path) -> StateFile:
    return StateFile(root, "embedding")
