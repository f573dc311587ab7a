"""The tools about the vault's notes: searching, reading, and the prompt for a request."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal

from pydantic import Field

from vault_memory.core import layout, reading
from vault_memory.core.record_kinds import SEARCHABLE_KINDS
from vault_memory.errors import UsageError
from vault_memory.interfaces.mcp.tool import NUMBER, TEXT, TEXTS, WHOLE, Person, Taken, Tool, record, rows
from vault_memory.services.notes import read_note
from vault_memory.services.retrieval import SearchQuery, build_enhanced_prompt, search

Kind = Literal[SEARCHABLE_KINDS]  # type: ignore[valid-type]
Day = Annotated[str, Field(json_schema_extra={"format": "date"})]
"""YYYY-MM-DD, or "" for none (`day_of`)."""


class SearchTaken(Taken):
    """What to search for."""

    query: Annotated[str, Field(min_length=1, max_length=20_000)]
    top_k: Annotated[int, Field(ge=1, le=100)] = 5
    scope: Literal["user", "shared", "all"] = "user"
    kinds: Annotated[list[Kind], Field(max_length=20)] = []
    since: Day = ""
    until: Day = ""


class NoteTaken(Taken):
    """Which lines of which note."""

    source: Annotated[str, Field(min_length=1, max_length=1_000)]
    scope: Literal["user", "shared"] = "user"
    from_line: Annotated[int, Field(ge=1, le=10_000_000)] = 1
    max_lines: Annotated[int, Field(ge=1, le=2_000)] = 300


class PromptTaken(Taken):
    """The request."""

    request: Annotated[str, Field(min_length=1, max_length=200_000)]
    skill: Annotated[str, Field(max_length=200)] = ""
    budget: Annotated[int, Field(ge=200, le=1_000_000)] = 4_000


def _search(person: Person, taken: SearchTaken) -> dict[str, Any]:
    kinds, days = tuple(taken.kinds), (day_of(taken.since), day_of(taken.until))
    query = SearchQuery(taken.query, taken.top_k, "hybrid", taken.scope, kinds, *days, is_typed=True)
    if not person.is_known:
        return {"hits": [], "degraded": []}
    found = search(person.vault, person.user_id, query)
    hits = [
        {"source": hit.source, "lines": "-".join(map(str, hit.line_range)), "content": hit.content, "score": hit.score}
        | ({} if hit.scope else {"scope": "shared"})
        for hit in found.hits
    ]
    return {"hits": hits, "degraded": found.degraded}


def _read(person: Person, taken: NoteTaken) -> dict[str, Any]:
    scope = person.user_id if taken.scope == "user" else layout.SHARED
    note = read_note(person.vault, scope, taken.source)
    lines = reading.lines(note.content, keep_ends=True)
    end = taken.from_line - 1 + taken.max_lines
    page = {"source": note.source, "content": "".join(lines[taken.from_line - 1 : end]), "lines": len(lines)}
    return page | ({"next": end + 1} if end < len(lines) else {})


def _prompt(person: Person, taken: PromptTaken) -> dict[str, Any]:
    built = build_enhanced_prompt(person.vault, person.user_id, taken.request, taken.skill or None, budget=taken.budget)
    sources = [each.place for each in built.passages]
    return {"text": built.text, "tokens": built.tokens, "sources": sources, "degraded": built.degraded}


def day_of(text: str) -> date | None:
    """The day, None for "". Raises `UsageError` for one that no calendar has."""
    try:
        return date.fromisoformat(text) if text else None
    except ValueError as error:
        raise UsageError(f"{text[:20]!r} is no day: write YYYY-MM-DD") from error


TOOLS = (
    Tool(
        "search_memory",
        "vault",
        "Search notes, daily logs and past conversations, by words and meaning. Cite `source`.",
        SearchTaken,
        record(hits=rows(source=TEXT, lines=TEXT, content=TEXT, score=NUMBER, scope=TEXT), degraded=TEXTS),
        _search,
        reads_only=True,
        stands_for=("search",),
    ),
    Tool(
        "read_note",
        "vault",
        "Read lines of a note by the source of a search hit; `next` is the from_line of the next page.",
        NoteTaken,
        record(source=TEXT, content=TEXT, lines=WHOLE, next=WHOLE),
        _read,
        reads_only=True,
    ),
    Tool(
        "build_prompt",
        "vault",
        "A request with all of the memory that bears on it, ready for a model.",
        PromptTaken,
        record(text=TEXT, tokens=WHOLE, sources=TEXTS, degraded=TEXTS),
        _prompt,
        reads_only=True,
        is_prompt=True,
    ),
)
