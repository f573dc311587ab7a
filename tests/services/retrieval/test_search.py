from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.vaults import write
from vault_memory.adapters.embedding.base import Embedder, Kind, Vector
from vault_memory.adapters.embedding.offline import OfflineEmbedder
from vault_memory.adapters.index.base import FileState
from vault_memory.adapters.index.sqlite import SqliteIndex
from vault_memory.config import Config
from vault_memory.core import layout
from vault_memory.core.notes import document
from vault_memory.core.ranking import floor
from vault_memory.errors import EndpointError, NotFound, UsageError
from vault_memory.services.daemon.daemon_record import only_daemon
from vault_memory.services.retrieval.query import Hit, SearchQuery, SearchResult
from vault_memory.services.retrieval.search import find_passages
from vault_memory.services.retrieval.search import search as search_vault
from vault_memory.services.vault import Vault

DAILY = "# 2026-01-30\n\n## 10:00\n\n- 請求：我喜歡暗色主題，請把資料庫換成 PostgreSQL\n- 模組：coder\n"
NOTES = {
    "daily/2026-01-30.md": DAILY,
    "daily/2025-03-02.md": "# 2025-03-02\n\n## 09:00\n\n- Gina: I opened my clothing store today!\n"
    "- Jon: Where is it?\n- Gina: Right behind the old harbour.\n",
    "notes/tea.md": "---\ntitle: Tea\ntags: [drink]\n---\n\n# Tea\n\nSteep it for three minutes.\n"
    "\n## Green\n\nUse 80 degrees.\n",
    "notes/code.md": "# Components\n\n使用React組件與hooks。\n\n```python\nprint('hello')\n```\n",
    "conversations/2026-01-30.jsonl": json.dumps(
        {
            "conversation_id": "c",
            "user_id": "u",
            "user_message": "我喜歡暗色主題，請把資料庫換成 PostgreSQL",
            "assistant_message": "好的",
        },
        ensure_ascii=False,
    )
    + "\n",
}


class World:
    """What search needs of a vault, over texts of the test."""

    def __init__(self, folder: Path, embedder: Embedder | None = None, **settings: object) -> None:
        self.embedder: Embedder = embedder or OfflineEmbedder()
        self.config = Config(**settings)  # type: ignore[arg-type]
        self.root = folder
        self._indexes: dict[str, SqliteIndex] = {}

    def now(self) -> datetime:
        return datetime(2026, 1, 30, tzinfo=UTC)

    def index(self, scope: str) -> SqliteIndex:
        return self._indexes.setdefault(scope, SqliteIndex(self.root / f"{scope or '_shared'}.db"))

    def folder(self, scope: str) -> Path:
        return self.root / layout.scope_dir(scope)

    def path(self, scope: str, source: str) -> Path:
        return self.root / layout.scope_dir(scope) / source

    def write(self, scope: str, notes: dict[str, str], embed: bool = True) -> None:
        entries = []
        for source, text in notes.items():
            data = text.encode()
            path = self.path(scope, source)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            kind = layout.kind_of(layout.Place(scope, source))
            entries.append(
                (document.read(source, kind, data), FileState(hashlib.sha256(data).digest(), len(data), 0, 0, 0))
            )
        self.index(scope).replace(entries)
        while embed and self.index(scope).embed_pending(self.embedder):
            pass


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path)
    made.write("u", NOTES)
    return made


def search(world: object, user_id: str, text: str, *args: object, **more: object) -> SearchResult:
    """What a search for `text` finds."""
    return find_passages(world, user_id, SearchQuery(text, *args, **more))  # type: ignore[arg-type]


def first(found: SearchResult) -> Hit:
    return found.hits[0]


@pytest.mark.parametrize(
    ("question", "source", "line"),
    [
        ("主題", "conversations/2026-01-30.jsonl", 1),
        ("我喜欢什么主题", "conversations/2026-01-30.jsonl", 1),
        ("数据库", "conversations/2026-01-30.jsonl", 1),
        ("React組件", "notes/code.md", 3),
        ("react组件", "notes/code.md", 3),
        ("Where did Gina open her store?", "daily/2025-03-02.md", 5),
        ("what happened on March 2nd 2025", "daily/2025-03-02.md", 5),
        ("2025年3月2日", "daily/2025-03-02.md", 5),
        ("hello", "notes/code.md", 6),
    ],
)
def test_each_kind_of_question_finds_its_line(world: World, question: str, source: str, line: int) -> None:
    """A4, G2, and row 3 of A18: content older than 30 days is found."""
    hit = first(search(world, "u", question))
    assert hit.source == source and hit.line_range[0] <= line <= hit.line_range[1]


def test_a_hit_is_the_file_s_own_text_at_its_lines(world: World) -> None:
    """A4"""
    for question in ("tea degrees", "Gina store", "暗色主題", "python hello"):
        for hit in search(world, "u", question).hits:
            if hit.source.endswith(".md"):
                lines = NOTES[hit.source].split("\n")
                for each in hit.passages:
                    assert each.words == "\n".join(lines[each.line_range[0] - 1 : each.line_range[1]])
                    assert each.text in (each.words, f"## {each.heading}\n{each.words}")
            assert hit.kind and hit.scope == "u" and 0 <= hit.score <= 1


def test_what_stands_in_log_and_record_is_one_hit_with_the_answer(world: World) -> None:
    """Issue of search: turns that stand in JSONL and daily log are one hit; explain names what was collapsed. The log
    alone was shown, which has the question without its answer."""
    hits = search(world, "u", "暗色主題 PostgreSQL").hits
    assert [hit.source for hit in hits if "PostgreSQL" in hit.content] == ["conversations/2026-01-30.jsonl"]
    asked = "我喜歡暗色主題，請把資料庫換成 PostgreSQL"
    assert hits[0].content == f"2026-01-30 u: {asked}\nassistant: 好的" and hits[0].line_range == (1, 1)
    assert hits[0].passages[0].messages == ((asked, "user", ""), ("好的", "assistant", ""))
    assert hits[0].evidence.repeated_at == ("daily/2026-01-30.md:5",)
    assert hits[0].explain["collapsed"] == ["daily/2026-01-30.md:5"]
    only = search(world, "u", "暗色主題 PostgreSQL", kinds=("daily",)).hits
    assert [hit.source for hit in only if "PostgreSQL" in hit.content] == ["daily/2026-01-30.md"]


JOURNAL = (
    "# 2026-02-01\n\n## 17:23 %%1a2b3c4d%%\n"
    "- 17:23 幫我部署登入頁（web-deploy） → 成功 · conversations/2026-02-01.jsonl:1\n"
    "  - 記得先問 Bob\n"
    "- 17:24 謝謝 → 完成 · conversations/2026-02-01.jsonl:2\n"
    "\n## 17:30\n- 17:30 什麼是閉包 · conversations/2026-02-01.jsonl:3\n"
    "\n## 晚餐\n部署之後吃火鍋\n\n## 我的話\n"
)
OLD_LOG = "# 2026-02-02\n\n" + "\n".join(f"## 17:23\n- 請求：備份資料庫 {n}\n- 模組：coder\n" for n in "甲乙丙")
TASKS = "# 長期記憶\n\n" + "\n".join(
    f"## 2026-02-0{n} 17:23\n- 任務：升級 Postgres {n}\n- 結果：成功\n" for n in (1, 2)
)


@pytest.mark.parametrize(
    ("source", "text", "question", "first", "last"),
    [
        ("daily/2026-02-01.md", JOURNAL, "部署登入頁", 3, 6),
        ("daily/2026-02-01.md", JOURNAL, "先問 Bob", 3, 6),
        ("daily/2026-02-01.md", JOURNAL, "閉包", 8, 9),
        ("daily/2026-02-01.md", JOURNAL, "火鍋", 12, 14),
        ("daily/2026-02-02.md", OLD_LOG, "備份資料庫 乙", 7, 9),
        ("MEMORY.md", TASKS, "升級 Postgres 2", 7, 9),
    ],
)
def test_of_a_log_a_whole_entry_is_found(
    world: World, source: str, text: str, question: str, first: int, last: int
) -> None:
    """A3, A9: never two halves; what a person wrote beside the entries is found by itself."""
    world.write("u", {source: text})
    hits = [hit for hit in search(world, "u", question).hits if hit.source == source]
    assert hits[0].line_range == (first, last)
    lines = text.split("\n")
    for each in (passage for hit in hits for passage in hit.passages):
        assert each.words == "\n".join(lines[each.line_range[0] - 1 : each.line_range[1]])
        assert each.text.startswith("## ") and each.text.count("## ") == 1


def test_what_a_person_wrote_below_two_headings_is_two_passages(world: World) -> None:
    """It read as one: "部署之後吃火鍋 ## 我的話"."""
    world.write("u", {"daily/2026-02-01.md": JOURNAL})
    hit = first(search(world, "u", "火鍋"))
    assert hit.line_range == (12, 14)
    assert [(each.text, each.line_range, each.heading) for each in hit.passages] == [
        ("## 晚餐\n部署之後吃火鍋", (12, 12), "晚餐"),
        ("## 我的話", (14, 14), "我的話"),
    ]
    assert hit.content == "## 晚餐\n部署之後吃火鍋\n\n## 我的話"
    assert hit.as_dict()["passages"][1] == {"text": "## 我的話", "line_range": (14, 14), "heading": "我的話"}


@pytest.mark.parametrize(
    ("source", "title", "heading"),
    [
        ("daily/2026-02-03.md", "# 2026-02-03\n\n", "## 晚餐"),
        ("journal.md", "# Journal\n\n", "### 14:31"),
        ("MEMORY.md", "", "## 2026-02-03 17:23"),
    ],
)
def test_the_later_chunks_of_a_long_entry_have_its_heading_too(
    world: World, source: str, title: str, heading: str
) -> None:
    """Of an entry of several chunks only the first passage said what entry it was of."""
    filler = "".join(f"We spoke of matter {n}, at length and to nobody's gain.\n\n" for n in range(200))
    world.write("u", {source: f"{title}{heading}\n\n{filler}The zeppelin was late.\n\n## Next\n\nNothing.\n"})
    hit = first(search(world, "u", "zeppelin"))
    assert hit.source == source and hit.passages[0].text.startswith(f"{heading}\n")
    assert "zeppelin" in hit.passages[0].words and hit.passages[0].heading == heading.lstrip("# ")
    world.path("u", source).write_text("Something else.\n" * 999)
    assert "## " not in first(search(world, "u", "zeppelin")).passages[0].text, "another file by now"


def test_a_record_that_cannot_be_read_is_found_and_said_so(world: World) -> None:
    path = world.path("u", "conversations/2026-01-30.jsonl")
    path.unlink()
    path.mkdir()
    found = search(world, "u", "好的")
    assert found.hits[0].content == "我喜歡暗色主題，請把資料庫換成 PostgreSQL\n好的"
    assert found.degraded[0].startswith("who said what in conversations/2026-01-30.jsonl is not known: ")


def test_a_record_without_a_log_is_found_at_its_line(world: World) -> None:
    assert search(world, "u", "好的").hits[0].source == "conversations/2026-01-30.jsonl"
    assert search(world, "u", "好的").hits[0].line_range == (1, 1)


def test_explain_tells_the_parts(world: World) -> None:
    """G3"""
    explain = first(search(world, "u", "green tea degrees")).explain
    assert explain["keyword"] > 0 and explain["vector"] is not None and explain["space"] == world.embedder.space
    assert "degre" in explain["terms"] and 0 <= explain["weight"] <= 1


def test_explain_is_rendered_from_the_evidence(world: World) -> None:
    hit = first(search(world, "u", "green tea degrees"))
    exact = hit.evidence
    assert exact.cosine is not None
    assert hit.explain == {
        "keyword": round(exact.keyword_score, 4),
        "vector": round(exact.cosine, 4),
        "weight": round(exact.vector_weight, 3),
        "space": exact.vector_space,
        "terms": list(exact.terms),
        "collapsed": [],
    }
    assert list(hit.as_dict()) == [
        "content",
        "source",
        "line_range",
        "commit",
        "score",
        "kind",
        "scope",
        "explain",
        "passages",
    ]


def test_without_a_daemon_a_search_sees_what_was_saved_just_now(vault: Vault) -> None:
    write(vault, "alice", "notes/ship.md", "The zeppelin lands at noon.\n")
    query = SearchQuery("zeppelin", scope="all")
    assert [hit.source for hit in search_vault(vault, "alice", query).hits] == ["notes/ship.md"]
    write(vault, layout.SHARED, "fleet.md", "Each zeppelin has a number.\n")
    best = search_vault(vault, "alice", query).hits[:2]
    assert {hit.source for hit in best} == {"notes/ship.md", "fleet.md"}


def test_beside_a_daemon_a_search_leaves_the_looking_to_it(vault: Vault) -> None:
    with only_daemon(vault.root):
        write(vault, "alice", "notes/ship.md", "The zeppelin lands at noon.\n")
        assert search_vault(vault, "alice", SearchQuery("zeppelin")).hits == []
    assert search_vault(vault, "alice", SearchQuery("zeppelin")).hits


def test_somebody_unknown_cannot_be_searched(vault: Vault) -> None:
    with pytest.raises(NotFound, match="nobody"):
        search_vault(vault, "nobody", SearchQuery("tea"))
    assert not (vault.root / "memory" / "nobody").exists()


def test_a_tag_may_be_written_with_its_sign(world: World) -> None:
    assert {hit.source for hit in search(world, "u", "tea store", tags=("#drink",)).hits} == {"notes/tea.md"}


def test_filters(world: World) -> None:
    assert {hit.kind for hit in search(world, "u", "暗色主題 store tea", kinds=("daily",)).hits} == {"daily"}
    assert {hit.source for hit in search(world, "u", "tea store", tags=("drink",)).hits} == {"notes/tea.md"}
    assert {hit.source for hit in search(world, "u", "主題 store", until=date(2025, 12, 31)).hits} == {
        "daily/2025-03-02.md"
    }
    assert search(world, "u", "主題 store", since=date(2027, 1, 1)).hits == []


def test_scopes(world: World) -> None:
    world.write(layout.SHARED, {"Garden.md": "# Garden\n\nThe harbour store has a garden.\n"})
    assert {hit.scope for hit in search(world, "u", "harbour store").hits} == {"u"}
    assert {hit.scope for hit in search(world, "u", "harbour store", scope="shared").hits} == {layout.SHARED}
    assert {hit.scope for hit in search(world, "u", "harbour store", scope="all").hits} == {"u", layout.SHARED}
    assert search(world, "somebody-else", "harbour store").hits == []


@pytest.mark.parametrize("question", ["", "   ", "?!…", "😀🎉", "\ud83d", "\0", "''\"\"", "***"])
def test_a_query_without_words_finds_nothing(world: World, question: str) -> None:
    assert search(world, "u", question) == SearchResult([], [])


@pytest.mark.parametrize("wrong", [{"top_k": 0}, {"top_k": 10_000}, {"scope": "every"}, {"mode": "magic"}])
def test_wrong_calls_are_refused_in_words(world: World, wrong: dict[str, object]) -> None:
    with pytest.raises(UsageError, match=str(next(iter(wrong)))):
        search(world, "u", "tea", **wrong)  # type: ignore[arg-type]


HOSTILE = [
    '"',
    "'",
    "AND",
    "OR",
    "NOT",
    "NEAR(",
    "NEAR/3",
    "*",
    "^",
    "(",
    ")",
    "{",
    "}",
    ":",
    "own:",
    "head :",
    "-",
    "+",
    "--",
    ";",
] + [
    "DROP TABLE chunks",
    "%",
    "_",
    "\\",
    "\0",
    "\ud800",
    "😀",
    "\u202e",
    "tea",
    "主題",
    "\n",
    "\t",
    "`",
    "$$",
    "a" * 50,
]


def test_a_heading_of_a_small_section_finds_what_stands_below_it(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.write("u", {"home.md": "# House\n\n## Boiler\n\n2 bar\n\n## Wi-Fi password\n\nhunter2\n"})
    assert [hit.line_range for hit in search(world, "u", "what is the wifi? Wi-Fi", 1).hits] == [(9, 9)]


@pytest.mark.slow
@pytest.mark.parametrize("count", [5_000, pytest.param(20_000, marks=pytest.mark.soak)])
def test_thousands_of_hostile_queries_raise_nothing_and_mean_their_words(world: World, count: int) -> None:
    rng = random.Random(5)
    plain = [hit.source for hit in search(world, "u", "tea", mode="keyword").hits]
    for n in range(count):
        parts = rng.choices(HOSTILE, k=rng.randint(1, 8))
        question = rng.choice(["", " "]).join(parts) if n % 100 else "x" * 100_000 + "".join(parts)
        search(world, "u", question, mode="keyword")
    for sign in HOSTILE[:22]:
        assert plain[0] in [hit.source for hit in search(world, "u", f"{sign} tea {sign}", mode="keyword").hits]


def test_hostile_queries_in_short(world: World) -> None:
    rng = random.Random(6)
    for _ in range(300):
        search(world, "u", " ".join(rng.choices(HOSTILE, k=5)))
    assert first(search(world, "u", 'tea" OR NEAR(* AND NOT steep')).source == "notes/tea.md"


class Down:
    """An endpoint that is down."""

    space, dimension = "model-64", 64

    def embed(self, texts: Sequence[str], kind: Kind = "document") -> Sequence[Vector]:
        raise EndpointError("no embedding endpoint answered: gpu:8000 cannot be reached")


def test_with_the_endpoint_down_words_answer_and_say_so(tmp_path: Path) -> None:
    """Law 6"""
    world = World(tmp_path, Down())
    world.write("u", NOTES, embed=False)
    model = Scripted({})
    model.space = Down.space
    world.index("u").embed_pending(model)
    found = search(world, "u", "暗色主題")
    assert first(found).source == "conversations/2026-01-30.jsonl"
    assert found.degraded == [
        "embedding: no embedding endpoint answered: gpu:8000 cannot be reached",
        "embedding: no offline vectors exist, so words alone answer",
    ]


def test_what_has_no_vector_yet_is_found_by_words(tmp_path: Path) -> None:
    world = World(tmp_path, Scripted({}))
    world.write("u", NOTES)
    world.write("u", {"late.md": "The zeppelin lands at noon.\n"}, embed=False)
    assert first(search(world, "u", "zeppelin")).source == "late.md"


# -- scripted models: a small world of facts, each asked in words that are and that are not its own ---

ANIMALS = "cat dog parrot turtle horse hamster rabbit snake goat ferret"
NAMES = (
    "Ann Bob Cid Dora Emil Fay Gus Hana Igor Jill Karl Lena Mats Nina Olaf Pia Quinn Rosa Sten Tove Ulla Vera "
    "Walt Xena Yrsa Zack Alva Bert Cora Dirk"
)
ROOMS = (
    "attic barn cellar shed garage kitchen garden stable tent hall porch tower loft studio crypt vault cabin yard "
    "den nook pit dome camp dock mill farm inn lodge hut cave"
)
FACTS = [
    f"The {animal} of {name} sleeps in the {room}."
    for animal, name, room in zip(ANIMALS.split() * 3, NAMES.split(), ROOMS.split(), strict=True)
]
ASKED = [f"Where does the {fact.split()[1]} of {fact.split()[3]} sleep?" for fact in FACTS]
STRANGE = [f"Sleeping quarters, matter {n}?" for n in range(len(FACTS))]


class Scripted:
    """A model that knows the fact of each question it was told, up to `noise`; of others it knows nothing.

    `scale` and `shift` distort its vectors as models do that never were trained to give unit ones.
    """

    dimension = 64

    def __init__(self, known: dict[str, str], noise: float = 0.0, scale: float = 1.0, shift: float = 0.0) -> None:
        self.space = f"scripted-{noise}-{scale}-{shift}"
        self.known, self.noise, self.scale, self.shift = known, noise, scale, shift

    def embed(self, texts: Sequence[str], kind: Kind = "document") -> Sequence[Vector]:
        return [[(x + self.shift) * self.scale for x in self._one(text)] for text in texts]

    def _one(self, text: str) -> list[float]:
        fact = self.known.get(text)
        own = self._drawn(text.split("\n")[-1] if fact is None else fact)
        return own if fact is None else [a + self.noise * b for a, b in zip(own, self._drawn("~" + text), strict=True)]

    def _drawn(self, text: str) -> list[float]:
        rng = random.Random(hashlib.sha256(text.strip().encode()).digest())
        return [rng.gauss(0, 1) for _ in range(self.dimension)]


def recall(world: World, questions: Sequence[str], mode: str) -> float:
    found = 0
    for n, question in enumerate(questions):
        hits = search(world, "u", question, 3, mode).hits  # type: ignore[arg-type]
        found += any(hit.source == f"{n}.md" for hit in hits)
    return found / len(questions)


def told(questions: Sequence[str]) -> dict[str, str]:
    return dict(zip(questions, FACTS, strict=True))


MODELS: dict[str, Callable[[], Scripted]] = {
    "perfect": lambda: Scripted(told(ASKED) | told(STRANGE)),
    "noisy": lambda: Scripted(told(ASKED) | told(STRANGE), noise=0.8),
    "wrongly scaled": lambda: Scripted(told(ASKED) | told(STRANGE), noise=0.5, scale=1000.0, shift=0.3),
    "random": lambda: Scripted({}),
    "knows only other words": lambda: Scripted(told(STRANGE)),
}


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_hybrid_is_as_good_as_its_parts_and_no_model_spoils_words(tmp_path: Path, model: str) -> None:
    """A6: the weight follows how far the vectors can be trusted, whatever their scale."""
    world = World(tmp_path, MODELS[model]())
    world.write("u", {f"{n}.md": fact + "\n" for n, fact in enumerate(FACTS)})
    for questions in (ASKED, STRANGE):
        words, vectors, both = (recall(world, questions, mode) for mode in ("keyword", "vector", "hybrid"))
        assert both >= words - 0.01
        if model in ("perfect", "noisy", "wrongly scaled"):
            assert both >= vectors - 0.01, (words, vectors, both)


def test_a_fixed_weight_is_what_the_settings_say(tmp_path: Path) -> None:
    """A6: 0.7 vectors + 0.3 words."""
    world = World(tmp_path, Scripted(told(ASKED)), search_weight="fixed")
    world.write("u", {f"{n}.md": fact + "\n" for n, fact in enumerate(FACTS)})
    assert first(search(world, "u", ASKED[0])).explain["weight"] == 0.7


def test_what_vaults_give_is_enough(world: World) -> None:
    """Search asks a vault for its settings, embedder, indexes, folders and the time, and for nothing else."""
    least = SimpleNamespace(
        index=world.index,
        embedder=world.embedder,
        config=world.config,
        now=world.now,
        folder=world.folder,
        root=world.root,
    )
    found, same = search(least, "u", "tea").hits, search(world, "u", "tea").hits
    assert [hit.as_dict() for hit in found] == [hit.as_dict() for hit in same]


UNANSWERED = ("Who won the chess tournament in Reykjavik?", "誰贏了雷克雅維克的西洋棋比賽？", "zeppelin")


@pytest.mark.parametrize("question", UNANSWERED)
def test_what_nothing_answers_has_no_hits(world: World, question: str) -> None:
    found = search(world, "u", question)
    assert found.hits == [] and found.fit < floor.MIN_FIT and found.degraded == []
    assert search(world, "u", question, scope="all").hits == []


def test_below_the_floor_lies_what_shares_a_word_by_chance(world: World) -> None:
    question = "Who opened the chess tournament between Carlsen and Anand in Reykjavik?"
    assert search(world, "u", question).hits == []
    assert search(world, "u", question, min_fit=0.0).hits[0].source == "daily/2025-03-02.md"
    assert "opened" in search(world, "u", question, mode="keyword").hits[0].content, "as grep would"
    assert search(world, "u", question, mode="vector").hits, "who asks for the nearest gets it"


def test_each_scope_has_its_own_floor(world: World) -> None:
    world.write(layout.SHARED, {"Home.md": "# Home\n\nThe harbour opened in spring; pilots and tugs work there.\n"})
    hits = search(world, "u", "Who opened the clothing store behind the old harbour?", scope="all").hits
    assert hits and hits[0].scope == "u"
    assert search(world, "u", "Which pilots work with the tugs of the harbour?", scope="all").hits[0].scope == ""


def test_scopes_are_measured_by_the_best_of_all(world: World) -> None:
    """One word of the request in a shared note is not worth as much as the user's own note, which holds them all."""
    world.write(layout.SHARED, {"Home.md": "# Home\n\nThe store is closed on Mondays.\n"})
    for mode in ("hybrid", "keyword", "vector"):
        hits = search(world, "u", "clothing store behind the old harbour", scope="all", mode=mode).hits  # type: ignore[arg-type]
        assert hits[0].scope == "u"
        shared = max(hit.score for hit in hits if hit.scope == layout.SHARED)
        assert shared < 0.6 * hits[0].score
    alone = search(world, "u", "clothing store behind the old harbour", scope="shared").hits
    assert alone[0].score > 0.9


def test_words_are_weighed_by_all_scopes_that_are_searched(world: World) -> None:
    """Beside some hundred shared notes a question of a person was answered by these: words like *tell* and *remember*,
    which a conversation is full of, are rare in them."""
    for day in range(1, 13):
        text = "I remember, tell me what you had." if day > 1 else "Leeds it was, I remember."
        said = json.dumps({"user_message": text, "assistant_message": "Tell me more, I remember."})
        world.write("u", {f"conversations/2025-01-{day:02}.jsonl": said + "\n"})
    guide = {f"guide/{n}.md": f"# Part {n}\n\nThe window {n} opens with a click.\n" for n in range(60)}
    guide["guide/undo.md"] = "# Undo\n\nTo tell versions apart, remember their names.\n"
    world.write(layout.SHARED, guide)
    hits = search(world, "u", "What did I tell you to remember of Leeds?", scope="all").hits
    assert hits[0].scope == "u" and "Leeds" in hits[0].content


def test_how_an_assistant_works_steps_back_behind_the_user_s_own_notes(world: World) -> None:
    """A skill whose description has one word of the question came before what the person had said."""
    skill = (
        "---\nname: web-deploy\ndescription: 把網站或服務部署上線。\n---\n\n# 部署\n\n1. 先看工具。\n2. 照順序建置。\n"
    )
    world.write(layout.SHARED, {"skills/web-deploy/SKILL.md": skill, "plan.md": "網站下個月上線。\n"})
    said = {"user_message": "我的網頁下週三上線", "assistant_message": "好的，記住了。"}
    world.write("u", {"conversations/2026-01-29.jsonl": json.dumps(said, ensure_ascii=False) + "\n"})
    hits = search(world, "u", "什麼時候上線", scope="all", top_k=9).hits
    sources = [hit.source for hit in hits]
    assert sources.index("conversations/2026-01-29.jsonl") < sources.index("skills/web-deploy/SKILL.md")
    assert sources.index("plan.md") < sources.index("skills/web-deploy/SKILL.md")
    assert search(world, "u", "什麼時候上線", scope="shared").hits[0].source == "skills/web-deploy/SKILL.md"
    assert search(world, "u", "web-deploy", scope="all").hits[0].source.startswith("skills/"), "asked for by its name"


@pytest.mark.parametrize("question", ["部署", "Docker", "theme", "deploy.md", "哪裡有 Docker？", "what is theme?"])
@pytest.mark.parametrize("notes", [1, 3, 10, 60])
def test_what_stands_in_a_note_is_found_in_a_vault_of_any_size(tmp_path: Path, notes: int, question: str) -> None:
    made = World(tmp_path)
    others = {f"notes/{n}.md": f"# N{n}\n\nNothing but words of number {n}.\n" for n in range(notes - 1)}
    made.write("u", {"notes/deploy.md": "# Deploy\n\n部署流程在這裡，Docker 有設定。\nThe theme is dark.\n", **others})
    assert search(made, "u", question).hits[0].source == "notes/deploy.md"


CALLED = {
    "books/honglou.md": "---\naliases: [紅樓夢筆記, Kofi]\ndescription: 賈寶玉的家\n---\n# Reading\n\nA garden.\n",
    "books/Kofi talk.md": "Kofi, Kofi and Kofi: 紅樓夢筆記\n",
    "people/Garden.md": "A person.\n",
    "garden/plan.md": "---\ntitle: Garden\naliases: Plan B\n---\nBeds.\n",
    "Plan B.md": "Nothing of plans.\n",
    "It.md": "A novel.\n",
    "empty.md": "---\naliases: [Hollow]\n---\n",
}


@pytest.mark.parametrize("mode", ["hybrid", "keyword", "vector"])
@pytest.mark.parametrize(
    ("question", "first_ones"),
    [
        ("紅樓夢筆記", ["books/honglou.md", "books/Kofi talk.md"]),
        ("红楼梦笔记", ["books/honglou.md"]),
        ("kofi", ["books/honglou.md", "books/Kofi talk.md"]),
        ("Kofi Talk.md", ["books/Kofi talk.md"]),
        ("books/honglou", ["books/honglou.md"]),
        ("garden", ["garden/plan.md", "people/Garden.md"]),
        ("plan b", ["Plan B.md", "garden/plan.md"]),
        ("It", ["It.md"]),
    ],
)
def test_a_note_that_is_called_so_is_first(world: World, mode: str, question: str, first_ones: list[str]) -> None:
    world.write("", CALLED)
    found = search(world, "u", question, 10, mode, "shared")
    assert [hit.source for hit in found.hits][: len(first_ones)] == first_ones
    assert all(0 <= hit.score <= 1 for hit in found.hits)
    assert [hit.score for hit in found.hits] == sorted((hit.score for hit in found.hits), reverse=True)


def test_a_note_called_so_answers_once_by_its_beginning(world: World) -> None:
    lines = "\n\n".join(f"Line {n} of the garden, which is long and has many words in it." for n in range(15))
    world.write("", {"Garden.md": lines, "other.md": "roses grow in a garden\n"})
    sources = [hit.source for hit in search(world, "u", "garden", scope="shared").hits]
    assert sources[:2] == ["Garden.md", "other.md"]


def test_a_name_is_first_in_whatever_scope_it_is(world: World) -> None:
    world.write("", {"drink/Tea house.md": "no such word\n"})
    world.write("u", {"notes/talk.md": "tea house, tea house\n"})
    hits = search(world, "u", "tea house", scope="all").hits
    assert [hit.source for hit in hits[:2]] == ["drink/Tea house.md", "notes/talk.md"]


def test_names_go_with_their_note(world: World) -> None:
    world.write("", CALLED)
    world.write("", {"books/honglou.md": "---\naliases: [Other]\n---\nA garden.\n"})
    assert first(search(world, "u", "kofi", scope="shared")).source == "books/Kofi talk.md"
    assert first(search(world, "u", "other", scope="shared")).source == "books/honglou.md"
    world.index("").remove(["books/honglou.md"])
    assert search(world, "u", "other", scope="shared").hits == []


@pytest.mark.parametrize("question", ["寶玉住哪裡", "where is the books folder"])
def test_description_and_folders_count_as_names(world: World, question: str) -> None:
    world.write("", CALLED)
    assert search(world, "u", question, scope="shared").hits[0].source.startswith("books/")


def test_names_pass_a_filter_like_all_else(world: World) -> None:
    world.write("", CALLED)
    assert search(world, "u", "kofi", scope="shared", tags=("none",)).hits == []


SHELF = {
    "books/honglou.md": "---\ntags: [文學/小說]\n---\nHongloumeng, a dream of red mansions.\n\nThe art of the state.\n",
    "books/old/rome.md": "The state of the art in Rome. #History/Rome\n\nRunning water.\n",
    "books.md": "A list of books. #history\n",
    "bookshelf/a.md": "---\ndate: 2026-01-05\ntags: [deep work]\n---\nWood and React組件。\n",
    "only.md": "---\nmood: bright\n---\n",
}


@pytest.mark.parametrize(
    ("more", "sources"),
    [
        ({"path": "books"}, ["books.md", "books/honglou.md", "books/old/rome.md"]),
        ({"path": "./books/old/"}, ["books/old/rome.md"]),
        ({"path": "only"}, ["only.md"]),
        ({"path": "none"}, []),
        ({"path": "%"}, []),
        ({"tags": ("#history",)}, ["books.md", "books/old/rome.md"]),
        ({"tags": ("HISTORY/rome",)}, ["books/old/rome.md"]),
        ({"tags": ("文学",)}, ["books/honglou.md"]),
        ({"tags": ("小說",)}, []),
        ({"tags": ("deep work",)}, ["bookshelf/a.md"]),
        ({"tags": (" #Deep  work/ ",)}, ["bookshelf/a.md"]),
        ({"tags": ("deep",)}, []),
        ({"tags": ("history",), "path": "books"}, ["books.md", "books/old/rome.md"]),
        ({"since": date(2026, 1, 1)}, ["bookshelf/a.md"]),
        ({"kinds": ("note",)}, ["bookshelf/a.md", "books.md", "books/honglou.md", "books/old/rome.md", "only.md"]),
        ({}, []),
    ],
)
def test_without_words_filters_list_the_notes(world: World, more: dict[str, object], sources: list[str]) -> None:
    world.write("", SHELF)
    found = search(world, "u", " ", 10, scope="shared", is_typed=True, **more)
    assert [hit.source for hit in found.hits] == sources and found.listed == (len(sources) if more else None)
    assert all(hit.content for hit in found.hits)


@pytest.mark.parametrize("tag", ["", " ", "#", "#/"])
def test_a_tag_without_a_word_is_refused(world: World, tag: str) -> None:
    with pytest.raises(UsageError, match="a tag to search for"):
        search(world, "u", "art", scope="shared", tags=(tag,))


def test_a_text_is_no_list_and_no_day() -> None:
    """`tags='drink'` looked for the tags d, r, i, n and k, and `since` failed with an AttributeError."""
    for name in ("tags", "kinds", "memory_types"):
        with pytest.raises(UsageError, match=f"{name} must be a list, such as"):
            SearchQuery("tea", **{name: "drink"})  # type: ignore[arg-type]
    for day in ("2026-01-30", datetime(2026, 1, 30, tzinfo=UTC)):
        with pytest.raises(UsageError, match="since must be a day, such as"):
            SearchQuery("tea", since=day)  # type: ignore[arg-type]


def test_a_filter_that_matches_nothing_finds_nothing(world: World) -> None:
    world.write("", SHELF)
    filters: list[dict[str, object]] = [{"tags": ("none",)}, {"path": "none"}, {"kinds": ("daily",)}]
    filters += [{"since": date(2030, 1, 1)}, {"since": date(2026, 2, 1), "until": date(2026, 1, 1)}]
    for only in filters:
        assert search(world, "u", "state of the art", scope="shared", **only).hits == []


def test_a_tag_of_two_lines_is_one(world: World) -> None:
    world.write("", {"a.md": '---\ntags: ["deep\\nwork"]\n---\nText.\n'})
    assert search(world, "u", "", scope="shared", tags=("deep work",), is_typed=True).listed == 1
    assert search(world, "u", "", scope="shared", tags=("work",), is_typed=True).listed == 0


def test_a_list_is_cut_and_says_how_long_it_is(world: World) -> None:
    world.write("", {f"many/{n:02}.md": f"Note {n}\n" for n in range(12)})
    found = search(world, "u", "", 5, scope="shared", path="many", is_typed=True)
    assert len(found.hits) == 5 and found.listed == 12


def test_a_path_may_begin_at_the_root_of_the_vault(world: World) -> None:
    for path in ("notes", "memory/u/notes", "/memory/u/notes/", "NOTES", str(world.path("u", "notes"))):
        assert {hit.source for hit in search(world, "u", "", path=path, is_typed=True).hits} == {
            "notes/tea.md",
            "notes/code.md",
        }
    assert search(world, "u", "", path="memory/v/notes", is_typed=True).hits == []


@pytest.mark.parametrize("mode", ["hybrid", "keyword", "vector"])
@pytest.mark.parametrize(
    ("query", "sources"),
    [
        ('"state of the art"', ["books/old/rome.md"]),
        ('"art of the state" dream', ["books/honglou.md"]),
        ('"React組件"', ["bookshelf/a.md"]),
        ("“组件”", ["bookshelf/a.md"]),
        ('"rome" "running water"', ["books/old/rome.md"]),
        ('"no such phrase"', []),
        ("honglou*", ["books/honglou.md"]),
        ("wat*", ["books/old/rome.md"]),
    ],
)
def test_phrases_and_beginnings(world: World, mode: str, query: str, sources: list[str]) -> None:
    world.write("", SHELF)
    found = search(world, "u", query, scope="shared", mode=mode, is_typed=True, min_fit=0.0)
    if "*" in query and mode != "keyword":  # vectors bring others, too
        assert found.hits[0].source == sources[0]
    else:
        assert [hit.source for hit in found.hits] == sources


@pytest.mark.parametrize(
    "query", ["organizatio*", "Organiz*", "runni*", "happin*", "happines*", "capabilit*", "hopi*", "citie*", "cafét*"]
)
def test_a_beginning_is_that_of_a_word_as_it_is_written(world: World, query: str) -> None:
    """Its stem is shorter, or ends otherwise: organ, run, happi, capabl, hope, citi."""
    said = "Organization, running, happiness, capability, hoping, cities, cafeteria用Organization.\n"
    world.write("", {"said.md": said, "other.md": "Orchard rings, haps, caps, hops.\n"})
    found = search(world, "u", query, scope="shared", mode="keyword", is_typed=True)
    assert [hit.source for hit in found.hits] == ["said.md"]


def test_a_beginning_of_a_title_or_of_no_word(world: World) -> None:
    world.write("", {"a.md": "---\ntitle: Organizations\n---\nText.\n", "b.md": "An organ.\n"})
    hits = search(world, "u", "organizatio*", scope="shared", mode="keyword", is_typed=True).hits
    assert hits[0].source == "a.md"
    for none in ("organizatiom*", "ru_%*", "zz*"):
        assert not search(world, "u", none, scope="shared", mode="keyword", is_typed=True).hits


def test_only_a_person_types_phrases(world: World) -> None:
    world.write("", SHELF)
    assert search(world, "u", 'what is "the state of Rome"', scope="shared").hits
    assert not search(world, "u", 'what is "the state of Rome"', scope="shared", is_typed=True).hits


@pytest.mark.parametrize("query", ['"state of the art in Rome', 'rome "', '"', "“art in Rome", '"""'])
def test_a_phrase_without_end_is_words(world: World, query: str) -> None:
    world.write("", SHELF)
    hits = search(world, "u", query, scope="shared", mode="keyword", is_typed=True).hits
    assert [hit.source for hit in hits[:1]] == (["books/old/rome.md"] if query.strip('"') else [])


def test_of_two_names_that_differ_in_their_script_alone_the_one_as_typed_is_first(world: World) -> None:
    notes = {"a/漫游笔记.md": "# 漫游笔记\n\n在笔记间漫游\n", "b/漫遊筆記.md": "# 漫遊筆記\n\n隨機打開一則\n"}
    world.write("u", notes)
    for typed in ("漫遊筆記", "漫游笔记"):
        found = [hit.source for hit in search(world, "u", typed).hits]
        assert {*found[:2]} == {*notes} and typed in found[0]


def test_two_notes_of_one_name_come_both_and_a_title_goes_before_an_alias_of_another(world: World) -> None:
    notes = {"a/Twin.md": "one\n", "b/Twin.md": "two\n", "c.md": "[[Twin]], of the twin: twin.\n"}
    notes |= {"Tea.md": "Leaves.\n", "Head.md": "# Cocoa\n\nBeans.\n"}
    notes |= {"Coffee.md": "---\naliases: [Tea, Cocoa]\n---\nTea, cocoa and coffee; tea.\n"}
    world.write("", notes)
    for query, sources in (("twin", ["a/Twin.md", "b/Twin.md"]), ("tea", ["Tea.md"]), ("cocoa", ["Head.md"])):
        found = [hit.source for hit in search(world, "u", query, scope="shared").hits]
        assert sorted(found[: len(sources)]) == sources
    assert [hit.source for hit in search(world, "u", "tea", scope="shared").hits][:2] == ["Tea.md", "Coffee.md"]


def test_a_phrase_may_stand_in_a_name(world: World) -> None:
    world.write("", {"Note composer.md": "It merges.\n", "other.md": "A composer of a note.\n"})
    hits = search(world, "u", '"note composer" merges', scope="shared", is_typed=True).hits
    assert [hit.source for hit in hits] == ["Note composer.md"]


def test_of_a_note_the_best_hit_alone(world: World) -> None:
    far = "\n" * 6
    world.write("u", {f"{name}.md": far.join(f"A zebra {n}{name}." for n in (1, 2, 3)) for name in "abc"})
    hits = search(world, "u", "zebra", 9).hits
    notes = search(world, "u", "zebra", 9, group="note").hits
    assert [hit.more for hit in hits] == [None] * 9 and "more" not in hits[0].as_dict()
    assert [(hit.source, hit.more) for hit in notes] == [("a.md", 2), ("b.md", 2), ("c.md", 2)]
    assert notes[0].as_dict()["more"] == 2
    assert (notes[0].content, notes[0].score) == (hits[0].content, hits[0].score)
    assert len(search(world, "u", "zebra", 2, group="note").hits) == 2
    assert [hit.more for hit in search(world, "u", "", 9, is_typed=True, path="a.md", group="note").hits] == [0]
    with pytest.raises(UsageError, match="group must be"):
        SearchQuery("zebra", group="folder")  # type: ignore[arg-type]


def test_a_note_of_many_sections_hides_no_other(world: World) -> None:
    """All candidates were of one note."""
    long = "\n".join(f"## Part {n}\n\nzebra zebra zebra {'and a stripe ' * 90}\n" for n in range(60))
    world.write("u", {"long.md": long} | {f"{name}.md": f"A zebra in {name}. " + "Much more. " * 99 for name in "abc"})
    assert len({hit.source for hit in search(world, "u", "zebra", 5).hits}) == 1
    assert {hit.source for hit in search(world, "u", "zebra", 5, group="note").hits} == {
        "long.md",
        *map("{}.md".format, "abc"),
    }


def test_hits_name_their_backlinks_where_asked(world: World) -> None:
    world.write("u", {"a.md": "# Zebra\n", "b.md": "See [[a]].\n", "c.md": "And [[Zebra]], [it](a.md).\n"})
    assert first(search(world, "u", "zebra")).backlinks is None
    hit = first(search(world, "u", "zebra", backlinks=True))
    assert hit.backlinks == hit.as_dict()["backlinks"] == ("b.md", "c.md")
    assert first(search(world, "u", "See a note", path="b.md", backlinks=True)).backlinks == ()
    assert first(search(world, "u", "", is_typed=True, path="a.md", backlinks=True)).backlinks == ("b.md", "c.md")


def test_a_filter_that_matches_nothing_is_told_from_words_that_do_not(world: World) -> None:
    assert search(world, "u", "tea", tags=("nosuch",)).listed == 0
    assert search(world, "u", "xylophone", tags=("drink",)).listed == 1
    assert search(world, "u", "tea", tags=("drink",)).listed is search(world, "u", "xylophone").listed is None


def test_a_program_without_words_gets_nothing(world: World) -> None:
    assert search(world, "u", "", kinds=("note",)).hits == []
