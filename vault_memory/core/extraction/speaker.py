"""Who speaks in a clause, or is spoken of: the person, or somebody else."""

from __future__ import annotations

from collections.abc import Callable

from vault_memory.core.text.phrases import Matcher, lazily

Words = Callable[[str], Matcher]
"""The phrase list of a path, such as `words.speaker.me`."""


def speaker(text: str, words: Words) -> str | None:
    """`me`, `others` or None: the first subject of a clause; a person helped or told is no subject."""
    if any(told.search(text) for told in _SOMEBODY_ELSE):
        return "others"
    mine = next(
        (own for own in words("words.speaker.me").finditer(text) if not _TOLD.search(text[: own.start()])), None
    )
    for other in words("words.speaker.others").finditer(text):
        rest = text[other.end() :]
        if _BENEFICIARY.search(text[: other.start()]) or not rest.strip() or rest.startswith(("我", "你", "您")):
            continue  # somebody served or spoken to: 幫老師, «媽媽我手腳慢»
        if mine and _OURS.fullmatch(text[mine.start() : other.end()]):
            continue
        if mine and mine.start() < other.start() and not _between(text[mine.end() : other.start()]):
            return "me"
        return "others"
    return "me" if mine else None


def _between(text: str) -> bool:
    """Whether what stands between «I» and another person makes that person the subject: 我的室友, «I wish my boss …»."""
    return bool(_POSSESSIVE.fullmatch(text) or _EMBEDDED.fullmatch(text))


def has_own_part(text: str) -> bool:
    """Whether a clause of somebody else tells the person's part too: 老師出題，我負責寫."""
    return bool(_OWN_PART.search(text))


def asks_the_assistant(text: str) -> bool:
    """Whether the assistant is asked, whoever was spoken of before: 小孩會醒，所以網頁麻煩一直維持深色."""
    return bool(_ASKED_OF_YOU.search(text))


def introduces_words(text: str) -> bool:
    """Whether a clause before a colon names whose words follow: «the exam said: explain in detail»."""
    return bool(_SAYS.search(text) or _SOURCE.search(text))


# Somebody says, wants or demands it: who, is open («the rubric says», 規範裡規定), but not the person who speaks.
_REPORTED = lazily(
    r"^(?!能不能|能否|可不可|想|以后|之后|以前|之前|先前|刚才|刚刚|上次|前面|昨天|忘|先说|话说|今后|往后|现在|从|接下来|另外|还有|那就|这样|最后|以及|然后|麻烦|拜托|如果|为什么|怎么|什么|每次|记住|记得|不要|可以|一直|应该|有什么|有没有)"
    r"(?:(?:我[们哋]?|咱们?)(?:的)?[^,我你您]{0,8}(?:规范|规定|规则|守则|手册|指南|公司|学校|团队|组里|实验室|律所|医院|诊所|店里|社团|班上|系上|作业|题目|课程|合同|合约|契约|甲方|老板|主管)|[^,我你您咱俺请帮]{2,18}?)"
    r"(?:里|中|上|那边|内)?(?: ?[a-z]{2,10} ?|法务|人资|总务|资讯|行政)?(?:都|也|又|还|一直|总是|老是|就|只|硬|非|明明|有|是|会|已经|特别)*"
    r"(?:规定|要求(?!很|不|是|简|高|低|太|取消|作废|拿)|嫌(?!你)|坚持(?:要|说|用)|抱怨|批评|说(?:以后|从|要|请|一律|我的?|全|必须|不能|不可以|不用|不要|不必|别)|话(?:以后|要|唔|想|佢|份|个|啲|自己)|让(?:我们?|大家|全|写|做|交|改|用|准备|整理)|叫(?:我们?|大家|全)(?![\u3400-\u9fff]{1,3}(?:就|得))|逼(?:我|大家)|要(?:我们|大家)|写明|写着|写住|写道|注明|通知|嘱咐|命令|禁止|强调|(?<!请)(?<!先)(?:问|劝|催|骂|笑|推坑|建议|推荐)我)"
)
_REPORTED_EN = lazily(
    r"(?<![a-z'])(?!(?:i|we|you|it|this|that|which|what|who|brain|eyes|head|gut|heart|taste|memory|style|default|always|just|really|also|never|one|everything|nothing|anything) )"
    r"[a-z][a-z'\-]*(?: \d+| also| always| just| really| still| now| even| all)? "
    r"(?:says|insists|demands|requires(?! (?:me|less|more))|hates|loves|prefers|thinks|expects|complains|wants|refuses|swears|codes|works (?:entirely|only|exclusively|mostly|all day) (?:in|with)|keeps (?:saying|asking|telling|insisting)"
    r"|(?:told|taught|asked|warned|forced|forces|makes|made|ordered) (?:me|us|everyone) )(?! it )"
)
_KIN = lazily(
    r"^我(?:家|的)?(?![想要是觉说讲喜都就也比还常平一只最更很不在用看听会能可刚已曾直从本真个每今昨明先再必以跟和把对给让被们自己没有得])[\u3400-\u9fff]{1,3}?(?:说|要求|嫌)"
)
"""«My so-and-so says»: 我愛人說."""
_OF_THEIRS = lazily(
    r"^(?:and |but |so )?(?:my|our|the|his|her|their|this) (?:school|company|university|uni|college|hospital|city|town|council|bank|employer|office|church|gym|library|government|airline)(?:'s)? (?:[a-z]+ )?(?:website|site|system|app|laptop|computer|portal|intranet|policy|network|email|software|platform|page)s?(?![a-z])|"
    r"(?<![a-z])(?:i'm|we're|i am|we are|we were|i was) (?:required|obliged|forced|expected) to(?![a-z])|(?<![a-z])i (?:told|asked|advised|reminded|begged) (?:my|the|our|his|her|their|a) [a-z]+ (?:not )?to(?![a-z])|"
    r"(?<![a-z])(?:love|like|enjoy|appreciate|hate) (?:that|how|when|it when) (?:my|his|her|their|our|a|some) (?!code|answers?|page|eyes)"
)
"""«I love that my dog answers to German» is an opinion of the dog."""
_HOUSE = lazily(
    r"^(?:听说|据说|因为|现在|目前)?(?:公司|学校|医院|单位|部门|工厂|厂里|店里|银行|政府|总部|机构|事务所|图书馆|系统商|厂商|外包)(?:的|里的|那边|内部)?"
    r"(?:(?<=[的边部])(?!专案|项目|案子|产品|后台|前端|后端|码|代码|程式|网站|官网)|电脑|系统|设备|内网|网路|网络|政策|制度|资讯|法务|人资|总务|年会|同仁|员工|客服|系统|伺服器|服务器)"
)
"""A house as the owner of what is told: «the company's servers run on …» is not the person's, «our company's» may be."""
_SOMEBODY_ELSE = (_KIN, _REPORTED, _REPORTED_EN, _HOUSE, _OF_THEIRS)
_EMBEDDED = lazily(
    r" ?(?:just |really |do |so |also |kinda |honestly )*(?:wish|hope|think|know|heard|hear|suspect|guess|bet|swear|believe|feel like|notice|noticed|love how|hate how|love when|hate when|love that|saw|see)(?: that)?(?: my| the| our| a| some)? ?"
    r"|(?:个人)?(?:希望|觉得|认为|知道|听说?|猜|怀疑|看到?|发现|记得|讨厌|最怕|真希望|好希望|多希望)(?:我的?|我们的?|那个?)?"
)
_OURS = lazily(r"(?:我|咱)们?(?:的)?(?:系上|班上|全班|公司|学校|全队|团队)")
"""A group the person belongs to speaks for the person: 我們系上做的是…"""
_BENEFICIARY = lazily(
    r"(?:帮|给|替|为|和|跟|与|教|同|让|对|比|像|身为|作为|当|做|是|for|with|help|helping|to|than|unlike|like|by|of|and|as)"
    r"(?: (?:my|the|our|a|an|his|her))?(?:我|我们|我的|我们的)? ?$"
)
_TOLD = lazily(r"(?:叫|让|要|教|逼|推荐|催|劝|骂|笑|害|嫌|问|跟|对)$")
_OWN_PART = lazily(r"我(?:负责|是|自己|觉得|都|就|比较|还是|则|倒|个人|只|用|写|喜欢|偏好|习惯)")
_POSSESSIVE = lazily(
    r"(?:们|的|那|这|数学|英文|英语|国文|物理|化学|程式|大学|高中|国中|小学|研究所|实验室|系上|专题|家|班|系|校|之前|以前|公司|学校|个|位|隔壁|一|有|听|看|常|\s)*|[^,我你是在用写想要喜说讲把给跟和会都觉请做看学教的]{0,4}的[^,我你是在用写想要喜说讲把给跟和会都觉请]{0,8}"
)
_ASKED_OF_YOU = lazily(
    r"^(?:所以|因此|那|so )[^,]{0,6}(?:麻烦|请|帮我|你|please|can you|could you)|(?:帮我|麻烦(?:你|您)|请(?:你|您)|拜托(?:你|您))(?!们)"
)
_SAYS = lazily(
    r"(?:说|写|写着|写道|写住|话|要求|规定|注明|提示|问|喊|回|道) ?$|(?<![a-z])(?:said|says|reads|read|wrote|writes|states|stated|asks|asked|goes|went|demands|demanded|shouts|warns|told (?:me|us)) ?$"
)
_SOURCE = lazily(
    r"来信|来函|来电|来讯|传讯|留言|回信|备注|批注|批示|公告|群里|(?<![a-z])(?:note|slack|e?mail|mail|message|transcri(?:pt|bed)|voicemail|memo|review|feedback|ticket|request|quote|from|ceo|cto|cfo|coo|vp|legal|procurement|finance)(?: from [^,]{2,20})?$"
)
"""Before a colon: where the words come from."""
