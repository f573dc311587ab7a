"""The daemon's vectors worker, over real indexes, with real child processes."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.conftest import wait_until
from tests.vaults import copied, write
from vault_memory.adapters.embedding.base import Kind, Vector
from vault_memory.adapters.embedding.offline import OfflineEmbedder
from vault_memory.errors import EndpointError, VaultMemoryError
from vault_memory.services.daemon.event_log import DaemonEvents, Event
from vault_memory.services.daemon.vector_worker import MAX_PASSAGES_HERE, VectorWorker
from vault_memory.services.indexing.reconcile import reconcile
from vault_memory.services.vault import Vault, open_vault


@pytest.fixture
def root(tmp_path: Path, new_vault: Path) -> Path:
    return copied(new_vault, tmp_path / "vault")


def lacking(vault: Vault) -> int:
    stats = vault.index("alice").stats()
    return stats.pending.get(vault.embedder.space, stats.chunks)


@contextmanager
def working(vault: Vault) -> Iterator[tuple[VectorWorker, list[Event]]]:
    events: list[Event] = []
    quiet, stop = threading.Event(), threading.Event()
    quiet.set()
    worker = VectorWorker(vault, DaemonEvents(vault, events.append), quiet)
    thread = threading.Thread(target=worker.run, args=(stop,))
    thread.start()
    try:
        yield worker, events
    finally:
        stop.set()
        worker.put(None)
        thread.join(60)
        assert not thread.is_alive()


SCRIPT = """
import sys, threading
from vault_memory.services.daemon.event_log import DaemonEvents
from vault_memory.services.vault import open_vault
from vault_memory.services.daemon.vector_worker import VectorWorker
vault, quiet = open_vault(sys.argv[1]), threading.Event()
quiet.set()
print(VectorWorker(vault, DaemonEvents(vault, lambda event: None), quiet).embed_everything(vault))
print(sorted({"numpy", "sklearn"} & sys.modules.keys()))
"""


@pytest.mark.slow
@pytest.mark.parametrize("count", [3, MAX_PASSAGES_HERE // 2, 3 * MAX_PASSAGES_HERE])
def test_no_number_of_passages_makes_a_daemon_load_scikit_learn(root: Path, count: int) -> None:
    vault = open_vault(root)
    for n in range(count):
        write(vault, "alice", f"{n}.md", f"# Note {n}\n\nabout 主題 {n}\n")
    reconcile(vault, "alice", embed_at_once=0)
    done = subprocess.run([sys.executable, "-c", SCRIPT, str(root)], capture_output=True, text=True, check=True)
    assert done.stdout == "every passage has its vector\n[]\n"
    assert lacking(vault) == 0


@pytest.mark.slow
def test_a_child_takes_the_settings_along(root: Path) -> None:
    """Were they others, the two would drop each other's vectors."""
    vault = open_vault(root, index_dir=str(root.parent / "elsewhere"))
    for n in range(2 * MAX_PASSAGES_HERE):
        write(vault, "alice", f"{n}.md", f"note {n}\n")
    reconcile(vault, "alice", embed_at_once=0)
    with working(vault) as (worker, events):
        worker.put("alice")
        wait_until(lambda: not lacking(vault), "all have their vectors", 60)
        wait_until(lambda: any("128 of 128" in event.message for event in events), "and the progress is published")


@pytest.mark.slow
def test_a_child_ends_with_the_daemon_and_the_next_goes_on_from_there(root: Path) -> None:
    vault = open_vault(root)
    for n in range(40 * MAX_PASSAGES_HERE):
        write(vault, "alice", f"{n}.md", f"note {n}\n")
    reconcile(vault, "alice", embed_at_once=0)
    with working(vault) as (worker, _):
        worker.put("alice")
        wait_until(lambda: lacking(vault) < 40 * MAX_PASSAGES_HERE, "it has begun", 60)
    before = lacking(vault)
    with working(vault) as (worker, _):
        worker.put("alice")
        wait_until(lambda: not lacking(vault), f"another goes on with {before}", 60)


class Endpoint:
    """The offline embedder behind an endpoint that a test takes down."""

    space, dimension = "http:m", OfflineEmbedder.dimension
    is_down = True

    def embed(self, texts: Sequence[str], kind: Kind = "document") -> Sequence[Vector]:
        if self.is_down:
            raise EndpointError("down: it is tried again")
        return OfflineEmbedder().embed(texts, kind)


@pytest.mark.slow
def test_an_endpoint_that_was_down_is_reported_and_asked_again(root: Path) -> None:
    endpoint = Endpoint()
    vault = open_vault(root, embedder=endpoint)
    write(vault, "alice", "note.md", "text\n")
    reconcile(vault, "alice", embed_at_once=0)
    with working(vault) as (worker, events):
        worker.put("alice")
        wait_until(lambda: "trouble" in {event.kind for event in events}, "it is reported")
        with pytest.raises(VaultMemoryError, match=r"memory/alice.*: down: it is tried again"):
            worker.embed_everything(vault)
        endpoint.is_down = False
        worker.put("alice")
        wait_until(lambda: "well" in {event.kind for event in events}, "it works again")
    assert lacking(vault) == 0
