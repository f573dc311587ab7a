"""The server against its OpenAPI document, by schemathesis: allowed data, forbidden data, and every response."""

from __future__ import annotations

import contextlib

import hypothesis
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.interfaces.http.conftest import Caller, Server

pytestmark = pytest.mark.slow

CHECKS = [
    not_a_server_error,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
]
EXAMPLES = 20


@pytest.mark.parametrize("mode", list(GenerationMode))
def test_every_response_is_in_the_document(server: Server, alice: Caller, mode: GenerationMode) -> None:
    """No 5xx and no schema violation, for data that fits the document and for data that does not."""
    object.__setattr__(server.vault.config, "serve_rate", 100_000)
    admin = server.admin
    document = admin("GET", "/openapi.json")
    document["paths"] = {path: methods for path, methods in document["paths"].items() if not path.startswith("/v1/")}
    schema = schemathesis.openapi.from_dict(document)
    tried = 0
    for result in schema.get_all_operations():
        operation = result.ok()

        @hypothesis.settings(
            max_examples=EXAMPLES,
            derandomize=True,
            deadline=None,
            database=None,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(generation_mode=mode))
        def attempt(case: schemathesis.Case) -> None:
            if "student_id" in (case.path_parameters or {}) and mode is GenerationMode.POSITIVE:
                case.path_parameters["student_id"] = "alice"
            case.headers.pop("Authorization", None)
            answer = case.call(base_url=server.address, headers={"Authorization": f"Bearer {admin.token}"})
            case.validate_response(answer, checks=CHECKS)

        with contextlib.suppress(
            hypothesis.errors.Unsatisfiable
        ):  # an operation without parameters allows nothing wrong
            attempt()
            tried += 1
    assert tried >= 10


def test_every_field_and_parameter_has_an_example_or_a_default(server: Server) -> None:
    """Examples for bodies, responses, queries and headers."""
    document = server.admin("GET", "/openapi.json")
    for name, schema in document["components"]["schemas"].items():
        whole = "examples" in schema
        for field, told in schema.get("properties", {}).items():
            refers = "$ref" in told or "$ref" in told.get("items", {})
            assert whole or refers or {"examples", "default"} & told.keys(), (name, field)
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            for parameter in operation.get("parameters", []):
                told = parameter | parameter["schema"]
                assert {"example", "examples", "default"} & told.keys(), (path, parameter["name"])
            if path != "/healthz":
                errors = {status: answer for status, answer in operation["responses"].items() if status >= "400"}
                ready = {"503"} if path == "/readyz" else set()
                assert all("application/problem+json" in errors[status]["content"] for status in errors.keys() - ready)
                assert {"401", "403", "408", "413", "421", "429", "500", "507"} <= errors.keys()
                assert ("415" in errors) == (method in ("put", "post", "patch")), (method, path)
