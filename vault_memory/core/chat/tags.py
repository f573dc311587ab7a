"""Tags around what a client puts into a text, and which of the text no document in them can have written.

A document may hold any tag: it closes its own, opens others, and leaves some open. Only two things does it not
reach: what stands before the first tag, and what stands behind the last closing one, which is the client's own.
"""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

_NAME = r"([A-Za-z][\w.:-]{0,63}(?: instructions)?)"
TAG = re.compile(rf"<{_NAME}(?:\s[^<>]{{0,2000}})?>")
CLOSING = re.compile(rf"</{_NAME}\s{{0,20}}>")
_EITHER = re.compile(rf"<(/?){_NAME}(?:\s[^<>]{{0,2000}})?>")
_OF_A_CLIENT = re.compile(r"[A-Za-z][\w.:]*[_-][\w.:-]*\Z")


@dataclass(frozen=True)
class Outside:
    """What is `certain` in a text: it stands outside of the tags. `uncertain` is what stands between them and is no
    plain row of spans. `is_torn`: a closing tag is the first, so what it closes begins before the text."""

    certain: str
    uncertain: str = ""
    is_torn: bool = False


def outside(text: str, names: AbstractSet[str], until: int) -> Outside:
    """What stands outside of a client's tags, of which some `names` are known, in a text as far as `until`.

    Beside a known tag, whatever no HTML is named like counts as the client's, too. An opening tag that is never closed
    counts at the beginning of a line only: a person may ask about one.
    """
    tags = [tag for tag in _EITHER.finditer(text) if tag[2] in names or is_of_a_client(tag[2])]
    known = _known(text, names)
    if not known or tags[0].start() >= until:
        return Outside(text[:until])
    end = max((tag.end() for tag in tags if tag[1]), default=0)
    is_torn = bool(tags[0][1])
    start = 0 if is_torn else min(tags[0].start(), end)
    unclosed = next((tag.start() for tag in known if tag.start() >= end), len(text))
    inside = text[start:end]
    uncertain = [inside.strip() if not _is_row_of_spans(inside) else "", text[unclosed:].strip()]
    certain = text[: min(start, until)] + text[end : min(unclosed, until)]
    return Outside(certain, "\n".join(filter(None, uncertain)), is_torn)


def first(text: str, names: AbstractSet[str]) -> int:
    """Where the first tag of these names begins that counts, the end of the text if there is none."""
    return next((tag.start() for tag in _known(text, names)), len(text))


def _known(text: str, names: AbstractSet[str]) -> list[re.Match[str]]:
    return [tag for tag in _EITHER.finditer(text) if tag[2] in names and (tag[1] or _begins_line(text, tag.start()))]


def has_any(text: str, names: AbstractSet[str]) -> bool:
    """Whether there is a tag of these names."""
    return any(tag[2] in names for tag in _EITHER.finditer(text))


def end_of_last(text: str, names: AbstractSet[str]) -> int:
    """Where the last closing tag of these names ends, 0 if there is none."""
    return max((tag.end() for tag in CLOSING.finditer(text) if tag[1] in names), default=0)


def end_of_leading(text: str, names: AbstractSet[str]) -> int:
    """Where the spans of these names end with which a text begins, and the space behind them."""
    at = _after_space(text, 0)
    while (tag := TAG.match(text, at)) and tag[1] in names:
        closing = f"</{tag[1]}>"
        end = text.find(closing, tag.end())
        if end < 0:
            break
        at = _after_space(text, end + len(closing))
    return at


def ends(text: str) -> tuple[str, str] | None:
    """The names of the opening tag with which a text begins and of the closing one with which it ends, if both are."""
    opening = TAG.match(text)
    closing = CLOSING.fullmatch(text, max(0, text.rfind("</")))
    return (opening[1], closing[1]) if opening and closing else None


def first_inner(text: str) -> str:
    """What stands in the tag with which a text begins, up to the first that closes it; "" if none does."""
    tag = TAG.match(text)
    end = text.find(f"</{tag[1]}>", tag.end()) if tag else -1
    return text[tag.end() : end].strip() if tag and end >= 0 else ""


def last_inner(text: str) -> str:
    """What stands in the tag whose closing one ends a text, behind the last that opens it; "" if none does."""
    end = text.rfind("</")
    closing = CLOSING.fullmatch(text, max(0, end))
    tag = TAG.match(text, max(0, text.rfind(f"<{closing[1]}", 0, end))) if closing else None
    return text[tag.end() : end].strip() if tag and closing and tag[1] == closing[1] else ""


def is_of_a_client(name: str) -> bool:
    """Whether no HTML has a name like it, but those of elements that a page defines itself."""
    return _OF_A_CLIENT.match(name) is not None


def _begins_line(text: str, at: int) -> bool:
    """Whether a tag stands at the beginning of a line, or behind another one."""
    if at and text[at - 1] == ">":
        return True
    while at and text[at - 1] in " \t":
        at -= 1
    return not at or text[at - 1] == "\n"


def _is_row_of_spans(text: str) -> bool:
    """Whether a text consists of spans, each up to the first tag that closes it."""
    at = 0
    while tag := TAG.match(text, at):
        closing = f"</{tag[1]}>"
        end = text.find(closing, tag.end())
        if end < 0:
            return False
        at = _after_space(text, end + len(closing))
    return at == len(text)


def _after_space(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at
