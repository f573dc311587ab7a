from __future__ import annotations

import hashlib
import math
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

import apsw
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.adapters.index.vectors import Scripted, drawn
from tests.vaults import fill, small_disk
from vault_memory.adapters.embedding.offline import OfflineEmbedder
from vault_memory.adapters.index import database, vectors
from vault_memory.adapters.index.base import FileState
from vault_memory.adapters.index.sqlite import SqliteIndex
from vault_memory.core.notes import document
from vault_memory.core.ranking.candidate import Candidates, Filter
from vault_memory.core.text import tokens
from vault_memory.errors import EndpointError, IndexUnusable


def entry(source: str, text: str, kind: str = "note") -> tuple[document.Document, FileState]:
    data = text.encode()
    read = document.read(source, kind, data)
    return read, FileState(hashlib.sha256(data).digest(), len(data), 1, 2, 3, resume=read.resume)


@pytest.fixture
def index(tmp_path: Path) -> SqliteIndex:
    return SqliteIndex(tmp_path / "index.db")


def find(index: SqliteIndex, question: str, only: Filter | None = None) -> list[str]:
    found = index.search(tokens.query_terms(question), None, only)
    return [c.source for c in sorted(found.chunks, key=lambda c: -c.keyword)]


def test_what_was_put_in_is_known_and_found(index: SqliteIndex) -> None:
    """A4"""
    tea = entry("tea.md", "# Tea\n\n我喜歡暗色主題\n")
    index.replace([tea, entry("car.md", "A red car.\n")])
    assert index.files()["tea.md"] == tea[1]
    assert find(index, "主题") == ["tea.md"] and find(index, "cars") == ["car.md"]
    assert find(index, "TEA") == ["tea.md"], "titles and headings are searched"


def test_compacting_joins_the_pieces_and_changes_no_answer(index: SqliteIndex) -> None:
    for n in range(40):
        index.replace([entry(f"{n}.md", f"# Note {n}\n\ntea and word{n}, 暗色主題\n")])
    index.remove([f"{n}.md" for n in range(10)])

    def pieces() -> int:
        with apsw.Connection(str(index.path)) as db:
            return int(db.execute("SELECT count(DISTINCT segid) FROM words_idx").fetchone()[0])  # type: ignore[index]

    questions = ("tea", "主题", "word3", "word30", "note 12")
    before, answers = pieces(), [index.search(tokens.query_terms(question)) for question in questions]
    index.compact()
    assert pieces() == 1 < before
    assert [index.search(tokens.query_terms(question)) for question in questions] == answers
    index.compact()
    assert pieces() == 1


def test_replacing_and_removing_leave_nothing_behind(index: SqliteIndex) -> None:
    index.replace([entry("a.md", "old words\n")])
    index.replace([entry("a.md", "new phrases\n")])
    assert find(index, "old") == [] and find(index, "new") == ["a.md"]
    index.remove(["a.md", "never.md"])
    assert index.files() == {} and find(index, "new") == []
    with apsw.Connection(str(index.path)) as db:
        assert db.execute("SELECT count(*) FROM chunks").fetchone() == (0,)
        assert db.execute("SELECT count(*) FROM terms").fetchone() == (0,)


@given(st.lists(st.integers(-60, 60).map(float), min_size=8, max_size=8).filter(any))
def test_a_vector_is_stored_alike_however_many_come_with_it(vector: list[float]) -> None:
    """Law 3: an index grown edit by edit equals one that is made at once."""
    alone = vectors.packed([vector], 1, 8)
    assert vectors.packed([vector] * 9, 9, 8) == alone * 9


def test_a_file_that_cannot_be_read_is_marked_and_keeps_its_text(index: SqliteIndex) -> None:
    """G6"""
    index.replace([entry("a.md", "some words\n")])
    failed = FileState(b"", 0, 0, 0, 0, "permission denied")
    index.mark({"a.md": failed, "b.md": failed})
    assert index.files() == {"a.md": failed, "b.md": failed} and find(index, "words") == ["a.md"]
    assert index.stats().failed == 2


def test_a_file_is_not_marked_as_indexed_where_its_text_is_not(index: SqliteIndex) -> None:
    """G6: between the reading of a touched file and its mark the index was deleted, or another process indexed newer
    text."""
    before, newer = entry("a.md", "some words\n"), entry("a.md", "newer words\n")
    index.replace([before])
    touched = replace(before[1], mtime_ns=9)
    index.mark({"a.md": touched, "b.md": touched})
    assert index.files() == {"a.md": touched}
    index.replace([newer])
    index.mark({"a.md": touched})
    assert index.files() == {"a.md": newer[1]}


def test_a_text_is_appended_only_to_the_one_that_it_continues(index: SqliteIndex) -> None:
    """Between the reading of a log that has grown and its end's way into the index, another process put newer text."""
    text = "".join(f"## {n}\n{'tea ' * 200}\n" for n in range(8))
    before, newer = entry("a.md", text), entry("a.md", "newer words\n")
    index.replace([before])
    _, grown = entry("a.md", f"{text}coffee\n")
    end = document.read("a.md", "note", f"{text}coffee\n".encode(), before[1].resume)
    assert end.first == 3
    index.replace([newer])
    assert not index.append(end, grown, before[1]) and find(index, "coffee") == []
    assert index.files() == {"a.md": newer[1]}
    index.replace([before])
    assert index.append(end, grown, before[1]) and find(index, "coffee") == ["a.md"]
    assert index.files() == {"a.md": grown} and index.stats().chunks == 8


def test_only_new_text_is_embedded(index: SqliteIndex) -> None:
    """Issue of the first release: only changed chunks are embedded again; lines may move."""
    embedder = Scripted()
    long = "words about one thing and another\n\n" * 60
    index.replace([entry("a.md", f"# A\n\n{long}\n# B\n\nfirst text\n")])
    while index.embed_pending(embedder):
        pass
    before = len(embedder.texts)
    index.replace([entry("a.md", f"# A\n\n{long}\n# More\n\nmore\n\n# B\n\nfirst text\n")])
    assert 0 < index.stats().pending["scripted"] <= 2
    assert index.embed_pending(embedder) == 0 and len(embedder.texts) - before <= 2


def test_a_moved_file_takes_its_vectors_along(index: SqliteIndex) -> None:
    index.replace([entry("old.md", "# T\n\nwords\n")])
    index.embed_pending(Scripted())
    index.replace([entry("new.md", "# T\n\nwords\n")])
    index.remove(["old.md"])
    assert index.stats().pending == {"scripted": 0}


def test_filters_let_through_only_what_they_say(index: SqliteIndex) -> None:
    index.replace(
        [
            entry("daily/2026-01-30.md", "tea today\n", "daily"),
            entry("daily/2026-02-02.md", "tea again\n", "daily"),
            entry("n.md", "---\ntags: [drink, hot]\n---\ntea forever\n"),
        ]
    )
    assert find(index, "tea", Filter(kinds=("note",))) == ["n.md"]
    assert find(index, "tea", Filter(tags=("drink", "hot"))) == ["n.md"]
    assert find(index, "tea", Filter(tags=("dri",))) == []
    assert find(index, "tea", Filter(since=date(2026, 2, 1))) == ["daily/2026-02-02.md"]
    assert find(index, "tea", Filter(until=date(2026, 1, 31))) == ["daily/2026-01-30.md"]


@pytest.mark.parametrize("warm", [False, True])
def test_vectors_find_what_words_do_not_and_filters_hold_for_them(index: SqliteIndex, warm: bool) -> None:
    index.replace([entry(f"{n}.md", f"text number {n}\n") for n in range(60)])
    index.replace([entry("tagged.md", "---\ntags: [x]\n---\nother\n")])
    embedder = Scripted()
    index.embed_pending(embedder)
    asked = (embedder.space, drawn("7\ntext number 7"))
    for _ in range(1 + warm):
        found = index.search(tokens.query_terms("nothing"), asked, None, 5)
    best = max(found.chunks, key=lambda c: c.cosine or -1)
    assert best.source == "7.md" and best.cosine == pytest.approx(1, abs=0.01)
    assert found.spread and found.spread.count == 61
    filtered = index.search(tokens.query_terms("nothing"), asked, Filter(tags=("x",)), 5)
    assert [c.source for c in filtered.chunks] == ["tagged.md"]


@pytest.mark.parametrize("only", [None, Filter(kinds=("note",))], ids=["all", "filtered"])
def test_sql_and_matrix_give_the_same_cosines_to_the_last_bit(index: SqliteIndex, only: Filter | None) -> None:
    """A command, whose first search scans by SQL, answers like a server that has searched before, whatever came and
    went meanwhile."""
    index.replace([entry(f"{n}.md", f"text number {n}\n") for n in range(90)])
    embedder = Scripted()
    index.embed_pending(embedder)
    query, vector = tokens.query_terms("number 7"), (embedder.space, drawn("q"))

    def found(asked: SqliteIndex) -> Candidates:
        return asked.search(query, vector, only, 20)

    assert found(index) == found(index) == found(index)
    index.replace([entry("late.md", "text number late\n")])
    index.remove(["3.md", "4.md"])
    index.embed_pending(embedder)
    assert found(index) == found(SqliteIndex(index.path))
    index.remove(["5.md"])
    assert found(index) == found(SqliteIndex(index.path))
    spread = found(index).spread
    assert spread and spread.count == 88


NUMBERS = st.lists(st.integers(0, 40), max_size=12)


@given(steps=st.lists(st.tuples(NUMBERS, NUMBERS), max_size=12))
@settings(max_examples=25, deadline=None)
def test_a_matrix_holds_what_the_table_does_whatever_came_and_went(
    steps: list[tuple[list[int], list[int]]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """It has room for more rows, and those that stand last fill the gaps of those that are gone."""
    index, embedder = SqliteIndex(tmp_path_factory.mktemp("index") / "index.db"), Scripted()
    query, vector = tokens.query_terms("number 7"), (embedder.space, drawn("q"))
    for turn, (written, removed) in enumerate(steps):
        index.replace([entry(f"{n}.md", f"text number {n} of {turn}\n") for n in {*written}])
        index.remove([f"{n}.md" for n in {*removed}])
        index.embed_pending(embedder)
        found = [asked.search(query, vector, None, 20) for asked in (index, index, SqliteIndex(index.path))]
        assert found[0] == found[1] == found[2]


def test_two_spaces_are_never_mixed(index: SqliteIndex) -> None:
    """Law 6"""
    index.replace([entry("a.md", "one\n"), entry("b.md", "two\n")])
    index.embed_pending(Scripted(space="small"))
    index.embed_pending(Scripted(space="large"))
    assert index.stats().pending == {"small": 0, "large": 0}
    assert index.search(tokens.query_terms("one"), ("unknown", drawn("x"))).spread is None


@pytest.mark.parametrize(
    "bad",
    [[0.0] * 8, [math.nan] * 8, [math.inf] + [0.0] * 7, [1.0] * 7, [1.0] * 9],
    ids=["zero", "nan", "inf", "short", "long"],
)
def test_bad_vectors_are_refused_and_the_index_stays_whole(index: SqliteIndex, bad: Sequence[float]) -> None:
    index.replace([entry("a.md", "one\n"), entry("b.md", "two\n")])
    with pytest.raises(EndpointError, match="embedding model"):
        index.embed_pending(Scripted(lambda text: bad if "two" in text else drawn(text)))
    assert index.spaces() == {} and find(index, "one") == ["a.md"]
    assert index.embed_pending(Scripted()) == 0


def test_fewer_vectors_than_texts_are_refused(index: SqliteIndex) -> None:
    class Lossy(Scripted):
        def embed(self, texts: Sequence[str], kind: str = "document") -> list[Sequence[float]]:
            return super().embed(texts, kind)[1:]

    index.replace([entry("a.md", "one\n"), entry("b.md", "two\n")])
    with pytest.raises(EndpointError, match="1 vectors for 2 texts"):
        index.embed_pending(Lossy())


def test_a_damaged_database_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    path.write_bytes(b"this was never a database, but it is long enough to look at" * 100)
    index = SqliteIndex(path)
    assert index.files() == {}
    index.replace([entry("a.md", "words\n")])
    assert find(index, "words") == ["a.md"]


def test_damage_inside_is_told_and_the_next_use_starts_empty(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    index = SqliteIndex(path)
    index.replace([entry(f"{n}.md", f"word{n} " * 400 + "\n") for n in range(80)])
    index.close()
    data = bytearray(path.read_bytes())
    data[len(data) // 2 :] = b"\xa5" * (len(data) - len(data) // 2)
    path.write_bytes(bytes(data))
    with pytest.raises(IndexUnusable, match="reindex"):
        for n in range(80):
            find(index, f"word{n}")
    assert index.files() == {}


def test_another_version_is_dropped_not_migrated(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    index = SqliteIndex(path)
    index.replace([entry("a.md", "words\n")])
    index.close()
    with apsw.Connection(str(path)) as db:
        db.execute("UPDATE meta SET value = '99.1' WHERE key = 'version'")
    assert SqliteIndex(path).files() == {}


def test_a_database_of_another_program_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    with apsw.Connection(str(path)) as db:
        db.execute("CREATE TABLE messages(text)")
    before = path.read_bytes()
    with pytest.raises(IndexUnusable, match="of another program: move it away"):
        SqliteIndex(path).files()
    assert path.read_bytes() == before


def test_vectors_made_while_the_index_was_deleted_are_not_given_to_other_chunks(index: SqliteIndex) -> None:
    """The ids of a new index begin again: what waited in the old one must neither be stored nor counted in the new."""

    def interrupted(text: str) -> Sequence[float]:
        if index.path.exists() and "old" in text:
            database.remove_index(index.path)
            SqliteIndex(index.path).replace([entry("new.md", "new words\n"), entry("more.md", "more words\n")])
        return drawn(text)

    index.replace([entry("old.md", "old words\n")])
    index.embed_pending(Scripted(interrupted))
    embedder = Scripted()
    assert index.stats().pending.get(embedder.space, 2) == 2
    assert index.embed_pending(embedder) == 0 and len(embedder.texts) == 2


def test_a_deleted_index_is_made_anew_under_an_open_process(index: SqliteIndex) -> None:
    """Law 1: anybody may delete every index.db at any time."""
    index.replace([entry("a.md", "words\n")])
    database.remove_index(index.path)
    assert index.files() == {}
    index.replace([entry("a.md", "words\n")])
    assert find(index, "words") == ["a.md"] and index.path.exists()


def test_the_vectors_in_memory_are_of_the_index_that_is_there(index: SqliteIndex) -> None:
    """The ids of an index that is made anew begin again, and there are as many: only its own mark tells it."""
    embedder = Scripted()
    query, vector = tokens.query_terms("nothing"), (embedder.space, drawn("q"))
    for order in ("ab", "ba"):
        index.replace([entry(f"{name}.md", f"text of {name}\n") for name in order])
        index.embed_pending(embedder)
        found = [asked.search(query, vector, None, 20) for asked in (index, index, SqliteIndex(index.path))]
        assert found[0] == found[1] == found[2]
        database.remove_index(index.path)


@pytest.mark.slow
def test_threads_and_processes_may_write_at_once(tmp_path: Path) -> None:
    """A14"""
    path = tmp_path / "index.db"
    index = SqliteIndex(path)
    errors: list[BaseException] = []

    def write(name: str) -> None:
        try:
            for n in range(15):
                index.replace([entry(f"{name}{n}.md", f"words of {name} {n}\n")])
                find(index, "words")
        except BaseException as error:
            errors.append(error)

    code = (
        "import sys; from pathlib import Path; from tests.adapters.index.test_sqlite import *\n"
        "index = SqliteIndex(Path(sys.argv[1]))\n"
        "for n in range(15): index.replace([entry(f'p{n}.md', f'words of p {n}\\n')])\n"
    )
    root = Path(__file__).parents[3]
    other = subprocess.Popen([sys.executable, "-c", code, str(path)], cwd=root)
    threads = [threading.Thread(target=write, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert other.wait(60) == 0 and not errors
    assert len(index.files()) == 45


WORDS = st.sampled_from(
    ["tea", "coffee", "主題", "偏好", "暗色", "store", "gina", "2024-05-08", "c++", "#", "##", "-", ">", "```", "|"]
)
TEXTS = st.lists(st.lists(WORDS, min_size=1, max_size=8).map(" ".join), max_size=12).map("\n".join)
EDITS = st.lists(
    st.tuples(st.sampled_from(["a.md", "b.md", "daily/2024-05-08.md"]), st.one_of(st.none(), TEXTS), st.booleans()),
    max_size=8,
)
LONG = "## Long\n" + "tea " * 300 + "\n"
"""Two of them stand in chunks of their own: then a file that grows is not read from its beginning."""


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(EDITS, st.booleans())
@example([("a.md", "tea", False), ("a.md", "store", True), ("a.md", "gina", True), ("b.md", "tea", False)], True)
def test_an_index_that_saw_every_edit_equals_one_built_at_the_end(
    tmp_path_factory: pytest.TempPathFactory, edits: list[tuple[str, str | None, bool]], embed: bool
) -> None:
    """The index is derived: rebuilt and incremental answer alike, also where a text was only appended."""
    folder = tmp_path_factory.mktemp("edits")
    lived, built = SqliteIndex(folder / "lived.db"), SqliteIndex(folder / "built.db")
    final: dict[str, str] = {}
    for source, text, appends in edits:
        before = lived.files([source]).get(source)
        if text and appends and source in final:
            final[source] += f"\n{text}\n{LONG}{LONG}"
            whole, state = entry(source, final[source])
            if before and before.resume:
                whole = document.read(source, "note", final[source].encode(), before.resume)
                assert lived.append(whole, state, before)
            else:
                lived.replace([(whole, state)])
        elif text is None:
            lived.remove([source])
            final.pop(source, None)
        else:
            lived.replace([entry(source, text)])
            final[source] = text
        if embed:
            lived.embed_pending(OfflineEmbedder())
    built.replace([entry(source, text) for source, text in sorted(final.items())])
    embedder = OfflineEmbedder()
    for index in (lived, built):
        index.embed_pending(embedder)
    assert lived.files() == built.files()
    for question in ("tea", "主題偏好", "gina store on 2024-05-08"):
        vector = (embedder.space, embedder.embed([question], "query")[0])
        assert answer(lived, question, vector) == answer(built, question, vector)


def answer(index: SqliteIndex, question: str, vector: tuple[str, Sequence[float]]) -> object:
    found = index.search(tokens.query_terms(question), vector)
    rows = [
        (
            c.source,
            c.position,
            c.text,
            list(c.segments),
            list(c.stems),
            c.head,
            round(c.keyword, 3),
            round(c.cosine or 9, 3),
        )
        for c in found.chunks
    ]
    return rows, found.frequency, found.total


@pytest.mark.slow
def test_a_search_sees_one_state_while_another_writes(index: SqliteIndex) -> None:
    """Chunks that are replaced between two steps of a search must not trip it."""
    index.replace([entry(f"{n}.md", f"tea number {n}\n") for n in range(20)])
    stop = threading.Event()

    def write() -> None:
        turn = 0
        while not stop.is_set():
            turn += 1
            index.replace([entry(f"{n}.md", f"tea number {n} turn {turn}\n") for n in range(20)])

    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert {len(find(index, "tea")) for _ in range(200)} == {20}
    finally:
        stop.set()
        writer.join()


def test_an_index_is_asked_about_once_at_each_place(tmp_path: Path) -> None:
    """Where git is asked whether it tracks the index: an ordinary search must not pay for that."""
    asked: list[str] = []
    path = tmp_path / "index.db"

    def files() -> dict[str, FileState]:
        asked.clear()
        index = SqliteIndex(path, None, lambda file: asked.append(file.name))
        found = index.files()
        index.close()
        return found

    SqliteIndex(path).replace([entry("a.md", "words\n")])
    assert files() and asked == ["index.db", "index.db-wal", "index.db-shm", "index.db-journal"]
    assert files() and asked == []
    path.rename(tmp_path / "moved")
    (tmp_path / "copy").write_bytes((tmp_path / "moved").read_bytes())
    (tmp_path / "copy").rename(path)
    assert files() and asked, "another file"
    assert files() and asked == []


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root can mount")
def test_on_a_full_disk_the_message_says_so(tmp_path: Path) -> None:
    """A new index, and one that is there: the advice was to delete it, and then to make it anew."""
    with small_disk(tmp_path / "disk") as disk:
        for is_there in (False, True):
            index = SqliteIndex(disk / "index.db")
            if is_there:
                index.replace([entry("a.md", "words\n")])
                index.close()
            filling = fill(disk)
            with pytest.raises(IndexUnusable, match="is the disk full") as found:
                index.files()
            assert "reindex" not in str(found.value)
            filling.unlink()
        assert index.files(), "with room again it is as it was"
        index.close()
