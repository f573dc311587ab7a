"""What an index finds out about a model: from its content alone, once, and never in a search."""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.adapters.index.test_sqlite import entry
from vault_memory.adapters.index.sqlite import SqliteIndex
from vault_memory.core.ranking import Knowledge, probes
from vault_memory.core.ranking.candidate import FOREIGN_KNOWLEDGE
from vault_memory.core.text import tokens
from vault_memory.errors import EndpointError

WORDS = [f"{a}{b}{c}" for a in "bdfgklmn" for b in "aeiou" for c in "rst"]
HAN = "天地玄黃宇宙洪荒日月盈昃辰宿列張寒來暑往秋收冬藏閏餘成歲律呂調陽雲騰致雨露結為霜金生麗水玉出崑岡"


class Model:
    """Knows words (or Han characters) as directions, and a text as their sum; counts the probes it is asked."""

    dimension = 64

    def __init__(self, knows: str = "both") -> None:
        self.space, self.knows = "model", knows
        self.probes: list[str] = []
        self.failing = False

    def embed(self, texts: Sequence[str], kind: str = "document") -> list[list[float]]:
        if kind == "probe":
            if self.failing:
                raise EndpointError("no embedding endpoint answered")
            self.probes += texts
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> list[float]:
        is_known = self.knows == "both" or (self.knows == "han") == tokens.is_han(text)
        parts = (list(text.replace(" ", "")) if tokens.is_han(text) else text.split()) if is_known else [text]
        rows = [random.Random(hashlib.sha256(part.encode()).digest()) for part in parts]
        sums = [sum(row.gauss(0, 1) for row in rows) for _ in range(self.dimension)]
        return [x / math.hypot(*sums) for x in sums]


def texts(count: int = 40, seed: int = 1) -> dict[str, str]:
    rng = random.Random(seed)
    english = {f"notes/e{n}.md": " ".join(rng.choices(WORDS, k=16)) + ".\n" for n in range(count)}
    chinese = {f"notes/c{n}.md": "".join(rng.choices(HAN, k=40)) + "。\n" for n in range(count)}
    return english | chinese


def filled(path: Path, model: Model, notes: dict[str, str]) -> SqliteIndex:
    index = SqliteIndex(path)
    index.replace([entry(source, text) for source, text in notes.items()])
    while index.embed_pending(model):
        pass
    return index


def known(index: SqliteIndex) -> Knowledge:
    asked = Model("none")._vector("x")
    return index.search(tokens.query_terms("x"), ("model", asked)).knowledge


@pytest.mark.parametrize(
    ("knows", "latin", "han"), [("both", True, True), ("latin", True, False), ("han", False, True)]
)
def test_each_script_is_judged_by_its_own_sentences(tmp_path: Path, knows: str, latin: bool, han: bool) -> None:
    found = known(filled(tmp_path / "i.db", Model(knows), texts()))
    assert found.latin is not None and found.han is not None
    assert (found.latin > 2, found.han > 2) == (latin, han)
    assert min(found.latin, found.han) > 2 or min(found.latin, found.han) < 1


def test_a_model_of_another_dimension_is_judged_anew_once_its_old_vectors_are_gone(tmp_path: Path) -> None:
    """The probes go with the vectors: those of the old dimension could be compared with nothing."""
    notes = texts()
    index, other = filled(tmp_path / "i.db", Model("latin"), notes), Model("both")
    other.dimension = 48
    index.replace([entry("notes/new.md", "A note more.\n")])
    with pytest.raises(EndpointError, match="48 dimensions, the index holds 64"):
        index.embed_pending(other)
    index.remove(index.files())
    index.replace([entry(source, text) for source, text in notes.items()])
    while index.embed_pending(other):
        pass
    found = index.search(tokens.query_terms("x"), ("model", other._vector("x"))).knowledge
    assert found.latin is not None and found.han is not None and min(found.latin, found.han) > 2


def test_an_index_that_grew_is_judged_like_one_built_at_once(tmp_path: Path) -> None:
    notes = texts()
    at_once = filled(tmp_path / "a.db", Model(), dict(reversed(notes.items())))
    grown, model = SqliteIndex(tmp_path / "b.db"), Model()
    for source, text in [*texts(20, seed=2).items(), *notes.items()]:
        grown.replace([entry(source, text)])
        grown.embed_pending(model)
    grown.remove(texts(20, seed=2).keys() - notes.keys())
    grown.embed_pending(model)
    assert known(grown) == known(at_once) != Knowledge()


def test_each_probe_is_asked_once_and_never_in_a_search(tmp_path: Path) -> None:
    model = Model()
    index = filled(tmp_path / "i.db", model, texts(600))
    asked = list(model.probes)
    assert len(asked) == len(set(asked)) == 2 * probes.MAX_PROBES
    index.embed_pending(model)
    known(index)
    assert model.probes == asked
    index.replace([entry("new.md", " ".join(WORDS[:20]))])
    index.embed_pending(model)
    assert len(model.probes) <= len(asked) + 2


def test_a_question_in_the_other_script_counts_next_to_nothing() -> None:
    assert Knowledge(5.0, None).of(True) == Knowledge(None, 5.0).of(False) == FOREIGN_KNOWLEDGE
    assert Knowledge(5.0, 1.0).of(True) == 1.0 and Knowledge().of(True) is None


def test_a_small_index_is_not_judged_and_asks_nothing(tmp_path: Path) -> None:
    model = Model()
    assert known(filled(tmp_path / "i.db", model, texts(probes.MIN_PROBES - 1))) == Knowledge()
    assert not model.probes


def test_a_model_that_vanishes_before_the_probes_is_judged_later(tmp_path: Path) -> None:
    """Its vectors are kept; the judgement follows with the next call."""
    model = Model()
    model.failing = True
    index = SqliteIndex(tmp_path / "i.db")
    index.replace([entry(source, text) for source, text in texts().items()])
    with pytest.raises(EndpointError):
        index.embed_pending(model)
    assert index.spaces()["model"].pending == 0 and known(index) == Knowledge()
    model.failing = False
    assert index.embed_pending(model) == 0 and known(index).latin is not None


@pytest.mark.parametrize("bad", [[math.nan] * 64, [0.0] * 64, [1.0] * 63], ids=["nan", "zero", "dimension"])
def test_bad_probes_are_refused_and_the_index_stays_whole(tmp_path: Path, bad: list[float]) -> None:
    class Bad(Model):
        def embed(self, texts: Sequence[str], kind: str = "document") -> list[list[float]]:
            return [bad for _ in texts] if kind == "probe" else super().embed(texts, kind)

    with pytest.raises(EndpointError, match="embedding model gave"):
        filled(tmp_path / "i.db", Bad(), texts())
    index = filled(tmp_path / "i.db", Model(), texts())
    assert known(index).latin is not None


def test_what_was_asked_about_a_removed_file_is_forgotten(tmp_path: Path) -> None:
    """Vectors of half its words, which a deletion must not leave behind."""
    notes = texts()
    index = filled(tmp_path / "i.db", Model(), notes)
    traces = index.traces(notes)
    assert min(index.remains(traces)) >= len(notes)
    index.remove(notes)
    assert index.remains(traces) == (0, 0, 0)
