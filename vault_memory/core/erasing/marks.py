"""Marks of Markdown that stand in pairs: where an erased text takes one along, the other is not left alone."""

from __future__ import annotations

import re
from collections.abc import Iterator

_MARK = re.compile(rb"(?<!\\)(?:\*{1,3}|_{1,3}|~~|==|%%|`+|\[\[|\]\]|\[|\])")
_MARKS = re.compile(rb"[*_~=%`\[\]]")
_BLOCK = re.compile(rb"\n[ \t>]*(?:\r?\n|[-*+] |\d+[.)] |#)|\\n(?:\\r)?\\n|\", ?\"|\": ?\"")
"""Where a paragraph, an item of a list or a value of JSON ends."""
_AROUND_BYTES = 2_000
_BEGINS = {b"]": b"[", b"]]": b"[["}
_BLANKS = re.compile(rb"[ \t]*")
_BLANKS_BEFORE = re.compile(rb"[ \t]*\Z")
_MAX_BLANKS = 100
Pair = tuple[int, int, bytes, bytes]
"""Where one mark stands, where the other, and both."""


def with_marks(data: bytes, start: int, end: int) -> tuple[int, int, bytes, bytes]:
    """(start, end) of what is cut out for a place in bytes, and what is put before and behind it: a pair of marks that
    is half inside then encloses what is left of its words, and goes where nothing is."""
    if not _MARKS.search(data, start, end):
        return start, end, b"", b""
    first, last, before, after = start, end, b"", b""
    pairs = [*_pairs(data, start, end)]
    for opened, closed, mark, other in pairs:  # the inner ones first
        if opened < start <= closed < end:
            if not before and opened + len(mark) == first:
                first = opened
            else:
                before += other
    for opened, closed, mark, other in reversed(pairs):
        if start <= opened < end <= closed:
            if closed == last and not after:
                last += len(other)
            else:
                after = mark + after
    if before:
        blanks = _BLANKS_BEFORE.search(data, max(0, first - _MAX_BLANKS), first)
        at = blanks.start() if blanks else first
        before, first = before + data[at:first], at
    if after:
        blanks = _BLANKS.match(data, last, last + _MAX_BLANKS)
        at = blanks.end() if blanks else last
        after, last = data[last:at] + after, at
    return first, last, before, after


def _pairs(data: bytes, start: int, end: int) -> Iterator[Pair]:
    """The pairs of marks in the paragraph around a place, in the order in which they are closed."""
    begin, stop = max(0, start - _AROUND_BYTES), min(len(data), end + _AROUND_BYTES)
    begin = max((found.end() for found in _BLOCK.finditer(data, begin, start)), default=begin)
    stop = found.start() if (found := _BLOCK.search(data, end, stop)) else stop
    open_marks: list[tuple[int, bytes]] = []
    for found in _MARK.finditer(data, begin, stop):
        mark = found[0]
        wanted = _BEGINS.get(mark, mark)
        is_left, is_right = _flanks(data, found.start(), found.end())
        at = next((at for at, each in reversed([*enumerate(open_marks)]) if each[1] == wanted), -1)
        if at >= 0 and is_right and mark not in _BEGINS.values():
            yield open_marks[at][0], found.start(), wanted, mark
            del open_marks[at:]
        elif is_left and mark not in _BEGINS:
            open_marks.append((found.start(), mark))


def _flanks(data: bytes, start: int, end: int) -> tuple[bool, bool]:
    """Whether a mark may begin something, and whether it may end something: a `*` of a list does neither."""
    left, right = data[max(0, start - 1) : start], data[end : end + 1]
    if data[start:end].startswith(b"_") and left.isalnum() and right.isalnum():
        return False, False
    return not (right.isspace() or not right), not (left.isspace() or not left)
