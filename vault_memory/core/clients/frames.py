"""Marks by which programs show in a text what others wrote: a line that announces it, a heading, a row of dashes.

They serve where not all forms of the client are known: what stands behind the first mark may be a document, a
tool's result or another agent's words. A person seldom writes so: of 10,942 labelled messages of all kinds 80 have a
mark, and in four of these something is said of the person behind it.
"""

from __future__ import annotations

import re

_SPEAKS_OF_WISHES = (
    r"\b(?:remember|notes?|mind|from now|always|never|every|rules?|prefer\w*|wish\w*|want|like|habits?|defaults?)\b"
    r"|记|記|以后|以後|偏好|规则|規則|习惯|習慣|希望|要求"
)
_SPEAKS = r"\b(?:i|i'm|i've|me|my|we|our|us|you|your|please|pls)\b|我|你|您|妳|请|請|帮|幫"
_NO_NAME = r"[^\n\"'`/\\<>\[\](){}«»「」“”]"
"""What a program puts into a line that announces a document is a file's name or a title."""
_ADDRESSES_SOMEBODY = rf"(?={_NO_NAME}+\n)(?=[^\n]*(?:{_SPEAKS}))"
_MARK = re.compile(
    r"^[ \t]*(?:"
    rf"(?!{_ADDRESSES_SOMEBODY}[^\n]*(?:{_SPEAKS_OF_WISHES}))"
    rf"(?P<spoken>{_ADDRESSES_SOMEBODY})?[^\n]{{0,300}}[:：][ \t]*\n"  # a line that announces what follows
    r"|#{1,6} \S"  # a heading
    r"|([-=*_~])\2{2,}[ \t]*$"
    r"|<[A-Za-z][\w:.-]*(?: [^<>\n]*)?>(?:[^\n]*</[^<>\n]*>)?[ \t]*(?=\n)"  # a tag in a line of its own
    r"|<<<|>>>|\"\"\"|'''|```"
    r"|\[[^\]\n]{1,60}\](?: \w{1,12})?:"  # [researcher] said: …
    r"|(?<=\n)(?-i:[A-Z][A-Za-z']*(?: [A-Za-z']+){0,3}:[ \t]|[\u3400-\u9fff]{1,8}[：:])"  # Context: …, in a later line
    r")",
    re.MULTILINE | re.IGNORECASE,
)
_SHOWS_AT_ONCE = re.compile(
    r"[^\n:：]{0,60}\b(?:results?|outputs?|observation|tool response)\b[^\n:：]{0,40}[:：] ", re.IGNORECASE
)
_TO_BE_COMPLETED = re.compile(r"[\n.!?。][ \t]*[A-Z][A-Za-z]*(?: [A-Za-z]+){0,3}:\Z")


def is_template(text: str) -> bool:
    """Whether a text shows at once what a tool gave, or is to be completed («… Keywords:»): anybody speaks in it."""
    text = text.rstrip()
    return bool(_SHOWS_AT_ONCE.match(text) or _TO_BE_COMPLETED.search(text))


def end_of_typed(text: str) -> int:
    """How far a text is its author's for sure: up to its first mark, with the line of it that speaks to somebody
    («please look at this:»)."""
    found = _MARK.search(f"{text.rstrip()}\n")
    if found is None:
        return len(text)
    return found.start() if found["spoken"] is None else min(found.end(), len(text))
