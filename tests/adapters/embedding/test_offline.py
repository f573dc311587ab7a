from __future__ import annotations

import math
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.adapters.embedding.contract import EmbedderContract
from vault_memory.adapters.embedding import offline
from vault_memory.adapters.embedding.offline import OfflineEmbedder


class TestOffline(EmbedderContract):
    @pytest.fixture
    def embedder(self) -> OfflineEmbedder:
        return OfflineEmbedder()


@pytest.mark.slow
def test_the_hash_is_scikit_learn_s() -> None:
    from sklearn.utils import murmurhash3_32

    @given(st.binary(max_size=40))
    def same(data: bytes) -> None:
        assert offline.murmur3(data) == murmurhash3_32(data, seed=0)

    same()


@settings(deadline=None)
@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=80))
def test_a_query_s_vector_is_the_document_s(text: str) -> None:
    embedder = OfflineEmbedder()
    assert list(embedder.embed([text])[0]) == list(embedder.embed([text], "query")[0])


def test_forms_of_a_word_lie_near() -> None:
    exploring, explorer, cooking = OfflineEmbedder().embed(["exploring caves", "cave explorer", "cooking soup"])

    def cosine(a: object, b: object) -> float:
        one, other = list(a), list(b)  # type: ignore[call-overload]
        return sum(x * y for x, y in zip(one, other, strict=True)) / math.hypot(*one) / math.hypot(*other)

    assert cosine(exploring, explorer) > 0.5 > cosine(exploring, cooking)


def test_a_query_needs_neither_numpy_nor_scikit_learn() -> None:
    code = (
        "import sys; from vault_memory.adapters.embedding.offline import OfflineEmbedder\n"
        "OfflineEmbedder().embed(['tea'], 'query'); sys.exit('numpy' in sys.modules or 'sklearn' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0
