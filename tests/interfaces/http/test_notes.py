"""Notes by name over HTTP, and questions for which no user is named."""

from __future__ import annotations

import pytest

from tests.interfaces.http.conftest import Caller, Server
from tests.vaults import write
from vault_memory.services.indexing import reconcile

MEMORY = "/api/v1/memory/alice"


@pytest.fixture
def notes(server: Server) -> Server:
    write(server.vault, "", "drink/Tea.md", "---\naliases: [茶]\ntags: [drink]\n---\n[[Kettle]]\nThree minutes.\n")
    write(server.vault, "", "Kettle.md", "Boils water.\n")
    reconcile(server.vault, "")
    return server


@pytest.fixture
def alices(notes: Server, alice: Caller) -> Caller:
    write(notes.vault, "alice", "notes/Cocoa.md", "#drink\nChocolate in minutes.\n")
    reconcile(notes.vault, "alice")
    return alice


def test_a_note_is_read_by_its_names(alices: Caller) -> None:
    told = alices("GET", f"{MEMORY}/note", params={"name": "茶:6"})
    assert told == {
        "source": "drink/Tea.md",
        "scope": "shared",
        "path": "drink/Tea.md",
        "content": "Three minutes.\n",
        "line_range": [6, 6],
        "commit": "",
    }
    profile = alices("GET", f"{MEMORY}/note", params={"name": "USER"})
    assert profile["path"] == "memory/alice/USER.md" and len(profile["commit"]) == 40 and "dark" in profile["content"]
    assert "vault-memory search" in alices("GET", f"{MEMORY}/note", 404, params={"name": "nobody"})["detail"]
    assert "has the lines 1 to 6" in alices("GET", f"{MEMORY}/note", 400, params={"name": "Tea:9"})["detail"]
    alices("GET", f"{MEMORY}/note", 404, params={"name": "Tea", "scope": "user"})
    for name in ("", "x" * 1_001):
        alices("GET", f"{MEMORY}/note", 422, params={"name": name})


def test_what_is_no_note_is_not_read(alices: Caller, notes: Server) -> None:
    """Not tokens, settings or indexes, and nothing outside of the vault or of another user."""
    write(notes.vault, "bob", "notes/secret.md", "heliotrope\n")
    reconcile(notes.vault, "bob")
    paths = [
        *(".vault-memory/token", "vault-memory.toml", "index.db", "feedback.jsonl", "/etc/passwd", "../../etc/passwd"),
        *("memory/bob/notes/secret.md", "../bob/notes/secret.md", "notes/../../bob/notes/secret.md", "a\0b", "secret"),
    ]
    for scope in ("user", "shared", "all"):
        for path in paths:
            alices("GET", f"{MEMORY}/note", 404, params={"name": path, "scope": scope})
            alices("GET", f"{MEMORY}/related", 404, params={"name": path, "scope": scope})


def test_notes_around_a_note(alices: Caller) -> None:
    [kettle] = alices("GET", f"{MEMORY}/related", params={"name": "tea"})["notes"]
    assert (kettle["path"], kettle["is_linked"], kettle["links_back"]) == ("Kettle.md", True, False)
    assert alices("GET", f"{MEMORY}/related", params={"name": "Cocoa"})["notes"] == []
    alices("GET", f"{MEMORY}/related", 422, params={"name": "tea", "top_k": 0})


def test_a_users_token_asks_for_that_user(alices: Caller, notes: Server) -> None:
    """Without a name in the path: the user's own notes and the shared ones, unless a scope is said."""
    asked = {"query": "minutes", "mode": "keyword"}
    found = alices("POST", "/api/v1/search", json=asked)["hits"]
    assert {hit["scope"] for hit in found} == {"alice", "shared"}
    own = alices("POST", "/api/v1/search", json=asked | {"scope": "user"})["hits"]
    assert {hit["scope"] for hit in own} == {"alice"}
    assert alices("GET", "/api/v1/note", params={"name": "Cocoa"})["scope"] == "alice"
    assert alices("GET", "/api/v1/related", params={"name": "Kettle"})["notes"][0]["path"] == "drink/Tea.md"
    write(notes.vault, "bob", "notes/Cocoa.md", "Bob's minutes.\n")
    reconcile(notes.vault, "bob")
    assert {hit["scope"] for hit in alices("POST", "/api/v1/search", json=asked)["hits"]} == {"alice", "shared"}


def test_the_vaults_own_token_asks_as_the_command_line(notes: Server) -> None:
    """Shared notes in a vault without users; with one those, too; among several one has to be named."""
    asked, admin = {"query": "minutes", "mode": "keyword"}, notes.admin
    assert [hit["source"] for hit in admin("POST", "/api/v1/search", json=asked)["hits"]] == ["drink/Tea.md"]
    assert admin("GET", "/api/v1/note", params={"name": "tea"})["path"] == "drink/Tea.md"
    assert admin("GET", "/api/v1/related", params={"name": "tea"})["notes"][0]["path"] == "Kettle.md"
    admin("POST", "/api/v1/search", 400, json=asked | {"scope": "user"})
    for user in ("alice", "bob"):
        write(notes.vault, user, "notes/Cocoa.md", "Chocolate in minutes.\n")
        reconcile(notes.vault, user)
        if user == "alice":
            found = admin("POST", "/api/v1/search", json=asked)["hits"]
            assert {hit["scope"] for hit in found} == {"alice", "shared"}
    assert "2 users (alice, bob)" in admin("POST", "/api/v1/search", 400, json=asked)["detail"]
    assert {hit["scope"] for hit in admin("POST", "/api/v1/search", json=asked | {"scope": "shared"})["hits"]} == {
        "shared"
    }
    admin("GET", "/api/v1/note", 400, params={"name": "tea"})
    admin("POST", "/api/v1/search", 422, json={})
