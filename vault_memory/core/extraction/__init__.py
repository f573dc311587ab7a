"""What a turn says about its person: rules propose preferences by the words of a lexicon, a judge decides (`extract`).
Behind the judge stand gates, from which it does not learn: what is only imagined, heard or planned is kept out, and
what the person has left takes its value away.

`llm` holds the question to a language model about a turn, and checks its response against the person's words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.core.extraction import llm
    from vault_memory.core.extraction.clauses import Clause, speaker
    from vault_memory.core.extraction.judge.gates import unreal_spans
    from vault_memory.core.extraction.judge.hearing import explain, extract, problem, why_nothing
    from vault_memory.core.extraction.judge.leaving import is_left
    from vault_memory.core.extraction.lexicon import Lexicon, load_lexicon, problem_with
    from vault_memory.core.extraction.person import places
    from vault_memory.core.extraction.rules import (
        CONCLUDED,
        INCIDENTAL,
        HeardTurn,
        asks_to_be_left_out,
        extract_by_rules,
        read_turn,
        takes_back_the_last,
    )

__all__ = [
    "CONCLUDED",
    "Clause",
    "HeardTurn",
    "INCIDENTAL",
    "Lexicon",
    "asks_to_be_left_out",
    "explain",
    "extract",
    "extract_by_rules",
    "is_left",
    "llm",
    "load_lexicon",
    "places",
    "problem",
    "problem_with",
    "read_turn",
    "speaker",
    "takes_back_the_last",
    "unreal_spans",
    "why_nothing",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "CONCLUDED": "rules",
        "Clause": "clauses",
        "HeardTurn": "rules",
        "INCIDENTAL": "rules",
        "Lexicon": "lexicon",
        "asks_to_be_left_out": "rules",
        "explain": "judge.hearing",
        "extract": "judge.hearing",
        "extract_by_rules": "rules",
        "is_left": "judge.leaving",
        "load_lexicon": "lexicon",
        "places": "person",
        "problem": "judge.hearing",
        "problem_with": "lexicon",
        "read_turn": "rules",
        "speaker": "clauses",
        "takes_back_the_last": "rules",
        "unreal_spans": "judge.gates",
        "why_nothing": "judge.hearing",
    },
)
