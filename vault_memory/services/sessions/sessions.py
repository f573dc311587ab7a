"""The sessions that are going on: what each was given, and the turn that it is at."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from vault_memory.core.chat import ChatRequest, ChatResponse, read_request
from vault_memory.core.clients import COMPACT, END, PROMPT, START, STOP, HookEvent
from vault_memory.errors import NotFound
from vault_memory.services.daemon import commit_left_logs
from vault_memory.services.distilling import end_conversation
from vault_memory.services.indexing import reconcile
from vault_memory.services.proxy import TurnRecorder, UserRequest
from vault_memory.services.retrieval import Memory, build_memory, build_opening
from vault_memory.services.sessions.beginnings import begun_as_of
from vault_memory.services.turns import WAIT_S, Recorded, SecondLooks, learn_waiting
from vault_memory.services.vault import Vault

MAX_SESSIONS = 200
MAX_PROMPTS = 500
MAX_GIVEN_CHARS = 200_000
MAX_TEXT_CHARS = 9_500
"""Claude Code takes 10,000 characters from a hook."""
MAX_ASKED_CHARS = 2_000
"""As many as a search reads."""

Work = Callable[[], None]


@dataclass
class _Turn:
    """What the person has asked, read as a whole by `whole` when the hook has its answer (None: it is so already), and
    the turn of it, once it is in the record. `second` is the same where the client has kept the same words, said before
    and not answered, in the conversation; else it has taken them back. `is_answered`: the model has replied."""

    request: UserRequest
    whole: Callable[[], ChatRequest | None] | None = None
    second: UserRequest | None = None
    recorded: Recorded | None = None
    is_answered: bool = False


@dataclass
class _Session:
    """`prompts` are what the person has typed (`_both_ends`), `given` the texts that went to the model; `has_opening`:
    with the profile among them. `turn` is the one that goes on, None if the last prompt makes none. It is of whoever
    had the id as of `begun_as_of`."""

    begun_as_of: int
    prompts: list[str] = field(default_factory=list)
    given: str = ""
    has_opening: bool = False
    turn: _Turn | None = None


class Sessions:
    """The sessions of all users of a vault; `answer` is called in one thread, and what it leaves to be done in one
    other. `close` it at the end."""

    def __init__(self, vault: Vault) -> None:
        self._sessions: OrderedDict[tuple[str, str, str], _Session] = OrderedDict()
        self._of(vault)

    def follow(self, vault: Vault) -> None:
        """Go on with the same vault, opened anew: its settings have changed."""
        self._second_looks.close()
        self._of(vault)

    def _of(self, vault: Vault) -> None:
        self.vault = vault
        self._recorder = TurnRecorder(vault)
        self._second_looks = SecondLooks(vault)

    def close(self) -> None:
        """End what is under way, and commit what waits for that."""
        self._second_looks.close()
        commit_left_logs(self.vault)

    def answer(self, user: str, event: HookEvent) -> tuple[str, Work]:
        """The text for the model, "" for none, and what is to be done when it has that. Raises `VaultMemoryError`."""
        user_id = self.vault.new_user(self.vault.user_of(user))
        self.vault.refuse_former(user_id)
        session = self._session(user_id, event)
        _, as_of = self.vault.id_now(user_id, session.begun_as_of)
        self.vault.refuse_former(user_id, session.begun_as_of)
        if event.is_of_agent:
            return "", _nothing
        if event.name == START:
            budget = self.vault.config.proxy_memory_tokens
            text = self._given(session, build_opening(self.vault, user_id, budget=budget), is_opening=True)
            return text, _nothing
        if event.name == PROMPT:
            return self._prompt(user_id, as_of, session, event)
        if event.name == STOP:
            if (turn := session.turn) is None:
                return "", _nothing
            turn.is_answered = True
            return "", lambda: self._stop(turn, event.text)
        if event.name == COMPACT:  # what the model was given is gone with what it is made short of
            session.prompts.clear()
            session.given, session.has_opening = "", False
        return "", (lambda: self._end(user_id, event)) if event.name == END else _nothing

    def _session(self, user_id: str, event: HookEvent) -> _Session:
        key = (user_id, event.client, event.session)
        session = self._sessions.get(key)
        if session is None:
            session = self._sessions[key] = _Session(begun_as_of(self.vault, user_id, event))
        self._sessions.move_to_end(key)
        if len(self._sessions) > MAX_SESSIONS:
            self._sessions.popitem(last=False)
        return session

    def _prompt(self, user_id: str, as_of: int, session: _Session, event: HookEvent) -> tuple[str, Work]:
        last, session.turn = session.turn, None
        before, asked = session.prompts, replace(event, text=_both_ends(event.text))
        is_again = last is not None and not last.is_answered and before[-1:] == [asked.text]
        kept, before = before, before[:-1] if is_again else before
        chat = self._chat(before, asked)
        if chat is None or chat.is_housekeeping:
            return "", _nothing
        session.prompts = [*before, asked.text][-MAX_PROMPTS:]
        request = UserRequest(chat, user_id, chat.conversation, self.vault.now(), as_of=as_of)
        second = self._chat(kept, asked) if is_again else None
        memory = build_memory(
            self.vault,
            user_id,
            chat.words or chat.context,
            said="\n".join([session.given, *before, asked.text]),
            budget=self.vault.config.proxy_memory_tokens,
            has_opening=session.has_opening,
        )
        text = self._given(session, memory, is_opening=not session.has_opening)
        same = [event.text if each == asked.text else each for each in before]
        session.turn = turn = _Turn(request, None if asked == event else lambda: self._chat(same, event))
        if second is not None:
            turn.second = replace(request, chat=second)
        return text, _nothing if event.is_command else lambda: self._record(turn)

    def _chat(self, before: Sequence[str], event: HookEvent) -> ChatRequest | None:
        """The same request as the one that the client sends to its model, as far as it tells which turn it is of."""
        said = [{"role": "user", "content": text} for text in (*before, event.text)]
        messages = [message for each in said for message in (each, {"role": "assistant", "content": "…"})][:-1]
        config = self.vault.config
        fields = {"messages": messages, "tools": [{}]}
        return read_request(fields, config.proxy_housekeeping, event.headers, config.proxy_asides)

    def _given(self, session: _Session, memory: Memory, *, is_opening: bool) -> str:
        if len(memory.text) > MAX_TEXT_CHARS:  # cut, it would have a tag that nothing closes
            return ""
        session.has_opening = session.has_opening or is_opening
        session.given = f"{session.given}\n{memory.text}"[-MAX_GIVEN_CHARS:]
        return memory.text

    def _record(self, turn: _Turn) -> None:
        self._read(turn)
        turn.recorded = self._recorder.accept(turn.request)
        if turn.recorded is not None and turn.recorded.source and turn.recorded.is_new:
            self._learn(turn.recorded)

    def _read(self, turn: _Turn) -> None:
        if turn.whole is not None:
            turn.request, turn.whole = replace(turn.request, chat=turn.whole() or turn.request.chat), None

    def _stop(self, turn: _Turn, text: str) -> None:
        if not text:
            return
        self._read(turn)
        said = ChatResponse(text, is_complete=True)
        if turn.second is not None and self._recorder.has(turn.second):  # the proxy has seen which it is
            recorded = self._recorder.complete(turn.second, said)
        else:
            recorded = self._recorder.complete(turn.request, said, accepted=turn.recorded)
        if recorded is not None:
            self._learn(recorded)
            self._second_looks.submit(recorded.user_id, recorded.source, recorded.as_of)

    def _learn(self, turn: Recorded) -> None:
        user_id, _ = self.vault.id_now(turn.user_id, turn.as_of)
        learn_waiting(self.vault, user_id, WAIT_S)
        reconcile(self.vault, user_id, turn.sources)

    def _end(self, user_id: str, event: HookEvent) -> None:
        with suppress(NotFound):  # nothing was said in it
            end_conversation(self.vault, user_id, event.session)
        commit_left_logs(self.vault)


def _both_ends(text: str) -> str:
    """What of a long text is searched for: people write what they want before or behind what they paste."""
    half = MAX_ASKED_CHARS // 2
    return text if len(text) <= MAX_ASKED_CHARS else f"{text[:half]}\n{text[-half + 1 :]}"


def _nothing() -> None:
    """There is nothing to be done."""
