"""The language in which a person wants the replies."""

from __future__ import annotations

from collections.abc import Iterator

from vault_memory.core.extraction.clauses import Clause
from vault_memory.core.extraction.lexicon import Lexicon, longest
from vault_memory.core.extraction.speech import Message
from vault_memory.core.extraction.wishes import polarity
from vault_memory.core.profile import Signal, Strength, language_tag
from vault_memory.core.text import chinese_of, lazily

_OPENING = lazily(r"[。!?;\n]")
_HAN = lazily("[\u3400-\u9fff]")
_QUALIFIED = lazily(r" ?\([^()]{1,30}\)")
"""Which English, which Chinese: «English (UK)». A bracket begins a clause of its own."""


def reply_language(clause: Clause, message: Message, lexicon: Lexicon) -> Iterator[Signal]:
    """The reply language that one clause wishes for: at most one signal."""
    text, words = clause.text, lexicon.words
    of_reply = bool(words("people.spoken.reply").search(text))
    if not (clause.wish or (of_reply and clause.asks and clause.is_meant)) or clause.asks_to_know or clause.is_once:
        return
    opening = _OPENING.split(message.speech[: clause.start])[-1]
    if words("people.spoken.elsewhere").search(text if of_reply else opening + text):
        return  # «the label in Japanese but the tooltip in English»
    if not of_reply and words("people.spoken.known").search(text):
        return
    named = [each for each in _named(text, lexicon) if not is_only_liked(text, each[0], lexicon)]
    if not (of_reply or clause.likes):
        lasting = words("words.wish.standing").sub("", text)
        if any(_names_more(lasting.replace(text[start:end], ""), lexicon) for start, end, _ in named):
            return  # 圖例換成英文, «can the invitation be in English» name a thing that is not a reply
    strength: Strength = "explicit" if clause.likes or clause.is_lasting else "adjustment"
    for start, end, tag in sorted(named, reverse=True):
        if polarity(text, start, end, lexicon, [other[1] for other in named if other[1] <= start]) > 0:
            if qualified := _QUALIFIED.match(message.speech, clause.start + end):
                tag = language_tag(text[start:end] + qualified[0]) or tag
        elif tag == "en" and of_reply and len(named) == 1 and _HAN.search(message.written):
            tag = "zh"  # 別再講英文了, said in Chinese
        else:
            continue
        yield Signal("language", "set", chinese_of(message.written) if tag == "zh" else tag, strength)
        return


_LIKED = r"(?<!比较)(?<!更){people.spoken.liked} ?(?:{people.language} ?(?:and|or|&|[,、和跟与]) ?)*$"
_LIKED_BEHIND = r" ?(?:,? ?我[^,]{0,6}?{people.spoken.liked}$|{people.spoken.favourite})"


def is_only_liked(text: str, start: int, lexicon: Lexicon) -> bool:
    """Whether the language named at an offset of a folded clause is what somebody likes, not what the replies are to be
    in: «I love Italian», 法文我很喜欢."""
    end = max((stop for at, stop, _ in _named(text, lexicon) if at == start), default=start)
    if lexicon.shape("[ 的]*{people.spoken.reply}").match(text, end):
        return False  # «I like English answers»
    is_compared = lexicon.words("people.spoken.better").search(text[end:])
    is_liked = lexicon.shape(_LIKED).search(text[:start]) and not is_compared
    return bool(is_liked or lexicon.shape(_LIKED_BEHIND).match(text, end))


def _names_more(rest: str, lexicon: Lexicon) -> bool:
    """Whether a clause names more than the switch to a language."""
    return len(lexicon.shape(r"[\s,.!?~、()']|{people.spoken.switch}").sub("", rest)) >= 2


def _named(text: str, lexicon: Lexicon) -> list[tuple[int, int, str]]:
    """Start, end and tag of each language named; of «traditional Chinese» only the longer name."""
    return longest(
        (match.start(), match.end(), tag)
        for tag in lexicon.sections("people.language")
        for match in lexicon.words(f"people.language.{tag}").finditer(text)
    )
