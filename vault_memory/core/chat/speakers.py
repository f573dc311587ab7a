"""Who speaks in the messages on the person's side: the person, or a client, a file, a tool, another agent.

Each text part is judged by itself. A text beside a tool's result is never the person's. One that is a tag from end to
end is a client's, if the client is known for that tag, or if no HTML has a name like it (`ide_selection`). What only a
client's wording tells stands in `clients.toml`. Where the author is uncertain, the text is context and no words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice

from vault_memory.core.chat.messages import MODEL, PERSON, TEXT, TOOL_RESULT, Message, Part
from vault_memory.core.chat.prompt import without_injected
from vault_memory.core.clients import Command, Rules, Wrapper

_TAG = re.compile(r"<([A-Za-z][\w.:-]{0,63}(?: instructions)?)(?:\s[^<>]{0,2000})?>")
_CLOSING = re.compile(r"</([A-Za-z][\w.:-]{0,63}(?: instructions)?)\s{0,20}>")
_OF_A_CLIENT = re.compile(r"[A-Za-z][\w.:]*[_-][\w.:-]*\Z")
_LINE_TAG = re.compile(rf"(?:(?<![^\n>])|(?<=\n)[ \t]*){_TAG.pattern}")
_MOST_SPANS = 100
"""A text of more tags than a client writes is the person's: each is looked for to the end of it."""
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*+)"(?:\Z|(?=\n))', re.DOTALL)


@dataclass(frozen=True)
class Heard:
    """What is heard in a message: the person's `words`, from the part `part_index` on, and the `context`, whose author
    is uncertain. `others` are its parts that are no texts, such as pictures."""

    message_index: int
    words: str
    context: str
    part_index: int
    others: tuple[Part, ...] = ()


@dataclass(frozen=True)
class _Around:
    """What is known around a text: the rules of its client, those wrappers that count after what the model said before,
    the instructions before the first message, and whether the client names its conversations, as agents do."""

    rules: Rules
    wrappers: tuple[Wrapper, ...]
    instructions: str
    is_agent: bool


@dataclass
class _Judged:
    """A text part with the tags of which it consists, `rest` being what stands outside of them, and what is heard."""

    part: Part
    text: str
    tags: list[str]
    rest: str
    words: str = ""
    context: str = ""


def listen(messages: Sequence[Message], rules: Rules, instructions: str = "", *, is_agent: bool = False) -> list[Heard]:
    """What is heard in each message on the person's side, in order; nothing of one in which only others speak.

    `instructions` are those before the first of them; `is_agent`: the client names its conversations, as agents do.
    """
    heard: list[Heard] = []
    answer = ""
    for role, run in groupby(messages, key=lambda message: message.role):
        if role == PERSON:
            wrappers = tuple(each for each in rules.wrappers if each.counts_after(answer))
            heard += _heard_in(list(run), _Around(rules, wrappers, instructions, is_agent))
        elif role == MODEL:
            answer = [*run][-1].text
    return heard


def _heard_in(run: list[Message], around: _Around) -> Iterator[Heard]:
    judged = [_judge_message(message, around) for message in run]
    for command in around.rules.commands:
        _judge_commands(command, judged, around.rules)
    for message, parts in zip(run, judged, strict=True):
        words = "\n".join(each.words for each in parts if each.words)
        context = "\n".join(each.context for each in parts if each.context)
        others = tuple(part for part in message.parts if part.kind not in (TEXT, TOOL_RESULT))
        if _is_of_a_tool(message, around.rules):
            others = ()
        first = next((each.part.index for each in parts if each.words or each.context), 0)
        if words or context or others:
            yield Heard(message.index, words, context, first, others)


def _judge_message(message: Message, around: _Around) -> list[_Judged]:
    rules = around.rules
    texts = _not_between_tags([part for part in message.parts if part.kind == TEXT and part.text.strip()])
    is_result = _is_of_a_tool(message, rules)
    judged, is_ended = [], False
    for part in texts:
        text = without_injected(part.text)
        tags, rest = _leading_tags(text, rules)
        each = _Judged(part, text, tags, rest)
        judged.append(each)
        handed_on = next((found[1] for form in rules.delivered if (found := form.match(text.lstrip()))), "")
        if _is_interruption(text, rules):
            is_result = False
        elif handed_on:
            each.words = handed_on.strip()
        elif not is_ended and not is_result:
            is_lone = len(texts) == 1 and not around.is_agent
            each.words, each.context = _judge_text(text, around, is_lone=is_lone)
            is_ended = any(pattern.search(text) for pattern in rules.ends)
    return judged


def _is_of_a_tool(message: Message, rules: Rules) -> bool:
    return any(
        part.kind == TOOL_RESULT or (part.kind == TEXT and _begins(rules.tool_results, part.text))
        for part in message.parts
    )


def _not_between_tags(texts: list[Part]) -> list[Part]:
    """The texts without those that are just an opening tag, or its closing one, and what is between: so a client wraps
    a picture or a file that is a part of its own."""
    kept: list[Part] = []
    opened: tuple[str, int] | None = None
    for part in texts:
        text = part.text.strip()
        kept.append(part)
        if opened is None and (tag := _TAG.fullmatch(text)):
            opened = tag[1], len(kept) - 1
        elif opened and (closing := _CLOSING.fullmatch(text)) and closing[1] == opened[0]:
            del kept[opened[1] :]
            opened = None
    return kept


def _judge_text(text: str, around: _Around, *, is_lone: bool) -> tuple[str, str]:
    """The words in a text, and the context, which stays with words or alone."""
    words, context = _words_and_context(text, around)
    return words, context if words or is_lone else ""


def _words_and_context(text: str, around: _Around) -> tuple[str, str]:
    rules = around.rules
    text, context = _without_asides(text.lstrip("\ufeff"), rules)
    text = _before_ends(text, rules, around.instructions).strip()
    wrapped = (wrapper.words(text) for wrapper in around.wrappers)
    text = next((words for words in wrapped if words is not None), text)
    if not text or _begins(rules.asides, text):
        return "", context
    spans = _spans(text)
    if spans and any(name in rules.word_tags for name, _ in spans):
        text = "\n".join(inner for name, inner in spans if name in rules.word_tags)
    elif spans and all(_OF_A_CLIENT.match(name) for name, _ in spans):
        return "", f"{text}\n{context}".strip()
    for pattern in rules.interruptions:
        text = pattern.sub("", text)
    text = text.strip()
    if rules.is_quoted and (quoted := _QUOTED.match(text)):
        context = f"{text[quoted.end() :]}\n{context}".strip()  # a file that was piped in
        text = re.sub(r'\\(["\\])', r"\1", quoted[1])
    return text, context


def _judge_commands(command: Command, run: Sequence[Sequence[_Judged]], rules: Rules) -> None:
    """Hear what the person typed, and nothing in the command's template: what follows in the message, or else in the
    next one."""
    places = [(number, at) for number, parts in enumerate(run) for at in range(len(parts))]
    flat = [run[number][at] for number, at in places]
    commands = [index for index, each in enumerate(flat) if command.tags[0] in each.tags]
    for count, index in enumerate(commands):
        each = flat[index]
        before = flat[commands[count - 1] + 1 : index] if count else flat[:index]
        until = commands[count + 1] if count + 1 < len(commands) else len(flat)
        if any(command.before_local & set(other.tags) for other in before) or any(
            command.after_local & set(other.tags) for other in flat[index + 1 : until]
        ):
            continue
        inner = dict(_known_spans(each.text, rules))
        each.words, each.context = " ".join(filter(None, (inner.get(tag, "").strip() for tag in command.tags))), ""
        templates = [at for at in range(index + 1, until) if places[at][0] == places[index][0]]
        if not templates and not each.rest.strip():
            templates = [at for at in range(index + 1, until) if places[at][0] == places[index][0] + 1]
        for at in templates:
            if _is_interruption(flat[at].text, rules):
                break
            flat[at].words = flat[at].context = ""


def _begins(patterns: Iterable[re.Pattern[str]], text: str) -> bool:
    text = text.lstrip()
    return any(pattern.match(text) for pattern in patterns)


def _is_interruption(text: str, rules: Rules) -> bool:
    return any(pattern.fullmatch(text.strip()) for pattern in rules.interruptions)


def _before_ends(text: str, rules: Rules, instructions: str) -> str:
    """The text before what the client adds to the words: known wording, or what its instructions end with, too."""
    at = min((found.start() for pattern in rules.ends if (found := pattern.search(text))), default=len(text))
    text = text[:at].rstrip()
    same = _common_end(text, instructions.rstrip())
    at = text.find("\n\n", max(0, len(text) - same - 2)) if same else -1
    return text[:at] if at > 0 and text[at:].strip() else text


def _common_end(one: str, other: str) -> int:
    """How many characters two texts have in common at their ends."""
    if one[-1:] != other[-1:]:
        return 0
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[len(one) - middle :] == other[len(other) - middle :]:
            low = middle
        else:
            high = middle - 1
    return low


def _without_asides(text: str, rules: Rules) -> tuple[str, str]:
    """The text without the spans of tags that a client is known for, and what of these may not be the client's: what
    follows one that is never closed, and a span that closes more than once."""
    kept: list[str] = []
    uncertain: list[str] = []
    position = 0
    for tag in _LINE_TAG.finditer(text):
        if tag.start() < position or tag[1] not in rules.aside_tags:
            continue
        kept.append(text[position : tag.start()])
        closing = _closing(text, tag)
        position = closing.end() if closing else len(text)
        if closing is None or f"</{tag[1]}" in text[tag.end() : closing.start()]:
            uncertain.append(text[tag.start() : position].strip())
    return "".join([*kept, text[position:]]), "\n".join(uncertain)


def _closing(text: str, tag: re.Match[str]) -> re.Match[str] | None:
    """The closing tag of a span: the last one of its name. A file in it may hold closing ones, and opening ones after
    them, so that what stands between looks like a person's words. None if it is never closed."""
    at = len(text)
    while (at := text.rfind(f"</{tag[1]}", tag.end(), at)) >= 0:
        closing = _CLOSING.match(text, at)
        if closing and closing[1] == tag[1]:
            return closing
    return None


def _leading_tags(text: str, rules: Rules) -> tuple[list[str], str]:
    """The names of the known tags that a text begins with, and what follows their spans."""
    names: list[str] = []
    at = 0
    while tag := _TAG.match(text, _after_space(text, at)):
        closing = _closing(text, tag) if tag[1] in rules.aside_tags else None
        if closing is None:
            break
        names.append(tag[1])
        at = closing.end()
    return names, text[at:]


def _known_spans(text: str, rules: Rules) -> Iterator[tuple[str, str]]:
    """Name and content of each span of a known tag."""
    for tag in islice(_TAG.finditer(text), _MOST_SPANS):
        if tag[1] in rules.aside_tags and (end := text.find(f"</{tag[1]}>", tag.end())) >= 0:
            yield tag[1], text[tag.end() : end]


def _spans(text: str) -> list[tuple[str, str]]:
    """Name and content of the spans that a text consists of; [] if anything stands outside of them."""
    found: list[tuple[str, str]] = []
    at = 0
    while at < len(text):
        tag = _TAG.match(text, at)
        closing = _closing(text, tag) if tag else None
        if not tag or not closing or len(found) == _MOST_SPANS:
            return []
        found.append((tag[1], text[tag.end() : closing.start()].strip()))
        at = _after_space(text, closing.end())
    return found


def _after_space(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at
