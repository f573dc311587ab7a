"""Who speaks in the messages on the person's side: the person, or a client, a file, a tool, another agent.

A document may hold whatever a client writes around words. So a text is only ever narrowed down, each rule looks at
what the ones before have left, and what is left is words only if no document can have written it, wherever in the
client's form it stands. Where the author is uncertain, the text is context and no words.

Each text part is judged by itself. What stands behind a mark of programs (`clients/frames.py`) is uncertain, unless
all forms of the client are known. A text beside a tool's result is never the person's. One that is a tag from end to
end is a client's, if the client is known for that tag, or if no HTML has a name like it (`ide_selection`). What only a
client's wording tells stands in `clients.toml`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from vault_memory.core.chat import tags
from vault_memory.core.chat.messages import INSTRUCTIONS, MODEL, PERSON, TEXT, TOOL, TOOL_RESULT, Message, Part
from vault_memory.core.chat.prompt import without_injected, without_injected_before
from vault_memory.core.clients import Command, Rules, Wrapper, end_of_typed, is_template

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

    @property
    def said(self) -> str:
        """The words, or where there are none, the context."""
        return self.words or self.context

    @property
    def text(self) -> str:
        return f"{self.words}\n\n{self.context}".strip()


@dataclass(frozen=True)
class _Around:
    """What is known around a text: the rules of its client, those wrappers that count after what the model said before,
    the instructions before the first message, whether the client names its conversations, as agents do, and whether a
    tool has just given something, so that the client may hand on what the person types meanwhile."""

    rules: Rules
    wrappers: tuple[Wrapper, ...]
    instructions: str
    is_agent: bool
    is_tool_running: bool


class _Text(NamedTuple):
    """What is heard in a text. `is_torn`: it closes a tag that began in an earlier part; `is_framed`: what is context
    stands behind a mark of programs."""

    words: str = ""
    context: str = ""
    is_torn: bool = False
    is_framed: bool = False


@dataclass
class _Judged:
    """A text part, what is heard in it, and whether it stands beside a tool's result; `may_stand_alone`: a context that
    may be a person's paste is heard without words."""

    part: Part
    is_of_a_tool: bool
    words: str = ""
    context: str = ""
    may_stand_alone: bool = False


def listen(messages: Sequence[Message], rules: Rules, instructions: str = "", *, is_agent: bool = False) -> list[Heard]:
    """What is heard in each message on the person's side, in order; nothing of one in which only others speak.

    `instructions` are those before the first of them; `is_agent`: the client names its conversations, as agents do.
    """
    heard: list[Heard] = []
    answer = before = ""
    for role, group in groupby(messages, key=lambda message: message.role):
        run = list(group)
        if role == PERSON:
            wrappers = tuple(each for each in rules.wrappers if each.counts_after(answer))
            is_tool_running = before == TOOL or any(part.kind == TOOL_RESULT for each in run for part in each.parts)
            heard += _heard_in(run, _Around(rules, wrappers, instructions, is_agent, is_tool_running))
        elif role == MODEL:
            answer = run[-1].text
        before = before if role == INSTRUCTIONS else role
    return heard


def _heard_in(run: list[Message], around: _Around) -> Iterator[Heard]:
    judged = [_judge_message(message, around) for message in run]
    for command in around.rules.commands:
        _judge_commands(command, [each for parts in judged for each in parts])
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
    texts = _texts(message, rules)
    is_of_a_tool, is_ended, may_hand_on = _is_of_a_tool(message, rules), False, around.is_tool_running
    judged: list[_Judged] = []
    torn_at = 0
    for part in texts:
        text = without_injected_before(part.text)
        if _is_interruption(text, rules):
            is_of_a_tool = False
        each = _Judged(part, is_of_a_tool)
        handed_on = _handed_on(text, rules) if may_hand_on else ""
        may_hand_on = bool(handed_on)  # a file behind other texts may be nothing but this form
        if handed_on:
            each.words = handed_on
        elif not is_ended and not is_of_a_tool:
            heard = _judge_text(text, around)
            each.words, each.context = without_injected(heard.words), without_injected(heard.context)
            each.may_stand_alone = heard.is_framed or not around.is_agent
            if heard.is_torn:
                for earlier in judged[torn_at:]:
                    earlier.words = earlier.context = ""
                torn_at = len(judged)
            is_ended = any(pattern.search(text) for pattern in rules.ends)
            is_ended = is_ended or (heard.is_framed and not rules.marks_are_typed)
        judged.append(each)
    is_lone = sum(bool(each.words or each.context) for each in judged) == 1
    for each in judged:
        if not (each.words or (is_lone and each.may_stand_alone)):
            each.context = ""
    return judged


def _is_of_a_tool(message: Message, rules: Rules) -> bool:
    """Whether a message holds a tool's result. A text names one in front of a command only: what follows is a template,
    which may hold such a text, too."""
    for part in message.parts:
        if part.kind == TOOL_RESULT or (part.kind == TEXT and _begins(rules.tool_results, part.text)):
            return True
        if part.kind == TEXT and _opening(part.text) in {name for each in rules.commands for name in each.tags}:
            break
    return any(part.kind == TOOL_RESULT for part in message.parts)


def _handed_on(text: str, rules: Rules) -> str:
    """What the person typed while a tool runs, if that is what a client writes around it."""
    found = (form.match(text.lstrip()) for form in rules.delivered)
    return next((each[1].strip() for each in found if each), "")


def _texts(message: Message, rules: Rules) -> list[Part]:
    """The texts of a message without two forms in which clients put a file into a part of its own: behind one that
    announces it, and between one that is just an opening tag and the last one that is just its closing tag."""
    kept: list[Part] = []
    opened: tuple[str, int] | None = None
    begins: dict[str, int] = {}
    is_introduced = introduces = False
    for part in message.parts:
        if part.kind != TEXT:
            continue
        is_introduced, introduces = introduces, _begins(rules.introductions, part.text)
        text = part.text.strip()
        closing = tags.CLOSING.fullmatch(text)
        if closing and opened and closing[1] == opened[0]:
            begins[opened[0]] = opened[1]
            del kept[opened[1] :]
            opened = None
        elif closing and opened is None and closing[1] in begins:
            del kept[begins[closing[1]] :]
        elif text and not is_introduced and not introduces:
            if opened is None and (tag := tags.TAG.fullmatch(text)):
                opened = tag[1], len(kept)
            kept.append(part)
    return kept


def _judge_text(text: str, around: _Around) -> _Text:
    rules = around.rules
    text = text.lstrip("\ufeff").replace("\r\n", "\n")
    if rules.is_quoted and (quoted := _QUOTED.match(text.strip())):  # a file that was piped in stands behind
        return _Text(re.sub(r'\\(["\\])', r"\1", quoted[1]), text.strip()[quoted.end() :].strip())
    stretch = _wrapped(text, around.wrappers, len(text) - len(text.lstrip()))
    if stretch is None:
        leading = tags.end_of_leading(text, rules.aside_tags)
        if _begins(rules.asides, text) or _begins(rules.asides, text[leading:]):
            return _Text()
        stretch = _wrapped(text, around.wrappers, leading) if leading else None
    if stretch:
        start, end = stretch
        if tags.has_any(text[:start], rules.aside_tags):  # a document in them may have written a template, too
            start = max(start, tags.end_of_last(text, rules.aside_tags))
        text = text[start:end]
    if (judged := _judge_tagged(text.strip(), rules)) is not None:
        return judged
    end = _end_of_words(text, rules, around.instructions)
    is_framed = False
    if not stretch:
        if not rules.marks_are_typed and is_template(text):
            return _Text("", text.strip(), is_framed=True)
        typed = end_of_typed(text, is_known=rules.marks_are_typed)
        is_framed = typed < min(end, tags.first(text, rules.aside_tags))
        end = typed if is_framed else end
    outside = tags.outside(text, rules.aside_tags, end)
    words, uncertain = outside.certain, [outside.uncertain]
    if _begins(rules.asides, text[:end]) or _begins(rules.asides, words):
        return _Text()
    for pattern in rules.interruptions:
        words = pattern.sub("", words)
    words = words.strip()
    if is_framed:
        uncertain = [text[end:].strip()]
    elif not stretch:
        typed = end_of_typed(words, is_known=rules.marks_are_typed)
        is_framed = typed < len(words)
        uncertain.append(words[typed:].strip())
        words = words[:typed].strip()
    return _Text(words, "\n".join(filter(None, uncertain)), outside.is_torn, is_framed)


def _wrapped(text: str, wrappers: Iterable[Wrapper], at: int) -> tuple[int, int] | None:
    """Where the words are in a client's template that begins at a place."""
    return next((found for wrapper in wrappers if (found := wrapper.stretch(text, at))), None)


def _judge_tagged(text: str, rules: Rules) -> _Text | None:
    """The words and the context in a text of tags from end to end, None if it is none of a client's: the person's words
    are where the client puts them, in the first tag or in the last."""
    ends = tags.ends(text)
    if ends is None:
        return None
    first, last = ends
    if first in rules.first_word_tags or last in rules.last_word_tags:
        inner = tags.first_inner(text) if first in rules.first_word_tags else tags.last_inner(text)
        typed = end_of_typed(inner, is_known=True)
        return _Text(inner[:typed].strip(), inner[typed:].strip(), is_framed=typed < len(inner))
    is_of_client = all(tags.is_of_a_client(name) or name in rules.aside_tags for name in ends)
    if not is_of_client and not any(f"<{name}" in text for name in rules.first_word_tags | rules.last_word_tags):
        return None
    is_known = tags.end_of_leading(text, rules.aside_tags) == len(text)
    return _Text("", "" if is_known else text)


def _judge_commands(command: Command, run: Sequence[_Judged]) -> None:
    """Hear what the person typed, and nothing in the command's template: that goes to the end of what stands on the
    person's side, and may hold whatever a client writes, such as another command."""
    names = [_opening(each.part.text) for each in run]
    is_local = False
    for at, (name, each) in enumerate(zip(names, run, strict=True)):
        is_local = is_local or name in command.before_local
        if each.is_of_a_tool or name not in command.tags:
            continue
        if name == command.local_tag and (is_local or {*names[at + 1 : at + 2]} & command.after_local):
            continue
        typed = command.text.match(each.part.text) if name == command.tag else None
        is_whole = typed and typed.end() == len(each.part.text.rstrip()) and at + 1 < len(run)
        given = typed.groups() if typed and is_whole else typed.groups()[:1] if typed else ()
        each.words, each.context = " ".join(part.strip() for part in given if part and part.strip()), ""
        for template in run[at + 1 :]:
            template.words = template.context = ""
        return


def _opening(text: str) -> str:
    """The name of the tag with which a text begins, "" if it begins with none."""
    tag = tags.TAG.match(text.lstrip())
    return tag[1] if tag else ""


def _begins(patterns: Iterable[re.Pattern[str]], text: str) -> bool:
    text = text.lstrip()
    return any(pattern.match(text) for pattern in patterns)


def _is_interruption(text: str, rules: Rules) -> bool:
    return any(pattern.fullmatch(text.strip()) for pattern in rules.interruptions)


def _end_of_words(text: str, rules: Rules, instructions: str) -> int:
    """Where in a text the words end and the client adds something: known wording, or what its instructions end with."""
    at = min((found.start() for pattern in rules.ends if (found := pattern.search(text))), default=len(text))
    text = text[:at].rstrip()
    same = _common_end(text, instructions.rstrip())
    at = text.find("\n\n", max(0, len(text) - same - 2)) if same else -1
    return at if at > 0 and text[at:].strip() else len(text)


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
