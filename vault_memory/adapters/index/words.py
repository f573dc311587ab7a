"""Finding chunks by their words in an index database: SQL in, candidates out.

Lists are passed as one JSON value: the text of a statement then stays the same, and SQLite parses it once.
"""

from __future__ import annotations

import itertools
import json
import re
from array import array
from collections.abc import Mapping, Sequence
from functools import partial

import apsw

from vault_memory.adapters.index.database import at_once, rows, value
from vault_memory.adapters.index.vectors import Condition
from vault_memory.core.notes import Segment
from vault_memory.core.ranking import NOT_CALLED, RECORD, Candidate, Filter
from vault_memory.core.text import tokens

LARGE_INDEX_CHUNKS = 5_000
COMMON_TERM_SHARE = 0.1
"""In a large index a term that stands in this share of the chunks is not searched for if `MIN_RARE_TERMS` are left."""
MIN_RARE_TERMS = 3
MAX_TEXTS_OF_BEGINNING = 200
"""So many passages tell which words begin as was typed."""

_make_segment = partial(tuple.__new__, Segment)
"""`Segment._make` without a call into Python: a search makes a thousand of them."""


def best(db: apsw.Connection, terms: Sequence[str], only: Condition, limit: int) -> dict[int, float]:
    """BM25 of the best chunks by id. Ties are cut by source and position: then a rebuilt index answers the same."""
    if not terms:
        return {}
    # `+rowid`: the words find the chunks, then the condition is tested. By rowid SQLite would ask FTS5 for each chunk
    # that the condition lets through, and take ten times as long where these are many.
    match = " OR ".join(map(_matched, terms))
    found = at_once(
        db,
        "SELECT json_group_array(json_array(chunk_id, score, kind = ?)"
        " ORDER BY round(score, 9) DESC, kind = ?, source, position)"
        " FROM (SELECT rowid AS chunk_id, -bm25(words, 1.0, 1.0) AS score FROM words"
        f" WHERE words MATCH ? {only.on('+rowid')} ORDER BY bm25(words, 1.0, 1.0) LIMIT ?)"
        " JOIN chunks USING(chunk_id) JOIN files USING(file_id)",
        (RECORD, RECORD, match, *only.values, 3 * limit),
    )
    read = [(chunk_id, score) for chunk_id, score, is_record in found if not is_record][:limit]
    records = [(chunk_id, score) for chunk_id, score, is_record in found if is_record][: limit // 2]
    return dict(read + records)


def _matched(term: str) -> str:
    """A term as FTS5 is asked for it: its pieces side by side, or how a word begins."""
    return f'"{term[:-1]}"*' if term.endswith("*") else f'"{" ".join(tokens.pieces(term))}"'


def written(db: apsw.Connection, beginning: str) -> list[str]:
    """See `Index.written`. A stem is a beginning of its word, but for its last letter: of *organization*, which begins
    with `organizatio`, it is `organ`. The texts tell whether a term is the stem of such a word."""
    held = rows(
        db,
        "SELECT term FROM terms WHERE term >= ? AND term < ? AND length(term) BETWEEN 2 AND ?",
        (beginning[0], beginning[0] + chr(0x10FFFF), len(beginning)),
    )
    short = {term for (term,) in held if beginning.startswith(term[:-1]) and term != beginning}
    if not short:
        return []
    said = "text || char(10) || heading || char(10) || title || char(10) || source"
    texts = rows(
        db,
        f"SELECT {said} FROM chunks JOIN files USING(file_id)"
        " WHERE chunk_id IN (SELECT rowid FROM words WHERE words MATCH ?)"
        f" AND instr(lower({said}), ?) LIMIT ?",
        (" OR ".join(f'"{term}"' for term in short), beginning, MAX_TEXTS_OF_BEGINNING),
    )
    begun = re.compile(rf"(?<![a-z0-9]){re.escape(beginning)}[a-z0-9]*")
    found = (tokens.stems(word).strip() for (text,) in texts for word in begun.findall(tokens.fold(text)))
    return sorted(short.intersection(found))


def terms_to_search(terms: Sequence[str], frequency: Mapping[str, int], total: int) -> list[str]:
    """The terms to search for: those in the index; of a large one without the common terms, if enough others are left.

    To score a tenth of all chunks for one word takes longer than all the rest and says little; ranking still weighs it.
    """
    held = [term for term in terms if frequency[term]]
    rare = [term for term in held if frequency[term] <= total * COMMON_TERM_SHARE]
    return rare if total >= LARGE_INDEX_CHUNKS and len(rare) >= MIN_RARE_TERMS else held


def condition(db: apsw.Connection, only: Filter, phrases: Sequence[str] = ()) -> Condition:
    """The chunks of the notes that a filter lets through, of those with the words of all phrases in a row."""
    tests, values = [], list[object]()
    if only.kinds:
        tests.append(f"kind IN ({','.join('?' * len(only.kinds))})")
        values.extend(only.kinds)
    if only.since:
        tests.append("day >= ?")
        values.append(only.since.isoformat())
    if only.until:
        tests.append("day <> '' AND day <= ?")
        values.append(only.until.isoformat())
    for tag in only.tags:
        tests.append("(instr(tags, ?) OR instr(tags, ?))")
        values.extend((f"\n{tag}\n", f"\n{tag}/"))
    if only.path:
        tests.append("(lower(source) IN (lower(?), lower(?)) OR instr(lower(source), lower(?)) = 1)")
        values.extend((only.path, f"{only.path}.md", f"{only.path}/"))
    if only.gone:
        tests.append("source NOT IN (SELECT value FROM json_each(?))")
        values.append(json.dumps(only.gone))
    if runs := [run for phrase in phrases for run in _runs(phrase)]:
        tests.append("chunk_id IN (SELECT rowid FROM words WHERE words MATCH ?)")
        values.append(" AND ".join(runs))
    if only.memory_types:
        types = ",".join("?" * len(only.memory_types))
        tests.append(f"file_id IN (SELECT file_id FROM memories WHERE type IN ({types}))")
        values.extend(only.memory_types)
    if only.skills is not None:
        skills = ",".join("?" * len(only.skills))
        tests.append(f"file_id IN (SELECT file_id FROM memories WHERE skill_id IN ({skills}))")
        values.extend(only.skills)
    past = "SELECT file_id FROM memories WHERE until <= ?"
    has_past = only.at is not None and value(db, f"{past} LIMIT 1", (only.at,)) is not None
    if not tests and has_past:  # they are few beside all that may answer
        return Condition(f"SELECT chunk_id FROM chunks WHERE file_id IN ({past})", (only.at,), is_excluding=True)
    if not tests:
        return Condition()
    if has_past:
        tests.append(f"file_id NOT IN ({past})")
        values.append(only.at)
    sql = f"SELECT chunk_id FROM chunks JOIN files USING(file_id) WHERE {' AND '.join(tests)}"
    return Condition(sql, tuple(values))


def _runs(phrase: str) -> list[str]:
    """The runs of one script in a phrase as FTS5 is asked for them: between Chinese and other words single characters
    are indexed, too."""
    words = itertools.groupby(tokens.stems(phrase).split(), tokens.is_han_piece)
    return [_matched(run) for is_han, each in words for run in (each if is_han else [" ".join(each)])]


def listed(db: apsw.Connection, only: Condition, limit: int) -> tuple[int, list[int]]:
    """How many notes a filter lets through, and the first chunks of the newest of them, then by path."""
    sql = f"FROM chunks JOIN files USING(file_id) WHERE position = 0 {only.on('chunk_id')}"
    found = rows(db, f"SELECT chunk_id {sql} ORDER BY day DESC, source LIMIT ?", (*only.values, limit))
    return int(value(db, f"SELECT count(*) {sql}", only.values)), [chunk_id for (chunk_id,) in found]


def frequency(db: apsw.Connection, terms: Sequence[str]) -> dict[str, int]:
    """The number of chunks with each term; of a phrase, with the rarest of its pieces; of a beginning about that of the
    words that begin so."""
    begun = [term for term in terms if term.endswith("*")]
    if begun:
        whole = frequency(db, [term for term in terms if not term.endswith("*")])
        sql = "SELECT coalesce(sum(doc), 0) FROM terms WHERE term >= ? AND term < ?"
        ends = {term: (term[:-1], term[:-1] + chr(0x10FFFF)) for term in begun}
        return whole | {term: int(value(db, sql, end)) for term, end in ends.items()}
    pieces = {term: tokens.pieces(term) for term in terms}
    sql = "SELECT json_group_object(term, doc) FROM terms WHERE term IN (SELECT value FROM json_each(?))"
    held: dict[str, int] = at_once(db, sql, (json.dumps([*{piece for each in pieces.values() for piece in each}]),))
    return {term: min(held.get(piece, 0) for piece in each) for term, each in pieces.items()}


def fetch(
    db: apsw.Connection, keyword: Mapping[int, float], cosines: Mapping[int, float], called: Mapping[int, int]
) -> list[Candidate]:
    """The chunks that words, vectors or names found, as candidates."""
    found = rows(
        db,
        "SELECT chunk_id, source, kind, day, position, text, line_start, units, stems, head, sections"
        " FROM chunks JOIN files USING(file_id) WHERE chunk_id IN (SELECT value FROM json_each(?))"
        " ORDER BY source, position",
        (json.dumps([*{**keyword, **cosines}]),),
    )
    return [
        Candidate(
            chunk_id,
            source,
            kind,
            day,
            position,
            text,
            segments=segments_of(packed, start),
            stems=stems.split("\n") if packed else (),
            head=head,
            keyword=keyword.get(chunk_id, 0.0),
            cosine=cosines.get(chunk_id),
            sections=_sections(sections),
            called=called.get(chunk_id, NOT_CALLED),
        )
        for chunk_id, source, kind, day, position, text, start, packed, stems, head, sections in found
    ]


def segments_of(packed: bytes, first: int = 1) -> list[Segment]:
    """The segments of a chunk that begins in line `first`, from its row's `units`."""
    numbers = array("I", packed)
    lines = [first + number for number in numbers[::3]]
    return list(map(_make_segment, zip(lines, numbers[1::3], numbers[2::3], strict=True)))


def _sections(stored: str) -> list[tuple[int, str]]:
    rows = (row.partition("\t") for row in stored.split("\n") if row)
    return [(int(first), words) for first, _, words in rows]
