"""Words without the texts: messages of commits, headers, and lines of logs. Former commits that they name are called as
they are now."""

from __future__ import annotations

import re
from collections.abc import Collection

from vault_memory.adapters.erasing.former import SHORTEST_ID, last_of
from vault_memory.adapters.erasing.request import Request
from vault_memory.core import reading
from vault_memory.core.erasing import MASK
from vault_memory.core.trailers import KEYS

_ID = re.compile(rb"(?<![0-9a-f])[0-9a-f]{%d,40}(?![0-9a-f])" % SHORTEST_ID)
_KEPT_IN_HEADERS = re.compile(rb"((?<=>) -?\d+ [+-]\d+$|^(?:object|type) .*$)", re.MULTILINE)
"""When somebody did something, and what a tag is of."""
_REF = rb"\brefs/[a-z]+/"
_DIGEST = f"{KEYS['turn']}: ".encode()
_MACHINE_WORD = re.compile(rb"^" + _DIGEST + rb"[0-9a-f]{8}$|" + _REF + b"|" + _ID.pattern, re.MULTILINE)
"""What a message names objects, turns and references by: a text that has the same signs by chance does not stand
there."""
_ENCODING = re.compile(rb"\nencoding ([^\n]+)")
_PUT_AWAY = re.compile(rb"\0(\d+)\0")
_IDS_BYTES = 82
"""Two ids at the beginning of a line of a log, with a blank behind each."""
_DOING = re.compile(rb"(?:[a-z-]+(?: \([a-z -]+\))?: )?")
"""What git was at, at the beginning of a message in a log: `commit (amend): `."""
_QUOTING = re.compile(
    rb"(?:Revert|Reapply) \"|[a-z]+! |[A-Za-z ]{1,30} on .{0,250}?: [0-9a-f]{7,40} |.{0,250}?\b[0-9a-f]{7,40} \(|"
    rb"[ \t]+|[*-] "
)
"""What git writes before a line of another commit's message: in one that reverts, mends, puts away, squashes or merges
it."""
_QUOTED = re.compile(rb"\"|, \d{4}-\d\d-\d\d\)|$")
"""What it writes behind."""


def named_in(words: Collection[str]) -> re.Pattern[bytes] | None:
    """A search for texts in which one of these words stands, and not as a part of another one."""
    each = (
        (rb"(?<![\w./-])" if word[:1].isalnum() else b"")
        + re.escape(word.encode())
        + (rb"(?![\w-]|\.\w)" if word[-1:].isalnum() else b"")
        for word in sorted(words)
    )
    return re.compile(b"|".join(each)) if words else None


class Messages:
    """The texts of a request are masked, and parts of them; of a message that has one of the named words, all goes.
    `former` is the map of the commits and tags that were made anew, and grows by `remember`."""

    def __init__(self, request: Request, former: dict[str, str]) -> None:
        self.former = former
        self._request = request
        self._texts = request.erasure()
        self._named_in = named_in(request.named)
        self._known: dict[bytes, set[bytes]] = {}
        self._gone_lines: set[bytes] = set()
        self._gone_subjects: set[bytes] = set()
        for old in former:
            self.know(old)

    def know(self, commit: str) -> None:
        """Hear of a commit or tag, which later messages may name."""
        self._known.setdefault(commit[:SHORTEST_ID].encode(), set()).add(commit.encode())

    def remember(self, old: str, new: str) -> None:
        """Hear what a commit or tag is now."""
        self.former[old] = new
        self.know(old)

    def masked(self, data: bytes) -> bytes:
        """Bytes without the texts."""
        data = self._texts.masked(data) if self._texts else data
        parts = self._request.parts_in_message(data) if self._request.parts else None
        return parts.masked(data) if parts else data

    def header(self, rest: bytes) -> bytes:
        """The rest of a header, or several, without the texts, but for what git itself needs of it."""
        pieces = _KEPT_IN_HEADERS.split(rest)
        return b"".join(piece if at % 2 else self.masked(piece) for at, piece in enumerate(pieces))

    def told(self, text: bytes) -> bytes:
        """Words without the texts; an id that holds a text by chance is none."""
        kept: list[bytes] = []

        def put_away(found: re.Match[bytes]) -> bytes:
            is_known = found[0].startswith((_DIGEST, b"refs/")) or bool(self._called(found[0]))
            if not is_known or self._texts is None or not self._texts.holds(found[0]):
                return found[0]
            kept.append(found[0])
            return b"\0%d\0" % (len(kept) - 1)

        words = text if b"\0" in text else _MACHINE_WORD.sub(put_away, text)
        masked = self.masked(words)
        return self.with_ids(_PUT_AWAY.sub(lambda found: kept[int(found[1])], masked) if kept else masked)

    def in_utf8(self, body: bytes) -> bytes:
        """A commit whose message has an encoding of its own in ours, if it holds a text in that. Names of people may be
        in UTF-8 there all the same."""
        head, between, message = body.partition(b"\n\n")
        if self._texts is None or not (said := _ENCODING.search(head)):
            return body
        try:
            told = message.decode(said[1].decode("ascii")).encode()
        except (LookupError, UnicodeError):
            return body
        return head.replace(said[0], b"", 1) + between + told if self._texts.holds(told) else body

    def is_named(self, message: bytes) -> bool:
        """Whether a message has one of the named words."""
        return self._named_in is not None and self._named_in.search(message) is not None

    def hide(self, message: bytes) -> None:
        """Hear a message of which nothing is left, before any other is asked for that may quote it."""
        rows = reading.lines(message.lstrip(b"\n"))
        subject = message.lstrip(b"\n").partition(b"\n\n")[0]
        subjects = {_plain(each) for each in (subject, *rows[:1])} - {b"", MASK}
        self._gone_subjects |= subjects
        self._gone_lines |= subjects | {_plain(each) for each in rows} - {b"", MASK}

    def message(self, text: bytes) -> bytes:
        """`told` of a message, without what it quotes of one that is gone; the mark alone where it has one of the named
        words."""
        if not self.is_named(text):
            return self.told(self._without_quotes(text))
        begin = len(text) - len(text.lstrip(b"\n"))
        return text[:begin] + MASK + text[len(text.rstrip(b"\n")) :]

    def _without_quotes(self, text: bytes) -> bytes:
        """A message in which the mark stands for each line that git has taken out of one that is gone. A first line
        that is merely the same is of this message: two commits may be called alike."""
        if not self._gone_lines:
            return text
        begin = len(text) - len(text.lstrip(b"\n"))
        rows = [*reading.lines(text[begin:], keep_ends=True)]
        return text[:begin] + b"".join(self._without_quote(row, is_subject=not at) for at, row in enumerate(rows))

    def _without_quote(self, row: bytes, *, is_subject: bool) -> bytes:
        line = row.rstrip(b"\r\n")
        if not is_subject and _plain(line) in self._gone_subjects:
            return MASK + row[len(line) :]
        at = 0
        while mark := _QUOTING.match(line, at):
            at = mark.end()
            for end in reversed([found.start() for found in _QUOTED.finditer(line, at)]):
                if _plain(line[at:end]) in self._gone_lines:
                    return row[:at] + MASK + row[end:]
        return row

    def log(self, row: bytes) -> bytes:
        """A line of the log of a reference: two ids, by whom and when, and a message."""
        facts, tab, message = row.partition(b"\t")
        ids, by_whom = facts[:_IDS_BYTES], facts[_IDS_BYTES:]
        doing = _DOING.match(message)
        begin = doing.end() if doing else 0
        if self.is_named(message):
            told = message[:begin] + MASK + b"\n"
        else:
            told = self.told(message[:begin] + self._without_quotes(message[begin:]))
        return self.with_ids(ids) + self.header(by_whom) + tab + told

    def with_ids(self, text: bytes) -> bytes:
        """Words in which former commits are called as they are now."""
        return _ID.sub(lambda found: self._now(found[0]), text)

    def _now(self, said: bytes) -> bytes:
        olds = self._called(said)
        return last_of(self.former, olds[0].decode())[: len(said)].encode() if len(olds) == 1 else said

    def _called(self, said: bytes) -> list[bytes]:
        return [each for each in self._known.get(said[:SHORTEST_ID], ()) if each.startswith(said)]


def _plain(line: bytes) -> bytes:
    """A line as git quotes it: on one line, with one blank for several."""
    return b" ".join(line.split())


def divided(commit: bytes) -> tuple[bytes, bytes]:
    """A commit as its headers and, with the line breaks before it, its message."""
    head = commit.partition(b"\n\n")[0].rstrip(b"\n")
    return head, commit[len(head) :]
