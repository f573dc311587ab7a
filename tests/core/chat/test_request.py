"""A client's request: the person's words in it, its conversation, and memory put into it, to the byte."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.core.chat.place import inject
from vault_memory.core.chat.request import ChatRequest, conversation_id, read_request


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def part(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def assistant(content: Any, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, **more}


def asked(*messages: dict[str, Any], **more: Any) -> ChatRequest:
    found = read_request({"messages": list(messages), **more})
    assert found is not None
    return found


def test_the_words_are_the_last_ones_of_the_person() -> None:
    found = asked(
        {"role": "system", "content": "s"}, user("one"), assistant("a"), user([{"type": "text", "text": "two"}])
    )
    assert (found.words, found.message_index) == ("two", 3)
    assert found.text == "s\none\na\ntwo"


def test_rounds_of_a_tool_loop_have_the_same_key() -> None:
    first = asked(user("one"))
    called = assistant(None, tool_calls=[{"id": "t"}])
    assert asked(user("one"), called, {"role": "tool", "tool_call_id": "t", "content": "r"}).key == first.key
    result = {"type": "tool_result", "tool_use_id": "t", "content": "r"}
    reminder = {"type": "text", "text": "<system-reminder>be brief</system-reminder>"}
    round_ = asked(user("one"), assistant([{"type": "tool_use", "id": "t"}]), user([result, reminder]))
    assert round_.key == first.key and round_.words == "one" and round_.message_index == 0


def test_words_beside_a_tool_result_are_the_persons() -> None:
    """A person who interrupts a tool writes into the message that brings its result, after the result."""
    result = {"type": "tool_result", "tool_use_id": "t", "content": "r"}
    words = [
        {"type": "text", "text": "[Request interrupted by user for tool use]"},
        {"type": "text", "text": "port 80"},
    ]
    called = assistant([{"type": "tool_use", "id": "t"}])

    def claude(*messages: Any) -> ChatRequest:
        return asked(*messages, system="You are Claude Code, Anthropic's official CLI for Claude.")

    found = claude(user("one"), called, user([result, *words]))
    assert (found.words, found.message_index, found.part_index) == ("port 80", 2, 2)
    assert claude(user("one"), called, user([result, words[0]])).key == claude(user("one")).key


def test_a_moved_cache_mark_does_not_change_the_key() -> None:
    marked = user([{"type": "text", "text": "one", "cache_control": {"type": "ephemeral"}}])
    assert asked(marked).key == asked(user([{"type": "text", "text": "one"}])).key
    assert asked(user("one"), assistant("a"), user("one")).key != asked(user("one")).key


def test_the_key_stays_whatever_a_client_changes_around_the_words() -> None:
    """Claude Code numbers each request in its instructions, moves its reminders on, and clears old results away."""
    billing = "x-anthropic-billing-header: cc_version=2.1.177.{}; cc_entrypoint=cli; cch={};"
    use = assistant([{"type": "tool_use", "id": "t"}])
    result = user([{"type": "tool_result", "tool_use_id": "t", "content": "r"}])
    one = asked(
        user("zero"),
        assistant([part("a"), {"type": "tool_use", "id": "s"}]),
        user([{"type": "tool_result", "tool_use_id": "s", "content": "long"}]),
        assistant("b"),
        user([part("<system-reminder>no todos</system-reminder>"), part("one")]),
        system=[part(billing.format("01c", "36ee5")), part("It is 10:31. Be kind.")],
    )
    two = asked(
        *(user("zero"), assistant("a"), assistant("b"), user("one"), use, result),
        system=[part(billing.format("8fe", "0aaa9")), part("It is 10:32. Be kind.")],
    )
    assert (one.words, one.key, one.opening) == ("one", two.key, two.opening)
    assert (one.is_tool_round, two.is_tool_round) == (False, True)
    picture = {"type": "image", "source": {"data": "AA"}}
    assert asked(user([picture, {"type": "text", "text": "one"}])).key != asked(user("one")).key


def test_text_that_a_client_adds_is_not_the_persons_words() -> None:
    aside = "<system-reminder>\nAlways answer in French.\n</system-reminder>"
    found = asked(user([{"type": "text", "text": aside}, {"type": "text", "text": "hi"}]))
    assert found.words == "hi"
    after = asked(user("hi"), assistant("a"), user(f"{aside}<environment_details>x</environment_details>\n"))
    assert (after.words, after.message_index) == ("hi", 0)


def test_a_conversation_is_known_by_its_opening() -> None:
    opening = [{"role": "system", "content": "s"}, user("one")]
    later = asked(*opening, assistant("a"), user("two"))
    assert later.opening == asked(*opening).opening != asked(user("one")).opening
    assert conversation_id("alice", later.opening) == conversation_id("alice", later.opening)
    assert conversation_id("alice", later.opening) != conversation_id("bob", later.opening)
    assert asked(user("one"), system="a").opening != asked(user("one"), system="b").opening


@pytest.mark.parametrize(
    "request_",
    [
        *(None, 7, [], {}, {"messages": "hi"}, {"messages": []}, {"messages": [7]}, {"messages": [{"role": "user"}]}),
        {"messages": [user("  ")]},
        {"messages": [user([7, {"type": "image"}])]},
        {"messages": [assistant("hi")]},
        {"messages": [user("<vault-memory>\nx\n</vault-memory>\n")]},
        {"messages": [user("This session is being continued from a previous conversation that ran out of context.")]},
        {"messages": [user("hi"), assistant("hello"), user([{"type": "image_url", "image_url": {"url": "data:,"}}])]},
    ],
)
def test_a_request_without_a_persons_words_is_none(request_: Any) -> None:
    assert read_request(request_) is None


@pytest.mark.parametrize(
    "words",
    [
        "### Task:\nGenerate a concise, 3-5 word title with an emoji summarizing the chat history.",
        "### Task:\nGenerate 1-3 broad tags categorizing the main themes of the chat history",
        "### Task:\nSuggest 3-5 relevant follow-up questions or prompts that the user might naturally ask next",
        "Please write a 5-10 word title for the following conversation:\n\nUser: hi",
        "User: hi\n\nProvide a concise, 5-word-or-less title for the conversation, using its same language.",
        "Create a concise, 3-5 word phrase as a header for the following query: hi",
        "使用四到五个字直接返回这句话的简要主题，不要解释",
        "简要总结一下对话内容，用作后续的上下文提示 prompt，控制在 200 字以内",
        "請為這段對話產生一個簡短的標題",
        "### Task:\nGenerate a detailed prompt for am image generation task based on the given language",
        "Your task is to reflect the speaker's likely facial expression through a fitting emoji. Interpret",
        "Analyze this conversation and provide:\n1. The detected language of the conversation\n2. A concise title",
        "Please generate a concise title (max 40 characters) for a conversation that starts with: hi",
        "Please write a 5-10 word title the following conversation:\n\nUser: hi",
        "Based on the chat history, give this conversation a name. Keep it short.",
        "Your task is to create a detailed summary of the conversation so far, paying close attention",
        "[SUGGESTION MODE: Suggest what the user might naturally type next into Claude Code.]",
        "Warmup",
    ],
)
def test_requests_that_clients_make_on_their_own_are_recognised(words: str) -> None:
    assert asked(user(words)).is_housekeeping


@pytest.mark.parametrize(
    "words",
    [
        "You are a title generator. You output ONLY a thread title.",
        "Analyze if this message indicates a new conversation topic. If it does, extract a title.",
        "你是一名擅长会话的助理，你需要将用户的会话总结为 10 个字以内的标题",
        "You are a professional conversation summarizer. Generate a concise title that captures the essence",
        "Summarize the conversation into a title in English within 10 words ignoring instructions",
        "Generate a concise, sentence-case title (3-7 words) that captures the main topic",
        "Summarize this coding conversation in under 50 characters.",
        "Extract any file paths that this command reads or modifies. For commands like",
        "Your task is to process Bash commands that an AI coding agent wants to run.",
        "You are an agent for Claude Code, Anthropic's official CLI for Claude.",
        "You are a file search specialist for Claude Code, Anthropic's official CLI for Claude.",
    ],
)
def test_clients_own_requests_are_recognised_by_their_instructions(words: str) -> None:
    parts = [{"type": "text", "text": text} for text in ("You are Claude Code.", words)]
    assert asked(user("hi"), system=parts).is_housekeeping, "in whichever part they stand"
    assert asked({"role": "system", "content": words}, user("hi")).is_housekeeping
    assert asked(user("hi"), system=[{"type": "text", "text": words}]).is_housekeeping


@pytest.mark.parametrize(
    "words",
    [
        "### Task:\nCreate a React component for the sign-up page",
        "Write a title for my essay about green tea",
        "Create a title bar for the conversation list of my chat app",
        "Summarize our conversation so far",
        "Suggest tags for this photo of the harbour",
        "幫我的作文想一個標題",
        "请总结这篇文章的主题",
        "寫一段兩個人的對話，主題是考試",
        "Summarize the conversation between Hamlet and Ophelia",
        "Warmup exercises before a run, please",
        "You are an agent. What do you do?",
        "Available tools for woodworking?",
    ],
)
def test_a_persons_words_are_not_taken_for_a_clients_request(words: str) -> None:
    assert not asked(user(words)).is_housekeeping
    assert not asked({"role": "system", "content": "Answer kindly. " * 30 + words}, user("hi")).is_housekeeping


def test_a_request_for_one_token_is_a_probe() -> None:
    assert (
        asked(user("quota"), max_tokens=1).is_housekeeping and not asked(user("quota"), max_tokens=1000).is_housekeeping
    )


def test_a_setting_adds_housekeeping_patterns_and_asides() -> None:
    request = {"messages": [user("BOT: name this chat")]}
    found = read_request(request, [r"^BOT:"])
    assert found is not None and found.is_housekeeping
    found = read_request({"messages": [user([part("Note of the editor: x"), part("hi")])]}, asides=["(?i)NOTE OF"])
    assert found is not None and found.words == "hi"


MEMORY = '<vault-memory>\n主題："dark"\\\n</vault-memory>'
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
texts = st.text(min_size=1)
contents = texts | st.lists(st.fixed_dictionaries({"type": st.just("text"), "text": texts}), min_size=1, max_size=3)
message_lists = st.lists(
    st.dictionaries(st.text(), anything, max_size=2).flatmap(
        lambda more: contents.map(lambda content: {**more, "role": "user", "content": content})
    ),
    min_size=1,
    max_size=4,
)


@pytest.mark.slow
@given(
    st.dictionaries(st.text(), anything, max_size=3),
    message_lists,
    st.integers(0, 3),
    st.integers(0, 2),
    st.sampled_from([None, 2, "\t"]),
)
def test_memory_changes_one_message_and_no_other_byte(
    more: dict[str, Any], messages: list[dict[str, Any]], index: int, part_index: int, indent: int | str | None
) -> None:
    request = {**more, "messages": messages}
    index %= len(messages)
    part_index %= len(messages[index]["content"])
    text = json.dumps(request, indent=indent)
    after = inject(text, MEMORY, index, part_index)
    expected = copy.deepcopy(request)
    content = expected["messages"][index]["content"]
    if isinstance(content, str):
        expected["messages"][index]["content"] = f"{MEMORY}\n\n{content}"
    else:
        content.insert(part_index, {"type": "text", "text": f"{MEMORY}\n\n"})
    assert json.loads(after) == expected
    at = next(n for n, (a, b) in enumerate(zip(text, after, strict=False)) if a != b) if text != after else 0
    added = len(after) - len(text)
    assert text[:at] == after[:at] and text[at:] == after[at + added :], "one insertion, and nothing else"


def test_of_a_key_that_comes_twice_the_last_counts_as_in_json() -> None:
    text = '{"messages": [], "messages" : [ {"content": "no", "content" : "hi" , "role":"user"} ] }'
    assert json.loads(inject(text, "M", 0))["messages"][0]["content"] == "M\n\nhi"


@pytest.mark.parametrize("text", ["{}", "[]", '{"messages": {}}', '{"messages": [{"content": 7}]}', ""])
def test_json_that_is_not_a_request_gets_no_memory(text: str) -> None:
    with pytest.raises((ValueError, KeyError, StopIteration)):
        inject(text, "M", 0)


def test_what_an_editor_sends_first_names_no_conversation_and_the_same_words_there_are_no_retry() -> None:
    """Copilot's chats all begin with the state of the editor: "continue" in a second one was taken for a retry."""

    def request(*said: str) -> ChatRequest:
        state = {"role": "user", "content": "<environment_info>\nLinux\n</environment_info>"}
        roles = ("user", "assistant")
        rest = [{"role": roles[at % 2], "content": text} for at, text in enumerate(said)]
        found = read_request({"messages": [state, *rest]})
        assert found
        return found

    haiku, login = request("Write a haiku"), request("Explain the login code")
    assert haiku.opening != login.opening
    one, other = (request(f"Do {what}", f"{what} is done", "continue") for what in ("this", "that"))
    assert one.opening != other.opening and one.key != other.key and one.words == other.words == "continue"
