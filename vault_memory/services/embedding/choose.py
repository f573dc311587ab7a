"""Choose the model that makes the vectors: write the choice into `vault-memory.toml`, and commit it as the person's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from vault_memory.adapters import files
from vault_memory.adapters.machine import MachineRecord
from vault_memory.config import ENV_PREFIX, Config
from vault_memory.core import layout, reading, settings_text
from vault_memory.errors import ConfigError, UsageError
from vault_memory.services.notes import save_note
from vault_memory.services.vault import Vault

_TABLE = "embedding"
Settings = Mapping[str, Any]
"""Settings of `[embedding]` by their key: kind, model, endpoints, query_prefix, document_prefix."""


def planned(vault: Vault, settings: Settings) -> Vault:
    """The vault as it would be with these settings in its file; nothing is written, and nothing is asked.

    Raises `ConfigError` for settings that are not valid, or a file that they cannot be written into, and `UsageError`
    where the environment would win over them.
    """
    for name in settings:
        variable = f"{ENV_PREFIX}{_TABLE}_{name}".upper()
        if variable in vault.environ:
            raise UsageError(
                f"{variable} in the environment wins over {layout.SETTINGS_FILE}: unset it, then try again"
            )

    def doubts(values: Mapping[str, Any]) -> Mapping[str, str]:
        return MachineRecord(vault.root).doubts({k: v for k, v in values.items() if not k.startswith(f"{_TABLE}.")})

    file = vault.root / layout.SETTINGS_FILE
    config = Config.parse(_text(vault, settings)[1].decode(), file, vault.environ, doubts, **vault.flags)
    return replace(vault, config=config)


def choose(vault: Vault, settings: Settings) -> bool:
    """Write these settings, with this machine's yes to them, and commit the file as the person's edit.

    Returns whether the file changed. Raises `Changed` when the person saved the file meanwhile, and what `planned`
    raises.
    """
    before, after = _text(vault, settings)
    # The yes comes first: with a kill in between, nothing waits for one.
    sensitive = {f"{_TABLE}.{n}": settings[n] for n in ("kind", "model", "endpoints") if settings.get(n)}
    if sensitive:
        MachineRecord(vault.root).say_yes(sensitive)
    if before != after:
        message = f"settings: embedding by {settings['kind']} {settings.get('model', '')}".strip()
        path = PurePosixPath(layout.SETTINGS_FILE)
        save_note(vault, path, before, after, message, vault.history.person(), merging=False)
    return before != after


def _text(vault: Vault, settings: Settings) -> tuple[bytes, bytes]:
    """The settings file as it is, and with these settings. A default is only written over another value."""
    before = files.read(vault.root / layout.SETTINGS_FILE) or b""
    default = Config()
    try:
        text = before.decode()
        held = reading.toml_table(text).get(_TABLE, {})
        values = {n: v for n, v in settings.items() if n in held or v != getattr(default, f"embedding_{n}")}
        return before, settings_text.with_values(text, _TABLE, values).encode()
    except ValueError as error:  # UnicodeError is one
        raise ConfigError(f"{layout.SETTINGS_FILE} cannot be changed by this command ({error}): edit it") from error
