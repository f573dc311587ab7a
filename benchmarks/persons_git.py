"""A person uses git beside the assistant for some minutes, and then the proof that nothing went where it must not.

    python benchmarks/persons_git.py [MINUTES] [--seed N]

Each round is a new vault and 40 random steps of `tests/persons_git.py`: edits, stashes, branches, merges, rebases,
pulls that take seconds, in between a daemon's looks and turns. Counted are contents that came back after the person had
discarded them (`resurrected`), that are on a branch to which nobody brought them (`misplaced`), that are credited to
somebody else (`misattributed`), that are gone (`lost`), and what still waits when the person is done (`stuck`). Ends
with 1 if there is any. The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.persons_git import FAULTS, Person

STEPS = 40


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("minutes", type=float, nargs="?", default=1.0)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    end = time.monotonic() + args.minutes * 60
    figures = dict.fromkeys(("operations", *FAULTS), 0)
    seed = args.seed
    while time.monotonic() < end:
        with tempfile.TemporaryDirectory() as folder:
            person = Person(Path(folder), seed)
            for _ in range(STEPS):
                person.step(person.rng.choice(Person.STEPS))
            person.finish()
        figures["operations"] += len(person.steps)
        for fault, count in person.faults.items():
            figures[fault] += count
        for line in person.told:
            print(f"seed {seed}: {line}")
        seed += 1
    for name, figure in figures.items():
        print(f"{name:14} {figure:6}")
    print(json.dumps(figures))
    return any(figures[fault] for fault in FAULTS)


if __name__ == "__main__":
    sys.exit(main())
