"""Errors as `application/problem+json` (RFC 9457): the error tree gives status, type and message. At an address of the
chat proxy they have the shape of the API that is spoken there, which is what its clients read.

No response holds a traceback, the folder of the vault on this machine, nor a secret that a request held.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any, NewType

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.types import Receive, Scope, Send

from vault_memory.core.layout import without_folders
from vault_memory.core.privacy import redact
from vault_memory.errors import Busy, Unauthenticated, VaultMemoryError
from vault_memory.services.proxy import provider_of

MEDIA_TYPE = "application/problem+json"

RELAYED = "/v1"
"""Below it are the addresses of the chat proxy."""

Reason = NewType("Reason", str)
"""Why something is not as it should be, without folders of this machine and secrets: every model of a response that
tells of it has this type, so that mypy finds a text that did not pass `reason`."""


class FieldProblem(BaseModel):
    """One invalid field of a request, such as `body.top_k`."""

    where: str = Field(examples=["body.top_k"])
    message: str = Field(examples=["Input should be less than or equal to 100"])


class SdkError(BaseModel):
    """The name and detail of a problem again, where the SDKs of chat providers look for them."""

    type: str = Field(examples=["not-found"])
    message: str = Field(examples=["user 'bob' is not in this vault: `vault-memory user list` shows who is"])


class Problem(BaseModel):
    """Why a request failed. `type` is `urn:vault-memory:` and the name of the error."""

    type: str = Field(examples=["urn:vault-memory:not-found"])
    title: str = Field(examples=["Not found"])
    status: int = Field(examples=[404])
    detail: str = Field(examples=["user 'bob' is not in this vault: `vault-memory user list` shows who is"])
    error: SdkError
    errors: list[FieldProblem] = []


_DESCRIPTIONS = {
    400: "The request cannot be read, or asks for something impossible.",
    401: "There is no token, or it is not valid.",
    403: "The token is valid, but does not open this.",
    404: "What the request names does not exist.",
    408: "The body did not come in time.",
    409: "Another writer changed the file meanwhile.",
    412: "The profile is no longer the version in If-Match; nothing was written.",
    413: "The body is too large.",
    415: "The Content-Type is not JSON.",
    421: "The Host header does not name this server.",
    422: "A field is missing or invalid; `errors` says which.",
    428: "Replacing a whole profile needs If-Match.",
    429: "Too many requests; Retry-After says how long to wait.",
    500: "An error in the server itself.",
    503: "Another writer holds the files, or the vault is not ready; try again.",
    507: "A file cannot be written: the disk is full, or writing is not permitted.",
}
_EVERY_ENDPOINT = {400, 401, 403, 408, 413, 421, 422, 429, 500, 503, 507}
_NEXT_STEPS = {
    404: "there is nothing at this path: GET /openapi.json lists all paths",
    405: "this path does not support that method: `Allow` names those it supports",
}
_ANTHROPIC_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
    504: "timeout_error",
}
"""Those that Anthropic's API documents; other statuses below 500 are `invalid_request_error`, the rest `api_error`."""
_OPENAI_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
}
"""As OpenAI's; other statuses below 500 are `invalid_request_error`, the rest `server_error`."""
_MAX_FIELD_PROBLEMS = 20
_MAX_FIELD_NAME_CHARS = 200


def responses(*statuses: int, every_endpoint: bool = True) -> dict[int | str, dict[str, Any]]:
    """The errors of an endpoint, for the OpenAPI document: `statuses`, and those that every endpoint has."""
    schema = {"schema": {"$ref": "#/components/schemas/Problem"}}
    all_statuses = sorted({*(_EVERY_ENDPOINT if every_endpoint else ()), *statuses})
    return {status: {"description": _DESCRIPTIONS[status], "content": {MEDIA_TYPE: schema}} for status in all_statuses}


def schemas(*kinds: type[Problem]) -> dict[str, Any]:
    """The schemas that the errors refer to, for the OpenAPI document; `kinds` are those with members of their own."""
    found: dict[str, Any] = {}
    every: tuple[type[Problem], ...] = (Problem, *kinds)
    for kind in every:
        whole = kind.model_json_schema(ref_template="#/components/schemas/{model}")
        found |= {**whole.pop("$defs"), kind.__name__: whole}
    return found


class ProblemResponse(Response):
    """A problem. When it is sent, the address of the request tells in which shape."""

    def __init__(self, kind: str, detail: str, body: dict[str, Any], status: int, headers: Mapping[str, str] | None):
        self._kind, self._detail = kind, detail
        super().__init__(_json(body), status, headers, MEDIA_TYPE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        shaped = _in_the_shape_of_an_api(scope, self.status_code, self._kind, self._detail)
        if shaped is not None:
            self.body = _json(shaped)
            self.headers["content-length"] = str(len(self.body))
            self.headers["content-type"] = "application/json"
        await super().__call__(scope, receive, send)


def _in_the_shape_of_an_api(scope: Scope, status: int, kind: str, detail: str) -> dict[str, Any] | None:
    """The body of an error as the API has it whose address was asked; None where it is ours."""
    root, _, below = scope["path"].removeprefix(RELAYED).partition("/")
    if root or not scope["path"].startswith(RELAYED):
        return None
    names = {name.lower() for name, _ in scope["headers"]}
    if provider_of(below, is_anthropics=b"anthropic-version" in names) == "anthropic":
        named = _ANTHROPIC_TYPES.get(status, "api_error" if status >= 500 else "invalid_request_error")
        return {"type": "error", "error": {"type": named, "message": detail}}
    named = _OPENAI_TYPES.get(status, "server_error" if status >= 500 else "invalid_request_error")
    return {"error": {"message": detail, "type": named, "param": None, "code": kind}}


def response(
    status: int,
    kind: str,
    detail: str,
    *,
    errors: list[FieldProblem] | None = None,
    more: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """A problem as the response to a request; `more` are members that this kind of problem has beside."""
    detail = redact(detail).text
    title = kind.replace("-", " ").capitalize()
    body: dict[str, Any] = {"type": f"urn:vault-memory:{kind}", "title": title, "status": status, "detail": detail}
    body["error"] = {"type": kind, "message": detail}
    body.update(more or {})
    if errors:
        body["errors"] = [{name: redact(said).text for name, said in error.model_dump().items()} for error in errors]
    return ProblemResponse(kind, detail, body, status, headers)


def _json(body: dict[str, Any]) -> bytes:
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")


def reason(text: str, root: Path) -> Reason:
    """A text of ours, as a response to a request to the vault at `root` may hold it."""
    return Reason(redact(without_folders(text, root)).text)


def reasons(texts: Iterable[str], root: Path) -> list[Reason]:
    """Each of them as `reason` shows it."""
    return [reason(text, root) for text in texts]


def of(error: VaultMemoryError, root: Path) -> Response:
    """An error of our tree as the response to a request to the vault at `root`."""
    headers = {"WWW-Authenticate": "Bearer"} if isinstance(error, Unauthenticated) else {}
    headers |= {"Retry-After": "1"} if isinstance(error, Busy) else {}
    return response(error.http_status, _kebab(type(error).__name__), reason(str(error), root), headers=headers)


def install(app: FastAPI) -> None:
    """Make the app render every error as a problem."""
    app.add_exception_handler(VaultMemoryError, _ours)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _fault)


async def _ours(request: Request, error: Exception) -> Response:
    assert isinstance(error, VaultMemoryError)
    return of(error, request.app.state.vault.root)


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    errors = error.errors()
    if any(each["type"] == "json_invalid" for each in errors):
        return _invalid_json()
    if errors[0]["loc"] == ("body",) and isinstance(errors[0].get("input"), bytes):  # FastAPI did not parse it
        return response(415, "unsupported-media-type", "the body must be JSON: send `Content-Type: application/json`")
    problems = [
        FieldProblem(where=".".join(map(str, each["loc"]))[:_MAX_FIELD_NAME_CHARS], message=str(each["msg"]))
        for each in errors[:_MAX_FIELD_PROBLEMS]
    ]
    return response(422, "invalid-request", f"{problems[0].where}: {problems[0].message}", errors=problems)


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 400:  # only FastAPI raises it: the JSON is nested too deeply, or a number is too long
        return _invalid_json()
    kind = HTTPStatus(error.status_code).phrase.lower().replace(" ", "-")
    return response(
        error.status_code, kind, _NEXT_STEPS.get(error.status_code, str(error.detail)), headers=error.headers
    )


def too_many_values(limit: int) -> Response:
    """The response to a body whose JSON has more than `limit` values."""
    told = FieldProblem(where="body", message=f"there are more than {limit:,} values: send fewer in one request")
    return response(422, "invalid-request", f"{told.where}: {told.message}", errors=[told])


def _invalid_json() -> Response:
    return response(400, "invalid-json", "the body is not valid JSON")


async def _fault(request: Request, error: Exception) -> Response:
    """An error in our code: its traceback goes to the server's log, never to the client."""
    return response(500, "internal-error", "an error in the server itself: its log has the details")


def _kebab(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()
