"""A request's JSON without the bulk of its images and files, so that a large request is read in little memory.

A picture of 30 MB is one run of base64 in a string. Each long run is replaced by its digest; what was read in the short
form is put back into the whole one.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

MIN_RUN_BYTES = 8_192
ESCAPE_BYTES = 8
"""A run may begin with the rest of an escape such as `\\u001f`: so much of it stays."""
MAX_READ_BYTES = 2_000_000
"""JSON is read up to this size: some half a million tokens. Reading takes up to 20 times as much memory."""
MAX_VALUES = 100_000
"""JSON with more texts, members and elements takes too much memory when it is parsed: each may take 100 bytes."""
_RUN_BYTES = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=_-"
_RUN = re.compile(rb"[A-Za-z0-9+/=_-]+")
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)', re.DOTALL)  # also one that never ends: linear
_STRUCTURE = b",[{"
_MARK = re.compile(r"run-[0-9a-f]{64}")


@dataclass(frozen=True)
class Run:
    """A long run: where it stands in the whole text (bytes), and the mark that stands for it in the short one."""

    start: int
    end: int
    mark: bytes


@dataclass(frozen=True)
class Shortened:
    """The short form of a request's JSON, and the runs that were replaced, in order."""

    short: bytes
    runs: tuple[Run, ...] = ()

    @property
    def is_readable(self) -> bool:
        """Whether the short form may be parsed."""
        return is_readable(self.short)

    @property
    def text(self) -> str:
        """The short form as text. Raises `UnicodeDecodeError`."""
        return self.short.decode()

    def restored(self, text: str, whole: bytes) -> str:
        """A text that was read in the short form, as it is in the `whole` one."""
        runs = {run.mark.decode(): run for run in self.runs}

        def whole_run(found: re.Match[str]) -> str:
            run = runs.get(found[0])
            return whole[run.start : run.end].decode() if run else found[0]

        return _MARK.sub(whole_run, text) if runs else text

    def position(self, at: int) -> int:
        """The position (bytes) in the whole JSON of what stands at `at` in the short one, outside of the marks."""
        for run in self.runs:
            if run.start >= at:  # `at` is already counted in the whole text up to here
                break
            at += run.end - run.start - len(run.mark)
        return at

    def with_all(self, whole: bytes, insertions: Iterable[tuple[int, str]]) -> bytes:
        """The `whole` JSON with insertions: (position in `text`, outside of the marks; what is put in there)."""
        pieces: list[bytes | memoryview] = []
        view, text, end, chars, at = memoryview(whole), self.text, 0, 0, 0
        for place, inserted in sorted(insertions, key=lambda each: each[0]):
            at += len(text[chars:place].encode())
            chars = place
            pieces += (view[end : self.position(at)], inserted.encode())
            end = self.position(at)
        return b"".join((*pieces, view[end:])) if pieces else whole


def is_readable(data: bytes) -> bool:
    """Whether JSON may be parsed: it is not too large and has not too many values."""
    return len(data) <= MAX_READ_BYTES and not has_more_values(data, MAX_VALUES)


def shorten(whole: bytes, key: bytes = b"") -> Shortened:
    """The short form of a request's JSON. With a secret `key` (up to 64 bytes) nobody who sends a text can write the
    mark of a run, which `restored` would replace by the whole run each time."""
    pieces: list[bytes] = []
    runs: list[Run] = []
    end = 0
    for start, run_end in _long_runs(whole):
        mark = b"run-" + hashlib.blake2b(memoryview(whole)[start:run_end], key=key, digest_size=32).hexdigest().encode()
        pieces += (whole[end:start], mark)
        end = run_end
        runs.append(Run(start, end, mark))
    return Shortened(b"".join([*pieces, whole[end:]]), tuple(runs)) if runs else Shortened(whole)


def _long_runs(whole: bytes) -> Iterator[tuple[int, int]]:
    """(start, end) of each long run. Looks at one byte of each half a run's length, and further only inside a run."""
    step = MIN_RUN_BYTES // 2
    at = step - 1
    while at < len(whole):
        if found := _RUN.match(whole, at):
            before = whole[max(0, at - step) : at]
            start = at - (len(before) - len(before.rstrip(_RUN_BYTES)))
            if found.end() - start >= MIN_RUN_BYTES:
                yield start + ESCAPE_BYTES, found.end()
                at = found.end()
        at += step


def has_more_values(text: bytes, limit: int) -> bool:
    """Whether a JSON text has more texts, members and elements than `limit`. It is not parsed: each value takes up to
    100 bytes of memory then, and the check of each takes microseconds."""
    if _count(text) <= limit:
        return False
    count = end = 0
    for string in _STRING.finditer(text):
        count += 1 + _count(text[end : string.start()])
        end = string.end()
        if count > limit:
            return True
    return count + _count(text[end:]) > limit


def _count(text: bytes) -> int:
    """How many members and elements the JSON has at most."""
    return len(text) - len(text.translate(None, _STRUCTURE))
