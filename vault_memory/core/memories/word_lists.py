"""The words of the everyday categories, as they stand in `categories/*.toml`, and a person's own beside them.

A table for each category has three texts:

- `names`: how the category is called, between commas.
- `asked`: other words that ask for it, mostly verbs (喝, drive). Several categories may have one.
- `members`: between commas, each with all its spellings: Chinese words between blanks, English ones between slashes
  (`珍珠奶茶 珍奶 bubble tea/boba`). A member may stand in several categories.

`includes` lists categories whose members are members, too. The settings have the same texts without it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from typing import Any

from vault_memory.core.text import fold, tokens

MAX_EXTRA_CATEGORIES, MAX_EXTRA_WORDS, MAX_WORD_CHARS = 100, 5_000, 60
"""How much a person may add: every process that recalls reads it."""

Tables = Mapping[str, Mapping[str, Any]]
_TEXTS = ("names", "asked", "members")
_FILES = ("eating", "nature", "leisure", "working", "living")


def tables_with(extra: Mapping[str, Mapping[str, str]]) -> Tables:
    """The shipped tables, folded, with a person's texts added to them."""
    tables = dict(_shipped())
    for name, texts in extra.items():
        mine = dict(tables.get(name, {}))
        for key, text in texts.items():
            mine[key] = f"{mine.get(key, '')}, {tokens.fold(text)}"
        tables[name] = mine
    return tables


def ordinary_words() -> Mapping[str, str]:
    """The texts of `ordinary.toml`, folded."""
    return _file("ordinary")


def parts(text: str) -> Iterator[str]:
    """What stands between commas, without the blanks around it."""
    return filter(None, map(str.strip, text.split(",")))


def spellings(member: str) -> tuple[str, ...]:
    """The words of one member: each Chinese word, and what stands between slashes or Chinese words."""
    words: list[str] = []
    is_phrase = False
    for word in member.split():
        if not word.isascii():
            words.append(word)
            is_phrase = False
            continue
        first, *others = word.split("/")
        if is_phrase:
            words[-1] += f" {first}"
        else:
            words.append(first)
        words += others
        is_phrase = True
    return tuple(words)


def problem_with(extra: Mapping[str, Any]) -> str | None:
    """What is wrong with a person's `[categories]`, None for valid ones. Anybody may have written them."""
    shipped = _shipped()
    if len(extra) > MAX_EXTRA_CATEGORIES:
        return f"has {len(extra):,} categories; {MAX_EXTRA_CATEGORIES} are the most"
    count = 0
    for name, table in extra.items():
        shown = repr(name[:40])
        if not isinstance(table, Mapping) or not all(isinstance(text, str) for text in table.values()):
            return (
                f'of {shown} must be a table of texts: {{ names = "board games", members = "Catan, 卡坦島 Settlers" }}'
            )
        if unknown := [key for key in table if key not in _TEXTS]:
            return f"of {shown} has {', '.join(_TEXTS)}, not {unknown[0][:40]!r}"
        if name not in shipped and not all(list(parts(table.get(key, ""))) for key in ("names", "members")):
            return f"of {shown} is new and needs names and members; the shipped ones are {', '.join(sorted(shipped))}"
        words = [word for text in table.values() for part in parts(text) for word in (part, *spellings(part))]
        if long := [word for word in words if len(word) > MAX_WORD_CHARS]:
            return f"of {shown} has a word of {len(long[0])} characters; {MAX_WORD_CHARS} are the most"
        count += len(words)
    return f"has {count:,} words; {MAX_EXTRA_WORDS:,} are the most" if count > MAX_EXTRA_WORDS else None


@cache
def _shipped() -> Tables:
    tables: dict[str, Mapping[str, Any]] = {}
    for name in _FILES:
        tables |= _file(name)
    return tables


def _file(name: str) -> dict[str, Any]:
    path = resources.files(__package__) / "categories" / f"{name}.toml"
    return tomllib.loads(fold(path.read_text(encoding="utf-8")))
