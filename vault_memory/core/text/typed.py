"""What a person types into a search: words, "an exact phrase", and the beginning of a word (`honglou*`)."""

from __future__ import annotations

import re
from typing import NamedTuple

from vault_memory.core.text import tokens

MAX_PHRASES = MAX_PREFIXES = 8
MIN_PREFIX_CHARS = 2
"""Of one letter half of all words begin so."""

_QUOTED = re.compile(r'"([^"\n]+)"|“([^“”\n]+)”')
_STARRED = re.compile(r"(?<!\S)(\w+)\*(?!\S)")
_LATIN = "[a-z0-9]"


class Typed(NamedTuple):
    """A query as it was meant: all its words (of phrases, too), the phrases that a passage must hold as they stand
    (folded, blanks as one), and the beginnings of words, each as a term with a star."""

    text: str
    phrases: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()


def read(text: str) -> Typed:
    """Read a query. A quotation mark that is not closed is a sign like any other; a beginning of Chinese words is found
    anyway."""
    phrases = [normal(found) for match in _QUOTED.finditer(text) for found in match.groups() if found]
    words = _QUOTED.sub(lambda match: f" {match[1] or match[2]} ", text)
    prefixes = [tokens.fold(match[1]) for match in _STARRED.finditer(words)]
    return Typed(
        " ".join(_STARRED.sub(r"\1", words).split()),
        tuple(dict.fromkeys(filter(None, phrases)))[:MAX_PHRASES],
        tuple(
            f"{prefix}*"
            for prefix in dict.fromkeys(prefixes[:MAX_PREFIXES])
            if len(prefix) >= MIN_PREFIX_CHARS and not tokens.is_han_piece(prefix)
        ),
    )


def terms(text: str) -> frozenset[str]:
    """The terms that a query asks for, the beginnings of words with a star."""
    asked = read(text)
    return frozenset((*tokens.query_terms(asked.text).search_terms, *asked.prefixes))


def normal(text: str) -> str:
    """A text in which phrases are looked for: folded, its blanks as one."""
    return " ".join(tokens.fold(text).split())


def holds(phrase: str, text: str) -> bool:
    """Whether a phrase stands in a text, both `normal`: as whole words where it begins or ends with a Latin one."""
    if phrase not in text:
        return False
    before = rf"(?<!{_LATIN})" if re.match(_LATIN, phrase) else ""
    after = rf"(?!{_LATIN})" if re.match(_LATIN, phrase[-1]) else ""
    return re.search(before + re.escape(phrase) + after, text) is not None
