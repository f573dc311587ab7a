"""A text of megabytes is searched in stretches: what is found stays the same, and other threads have their turn."""

from __future__ import annotations

import gc
import re
import re._constants as codes  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
import threading
import time
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.pace import fixed_work
from vault_memory.core.privacy import commands, formats, named, numbers, secrets, secrets_added, tables, views
from vault_memory.core.text import fold, matches, stands_in
from vault_memory.core.text.phrases import REACH_CHARS, STRETCH_CHARS


def searched(text: str = "") -> Iterator[tuple[re.Pattern[str], int]]:
    """Each pattern that is searched in a whole text (empty: any text), and how far it may look."""
    for rules in (secrets._prefixed(), secrets._shaped(), secrets._checked(), secrets._commands(), secrets._numbers()):
        yield from ((rule.pattern, formats.MAX_MATCH_CHARS) for rule in rules if not text or rule.hint in text)
    yield tables.RULER, tables.MAX_RULER_CHARS
    for pattern in (
        *(secrets._any_name(), commands.WORD_RUN, formats.KEY_RUN, numbers.DIGIT_RUN, numbers.CARD),
        *(tables.INSERT, tables.HEADER, named.RANDOM_RUN, named._DENIED, named._DIGITS, named._VISIBLES),
        *(views.DISGUISE_CHAR, views.DISGUISED, views._INVISIBLE, views._MARK_CHAR, views._MARK),
        *(views._JOINT_CHAR, views._LINE_END, views._BROKEN),
    ):
        yield pattern, REACH_CHARS


def looked_at(parts: Any) -> tuple[int, int]:
    """The most characters that a parsed pattern takes, and looks at, from where it begins."""
    taken = seen = 0
    for code, detail in parts:
        match code:
            case codes.BRANCH:
                each = [looked_at(branch) for branch in detail[1]]
                width, sight = max(width for width, _ in each), max(sight for _, sight in each)
            case codes.SUBPATTERN:
                width, sight = looked_at(detail[-1])
            case codes.ATOMIC_GROUP:
                width, sight = looked_at(detail)
            case codes.MAX_REPEAT | codes.MIN_REPEAT | codes.POSSESSIVE_REPEAT:
                width, sight = looked_at(detail[2])
                width, sight = width * int(detail[1]), width * max(int(detail[1]) - 1, 0) + sight
            case codes.ASSERT | codes.ASSERT_NOT:
                width, sight = 0, looked_at(detail[1])[1] if detail[0] > 0 else 0
            case codes.AT:
                width, sight = 0, 1
            case codes.GROUPREF:
                width = sight = 1  # a separator, or a quote
            case _:
                width = sight = 1
        seen = max(seen, taken + sight)
        taken += width
    return taken, max(taken, seen)


def test_no_pattern_looks_farther_than_its_stretch_goes_on() -> None:
    """Else a secret on the border of two stretches would not be found."""
    for pattern, reach in searched():
        taken, seen = looked_at(parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE))
        assert taken > 0 and seen < reach, pattern.pattern


PLANTED = (
    "password: x9Kd#2pqLm",
    "ghp_" + "a1B2c3D4e5" * 4,
    "| name | password |\n|---|---|\n| bob | Tiger2024! |\n",
    "-----BEGIN PRIVATE KEY-----\n" + "MIIabc123/+x\n" * 1500 + "-----END PRIVATE KEY-----",
    "4242 4242 4242 4242",
    "https://bob:hunter22@example.com",
    'token = "x9Kd2pqLm" +\n  "R4tY7uI1oP"',
    "\u200b&quot;%41\\u0041<b>__a__</b>\n> ",
    "name,password\nbob,Tiger2024!\n",
    "eyJ" + "a1B2c3D4e5" * 700 + "." + "x" * 700,
)


@pytest.mark.slow
@given(st.sampled_from(PLANTED), st.integers(-20, 40), st.sampled_from(["a b\n", "密碼 ", "a1-", "12 "]))
@example(PLANTED[3], 20, "a b\n")
@example(PLANTED[3], 18_000, "a b\n")
@settings(max_examples=8, deadline=None)
def test_a_search_in_stretches_finds_what_a_search_of_the_whole_finds(planted: str, before: int, filler: str) -> None:
    text = fold((filler * STRETCH_CHARS)[: STRETCH_CHARS - before]) + planted + filler * 20
    for pattern, reach in searched(text):
        whole = [match.span() for match in pattern.finditer(text)]
        assert [match.span() for match in matches(pattern, text, reach)] == whole, pattern.pattern
        assert stands_in(text, pattern, reach) == bool(whole)


@pytest.mark.slow
def test_other_threads_have_their_turn_while_a_long_note_is_searched() -> None:
    """One call took 1.2 s for 4 MB of short lines, and a server answered nobody meanwhile."""
    gaps: list[float] = []
    is_over = threading.Event()

    def tick() -> None:
        last = time.process_time()
        while not is_over.wait(0.005):
            now = time.process_time()  # of this process: others that take the processor do not count
            gaps.append(now - last)
            last = now

    secrets_added(PurePosixPath("a.md"), [None], b'password: x9Kd2pq1\n\\n "a" + "b"\n')  # compiles the patterns
    ticking = threading.Thread(target=tick)
    gc.collect()
    gc.freeze()  # a collection of what all other tests left behind is one long call, too
    ticking.start()
    secrets_added(PurePosixPath("a.md"), [None], b"a\nz\nc\n" * 200_000)
    is_over.set()
    ticking.join()
    gc.unfreeze()
    assert max(gaps) < 40 * fixed_work()
