"""A turn that comes to a row which is there: in pieces, again, cut, or grown. Of the question and of the answer the
longer text stays, and every column is made from these two, so that the row ends the same whatever came first, and
however often."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from vault_memory.core import reading
from vault_memory.core.longterm.both_texts import apart, joined, longer, with_pieces
from vault_memory.core.longterm.mapping import KEY, Target
from vault_memory.core.longterm.rows import Row, storable

_SIDES = (("user_message", "user"), ("assistant_message", "assistant"))
"""The column and the part of the tokens of each text."""
_PARTS = ("user", "assistant", "reflection")
_NO_TOKENS = (None, "", "null", "{}", "[]")
_NEVER = datetime.min.replace(tzinfo=UTC)


class Encoder(Protocol):
    """Makes tokens of texts, and texts of tokens. What it cannot do it raises."""

    def pack(
        self, user: str | None, assistant: str | None, reflection: Mapping[str, Any] | None, encoding: str
    ) -> Mapping[str, Any]:
        """The record of tokens of a turn, in that encoding."""
        ...

    def text(self, tokens: Sequence[int], encoding: str) -> str:
        """The text of tokens."""
        ...


@dataclass(frozen=True)
class Merged:
    """The values of a row, and whether what came `is_outdated`: its reflection and cid are those of an answer that was
    cut or has grown since, or of a version before, and take no place."""

    values: tuple[str | None, ...]
    is_outdated: bool


def merged(target: Target, there: Sequence[str | None], row: Row, encoder: Encoder) -> Merged:
    """The values of the row that is there and of `row`, which came, in one. Tokens are in the encoding of those there.
    Of two reflections, and of two cids, the one stays that came last, but for what `is_outdated`; what is not given
    stays."""
    old, new = (dict(zip(target.columns, values, strict=True)) for values in (there, row.values))
    now = {field: old[field] if field in KEY else value for field, value in new.items()}
    kept, came = (_tokens(values.get("token_data")) for values in (old, new))
    if kept and came.get("encoding") != kept["encoding"]:
        came = dict(encoder.pack(*row.said, kept["encoding"]))
    told = [None if text is None else storable(text) for text in row.said[:2]]
    packed = [_packed_text(kept, came, part, text, encoder) for text, (_, part) in zip(told, _SIDES, strict=True)]
    cache = old.get("text_cache")
    held = apart(cache, *(longer(old.get(field), text) for text, (field, _) in zip(packed, _SIDES, strict=True)))
    texts = [longer(one, other) for one, other in zip(held, told, strict=True)]
    for text, (field, _) in zip(texts, _SIDES, strict=True):
        if field in now:
            now[field] = text
    is_known = not cache or cache == joined(*held)
    both = joined(*texts) if is_known else with_pieces(cache, *texts)
    if "text_cache" in now:
        now["text_cache"] = both
    is_there = is_known or str(both).endswith(joined(None, told[1]) or "")
    is_cut = bool(told[1]) and not (is_there and told[1] == texts[1])
    is_outdated = _is_outdated(old.get("reflection"), new.get("reflection"), is_cut or row.is_outdated)
    for field in {"reflection", "cid"} & now.keys():
        now[field] = old[field] or new[field] if is_outdated else new[field] or old[field]
    if kept or came:
        first, other = (kept, came) if is_outdated else (came, kept)
        parts: dict[str, Any] = {"reflection": first.get("reflection") or other.get("reflection")}
        for at, (_, part) in enumerate(_SIDES):
            source: Mapping[str, Any] | None = (
                kept if packed[at] == texts[at] else came if told[at] == texts[at] else None
            )
            if source is None:  # the text was in another column alone
                source = encoder.pack(texts[0], texts[1], None, (kept or came)["encoding"])
            parts[part] = source.get(part)
        given = {part: tokens or [] for part, tokens in parts.items() if part in {*kept, *came}}
        now["token_data"] = json.dumps({**kept, **came, **given}, separators=(",", ":"))
    for field in {"reflection", "token_data"} & now.keys():
        if _is_same_json(now[field], old[field]):  # the database writes it in another way
            now[field] = old[field]
    return Merged(tuple(now.values()), is_outdated)


def has_other_tokens(target: Target, there: Sequence[str | None]) -> bool:
    """Whether a row that is there holds tokens of another form than ours, as another program writes them."""
    text = dict(zip(target.columns, there, strict=True)).get("token_data")
    return text not in _NO_TOKENS and not _tokens(text)


def _packed_text(
    kept: Mapping[str, Any], came: Mapping[str, Any], part: str, told: str | None, encoder: Encoder
) -> str | None:
    """What the tokens that are there say, None for nothing; `told` is what those say that came."""
    tokens = kept.get(part)
    if not tokens:
        return None
    return told if tokens == came.get(part) else storable(encoder.text(tokens, kept["encoding"]))


def _is_outdated(there: str | None, came: str | None, is_cut: bool) -> bool:
    """Whether the reflection that came is older than the one there: by their versions, where one of them has any."""
    versions = [_version(text) for text in (there, came)]
    if not came or versions[0][0] == versions[1][0] == _NEVER:
        return is_cut
    return versions[1] < versions[0]


def _version(reflection: str | None) -> tuple[datetime, str]:
    """When a reflection was written, as it says; and its words, which decide between two of one time."""
    value = _json(reflection)
    try:
        at = datetime.fromisoformat(str(value.get("updated_at"))) if isinstance(value, dict) else _NEVER
    except ValueError:
        at = _NEVER
    return at if at.tzinfo else at.replace(tzinfo=UTC), json.dumps(value, sort_keys=True)


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
