"""Secrets in tables, in a column that a name heads: Markdown tables, and lines whose cells are cut by commas."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Sequence

from vault_memory.core.privacy import values
from vault_memory.core.privacy.named import ACCOUNT, ALONE, KINDS, Name
from vault_memory.core.privacy.values import Said
from vault_memory.core.text import fold, lazily

MAX_RULER_CHARS = 20_000
RULER = lazily(r"^[ \t>]{0,20}[|+]?[ \t]{0,99}:?-{1,100}:?[ \t]{0,99}[|+][ \t:|+\-]{0,19000}$", re.MULTILINE)
"""The line below the head of a table, as Markdown, Org and databases draw it: |-|:-:|, |---+---|, +---+---+."""
HEADER = lazily(
    r"(?:\A|(?<=[\n>])|(?<=: ))[ >+#]{0,4}"
    r"[\"']?[^\W\d][\w .\-/]{0,30}[\"']?(?P<by>[,;\t]) ?[\"']?[^\W\d][\w .\-/]{0,30}[\"']?"
    r"(?:(?P=by) ?[\"']?[^\W\d][\w .\-/]{0,30}[\"']?){0,20}\n"
)
"""The first line of cells that are cut by commas, semicolons or tabs; words with a colon may stand before it."""
INSERT = lazily(
    r"(?:INSERT|insert|REPLACE|replace) (?:INTO |into )?[\w.`\"\[\]]{1,80}\s{0,4}\((?P<columns>[^()]{1,600})\)"
    r"\s{0,9}(?:VALUES|values)\s{0,9}(?=\()"
)
"""SQL that inserts rows: INSERT INTO users (name, password) VALUES."""
_Spans = Generator[tuple[int, int, str], None, int]
"""(start, end, kind) of each secret; in the end, where what was read ends: no other table begins above it, so that the
time is linear in the length of any text."""


def in_table(text: str, ruler: re.Match[str], names: Sequence[Name]) -> Iterator[tuple[int, int, str]]:
    """(start, end, kind) of each secret in the Markdown table of this ruler."""
    above = text.rfind("\n", 0, max(0, ruler.start() - 1)) + 1
    yield from _below(text, ruler.end() + 1, "|", *_heads(text[above : ruler.start()], "|", names))


def in_cells(text: str, header: re.Match[str], names: Sequence[Name]) -> _Spans:
    """(start, end, kind) of each secret in the lines below a header; a header has no such line above it."""
    by = header["by"]
    start = text.rfind("\n", max(0, header.start() - 200), header.start()) + 1
    if by not in text[text.rfind("\n", max(0, start - 200), max(0, start - 1)) + 1 : start]:
        return (yield from _below(text, header.end(), by, *_heads(header[0], by, names)))
    return header.end()


_ROW = lazily(r"\s{0,9},?\s{0,9}\((?P<cells>(?:'(?:[^'\\\n]|\\.|''){0,300}'|[^'()\n]){1,300}\))")
_CELL = lazily(r"\s{0,9}(?:[NE]?'(?P<string>(?:[^'\\\n]|\\.|''){0,300})'|[^',]{0,300})[^',]{0,40}[,)]")


def in_insert(insert: re.Match[str], names: Sequence[Name]) -> _Spans:
    """(start, end, kind) of each secret in the rows of this SQL."""
    heads = [_heading(cell.strip(' `"[]'), names) for cell in fold(insert["columns"]).split(",")]
    text, start = insert.string, insert.end()
    while any(heads) and (row := _ROW.match(text, start)):
        at, start = row.start("cells"), row.end()
        for name in heads:
            cell = _CELL.match(text, at, start)
            if not cell:
                break
            at = cell.end()
            if name and cell["string"] and values.is_secret(name.kind, Said(cell["string"], "pair", True, "")):
                yield *cell.span("string"), KINDS.get(name.kind, name.kind)
    return start


def _heads(line: str, by: str, names: Sequence[Name]) -> tuple[list[Name | None], str]:
    """What each column holds, as far as a name says it, and how the values below are written (`Said.how`)."""
    cells = [cell.strip(" *_`>+#\n\"'") for cell in fold(line).split(by)]
    heads = [_heading(cell, names) for cell in cells]
    if by != "|":
        heads = [name if name and cell.endswith(name.text) else None for cell, name in zip(cells, heads, strict=True)]
    return heads, "account" if any(map(_is_of_accounts, cells)) else "cell" if by == "|" else "joined"


def _is_of_accounts(cell: str) -> bool:
    """Whether a heading says that accounts are below it, also with its last word: login_username."""
    return cell in _ACCOUNTS or cell.replace("_", " ").rpartition(" ")[2] in _ACCOUNTS


def _heading(cell: str, names: Sequence[Name]) -> Name | None:
    """The name in a heading, of several the longest: 帳號/密碼 is not 密碼.

    A column of «logins» holds accounts; a seed phrase is in no cell.
    """
    called = (
        name
        for name in names
        if len(cell) <= len(name.text) + 12
        and name.text not in ("login", "logins")
        and name.kind != "seed"
        and _is_called(cell, name)
    )
    return max(called, key=lambda name: len(name.text), default=None)


def _is_called(cell: str, name: Name) -> bool:
    before, found, _ = cell.partition(name.text)
    if name.before is ALONE:
        return cell == name.text
    return bool(found) and (name.before is None or name.before.match(before[::-1]) is not None)


_ACCOUNTS = frozenset(
    [
        "user",
        "username",
        "login",
        "login name",
        "account",
        "email",
        "e-mail",
        "mail",
        "帐号",
        "账号",
        "帐户",
        "账户",
        "用户",
        "用户名",
        "使用者",
        "邮箱",
        "信箱",
        "电邮",
    ]
)
"""Beside a column with such a heading, any word in a column of passwords is one."""
_CELL_TEXT = lazily(
    r"[ \t]*(?:\"(?P<quoted>(?:[^\"]|\"\")*)\"|'(?P<single>[^']*)'|[*_`]*(?P<bare>.*?)[*_`]*)[ \t]*(?: \(.*|<.*)?"
)
_CSV_CELLS = {
    by: lazily(rf"[ \t]*\"[^\"]*+(?:\"\"[^\"]*+)*+\"[ \t]*(?={by}|\n|\Z)|[^{by}\n]*") for by in (",", ";", "\t")
}
"""A cell, as CSV has them: in quotes stand line ends and what else divides cells. A quote that does not end is none."""


def _below(text: str, start: int, by: str, heads: list[Name | None], how: str) -> _Spans:
    """The secrets in the rows from `start` on; a row with other cells than the first line ends the table."""
    while any(heads) and start < len(text):
        cells = _cells_of_line(text, start) if by == "|" else _cells_of_row(text, start, by, len(heads))
        if not cells:
            break
        for (at, end), name in zip(cells, heads, strict=False):
            if name and (found := _CELL_TEXT.fullmatch(text, at, end)) and found.lastgroup:
                first, last = found.span(found.lastgroup)
                kind, written = name.kind, how
                if kind == "login":  # dave / Tiger2024
                    account = ACCOUNT.match(text, first, last)
                    kind, written, first = "password", "cell", account.end() if account else last
                if first < last and values.is_secret(kind, Said(text[first:last], written, False, "")):
                    yield first, last, KINDS.get(name.kind, name.kind)
        start = text.find("\n", cells[-1][1]) + 1 or len(text)
    return start


def _cells_of_line(text: str, start: int) -> list[tuple[int, int]]:
    """Where the cells of a line stand that bars divide; none if it is no row of a Markdown table."""
    stop = text.find("\n", start)
    row = text[start : stop if stop >= 0 else len(text)]
    cells: list[tuple[int, int]] = []
    if "|" in row and not RULER.match(row):
        for cell in row.split("|"):
            cells.append((start, start + len(cell)))
            start += len(cell) + 1
    return cells


def _cells_of_row(text: str, start: int, by: str, count: int) -> list[tuple[int, int]]:
    """Where the cells of a row of CSV stand; none if there are more or fewer than `count`."""
    cells: list[tuple[int, int]] = []
    while len(cells) < count and (cell := _CSV_CELLS[by].match(text, start)):
        cells.append(cell.span())
        start = cell.end() + 1
        if text[cell.end() : start] != by:
            return cells if len(cells) == count else []
    return []
