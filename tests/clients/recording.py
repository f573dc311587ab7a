"""A recording: what a client sent in one session, request by request, with what the provider said to each.

Each line of the file is `{"method", "path", "headers", "body", "answer"}`; `answer` is null where the request was none
for a model. It is made small and anonymous before it is kept:

- of credentials stands `KEY`; headers of the connection are left out;
- ids (UUIDs, hashes, ids of sessions, messages and calls) are replaced by numbered ones of the same form;
- folders of the recording machine are `/home/alice` and `/home/alice/project`;
- a system prompt is cut to its first 500 and last 300 characters, another text to 2,000 and 1,000, a tool's
  description to 80, with a mark between that says how many were cut. The same text is always cut in the same way.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.clients.provider import Answer
from tests.scripted_http import Received

_LEFT_OUT = {"host", "content-length", "connection", "accept-encoding", "transfer-encoding", "cookie"}
_CREDENTIALS = {"authorization", "x-api-key", "api-key"}
_IDS = (
    re.compile(r"(?<![0-9a-f])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", re.IGNORECASE),
    re.compile(r"\b(?:a[0-9a-f]{16}|[0-9a-f]{32,64})\b"),
    re.compile(r"\b(?:ses|msg|prt|sess|thread|trace|group|conv)_[0-9A-Za-z]{16,}\b"),
    re.compile(r"\b[0-9]{13}_[0-9a-z]{5,}\b"),
)
_INSTRUCTION_CHARS = (500, 300)
_TEXT_CHARS = (2_000, 1_000)
_DESCRIPTION_CHARS = (80, 0)


@dataclass(frozen=True)
class Exchange:
    """One request of a client, and what the provider said to it (None: it was no request for a model)."""

    method: str
    path: str
    headers: list[tuple[str, str]]
    body: Any
    answer: Answer | None


@dataclass
class Anonymous:
    """Makes the requests of one session small and anonymous. `places` are the folders of this machine, by new name."""

    places: Mapping[str, str]
    _ids: dict[str, str] = field(default_factory=dict)

    def exchange(self, received: Received, answer: Answer | None) -> Exchange:
        """The exchange as it may be kept."""
        headers = [
            (name.lower(), "KEY" if name.lower() in _CREDENTIALS else self._text(value))
            for name, value in received.headers
            if name.lower() not in _LEFT_OUT
        ]
        headers = [(name, f"Bearer {value}" if name == "authorization" else value) for name, value in headers]
        body = received.body.decode("utf-8", "replace")
        try:
            fields = json.loads(body) if body else None
        except ValueError:
            return Exchange(received.method, self._text(received.path), headers, self._text(body[:500]), answer)
        return Exchange(received.method, self._text(received.path), headers, self._request(fields), answer)

    def _request(self, fields: Any) -> Any:
        if not isinstance(fields, dict):
            return self._value(fields, _TEXT_CHARS)
        done = {}
        for key, value in fields.items():
            if key in ("tools", "functions"):
                done[key] = self._value(value, _DESCRIPTION_CHARS)
            elif key in ("system", "instructions"):
                done[key] = self._value(value, _INSTRUCTION_CHARS)
            elif key in ("messages", "input") and isinstance(value, list):
                done[key] = [
                    self._value(
                        each,
                        _INSTRUCTION_CHARS
                        if isinstance(each, dict) and each.get("role") in ("system", "developer")
                        else _TEXT_CHARS,
                    )
                    for each in value
                ]
            else:
                done[key] = self._value(value, _TEXT_CHARS)
        return done

    def _value(self, value: Any, chars: tuple[int, int]) -> Any:
        if isinstance(value, str):
            return self._text(cut(value, chars))
        if isinstance(value, list):
            return [self._value(each, chars) for each in value]
        if isinstance(value, dict):
            return {key: self._value(each, chars) for key, each in value.items()}
        return value

    def _text(self, text: str) -> str:
        for place, name in self.places.items():
            text = text.replace(place, name)
        for pattern in _IDS:
            text = pattern.sub(lambda found: self._id(found[0]), text)
        return text

    def _id(self, found: str) -> str:
        """An id of the same form, numbered in the order in which the ids came."""
        if found not in self._ids:
            number = str(len(self._ids) + 1)
            head = found.partition("_")[0] + "_" if re.match(r"[a-z]+_", found) else ""
            rest = found[len(head) :]
            zeros = re.sub(r"[0-9A-Za-z]", "0", rest)
            self._ids[found] = head + zeros[: -len(number)] + number
            self._ids[self._ids[found]] = self._ids[found]
        return self._ids[found]


def cut(text: str, chars: tuple[int, int]) -> str:
    """The beginning and the end of a long text, with the number of characters between."""
    first, last = chars
    if len(text) <= first + last + 40:
        return text
    return f"{text[:first]}[… {len(text) - first - last} characters …]{text[len(text) - last :]}"


def write(path: Path, exchanges: list[Exchange]) -> None:
    """Keep a session."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = []
    for each in exchanges:
        line = {"method": each.method, "path": each.path, "headers": each.headers, "body": each.body}
        line["answer"] = each.answer.as_json() if each.answer else None
        lines.append(json.dumps(line, ensure_ascii=False) + "\n")
    path.write_text("".join(lines), encoding="utf-8")


def read(path: Path) -> list[Exchange]:
    """A session that was kept."""
    exchanges = []
    for line in path.read_text(encoding="utf-8").split("\n")[:-1]:
        value = json.loads(line)
        answer = Answer.of_json(value["answer"]) if value["answer"] else None
        headers = [(name, said) for name, said in value["headers"]]
        exchanges.append(Exchange(value["method"], value["path"], headers, value["body"], answer))
    return exchanges
