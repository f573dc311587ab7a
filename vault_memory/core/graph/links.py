"""The `[[links]]` of a text, as Obsidian sees them: not those in code and comments."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

MAX_LINK_CHARS = 1_000
_MARK = re.compile(rf"\\[\\`\[%]|`+|%%|<!--|\[\[([^\[\]\n]{{1,{MAX_LINK_CHARS}}})\]\]")


def links_in(text: str) -> Iterator[tuple[str, str]]:
    """The target of each link of a text and what it shows ("" if it says nothing else), in their order.

    Takes time in proportion to the text, whoever wrote it."""
    ticks: dict[int, list[int]] = {}
    for run in re.finditer("`+", text):
        ticks.setdefault(len(run[0]), []).append(run.start())
    at = 0
    while found := _MARK.search(text, at):
        at = found.end()
        mark = found[0]
        if found[1]:
            target, _, shown = found[1].partition("|")
            if target := target.partition("#")[0].strip().removesuffix("\\"):  # in a table the bar is escaped
                yield target, shown.strip()
        elif mark[0] == "`":
            same = ticks.get(len(mark), [])
            next_one = bisect_right(same, found.start())
            if next_one < len(same):
                at = same[next_one] + len(mark)
        elif mark in ("%%", "<!--"):
            end = text.find("%%" if mark == "%%" else "-->", at)
            if end < 0:
                return  # a comment that nobody has ended hides the rest
            at = end + 2
