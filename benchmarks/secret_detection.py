"""How many secrets are found in a labelled corpus, and how many ordinary lines give a false alarm.

    python benchmarks/secret_detection.py [CORPUS] [--errors]

Without CORPUS it reads our own (`secret_corpus.py`): a half that the rules were developed on, and a half they are
measured on. CORPUS is a JSONL file, one object per line: `text`, and `secrets`, a list of the secrets as they are
written in the text (empty: an ordinary text). `kind` and `wrapping` are optional and only group the table.

A secret counts as found when no six characters of it in a row (all, if it is shorter) remain in the redacted text. A
false alarm is an ordinary line that is changed; an ordinary text of several lines counts line by line. detect-secrets
with all its plugins, a maintained library, is measured in the same run.

The last line is JSON: `recall` and `false_alarms` (fractions of 1), and the number of secrets, kinds and lines. For our
own corpus they are those of both halves together; `development` and `measured` name each half.
"""

from __future__ import annotations

import argparse
import atexit
import json
import logging
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from secret_corpus import Item, ordinary_items, secret_items

from vault_memory.core.privacy import redact

PART_CHARS = 6
Redact = Callable[[str], str]


def read(path: Path) -> list[Item]:
    """The items of a JSONL corpus."""
    rows = (json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line.strip())
    return [Item(r["text"], tuple(r["secrets"]), r.get("kind", "-"), r.get("wrapping", "-")) for r in rows]


def is_found(secret: str, left: str) -> bool:
    """Whether nothing of a secret remains that is as long as `PART_CHARS`."""
    size = min(PART_CHARS, len(secret))
    return not any(secret[at : at + size] in left for at in range(len(secret) - size + 1))


def measure(items: Iterable[Item], by: Redact, errors: bool = False) -> dict[str, Any]:
    """Recall, false alarms, and (found, all) by kind and by wrapping."""
    kinds: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    wrappings: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    lines = alarms = 0
    for item in items:
        left = by(item.text)
        if not item.secrets:
            kept = set(left.split("\n"))
            wrong = [line for line in item.text.split("\n") if line not in kept]
            lines += item.text.count("\n") + 1
            alarms += len(wrong)
            if errors and wrong:
                print(f"false alarm: {item.text!r}\n          -> {left!r}")
        for secret in item.secrets:
            whole = is_found(secret, left)
            for row in (kinds[item.kind], wrappings[item.wrapping]):
                row[0] += whole
                row[1] += 1
            if errors and not whole:
                print(f"missed {item.kind}, {item.wrapping}: {item.text!r}\n    -> {left!r}")
    secrets, found = (sum(row[place] for row in kinds.values()) for place in (1, 0))
    return {
        "recall": found / secrets if secrets else 1.0,
        "false_alarms": alarms / lines if lines else 0.0,
        "secrets": secrets,
        "lines": lines,
        "kinds": dict(kinds),
        "wrappings": dict(wrappings),
    }


def detect_secrets() -> Redact:
    """The maintained library with all its plugins and filters, as it scans a file."""
    from detect_secrets.core.scan import scan_file
    from detect_secrets.settings import default_settings

    logging.disable(logging.WARNING)
    place = Path(tempfile.mkstemp(suffix=".txt")[1])
    atexit.register(place.unlink)

    def by(text: str) -> str:
        place.write_text(text, encoding="utf-8")
        with default_settings():
            for secret in scan_file(str(place)):
                if secret.secret_value:
                    text = text.replace(secret.secret_value, "[]")
        return text

    return by


def show(name: str, result: dict[str, Any]) -> None:
    print(f"{name:34}{result['recall']:8.3f}{result['false_alarms']:14.4f}{result['secrets']:9}{result['lines']:8}")


def table(title: str, ours: dict[str, list[int]], theirs: dict[str, list[int]]) -> None:
    print(f"\n{title:26}{'secrets':>8}{'found':>8}{'detect-secrets':>16}")
    for name, (found, count) in sorted(ours.items()):
        print(f"{name:26}{count:8}{found:8}{theirs[name][0]:16}")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    arguments.add_argument("corpus", type=Path, nargs="?", help="JSONL: text, secrets")
    arguments.add_argument("--errors", action="store_true", help="list what is missed and what is a false alarm")
    options = arguments.parse_args()
    if options.corpus:
        items = read(options.corpus)
        halves: dict[str, Sequence[Item]] = {}
    else:
        secrets, ordinary = list(secret_items()), list(ordinary_items())
        items = secrets + ordinary
        halves = {"development": secrets[::2] + ordinary[::2], "measured": secrets[1::2] + ordinary[1::2]}

    def ours(text: str) -> str:
        return redact(text).text

    theirs = measure(items, detect_secrets())
    results = {name: measure(half, ours) for name, half in halves.items()}
    whole = measure(items, ours, options.errors)
    print(f"{'':34}{'recall':>8}{'false alarms':>14}{'secrets':>9}{'lines':>8}")
    for name, result in (*results.items(), ("all", whole), ("detect-secrets, all", theirs)):
        show(name, result)
    table("kind", whole["kinds"], theirs["kinds"])
    table("wrapping", whole["wrappings"], theirs["wrappings"])
    short = ("recall", "false_alarms", "secrets", "lines")
    summary = {name: whole[name] for name in short} | {"kinds": len(whole["kinds"])}
    summary |= {name: {key: result[key] for key in short} for name, result in results.items()}
    print(json.dumps(summary | {"detect_secrets": {key: theirs[key] for key in short}}))


if __name__ == "__main__":
    main()
