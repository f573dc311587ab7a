"""The memory for Python programs, without HTTP or a daemon, under the names of the design documents.

A program calls `build_enhanced_prompt` before it asks a model, and `extract_and_update` after the response. What they
write can be searched when they return. What they read is up to date: a running daemon updates the index, else they do
themselves. Each function takes the vault first; without one it takes the vault that the command line would find. A user
is named by their id or by an outside name from `[identities]`.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, overload
from uuid import UUID

from vault_memory.adapters import tokenizer
from vault_memory.adapters.embedding import ClientEmbedder, ComputeClient, Embedder
from vault_memory.config import Config
from vault_memory.core import layout
from vault_memory.core.memories import Memory
from vault_memory.core.mistakes import Mistake
from vault_memory.core.payload import normalized
from vault_memory.core.profile import Change
from vault_memory.core.recent import history_entry
from vault_memory.errors import Busy, EndpointError, HistoryError, InvalidId, NotAVault, VaultMemoryError
from vault_memory.services import (
    buddy,
    distilling,
    erasing,
    forgetting,
    graph,
    learning,
    longterm,
    memories,
    mistakes,
    profiles,
    retrieval,
    shortterm,
    turns,
)
from vault_memory.services.indexing import Report, embed, reconcile
from vault_memory.services.notes import Skill, newest_turns, record_files
from vault_memory.services.notes import context_summary as summary_of_the_last
from vault_memory.services.retrieval import Mode, Prompt, Scope, SearchQuery, SearchResult
from vault_memory.services.retrieval import build_enhanced_prompt as build
from vault_memory.services.retrieval import search as find
from vault_memory.services.turns import Recorded, feedback
from vault_memory.services.vault import Vault, vault_around
from vault_memory.services.vault import open_vault as open_at

P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class VaultOptional(Protocol[P, R_co]):
    """A function that may be called without its vault."""

    @overload
    def __call__(self, vault: Vault, *args: P.args, **kwargs: P.kwargs) -> R_co: ...
    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co: ...


def open_vault(
    path: str | Path | None = None,
    *,
    now: Callable[[], datetime] | None = None,
    environ: Mapping[str, str] = os.environ,
    embedder: Embedder | None = None,
    **flags: Any,
) -> Vault:
    """Open the vault at `path`, or the one that the command line would find. `flags` override settings by their field
    name. An erasing that was interrupted is done first.

    Raises `NotAVault`, `ForeignFile` (the users' folder is a link) or `ConfigError`; `Busy` while another process
    erases, after half a minute; and `HistoryError`, which names the next step, where an erasing that was interrupted
    cannot go on, or has left something.
    """
    vault = open_at(path, now=now, environ=environ, embedder=embedder, **flags)
    try:
        receipt = erasing.finish_erasing(vault)
    except Busy:
        raise
    except VaultMemoryError as error:
        raise HistoryError(
            f"an erasing in {vault.root} was interrupted, and goes on when the vault is opened: {error}"
        ) from error
    if receipt and receipt.left:
        raise HistoryError(
            f"an erasing in {vault.root} was interrupted and is done now, but a second look found something still "
            f"({', '.join(receipt.left[:3])}): erase the same again, then open the vault"
        )
    erasing.reach_again(vault)
    return vault


_found: dict[Path, Vault] = {}


def _found_vault() -> Vault:
    """The vault that the command line would find; the same one as before while its settings are the same, as its
    indexes are open."""
    vault = open_vault()
    known = _found.get(vault.root)
    if known is None or known.config != vault.config:
        known = _found[vault.root] = vault
    return known


def _vault_optional(function: Callable[Concatenate[Vault, P], R]) -> VaultOptional[P, R]:
    """The function, which also finds the vault, and the id of the user if an argument names one."""
    parameters = list(inspect.signature(function).parameters)[1:]
    user = next((name for name in parameters if name in ("student_id", "user_id")), "")
    at = parameters.index(user) if user else len(parameters)
    nobody = (None,) if user and inspect.signature(function).parameters[user].default is None else ()

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> R:
        vault, rest = (args[0], args[1:]) if args and isinstance(args[0], Vault) else (kwargs.pop("vault", None), args)
        vault = vault or _found_vault()
        if user in kwargs:
            if kwargs[user] not in nobody:
                kwargs[user] = vault.user_of(user_name(kwargs[user]))
        elif len(rest) > at and rest[at] not in nobody:
            rest = (*rest[:at], vault.user_of(user_name(rest[at])), *rest[at + 1 :])
        return function(vault, *rest, **kwargs)

    return call


def user_name(user: object) -> str:
    """The name of a user, as a text: a program may have a number or a UUID for them. Raises `InvalidId` for anything
    else: nobody is called `None`."""
    if isinstance(user, bool) or not isinstance(user, (str, int, UUID)):
        raise InvalidId(f"a user is named by a text, a number or a UUID, not by {user!r}")
    return str(user)


@_vault_optional
def extract_and_update(
    vault: Vault, student_id: str, user_msg: str, assistant_msg: str, skill_used: str | None = None
) -> Recorded:
    """Keep a turn and learn from it: the design's name for `record_turn`."""
    return turns.record_turn(vault, student_id, user_msg, assistant_msg, skill=skill_used)


@_vault_optional
def search(
    vault: Vault,
    /,
    user_id: str | None = None,
    query: str = "",
    top_k: int = 5,
    mode: Mode = "hybrid",
    scope: Scope | None = None,
    **more: Any,
) -> SearchResult:
    """The passages that answer `query` best, in which "a phrase" and the beginning of a word (`honglou*`) may stand;
    without a query the filters list notes. `more`: other fields of `SearchQuery`.

    `scope` is the user's own notes unless it is said. Without a user: those of the only user and the shared notes, or
    in a vault without users the shared notes. Raises `NotFound`, `UsageError`."""
    user_id, scope = retrieval.whose(vault, user_id, scope)
    return find(vault, user_id, SearchQuery(query, top_k, mode, scope, **{"is_typed": True} | more))


@_vault_optional
def read_note(
    vault: Vault, /, user_id: str | None = None, name: str = "", scope: Scope | None = None
) -> retrieval.NoteText:
    """The note of that path, file name, title or alias, or of `name:12-30` those lines, with its commit.

    It is one of the user or a shared one, unless `scope` says; without a user as in `search`. Raises `NotFound`, and
    `UsageError` where several notes are called so or the note has no such line."""
    user_id, scope = retrieval.whose(vault, user_id, scope, of_user="all")
    return retrieval.read_named(vault, user_id, name, scope)


@_vault_optional
def related(
    vault: Vault,
    /,
    user_id: str | None = None,
    name: str = "",
    scope: Scope | None = None,
    top_k: int = 10,
) -> list[retrieval.Related]:
    """The notes that belong most to the one of that name, best first: by links both ways, shared tags and near vectors.
    User and scope as in `read_note`. Raises `NotFound`, `UsageError`."""
    user_id, scope = retrieval.whose(vault, user_id, scope, of_user="all")
    return retrieval.related(vault, user_id, name, scope, top_k)


@_vault_optional
def build_enhanced_prompt(
    vault: Vault,
    student_id: str,
    prompt: str,
    skill: str | Skill | None = None,
    *,
    private: bool = True,
    budget: int | None = None,
    context_summary: str = "",
) -> Prompt:
    """The prompt for a model, with the memory in it: `.text`, or chat `.messages`. `skill` is the name of one in the
    vault, or one of your own; `context_summary` what the conversation has been about. Raises `InvalidId` or
    `NotFound`."""
    return build(vault, student_id, prompt, skill, private=private, budget=budget, context_summary=context_summary)


@_vault_optional
def save_conversation(vault: Vault, student_id: str, user_msg: str, assistant_msg: str) -> Recorded:
    """Keep a turn with its whole answer; one turn also where `extract_and_update` got the answer's beginning before."""
    return turns.save_conversation(vault, student_id, user_msg, assistant_msg)


@_vault_optional
def get_conversation_history(vault: Vault, student_id: str, limit: int = 5) -> list[dict[str, str]]:
    """The last turns, oldest first, in the design's form: {timestamp, user, assistant, backend}; none for an unknown
    user."""
    known = vault.is_user(layout.check_user_id(student_id))
    found = [turn for _, turn in newest_turns(vault, student_id, limit)] if known else []
    return [history_entry(turn) for turn in reversed(found)]


@_vault_optional
def store_conversation(
    vault: Vault,
    conversation_id: str,
    user_id: str,
    user_msg: str | None,
    assistant_msg: str | None,
    reflection: Mapping[str, Any] | None = None,
) -> None:
    """Keep a turn: in the record, from which all else follows, as the last one of its conversation, and for the
    long-term store. The design's name for `record_turn`, which also says what became of it."""
    turns.record_turn(
        vault, user_id, user_msg, assistant_msg, conversation_id=conversation_id, reflection=reflection, is_whole=True
    )


@_vault_optional
def backup_conversations_to_file(vault: Vault, student_id: str) -> list[Path]:
    """The files that hold the user's turns, oldest first; those of the archive hold a month, packed by gzip. Nothing is
    left to be copied: a turn is in its file before the call that keeps it returns. What could not be learned from a
    turn then is learned now."""
    if not vault.is_user(layout.check_user_id(student_id)):
        return []
    turns.learn_waiting(vault, student_id)
    return record_files(vault, student_id)


@_vault_optional
def list_mistakes(
    vault: Vault,
    user_id: str,
    error_type: str | None = None,
    *,
    like: str | None = None,
    limit: int | None = None,
    offset: int = 0,
) -> list[Mistake]:
    """The user's recorded mistakes, the newest first: of one type, those that the request `like` is about; at most
    `limit`, without the first `offset`. Raises `NotFound` for an unknown user."""
    found = mistakes.list_mistakes(vault, user_id, error_type=error_type, like=like, limit=limit, offset=offset)
    return [file.mistake for file in found]


@_vault_optional
def list_memories(
    vault: Vault,
    user_id: str,
    memory_type: str | None = None,
    *,
    history: bool = False,
    limit: int | None = None,
    offset: int = 0,
) -> list[Memory]:
    """The user's memories, the newest first: of one type, at most `limit`, without the first `offset`. Expired and
    replaced ones only with `history`. Raises `NotFound` for an unknown user, `UsageError` for an unknown type."""
    found = memories.list_memories(vault, user_id, memory_type=memory_type, history=history, limit=limit, offset=offset)
    return [file.memory for file in found]


def tokenize_text(text: str | None, encoding: str | None = None) -> list[int]:
    """The tokens of a text, in order, none of None: by that encoding of tiktoken's, else by TOKENIZER_NAME's, else
    cl100k_base. Without tiktoken its UTF-8 bytes."""
    return tokenizer.tokenize_text(text, encoding or _encoding())


def pack_token_record(
    user: str | None,
    assistant: str | None,
    reflection_json: Mapping[str, Any] | None,
    encoding: str | None = None,
) -> dict[str, Any]:
    """{user, assistant, reflection: tokens each, encoding: its name}; what is None has no tokens."""
    return tokenizer.pack_token_record(user, assistant, reflection_json, encoding or _encoding())


def _encoding() -> str:
    return os.environ.get("TOKENIZER_NAME") or tokenizer.DEFAULT_ENCODING


def validate_and_normalize(payload: Mapping[str, Any], vault: Vault | None = None) -> dict[str, Any]:
    """The whole record of a turn that another program delivers: {conversation_id, user_id, user_message,
    assistant_message, reflection, cid, created_at, token_data}, and skill, backend, exit_code, context where it has
    them. Other fields are left out; what the payload has for `token_data` too: tokens are made of what is kept.

    Outside names of users, the time zone and the clock are those of the vault: this one, else the one that is found; if
    there is none, user ids stay as they are, and a time without an offset is of this system's zone. Raises
    `UsageError`, which names the field that is missing or wrong.
    """
    if vault is None:
        with suppress(NotAVault):
            vault = _found_vault()
    if vault is None:
        record = normalized(payload, datetime.now().astimezone(), Config().zone())
    else:
        record = turns.validate_and_normalize(vault, payload)
    encoding = vault.config.tokens_encoding if vault else None
    texts = (record["user_message"], record["assistant_message"], record["reflection"])
    return record | {"token_data": pack_token_record(*texts, encoding)}


@_vault_optional
@functools.wraps(longterm.persist_long_term)
def persist_long_term(vault: Vault, records: Sequence[Mapping[str, Any]]) -> int:
    erasing.reach_again(vault, long_term=True)  # before: what is written now stays, whatever time it tells
    return longterm.persist_long_term(vault, records)


store_short_term = _vault_optional(shortterm.store_short_term)
load_recent_context = _vault_optional(shortterm.load_recent_context)
record_turn = _vault_optional(turns.record_turn)
second_look = _vault_optional(turns.second_look)
user_profile = _vault_optional(profiles.user_profile)
set_preference = _vault_optional(profiles.set_preference)
store_memory = _vault_optional(memories.store_memory)
remember = _vault_optional(memories.remember)
recall = _vault_optional(retrieval.recall)
recall_memory = _vault_optional(retrieval.recall_memory)
memory_stats = _vault_optional(memories.statistics)
prepare_deletion = _vault_optional(memories.prepare_deletion)
delete_memories = _vault_optional(memories.delete_memories)
prepare_forgetting = _vault_optional(forgetting.prepare_forgetting)
forget = _vault_optional(forgetting.forget)
prepare_erasing = _vault_optional(erasing.prepare_erasing)
erase = _vault_optional(erasing.erase_with_code)
create_entity = _vault_optional(graph.create_entity)
create_relation = _vault_optional(graph.create_relation)
add_observation = _vault_optional(graph.add_observation)
search_entities = _vault_optional(graph.search_entities)
list_entities = _vault_optional(graph.list_entities)
get_entity = _vault_optional(graph.get_entity)
graph_neighbours = _vault_optional(graph.neighbours)
graph_path = _vault_optional(graph.find_path)
export_graph = _vault_optional(graph.draw_graph)
record_mistake = _vault_optional(mistakes.record_mistake)
get_mistake_patterns = _vault_optional(mistakes.get_mistake_patterns)
learning_profile = _vault_optional(learning.learning_profile)
memory_summary = _vault_optional(learning.memory_summary)
session_context = _vault_optional(learning.session_context)
update_session = _vault_optional(learning.update_session)
update_user = _vault_optional(learning.update_user)
ask_ai = _vault_optional(retrieval.ask_ai)
extract_from_conversation = _vault_optional(distilling.extract_from_conversation)
end_conversation = _vault_optional(distilling.end_conversation)
context_summary = _vault_optional(summary_of_the_last)
consolidate_to_profile = _vault_optional(distilling.consolidate_to_profile)

buddy_add_memory = _vault_optional(buddy.buddy_add_memory)
buddy_ask_ai = _vault_optional(buddy.buddy_ask_ai)
buddy_config = _vault_optional(buddy.buddy_config)
buddy_create_entity = _vault_optional(buddy.buddy_create_entity)
buddy_create_relation = _vault_optional(buddy.buddy_create_relation)
buddy_delete_memory = _vault_optional(buddy.buddy_delete_memory)
buddy_do = _vault_optional(buddy.buddy_do)
buddy_get_mistake_patterns = _vault_optional(buddy.buddy_get_mistake_patterns)
buddy_record_mistake = _vault_optional(buddy.buddy_record_mistake)
buddy_remember = _vault_optional(buddy.buddy_remember)
buddy_remember_recent = _vault_optional(buddy.buddy_remember_recent)
buddy_remember_stats = _vault_optional(buddy.buddy_remember_stats)
buddy_search_entities = _vault_optional(buddy.buddy_search_entities)


class PreferenceExtractor:
    """The design's extractor; `memory_dir` is the vault, or the `memory` folder in it (None: the one that is found)."""

    def __init__(self, memory_dir: str | Path | None = None) -> None:
        self.vault = vault_of(memory_dir)

    def extract_and_update(
        self, student_id: str, user_msg: str, assistant_msg: str, skill_used: str | None = None
    ) -> Recorded:
        """Keep a turn of conversation and learn from it."""
        return extract_and_update(self.vault, student_id, user_msg, assistant_msg, skill_used)


class Found(list[dict[str, Any]]):
    """Hits, best first; `degraded` says in words what could not be used for them."""

    def __init__(self, hits: Iterable[dict[str, Any]] = (), degraded: Iterable[str] = ()) -> None:
        super().__init__(hits)
        self.degraded = list(degraded)


class MemorySearchEngine:
    """The design's search engine.

    With a `compute_client`, and `compute` as `embedding_provider`, vectors come from `compute_client.embed(text)`;
    where that fails, words and offline vectors answer. Else the embedder is the one in the vault's settings.
    """

    def __init__(
        self,
        memory_dir: str | Path | None = None,
        compute_client: ComputeClient | None = None,
        embedding_provider: str = "compute",
    ) -> None:
        is_asked = compute_client is not None and embedding_provider == "compute"
        self.vault = vault_of(memory_dir, compute_client if is_asked else None)

    def search(self, student_id: str, query: str, top_k: int = 5, mode: Mode = "hybrid") -> Found:
        """Hits, best first: {content, source, score, line_range, kind, scope, explain}; none for an unknown user."""
        user_id = self.vault.user_of(student_id)
        if not self.vault.is_user(user_id):
            return Found()
        result = search(self.vault, user_id, query, top_k, mode, is_typed=False)  # it is called with whole messages
        return Found((hit.as_dict() for hit in result.hits), result.degraded)

    def index_student_memory(self, student_id: str) -> Report:
        """Update the index from the student's files, with all vectors; it may run in a thread of its own. Where the
        model cannot be asked, a search says so, and the next call goes on."""
        user_id = self.vault.user_of(student_id)
        report = reconcile(self.vault, user_id)
        with suppress(EndpointError):
            while embed(self.vault, user_id):
                pass
        return report


class MemoryManager:
    """The design's manager of MEMORY.md, which also builds the prompt as one text."""

    def __init__(self, memory_dir: str | Path | None = None) -> None:
        self.vault = vault_of(memory_dir)

    def update_memory(self, student_id: str, summary: str) -> bool:
        """Keep the summary of a task in MEMORY.md, `- 任務：…`, `- 模組：…`, `- 結果：…`; whether that changed it.
        The entry that a turn has made for the task only gets its result."""
        return turns.update_memory(self.vault, self.vault.user_of(student_id), summary)

    def build_enhanced_prompt(self, student_id: str, prompt: str, skill: str | Skill | None = None) -> str:
        """The prompt for a model, with the memory in it."""
        return build_enhanced_prompt(self.vault, student_id, prompt, skill).text


class FeedbackCollector:
    """The design's collector of adjustments. An adjustment that is made three times becomes a strong preference."""

    def __init__(self, memory_dir: str | Path | None = None) -> None:
        self.vault = vault_of(memory_dir)

    def classify_adjustment(self, text: str) -> str | None:
        """The key of the preference in an adjustment; None if there is none."""
        return feedback.classify_adjustment(text)

    def extract_params(self, text: str) -> dict[str, str]:
        """What an adjustment asks for: {"theme": "dark"}."""
        return feedback.extract_params(text)

    def record_adjustment(self, student_id: str, text: str, skill: str | None = None) -> list[Change]:
        """Record an adjustment and learn from it; return what it changed in the profile."""
        return feedback.record_adjustment(self.vault, self.vault.user_of(student_id), text, skill)


def vault_of(memory_dir: str | Path | None, client: ComputeClient | None = None) -> Vault:
    """The vault that `memory_dir` names, itself or by its folder `memory` (None: the one that is found)."""
    embedder = ClientEmbedder(client) if client is not None else None
    if memory_dir is None:
        return open_vault(embedder=embedder) if embedder else _found_vault()
    folder = Path(memory_dir).expanduser().resolve()
    is_inside = folder.name == layout.MEMORY_DIR and vault_around(folder) == folder.parent
    return open_vault(folder.parent if is_inside else folder, embedder=embedder)
