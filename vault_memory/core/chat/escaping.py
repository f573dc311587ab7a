"""Make text that is not ours harmless in a prompt: it cannot close or open one of our tags, and holds no mark by which
a chat template divides messages. Everything else stays, and what is changed stays readable.

What a mark looks like is a rule, because every model family has marks of its own: any tag that is not HTML, any
bracket with a bar. It is looked for in a plain view of the text, without accents, widths and what cannot be seen.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from vault_memory.core.reading import show_controls

TAGS = (
    *("user-profile", "relevant-memories", "recent-activity", "active-skill", "conversation-history", "user-request"),
    "vault-memory",
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
    *("a", "abbr", "article", "aside", "audio", "b", "blockquote", "body", "br", "button", "caption", "center", "cite"),
    *("code", "col", "dd", "del", "details", "dfn", "div", "dl", "dt", "em", "figcaption", "figure", "font", "footer"),
    *("form", "h1", "h2", "h3", "h4", "h5", "h6", "head", "header", "hr", "html", "i", "iframe", "img", "input", "ins"),
    *("kbd", "label", "li", "link", "main", "mark", "meta", "nav", "ol", "option", "p", "path", "picture", "q", "rp"),
    *("rt", "ruby", "samp", "script", "section", "select", "small", "source", "span", "strong", "style", "sub"),
    *("summary", "sup", "svg", "table", "tbody", "td", "textarea", "tfoot", "th", "thead", "time", "title", "tr", "u"),
    *("ul", "var", "video"),
)
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
_LOOKS_LIKE = str.maketrans(
    {
        **dict.fromkeys("‹〈⟨❬❮❰⧼˂ᐸ", "<"),
        **dict.fromkeys("›〉⟩❭❯❱⧽˃ᐳ", ">"),
        **dict.fromkeys("¦∣│⎢⏐ǀ❘❙┃", "|"),
        **dict.fromkeys("⁄∕⧸", "/"),
        **dict.fromkeys("∶꞉ː", ":"),
        **dict.fromkeys("▁_", "_"),
    }
)
_BLANK_LETTERS = "\u115f\u1160\u2800\u3164\uffa0"
"""They show nothing, though Unicode counts them as letters and signs."""


def _names(names: tuple[str, ...]) -> str:
    return "|".join(re.sub(r"[-_ ]", r"[-_\\s]", name) for name in names)


_OPENING = r"(?:<|&(?:amp;)*(?:lt|#0*60|#x0*3c)(?!\w);?)"
_SQUARE_OPENING = r"(?:\[|&(?:amp;)*(?:lbrack|lsqb|#0*91|#x0*5b)(?!\w);?)"
_BEFORE = r"[\s/\\]*+"
_TO_END = r"(?:[\s/=][^<>\n]{0,200})?>"
_MARK = re.compile(
    rf"{_OPENING}(?={_BEFORE}(?:\||(?:{_names(_ANGLED)})(?![\w-])|(?:unused|special|reserved)[-_]?\d))"
    # a tag of several words, wherever it stands; one of one word, but for generics such as List<int>, and HTML
    rf"|{_OPENING}(?={_BEFORE}[a-z][a-z0-9]*(?:[-_:▁][a-z0-9]+)+{_TO_END})"
    rf"|(?<![a-z0-9_]){_OPENING}(?=(?:\s*[/\\]\s*)?(?!(?:{'|'.join(_HTML)})[\s/>])[a-z][a-z0-9]*{_TO_END})"
    rf"|{_SQUARE_OPENING}(?={_BEFORE}(?:\|\s*[/\w]|(?:{_names(_SQUARED)})\s*[\]&]))"
    rf"|(?<![a-z0-9_]){_SQUARE_OPENING}(?=\s*/?\s*(?-i:[A-Z]+(?:[_-][A-Z]+)+)\s*[\]&])"
    rf"|\](?={_BEFORE}(?:~b\]|~!b\[))|\[(?={_BEFORE}e~\[)",
    re.IGNORECASE,
)
_LEADING = r"[ \t#*_>|+•-]*+(?:\d{1,3}[.)][ \t*_]*+)?"
_SPEAKER = re.compile(
    rf"^(?={_LEADING}(?:gpt4 correct )?(?:{_names(ROLES)})[ \t*_]*:)"
    r"|^(?=[ \t>]*+#[# \t]*+(?:instruction|input|response)[ \t]*:)",
    re.IGNORECASE | re.MULTILINE,
)
_BRACKETS = frozenset("<[]&")
_LINE_END = re.compile(r"\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_HIDDEN_LETTERS = re.compile(  # but for flags
    r"[\U000e0000-\U000e007f](?<![\U0001f3f4\U000e0000-\U000e007f].)[\U000e0000-\U000e007f]*"
)
_ENTITIES = {"<": "&lt;", "[": "&#91;", "]": "&#93;", "&": "&amp;", "": "| "}
_ONE_LINE = str.maketrans({"\n": "␊", "\t": " ", '"': "&quot;", "]": "&#93;"})


def escape(text: str) -> str:
    """The text as data in a prompt.

    A bracket that would begin a tag or a template's mark becomes `&lt;` or `&#91;`; a line that looks like a speaker's
    turn is set off by a bar; control characters are shown, and every line ends with `\\n`.
    """
    text = _HIDDEN_LETTERS.sub("\ufffd", show_controls(_LINE_END.sub("\n", text)))
    view = text if text.isascii() else text.translate(_PLAIN)
    changes: list[tuple[int, str]] = []
    if not _BRACKETS.isdisjoint(view):
        changes += ((found.start(), found[0][:1]) for found in _MARK.finditer(view))
    if ":" in view:
        changes += ((found.start(), "") for found in _SPEAKER.finditer(view))
    if not changes:
        return text
    places = _places(text, view)
    pieces: list[str] = []
    end = 0
    for at, bracket in sorted({(places[at], bracket) for at, bracket in changes}):
        pieces += (text[end:at], _ENTITIES[bracket])
        end = at + len(bracket)
    return "".join([*pieces, text[end:]])


def escape_line(text: str) -> str:
    """A name, a path or an attribute as data in a prompt: on one line, without the quote or bracket that ends it."""
    return escape(text).translate(_ONE_LINE)


def _places(text: str, view: str) -> Sequence[int]:
    """Where each character of the view, and its end, stands in the text."""
    if text is view:
        return range(len(text) + 1)
    widths = map(len, map(_PLAIN.__getitem__, map(ord, text)))
    return [at for at, width in enumerate(widths) for _ in range(width)] + [len(text)]


class _Plain(dict[int, str]):
    """A character as it may be read: without accents and widths, "" for one that shows nothing."""

    def __missing__(self, code: int) -> str:
        plain = "".join(
            " " if each.isspace() and each not in "\n\t" else "-" if unicodedata.category(each) == "Pd" else each
            for each in unicodedata.normalize("NFKD", chr(code))
            if unicodedata.category(each) not in ("Mn", "Me", "Cf") and each not in _BLANK_LETTERS
        )
        self[code] = plain = plain.translate(_LOOKS_LIKE)
        return plain


_PLAIN = _Plain()
