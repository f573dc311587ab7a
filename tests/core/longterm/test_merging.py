"""A turn that comes in pieces, again, cut and grown, in any order: the row ends the same, and has every piece."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from vault_memory.adapters.tokenizer import pack_token_record, text_of_tokens
from vault_memory.core.longterm import FIELDS, NEEDED, merged, rows_of, targets
from vault_memory.core.longterm.both_texts import with_pieces

REFLECTION = {"summary": "went well", "causes": ["tests first"]}
NAME = {"conversation_id": "c1", "user_id": "alice", "created_at": "2026-01-30T09:12:00+08:00"}
CHOSEN = ("user_message", "assistant_message", "text_cache", "reflection", "token_data", "cid")
ENDS = "\r\n"
_WORDS = st.text("ab \r\n好🌊", min_size=1, max_size=8)


class Encoder:
    """The bytes of UTF-8, which are always here."""

    def pack(
        self, user: str | None, assistant: str | None, reflection: Mapping[str, Any] | None, encoding: str
    ) -> Mapping[str, Any]:
        return pack_token_record(user, assistant, reflection, encoding)

    def text(self, tokens: Sequence[int], encoding: str) -> str:
        return text_of_tokens(tokens, encoding)


@st.composite
def deliveries(draw: st.DrawFn) -> tuple[dict[str, Any], list[dict[str, Any]], list[dict[str, Any]]]:
    """A turn, and two orders of the same deliveries of it: each field once at least, both texts also cut."""
    question, answer = draw(_WORDS), draw(_WORDS)
    assume("\n\n" not in question.strip("\r\n"))  # one text does not tell apart a question's paragraphs and an answer's
    assume(question.strip("\r\n") and answer.strip("\r\n"))
    whole = {"user_message": question, "assistant_message": answer, "reflection": REFLECTION, "cid": "Qm"}
    pieces = draw(st.lists(st.sets(st.sampled_from([*whole]), min_size=1), max_size=6))
    made = [{name: whole[name] for name in sorted(piece)} for piece in [*pieces, *([name] for name in whole)]]
    for piece in made:
        for field, text in (("user_message", question), ("assistant_message", answer)):
            if field in piece and draw(st.booleans()):
                piece[field] = text[: draw(st.integers(1, len(text)))]
    made += [{"assistant_message": answer}, {"user_message": question}]
    again = made + draw(st.lists(st.sampled_from(made), max_size=4))
    return whole, draw(st.permutations(again)), draw(st.permutations(again))


def row(given: Sequence[Mapping[str, Any]], chosen: Sequence[str], encodings: Sequence[str]) -> dict[str, str | None]:
    """What a row has after deliveries, each of which is told in an encoding."""
    columns = {field: field for field in FIELDS if field in (*NEEDED, *chosen)}
    (target,) = targets({"conversations": "talks"}, columns)
    there: tuple[str | None, ...] | None = None
    for number, each in enumerate(given):
        said: list[Any] = [each.get(name) for name in ("user_message", "assistant_message", "reflection")]
        tokens = pack_token_record(said[0], said[1], said[2], encodings[number % len(encodings)])
        (came,) = rows_of({**NAME, **each}, tokens, [target])
        there = merged(target, there, came, Encoder()).values if there else came.values
    assert there
    return dict(zip(target.columns, there, strict=True))


def both(question: str, answer: str) -> str:
    """Both texts in one, without the line ends at the empty line and before the question."""
    return question.strip(ENDS) + (f"\n\n{answer.lstrip(ENDS)}" if answer.lstrip(ENDS) else "")


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
        assert end["text_cache"] == both(whole["user_message"], whole["assistant_message"])
    if "reflection" in end:
        assert json.loads(end["reflection"] or "") == REFLECTION
    if "token_data" in end:
        said = (whole["user_message"], whole["assistant_message"], REFLECTION)
        assert json.loads(end["token_data"] or "") == pack_token_record(*said, "utf-8")


_KNOWING = (("token_data",), ("user_message", "assistant_message"), ("user_message", "token_data"))
"""Columns that tell one text from the other."""
_TEXTS = st.none() | st.text("ab\n é好🌊", max_size=4)


@given(st.lists(st.tuples(_TEXTS, _TEXTS), min_size=1, max_size=6), st.randoms(), st.sampled_from(_KNOWING))
def test_all_columns_end_with_the_same_texts(
    said: list[tuple[str | None, str | None]], order: random.Random, columns: tuple[str, ...]
) -> None:
    """Whatever the texts are, with tokens of fewer characters than others and with ties: the longer text decides."""
    pieces = [{"user_message": question, "assistant_message": answer} for question, answer in said]
    longest = [
        max(filter(None, each), key=lambda text: (len(text), text), default="") for each in zip(*said, strict=True)
    ]
    for _ in range(3):
        order.shuffle(pieces)
        end = row(pieces, [*columns, "text_cache"], ["utf-8"])
        assert (end["text_cache"] or "") == both(*longest)
        if "token_data" in columns:
            tokens = json.loads(end["token_data"] or "")
            assert [bytes(tokens[part]).decode() for part in ("user", "assistant")] == longest
        for field, text in zip(("user_message", "assistant_message"), longest, strict=True):
            assert (end.get(field, text) or "") == text


@given(st.permutations(range(4)))
def test_of_two_versions_the_newer_one_stays(order: list[int]) -> None:
    """Also of two of one time, and where one has no version."""
    times = [None, "2026-01-30T09:00:00+08:00", "2026-01-30T02:00:00Z", "2026-01-30T10:00:00+08:00"]
    versions = [
        {"reflection": {"summary": f"s{at}", "causes": [], **({"updated_at": time} if time else {})}}
        for at, time in enumerate(times)
    ]
    end = row([versions[at] for at in order], ["reflection", "token_data"], ["utf-8"])
    assert json.loads(end["reflection"] or "")["summary"] == "s3"
    assert "s3" in bytes(json.loads(end["token_data"] or "")["reflection"]).decode()


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
        (["hello", "+hello, you"], "hello\n\nhello, you"),
        (["+hello, you", "hello"], "hello\n\nhello, you"),
        (["hello", "+hello, you", "hello+hello"], "hello\n\nhello, you"),
        (["+ok", "is it ok?", "is it ok?+ok"], "is it ok?\n\nok"),
        (["+one", "+other"], "\n\none\n\nother"),
        (["+one", "+one two"], "\n\none two"),
        (["what", "+this", "what is it?", "what is"], "what is it?\n\nthis"),
        (["what is it?+this", "what", "what+thi", "+thi"], "what is it?\n\nthis"),
        (["what+thi", "what is it?+this\n\nand that"], "what is it?\n\nthis\n\nand that"),
        (["one\n\ntw", "+answer", "one\n\ntwo"], "one\n\ntwo\n\nanswer"),
        (["+ok\n\nmore", "ok, do it"], "ok, do it\n\nok\n\nmore"),
        (["q\r\n+\r\n\r\na", "+\r\na", "q\r\n"], "q\n\na"),
        (["+\r\n\r\na", "\r\nq\r\n"], "q\n\na"),
        (["one\n\ntwo+three", "one+three, and more"], "one\n\ntwo\n\nthree, and more"),
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
    there = with_pieces(None, "q", answer[:-100])
    began = time.process_time()
    assert with_pieces(there, None, answer) == f"q\n\n{answer}"
    assert with_pieces(there, None, "another") == f"{there}\n\nanother"
    assert time.process_time() - began < 2
