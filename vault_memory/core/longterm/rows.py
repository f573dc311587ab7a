"""The rows that a turn makes. All values are texts: the database reads them as its columns are, a reflection into jsonb
or into text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from vault_memory.core import reading
from vault_memory.core.longterm.both_texts import joined
from vault_memory.core.longterm.mapping import Target

_encoded = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, check_circular=False).encode
"""One encoder for all: the tokens of a turn are hundreds of numbers."""
_FURTHER = ("type", "updated_at")
"""What a reflection may have besides its summary and causes."""
_NUL = "\0"
_REPLACEMENT = "\ufffd"


@dataclass(frozen=True)
class Row:
    """One row: its logical table, its values in the order of the table's columns (None for none), what the turn says as
    this table has it: (question, answer, reflection), and whether it `is_outdated` by what another table holds of the
    turn: then its reflection takes no place."""

    logical: str
    values: tuple[str | None, ...]
    said: tuple[str | None, str | None, Mapping[str, Any] | None] = (None, None, None)
    is_outdated: bool = False


def rows_of(turn: Mapping[str, Any], token_data: Mapping[str, Any], targets: list[Target]) -> list[Row]:
    """The rows of a turn, in the order of `targets`: one of `conversations`, and one of `memories` if it has a
    reflection; of a typed memory (`is_memory`) the latter alone. What PostgreSQL cannot store, a NUL or half of a
    surrogate pair, becomes U+FFFD."""
    return [
        Row(
            target.logical,
            tuple(_value(turn, _tokens(target, token_data), field) for field in target.columns),
            _said(target, turn),
        )
        for target in targets
        if (turn.get("reflection") if target.logical == "memories" else not turn.get("is_memory"))
    ]


def name_of(turn: Mapping[str, Any]) -> tuple[str, str]:
    """(conversation_id, created_at): by these a turn is known. The time is one text for one moment, in UTC."""
    return str(turn["conversation_id"]), _time(turn["created_at"])


def _said(target: Target, turn: Mapping[str, Any]) -> tuple[str | None, str | None, Mapping[str, Any] | None]:
    texts = (None, None) if target.logical == "memories" else (turn.get("user_message"), turn.get("assistant_message"))
    return (*texts, turn.get("reflection"))


def _tokens(target: Target, token_data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Of a reflection its own tokens alone."""
    return token_data if target.logical != "memories" else {**token_data, "user": [], "assistant": []}


def _value(turn: Mapping[str, Any], token_data: Mapping[str, Any], field: str) -> str | None:
    if field == "created_at":  # a column without a time zone would keep the hour and lose the zone
        return _time(turn[field])
    if field == "token_data":
        return _encoded(token_data)
    if field == "text_cache":
        both = joined(turn.get("user_message"), turn.get("assistant_message"))
        return storable(both) if both else None
    value = turn.get(field)
    if value is None:
        return None
    if field == "reflection":
        kept = ("summary", "causes", *(key for key in _FURTHER if key in value))
        return _encoded({key: _without_nul(value.get(key)) for key in kept})
    return storable(str(value))


def _without_nul(value: Any) -> Any:
    return [storable(str(each)) for each in value] if isinstance(value, list) else storable(str(value or ""))


def storable(text: str) -> str:
    """A text as PostgreSQL can store it."""
    return str(reading.without_surrogates(text)).replace(_NUL, _REPLACEMENT)


def _time(created_at: str) -> str:
    return datetime.fromisoformat(created_at).astimezone(UTC).isoformat()
