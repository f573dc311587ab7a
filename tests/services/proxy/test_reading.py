"""What is read in a body, without a relay."""

from __future__ import annotations

import json
from typing import Any

import pytest

from vault_memory.config import Config
from vault_memory.core.chat import Continued
from vault_memory.services.proxy.reading import read_body

KEY = b"k" * 32


@pytest.mark.parametrize(
    "fields", [{}, {"input": [{"type": "compaction_trigger"}]}, {"input": "x", "generate": False}], ids=json.dumps
)
def test_a_request_without_words_still_tells_what_it_goes_on_from(fields: dict[str, Any]) -> None:
    """Or it would go on with what another user was answered."""
    read = read_body(json.dumps({"previous_response_id": "resp_1"} | fields).encode(), [], KEY, Config())
    assert read.chat is None and read.continued == Continued("resp_1", is_stored=True)
