"""How the time of each parser grows with the length of what a person or a peer wrote: about 2 for each doubling.

Every parser reads every input, repeated to 4 kB, 8 kB and so on up to 4 MB. `growth` is the processor time of one
length over that of half of it, or its mean over the last two doublings where that is less: a text that no longer fits
into a cache of the processor makes one step larger. Times below 3 ms say nothing. What seems too fast is measured
again, and counts only as far as the next two doublings grow as fast. An input is doubled no further after a step that
grew too fast or took long.

    python benchmarks/parsers.py [PARSER ...]

The last line is JSON: `worst_growth` over all parsers and inputs, how many `cases` there were, and how many inputs of
4 kB were `too_slow`.
"""

from __future__ import annotations

import contextlib
import gc
import json
import math
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from vault_memory.config import Config
from vault_memory.core import reading, trailers
from vault_memory.core.chat import escape, inject, prompt, read_request, read_response
from vault_memory.core.extraction import extract, llm
from vault_memory.core.merging import merge_profile
from vault_memory.core.merging.journal_merge import merge_journal
from vault_memory.core.merging.line_merge import merge_jsonl, merge_lines
from vault_memory.core.notes import document, note, parse_line
from vault_memory.core.privacy import redact, without_private
from vault_memory.core.profile import PastTurn, Profile, clean, computed
from vault_memory.core.text import tokens
from vault_memory.errors import VaultMemoryError

SHORTEST, LONGEST = 1 << 12, 1 << 22
"""Of an input, in bytes of UTF-8 (about)."""
MIN_S = 0.003
"""A shorter time is mostly noise."""
LONG_S = 0.06
"""An input that takes this long is not doubled again."""
WANTED = 2.6

PIECES = (
    *(" ", "\n", "\r\n", "\u2028", "\u200b", "\u0301\u0316", "a", "word ", "1", "1,", "的", "我喜歡。"),
    *("my ", "# ", "# a\n", "- ", "- a\n", "- a：b\n", "> ", "[", "[[a]] ", "[a]: b\n", "(", '{"a":', '"', "'"),
    *("`", "```\n", "|a", "|\n", "---\n", "<", "</a", "<vault-memory>\n", "<!--", "：", "，", "*", "&a *a "),
    *("\\", "a/", "a@", "2026-01-30 ", "May 8 ", "1月", "x: y\n", "password: ", "TOKEN=", "http://a:b"),
    *("a_b1-", "key_", "code ", "碼 1-", "seed 山 ", "a1!b2@c3 "),
    *("請用 ", "=======\n", "😀", "<a-b></a-b>", "</system-reminder>\n"),
)  # fmt: skip


def _settings(text: str) -> None:
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write(text)
        file.flush()
        Config.load(Path(file.name), {})


def _profile(text: str) -> None:
    profile = Profile.parse(text)
    profile.values(), profile.problems(), profile.put("theme", "dark")


def _request(text: str) -> None:
    request = {"messages": [{"role": "system", "content": text}, {"role": "user", "content": f"hello\n{text}"}]}
    if found := read_request(request):
        inject(json.dumps(request), "memory", found.message_index, found.part_index)


def _response(text: str) -> None:
    event = "data: " + json.dumps({"choices": [{"delta": {"content": text}}]}) + "\n\n"
    read_response("text/event-stream", (event + text).encode())
    read_response("application/json", text.encode())


def _prompt(text: str) -> None:
    section = prompt.Section("relevant-memories", tuple(reading.lines(escape(text))))
    prompt.fit([section], 1_000)
    prompt.without_injected(text)


def _merge(text: str) -> None:
    lines = text.split("\n")
    base, mine, yours = ("\n".join(["a", *rows]) for rows in (lines[::2], lines[::-1], lines[1::3]))
    merge_lines(base, mine, yours)
    merge_journal(base, mine, yours)
    merge_jsonl(base, mine, yours)
    note.conflicts_in(text)
    merge_journal(*_changed_by_both(text))


def _merge_profile(text: str) -> None:
    merge_profile(text, f"- 主題：dark\n{text}", f"{text}\n- 等級：x")
    base, mine, yours = _changed_by_both(text, "## 其他記憶\n", "- ")
    merge_profile(base, mine, yours)


def _changed_by_both(text: str, title: str = "", bullet: str = "") -> tuple[str, str, str]:
    """Lines of 20 characters of a text, numbered, and what they are when each side has changed every fifth of them."""
    lines = [f"{bullet}{at} {text[at : at + 20]}\n" for at in range(0, len(text), 20)]
    mine, yours = list(lines), list(lines)
    mine[1::5] = [f"{bullet}a {line}" for line in mine[1::5]]
    yours[2::5] = [f"{bullet}b {line}" for line in yours[2::5]]
    return title + "".join(lines), title + "".join(mine), title + "".join(yours)


PARSERS: dict[str, Callable[[str], object]] = {
    "front matter": lambda text: note.parse(f"---\n{text}\n---\n"),
    "note": lambda text: document.read("notes/a.md", "note", text.encode()),
    "conversation": lambda text: document.read("conversations/2026-01-30.jsonl", "conversation", text.encode()),
    "record": parse_line,
    "USER.md": _profile,
    "value": lambda text: clean(f"- 主題：{text}", "text"),
    "words and dates": lambda text: tokens.stems(text),
    "question": lambda text: tokens.query_terms(text),
    "extraction": lambda text: extract(text, text),
    "model's answer": lambda text: llm.parse(f"```{text}"),
    "style": lambda text: computed.question_style([PastTurn(text, None, False)] * computed.MIN_TURNS),
    "secrets": redact,
    "private facts": without_private,
    "request": _request,
    "response": _response,
    "prompt": _prompt,
    "commit message": lambda text: trailers.parse(f"subject\n\n{text}"),
    "merge": _merge,
    "merge of USER.md": _merge_profile,
    "settings": _settings,
}


def seconds(parser: Callable[[str], object], text: str, runs: int = 1) -> float:
    """The shortest processor time of some runs; errors of our tree and `ValueError` are answers like any other."""
    best = float("inf")
    for _ in range(runs):
        gc.collect()
        started = time.process_time()
        with contextlib.suppress(VaultMemoryError, ValueError):
            parser(text)
        best = min(best, time.process_time() - started)
    return best


def measure(parser: Callable[[str], object], piece: str) -> tuple[float, float, int]:
    """(worst growth, seconds of the longest text, its length) for one input; growth is 0 where all times are short."""
    worst, times, length = 0.0, [0.0, 0.0], SHORTEST
    text = ""
    while length <= LONGEST:
        shorter, text = text, piece * (length // len(piece.encode()))
        times.append(seconds(parser, text))
        for runs in (3, 5):
            if _growth(times) > WANTED * 0.9:
                times[-2:] = seconds(parser, shorter, runs), seconds(parser, text, runs)
        growth = _growth(times)
        if growth > WANTED:
            growth = min(growth, math.sqrt(seconds(parser, text * 4, 3) / times[-1]))
        worst = max(worst, growth)
        if worst > WANTED or times[-1] > LONG_S:
            break
        length *= 2
    return worst, times[-1], len(text.encode())


def _growth(times: list[float]) -> float:
    """The growth of the last of these times, each of twice the length of the one before; 0 if they are too short."""
    quarter, half, whole = times[-3:]
    if half < MIN_S:
        return 0.0
    return min(whole / half, math.sqrt(whole / quarter)) if quarter >= MIN_S else whole / half


def main() -> None:
    chosen = sys.argv[1:] or list(PARSERS)
    results: dict[tuple[str, str], tuple[float, float, int]] = {}
    gc.disable()
    print(f"{'parser':<18} {'worst growth':>12}  with             {'slowest':>9} per MB  with")
    for name in chosen:
        for warm in PIECES:
            seconds(PARSERS[name], warm)
        rows = {piece: measure(PARSERS[name], piece) for piece in PIECES}
        worst = max(rows, key=lambda piece: rows[piece][0])
        slow = max(rows, key=lambda piece: rows[piece][1] / rows[piece][2])
        _, took, size = rows[slow]
        print(
            f"{name:<18} {rows[worst][0]:12.2f}  {ascii(worst):<16} {took / size * 1e6:9.2f} s  {ascii(slow)}",
            flush=True,
        )
        results |= {(name, piece): row for piece, row in rows.items()}
    figures = {
        "worst_growth": round(max(growth for growth, _, _ in results.values()), 2),
        "too_slow": sum(took > LONG_S and size <= SHORTEST for _, took, size in results.values()),
        "cases": len(results),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
