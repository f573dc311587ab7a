"""The second look: a language model searches a recorded turn for preferences that the rules missed.

It runs after the turn, on the recorded text (without secrets), and holds no lock while the model works. The policy is
that of the turn: the same privacy rules, the same merge, one commit per change, with the turn as source. When the model
fails, only its changes are missing; the result and `status` say so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any

from vault_memory.adapters.history import ASSISTANT
from vault_memory.adapters.models import ChatModel
from vault_memory.adapters.state import StateFile
from vault_memory.core.extraction import llm
from vault_memory.core.profile import Change, Evidence
from vault_memory.errors import EndpointError, ForeignFile, HistoryError, NotFound, Unwritable
from vault_memory.services.notes import turn_at
from vault_memory.services.profiles import ProfileFiles, change_profile
from vault_memory.services.vault import Vault


@dataclass(frozen=True)
class SecondLook:
    """The result. `dropped` counts the proposed changes that the words of the turn do not support. `paused` says why
    the commits wait, `degraded` why there is no usable response of the model, if that is so."""

    changes: tuple[Change, ...] = ()
    dropped: int = 0
    paused: str | None = None
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True)
class Tally:
    """How often the model was asked in this vault, and how often it failed. `failing` counts the failures since its
    last usable response, `why` is the reason of the last one. `skipped` counts the turns of `skipped_on`, today or
    yesterday (ISO; "": none), that a server did not have looked at, `skipped_why` is the reason of the last one."""

    asked: int = 0
    failed: int = 0
    failing: int = 0
    why: str = ""
    skipped: int = 0
    skipped_on: str = ""
    skipped_why: str = ""


def second_look(
    vault: Vault,
    user_id: str,
    source: str,
    model: ChatModel | None = None,
    *,
    as_of: int | None = None,
    is_wanted: Callable[[], bool] = lambda: True,
) -> SecondLook:
    """Look at the turn on the line `source` (`conversations/2026-01-30.jsonl:12`); doing it twice adds nothing.

    `model` replaces the configured one; `user_id` is the person's as of `as_of` (`Vault.renamings`; None: now). Nothing
    is written if it is not wanted any more (`is_wanted`) when the model has answered. Does nothing if `llm.enabled` is
    off, or for a turn off the record (its source is empty). Raises `NotFound` for a line that holds no turn, and
    `Busy`.
    """
    model = model or vault.chat_model()
    if model is None or not vault.config.llm_enabled or not source:
        return SecondLook(degraded=tuple(vault.config.waits()) if vault.config.is_waiting("llm") else ())
    user_id, as_of = vault.id_now(user_id, vault.renamings() if as_of is None else as_of)
    turn = turn_at(vault, user_id, source)
    if turn is None:
        raise NotFound(f"memory/{user_id}/{source} holds no turn")
    message = turn.get("user_message") or ""
    if not llm.is_worth_asking(message):
        return SecondLook()
    existing = ProfileFiles.read(vault, user_id, vault.now()).profile.values()
    try:
        answer = model.complete(llm.messages(message, turn.get("assistant_message") or "", existing), llm.SCHEMA)
        proposed = llm.parse(answer)
    except EndpointError as error:
        return _degraded(vault, str(error))
    except ValueError as error:
        return _degraded(vault, f"the chat model {vault.config.llm_model} does not follow the schema: {error}")
    if not is_wanted():
        return SecondLook(degraded=("the second look took too long, and was given up",))
    count_request(vault, "")
    signals = llm.grounded(proposed, message, existing, vault.lexicon())

    user_id, as_of = vault.id_now(user_id, as_of)  # the model may have taken a minute

    def decide(state: ProfileFiles) -> tuple[list[Change], list[Evidence]]:
        vault.refuse_renamed(user_id, as_of)
        return state.merge(state.unrecorded(signals, source))

    try:
        written = change_profile(vault, user_id, decide, ASSISTANT, source, _said_at(turn))
    except (HistoryError, ForeignFile, Unwritable) as error:  # as in `record_turn`: the turn itself is kept
        return SecondLook(degraded=(f"nothing was learned from the second look: {error}",))
    degraded = (f"index: {written.index_problem}",) if written.index_problem else ()
    return SecondLook(tuple(written.result), len(proposed) - len(signals), written.paused, degraded)


def tally(vault: Vault) -> Tally:
    """How often the model was asked and failed so far, and what was left out since yesterday."""
    found = _tally(_tally_file(vault).read())
    try:
        is_recent = date.fromisoformat(found.skipped_on) >= vault.now().date() - timedelta(days=1)
    except ValueError:
        is_recent = False
    return found if is_recent else replace(found, skipped=0, skipped_on="", skipped_why="")


def count_request(vault: Vault, failure: str) -> None:
    """Note that the model was asked, and why it failed ("": it did not). Raises what `StateFile.update` does."""

    def counted(row: Mapping[str, Any]) -> Mapping[str, Any]:
        before = _tally(row)
        return asdict(
            replace(
                before,
                asked=before.asked + 1,
                failed=before.failed + bool(failure),
                failing=before.failing + 1 if failure else 0,
                why=failure,
            )
        )

    _tally_file(vault).update(counted)


def count_skipped(vault: Vault, turns: int, why: str) -> None:
    """Note turns that get no second look. Raises what `StateFile.update` does."""
    today = vault.now().date().isoformat()

    def counted(row: Mapping[str, Any]) -> Mapping[str, Any]:
        before = _tally(row)
        so_far = before.skipped if before.skipped_on == today else 0
        return asdict(replace(before, skipped=so_far + turns, skipped_on=today, skipped_why=why))

    _tally_file(vault).update(counted)


def _tally(row: Mapping[str, Any]) -> Tally:
    try:
        return Tally(
            int(row["asked"]),
            int(row["failed"]),
            int(row["failing"]),
            str(row["why"]),
            int(row.get("skipped", 0)),  # an older version wrote none
            str(row.get("skipped_on", "")),
            str(row.get("skipped_why", "")),
        )
    except (ValueError, TypeError, KeyError):
        return Tally()


def _said_at(turn: Mapping[str, Any]) -> datetime | None:
    """The time of a turn; None for a line that names none, as another program may write it."""
    try:
        return datetime.fromisoformat(str(turn.get("created_at"))).astimezone()
    except (ValueError, OverflowError):
        return None


def _degraded(vault: Vault, why: str) -> SecondLook:
    count_request(vault, why)
    return SecondLook(degraded=(f"no second look for preferences: {why}",))


def _tally_file(vault: Vault) -> StateFile:
    return StateFile(vault.root, "second-look")
