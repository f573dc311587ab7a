"""A model is tried before it is used, against real endpoints that behave badly."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.scripted_http import EmbeddingServer, Received, Reply
from tests.vaults import write
from vault_memory.errors import ConfigError, EndpointError, UsageError
from vault_memory.services.embedding.choose import choose, planned
from vault_memory.services.embedding.status import embedding_status
from vault_memory.services.embedding.trial import PAIRS, Trial, try_model, work
from vault_memory.services.indexing.reconcile import embed
from vault_memory.services.vault import Vault, open_vault

ENGLISH = {
    "coffee": "1",
    "latte": "1",
    "tomorrow": "2",
    "o'clock": "2",
    "program": "3",
    "Software": "3",
    "puppy": "4",
    "dog": "4",
    "forecast": "5",
    "umbrella": "5",
    "guitar": "6",
    "instrument": "6",
}
NO_CHINESE = {"咖啡": "7", "硬碟": "7", "開會": "8", "貓咪": "8", "程式": "9", "夕陽": "9", "小狗": "10", "文件": "10"}


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer(dimension=64) as server:
        yield server


def settings(*servers: EmbeddingServer, model: str = "m") -> dict[str, object]:
    urls = [{"url": f"{server.url}/embeddings"} for server in servers]
    return {"kind": "http", "model": model, "endpoints": urls, "query_prefix": "", "document_prefix": ""}


def tried(vault: Vault, *servers: EmbeddingServer) -> Trial:
    plan = planned(vault, settings(*servers))
    return try_model(plan, work(plan))


def test_what_is_to_do_is_counted_before_anything_is_asked(bare_vault: Vault, server: EmbeddingServer) -> None:
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    for n in range(15):
        write(bare_vault, "alice", f"{n}.md", f"my key is {key}, number {n}\n我有憂鬱症。\n")
    todo = work(planned(bare_vault, settings(server)))
    assert (todo.passages, todo.waiting, len(todo.sample), todo.dimensions) == (15, 15, 10, set())
    assert 15 * 15 < todo.tokens < 15 * 60 and not any(key in text or "憂鬱" in text for text in todo.sample)
    assert server.received == []


def test_a_model_that_knows_one_language_is_told_apart(bare_vault: Vault, server: EmbeddingServer) -> None:
    server.alike = ENGLISH | NO_CHINESE
    trial = tried(bare_vault, server)
    assert trial.pairs["English"] == PAIRS and trial.pairs["Chinese"] <= PAIRS - 4
    assert trial.dimension == 64 and trial.passages_per_s > 0 and trial.question_problem == ""


def test_a_slow_model_is_measured_and_a_question_that_takes_too_long_is_told(
    bare_vault: Vault, server: EmbeddingServer
) -> None:
    server.wait_s = 0.5
    trial = tried(bare_vault, server)
    assert trial.passages_per_s < 6 / 0.5 and "within 0.3 s" in trial.question_problem


def test_endpoints_that_serve_two_models_are_refused(bare_vault: Vault, server: EmbeddingServer) -> None:
    with EmbeddingServer(dimension=64, alike={"": "x"}) as other, pytest.raises(EndpointError, match="same model"):
        tried(bare_vault, server, other)
    with EmbeddingServer(dimension=64) as other:
        assert [reached.problem for reached in tried(bare_vault, server, other).reached] == ["", ""]


def test_an_endpoint_that_is_down_is_named_and_the_other_is_tried(bare_vault: Vault, server: EmbeddingServer) -> None:
    with EmbeddingServer(dimension=64, status=503) as other:
        reached = tried(bare_vault, other, server).reached
    assert "answered 503" in reached[0].problem and reached[1].dimension == 64


@pytest.mark.parametrize("number", ["NaN", "1e999", "0", '"a"', "null"])
def test_what_is_no_vector_is_refused(bare_vault: Vault, server: EmbeddingServer, number: str) -> None:
    def reply(received: Received) -> Reply:
        rows = ", ".join(f'{{"embedding": [{number}, {number}]}}' for _ in received.fields["input"])
        return Reply([f'{{"data": [{rows}]}}'.encode()])

    server.script = [reply]
    with pytest.raises(EndpointError, match="gave a vector"):
        tried(bare_vault, server)


def test_a_model_that_changes_its_dimension_is_refused(bare_vault: Vault, server: EmbeddingServer) -> None:
    def reply(received: Received) -> Reply:
        dimension = 8 if len(server.received) <= 2 else 9
        return Reply([json.dumps({"embeddings": [[1.0] * dimension for _ in received.fields["input"]]}).encode()])

    server.script = [reply]
    with pytest.raises(EndpointError, match="dimensions instead of"):
        tried(bare_vault, server)


def test_another_model_under_a_known_name_is_refused(bare_vault: Vault, server: EmbeddingServer) -> None:
    write(bare_vault, "alice", "n.md", "tea\n")
    choose(bare_vault_with_git(bare_vault), settings(server))
    vault = open_vault(bare_vault.root)
    work(vault)
    while embed(vault, "alice"):
        pass
    server.dimension = 32
    with pytest.raises(EndpointError, match="gives 32 dimensions, and the 64 of http:m .*reindex"):
        tried(vault, server)


def bare_vault_with_git(vault: Vault) -> Vault:
    from vault_memory.adapters.history import History

    History.create(vault.root)
    return open_vault(vault.root)


def test_a_plan_writes_nothing_and_checks_as_opening_does(bare_vault: Vault, server: EmbeddingServer) -> None:
    before = (bare_vault.root / "vault-memory.toml").read_bytes()
    with pytest.raises(ConfigError, match="whole address"):
        planned(bare_vault, settings(server) | {"endpoints": [{"url": server.url}]})
    assert planned(bare_vault, settings(server)).embedder.space == "http:m"
    assert (bare_vault.root / "vault-memory.toml").read_bytes() == before
    set_here = open_vault(bare_vault.root, environ={"VAULT_MEMORY_EMBEDDING_KIND": "offline"})
    with pytest.raises(UsageError, match="VAULT_MEMORY_EMBEDDING_KIND in the environment wins"):
        planned(set_here, settings(server))


def test_a_choice_is_this_machine_s_yes_and_the_person_s_commit(vault: Vault, server: EmbeddingServer) -> None:
    file = vault.root / "vault-memory.toml"
    before = file.read_text()
    assert choose(vault, settings(server))
    config = open_vault(vault.root).config
    assert config.embedding_kind == "http" and config.waiting == ()
    assert [line for line in before.splitlines() if line not in file.read_text().splitlines()] == []
    entry = vault.history.log(limit=1)[0]
    assert entry.subject == "settings: embedding by http m" and entry.author != "vault-memory"
    assert not choose(open_vault(vault.root), settings(server)), "the same again changes nothing"
    assert choose(open_vault(vault.root), {"kind": "offline"})
    assert open_vault(vault.root).config.embedding_model == "m", "the other settings stay"


def test_the_status_sends_nothing_of_the_vault(vault: Vault, server: EmbeddingServer) -> None:
    write(vault, "alice", "n.md", "tea\n")
    choose(vault, settings(server))
    current = embedding_status(open_vault(vault.root))
    assert current.space == "http:m" and [reached.dimension for reached in current.reached] == [64]
    assert [(scope.scope, scope.passages, scope.vectors) for scope in current.scopes][1] == ("memory/alice", 1, 0)
    assert all(scope.answers.startswith("offline-") and "0 of" in scope.gap for scope in current.scopes)
    assert server.texts == [["vault-memory asks whether this model answers."]]


def test_a_secret_in_place_of_the_models_name_is_in_no_commit_message(vault: Vault, server: EmbeddingServer) -> None:
    """The file with it waits; corrected, its commit is made with the message of the first try."""
    key = "sk-proj-" + "aB3dE5fG7hJ9kL1mN2pQ4rS6"
    choose(vault, settings(server, model=key))  # type: ignore[arg-type]
    choose(open_vault(vault.root), settings(server, model="bge"))  # type: ignore[arg-type]
    commits = vault.history.log([], limit=5)
    assert "embedding by http" in "".join(entry.subject for entry in commits)
    assert key not in "".join(entry.subject for entry in commits)
