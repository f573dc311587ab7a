"""Conversations of ChatGPT's export: what the person has seen last becomes turns."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from typing import Any

import pytest

from vault_memory.core.exports import FORMATS, Conversation
from vault_memory.core.exports.chatgpt import UNSEEN
from vault_memory.core.exports.messages import IN_THE_FUTURE, WITHOUT_A_TIME

NOW = datetime(2026, 1, 30, 12, tzinfo=UTC)
AT = 1_700_000_000.5
CHATGPT = FORMATS["chatgpt"]


def message(role: str, *parts: Any, at: float | None = AT, kind: str = "text", **more: Any) -> dict[str, Any]:
    content = {"content_type": kind, "parts": list(parts)}
    return {"author": {"role": role}, "create_time": at, "content": content, "metadata": {}, "recipient": "all"} | more


def conversation(*messages: dict[str, Any] | None, **more: Any) -> dict[str, Any]:
    """One without branches, of these messages below a root that has none."""
    mapping: dict[str, Any] = {"root": {"id": "root", "message": None, "parent": None, "children": ["0"]}}
    for number, each in enumerate(messages):
        parent = str(number - 1) if number else "root"
        mapping[str(number)] = {"id": str(number), "message": each, "parent": parent, "children": [str(number + 1)]}
    tree = {"mapping": mapping, "current_node": str(len(messages) - 1)}
    return {"conversation_id": "c-1", "title": "x", "create_time": AT - 10} | tree | more


def read(value: dict[str, Any]) -> Conversation:
    assert CHATGPT.is_conversation(value)
    return CHATGPT.read(value, "alice", NOW)


def said(found: Conversation) -> list[tuple[str | None, str | None]]:
    return [(turn.user_message, turn.assistant_message) for turn in found.turns]


def test_messages_become_turns() -> None:
    found = read(
        conversation(
            message("system", "", metadata={"is_visually_hidden_from_conversation": True}),
            message("user", "我喜歡暗色主題", at=AT),
            message("assistant", "好。", at=AT + 1, metadata={"model_slug": "gpt-4o"}),
            message("user", "Thanks", at=AT + 60),
            message("assistant", "One.", at=AT + 61),
            message("assistant", "Two.", at=AT + 62),
        )
    )
    assert said(found) == [("我喜歡暗色主題", "好。"), ("Thanks", "One.\n\nTwo.")]
    first, second = found.turns
    assert (first.conversation_id, first.user_id, first.backend) == ("c-1", "alice", "chatgpt/gpt-4o")
    assert first.created_at == datetime.fromtimestamp(AT, UTC) and second.backend == "chatgpt"
    assert found.left_out == {UNSEEN: 1}


def test_the_branch_that_was_seen_last_counts() -> None:
    value = conversation(message("user", "Hi"), message("assistant", "Hello"))
    value["mapping"]["edited"] = {"message": message("user", "Hi!", at=AT + 5), "parent": "root", "children": ["new"]}
    value["mapping"]["new"] = {"message": message("assistant", "Hello!", at=AT + 6), "parent": "edited", "children": []}
    assert said(read(value)) == [("Hi", "Hello")]
    assert said(read(value | {"current_node": "new"})) == [("Hi!", "Hello!")]
    for lost in ("nowhere", None, 5):
        assert said(read(value | {"current_node": lost})) == [("Hi!", "Hello!")], "the newest leaf"
    value["mapping"]["edited"]["parent"] = "new"
    assert said(read(value | {"current_node": "new"})) == [("Hi!", "Hello!")], "a circle ends"


def test_what_nobody_has_seen_or_said_is_left_out_and_counted() -> None:
    hidden: list[dict[str, Any]] = [
        message("system", "You are ChatGPT"),
        message("tool", "a page of the web"),
        message("assistant", "search('x')", recipient="browser"),
        message("assistant", "thinking", kind="thoughts"),
        message("assistant", "recap", kind="reasoning_recap"),
        message("user", "about me", kind="user_editable_context"),
        message("user", "hidden", metadata={"is_visually_hidden_from_conversation": True}),
    ]
    found = read(conversation(message("user", "Hi"), *hidden, message("assistant", "Hello")))
    assert said(found) == [("Hi", "Hello")] and found.left_out == {UNSEEN: len(hidden)}


def test_pictures_files_and_speech_are_named_beside_the_persons_words() -> None:
    image = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-1"}
    heard = {"content_type": "audio_transcription", "text": "spoken words"}
    audio = {"content_type": "real_time_user_audio_video_asset_pointer"}
    attached = {
        "attachments": [
            {"name": "plan.pdf", "mime_type": "application/pdf"},
            {"name": "a.png", "mime_type": "image/png"},
        ]
    }
    found = read(
        conversation(
            message("user", image, image, "what is this?", kind="multimodal_text", metadata=attached),
            message("tool", image, kind="multimodal_text"),
            message("assistant", "A picture."),
            message("user", heard, audio, kind="multimodal_text", at=AT + 9),
            message("assistant", "Yes.", at=AT + 10),
            message("user", image, kind="multimodal_text", at=AT + 20),
        )
    )
    first, second, third = found.turns
    assert first.user_message == "what is this?" and first.context == "[file: plan.pdf]\n[image: a.png]\n[image]"
    assert first.assistant_message == "[image]\n\nA picture."
    assert (second.user_message, second.context) == ("spoken words", "[audio]")
    assert (third.user_message, third.context, third.assistant_message) == ("", "[image]", None)


def test_times_that_are_missing_wrong_or_the_same() -> None:
    """A time is part of a turn's name: it must be there, and the same at every import."""
    found = read(
        conversation(
            message("user", "a", at=None),
            message("assistant", "A", at=None),
            message("user", "b", at=AT),
            message("user", "c", at=AT),
            message("user", "d", at=AT * 1000 + 3000),
            message("user", "e", at=4e9),
        )
    )
    start = datetime.fromtimestamp(AT, UTC)
    assert [(turn.user_message, (turn.created_at - start).total_seconds()) for turn in found.turns] == [
        ("a", -10.0), ("b", 0.0), ("c", 1e-6), ("d", 3.0),
    ]  # fmt: skip
    assert found.left_out == {IN_THE_FUTURE: 1}
    no_time = read(conversation(message("user", "a", at=None), create_time=None))
    assert no_time.turns == [] and no_time.left_out == {WITHOUT_A_TIME: 1}


@pytest.mark.parametrize("id_", [None, "", 5, "x" * 500, " \n"])
def test_a_conversation_without_an_id_gets_the_same_one_each_time(id_: Any) -> None:
    value = conversation(message("user", "Hi")) | {"conversation_id": id_, "id": None}
    other = conversation(message("user", "Hello")) | {"conversation_id": id_, "id": None}
    (one,), (again,), (different,) = (read(each).turns for each in (value, dict(value), other))
    assert one.conversation_id == again.conversation_id != different.conversation_id
    assert one.conversation_id.startswith("chatgpt_")
    assert read(value | {"id": "c-2"}).turns[0].conversation_id == ("c-2" if not id_ else one.conversation_id)


def test_whatever_else_stands_there_breaks_nothing() -> None:
    seeded = random.Random(1)
    junk: list[Any] = [None, 5, -1e300, "x", [], {}, [None], {"text": 5}, True, {"role": {}}]

    def spoiled(value: Any) -> Any:
        if seeded.random() < 0.1:
            return seeded.choice(junk)
        if isinstance(value, dict):
            return {key: spoiled(inner) for key, inner in value.items()}
        return [spoiled(inner) for inner in value] if isinstance(value, list) else value

    whole = conversation(message("user", "Hi"), message("assistant", "Hello"), message("user", {"text": "x"}))
    for _ in range(500):
        value = spoiled(whole)
        if CHATGPT.is_conversation(value):
            for turn in CHATGPT.read(value, "alice", NOW).turns:
                assert turn.line() and turn.conversation_id
