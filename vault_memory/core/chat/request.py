"""A client's request to a chat model: the person's words in it, and its conversation.

The words are what `speakers` hears in the messages. A conversation is known by a header, else by how it begins.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any

from vault_memory.core.chat.messages import (
    INSTRUCTIONS,
    MODEL,
    PERSON,
    TEXT,
    Message,
    Messages,
    read_messages,
    without_cache_marks,
)
from vault_memory.core.chat.speakers import Heard, listen
from vault_memory.core.clients import MAX_SIGN_CHARS, Rules, conversation_of, is_of_nobody, rules_for
from vault_memory.core.memories import ID_PREFIXES

_DIGIT = re.compile(r"\d")


@dataclass(frozen=True)
class ChatRequest:
    """One request. `words` are the person's last words, without text that we or the client added; `context` came with
    them, from whom is uncertain: nothing is learned from it. One of them may be empty.

    They begin in part `part_index` (0 for a plain text) of the message `message_index`. `text` is the text of all
    messages. `key` is the same for a client's retry and for all rounds of a tool loop; `is_tool_round` marks the second
    and later rounds. `conversation` is the id that a header gives it, else "", and `opening` is the same for all
    requests of a conversation, as far as the messages tell. `speaker` is the `name` that the client gives who said
    them, else "": it may be somebody else than the user. `is_housekeeping`: the client made this request on its own,
    or an agent gives an order: nobody spoke. The call of one of the `final_tools`, or of the `forced_tool`, is the
    answer.
    """

    message_index: int
    words: str
    text: str
    key: str
    opening: str
    is_housekeeping: bool
    is_tool_round: bool = False
    part_index: int = 0
    context: str = ""
    conversation: str = ""
    forced_tool: str = ""
    final_tools: frozenset[str] = frozenset()
    speaker: str = ""

    def heard_only(self) -> ChatRequest:
        """The same with the words as context: they are not the user's, and teach nothing."""
        return replace(self, words="", context=f"{self.words}\n\n{self.context}".strip())

    def answer(self, calls: Sequence[tuple[str, str]]) -> str:
        """What the calls (name, arguments) say that are the answer; "" if none is."""
        forced = [arguments for name, arguments in calls if name == self.forced_tool]
        final = [_only_text(arguments) for name, arguments in calls if name in self.final_tools]
        return "\n\n".join(filter(None, forced or final))


def read_request(
    request: Any,
    patterns: Sequence[str] = (),
    headers: Mapping[str, str] | None = None,
    asides: Sequence[str] = (),
) -> ChatRequest | None:
    """The request in parsed JSON, None if it holds no words of a person. `headers` are by name, in lower case.

    A person adds `patterns` of requests that a client makes on its own, and of `asides`, texts that are not the
    person's, from their beginning.
    """
    messages = read_messages(request)
    return None if messages is None else read_chat(messages, patterns, headers, asides)


def read_chat(
    messages: Messages,
    patterns: Sequence[str] = (),
    headers: Mapping[str, str] | None = None,
    asides: Sequence[str] = (),
) -> ChatRequest | None:
    """The same of a request that is read into messages already."""
    headers = headers or {}
    given = messages.messages
    instructions = _instructions(messages)
    rules = rules_for(headers, instructions, patterns, asides)
    conversation = conversation_of(headers)
    heard = listen(given, rules, instructions[-1] if instructions else "", is_agent=bool(conversation))
    spoken = [each for each in heard if each.words or each.context]
    if not spoken or heard[-1] is not spoken[-1]:
        return None  # nobody's words, or the person's last message is a picture without words
    last, said = spoken[-1], _said(spoken[-1])
    place = next(at for at, each in enumerate(given) if each.index == last.message_index)
    return ChatRequest(
        message_index=last.message_index,
        words=last.words,
        text="\n".join(each.text for each in given),
        key=_digest(
            [said, sum(_said(each) == said for each in spoken[:-1]), "" if conversation else _answered(given[:place])]
        ),
        opening=_digest([_stable_words(instructions), _said(_first_words(spoken, rules))]),
        is_housekeeping=messages.is_probe
        or (rules.turns_have_tools and not messages.has_tools)
        or is_of_nobody(headers)
        or any(rules.is_own(text[:MAX_SIGN_CHARS]) for text in instructions)
        or any(rules.is_own(each.text) for each in _in_a_row(messages, heard, place)),
        is_tool_round=place < len(given) - 1,
        part_index=last.part_index,
        context=last.context,
        conversation=conversation,
        forced_tool=messages.forced_tool,
        final_tools=rules.final_tools,
        speaker=given[place].name,
    )


def conversation_id(user_id: str, opening: str) -> str:
    """The id of a conversation whose client gives it none."""
    return f"{ID_PREFIXES['conversation']}_{_digest([user_id, opening])[:16]}"


def _instructions(messages: Messages) -> list[str]:
    """Those before the first message on the person's side: what follows is of one request, and changes."""
    before = takewhile(lambda each: each.role != PERSON, messages.messages)
    parts = [part.text for each in before if each.role == INSTRUCTIONS for part in each.parts if part.kind == TEXT]
    return [*messages.instructions, *parts]


def _in_a_row(messages: Messages, heard: Sequence[Heard], place: int) -> list[Heard]:
    """What is heard in the messages at and before a place with no other speaker's between them: a client may write
    what it wants, and the words that it is about, as two."""
    row = takewhile(lambda each: each.role == PERSON, messages.messages[place::-1])
    indexes = {each.index for each in row}
    return [each for each in heard if each.message_index in indexes]


def _first_words(spoken: Sequence[Heard], rules: Rules) -> Heard:
    """Those of the person: what comes with them, such as the state of an editor, is the same in other conversations."""
    return next((each for each in spoken if each.words and not rules.is_own(each.words)), spoken[0])


def _answered(before: Sequence[Message]) -> str:
    """What the model said last before the words: the same words in another conversation answer something else."""
    return next((" ".join(each.text.split()) for each in reversed(before) if each.role == MODEL and each.text), "")


def _only_text(arguments: str) -> str:
    """The text that is all that the arguments hold, else the arguments."""
    try:
        values = json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments
    texts = [*values.values()] if isinstance(values, Mapping) else []
    return texts[0] if len(texts) == 1 and isinstance(texts[0], str) else arguments


def _said(heard: Heard) -> list[Any]:
    """What the person said, however the client has packed it: words, and pictures and files."""
    words = " ".join(heard.said.split())
    return [words, [without_cache_marks(part.value) for part in heard.others]]


def _stable_words(instructions: Iterable[str]) -> str:
    """Instructions without words that hold a digit: clients put the time and numbers there, which change each time."""
    return " ".join(word for text in instructions for word in text.split() if not _DIGIT.search(word))


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
