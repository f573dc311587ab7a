"""Secrets: each one in a text is replaced by its kind.

Three kinds are known: formats (keys of providers, tokens, private keys), numbers with a check digit (cards, identity
numbers, IBAN) and values with a name («password: …», 密碼是 …). They are looked for in the text as a reader understands
it (`views`), and what is replaced is the span as it was written. Git hashes, UUIDs, plain numbers and code stay.

A rule begins with fixed letters, so a text without them costs one substring search, and every pattern is bounded: the
time is linear in the length of any text. `benchmarks/secret_detection.py` measures what is found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from vault_memory.core.privacy.formats import Span, format_spans
from vault_memory.core.privacy.named import command_spans, named_spans, table_spans
from vault_memory.core.privacy.numbers import number_spans
from vault_memory.core.privacy.views import views

MAX_ROUNDS = 16
"""Replacing one value may uncover another («A123456789ghp_…»); nobody writes so many in a row."""


@dataclass(frozen=True)
class Redacted:
    """A text without its secrets, and how many of each kind were replaced (`{"api-key": 1}`)."""

    text: str
    counts: Mapping[str, int]


def redact(text: str) -> Redacted:
    """The text with each secret replaced by `[redacted: kind]`; redacting the result again changes nothing.

    Kinds: api-key, token, private-key, password, credentials, card, id-number, bank-account.
    """
    counts: Counter[str] = Counter()
    for _ in range(MAX_ROUNDS):
        spans = secret_spans(text)
        if not spans:
            break
        pieces: list[str] = []
        done = 0
        for start, end, kind in spans:
            pieces += [text[done:start], f"[redacted: {kind}]"]
            counts[kind] += 1
            done = end
        text = "".join([*pieces, text[done:]])
    return Redacted(text, dict(counts))


def secret_spans(text: str) -> list[Span]:
    """(start, end, kind) of each secret, in order and disjoint; offsets into `text`."""
    merged: list[Span] = []
    for start, end, kind in sorted(_found(text), key=lambda span: (span[0], -span[1])):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]), merged[-1][2])
        else:
            merged.append((start, end, kind))
    return merged


def _found(text: str) -> Iterator[Span]:
    for view in views(text):
        for spans in (format_spans, number_spans, named_spans, table_spans, command_spans):
            for start, end, kind in spans(view.text):
                yield *view.origin(start, end), kind
