"""A turn that comes to a row which is there: in pieces, again, cut, or grown. Of each text the longer one stays, so
that the row ends the same whatever came first, and however often."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from vault_memory.core import reading
from vault_memory.core.longterm.mapping import KEY, Target
from vault_memory.core.longterm.rows import BETWEEN, Row, storable

_PARTS = ("user", "assistant", "reflection")
_NO_TOKENS = (None, "", "null", "{}", "[]")
_GLANCE_CHARS = 64
"""So many tell most paragraphs apart, without a copy of all that follows."""


def merged(
    target: Target, there: Sequence[str | None], row: Row, tokens_in: Callable[[str], Mapping[str, Any]]
) -> tuple[str | None, ...]:
    """The values of the row that is there and of `row`, which came, in one. Each part of the tokens is merged by
    itself, in the encoding of those there: `tokens_in(encoding)` are those of `row`. A reflection and a cid are the
    later ones, but for those that came with an answer which was cut, or has grown since; what is not given stays."""
    old, new = (dict(zip(target.columns, values, strict=True)) for values in (there, row.values))
    now = {field: old[field] if field in KEY else value for field, value in new.items()}
    question, answer = (storable(text) if text else None for text in row.said[:2])
    for field in {"user_message", "assistant_message"} & now.keys():
        now[field] = _longer(old[field], new[field])
    if "text_cache" in now:
        now["text_cache"] = text_of_both(old["text_cache"], question, answer)
    kept, came = (_tokens(values.get("token_data")) for values in (old, new))
    if kept and came.get("encoding") != kept["encoding"]:
        came = dict(tokens_in(kept["encoding"]))
    both = {part: _longer(kept.get(part), came.get(part)) for part in ("user", "assistant")}
    if not answer:
        is_last = True
    elif "assistant_message" in now:
        is_last = now["assistant_message"] == new["assistant_message"]
    elif "text_cache" in now:
        is_last = (now["text_cache"] or "").endswith(answer)
    else:
        is_last = not kept or both["assistant"] == came.get("assistant")
    for field in {"reflection", "cid"} & now.keys():
        now[field] = new[field] or old[field] if is_last else old[field] or new[field]
    if kept:
        first, other = (came, kept) if is_last else (kept, came)
        both["reflection"] = first.get("reflection") or other.get("reflection")
        told = {part: tokens or [] for part, tokens in both.items() if part in {*kept, *came}}
        now["token_data"] = json.dumps({**kept, **came, **told}, separators=(",", ":"))
    for field in {"reflection", "token_data"} & now.keys():
        if _is_same_json(now[field], old[field]):  # the database writes it in another way
            now[field] = old[field]
    return tuple(now.values())


def has_other_tokens(target: Target, there: Sequence[str | None]) -> bool:
    """Whether a row that is there holds tokens of another form than ours, as another program writes them."""
    text = dict(zip(target.columns, there, strict=True)).get("token_data")
    return text not in _NO_TOKENS and not _tokens(text)


def text_of_both(there: str | None, question: str | None, answer: str | None) -> str | None:
    """The texts of a turn in one: of those that are there already, without a word which is which, and of those that
    came. A question stands first. A text that begins another one is not added to it, as one that was cut, unless both
    come together."""
    if not there or not (question or answer):
        return there or BETWEEN.join(text for text in (question, answer) if text) or None
    if not question:
        return _with_answer(there, answer or "")
    if not answer:
        is_known = there.startswith(question)
        return there if is_known else question if question.startswith(there) else question + BETWEEN + there
    if there.startswith(question + BETWEEN):
        return f"{question}{BETWEEN}{_longer(there[len(question + BETWEEN) :], answer)}"
    if answer.startswith(there) or there == question:
        return question + BETWEEN + answer
    return question + BETWEEN + (there if there.startswith(answer) else answer + BETWEEN + there)


def _with_answer(there: str, answer: str) -> str:
    """A text with an answer, which may be in it from any paragraph on, and may be longer or shorter there."""
    starts = [*_paragraphs(there)]
    if any(there.startswith(answer, at) for at in starts):
        return there
    for at in starts:
        if answer.startswith(there[at : at + _GLANCE_CHARS]) and answer.startswith(there[at:]):
            return there[:at] + answer
    return there + BETWEEN + answer


def _paragraphs(text: str) -> Iterator[int]:
    """Where the paragraphs of a text begin."""
    yield 0
    at = text.find(BETWEEN)
    while 0 <= at < len(text) - len(BETWEEN):
        yield at + len(BETWEEN)
        at = text.find(BETWEEN, at + 1)


def _longer(there: Any, came: Any) -> Any:
    """Of two texts, or two lists of tokens, the longer; of equals always the same one."""
    return max((each for each in (there, came) if each), key=lambda each: (len(each), str(each)), default=came)


def _tokens(text: str | None) -> dict[str, Any]:
    """A record of tokens, which may hold more than ours; empty where there is none, or something else."""
    value = _json(text)
    if not (isinstance(value, dict) and isinstance(value.get("encoding"), str)):
        return {}
    parts = [value.get(part, []) for part in _PARTS]
    is_ours = all(isinstance(part, list) and all(type(each) is int for each in part) for part in parts)
    return value if is_ours else {}


def _is_same_json(one: str | None, other: str | None) -> bool:
    value = _json(one)
    return value is not None and value == _json(other)


def _json(text: str | None) -> Any:
    try:
        return reading.json_value(text) if text else None
    except ValueError:
        return None
