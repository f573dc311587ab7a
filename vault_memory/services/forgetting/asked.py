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
from vault_memory.core.extraction import Lexicon
from vault_memory.core.forgetting import Sought, SoughtTurn, may_be_forgotten, means_everything, words_of
from vault_memory.core.memorable import Forget, memorable, to_forget
from vault_memory.core.memories import Memory
from vault_memory.core.notes import journal
from vault_memory.core.privacy import PRIVATE
from vault_memory.core.profile import Row
from vault_memory.core.trailers import KEYS
from vault_memory.errors import NotFound, UsageError
from vault_memory.services.notes import read_day, turn_at
from vault_memory.services.vault import Vault

MIN_QUOTE_CHARS = 4
"""A shorter quote of evidence, such as «Vim», is no text by which other places are found."""
_SUBJECT = re.compile(r"^(?:(?:that )?I |我(?![的们們]))", re.IGNORECASE)
"""What a memory or a request says, and its turn may not: 養了一隻貓, behind a comma."""
_HAN = re.compile(r"[\u3400-\u9fff]")
_SAME, _AROUND = timedelta(seconds=1), timedelta(days=1)
_MAX_COMMITS = 50


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
    went = _gone(vault, user_id, source, at)
    gone = [memory for memory in went if any(each.cut(memory.content).fit for each in asked)]
    named = {source: SoughtTurn((), "", "", "", at)}
    for memory in gone:
        named |= {memory.source: SoughtTurn((), "", "", "", memory.created_at)} if memory.source else {}
        named |= dict(_said_again(vault, user_id, memory, asked))
    texts = [text for each in asked for text in _texts_of(each, gone)]
    brought = [row for row in rows if (row.key, row.value) in removed and row.op != "remove"]
    named |= {row.source: SoughtTurn((), "", "", "", row.at) for row in brought if row.source}
    texts += [row.quote for row in brought if PRIVATE not in row.quote and len(row.quote) >= MIN_QUOTE_CHARS]
    sought = replace(sought, texts=tuple(dict.fromkeys(texts)), turns=named)
    return replace(sought, spared=_spared(vault, user_id, sought, asked))


def _time(turn: Mapping[str, Any]) -> datetime | None:
    with suppress(KeyError, ValueError):
        return datetime.fromisoformat(str(turn["created_at"])).astimezone()
    return None


def _texts_of(asked: Forget, gone: Sequence[Memory]) -> Iterator[str]:
    """By which words a request's matter is found: by its own, unless the memories that it meant have others («where I
    live»), and by those of these. Of what is only named one Chinese character is enough: 貓."""
    went = [cut.gone for memory in gone if (cut := asked.cut(memory.content)).fit]
    is_one = not asked.is_said and bool(_HAN.fullmatch(asked.words))
    own = words_of(asked.words) if is_one or may_be_forgotten(asked.words) else None
    if own and (not went or any(map(own.stand_in, went))):
        yield from [asked.words] if is_one else _bare([asked.words])
    yield from _bare(went)


def _bare(texts: Iterable[str]) -> Iterator[str]:
    return filter(may_be_forgotten, (_SUBJECT.sub("", text).strip() for text in texts))


def _gone(vault: Vault, user_id: str, source: str, at: datetime) -> Iterator[Memory]:
    """The memories of which something went because of a turn, as they were. Each machine counts its own lines: the
    caller looks whether they are meant."""
    prefix, folder = vault.history.working_tree.repository.prefix, layout.user_dir(user_id) / memories.FOLDER
    named = {KEYS["user"]: user_id, KEYS["source"]: source}
    for entry in vault.history.log([folder], limit=_MAX_COMMITS, since=at - _AROUND, trailers=named):
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


def _spared(vault: Vault, user_id: str, sought: Sought, asked: Sequence[Forget]) -> dict[str, tuple[str, ...]]:
    """The turns of memories that hold the texts and say something else, and the ids of their conversation and of these:
    they stay."""
    found: dict[str, tuple[str, ...]] = {}
    for path in map(PurePosixPath, scan.scan(vault.root, user_id).files):
        if layout.kind_of(layout.Place(user_id, path.as_posix())) == "memory":
            stored = files.read(vault.path(user_id, path.as_posix())) or b""
            memory = memories.decode(stored.decode("utf-8", "replace"), path.stem)
            is_other = sought.stand_in(memory.content) and not any(each.cut(memory.content).fit for each in asked)
            if is_other and memory.source and memory.source not in sought.turns:
                turn = turn_at(vault, user_id, memory.source) or {}
                ids = found.get(memory.source, (str(turn.get("conversation_id") or ""),))
                found[memory.source] = (*filter(None, ids), memory.id)
    return found
