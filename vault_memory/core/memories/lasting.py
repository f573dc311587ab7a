"""What was said in conversation lives for some days, and begins anew when it is said or recalled again; what is said or
recalled often enough stays for good."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, timedelta
from pathlib import PurePosixPath

from vault_memory.core.layout import CONVERSATIONS_DIR
from vault_memory.core.memories.making import ID_PREFIXES
from vault_memory.core.memories.note import Memory

SAID_PREFIX = ID_PREFIXES["said"]
"""The prefix of the ids of memories that are the person's own words in a turn."""
SAID_TTL_DAYS = 7
"""How long what was said once is remembered."""
LASTING_DAYS, LASTING_USES = 3, 5
"""What was said on so many different days, or was said again or recalled so many times, stays for good."""


def is_said(source: str) -> bool:
    """Whether a note (its path) is a memory that a turn has left behind, in the words of its record."""
    return PurePosixPath(source).name.startswith(f"{SAID_PREFIX}_")


def is_of_conversation(memory: Memory) -> bool:
    """Whether it comes from a conversation, by rules or by a model. Whoever stores another has said how long it is
    to live."""
    return memory.source.startswith(f"{CONVERSATIONS_DIR}/")


def reinforced(memory: Memory, at: datetime, said_on: date | None = None, times: int = 1) -> Memory:
    """The memory after it was recalled so many `times`, the last time `at` that, or said again on a day: its time
    begins anew, and is never shorter than it was."""
    days = {*memory.said_on, said_on.isoformat()} if said_on else memory.said_on
    began = memory.reinforced_at or memory.created_at
    life = memory.expires_at - began if memory.expires_at and began else timedelta(days=SAID_TTL_DAYS)
    is_renewed = memory.expires_at is not None and at + life > memory.expires_at
    return replace(
        memory,
        access_count=memory.access_count + times,
        last_accessed_at=at,
        said_on=tuple(sorted(days)),
        reinforced_at=at if is_renewed else memory.reinforced_at,
        expires_at=at + life if is_renewed else memory.expires_at,
    )


def why_lasting(memory: Memory) -> str:
    """Why a memory is to stay for good, in words; "" for one that is not, or does already. What was earned before it
    expired counts, however late it is asked."""
    if memory.expires_at is None or not is_of_conversation(memory):
        return ""
    days = [day for day in memory.said_on if day <= memory.expires_at.date().isoformat()]
    if len(days) >= LASTING_DAYS:
        return f"said on {', '.join(days[:-1])} and {days[-1]}"
    is_in_time = memory.last_accessed_at is None or memory.last_accessed_at <= memory.expires_at
    if memory.access_count >= LASTING_USES and is_in_time:
        return f"said again or recalled {memory.access_count} times"
    return ""
