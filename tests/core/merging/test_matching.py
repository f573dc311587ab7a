"""Common lines: difflib's for short texts, found in long ones too, and never in the square of their length."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.pace import assert_in_proportion
from vault_memory.core.merging.journal_merge import merge_journal
from vault_memory.core.merging.line_merge import merge_jsonl, merge_lines
from vault_memory.core.merging.matching import matches

texts = st.lists(st.sampled_from("abcdefgh"), max_size=40) | st.lists(st.integers(0, 300).map(str), max_size=300)


@given(texts, texts)
def test_the_runs_are_equal_and_in_order(one: list[str], other: list[str]) -> None:
    i = j = 0
    for start, twin, size in matches(one, other):
        assert size and start >= i and twin >= j
        assert one[start : start + size] == other[twin : twin + size]
        i, j = start + size, twin + size
    assert i <= len(one) and j <= len(other)


def test_a_moved_part_of_a_long_text_leaves_the_rest_in_common() -> None:
    lines = [f"line {number}" for number in range(2_000)]
    other = [*lines[:300], "new", *lines[310:900], *lines[1_000:1_500], *lines[900:1_000], *lines[1_500:]]
    assert sum(size for _, _, size in matches(lines, other)) == 2_000 - 10 - 100


def test_repeated_lines_between_unique_ones_are_found() -> None:
    entries = [f"## {n // 60:02}:{n % 60:02}\n- 模組：coding-agent\n\n" for n in range(1_000)]
    base = "".join(entries)
    ours, theirs = base.replace("## 03:00\n", "## 03:00\n- mine\n"), base.replace("## 09:00\n", "## 09:00\n- yours\n")
    merged = merge_lines(base, ours, theirs)
    assert merged.text == ours.replace("## 09:00\n", "## 09:00\n- yours\n") and not merged.conflicts


HOSTILE: dict[str, Callable[[int], tuple[str, str]]] = {
    "nothing in common": lambda size: ("a\n" * size, "b\n" * size),
    "every other line": lambda size: ("a\n" * size, "a\nb\n" * (size // 2)),
    "backwards": lambda size: (
        "".join(f"{n}\n" for n in range(size)),
        "".join(f"{n}\n" for n in range(size, 0, -1)),
    ),
}


@pytest.mark.parametrize("texts", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.slow
def test_a_hostile_text_is_merged_in_proportion_and_loses_nothing(texts: Callable[[int], tuple[str, str]]) -> None:
    def merge(size: int) -> None:
        ours, theirs = texts(size)
        for base in ("x\n" + ours[: len(ours) // 2] + theirs[: len(theirs) // 2], None):
            merged = merge_lines(base, ours, theirs).text
            assert set(ours.split("\n")) | set(theirs.split("\n")) <= set(merged.split("\n"))
            merge_journal(base, ours, theirs)
        merge_jsonl(theirs, ours, ours[2:] + theirs)

    assert_in_proportion(merge, 4_000)
