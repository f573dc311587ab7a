"""Statements of a person about himself or herself: name, level, time zone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from vault_memory.core.extraction.clauses import Clause
from vault_memory.core.extraction.lexicon import Lexicon, longest
from vault_memory.core.extraction.speech import Message
from vault_memory.core.extraction.wishes import polarity
from vault_memory.core.profile import Signal
from vault_memory.core.text import chinese_of, lazily, simplify


def statements(clause: Clause, message: Message, lexicon: Lexicon, existing: Mapping[str, object]) -> Iterator[Signal]:
    """The name, level and time zone that one clause states."""
    for signal in (
        _display_name(clause, message, lexicon, existing),
        _level(clause, message, lexicon),
        _timezone(clause, message, lexicon),
    ):
        if signal:
            yield signal


# --- name -------------------------------------------------------------------------------------------------------------

_HAN = lazily("[\u3400-\u9fff]")
_OF_ME = lazily(r"我|\b(?:me|i|i'm|i'd)\b")
_TITLE = r"(?:(?:mr|mrs|ms|mx|dr|prof|professor|miss)\.? )?"
_NAME = (
    r'(?: |:|"|{people.name.lead})*(?P<name>'
    rf"{_TITLE}[a-zà-ÿ][\w'\-]{{0,19}}"
    r"(?:[ .](?!{people.name.goes_on})[a-z][\w'\-]{0,14}(?=$|,| ?{people.name.goes_on}))?"
    r"(?: ?{people.name.honorific}(?!(?!{people.name.goes_on})[\u3400-\u9fff]{2}))?"
    r"|[\u3400-\u9fff]{1,3} ?[a-z]{2,12}(?=$| ?[,.!?~。]| ?{people.name.goes_on})|[\u3400-\u9fff]{1,8})"
)
_GREETED = (
    r"(?:^|\n)[\s,]*{people.name.greeting}[\s,!~。]*(?:there|all|everyone)?[\s,!~。]*{people.name.i_am}"
    r"\s*(?P<name>[a-z][\w'\-]{1,15}|[\u3400-\u9fff]{2,3})\s*(?=[,!.。~\n]|$)"
)
_LATIN_NAME = rf"(?P<name>{_TITLE}[a-zà-ÿ][a-zà-ÿ'\-]{{1,15}})"
_BARE = (
    lazily(rf"(?:^|(?<=\n)|(?<=[.!?] )){_LATIN_NAME} here(?: again)?(?=[,.!?]|$)"),
    lazily(rf"(?:it's|its|it is) {_LATIN_NAME}(?=,? (?:not [a-z]+(?:[.,!]|$)|with (?:the|an?) |please$|for short))"),
    lazily(rf"(?:^|(?<=[,.;] ))(?:just|only|simply|plain) {_LATIN_NAME}(?=,? (?:is fine|please|will do|works)|$|[.!])"),
    lazily(rf"(?:^|(?<=[,.;] )|(?<=but )){_LATIN_NAME} (?:is what i go by|will do|for short)(?![a-z])"),
)
"""A name without a verb of calling: «Ngozi here», «it's Siobhán, with the accent», «just Oz»."""

_WHERE = lazily(r"(?<![a-z])(?:(?:at|in|near)|(?:i'm|i am)(?: not| now)? (?:with|from|for|of)) (?:the )?$")


def is_where_one_is(before: str) -> bool:
    """Whether what stands before a name makes it that of an employer or a place: «I'm at Ericsson now»."""
    return _WHERE.search(before) is not None


def _display_name(clause: Clause, message: Message, lexicon: Lexicon, existing: Mapping[str, object]) -> Signal | None:
    text = clause.text
    if stop := lexicon.words("people.name.no_more").search(text):
        stored = str(existing.get("display_name") or "")
        if stored and simplify(stored).casefold() in simplify(text[stop.end() :]):
            return Signal("display_name", "remove", stored, "explicit")
        return None
    if clause.is_sarcastic or clause.is_past or (clause.asks_to_know and not clause.is_first_person):
        return None
    name = _called(clause, message, lexicon) or _introduced(clause, message, lexicon)
    return Signal("display_name", "set", name, "explicit") if name else None


def _called(clause: Clause, message: Message, lexicon: Lexicon) -> str | None:
    """The name after «call me», 叫我, «my name is»."""
    text, words = clause.text, lexicon.words
    calls = list(words("people.name.before").finditer(text))
    if not calls or words("words.mood.hypothetical").search(text):
        return None
    other = words("words.speaker.others").search(text)
    for call in calls:
        before = text[: call.start()]
        if before.endswith("'s ") or words("people.name.not_called").ends(before, 1):
            continue  # «my cat's name is Rust»
        if clause.is_about_others and not _OF_ME.search(call[0]):
            continue
        if other and other.end() <= call.start() and not words("people.name.many").search(before):
            continue  # 我阿嬤叫我阿寶 is the name that one person uses, 大家都叫我小魚 the name that all use
        name = lexicon.shape(_NAME).match(message.speech, clause.start + call.end())
        if not name or (call[0].isascii() and call[0] != "call me" and _HAN.search(name["name"])):
            continue
        value = lexicon.shape("{people.name.tail}.*$").sub("", name["name"])
        begin, end = name.start("name"), name.start("name") + len(value)
        rest = message.speech[end : max(clause.end, end)].strip()
        if value and not words("people.name.never").match(value) and _ends_well(rest, value, call[0], lexicon):
            return message.written[begin:end].strip()
    return None


def _ends_well(rest: str, value: str, trigger: str, lexicon: Lexicon) -> bool:
    """Whether a name may end there: «call me back later» and 叫我把作業重寫 name nobody."""
    if rest:
        return bool(lexicon.shape("[,.、)~-]|{people.name.tail}|{people.name.goes_on}").match(rest))
    return not _HAN.search(value) or len(value.split()[0]) <= 4 or trigger.startswith(_NAMING)


_NAMING = ("我叫", "我的名", "喊", "叫", "名字", "昵称", "暱称")


def _introduced(clause: Clause, message: Message, lexicon: Lexicon) -> str | None:
    """A name given without a verb of calling."""
    speech = message.speech
    named = lexicon.shape(_GREETED).search(speech, max(0, clause.start - 12), clause.end + 1)
    if not named or not clause.start <= named.start("name") < clause.end or named["name"].endswith(_ROLES):
        frames = (frame.search(speech, clause.start, clause.end + 24) for frame in _BARE)
        named = next((match for match in frames if match and match.start("name") < clause.end), None)
    if not named or lexicon.words("people.name.never").match(named["name"]) or named["name"] in lexicon.names:
        return None
    value = message.written[named.start("name") : named.end("name")]
    return value if not value.isascii() or value[:1].isupper() or "lowercase" in clause.text else None


_ROLES = tuple("学生新手师人员")


# --- level ------------------------------------------------------------------------------------------------------------

_LEVELS = ("beginner", "intermediate", "advanced")
_NOT = lazily(r"(?:不|没|not|no longer|never|isn't|ain't)")
BEFORE_LEVEL_CHARS, AFTER_ME_CHARS = 24, 34
"""Before a level: there its field may stand. From «I'm» to a level at most."""


def _level(clause: Clause, message: Message, lexicon: Lexicon) -> Signal | None:
    text, words = clause.text, lexicon.words
    if not clause.is_meant or clause.asks_to_know or clause.is_once or text.endswith(("吗", "么")):
        return None
    said = words("people.level.beginner_said").search(text)
    if said and not words("people.level.not_said").search(text[: said.start()]):
        return Signal("level", "set", "beginner", "explicit")
    me = words("people.level.is_me").search(text)
    for level in reversed(_LEVELS):
        for named in words(f"people.level.{level}").finditer(text):
            before, after = text[: named.start()], text[named.end() :]
            at = clause.start + named.start()
            nearby = message.speech[max(0, at - BEFORE_LEVEL_CHARS) : at]
            if words("people.level.field").search(nearby) or lexicon.shape(_OF_A_FIELD).match(after):
                continue  # 新手爸爸, «an experienced nurse», «a beginner at yoga»
            if me:
                between = text[me.end() : named.start()]
                if named.start() < me.start() or len(between) > AFTER_ME_CHARS or _NOT.search(me[0] + between):
                    continue
                if polarity(text, named.start(), named.end(), lexicon, []) <= 0:
                    continue
            elif not (
                lexicon.shape(_ALONE).fullmatch(f"{before}|{after}")
                or words("people.level.as_such").match(after.lstrip())
            ):
                continue
            return Signal("level", "set", level, "explicit")
    return None


_OF_A_FIELD = r"(?:'s)? ?的?(?:(?:at|in) )?(?:{people.level.field}|{people.level.trade})"
_ALONE = r"(?: |{people.level.barely})*\|[ 啊啦吧呢哈]*"


# --- time zone --------------------------------------------------------------------------------------------------------

_IANA = lazily(
    r"(?<![a-z])(?:africa|america|asia|europe|australia|pacific|atlantic|indian)(?:/[a-z_]{3,30}){1,2}(?![a-z/])"
)
_OFFSET = lazily(r"(?<![a-z])(?:utc|gmt) ?([+\-]) ?(\d{1,2})(?::?00)?(?!\d|:)")
TIME_WINDOW_CHARS = 80
"""On both sides of a clause that names a place: there the message must speak of time."""


def _timezone(clause: Clause, message: Message, lexicon: Lexicon) -> Signal | None:
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
