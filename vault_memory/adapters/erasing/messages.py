"""Words without the texts: messages of commits, headers, and lines of logs. Former commits that they name are called as
they are now."""

from __future__ import annotations

import re
from collections.abc import Collection

from vault_memory.adapters.erasing.former import SHORTEST_ID, last_of
from vault_memory.core.erasing import MASK, Erasure
from vault_memory.core.trailers import KEYS

_ID = re.compile(rb"(?<![0-9a-f])[0-9a-f]{%d,40}(?![0-9a-f])" % SHORTEST_ID)
_KEPT_IN_HEADERS = re.compile(rb"((?<=>) -?\d+ [+-]\d+$|^(?:object|type) .*$)", re.MULTILINE)
"""When somebody did something, and what a tag is of."""
_REF = rb"\brefs/[a-z]+/"
_DIGEST = f"{KEYS['turn']}: ".encode()
_MACHINE_WORD = re.compile(rb"^" + _DIGEST + rb"[0-9a-f]{8}$|" + _REF + b"|" + _ID.pattern, re.MULTILINE)
"""What a message names objects, turns and references by: a text that has the same signs by chance does not stand
there."""
_PUT_AWAY = re.compile(rb"\0(\d+)\0")
_IDS_BYTES = 82
"""Two ids at the beginning of a line of a log, with a blank behind each."""


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
    """`texts` are masked; of a message that has one of the `named` words, all goes. `former` is the map of the commits
    and tags that were made anew, and grows by `remember`."""

    def __init__(self, texts: Erasure | None, named: Collection[str], former: dict[str, str]) -> None:
        self.former = former
        self._texts = texts
        self._named_in = named_in(named)
        self._known: dict[bytes, set[bytes]] = {}
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
        return self._texts.masked(data) if self._texts else data

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

    def message(self, text: bytes) -> bytes:
        """`told` of a message; the mark alone where it has one of the named words."""
        if self._named_in is None or not self._named_in.search(text):
            return self.told(text)
        begin = len(text) - len(text.lstrip(b"\n"))
        return text[:begin] + MASK + text[len(text.rstrip(b"\n")) :]

    def log(self, row: bytes) -> bytes:
        """A line of the log of a reference: two ids, by whom and when, and a message."""
        facts, tab, message = row.partition(b"\t")
        ids, by_whom = facts[:_IDS_BYTES], facts[_IDS_BYTES:]
        return self.with_ids(ids) + self.header(by_whom) + tab + self.message(message)

    def with_ids(self, text: bytes) -> bytes:
        """Words in which former commits are called as they are now."""
        return _ID.sub(lambda found: self._now(found[0]), text)

    def _now(self, said: bytes) -> bytes:
        olds = self._called(said)
        return last_of(self.former, olds[0].decode())[: len(said)].encode() if len(olds) == 1 else said

    def _called(self, said: bytes) -> list[bytes]:
        return [each for each in self._known.get(said[:SHORTEST_ID], ()) if each.startswith(said)]
