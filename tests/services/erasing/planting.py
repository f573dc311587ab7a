"""A vault with one sentence in every place that the program has, and an eraser that kills itself at a step:
`-m tests.services.erasing.planting ROOT STEP [FILE]`. With a file, a process that it is just starting outlives it, with
copies of all its locks, until that file is there."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from datetime import date, datetime
from pathlib import Path

from vault_memory.adapters.records import put_days
from vault_memory.adapters.shortterm import EmbeddedStore
from vault_memory.adapters.state import StateFile
from vault_memory.core import layout
from vault_memory.services.erasing import erase, finish_erasing, of_texts
from vault_memory.services.indexing import reconcile
from vault_memory.services.memories import prepare_deletion, remember
from vault_memory.services.turns import record_turn
from vault_memory.services.vault import Vault, open_vault

SECRET = "my codeword is Zanzibar 七號"
OLD_DAY = date(2025, 10, 5)
LONG_TERM = {
    "VAULT_MEMORY_LONGTERM_ENABLED": "true",
    "MEMORY_TABLE_MAP": '{"conversations": "talks"}',
    "VAULT_MEMORY_LONGTERM_COLUMNS_MAP": json.dumps(
        {"conversation_id": "chat", "user_id": "who", "token_data": "tokens", "created_at": "at"}
    ),
}


def git(root: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=root, check=True, capture_output=True, text=True)
    return done.stdout


def planted(vault: Vault, secret: str = SECRET, user_id: str = "alice") -> Vault:
    """The vault with the sentence as a user's; it sends turns to a long-term store that is not there."""
    root = vault.root
    waits = open_vault(root, now=vault.now, environ={"SUPABASE_DB_URL": "postgresql://x@127.0.0.1:1/x"} | LONG_TERM)
    said = f"Remember that {secret}. I like the dark theme"
    reflection = {"summary": f"told: {secret}", "causes": []}
    record_turn(waits, user_id, said, f"Noted: {secret}", conversation_id="c1", reflection=reflection)
    record_turn(vault, user_id, f"{'a long story, ' * 9}{secret}", "ok", conversation_id="c3")  # a log cuts it
    record_turn(vault, user_id, "later", None, conversation_id="c2", context=f"of a file: {secret}", learn=False)
    found = remember(vault, user_id, f"{secret}, said on Friday")
    prepare_deletion(vault, user_id, query="zanzibar")
    home = root / layout.user_dir(user_id)
    (home / "notes").mkdir()
    (home / "notes" / "plan.md").write_text(f"# Plan\n\n{secret.replace(' ', chr(10) + '> ')}\n")
    (home / "notes" / f"{'-'.join(secret.lower().split())}.md").write_text(secret.upper())
    (root / "shared.md").write_text(f"what all know: {secret}\n")
    line = json.dumps({"conversation_id": "old", "user_id": user_id, "user_message": secret, "assistant_message": "x",
                       "created_at": f"{OLD_DAY}T09:00:00+08:00"})  # fmt: skip
    other = line.replace("old", "older").replace(json.dumps(secret), '"nothing"')
    put_days(home / layout.month_source(OLD_DAY), {OLD_DAY: f"{other}\n{line}\n".encode()}, root)
    (home / "conversations" / ".ended.json").write_text(json.dumps({"summary": secret}))
    StateFile(root, f"injected/{user_id}/0123").write({"as_of": 0, "at": 1.0, "messages": {"m": [secret]}})
    StateFile(root, "withheld").write({secret: "why"})
    (root / ".vault-memory/logs").mkdir(exist_ok=True)
    event = json.dumps({"scope": user_id, "why": f"cannot read {secret}"})
    (root / ".vault-memory/logs/daemon.jsonl").write_text(event)
    EmbeddedStore(root).append(f"conversation:{user_id}", [json.dumps({"user": secret})], 900, 9)
    EmbeddedStore(root).miss("pending:list", [json.dumps({"user_id": user_id, "user_message": secret})], 900, 9)
    vault.history.flush()
    git(root, "add", "-A")
    git(root, *_AS_ALICE, "commit", "-qm", f"notes on {secret}")
    git(root, *_AS_ALICE, "tag", "-a", "v1", "-m", secret)
    (root / "shared.md").write_text(f"what all know: {secret}\nstashed {secret}\n")
    git(root, *_AS_ALICE, "stash", "-q")
    for scope in vault.scopes():
        reconcile(vault, scope)
    assert found
    return vault


_AS_ALICE = ("-c", "user.name=Alice", "-c", "user.email=a@x")


def main(root: str, fatal: str, until: str = "") -> None:
    def step(reached: str) -> None:
        if reached == fatal:
            if until and os.fork() == 0:
                remain(Path(until))
            os.kill(os.getpid(), signal.SIGKILL)

    vault = open_vault(root, now=lambda: datetime.now().astimezone())
    if finish_erasing(vault, step) is None:
        erase(vault, of_texts(vault, "", [SECRET]), step)


def remain(until: Path) -> None:
    """End when the file is there, or after three minutes."""
    give_up = time.monotonic() + 180
    while not until.exists() and time.monotonic() < give_up:
        time.sleep(0.02)
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
