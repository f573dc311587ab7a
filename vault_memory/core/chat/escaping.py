"""Make text that is not ours harmless in a prompt: it cannot close or open one of our tags, and holds no mark by which
a chat template divides messages. Everything else stays, and what is changed stays readable."""

from __future__ import annotations

import re

from vault_memory.core.reading import show_controls

TAGS = (
    *("user-profile", "relevant-memories", "recent-activity", "active-skill", "conversation-history", "user-request"),
    "vault-memory",
)
"""The tags of our prompts."""
ROLES = ("system", "user", "human", "assistant", "developer")
_ANGLED = (
    *TAGS,
    *(*ROLES, "model", "bot", "tool", "tools", "role", "instruction", "instructions"),
    # Llama 2 and Mistral, Gemma, Baichuan, Nemotron, GLM, Cohere, DeepSeek, Ernie, Seed; also without their bars
    *("s", "sys", "bos", "eos", "pad", "unk", "mask", "sop", "eop", "start_of_turn", "end_of_turn", "start_of_image"),
    *("end_of_image", "turn", "im_start", "im_end", "endoftext", "startoftext", "bos_token", "eos_token", "seed:bos"),
    *("seed:eos", "_user", "_bot", "_system", "end_of_sentence", "begin_of_sentence", "channel", "message"),
    # calls of tools and thinking: Qwen, Hermes, Claude
    *("think", "thinking", "tool_call", "tool_calls", "tool_response", "tool_result", "tool_use", "function_calls"),
    *("function_results", "invoke", "parameter", "antml:invoke", "antml:function_calls", "antml:parameter"),
)
_NUMBERED = ("reserved_", "extra_id_", "special_", "unused")
_SQUARED = (
    *("inst", "system_prompt", "available_tools", "tool_calls", "tool_results", "tool_content", "args", "call_id"),
    *(
        "think",
        "img",
        "img_break",
        "img_end",
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
)
_INVISIBLE = (
    r"\u00ad\u0300-\u036f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    r"\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_GAP = f"[{_INVISIBLE}]*"
_BEFORE_NAME = rf"[\s/／\\{_INVISIBLE}]*"
_AFTER_NAME = r"(?![\w-])"


def _letter(letter: str) -> str:
    """The letter or sign itself, and in full width."""
    if letter in "-_ ":
        return r"[-_\s▁‐-―－＿]"
    wide = chr(ord(letter) + 0xFEE0)
    return f"[{re.escape(letter + wide + wide.upper())}]"


def _names(names: tuple[str, ...]) -> str:
    """A pattern for the names in any case, in full width, and with invisible characters between the letters."""
    return "|".join(_GAP.join(map(_letter, name)) for name in names)


_ANGLE = re.compile(
    rf"(?:[<＜﹤‹〈⟨]|(?P<entity>&)(?={_GAP}(?:amp;)*(?:lt|#0*60|#x0*3c)(?!\w)))"
    rf"(?=(?:(?:amp;)*(?:lt|#0*60|#x0*3c);?)?{_BEFORE_NAME}"
    rf"(?:[|｜¦∣│]|(?:{_names(_ANGLED)}){_GAP}{_AFTER_NAME}|(?:{_names(_NUMBERED)}){_GAP}\d))",
    re.IGNORECASE,
)
_SQUARE = re.compile(
    rf"(?:[\[［]|(?P<entity>&)(?=(?:amp;)*(?:lbrack|lsqb|#0*91|#x0*5b)(?!\w)))"
    rf"(?=(?:(?:amp;)*(?:lbrack|lsqb|#0*91|#x0*5b);?)?{_BEFORE_NAME}(?:{_names(_SQUARED)}){_GAP}\s*[\]］&])",
    re.IGNORECASE,
)
_MINIMAX = re.compile(
    rf"[\]］](?={_BEFORE_NAME}(?:{_names(('~b]', '~!b['))}))|[\[［](?={_BEFORE_NAME}(?:{_names(('e~[',))}))", re.I
)
_SPEAKER = re.compile(
    rf"^(?=[ \t#＃*＊_{_INVISIBLE}]*(?:{_names(('gpt4 correct ',))}{_GAP})?(?:{_names(ROLES)}){_GAP}[ \t*＊_]*[:：﹕])"
    rf"|^(?=[ \t{_INVISIBLE}]*[#＃][#＃ \t{_INVISIBLE}]*(?:{_names(('instruction', 'input', 'response'))})"
    rf"{_GAP}[ \t]*[:：﹕])",
    re.IGNORECASE | re.MULTILINE,
)
_LINE_END = re.compile(r"\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_HIDDEN_LETTERS = re.compile(r"(?<![\U0001f3f4\U000e0000-\U000e007f])[\U000e0000-\U000e007f]+")  # but for flags
_ONE_LINE = str.maketrans({"\n": "␊", "\t": " ", '"': "&quot;", "]": "&#93;"})


def escape(text: str) -> str:
    """The text as data in a prompt.

    A bracket that would begin a tag of ours, a role's tag or a template's mark becomes `&lt;` or `&#91;`; a line that
    looks like a speaker's turn is set off by a bar; control characters are shown, and every line ends with `\\n`.
    """
    text = _HIDDEN_LETTERS.sub("\ufffd", show_controls(_LINE_END.sub("\n", text)))
    text = _ANGLE.sub(lambda found: "&amp;" if found["entity"] else "&lt;", text)
    text = _SQUARE.sub(lambda found: "&amp;" if found["entity"] else "&#91;", text)
    text = _MINIMAX.sub(lambda found: "&#93;" if found[0] in "]］" else "&#91;", text)
    return _SPEAKER.sub("| ", text)


def escape_line(text: str) -> str:
    """A name, a path or an attribute as data in a prompt: on one line, without the quote or bracket that ends it."""
    return escape(text).translate(_ONE_LINE)
