"""The tool about the language model, and settings of it that came from elsewhere. Which address gets the person's words
is never decided here: such a value waits for a yes of this machine, whoever wrote it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from vault_memory.adapters import files
from vault_memory.adapters.history import ASSISTANT, Author
from vault_memory.config import LLM_PROVIDERS, Config
from vault_memory.core import buddy, layout, reading, settings_text
from vault_memory.core.privacy import places, redact, secrets_added
from vault_memory.errors import Changed, ConfigError, UsageError
from vault_memory.services.notes import save_note
from vault_memory.services.vault import Vault

_TABLE = "llm"
MAX_ATTEMPTS = 5


def buddy_config(
    vault: Vault,
    user_id: str,
    enabled: bool | None = None,
    provider: str | None = None,
    base_url: str | None = None,
    api_key: str | None = None,
    model: str | None = None,
    max_tokens: int | None = None,
    temperature: float | None = None,
) -> dict[str, Any]:
    """The settings of the language model, which are all users': `llm` as they are in force, of the key only where it
    is; `enabled` where a model is asked. Values that are given are written to the vault's settings (`changed`), and
    count when it is opened again; those that say where words go wait for `vault-memory trust` (`waiting`). A key is not
    taken. Raises `UsageError`, `ConfigError`, `Changed`."""
    layout.check_user_id(user_id)
    if api_key is not None:
        raise UsageError(
            "a key is not taken here, where programs and histories would see it: put it into an environment variable "
            f"or a file that you alone can read, and name that by llm.key_env or llm.key_file in {layout.SETTINGS_FILE}"
        )
    given = {
        "enabled": enabled,
        "provider": provider,
        "base_url": base_url,
        "model": model,
        "max_tokens": max_tokens,
        "temperature": temperature,
    }
    wanted = {key: value for key, value in given.items() if value is not None}
    changed = _write(vault, wanted, ASSISTANT)
    config = vault.settings_now()
    waiting = [*config.waits(), *_waits_to_be_enabled(vault, config)]
    return {**config_of(config, is_shown=True), "changed": changed, "waiting": waiting}


def _waits_to_be_enabled(vault: Vault, config: Config) -> list[str]:
    """A line where the model is switched on in the vault's file, and nothing is asked yet."""
    is_wanted = reading.toml_table(_file(vault)[1]).get(_TABLE, {}).get("enabled") is True
    if not is_wanted or _is_enabled(config):
        return []
    return [f"llm.enabled in {layout.SETTINGS_FILE} counts when an address is in force (llm.provider or llm.base_url)"]


def _is_enabled(config: Config) -> bool:
    """Whether a model is asked: it is switched on, and there is one."""
    return config.llm_enabled and bool(config.llm_address())


def config_of(config: Config, *, is_shown: bool = False) -> dict[str, Any]:
    """The settings of the language model as `config.json` has them, without its key; if they are shown, with where it
    is."""
    record = buddy.config_record(
        {ours: getattr(config, f"{_TABLE}_{ours}") for ours in buddy.KEYS.values()}, _bare(config.llm_address())
    )
    if is_shown:
        place = config.llm_key_env or config.llm_key_file
        record["llm"]["enabled"] = _is_enabled(config)
        record["llm"]["apiKey"] = f"configured: {place}" if place else "not set"
    return record


def take_settings(
    vault: Vault, config: Any, *, author: Author, dry_run: bool = False
) -> tuple[list[str], list[str], list[str]]:
    """Take the settings of a `config.json` that this vault's file does not name: which were taken, which are here
    already, and what was not taken, in words. Raises `ConfigError`, `Changed`."""
    values, remarks = buddy.settings_of(config, LLM_PROVIDERS)
    held = reading.toml_table(_file(vault)[1]).get(_TABLE, {})
    here: list[str] = []
    for key in [*values]:
        if key in held or values[key] == getattr(Config(), f"{_TABLE}_{key}"):
            value = values.pop(key)
            here.append(f"{_TABLE}.{key}")
            if held.get(key, value) != value:
                remarks.append(f"{_TABLE}.{key} has another value here, which stays")
            continue
        try:
            _checked(vault, {key: values[key]})
        except (ConfigError, UsageError) as error:
            remarks.append(str(error))
            del values[key]
    taken = [f"{_TABLE}.{key}" for key in values]
    if not dry_run:
        _write(vault, values, author)
    return taken, here, remarks


def _write(vault: Vault, values: Mapping[str, Any], author: Author) -> list[str]:
    """Write these settings into the vault's file, in one commit; which of them are new. Raises `Changed` where the file
    is saved again and again."""
    path = PurePosixPath(layout.SETTINGS_FILE)
    attempts = 0
    while True:
        before, after = _checked(vault, values)
        if before == after:
            return []
        held = reading.toml_table(before.decode()).get(_TABLE, {})
        changed = [f"{_TABLE}.{key}" for key, value in values.items() if key not in held or held[key] != value]
        try:
            save_note(vault, path, before, after, f"settings: {', '.join(changed)}", author, merging=False)
        except Changed:
            attempts += 1
            if attempts == MAX_ATTEMPTS:
                raise
        else:
            return changed


def _checked(vault: Vault, values: Mapping[str, Any]) -> tuple[bytes, bytes]:
    """The settings file as it is, and with these settings. Raises `ConfigError` for one that is not valid, or a file
    that cannot be changed, and `UsageError` for one that holds a secret."""
    before, text = _file(vault)
    path = PurePosixPath(layout.SETTINGS_FILE)
    try:
        after = settings_text.with_values(text, _TABLE, values) if values else text
    except (ValueError, TypeError) as error:
        raise ConfigError(f"{path} cannot be changed by this command ({error}): edit it") from error
    Config.parse(after, vault.root / path, vault.environ, **vault.flags)
    if found := secrets_added(path, [before], after.encode()):
        raise UsageError(f"{path} would hold what looks like a secret ({places(found)}): say it without")
    return before, after.encode()


def _file(vault: Vault) -> tuple[bytes, str]:
    stored = files.read(vault.root / layout.SETTINGS_FILE) or b""
    try:
        return stored, stored.decode()
    except UnicodeDecodeError as error:
        raise ConfigError(f"{layout.SETTINGS_FILE} is not in UTF-8: correct it") from error


def _bare(address: str) -> str:
    """An address without what in it may be a key: user, password, query."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return redact(address).text
    host = parts.netloc.rpartition("@")[2]
    return redact(urlunsplit((parts.scheme, host, parts.path, "", ""))).text
