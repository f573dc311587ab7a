"""What every embedder keeps."""

from __future__ import annotations

import math

from vault_memory.adapters.embedding.base import Embedder

TEXTS = ["我喜歡暗色主題", "Gina opened her store", "!!!", "x" * 5000]


class EmbedderContract:
    """Inherited by the tests of each implementation, which give an `embedder` fixture."""

    def test_one_vector_of_the_dimension_per_text(self, embedder: Embedder) -> None:
        vectors = embedder.embed(TEXTS)
        assert len(vectors) == len(TEXTS)
        assert all(len(vector) == embedder.dimension for vector in vectors)

    def test_vectors_are_finite_and_not_zero(self, embedder: Embedder) -> None:
        for kind in ("document", "query"):
            for vector in embedder.embed(TEXTS, kind):  # type: ignore[arg-type]
                assert 0 < math.hypot(*vector) < math.inf

    def test_the_same_text_has_the_same_vector_wherever_it_stands(self, embedder: Embedder) -> None:
        alone = embedder.embed([TEXTS[1]])[0]
        among = embedder.embed(TEXTS)[1]
        assert list(alone) == list(among)

    def test_its_space_is_named_and_stays(self, embedder: Embedder) -> None:
        assert embedder.space and embedder.space == embedder.space

    def test_nothing_asked_nothing_given(self, embedder: Embedder) -> None:
        assert len(embedder.embed([])) == 0
