"""`vault-memory embedding` as a person meets it, with a real endpoint: nothing is sent before they have seen it, a
build can be stopped and goes on, and a model that fails leaves nothing half done."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.adapters.embedding.test_local import cache_model
from tests.conftest import Cli, wait_until
from tests.scripted_http import EmbeddingServer, Received, Reply
from vault_memory.adapters.embedding.local import MODEL
from vault_memory.adapters.embedding.offline import OfflineEmbedder
from vault_memory.core import layout
from vault_memory.core.ranking.probes import MAX_PROBES
from vault_memory.services.embedding.status import GREETING
from vault_memory.services.vault import open_vault

pytestmark = pytest.mark.slow

KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer(dimension=64) as server:
        yield server


@pytest.fixture
def full(cli: Cli) -> Cli:
    """A vault in which alice has 300 notes."""
    folder = cli.folder / "memory" / "alice"
    folder.mkdir(parents=True)
    for n in range(300):
        (folder / f"{n}.md").write_text(f"Note {n} about cats. My key is {KEY}. 我有憂鬱症。\n")
    return cli


def use(server: EmbeddingServer, *more: str) -> list[str]:
    return ["embedding", "use", "http", f"{server.url}/embeddings", "--model", "m", *more]


def held(cli: Cli) -> dict[str, tuple[int, int]]:
    """The spaces of alice's index: how many vectors there are, and how many are missing."""
    return {name: space[1:] for name, space in open_vault(cli.folder).index("alice").spaces().items()}


def settings(cli: Cli) -> str:
    return (cli.folder / layout.SETTINGS_FILE).read_text()


def test_nothing_is_sent_before_it_was_shown_and_agreed_to(full: Cli, server: EmbeddingServer) -> None:
    before = settings(full)
    done = full.run(*use(server, "--key-env", "MY_KEY"))
    assert done.returncode == 1 and "with --yes" in done.stderr
    assert f"to {server.url}/embeddings, with the key in $MY_KEY" in done.stdout
    assert "[private]" in done.stdout and KEY not in done.stdout and "憂鬱" not in done.stdout
    assert "315 of 315 passages" in done.stdout and "every passage of every user" in done.stdout
    assert server.received == [] and settings(full) == before and set(held(full)) == {OfflineEmbedder.space}


def test_the_journey(full: Cli, server: EmbeddingServer) -> None:
    """Trial, time and price, settings with their comments, vectors, status, search; and back to offline."""
    before = settings(full).splitlines()
    said = full(*use(server, "--yes", "--price", "20"))
    assert "64 dimensions" in said and "passages a second" in said and "to pay" in said
    assert "http:m answers" in said
    assert [line for line in before if line not in settings(full).splitlines()] == []
    assert full.git("log", "-1", "--format=%an %s") == "vault owner settings: embedding by http m\n"
    assert full("trust").startswith("nothing waits"), "what this command wrote is this machine's yes"
    assert held(full)["http:m"] == (300, 0)
    sent = "".join(text for texts in server.texts for text in texts)
    assert KEY not in sent and "憂鬱" not in sent and "about cats" in sent
    words = ("search", "--user", "alice", "--mode", "vector", "--explain", "--json", "cats")
    found = json.loads(full(*words, VAULT_MEMORY_EMBEDDING_QUERY_TIMEOUT_MS="10000"))
    assert found["hits"][0]["explain"]["space"] == "http:m" and found["degraded"] == []
    current = full.json("embedding", "status")
    assert current["space"] == "http:m" and current["reached"][0]["problem"] == ""
    assert {scope["scope"]: scope["vectors"] for scope in current["scopes"]}["memory/alice"] == 300

    asked = len(server.texts)
    assert "answers in" in full("embedding", "use", "http")
    assert server.texts[asked:] == [[GREETING]], "nothing is left to do, and nothing of the vault's goes to see that"
    assert "the 315 vectors of http:m go" in full("embedding", "use", "offline", "--yes")
    assert set(held(full)) == {OfflineEmbedder.space} and full("embedding", "status").startswith("model    offline-")


def test_a_model_that_changes_its_dimension_is_told_until_it_is_begun_anew(full: Cli, server: EmbeddingServer) -> None:
    """While every passage has its vector, too: nothing waits, and yet no question could be answered."""
    full(*use(server, "--yes"))
    server.dimension = 48
    told = f"{server.url.split('/')[2]} gives 48 dimensions, and the 64 of http:m are in the index"
    done = full.run(*use(server))
    assert done.returncode == 1 and told in done.stderr and "every passage has its vector" not in done.stdout
    assert f"degraded {told}" in full("embedding", "status")
    assert any(told in line for line in full.json("embedding", "status")["degraded"])
    found = full.json("search", "--user", "alice", "--explain", "cats")
    assert found["hits"] and "gave 48 dimensions, the index holds 64" in found["degraded"][0]

    full("reindex")
    full("embedding", "use", "http")
    assert held(full)["http:m"] == (300, 0)
    words = ("search", "--user", "alice", "--explain", "--json", "cats")
    found = json.loads(full(*words, VAULT_MEMORY_EMBEDDING_QUERY_TIMEOUT_MS="10000"))
    assert found["hits"][0]["explain"]["space"] == "http:m" and found["degraded"] == []


def test_a_local_model_sends_nothing_and_stays_behind_the_endpoints(
    cli: Cli, server: EmbeddingServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A7: endpoints, then the local model, then offline."""
    cache_model(tmp_path / "cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (cli.folder / "memory" / "alice").mkdir(parents=True)
    (cli.folder / "memory" / "alice" / "n.md").write_text("A note about cats.\n")
    said = cli("embedding", "use", "local", "--yes")
    assert "nothing is sent" in said and "384 dimensions" in said and held(cli)[f"local:{MODEL}"] == (1, 0)
    assert "go when all are there" not in cli(*use(server, "--yes"))
    server.status = 503
    words = ("search", "--user", "alice", "--explain", "--json", "cats")
    found = json.loads(cli(*words, VAULT_MEMORY_EMBEDDING_QUERY_TIMEOUT_MS="10000"))
    assert found["hits"][0]["explain"]["space"] == f"local:{MODEL}" and "answered 503" in found["degraded"][0]
    shown = cli("embedding", "status")
    assert "answered 503" in shown and f"memory/alice: 1 of 1 passage; local:{MODEL} answers" in shown


def test_a_build_that_is_stopped_goes_on(full: Cli, server: EmbeddingServer) -> None:
    server.wait_s = 0.2
    process = full.start(*use(server, "--yes"))
    wait_until(lambda: "http:m" in held(full), "the first batch is stored")
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 130 and "stopped; what is computed is kept: the same command goes on" in said
    assert "Traceback" not in said and f"{layout.SETTINGS_FILE} is written" in said
    vectors, left = held(full)["http:m"]
    assert 0 < left < 300
    assert (
        OfflineEmbedder.space
        in full.json("search", "--user", "alice", "--explain", "cats")["hits"][0]["explain"]["space"]
    )
    server.wait_s, sent = 0.0, sum(map(len, server.texts))
    full(*use(server))
    assert held(full)["http:m"] == (300, 0)
    others = 2 * 18 + 10 + 1 + 1 + 2 * MAX_PROBES  # the trial, its greeting and question, and the probes at the end
    assert sum(map(len, server.texts)) - sent <= 315 - vectors + others, "none is computed again"


def test_the_status_tells_that_a_model_is_too_slow_for_questions(full: Cli, server: EmbeddingServer) -> None:
    full(*use(server, "--yes"))
    assert "a question waits" not in full("embedding", "status", VAULT_MEMORY_EMBEDDING_QUERY_TIMEOUT_MS="60000")
    server.wait_s = 0.5
    told = full("embedding", "status", VAULT_MEMORY_EMBEDDING_QUERY_TIMEOUT_MS="100")
    assert "degraded 127.0.0.1" in told and "a question waits 100: words and offline vectors answer then" in told


def test_a_model_that_vanishes_in_the_middle_leaves_what_it_gave(full: Cli, server: EmbeddingServer) -> None:
    server.after = 10
    done = full.run(*use(server, "--yes"))
    assert done.returncode == 1 and "answered 503; what is computed is kept: the same command goes on" in done.stderr
    vectors, left = held(full)["http:m"]
    assert vectors % 64 == 0 and left == 300 - vectors > 0
    found = full.json("search", "--user", "alice", "--mode", "vector", "cats")
    assert any(f"{vectors} of 300 passages in space http:m" in line for line in found["degraded"])
    server.after = 10**9
    assert "every passage has its vector" in full("heartbeat", "--now", "vectors")
    assert held(full)["http:m"] == (300, 0)


def test_a_model_that_turns_bad_in_the_middle_stores_no_bad_vector(full: Cli, server: EmbeddingServer) -> None:
    good = server.script[0]
    assert callable(good)

    def reply(received: Received) -> Reply:
        if len(server.received) <= 8:
            return good(received)
        rows = [{"embedding": [float("nan")] * 64} for _ in received.fields["input"]]
        return Reply([json.dumps({"data": rows}).encode()])

    server.script = [reply]
    done = full.run(*use(server, "--yes"))
    assert done.returncode == 1 and "gave a vector that holds no numbers" in done.stderr
    assert held(full).get("http:m", (0, 300)) != (300, 0)


def test_a_model_that_cannot_be_asked_changes_nothing(full: Cli, server: EmbeddingServer) -> None:
    server.status, before = 500, settings(full)
    done = full.run(*use(server, "--yes"))
    assert done.returncode == 1 and "answered 500" in done.stderr
    assert settings(full) == before and set(held(full)) == {OfflineEmbedder.space}


def test_a_model_of_one_language_and_a_slow_one_are_warned_of(cli: Cli, server: EmbeddingServer) -> None:
    server.wait_s = 0.4
    done = cli.run(*use(server, "--yes"))
    assert done.returncode == 0
    assert "warning: it seems to know no" in done.stderr and "pairs of sentences apart" in done.stderr
    assert "warning: a question gets no vector in time" in done.stderr and "query_timeout_ms" in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such terminals")
@pytest.mark.parametrize(
    ("answers", "is_tried", "is_set"), [("n", False, False), ("yn", True, False), ("yy", True, True)]
)
def test_at_a_terminal_it_asks_twice_and_shows_a_bar(
    full: Cli, server: EmbeddingServer, answers: str, is_tried: bool, is_set: bool
) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "vault_memory", *use(server)],
        cwd=full.folder, stdin=theirs, stdout=subprocess.PIPE, stderr=theirs, text=True,
    )  # fmt: skip
    os.write(ours, "".join(f"{answer}\n" for answer in answers).encode())
    printed, _ = process.communicate(timeout=60)
    shown = os.read(ours, 100_000).decode()
    os.close(ours), os.close(theirs)
    assert process.returncode == (0 if is_set else 1)
    assert bool(server.received) == is_tried and ('kind = "http"' in settings(full)) == is_set
    assert "to try it? [y/N]" in printed and ("[####" in shown and "315 of 315 passages" in shown) == is_set


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["http"], "http needs a URL"),
        (["http", "http://h/api/embed"], "--model NAME"),
        (["http", "http://h/api/embed", "--model", "m", "--key-env", "A", "--key-env", "B"], "2 --key-envs for 1 URL"),
        (["http", "http://h/api", "--model", "m"], "needs the whole address"),
        (["http", "http://a:b@h/api/embed", "--model", "m"], "must not have a password"),
        (["local", "http://h/api/embed"], "local has no URL"),
        (["offline", "--model", "m"], "offline has no model"),
    ],
)
def test_a_wrong_call_says_what_is_wrong(cli: Cli, words: list[str], told: str) -> None:
    before = settings(cli)
    assert told in cli("embedding", "use", *words, "--yes", code=2) and settings(cli) == before


def test_the_environment_wins_and_that_is_said(cli: Cli, server: EmbeddingServer) -> None:
    told = cli(*use(server, "--yes"), code=2, VAULT_MEMORY_EMBEDDING_MODEL="x")
    assert "VAULT_MEMORY_EMBEDDING_MODEL in the environment wins" in told and server.received == []


def test_settings_that_came_from_elsewhere_are_not_agreed_to_in_passing(cli: Cli, server: EmbeddingServer) -> None:
    """The yes is for what was shown, not for an endpoint that stands in the file."""
    file = cli.folder / layout.SETTINGS_FILE
    file.write_text(
        'format = 1\n[embedding]\nkind = "http"\nmodel = "evil"\nendpoints = [{url = "http://e/api/embed"}]\n'
    )
    assert "http needs a URL" in cli("embedding", "use", "http", "--yes", code=2)
    cli(*use(server, "--yes"))
    assert "evil" not in file.read_text() and cli("trust").startswith("nothing waits")
