"""Where a text is still found in a git repository: a scan that knows nothing of how it was erased.

It reads git's files itself. Loose objects are inflated; each object of each pack, reachable or not, is taken out by
plain `git`; any other file, git's index, databases and what a crash left too, is searched as it is, and `.gz` unpacked.
"""

from __future__ import annotations

import gzip
import html
import json
import os
import re
import subprocess
import unicodedata
import urllib.parse
import zlib
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Leftovers:
    """The number of objects that were looked at, and each place that holds the text."""

    objects: int = 0
    places: list[str] = field(default_factory=list)


def written_forms(text: str) -> list[bytes]:
    """A text as it is, as JSON, YAML, HTML and addresses escape it, decomposed, over two lines or with marks at each
    blank, and as files are called by it, cut too."""
    forms = [text, json.dumps(text)[1:-1], json.dumps(text)[1:-1].replace("\\u", "\\U").upper().replace("\\U", "\\u")]
    forms += [unicodedata.normalize("NFD", text), text.lower(), text.upper(), "-".join(text.lower().split())]
    slug = re.sub(r"[\W_]+", "-", unicodedata.normalize("NFC", text).lower())
    forms += [slug.strip("-"), slug[:40].strip("-"), text[:60].rstrip(), text.replace("'", "''")]
    forms += [urllib.parse.quote(text), urllib.parse.quote_plus(text), html.escape(text)]
    words = text.split(" ")
    forms.append("".join(chr(ord(each) + 0xFEE0) if "!" <= each <= "~" else each for each in text))
    forms += [
        " ".join(words[:at]) + end + " ".join(words[at:])
        for at in range(1, len(words))
        for end in ("\n", "\r\n", "\n> ", "** ", " *", "<br>", "&nbsp;", "\\\n", " | ", "\n* ", "\n# ")
    ]
    return sorted({form.encode() for form in forms})


def leftovers(root: Path, text: str) -> Leftovers:
    """Look through the whole folder `root`, its `.git` with all that is in it."""
    found = Leftovers()
    wanted = written_forms(text)

    def look(where: str, data: bytes) -> None:
        if any(form in data for form in wanted):
            found.places.append(where)

    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        look(f"the name {name}", name.encode())
        if path.is_symlink():
            look(f"the link {name}", os.readlink(path).encode())
        if path.is_symlink() or not path.is_file():
            continue
        try:
            data = path.read_bytes()
        except FileNotFoundError:  # a database is closed at this moment
            continue
        look(name, data)
        if path.suffix == ".gz":
            look(f"{name}, unpacked", gzip.decompress(data))
        if path.suffix == ".pack" and not path.with_suffix(".idx").exists():
            found.places.append(f"{name}, a pack that nobody can look into")
        if path.parent.parent.name == "objects" and len(path.name) == 38:
            found.objects += 1
            look(f"object {path.parent.name}{path.name}", zlib.decompress(data))
        if path.suffix == ".pack" and path.with_suffix(".idx").exists():
            for kind, body in _packed(root, path):
                found.objects += 1
                look(f"a {kind} in {name}", body)
    return found


def _packed(root: Path, pack: Path) -> list[tuple[str, bytes]]:
    listed = subprocess.run(
        ["git", "show-index"], input=pack.with_suffix(".idx").read_bytes(), capture_output=True, check=True
    )
    ids = b"".join(row.split()[1] + b"\n" for row in listed.stdout.splitlines())
    told = subprocess.run(["git", "cat-file", "--batch"], cwd=root, input=ids, capture_output=True, check=True).stdout
    bodies, at = [], 0
    while at < len(told):
        end = told.index(b"\n", at)
        _, kind, size = told[at:end].split()
        bodies.append((kind.decode(), told[end + 1 : end + 1 + int(size)]))
        at = end + 2 + int(size)
    return bodies
