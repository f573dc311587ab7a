"""Speech: what in a message the person says, cut into sentences and clauses.

Code, pasted text, quotations and links are replaced by blanks, so every offset stays valid in the written message.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from vault_memory.core.extraction.lexicon import Lexicon, Technology, default_lexicon
from vault_memory.core.extraction.voices.stretches import of_others
from vault_memory.core.text import fold, lazily

HEAD_CHARS, TAIL_CHARS = 1500, 700
"""Read at the two ends of a long message: people state wishes before or after the text they paste."""
MAX_TECHNOLOGIES = 40
MAX_CLAUSES, MAX_CLAUSE_CHARS = 36, 160
"""Most sentences and clauses read of a message, and most characters of a clause. They bound the time."""
MAX_OWN_QUOTE_CHARS = 42
"""A longer quotation is somebody else's text, whatever stands before it."""


@dataclass(frozen=True)
class Message:
    """A message as written, and its `speech`: of the same length, folded, blank where the person does not speak."""

    written: str
    speech: str
    technologies: list[Technology]
    left_out: int = 0
    """Characters between the two ends of a long message that were not read, without the line end in their place."""

    def place(self, offset: int) -> int:
        """Where an offset of `written` lies in the message as it came."""
        return offset if offset <= HEAD_CHARS else offset + self.left_out


class Span(NamedTuple):
    """A stretch of a message, and the punctuation that ends it (known for sentences only)."""

    start: int
    end: int
    mark: str = ""


def read(user_msg: str, lexicon: Lexicon) -> Message:
    """The message with all but the person's own speech blanked; of a long message, its two ends."""
    written = user_msg
    if len(user_msg) > HEAD_CHARS + TAIL_CHARS:
        written = f"{user_msg[:HEAD_CHARS]}\n\n{user_msg[-TAIL_CHARS:]}"
    speech = fold(_PICTURE.sub(" ", _INVISIBLE.sub(" ", written))).translate(_TYPOGRAPHIC).replace("tl;dr", "tl.dr")
    speech = _FENCE.sub(_blank, speech)
    without_code = _blank_code(speech, lexicon)
    others = of_others(written, speech, without_code, lexicon, HEAD_CHARS + 1 if len(written) < len(user_msg) else -1)
    speech = _blank_quotations(_without(without_code, others), lexicon)
    for link in (_ADDRESS, _PATH, lexicon.shape(_FILE)):
        speech = link.sub(lambda match: match[0] if match[0] in lexicon.names else _blank(match), speech)
    technologies = lexicon.technologies(speech, written)[:MAX_TECHNOLOGIES]
    return Message(written, speech, technologies, len(user_msg) - len(written))


def gives_orders_to_the_system(text: str) -> bool:
    """Whether a text tries to write the profile, to grant rights or to pose as the system (a prompt injection).

    The shipped words alone decide: what guards a profile is the same for everybody.
    """
    ends = fold(text[:HEAD_CHARS] + "\n" + text[-TAIL_CHARS:])
    said = _TAG_NAMED.sub(lambda tag: tag[0].strip("`</>"), ends)
    lexicon = default_lexicon()
    return bool(
        _TAG.search(said)
        or lexicon.words("words.hostile.orders").search(said)
        or lexicon.shape(_POSE).search(said)
        or lexicon.shape(_WRITES_PROFILE).search(said)
    )


_INVISIBLE = lazily("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff]")
_PICTURE = lazily("[\u2600-\u2bff\ud800-\udfff\U0001f000-\U0001faff]")
_TYPOGRAPHIC = str.maketrans("’‘著妳喎", "''着你啊")

_TAG_NAMED = lazily(r"`</?[a-z][\w-]{0,40}>`|(?<=[a-z] )<[a-z]{1,20}[_-][\w-]{0,40}>(?= [a-z]|[?,.])")
"""A tag that a sentence is about: in back-ticks, or one of a client between words («what is a <system-reminder>?»)."""
_TAG = lazily(r"</?(?:user|system|assistant|admin|profile|memory|instruction|im_|relevant|recent|active|conversation)")
_POSE = r"(?:^|\n|[>。;,] ?)(?:[\[<]|#+ ?)?{words.hostile.system}[\]>]? ?:|<\||\[/?(?:inst|system|admin)"
_WRITES_PROFILE = r"{words.hostile.writes}[^.。\n]{0,60}?{words.hostile.profile}"

_FENCE = lazily(r"(```|~~~).*?(?:\1|\Z)", re.DOTALL)
_INLINE = lazily(r"`[^`\n]{1,200}`")
_INLINE_NAME = lazily(r"`(?!(?:dark|light)`)([a-z][a-z0-9.+#]{0,14})`")
"""A word in back-ticks is speech, often the name of a technology; a value of a setting is not."""
_TRAILER = lazily(r"[ \t]*vault-[a-z]{1,20} ?:")
"""As in our own commits: nobody says it."""
_CODE = (
    r"{words.speech.code}.*[(){};=<>:/\"'.*\-]",
    r"\[?{words.speech.logs}|file \"|at [\w.$]+\(|[\w.]*(?:error|exception|warning) ?:|\[?[\d\-/ t]*\d\d:\d\d:\d\d",
    r"[\w.\[\]\"']{1,60} ?(?:[-=]>|[-+:=]?=) ?.|.*[{};]$",
    r"//|/\*|\*/|<[!/a-z]|[}{)\]|]|@\w|\$ |>>> |\.\.\. |\+\+\+|---|@@|#(?:!|include|define|#{0,5} )|% ",
    r"(?:[-*+] |\d{1,2}[.)] )?[\"']?[\w-]{1,40}[\"']? ?: ?[\"'{\[\d].*[,\"'\]}]$",
)
"""How a line of code, a log, markup or a table begins."""
_COMMENT = lazily(r"//|#|/\*|<!--|print|console")
_HAN = lazily(r"[\u4e00-\u9fff]")
_SIGNS = lazily(r"[{}();=<>]")
_PROSE = lazily(r"\b(?:i|my|me|please|you|the)\b")

_QUOTES = lazily(r"“[^”]*”?|「[^」]*」?|『[^』]*』?|《[^》]*》|\"[^\"]+\"|(?<![a-z0-9])'[^'\n]+'(?![a-z0-9])")
_OWN_QUOTE = '(?<![」”"』]){words.speech.own}(?: that| this| the| an?)? ?:? ?$'
_ADDRESS = lazily(r"(?:https?://|www\.)[^\s\u4e00-\u9fff,]{1,400}|[\w.+-]{1,60}@[\w-]{1,60}\.[\w.]{1,60}")
_PATH = lazily(r"(?<![\w/])(?:~|\.{1,2})?/[\w.\-]{1,80}(?:/[\w.\-]{0,80}){0,12}")
_FILE = r"(?<![\w.])[a-z0-9_\-]{1,60}(?:/[a-z0-9_.\-]{1,60})*\.{words.speech.files}"


def _blank(match: re.Match[str]) -> str:
    return "".join("\n" if char == "\n" else " " for char in match[0])


def _blank_code(speech: str, lexicon: Lexicon) -> str:
    speech = _INLINE.sub(_blank, _INLINE_NAME.sub(r" \1 ", speech))
    return "\n".join(" " * len(line) if _is_code(line.strip(" \t"), lexicon) else line for line in speech.split("\n"))


def _is_code(line: str, lexicon: Lexicon) -> bool:
    """Whether a line looks like code and not like a sentence that only begins or ends as code does."""
    if _TRAILER.match(line):
        return True
    if not any(lexicon.shape(shape).match(line) for shape in _CODE):
        return False
    if _COMMENT.match(line):
        return True
    has_signs = bool(_SIGNS.search(line))
    if han := _HAN.findall(line):
        return has_signs and len(han) < 8
    return has_signs or not _PROSE.search(line)


def _without(speech: str, spans: list[tuple[int, int]]) -> str:
    pieces, at = [], 0
    for start, end in spans:
        pieces += [speech[at:start], re.sub(r"[^\n]", " ", speech[start:end])]
        at = end
    return "".join([*pieces, speech[at:]])


def _blank_quotations(speech: str, lexicon: Lexicon) -> str:
    """Blank quotations, except a short one that the person's own verb introduces: 叫我「阿哲」, use "dark"."""

    def blanked(match: re.Match[str]) -> str:
        before = speech[max(0, match.start() - 30) : match.start()]
        is_own = len(match[0]) <= MAX_OWN_QUOTE_CHARS and lexicon.shape(_OWN_QUOTE).search(before)
        return re.sub("^.|[”」』》\"']$", " ", match[0]) if is_own else _blank(match)

    return _QUOTES.sub(blanked, speech)


# --- sentences and clauses --------------------------------------------------------------------------------------------


def sentences(speech: str) -> list[Span]:
    """The sentences in order; of a long message, the first and the last `MAX_CLAUSES // 2`."""
    spans: list[Span] = []
    start = 0
    for mark in _SENTENCE_END.finditer(speech):
        if speech[start : mark.start()].strip():
            spans.append(Span(start, mark.start(), mark[0]))
        start = mark.end()
    if speech[start:].strip():
        spans.append(Span(start, len(speech)))
    if len(spans) > MAX_CLAUSES:
        spans = [*spans[: MAX_CLAUSES // 2], *spans[-MAX_CLAUSES // 2 :]]
    return spans


def clause_spans(speech: str, sentence: Span, lexicon: Lexicon) -> list[Span]:
    """The clauses of a sentence, without blanks at their ends; at most `MAX_CLAUSES` of `MAX_CLAUSE_CHARS` each."""
    ends = lexicon.shape(_CLAUSE_END)
    spans: list[Span] = []
    start = sentence.start
    for stop, after in (
        *(mark.span() for mark in ends.finditer(speech, sentence.start, sentence.end)),
        (sentence.end, sentence.end),
    ):
        if text := speech[start:stop].strip():
            first = speech.index(text, start)
            spans.append(Span(first, first + min(len(text), MAX_CLAUSE_CHARS)))
        start = after
    return spans[:MAX_CLAUSES]


_SENTENCE_END = lazily(r"[。!?;\n]+|\.(?=\s|$|[\u4e00-\u9fff])(?<!e\.g\.)(?<!i\.e\.)(?<!vs\.)|~{2,}|…{1,}|\.{2,}")
_PAUSE = r",(?!\d{3})|:(?=[\s\u4e00-\u9fff])|—+| - |--+|[()~]|(?<=[\u4e00-\u9fff]{2}) +(?=[\u4e00-\u9fff]{2})"
_CLAUSE_END = _PAUSE + r"|(?={words.speech.begins}(?:\s|(?<=[\u4e00-\u9fff])))"
