"""Letters and mails: whom a line greets, how a letter ends, the head of a mail."""

from __future__ import annotations

from typing import NamedTuple

from vault_memory.core.extraction.voices.lines import Lines, is_spoken
from vault_memory.core.text import lazily

MAX_SIGNATURE_CHARS = 60
MAX_WISH_CHARS = 16
"""A longer line only holds a wish (祝…), and ends no letter."""

_CAPITALISED = r"[A-ZÀ-Þ][\w'’.\-]*"
_GREETED = lazily(
    r"[ ,]+(?P<who>(?:(?:Mrs?|Ms|Mx|Dr|Prof|Professor|Miss|Mister|Aunt|Uncle)\.? )?"
    rf"{_CAPITALISED}(?:(?: (?:and|&))? {_CAPITALISED}){{0,3}}) *(?P<sign>[,!:\-–—]|$|(?<=\.))"
)
_GREETED_HAN = lazily(r"(?P<who>[\u3400-\u9fff]{1,5}?|[A-ZÀ-Þ][\w'’\-]*) ?(?:[你妳]好|您好|好)(?=[,，:：!！。 ]|$)")
_BEHIND_A_GROUP = lazily(" *(?:[,!:]|$)")
_SIGNATURE = lazily(
    rf"[ \t]*(?:[\-–—~]{{1,2}} ?)?(?:{_CAPITALISED}(?: {_CAPITALISED}){{0,3}}|[\u3400-\u9fff]{{1,8}})[ \t]*[.!]?$"
)
_DASHED = lazily(rf"[ \t]*[\-–—]{{1,3}} ?{_CAPITALISED}(?: {_CAPITALISED})?$")
_SIGNED_HAN = lazily(r"(?:敬上|谨启|敬启|谨上|拜上|叩上)\W*$")
_WISHED_HAN = lazily("祝.{0,6}[ 好安乐康利祺]")
_LAST_SENTENCE = lazily(r"(?:.*(?:[.!?] |[。!?]|  ))?\s*")
_QUOTE = lazily(r"[ \t]*>")
_CUT = lazily(r"[ \t]*(?:[\-=_*~]{2,}|begin forwarded)|.{1,60}:$")
_HEAD = lazily(r"[ \t]*(?:\*\*)?(?P<name>[^:\n]{1,16}?)(?:\*\*)?[ \t]*:")


class Greeting(NamedTuple):
    """Whether a text greets somebody else than the assistant, and whether it can only be a letter to them."""

    is_anothers: bool = False
    is_sure: bool = False


def greeting(lines: Lines, written: str, folded: str) -> Greeting:
    """The greeting with which a text begins, as written and folded."""
    lead = len(folded) - len(folded.lstrip())
    written, folded = written[lead:], folded[lead:].rstrip()
    if opening := lines.begins("letter.opens", folded):
        return Greeting(not _is_the_assistant(lines, opening[0].strip(",:").removeprefix("亲爱的")), True)
    if found := _GREETED_HAN.match(written):
        who = folded[: found.end("who")]
        is_alone = len(folded) - found.end() <= 1
        return Greeting(not _is_the_assistant(lines, who) and not is_spoken(who), is_alone)
    hello = lines.begins("letter.greets", folded)
    if hello is None:
        return Greeting()
    is_dear = hello[0] == "dear"
    rest = folded[hello.end() :].lstrip(" ,")
    group = lines.begins("letter.groups", rest)
    if group and _BEHIND_A_GROUP.match(rest, group.end()):
        return Greeting(True, is_dear or not rest[group.end() :].strip(" ,!:"))
    if (found := _GREETED.match(written, hello.end())) is None or (found["sign"] in "-–—" and found["sign"]):
        return Greeting()
    who = folded[slice(*found.span("who"))].rstrip(".")
    is_alone = found.end() >= len(folded)
    return Greeting(not _is_the_assistant(lines, who) and not is_spoken(who), is_dear or is_alone)


def closes(lines: Lines, at: int) -> bool:
    """Whether a letter ends in a line: with «Best, Tom», 敬上, or with «Best» and a name on the next line."""
    line = lines[at]
    written, folded = line.written.rstrip(), line.folded.rstrip()
    if _DASHED.match(written) or _SIGNED_HAN.search(folded):
        return True
    if len(folded) < MAX_WISH_CHARS and lines.begins("letter.wishes", folded.strip()):
        return True
    before = _LAST_SENTENCE.match(folded.rstrip(".!?。"))
    start = before.end() if before else 0
    ending, as_written = folded[start:], written[start:]
    if wish := _WISHED_HAN.search(ending):
        rest = as_written[wish.end() :].strip()
        return not rest or _SIGNATURE.match(rest) is not None
    found = lines.begins("letter.closes", ending) if len(ending) <= MAX_SIGNATURE_CHARS else None
    if found is None:
        return False
    if name := as_written[found.end() :].strip(" ,.!"):
        return _SIGNATURE.match(name) is not None
    return at + 1 < len(lines) and is_signature(lines, at + 1)


def is_signature(lines: Lines, at: int) -> bool:
    """Whether a line may stand under the end of a letter: a name, a title."""
    written = lines[at].written
    return len(written) <= MAX_SIGNATURE_CHARS and _SIGNATURE.match(written) is not None


def is_quoted(lines: Lines, at: int) -> bool:
    return _QUOTE.match(lines[at].written) is not None


def is_mail_head(lines: Lines, at: int) -> bool:
    found = _HEAD.match(lines[at].folded)
    return found is not None and lines.is_all("mail.heads", found["name"].strip())


def begins_a_mail(lines: Lines, at: int) -> bool:
    """Whether the head of a mail begins in a line: two lines of it, or who sends it, first in a paragraph."""
    if not is_mail_head(lines, at) or at + 1 == len(lines):
        return False
    is_first = at == 0 or lines[at - 1].is_break
    return is_mail_head(lines, at + 1) or (
        is_first and lines.begins("mail.first", lines[at].folded.strip()) is not None
    )


def cuts(lines: Lines, at: int) -> bool:
    """Whether a line says that a forwarded mail begins behind it."""
    folded = lines[at].folded
    return len(folded) < 2 * MAX_SIGNATURE_CHARS and bool(_CUT.match(folded)) and lines.says("mail.cuts", folded)


def _is_the_assistant(lines: Lines, who: str) -> bool:
    return any(lines.is_all("letter.assistant", name) for name in (who, who.split(" ")[0]))
