"""Conflict blocks: how two texts for the same lines stand in a file until a person has decided."""

from __future__ import annotations

OPEN = "<<<<<<< 兩邊都改了這幾行：留下對的，再刪去三行記號 · two texts for the same lines: keep what is right, delete the 3 marks"
MIDDLE = "======="
CLOSE = ">>>>>>> 另一邊到此為止 · end of the other text"
PROBLEM = "conflict: "
"""How the problem of a file that holds a conflict begins."""


def block(ours: list[str], theirs: list[str]) -> list[str]:
    """The lines of a conflict block; each line ends with its line break."""
    return [OPEN + "\n", *ours, MIDDLE + "\n", *theirs, CLOSE + "\n"]


def conflicts_in(text: str) -> list[tuple[int, int]]:
    """The conflict blocks of a text, as their first and last line (1-based, inclusive)."""
    found, start = [], 0
    if OPEN not in text:
        return []
    for number, line in enumerate(text.split("\n"), 1):
        mark = line.rstrip()
        if mark == OPEN and not start:
            start = number
        elif mark == CLOSE and start:
            found.append((start, number))
            start = 0
    return found


def problems(text: str) -> list[str]:
    """A line for each conflict block, for a person."""
    return [
        f"{PROBLEM}lines {first}-{last} hold two texts: keep what is right and delete the three marks"
        for first, last in conflicts_in(text)
    ]
