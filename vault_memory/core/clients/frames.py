"""Marks by which programs show in a text what others wrote: a line that announces it, a heading, a row of dashes.

They serve where not all forms of the client are known: what stands behind the first mark may be a document, a
tool's result or another agent's words. A tag in a line of its own is a mark for every client: programs that are built
on a known one write forms of their own. `docs/proxy.md` says how seldom a person writes so.
"""

from __future__ import annotations

import re

_SHOWN = re.compile(
    r"#{1,6} \S"  # a heading
    r"|([-=~])\1{2,}|([*_])\2{2,}$"  # a row of dashes, also with a name in it
    r"|<<<|>>>|\"\"\"|'''|```|\{[\"{]"
    r"|\*\*[^*\n]{1,100}\*\*$|【[^】\n]{1,30}】"
    r"|\[[^\]\n]{1,60}\](?:(?: \w{1,12})?:|$)|\[\d{1,3}\] "  # [researcher] said: …, [a.md], [1] …
)
_TAG = re.compile(r"<[A-Za-z][\w:.-]*(?: [^<>\n]*)?>(?:[^\n]*</[^<>\n]*>)?$")
_OTHERS = (
    r"(?:(?:the|this|here (?:is|are)|following|full|additional|retrieved|relevant|attached) )*"
    r"(?:(?:file|page|search|web) )?(?:contents?|contexts?|documents?|files?|pages?|sources?|passages?|articles?"
    r"|transcript|snippets?|excerpts?|references?|title|url%s)\b"
)
_OTHERS_ZH = (
    r"[^：:]{0,8}(?:以下|下面|下列|上述|已知|参考|參考|相关|相關|检索|檢索|附件|引用)[^：:]{0,6}[文内內信資资知網网段片]"
    r"|上下文|文[件档檔本]|[原正全]文|[网網][页頁]|[内內]容"
)
_NAMES_OTHERS = re.compile(
    rf"{_OTHERS % '|notes? |texts?|attachments?|results?|outputs?|website|tabs?|e-?mails?'}|{_OTHERS_ZH}", re.IGNORECASE
)
"""How a line begins that ends with a colon and names what others wrote."""
_QUOTES_OTHERS = re.compile(
    rf"(?:[*/-]+ ?)?{_OTHERS % ''}(?: ?#?\d+)?(?: [\"'(\[`«].*| (?:for|of|from|in|about) .*| \S*\.\S*)?\**$"
    rf"|{_OTHERS_ZH}",
    re.IGNORECASE,
)
"""What stands before the colon of a line that quotes them."""
_LABEL = re.compile(r"[A-Z][A-Za-z']*(?: [A-Za-z']+){0,3}: |[\u3400-\u9fff]{1,8}[：:]")
_SPEAKS = re.compile(
    r"\b(?:i|i'm|i've|me|my|we|our|us|you|your|please|pls)\b|[我你您妳请請帮幫]",
    re.IGNORECASE,
)
_WISH = re.compile(
    r"\b(?:remember|mind|from now|always|never|every|prefer\w*|habits?|defaults?|(?:my|our) (?:rules|wishes))\b"
    r"|[记記]|以[后後]|偏好|[规規][则則]|[习習][惯慣]|要求",
    re.IGNORECASE,
)
_OWN_LABEL = re.compile(
    r"(?:my )?(?:preferences?|habits|wishes|remember|keep in mind|about me)"
    r"|(?:我的)?(?:偏好|喜好|[习習][惯慣]|要求)|[关關][于於]我|[请請]?[记記]住",
    re.IGNORECASE,
)
"""A label of a person's own."""
_SHOWS_PROSE = re.compile(
    r"\b(?:this|that|these|the|my|following|below|an?) (?:\w+ ){0,2}(?:e-?mails?|mails?|letters?|messages?|texts?"
    r"|paragraphs?|essays?|articles?|documents?|reviews?|posts?|transcripts?|drafts?|pages?|poems?|readme"
    r"|issues?|tickets?|threads?|feedback|specs?)\b|\b(?:issue|thread|feedback) (?:from|by|of)\b"
    r"|[这這那以此][^:：]{0,6}(?:信|[邮郵]件|[文段稿诗詩]|[讯訊]息|消息|[内內]容|[报報]告|[评評][论論]|[工][单單]|反馈|回饋|[帖贴貼]|issue)",
    re.IGNORECASE,
)
"""An announced text in which somebody may speak."""
_GOES_ON = re.compile(
    r"(?:p\.? ?s\.?|also|btw|by the way|fyi|note|edit|update|important|one more thing|oh"
    r"|另外|[还還]有|[补補]充|注意|[对對]了|[顺順]便|[备備][注註]|重要|提醒)[:：]",
    re.IGNORECASE,
)
"""A label behind which one goes on talking."""
_TITLE = re.compile(r"(?<!\w)'|'(?!\w)|[\"`/\\<>\[\](){}«»「」“”]|\.\w{1,5}$")
"""What programs put into a label is the name of a file, or a title."""
_SENTENCE_END = re.compile(r"[.!?](?=\s)|[。！？]")
_MAX_LABEL_CHARS = 100
_SHOWS_AT_ONCE = re.compile(
    r"Observation: |(?=[^\n:：]{0,100}\b(?:tool|function|command|code|shell|terminal|execution)\b)"
    r"[^\n:：]{0,80}\b(?:results?|outputs?|responses?)\b[^\n:：]{0,60}[:：] ",
    re.IGNORECASE,
)
_TO_BE_COMPLETED = re.compile(r"[\n.!?。][ \t]*[A-Z][A-Za-z]*(?: [A-Za-z]+)?:\Z")
_MAY_BE_MARK = re.compile(r"^[ \t]*(?:[#/=~*_<>\"'`{\[【-][^\n]*|[^\n]*[:：][^\n]*)", re.MULTILINE)


def is_template(text: str) -> bool:
    """Whether a text shows at once what a tool gave, or is to be completed («… Keywords:»): anybody speaks in it."""
    text = text.rstrip()
    return bool(_SHOWS_AT_ONCE.match(text) or _TO_BE_COMPLETED.search(text))


def end_of_typed(text: str, *, is_known: bool = False) -> int:
    """How far a text is its author's for sure: up to its first mark, with what speaks to somebody in the line of it
    («please look at this:»). `is_known`: all forms of the client are known, so only a tag in a line of its own and a
    line that announces prose are marks."""
    for found in _MAY_BE_MARK.finditer(text, 0, len(text.rstrip())):
        line = found[0].strip()
        if _TAG.match(line):
            return found.start()
        if is_known and line.rstrip("*_ ")[-1:] in (":", "：") and _SHOWS_PROSE.search(line):
            return found.end()
        if not is_known and _is_mark(line, is_paragraph=text.endswith("\n\n", 0, found.start())):
            return found.start() + _typed_before(found[0])
    return len(text)


def _is_mark(line: str, *, is_paragraph: bool) -> bool:
    if _SHOWN.match(line):
        return True
    if line[-1] in ":：":
        asks = _WISH.search(line) and _speaks(line) and not _SHOWS_PROSE.search(line)
        return not (asks or _OWN_LABEL.fullmatch(line[:-1]))
    label = re.split("[:：]", line[:_MAX_LABEL_CHARS], maxsplit=1)[0]
    if len(label) < len(line) and _QUOTES_OTHERS.match(label):
        return True
    return is_paragraph and bool(_LABEL.match(line)) and not (_GOES_ON.match(line) or _OWN_LABEL.fullmatch(label))


def _speaks(line: str) -> bool:
    """Whether a line speaks to somebody, and holds no title that another has chosen."""
    return not (_NAMES_OTHERS.match(line) or _TITLE.search(line.rstrip(":："))) and bool(_SPEAKS.search(line))


def _typed_before(line: str) -> int:
    """How much of the line of a mark is typed: all of it if it speaks to somebody, else the sentences before the last
    («I like Vue. The log:»); nothing behind what may be a title."""
    shown = line.strip()
    if shown[-1] not in ":：" or _SHOWN.match(shown) or _NAMES_OTHERS.match(shown):
        return 0
    if _speaks(shown):
        return len(line)
    title = _TITLE.search(line.rstrip(" \t:："))
    ends = [end.end() for end in _SENTENCE_END.finditer(line, 0, title.start() if title else len(line))]
    return ends[-1] if ends else 0
