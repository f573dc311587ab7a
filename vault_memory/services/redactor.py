"""Taking the secrets out of everything that is kept of a turn."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

from vault_memory.core.privacy import secrets

_MIN_KNOWN_CHARS = 6
"""A shorter secret, such as a PIN, stands in other numbers and words by chance."""


LEFT_OUT = "[redacted: password]"
"""In a log, in place of what would be a secret there."""


class Redactor:
    """Redacts secrets, and counts them by category.

    A secret that was found once is `known`, with its category: a reply repeats a password without the word for it. Who
    keeps the mapping (in memory only: it holds the secrets) lets a later turn of the conversation know them, too. So is
    what answers the question for one in the text before it, at first what was `asked`.
    """

    def __init__(self, known: dict[str, str] | None = None, asked: str = "") -> None:
        self.counts: Counter[str] = Counter()
        self._known = {} if known is None else known
        self._before = asked

    def __call__(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._redacted(_utf8(value))
        if isinstance(value, Mapping):
            return {self(key): self(inner) for key, inner in value.items()}
        if isinstance(value, float) and not math.isfinite(value):
            return str(value)  # no JSON has it
        return [self(inner) for inner in value] if isinstance(value, (list, tuple)) else value

    def _redacted(self, text: str) -> str:
        redacted = secrets.redact(text)
        self.counts.update(redacted.counts)
        if redacted.counts:
            found = ((text[start:end], kind) for start, end, kind in secrets.secret_spans(text))
            self._known |= {
                secret: kind
                for secret, kind in found
                if len(secret) >= _MIN_KNOWN_CHARS and secret not in f"[redacted: {kind}]"
            }
        for start, end, kind in secrets.answer_spans(self._before, text):
            self._known.setdefault(text[start:end], kind)
        self._before = text
        result = redacted.text
        for secret, kind in self._known.items():
            if secret in result:
                self.counts[kind] += result.count(secret)
                result = result.replace(secret, f"[redacted: {kind}]")
        return result


def _utf8(text: str) -> str:
    """The text without surrogates, which UTF-8 cannot encode: a pair becomes its character, a lone one U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
