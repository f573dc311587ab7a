from __future__ import annotations

import apsw
import pytest

from vault_memory.core.text.stem import stem

WORDS = [
    "caresses",
    "ponies",
    "ties",
    "caress",
    "cats",
    "feed",
    "agreed",
    "plastered",
    "bled",
    "motoring",
    "sing",
    "conflated",
    "troubled",
    "sized",
    "hopping",
    "tanned",
    "falling",
    "hissing",
    "fizzed",
    "failing",
    "filing",
    "happy",
    "sky",
    "relational",
    "conditional",
    "rational",
    "valenci",
    "hesitanci",
    "digitizer",
    "conformabli",
    "radicalli",
    "differentli",
    "vileli",
    "analogousli",
    "vietnamization",
    "predication",
    "operator",
    "feudalism",
    "decisiveness",
    "hopefulness",
    "callousness",
    "formaliti",
    "sensitiviti",
    "sensibiliti",
    "triplicate",
    "formative",
    "formalize",
    "electriciti",
    "electrical",
    "hopeful",
    "goodness",
    "revival",
    "allowance",
    "inference",
    "airliner",
    "gyroscopic",
    "adjustable",
    "defensible",
    "irritant",
    "replacement",
    "adjustment",
    "dependent",
    "adoption",
    "homologou",
    "communism",
    "activate",
    "angulariti",
    "homologous",
    "effective",
    "bowdlerize",
    "probate",
    "rate",
    "cease",
    "controll",
    "roll",
    "dancing",
    "photography",
    "psychologist",
    "exploring",
]


@pytest.mark.parametrize("word", WORDS)
def test_stems_are_those_of_sqlite_s_porter(word: str) -> None:
    """The tokeniser that everybody's FTS5 tables use is the judge."""
    tokenizer = apsw.Connection(":memory:").fts5_tokenizer("porter", ["unicode61"])
    assert stem(word) == tokenizer(word.encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None)[0][2]


def test_what_is_no_english_word_stays() -> None:
    assert [stem(word) for word in ("is", "v2ing", "naïvely")] == ["is", "v2ing", "naïvely"]
