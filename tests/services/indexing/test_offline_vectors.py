"""Whoever writes also makes the offline vectors at once, and what has none is named, whatever the way in."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from pathlib import PurePosixPath

import pytest

from tests.conftest import Cli
from tests.scripted_http import EmbeddingServer
from tests.vaults import say_yes, write
from vault_memory import MemorySearchEngine, aio, build_enhanced_prompt, search
from vault_memory.adapters.embedding.offline import OfflineEmbedder
from vault_memory.adapters.history import ASSISTANT
from vault_memory.core import layout
from vault_memory.services.admin.users import rename_user
from vault_memory.services.daemon.daemon_record import only_daemon
from vault_memory.services.indexing import spaces
from vault_memory.services.indexing.rebuild import rebuild
from vault_memory.services.indexing.reconcile import reconcile
from vault_memory.services.notes.save import save_note
from vault_memory.services.profiles.preferences import set_preference
from vault_memory.services.retrieval.query import Mode
from vault_memory.services.turns.record import record_turn
from vault_memory.services.vault import Vault, open_vault

OFFLINE = OfflineEmbedder.space
MODES: tuple[Mode, ...] = ("hybrid", "vector", "keyword")


def lacking(vault: Vault) -> int:
    """Passages without an offline vector, in an index that holds some."""
    assert vault.index("alice").stats().chunks > 0
    return spaces.lacking(vault.index("alice"), OFFLINE)


def test_the_services_that_write_leave_no_passage_without_a_vector(vault: Vault) -> None:
    record_turn(vault, "alice", "我喜歡暗色主題", "好")
    assert lacking(vault) == 0
    save_note(vault, PurePosixPath("memory/alice/n.md"), None, b"# Tea\n\nGreen.\n", "note", ASSISTANT)
    assert lacking(vault) == 0
    set_preference(vault, "alice", "theme", "light")
    assert lacking(vault) == 0
    for n in range(100):
        write(vault, "alice", f"many/{n}.md", f"note {n}\n")
    MemorySearchEngine(vault.root).index_student_memory("alice")
    assert lacking(vault) == 0
    rebuild(vault, "alice")
    assert lacking(vault) == 0
    rename_user(vault, "alice", "carol")
    assert spaces.lacking(vault.index("carol"), OFFLINE) == 0


def test_a_writer_that_was_killed_before_its_vectors_is_followed_by_the_next(vault: Vault) -> None:
    write(vault, "alice", "n.md", "tea\n")
    reconcile(vault, "alice", embed_at_once=0)
    assert lacking(vault) == 1
    reconcile(vault, "alice")
    assert lacking(vault) == 0


def test_of_many_passages_a_caller_may_leave_some(bare_vault: Vault) -> None:
    """The daemon's index worker does: the next edit's text comes first."""
    for n in range(20):
        write(bare_vault, "alice", f"{n}.md", f"note {n}\n")
    reconcile(bare_vault, "alice", embed_at_once=10)
    assert lacking(bare_vault) == 10


@pytest.mark.slow
def test_the_commands_that_write_leave_none_either(cli: Cli) -> None:
    """No daemon, no `heartbeat vectors`; each command is a process of its own."""
    cli("turn", "--user", "alice", "--message", "我喜歡暗色主題", "--reply", "好")
    assert lacking(open_vault(cli.folder)) == 0
    (cli.folder / "memory/alice/tea.md").write_text("# Tea\n\nGreen.\n")
    cli("reindex")
    assert lacking(open_vault(cli.folder)) == 0
    assert [scope["vectors_pending"] for scope in cli.json("status")["scopes"]] == [0, 0]


@pytest.mark.slow
def test_many_passages_load_nothing_that_stays(bare_vault: Vault) -> None:
    """A child hashes them: scikit-learn would stay in the memory of a server. The child has the settings, too."""
    for n in range(spaces.MAX_PLAIN_PASSAGES + 100):
        write(bare_vault, "alice", f"{n}.md", f"note {n}\n")
    code = (
        "import sys; from vault_memory.services.indexing import reconcile\n"
        "from vault_memory.services.vault import open_vault\n"
        "reconcile(open_vault(sys.argv[1], index_dir=sys.argv[2]), 'alice')\n"
        "print(sorted({'numpy', 'sklearn'} & sys.modules.keys()))"
    )
    elsewhere = str(bare_vault.root.parent / "elsewhere")
    command = [sys.executable, "-c", code, str(bare_vault.root), elsewhere]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "[]\n"
    assert lacking(open_vault(bare_vault.root, index_dir=elsewhere)) == 0


def test_a_run_that_is_stopped_leaves_the_vectors_for_the_next(bare_vault: Vault) -> None:
    for n in range(spaces.MAX_PLAIN_PASSAGES + 100):
        write(bare_vault, "alice", f"{n}.md", f"note {n}\n")
    reconcile(bare_vault, "alice", embed_at_once=0)
    stop = threading.Event()
    stop.set()
    reconcile(bare_vault, "alice", stop=stop)
    assert lacking(bare_vault) > 0


def test_waiting_passages_are_named_in_every_mode_by_search_and_prompt(vault: Vault) -> None:
    """A daemon keeps the index fresh, and has not come to the vectors yet."""
    write(vault, "alice", "n.md", "I like green tea.\n")
    reconcile(vault, "alice", embed_at_once=0)
    told = f"embedding: 0 of 1 passages in space {OFFLINE}; "
    alone = told + "no offline vectors exist, so words alone answer"
    with only_daemon(vault.root):
        assert [search(vault, "alice", "tea", mode=mode).degraded for mode in MODES] == [
            [alone],
            [alone],
            [told + "words alone find the others"],
        ]
        assert asyncio.run(aio.search(vault, "alice", "tea", mode="vector")).degraded == [alone]
        assert alone in build_enhanced_prompt(vault, "alice", "green tea").degraded
        write(vault, "alice", "m.md", "Black tea.\n")
        reconcile(vault, "alice", embed_at_once=1)
        assert search(vault, "alice", "tea", mode="vector").degraded == [
            f"embedding: 1 of 2 passages in space {OFFLINE}; words alone find the others"
        ]
    assert [search(vault, "alice", "tea", mode=mode).degraded for mode in MODES] == [[], [], []]


@pytest.mark.slow
def test_endpoints_down_and_no_offline_vectors(bare_vault: Vault) -> None:
    """The message says exactly that; the words answer."""
    with EmbeddingServer() as server:
        text = f'format = 1\n[embedding]\nkind = "http"\nmodel = "m"\n{server.settings}query_timeout_ms = 10_000\n'
        (bare_vault.root / layout.SETTINGS_FILE).write_text(text)
        say_yes(bare_vault.root)
        vault = open_vault(bare_vault.root)
        write(vault, "alice", "n.md", "I like green tea.\n")
        reconcile(vault, "alice", embed_at_once=0)
        index = vault.index("alice")
        assert index.embed_pending(vault.embedder) == 0 and set(index.spaces()) == {vault.embedder.space}
        server.status = 503
        with only_daemon(vault.root):
            found = search(vault, "alice", "tea", mode="vector")
        assert found.hits and found.degraded == [
            f"embedding: no embedding endpoint answered: {server.url.split('/')[2]} answered 503",
            "embedding: no offline vectors exist, so words alone answer",
        ]
