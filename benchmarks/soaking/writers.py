"""The people and programs of the soak, each a process of its own: `python writers.py KIND NUMBER ROOT LEDGER`.

A writer does one thing after another until SIGTERM, and writes into its ledger what it began and what it was told is
done. It may be killed at any moment; what was begun and not done may have happened or not, but not twice.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from vault_memory.adapters import files
from vault_memory.adapters.embedding.base import Kind, Vector
from vault_memory.adapters.embedding.offline import OfflineEmbedder
from vault_memory.errors import Changed, EndpointError, VaultMemoryError
from vault_memory.services.daemon.daemon import Daemon
from vault_memory.services.indexing.reconcile import reconcile
from vault_memory.services.retrieval.query import SearchQuery
from vault_memory.services.retrieval.search import search
from vault_memory.services.turns.record import record_turn
from vault_memory.services.vault import open_vault

USERS = ("alice", "bob", "chen", "dora", "王小明".encode().hex()[:12])
OUTAGE = "outage"
"""While a file of this name lies beside the ledgers, the endpoint of the vectors is down."""

stop = threading.Event()


class FlakyEmbedder:
    """The offline embedder behind an endpoint that is down now and then."""

    def __init__(self, outage: Path) -> None:
        self._embedder, self._outage = OfflineEmbedder(), outage
        self.space, self.dimension = self._embedder.space, self._embedder.dimension

    def embed(self, texts: Sequence[str], kind: Kind = "document") -> Sequence[Vector]:
        if self._outage.exists():
            raise EndpointError("the endpoint of the vectors is down: it is tried again")
        return self._embedder.embed(texts, kind)


class Writer:
    """One writer: its vault, its dice and its ledger."""

    def __init__(self, number: int, root: Path, ledger: Path) -> None:
        self.number, self.root, self.ledger = number, root, ledger
        self.rng = random.Random(f"{number} {os.getpid()}")
        self.count = 0
        self.vault = open_vault(
            root, embedder=FlakyEmbedder(ledger / OUTAGE), watch_settle_ms=200, watch_commit_quiet_ms=1_000
        )

    def note(self, **row: object) -> None:
        """A line in the ledger, in one write: a writer that is killed leaves a torn line at most."""
        with open(self.ledger / f"{self.number}.jsonl", "ab", buffering=0) as file:
            file.write(json.dumps(row).encode() + b"\n")

    def name(self) -> str:
        """A word that nobody else says."""
        self.count += 1
        return f"w{self.number}x{os.getpid()}x{self.count}"

    # What they do.

    def turn(self) -> None:
        """Say something to the assistant, one time in three something to be remembered."""
        user, name = self.rng.choice(USERS), self.name()
        message = f"記住：{name} 的埠是 6380" if self.rng.random() < 0.33 else f"這段 {name} 是什麼意思？"
        self.note(kind="turn", state="begun", id=name, user=user)
        try:
            done = record_turn(self.vault, user, message, "好的。", conversation_id=name)
        except VaultMemoryError as error:
            self.note(kind="turn", state="refused", id=name, why=str(error))
            return
        changes = [(change.key, change.new) for change in done.changes]
        self.note(kind="turn", state="done", id=name, user=user, source=done.source, changes=changes)
        with suppress(VaultMemoryError):
            reconcile(self.vault, user, done.sources)

    def edit(self) -> None:
        """Write, move or delete a note, in any of the ways that editors do it."""
        scope = self.rng.choice([*USERS, ""])
        folder = self.root / ("memory/" + scope if scope else "projects")
        note = folder / f"notes{self.rng.randrange(3)}" / f"{self.rng.randrange(40)}.md"
        text = f"# {self.name()}\n\n" + "".join(f"- 第 {n} 行 line {self.rng.random()}\n" for n in range(9))
        way = self.rng.choice(["write", "write", "append", "atomic", "vim", "rename", "delete", "folder"])
        with suppress(FileNotFoundError, FileExistsError, NotADirectoryError, OSError):
            note.parent.mkdir(parents=True, exist_ok=True)
            if way == "write":
                note.write_text(text)
            elif way == "append":
                with note.open("a") as file:
                    file.write(text)
            elif way == "atomic":
                temp = note.with_name(f".{note.name}.{os.getpid()}.tmp")
                temp.write_text(text)
                temp.replace(note)
            elif way == "vim":
                note.rename(note.with_name(f"{note.name}~"))
                note.write_text(text)
                note.with_name(f"{note.name}~").unlink()
            elif way == "rename":
                note.rename(note.with_name(f"{self.rng.randrange(40)}.md"))
            elif way == "delete":
                note.unlink()
            elif self.rng.random() < 0.2:
                note.parent.rename(folder / f"notes{self.rng.randrange(3)}")
        self.note(kind="edit", state="done", way=way)

    def profile(self) -> None:
        """Add a bullet to USER.md by hand, with an editor that notices when the file changed under it."""
        user, name = self.rng.choice(USERS), self.name()
        path = self.root / "memory" / user / "USER.md"
        before = files.read(path)
        if not before:
            return
        self.note(kind="hand", state="begun", id=name, user=user)
        for _ in range(50):
            try:
                files.replace(path, before.rstrip(b"\n") + f"\n- 手寫 {name}\n".encode(), before)
            except (Changed, VaultMemoryError):
                before = files.read(path) or before
                time.sleep(0.01)
                continue
            self.note(kind="hand", state="done", id=name, user=user, at=time.time())
            return

    def look(self) -> None:
        """Search, or ask for the state, or throw away what is derived."""
        dice, user = self.rng.random(), self.rng.choice(USERS)
        with suppress(VaultMemoryError):
            if dice < 0.8:
                query = self.rng.choice(["埠", "line", "第 3 行", "what is this"])
                search(self.vault, user, SearchQuery(query, scope="all"))
            elif dice < 0.95:
                command = self.rng.choice(
                    [["status", "--json"], ["doctor"], ["heartbeat"], ["search", "--user", user, "埠"]]
                )
                subprocess.run([sys.executable, "-m", "vault_memory", *command], cwd=self.root, capture_output=True)
            elif dice < 0.98:
                for path in (self.root / "memory" / user).glob("index.db*"):
                    path.unlink(missing_ok=True)
            else:
                shutil.rmtree(self.root / ".vault-memory", ignore_errors=True)
        self.note(kind="look", state="done")

    def git(self) -> None:
        """What a person does with git in a vault, at the worst moments."""
        with files.lock(self.ledger / "git.lock", 60):  # one person has one pair of hands
            self._git_by_hand()

    def _git_by_hand(self) -> None:
        way = self.rng.choice(["commit", "merge", "detach", "lock", "gc", "restore", "stage", "stash", "log", "log"])
        if way == "commit":
            path = self.root / "projects" / f"plan{self.number}.md"
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"{self.name()}\n")
            self._git("add", str(path))
            self._git("commit", "-qm", f"by hand {self.name()}", "--", str(path))
        elif way == "merge":
            self._merge()
        elif way == "detach":
            if self._git("checkout", "-q", "--detach"):
                time.sleep(self.rng.random())
                while not self._git("checkout", "-q", "main") and not stop.is_set():
                    time.sleep(0.1)
        elif way == "lock":
            with suppress(OSError):
                os.close(os.open(self.root / ".git" / "index.lock", os.O_CREAT | os.O_EXCL))
                time.sleep(self.rng.random())
                (self.root / ".git" / "index.lock").unlink()
        elif way == "gc":
            if self.rng.random() < 0.2:
                self._git("gc", "-q")
        elif way == "restore":
            self._git("restore", "projects")
        elif way == "stage":
            self._git("add", "projects")
            time.sleep(self.rng.random())
            self._git("reset", "-q")
        elif way == "stash":
            path = self.root / "projects" / f"draft{self.number}.md"
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"{self.name()}\n")
            self._git("add", str(path))
            if self._git("stash", "push", "-q", "--", "projects"):
                time.sleep(self.rng.random())
                self._git("stash", "pop", "-q")
        else:
            self._git("log", "--oneline", "-20", "--", f"memory/{self.rng.choice(USERS)}/USER.md")
        self.note(kind="git", state="done", way=way)

    def _merge(self) -> None:
        """A branch made elsewhere, merged here."""
        name = self.name()
        tree = self.ledger / name
        if not self._git("worktree", "add", "-q", "-b", name, str(tree)):
            return
        try:
            (tree / "projects").mkdir(exist_ok=True)
            (tree / "projects" / f"{name}.md").write_text(f"{name}\n")
            self._git("-C", str(tree), "add", "projects")
            self._git("-C", str(tree), "commit", "-qm", f"elsewhere {name}")
            began = time.time()
            if why := self._run("merge", "-q", "--no-ff", "--no-edit", name):
                # Git then puts back the files of before, and forgets what was saved meanwhile.
                if "Merge with strategy" in why:
                    self.note(kind="merge", state="given up", began=began, ended=time.time())
                self._git("merge", "--abort")
        finally:
            self._git("worktree", "remove", "--force", str(tree))
            self._git("branch", "-qD", name)

    def _git(self, *words: str) -> bool:
        return not self._run(*words)

    def _run(self, *words: str) -> str:
        """Why git refused; empty when it did not."""
        identity = ("-c", "user.name=Person", "-c", "user.email=person@example.org")
        done = subprocess.run(["git", *identity, *words], cwd=self.root, capture_output=True, timeout=120)
        if not done.returncode:
            return ""
        why = done.stderr.decode("utf-8", "replace") or f"ended with {done.returncode}"
        self.note(kind="git", state="failed", way=" ".join(words[:2]), why=why[-300:])
        return why

    def daemon(self) -> None:
        Daemon(self.vault, full_scan_s=20.0, heartbeat_s=5.0).run(stop)


KINDS: dict[str, tuple[Callable[[Writer], None], float]] = {
    "turn": (Writer.turn, 0.5),
    "edit": (Writer.edit, 0.3),
    "profile": (Writer.profile, 1.0),
    "look": (Writer.look, 0.7),
    "git": (Writer.git, 1.5),
    "daemon": (Writer.daemon, 0.0),
}
"""What each kind does, and the mean pause in seconds between two doings."""


def main() -> None:
    kind, number, root, ledger = sys.argv[1:]
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    writer = Writer(int(number), Path(root), Path(ledger))
    do, pause = KINDS[kind]
    while not stop.is_set():
        do(writer)
        stop.wait(writer.rng.expovariate(1 / pause) if pause else 0)


if __name__ == "__main__":
    main()
