"""Code Buddy's `config.json` and our `[llm]`. The key of the model is in neither: a key stands in no tracked file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

CONFIG = "config.json"
KEYS: Mapping[str, str] = {
    "enabled": "enabled",
    "provider": "provider",
    "baseUrl": "base_url",
    "model": "model",
    "maxTokens": "max_tokens",
    "temperature": "temperature",
}
"""Setting of `config.json` → of `[llm]`."""
API_KEY = "apiKey"


def settings_of(config: Any, providers: Mapping[str, str]) -> tuple[dict[str, Any], list[str]]:
    """The settings of `[llm]` in a `config.json`, and what of it is not taken, in words. `providers` are those whose
    name stands for their address, which then need not be written down."""
    llm = config.get("llm") if isinstance(config, Mapping) else None
    if not isinstance(llm, Mapping):
        return {}, ["it has no llm settings"]
    given = dict(llm)
    remarks: list[str] = []
    if given.pop(API_KEY, None):
        remarks.append("the key (apiKey) is not taken: name the place where it is by llm.key_env or llm.key_file")
    provider = given.get("provider")
    if isinstance(provider, str) and provider not in ("", *providers):
        del given["provider"]
        if not given.get("baseUrl"):
            remarks.append(f"the provider {provider[:40]!r} is not known: set llm.base_url to its address")
    elif isinstance(provider, str) and given.get("baseUrl") == providers.get(provider):
        given.pop("baseUrl", None)
    taken = {key: value for key, value in given.items() if key in KEYS and isinstance(value, (str, bool, int, float))}
    others = (key for key, value in given.items() if key not in taken and value is not None)
    remarks += [f"the setting {str(key)[:40]!r} is left out" for key in others]
    return {KEYS[key]: value for key, value in taken.items()}, remarks


def config_record(values: Mapping[str, Any], base_url: str) -> dict[str, Any]:
    """The `config.json` for settings of `[llm]`, whose model has this address; without its key."""
    llm = {key: values[ours] for key, ours in KEYS.items()}
    return {"llm": llm | {"baseUrl": base_url}}
