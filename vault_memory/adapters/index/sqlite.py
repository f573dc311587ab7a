"""The index of one scope in one SQLite database (apsw): FTS5 for words, int8 vectors scanned by sqlite-vec or numpy."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

import apsw

from vault_memory.adapters.embedding import HTTP, OFFLINE, Embedder, Vector
from vault_memory.adapters.index import database, judging, memories, names, removal, vectors, words
from vault_memory.adapters.index.base import FileState, MemoryRow, MemoryText, Remains, Space, Stats, Ties, Traces
from vault_memory.adapters.index.database import Refuse, rows, value
from vault_memory.adapters.index.outgoing import OutgoingTexts
from vault_memory.adapters.index.vectors import Condition
from vault_memory.adapters.scan import Stamp
from vault_memory.core.layout import ARCHIVE_DIR
from vault_memory.core.notes import Chunk, Document, Resume, Segment, naming
from vault_memory.core.ranking import Candidate, Candidates, Filter, Knowledge
from vault_memory.core.text import QueryTerms, tokens
from vault_memory.errors import Busy, IndexUnusable

MERGE_PAGES = 500
"""Pages merged in one transaction: it takes some milliseconds, and writers get a turn between two."""

_STATE = "content_hash, size, mtime_ns, ctime_ns, inode, problem, resume"


class SqliteIndex:
    """`Index` at `path`; the file is made at the first use, and again when it is damaged or of another version.

    Only its owner may read it. `below`, `within`: see `private.folder_of`; `refuse`: see `database.connect`.
    """

    def __init__(
        self, path: Path, below: Path | None = None, refuse: Refuse | None = None, within: Path | None = None
    ) -> None:
        self.path, self._below, self._refuse, self._within = path, below, refuse, within
        self._local = threading.local()
        self._outgoing = OutgoingTexts()

    @property
    def is_read_only(self) -> bool:
        with self._open() as db:
            return db.readonly("main") or not os.access(self.path, os.W_OK)  # mounted for reading meanwhile

    @property
    def is_new(self) -> bool:
        with self._open() as db:
            return value(db, "SELECT value FROM meta WHERE key = 'new'") is not None

    def set_whole(self) -> None:
        with self._open() as db:
            db.execute("DELETE FROM meta WHERE key = 'new'")

    # -- files ---------------------------------------------------------------------------------------------------------

    def files(self, sources: Iterable[str] | None = None) -> dict[str, FileState]:
        asked = None if sources is None else json.dumps(list(sources))
        sql = f"SELECT source, {_STATE} FROM files"
        if asked is not None:
            sql += " WHERE source IN (SELECT value FROM json_each(:asked))"
        with self._open() as db:
            return {source: _state(*state) for source, *state in db.execute(sql, {"asked": asked})}

    def stamps(self) -> dict[str, Stamp]:
        with self._open() as db:
            found = db.execute("SELECT source, size, mtime_ns, ctime_ns, inode FROM files")
            return {source: (size, mtime, ctime, inode) for source, size, mtime, ctime, inode in found}

    def problems(self, *, is_read: bool | None = None) -> dict[str, str]:
        only = "" if is_read is None else f" AND content_hash {'<>' if is_read else '='} x''"
        with self._open() as db:
            return dict(rows(db, f"SELECT source, problem FROM files WHERE problem <> ''{only}"))

    def holds(self, document: Document) -> bool:
        head_words = _head(document)
        expected = []
        for position, chunk in enumerate(document.chunks):
            head, identity = tokens.stems(chunk.heading) + head_words, _identity(document.title, chunk)
            expected.append((position, chunk.start, chunk.end, chunk.heading, chunk.text, head, identity))
        sql = (
            "SELECT position, line_start, line_end, heading, text, head, identity FROM chunks JOIN files USING(file_id)"
        )
        with self._open() as db:
            return rows(db, f"{sql} WHERE source = ? ORDER BY position", (document.source,)) == expected

    def replace(self, entries: Iterable[tuple[Document, FileState]]) -> None:
        with self._open() as db, db:
            for document, state in entries:
                file_id = self._put_file(db, document, state)
                self._put_chunks(db, file_id, document)

    def append(self, document: Document, state: FileState, before: FileState) -> bool:
        held = "SELECT 1 FROM files WHERE source = ? AND content_hash = ?"
        with self._open() as db, db:
            if not value(db, held, (document.source, before.content_hash)):
                return False
            self._put_chunks(db, self._put_file(db, document, state), document)
        return True

    def mark(self, states: Mapping[str, FileState]) -> None:
        with self._open() as db, db:
            for source, state in states.items():
                if state.content_hash:  # only where the text is still that of the hash
                    db.execute(
                        f"UPDATE files SET ({_STATE}) = (?,?,?,?,?,?,?) WHERE source = ? AND content_hash = ?",
                        (*_state_row(state), source, state.content_hash),
                    )
                    continue
                db.execute(
                    f"INSERT INTO files(source, kind, title, day, tags, links, {_STATE})"
                    " VALUES(?,'','','','','',?,?,?,?,?,?,?)"
                    " ON CONFLICT(source) DO UPDATE SET content_hash=excluded.content_hash, size=excluded.size,"
                    " mtime_ns=excluded.mtime_ns, ctime_ns=excluded.ctime_ns, inode=excluded.inode,"
                    " problem=excluded.problem, resume=excluded.resume",
                    (source, *_state_row(state)),
                )

    def remove(self, sources: Iterable[str]) -> None:
        with self._open() as db, db:
            db.executemany("DELETE FROM files WHERE source = ?", ((source,) for source in sources))
            removal.forget_probes(db)

    def traces(self, sources: Collection[str]) -> Traces:
        with self._open() as db, _one_state(db):
            return removal.traces(db, sources)

    def remains(self, traces: Traces) -> Remains:
        with self._open() as db, _one_state(db):
            return removal.remains(db, traces)

    def holding(self, texts: Iterable[str]) -> list[str]:
        with self._open() as db:
            return removal.holding(db, texts)

    def purge(self) -> bool:
        self.compact()
        with self._open() as db:
            return removal.purge(db)

    def compact(self) -> None:
        with self._open() as db:
            pages = -MERGE_PAGES  # below zero: of all segments, whatever their level (FTS5's documentation, 6.7)
            while True:
                before = db.total_changes()
                db.execute("INSERT INTO words(words, rank) VALUES('merge', ?)", (pages,))
                if db.total_changes() - before < 2:
                    return
                pages = MERGE_PAGES

    def _put_file(self, db: apsw.Connection, document: Document, state: FileState) -> int:
        day = document.day.isoformat() if document.day else ""
        tags, links = _listed(filter(None, map(naming.tag, document.tags))), _listed(document.links)
        row = (document.source, document.kind, document.title, day, tags, links, *_state_row(state))
        sql = (
            f"INSERT INTO files(source, kind, title, day, tags, links, {_STATE}) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)"
            " ON CONFLICT(source) DO UPDATE SET kind=excluded.kind, title=excluded.title, day=excluded.day,"
            " tags=excluded.tags, links=excluded.links, content_hash=excluded.content_hash, size=excluded.size,"
            " mtime_ns=excluded.mtime_ns, ctime_ns=excluded.ctime_ns, inode=excluded.inode,"
            " problem=excluded.problem, resume=excluded.resume"
            " RETURNING file_id"
        )
        file_id = int(value(db, sql, row))
        names.put(db, file_id, document)
        memories.put(db, file_id, document)
        return file_id

    def _put_chunks(self, db: apsw.Connection, file_id: int, document: Document) -> None:
        """Replace a file's chunks from the document's first on. A chunk with unchanged text keeps its row, words and
        vectors, wherever it moved."""
        kept: dict[tuple[bytes, str], list[int]] = {}
        held = "SELECT chunk_id, identity, head FROM chunks WHERE file_id = ? AND position >= ?"
        for chunk_id, identity, head in rows(db, held, (file_id, document.first)):
            kept.setdefault((identity, head), []).append(chunk_id)
        head_words = _head(document)
        for position, chunk in enumerate(document.chunks, document.first):
            head = tokens.stems(chunk.heading) + head_words
            identity = _identity(document.title, chunk)
            if ids := kept.get((identity, head)):
                db.execute(
                    "UPDATE chunks SET position=?, line_start=?, line_end=? WHERE chunk_id=?",
                    (position, chunk.start, chunk.end, ids.pop()),
                )
            else:
                self._insert(db, file_id, position, chunk, head, identity)
        gone = [(chunk_id,) for ids in kept.values() for chunk_id in ids]
        db.executemany("DELETE FROM chunks WHERE chunk_id = ?", gone)

    def _insert(
        self, db: apsw.Connection, file_id: int, position: int, chunk: Chunk, head: str, identity: bytes
    ) -> None:
        stems = [tokens.stems(chunk.text[segment.start : segment.end]) for segment in chunk.segments]
        sections = [f"{first}\t{tokens.stems(heading)}" for first, heading in chunk.sections]
        twin = value(db, "SELECT chunk_id FROM chunks WHERE identity = ? LIMIT 1", (identity,))
        db.execute(
            "INSERT INTO chunks(file_id, position, line_start, line_end, heading, text,"
            " units, head, sections, stems, identity)"
            " VALUES(?,?,?,?,?,?,?,?,?,?,?)",
            (
                file_id,
                position,
                chunk.start,
                chunk.end,
                chunk.heading,
                chunk.text,
                _pack(chunk.segments, chunk.start),
                head,
                "\n".join(sections),
                "\n".join(stems),
                identity,
            ),
        )
        chunk_id = db.last_insert_rowid()
        own = " ".join(map(tokens.expand, stems))
        above = " ".join(map(tokens.expand, (head, *(words.partition("\t")[2] for words in sections))))
        db.execute("INSERT INTO words(rowid, own, head) VALUES(?,?,?)", (chunk_id, own, above))
        if twin:
            db.execute(
                "INSERT INTO vectors(space_id, chunk_id, embedding)"
                " SELECT space_id, ?, embedding FROM vectors WHERE chunk_id = ?",
                (chunk_id, twin),
            )

    # -- vectors -------------------------------------------------------------------------------------------------------

    def waiting(self, space: str, limit: int | None = None, *, is_sent: bool = False) -> list[str]:
        with self._open() as db:
            found = vectors.waiting(db, space, -1 if limit is None else limit)  # SQLite: below zero, all
            return self._texts(db, found, is_sent=is_sent)

    def _texts(self, db: apsw.Connection, waiting: Sequence[tuple[int, str, str, str]], *, is_sent: bool) -> list[str]:
        """What an embedder gets of chunks; of one that sends it away, without the secrets of their files."""
        return [
            _embedded_text(title, heading, self._outgoing.text(db, chunk_id) if is_sent else text)
            for chunk_id, title, heading, text in waiting
        ]

    def embed_pending(self, embedder: Embedder, limit: int = 256) -> int:
        with self._open() as db:
            waiting = vectors.waiting(db, embedder.space, limit)
            texts = self._texts(db, waiting, is_sent=embedder.space.startswith(HTTP))
        if waiting:
            found = embedder.embed(texts, "document")
            packed = vectors.packed(found, len(waiting), embedder.dimension)
            with self._open() as still, still:
                if still is db:  # else the index was deleted meanwhile: in the new one these ids are other chunks
                    space_id = vectors.space_id(db, embedder.space, embedder.dimension)
                    vectors.add(db, space_id, [chunk_id for chunk_id, *_ in waiting], packed)
        with self._open() as db:
            left = vectors.pending(db, embedder.space)
        if not left and not embedder.space.startswith(OFFLINE):
            self._judge(embedder)
        return left

    def _judge(self, embedder: Embedder) -> None:
        """Note in the embedder's space what its model knows of the texts, unless that stands there."""
        with self._open() as db:
            if judging.is_judged(db, embedder.space):
                return
            outgoing = self._outgoing if embedder.space.startswith(HTTP) else None
            asked = judging.sample(db, outgoing)
            new = judging.unasked(db, embedder.space, asked)
        packed: list[bytes] = []
        if new:
            packed = vectors.packed(embedder.embed([each.text for each in new], "probe"), len(new), embedder.dimension)
        with self._open() as still, still:
            if still is db and embedder.space in vectors.spaces(db):
                embeddings = dict(zip((each.identity for each in new), packed, strict=True))
                judging.judge(db, vectors.space_id(db, embedder.space, embedder.dimension), asked, embeddings)

    def spaces(self) -> dict[str, Space]:
        with self._open() as db:
            return vectors.spaces(db)

    def keep_spaces(self, names: Collection[str]) -> None:
        with self._open() as db, db:
            for name in vectors.spaces(db).keys() - set(names):
                vectors.drop(db, name)

    @cached_property
    def _nearest(self) -> vectors.NearestVectors:
        """Made at the first search: a process that only indexes holds no vectors in memory."""
        return vectors.NearestVectors()

    # -- memories ------------------------------------------------------------------------------------------------------

    def memories(self, ids: Collection[str] | None = None) -> list[MemoryRow]:
        with self._open() as db:
            return memories.find(db, ids)

    def kinds(self) -> dict[str, int]:
        with self._open() as db:
            sql = "SELECT kind, count(*) FROM files WHERE source NOT GLOB ? GROUP BY kind"
            return dict(rows(db, sql, (f"{ARCHIVE_DIR}/*",)))

    def memories_version(self) -> int:
        with self._open() as db:
            return memories.version(db)

    def active_memories(self, at: float) -> int:
        with self._open() as db:
            return memories.count_active(db, at)

    def memories_over(
        self, at: float, most: int, limit: int, spare: int = 0, *, passing: bool = False
    ) -> tuple[int, list[MemoryRow]]:
        with self._open() as db:
            return memories.over(db, at, most, limit, spare, passing)

    def latest_memories(self, at: float, limit: int) -> list[MemoryRow]:
        with self._open() as db:
            return memories.latest(db, at, limit)

    def changed_memories(self, after_ns: int, limit: int) -> list[tuple[str, int]]:
        with self._open() as db:
            return memories.changed(db, after_ns, limit)

    def memory_texts(self, at: float) -> list[MemoryText]:
        with self._open() as db:
            return memories.texts(db, at)

    def alike_memories(self, sketch: Sequence[int], at: float, limit: int) -> list[MemoryRow]:
        with self._open() as db:
            return memories.alike(db, sketch, at, limit)

    def memories_about(self, content: str, at: float, limit: int) -> list[MemoryRow]:
        with self._open() as db:
            return memories.about(db, content, at, limit)

    # -- search --------------------------------------------------------------------------------------------------------

    def search(
        self,
        query: QueryTerms,
        vector: tuple[str, Vector] | None = None,
        only: Filter | None = None,
        limit: int = 24,
        *,
        vectors_add_chunks: bool = True,
    ) -> Candidates:
        with self._open() as db, _one_state(db):
            condition = words.condition(db, only or Filter(), query.phrases)
            total = int(value(db, "SELECT value FROM meta WHERE key = 'chunks'"))
            others = tuple({other: None for synonyms in query.synonyms for other in synonyms.others})
            asked = (*query.search_terms, *query.ranking_terms, *others)
            frequency = {term: min(total, held) for term, held in words.frequency(db, asked).items()}
            searched = [words.terms_to_search(terms, frequency, total) for terms in (query.search_terms, others)]
            keyword = words.best(db, [term for terms in searched for term in terms], condition, limit)
            called = names.called(db, query.name, condition)
            keyword |= {chunk_id: 0.0 for chunk_id in called if chunk_id not in keyword}
            near, known = vectors.Nearest({}, None), Knowledge()
            if vector:
                brought = limit if vectors_add_chunks or not keyword else 0
                near = self._nearest.search(db, *vector, list(keyword), condition, brought)
                known = judging.knowledge(db, vector[0])
            found = words.fetch(db, keyword, near.cosines, called)
            return Candidates(found, frequency, total, near.spread, known)

    def listed(self, only: Filter, limit: int) -> tuple[int, list[Candidate]]:
        with self._open() as db, _one_state(db):
            count, chunks = words.listed(db, words.condition(db, only), limit)
            found = {each.chunk_id: each for each in words.fetch(db, dict.fromkeys(chunks, 0.0), {}, {})}
            return count, [found[chunk_id] for chunk_id in chunks]

    def written(self, beginning: str) -> list[str]:
        with self._open() as db, _one_state(db):
            return words.written(db, beginning)

    def called(self, name: str) -> list[tuple[str, int]]:
        with self._open() as db:
            return names.sources(db, name)

    def ties(self, source: str) -> Ties:
        with self._open() as db:
            return names.ties(db, source)

    def linking(self, called: Collection[str]) -> list[str]:
        with self._open() as db:
            return names.linking(db, called)

    def tagged(self, tags: Collection[str]) -> dict[str, tuple[str, ...]]:
        with self._open() as db:
            return names.tagged(db, tags)

    def near(self, source: str, limit: int) -> dict[str, float]:
        held = self.spaces()
        with self._open() as db, _one_state(db):
            for space in sorted(held, key=lambda name: (held[name].pending, name.startswith(OFFLINE))):
                if vector := vectors.mean(db, space, source):
                    others = Condition(
                        "SELECT chunk_id FROM chunks JOIN files USING(file_id) WHERE source <> ?", (source,)
                    )
                    found = self._nearest.search(db, space, vector, [], others, limit).cosines
                    return names.best_of(db, found)
            return {}

    def stats(self) -> Stats:
        with self._open() as db:
            [(files, failed)] = rows(db, "SELECT count(*), count(nullif(problem, '')) FROM files")
            chunks = value(db, "SELECT value FROM meta WHERE key = 'chunks'")
            held = {name: space.pending for name, space in vectors.spaces(db).items()}
        size = sum(p.stat().st_size for p in (self.path, Path(f"{self.path}-wal")) if p.exists())
        return Stats(files, failed, chunks, size, held)

    def close(self) -> None:
        """Close this thread's connection; those of other threads close with their threads."""
        connection = getattr(self._local, "connection", None)
        if connection is not None:
            connection.close()
            self._local.connection = None

    @contextmanager
    def _open(self) -> Iterator[apsw.Connection]:
        """This thread's connection. apsw's errors are raised as ours; a damaged database is emptied first.

        One for reading is made anew each time: the disk may be writable by now, and who reads a database as immutable
        sees nothing of what is written to it from elsewhere."""
        held = getattr(self._local, "connection", None)
        if held is None or self._local.file != _file_id(self.path) or held.readonly("main"):
            self.close()
            self._local.connection = database.connect(self.path, self._below, self._refuse, self._within)
            self._local.file = _file_id(self.path)
        try:
            yield self._local.connection
        except (apsw.BusyError, apsw.LockedError) as error:
            raise Busy(f"{self.path} is being written by another process: try again") from error
        except (apsw.CorruptError, apsw.NotADBError) as error:
            self.close()
            database.remove_damaged(self.path)
            raise IndexUnusable(
                f"{self.path} was damaged and has been emptied: `vault-memory reindex` fills it again"
            ) from error
        except apsw.SQLError as error:
            if isinstance(error.__context__, (apsw.FullError, apsw.IOError)):  # SQLite has undone all of it itself
                raise IndexUnusable(database.no_room(self.path, str(error.__context__))) from error.__context__
            if "no such table" not in str(error) and "no such column" not in str(error):
                raise
            self.close()
            database.remove_damaged(self.path)
            raise IndexUnusable(
                f"{self.path} was changed by hand and has been emptied: `vault-memory reindex` fills it again"
            ) from error
        except apsw.CantOpenError as error:
            raise IndexUnusable(f"{self.path} was moved or deleted at this moment: try again") from error
        except apsw.ReadOnlyError as error:
            raise IndexUnusable(f"{self.path} cannot be written: check the disk and the file's permissions") from error
        except (apsw.FullError, apsw.IOError) as error:
            raise IndexUnusable(database.no_room(self.path, str(error))) from error


@contextmanager
def _one_state(db: apsw.Connection) -> Iterator[None]:
    """Read one state of the database, whatever others write meanwhile. (`with db` would take the write lock.)"""
    db.execute("BEGIN DEFERRED")
    try:
        yield
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")


def _head(document: Document) -> str:
    """What each chunk is found by beside its own words: what its file is called and is about, and its day. A name that
    stands in one before it counts once."""
    found = ""
    for text in naming.head(document.source, document.kind, document.title, document.meta):
        if (stems := tokens.stems(text)) not in found:
            found += stems
    return found + (f" {'  '.join(tokens.day_terms(document.day))} " if document.day else "")


def _listed(texts: Iterable[str]) -> str:
    """Texts as one, in which `\\n…\\n` finds each."""
    return "".join(f"\n{text}\n" for text in texts)


def _identity(title: str, chunk: Chunk) -> bytes:
    """A hash of all that shapes a chunk's own words, its segments and its vector; its position in the file is not part
    of it, nor is what else its note is called: a note that was moved keeps its vectors."""
    segments = [(segment.line - chunk.start, segment.start, segment.end) for segment in chunk.segments]
    shape = (title, chunk.heading, chunk.sections, chunk.text, segments)
    return hashlib.sha256(repr(shape).encode("utf-8", "replace")).digest()[:16]


def _embedded_text(title: str, heading: str, text: str) -> str:
    names = [title, *(name for name in heading.split(" > ") if name != title)]
    return "\n".join([" > ".join(filter(None, names)), text])


def _pack(segments: Sequence[Segment], first_line: int) -> bytes:
    return array("I", [n for each in segments for n in (each.line - first_line, each.start, each.end)]).tobytes()


def _state_row(state: FileState) -> tuple[bytes, int, int, int, int, str, str]:
    resume = json.dumps(state.resume) if state.resume else ""
    return (state.content_hash, state.size, state.mtime_ns, state.ctime_ns, state.inode, state.problem, resume)


def _state(
    content_hash: bytes, size: int, mtime_ns: int, ctime_ns: int, inode: int, problem: str, stored: str
) -> FileState:
    resume = None
    if stored:
        resume = Resume(*json.loads(stored))
        resume = resume._replace(above=tuple((level, heading) for level, heading in resume.above))
    return FileState(content_hash, size, mtime_ns, ctime_ns, inode, problem, resume)


def _file_id(path: Path) -> tuple[int, int] | None:
    """Device and inode: another file at the same path means that the index was deleted."""
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_dev, stat.st_ino
