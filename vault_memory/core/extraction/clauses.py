"""Clauses of a message, and how each is meant: by whom, as a wish or a question, for good or for once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from vault_memory.core.extraction.lexicon import Lexicon
from vault_memory.core.extraction.masking import Message
from vault_memory.core.extraction.speaker import Words, asks_the_assistant, has_own_part, introduces_words, speaker
from vault_memory.core.profile.policy import Strength
from vault_memory.core.text.phrases import lazily


@dataclass(frozen=True)
class Clause:
    """A stretch of speech between two commas, with what the rules need to know of it.

    `start` and `end` are offsets into the message; `sentence` numbers its sentence.
    """

    text: str
    start: int
    end: int
    sentence: int
    others: bool
    """Somebody else is the subject."""
    hypothetical: bool
    happened: bool
    """Hypothetical only in form: «after I pushed it to GitHub» tells when."""
    asks_to_know: bool
    """A question about the world; a wish dressed as a question is none."""
    once: bool
    past: bool
    sarcastic: bool
    likes: bool
    standing: bool
    stands_here: bool
    """Said to last in this very clause, not only around it."""
    asks: bool
    corrects: bool
    first_person: bool

    @property
    def meant(self) -> bool:
        """Whether the person speaks of himself or herself, now and in earnest."""
        return not (self.others or self.hypothetical or self.past or self.sarcastic)

    @property
    def wish(self) -> Strength | None:
        """The strength of a wish in this clause; None where nothing is wished."""
        if not self.meant or self.asks_to_know or self.once:
            return None
        if self.likes or self.standing:
            return "explicit"
        return "adjustment" if self.asks or self.corrects else None


_SENTENCE = lazily(r"[。!?;\n]+|\.(?=\s|$|[\u4e00-\u9fff])(?<!e\.g\.)(?<!i\.e\.)(?<!vs\.)|~{2,}|…{1,}|\.{2,}")
_CLAUSE = lazily(
    r",(?!\d{3})|:(?=\s|[\u4e00-\u9fff])|—+| - |--+|\(|\)|~|(?<=\s)(?=(?:but|however|though|although|while|whereas|because|since|so(?! (?:dark|light|bright|long|short|much|many|detailed|vague|abstract|brief|verbose|wordy|hard|slow|fast|good|bad|far|very|cluttered|busy|dated|ugly|dry|terse)(?![a-z]))|and then|and please|and (?:i|i'll|i'd|i'm|my|we|you|also|keep|make|use|give|add|call|reply|answer|explain|don't|no|put|write|show|skip|drop|leave|go|set|turn|switch)|then|unless|except)\s)|(?<=[\u4e00-\u9fff]{2}) +(?=[\u4e00-\u9fff]{2})|(?=但是|可是|不过|然后|所以|因为|而且|并且|还有|另外|而我|但我|只是|却|不然|否则)"
)
_ENDS_AS_QUESTION = lazily(r"(?:吗|么|嘛|(?<!达)咩|(?<!着)呢|没有|吗啊|没|先)(?:[\s~～!?.啊呀]|[^\w\s])*$")
_SUBORDINATE = lazily(
    r"(?:(?:之后|以后|过后|后|的时候|时候|的时|时|之前|以前|的话|[写做改跑弄]完)$)|^(?:and |but |so |then )?(?:when|while|once|after|as soon as|every time|since|although|though|even though|whenever|in case) (?:i|we|the|it|my|a|this|he|she|they)\b|^(?:当|等|自从|每当|虽然|尽管)(?!我需要)"
)
_AHEAD = lazily(
    r"^[^,]{0,3}(?:等|当|下次|下|明|以后)|之前$|以前$|前$|会|要|想|(?<![a-z])(?:once|as soon as|in case|before)(?![a-z])"
)
"""A time that is still to come, or was not yet."""
_STRONG_QUESTION = lazily(
    r"好还是|好定|定系(?=[^,]*(?:好|啱))|(?:^|[^a-z])(?:why|how(?! about)|what(?! about| if)|which|who|where)(?:'s| |$)|为什么|为啥|为何|怎么(?!样都|都|这么|那么|又|还|[学看背练记写做想听弄教试改说讲](?:都|也))|如何|哪里|哪儿|哪个|哪种|哪些|哪一|什么(?!都|的)|是不是|有没有(?!办法|可能)|会不会|该不该|要不要|系咩|系乜|咩嚟|点解|点样|边个|边度|差在|好奇|想知道|想问|请问|不(?:太|是很|大)?确定|纠结|犹豫|说不[清上]|拿不定|看心情|还没(?:想好|决定)|不知道(?:我|自己)?(?:喜欢|想要|要|该|选)|(?:don't|do not) know (?:if|whether|which)|你觉得|你认为|你看呢|not sure (?:if|whether|which)|can't decide|torn between|would you rather|(?:do|would) you (?:prefer|like|enjoy|usually|tend)|你(?:自己|个人)?(?:比较|更|会)?(?:喜欢|偏好|习惯|爱)[^,]*还是"
)
_NOT_ASKING = lazily(
    r"where (?:are|did|have) (?:the|my|all the) (?:comments|examples)|(?:can|could|might) (?:it|this|that|they|these|those|everything|(?:the|your|my|all) [a-z]+(?: [a-z]+)?) (?:be|go|get|look|have|stay|use|follow|switch) |是不是(?:可以|能|该)|每一?(?:行|步|段|句|个)[^,]{0,8}?(?:什么|怎么|为什么|干嘛|干啥)|怎么(?=又是|又变|还是)|what(?= (?:it|that|this|each|every|the))|how (?=it |that |this )|有(?:没有|冇|无)(?:[^,]{0,2}(?:实际|具体|真实|简单|生活)[^,]{0,3})(?:例|案)|有(?:没有|冇)[^,]{0,6}(?:例子|范例|示例|example|办法)|不管|无论|不论|随便|no matter|whatever|什么都|怎样都|怎么都|没什么|whichever|that's what|this is how|that's how|是什么都|it's what|what i (?:want|need|like|prefer|mean|meant|asked|said|use)|the (?:why|how|what|where)(?![a-z])|which is|which i(?! prefer$)|(?:don't|do not|doesn't) (?:mind|care|matter)[^,]{0,4}(?:which|what|how|who)|where (?:i|possible|needed|necessary)|why not|why don't (?:you|we)|how about|what about|who cares|when(?:ever)? "
)


MOST, LONGEST = 36, 160
"""Clauses read of one message, and characters of one clause: more than speech has, little enough to bound the time."""


def clauses(message: Message, lexicon: Lexicon) -> list[Clause]:
    """The clauses of what the person said, in order. Subjects, conditions and 'from now on' carry over to what follows."""
    result: list[Clause] = []
    wry = bool(_WRY.search(message.written))
    sentences = list(_spans(message.said))
    if len(sentences) > MOST:
        sentences = [*sentences[: MOST // 2], *sentences[-MOST // 2 :]]
    for number, (start, end, mark) in enumerate(sentences):
        if len(result) < MOST:
            result.extend(_of_sentence(message.said, number, start, end, mark, wry, lexicon))
    return _for_once(result, lexicon)


def _for_once(heard: list[Clause], lexicon: Lexicon) -> list[Clause]:
    """«Light mode please, just for today»: said by itself, «once» is about what was said before it."""
    result = list(heard)
    for place, clause in enumerate(heard):
        found = lexicon.words("words.mood.once").search(clause.text) if clause.once else None
        if not found or len(_BESIDE_ONCE.sub("", clause.text[: found.start()] + clause.text[found.end() :])) > 1:
            continue
        alone = all(other.sentence != clause.sentence for other in heard if other is not clause)
        of = clause.sentence - 1 if alone else clause.sentence
        for at in range(place):
            if heard[at].sentence == of and not heard[at].stands_here:
                result[at] = replace(heard[at], once=True)
    return result


_BESIDE_ONCE = lazily(
    r"[\s,!.?~的地]|就好|就行|就可以|而已|啦|吧|喔|哦|啊|呀|先|只有?|只限|我|要|在|[页题份段张封次回个]|谢谢|可以|只|就|(?<![a-z])(?:page|slide|one|question|answer|task|email|message|screenshot|meeting|demo|part|time|please|only|just|thanks|though|ok|okay|and|but|it's|its|i need it|i want it|that's all|maybe|then|so|i'm|no more|not always|not forever|not every time)(?![a-z])"
)


def _spans(said: str) -> Iterator[tuple[int, int, str]]:
    start = 0
    for mark in _SENTENCE.finditer(said):
        if said[start : mark.start()].strip():
            yield start, mark.start(), mark[0]
        start = mark.end()
    if said[start:].strip():
        yield start, len(said), ""


def _of_sentence(said: str, number: int, start: int, end: int, mark: str, wry: bool, lexicon: Lexicon) -> list[Clause]:
    parts = [(at, min(stop, at + LONGEST)) for at, stop in _parts(said, start, end)][:MOST]
    if not parts:
        return []
    words = lexicon.words
    whole = said[start:end]
    others = hypothetical = once = standing = likes = sarcastic = past = corrects = False
    carried_back = asking_before = polite = quoted = False
    sarcastic = wry or bool(words("words.mood.sarcasm").search(whole))
    standing_after = len(parts) > 1 and bool(words("words.wish.standing").search(said[parts[-1][0] : parts[-1][1]]))
    attributed = len(parts) > 1 and bool(words("words.artefact.attributed").search(said[parts[-1][0] : parts[-1][1]]))
    facts = []
    for at, stop in parts:
        text = said[at:stop]
        last = stop == parts[-1][1]
        subject = speaker(text, words)
        others = subject == "others" if subject else others and not carried_back and not asks_the_assistant(text)
        carried_back = subject == "others" and has_own_part(text)
        if said[stop : stop + 1] == ":" and subject != "me":
            quoted = quoted or subject == "others" or introduces_words(text)
        if words("words.mood.polite_if").search(text):
            conditional = False
        else:
            conditional = bool(words("words.mood.hypothetical").search(text))
        subordinate = bool(_SUBORDINATE.search(text)) and not words("words.wish.standing").search(text)
        hypothetical = conditional or (hypothetical and not _ORDER.match(text))
        once = once or bool(words("words.mood.once").search(text))
        now = bool(words("words.mood.now").search(text))
        was = bool(words("words.mood.past").search(text))
        past = (was and not (now and _is_later(text, words))) or (
            past and not now and subject is None and not words("words.wish.asks").search(text)
        )
        this_stands = bool(words("words.wish.standing").search(text))
        standing = standing or this_stands
        likes_here = bool(words("words.wish.likes").search(_RELATIVE.sub("", text)))
        likes = likes_here or (likes and subject is None and len(text) < 32 and not asking_before)
        corrects = corrects or bool(words("words.wish.corrects").search(text))
        polite = polite or bool(words("words.mood.polite_question").search(text))
        ordered = bool(words("words.wish.orders").match(_LEAD.sub("", text)))
        asking = not _IMPERATIVE.match(text) and _asks_to_know(text, mark if last else "", polite, words)
        asking = asking or (asking_before and text.endswith(("的", "那种")))  # 怎麼讓它只顯示一行, 簡短一點的那種
        asking_before = asking
        facts.append(
            Clause(
                text,
                at,
                stop,
                number,
                others or attributed or quoted,
                hypothetical or subordinate,
                subordinate and not hypothetical and subject == "me" and not _AHEAD.search(text),
                asking,
                once,
                past,
                sarcastic,
                likes,
                standing or (standing_after and not was),
                this_stands,
                ordered or bool(words("words.wish.asks").search(text)),
                corrects,
                subject == "me",
            )
        )
    if _HOW.match(facts[-1].text) and facts[-1].asks_to_know:  # 系統自動換成深色模式，怎麼關
        facts = [one if _REQUESTS.search(one.text) else replace(one, asks=False) for one in facts]
    return facts


_HOW = lazily(
    r"(?:要|该|这|那|应该|请问|and |so )*(?:怎么|如何|为什么|为啥|点解|点样|how |why )(?![^,]*(?:你|you))[^,]{0,24}$"
)
_REQUESTS = lazily(
    r"请|帮|麻烦|拜托|给我|我想|我要|希望|不要|别|唔该|可以|能不能|(?<![a-z])(?:please|pls|can you|could you|i want|i'd like|i need|make|keep|use|add|show|give)(?![a-z])"
)
"""What asks also where a question about the matter follows."""


# An English imperative asks for nothing, whatever its mark or what follows: «comment every line so I see what it does?»
_IMPERATIVE = lazily(
    r"(?:and |but |so |then |also |ok |okay |just |please |pls |hey |from now on )*(?:add|write|make|keep|use|put|skip|drop|leave|stop|include|stick|stay|switch|change|set|turn|cut|avoid|start|comment|annotate|label|follow|match|break|split|walk|slow|number|shorten|trim|remove|strip|go|give|(?:would|could) (?:it kill|you mind))(?![a-z'])(?! (?:is|are|was|does|has)(?![a-z]))"
)
_WRY = lazily("[🙃🙄😒]")
_RELATIVE = lazily(
    r"(?<![a-z])(?:that|which|who) (?:i|we) (?:really |also |still |always )?(?:like|love|enjoy|prefer)(?![a-z])|我(?:最|很|超)?喜欢的(?:那|这)"
)
"""«An app that I like» is liked, not what is told of it."""
_LEAD = lazily(
    r"^[\s,]*(?:(?:and|but|so|then|also|plus|ok|okay|hey|well|oh|just|btw|pls|那|那就|就|也|还有|然后|另外|所以|但|但是|不过|而且|并且|你|你就|同埋|仲有|都|我想|阿|啊|欸|诶|呃|嗯|you can|you could|you should|you|to|from now on|以后|之后|今后|往后)[\s,]*){0,4}"
)
_ORDER = lazily(r"\s*(?:so |and |then |ok )*(?:请|麻烦|帮我|就|给我|please|pls|plz|then |make|use|add|give|keep)")


def _parts(said: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    at = start
    for mark in _CLAUSE.finditer(said, start, end):
        if said[at : mark.start()].strip():
            yield _strip(said, at, mark.start())
        at = mark.end()
    if said[at:end].strip():
        yield _strip(said, at, end)


def _strip(said: str, start: int, end: int) -> tuple[int, int]:
    text = said[start:end]
    return start + len(text) - len(text.lstrip()), end - (len(text) - len(text.rstrip()))


def _is_later(text: str, words: Words) -> bool:
    """Whether «now» comes after «before» in the same clause: the present is what counts."""
    was = words("words.mood.past").search(text)
    now = [found for found in words("words.mood.now").finditer(text) if not _HABIT.search(text[: found.start()])]
    return bool(was and now and now[-1].start() > was.start())


_HABIT = lazily(r"(?:爱|喜欢|总|老|常|流行|习惯)[^,]{0,6}$")
"""Before «change to»: 以前超愛把什麼都換成黑底 tells of then, not of now."""


def _asks_to_know(text: str, mark: str, polite: bool, words: Words) -> bool:
    if _STRONG_QUESTION.search(_NOT_ASKING.sub("", text)):
        return True
    marked = "?" in mark or bool(_ENDS_AS_QUESTION.search(_NOT_ASKING.sub("", text)))
    opens = bool(words("words.mood.question").match(text))
    return (marked or opens) and not polite
