"""The summary of a conversation, in a few words: what it was about. It is shown to a model later, so it is one line,
without secrets and private facts, and says nothing that the conversation does not."""

from __future__ import annotations

from collections.abc import Sequence

from vault_memory.core.distilling.transcript import Said
from vault_memory.core.extraction import llm
from vault_memory.core.privacy import PRIVATE
from vault_memory.core.text import one_line, share

MAX_SUMMARY_CHARS = 300
MAX_REQUESTS, MAX_REQUEST_CHARS = 4, 70
"""The rules tell the first request and the last ones, each in its first words."""
MIN_SHARE = 0.6
"""So many of a summary's words must have been said."""
_GAP = " … "


def summary_by_rules(turns: Sequence[Said]) -> str:
    """The first request and the last ones; "" where nothing may be told."""
    requests = [request for turn in turns if (request := _request(turn.words))]
    if len(requests) > MAX_REQUESTS:
        return _GAP.join([requests[0], " · ".join(requests[1 - MAX_REQUESTS :])])[:MAX_SUMMARY_CHARS]
    return " · ".join(requests)[:MAX_SUMMARY_CHARS]


def checked_summary(summary: str, turns: Sequence[Said]) -> str:
    """A model's summary on one line; "" for one that is too long, gives orders, holds a secret or a private fact, or
    says what was not said."""
    line = one_line(summary)
    said = "\n".join(f"{turn.words}\n{turn.reply}" for turn in turns)
    if not line or len(line) > MAX_SUMMARY_CHARS or not llm.may_be_kept(line, said):
        return ""
    return line if share(line, said) >= MIN_SHARE else ""


def _request(words: str) -> str:
    public = one_line(llm.without_secrets(llm.both_ends(words))).replace(PRIVATE, "").strip()
    return public if len(public) <= MAX_REQUEST_CHARS else public[: MAX_REQUEST_CHARS - 1].rstrip() + "…"
