"""A user's memory: search, daily logs, turns, and prompts."""

from __future__ import annotations

import asyncio
import datetime
import threading
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, Literal, TypeVar

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, Field, model_validator
from starlette.concurrency import run_in_threadpool

from vault_memory.core.payload import kept_reflection
from vault_memory.core.record_kinds import SEARCHABLE_KINDS
from vault_memory.interfaces.http.body import JsonRoute
from vault_memory.interfaces.http.guard import TheCaller, TheUser, TheVault
from vault_memory.interfaces.http.problem import Reason, reason, reasons, responses
from vault_memory.interfaces.http.response import in_page_thread, made_in_turn, page
from vault_memory.services.distilling import end_conversation
from vault_memory.services.notes import daily_log, daily_logs, newest_turns
from vault_memory.services.retrieval import SearchQuery, SearchResult, build_enhanced_prompt, search
from vault_memory.services.turns import SecondLooks, record_turn
from vault_memory.services.vault import Vault

router = APIRouter(prefix="/api/v1/memory/{student_id}", tags=["memory"], route_class=JsonRoute)

Result = TypeVar("Result")
Searching = Callable[[str, SearchQuery], Awaitable[SearchResult]]
"""`search` as it is called here: with the user and the query."""
MAX_CONCURRENT_SEARCHES = 16
"""How many searches run at once if they mostly wait for a model. Searches without a model run one at a time: threads
would only compete for the interpreter, and eight of them did two thirds of the searches that one did."""

MAX_CONCURRENT_ENDINGS = 2
"""How many conversations are ended at once: each may wait for a language model."""

_REFLECTION = {"summary": "第一次部署失敗", "causes": ["沒有設定環境變數"]}
Text = Annotated[str, Field(max_length=200_000)]
Name = Annotated[str, Field(max_length=200)]
Kind = Annotated[str, Field(pattern=f"^({'|'.join(SEARCHABLE_KINDS)})$")]


class SearchIn(BaseModel):
    """What to search for. Only the first 2,000 characters of a query are read; in it "a phrase" must stand as it is,
    and `honglou*` finds the words that begin so. Without a query the filters list notes, each by its beginning."""

    query: str = Field("", max_length=20_000, examples=["暗色主題"])
    top_k: int = Field(5, ge=1, le=100)
    mode: Literal["hybrid", "vector", "keyword"] = "hybrid"
    scope: Literal["user", "shared", "all"] = Field("user", description="The user's own notes, shared ones, or both.")
    kinds: list[Kind] = Field(
        [], max_length=20, fail_fast=True, description="Only notes of these kinds.", examples=[["daily"]]
    )
    since: datetime.date | None = Field(None, description="Only notes of this day or later.", examples=["2026-01-01"])
    until: datetime.date | None = Field(None, description="Only notes of this day or earlier.", examples=["2026-01-31"])
    tags: list[Name] = Field(
        [], max_length=20, fail_fast=True, description="Only notes with all these tags.", examples=[[]]
    )
    path: str = Field("", max_length=1_000, description="Only notes in this folder, or this one.", examples=[""])
    group: Literal["", "note"] = Field("", description="`note`: of each note the best hit alone.", examples=[""])
    backlinks: bool = Field(False, description="Name the notes that link to that of each hit.")

    @model_validator(mode="after")
    def _asks(self) -> SearchIn:
        if not (self.query or self.path or self.tags or self.kinds or self.since or self.until):
            raise ValueError("query: say what to search for, or list notes by path, tags, kinds, since or until")
        return self


class SaidOut(BaseModel):
    """A message in a conversation: `role` is `user`, `assistant`, `context` (a text that came with the message) or
    `reflection`."""

    text: str = Field(examples=["我喜歡暗色主題"])
    role: str = Field(examples=["user"], description="Empty where nobody knows.")
    time: str = Field(examples=["2026-01-30T14:05:00+08:00"], description="Empty where nobody knows.")


class FoundOut(BaseModel):
    """A part of a hit, within one entry of a log or one turn of a conversation; `line_range` as that of the hit."""

    text: str = Field(examples=["2026-01-30 14:05 alice: 我喜歡暗色主題\nassistant: 好的"])
    line_range: tuple[int, int] = Field(examples=[[4, 4]])
    heading: str = Field("", description="What the heading of its entry says.", examples=["14:05"])
    messages: list[SaidOut] = Field([], description="Of a conversation, what was said.")


class HitOut(BaseModel):
    """What was found; `line_range` is its first and last line, 1-based, inclusive."""

    content: str = Field(
        description="The passages, with a blank line between them: the best, then the others in order.",
        examples=["2026-01-30 14:05 alice: 我喜歡暗色主題\nassistant: 好的"],
    )
    source: str = Field(examples=["conversations/2026-01-30.jsonl"])
    line_range: tuple[int, int] = Field(examples=[[4, 4]])
    commit: str = Field(
        description="The commit that holds the file so; empty where none does.", examples=["1a2b3c4d" * 5]
    )
    score: float = Field(examples=[0.83])
    kind: str = Field(examples=["conversation"])
    scope: str = Field(examples=["alice"], description="The user, or `shared`.")
    explain: dict[str, Any] = Field(
        description="The parts of the score, and why it was found.",
        examples=[{"keyword": 0.83, "vector": None, "weight": 0.05, "space": None, "terms": ["暗色"], "collapsed": []}],
    )
    passages: list[FoundOut]
    more: int | None = Field(
        None, description="With `group`: how many other passages of the note answer.", examples=[None]
    )
    backlinks: list[str] | None = Field(
        None, description="If asked for: the notes that link to its note.", examples=[None]
    )


class SearchOut(BaseModel):
    """Hits, best first; `degraded` says what could not be used."""

    hits: list[HitOut]
    degraded: list[Reason] = Field(examples=[[]])


class DayOut(BaseModel):
    """The log of one day."""

    date: datetime.date = Field(examples=["2026-01-30"])
    source: str = Field(examples=["daily/2026-01-30.md"])
    content: str = Field(examples=["# 2026-01-30\n\n## 14:05\n- 請求：我喜歡暗色主題\n"])


class DaysOut(BaseModel):
    """Logs, newest first; `next` is the `until` of the next page, null on the last."""

    days: list[DayOut]
    next: datetime.date | None = Field(None, examples=["2026-01-23"])


class TurnIn(BaseModel):
    """A message of the person and the assistant's reply. A turn with the `conversation_id`, the `created_at` and the
    words of an earlier one is that one."""

    user_message: Text = Field(examples=["我喜歡暗色主題"])
    assistant_message: Text = Field("", examples=["好的"])
    skill: Name | None = Field(None, description="The skill that was in use.", examples=["coding-agent"])
    exit_code: int | None = Field(
        None, ge=-(2**31), lt=2**31, description="The exit code of the program that made the reply.", examples=[0]
    )
    conversation_id: Name | None = Field(None, min_length=1, examples=["conv_1a2b3c"])
    backend: Name | None = Field(None, description="The model or program that made the reply.", examples=["some-model"])
    reflection: dict[str, Any] | str | None = Field(
        None,
        description="What the assistant thought of it afterwards: {summary, causes}, its JSON, or a text.",
        examples=[_REFLECTION],
    )
    cid: Name | None = Field(
        None, description="The address of the turn in an outside store.", examples=["bafybeigdyrzt"]
    )
    created_at: Name | None = Field(
        None,
        description="When it was said, in ISO 8601 (else now); in the vault's time zone if it has no offset.",
        examples=["2026-01-30T14:05:00+08:00"],
    )
    record: bool = Field(True, description="False: off the record, nothing is kept.")


class KeptOut(BaseModel):
    """A typed memory that a turn has left behind, let live on, or taken back: what `became` of it. Where only a
    part was forgotten, `content` is that part."""

    id: str = Field(examples=["said_1769753100000_a1b2c3d4"])
    type: str = Field(examples=["preference"])
    content: str = Field(examples=["我喜歡咖啡"])
    became: Literal["remembered", "reinforced", "forgotten"] = Field(examples=["remembered"])
    stays: str = Field("", examples=[""], description="What it says now, if only a part of it was forgotten.")
    is_more: bool = Field(
        False,
        description="What went says more than was to be forgotten, and could not be taken apart; git has it.",
    )


class RecordedOut(BaseModel):
    """What became of a turn: its line, what was learned in words, the typed `memories` that it left behind, or the
    `reason` why nothing was learned of one that asks to be remembered, or not to be; what it asks to be forgotten and
    nothing was found for (`not_forgotten`, in words); the commits; why commits wait, what was redacted; what could not
    be used."""

    source: str = Field(examples=["conversations/2026-01-30.jsonl:12"], description="Empty when off the record.")
    changes: list[str] = Field(examples=[["theme = dark"]])
    memories: list[KeptOut] = []
    commits: list[str] = Field(examples=[["1a2b3c4d5e6f7a8b9c0d1a2b3c4d5e6f7a8b9c0d"]])
    paused: Reason | None = Field(None, examples=[None])
    redactions: dict[str, int] = Field(examples=[{}])
    degraded: list[Reason] = Field([], examples=[[]])
    reason: str = Field("", examples=[""])
    not_forgotten: list[Reason] = Field([], examples=[[]])
    to_forget: list[str] = Field([], examples=[[]])


class EndIn(BaseModel):
    """The conversation that has ended."""

    conversation_id: Name = Field(min_length=1, examples=["conv_1a2b3c"])


class EndedOut(BaseModel):
    """What an ended conversation gave: how many of its turns were new, the ids of the memories, what it was about, how
    many memories the model proposed that the person did not say, what could not be used."""

    turns: int = Field(examples=[4])
    memories: list[str] = Field(examples=[["mem_1769753100000_a1b2c3d4"]])
    summary: str = Field(examples=["怎麼泡綠茶"])
    dropped: int = Field(examples=[0])
    degraded: list[Reason] = Field([], examples=[[]])


class ReflectionOut(BaseModel):
    """What the assistant thought of a turn afterwards: what happened, and why."""

    summary: str = Field(examples=["第一次部署失敗"])
    causes: list[str] = Field(examples=[["沒有設定環境變數"]])


class TurnOut(BaseModel):
    """One turn as it was recorded."""

    source: str = Field(examples=["conversations/2026-01-30.jsonl:12"])
    conversation_id: str | None = Field(examples=["conv_1a2b3c"])
    created_at: str | None = Field(examples=["2026-01-30T14:05:00+08:00"])
    user_message: str | None = Field(examples=["我喜歡暗色主題"])
    assistant_message: str | None = Field(examples=["好的"])
    skill: str | None = Field(None, examples=["coding-agent"])
    exit_code: int | None = Field(None, examples=[0])
    backend: str | None = Field(None, examples=["some-model"])
    cid: str | None = Field(None, examples=["bafybeigdyrzt"])
    user_id: str | None = Field(None, description="Their id at that time.", examples=["alice"])
    reflection: ReflectionOut | None = Field(None, examples=[_REFLECTION])


class TurnsOut(BaseModel):
    """Turns, newest first; `next` is the `before` of the next page, null on the last."""

    turns: list[TurnOut]
    next: str | None = Field(None, examples=[None])


class PromptIn(BaseModel):
    """A request that is about to go to a model. `private=false`: others can read the conversation."""

    request: Text = Field(examples=["幫我做一個按鈕"])
    skill: Name | None = Field(None, description="The skill that is in use.", examples=["coding-agent"])
    private: bool = True
    budget: int | None = Field(None, ge=200, le=1_000_000, description="Most tokens, estimated.", examples=[4_000])
    context_summary: Text = Field("", description="What this conversation has been about.", examples=["選了資料庫"])


class PassageOut(BaseModel):
    """A passage in the prompt and its source: `path:first-last@commit`."""

    section: str = Field(examples=["relevant-memories"])
    place: str = Field(examples=["notes/tea.md:3-5@1a2b3c4d"])
    score: float | None = Field(None, examples=[0.83])


class CutOut(BaseModel):
    """Pieces of a section that were cut for the budget."""

    name: str = Field(examples=["recent-activity"])
    pieces: int = Field(examples=[3])


class PromptOut(BaseModel):
    """The prompt as one text and as chat messages, about `tokens` long."""

    text: str = Field(
        examples=["<user-profile>\n…\n</user-profile>\n\n<user-request>\n幫我做一個按鈕\n</user-request>"]
    )
    messages: list[dict[str, str]] = Field(examples=[[{"role": "user", "content": "幫我做一個按鈕"}]])
    tokens: int = Field(examples=[1_200])
    passages: list[PassageOut]
    cut: list[CutOut]
    degraded: list[Reason] = Field(examples=[[]])


def in_threads(vault: Vault) -> Searching:
    """Search in threads of this process."""
    threads = ThreadPoolExecutor(1 if vault.config.embedding_kind == "offline" else MAX_CONCURRENT_SEARCHES, "search")

    async def searching(user_id: str, query: SearchQuery) -> SearchResult:
        return await asyncio.get_running_loop().run_in_executor(threads, search, vault, user_id, query)

    return searching


@router.post("/search", response_model=SearchOut, responses=responses(404, 415))
async def search_memory(request: Request, user_id: TheUser, body: SearchIn) -> Response:
    """Passages that answer a query, by words and by meaning."""
    query = SearchQuery(
        body.query,
        body.top_k,
        body.mode,
        body.scope,
        tuple(body.kinds),
        body.since,
        body.until,
        tuple(body.tags),
        path=body.path,
        is_typed=True,
        group=body.group,
        backlinks=body.backlinks,
    )

    async def make() -> str:
        result: SearchResult = await request.app.state.searching(user_id, query)
        hits = [HitOut(**hit.as_dict() | {"scope": hit.scope or "shared"}) for hit in result.hits]
        return SearchOut(hits=hits, degraded=reasons(result.degraded, request.app.state.vault.root)).model_dump_json()

    return await made_in_turn(request, user_id, make)


@router.get("/daily", response_model=DaysOut, responses=responses(404))
async def daily(
    request: Request,
    vault: TheVault,
    user_id: TheUser,
    date: Annotated[
        datetime.date | None, Query(description="Only the log of this day.", examples=["2026-01-30"])
    ] = None,
    until: Annotated[
        datetime.date | None, Query(description="Only this day and earlier ones.", examples=["2026-01-30"])
    ] = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 7,
) -> Response:
    """The daily logs, newest first; with `date` the log of that day, or 404."""

    def read() -> DaysOut:
        logs = daily_logs(vault, user_id, limit + 1, until) if date is None else [daily_log(vault, user_id, date)]
        days, has_more = page((DayOut.model_validate(log, from_attributes=True) for log in logs), limit)
        goes_on = has_more and days[-1].date > datetime.date.min
        return DaysOut(days=days, next=days[-1].date - datetime.timedelta(days=1) if goes_on else None)

    return await in_page_thread(request, user_id, read)


@router.post("/turns", status_code=201, responses=responses(409, 415))
def record(request: Request, vault: TheVault, caller: TheCaller, user_id: TheUser, body: TurnIn) -> RecordedOut:
    """Record a turn and learn from it; a new user's first turn makes the user. It can be searched at once."""
    second_looks: SecondLooks = request.app.state.second_looks
    recorded = record_turn(
        vault,
        user_id,
        body.user_message,
        body.assistant_message,
        skill=body.skill,
        exit_code=body.exit_code,
        conversation_id=body.conversation_id,
        backend=body.backend,
        reflection=body.reflection,
        cid=body.cid,
        created_at=body.created_at,
        record=body.record,
        as_of=caller.as_of,
    )
    not_looked_at = second_looks.submit(recorded.user_id, recorded.source, recorded.as_of)
    return RecordedOut(
        source=recorded.source,
        changes=[change.summary() for change in recorded.changes],
        memories=[KeptOut.model_validate(kept, from_attributes=True) for kept in recorded.memories],
        commits=list(recorded.commits),
        paused=reason(recorded.paused, vault.root) if recorded.paused else None,
        redactions=dict(recorded.redactions),
        degraded=reasons((*recorded.degraded, *filter(None, [not_looked_at])), vault.root),
        reason=recorded.reason,
        not_forgotten=reasons(recorded.not_forgotten, vault.root),
        to_forget=list(recorded.to_forget),
    )


@router.post("/conversations/end", responses=responses(404, 409, 415))
async def end(request: Request, vault: TheVault, user_id: TheUser, body: EndIn) -> EndedOut:
    """End a conversation: keep what of it is worth a memory, and what it was about. A second time does nothing."""
    work = partial(end_conversation, vault, user_id, body.conversation_id, wait_s=0)
    ended = await _in_own_thread(request.app.state.endings, work)
    return EndedOut(
        turns=ended.turns,
        memories=[memory.id for memory in ended.memories],
        summary=ended.summary,
        dropped=ended.dropped,
        degraded=reasons(ended.degraded, vault.root),
    )


@router.get("/turns", response_model=TurnsOut, responses=responses(404))
async def turns(
    request: Request,
    vault: TheVault,
    user_id: TheUser,
    limit: Annotated[int, Query(ge=1, le=200)] = 20,
    before: Annotated[
        str,
        Query(
            pattern=r"^(conversations/[0-9]{4}-[0-9]{2}-[0-9]{2}\.jsonl:[0-9]{1,9})?$",
            description="The source of a turn: only turns before it.",
            examples=["conversations/2026-01-30.jsonl:12"],
        ),
    ] = "",
) -> Response:
    """The recorded turns, newest first."""

    def read() -> TurnsOut:
        with vault.reading(user_id):
            found = newest_turns(vault, user_id, limit + 1, before)
            shown, has_more = page((_turn_out(source, turn) for source, turn in found), limit)
        return TurnsOut(turns=shown, next=shown[-1].source if has_more else None)

    return await in_page_thread(request, user_id, read)


@router.post("/prompt", response_model=PromptOut, responses=responses(404, 415))
async def prompt(request: Request, vault: TheVault, user_id: TheUser, body: PromptIn) -> Response:
    """What a model should know for a request."""

    def build() -> str:
        built = build_enhanced_prompt(
            vault,
            user_id,
            body.request,
            body.skill,
            private=body.private,
            budget=body.budget,
            context_summary=body.context_summary,
        )
        built = replace(built, degraded=[*reasons(built.degraded, vault.root)])
        return PromptOut.model_validate(built, from_attributes=True).model_dump_json()

    return await made_in_turn(request, user_id, lambda: run_in_threadpool(build))


async def _in_own_thread(places: asyncio.Semaphore, work: Callable[[], Result]) -> Result:
    """Do what may wait for a language model: few at once, in no thread of other requests, and in one that the process
    does not wait for at its end."""
    await places.acquire()
    loop, done = asyncio.get_running_loop(), Future[Result]()

    def run() -> None:
        try:
            if done.set_running_or_notify_cancel():  # else the client has left already
                done.set_result(work())
        except BaseException as error:
            done.set_exception(error)
        finally:
            with suppress(RuntimeError):  # the server has stopped
                loop.call_soon_threadsafe(places.release)

    threading.Thread(target=run, daemon=True, name="ending").start()
    return await asyncio.wrap_future(done)


def _turn_out(source: str, turn: Mapping[str, Any]) -> TurnOut:
    others = {"reflection": kept_reflection(turn.get("reflection")), "exit_code": _number(turn.get("exit_code"))}
    texts = {name: _text(turn.get(name)) for name in TurnOut.model_fields if name not in ("source", *others)}
    return TurnOut.model_validate({"source": source, **texts, **others})


def _number(value: object) -> int | None:
    return value if isinstance(value, int) else None


def _text(value: object) -> str | None:
    """A value of a record as text; a person may have written another type by hand."""
    return None if value is None else str(value)
