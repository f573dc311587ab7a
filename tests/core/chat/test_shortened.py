"""The short form of a large request: what is read in it and put into it is the same as in the whole one."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.pace import assert_in_proportion
from vault_memory.core.chat.place import find_place, inject
from vault_memory.core.chat.request import read_request
from vault_memory.core.chat.shortened import MAX_READ_BYTES, MAX_VALUES, MIN_RUN_BYTES, shorten

LONG = st.integers(MIN_RUN_BYTES - 2, 3 * MIN_RUN_BYTES).map(lambda size: ("iVBOR/0+" * size)[:size])
TEXT = st.lists(st.one_of(LONG, st.text(max_size=9), st.sampled_from(["茶 🍵 ", '"', "\\", "run-"])), max_size=5).map(
    "".join
)


@pytest.mark.slow
@given(st.lists(TEXT, min_size=1, max_size=4), TEXT, st.booleans())
def test_memory_goes_to_the_same_place_in_the_short_and_the_whole_form(
    texts: list[str], words: str, is_ascii: bool
) -> None:
    parts: list[Any] = [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{text}"}} for text in texts]
    content = [*parts, {"type": "text", "text": f"tea {words}"}]
    whole = json.dumps({"messages": [{"role": "user", "content": content}]}, ensure_ascii=is_ascii).encode(
        "utf-8", "replace"
    )
    short = shorten(whole)
    in_short, in_whole = (read_request(json.loads(text)) for text in (short.short, whole))
    assert in_short and in_whole and short.is_readable
    assert short.restored(in_short.words, whole) == in_whole.words
    assert (in_short.message_index, in_short.part_index) == (in_whole.message_index, in_whole.part_index)
    place = find_place(short.text, in_short.message_index, in_short.part_index)
    changed = short.with_all(whole, place.insertions("<m>", place.form))
    assert changed.decode() == inject(whole.decode(), "<m>", in_whole.message_index, in_whole.part_index)
    assert len(short.short) < 2 * MIN_RUN_BYTES + len(short.runs) * 100 + whole.count(b"\\") * 20 + 90_000


@pytest.mark.slow
def test_a_picture_is_taken_out_and_text_stays() -> None:
    whole = b'{"a": "%b", "b": "%b"}' % (b"x" * 31_000_000, b"I like tea. " * 1_000)
    short = shorten(whole)
    assert len(short.short) < 20_000 and b"I like tea. I like tea." in short.short
    assert shorten(b'{"a": "x"}').short == b'{"a": "x"}'
    one, other = (shorten(b'{"a": "%b"}' % (letter * 10_000)).short for letter in (b"a", b"b"))
    assert one != other, "two pictures stay two"


@pytest.mark.slow
def test_what_would_take_too_much_memory_is_not_parsed() -> None:
    assert not shorten(b'"' + b"I like tea. " * (MAX_READ_BYTES // 12 + 1) + b'"').is_readable
    for piece in (b"[],", b"{},", b'{"":0},', b'"",', b"0,"):
        assert not shorten(b"[" + piece * (MAX_VALUES + 1) + b"0]").is_readable
    assert shorten(b'["' + b"a, b, [c] {d} " * 140_000 + b'"]').is_readable, "marks inside of a text are no values"
    assert shorten(b'["' + b'\\"' * 500_000 + b",,,," * 200_000).is_readable, "nor in one that never ends"


@pytest.mark.slow
def test_texts_of_any_form_are_read_in_one_pass() -> None:
    for piece in (b"a" * (MIN_RUN_BYTES - 1) + b" ", b"a" * MIN_RUN_BYTES + b" ", b'"\\"', b'\\"', b"[", b"x "):
        assert_in_proportion(lambda size, piece=piece: shorten(piece * (size // len(piece))), 3_000_000)


def test_a_sender_cannot_write_the_mark_of_a_run() -> None:
    """A mark that is repeated in a message would be replaced by a whole run each time: gigabytes from a megabyte."""
    run = b"A" * 100_000
    whole = b'{"x":"' + run + b'"}'
    found = shorten(whole, b"secret")
    [mark] = [each.mark for each in found.runs]
    guesses = {hashlib.blake2b(run[cut:], digest_size=32).hexdigest() for cut in range(40)}
    assert [each.mark.removeprefix(b"run-").decode() in guesses for each in shorten(whole).runs] == [True]
    assert mark.removeprefix(b"run-").decode() not in guesses
    text = " ".join(f"run-{guess}" for guess in guesses)
    assert found.restored(text, whole) == text
