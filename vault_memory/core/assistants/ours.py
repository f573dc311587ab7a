"""What is ours in a file of an assistant's, and a file that is ours as a whole."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass

_MARK = re.compile(r"vault-memory wrote all above: ([0-9a-f]{16})")


@dataclass(frozen=True)
class Ours:
    """How what is ours in a text is known and taken out. All raise `UsageError` for a text that stays as it is.

    `holds`: whether there is anything. `parted(text, was)`: the text without it, and with what stood there in `was`,
    the text before ours came ("": there was no file); that text itself where nothing else has changed. `adds`: whether
    somebody has put something into ours that goes with it.
    """

    holds: Callable[[str], bool]
    parted: Callable[[str, str], str]
    adds: Callable[[str], bool]


def checksum(text: str) -> str:
    """By which a text that we have written is known again, whichever version wrote it."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def signed(text: str, comment: str) -> str:
    """A file that is ours as a whole: the text, and a last line that tells a later change of it. `comment` is the form
    of a comment there, with {} for its words."""
    return f"{text}{comment.format(f'vault-memory wrote all above: {checksum(text)}')}\n"


def _is_signed(text: str) -> bool:
    return bool(_MARK.search(text))


def _is_edited(text: str) -> bool:
    found = _MARK.search(text)
    above = text.rfind("\n", 0, found.start()) + 1 if found else 0
    return found is not None and (checksum(text[:above]) != found[1] or text.count("\n", found.end()) != 1)


WHOLE_FILE = Ours(_is_signed, lambda _, was: was, _is_edited)
"""Of a `signed` file."""
