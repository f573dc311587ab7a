"""What a request to a chat model is about: whose words it ends with, to which conversation it belongs, and whether anybody spoke.

Both forms are read, OpenAI's chat completions and Anthropic's messages: in either, `messages` are {role, content}, a content
is a text or a list of parts.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vault_memory.core.chat.injection import without, without_injected

_LOOKED_AT = 1_000
"""Characters at the beginning and at the end of the words in which a housekeeping call shows ..."""
_INSTRUCTED = 300
"""... and at the beginning of each part of the instructions: further on they may speak of titles without being about
nothing else."""
HOUSEKEEPING = (
    # titles, tags, further questions, in the words of most clients
    r"\b(?:generate|create|write|provide|suggest)\b[^.\n]{0,60}\b(?:title|tags|follow-up questions)\b[^.\n]{0,60}"
    r"\b(?:for|of|in|about|summarizing|categorizing) (?:this|the|our)(?: \w+)? (?:conversation|dialogue|chat history|session)\b"
    r"(?! (?:list|view|page|window|screen|panel|header|bar|item|component|card|table))",
    r"^You are a (?:conversation |thread |chat )?title generator\b",
    r"^You are an expert in crafting pithy titles\b",
    r"\bgive this conversation a name\b",
    # Open WebUI
    r"^### Task:\s+(?:Generate (?:a concise, 3-5 word title|1-3 broad tags|a detailed prompt for a[mn]? image)"
    r"|Suggest 3-5 relevant follow-up questions|Analyze the chat history to determine|You are an autocompletion system)",
    r"^Create a concise, 3-5 word phrase as a header for the following",
    r"^Your task is to reflect the speaker's likely facial expression through a fitting emoji",
    r"^You have been provided with a set of responses from various models to the latest user query",
    r"^Available Tools: ?\[",
    # LibreChat
    r"^Analyze this conversation and provide:\s+1\. The detected language",
    r"^Please generate a concise title \(max",
    # LobeChat, Cherry Studio, NextChat
    r"^You are a professional conversation summarizer\. Generate a concise title",
    r"^You are an emoji expert who selects",
    r"^Summarize the conversation into a title in\b",
    r"\bsummarize the user's conversation into a title\b",
    r"使用四到五[个個]字直接返回[这這]句[话話]的[简簡]要主[题題]",
    r"(?:[对對][话話]|[会會][话話])[^\n。]{0,10}[总總][结結][为為成][^\n。]{0,20}(?:[标標][题題]|主[题題])",
    r"(?:[为為][这這以]?[^\n。]{0,6})(?:[对對][话話]|[会會][话話])[^\n。]{0,6}(?:生成|[产產]生|取)[^\n。]{0,12}[标標][题題]",
    r"^[简簡]要[总總][结結]一下[对對][话話][内內]容，用作[后後][续續]的上下文提示",
    # Claude Code: its own calls, its summaries of itself, and the agents that it sends out, whose orders the model wrote
    r"^Warmup$",
    r"^Analyze if this message indicates a new\b",
    r"^Summarize this coding (?:conversation|session)\b",
    r"^Please write a 5-10 word title\b",
    r"^Generate a concise, sentence-case title\b",
    r"^Extract any file paths that this command reads or modifies\b",
    r"^Your task is to process Bash commands that an AI coding agent\b",
    r"^Your task is to create a detailed summary of the conversation so far\b",
    r"^This session is being continued from a previous conversation\b",
    r"^\[SUGGESTION MODE\b",
    r"^You are a security monitor for autonomous AI coding agents\b",
    r"^You are an assistant for performing a web search tool use\b",
    r"^You are (?:an agent|a [a-z ]{4,60} specialist) for Claude Code\b",
)
"""How the calls begin that clients make for themselves: a title, tags, follow-up questions, a summary to go on from.

Each is as narrow as their own wording, since a request of a person that is taken for one is answered without memory and kept nowhere.
"""
_DIGIT = re.compile(r"\d")
_ASIDE = re.compile(r"<(system-reminder|environment_details)>")
"""What coding clients put into the person's message as their own: reminders, the state of the editor, ..."""
_INTERRUPTED = re.compile(r"\[Request interrupted by user[^]\n]{0,40}\]")
"""... and that the person would not wait for a tool."""


@dataclass(frozen=True)
class Exchange:
    """One request. `place` is the number of the message that holds the person's last `words`, which nothing was injected into,
    and `part` that of the part of its content with which they begin (0 where it is a plain text).

    `key` is the same for a client's retry and for all rounds of a tool loop, `is_round` says that this is a later one of
    these; `opening` is the same for all requests of a conversation; `said` holds all that the messages say. A `housekeeping`
    call is the client's own: nobody spoke.
    """

    place: int
    words: str
    said: str
    key: str
    opening: str
    housekeeping: bool
    is_round: bool = False
    part: int = 0


def read(request: Any, patterns: Sequence[str] = ()) -> Exchange | None:
    """The exchange of a request, or None where no words of a person are found in it. `patterns` are further ones of housekeeping."""
    messages = request.get("messages") if isinstance(request, Mapping) else None
    if not isinstance(messages, list) or not all(isinstance(message, Mapping) for message in messages):
        return None
    spoken = [number for number, message in enumerate(messages) if _is_spoken(message)]
    if not spoken:
        return None
    first, last = spoken[0], spoken[-1]
    if any(_is_shown(message) for message in messages[last + 1 :]):
        return None  # the last thing from the person is a picture without words
    words = _persons(text_of(messages[last].get("content")))
    instructions = _texts(request.get("system"))
    for message in messages:
        if message.get("role") in _SYSTEM:
            instructions += _texts(message.get("content"))
    talk = [told for m in messages[: last + 1] if m.get("role") not in _SYSTEM and (told := _told(m))]
    ordered = _steady(instructions)
    return Exchange(
        place=last,
        words=words,
        said="\n".join(text_of(message.get("content")) for message in messages),
        key=_digest([ordered, talk, _uttered(messages[last])]),
        opening=_digest([ordered, _uttered(messages[first])]),
        housekeeping=_is_probe(request) or _is_housekeeping(words, instructions, patterns),
        is_round=last < len(messages) - 1,
        part=_first_part(messages[last].get("content")),
    )


_SYSTEM = ("system", "developer")


def text_of(content: Any) -> str:
    """The text of a content: as it is, or that of its parts, one after the other."""
    return "\n".join(_texts(content))


def _texts(content: Any) -> list[str]:
    if isinstance(content, str):
        return [content]
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, Mapping)]
    return [text for text in texts if isinstance(text, str)]


def _persons(text: str) -> str:
    """What of a text the person said: nothing that was injected, and no aside of the client's."""
    return _INTERRUPTED.sub("", without(without_injected(text), _ASIDE, "</{}>")).strip()


def _first_part(content: Any) -> int:
    """The part with which the person's words begin."""
    parts = content if isinstance(content, list) else []
    return next((at for at, part in enumerate(parts) if _persons(text_of([part]))), 0)


def conversation_id(user_id: str, opening: str) -> str:
    """The name of a conversation whose client gives it none."""
    return f"conv_{_digest([user_id, opening])[:16]}"


def _is_spoken(message: Mapping[str, Any]) -> bool:
    """Whether a person says something in a message; Anthropic's clients hand tool results over in the user's name too."""
    return message.get("role") == "user" and bool(_persons(text_of(message.get("content"))))


def _is_shown(message: Mapping[str, Any]) -> bool:
    """Whether a person shows something: a picture, a file."""
    kinds = _kinds(message.get("content"))
    return message.get("role") == "user" and "tool_result" not in kinds and bool(kinds - {"text"})


def _kinds(content: Any) -> set[str]:
    parts = content if isinstance(content, list) else []
    return {str(part.get("type")) for part in parts if isinstance(part, Mapping)}


def _is_housekeeping(words: str, instructions: Iterable[str], patterns: Sequence[str]) -> bool:
    looked_at = [words[:_LOOKED_AT], words[-_LOOKED_AT:], *(text.strip()[:_INSTRUCTED] for text in instructions)]
    return any(re.search(pattern, text, re.IGNORECASE) for pattern in (*HOUSEKEEPING, *patterns) for text in looked_at)


def _is_probe(request: Mapping[str, Any]) -> bool:
    """Whether one token is all that is asked for: a client tries the key, or how much may still be used."""
    return any(request.get(name) == 1 for name in ("max_tokens", "max_completion_tokens"))


def _steady(instructions: Iterable[str]) -> str:
    """Instructions without the words that hold a digit: clients put the time there, and numbers that change with each request."""
    return " ".join(word for text in instructions for word in text.split() if not _DIGIT.search(word))


def _told(message: Mapping[str, Any]) -> list[str]:
    """Who says what; not the tools, whose old results some clients leave out in the middle of a loop."""
    text = _persons(text_of(message.get("content")))
    return [str(message.get("role")), text] if text else []


def _uttered(message: Mapping[str, Any]) -> list[Any]:
    """What a message says, and its images and other parts, however the client has packed them."""
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    others = [part for part in parts if not (isinstance(part, Mapping) and isinstance(part.get("text"), str))]
    return [_told(message), _unmarked(others)]


def _unmarked(value: Any) -> Any:
    """A value without its cache marks, which clients move on from request to request."""
    if isinstance(value, Mapping):
        return {key: _unmarked(inner) for key, inner in value.items() if key != "cache_control"}
    return [_unmarked(inner) for inner in value] if isinstance(value, list) else value


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
