"""How many files of the package a turn, a search and a proxied chat pass through, and how often a turn reads USER.md.

    python benchmarks/journey.py [--list]

A reader who follows a turn opens these files, and a change to one of them may change a turn. A file counts when one of
its functions runs, in any thread; an import alone does not count. The opens of USER.md are counted by the system's file
events, which see child processes too. Each figure is compared with the limit that the project has set itself. `--list`
prints the files. The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import contextlib
import http.server
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from watchdog.events import FileClosedNoWriteEvent, FileOpenedEvent, FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer

PACKAGE = Path(__file__).parent.parent / "vault_memory"
CO_OPTIMIZED = 1
"""Set on the code of functions, not on that of modules and classes."""
COMPREHENSIONS = ("<dictcomp>", "<listcomp>", "<setcomp>", "<genexpr>")
LIMITS = {"turn_files": 45, "turn_profile_reads": 3, "search_files": 24, "chat_files": 80}
TIMEOUT_S = 60.0


class Trace:
    """The files of the package whose functions run while it is `on`, in every thread that starts after it was made."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self.on = False
        threading.setprofile(self._called)
        sys.setprofile(self._called)

    def _called(self, frame: FrameType, event: str, _: object) -> None:
        if self.on and event == "call" and _is_function(frame):
            file = frame.f_code.co_filename
            if file.startswith(str(PACKAGE)):
                self.files.add(str(Path(file).relative_to(PACKAGE)))


def _is_function(frame: FrameType) -> bool:
    """Whether it is a function's call: no module, no class, and no comprehension in one (Python 3.12 has no frame for
    it)."""
    if frame.f_code.co_name in COMPREHENSIONS and frame.f_back:
        frame = frame.f_back
    return bool(frame.f_code.co_flags & CO_OPTIMIZED)


def command_line(words: list[str]) -> list[str]:
    """Run one command in this process; the files that it passed through."""
    trace = Trace()
    sys.argv = ["vault-memory", *words]
    from vault_memory.__main__ import main

    trace.on = True
    with contextlib.suppress(SystemExit), contextlib.redirect_stdout(sys.stderr):
        main()
    trace.on = False
    return sorted(trace.files)


class _Provider(http.server.BaseHTTPRequestHandler):
    """A chat model that always answers the same."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        message = {"role": "assistant", "content": "好的，之後都用 Rust。"}
        body = json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing."""


def chat() -> list[str]:
    """Send one chat through the proxy, until its turn is learned from; the files that it passed through."""
    trace = Trace()
    import httpx
    import uvicorn

    from vault_memory import open_vault
    from vault_memory.interfaces.http.app import create_app
    from vault_memory.services.admin import own_token

    provider = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Provider)
    threading.Thread(target=provider.serve_forever, daemon=True).start()
    vault = open_vault(".", upstream_base_url=f"http://127.0.0.1:{provider.server_port}/v1")
    server = uvicorn.Server(uvicorn.Config(create_app(vault), port=0, log_level="error"))
    threading.Thread(target=server.run, daemon=True).start()
    wait_until(lambda: server.started)
    port = server.servers[0].sockets[0].getsockname()[1]
    turns = vault.path("alice", "conversations")
    before = size(turns)
    trace.on = True
    answer = httpx.post(
        f"http://127.0.0.1:{port}/v1/chat/completions",
        json={"model": "m", "messages": [{"role": "user", "content": "以後後端都用 Rust，請教我怎麼部署"}]},
        headers={"Authorization": f"Bearer {own_token(vault.root)}", "X-Vault-User": "alice"},
        timeout=TIMEOUT_S,
    )
    answer.raise_for_status()
    assert answer.headers["x-vault-memory"].startswith("injected"), answer.headers["x-vault-memory"]
    wait_until(lambda: size(turns) > before)
    server.should_exit = True  # the relay ends when the turn is recorded, learned from and indexed
    wait_until(lambda: not any(thread.name.startswith(("record", "learn")) for thread in threading.enumerate()))
    trace.on = False
    return sorted(trace.files)


def size(folder: Path) -> int:
    """Bytes of all files in a folder."""
    return sum(file.stat().st_size for file in folder.iterdir())


def wait_until(condition: Callable[[], object]) -> None:
    """Poll until the condition holds."""
    deadline = time.monotonic() + TIMEOUT_S
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError("waited in vain")
        time.sleep(0.01)


@contextlib.contextmanager
def opens_of(folder: Path, name: str) -> Iterator[list[str]]:
    """Collect every opening of a file of that name in a folder, whichever process opens it."""
    found: list[str] = []

    class Opened(FileSystemEventHandler):
        def on_opened(self, event: FileSystemEvent) -> None:
            if Path(os.fsdecode(event.src_path)).name == name:
                found.append(name)

    observer = Observer()
    # With the events of closing in between, the system does not join two of opening.
    observer.schedule(Opened(), str(folder), event_filter=[FileOpenedEvent, FileClosedNoWriteEvent])
    observer.start()
    yield found
    time.sleep(0.3)  # for events that are on their way
    observer.stop()
    observer.join()


def traced(role: str, vault: Path, *words: str) -> list[str]:
    """The files that a journey passed through, made in a process of its own inside the vault."""
    command = [sys.executable, str(Path(__file__).resolve()), "--role", role, *words]
    environ = os.environ | {"PYTHONPATH": str(PACKAGE.parent)}
    done = subprocess.run(command, cwd=vault, env=environ, capture_output=True, text=True, timeout=TIMEOUT_S)
    if done.returncode:
        raise RuntimeError(f"{role} {words}: {done.stderr}")
    files: list[str] = json.loads(done.stdout.splitlines()[-1])
    return files


def measure(vault: Path) -> dict[str, list[str]]:
    """The files of each journey, and the opens of USER.md in a turn that changes a preference."""
    turn = ["turn", "--user", "alice", "--message", "我喜歡暗色主題", "--reply", "好的"]
    found = {"turn_files": traced("cli", vault, *turn)}
    for message in (
        "以後後端都用 Go，請教我怎麼部署到 Kubernetes",
        "call me Ann, I prefer concise answers from now on",
    ):
        turn[4] = message
        with opens_of(vault / "memory" / "alice", "USER.md") as opens:
            found["turn_files"] = sorted({*found["turn_files"], *traced("cli", vault, *turn)})
        found["turn_profile_reads"] = max(found.get("turn_profile_reads", []), opens, key=len)
    found["search_files"] = traced("cli", vault, "search", "--user", "alice", "暗色主题")
    found["chat_files"] = traced("chat", vault)
    return found


def main() -> None:
    """Measure, print a table, end with one line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="print the files too")
    parser.add_argument("--role", choices=["cli", "chat"], help=argparse.SUPPRESS)
    options, words = parser.parse_known_args()
    if options.role:
        print(json.dumps(command_line(words) if options.role == "cli" else chat()))
        return
    with tempfile.TemporaryDirectory(prefix="vault-memory-bench-") as folder:
        vault = Path(folder, "vault")
        subprocess.run(
            [sys.executable, "-m", "vault_memory", "init", str(vault)],
            env=os.environ | {"PYTHONPATH": str(PACKAGE.parent)},
            check=True,
            capture_output=True,
        )
        found = measure(vault)
    print(f"{'':<22}{'counted':>8}{'limit':>8}")
    for name, limit in LIMITS.items():
        print(f"{name:<22}{len(found[name]):>8}{limit:>8}")
        if options.list:
            print("".join(f"    {file}\n" for file in found[name]), end="")
    print(json.dumps({name: len(found[name]) for name in LIMITS}))


if __name__ == "__main__":
    main()
