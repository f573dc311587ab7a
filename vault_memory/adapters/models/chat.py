"""A chat model behind any OpenAI-compatible endpoint: one request, one response, within a time limit."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from vault_memory.adapters.models.key import key_of
from vault_memory.errors import EndpointError

MAX_ATTEMPTS = 4
FIRST_PAUSE_S = 0.5
"""Before the second attempt; doubled before each further one, unless the endpoint says how long to wait."""
MAX_RESPONSE_BYTES = 1_000_000
MAX_RESPONSE_VALUES = 10_000
"""As JSON has them. What the model says is a single one."""


class _TemporaryFailure(Exception):
    """A failure that may not happen again; `after_s` is how long the endpoint asks to wait, if it says."""

    def __init__(self, message: str, after_s: float | None = None) -> None:
        super().__init__(message)
        self.after_s = after_s


@dataclass(frozen=True)
class ChatModel:
    """One model at one endpoint. `base_url` is the endpoint's address without `/chat/completions`.

    `key_env` names the environment variable that holds the key, `key_file` a file with it ("": no key). `timeout_s`
    limits a whole `complete`, its attempts and pauses included.
    """

    base_url: str
    model: str
    key_env: str = ""
    key_file: str = ""
    timeout_s: float = 20.0
    max_tokens: int = 2048
    temperature: float = 0.0
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)
    sleep: Callable[[float], None] = field(default=time.sleep, repr=False)

    def complete(self, messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any] | None) -> str:
        """The model's response to `messages` ({role, content}), requested as JSON of that schema (None: as text); not
        checked here.

        Tries again after a lost connection, 429 and 5xx while time is left. Raises `EndpointError`, whose message names
        the endpoint and never holds the key or what was sent.
        """
        self._check_settings()
        deadline = time.monotonic() + self.timeout_s
        body: dict[str, Any] = {
            "model": self.model,
            "messages": list(messages),
            "max_tokens": self.max_tokens,
            "temperature": self.temperature,
        }
        if schema is not None:
            form = {"name": "answer", "strict": True, "schema": schema}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        headers = self._headers()
        for attempt in range(MAX_ATTEMPTS):
            try:
                return self._attempt(body, headers, deadline)
            except _TemporaryFailure as failure:
                pause = failure.after_s
                if pause is None:
                    pause = FIRST_PAUSE_S * 2**attempt * random.uniform(0.8, 1.2)
                if attempt + 1 == MAX_ATTEMPTS or time.monotonic() + pause >= deadline:
                    raise self._error(f"{failure} ({attempt + 1} attempts)") from None
                self.sleep(pause)
        raise AssertionError("the last attempt returns or raises")

    def _attempt(self, body: Mapping[str, Any], headers: Mapping[str, str], deadline: float) -> str:
        from vault_memory.adapters.models.question import Lost, OutOfTime, Unanswered, ask

        url = self.base_url.rstrip("/") + "/chat/completions"
        left_s = deadline - time.monotonic()
        try:
            answer = ask(
                url, body, headers, timeout_s=left_s, max_bytes=MAX_RESPONSE_BYTES, max_values=MAX_RESPONSE_VALUES
            )
        except OutOfTime:
            raise self._error(f"did not answer within {self.timeout_s:g} s") from None
        except Lost as lost:
            raise _TemporaryFailure(str(lost)) from None
        except Unanswered as unanswered:
            raise self._error(str(unanswered)) from None
        if answer.status != 200:
            raise self._refusal(answer.status, answer.retry_after)
        return self._content(answer.value)

    def _refusal(self, status: int, retry_after: str) -> Exception:
        if status == 429 or status >= 500:
            return _TemporaryFailure(f"answered {status}", _seconds(retry_after))
        named = self.key_env or self.key_file
        hints = {
            401: f"check the key in {named}"
            if named
            else "it needs a key: llm.key_env or llm.key_file says where it is",
            403: "the key may not use this model",
            404: "check llm.base_url and llm.model",
        }
        return self._error(f"answered {status}; {hints.get(status, 'it does not accept this request')}")

    def _content(self, value: Any) -> str:
        try:
            choice = value["choices"][0]
            content = choice["message"]["content"]
            is_cut_off = choice.get("finish_reason") == "length"
        except (KeyError, IndexError, TypeError, AttributeError):
            raise self._error("answered with no chat completion") from None
        if is_cut_off:
            raise self._error("was cut off: raise llm.max_tokens")
        if not isinstance(content, str):
            raise self._error("answered without a text")
        return content

    def _headers(self) -> dict[str, str]:
        key = key_of(self.key_env, self.key_file, self.environ)
        return {"Authorization": f"Bearer {key}"} if key else {}

    def _check_settings(self) -> None:
        if not self.base_url or not self.model:
            raise EndpointError("llm.base_url and llm.model must name an endpoint and its model")
        if urlsplit(self.base_url).scheme not in ("http", "https"):
            raise EndpointError("llm.base_url must begin with http:// or https://")

    def _error(self, what: str) -> EndpointError:
        host = urlsplit(self.base_url).netloc.rpartition("@")[2]  # never the password before an @
        return EndpointError(f"the chat endpoint {host} {what}")


def _seconds(retry_after: str) -> float | None:
    """The wait in a Retry-After header, which holds seconds or a date; None if it holds neither."""
    if retry_after.isdecimal():
        return float(retry_after)
    try:
        return max(parsedate_to_datetime(retry_after).timestamp() - time.time(), 0.0)
    except (ValueError, OverflowError):
        return None
