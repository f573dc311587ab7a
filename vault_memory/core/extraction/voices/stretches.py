"""Stretches: where words that are not the person's own begin in a message, and how far they go."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import islice

from vault_memory.core.extraction.lexicon import Lexicon
from vault_memory.core.extraction.voices import letters, requests
from vault_memory.core.extraction.voices.chats import speakers
from vault_memory.core.extraction.voices.lines import Lines
from vault_memory.core.text import lazily

_MAY_HOLD_OTHERS = lazily(
    r"[\n:@>]| - |—|_{3}|敬上|谨启|[\[【(]|(?:regards|best|cheers|thanks|love|yours|sincerely)[,.!]? [a-z]"
    r"|(?:this|below|following)(?![a-z])|[这下]"
)
_COLON = lazily(r"(?<=[\u3400-\u9fff)\]])\s?:|:(?=\s|$|[\u3400-\u9fff\"“「『'(])| - (?=\S)|—")
_IN_QUOTES = lazily(r"“[^”]*”|「[^」]*」|『[^』]*』|\"[^\"]+\"")
_QUOTED = lazily(r"\s*[\"“「『《'`]")
_GAP = lazily(r"_{3,}|\.{3,} (?:because|when)")
"""To be filled in."""


def of_others(written: str, folded: str, prose: str, lexicon: Lexicon, gap: int = -1) -> list[tuple[int, int]]:
    """Start and end of each stretch of a message that is not the person's own words, in order.

    `folded`, and `prose`, which is blank where that is code, are as long as `written`. `gap`: the offset of the line
    that stands for what was left out; -1: nothing was. The time is linear.
    """
    if not _MAY_HOLD_OTHERS.search(folded):
        return []
    return list(_Walk(Lines(written, folded, prose, gap, lexicon)).stretches())


class _Walk:
    """One way through the lines: each is the person's own, or begins a stretch that is not."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._speakers = speakers(lines)

    def stretches(self) -> Iterator[tuple[int, int]]:
        lines, at = self._lines, 0
        if (before := self._text_before_a_request()) is not None:
            yield 0, lines[before - 1].end
            at = before
        while at < len(lines):
            is_code = lines[at].is_code and not (self._speakers[at] or letters.cuts(lines, at))
            found = None if lines[at].is_break or is_code else self._begins(at)
            if found is None:
                at += 1
                continue
            start, stop = found
            yield start, self._end(start, stop - 1)
            at = stop

    def _begins(self, at: int) -> tuple[int, int] | None:
        """(offset, line behind the last one) of a stretch that begins in a line; None if it is the person's own."""
        lines, line = self._lines, self._lines[at]
        if letters.is_quoted(lines, at):
            return line.start, at + 1
        if letters.cuts(lines, at) or letters.begins_a_mail(lines, at):
            return line.start, self._end_of_letter(at)
        if self._speakers[at]:
            return line.start, self._end_of_chat(at)
        greeting = letters.greeting(lines, line.written, line.folded)
        if greeting.is_anothers and (greeting.is_sure or self._next_close[at] < len(lines)):
            return line.start, self._end_of_letter(at)
        if request := self._behind_a_request(at):
            return request
        if gap := _GAP.search(line.folded):
            before = line.folded[: gap.start()]
            return line.start + len(before) - len(requests.last_sentence(before)), at + 1
        return None

    def _behind_a_request(self, at: int) -> tuple[int, int] | None:
        """The text behind what a line asks of it, or names: on the line, or below."""
        lines, line = self._lines, self._lines[at]
        following = lines.next_text(at + 1)
        unquoted = _IN_QUOTES.sub(lambda quoted: " " * len(quoted[0]), line.folded)
        for colon in islice(_COLON.finditer(unquoted), requests.MOST_SENTENCES):
            before = line.folded[max(0, colon.start() - requests.MAX_REQUEST_CHARS) : colon.start()]
            if not requests.opens_a_text(lines, requests.last_sentence(before), is_dash=":" not in colon[0]):
                continue
            if _QUOTED.match(line.folded, colon.end()):
                return None  # quotations are cut out by themselves
            if line.folded[colon.end() :].strip():
                return line.start + colon.end(), self._end_of_text(at, colon.end())
            return self._below(following)
        asked = requests.asks_about_a_text(lines, line.folded)
        if asked is None:
            return None
        if following < len(lines):
            return None if self._goes_on(following) else self._below(following)
        rest = line.folded[asked:].strip()
        goes_on = self._lines.begins("back.turns", rest) or self._lines.begins("back.opens", rest)
        is_text = bool(rest) and not goes_on and requests.is_said_there(line.folded[:asked])
        return (line.start + asked, at + 1) if is_text else None

    def _below(self, at: int) -> tuple[int, int] | None:
        lines = self._lines
        if at == len(lines) or letters.is_quoted(lines, at):  # which is cut out by itself
            return None
        return lines[at].start, self._end_of_text(at, 0)

    def _text_before_a_request(self) -> int | None:
        """The line behind a text that the last line of the message asks about; None if it does not."""
        lines, last = self._lines, len(self._lines) - 1
        while last > 0 and not lines[last].folded.strip():
            last -= 1
        if last < 1 or not requests.asks_about_what_was_written(lines, lines[last].folded):
            return None
        return last if any(line.is_break for line in lines) or last == 1 else None

    # --- how far ------------------------------------------------------------------------------------------------------

    def _end(self, start: int, last: int) -> int:
        """Where a stretch ends: with its last line, or, if it stands on a line behind something of the person's own,
        where they say on that line that they go on (順便一提)."""
        line = self._lines[last]
        offset = start - line.start
        if offset <= 0 or letters.greeting(self._lines, line.written[offset:], line.folded[offset:]).is_anothers:
            return line.end
        for end in requests.SENTENCE_END.finditer(line.folded, offset):
            if self._lines.begins("back.turns", line.folded[end.end() :].lstrip(" ")):
                return line.start + end.end()
        return line.end

    def _end_of_text(self, at: int, offset: int) -> int:
        """The line behind a text that begins at an offset of a line."""
        lines, line = self._lines, self._lines[at]
        if letters.greeting(lines, line.written[offset:], line.folded[offset:]).is_anothers:
            return self._end_of_letter(at)
        if self._speakers[at] or (offset and at + 1 < len(lines) and self._speakers[at + 1]):
            return self._end_of_chat(at)
        return min(self._next_own[at + 1], self._behind_signature(self._next_close[at]))

    def _end_of_letter(self, at: int) -> int:
        lines, close = self._lines, self._next_close[at]
        if close < len(lines):
            return self._behind_signature(close)
        body = at + 1
        while body < len(lines) and (lines[body].is_break or letters.is_mail_head(lines, body)):
            body += 1
        return self._next_own[min(body + 1, len(lines))]

    def _behind_signature(self, at: int) -> int:
        """The line behind the names under the end of a letter."""
        lines, at = self._lines, at + 1
        while at < len(lines) and not lines[at].is_break and letters.is_signature(lines, at):
            at += 1
        return min(at, len(lines))

    def _end_of_chat(self, at: int) -> int:
        """The line behind the paragraphs of a chat: each begins with somebody who speaks."""
        lines = self._lines
        while at < len(lines):
            while at < len(lines) and not lines[at].is_break:
                at += 1
            following = lines.next_text(at)
            if following == len(lines) or not self._speakers[following]:
                return at
            at = following
        return at

    def _goes_on(self, at: int) -> bool:
        """Whether the person goes on with a line, after a text."""
        folded = self._lines[at].folded.strip()
        return self._lines.begins("back.opens", folded) is not None or self._lines.says("back.anywhere", folded)

    def _is_behind_code(self, at: int) -> bool:
        lines = self._lines
        while at and lines[at - 1].is_break:
            at -= 1
        return at > 0 and lines[at - 1].is_code

    @cached_property
    def _next_own(self) -> list[int]:
        """Of each line the first at or behind it with which, after a break, the person goes on."""
        lines, following = self._lines, len(self._lines)
        result = [following] * (len(lines) + 1)
        for at in reversed(range(len(lines))):
            is_first = at > 0 and lines[at - 1].is_break and not lines[at].is_break
            if is_first and (self._goes_on(at) or self._is_behind_code(at)):
                following = at
            result[at] = following
        return result

    @cached_property
    def _next_close(self) -> list[int]:
        """Of each line the first at or behind it in which a letter ends."""
        lines, following = self._lines, len(self._lines)
        result = [following] * (len(lines) + 1)
        for at in reversed(range(len(lines))):
            if not lines[at].is_break and letters.closes(lines, at):
                following = at
            result[at] = following
        return result
