"""Commit messages: a subject, and the trailers that make the history of preferences a table.

    memory(alice): theme = dark

    Reason: 「我喜歡暗色主題」
    Vault-User: alice
    Vault-Key: theme

Whatever a person wrote ends up in one line of its own, so that no value can forge a second trailer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_REASON = "Reason"
_TRAILER = re.compile(r"([A-Za-z0-9][A-Za-z0-9-]*):(?: (.*))?")
# Everything some reader takes for a line's end or for nothing at all: C0 and C1 controls (NUL would cut the commit's
# text), the Unicode separators, and lone surrogates, which UTF-8 cannot hold.
_BREAKS = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")


@dataclass(frozen=True)
class Message:
    """A commit message taken apart; `reason` is the quote without its brackets, `body` what is no trailer."""

    subject: str
    reason: str = ""
    trailers: Mapping[str, str] = field(default_factory=dict)
    body: str = ""


def single_line(text: str) -> str:
    """`text` on one line: every run of blanks, line breaks and control characters becomes one blank."""
    return _BREAKS.sub(" ", text).strip()


def render(subject: str, reason: str = "", trailers: Mapping[str, str] | None = None) -> str:
    """The message of a commit; all values are brought to one line. Keys are letters, digits and hyphens."""
    lines = [f"{_REASON}: 「{single_line(reason)}」"] if single_line(reason) else []
    for key, value in (trailers or {}).items():
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9-]*", key):
            raise ValueError(f"{key!r} cannot be the key of a trailer")
        lines.append(f"{key}: {single_line(value)}".rstrip())
    head = single_line(subject) + "\n"
    return head + "\n" + "\n".join(lines) + "\n" if lines else head


def parse(message: str) -> Message:
    """Take apart any commit message, ours or a person's; a last paragraph that is all trailers is the trailers.

    A key that stands twice keeps its last value, as `git interpret-trailers` would show it last.
    """
    subject, _, rest = message.replace("\r\n", "\n").strip("\n").partition("\n")
    paragraphs = re.split(r"\n[ \t]*\n", rest.strip("\n")) if rest.strip() else []
    found: dict[str, str] = {}
    if paragraphs and rest.startswith("\n"):
        matches = [_TRAILER.fullmatch(line.rstrip()) for line in paragraphs[-1].split("\n")]
        if all(matches):
            found = {m[1]: m[2] or "" for m in matches if m}
            paragraphs.pop()
    reason = found.pop(_REASON, "")
    if reason.startswith("「") and reason.endswith("」"):
        reason = reason[1:-1]
    return Message(subject.strip(), reason, found, "\n\n".join(paragraphs))
