"""Reading and showing what others wrote: where its lines end, JSON and TOML that cannot exhaust the reader, and
control characters made visible, which a terminal or a model would obey.

A line ends at `\\n`, or at `\\r\\n`, which counts as one. `str.splitlines` also ends lines at ten other characters.
JSON leaves some of them, such as U+2028, as they are inside a text: a record would be torn apart.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from typing import Any, AnyStr

from vault_memory.errors import ForeignFile

MAX_NESTING = 100
"""Lists and objects inside each other; more than any record of ours has, and far below Python's own limit."""
MAX_TOML_CHARS = 1_000_000
MAX_TOML_NESTING = 20
MAX_KEY_PARTS = 20
"""Parts of a dotted key of TOML: tomllib's time and memory grow with their square."""


def check_utf_8(name: object, data: bytes) -> None:
    """Raise `ForeignFile` for a file to which no text may be added (`not_utf_8`): it would tear the file."""
    if problem := not_utf_8(data):
        raise ForeignFile(f"{name} {problem}, and then it is written to")


def not_utf_8(data: bytes) -> str:
    """Why a file is no text in UTF-8, and the next step; "" for one that is, or that has a few bytes of another
    encoding, which stay as they are."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "is in UTF-16 or UTF-32: save it in UTF-8"
    if b"\0" in data:
        return "holds NUL bytes, which no text has (it is damaged, or in UTF-16): take them out, or save it in UTF-8"
    return ""


def lines(text: AnyStr, *, keep_ends: bool = False) -> list[AnyStr]:
    """The lines of a text or of bytes, in order; the line break at the end of the text begins no further line."""
    if isinstance(text, str):
        return _lines(text, "\n", "\r", keep_ends)
    return _lines(text, b"\n", b"\r", keep_ends)


def _lines(text: AnyStr, line_feed: AnyStr, carriage_return: AnyStr, keep_ends: bool) -> list[AnyStr]:
    found = text.split(line_feed)
    last = found.pop()
    if keep_ends:
        found = [line + line_feed for line in found]
    elif carriage_return in text:
        found = [line.removesuffix(carriage_return) for line in found]
    if last:
        found.append(last)
    return found


def json_value(text: str | bytes) -> Any:
    """The value of a JSON text. Raises `ValueError` for what is not JSON in UTF-8, and for more nesting than
    `MAX_NESTING`.

    A number that no float can hold (`1e999`), and `NaN`, which is no JSON, become texts.
    """
    if isinstance(text, bytes):  # json.loads would take other encodings, and halves of surrogate pairs
        text = text.decode("utf-8-sig")
    try:
        value = json.loads(text, parse_float=_number, parse_constant=str)
    except RecursionError:
        raise _too_deep(MAX_NESTING) from None
    if "\\ud" in text.lower():
        value = without_surrogates(value)
    if text.count("[") + text.count("{") > MAX_NESTING and _is_deep(value):
        raise _too_deep(MAX_NESTING)
    return value


def _number(text: str) -> float | str:
    value = float(text)
    return value if math.isfinite(value) else text


def without_surrogates(value: Any) -> Any:
    """A value of JSON with a replacement character for each half of a pair (`\\ud800`), which nothing can encode."""
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, dict):
        return {without_surrogates(key): without_surrogates(inner) for key, inner in value.items()}
    return [without_surrogates(inner) for inner in value] if isinstance(value, list) else value


_LINE_ENDS = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_OF_TERMINALS = re.compile(
    "\x1b\\[[0-?]*[ -/]*[@-~]|\x1b\\][^\x07\x1b\n]*(?:\x07|\x1b\\\\)"
    "|[\x00-\x08\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
)


def plain_text(text: str) -> str:
    """The text as a record keeps it: every line ends with `\\n`, no half of a pair, and nothing that a terminal or a
    reader would obey: no control characters but tabs, none of a terminal's commands (`\\x1b[31m`), nothing that turns
    the direction of what follows. Without blanks around it; idempotent."""
    found = _LINE_ENDS.sub("\n", str(without_surrogates(text)))
    while (plain := _OF_TERMINALS.sub("", found)) != found:
        found = plain
    return found.strip()


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_NESTING):
        parts = (each.values() if isinstance(each, dict) else each for each in level)
        level = [inner for part in parts for inner in part if isinstance(inner, (dict, list))]
        if not level:
            return False
    return True


# A text that does not end is taken as far as it goes, and tomllib refuses it: to begin again at each of its quotes
# would take the square of its length.
TOML_TEXT = re.compile(
    r'"""(?>[^"\\]+|\\.|"(?!""))*+(?:"{3,5})?+|\'\'\'(?>[^\']+|\'(?!\'\'))*+(?:\'{3,5})?+'
    r'|"(?>[^"\\\n]+|\\[^\n])*+"?+|\'[^\'\n]*+\'?+|#[^\n]*+',
    re.DOTALL,
)
_TOML_MARK = re.compile(r"[\[\]{}]")


def toml_table(text: str) -> dict[str, Any]:
    """The table of a TOML text. Raises `ValueError` for what is not TOML, too long, too deep or has endless keys."""
    if len(text) > MAX_TOML_CHARS:
        raise ValueError(f"it is longer than {MAX_TOML_CHARS:,} characters")
    bare = TOML_TEXT.sub('""', text)
    depth = 0
    for mark in _TOML_MARK.findall(bare):
        depth += 1 if mark in "[{" else -1
        if depth > MAX_TOML_NESTING:
            raise _too_deep(MAX_TOML_NESTING)
    if any(part.count(".") >= MAX_KEY_PARTS for part in re.split(r"[=,\n\[\]{}]", bare)):
        raise ValueError(f"a key has more than {MAX_KEY_PARTS} parts")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise _too_deep(MAX_TOML_NESTING) from None


def _too_deep(limit: int) -> ValueError:
    return ValueError(f"it is nested more than {limit} levels deep")


_DIRECTIONS = [0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
_OBEYED = [*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029, *_DIRECTIONS]
"""C0, DEL, C1, what divides lines for some programs, and what marks, reorders or embeds text in another direction."""


def _visible(code: int) -> str:
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


_VISIBLE = {code: _visible(code) for code in _OBEYED if chr(code) not in "\n\t"}
_OBEYED_CHAR = re.compile(f"[{''.join(re.escape(chr(code)) for code in _VISIBLE)}]")
_IN_JSON = {code: f"\\u{code:04x}" for code in _OBEYED if code >= 0x7F}


def show_controls(text: str) -> str:
    """The text with control characters shown: `\\x1b` as `␛`, `\\x9b` as `\\x9b` in four letters. `\\n`, `\\t` stay."""
    return text.translate(_VISIBLE) if _OBEYED_CHAR.search(text) else text  # to look first takes a fifth of the time


def show_in_line(text: str) -> str:
    """`show_controls` for what is one line, such as a message with a file's name: a `\\n` in it begins no other."""
    return show_controls(text).replace("\n", _visible(0x0A))


def escape_controls_in_json(text: str) -> str:
    """JSON that says the same, with those control characters escaped too which JSON allows as they are."""
    return text.translate(_IN_JSON)
