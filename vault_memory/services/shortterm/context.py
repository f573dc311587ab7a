"""The last turn of each conversation, and in a shared store the turns of each user and those that nobody has taken
yet."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from vault_memory.adapters.shortterm import EmbeddedStore
from vault_memory.adapters.state import REDIS_USED, UsedStores
from vault_memory.adapters.tokenizer import DEFAULT_ENCODING, is_encoding, pack_token_record
from vault_memory.core import payload, recent
from vault_memory.core.extraction import asks_to_be_left_out
from vault_memory.errors import UsageError, VaultMemoryError
from vault_memory.services.redactor import Redactor
from vault_memory.services.vault import Vault

_MAX_SEARCHED_CHARS = 20_000


def store_short_term(
    vault: Vault,
    conversation_id: str,
    user_id: str,
    user_msg: str | None,
    assistant_msg: str | None,
    reflection: Mapping[str, Any] | str | None = None,
) -> None:
    """Keep a turn as the last one of its conversation for `shortterm.ttl_s`, without its secrets; it is in no record.
    Nothing is kept off the record, and in a shared store nothing that is not to be remembered.

    Raises `UsageError` for a missing id, a value of another type, or what is of an erased user or text, and what the
    store raises.
    """
    said: dict[str, Any] = {"conversation_id": conversation_id, "user_id": user_id, "user_message": user_msg}
    said |= {"assistant_message": assistant_msg, "reflection": reflection}
    turn = payload.normalized(said, vault.now(), vault.config.zone())
    vault.refuse_erased_id(user_id)
    if not vault.config.is_off_record(user_id) and not _is_kept_back(vault, turn):
        redact = Redactor()
        kept = turn | {name: redact(turn[name]) for name in _SAID}
        vault.refuse_erased(user_id, lambda: payload.said_texts(kept), "this turn")
        _put_last(vault, kept)


def load_recent_context(vault: Vault, conversation_id: str) -> dict[str, Any] | None:
    """The last turn of a conversation: {user_msg, assistant_msg, reflection, token_data, user_id, ts}, `ts` in Unix
    seconds; None where nothing was said for `shortterm.ttl_s`. While Redis is away, as this machine knows it."""
    if not isinstance(conversation_id, str) or not conversation_id:
        raise UsageError(f"a conversation is named by a text, not by {conversation_id!r}")
    found = recent.decoded(vault.short_term.get(recent.context_key(conversation_id)))
    if found is not None and not found.get("token_data"):
        found["token_data"] = _tokens(vault, found.get("user_msg"), found.get("assistant_msg"), found.get("reflection"))
    return found


def note_kept_turn(vault: Vault, turn: Mapping[str, Any]) -> str:
    """Note a turn that is in the record, whole and without secrets. In a shared store it is added to the user's
    history, too, and to the turns that nobody has taken; what was not to be remembered is not noted there, and a turn
    of former times nowhere. Returns what could not be used, in words, else ""."""
    at = datetime.fromisoformat(turn["created_at"])
    if (vault.now() - at).total_seconds() > vault.config.shortterm_ttl_s:
        return ""
    problems = []
    try:
        store = vault.short_term
        if _is_kept_back(vault, turn):
            return ""
        for write in (_put_last, *((_append_to_history, _append_to_pending) if store.is_shared else ())):
            write(vault, turn)
            problems.append(store.degraded)
    except VaultMemoryError as error:
        problems.append(str(error))
    told = "; ".join(dict.fromkeys(filter(None, problems)))
    return f"short-term store: {told}" if told else ""


def forget_history(vault: Vault, *user_ids: str) -> tuple[str, ...]:
    """Delete the lists of users' turns in a shared store. Returns what `removed_keys` returns; raises what the store
    raises."""
    return removed_keys(vault, *map(recent.history_key, user_ids))


def removed_keys(vault: Vault, *keys: str) -> tuple[str, ...]:
    """Delete keys of the short-term store. Returns what is left, in words: another program's values, and what a shared
    store keeps until it answers, or one that was used before is set once more. Raises what the store raises."""
    store = vault.short_term
    left = store.remove(*keys)
    told = [f"the short-term store keeps {key!r}: another program's values are there" for key in left]
    used = UsedStores(vault.root, REDIS_USED)
    if isinstance(store, EmbeddedStore) and (used.problem() or used.places()):
        store.miss_removal(keys)
        told.append(f"Redis, which this vault has used, removes {', '.join(keys)} when REDIS_URL is set once more")
    if why := store.degraded:
        told.append(f"the short-term store removes {', '.join(keys)} before it is used again: {why}")
    return tuple(told)


def store_place(vault: Vault) -> str:
    """Where the short-term store is, in words and without a password. Nothing is asked."""
    return vault.short_term.where


def store_problem(vault: Vault) -> str:
    """Why the short-term store is not what the settings ask for, in words; "" when all is well. Redis is asked."""
    try:
        problem = vault.short_term.problem()
    except VaultMemoryError as error:
        problem = str(error)
    return f"short-term store: {problem}; what is said stays on this machine meanwhile" if problem else ""


def encoding_problem(vault: Vault) -> str:
    """Why tokens are not made by the encoding that the settings name, in words; "" when they are, and where tiktoken is
    not here, for which the bytes serve."""
    if is_encoding(vault.config.tokens_encoding):
        return ""
    return (
        f"tokens.encoding {vault.config.tokens_encoding!r} is none that tiktoken knows: tokens are bytes, "
        f"{DEFAULT_ENCODING!r} is the usual one"
    )


def asks_not_to_be_kept(vault: Vault, message: str) -> bool:
    """Whether the person asks that nothing of a message be remembered."""
    return asks_to_be_left_out(message[:_MAX_SEARCHED_CHARS], vault.lexicon())


def _is_kept_back(vault: Vault, turn: Mapping[str, Any]) -> bool:
    """Whether a turn does not go to other machines: it is not to be remembered."""
    return vault.short_term.is_shared and asks_not_to_be_kept(vault, str(turn.get("user_message") or ""))


def _put_last(vault: Vault, turn: Mapping[str, Any]) -> None:
    """Put a turn as the last one of its conversation, if it is. Its tokens are made when it is read, unless other
    programs read it: a turn must not wait for them."""
    store = vault.short_term
    value = recent.context_value(turn, _tokens_of(vault, turn) if store.is_shared else {})
    key = recent.context_key(turn["conversation_id"])
    now = vault.now().timestamp()
    store.update(key, lambda old: recent.later(old, value, now), vault.config.shortterm_ttl_s)


def _append_to_history(vault: Vault, turn: Mapping[str, Any]) -> None:
    entry = recent.encoded(recent.history_entry(turn))
    vault.short_term.append(recent.history_key(turn["user_id"]), [entry], recent.HISTORY_TTL_S, recent.MOST_TURNS)


def _append_to_pending(vault: Vault, turn: Mapping[str, Any]) -> None:
    kept = {**{name: turn.get(name) for name in _PENDING}, "token_data": _tokens_of(vault, turn)}
    vault.short_term.append(recent.PENDING_KEY, [recent.encoded(kept)], recent.HISTORY_TTL_S, recent.MOST_PENDING)


def _tokens_of(vault: Vault, turn: Mapping[str, Any]) -> dict[str, Any]:
    return _tokens(vault, turn.get("user_message"), turn.get("assistant_message"), turn.get("reflection"))


def _tokens(
    vault: Vault, user: str | None, assistant: str | None, reflection: Mapping[str, Any] | None
) -> dict[str, Any]:
    return pack_token_record(user, assistant, reflection, vault.config.tokens_encoding)


_SAID = ("user_message", "assistant_message", "reflection")
_PENDING = ("conversation_id", "user_id", *_SAID, "cid", "created_at")
