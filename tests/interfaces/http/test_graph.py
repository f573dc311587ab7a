"""The knowledge graph over HTTP: every endpoint, as a program uses it."""

from __future__ import annotations

import pytest

from tests.interfaces.http.conftest import Caller, Server

pytestmark = pytest.mark.slow

GRAPH = "/api/v1/user/alice/graph"


@pytest.fixture
def alice(server: Server) -> Caller:
    return server.user("alice")


def test_a_graph_from_adding_to_drawing(alice: Caller) -> None:
    """B2 over HTTP."""
    new = {"name": "src/auth.py", "type": "file", "observations": ["管理登入"], "tags": ["auth"], "aliases": ["auth"]}
    made = alice("POST", f"{GRAPH}/entities", 201, json=new)
    assert {key: made["entity"][key] for key in new} == new | {"aliases": ["src/auth.py", "auth"]} and made["commits"]
    assert made["entity"]["path"] == "memory/alice/entities/src-auth.py.md"
    relation = {"from": "AUTH", "to": "Redis", "type": "depends_on", "description": "session"}
    related = alice("POST", f"{GRAPH}/relations", 201, json=relation)
    assert related["stubs"] == ["Redis"] and related["relation"]["from"] == "src/auth.py"
    more = {"name": "redis", "observations": ["fast", "small"]}
    assert alice("POST", f"{GRAPH}/observations", 201, json=more)["entity"]["observations"] == ["fast", "small"]

    assert [each["name"] for each in alice("GET", f"{GRAPH}/entities?query=aut")["entities"]] == ["src/auth.py"]
    first = alice("GET", f"{GRAPH}/entities?limit=1")
    rest = alice("GET", f"{GRAPH}/entities?limit=1&offset={first['next']}")
    assert [page["entities"][0]["name"] for page in (first, rest)] == ["Redis", "src/auth.py"] and rest["next"] is None
    assert alice("GET", f"{GRAPH}/entities?type=component")["entities"] == []
    (seen,) = alice("GET", f"{GRAPH}/entity?name=redis")["relations"]
    assert (seen["from"], seen["to"], seen["is_mention"], seen["is_dangling"]) == ("src/auth.py", "Redis", False, False)
    assert len(alice("GET", f"{GRAPH}/neighbours?name=Redis&depth=2")["entities"]) == 2
    (step,) = alice("GET", f"{GRAPH}/path?from=redis&to=src/auth.py")["path"]
    assert step["from"] == "src/auth.py"
    assert alice("GET", f"{GRAPH}/export?format=json")["relations"][0]["to"] == "Redis"


def test_wrong_requests_are_named(alice: Caller, server: Server) -> None:
    alice("POST", f"{GRAPH}/entities", 201, json={"name": "A", "type": "file"})
    assert "is a file" in str(alice("POST", f"{GRAPH}/entities", 400, json={"name": "A", "type": "feature"}))
    alice("POST", f"{GRAPH}/entities", 422, json={"name": "A", "type": "person"})
    alice("POST", f"{GRAPH}/observations", 404, json={"name": "nobody", "observations": ["x"]})
    alice("GET", f"{GRAPH}/entity?name=nobody", 404)
    alice("GET", f"{GRAPH}/neighbours?name=A&depth=21", 422)
    server.user("bob")("GET", f"{GRAPH}/entities", 403)
