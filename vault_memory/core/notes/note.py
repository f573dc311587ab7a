"""A Markdown note: its YAML front matter and body, and the conflict blocks in it, where two texts for the same lines
stand until a person has decided.

This is the only place where YAML is read. Anybody may have written it, so it is looked through event by event, which
takes little memory, before the library builds anything of it: 60,000 brackets end the whole process with a fault, and
500 bytes of aliases take gigabytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from itertools import islice, pairwise
from typing import Any

CONFLICT_OPEN = (
    "<<<<<<< 兩邊都改了這幾行：留下對的，再刪去三行記號"
    " · two texts for the same lines: keep what is right, delete the 3 marks"
)
CONFLICT_MIDDLE = "======="
CONFLICT_CLOSE = ">>>>>>> 另一邊到此為止 · end of the other text"
CONFLICT_PROBLEM = "conflict: "
"""How the problem of a file that holds a conflict block begins."""

MAX_FRONT_MATTER_CHARS = 400_000
"""Longer front matter is a mistake: a file that opens with a horizontal rule."""
MAX_YAML_DEPTH = 20
MAX_YAML_VALUES = 20_000
"""Keys and values together: 10,000 aliases are read in a third of a second."""
MAX_BROKEN_KEYS = 500
"""So many keys of broken front matter are read one by one."""
MAX_YAML_NUMBER_CHARS = 100
"""A longer number takes long to compute and cannot be shown."""

_YAML_CORE = "tag:yaml.org,2002:"
_TEXT_TAGS = ("!", f"{_YAML_CORE}str")
_NUMBER_TAGS = (f"{_YAML_CORE}int", f"{_YAML_CORE}float")


@dataclass(frozen=True)
class Note:
    """`meta` is the front matter, `body` all that follows it, beginning at line `body_line` (1-based) of the file."""

    meta: Mapping[str, Any] = field(default_factory=dict)
    body: str = ""
    body_line: int = 1
    problems: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The front matter's `title`, or empty."""
        value = self.meta.get("title")
        return str(value).strip() if isinstance(value, (str, int, float)) else ""

    @property
    def tags(self) -> tuple[str, ...]:
        """The front matter's `tags`, a list or words divided by commas or blanks, without `#`."""
        value = self.meta.get("tags") or ()
        if isinstance(value, str):
            value = value.replace(",", " ").split()
        if not isinstance(value, (list, tuple)):
            return ()
        return tuple(tag for item in value if isinstance(item, (str, int, float)) and (tag := str(item).lstrip("#")))


def parse(text: str) -> Note:
    """Split a note into front matter and body. Of broken front matter each key is read that can be read by itself, and
    `problems` has one line about it; the body is complete even then."""
    text = text.removeprefix("\ufeff")
    block = split_front_matter(text)
    if block is None:
        return Note(body=text)
    yaml, body = block
    body_line = text[: len(text) - len(body)].count("\n") + 1
    try:
        return Note(load_yaml(yaml), body, body_line)
    except ValueError as error:
        meta, lost = _read_by_keys(yaml)
        how = f"; read without {', '.join(lost)}" if meta and lost else "; read all the same" if meta else ""
        return Note(meta, body, body_line, (f"front matter (lines 1-{body_line - 1}) is not valid YAML: {error}{how}",))


_KEY_LINE = re.compile(r"^(?=[^\s#-])", re.MULTILINE)
"""Where the lines of a key begin, those of which its value goes on being indented, items or comments."""
_NO_PLAIN_TEXT = re.compile(r"^( *(?:- +|[^\s:#'\"-][^:\n]*: +))([@`%].*|[^\s'\"\[{|>#&*!].*:(?: .*)?)$", re.MULTILINE)
"""A value on its line that YAML takes for no text although a person means one: `@name`, `Part 2: the end`."""
_MAX_SHOWN_KEYS, _MAX_SHOWN_KEY_CHARS = 5, 30


def _read_by_keys(yaml: str) -> tuple[dict[str, Any], list[str]]:
    """What can be read of broken YAML, key by key, and the first names of the keys that cannot."""
    meta: dict[str, Any] = {}
    lost: list[str] = []
    starts = [match.start() for match in islice(_KEY_LINE.finditer(yaml), MAX_BROKEN_KEYS + 1)]
    for start, end in pairwise([*starts, len(yaml)][: MAX_BROKEN_KEYS + 1]):
        lines = yaml[start:end]
        for read_as in (lines, _NO_PLAIN_TEXT.sub(_quoted, lines.replace("\t", "  "))):
            try:
                meta |= load_yaml(read_as)
                break
            except ValueError:
                continue
        else:
            first = lines.split("\n", 1)[0].strip()
            name = first.partition(":")[0].strip() or first
            lost.append(name if len(name) <= _MAX_SHOWN_KEY_CHARS else f"{name[:_MAX_SHOWN_KEY_CHARS]}…")
    if len(starts) > MAX_BROKEN_KEYS:
        lost.append(f"all behind the first {MAX_BROKEN_KEYS} keys")
    more = len(lost) - _MAX_SHOWN_KEYS
    return meta, [*lost[:_MAX_SHOWN_KEYS], *([f"{more} more"] if more > 0 else [])]


def _quoted(found: re.Match[str]) -> str:
    value = found[2].rstrip().replace("'", "''")
    return f"{found[1]}'{value}'"


def render(meta: Mapping[str, Any], body: str) -> str:
    """A note's text: front matter (left out when `meta` is empty), then the body as it stands. Inverse of `parse`."""
    if not meta:
        return body
    import yaml

    # Not python-frontmatter's `export`: it strips what Python takes for a blank, and with it the end of a last value.
    block = yaml.safe_dump(dict(meta), allow_unicode=True, sort_keys=False, default_flow_style=False, width=10_000)
    return f"---\n{block}---\n{body}"


def with_meta(text: str, changes: Mapping[str, Any]) -> str:
    """The note with other values of some keys (None: without that key). Every other line stays as it stands, comments
    too, unless its YAML is written in a way that only a whole new front matter can replace. Raises `ValueError` with
    the reason for broken front matter.
    """
    block = split_front_matter(text.removeprefix("\ufeff"))
    if block is None:
        return render({key: value for key, value in changes.items() if value is not None}, text)
    yaml, body = block
    meta = load_yaml(yaml)
    wanted = {**meta, **changes}
    wanted = {key: value for key, value in wanted.items() if key not in changes or value is not None}
    edited = yaml
    for key, value in changes.items():
        edited = _with_key(edited, key, value)
    try:
        is_as_wanted = load_yaml(edited) == wanted
    except ValueError:
        is_as_wanted = False
    if not is_as_wanted:
        return render(wanted, body)
    start = text.index("\n") + 1
    return text[:start] + edited + text[start + len(yaml) :]


def _with_key(yaml: str, key: str, value: Any) -> str:
    """A YAML mapping with another value of a key, whose lines go on as long as they are indented or list items."""
    import yaml as library

    end = "\r\n" if "\r\n" in yaml else "\n"
    new = "" if value is None else library.safe_dump({key: value}, allow_unicode=True, width=10_000).replace("\n", end)
    found = re.search(rf"^{re.escape(key)}[ \t]*:(?=\s)[^\n]*\n(?:[ \t-][^\n]*\n)*", yaml, re.MULTILINE)
    if found:
        return yaml[: found.start()] + new + yaml[found.end() :]
    return yaml + ("" if not yaml or yaml.endswith("\n") else end) + new


def split_front_matter(text: str) -> tuple[str, str] | None:
    """(YAML, body) when the first line is `---` and a later line, within `MAX_FRONT_MATTER_CHARS`, closes it."""
    first, newline, rest = text.partition("\n")
    if first.rstrip() != "---" or not newline:
        return None
    found = rest[:MAX_FRONT_MATTER_CHARS].split("\n")
    if len(rest) > MAX_FRONT_MATTER_CHARS:
        found.pop()  # the end of this line is not in sight
    position = 0
    for line in found:
        position += len(line) + 1
        if line.rstrip() in ("---", "..."):
            return rest[: position - len(line) - 1], rest[position:]
    return None


def has_too_long_front_matter(text: str) -> bool:
    """Whether a text begins like front matter that is closed only beyond `MAX_FRONT_MATTER_CHARS`."""
    text = text.removeprefix("\ufeff")
    first, _, rest = text.partition("\n")
    is_open = first.rstrip() == "---" and split_front_matter(text) is None
    return is_open and any(line.rstrip() in ("---", "...") for line in rest.split("\n"))


def load_yaml(yaml: str) -> dict[str, Any]:
    """The mapping of a YAML text: texts, numbers, truth values, lists and mappings; a date is a text (`2026-01-30`).

    Raises `ValueError` with the reason for anything else, and for more than the bounds above; aliases and tags are
    refused.
    """
    from frontmatter.default_handlers import YAMLHandler
    from yaml import MarkedYAMLError, YAMLError

    try:
        _check_yaml(yaml)
        values = YAMLHandler().load(yaml)
    except MarkedYAMLError as error:
        at = f" (its line {error.problem_mark.line + 1})" if error.problem_mark else ""
        raise ValueError(f"{error.problem or error}{at}"[:200]) from error
    except (YAMLError, ValueError, TypeError) as error:  # a date such as 2026-13-45 raises ValueError
        raise ValueError(" ".join(str(error).split())[:200]) from error
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise ValueError("it is not a list of `name: value` lines")
    return {str(key): _plain(value) for key, value in values.items()}


def _check_yaml(yaml: str) -> None:
    """Raise `ValueError` for what must not be built, `YAMLError` for what is not YAML. Reads no further than needed."""
    from frontmatter.default_handlers import SafeLoader
    from yaml.events import AliasEvent, CollectionEndEvent, CollectionStartEvent, NodeEvent, ScalarEvent
    from yaml.nodes import ScalarNode

    loader = SafeLoader(yaml)
    depth = count = 0
    try:
        while loader.check_event():
            event = loader.get_event()
            count += isinstance(event, NodeEvent)
            depth += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
            if isinstance(event, AliasEvent):
                raise ValueError(f"it has an alias (*{str(event.anchor)[:40]}), which is not read: write the value out")
            if depth > MAX_YAML_DEPTH or count > MAX_YAML_VALUES:
                raise ValueError(f"it has more than {MAX_YAML_VALUES:,} values or {MAX_YAML_DEPTH} levels")
            if (tag := getattr(event, "tag", None)) is not None and tag not in _TEXT_TAGS:
                raise ValueError(f"it has a tag ({tag[:40]}), which is not read")
            if isinstance(event, ScalarEvent) and len(event.value) > MAX_YAML_NUMBER_CHARS and tag is None:
                kind = loader.resolve(ScalarNode, event.value, event.implicit)  # type: ignore[no-untyped-call]
                if kind in _NUMBER_TAGS:
                    raise ValueError(f"it has a number of more than {MAX_YAML_NUMBER_CHARS} characters")
    finally:
        loader.dispose()


def _plain(value: Any) -> Any:
    """The value without Python's own types."""
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return str(value) if isinstance(value, date) else value


class Properties:
    """The properties of a note, each read as what it should be: what could not be understood counts as absent, and
    `problems` says so in words, after those that the caller knows of."""

    def __init__(self, meta: Mapping[str, Any], problems: Sequence[str] = ()) -> None:
        self.problems = list(problems)
        self._meta = meta

    def value(self, key: str, understood: Callable[[Any], Any], default: Any, wanted: str) -> Any:
        """A property as `understood` makes it of what is stored (None: it cannot), in words what is `wanted`."""
        stored = self._meta.get(key)
        if stored is None or stored == "":
            return default
        found = understood(stored)
        if found is None:
            self.problems.append(f"{key}: {str(stored)[:40]!r} is not {wanted}")
        return default if found is None else found


def moment(stored: Any) -> datetime | None:
    """The time in a property, None if it is none; without an offset it is of this system's zone, as a person writes
    it."""
    try:
        found = datetime.fromisoformat(str(stored))
        return found if found.tzinfo else found.astimezone()
    except (ValueError, OverflowError, OSError):
        return None


def conflict_block(ours: list[str], theirs: list[str]) -> list[str]:
    """The lines of a conflict block; each line ends with its line break."""
    return [CONFLICT_OPEN + "\n", *ours, CONFLICT_MIDDLE + "\n", *theirs, CONFLICT_CLOSE + "\n"]


_OPEN_MARK, _CLOSE_MARK = re.compile(r"<{7}(?: .*)?"), re.compile(r">{7}(?: .*)?")
_MIDDLE_MARK = re.compile(r"={7}|\|{7}(?: .*)?")
_FENCE = re.compile(r" {0,3}(?:```|~~~)")


def conflicts_in(text: str) -> list[tuple[int, int]]:
    """The conflict blocks of a text, ours and git's, as their first and last line (1-based, inclusive). In fenced code
    only ours count: what somebody writes about git is none."""
    return [(marks[0], marks[-1]) for marks in _blocks(text)]


def conflict_marks(text: str) -> set[int]:
    """The lines (1-based) that are marks of the conflict blocks of a text, and no text of anybody."""
    return {line for marks in _blocks(text) for line in marks}


def _blocks(text: str) -> list[list[int]]:
    """The marks of each conflict block, as lines (1-based)."""
    if "<<<<<<<" not in text:
        return []
    found: list[list[int]] = []
    marks: list[int] = []
    is_code = False
    for number, line in enumerate(text.split("\n"), 1):
        mark = line.rstrip()
        is_code ^= _FENCE.match(mark) is not None
        if not marks:
            if mark == CONFLICT_OPEN or (not is_code and _OPEN_MARK.fullmatch(mark)):
                marks = [number]
        elif _CLOSE_MARK.fullmatch(mark):
            found.append([*marks, number])
            marks = []
        elif _MIDDLE_MARK.fullmatch(mark):
            marks.append(number)
    return found


_GITS_MARK = re.compile(rb"^(?:<{7}|>{7})(?: .*)?\r?$", re.MULTILINE)


def git_conflict_added(before: bytes | None, after: bytes | None) -> int:
    """The first line (1-based) of `after` that is a mark of a conflict of git's, and is not in `before`; 0 for none."""
    known = set(_GITS_MARK.findall(before or b"")) | {CONFLICT_OPEN.encode(), CONFLICT_CLOSE.encode()}
    marks = (found for found in _GITS_MARK.finditer(after or b"") if found[0] not in known)
    return next(((after or b"").count(b"\n", 0, found.start()) + 1 for found in marks), 0)


def conflict_problems(text: str) -> list[str]:
    """A line for each conflict block, for a person."""
    return [
        f"{CONFLICT_PROBLEM}lines {first}-{last} hold two texts: keep what is right and delete the three marks"
        for first, last in conflicts_in(text)
    ]
