"""How long erasing takes, whether anything is left, and what a kill at any moment leaves.

    python -m benchmarks.erase [--commits N] [--kills N]

Prints JSON: `erase_s` for a text that a vault holds in every place that the program has, with a history of N more
commits made by `git fast-import`; `objects_checked` and `found_after` of a scan that shares no code with the eraser;
and of N erasings of a small vault of this kind, each killed at a random moment, `kills_bad`: those after which the text
is found, a commit is lost, or git finds a fault, when the next command has gone on, or that fails.
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
from tests.services.erasing.planting import SECRET as TEXT
from tests.services.erasing.planting import planted
from vault_memory.errors import VaultMemoryError
from vault_memory.services.admin import create_vault
from vault_memory.services.erasing import erase, finish_erasing, of_texts
from vault_memory.services.erasing.private_files import JOURNAL
from vault_memory.services.indexing import reconcile
from vault_memory.services.vault import Vault, open_vault


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
        if number == 0:
            yield b"from refs/heads/main^0\n"
        for path, body in (
            (f"memory/alice/memories/{number // 500:04}/{number}.md", note),
            ("memory/alice/MEMORY.md", log),
        ):
            yield f"M 100644 inline {path}\n".encode() + b"data %d\n%s\n" % (len(body), body)


def vault_of(root: Path, commits: int) -> Vault:
    """A vault with the text in every place, and so many more commits."""
    create_vault(root)
    vault = planted(open_vault(root))
    git(root, "fast-import", "--quiet", stdin=b"".join(stream(commits)))
    git(root, "reset", "-q", "--hard", "main")
    for scope in vault.scopes():
        reconcile(vault, scope)
    return vault


def git(root: Path, *args: str, stdin: bytes = b"") -> str:
    """Run plain git."""
    return subprocess.run(["git", *args], cwd=root, input=stdin, capture_output=True, check=True).stdout.decode()


def faults(root: Path, commits: int) -> list[str]:
    """What is not as it should be in a vault after a kill and the next command."""
    try:
        finish_erasing(open_vault(root))
    except VaultMemoryError as error:
        return [str(error)]
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
    vault_of(folder / "template", commits)
    there = len(git(folder / "template", "rev-list", "main").split())
    chance, bad, done, whole_s = random.Random(18), 0, 0, 4.0
    while done < kills:
        root = Path(tempfile.mkdtemp(dir=folder), "vault")
        shutil.copytree(folder / "template", root, symlinks=True)
        git(root, "update-index", "-q", "--refresh")
        command = [sys.executable, "-m", "tests.services.erasing.planting", str(root), "never"]
        with subprocess.Popen(command) as eraser:
            while eraser.poll() is None and not (root / JOURNAL).exists():
                time.sleep(0.001)
            began = time.monotonic()
            try:
                eraser.wait(chance.uniform(0, whole_s))
                whole_s = time.monotonic() - began
            except subprocess.TimeoutExpired:
                eraser.kill()
        if (root / JOURNAL).exists():
            done += 1
            if found := faults(root, there):
                bad += 1
                print(*found, sep="\n", file=sys.stderr)
        shutil.rmtree(root.parent)
    return bad


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--commits", type=int, default=20_000)
    parser.add_argument("--kills", type=int, default=50)
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "vault")
        vault = vault_of(root, wanted.commits)
        began = time.monotonic()
        receipt = erase(vault, of_texts(vault, "alice", [TEXT]))
        erase_s = time.monotonic() - began
        found = leftovers(root, TEXT)
        figures = {
            "commits": wanted.commits,
            "made_anew": receipt.commits,
            "erase_s": round(erase_s, 1),
            "objects_checked": found.objects,
            "found_after": len(found.places),
            "kills": wanted.kills,
            "kills_bad": killed(Path(folder, "killed"), wanted.kills) if wanted.kills else 0,
        }
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
