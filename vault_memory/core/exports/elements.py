"""The elements of a list in JSON, one after the other: an export may be larger than the memory.

Each is parsed as soon as all of it has been read, so that what stands before a cut or a damage is there.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

MAX_ELEMENT_CHARS = 100_000_000
"""Of one conversation; a long one has a few million."""
_BETWEEN = re.compile(r"[\s,]*")
_DECODER = json.JSONDecoder(strict=False, parse_constant=str)


class Damaged(Exception):
    """A list is cut, or no JSON from some place on; what stands before it was read. The message says where."""


def elements(pieces: Iterable[bytes], noun: str = "conversation") -> Iterator[Any]:
    """Each element of a list in JSON (UTF-8), which comes in pieces; values that stand in no list count as its
    elements. Messages call each a `noun`.

    Raises `Damaged` after the last element that is whole. About twice the longest element is in memory at a time.
    """
    decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
    texts = (decoder.decode(piece) for piece in pieces)
    text, at, count, is_list = "", 0, 0, False
    while True:
        at = _end_of_blank(text, at)
        if at == len(text):
            if more := next(texts, None):
                text, at = more, 0
            elif more is None and is_list:
                raise Damaged(f"it ends in the middle, behind {noun} {count}")
            elif more is None:
                return
        elif text[at] == "[" and not count and not is_list:
            at, is_list = at + 1, True
        elif text[at] == "]" and is_list:
            return
        else:
            text, value, at = _whole(text, at, texts, f"{noun} {count + 1}")
            count += 1
            yield value


def _end_of_blank(text: str, at: int) -> int:
    found = _BETWEEN.match(text, at)
    return found.end() if found else at


def _whole(text: str, at: int, texts: Iterator[str], named: str) -> tuple[str, Any, int]:
    """(text, value, its end) of the value at a place of a text, after reading as much of `texts` as it needs.

    Each attempt has twice as much to read as the one before: an attempt for each piece would take the square of its
    length.
    """
    is_all = False
    while True:
        try:
            return text, *_DECODER.raw_decode(text, at)
        except json.JSONDecodeError as error:
            if is_all:
                raise Damaged(f"it is cut or damaged in {named}") from error
        except (ValueError, RecursionError) as error:  # a number of thousands of digits, lists without end
            raise Damaged(f"{named} is no JSON that can be read") from error
        parts, wanted, at = [text[at:]], len(text) - at, 0
        if wanted > MAX_ELEMENT_CHARS:
            raise Damaged(f"{named} has no end within {MAX_ELEMENT_CHARS:,} characters")
        while wanted > 0 and not is_all:
            more = next(texts, None)
            is_all = more is None
            parts.append(more or "")
            wanted -= len(more or "")
        text = "".join(parts)
