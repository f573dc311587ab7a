"""What is recorded of real clients: each session has its expectations, is small, and does not tell who recorded it."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

from tests.clients import recording
from tests.clients.install import NPM, PYPI, version
from tests.clients.provider import Answer, Call, door
from tests.scripted_http import Received

RECORDED = Path(__file__).parent / "recorded"
SESSIONS = sorted(RECORDED.glob("*/*.jsonl"))
MAX_BYTES = 300_000
OF_THIS_MACHINE = "|".join(re.escape(f"{folder}/") for folder in {Path.home(), Path(__file__).parents[2]})
PRIVATE = re.compile(rf"\bsk-[A-Za-z0-9]|vault_\w+_[0-9a-f]{{64}}|/root/|/tmp/clients|{OF_THIS_MACHINE}|Bearer (?!KEY)")


@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: f"{path.parent.name} {path.stem}")
def test_a_session_has_its_expectations_and_is_anonymous(path: Path) -> None:
    expected = tomllib.loads((path.parent / "expected.toml").read_text(encoding="utf-8"))[path.stem]
    exchanges = recording.read(path)
    assert len(expected["requests"]) == len(exchanges)
    assert set(expected["requests"]) - {0} == set(range(1, len(expected["turns"]) + 1)), "each turn has a request"
    assert all(door(each.path) for each in exchanges if each.answer)
    text = path.read_text(encoding="utf-8")
    assert len(text.encode()) <= MAX_BYTES
    assert not PRIVATE.search(text)


def test_each_recorded_client_can_be_installed_at_its_version() -> None:
    assert {path.parent.name for path in SESSIONS} <= {f"{client}-{version(client)}" for client in NPM | PYPI}


@pytest.mark.parametrize("path", sorted(RECORDED.glob("open-webui-*/*.jsonl")), ids=lambda path: path.parent.name)
def test_open_webui_is_asked_a_question_after_the_answer_to_the_one_before(path: Path) -> None:
    """It accepts a question at once, and answers it later: a recording in which answers lack was made too fast."""
    for exchange in recording.read(path):
        roles = [message["role"] for message in (exchange.body or {}).get("messages", ())]
        assert roles == [("user", "assistant")[at % 2] for at in range(len(roles))]


def test_a_recording_is_anonymous_and_cut_alike(tmp_path: Path) -> None:
    session = "6a87d1ee-09d1-5bd7-99bd-971de390a4cb"
    system = "You help. " * 500
    body = {
        "system": system,
        "messages": [{"role": "user", "content": f"In /home/somebody/project, {session}"}],
        "tools": [{"name": "Read", "description": "Reads. " * 50}],
    }
    headers = [("Authorization", "Bearer sk-secret"), ("X-Session", session), ("Host", "127.0.0.1")]
    received = Received("POST", "/v1/messages", headers, json.dumps(body).encode())
    anonymous = recording.Anonymous({"/home/somebody": "/home/alice"})
    answer = Answer("Yes.", [Call("Read", {"path": "茶.md"})])
    first, second = (anonymous.exchange(received, answer) for _ in range(2))
    assert first == second
    numbered = "00000000-0000-0000-0000-000000000001"
    assert first.headers == [("authorization", "Bearer KEY"), ("x-session", numbered)]
    assert first.body["messages"][0]["content"] == f"In /home/alice/project, {numbered}"
    assert first.body["system"] == f"{system[:500]}[… {len(system) - 800} characters …]{system[-300:]}"
    assert len(first.body["tools"][0]["description"]) < 120
    recording.write(tmp_path / "one.jsonl", [first])
    assert recording.read(tmp_path / "one.jsonl") == [first]
