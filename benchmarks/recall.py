"""Whether a question finds the memory that answers it: labelled memories of people, and questions about them.

    python benchmarks/recall.py [SET…] [--language en] [--errors]
    python benchmarks/recall.py --language en --endpoint http://127.0.0.1:8089/v1/embeddings --model all-minilm-l6-v2

It is offline, or with the vectors of the model behind an OpenAI-compatible endpoint (`minilm_endpoint.py` is one).

A set is JSONL, a line for each person: {"person", "memories": [text, …], "questions": [{"query", "answers": [number of
a memory, from 1, …]}, …]}; without one, those of tests/data/memories that may be looked at (`open.jsonl`). The floor in
the same run is hybrid search alone. `nowords` are the questions that share no content word with an answer. With a
language those people count of whose memories most are in it.

The last line is JSON: recall@3, recall@3_nowords, the same of the floor, how many questions, and times in milliseconds.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vault_memory.adapters.embedding import Embedder, OfflineEmbedder
from vault_memory.adapters.embedding.http import Endpoint, HttpEmbedder
from vault_memory.config import Config
from vault_memory.core.memories import categories
from vault_memory.core.text import tokens
from vault_memory.errors import EndpointError
from vault_memory.services.retrieval.bench import DatasetVault
from vault_memory.services.retrieval.query import SearchQuery
from vault_memory.services.retrieval.search import find_passages

OPEN_SET = Path(__file__).parent.parent / "tests" / "data" / "memories" / "open.jsonl"
TOP_K = 3
MAX_CANDIDATES = 50
QUERY_TIMEOUT_S = 30.0
"""A benchmark waits for its model: without it other figures would come out."""


@dataclass(frozen=True)
class Question:
    """A person's question: the numbers of the memories that answer it, and whether one shares a word with it."""

    person: str
    query: str
    answers: frozenset[int]
    has_words: bool


class People:
    """The memories of all people of a set, indexed as notes of kind memory in a temporary folder."""

    def __init__(self, rows: list[dict[str, Any]], folder: Path, embedder: Embedder) -> None:
        self.memories = {row["person"]: row["memories"] for row in rows}
        for person, memories in self.memories.items():
            notes = folder / "users" / person / "memories"
            notes.mkdir(parents=True)
            for number, text in enumerate(memories, 1):
                front = f"id: mem_{1_769_735_520_000 + number}_{number:04}\ntype: fact\n"
                (notes / f"{number}.md").write_text(f"---\n{front}---\n{text}\n", encoding="utf-8")
        self.vault = DatasetVault(folder, folder, embedder, Config())
        self.by_words: dict[tuple[str, str], str] = {}
        """(person, question) → why words alone answered it: a private question is sent to no endpoint."""
        for person in self.memories:
            self.vault.fill(person)
        self.meanings = {
            person: {number: categories.meanings_of(text) for number, text in enumerate(memories, 1)}
            for person, memories in self.memories.items()
        }

    def likeness(self, person: str, query: str, text: str) -> dict[int, float]:
        """Number of a memory → how well it fits the `text` that is searched for a question, by words and vectors, for
        those that search finds."""
        result = find_passages(self.vault, person, SearchQuery(text, MAX_CANDIDATES, kinds=("memory",), min_fit=0.0))
        if result.degraded:
            self.by_words[person, query] = "; ".join(result.degraded)
        return {int(Path(hit.source).stem): hit.score for hit in result.hits}

    def by_search(self, person: str, query: str) -> list[int]:
        """The floor."""
        found = self.likeness(person, query, query)
        return sorted(found, key=lambda number: -found[number])

    def by_categories(self, person: str, query: str) -> list[int]:
        """What the question says, by search, and what it asks for, by categories, together."""
        asked = categories.expand(query)
        likeness = self.likeness(person, query, asked.content)
        scores = {
            number: asked.score(likeness.get(number, 0.0), held) for number, held in self.meanings[person].items()
        }
        found = [number for number, score in scores.items() if score]
        return sorted(found, key=lambda number: -scores[number])


def questions(rows: list[dict[str, Any]]) -> Iterator[Question]:
    for row in rows:
        for asked in row["questions"]:
            answers = [row["memories"][number - 1] for number in asked["answers"]]
            yield Question(
                row["person"], asked["query"], frozenset(asked["answers"]), shares_a_word(asked["query"], answers)
            )


def shares_a_word(query: str, answers: list[str]) -> bool:
    """Whether a word of the question, without what only wraps it (我喜歡什麼, "which … do I"), stands in an answer."""
    content = set(tokens.query_terms(categories.expand(query).content).search_terms)
    return any(not content.isdisjoint(tokens.expand(tokens.stems(answer)).split()) for answer in answers)


def measure(
    asked: list[Question], find: Callable[[str, str], list[int]], errors: Callable[[Question, list[int]], None]
) -> tuple[dict[str, float], list[float]]:
    """recall@3 over all questions and over those without words, and the time of each in milliseconds."""
    shares: dict[bool, list[float]] = {True: [], False: []}
    times = []
    for question in asked:
        began = time.process_time()
        found = find(question.person, question.query)[:TOP_K]
        times.append((time.process_time() - began) * 1000)
        share = len(question.answers & set(found)) / min(TOP_K, len(question.answers))
        shares[question.has_words].append(share)
        if share < 1:
            errors(question, found)
    every = shares[True] + shares[False]
    figures = {
        f"recall@{TOP_K}": sum(every) / len(every),
        f"recall@{TOP_K}_nowords": sum(shares[False]) / max(1, len(shares[False])),
    }
    return figures, sorted(times)


def language_of(row: dict[str, Any]) -> str:
    """`zh` or `en`: that of most of a person's memories."""
    return "zh" if sum(map(tokens.is_han, row["memories"])) * 2 > len(row["memories"]) else "en"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", type=Path, default=[OPEN_SET])
    parser.add_argument("--errors", action="store_true", help="list the questions whose answers are not found")
    parser.add_argument("--language", choices=["en", "zh"], help="only the people with memories in it")
    parser.add_argument("--endpoint", default="", help="the address of a model for vectors, instead of the offline one")
    parser.add_argument("--model", default="", help="its name there")
    options = parser.parse_args()
    if bool(options.endpoint) != bool(options.model):
        parser.error("--endpoint and --model belong together")
    rows = [json.loads(line) for path in options.sets for line in path.read_text("utf-8").splitlines() if line.strip()]
    if repeated := [person for person, count in Counter(row["person"] for row in rows).items() if count > 1]:
        parser.error(f"{repeated[0]} stands in the sets twice")
    rows = [row for row in rows if options.language in (None, language_of(row))]
    asked = list(questions(rows))
    if not asked:
        parser.error("nobody asks anything in these sets")
    embedder: Embedder = OfflineEmbedder()
    if options.endpoint:
        embedder = HttpEmbedder(options.model, [Endpoint(options.endpoint)], query_timeout_s=QUERY_TIMEOUT_S)
    try:
        run(rows, asked, embedder, list_errors=options.errors)
    except EndpointError as error:
        parser.exit(1, f"{error}\n")


def run(rows: list[dict[str, Any]], asked: list[Question], embedder: Embedder, *, list_errors: bool) -> None:
    """Measure, and print the figures. Raises `EndpointError`."""
    with tempfile.TemporaryDirectory(prefix="vault-memory-recall-") as folder:
        people = People(rows, Path(folder), embedder)

        def show(question: Question, found: list[int]) -> None:
            if list_errors:
                memories = people.memories[question.person]
                print(
                    f"{question.person}: {question.query}  wanted {[memories[n - 1] for n in sorted(question.answers)]}"
                )
                print("".join(f"    {memories[number - 1]}\n" for number in found), end="")

        floor, _ = measure(asked, people.by_search, lambda *_: None)
        ours, times = measure(asked, people.by_categories, show)
        people.vault.close()
        for (person, query), why in people.by_words.items():
            print(f"{person}: {query}  {why}")
    bare = sum(not question.has_words for question in asked)
    print(f"{len(rows)} people, {sum(len(row['memories']) for row in rows)} memories, {len(asked)} questions,")
    print(f"{bare} of them without a word of the answer\n")
    print(f"{'':22}{'all':>8}{'no words':>10}")
    for name, figures in (("hybrid search alone", floor), ("with categories", ours)):
        print(f"{name:22}{figures[f'recall@{TOP_K}']:8.3f}{figures[f'recall@{TOP_K}_nowords']:10.3f}")
    result = {
        **ours,
        **{f"floor_{name}": value for name, value in floor.items()},
        "questions": len(asked),
        "questions_nowords": bare,
        "without_vectors": len(people.by_words),
        "p50_ms": times[len(times) // 2],
        "p95_ms": times[len(times) * 95 // 100],
    }
    print(json.dumps({name: round(value, 4) for name, value in result.items()}))


if __name__ == "__main__":
    main()
