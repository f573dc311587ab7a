"""Errors as `application/problem+json` (RFC 9457): the error tree gives status, type and words.

Neither a traceback leaves the server nor where on its disk the vault lies.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from vault_memory.errors import Busy, Unauthenticated, VaultMemoryError

MEDIA_TYPE = "application/problem+json"


class Wrong(BaseModel):
    """One thing that is wrong with a request, and where: `body.top_k`."""

    where: str = Field(examples=["body.top_k"])
    message: str = Field(examples=["Input should be less than or equal to 100"])


class Said(BaseModel):
    """A problem's name and detail once more, where the SDKs of chat providers look for what to tell their users."""

    type: str = Field(examples=["not-found"])
    message: str = Field(examples=["user 'bob' is not in this vault: `vault-memory user list` shows who is"])


class Problem(BaseModel):
    """Why a request came to nothing. `type` is `urn:vault-memory:` and the name of the error."""

    type: str = Field(examples=["urn:vault-memory:not-found"])
    title: str = Field(examples=["Not found"])
    status: int = Field(examples=[404])
    detail: str = Field(examples=["user 'bob' is not in this vault: `vault-memory user list` shows who is"])
    error: Said
    errors: list[Wrong] = []


_SAID = {
    400: "The request cannot be read, or asks for something that cannot be.",
    401: "No token, or one that is not valid here.",
    403: "The token is valid, and not for this.",
    404: "There is no such thing.",
    408: "The body did not come in time.",
    409: "Somebody else changed the file meanwhile.",
    412: "The version named in If-Match is past; nothing was written.",
    413: "The body is too large.",
    415: "The body is not said to be JSON.",
    421: "The Host is no name of this server.",
    422: "A field is missing, or has a value it cannot have; `errors` says which.",
    428: "A whole profile is replaced only with If-Match.",
    429: "Too many requests; Retry-After says when to come back.",
    500: "A fault of the server itself.",
    503: "Another writer holds the files, or the vault is not ready; try again.",
    507: "A file cannot be written: the disk is full, or forbids it.",
}
_EVERYWHERE = {400, 401, 403, 408, 413, 421, 422, 429, 500, 503, 507}
_NEXT = {
    404: "there is nothing at this path: GET /openapi.json tells what there is",
    405: "this path does not take that method: `Allow` names those it takes",
}
_SHOWN = 20
_WHERE_CHARS = 200
_FOLDERS = re.compile(r"(?<![\w./:])/(?:[^\s/'\"`:]+/)+")


def responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The errors that an endpoint may answer with, for the OpenAPI document; those of every endpoint included."""
    schema = {"schema": {"$ref": "#/components/schemas/Problem"}}
    every = sorted({*_EVERYWHERE, *statuses})
    return {status: {"description": _SAID[status], "content": {MEDIA_TYPE: schema}} for status in every}


def schemas() -> dict[str, Any]:
    """The schemas that the errors refer to, for the OpenAPI document."""
    whole = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
    return {**whole.pop("$defs"), "Problem": whole}


def response(
    status: int, kind: str, detail: str, *, errors: list[Wrong] | None = None, headers: Mapping[str, str] | None = None
) -> Response:
    """A problem as the answer to a request."""
    title = kind.replace("-", " ").capitalize()
    body: dict[str, Any] = {"type": f"urn:vault-memory:{kind}", "title": title, "status": status, "detail": detail}
    body["error"] = {"type": kind, "message": detail}
    if errors:
        body["errors"] = [error.model_dump() for error in errors]
    content = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
    return Response(content, status, headers, MEDIA_TYPE)


def of(error: VaultMemoryError, root: Path) -> Response:
    """An error of the tree as the answer to a request to the vault at `root`."""
    headers = {"WWW-Authenticate": "Bearer"} if isinstance(error, Unauthenticated) else {}
    headers |= {"Retry-After": "1"} if isinstance(error, Busy) else {}
    return response(
        error.http_status, _kebab(type(error).__name__), seen_from_outside(str(error), root), headers=headers
    )


def seen_from_outside(text: str, root: Path) -> str:
    """The text without where things lie on this machine: paths as they are inside the vault, of others the name alone."""
    return _FOLDERS.sub("", text.replace(f"{root}/", "").replace(str(root), "the vault"))


def install(app: FastAPI) -> None:
    """Have the app render every error as a problem."""
    app.add_exception_handler(VaultMemoryError, _ours)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _fault)


async def _ours(request: Request, error: Exception) -> Response:
    assert isinstance(error, VaultMemoryError)
    return of(error, request.app.state.vault.root)


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    found = error.errors()
    if any(each["type"] == "json_invalid" for each in found):
        return _no_json()
    if found[0]["loc"] == ("body",) and isinstance(found[0].get("input"), bytes):  # FastAPI has not tried to read it
        return response(415, "unsupported-media-type", "the body is to be JSON: say `Content-Type: application/json`")
    wrong = [
        Wrong(where=".".join(map(str, each["loc"]))[:_WHERE_CHARS], message=str(each["msg"])) for each in found[:_SHOWN]
    ]
    return response(422, "invalid-request", f"{wrong[0].where}: {wrong[0].message}", errors=wrong)


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 400:  # raised by FastAPI alone: JSON nested deeper, or a number longer, than can be read
        return _no_json()
    kind = HTTPStatus(error.status_code).phrase.lower().replace(" ", "-")
    return response(error.status_code, kind, _NEXT.get(error.status_code, str(error.detail)), headers=error.headers)


def _no_json() -> Response:
    return response(400, "invalid-json", "the body is no JSON that can be read")


async def _fault(request: Request, error: Exception) -> Response:
    """A fault of ours: the server's own log has its traceback, the client has none of it."""
    return response(500, "internal-error", "a fault of the server itself: its log says more")


def _kebab(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()
