"""Statements of a person about himself or herself: name, level, time zone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from vault_memory.core.extraction.clauses import Clause
from vault_memory.core.extraction.lexicon import Lexicon, longest
from vault_memory.core.extraction.speech import Message
from vault_memory.core.extraction.wishes import polarity
from vault_memory.core.profile import Signal
from vault_memory.core.text import chinese_of, lazily, simplify


def statements(clause: Clause, message: Message, lexicon: Lexicon, existing: Mapping[str, object]) -> Iterator[Signal]:
    """The name, level and time zone that one clause states."""
    for rule in (_display_name, _level, _timezone):
        if signal := rule(clause, message, lexicon, existing):
            yield signal


# --- name -------------------------------------------------------------------------------------------------------------

_TITLE = r"(?:(?:mr|mrs|ms|mx|dr|prof|professor|miss)\.? )?"
_NAME = lazily(
    rf"(?: |:|\"|做|作|为|回|返|一声|名字)*(?P<name>{_TITLE}[a-zà-ÿ][\w'\-]{{0,19}}(?:[ .](?!even|btw|please|pls"
    rf"|thanks|thx|lol|now|instead|ok|everyone|and|from|if|not|in|when|but|is|here|will|works|because|since|though"
    rf"|although|as|for|with|rather|so|on|at|too|or|nobody|never|just|always)[a-z][\w'\-]{{0,14}}(?=$"
    rf"| ?(?:就|得|吧|啦|for|please|pls|,)))?(?: ?(?:哥哥|姐姐|老师|同学|学长|学姐|哥|姐|仔|妹|叔|姨"
    rf"|sir)(?![\u3400-\u9fff]{{2}}(?<!就好)(?<!就行)(?<!就得)(?<!就可)(?<!就 o)))?"
    rf"|[\u3400-\u9fff]{{1,3}} ?[a-z]{{2,12}}(?= ?(?:就|得|便|吧|啦|都|也|,|$|,|。|[.!?~]))"
    rf"|[\u3400-\u9fff]{{1,8}})"
)
_TAIL = lazily(
    r"(?:就好|就可以|就行|即可|就得|得啦|得了|好了|吧|啦|啊|喔|哦|就 ?ok|(?<![a-z])ok(?![a-z])|就|可以了|便可"
    r"|得嘞|呗|就对了|好啦|都得|都可以|都行|也行|也可以|了|即可以|就成|便行|便成|这样).*$"
)
_NAME_STOP = lazily(
    r"^(?:外送|外卖|计程车|车|救护|大神|大佬|学霸|学渣|卷王|天才|笨|傻|废|猪|这个|那个|全名|把|去|做|来|写|改|先"
    r"|重|这个|那个|起床|吃|回|交|买|看|帮|给|用|学|怎|什|啥|不|别|在|要|再|不要|一起|自己|多|少|快|上|下|装|换"
    r"|加|删|查|读|背|练|想|滚|等|闭|好好|小心|注意|明天|今天|直接|记|试|跟|准备|参加|申请|讲|说|解|整理|设|安装"
    r"|同学|你|他|她|我|它)"
    r"|^(?:crazy|maybe|back|later|when|if|a|an|the|old|stupid|lazy|biased|paranoid|picky|dumb|on|at|tomorrow"
    r"|tonight|out|in|to|and|but|so|naive|weird|cynical|insane|mad|silly|whatever|anything|anytime|up|over|by|for"
    r"|it|ishmael|names|that|this|once|after|before|old-fashioned|oldschool|impatient|sentimental|skeptical"
    r"|sceptical|optimistic|nuts|not|is|what|how|i|you|cheap|slow|pedantic|cautious|ungrateful|conservative|sir"
    r"|dude|bro|from|with|about|of|user|student|curious|simple|spoiled|nitpicky)(?![a-z])"
)
_TROUBLE = lazily(
    r"(?:老师|教授|老板|主管|妈|爸|学长|学姐|助教|室友|同学|朋友|组长|组员|professor|teacher|boss|mom|dad)[^,]{0,8}$"
)
_STOP_CALLING = lazily(
    r"(?:别|不要|不用|不必|唔好|唔使|咪|停止)(?:再)?叫我|stop calling me|don't call me|do not call me"
    r"|never call me|quit calling me"
)
_GREETING = lazily(
    r"(?:^|\n)[\s,]*(?:嗨|哈啰|哈喽|哈罗|你好|您好|大家好|hi|hello|hey|yo|hiya"
    r"|good (?:morning|evening|afternoon))[\s,!~～。]*(?:there|all|everyone)?[\s,!~～。]*(?:我是|i'm|i am|this is"
    r"|it's|im)\s*(?P<name>[a-z][\w'\-]{1,15}|[\u3400-\u9fff]{2,3})\s*(?=[,!.。~]|$|\n)"
)


def _display_name(clause: Clause, message: Message, lexicon: Lexicon, existing: Mapping[str, object]) -> Signal | None:
    text = clause.text
    stop = _STOP_CALLING.search(text)
    if stop:
        stored = existing.get("display_name")
        if stored and simplify(str(stored)).casefold() in simplify(text[stop.end() :]):
            return Signal("display_name", "remove", str(stored), "explicit")
        return None
    if clause.is_sarcastic or clause.is_past or (clause.asks_to_know and not clause.is_first_person):
        return None
    if name := _called(clause, message, lexicon) or _introduced(clause, message, lexicon):
        return Signal("display_name", "set", name, "explicit")
    return None


def _called(clause: Clause, message: Message, lexicon: Lexicon) -> str | None:
    """The name after «call me», 叫我, «my name is»."""
    text = clause.text
    calls = list(lexicon.words("people.name.before").finditer(text))
    if not calls or lexicon.words("words.mood.hypothetical").search(text):
        return None
    other = lexicon.words("words.speaker.others").search(text)
    for call in calls:
        before = text[: call.start()]
        if _CALLED_BY_ONE.search(before):
            continue  # 他叫我阿呆 is the name that one person uses, 大家都叫我小魚 the name that all use
        if _NOT_CALLED.search(before) or (_TROUBLE.search(before) and not _ALL_CALL.search(before)):
            continue
        if clause.is_about_others and not _OF_ME.search(call[0]):
            continue
        if other and other.end() <= call.start() and not (_ALL_CALL.search(before) and _MANY.search(before)):
            continue  # 我阿嬤叫我阿寶 is the name that one person uses
        name = _NAME.match(message.speech, clause.start + call.end())
        if not name or (call[0].isascii() and call[0] != "call me" and re.search("[\u3400-\u9fff]", name["name"])):
            continue
        value = _TAIL.sub("", name["name"])
        begin = name.start("name")
        rest = message.speech[begin + len(value) : max(clause.end, begin + len(value))].strip()
        if value and not _NAME_STOP.match(value) and _ends_well(rest, value, call[0]):
            return message.written[begin : begin + len(value)].strip()
    return None


_CALLED_BY_ONE = lazily(
    r"(?<!其)(?:他|她|佢|室友|老师|教授|主管|老板|学长|学姐|学弟|学妹|助教|前任|隔壁)(?:老是|总是|总|一直|都|又"
    r"|还|整天|每次)*$"
    r"|^(?!以后|之后|今后|请|你|从|大家|朋友|同学|家人|别人|身边|周围|网友|群里|公司里|同事)[^,我你]{2,10}(?:老是"
    r"|总是|总爱|一直|整天|每次都?|竟然|居然)$"
)


def _introduced(clause: Clause, message: Message, lexicon: Lexicon) -> str | None:
    """A name given without a verb of calling: «hi, I'm Ana», «Ngozi here», «it's Siobhán, with the accent»."""
    greeted = _GREETING.search(message.speech, max(0, clause.start - 12), clause.end + 1)
    if greeted and clause.start <= greeted.start("name") < clause.end and not greeted["name"].endswith(_ROLES):
        introduced: re.Match[str] | None = greeted
    else:
        matches = (frame.search(message.speech, clause.start, clause.end + 24) for frame in _BARE)
        introduced = next((match for match in matches if match and match.start("name") < clause.end), None)
    if not introduced or _NAME_STOP.match(introduced["name"]) or introduced["name"] in lexicon.names:
        return None
    value = message.written[introduced.start("name") : introduced.end("name")]
    return value if not value.isascii() or value[:1].isupper() or "lowercase" in clause.text else None


_ROLES = tuple("学生新手师人员")
_LATIN_NAME = rf"(?P<name>{_TITLE}[a-zà-ÿ][a-zà-ÿ'\-]{{1,15}})"
_BARE = (
    lazily(rf"(?:^|(?<=\n)|(?<=[.!?] )){_LATIN_NAME} here(?: again)?(?=[,.!?]|$)"),
    lazily(rf"(?<![a-z]){_LATIN_NAME},? (?:is|that's) my (?:whole |full |real |actual )?(?:name|nickname)(?![a-z])"),
    lazily(
        rf"(?:it's|its|it is) {_LATIN_NAME}(?=,? (?:not [a-z]+(?:[.,!]|$)|with (?:the|an?) (?:accent|[a-z]\b|double"
        rf"|silent)|please$|btw$|for short))"
    ),
    lazily(
        rf"(?:^|(?<=, )|(?<=[.;] ))(?:please,? )?(?:just|only|simply"
        rf"|plain) {_LATIN_NAME}(?=,? (?:is fine|please|will do|works|is enough|thanks|to you)|$|[.!])(?<=[a-z])"
    ),
    lazily(rf"(?<=but ){_LATIN_NAME} is (?:fine|ok|okay|easier|better|enough)(?=$|[,.!])"),
    lazily(
        rf"(?:^|(?<=, )|(?<=[.;] )|(?<=but )|(?<=though )){_LATIN_NAME} (?:is (?:what i go by"
        rf"|what (?:everyone|people|friends) calls? me)|will do|for short)(?![a-z])"
    ),
)
_OF_ME = lazily(r"我|(?<![a-z])(?:me|my|i|i'm|i'd)(?![a-z])")
_ALL_CALL = lazily(
    r"(?:都|也都|平常|平时|习惯|一直|通常|一律|大家|朋友们?|同学们?|家里人|身边人|认识的人) ?(?:是|会|直接)?$"
    r"|(?:everyone|everybody|people|friends|folks|they all|lab|family"
    r"|team)(?: (?:at|on|in) [a-z ]{2,14})? (?:just |all |always |usually )?$"
)
_MANY = lazily(
    r"大家|们|朋友|同学|家人|家里|身边|同事|队友|弟妹|姐妹|群|班|社|圈|系|人|(?<![a-z])(?:everyone|everybody"
    r"|people|friends|folks|family|team|lab|all|colleagues|coworkers|classmates|mates)(?![a-z])"
)
"""Many people use the name, not only the owner of one shop."""
_NOT_CALLED = lazily(
    r"(?:作文|小说|故事|剧本|台词|歌词|梦|日记|电影)里|(?:不|不要|别|没|没有|记得|提醒|闹钟|打电话|早上|明早|起床"
    r"|怎么|为什么|为何|干嘛|唔好|唔使|谁|不用|不必|不准|不许)(?:再)?$|(?:don't|do not|never|stop|why do you"
    r"|why does it|quit|when you|they|he|she|not|will|to|didn't) $|[a-z]'s $"
    r"|(?:猫|狗|鸟|兔|宠物|角色|店|公司|队|孩子|儿子|女儿)(?:的)?$"
)


def _ends_well(rest: str, value: str, trigger: str) -> bool:
    """Whether a name may end there: «call me back later» and 叫我把作業重寫 name nobody."""
    if not rest:
        return (
            not re.search("[\u3400-\u9fff]", value)
            or len(value.split()[0]) <= 4
            or trigger.startswith(("我叫", "我的名", "喊", "叫", "名字", "昵称", "暱称"))
        )
    return bool(
        re.match(
            r"(?:就|得|吧|啦|啊|喔|哦|好|即可|便|都|也|了|呗|、|\)|这样|你也|as|so|even|though|because|since|nobody"
            r"|that's|too|around|or|ok|please|pls|btw|by the way|from now|instead|is fine|thanks|thx|if|not|rather"
            r"|for short|everyone|here|in |when|and |from|lol|haha|哈|谢|~|now|these days|works|will do|成|,"
            r"|\.|-|but )",
            rest,
        )
    )


# --- level ------------------------------------------------------------------------------------------------------------

_LEVELS = ("beginner", "intermediate", "advanced")
_OF_A_TECHNOLOGY = lazily(
    r"(?:luck|教学|教程|课程|课|书|tutorial|course|book|guide|friendly|mistake|error|question|模式|难度|班|题"
    r"|等级的|swimmer|runner|cook|player|skier|dancer|climber|driver|baker|knitter|singer|painter|guitarist"
    r"|pianist|hiker|cyclist|gardener|photographer|speaker|spanish|french|german|japanese|english|chinese)"
)
_NAMED_SO = lazily(r"(?:叫做?|名叫|取名|(?<![a-z])(?:called|named)) ?$")
_OTHER_TRADE = lazily(
    r"(?:爸|妈|父|母|驾|司机|玩家|厨|妻|丈夫|上路|老师|护|编辑|店|主管|村)"
    r"| (?:nurse|teacher|mom|mum|dad|parent|father|mother|doctor|lawyer|cook|chef|driver|writer|artist|musician"
    r"|manager|farmer|designer|carpenter|translator|runner|swimmer|baker|pilot|sailor|actor|gardener|traveller"
    r"|traveler|investor|accountant|editor)s?(?![a-z])"
)
_IN_A_FIELD = lazily(
    r" (?:at|in) (?!this|it|that|all|here|general|programming|coding|code|cs|computers?|web|software|data|tech)[a-z]+"
)
_PRETENDED = lazily(
    r"栏位|字段|预设值|默认值|型别|枚举|假装|假裝|扮演|扮成|假扮|(?<![a-z])(?:pretend|imagine|role ?play|enum"
    r"|column|field|as an? \w+,? i (?:want|need|can|should))(?![a-z])|level ?[+=]|\blevel ?:"
)
_BARELY = lazily(
    r"(?:纯|完全|绝对|真的?|还|只|就|才|妥妥|标准|是|个|的|一个|一枚|pure|total|complete|absolute|still|just|an?| )*"
)
_AS_SUCH = lazily(
    r" ?(?:水平|水准|程度|等级|阶段|的(?:程度|水平|水准|标准|方式)(?:跟|给|对|同|来|教|讲)?我?"
    r"|(?<![a-z])(?:level )?here(?![a-z])|一枚|一只|一个(?=$)|路过)(?!的(?:书|教程|课|题|班|模式))"
)
_SIMILE = lazily(r"(?:像|跟|好像|当作是给|对|以|给|适合|推荐|帮|教|like i'm|like i am|as if|for|even)[^,]{0,6}$")
_NOT_PROGRAMMING = lazily(
    r"(?:滑雪|煮|料理|游泳|吉他|钢琴|日文|英文|西文|法文|德文|瑜|健身|开车|摄影|游戏"
    r"|(?<![a-z])(?:guitar|piano|ski(?:ing|s)?(?![a-z])|chess|cook|yoga|swim|japanese|spanish|french|german"
    r"|runner|gym|开[^,]{0,3}车|计程车|照顾|带孩子|篮球|羽球|羽毛球|棋|跳舞|唱歌|画画|烘焙|化妆|骑|爬山|登山|网球"
    r"|桌球|排球|跑步|钓鱼|摄影|driver|parent|knit))"
)


def _level(clause: Clause, message: Message, lexicon: Lexicon, existing: Mapping[str, object]) -> Signal | None:
    text = clause.text
    if (
        not clause.is_meant
        or clause.asks_to_know
        or clause.is_once
        or _PRETENDED.search(text)
        or text.endswith(("吗", "么"))
    ):
        return None
    beginner = lexicon.words("people.level.beginner_said").search(text)
    if beginner and not re.search(
        r"(?:不是|not|isn't)[^,]{0,4}$|一半|班上|大部分|很多|如果|给", text[: beginner.start()]
    ):
        return Signal("level", "set", "beginner", "explicit")
    me = lexicon.words("people.level.is_me").search(text)
    for level in reversed(_LEVELS):
        for named in lexicon.words(f"people.level.{level}").finditer(text):
            after = text[named.end() :]
            if _OF_A_TECHNOLOGY.match(after.removeprefix("'s").lstrip(" 的")) or _NOT_PROGRAMMING.search(
                message.speech[max(0, clause.start + named.start() - 24) : clause.start + named.start()]
            ):
                continue
            if _OTHER_TRADE.match(after) or _NAMED_SO.search(text[: named.start()]):
                continue  # 新手爸爸, «an experienced nurse», 我的貓叫小白
            if _IN_A_FIELD.match(after) and not (
                lexicon.words("subjects.technical").search(after)
                or any(clause.start <= item.start < clause.end for item in message.technologies)
            ):
                continue  # «a beginner at yoga»
            bare = not after.strip(" 啊啦吧呢哈") and _BARELY.fullmatch(text[: named.start()])
            if not me and bare and not _SIMILE.search(text[: named.start()]):
                return Signal("level", "set", level, "explicit")
            if not me and _AS_SUCH.match(after) and not _SIMILE.search(text[: named.start()]):
                return Signal("level", "set", level, "explicit")
            if not me or named.start() < me.start() or named.start() - me.end() > 34:
                continue
            if polarity(text, named.start(), named.end(), lexicon, []) <= 0 or re.search(
                r"(?:不|没|not|no longer|never|isn't|ain't)", text[me.start() : named.start()]
            ):
                continue
            return Signal("level", "set", level, "explicit")
    return None


# --- time zone --------------------------------------------------------------------------------------------------------

_IANA = lazily(
    r"(?<![a-z])(africa|america|asia|europe|australia|pacific|atlantic|indian"
    r"|antarctica)/([a-z_]{3,30}(?:/[a-z_]{3,30})?)(?![a-z/])"
)
_OFFSET = lazily(r"(?<![a-z])(?:utc|gmt) ?([+\-]) ?(\d{1,2})(?::?00)?(?!\d|:)")
TIME_WINDOW_CHARS = 80
"""On both sides of a clause that names a place: there the message must speak of time."""


def _timezone(clause: Clause, message: Message, lexicon: Lexicon, existing: Mapping[str, object]) -> Signal | None:
    text = clause.text
    words = lexicon.words
    if clause.is_about_others or clause.is_past or clause.is_once or clause.asks_to_know or clause.is_sarcastic:
        return None
    iana = _IANA.search(text)
    if not (iana or words("people.time.spoken_of").search(text) or words("people.time.situated").search(text)):
        return None
    around = message.speech[max(0, clause.start - TIME_WINDOW_CHARS) : clause.end + TIME_WINDOW_CHARS]
    condition = words("words.mood.hypothetical").search(text)
    if (condition and condition.start() < len(text) // 3) or words("people.time.of_others").search(text):
        return None
    own = words("people.time.own").search(around)
    if iana and own:
        written = message.written[clause.start + iana.start() : clause.start + iana.end()]
        return Signal("timezone", "set", _title(written), "explicit")
    if not (own and words("people.time.spoken_of").search(around)):
        return None
    zone = _by_offset(text, message) or _by_place(text, lexicon)
    return Signal("timezone", "set", zone, "explicit") if zone else None


def _by_offset(text: str, message: Message) -> str | None:
    """The zone of «UTC+8». The names Etc/GMT have the sign reversed (POSIX)."""
    offset = _OFFSET.search(text)
    if not offset or offset[2] == "0" or int(offset[2]) > 12:
        return None
    sign, hours = offset[1], int(offset[2])
    if (sign, hours) == ("+", 8):
        places = {"zh-CN": "Asia/Shanghai", "zh-TW": "Asia/Taipei"}
        return places.get(chinese_of(message.written), "Etc/GMT-8")  # who writes English may be in Singapore
    return "Asia/Tokyo" if (sign, hours) == ("+", 9) else f"Etc/GMT{'-' if sign == '+' else '+'}{hours}"


def _by_place(text: str, lexicon: Lexicon) -> str | None:
    """The zone of the last place named."""
    named = places(text, lexicon)
    return max(named)[2] if named else None


def places(text: str, lexicon: Lexicon) -> list[tuple[int, int, str]]:
    """Start, end and zone of each place named; of overlapping names the longest counts (新德里, not 德里)."""
    named = longest(
        (match.start(), match.end(), zone)
        for zone in lexicon.sections("people.zone")
        for match in lexicon.words(f"people.zone.{zone}").finditer(text)
        if polarity(text, match.start(), match.end(), lexicon, []) > 0
    )
    return [(start, end, zone.replace("-", "/")) for start, end, zone in named]


def _title(zone: str) -> str:
    return "/".join(
        "_".join(word.capitalize() if word not in ("of", "es") else word for word in part.split("_"))
        for part in zone.lower().split("/")
    )
