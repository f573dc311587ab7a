"""What a person waits for when an assistant calls a hook: the first one of a session, which starts the process that
answers, and those that follow; beside the start of a Python that does nothing, in the same run.

Prints JSON, each the median of several: `session_start_ms` (nobody answers yet), `first_prompt_ms` (right behind it),
`prompt_ms`, `stop_ms`, `python_ms`.
"""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from vault_memory.adapters.files import is_locked
from vault_memory.core.layout import STATE_DIR
from vault_memory.services.admin import create_vault
from vault_memory.services.memories import remember
from vault_memory.services.profiles import set_preference
from vault_memory.services.sessions.asking import SOCKET, start
from vault_memory.services.vault import open_vault

STARTS, PROMPTS = 5, 25
QUESTIONS = ("What is my dog called?", "幫我部署登入頁", "Which theme do I like?", "以後測試要先跑哪一個？")


def waited_ms(root: Path, name: str, **fields: str) -> float:
    """How long a hook takes, from its start to its end."""
    command = [sys.executable, "-m", "vault_memory", "--vault", str(root), "hook", "event", "claude-code"]
    event: dict[str, Any] = {"hook_event_name": name, "session_id": "s1", **fields}
    since = time.perf_counter()
    done = subprocess.run([*command, "--user", "alice"], input=json.dumps(event).encode(), capture_output=True)
    passed_ms = (time.perf_counter() - since) * 1000
    assert done.returncode == 0
    return passed_ms


def python_ms() -> float:
    """The same of a process that does nothing."""
    since = time.perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    return (time.perf_counter() - since) * 1000


def end(root: Path) -> None:
    """End the process that answers in a vault."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"answer" in words and os.fsencode(root) in words:
            os.kill(int(process.name), signal.SIGTERM)
    while is_locked(root / STATE_DIR / f"{SOCKET}.lock"):
        time.sleep(0.05)


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        root = create_vault(Path(folder) / "vault").root
        vault = open_vault(root)
        set_preference(vault, "alice", "theme", "dark")
        for fact in ("My dog is called Rex", "部署前先跑單元測試", "The login page is in apps/web"):
            remember(vault, "alice", fact)
        begins, firsts = [], []
        for _ in range(STARTS):
            begins.append(waited_ms(root, "SessionStart"))
            firsts.append(waited_ms(root, "UserPromptSubmit", prompt=QUESTIONS[0]))
            end(root)
        start(root, "")
        waited_ms(root, "UserPromptSubmit", prompt="Good morning")
        prompts, stops = [], []
        for number in range(PROMPTS):
            prompts.append(waited_ms(root, "UserPromptSubmit", prompt=QUESTIONS[number % len(QUESTIONS)]))
            stops.append(waited_ms(root, "Stop", last_assistant_message=f"Answer {number}."))
            time.sleep(0.5)  # a person reads
        bare = [python_ms() for _ in range(PROMPTS)]
        end(root)
        told = {"session_start_ms": begins, "first_prompt_ms": firsts, "prompt_ms": prompts, "stop_ms": stops}
        print(json.dumps({name: round(statistics.median(each)) for name, each in (told | {"python_ms": bare}).items()}))


if __name__ == "__main__":
    main()
