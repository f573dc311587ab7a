"""Search in a process of its own gives and raises what search does."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from tests.vaults import write
from vault_memory.errors import NotFound
from vault_memory.services.retrieval.query import SearchQuery
from vault_memory.services.retrieval.search import search
from vault_memory.services.retrieval.search_process import SearchProcess
from vault_memory.services.vault import Vault

pytestmark = pytest.mark.slow


def test_it_answers_as_a_search_here_does(bare_vault: Vault) -> None:
    write(bare_vault, "alice", "notes/ship.md", "The zeppelin lands at noon.\n")
    apart = SearchProcess(bare_vault)
    try:
        found = asyncio.run(apart("alice", SearchQuery("zeppelin")))
        here = search(bare_vault, "alice", SearchQuery("zeppelin"))
        assert [hit.as_dict() for hit in found.hits] == [hit.as_dict() for hit in here.hits] != []
        with pytest.raises(NotFound, match="nobody"):
            asyncio.run(apart("nobody", SearchQuery("zeppelin")))
    finally:
        apart.close()


@pytest.mark.parametrize("name", ["pickle.py", "multiprocessing/__init__.py"])
def test_nothing_in_the_vault_is_imported(bare_vault: Vault, tmp_path: Path, name: str) -> None:
    """A server is started in its vault: a Python file that a remote has sent ran before the first request."""
    write(bare_vault, "alice", "notes/ship.md", "The zeppelin lands at noon.\n")
    planted, ran = bare_vault.root / name, bare_vault.root / "ran"
    planted.parent.mkdir(exist_ok=True)
    planted.write_text(f"open({str(ran)!r}, 'w').close()\n")
    script = tmp_path / "serve.py"
    script.write_text(
        "import asyncio\n"
        "from vault_memory.services.retrieval.search_process import SearchProcess\n"
        "from vault_memory.services.retrieval.query import SearchQuery\n"
        "from vault_memory.services.vault import open_vault\n"
        "if __name__ == '__main__':\n"
        "    apart = SearchProcess(open_vault('.'))\n"
        "    asyncio.run(apart('alice', SearchQuery('x')))\n"
        "    apart.close()\n"
    )
    done = subprocess.run([sys.executable, str(script)], cwd=bare_vault.root, capture_output=True, text=True)
    assert (done.returncode, ran.exists()) == (0, False), done.stderr
