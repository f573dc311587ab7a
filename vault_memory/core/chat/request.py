"""A client's request to a chat model: the person's words in it, and its conversation.

Both OpenAI's chat completions and Anthropic's messages are read: in either, `messages` are {role, content}, and a
content is a text or a list of parts.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vault_memory.core.chat.messages import without_cache_marks
from vault_memory.core.chat.prompt import without_injected, without_tagged

MAX_MATCHED_WORD_CHARS = 1_000
"""Housekeeping patterns are matched with this many characters from each end of the person's words."""
MAX_MATCHED_INSTRUCTION_CHARS = 300
"""Housekeeping patterns are matched with the beginning of each instruction: an ordinary one may name titles later."""
HOUSEKEEPING = (
    # titles, tags, follow-up questions, in the wording of most clients
    r"\b(?:generate|create|write|provide|suggest)\b[^.\n]{0,60}\b(?:title|tags|follow-up questions)\b[^.\n]{0,60}"
    r"\b(?:for|of|in|about|summarizing|categorizing) (?:this|the|our)(?: \w+)? "
    r"(?:conversation|dialogue|chat history|session)\b"
    r"(?! (?:list|view|page|window|screen|panel|header|bar|item|component|card|table))",
    r"^You are a (?:conversation |thread |chat )?title generator\b",
    r"^You are an expert in crafting pithy titles\b",
    r"\bgive this conversation a name\b",
    # Open WebUI
    r"^### Task:\s+(?:Generate (?:a concise, 3-5 word title|1-3 broad tags|a detailed prompt for a[mn]? image)"
    r"|Suggest 3-5 relevant follow-up questions|Analyze the chat history to determine"
    r"|You are an autocompletion system)",
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
    r"(?:[为為][这這以]?[^\n。]{0,6})(?:[对對][话話]|[会會][话話])[^\n。]{0,6}"
    r"(?:生成|[产產]生|取)[^\n。]{0,12}[标標][题題]",
    r"^[简簡]要[总總][结結]一下[对對][话話][内內]容，用作[后後][续續]的上下文提示",
    # Claude Code: its own requests, its summaries, and the agents that it starts, whose instructions the model wrote
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
"""How the requests begin that clients make on their own: a title, tags, follow-up questions, a summary to go on from.

Each is as narrow as the client's wording: a person's request that matches gets no memory and is not recorded.
"""
_SYSTEM_ROLES = ("system", "developer")
_DIGIT = re.compile(r"\d")
_CLIENT_TAG = re.compile(r"<(system-reminder|environment_details)>")
"""Coding clients put reminders and the state of the editor into the person's message, in these tags."""
_INTERRUPTED = re.compile(r"\[Request interrupted by user[^]\n]{0,40}\]")
"""They also put there that the person interrupted a tool."""


@dataclass(frozen=True)
class ChatRequest:
    """One request. `words` are the person's last words, without text that we or the client added.

    They begin in part `part_index` (0 for a plain text) of the message `message_index`. `text` is the text of all
    messages. `key` is the same for a client's retry and for all rounds of a tool loop; `is_tool_round` marks the second
    and later rounds. `opening` is the same for all requests of a conversation. `is_housekeeping`: the client made this
    request on its own, nobody spoke.
    """

    message_index: int
    words: str
    text: str
    key: str
    opening: str
    is_housekeeping: bool
    is_tool_round: bool = False
    part_index: int = 0


def read_request(request: Any, patterns: Sequence[str] = ()) -> ChatRequest | None:
    """The request in parsed JSON, None if it holds no words of a person. `patterns` are further housekeeping ones."""
    messages = request.get("messages") if isinstance(request, Mapping) else None
    if not isinstance(messages, list) or not all(isinstance(message, Mapping) for message in messages):
        return None
    spoken = [index for index, message in enumerate(messages) if _has_persons_words(message)]
    if not spoken:
        return None
    first, last = spoken[0], spoken[-1]
    if any(_has_persons_file(message) for message in messages[last + 1 :]):
        return None  # the person's last message is a picture without words
    words = _persons_words(text_of(messages[last].get("content")))
    instructions = _texts(request.get("system"))
    for message in messages:
        if message.get("role") in _SYSTEM_ROLES:
            instructions += _texts(message.get("content"))
    spoken_before = [
        role_and_words
        for message in messages[: last + 1]
        if message.get("role") not in _SYSTEM_ROLES and (role_and_words := _role_and_words(message))
    ]
    stable = _stable_words(instructions)
    return ChatRequest(
        message_index=last,
        words=words,
        text="\n".join(text_of(message.get("content")) for message in messages),
        key=_digest([stable, spoken_before, _words_and_files(messages[last])]),
        opening=_digest([stable, _words_and_files(messages[first])]),
        is_housekeeping=_is_probe(request) or _is_housekeeping(words, instructions, patterns),
        is_tool_round=last < len(messages) - 1,
        part_index=_first_part_with_words(messages[last].get("content")),
    )


def text_of(content: Any) -> str:
    """The text of a content: the content itself, or the texts of its parts joined by line breaks."""
    return "\n".join(_texts(content))


def conversation_id(user_id: str, opening: str) -> str:
    """The id of a conversation whose client gives it none."""
    return f"conv_{_digest([user_id, opening])[:16]}"


def _texts(content: Any) -> list[str]:
    if isinstance(content, str):
        return [content]
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, Mapping)]
    return [text for text in texts if isinstance(text, str)]


def _persons_words(text: str) -> str:
    """The text without what we injected and without what the client added."""
    return _INTERRUPTED.sub("", without_tagged(without_injected(text), _CLIENT_TAG, "</{}>")).strip()


def _first_part_with_words(content: Any) -> int:
    parts = content if isinstance(content, list) else []
    return next((index for index, part in enumerate(parts) if _persons_words(text_of([part]))), 0)


def _has_persons_words(message: Mapping[str, Any]) -> bool:
    """Whether a message holds a person's words; Anthropic's clients send tool results with the role `user` too."""
    return message.get("role") == "user" and bool(_persons_words(text_of(message.get("content"))))


def _has_persons_file(message: Mapping[str, Any]) -> bool:
    """Whether a message holds a picture or file from the person."""
    kinds = _part_kinds(message.get("content"))
    return message.get("role") == "user" and "tool_result" not in kinds and bool(kinds - {"text"})


def _part_kinds(content: Any) -> set[str]:
    parts = content if isinstance(content, list) else []
    return {str(part.get("type")) for part in parts if isinstance(part, Mapping)}


def _is_housekeeping(words: str, instructions: Iterable[str], patterns: Sequence[str]) -> bool:
    texts = [words[:MAX_MATCHED_WORD_CHARS], words[-MAX_MATCHED_WORD_CHARS:]]
    texts += (text.strip()[:MAX_MATCHED_INSTRUCTION_CHARS] for text in instructions)
    return any(re.search(pattern, text, re.IGNORECASE) for pattern in (*HOUSEKEEPING, *patterns) for text in texts)


def _is_probe(request: Mapping[str, Any]) -> bool:
    """Whether the request asks for one token only: the client tests the key or the remaining quota."""
    return any(request.get(name) == 1 for name in ("max_tokens", "max_completion_tokens"))


def _stable_words(instructions: Iterable[str]) -> str:
    """Instructions without words that hold a digit: clients put the time and numbers there, which change each time."""
    return " ".join(word for text in instructions for word in text.split() if not _DIGIT.search(word))


def _role_and_words(message: Mapping[str, Any]) -> list[str]:
    """Role and words of a message, [] if it has none, such as a tool result, which some clients drop during a loop."""
    text = _persons_words(text_of(message.get("content")))
    return [str(message.get("role")), text] if text else []


def _words_and_files(message: Mapping[str, Any]) -> list[Any]:
    """Role and words of a message, and its images and other parts, however the client has packed them."""
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    others = [part for part in parts if not (isinstance(part, Mapping) and isinstance(part.get("text"), str))]
    return [_role_and_words(message), without_cache_marks(others)]


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
