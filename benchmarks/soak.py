"""Twenty writers and every fault at once, and then the proof that nothing was lost.

    python benchmarks/soak.py [MINUTES] [--keep FOLDER]

Writers, each a process of its own, record turns, edit notes and profiles by hand, use git, search, and throw away
what is derived, beside a daemon. Writers and daemon are killed and started again, stopped for a moment, and the
endpoint of the vectors goes down and comes back. In the last two thirds the daemon is left alone and its memory
measured. Afterwards every turn must be in the conversation records exactly once, every preference in USER.md and in
exactly one commit, each index equal to a rebuilt one, git sound, no lock or temporary file left. Ends with 1 if not.
The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table
from soaking import proofs
from soaking.writers import OUTAGE, USERS, FlakyEmbedder

from vault_memory.adapters import files
from vault_memory.services.admin.create_vault import create_vault
from vault_memory.services.admin.status import status
from vault_memory.services.daemon.daemon_record import is_running
from vault_memory.services.indexing.reconcile import reconcile
from vault_memory.services.turns.record import record_turn
from vault_memory.services.vault import Vault, open_vault

CAST = ["turn"] * 8 + ["edit"] * 6 + ["profile"] * 2 + ["look"] * 2 + ["git"] * 2
"""Twenty writers. Those who use git are not killed: a dead git leaves its lock to the person, ours must not take it."""
MORTAL = [number for number, kind in enumerate(CAST) if kind != "git"]
CALM_S = 180.0
WARM_S = 20.0
"""A daemon of this age has loaded all that it ever loads."""
CLEAN_STOP_S = 2.0
MOST_GROWTH_MB = 30.0


class Soak:
    """The run: its vault, its processes, its faults."""

    def __init__(self, folder: Path, minutes: float) -> None:
        self.root, self.ledger, self.seconds = folder / "vault", folder / "ledger", minutes * 60
        self.ledger.mkdir()
        self.rng = random.Random(6)
        self.faults: dict[str, int] = {}
        self.wrong: list[str] = []
        self.memory: list[tuple[float, float]] = []
        self.slowest_stop = 0.0
        self.lost_to_git: list[str] = []
        create_vault(self.root)
        self.vault: Vault = open_vault(self.root, embedder=FlakyEmbedder(self.ledger / OUTAGE))
        for user in USERS:
            record_turn(self.vault, user, "你好", "你好。")
        self.writers = {number: self._start(kind, number) for number, kind in enumerate(CAST)}
        self.daemon = self._start("daemon", len(CAST))

    def run(self) -> None:
        began = time.monotonic()
        while (passed := time.monotonic() - began) < self.seconds:
            time.sleep(self.rng.expovariate(1 / 2.5))
            if (code := self.daemon.poll()) is not None:
                self.wrong.append(f"the daemon ended by itself with {code}")
                self.daemon = self._start("daemon", len(CAST))
            is_late = passed > self.seconds / 3
            self._fault(self.rng.choice(["writer", "writer", "pause", "outage"] + ["kill", "stop"] * (not is_late)))
            if passed > self.seconds / 3 + WARM_S and self.daemon.poll() is None:
                self.memory.append((passed, rss_mb(self.daemon.pid)))
            for number, process in self.writers.items():
                if process.poll() is not None:
                    self.wrong.append(f"writer {number} ({CAST[number]}) ended by itself with {process.returncode}")
                    self.writers[number] = self._start(CAST[number], number)
        self._calm_down()

    def _fault(self, kind: str) -> None:
        self.faults[kind] = self.faults.get(kind, 0) + 1
        if kind == "writer":
            number = self.rng.choice(MORTAL)
            self._kill(self.writers[number])
            self.writers[number] = self._start(CAST[number], number)
        elif kind == "pause":
            process = self.writers[self.rng.choice(MORTAL)]
            process.send_signal(signal.SIGSTOP)
            time.sleep(self.rng.random())
            process.send_signal(signal.SIGCONT)
        elif kind == "outage":
            (self.ledger / OUTAGE).touch()
            time.sleep(self.rng.random() * 3)
            (self.ledger / OUTAGE).unlink()
        elif kind == "kill":
            self._kill(self.daemon)
            self.daemon = self._start("daemon", len(CAST))
        else:
            self._stop_daemon()
            self.daemon = self._start("daemon", len(CAST))

    def _calm_down(self) -> None:
        """No more writing; the daemon brings everything up to date and is stopped."""
        for process in self.writers.values():
            process.terminate()
        for process in self.writers.values():
            process.wait(60)
        # A merge that met a commit of ours may leave old texts in git's index: what is staged is the
        # person's to unstage. The daemon, which commits what waits, holds git's lock now and then.
        deadline = time.monotonic() + CALM_S
        while subprocess.run(["git", "reset", "-q"], cwd=self.root, stderr=subprocess.DEVNULL).returncode:
            if time.monotonic() > deadline:
                raise SystemExit(f"git cannot unstage anything in {self.root} within {CALM_S:g} s")
            time.sleep(0.5)
        for scope in self.vault.scopes():
            reconcile(self.vault, scope, confirm_deletions=True)
        deadline = time.monotonic() + CALM_S
        while self._restless():
            if time.monotonic() > deadline:
                self.wrong.append(f"no rest within {CALM_S:g} s: {self._restless()}")
                break
            time.sleep(1)
        self._stop_daemon()

    def _restless(self) -> str:
        found = status(self.vault)
        # Of a turn that is being learned from at this moment status says nothing.
        learning = [name for user in USERS for name in files.names(self.vault.unlearned(user))]
        open_ = [f"{s.scope}: {s.pending or s.vectors_pending}" for s in found.scopes if s.pending or s.vectors_pending]
        edits = [str(change.path) for change in self.vault.history.uncommitted()]
        return "; ".join([*open_, *learning[:3], *edits[:3], *found.unhealthy])

    def _stop_daemon(self) -> None:
        deadline = time.monotonic() + 30
        while not is_running(self.root) and time.monotonic() < deadline and self.daemon.poll() is None:
            time.sleep(0.1)
        self.daemon.terminate()
        began = time.monotonic()
        code = self.daemon.wait(30)
        took = time.monotonic() - began
        if code:
            self.wrong.append(f"the daemon ended with {code}")
        self.slowest_stop = max(self.slowest_stop, took)
        if took > 2 * CLEAN_STOP_S:  # the machine is busy with twenty others
            self.wrong.append(f"the daemon took {took:.1f} s to stop")

    def _start(self, kind: str, number: int) -> subprocess.Popen[bytes]:
        script = Path(__file__).parent / "soaking" / "writers.py"
        errors = (self.ledger / f"{number}.err").open("ab")
        return subprocess.Popen(
            [sys.executable, str(script), kind, str(number), str(self.root), str(self.ledger)], stderr=errors
        )

    def _kill(self, process: subprocess.Popen[bytes]) -> None:
        process.kill()
        process.wait()

    def end(self) -> None:
        """No process outlives the run, whatever became of it."""
        for process in (*self.writers.values(), self.daemon):
            self._kill(process)

    def prove(self, scratch: Path) -> tuple[list[str], list[str], proofs.Ledgers]:
        ledgers = proofs.Ledgers(self.ledger)
        lost, twice, self.lost_to_git = proofs.lost_and_duplicated(self.vault, ledgers)
        self.wrong += proofs.git_is_sound(self.vault) + proofs.leftovers(self.vault)
        self.wrong += proofs.index_differs(self.vault, scratch)
        for path in sorted(self.ledger.glob("*.err")):
            if said := path.read_text().strip():
                self.wrong.append(f"{path.stem} said: {said[-600:]}")
        if len(self.memory) > 6 and (grown := proofs.growth(self.memory)) > MOST_GROWTH_MB:
            self.wrong.append(f"the daemon grew by {grown:.0f} MB")
        return lost, twice, ledgers


def rss_mb(pid: int) -> float:
    text = Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) / 1024 for line in text.splitlines() if line.startswith("VmRSS"))


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("minutes", nargs="?", type=float, default=2.0)
    arguments.add_argument("--keep", type=Path, help="make the vault in this folder, and leave it there")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory(prefix="vault-memory-soak-") as temporary:
        folder = given.keep or Path(temporary)
        folder.mkdir(exist_ok=True)
        soak = Soak(folder, given.minutes)
        try:
            soak.run()
        finally:
            soak.end()
        lost, twice, ledgers = soak.prove(Path(temporary) / "rebuilt")
        report(soak, lost, twice, ledgers, given.minutes)
    raise SystemExit(bool(lost or twice or soak.wrong))


def report(soak: Soak, lost: list[str], twice: list[str], ledgers: proofs.Ledgers, minutes: float) -> None:
    done = {
        kind: sum(row["kind"] == kind and row["state"] == "done" for row in ledgers.rows)
        for kind in ("turn", "hand", "edit", "git", "look")
    }
    figures = {
        "minutes": minutes,
        "operations": len(ledgers),
        "faults": sum(soak.faults.values()),
        "lost": len(lost),
        "duplicated": len(twice),
        "lost_to_git": len(soak.lost_to_git),
        "wrong": len(soak.wrong),
        "refused": len(ledgers.ids("turn", "refused")),
        "slowest_stop_s": round(soak.slowest_stop, 2),
        "daemon_growth_mb": round(proofs.growth(soak.memory), 1) if len(soak.memory) > 6 else None,
    }
    table = Table("figure", "value", title=f"{len(CAST)} writers, {minutes:g} minutes")
    for name, value in (figures | done | {f"fault: {kind}": n for kind, n in soak.faults.items()}).items():
        table.add_row(name, str(value))
    console = Console(width=110)
    console.print(table)
    for line in [
        *(f"lost: {each}" for each in lost),
        *(f"twice: {each}" for each in twice),
        *soak.wrong,
        *(f"lost to git: {each}" for each in soak.lost_to_git),
    ]:
        print(line)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
