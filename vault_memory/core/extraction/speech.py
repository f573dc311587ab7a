"""Speech: what in a message the person says, cut into sentences and clauses.

Code, pasted text, quotations and links are replaced by blanks, so every offset stays valid in the written message.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from vault_memory.core.extraction.lexicon import Lexicon, Technology
from vault_memory.core.text import fold, lazily

HEAD_CHARS, TAIL_CHARS = 1500, 700
"""Read at the two ends of a long message: people state wishes before or after the text they paste."""
MAX_TECHNOLOGIES = 40
MAX_CLAUSES, MAX_CLAUSE_CHARS = 36, 160
"""Most sentences and clauses read of a message, and most characters of a clause. They bound the time."""
MAX_OWN_QUOTE_CHARS = 42
"""A longer quotation is somebody else's text, whatever stands before it."""
MAX_TAIL_AFTER_PASTE_CHARS = 240
"""A longer last paragraph after pasted text is pasted too."""


@dataclass(frozen=True)
class Message:
    """A message as written, and its `speech`: of the same length, folded, blank where the person does not speak."""

    written: str
    speech: str
    technologies: list[Technology]


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
    speech = fold(_INVISIBLE.sub(" ", written)).translate(_TYPOGRAPHIC).replace("tl;dr", "tl.dr")
    for blank in (_blank_code, _blank_pastes, _blank_quotations):
        speech = blank(speech)
    speech = _LINKS.sub(lambda match: match[0] if match[0] in lexicon.names else _blank(match), speech)
    technologies = lexicon.technologies(speech, written)[:MAX_TECHNOLOGIES]
    for left, right in pairwise(technologies):  # «React, Node and Mongo» is one phrase: its commas end no clause
        gap = speech[left.end : right.start]
        if re.fullmatch(r" ?, ?(?:and |or |plus |跟|和)?", gap) and not _PREDICATE.match(speech, right.end):
            speech = speech[: left.end] + gap.replace(",", "、") + speech[right.start :]
    return Message(written, speech, technologies)


def gives_orders_to_the_system(text: str) -> bool:
    """Whether a text tries to write the profile, to grant rights or to pose as the system (a prompt injection)."""
    ends = fold(text[:HEAD_CHARS] + "\n" + text[-TAIL_CHARS:])
    return bool(_INJECTION.search(_TAG_NAMED.sub(lambda tag: tag[0].strip("`</>"), ends)))


_PREDICATE = lazily(
    r" ?(?:那|我|就|的(?!话)|是|已|没|不|先|再|暂|改天|用|写|则|留|当|可以|全|都(?:拆|删|卸|不)|掰|拜拜|再见|滚"
    r"|bye|uninstall|(?:is|was|are|does|i|can|feels|will|has|handles|on the|for the|by night)\b)"
)
_INVISIBLE = lazily(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff\u2600-\u27bf\u2b00-"
    "\u2bff\ufe00-\ufe0f\U0001f000-\U0001faff]"
)
_TYPOGRAPHIC = str.maketrans(
    {
        "’": "'",
        "‘": "'",
        "，": ",",
        "；": ";",
        "！": "!",
        "？": "?",
        "：": ":",
        "著": "着",
        "妳": "你",
        "喎": "啊",
        "（": "(",
        "）": ")",
    }
)

_TAG_NAMED = lazily(r"`</?[a-z][\w-]{0,40}>`|(?<=[a-z] )<[a-z]{1,20}[_-][\w-]{0,40}>(?= [a-z]|[?,.])")
"""A tag that a sentence is about: in back-ticks, or one of a client between words («what is a <system-reminder>?»)."""
_INJECTION = lazily(
    r"(?:ignore|disregard|forget|override|bypass) (?:all |any |the |your |my |every |everything )*(?:previous"
    r"|prior|above|earlier|preceding|existing|safety|system|instructions?|rules|guidelines|prompts?)"
    r"|(?:忽略|无视|忘掉|忘记|绕过|跳过|覆盖|不要理会|不用理)(?:掉|了|你)?(?:前面|之前|以上|上面|先前|所有|一切"
    r"|全部|系统|你的|任何|原本|既有)[^。\n]{0,6}(?:规则|指令|指示|提示|设定|限制|检查|命令|守则|prompt|内容)"
    r"|(?:^|\n|[>。;,] ?)(?:\[|<|#+ ?)?(?:system|assistant|developer|admin|root|系统|系统提示|系统讯息|系统消息"
    r"|系统指令|管理员)(?: ?(?:prompt|message|note|notice|override|update|instruction|提示|讯息|消息|指令|公告"
    r"|通知|更新|命令))?(?:\]|>)? ?[:：]"
    r"|</?(?:user|system|assistant|admin|profile|memory|instruction|im_start|im_end|relevant|recent|active"
    r"|conversation)[\w|-]*>?|\[/?(?:inst|system|admin)|<\|"
    r"|(?:user|memory|soul|agents|profile)\.md|user[_-]?profile|is_?admin|admin ?= ?true"
    r"|role ?[:=] ?[\"']?(?:admin|root|instructor|teacher|owner|superuser|ta\b)|sudo mode|developer mode|god mode"
    r"|jailbreak|dan mode|开发者模式|越狱|上帝模式|root 权限"
    r"|(?:you are|you're|act as|now) (?:now )?(?:the |an |my )?(?:admin|administrator|root|system|dan|unrestricted)\b"
    r"|(?:你|您)(?:现在|从现在起|已经)?(?:是|成为|变成|扮演)(?:了)?(?:一个|一位)?(?:系统)?(?:管理员|超级用户|root"
    r"|admin|没有限制|不受限)"
    r"|(?:grant|give|assign|elevate|escalate)[^.\n]{0,20}(?:admin|root|instructor|teacher|full|write|elevated"
    r"|owner|superuser) (?:rights?|access|privileges?|permissions?|role)"
    r"|(?:给|授予|赋予|提升|开通|开启|取得|拥有)[^。\n]{0,10}(?:管理员|最高|所有|完整|root|admin|教师|老师|助教"
    r"|写入)(?:的)?(?:权限|权力|身份|身分|角色)"
    r"|(?:write|append|store|save|add|insert|record|put|set|update|inject|persist)[^.\n]{0,60}(?:to|in|into"
    r"|on)(?: the| my| your| his| her| this)? ?(?:\w+ )?(?:user file|profile|long[ -]?term memory|memory file"
    r"|system prompt|permanent memory|database of users|vault)\b"
    r"|(?:写|存|记|加|录|塞|填|更新|注入|登记|登录)[^。\n]{0,30}(?:进|入|到|至|在)[^。\n]{0,8}(?:档案|用户资料"
    r"|使用者资料|用户档案|个人档案|个人资料|profile|长期记忆|系统记忆|记忆库|系统提示|资料档|设定档里的使用者)"
    r"|(?:user|student|用户|使用者|学生)[^。.\n]{0,14}(?:has been verified|is verified"
    r"|is an? (?:admin|instructor|teacher|staff)|已验证|已授权|是管理员|是老师|是助教)"
    r"|(?:note|notes|message|memo|notice|attention|instructions?) (?:to|for) (?:the |your )?(?:profile|memory"
    r"|system|vault|memory manager|assistant)(?: manager| keeper| curator| admin)?(?![a-z])"
    r"|(?:memory|profile) (?:curator|manager|keeper|admin)(?![a-z])"
    r"|this (?:user|account|profile) (?:has|is|may|can|should|must|prefers)(?![a-z])"
    r"|(?:此|该)(?:使用者|用户|帐号|账号|学员)(?:已|为|是|有|可|的|通过|具)|系统管理员(?:通知|公告|:)"
    r"|(?:全部|一律|always|automatically)[^。.\n]{0,12}(?:给?我?(?:满分|通过|及格)|approve (?:my|all)"
    r"|pass all (?:my|of)|(?:mark|grade) (?:my|all|every))"
)

_FENCE = lazily(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_INLINE = lazily(r"`[^`\n]{1,200}`")
_CODE_LINE = lazily(
    r"^[ \t]*(?:"
    r"(?:import|from|def|class|return|const|let|var|public|private|protected|static|void|int|float|double|char"
    r"|bool|function|func|fn|async|await|package|using|include|export|elif|else|try|except|catch|raise|throw"
    r"|print|console|echo|sudo|npm|pip|yarn|git|docker|cd|ls|mkdir|curl|select|insert|update|delete from"
    r"|create table|alter table|where|from|group by|order by|join)\b[^\n]{0,400}[(){};=<>:/\"'.*\-][^\n]{0,400}"
    r"|[\w.\[\]\"']{1,60} ?(?:=|\+=|-=|:=|==|=>|->) ?[^\n]{1,400}"
    r"|[^\n]{0,400}[{};]"
    r"|(?://|/\*|\*/|<!--|<[a-z/!]|\}|\{|\)|\]|@\w|\$ |>>> |\.\.\. |\+\+\+|---|@@|#include|#define|#!|% )[^\n]{0,400}"
    r"|(?:traceback|file \"|at [\w.$]{1,60}\(|[\w.]{0,40}(?:error|exception|warning)\b ?:|npm (?:warn|err)"
    r"|warn(?:ing)?\b|error\b|info\b|debug\b|fatal\b|failed\b|\[?(?:error|warn|info|debug|fatal)\]"
    r"|\[?\d{4}[-/]\d\d[-/]\d\d[ t]\d\d:|\d\d:\d\d:\d\d)[^\n]{0,400}"
    r"|#{1,6} [^\n]{0,400}|(?:select|insert|update|delete) [^\n]{1,300}(?:from|into|set) [^\n]{0,200}"
    r"|\|[^\n]{0,400}\|"
    r"|vault-[a-z]{1,20} ?:[^\n]{0,400}"
    r"|(?:[-*+] |\d{1,2}[.)] )?[\"']?[\w-]{1,40}[\"']? ?: ?[\"'{\[\d][^\n]{0,300}[,\"'\]}]"
    r")[ \t]*$",
    re.MULTILINE,
)
_STATEMENT_START = lazily(
    r"^[ \t]*(?:import|from|let|return|using|update|select|where|try|delete|join|else|include|print|warning|error"
    r"|warn|info|failed|debug|class|int|public|private|package|export|async|file|git|docker|npm|pip)\b"
)
_PROSE = lazily(r"[\u4e00-\u9fff]|\b(?:i|my|me|please|you|the)\b")

_QUOTES = lazily(
    r"“[^”]{0,3000}(?:”|\Z)|「[^」]{0,3000}(?:」|\Z)|『[^』]{0,3000}(?:』|\Z)|《[^》]{0,80}》|\"[^\"]{1,3000}\""
    r"|(?<![a-z0-9])'[^'\n]{2,300}'(?![a-z0-9])"
)
_OWN_QUOTE = lazily(
    r"(?:叫我|起我是|就叫|叫做|称呼我(?:为|作)?|喊我|唤我|我叫|名字是|改成|改为|换成|设成|设为|调成|切换成|切成"
    r"|切到|切回|换回|转成|都用|就用|请用|要用|改用|主题用|主题是|偏好|喜欢|习惯|记住|记下|记得|幫我记"
    r"|帮我记(?:下|一下|住)?|记一下|什么(?:叫做?|是)|啥(?:叫|是)|(?:解释|讲|说明|介绍|科普)(?:一下|讲|下)?|"
    r"call me|name is|go by|switch to|set to|change to|set (?:it|the theme) to|to|use|using|prefer|like|in"
    r"|remember|note|explain(?: to me)?|what(?:'s| is| are| does)|difference between)(?: that| this| the"
    r"| an?)? ?:? ?$"
)
_REPLACED_TEXT = lazily(r"(?:[」”\"』]| )(?:改成|改为|换成|to|with) ?$|第.{1,3}[段行句页]")
_ORDER_OF_ANOTHER = lazily(
    r"(?:说|写|问|讲|道|要求|规定|says?|said|writes?|wrote|reads?|asked|asks|told|quote|原话|原文|注明|写着|寫"
    r"|标题|title)[^,。\n]{0,12}$"
)
_LINKS = lazily(
    r"(?:https?://|www\.)[^\s\u4e00-\u9fff,]{1,400}|[\w.+-]{1,60}@[\w-]{1,60}\.[\w.]{1,60}"
    r"|(?<![\w/])(?:~|\.{1,2})?/[\w.\-]{1,80}(?:/[\w.\-]{0,80}){0,12}"
    r"|(?<![\w.])[\w\-]{1,60}(?:/[\w.\-]{1,60})*\.(?:py|js|ts|tsx|jsx|java|cpp|cc|c|h|hpp|rs|go|rb|php|md|txt"
    r"|json|ya?ml|toml|css|scss|html?|vue|sql|csv|ipynb|sh|log|cfg|ini|lock|xml|pdf|docx?|pptx?|png|jpe?g|zip"
    r"|exe)(?![\w])"
)
TEXT_ORDERED = (
    r"(?<![a-z])(?:write|draft|compose|create|make up|invent|generate|come up with)(?: me| up)? (?:an?|the|some"
    r"|my|this|\d+) [^:\n,]{0,30}?(?:text|message|note|letter|e-?mail|persona|bio|post|tweet|caption|paragraph"
    r"|sentence|line|review|dialog(?:ue)?|story|scene|statement|speech|poem|ad|profile|testimonial|announcement"
    r"|complaint|slogan|card|out-of-office|auto-?reply|sign|label|invitation|toast|description|quiz|questions"
    r"|interview)(?![a-z])"
    r"|(?:写|拟|编|草拟|起草|造|生成|生|出)[^:\n,]{0,14}?(?:朋友圈|贴文|文案|讯息|信息|消息|短信|留言|信(?!息)"
    r"|邮件|email|自介|自我介绍|履历|简历|评论|评价|好评|对话|故事|剧本|台词|公告|通知|人设|推文|句子?|标语|口号"
    r"|祝福|声明|卡片|选择题|考题|考卷)"
)
"""A request to write a text: neither its description nor its content says anything about the person."""
_CHANGE_OF_TEXT = (
    r"翻译|翻成|译成|译为|改写|润饰|润色|润稿|校对|摘要|总结|纠正|修正|修改|检查|改一下|校稿"
    r"|(?:这|那)(?:一)?(?:句|段|篇|行|封)(?:话|英文|中文)?[^:\n,]{0,12}"
    r"|(?:this|the following|my) (?:sentence|paragraph|phrase|text|line|email|caption)|translat\w*|rephras\w*"
    r"|paraphras\w*|proofread\w*|summari[sz]\w*|rewrit\w*|correct|fix the grammar|edit|polish"
    r"|(?:fill (?:in|out)|complete) (?:the|this|my|an?) [a-z]+|check (?:the|my) grammar"
)
_PASTE_CUE = lazily(
    rf"(?:{_CHANGE_OF_TEXT}"
    r"|here(?:'s| is| are)|below is|see below|following|pasted?|pasting|this is (?:the|what|an?)|as follows"
    r"|says|reads|writes|it said|output|readme|error message|the log"
    r"|the (?:assignment|prompt|brief|spec|email|message|text|paragraph|article|abstract|rubric|syllabus"
    r"|requirements?|instructions)|"
    r"如下|以下|下面|贴上|贴给|原文|内容是|内容为|写道|题目|作业说明|说明是|要求是|需求是|规格|这段|这篇|这封"
    r"|文章|翻译|讯息|报错|错误讯息|输出|是这样写的|是这样|他说|老师说|说的是|讯息是|公告|信件"
    r"|邮件)[^\n:]{0,40}: ?(?:\n|$)",
    re.MULTILINE,
)
_HEADED = lazily(
    r"(?:^|(?<=\n)|(?<=[。.!?;] )|(?<=[。!?;]))[ \t]*(?:作业(?:说明|要求|题目|内容)|题目(?:要求)?|题面|题干"
    r"|规格书?|公告|通知|招聘(?:启事|要求)?|职缺|原文|考题|面试题|评分(?:标准|规准)|甲方需求|assignment"
    r"|task description|the prompt|prompt|rubric|spec|job ad|brief|requirements?|user story|exam question"
    r"|excerpt)(?:[^\n:。.]{0,12})?: ?(?=[^\s])"
)
"""A heading before a text that somebody else wrote: «作業說明：請附上範例»."""
_TASK_TEXT = lazily(rf"(?:{_CHANGE_OF_TEXT}|{TEXT_ORDERED})[^:\n]{{0,40}}: ?(?=\S)")
"""A request to change or write a text, followed by its content: «draft a persona: Marta, 41, uses Vim»."""


def _blank(match: re.Match[str]) -> str:
    return "".join("\n" if char == "\n" else " " for char in match[0])


def _blank_code(speech: str) -> str:
    speech = _FENCE.sub(_blank, speech)
    speech = _INLINE.sub(_keep_short_name, speech)
    return "\n".join(" " * len(line) if _is_code(line) else line for line in speech.split("\n"))


def _keep_short_name(match: re.Match[str]) -> str:
    """A single word in back-ticks is speech, often the name of a technology: only the back-ticks are blanked."""
    inner = match[0][1:-1]
    return (
        f" {inner} "
        if re.fullmatch(r"[a-z][a-z0-9.+#]{0,14}", inner) and inner not in ("dark", "light")
        else _blank(match)
    )


def _is_code(line: str) -> bool:
    if not _CODE_LINE.match(line):
        return False
    if re.search(r"[\u4e00-\u9fff]", line) and not re.match(r"[ \t]*(?://|#|/\*|<!--|print|console)", line):
        return (
            bool(re.search(r"[{};]\s*$|^\s*[\w.]+ ?= ?|\w\(.*\)", line))
            and len(re.findall(r"[\u4e00-\u9fff]", line)) < 8
        )
    return not (_STATEMENT_START.match(line) and _PROSE.search(line) and not re.search(r"[{}();=<>]", line))


def _blank_pastes(speech: str) -> str:
    """Blank quoted e-mail lines, and what follows «here is the README:», except a short last paragraph."""
    speech = re.sub(r"^[ \t]*>[^\n]*$", _blank, speech, flags=re.MULTILINE)
    cue = _PASTE_CUE.search(speech)
    if cue and speech[cue.end() :].strip():
        rest = speech[cue.end() :]
        stop = rest.rfind("\n\n")
        tail = (
            rest[stop:] if stop >= 0 and len(rest) - stop < MAX_TAIL_AFTER_PASTE_CHARS and rest[:stop].strip() else ""
        )
        speech = speech[: cue.end()] + re.sub(r"[^\n]", " ", rest[: len(rest) - len(tail)]) + tail
    for opening in filter(None, (_TASK_TEXT.search(speech), _HEADED.search(speech))):
        start, end = opening.end(), speech.find("\n", opening.end())
        end = len(speech) if end < 0 else end
        speech = speech[:start] + " " * (end - start) + speech[end:]
    return speech


def _blank_quotations(speech: str) -> str:
    """Blank quotations, except a short one that the person's own verb introduces: 叫我「阿哲」, switch to "dark"."""

    def blanked(match: re.Match[str]) -> str:
        before = speech[max(0, match.start() - 30) : match.start()]
        is_own = (
            len(match[0]) <= MAX_OWN_QUOTE_CHARS
            and not _REPLACED_TEXT.search(before)
            and _OWN_QUOTE.search(before)
            and not _ORDER_OF_ANOTHER.search(before)
        )
        if is_own:
            return f" {match[0][1:-1]} " if match[0][-1] in "”」』》\"'" and len(match[0]) > 1 else match[0]
        return _blank(match)

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


def clause_spans(speech: str, sentence: Span) -> list[Span]:
    """The clauses of a sentence, without blanks at their ends; at most `MAX_CLAUSES` of `MAX_CLAUSE_CHARS` each."""
    spans: list[Span] = []
    start = sentence.start
    for stop, after in (
        *(mark.span() for mark in _CLAUSE_END.finditer(speech, sentence.start, sentence.end)),
        (sentence.end, sentence.end),
    ):
        if text := speech[start:stop].strip():
            first = speech.index(text, start)
            spans.append(Span(first, first + min(len(text), MAX_CLAUSE_CHARS)))
        start = after
    return spans[:MAX_CLAUSES]


_SENTENCE_END = lazily(r"[。!?;\n]+|\.(?=\s|$|[\u4e00-\u9fff])(?<!e\.g\.)(?<!i\.e\.)(?<!vs\.)|~{2,}|…{1,}|\.{2,}")
_CLAUSE_END = lazily(
    r",(?!\d{3})|:(?=\s|[\u4e00-\u9fff])|—+| - |--+|\(|\)|~|(?<=\s)(?=(?:but|however|though|although|while"
    r"|whereas|because|since|so(?! (?:dark|light|bright|long|short|much|many|detailed|vague|abstract|brief"
    r"|verbose|wordy|hard|slow|fast|good|bad|far|very|cluttered|busy|dated|ugly|dry|terse)(?![a-z]))|and then"
    r"|and please|and (?:i|i'll|i'd|i'm|my|we|you|also|keep|make|use|give|add|call|reply|answer|explain|don't|no"
    r"|put|write|show|skip|drop|leave|go|set|turn|switch)|then|unless|except)\s)"
    r"|(?<=[\u4e00-\u9fff]{2}) +(?=[\u4e00-\u9fff]{2})|(?=但是|可是|不过|然后|所以|因为|而且|并且|还有|另外|而我"
    r"|但我|只是|却|不然|否则)"
)
