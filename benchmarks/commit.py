"""How long a commit of one small change takes, against `git commit --only` of the same file in the same repository.

    python benchmarks/commit.py [--files 10000 100000] [--rounds 30]

Both change one user's USER.md, turn by turn in one run. The floor is what no way of committing can go below: five small
objects (blob, three trees, commit) and a ref, written and fsynced. The chat path is `stage`: intent durable, file
written; its commit is a worker's matter. A turn is five preference commits and a log commit in one batch.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path, PurePosixPath

from vault_memory.adapters.history import ASSISTANT, Draft, FileChange, History

FILES_PER_USER = 10


def make_repository(folder: Path, files: int) -> None:
    """A checked-out repository of `files` notes, ten to a user, packed as `git gc` leaves it."""
    History.create(folder)
    blobs = [f"blob\nmark :{n}\ndata <<E\n# note {n}\n\nsome words {n % 97}\nE\n" for n in range(1, 101)]
    names = ["USER.md", "MEMORY.md", *(f"daily/2026-01-{day:02d}.md" for day in range(1, FILES_PER_USER - 1))]
    rows = [
        f"M 100644 :{(user * 7 + n) % 100 + 1} memory/user{user:05d}/{name}\n"
        for user in range(files // FILES_PER_USER)
        for n, name in enumerate(names)
    ]
    stream = "".join(blobs) + "commit refs/heads/main\ncommitter b <b@localhost> 1700000000 +0000\ndata 5\nfirst\n"
    git(folder, "fast-import", "--quiet", stdin=(stream + "".join(rows)).encode())
    git(folder, "reset", "--hard", "--quiet")
    git(folder, "config", "gc.auto", "0")


def git(folder: Path, *args: str, stdin: bytes = b"") -> bytes:
    """Run git as a person would, with an identity."""
    identity = ["-c", "user.name=Bench", "-c", "user.email=bench@localhost"]
    return subprocess.run(["git", *identity, *args], cwd=folder, input=stdin, capture_output=True, check=True).stdout


def floor(folder: Path, number: int) -> None:
    """Five small objects and a ref, each fsynced, as bare as Python allows."""
    for n in range(5):
        write_synced(folder / f"{number:06d}-{n}", zlib.compress(os.urandom(200), 1))
    write_synced(folder / "ref.lock", b"0" * 41)
    os.replace(folder / "ref.lock", folder / "ref")
    fd = os.open(folder, os.O_RDONLY)
    os.fsync(fd)
    os.close(fd)


def write_synced(path: Path, data: bytes) -> None:
    """Write a file and fsync it."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    os.write(fd, data)
    os.fsync(fd)
    os.close(fd)


def measure(files: int, rounds: int) -> dict[str, list[float]]:
    """Milliseconds of each way, round by round."""
    with tempfile.TemporaryDirectory(prefix="vault-memory-bench-") as name:
        folder = Path(name) / "vault"
        folder.mkdir()
        spare = Path(name) / "floor"
        spare.mkdir()
        make_repository(folder, files)
        history = History(folder)
        users = files // FILES_PER_USER
        times: dict[str, list[float]] = {"git": [], "ours": [], "stage": [], "batch": [], "floor": []}

        def path(number: int) -> PurePosixPath:
            return PurePosixPath(f"memory/user{number * 37 % users:05d}/USER.md")

        def changed(where: PurePosixPath, times: int = 1) -> list[Draft]:
            content = (folder / where).read_bytes()
            steps = [content + b"- theme: %d\n" % n * n for n in range(times + 1)]
            return [Draft(f"turn {n}", ASSISTANT, (FileChange(where, steps[n], steps[n + 1]),)) for n in range(times)]

        def timed(kind: str, act: Callable[[], object]) -> None:
            started = time.perf_counter()
            act()
            times[kind].append((time.perf_counter() - started) * 1000)

        for number in range(-3, rounds):  # the first three warm every cache and are not counted
            one, other = path(5 * number + 50), path(5 * number + 51)
            (folder / one).write_bytes((folder / one).read_bytes() + b"- theme: dark\n")
            timed("git", partial(git, folder, "commit", "--only", "--quiet", "-m", "turn", "--", str(one)))
            drafts = changed(other)
            timed("ours", partial(history.commit, drafts))
            drafts = changed(path(5 * number + 52))
            timed("stage", partial(history.stage, drafts))
            history.flush()
            drafts = changed(path(5 * number + 53), 5)
            log = PurePosixPath(path(5 * number + 53).parent / "daily/2026-02-01.md")
            drafts.append(Draft("log", ASSISTANT, (FileChange(log, read(folder / log), b"## %d\n" % number),)))
            timed("batch", partial(history.commit, drafts))
            timed("floor", partial(floor, spare, number + 3))
        assert git(folder, "status", "--porcelain") == b"", "the working tree must be clean afterwards"
        return {kind: values[3:] for kind, values in times.items()}


def read(path: Path) -> bytes | None:
    """A file's bytes, or None."""
    return path.read_bytes() if path.exists() else None


def p95(values: list[float]) -> float:
    """The 95th percentile."""
    return sorted(values)[min(len(values) - 1, int(len(values) * 0.95))]


LABELS = {
    "floor": "floor: five objects + ref, fsynced",
    "git": "git commit --only",
    "ours": "one commit (stage + flush)",
    "batch": "a turn: 5 preferences + log",
    "stage": "chat path (stage)",
}


def main() -> None:
    """Measure, print a table, end with one line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--rounds", type=int, default=30)
    options = parser.parse_args()
    figures: dict[str, float] = {}
    for files in options.files:
        times = measure(files, options.rounds)
        print(f"\n{files:,} files, {options.rounds} rounds{'median ms':>24}{'p95 ms':>10}{'× git':>8}")
        git_median = statistics.median(times["git"])
        for kind, label in LABELS.items():
            median = statistics.median(times[kind])
            print(f"  {label:<36}{median:>10.1f}{p95(times[kind]):>10.1f}{median / git_median:>8.2f}")
        size = f"{files // 1000}k"
        figures[f"ratio_{size}"] = round(statistics.median(times["ours"]) / git_median, 3)
        figures[f"chat_p95_ms_{size}"] = round(p95(times["stage"]), 1)
        figures[f"turn_ms_{size}"] = round(statistics.median(times["batch"]), 1)
        figures["floor_ms"] = round(statistics.median(times["floor"]), 1)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
