"""Code Buddy's `config.json`."""

from __future__ import annotations

from typing import Any

import pytest

from vault_memory.core import buddy

PROVIDERS = {"openai": "https://api.openai.com/v1"}
KEY = "sk-abcdefghijklmnopqrstuvwxyz0123456789ABCD"


def test_the_settings_without_the_key() -> None:
    """B7, B8"""
    llm = {"enabled": True, "provider": "openai", "baseUrl": PROVIDERS["openai"], "apiKey": KEY, "maxTokens": 99}
    settings, remarks = buddy.settings_of({"llm": llm}, PROVIDERS)
    assert settings == {"enabled": True, "provider": "openai", "max_tokens": 99}
    assert "apiKey" in remarks[0] and "llm.key_env" in remarks[0] and KEY not in "".join(remarks)


def test_another_address_or_provider() -> None:
    own = {"provider": "mine", "baseUrl": "http://10.0.0.1/v1", "color": "red", "model": ["m"], "temperature": None}
    settings, remarks = buddy.settings_of({"llm": own}, PROVIDERS)
    assert settings == {"base_url": "http://10.0.0.1/v1"}
    assert "'color'" in remarks[0] and "'model'" in remarks[1] and len(remarks) == 2
    assert "llm.base_url" in buddy.settings_of({"llm": {"provider": "mine"}}, PROVIDERS)[1][0]


@pytest.mark.parametrize("config", [None, [], {}, {"llm": 3}, "x"])
def test_what_has_no_settings(config: Any) -> None:
    assert buddy.settings_of(config, PROVIDERS) == ({}, ["it has no llm settings"])
