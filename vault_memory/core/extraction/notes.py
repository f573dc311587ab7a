"""«Remember that …»: what a person asks to be kept and no other key holds."""

from __future__ import annotations

from vault_memory.core.extraction.clauses import Clause
from vault_memory.core.extraction.lexicon import Lexicon
from vault_memory.core.extraction.masking import Message
from vault_memory.core.privacy.private import is_private
from vault_memory.core.profile.policy import Signal
from vault_memory.core.text.phrases import lazily

LONGEST = 120
"""Characters of a note."""


def note(sentence: list[Clause], message: Message, lexicon: Lexicon, told: bool) -> Signal | None:
    """An explicit «remember …» of a sentence that holds no other key; `told`: it names a technology all the same."""
    first = sentence[0]
    end = _BLANK.match(message.said, sentence[-1].end).end()  # type: ignore[union-attr]  # a link at the end is blank
    text = message.said[first.start : end]
    asked = lexicon.words("subjects.remember.before").search(text)
    if not asked or lexicon.words("subjects.remember.not_a_note").search(text[: asked.end() + 12]):
        return None
    if told and _I_USE.search(text) or _TAKEN_BACK.search(text[asked.end() :]) or "//" in text[: asked.start()]:
        return None
    if _ABLE.search(text):
        return None  # 你能記住我說過的話嗎 asks what the assistant can do
    opening = text[: asked.start()]
    if (
        len(_FILLER.sub("", opening)) > 4
        or sentence[-1].asks_to_know
        or first.asks_to_know
        or first.hypothetical
        or first.sarcastic
    ):
        return None
    if (past := lexicon.words("words.mood.past").search(text, asked.end())) and past.start() - asked.end() <= 4:
        return None  # 記得小時候院子裡有棵樹 is a memory of one's own
    content = message.written[first.start + asked.end() : end].strip(" ,，:：、。")
    if (
        len(content) < 4
        or is_private(message.written[first.start : end])
        or _CLAIM.search(text)
        or lexicon.words("subjects.remember.private").search(text)
        or not _STATEMENT.search(text[asked.end() :])
    ):
        return None
    return Signal("note", "add", content[:LONGEST], "explicit")


_TAKEN_BACK = lazily(
    r"当我没说|算了|(?<![a-z])(?:no wait|forget (?:that|it)|never ?mind|scratch that|remember)(?![a-z])"
)
_ABLE = lazily(
    r"^[\s,]*(?:你|妳|您)(?:有办法|会不会|能不能|可不可以|会|能|可以|都)+(?!帮|替|给|为我|请|麻烦)[^,]*(?:吗|么|$)"
    r"|^[\s,]*(?:do|will|are|is|does|did) (?:you|it|this)(?! please| mind)[^,]*(?:remember|keep|store|save|note)"
)
_I_USE = lazily(
    r"我(?:们|都|一般|平常|平时|主要|只|也|现在|是|在|的|最)*(?:用|写|学|选|喜欢|习惯|偏好|装|跑)|(?<![a-z])(?:i|we|i'm|we're|i'll) (?:\w+ ){0,2}(?:use|using|write|writing|code|coding|prefer|like|love|work|working|run|develop|build|switched|moved)(?![a-z])"
)
_BLANK = lazily(r" *")
_FILLER = lazily(
    r"[\s,!:~]|对了|呢|eh|ah|la|lah|还有|另外|顺便|那|请|麻烦|帮我|你|可以|先|欸|诶|喔|ok|okay|also|and|btw|hey|oh|please|by the way|one more thing|so|just|可唔可以|唔该|拜托|嗯|好|以后|之后"
)
_CLAIM = lazily(r"管理员|权限|admin|root|instructor|superuser|老师身份|助教身份|credentials?")
_STATEMENT = lazily(
    r"[\u3400-\u9fff]{2,}|(?<![a-z])(?:i|we|is|are|am|was|use|uses|has|have|must|should|need|needs|will|called|named|on|every|always|only|our|my|i'm|the|we|due|at|in|by|=)(?![a-z])|->|:"
)
