"""Let a language model look at a recorded turn for preferences that the rules missed.

It runs after the turn, on what was recorded of it (so without secrets), holds no lock while the model thinks, and keeps the
turn's own policy: the same gates, the same merge, one commit per change that names the turn. A model that fails costs
nothing but its changes; that it fails is told in the result and shown by `status`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vault_memory.adapters import files
from vault_memory.adapters.history import ASSISTANT
from vault_memory.adapters.models.chat import ChatModel
from vault_memory.core import layout
from vault_memory.core.extraction import llm
from vault_memory.core.profile.fields import FIELDS, comparable
from vault_memory.core.profile.policy import Change, Evidence, Signal
from vault_memory.errors import EndpointError, NotFound
from vault_memory.services.notes.conversations import turn_at
from vault_memory.services.profiles.profile_files import ProfileFiles, change_profile
from vault_memory.services.vault import Vault

_LOCK_TIMEOUT_S = 5.0


@dataclass(frozen=True)
class SecondLook:
    """What came of it. `dropped` changes of the model were not borne out by the turn's words; `sources` are to be indexed
    again; `degraded` says in words why there was no look, if there should have been one."""

    changes: tuple[Change, ...] = ()
    dropped: int = 0
    sources: tuple[str, ...] = ()
    paused: str | None = None
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True)
class Tally:
    """How the model has answered so far in this vault. `failing` counts the failures since its last good answer."""

    asked: int = 0
    failed: int = 0
    failing: int = 0
    why: str = ""


def second_look(vault: Vault, user_id: str, source: str, model: ChatModel | None = None) -> SecondLook:
    """Look at the turn on the line `source` (`conversations/2026-01-30.jsonl:12`); a second time adds nothing.

    `model` stands in for the configured one. Does nothing where `llm.enabled` is off or for a turn off the record (an
    empty source). Raises `NotFound` for a line that holds no turn, and what writing the profile raises.
    """
    if not vault.config.llm_enabled or not source:
        return SecondLook()
    turn = turn_at(vault, user_id, source)
    if turn is None:
        raise NotFound(f"memory/{user_id}/{source} holds no turn")
    message = turn.get("user_message") or ""
    if not llm.is_worth_asking(message):
        return SecondLook()
    existing = ProfileFiles.read(vault, user_id, vault.now().date()).profile.values()
    try:
        answer = (model or _configured(vault)).answer(
            llm.messages(message, turn.get("assistant_message") or "", existing), llm.SCHEMA
        )
        told = llm.parse(answer)
    except EndpointError as error:
        return _failed(vault, str(error))
    except ValueError as error:
        return _failed(vault, f"the chat model {vault.config.llm_model} does not keep to the schema: {error}")
    _count(vault, "")
    signals = llm.grounded(told, message, existing, vault.lexicon())

    def decide(state: ProfileFiles) -> tuple[list[Change], list[Evidence]]:
        return state.merge(_unheard(signals, state.heard_in(source)))

    changes, flushed = change_profile(vault, user_id, decide, ASSISTANT, source)
    sources = (layout.PROFILE,) if changes else ()
    return SecondLook(tuple(changes), len(told) - len(signals), sources, flushed.paused)


def tally(vault: Vault) -> Tally:
    """How the model has answered so far; all nought when it was never asked."""
    try:
        row = json.loads(files.read(_path(vault)) or b"{}")
        return Tally(int(row["asked"]), int(row["failed"]), int(row["failing"]), str(row["why"]))
    except (ValueError, TypeError, KeyError):
        return Tally()


def _unheard(signals: list[Signal], heard: list[Mapping[str, Any]]) -> list[Signal]:
    """What the turn has not given yet: the rules' word on a scalar stands, and nothing counts twice."""
    scalars = {row.get("key") for row in heard}
    members = {(row.get("key"), comparable(str(row.get("value")))) for row in heard}
    return [
        signal
        for signal in signals
        if (signal.key not in scalars if FIELDS[signal.key].form == "scalar" else True)
        and (signal.key, comparable(signal.value)) not in members
    ]


def _configured(vault: Vault) -> ChatModel:
    config = vault.config
    return ChatModel(
        config.llm_base_url,
        config.llm_model,
        config.llm_key_env,
        timeout_s=config.llm_timeout_s,
        max_tokens=config.llm_max_tokens,
        temperature=config.llm_temperature,
        environ=vault.environ,
    )


def _failed(vault: Vault, why: str) -> SecondLook:
    _count(vault, why)
    return SecondLook(degraded=(f"no second look for preferences: {why}",))


def _count(vault: Vault, failure: str) -> None:
    path = _path(vault)
    with files.lock(path.with_suffix(".lock"), _LOCK_TIMEOUT_S):
        was = tally(vault)
        row = {
            "asked": was.asked + 1,
            "failed": was.failed + bool(failure),
            "failing": was.failing + 1 if failure else 0,
            "why": failure,
        }
        files.replace(path, json.dumps(row, ensure_ascii=False).encode() + b"\n", files.read(path))


def _path(vault: Vault) -> Path:
    return vault.root / layout.STATE_DIR / "second-look.json"
