"""The gate before history: which secrets a new text of a file would bring in. Git keeps what is once committed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from vault_memory.core.privacy.secrets import secret_spans

MAX_SEARCHED_BYTES = 4_000_000
"""Of the new lines of a file; a longer text is no note, and searching it would delay the commit."""


class Finding(NamedTuple):
    """A secret in a text: its line (1-based) and its kind. The secret itself is kept nowhere."""

    line: int
    kind: str


def secrets_added(known: Sequence[bytes | None], text: bytes | None) -> list[Finding]:
    """The secrets in lines of `text` that none of the `known` texts has. A binary file (a NUL in it) has none."""
    if not text or text in known:
        return []
    first, added = 0, text
    longest = max((old for old in known if old and text.startswith(old)), key=len, default=b"")
    if longest.endswith(b"\n"):  # text was appended: a log of many entries is not read again for each
        first, added = longest.count(b"\n"), text[len(longest) :]
    if b"\0" in added:
        return []
    return list(_findings(known, added[:MAX_SEARCHED_BYTES], first))


def _findings(known: Sequence[bytes | None], added: bytes, first: int) -> Iterator[Finding]:
    """The secrets in the new ones of the lines in `added`; `first` lines stand above it."""
    old = {line for text in known if text for line in text.split(b"\n")}
    rows = [(number, line) for number, line in enumerate(added.split(b"\n"), first + 1) if line not in old]
    searched = b"\n".join(line for _, line in rows).decode("utf-8", "replace")
    spans = secret_spans(searched)
    line = place = 0
    for start, _, kind in spans:
        line += searched.count("\n", place, start)
        place = start
        yield Finding(rows[line][0], kind)


def places(findings: Sequence[Finding]) -> str:
    """`line 3 (password), line 9 (api-key)`; of many the first ones."""
    told = [f"line {finding.line} ({finding.kind})" for finding in findings[:_MAX_TOLD]]
    return ", ".join(told + [f"and {len(findings) - _MAX_TOLD} more"] * (len(findings) > _MAX_TOLD))


_MAX_TOLD = 3
