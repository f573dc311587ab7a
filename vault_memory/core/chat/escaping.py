"""Make text that is not ours harmless in a prompt: it cannot close or open one of our tags, and holds no mark by which
a chat template divides messages. Everything else stays, and what is changed stays readable.

What a mark looks like is a rule, because every model family has marks of its own: any tag that is not HTML, any
bracket with a bar. It is looked for in a plain view of the text, in which no disguise is left.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from vault_memory.core.chat.plain_view import ANGLES, CODE, CODE_SIGNS, COLONS, PLAIN, PLAIN_HAN, SQUARES, PlainView
from vault_memory.core.reading import show_controls
from vault_memory.core.text import lazily

TAGS = (
    *("user-profile", "relevant-memories", "recent-activity", "active-skill", "conversation-history", "user-request"),
    *("context-summary", "recalled-memories", "past-mistakes", "vault-memory"),
)
"""The tags of our prompts."""
ROLES = ("system", "user", "human", "assistant", "developer", "ai", "bot", "chatbot", "tool", "function")
_ANGLED = (
    *TAGS,
    *(*ROLES, "model", "tools", "role", "instruction", "instructions", "prompt", "context", "answer", "task", "result"),
    # one word, in the templates of Llama, Mistral, Gemma, Baichuan, GLM, InternLM, EXAONE, and of code models
    *("s", "sys", "inst", "bos", "eos", "pad", "unk", "mask", "sop", "eop", "eoh", "eoa", "eom", "eot", "eod", "soh"),
    *("turn", "endoftext", "startoftext", "endofturn", "channel", "message", "escape", "pre", "suf", "mid", "filename"),
    # calls of tools and thinking
    *("think", "thinking", "thought", "reasoning", "reflection", "invoke", "parameter", "call", "artifact", "tooluse"),
)
"""They are marks also when something is wrong with their brackets."""
_HTML = (
    *("a", "abbr", "article", "aside", "b", "blockquote", "body", "br", "button", "caption", "center", "cite"),
    *("code", "col", "dd", "del", "details", "dfn", "div", "dl", "dt", "em", "figcaption", "figure", "font", "footer"),
    *("form", "h1", "h2", "h3", "h4", "h5", "h6", "head", "header", "hr", "html", "i", "iframe", "input", "ins"),
    *("kbd", "label", "li", "link", "main", "mark", "meta", "nav", "ol", "option", "p", "path", "picture", "q", "rp"),
    *("rt", "ruby", "samp", "script", "section", "select", "small", "source", "span", "strong", "style", "sub"),
    *("summary", "sup", "svg", "table", "tbody", "td", "textarea", "tfoot", "th", "thead", "time", "title", "tr", "u"),
    *("ul", "var"),
)
_TYPES = (
    *("int", "uint", "long", "ulong", "short", "float", "double", "decimal", "number", "num", "bool", "boolean", "str"),
    *(
        "uuid",
        "url",
        "uri",
        "json",
        "string",
        "char",
        "byte",
        "bytes",
        "void",
        "object",
        "any",
        "unknown",
        "never",
        "null",
        "auto",
        "dynamic",
    ),
    r"[fiu]\d{1,3}",
    "[iu]size",
)
"""Types in small letters or capitals, as in `vector<int>`; others have one capital, and no mark has."""
_SQUARED = (
    *(
        "inst",
        "sys",
        "args",
        "think",
        "img",
        "prefix",
        "suffix",
        "middle",
        "gmask",
        "smask",
        "bos",
        "eos",
        "sep",
        "cls",
    ),
    *("system prompt", "available tools", "tool calls", "tool results", "tool content", "call id", "img break"),
    "img end",
)
_CAPITALS = (*_SQUARED, "system", "user", "human", "assistant", "bot", "audio", "transcribe", "pad", "mask", "unk")
"""They are marks in square brackets only when they are written in capitals: `[USER]`, but not `[user](a.md)`."""


def _names(names: tuple[str, ...]) -> str:
    return "|".join(re.sub(r"[-_ ]", r"[-_\\s]{1,4}", name) for name in names)


_BEFORE = r"[\s/\\]*+(?:(?:<!--[^\n]{0,80}?-->|<[^<>\n]{0,80}>)[\s/\\]*+){0,4}+"
"""Blanks, slashes, comments and tags."""
_AROUND = r"(?:[^\w<>\n!?%@#:=-]|_){0,20}"
"""Signs that disguise a tag; those of comments, arrows, mentions and processing instructions are not among them."""
_ANY = r"(?:[^\w<>\n]|_|<[^<>\n]{0,80}>){0,20}"
"""Any signs, comments and tags."""
_TO_END = r"(?:[\s/=][^<>\n]{0,200})?>"
# Media without an attribute are marks of models that see and hear.
_IS_HTML = rf"(?:{'|'.join(_HTML)})[\s/>]|(?:audio|img|video)\s+[a-z]|(?<=/)(?:audio|video)>"
_LETTER = r"(?:\w|[\u0900-\u109f\u1780-\u17ff])"
"""Scripts of India and its neighbours write vowels with signs."""
_MARK = lazily(
    rf"<(?={_BEFORE}(?:\||(?:{_names(_ANGLED)})(?![\w-])|(?:unused|special|reserved)(?:[-_]?token)?[-_]?\d))"
    rf"|<(?={_AROUND}(?:{_names(_ANGLED)})(?![\w-])[^<>\n]{{0,200}}>)"
    # a known name with an attribute, or any with bars, whatever stands before it; `x <= result > 3` is code
    rf"|<(?=[^\w>\n]{{0,20}}?[!#:=@%?<-])(?![=-]+\s)(?={_ANY}(?:{_names(_ANGLED)})(?![\w-])(?:[\s/|]*>|\s+[\w:-]+\s*=[^<>\n]{{0,200}}>))"
    r"|<(?=!--[^\w<>\n]{0,20}[a-z][a-z0-9]*+(?:_[a-z0-9]++)++[^\w<>\n]{0,20}>)"
    r"|<(?=[^<>|\n]{1,60}\|++[^<>|\n]{1,60}\|++[^\w<>\n]{0,20}>)"
    rf"|<(?=[\s/\\]{{0,4}}[a-z]\w{{0,19}}\|++(?:{_names(_ANGLED)})[\s/]*>)"
    # a tag of several words, one that closes, or one in another script, wherever it stands
    rf"|<(?=(?:{_BEFORE}|{_AROUND})[a-z][a-z0-9]*+(?:[-_:▁][a-z0-9]++)++{_AROUND}{_TO_END})"
    rf"|<(?=\s*[/\\]\s*_*+(?!{_IS_HTML})[a-z][a-z0-9]*{_TO_END})"
    rf"|<(?=(?:{_BEFORE}|{_AROUND})(?P<foreign>[\w-]{{0,60}}[^\W\x00-\x7f]{_LETTER}*+)[^\w<>\n]{{0,20}}(?:>|\s[\w:-]+\s*=[^<>\n]{{0,200}}>))"
    # one of one word; after a letter only if it is no type
    rf"|(?<![a-z0-9_])<(?=_*+(?!{_IS_HTML})\d*+[a-z][a-z0-9]*{_TO_END})"
    r"|<(?=(?-i:[a-z]{1,12}_+>))"
    rf"|<(?=[ \t]{{0,4}}_*+(?!{_IS_HTML}|(?:{'|'.join(_TYPES)})>)(?-i:[a-z][a-z0-9]+|[A-Z][A-Z0-9]{{2,}})/?>)"
    r"|>(?=>\s*(?-i:[A-Z]{3,20})\s*<<)"
    rf"|\[(?={_BEFORE}(?:\|\s*[/\w]|(?:{_names(_SQUARED)}|round\s\d{{1,4}}|(?:control|unused|special|reserved)(?:[-_]?token)?[-_]?\d{{1,4}})\s*\]))"
    r"|\[(?=[\w\s:.-]{1,60}\|++[^\[\]|\n]{2,60}\|++[^\w\[\]\n]{0,20}\])"
    rf"|\[(?=(?:[^\w\[\]\n\"'`]|_){{0,20}}(?-i:{_names(tuple(map(str.upper, _CAPITALS)))})[^\w\[\]\n]{{0,20}}\])"
    rf"|(?<![a-z0-9_])\[(?=\s*+(?:/\s*+)?(?-i:[A-Z]++(?:[_-][A-Z]++)++)\s*+\])"
    rf"|\](?={_BEFORE}(?:~b\]|~!b\[))|\[(?={_BEFORE}e~\[)",
    re.IGNORECASE,
)
_PLAIN_BRACKET = lazily(r"[<>\[\]]")
"""A mark is looked for at these alone: most of its alternatives are tried at each place."""
_ANGLED_TEXT = lazily(r"<(?=([^<>]{1,80})>)")
_SQUARED_TEXT = lazily(r"\[(?=([^\[\]]{1,80})\])")
_SIGNS = lazily(r"[\W_]+")
_ANGLED_LETTERS = frozenset(_SIGNS.sub("", name) for name in _ANGLED if len(name) > 2)
_SQUARED_LETTERS = frozenset(_SIGNS.sub("", name).upper() for name in _CAPITALS)
_HAN_SPEAKERS = (
    *("使用者", "用户", "用戶", "系统", "系統", "助手", "助理", "人类", "人類", "模型", "问", "問", "答"),
    *("观察", "觀察", "行动", "行動", "思考"),
    *("ユーザー", "アシスタント", "システム", "사용자", "시스템"),
)
_HTML_TAG = r"</?[a-z][^<>\n]{0,40}>"
# Signs of any kind, a number, a time or an x in brackets: what may stand before a speaker.
_LEADING = (
    rf"(?:[\[(][\d:.,/ TZx+-]{{1,30}}[\])]|{_HTML_TAG}|[ \t#*_>|+=~\"'`([{{-]|[^\x00-\x7f\w]|\d{{1,3}}[.)]?(?!\d))*+"
)
_TRAILING = rf"(?:[ \t]*(?:\d{{1,3}}|[(\[][^()\[\]\n:]{{1,20}}[)\]]))?(?:[ \t*_~)\]}}」』”’`]|{_HTML_TAG})*+"
_LINK = r"[ \t]*\[[^\[\]\n]{1,40}\]:[ \t]*(?:https?://|mailto:|[/.#])[^\s]*+[ \t]*$"
_STEPS = ("Thought", "Action", "Action Input", "Final Answer")
"""By which agents (ReAct) divide what a model writes, in this case only: `action: int` is code."""
_LATIN_SPEAKERS = rf"(?:{_names(ROLES)}|model)(?:[ \t]{{1,4}}(?:prompt|message|instructions?))?"
_LINE_SPEAKER = (
    rf"^(?!{_LINK})(?:{_LEADING}(?:(?:(?:gpt4 correct )?(?:{_LATIN_SPEAKERS}|observation|(?-i:{_names(_STEPS)}|[QA]))"
    rf"|(?:{'|'.join(_HAN_SPEAKERS)})(?:消息|信息|[訊讯]息|提示[词詞]?)?)"
    rf"{_TRAILING}:(?<!\d:(?=\d))"
    # in quotes with a capital, and no string, number or list behind it: JSON and code have these
    rf"|(?=(?-i:[A-Z])){_LATIN_SPEAKERS}[\"'][ \t]*:(?=[ \t]*[^\s\"'\d{{\[]))"
    r"|[ \t>]*+#[# \t]*+(?:instruction|input|response)[ \t]*:"
    r"|>>>\w++[ \t]*$)"
)
_CALLED = ("USER", "ASSISTANT", "SYSTEM", "HUMAN")
"""Speakers in capitals, also within a line, but not in `$USER:$GROUP`."""
_BEGINS_LIKE_A_TURN = lazily(_LINE_SPEAKER, re.IGNORECASE | re.MULTILINE)
_SPEAKER = lazily(
    rf"{_LINE_SPEAKER}|(?<=[\s.!?>。])(?-i:{'|'.join(_CALLED)})[ \t]?:(?=\s|$)", re.IGNORECASE | re.MULTILINE
)
_OBEYED = lazily(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")
_LINE_END = lazily(r"\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_HIDDEN_LETTERS = lazily(  # but for flags
    r"[\U000e0000-\U000e007f](?<![\U0001f3f4\U000e0000-\U000e007f].)[\U000e0000-\U000e007f]*"
)
_BRACKET = lazily(f"[{re.escape(ANGLES + SQUARES)}]")
_COLON = lazily(f"[{COLONS}]")
_QUOTED_BRACKET = lazily(r"=(?:3[AaCc]|5[BbDd])")
_CODE_SIGN = lazily(f"[{re.escape(CODE_SIGNS)}]")
_CODE_HEAD = lazily(f"[{re.escape(CODE_SIGNS)}][^\\s{PLAIN_HAN}，。、]{{2,40}}")
# The beginning of a line as far as its colon, and a word before a colon, if a speaker may be named in it.
_HEAD = lazily(
    rf"\n(?:[^\n{COLONS}{PLAIN_HAN}]|(?<=[0-9])[{COLONS}](?=[0-9]))*+"
    rf"(?:[{''.join(name[0] for name in _HAN_SPEAKERS)}][^\n{COLONS}]{{0,40}})?[{COLONS}]"
)
_WORD_END = lazily(rf"[^\s0-9{COLONS}{PLAIN_HAN}][ \t]?[{COLONS}](?=\s|$)")
_MAX_WORD = 40
"""Characters before a colon that are looked at: a name, and what hides in it."""
_TITLE_SIGNS = "\u2039\u2329\u3008\u27e8\u276e\ufe3f"
"""They quote the titles of Chinese and Japanese texts, and words."""
_FOREIGN = "＜"
"""The bracket of a tag in another script than Latin."""
_ENTITIES = {
    "<": "&lt;",
    _FOREIGN: "&lt;",
    ">": "&gt;",
    "[": "&#91;",
    "]": "&#93;",
    "&": "&amp;",
    "\\": "&#92;",
    "%": "&#37;",
    "=": "&#61;",
}
_ONE_LINE = str.maketrans({"\n": "␊", "\t": " ", '"': "&quot;", "]": "&#93;"})


def escape(text: str) -> str:
    """The text as data in a prompt.

    A bracket that would begin a tag or a template's mark becomes `&lt;` or `&#91;`; a line that looks like a speaker's
    turn is set off by a bar; control characters are shown, and every line ends with `\\n`.
    """
    if _OBEYED.search(text):
        text = _HIDDEN_LETTERS.sub("\ufffd", show_controls(_LINE_END.sub("\n", text)))
    if not _may_hold_marks(text):
        return text
    plain = PlainView(text)
    marks = {*_marks(plain.view)}
    if not marks:
        return text
    places = plain.places()
    pieces: list[str] = []
    end = 0
    for at, bracket in sorted(
        {(places[at], bracket) for at, bracket in marks if _is_one(text[places[at]], plain.view, at)}
    ):
        if at < end or (bracket == _FOREIGN and text[at] in _TITLE_SIGNS):
            continue
        pieces += (text[end:at], (_ENTITIES.get(text[at]) or _ENTITIES[bracket]) if bracket else "| ")
        end = at + len(bracket)
    return "".join([*pieces, text[end:]])


def _is_one(bracket: str, view: str, at: int) -> bool:
    """Whether a mark is one with this bracket: French and Russian quote words in «», where only a bar makes a mark."""
    return bracket != "«" or "|" in view[at : at + 3]


def escape_line(text: str) -> str:
    """A name, a path or an attribute as data in a prompt: on one line, without the quote or bracket that ends it."""
    return escape(text).translate(_ONE_LINE)


def _may_hold_marks(text: str) -> bool:
    """Whether the text needs a closer look. Most has no bracket and no line that begins like a speaker's turn."""
    if "<" in text or "[" in text or "]" in text:
        return True
    if ("&" in text or "\\" in text or "%" in text) and CODE.search(text):
        return True
    if "=" in text and _QUOTED_BRACKET.search(text):
        return True
    if text.isascii():
        return _may_name_a_speaker(text)
    if _BRACKET.search(text):
        return True
    codes = "".join(_CODE_HEAD.findall(text)) if _CODE_SIGN.search(text) else ""
    if codes and CODE.search(codes.translate(PLAIN)):
        return True
    if ">>>" in text and _may_name_a_speaker(text):
        return True
    heads = _HEAD.findall(f"\n{text}") if _COLON.search(text) else []
    ends = [found.end() for found in _WORD_END.finditer(text)] if heads or _COLON.search(text) else []
    heads += [f" {text[max(end - _MAX_WORD, 0) : end]}\n" for end in ends]
    return bool(heads) and _may_name_a_speaker(PlainView("".join(heads)).view)


def _may_name_a_speaker(view: str) -> bool:
    if ":" not in view and ">>>" not in view:
        return False
    return any(name in view for name in _CALLED) or _BEGINS_LIKE_A_TURN.search(view) is not None


def _marks(view: str) -> Iterator[tuple[int, str]]:
    """Where a mark begins in the view of a text, and its bracket; "" for a speaker, `_FOREIGN` for a tag in another
    script than Latin."""
    for bracket in _PLAIN_BRACKET.finditer(view):
        if found := _MARK.match(view, bracket.start()):
            yield found.start(), found[0] if found["foreign"] is None else _FOREIGN
    if "<" in view:
        for found in _ANGLED_TEXT.finditer(view):
            if _SIGNS.sub("", found[1]).lower() in _ANGLED_LETTERS:
                yield found.start(), "<"
    if "[" in view:
        for found in _SQUARED_TEXT.finditer(view):
            if "".join(found[1].split()).strip("/\\") in _SQUARED_LETTERS:
                yield found.start(), "["
    if ":" in view or ">>>" in view:
        speaker = _SPEAKER if any(name in view for name in _CALLED) else _BEGINS_LIKE_A_TURN
        yield from ((found.start(), "") for found in speaker.finditer(view))
