"""ChatGPT's export: `conversations.json`, since 2026 in parts (`conversations-000.json` …), a list of conversations.

    {"conversation_id" or "id", "create_time", "current_node", "mapping": {node id: {"message", "parent", "children"}}}

A conversation is a tree, since a message may be edited and a reply made anew. What the person has seen last is the way
from `current_node` up to the root. A message has `author.role` (user, assistant, tool, system), `recipient` (`all`; of
a call of a tool another), `create_time` in seconds, and `content`: its `content_type` and its `parts`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from vault_memory.core.exports.messages import Conversation, Message, beside, conversation_of, time_of

UNSEEN = "messages of tools and of the system, and hidden ones"
_MEDIA = {
    "image_asset_pointer": "image",
    "audio_asset_pointer": "audio",
    "real_time_user_audio_video_asset_pointer": "audio",
}
_SHOWN = ("text", "multimodal_text", "code")
"""Other content is the model's thoughts, what a tool has returned, or the person's standing instructions."""


def is_conversation(value: Any) -> bool:
    """Whether a value of JSON is one of ChatGPT's conversations."""
    return isinstance(value, dict) and isinstance(value.get("mapping"), dict)


def read(value: Mapping[str, Any], user_id: str, now: datetime) -> Conversation:
    """The turns of a conversation (`is_conversation`), as the person has seen it last."""
    nodes = list(_branch(value))
    messages = [message for node in nodes if (message := _message(_table(node.get("message"))))]
    found = conversation_of(
        user_id,
        "chatgpt",
        value.get("conversation_id") or value.get("id"),
        messages,
        time_of(value.get("create_time")),
        now,
    )
    if unseen := sum(bool(node.get("message")) for node in nodes) - len(messages):
        found.left_out[UNSEEN] += unseen
    return found


def _branch(value: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The nodes from the root to the current one."""
    mapping, name = value["mapping"], value.get("current_node")
    if not isinstance(name, str) or name not in mapping:
        name = _newest_leaf(mapping)
    way: dict[str, Mapping[str, Any]] = {}
    while isinstance(name, str) and name in mapping and name not in way:
        way[name] = _table(mapping[name])
        name = way[name].get("parent")
    return reversed(way.values())


def _newest_leaf(mapping: Mapping[str, Any]) -> str | None:
    parents = {str(_table(node).get("parent")) for node in mapping.values()}
    leaves = [name for name in mapping if name not in parents]

    def made_at(name: str) -> float:
        at = time_of(_table(_table(mapping[name]).get("message")).get("create_time"))
        return at.timestamp() if at else 0.0

    return max(leaves, key=made_at, default=None)


def _message(message: Mapping[str, Any]) -> Message | None:
    """What a person has seen of a message; None for nothing."""
    role, metadata = _table(message.get("author")).get("role"), _table(message.get("metadata"))
    content = _table(message.get("content"))
    is_call = role != "user" and message.get("recipient") not in (None, "", "all")
    if role not in ("user", "assistant", "tool") or content.get("content_type") not in _SHOWN or is_call:
        return None
    if metadata.get("is_visually_hidden_from_conversation"):
        return None
    texts, kinds = _parts(content)
    if role == "tool" and not kinds:  # a picture that a tool has made belongs to the reply
        return None
    attached = [_table(each) for each in _list(metadata.get("attachments"))]
    named = [("image" if str(each.get("mime_type")).startswith("image/") else "file", each) for each in attached]
    things = beside(kinds, [(kind, str(each.get("name") or ""), "") for kind, each in named])
    text, model = "" if role == "tool" else "\n\n".join(texts), metadata.get("model_slug")
    return Message(
        role == "user",
        text,
        time_of(message.get("create_time")),
        things,
        model if isinstance(model, str) and role != "user" else "",
    )


def _parts(content: Mapping[str, Any]) -> tuple[list[str], Counter[str]]:
    """The texts of a content, and what else is in it, by kind. What was spoken stands in it as text, too."""
    texts, kinds = [], Counter[str]()
    parts = content.get("parts") if isinstance(content.get("parts"), list) else [content.get("text")]
    for part in parts or []:
        if isinstance(part, dict):
            kind = _MEDIA.get(str(part.get("content_type")))
            kinds.update([kind] if kind else [])
            part = part.get("text")
        if isinstance(part, str) and part.strip():
            texts.append(part.strip())
    return texts, kinds


def _table(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
