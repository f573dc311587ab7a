"""The index of one scope: derived from its files, and rebuilt from them whenever in doubt."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from vault_memory.adapters.embedding.base import Embedder, Vector
from vault_memory.core.change import Identity
from vault_memory.core.notes.document import Document
from vault_memory.core.ranking.candidate import Candidates, Filter
from vault_memory.core.text.tokens import Query


@dataclass(frozen=True)
class FileState:
    """What the index knows of a file: the bytes it was read from, their `stat`, and what was wrong.

    `content_hash` is the SHA-256 of the bytes; `problem` is empty when all was read. A file that could not be read at
    all has an empty hash and its reason in `problem`.
    """

    content_hash: bytes
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    problem: str = ""


class Space(NamedTuple):
    """One model's vectors in an index: how many numbers each has, how many chunks have one, and how many have none yet."""

    dimension: int
    vectors: int
    pending: int


@dataclass(frozen=True)
class Stats:
    """How much an index holds. `pending` tells for each space of vectors how many chunks have none in it yet; `scanned_by`
    is what finds the nearest ones in a cold process: `sqlite-vec`, or `numpy` where no wheel of it exists."""

    files: int
    failed: int
    chunks: int
    bytes: int
    pending: Mapping[str, int]
    scanned_by: str


class Index(Protocol):
    """One scope's index. Safe to use from several threads and processes; every write is one transaction.

    Raises `errors.Busy` when another process holds the write lock for too long, `errors.IndexUnusable` when the
    database can be neither read nor rebuilt.
    """

    def files(self, sources: Iterable[str] | None = None) -> dict[str, FileState]:
        """State of every file the index knows, by source; of these alone when `sources` are given."""
        ...

    def identities(self) -> dict[str, Identity]:
        """Every file's identity, by source: what a look at everything compares, several times faster than `files`."""
        ...

    def problems(self) -> dict[str, str]:
        """What is wrong with each file that could not be read, or not all of it, by source."""
        ...

    def holds(self, document: Document) -> bool:
        """Whether the index holds exactly the text of this document, as it would had nobody meddled with it."""
        ...

    def replace(self, entries: Iterable[tuple[Document, FileState]]) -> None:
        """Put these files in place of what the index held of them. Vectors of unchanged text are kept."""
        ...

    def mark(self, states: Mapping[str, FileState]) -> None:
        """New states of files whose text in the index stays: a touched file, or one that could not be read.

        A state with a hash is taken only where the index holds the text of that hash.
        """
        ...

    def remove(self, sources: Iterable[str]) -> None:
        """Forget these files and all that was derived from them."""
        ...

    def compact(self) -> None:
        """Join what many writes have laid down in pieces, which every search has to look through one by one."""
        ...

    def embed_pending(self, embedder: Embedder, limit: int = 256) -> int:
        """Give up to `limit` chunks their vector in the embedder's space; returns how many are left without one.

        Raises `EndpointError`, and stores nothing, when the embedder fails or gives other vectors than the space holds.
        """
        ...

    def spaces(self) -> dict[str, Space]:
        """The spaces of vectors that the index holds, side by side, by name."""
        ...

    def keep_spaces(self, names: Collection[str]) -> None:
        """Forget all spaces but these."""
        ...

    def search(
        self,
        query: Query,
        vector: tuple[str, Vector] | None = None,
        only: Filter | None = None,
        limit: int = 24,
        *,
        bring: bool = True,
    ) -> Candidates:
        """The `limit` best chunks by words and the `limit` nearest to `vector` (its space, itself); unless vectors are to
        `bring` chunks, those alone that words found, if they found any.

        A space that the index does not hold finds nothing; vectors of another are never compared with it.
        """
        ...

    def stats(self) -> Stats: ...

    def close(self) -> None: ...
