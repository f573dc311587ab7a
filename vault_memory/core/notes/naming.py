"""What a note is called, what it says that it is about, and what it points at: read of its front matter, its path,
and the marks in its text that Obsidian knows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote

from vault_memory.core.notes.note import Note
from vault_memory.core.text import tokens

MAX_KEY_CHARS = 400
"""A longer name is a paragraph, and nobody asks for it by the letter."""
MAX_ABOUT_CHARS = 2_000
"""So much of aliases, tags and description counts for every passage of a note; each alias is found by the letter."""

_MARKDOWN = ".md"
_CODE = re.compile(r"^ {0,3}(```|~~~).*?(?:^ {0,3}\1[^\n]*$|\Z)|`[^`\n]+`", re.MULTILINE | re.DOTALL)
_TAG = re.compile(r"(?<![^\s(（,，、。；;：:!！?？>*_])#((?![\d/]+(?![\w/-]))[\w-]+(?:/[\w-]+)*)")
_WIKILINK = re.compile(r"\[\[([^\[\]|#^\n]+)[^\[\]\n]*\]\]")
_LINK = re.compile(r"\]\(<?([^()<>:#\n]+?\.md)(?:#[^()<>\n]*)?>?\)")


def key(name: str) -> str:
    """A name as it is compared: folded as text is, its blanks as one, without `.md`. Empty for one that is too long."""
    folded = tokens.fold(name[: MAX_KEY_CHARS + 1]).encode("utf-8", "replace").decode("utf-8")
    found = " ".join(folded.split()).removesuffix(_MARKDOWN)
    return found if len(found) <= MAX_KEY_CHARS else ""


def tag(written: str) -> str:
    """A tag as it is compared: folded as text is, its blanks as one, without `#` before it and `/` behind."""
    return " ".join(tokens.fold(written).lstrip("# ").rstrip("/ ").split())


def aliases(meta: Mapping[str, Any]) -> tuple[str, ...]:
    """What else the front matter calls the note: its `aliases` or `alias`, a list or one name."""
    return tuple(name for word in ("aliases", "alias") for name in _texts(meta.get(word)))


def description(meta: Mapping[str, Any]) -> str:
    """The front matter's `description` or `summary`, on one line."""
    return next((text for word in ("description", "summary") for text in _texts(meta.get(word))), "")


def inline_tags(body: str) -> tuple[str, ...]:
    """The tags in a text, `#reading` or `#文學/小說`, without `#` and outside code."""
    return _each(_TAG, body) if "#" in body else ()


def links(source: str, body: str) -> tuple[str, ...]:
    """The keys of the notes that a text points at: of a wikilink its name or path, of a Markdown link its path from the
    root of the notes, as `source`, the note that holds it, sees it."""
    found = [key(name) for name in _each(_WIKILINK, body)] if "[[" in body else []
    if "](" in body:
        folder = PurePosixPath(source).parent
        found += [key(_resolved(folder, unquote(path))) for path in _each(_LINK, body)]
    return tuple(dict.fromkeys(filter(None, found)))


def own_names(source: str, meta: Mapping[str, Any]) -> tuple[str, ...]:
    """What somebody has called this note and no other: the title in its front matter, its file's name, its path."""
    path = PurePosixPath(source).with_suffix("")
    return (Note(meta).title, path.name, path.as_posix())


def head(source: str, kind: str, title: str, meta: Mapping[str, Any]) -> tuple[str, ...]:
    """The texts that count for every passage of a note: its title, the names of its folders and file, what else it is
    called, and what it says that it is about. The place of other kinds than `note` is the vault's: days and ids."""
    path = " ".join(PurePosixPath(source).with_suffix("").parts) if kind == "note" else ""
    about = [*aliases(meta), *Note(meta).tags, description(meta)]
    return (title, path, " ".join(about)[:MAX_ABOUT_CHARS])


def _texts(value: Any) -> Iterator[str]:
    values: Iterable[Any] = value if isinstance(value, (list, tuple)) else (value,)
    for each in values:
        if isinstance(each, (str, int, float)) and not isinstance(each, bool) and (text := " ".join(str(each).split())):
            yield text


def _each(pattern: re.Pattern[str], body: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(match[1].strip(" \\") for match in pattern.finditer(_CODE.sub(" ", body))))


def _resolved(folder: PurePosixPath, path: str) -> str:
    """A relative path from a folder, as a path from the root; `..` above the root is the root."""
    parts = list(folder.parts)
    for part in PurePosixPath(path).parts:
        if part == "..":
            parts = parts[:-1]
        elif part not in ("/", "."):
            parts.append(part)
    return "/".join(parts)
