"""A turn that comes in pieces, again, cut and grown, in any order: the row ends the same, and has every piece."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from vault_memory.adapters.tokenizer import pack_token_record
from vault_memory.core.longterm import FIELDS, NEEDED, merged, rows_of, targets
from vault_memory.core.longterm.merging import text_of_both

REFLECTION = {"summary": "went well", "causes": ["tests first"]}
NAME = {"conversation_id": "c1", "user_id": "alice", "created_at": "2026-01-30T09:12:00+08:00"}
CHOSEN = ("user_message", "assistant_message", "text_cache", "reflection", "token_data", "cid")
_WORDS = st.text("ab \n好🌊", min_size=1, max_size=8)


@st.composite
def deliveries(draw: st.DrawFn) -> tuple[dict[str, Any], list[dict[str, Any]], list[dict[str, Any]]]:
    """A turn, and two orders of the same deliveries of it: each field once at least, the answer also cut."""
    question, answer = draw(_WORDS), draw(_WORDS)
    # One text does not tell apart an answer that begins with the question as a paragraph, or is the question's begin.
    assume("\n\n" not in question and not answer.startswith(question + "\n") and not question.startswith(answer))
    assume(not question.endswith("\n") and not answer.startswith("\n"))
    whole = {"user_message": question, "assistant_message": answer, "reflection": REFLECTION, "cid": "Qm"}
    pieces = draw(st.lists(st.sets(st.sampled_from([*whole]), min_size=1), max_size=6))
    made = [{name: whole[name] for name in sorted(piece)} for piece in [*pieces, *([name] for name in whole)]]
    for piece in made:
        if "assistant_message" in piece and draw(st.booleans()):
            piece["assistant_message"] = answer[: draw(st.integers(1, len(answer)))]
    made.append({"assistant_message": answer})
    again = made + draw(st.lists(st.sampled_from(made), max_size=4))
    return whole, draw(st.permutations(again)), draw(st.permutations(again))


def row(given: Sequence[Mapping[str, Any]], chosen: Sequence[str], encodings: Sequence[str]) -> dict[str, str | None]:
    """What a row has after deliveries, each of which is told in an encoding."""
    columns = {field: field for field in FIELDS if field in (*NEEDED, *chosen)}
    (target,) = targets({"conversations": "talks"}, columns)
    there: tuple[str | None, ...] | None = None
    for number, each in enumerate(given):
        said = [each.get(name) for name in ("user_message", "assistant_message", "reflection")]
        tokens = pack_token_record(*said, encodings[number % len(encodings)])  # type: ignore[arg-type]
        (came,) = rows_of({**NAME, **each}, tokens, [target])
        there = (
            merged(target, there, came, lambda encoding, said=said: pack_token_record(*said, encoding))  # type: ignore[misc]
            if there
            else came.values
        )
    assert there
    return dict(zip(target.columns, there, strict=True))


@given(deliveries(), st.sets(st.sampled_from(CHOSEN)))
def test_a_row_ends_the_same_whatever_comes_first(
    told: tuple[dict[str, Any], list[dict[str, Any]], list[dict[str, Any]]], chosen: set[str]
) -> None:
    whole, one, other = told
    ends = [row(order, [*chosen], ["utf-8"]) for order in (one, other, [*one, *other])]
    assert ends[0] == ends[1] == ends[2]
    end = ends[0]
    for field in {"user_message", "assistant_message", "cid"} & end.keys():
        assert end[field] == whole[field]
    if "text_cache" in end:
        assert whole["user_message"] in str(end["text_cache"]) and whole["assistant_message"] in str(end["text_cache"])
    if "reflection" in end:
        assert json.loads(end["reflection"] or "") == REFLECTION
    if "token_data" in end:
        said = (whole["user_message"], whole["assistant_message"], REFLECTION)
        assert json.loads(end["token_data"] or "") == pack_token_record(*said, "utf-8")


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (["q", "+a"], "q\n\na"),
        (["+a", "q"], "q\n\na"),
        (["q+a", "+a", "q", "q+a"], "q\n\na"),
        (["q", "+one", "+one\n\ntwo", "+one", "q"], "q\n\none\n\ntwo"),
        (["+one\n\ntwo", "+one", "q+one"], "q\n\none\n\ntwo"),
        (["+one", "q+one\n\ntwo"], "q\n\none\n\ntwo"),
        (["q+one", "q+another"], "q\n\nanother"),
        (["q+another", "q+one"], "q\n\nanother"),
        (["is it ok?", "+ok"], "is it ok?\n\nok"),
        (["hello", "+hello, you"], "hello, you"),
        (["+hello, you", "hello"], "hello, you"),
        (["hello", "+hello, you", "hello+hello"], "hello\n\nhello, you"),
        (["+ok", "is it ok?", "is it ok?+ok"], "is it ok?\n\nok"),
        (["+one", "+other"], "one\n\nother"),
    ],
)
def test_both_texts_in_one(given: list[str], text: str) -> None:
    pieces = [each.partition("+") for each in given]
    told = [{"user_message": question or None, "assistant_message": answer or None} for question, _, answer in pieces]
    assert row(told, ["text_cache"], ["utf-8"])["text_cache"] == text


def test_the_reflection_of_a_cut_answer_takes_no_place() -> None:
    later = {"summary": "later", "causes": []}
    for chosen in (("assistant_message",), ("text_cache",), ("token_data",)):
        whole = {"user_message": "q", "assistant_message": "answer", "reflection": later}
        cut = {**whole, "assistant_message": "ans", "reflection": REFLECTION}
        for order in ([whole, cut], [cut, whole]):
            end = row(order, ["reflection", *chosen], ["utf-8"])
            assert json.loads(end["reflection"] or "") == later
        end = row([whole, {"reflection": REFLECTION}], ["reflection", *chosen], ["utf-8"])
        assert json.loads(end["reflection"] or "") == REFLECTION, "what is told later of the same answer"


def test_a_long_text_of_many_paragraphs_takes_no_time() -> None:
    answer = "a paragraph of an answer\n\n" * 40_000
    there = text_of_both(None, "q", answer[:-100])
    began = time.process_time()
    assert text_of_both(there, None, answer) == f"q\n\n{answer}"
    assert text_of_both(there, None, "another") == f"{there}\n\nanother"
    assert time.process_time() - began < 2
