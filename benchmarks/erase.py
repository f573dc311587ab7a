"""How long erasing takes, whether anything is left, and what a kill at any moment leaves.

    python -m benchmarks.erase [--commits N] [--kills N]

Prints JSON: `erase_s` for a history of N commits made by `git fast-import`, `objects_checked` and `found_after` of a
scan that shares no code with the eraser, and of N erasings of a small history, each killed at a random moment,
`kills_bad`: those after which the text is found, a commit is lost, or git finds a fault.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.adapters.erasing.leftovers import leftovers
from vault_memory.adapters.erasing import JOURNAL, Request
from vault_memory.adapters.history import History

TEXT = "the codeword is Zanzibar 七號"


def stream(commits: int) -> Iterator[bytes]:
    """A history for `git fast-import`: each commit adds a note to its month and a line to a log; each hundredth says
    the text, in a note or in its message, and all notes stay in the later trees."""
    log = b""
    for number in range(commits):
        says = number % 100 == 50
        note = f"note {number}\n{TEXT if says else 'plain'}\n".encode()
        message = f"memory(alice): {number} {TEXT if number % 100 == 75 else ''}".encode()
        log = (log + b"- %d was asked\n" % number)[-4_000:]
        yield b"commit refs/heads/main\ncommitter Alice <alice@example.org> %d +0800\n" % (1_700_000_000 + number)
        yield b"data %d\n%s\n" % (len(message), message)
        for path, body in (
            (f"memory/alice/memories/{number // 500:04}/{number}.md", note),
            ("memory/alice/MEMORY.md", log),
        ):
            yield f"M 100644 inline {path}\n".encode() + b"data %d\n%s\n" % (len(body), body)


def vault_of(root: Path, commits: int) -> History:
    """A vault with a history of so many commits."""
    root.mkdir()
    history = History.create(root)
    git(root, "fast-import", "--quiet", stdin=b"".join(stream(commits)))
    git(root, "reset", "-q", "--hard", "main")
    return history


def git(root: Path, *args: str, stdin: bytes = b"") -> str:
    """Run plain git."""
    return subprocess.run(["git", *args], cwd=root, input=stdin, capture_output=True, check=True).stdout.decode()


def faults(root: Path, commits: int) -> list[str]:
    """What is not as it should be in a vault after a kill and one more change of anybody."""
    History(root).flush()
    left = len(git(root, "rev-list", "main").split())
    return [
        *leftovers(root, TEXT).places,
        *git(root, "status", "--porcelain").splitlines(),
        *git(root, "fsck", "--strict").splitlines(),
        *([f"{left} commits of {commits}"] if left != commits else []),
    ]


def killed(folder: Path, kills: int, commits: int = 200) -> int:
    """How many of so many erasings, each killed at a random moment of its work, leave a vault that is not as it should
    be. One that was killed before it had begun, or was done, is not counted, and done once more."""
    folder.mkdir()
    chance, bad, done, whole_s = random.Random(18), 0, 0, 2.0
    while done < kills:
        root = Path(tempfile.mkdtemp(dir=folder), "vault")
        vault_of(root, commits)
        journal = root / ".git" / JOURNAL
        command = [sys.executable, "-m", "tests.adapters.erasing.killed_eraser", str(root), TEXT, "never"]
        with subprocess.Popen(command) as eraser:
            while eraser.poll() is None and not journal.exists():
                time.sleep(0.001)
            began = time.monotonic()
            try:
                eraser.wait(chance.uniform(0, whole_s))
                whole_s = time.monotonic() - began
            except subprocess.TimeoutExpired:
                eraser.kill()
        if journal.exists():
            done += 1
            if found := faults(root, commits):
                bad += 1
                print(*found, sep="\n", file=sys.stderr)
        shutil.rmtree(root)
    return bad


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--commits", type=int, default=20_000)
    parser.add_argument("--kills", type=int, default=50)
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "vault")
        history = vault_of(root, wanted.commits)
        began = time.monotonic()
        erased = history.erase(Request((TEXT,)))
        erase_s = time.monotonic() - began
        found = leftovers(root, TEXT)
        figures = {
            "commits": wanted.commits,
            "made_anew": erased.commits,
            "erase_s": round(erase_s, 1),
            "objects_checked": found.objects,
            "found_after": len(found.places),
            "kills": wanted.kills,
            "kills_bad": killed(Path(folder, "killed"), wanted.kills) if wanted.kills else 0,
        }
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
