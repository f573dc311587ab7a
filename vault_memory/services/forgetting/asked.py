"""What a turn has asked to be forgotten, by what is left of it: its words in the record, and the commit with which the
memories that it meant went."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import PurePosixPath
from typing import Any

from vault_memory.adapters import files, scan
from vault_memory.adapters.git import CommitLog, changed_files
from vault_memory.core import layout, memories, reading
from vault_memory.core.extraction import Lexicon, read_turn
from vault_memory.core.forgetting import Sought, SoughtTurn, may_be_forgotten, means_everything, words_of
from vault_memory.core.memorable import Forget, memorable, to_forget
from vault_memory.core.memories import Memory
from vault_memory.core.notes import journal
from vault_memory.core.profile import Row
from vault_memory.core.trailers import KEYS
from vault_memory.errors import NotFound, UsageError
from vault_memory.services.notes import read_day, turn_at
from vault_memory.services.vault import Vault

_SUBJECT = re.compile(r"^(?:(?:that )?I |我(?![的们們]))", re.IGNORECASE)
"""What a memory or a request says, and its turn may not: 養了一隻貓, behind a comma."""
_HAN = re.compile(r"[\u3400-\u9fff]")
_SAME = timedelta(seconds=1)
_MAX_COMMITS = 100


def asked_for(said: str, lexicon: Lexicon) -> tuple[str, ...]:
    """What a message asks to be forgotten, in its words; empty for one that asks for nothing."""
    if means_everything(said):
        return (said.strip(),)
    return tuple(dict.fromkeys(each.words or each.what for each in to_forget(said, lexicon)))


def sought_by_asking(vault: Vault, user_id: str, source: str, rows: Sequence[Row]) -> Sought:
    """What the turn on the line `source` asked to be forgotten: by its words, and by those of the memories and values
    that went because of it (`rows` are the evidence); with the turn itself, those in which these were said, and without
    those of which a memory says something else. Raises `NotFound` where no turn is there, and `UsageError` for one that
    asks for nothing."""
    turn = turn_at(vault, user_id, source) or {}
    said, at = str(turn.get("user_message") or ""), _time(turn)
    if at is None:
        raise NotFound(f"{layout.user_dir(user_id)} has no turn {source}, or it is forgotten already")
    asked = to_forget(said, vault.lexicon())
    sought = Sought(synonyms=vault.config.search_synonyms)
    if means_everything(said) or any(each.is_everything for each in asked):
        return replace(sought, is_all=True)
    own = [row for row in rows if row.source == source and (row.at is None or abs(row.at - at) < _SAME)]
    removed = {(row.key, row.value) for row in own if row.op == "remove"}
    if not (asked or removed):
        raise UsageError(f"{source} asks to forget nothing: `vault-memory forget --turn {source}` forgets the turn")
    gone = [memory for memory in _gone(vault, user_id) if any(each.cut(memory.content).fit for each in asked)]
    active = [*_active(vault, user_id)]
    gone += [memory for memory in active if _is_all_meant(memory.content, asked)]
    others = [memory for memory in active if memory not in gone and memory.source not in ("", source)]
    named = {source: SoughtTurn((), "", "", "", at)}
    for memory in gone:
        named |= {memory.source: SoughtTurn((), "", "", "", memory.created_at)} if memory.source else {}
        named |= dict(_said_again(vault, user_id, memory, asked))
    texts = [text for each in asked for text in _texts_of(each, gone)]
    brought = [row for row in rows if (row.key, row.value) in removed and row.op != "remove"]
    named |= {row.source: SoughtTurn((), "", "", "", row.at) for row in brought if row.source}
    sought = replace(sought, texts=tuple(dict.fromkeys(texts)), values=frozenset(removed))
    spared = _spared(vault, user_id, sought, asked, others)
    return replace(sought, turns={of: each for of, each in named.items() if of not in spared}, spared=spared)


def said_of_others(
    vault: Vault, user_id: str, source: str, turns: Mapping[str, SoughtTurn], sought: Sought
) -> list[str]:
    """Which of the `turns` that were found by the texts say it of somebody else («my brother lives in Leeds»), where
    the turn on the line `source` asked for what it says of the person."""
    said = str((turn_at(vault, user_id, source) or {}).get("user_message") or "")
    if not all(each.is_said for each in to_forget(said, vault.lexicon())):
        return []
    found = {of: turn.words for of, turn in turns.items() if of not in sought.turns and sought.stand_in(turn.words)}
    return [of for of, words in found.items() if not _is_said_of_self(words, sought, vault.lexicon())]


def _is_said_of_self(said: str, sought: Sought, lexicon: Lexicon) -> bool:
    """Whether a text stands where its person speaks of himself or herself, be it that a clause before says so."""
    turn = read_turn(said, "", {}, lexicon)
    clauses = turn.clauses if turn else ()
    holding = [each for each in clauses if sought.stand_in(each.text)]
    own = {each.sentence for each in clauses if each.is_first_person}
    return not holding or any(each.sentence in own for each in holding)


def _time(turn: Mapping[str, Any]) -> datetime | None:
    with suppress(KeyError, ValueError):
        return datetime.fromisoformat(str(turn["created_at"])).astimezone()
    return None


def _texts_of(asked: Forget, gone: Sequence[Memory]) -> Iterator[str]:
    """By which words a request's matter is found: by its own, unless it only names what the memories that it meant
    have other words for («my job»), and by those of these. Of what is only named one Chinese character is enough."""
    went = [cut.gone for memory in gone if (cut := asked.cut(memory.content)).fit]
    is_one = not asked.is_said and bool(_HAN.fullmatch(asked.words))
    own = words_of(asked.words) if is_one or may_be_forgotten(asked.words) else None
    if own and (asked.is_said or not went or any(map(own.stand_in, went))):
        yield from [asked.words] if is_one else _bare([asked.words])
    yield from _bare(went)


def _bare(texts: Iterable[str]) -> Iterator[str]:
    return filter(may_be_forgotten, (_SUBJECT.sub("", text).strip() for text in texts))


def _gone(vault: Vault, user_id: str) -> Iterator[Memory]:
    """The memories of which something went because of turns that asked for it, as they were, the last ones first. The
    same may have been asked before: the caller looks which are meant."""
    prefix, folder = vault.history.working_tree.repository.prefix, layout.user_dir(user_id) / memories.FOLDER
    named = {KEYS["user"]: user_id, KEYS["source"]: None}
    for entry in vault.history.log([folder], limit=_MAX_COMMITS, trailers=named):
        if not entry.subject.startswith(f"memories({user_id}): forget "):
            continue
        before = CommitLog(vault.history.root).parent(entry.commit)
        for each in changed_files(vault.history.root, before, entry.commit):
            if before and each.old and each.path.is_relative_to(prefix / folder):
                old = vault.history.blob(each.path.relative_to(prefix), before) or b""
                yield memories.decode(old.decode("utf-8", "replace"), each.path.stem)


def _said_again(
    vault: Vault, user_id: str, memory: Memory, asked: Sequence[Forget]
) -> Iterator[tuple[str, SoughtTurn]]:
    """The turns that said a memory, too, on the days on which it was said."""
    for day in memory.said_on:
        record = f"{layout.CONVERSATIONS_DIR}/{day}.jsonl"
        for number, line in enumerate(reading.lines(read_day(vault, user_id, record)), 1):
            row = journal.row_of(line)
            said = str((row or {}).get("user_message") or "")
            told = memorable(said, "", vault.lexicon(), with_changes=True) if said else []
            if any(request.means(each.content) for each in told for request in asked):
                yield f"{record}:{number}", SoughtTurn((), "", "", "", None)


def _active(vault: Vault, user_id: str) -> Iterator[Memory]:
    """The memories that are recalled now."""
    for path in map(PurePosixPath, scan.scan(vault.root, user_id).files):
        if layout.kind_of(layout.Place(user_id, path.as_posix())) == "memory":
            stored = files.read(vault.path(user_id, path.as_posix())) or b""
            memory = memories.decode(stored.decode("utf-8", "replace"), path.stem)
            if not memory.is_past(vault.now()):
                yield memory


def _is_all_meant(content: str, asked: Sequence[Forget]) -> bool:
    cuts = [each.cut(content) for each in asked]
    return any(cut.fit and not cut.left and not cut.is_more for cut in cuts)


def _spared(
    vault: Vault, user_id: str, sought: Sought, asked: Sequence[Forget], others: Sequence[Memory]
) -> dict[str, tuple[str, ...]]:
    """The turns of those memories that say it, too, and more or something else, and the ids of their conversation and
    of these: they stay."""
    values = [words_of(value) for _, value in sought.values if may_be_forgotten(value)]
    found: dict[str, tuple[str, ...]] = {}
    for memory in others:
        said = memory.content
        is_said = any(each.is_said_in(said) for each in asked) or any(each.stand_in(said) for each in values)
        if is_said or sought.stand_in(said):
            turn = turn_at(vault, user_id, memory.source) or {}
            ids = found.get(memory.source, (str(turn.get("conversation_id") or ""),))
            found[memory.source] = (*filter(None, ids), memory.id)
    return found
