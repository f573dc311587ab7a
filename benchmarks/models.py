"""How search weighs words and vectors against each other, shown with models whose quality is known: they are scripted.

    python benchmarks/models.py DATASET…
    python benchmarks/models.py --endpoint http://127.0.0.1:8089/v1/embeddings --model all-minilm-l6-v2 DATASET…

With an endpoint the real model behind it is measured, and no scripted one. A dataset has the form that
`vault-memory bench` reads. A scripted model knows which passage answers a question, up to noise of so many times the
signal; others are random, know one language only, scale their vectors wrongly, land on a wrong topic, or only repeat
words (hashed words, and LSA). Hybrid search must beat both of its parts where the model is good, and lose no more than
.01 to words alone where it is bad. The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy

from vault_memory.adapters.embedding.http import Endpoint, HttpEmbedder
from vault_memory.adapters.embedding.offline import OfflineEmbedder
from vault_memory.core.text import tokens
from vault_memory.services.retrieval.bench import bench

DIMENSION = 96
LEXICAL = 0.5
"""How far passages of like words lie near each other in a scripted model, as they do in real ones."""

Array = numpy.ndarray[Any, Any]


@lru_cache(maxsize=100_000)
def drawn(text: str) -> Array:
    """A direction that depends on the text alone, of about unit length."""
    seed = int.from_bytes(hashlib.sha256(text.encode("utf-8", "replace")).digest()[:8], "little")
    found: Array = numpy.random.default_rng(seed).standard_normal(DIMENSION) / DIMENSION**0.5
    return found


def unit(vector: Array) -> Array:
    found: Array = vector / numpy.linalg.norm(vector)
    return found


class Scripted:
    """A model that knows the answers: `noise` is None for one that knows nothing, `language` what it knows alone."""

    dimension = DIMENSION

    def __init__(
        self,
        name: str,
        answers: dict[str, list[str]],
        noise: float | None = 0.0,
        *,
        language: str = "",
        scale: float = 1.0,
        shift: float = 0.0,
    ) -> None:
        self.space = name.replace(" ", "-")
        self._answers, self._noise, self._language = answers, noise, language
        self._scale, self._shift = scale, shift
        self._passages: dict[str, Array] = {}

    def embed(self, texts: Sequence[str], kind: str = "document") -> list[Any]:
        make = self._passage if kind == "document" else self._question  # a probe is half of a passage's sentence
        return [(unit(make(text)) + self._shift) * self._scale for text in texts]

    def _passage(self, text: str) -> Array:
        if text not in self._passages:
            words = tokens.expand(tokens.stems(text)).split()
            alike = LEXICAL * unit(sum((drawn(word) for word in words), drawn("")))
            self._passages[text] = unit(drawn(text) + alike)
        return self._passages[text]

    def _question(self, text: str) -> Array:
        is_known = not self._language or (self._language == "zh") == tokens.is_han(text)
        if self._noise is None or not is_known:
            return drawn(f"question {text}")
        held = [
            vector
            for answer in self._answers.get(text, ())
            for passage, vector in self._passages.items()
            if answer in passage
        ] or [vector for passage, vector in self._passages.items() if all(word in passage for word in text.split())]
        return unit(sum(held, drawn("") * 0.001)) + self._noise * drawn(f"noise {text}")


class WrongTopics(Scripted):
    """Passages of a note lie close together, and every question lands on some note by chance."""

    def _passage(self, text: str) -> Array:
        self._passages[text] = unit(drawn(text) + drawn(f"topic {text.partition(chr(10))[0]}"))
        return self._passages[text]

    def _question(self, text: str) -> Array:
        known = sorted(self._passages)
        at = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little") % len(known)
        return drawn(f"topic {known[at].partition(chr(10))[0]}") + drawn(f"question {text}")


class Hashed(OfflineEmbedder):
    """Hashed words under another name, so that they are taken for a model."""

    space = "hashed"


class Lsa:
    """Latent semantic analysis of 100 dimensions (fewer for a small vault), fitted to the first passages it is
    given."""

    space = "lsa"

    def __init__(self) -> None:
        self.dimension = 100
        self._model: Any = None

    def embed(self, texts: Sequence[str], kind: str = "document") -> list[Any]:
        from sklearn.decomposition import TruncatedSVD
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.pipeline import make_pipeline

        if self._model is None:
            self.dimension = min(self.dimension, len(texts) - 1)
            words = TfidfVectorizer(analyzer=lambda text: tokens.expand(tokens.stems(text)).split(), sublinear_tf=True)
            self._model = make_pipeline(words, TruncatedSVD(self.dimension, random_state=1)).fit(texts)
        found = self._model.transform(texts) + 1e-9
        return list(found)


def models(answers: dict[str, list[str]]) -> dict[str, Callable[[], Any]]:
    """Each model by name, made when it is wanted."""
    return {
        "perfect": lambda: Scripted("perfect", answers),
        "noise 1": lambda: Scripted("noise 1", answers, 1.0),
        "noise 2": lambda: Scripted("noise 2", answers, 2.0),
        "noise 4": lambda: Scripted("noise 4", answers, 4.0),
        "wrong scale": lambda: Scripted("wrong scale", answers, 1.0, scale=1000.0, shift=0.3),
        "Chinese only": lambda: Scripted("Chinese only", answers, 1.0, language="zh"),
        "English only": lambda: Scripted("English only", answers, 1.0, language="en"),
        "random": lambda: Scripted("random", answers, None),
        "wrong topics": lambda: WrongTopics("wrong topics", answers),
        "hashed words": Hashed,
        "LSA": Lsa,
    }


def real(url: str, model: str) -> HttpEmbedder:
    """A model behind an endpoint, asked as the product asks it; but a benchmark has more time than a person."""
    return HttpEmbedder(model, [Endpoint(url)], query_timeout_s=60.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", nargs="+", type=Path)
    parser.add_argument("--models", default="", help="scripted ones, with commas between them; all by default")
    parser.add_argument(
        "--endpoint", default="", help="measure the model behind this OpenAI-compatible address instead"
    )
    parser.add_argument("--model", default="", help="its name there")
    options = parser.parse_args()
    found: dict[str, dict[str, float]] = {}
    for folder in options.datasets:
        rows = [json.loads(line) for line in (folder / "queries.jsonl").read_text("utf-8").splitlines() if line]
        answers = {row["query"]: [gold["text"] for gold in row["gold"]] for row in rows}
        words = bench(folder, mode="keyword").figures["recall@5"]
        print(f"{folder.name}: words alone {words:.3f}", flush=True)
        measured = models(answers)
        if options.endpoint:
            measured = {options.model: partial(real, options.endpoint, options.model)}
        for name, make in measured.items():
            if options.models and name not in options.models.split(","):
                continue
            model = make()
            vectors, hybrid = (
                bench(folder, mode=mode, embedder=model).figures["recall@5"] for mode in ("vector", "hybrid")
            )
            found[f"{folder.name}/{name}"] = {"words": words, "vectors": vectors, "hybrid": hybrid}
            print(
                f"  {name:14} vectors {vectors:.3f}  hybrid {hybrid:.3f}"
                f"  against the better {hybrid - max(words, vectors):+.3f}",
                flush=True,
            )
    print(json.dumps(found))


if __name__ == "__main__":
    main()
