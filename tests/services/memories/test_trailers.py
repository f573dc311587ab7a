"""Every commit of ours says whose it is, and names the memories that it is about."""

from __future__ import annotations

import re
import subprocess
from datetime import timedelta

from tests.conftest import Clock
from tests.services.memories.conftest import Home
from vault_memory.services.distilling import consolidate_to_profile, end_conversation
from vault_memory.services.memories import (
    delete_memories,
    edit_memory,
    expire_memories,
    make_lasting,
    prepare_deletion,
    reinforce,
    remember,
    store_memory,
    supersede,
    write_accesses,
)
from vault_memory.services.retrieval import recall
from vault_memory.services.turns import record_turn
from vault_memory.services.vault import Vault


def test_each_commit_of_a_busy_vault_has_its_trailers(vault: Vault, home: Home, clock: Clock) -> None:
    """E1, B1: `git log` is asked for every commit that touches a memory."""
    ids = [remember(vault, "alice", text) for text in ("the door is blue", "we deploy with make", "tea at four")]
    for day in range(4):
        clock.time += timedelta(days=1)
        record_turn(vault, "alice", "I love bouldering", "ok", conversation_id=f"c{day}")
        record_turn(vault, "alice", "what is recursion?", "long reply " * 20, conversation_id=f"c{day}")
        end_conversation(vault, "alice", f"c{day}")
        remember(vault, "alice", "tea at four")
        recall(vault, "alice", "which door, and deploying with make")
        reinforce(vault, "alice", ids[0])
        write_accesses(vault, "alice")
        consolidate_to_profile(vault, "alice")
    make_lasting(vault, "alice")
    store_memory(vault, "alice", "the build is red", ttl_days=1)
    supersede(vault, "alice", ids[1], "we deploy with just")
    edit_memory(vault, "alice", ids[0], importance=0.9)
    clock.time += timedelta(days=3)
    expire_memories(vault, "alice")
    record_turn(vault, "alice", "I love jazz", "ok")
    record_turn(vault, "alice", "please don't remember that", "ok")
    delete_memories(vault, "alice", prepare_deletion(vault, "alice", query="e").code)
    vault.history.flush()
    seen = 0
    for entry in home.log(500):
        body = home.body(entry)
        if "vault:" in entry.subject:
            continue
        assert re.search(r"^Vault-User: alice$", body, re.MULTILINE), body
        changed = _files(vault, entry.commit)
        if any("/memories/" in path for path in changed):
            seen += 1
            assert re.search(r"^Vault-Memory: \S+$", body, re.MULTILINE), (body, changed)
    assert seen > 12


def _files(vault: Vault, commit: str) -> list[str]:
    shown = ["git", "show", "--name-only", "--format=", commit]
    return subprocess.run(shown, cwd=vault.root, check=True, capture_output=True, text=True).stdout.split()
