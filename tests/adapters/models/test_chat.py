"""The chat endpoint over real HTTP: good answers, bad ones, none in time."""

from __future__ import annotations

import socket
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from tests.scripted_http import Reply, ScriptedServer, completion
from vault_memory.adapters.models.chat import MAX_ATTEMPTS, ChatModel
from vault_memory.errors import EndpointError

ASKED = [{"role": "user", "content": "我喜歡暗色主題"}]
SCHEMA = {"type": "object"}
KEY = "sk-very-secret-key-0123456789"


def model_of(chat: ScriptedServer, **fields: object) -> ChatModel:
    return ChatModel(chat.url, "small", **{"timeout_s": 5.0, "sleep": lambda _: None, **fields})  # type: ignore[arg-type]


def test_the_question_is_an_openai_chat_completion_with_a_strict_schema(chat: ScriptedServer) -> None:
    """A2 phase 2: any OpenAI-compatible endpoint; B7: model, max tokens, temperature."""
    chat.will_say("好")
    asked = model_of(chat, key_env="MY_KEY", environ={"MY_KEY": KEY}, max_tokens=99, temperature=0.5)
    assert asked.complete(ASKED, SCHEMA) == "好"
    (request,) = chat.received
    assert request.path == "/v1/chat/completions"
    assert request.header("Authorization") == f"Bearer {KEY}"
    body = request.fields
    assert (body["model"], body["max_tokens"], body["temperature"]) == ("small", 99, 0.5)
    assert body["messages"] == ASKED
    assert body["response_format"]["json_schema"] == {"name": "answer", "strict": True, "schema": SCHEMA}


def test_a_question_without_a_schema_is_answered_in_words(chat: ScriptedServer) -> None:
    chat.will_say("好")
    assert model_of(chat).complete(ASKED, None) == "好"
    assert "response_format" not in chat.received[0].fields


def test_a_key_may_be_in_a_private_file_outside_every_vault(chat: ScriptedServer, tmp_path: Path) -> None:
    """B7: the key is in the environment or in a 0600 file, and never printed."""
    file = tmp_path / "key"
    file.write_text(f"{KEY}\n")
    asked = model_of(chat, key_file=str(file))
    chat.will_say("好")
    file.chmod(0o600)
    asked.complete(ASKED, SCHEMA)
    assert chat.received[0].header("Authorization") == f"Bearer {KEY}"

    def complaint() -> str:
        with pytest.raises(EndpointError) as caught:
            asked.complete(ASKED, SCHEMA)
        assert KEY not in str(caught.value) and len(chat.received) == 1
        return str(caught.value)

    file.chmod(0o640)
    assert "chmod 600" in complaint()
    file.chmod(0o600)
    (tmp_path / "vault-memory.toml").touch()
    assert "lies in a vault" in complaint()
    (tmp_path / "vault-memory.toml").unlink()
    file.rename(tmp_path / "other")
    file.symlink_to(tmp_path / "other")
    assert str(file) in complaint()
    file.unlink()
    assert "No such file" in complaint()
    file.mkdir(mode=0o700)
    assert "no file" in complaint()


def test_no_key_no_header(chat: ScriptedServer) -> None:
    chat.will_say("好")
    model_of(chat).complete(ASKED, SCHEMA)
    assert chat.received[0].header("Authorization") is None


@pytest.mark.parametrize("status", [429, 500, 503])
def test_what_passes_is_asked_again(chat: ScriptedServer, status: int) -> None:
    pauses: list[float] = []
    chat.will_say(Reply(status=status), Reply(status=status), "好")
    assert model_of(chat, sleep=pauses.append).complete(ASKED, SCHEMA) == "好"
    assert len(chat.received) == 3
    assert 0.4 <= pauses[0] <= 0.6 and 0.8 <= pauses[1] <= 1.2


def test_a_closed_connection_is_asked_again(chat: ScriptedServer) -> None:
    chat.will_say(Reply(silent=True), "好")
    assert model_of(chat).complete(ASKED, SCHEMA) == "好"


@pytest.mark.parametrize(
    ("header", "about"),
    [(lambda: "2", 2.0), (lambda: format_datetime(datetime.now(UTC) + timedelta(seconds=3), usegmt=True), 2.5)],
)
def test_retry_after_is_honoured(chat: ScriptedServer, header: Callable[[], str], about: float) -> None:
    pauses: list[float] = []
    chat.will_say(Reply(status=429, headers={"Retry-After": header()}), "好")
    model_of(chat, sleep=pauses.append).complete(ASKED, SCHEMA)
    assert about - 1 <= pauses[0] <= about + 1


def test_a_date_beyond_the_calendar_is_no_wait(chat: ScriptedServer) -> None:
    pauses: list[float] = []
    date = "Mon, 01 Jan 99999999999999999999 00:00:00 GMT"
    chat.will_say(Reply(status=429, headers={"Retry-After": date}), "好")
    assert model_of(chat, sleep=pauses.append).complete(ASKED, SCHEMA) == "好"
    assert 0.4 <= pauses[0] <= 0.6


def test_a_wait_that_does_not_fit_the_time_is_not_begun(chat: ScriptedServer) -> None:
    chat.will_say(Reply(status=429, headers={"Retry-After": "60"}))
    with pytest.raises(EndpointError, match="429"):
        model_of(chat, sleep=lambda _: pytest.fail("slept")).complete(ASKED, SCHEMA)
    assert len(chat.received) == 1


def test_the_attempts_are_bounded(chat: ScriptedServer) -> None:
    chat.will_say(Reply([b"KEY IS " + KEY.encode()], 500))
    with pytest.raises(EndpointError, match=r"answered 500 \(4 attempts\)"):
        model_of(chat).complete(ASKED, SCHEMA)
    assert len(chat.received) == MAX_ATTEMPTS


DRIP = [bytes([byte]) for byte in completion("好" * 500).parts[0]]


@pytest.mark.slow
@pytest.mark.parametrize("answer", [Reply(wait_s=60), Reply(DRIP, pause_s=0.05)])
def test_slow_answers_end_with_the_time(chat: ScriptedServer, answer: Reply) -> None:
    """Neither silence nor a byte now and then holds the caller longer than the box."""
    chat.will_say(answer)
    with pytest.raises(EndpointError, match=r"within 0\.3 s"):
        model_of(chat, timeout_s=0.3).complete(ASKED, SCHEMA)
    assert (len(chat.received), chat.answered) == (1, 0), "both take a minute and more"


@pytest.mark.parametrize(
    "body",
    [b"", b"not json", b"[]", b'{"choices": []}', b'{"choices": [{"message": {"content": null}}]}', b"[" * 100_000],
)
def test_what_is_no_completion_is_an_error(chat: ScriptedServer, body: bytes) -> None:
    chat.will_say(Reply([body]))
    with pytest.raises(EndpointError, match=r"127\.0\.0\.1"):
        model_of(chat).complete(ASKED, SCHEMA)
    assert len(chat.received) == 1, "nonsense is not asked for again"


def test_an_endless_answer_is_cut(chat: ScriptedServer) -> None:
    chat.will_say("好" * 1_000_000)
    with pytest.raises(EndpointError, match="more than 1,000,000 bytes"):
        model_of(chat).complete(ASKED, SCHEMA)


def test_an_answer_cut_off_by_its_bound_says_so(chat: ScriptedServer) -> None:
    chat.will_say(completion('{"changes": [', "length"))
    with pytest.raises(EndpointError, match=r"llm\.max_tokens"):
        model_of(chat).complete(ASKED, SCHEMA)


@pytest.mark.parametrize(
    ("status", "hint"), [(401, "check the key in MY_KEY"), (404, "llm.model"), (302, "302"), (400, "400")]
)
def test_a_refusal_names_the_next_step_and_never_the_key(chat: ScriptedServer, status: int, hint: str) -> None:
    chat.will_say(Reply([b"bad key " + KEY.encode()], status, {"Location": "http://127.0.0.1:1/"}))
    with pytest.raises(EndpointError) as caught:
        model_of(chat, key_env="MY_KEY", environ={"MY_KEY": KEY}).complete(ASKED, SCHEMA)
    assert hint in str(caught.value)
    assert KEY not in str(caught.value) and "暗色" not in str(caught.value)
    assert len(chat.received) == 1


def test_a_server_that_is_not_there() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    with pytest.raises(EndpointError, match="ConnectError"):
        ChatModel(f"http://me:password@127.0.0.1:{port}", "m", sleep=lambda _: None).complete(ASKED, SCHEMA)


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"base_url": ""}, "llm.base_url and llm.model"),
        ({"model": ""}, "llm.base_url and llm.model"),
        ({"base_url": "file:///etc/passwd"}, "http://"),
        ({"base_url": "http://host:port"}, "InvalidURL"),
        ({"key_env": "NOT_SET"}, "NOT_SET holds no key"),
        ({"key_env": "TWO_LINES"}, "the key in the environment variable TWO_LINES must be"),
    ],
)
def test_wrong_settings_are_told_before_anything_is_sent(fields: dict[str, str], complaint: str) -> None:
    environ = {"TWO_LINES": f"{KEY}\n{KEY}"}
    with pytest.raises(EndpointError) as caught:
        ChatModel(**{"base_url": "http://127.0.0.1:9", "model": "m", **fields}, environ=environ).complete(ASKED, SCHEMA)  # type: ignore[arg-type]
    assert complaint in str(caught.value)
    assert KEY not in str(caught.value)


def test_the_password_of_an_address_is_not_told() -> None:
    asked = ChatModel("http://me:hunter2@127.0.0.1:9/v1", "m", sleep=lambda _: None)
    with pytest.raises(EndpointError) as caught:
        asked.complete(ASKED, SCHEMA)
    assert "hunter2" not in str(caught.value)
