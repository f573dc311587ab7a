"""Which vectors answer: of the configured model, of the former one, or offline; with real endpoints of two models."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.adapters.embedding.test_local import cache_model
from tests.conftest import wait_until
from tests.scripted_http import EmbeddingServer
from tests.vaults import say_yes, write
from vault_memory.adapters.embedding.local import MODEL
from vault_memory.adapters.embedding.offline import OfflineEmbedder
from vault_memory.adapters.index.base import Space
from vault_memory.core import layout
from vault_memory.errors import ConfigError, EndpointError
from vault_memory.services.admin.status import status
from vault_memory.services.daemon.daemon import Daemon
from vault_memory.services.daemon.daemon_record import DaemonRecord, read_record
from vault_memory.services.daemon.event_log import Event
from vault_memory.services.embedding import embedding_status
from vault_memory.services.indexing.rebuild import rebuild
from vault_memory.services.indexing.reconcile import embed, reconcile
from vault_memory.services.indexing.spaces import answering, progress
from vault_memory.services.retrieval.query import SearchQuery, SearchResult
from vault_memory.services.retrieval.search import search
from vault_memory.services.vault import Vault, open_vault

pytestmark = pytest.mark.slow

OFFLINE = OfflineEmbedder.space
OLD, NEW, LOCAL = "http:old", "http:new", f"local:{MODEL}"


@pytest.fixture
def old() -> Iterator[EmbeddingServer]:
    with EmbeddingServer(dimension=8) as server:
        yield server


@pytest.fixture
def new() -> Iterator[EmbeddingServer]:
    with EmbeddingServer(dimension=12) as server:
        yield server


PATIENT = "query_timeout_ms = 10_000\n"
"""For tests that ask what answers, not how fast, on a machine that may be busy."""


def settings(root: Path, model: str, server: EmbeddingServer, more: str = PATIENT) -> Vault:
    """The vault after its settings changed: opened anew, as a person restarts the daemon."""
    text = f'format = 1\n[embedding]\nkind = "http"\nmodel = "{model}"\n{server.settings}{more}'
    (root / layout.SETTINGS_FILE).write_text(text)
    say_yes(root)
    return open_vault(root)


def filled(vault: Vault, notes: int = 3, lines: str = "Note {n} is about cats number {n}.\n") -> Vault:
    for n in range(notes):
        write(vault, "alice", f"n{n}.md", lines.format(n=n))
    reconcile(vault, "alice")
    return vault


def complete(vault: Vault) -> None:
    while embed(vault, "alice"):
        pass


def asked(vault: Vault, query: str = "cats") -> tuple[SearchResult, str]:
    """What a search gives, and the space of the vectors that answered."""
    found = search(vault, "alice", SearchQuery(query))
    return found, found.hits[0].explain["space"]


def test_a_model_behind_an_endpoint_finds_what_no_word_finds(bare_vault: Vault, old: EmbeddingServer) -> None:
    old.dimension, old.alike = 64, {"feline": "cat", "cats": "cat"}
    vault = filled(settings(bare_vault.root, "old", old), 60, "Cars are {n}.\n")
    write(vault, "alice", "pet.md", "I am fond of cats.\n")
    reconcile(vault, "alice")
    assert "pet.md" not in {hit.source for hit in search(vault, "alice", SearchQuery("feline")).hits}
    complete(vault)
    found, space = asked(vault, "feline")
    assert found.hits[0].source == "pet.md" and space == OLD and found.degraded == []


def test_with_the_endpoint_down_offline_vectors_and_words_answer_in_time(
    bare_vault: Vault, old: EmbeddingServer
) -> None:
    """Law 6: the search ends with the query's time-out, and does not wait for the endpoint."""
    vault = filled(settings(bare_vault.root, "old", old, more=""))
    complete(vault)
    asked(vault)
    old.wait_s, answered = 60.0, old.answered
    found, space = asked(vault, "cats number 1")
    assert old.answered == answered, "the search is over, and the endpoint has not answered yet"
    assert found.hits[0].source == "n1.md" and space == OFFLINE
    assert found.degraded[0].startswith("embedding: ") and "127.0.0.1" in found.degraded[0]


def test_words_answer_before_the_vectors_are_there_and_it_is_told(bare_vault: Vault, old: EmbeddingServer) -> None:
    old.status = 503
    vault = filled(settings(bare_vault.root, "old", old))
    found = search(vault, "alice", SearchQuery("cats number 2"))
    assert found.hits[0].source == "n2.md"
    assert found.degraded == [
        "embedding: 0 of 3 passages in space http:old; words and offline vectors answer meanwhile"
    ]


def test_vectors_that_the_endpoint_could_not_give_follow(bare_vault: Vault, old: EmbeddingServer) -> None:
    vault = filled(settings(bare_vault.root, "old", old, PATIENT + "timeout_s = 2.0\n"))
    old.status = 503
    with pytest.raises(EndpointError):
        complete(vault)
    assert set(vault.index("alice").spaces()) == {OFFLINE}
    old.status = 200
    again = open_vault(vault.root)
    complete(again)
    assert asked(again)[1] == OLD and asked(again)[0].degraded == []


def test_the_old_model_answers_until_the_new_one_is_complete(
    bare_vault: Vault, old: EmbeddingServer, new: EmbeddingServer
) -> None:
    """The model and its dimension change; the build breaks off in the middle and goes on."""
    complete(filled(settings(bare_vault.root, "old", old), 300))
    new.after = 4  # one batch of 256 chunks is four requests
    vault = settings(bare_vault.root, "new", new)
    with pytest.raises(EndpointError):
        complete(vault)
    found, space = asked(vault)
    assert space == OLD
    assert found.degraded == ["embedding: 256 of 300 passages in space http:new; http:old answers meanwhile"]
    spaces = vault.index("alice").spaces()
    assert spaces[NEW] == Space(12, 256, 44) and spaces[OLD] == Space(8, 300, 0)
    assert progress(vault.index("alice"), NEW) == "256 of 300 passages in space http:new"
    new.after, sent = 10**9, len(new.texts)
    again = open_vault(vault.root)
    complete(again)
    assert sum(map(len, new.texts[sent:])) == 44, "what was computed is not computed again"
    found, space = asked(again)
    assert space == NEW and found.degraded == []
    assert set(again.index("alice").spaces()) == {OFFLINE, NEW}
    assert old.models.count("new") == new.models.count("old") == 0, "no model is asked for another's vectors"


def is_quiet(server: EmbeddingServer) -> bool:
    """Whether no request comes for a moment."""
    before = len(server.texts)
    time.sleep(0.2)
    return len(server.texts) == before


def test_a_build_that_is_killed_goes_on(bare_vault: Vault, old: EmbeddingServer, new: EmbeddingServer) -> None:
    """kill -9 in the middle of the new space: the old one answers, and nothing is lost or computed twice."""
    complete(filled(settings(bare_vault.root, "old", old), 600))
    vault = settings(bare_vault.root, "new", new)
    new.wait_s = 0.2
    code = (
        "import sys; from vault_memory.services.vault import open_vault\n"
        "from vault_memory.services.indexing.reconcile import embed\n"
        "while embed(open_vault(sys.argv[1]), 'alice'): pass"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(vault.root)], env=os.environ)
    wait_until(lambda: NEW in vault.index("alice").spaces(), "the first batch is stored")
    process.send_signal(signal.SIGKILL)
    process.wait(60)
    wait_until(lambda: is_quiet(new), "the last requests of the killed process have arrived")
    new.wait_s, sent = 0.0, len(new.texts)
    left = vault.index("alice").spaces()[NEW].pending
    assert 0 < left < 600 and asked(vault)[1] == OLD
    complete(vault)
    assert sum(map(len, new.texts[sent:])) == left
    assert asked(vault)[1] == NEW


def test_the_old_endpoint_is_down_while_the_new_space_is_built(
    bare_vault: Vault, old: EmbeddingServer, new: EmbeddingServer
) -> None:
    complete(filled(settings(bare_vault.root, "old", old), 300))
    old.status, new.after = 503, 4
    vault = settings(bare_vault.root, "new", new)
    with pytest.raises(EndpointError):
        complete(vault)
    found, space = asked(vault)
    assert space == OFFLINE and "no embedding endpoint answered" in found.degraded[0]
    assert found.degraded[1:] == [
        "embedding: 256 of 300 passages in space http:new; words and offline vectors answer meanwhile"
    ]


def test_how_the_old_model_was_asked_is_remembered_without_secrets_and_may_be_lost(
    bare_vault: Vault, old: EmbeddingServer, new: EmbeddingServer
) -> None:
    complete(filled(settings(bare_vault.root, "old", old), 300))
    new.after = 4
    vault = settings(bare_vault.root, "new", new)
    with pytest.raises(EndpointError):
        complete(vault)
    record = vault.root / layout.STATE_DIR / "embedding.json"
    kept = json.loads(record.read_text())
    assert kept[OLD] == {
        "kind": "http", "model": "old", "endpoints": [{"url": f"{old.url}/embeddings"}], "query_prefix": "",
        "document_prefix": "",
    }  # fmt: skip
    for damage in (lambda: record.write_text("{"), record.unlink):
        damage()
        found, space = asked(open_vault(vault.root))
        assert space == OFFLINE
        assert found.degraded == [
            "embedding: the settings of http:old are lost",
            "embedding: 256 of 300 passages in space http:new; words and offline vectors answer meanwhile",
        ]


def test_a_model_that_changed_under_its_name_is_refused_and_the_index_stays(
    bare_vault: Vault, old: EmbeddingServer, new: EmbeddingServer
) -> None:
    complete(filled(settings(bare_vault.root, "old", old), 12))
    vault = filled(settings(bare_vault.root, "old", new), 13)
    with pytest.raises(EndpointError, match="12 dimensions, the index holds 8"):
        complete(vault)
    found, space = asked(vault)
    assert space == OFFLINE and "gave 12 dimensions, the index holds 8" in found.degraded[0]
    assert vault.index("alice").spaces()[OLD] == Space(8, 12, 1)

    rebuild(vault, "alice")
    complete(vault)
    for _ in range(2):  # by SQL and by the matrix in memory
        assert asked(vault)[1] == OLD and asked(vault)[0].degraded == []
    assert vault.index("alice").spaces()[OLD] == Space(12, 13, 0)


def test_a_model_that_changed_gives_no_other_index_vectors_of_another_dimension(
    bare_vault: Vault, old: EmbeddingServer, new: EmbeddingServer
) -> None:
    """In the middle of a build: one user's index is complete, the next one's is empty."""
    vault = filled(settings(bare_vault.root, "old", old), 12)
    complete(vault)
    write(vault, "bob", "n.md", "Cats sleep.\n")
    vault = settings(bare_vault.root, "old", new)
    reconcile(vault, "bob")
    with pytest.raises(EndpointError, match="gives 12 dimensions, and the 8 of http:old .*reindex"):
        embed(vault, "bob")
    assert OLD not in vault.index("bob").spaces()
    assert any("gives 12 dimensions" in line for line in embedding_status(vault).degraded)
    answers = {scope.scope: scope.answers for scope in embedding_status(vault).scopes}
    assert answers["memory/alice"] == OFFLINE, "its vectors cannot be asked by this model"


def test_a_process_with_the_settings_of_yesterday_computes_and_drops_nothing(
    bare_vault: Vault, old: EmbeddingServer, new: EmbeddingServer
) -> None:
    before = filled(settings(bare_vault.root, "old", old))
    complete(before)
    complete(settings(bare_vault.root, "new", new))
    with pytest.raises(ConfigError, match="restart"):
        complete(before)
    assert set(before.index("alice").spaces()) == {OFFLINE, NEW}


def test_back_to_offline_forgets_the_model(bare_vault: Vault, old: EmbeddingServer) -> None:
    vault = filled(settings(bare_vault.root, "old", old))
    complete(vault)
    (vault.root / layout.SETTINGS_FILE).write_text("format = 1\n")
    vault = open_vault(vault.root)
    complete(vault)
    assert set(vault.index("alice").spaces()) == {OFFLINE} and asked(vault)[1] == OFFLINE


def test_status_and_the_daemon_tell_how_far_the_new_space_is(
    vault: Vault, old: EmbeddingServer, new: EmbeddingServer
) -> None:
    complete(filled(settings(vault.root, "old", old), 300))
    new.after = 4
    vault = settings(vault.root, "new", new)
    with pytest.raises(EndpointError):
        complete(vault)
    told = "memory/alice: 256 of 300 passages in space http:new; http:old answers meanwhile"
    assert told in status(vault).degraded

    new.after = 10**9
    filled(vault, 700)
    events: list[Event] = []
    stop = threading.Event()
    daemon = threading.Thread(target=Daemon(open_vault(vault.root), events.append).run, args=(stop,))
    daemon.start()
    try:
        wait_until(lambda: any("700 of 700 passages" in e.message for e in events), "the end is published", 60)
    finally:
        stop.set()
        daemon.join(60)
    progress = [
        e for e in events if e.kind == "vectors" and e.where == "memory/alice" and "of 700 passages" in e.message
    ]
    assert len(progress) > 1
    assert not any("passages" in line for line in status(vault, "alice").degraded)


@pytest.mark.slow
def test_the_daemon_fills_in_what_the_endpoint_could_not_give(vault: Vault, old: EmbeddingServer) -> None:
    """The offline vectors of every scope are there meanwhile; what failed is tried again."""
    old.status = 503
    vault = filled(settings(vault.root, "old", old))
    stop = threading.Event()
    daemon = threading.Thread(target=Daemon(open_vault(vault.root)).run, args=(stop,))
    daemon.start()
    try:
        for scope in ("alice", layout.SHARED):
            wait_until(lambda scope=scope: OFFLINE in vault.index(scope).spaces(), "offline vectors are there")
        wait_until(lambda: "vectors" in (read_record(vault.root) or DaemonRecord()).problems, "the trouble is told")
    finally:
        stop.set()
        daemon.join(60)
    assert asked(vault, "cats number 2")[0].hits[0].source == "n2.md"


@pytest.mark.parametrize(
    ("spaces", "name"),
    [
        ({}, OFFLINE),
        ({OFFLINE: Space(512, 100, 0)}, OFFLINE),
        ({OFFLINE: Space(512, 100, 0), NEW: Space(12, 89, 11)}, OFFLINE),
        ({OFFLINE: Space(512, 100, 0), NEW: Space(12, 90, 10)}, NEW),
        ({OFFLINE: Space(512, 100, 0), OLD: Space(8, 95, 5), NEW: Space(12, 94, 6)}, OLD),
        ({OFFLINE: Space(512, 100, 0), OLD: Space(8, 95, 5), NEW: Space(12, 100, 0)}, NEW),
        ({OFFLINE: Space(512, 100, 0), LOCAL: Space(384, 100, 0), NEW: Space(12, 89, 11)}, LOCAL),
        ({OFFLINE: Space(512, 100, 0), LOCAL: Space(384, 100, 0), NEW: Space(12, 90, 10)}, NEW),
        ({OFFLINE: Space(512, 100, 0), "http:older": Space(8, 3, 97), OLD: Space(8, 60, 40)}, OLD),
    ],
)
def test_which_space_answers(spaces: dict[str, Space], name: str) -> None:
    assert answering(spaces, NEW) == name


def test_an_endpoint_is_sent_neither_secrets_nor_private_sentences(bare_vault: Vault, old: EmbeddingServer) -> None:
    """G7: what a person wrote into a note, and what is asked; `.vault-memory/embedding.json` holds no key either."""
    key, ill = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8", "憂鬱症"
    endpoint = f'[{{ url = "{old.url}/embeddings", key_env = "MY_KEY" }}]'
    text = f'format = 1\n[embedding]\nkind = "http"\nmodel = "old"\nendpoints = {endpoint}\n{PATIENT}'
    (bare_vault.root / layout.SETTINGS_FILE).write_text(text)
    say_yes(bare_vault.root)
    vault = open_vault(bare_vault.root, environ={"MY_KEY": "sesame"})
    write(vault, "alice", "a.md", f"# 部署\n\n用 {key} 部署。\n我有{ill}，最近在吃藥。\n\n星期五上線。\n")
    reconcile(vault, "alice")
    complete(vault)
    assert search(vault, "alice", SearchQuery(f"{key} 怎麼部署？我有{ill}")).degraded == []
    sent = "".join(text for batch in old.texts for text in batch)
    assert key not in sent and ill not in sent and "星期五上線" in sent and "怎麼部署" in sent
    assert search(vault, "alice", SearchQuery(ill)).hits, "words find it: they stay on this machine"
    assert "sesame" not in (vault.root / layout.STATE_DIR / "embedding.json").read_text()


def test_spaces_of_one_vault_may_differ_by_index(bare_vault: Vault, old: EmbeddingServer, new: EmbeddingServer) -> None:
    """Each index swaps by itself; a search over two asks each space's own model."""
    write(bare_vault, layout.SHARED, "shared.md", "Cats of everybody.\n")
    vault = filled(settings(bare_vault.root, "old", old))
    reconcile(vault, layout.SHARED)
    for scope in vault.scopes():
        while embed(vault, scope):
            pass
    vault = settings(bare_vault.root, "new", new)
    complete(vault)
    found = search(vault, "alice", SearchQuery("cats", scope="all"))
    assert {(hit.scope, hit.explain["space"]) for hit in found.hits} == {("alice", NEW), (layout.SHARED, OLD)}
    assert found.degraded == ["embedding: 0 of 1 passages in space http:new; http:old answers meanwhile"]


def test_a_space_with_a_few_waiting_passages_answers_and_names_them(bare_vault: Vault, old: EmbeddingServer) -> None:
    vault = filled(settings(bare_vault.root, "old", old), 20)
    complete(vault)
    write(vault, "alice", "new.md", "A new one about cats.\n")
    for mode in ("hybrid", "vector"):
        found = search(vault, "alice", SearchQuery("cats", mode=mode))  # type: ignore[arg-type]
        assert {hit.explain["space"] for hit in found.hits} <= {OLD, None}
        assert found.degraded == ["embedding: 20 of 21 passages in space http:old; words alone find the others"]
    assert search(vault, "alice", SearchQuery("cats", mode="keyword")).degraded == found.degraded
    complete(vault)
    assert search(vault, "alice", SearchQuery("cats", mode="vector")).degraded == []


def local_model(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> Vault:
    """The vault with all vectors of the local model, whose files are in the cache as if they had been downloaded."""
    cache = vault.root.parent / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    cache_model(cache)
    (vault.root / layout.SETTINGS_FILE).write_text('format = 1\n[embedding]\nkind = "local"\n')
    say_yes(vault.root)
    local = filled(open_vault(vault.root), 12)
    complete(local)
    assert asked(local)[1] == LOCAL
    return local


def test_a_local_model_answers_when_the_endpoints_are_down(
    bare_vault: Vault, old: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A7: endpoints, then a local model where its vectors are, then offline."""
    local_model(bare_vault, monkeypatch)
    vault = settings(bare_vault.root, "old", old)
    complete(vault)
    assert asked(vault)[1] == OLD and set(vault.index("alice").spaces()) == {OFFLINE, LOCAL, OLD}
    write(vault, "alice", "new.md", "A new one about cats.\n")
    reconcile(vault, "alice")
    complete(vault)
    assert vault.index("alice").spaces()[LOCAL] == Space(384, 13, 0), "its vectors follow, too"
    old.status = 503
    found, space = asked(vault)
    assert space == LOCAL and len(found.degraded) == 1 and "no embedding endpoint answered" in found.degraded[0]
    write(vault, "alice", "down.md", "Written about cats while the endpoints are down.\n")
    reconcile(vault, "alice")
    with pytest.raises(EndpointError):
        complete(vault)
    held = vault.index("alice").spaces()
    assert held[LOCAL] == Space(384, 14, 0) and held[OLD].pending == 1

    shutil.rmtree(bare_vault.root.parent / "cache")
    found, space = asked(open_vault(vault.root))
    assert space == OFFLINE and any("cannot be loaded" in line for line in found.degraded)


def test_a_local_model_that_is_gone_holds_up_no_endpoint(
    bare_vault: Vault, old: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    local_model(bare_vault, monkeypatch)
    shutil.rmtree(bare_vault.root.parent / "cache")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    vault = settings(bare_vault.root, "old", old)
    write(vault, "alice", "new.md", "A new one about cats.\n")
    reconcile(vault, "alice")
    complete(vault)
    found, space = asked(vault)
    assert space == OLD and found.degraded == []
