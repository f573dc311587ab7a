"""The settings in `docs/clients.md`; `live.py` uses them with the real clients."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from tests.clients.install import NPM, PYPI, version
from tests.clients.record import SCRIPTS
from tests.clients.settings import ADDRESS, PAGE, TOKEN, settings

PARSERS: dict[str, Callable[[str], Any]] = {"json": json.loads, "toml": tomllib.loads, "yaml": yaml.safe_load}


@pytest.mark.parametrize("client", [*NPM, *PYPI])
def test_each_client_has_its_address_and_token(client: str) -> None:
    found = settings(client)
    shown = str(found)
    assert ADDRESS in shown and TOKEN in shown
    for name, text in found.files.items():
        assert PARSERS[name.rpartition(".")[2]](text)


@pytest.mark.parametrize("client", [*NPM, *PYPI])
def test_each_client_is_named_with_the_version_that_was_driven(client: str) -> None:
    assert version(client) in PAGE.read_text(encoding="utf-8").partition("\n## ")[0]


def test_the_lines_of_a_program_are_those_of_the_program_that_is_run() -> None:
    for client in ("smolagents", "ai-sdk"):
        source = next(SCRIPTS.glob(f"{client.replace('-', '_')}_talk.*")).read_text(encoding="utf-8")
        assert settings(client).code and all(line in source for line in settings(client).code)


def test_values_take_the_place_of_the_names() -> None:
    found = settings("claude-code", "http://127.0.0.1:1", "vault_bob_x")
    assert found.environ == {"ANTHROPIC_BASE_URL": "http://127.0.0.1:1", "ANTHROPIC_AUTH_TOKEN": "vault_bob_x"}
    assert settings("cline", model="m").commands[0][-4:] == ["-m", "m", "-b", f"{ADDRESS}/v1"]
