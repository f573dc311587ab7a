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

from vault_memory.core.injection import without_injected

_LOOKED_AT = 1_000
"""Characters at the beginning and at the end of the words in which a housekeeping call shows ..."""
_INSTRUCTED = 300
"""... and at the beginning of the instructions: further on they may speak of titles without being about nothing else."""
HOUSEKEEPING = (
    r"\b(?:generate|create|write|provide|suggest)\b[^.\n]{0,60}\b(?:title|tags|follow-up questions)\b[^.\n]{0,60}"
    r"\b(?:for|of|in|about|summarizing|categorizing) (?:this|the|our)(?: \w+)? (?:conversation|dialogue|chat history|session)\b"
    r"(?! (?:list|view|page|window|screen|panel|header|bar|item|component|card|table))",
    r"^### Task:\s+(?:Generate a concise, 3-5 word title|Generate 1-3 broad tags|Suggest 3-5 relevant follow-up questions"
    r"|Analyze the chat history to determine|You are an autocompletion system)",
    r"^Create a concise, 3-5 word phrase as a header for the following",
    r"^Analyze if this message indicates a new conversation topic",
    r"^You are a (?:conversation |thread |chat )?title generator\b",
    r"使用四到五[个個]字直接返回[这這]句[话話]的[简簡]要主[题題]",
    r"(?:[对對][话話]|[会會][话話])[^\n。]{0,10}[总總][结結][为為成][^\n。]{0,20}(?:[标標][题題]|主[题題])",
    r"(?:[为為][这這以]?[^\n。]{0,6})(?:[对對][话話]|[会會][话話])[^\n。]{0,6}(?:生成|[产產]生|取)[^\n。]{0,12}[标標][题題]",
    r"^[简簡]要[总總][结結]一下[对對][话話][内內]容，用作[后後][续續]的上下文提示",
)
"""How the calls begin that clients make for themselves: a title, tags, follow-up questions, a summary to go on from.

Each is as narrow as their own wording, since a request of a person that is taken for one is answered without memory and kept nowhere.
"""


@dataclass(frozen=True)
class Exchange:
    """One request. `place` is the number of the message that holds the person's last `words`, which nothing was injected into.

    `key` is the same for a client's retry and for all rounds of a tool loop; `opening` for all requests of a conversation;
    `said` holds all that the messages say. A `housekeeping` call is the client's own: nobody spoke.
    """

    place: int
    words: str
    said: str
    key: str
    opening: str
    housekeeping: bool


def read(request: Any, patterns: Sequence[str] = ()) -> Exchange | None:
    """The exchange of a request, or None where no words of a person are found in it. `patterns` are further ones of housekeeping."""
    messages = request.get("messages") if isinstance(request, Mapping) else None
    if not isinstance(messages, list) or not all(isinstance(message, Mapping) for message in messages):
        return None
    spoken = [number for number, message in enumerate(messages) if _is_spoken(message)]
    if not spoken:
        return None
    texts = [text_of(message.get("content")) for message in messages]
    words = without_injected(texts[spoken[-1]]).strip()
    if not words:
        return None
    system = text_of(request.get("system"))
    instructions = [system, *(text for text, m in zip(texts, messages, strict=True) if m.get("role") in _SYSTEM)]
    return Exchange(
        place=spoken[-1],
        words=words,
        said="\n".join(texts),
        key=_digest([system, [_plain(message) for message in messages[: spoken[-1] + 1]]]),
        opening=_digest([system, [_plain(message) for message in messages[: spoken[0] + 1]]]),
        housekeeping=_is_housekeeping(words, instructions, patterns),
    )


_SYSTEM = ("system", "developer")


def text_of(content: Any) -> str:
    """The text of a content: as it is, or that of its parts, one after the other."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, Mapping)]
    return "\n".join(text for text in texts if isinstance(text, str))


def conversation_id(user_id: str, opening: str) -> str:
    """The name of a conversation whose client gives it none."""
    return f"conv_{_digest([user_id, opening])[:16]}"


def _is_spoken(message: Mapping[str, Any]) -> bool:
    """Whether a person says something in a message; Anthropic's clients hand tool results over in the user's name too."""
    content = message.get("content")
    if message.get("role") != "user" or not text_of(content).strip():
        return False
    parts = content if isinstance(content, list) else []
    return not any(isinstance(part, Mapping) and part.get("type") == "tool_result" for part in parts)


def _is_housekeeping(words: str, instructions: Iterable[str], patterns: Sequence[str]) -> bool:
    looked_at = [words[:_LOOKED_AT], words[-_LOOKED_AT:], *(text.strip()[:_INSTRUCTED] for text in instructions)]
    return any(re.search(pattern, text, re.IGNORECASE) for pattern in (*HOUSEKEEPING, *patterns) for text in looked_at)


def _plain(value: Any) -> Any:
    """A message without its cache marks, which clients move on from request to request."""
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items() if key != "cache_control"}
    return [_plain(inner) for inner in value] if isinstance(value, list) else value


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
