"""The contract of an index of one scope: derived from its files, and rebuilt from them when in doubt."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from vault_memory.adapters.embedding import Embedder, Vector
from vault_memory.adapters.scan import Stamp
from vault_memory.core.notes import Document, Resume
from vault_memory.core.ranking import Candidate, Candidates, Filter
from vault_memory.core.text import QueryTerms


@dataclass(frozen=True)
class FileState:
    """What the index knows of a file: the SHA-256 of what was read of it, its stamp (see `scan.SourceStamp`), what was
    wrong, and where to go on reading when only its end has changed (`Document.resume`).

    `problem` is empty when everything was read. A file that could not be read at all has an empty hash, and the reason
    is in `problem`.
    """

    content_hash: bytes
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    problem: str = ""
    resume: Resume | None = None


class Space(NamedTuple):
    """One model's vectors in an index: their dimension, how many chunks have one, and how many have none yet."""

    dimension: int
    vectors: int
    pending: int


@dataclass(frozen=True)
class Stats:
    """How much an index holds. `pending` maps each space to the number of chunks without a vector in it."""

    files: int
    failed: int
    chunks: int
    bytes: int
    pending: Mapping[str, int]


class MemoryRow(NamedTuple):
    """What the index knows of a typed memory. Times are seconds since 1970; `expires` is None for one that does not
    expire. `until` is when it begins to be past: that, 0 for one that is superseded or archived, None for never. `used`
    is how often it was recalled, as far as its note says; `created` is 0 where a person wrote it and gave no time.
    `successor` is the id that a note which is not archived names as what took its place, whether it is there or not."""

    source: str
    memory_id: str
    type: str
    title: str
    importance: float
    created: float
    expires: float | None
    until: float | None
    used: int
    successor: str | None = None

    def is_active(self, at: float) -> bool:
        """Whether it answers at a time."""
        return self.until is None or self.until > at


class MemoryText(NamedTuple):
    """What the index holds of a memory's words: title, tags and content. Of a long one (not `is_whole`) the content is
    in pieces, between which something may lie."""

    source: str
    type: str
    text: str
    is_whole: bool


class Ties(NamedTuple):
    """What ties a note to others: what it is called, the names that it links to, its tags; all folded."""

    names: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


class Traces(NamedTuple):
    """What of some files stands in an index: the ids of their chunks. An id is never used again."""

    sources: tuple[str, ...]
    chunk_ids: tuple[int, ...] = ()


class Remains(NamedTuple):
    """How much of some traces an index still holds: rows of their files, of their words, and vectors."""

    files: int
    words: int
    vectors: int


class Index(Protocol):
    """One scope's index. Safe to use from several threads and processes; every write is one transaction.

    Raises `errors.Busy` when another process holds the write lock for too long, `errors.IndexUnusable` when the
    database can be neither read nor rebuilt.
    """

    @property
    def is_read_only(self) -> bool:
        """Whether it can only be read, as on a disk that is mounted for reading."""
        ...

    @property
    def is_new(self) -> bool:
        """Whether not all files have been looked at since it was made (`set_whole`): it may stand in the place of one
        that somebody has deleted, and answers with what it has."""
        ...

    def set_whole(self) -> None:
        """Note that all files have been looked at."""
        ...

    def files(self, sources: Iterable[str] | None = None) -> dict[str, FileState]:
        """State of every file the index knows, by source; of these alone when `sources` are given."""
        ...

    def stamps(self) -> dict[str, Stamp]:
        """Every file's stamp, by source: what a look at all files compares, several times faster than `files`."""
        ...

    def problems(self, *, is_read: bool | None = None) -> dict[str, str]:
        """What is wrong with each file that could not be read (`is_read=False`), or not all of it (`is_read=True`), by
        source."""
        ...

    def holds(self, document: Document) -> bool:
        """Whether the index holds exactly the text of this document, unchanged by anybody."""
        ...

    def replace(self, entries: Iterable[tuple[Document, FileState]]) -> None:
        """Replace what the index holds of these files. Vectors of unchanged text are kept."""
        ...

    def append(self, document: Document, state: FileState, before: FileState) -> bool:
        """Replace the chunks of a file from `document.first` on. Returns False, and changes nothing, when the index
        does not hold the text of `before`, on which the document was built."""
        ...

    def mark(self, states: Mapping[str, FileState]) -> None:
        """Set new states of files whose text in the index stays: a touched file, or one that could not be read.

        A state with a hash is set only where the index holds the text of that hash.
        """
        ...

    def remove(self, sources: Iterable[str]) -> None:
        """Remove these files and everything derived from them."""
        ...

    def traces(self, sources: Collection[str]) -> Traces:
        """What stands here of these files, to ask for its `remains` when they are removed."""
        ...

    def remains(self, traces: Traces) -> Remains:
        """How much of what stood here is left, as the tables of files, words and vectors have it."""
        ...

    def holding(self, texts: Iterable[str]) -> list[str]:
        """The sources of the files in whose text one of these stands, letter for letter."""
        ...

    def purge(self) -> bool:
        """Leave no byte of what was removed in the database and what SQLite keeps beside it. False: somebody reads it
        at this moment, and what was removed stays there until it is written to again."""
        ...

    def compact(self) -> None:
        """Join the pieces that many writes have left: every search must look through each of them."""
        ...

    def waiting(self, space: str, limit: int | None = None, *, is_sent: bool = False) -> list[str]:
        """What an embedder would get of the first `limit` chunks without a vector in a space (None: of all); of one
        that sends it away (`is_sent`), without the secrets of their files."""
        ...

    def embed_pending(self, embedder: Embedder, limit: int = 256) -> int:
        """Give up to `limit` chunks their vector in the embedder's space; returns how many are left without one.

        When none is left, a model is asked for up to 64 probes more, and what it knows of the texts is noted with its
        space (see `core.ranking.probes`).

        Raises `EndpointError`, and stores nothing, when the embedder fails or gives other vectors than the space holds.
        """
        ...

    def spaces(self) -> dict[str, Space]:
        """The spaces of vectors that the index holds, side by side, by name."""
        ...

    def keep_spaces(self, names: Collection[str]) -> None:
        """Drop all spaces but these."""
        ...

    def search(
        self,
        query: QueryTerms,
        vector: tuple[str, Vector] | None = None,
        only: Filter | None = None,
        limit: int = 24,
        *,
        vectors_add_chunks: bool = True,
    ) -> Candidates:
        """The `limit` best chunks by words and the `limit` nearest to `vector` (its space and its numbers).

        With `vectors_add_chunks=False` vectors add no chunks unless words found none. A space that the index does not
        hold finds nothing: vectors of two spaces are never compared.
        """
        ...

    def listed(self, only: Filter, limit: int) -> tuple[int, list[Candidate]]:
        """How many notes a filter lets through, and the first chunks of `limit` of them: the newest day first, then by
        path."""
        ...

    def written(self, beginning: str) -> list[str]:
        """The terms of the words here that begin so as they are written, where the term itself does not begin so."""
        ...

    def called(self, name: str) -> list[tuple[str, int]]:
        """The sources of the notes that are called so (`naming.key`), each with how (`ranking.BY_NAME`, …)."""
        ...

    def ties(self, source: str) -> Ties:
        """What ties a note to others; nothing for one that the index does not hold."""
        ...

    def linking(self, called: Collection[str]) -> list[str]:
        """The sources of the notes that link to one of these names."""
        ...

    def tagged(self, tags: Collection[str]) -> dict[str, tuple[str, ...]]:
        """The sources of the notes with one of these tags (as `ties` gives them), each with all of its tags."""
        ...

    def near(self, source: str, limit: int) -> dict[str, float]:
        """The sources of the `limit` notes nearest to a note by their vectors, each with the best cosine of its chunks
        and the mean of the note's; none without vectors."""
        ...

    def memories(self, ids: Collection[str] | None = None) -> list[MemoryRow]:
        """The typed memories, past ones too, the oldest first; those with these ids (None: all)."""
        ...

    def kinds(self) -> dict[str, int]:
        """How many files there are of each kind, without those in the archive."""
        ...

    def active_memories(self, at: float) -> int:
        """How many typed memories are not past at a time, in seconds since 1970."""
        ...

    def memories_over(
        self, at: float, most: int, limit: int, spare: int = 0, *, passing: bool = False
    ) -> tuple[int, list[MemoryRow]]:
        """How many more than `most` memories are not past then, at most `limit`; and so many of them and `spare` that
        matter least, the least first: by importance, use, and age. `passing`: only such as have a time and that no
        person has written. It takes as long as `most`, or no time where there are not so many."""
        ...

    def latest_memories(self, at: float, limit: int) -> list[MemoryRow]:
        """The newest memories that are not past then, the newest first."""
        ...

    def changed_memories(self, after_ns: int, limit: int) -> list[tuple[str, int]]:
        """The sources of the memories, past ones too, whose files' last change (`Stamp.ctime_ns`) is after that time,
        with it, the earliest first."""
        ...

    def memory_texts(self, at: float) -> list[MemoryText]:
        """The words of the memories that are not past then, the newest first."""
        ...

    def alike_memories(self, sketch: Sequence[int], at: float, limit: int) -> list[MemoryRow]:
        """The memories that are not past then with the most numbers of a sketch (`core.memories.sketch`), the same
        text first. Of the many with a common word only the newest are looked at, so it takes as long among many."""
        ...

    def memories_about(self, content: str, at: float, limit: int) -> list[MemoryRow]:
        """The newest memories that are not past then and that are the same text, or may say the same of the same thing,
        or the contrary (`core.memorable.topics_of`). It takes as long among many."""
        ...

    def memories_version(self) -> int:
        """A number that is another one, in this process, when a typed memory has come, gone or changed."""
        ...

    def stats(self) -> Stats: ...

    def close(self) -> None: ...
