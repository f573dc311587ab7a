"""What a person says of himself or herself: name, level, time zone, language of the replies."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from vault_memory.core.extraction.clauses import Clause
from vault_memory.core.extraction.lexicon import Lexicon
from vault_memory.core.extraction.masking import Message
from vault_memory.core.extraction.styles import polarity
from vault_memory.core.fold import simplify
from vault_memory.core.preference import Signal


def statements(clause: Clause, message: Message, lexicon: Lexicon, existing: Mapping[str, object]) -> Iterator[Signal]:
    """Name, level, time zone and reply language of one clause."""
    for rule in (_display_name, _level, _timezone, _language):
        if signal := rule(clause, message, lexicon, existing):
            yield signal


# --- name -------------------------------------------------------------------------------------------------------------

_NAMED = re.compile(
    r"(?P<han>(?:大家|朋友|同学|家人|室友)?(?:都|平常都|一般|通常)?(?:请|可以|就|都|直接|以后|之后|今后|你|您|改|麻烦|习惯)*(?:叫我|称呼我(?:为|作|做)?|喊我|唤我|叫我做|叫我作|嗌我|叫翻我|叫返我)|我叫(?:做|作)?|我(?:的)?(?:名字|昵称|外号|绰号|花名|小名|英文名|中文名|名)(?:是|叫|系|就叫)|我个名(?:系|叫)|我的?英文名(?:是|叫)?|叫(?=[小阿老])|称呼(?:用|是)|叫(?=[\w ]{1,12}就好|[\w ]{1,12}就可以))"
    r"|(?<![a-z])(?P<latin>(?:just |you can |please |everyone |people |friends |they |most people |y'all can )?call(?:s)? me|my name is|my name's|name's|the name is|the name's|i go by|i'm called|address me as|refer to me as|use the name|my nickname is|people know me as|known as|i'd rather be called|prefer to be called|prefer being called|like to be called|want to be called|go by)(?![a-z])"
)
_NAME = re.compile(
    r"(?: |:|\"|做|作|为|回|返|一声|名字)*(?P<name>[a-zà-ÿ][\w'\-]{0,19}(?:[ .](?!btw|please|pls|thanks|thx|lol|now|instead|ok|everyone|and|from|if|not|in|when|but|is|here|will|works)[a-z][\w'\-]{0,14}(?=$| ?(?:就|得|吧|啦|for|please|pls|,)))?|[\u3400-\u9fff]{1,3}[a-z]{2,12}|[\u3400-\u9fff]{1,8})"
)
_TAIL = re.compile(
    r"(?:就好|就可以|就行|即可|就得|得啦|得了|好了|吧|啦|啊|喔|哦|就ok|ok|就 ok|可以了|便可|得嘞|呗|就对了|好啦|都得|都可以|都行|也行|也可以|了|即可以|就成).*$"
)
_NAME_STOP = re.compile(
    r"^(?:这个|那个|全名|把|去|做|来|写|改|先|重|这个|那个|起床|吃|回|交|买|看|帮|给|用|学|怎|什|啥|不|别|在|要|再|不要|一起|自己|多|少|快|上|下|装|换|加|删|查|读|背|练|想|滚|等|闭|好好|小心|注意|明天|今天|直接|记|试|跟|准备|参加|申请|讲|说|解|整理|设|安装|同学|你|他|她|我|它)"
    r"|^(?:crazy|maybe|back|later|when|if|a|an|the|old|stupid|lazy|biased|paranoid|picky|dumb|on|at|tomorrow|tonight|out|in|to|and|but|so|naive|weird|cynical|insane|mad|silly|whatever|anything|anytime|up|over|by|for|it|ishmael|names|that|this|once|after|before|old-fashioned|oldschool|impatient|sentimental|skeptical|sceptical|optimistic|nuts|not|is|what|how|i|you|cheap|slow|pedantic|cautious|ungrateful|conservative|sir|dude|bro|from|with|about|of|user|student|curious|simple|spoiled|nitpicky)(?![a-z])"
)
_TROUBLE = re.compile(
    r"(?:老师|教授|老板|主管|妈|爸|学长|学姐|助教|室友|同学|朋友|组长|组员|professor|teacher|boss|mom|dad)[^,]{0,8}$"
)
_STOP_CALLING = re.compile(
    r"(?:别|不要|不用|不必|唔好|唔使|咪|停止)(?:再)?叫我|stop calling me|don't call me|do not call me|never call me|quit calling me"
)
_GREETING = re.compile(
    r"(?:^|\n)[\s,]*(?:嗨|哈啰|哈喽|哈罗|你好|您好|大家好|hi|hello|hey|yo|hiya|good (?:morning|evening|afternoon))[\s,!~～。]*(?:there|all|everyone)?[\s,!~～。]*(?:我是|i'm|i am|this is|it's|im)\s*(?P<name>[a-z][\w'\-]{1,15}|[\u3400-\u9fff]{2,3})\s*(?=[,!.。~]|$|\n)"
)


def _display_name(clause: Clause, message: Message, lexicon: Lexicon, existing: Mapping[str, object]) -> Signal | None:
    text = clause.text
    stop = _STOP_CALLING.search(text)
    if stop:
        stored = existing.get("display_name")
        if stored and simplify(str(stored)).casefold() in simplify(text[stop.end() :]):
            return Signal("display_name", "remove", str(stored), "explicit")
        return None
    greeted = _GREETING.search(message.said, clause.start - 12 if clause.start > 12 else 0, clause.end + 1)
    for found in _NAMED.finditer(text):
        if clause.hypothetical or clause.sarcastic or clause.past or clause.asks_to_know:
            return None
        if _TROUBLE.search(text[: found.start()]) and not found[0].startswith(("大家", "朋友", "friends", "everyone")):
            return None
        if re.search(r"(?:不|别|没|记得|提醒|闹钟|打电话)$", text[: found.start()]):
            return None
        name = _NAME.match(text, found.end())
        if not name or (not found["han"] and re.search("[\u3400-\u9fff]", name["name"])):
            continue
        value = _TAIL.sub("", name["name"])
        begin = clause.start + name.start("name")
        rest = text[name.start("name") + len(value) :].strip()
        if not value or _NAME_STOP.match(value) or not _ends_well(rest, value, found[0]):
            continue
        return Signal("display_name", "set", message.written[begin : begin + len(value)].strip(), "explicit")
    if greeted and clause.start <= greeted.start("name") < clause.end:
        value = message.written[greeted.start("name") : greeted.end("name")]
        common = greeted["name"].isascii() and not value[:1].isupper()
        if (
            (
                not common
                and not _NAME_STOP.match(greeted["name"])
                and not re.search(r"[学生新手师人员]$", greeted["name"])
            )
            and value not in lexicon.names
            and greeted["name"] not in lexicon.names
        ):
            return Signal("display_name", "set", value, "explicit")
    return None


def _ends_well(rest: str, value: str, trigger: str) -> bool:
    """Whether the name ends where a name would: «call me back later» and 叫我把作業重寫 name nobody."""
    if not rest:
        return not re.search("[\u3400-\u9fff]", value) or len(value) <= 4 or trigger.startswith(("我叫", "我的名"))
    return bool(
        re.match(
            r"(?:就|得|吧|啦|啊|喔|哦|好|即可|便|都|也|了|呗|ok|please|pls|btw|by the way|from now|instead|is fine|thanks|thx|if|not|rather|for short|everyone|here|in |when|and |from|lol|haha|哈|谢|~|now|these days|works|will do|成|,|\.|-|but )",
            rest,
        )
    )


# --- level ------------------------------------------------------------------------------------------------------------

_LEVELS = ("beginner", "intermediate", "advanced")
_OF_A_TECHNOLOGY = re.compile(
    r"(?:教学|教程|课程|课|书|tutorial|course|book|guide|friendly|mistake|error|question|模式|难度|班|题|等级的)"
)
_SIMILE = re.compile(r"(?:像|跟|好像|当作是给|对|以|给|适合|推荐|帮|教|like i'm|like i am|as if|for|even)[^,]{0,6}$")
_NOT_PROGRAMMING = re.compile(
    r"(?:滑雪|煮|料理|游泳|吉他|钢琴|日文|英文|西文|法文|德文|瑜|健身|开车|摄影|游戏|guitar|piano|ski|chess|cook|yoga|swim|japanese|spanish|french|german|runner|gym|driver|parent|knit)"
)


def _level(clause: Clause, message: Message, lexicon: Lexicon, existing: Mapping[str, object]) -> Signal | None:
    if not clause.meant or clause.asks_to_know or _NOT_PROGRAMMING.search(clause.text):
        return None
    text = clause.text
    said = lexicon.words("people.level.beginner_said").search(text)
    if said and not re.search(r"(?:不是|not|isn't)[^,]{0,4}$|一半|班上|大部分|很多|如果|给", text[: said.start()]):
        return Signal("level", "set", "beginner", "explicit")
    me = lexicon.words("people.level.is_me").search(text)
    if not me:
        return None
    for level in reversed(_LEVELS):
        for found in lexicon.words(f"people.level.{level}").finditer(text):
            if (
                found.start() < me.start()
                or found.start() - me.end() > 34
                or _OF_A_TECHNOLOGY.match(text[found.end() :].strip(" 的's"))
            ):
                continue
            if polarity(text, found.start(), found.end(), lexicon, []) <= 0 or re.search(
                r"(?:不|没|not|no longer|never|isn't|ain't)", text[me.start() : found.start()]
            ):
                continue
            return Signal("level", "set", level, "explicit")
    return None


# --- time zone --------------------------------------------------------------------------------------------------------

_IANA = re.compile(
    r"(?<![a-z])(africa|america|asia|europe|australia|pacific|atlantic|indian|antarctica)/([a-z_]{3,30}(?:/[a-z_]{3,30})?)(?![a-z/])"
)
_OFFSET = re.compile(r"(?<![a-z])(?:utc|gmt) ?([+\-]) ?(\d{1,2})(?::?00)?(?!\d|:)")
_ZONE_WORD = re.compile(r"时区|(?<![a-z])time ?zone(?![a-z])|(?<![a-z])tz(?![a-z])|时间|(?<![a-z])times?(?![a-z])|当地")
_MY_ZONE = re.compile(
    r"我|咱|请|以后|之后|今后|都|用|按|以|照|帮|排|安排|换算|提醒|行程|设|记|(?<![a-z])(?:i'm|i am|my|we're|i live|i moved|i've moved|i'm based|please|use|using|schedule|set|convert|show|remember|from now on|assume|in my|my|always|keep|make|put)(?![a-z])"
)
_NOT_MY_ZONE = re.compile(
    r"server|伺服器|服务器|database|资料库|数据库|timestamp|log|存成|存的|欄位|column|field|cron|ci |aws|机器|vm|几点|幾點|what time|meeting with|开会|会议|发布|比赛|contest|launch|flight|航班|game|match|live|直播|客户|对方|function|函数|code|程式|代码|datetime|parse|pytz|moment|convert .{0,20} to utc|apps? "
)
_SITUATED = re.compile(
    r"我(?:人|们|现在|目前|这学期|已经|最近|刚)*(?:人)?(?:在|搬到|搬去|住在|位于|搬|飞到|到了)|i'm (?:currently |now |actually |temporarily )?(?:in|on|based in|living in|located in|at)|i (?:live|moved|have moved|just moved|relocated|work|study|am) (?:in|to|on|from)|i've (?:just )?(?:moved|relocated) to|we're in|based in|my (?:time ?zone|tz|local time|clock)|我(?:的|这边的|这里的|所在的)?(?:时区|当地时间|时间)|时区(?:是|在|设|改|请|用|为|换|:| )"
)


def _timezone(clause: Clause, message: Message, lexicon: Lexicon, existing: Mapping[str, object]) -> Signal | None:
    if clause.others or clause.hypothetical or clause.past or clause.once or clause.asks_to_know or clause.sarcastic:
        return None
    text = clause.text
    around = message.said[max(0, clause.start - 60) : clause.end + 60]
    if _NOT_MY_ZONE.search(text):
        return None
    spoken_of = bool(_ZONE_WORD.search(around))
    own = bool(_MY_ZONE.search(around))
    iana = _IANA.search(text)
    if iana and own:
        written = message.written[clause.start + iana.start() : clause.start + iana.end()]
        return Signal("timezone", "set", _title(written), "explicit")
    if not (spoken_of and own):
        return None
    if not (
        re.search(r"时区|time ?zone|(?<![a-z])tz(?![a-z])|时间|(?<![a-z])times?(?![a-z])|当地", text)
        or _SITUATED.search(text)
    ):
        return None
    offset = _OFFSET.search(text)
    if offset and offset[2] != "0":
        hours, sign = int(offset[2]), offset[1]
        if hours == 8 and sign == "+":
            return Signal(
                "timezone", "set", "Asia/Taipei" if not _is_simplified(message.written) else "Asia/Shanghai", "explicit"
            )
        if hours == 9 and sign == "+":
            return Signal("timezone", "set", "Asia/Tokyo", "explicit")
        return (
            Signal("timezone", "set", f"Etc/GMT{'-' if sign == '+' else '+'}{hours}", "explicit")
            if hours <= 12
            else None
        )
    hits = [
        (found.start(), name.replace("-", "/", 1) if name != "UTC" else "UTC")
        for name in lexicon.sections("people.zone")
        for found in lexicon.words(f"people.zone.{name}").finditer(text)
        if polarity(text, found.start(), found.end(), lexicon, []) > 0
    ]
    if not hits:
        return None
    return Signal("timezone", "set", max(hits)[1], "explicit")


def _title(zone: str) -> str:
    return "/".join(
        "_".join(word.capitalize() if word not in ("of", "es") else word for word in part.split("_"))
        for part in zone.lower().split("/")
    )


# --- language of the replies ------------------------------------------------------------------------------------------

_TELLS = r"(?:回答|回复|回覆|回应|答复|作答|回我|回给我|回|答|讲|说|解释|说明|讲解|沟通|对话|交谈|聊|跟我讲|跟我说|教|answer|reply|respond|speak|talk|write|explain|communicate|chat|converse|tell me|text)"
_ARTEFACT = re.compile(
    r"make it (?:reply|answer|respond|speak|talk)|让它|讓它|chatbot|persona|翻|译|写(?!给我看)(?:一)?(?:封|篇|个|份|段|首|信|作文|报告|文章)|信|邮件|email|e-mail|letter|essay|作文|论文|报告|paper|report|注解|注释|comment|变数|变量|variable|函数名|命名|naming|名称|介面|界面|ui|网站|页面|网页|website|page|app|按钮|button|标题|title|label|简报|slides|投影片|presentation|演讲|speech|考|test|exam|homework|课|class|subtitle|字幕|字体|font|文件(?=用|要|改)|readme|doc|commit|讯息|message to|自我介绍|履历|resume|cv|怎么(?:说|讲|写|念)|点讲|how do (?:you|i|we) say|say .{1,30} in|键盘|keyboard|输入法|系统语言|手机|phone|版本|version|影片|video|书|book|字典|资料集|dataset|translate|translation|caption|essay|poem|诗|歌|song|menu|菜单|error message|strings?"
)
_SWITCH = re.compile(
    r"(?:改|换|转|切换|切|用|讲|说|回|整|来|以|答|打|写|be|in|to|speak|use|switch|go|talk|prefer|answer|reply|only|just|with|try|please|back|want|like|喜欢|习惯|偏好|看|读|吃|要)[^,]{0,12}$"
)
_ABOUT_ME = re.compile(
    r"(?:我|i|my)[^,]{0,8}(?:母语|native|first language|很烂|很差|不好|看不懂|听不懂|读不懂|speak|专业|考|学|读|老师|doesn't|isn't|bad|poor)"
)


def _language(clause: Clause, message: Message, lexicon: Lexicon, existing: Mapping[str, object]) -> Signal | None:
    text = clause.text
    if not clause.meant or clause.asks_to_know or clause.once or _ARTEFACT.search(text):
        return None
    hits = [
        (found.start(), found.end(), tag)
        for tag in lexicon.sections("people.language")
        for found in lexicon.words(f"people.language.{tag}").finditer(text)
    ]
    hits = [
        hit
        for hit in hits
        if not any(o != hit and o[0] <= hit[0] and hit[1] <= o[1] and o[1] - o[0] > hit[1] - hit[0] for o in hits)
    ]
    for start, end, tag in sorted(hits, reverse=True):
        ends = [other[1] for other in hits if other[1] <= start]
        if polarity(text, start, end, lexicon, ends) <= 0 or re.match(
            r"(?:看得|看到|很|好难|太难|不好|不懂|看不|读不|资料|文献|原文|课本|夹|名词|缩写| is (?:hard|difficult|not)|课|老师|系|的(?:文件|文章|资料|影片|书|论文|解释看))",
            text[end:],
        ):
            continue
        tells = re.search(_TELLS, text)
        if not (
            tells
            or _SWITCH.search(text[:start])
            or re.match(
                r" ?(?:就好|please|pls|only|谢谢|吧|thanks|就可以|from now|呗|for everything|replies|answers|responses|回答|回复|,? ?ok)",
                text[end:],
            )
        ):
            continue
        if not (clause.wish or tells and clause.asks):
            continue
        if _ABOUT_ME.search(text) and not tells:
            continue
        value = _chinese_of(message.written) if tag == "zh" else tag
        return Signal("language", "set", value, "explicit" if clause.likes or clause.standing else "adjustment")
    return None


def _chinese_of(written: str) -> str:
    """The Chinese the person writes; where the message holds none, plain `zh`."""
    if not re.search(r"[\u3400-\u9fff]", written):
        return "zh"
    return "zh-CN" if _is_simplified(written) else "zh-TW"


def _is_simplified(written: str) -> bool:
    return simplify(written) == written and any("\u4e00" <= char <= "\u9fff" for char in written)
