"""Characters that are one letter: written in another Chinese script or region, in Japanese, in the other case, in full
or half width.

OpenCC's tables of regions and of Japanese tell what its table of the two scripts (`fold`) does not; a test derives the
pairs again. Each pair counts in both directions, and what two characters share with a third makes them one as well.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from functools import cache

from vault_memory.core.text.fold import simplified

_MAY_HAVE_FORMS = (*range(0x3400), *range(0xA000, 0xAC00), *range(0xF900, 0x1F000), *range(0x2F800, 0x2FB00))
"""The others are Chinese characters and Hangul, which have neither case nor width."""
_WIDTHS = ("<wide>", "<narrow>", "<compat>")


def alike(character: str) -> str:
    """All characters that are one letter with this one, itself among them."""
    return _classes().get(character, character)


@cache
def first_alike() -> Mapping[int, int]:
    """For `str.translate`: each character that has others like it → the one that stands for all of them."""
    return {ord(each): ord(members[0]) for each, members in _classes().items() if each != members[0]}


@cache
def _classes() -> Mapping[str, str]:
    above: dict[str, str] = {}

    def top(character: str) -> str:
        while (higher := above.get(character, character)) != character:
            character = higher
        return character

    seen = set[str]()
    for one, other in _pairs():
        seen |= {one, other}
        low, high = sorted((top(one), top(other)))
        if low != high:
            above[high] = low
    found: dict[str, list[str]] = {}
    for each in sorted(seen):
        found.setdefault(top(each), []).append(each)
    return {each: "".join(members) for members in found.values() for each in members}


def _pairs() -> Iterator[tuple[str, str]]:
    yield from ((chr(one), chr(other)) for one, other in simplified().items())
    yield from zip(_ONE, _OTHER, strict=True)
    for character in map(chr, _MAY_HAVE_FORMS):
        forms = [character.lower(), character.upper()]
        *width, code = unicodedata.decomposition(character).rsplit(" ", 1)
        if code and (not width or width[0] in _WIDTHS):
            forms.append(chr(int(code, 16)))
        for each in forms:
            if each != character and len(each) == 1 and _is_letter(character) and _is_letter(each):
                yield character, each


def _is_letter(character: str) -> bool:
    return character.isalnum() or unicodedata.category(character)[0] == "M"


_ONE = (
    "㓰㳽䌽䙓䦆䩄侭昵渖稆縆缐讬谘迳钜锺镟馀麹麺𢧐𢭏𧹒𧹔𩨂𪠽𪨧𪪏𫍝𫍿𫔀𫔭𫔮𫖕𫖸𫗫𫗭𫗯𫛲𫜩𫫇𬞟幺檐潨痹着睾腭"
    "鮎卫叙檯粧糭衹乘亞佛俱值假價儉兒兔兩冰剩劍劑勞勳勸卷吳咒啞單嚙嚴圈圍圓圖團堯填增壓壘壞壤壹奬姊姬孃實"
    "寬專對巖巢帶廢廣廳彈從徵德惠惡惱應懷戰戲戶戾拂拔拜插揭搔搖搜擇擊據擧擴攝攪收效敕晚暨曆曉曾枡棧榆榮樂"
    "樣檢櫻權歡步歲歷歸每氣污涉淚淨渴溪滿潑澀澁澤濟瀧瀨焰燒營犧獵獸疊瘦發皋碎稻穎穗穩穰竈粹經緣縣縱總繡繩"
    "繪繫繼續纖聰聽肅腦臟舉舍艷荔莊薰藏藥處螢蠟覺覽觀譯讀變讓貳賣賴贊輕輛轉遞遲邊鄉鄕鄰醉醬醱釀釋鋪錢鍊鐵"
    "鑄鑛關陷險隱雜雞霸靈顯騷驅驗驛髓髮鬥鬭鱉鷗鹼鹽黑默齊齋齒齡龍龜"
    "帐"  # the tables have 帳戶 and 賬戶 for 账户 only as words
)
_OTHER = (
    "劃瀰綵襬钁靦儘暱瀋穭緪線託諮逕鉅鍾鏇餘麴麪戰擣買賬驄噹崙廬諫譾鍊開閒韝願餬餵餱鵰齧噁蘋么簷潀痺著睪顎"
    "鯰衞敍枱妝糉只乗亜仏倶値仮価倹児兎両氷剰剣剤労勲勧巻呉呪唖単噛厳圏囲円図団尭塡増圧塁壊壌壱奨姉姫嬢実"
    "寛専対巌巣帯廃広庁弾従徴徳恵悪悩応懐戦戯戸戻払抜拝挿掲掻揺捜択撃拠挙拡摂撹収効勅晩曁暦暁曽桝桟楡栄楽"
    "様検桜権歓歩歳歴帰毎気汚渉涙浄渇渓満溌渋渋沢済滝瀬焔焼営犠猟獣畳痩発皐砕稲頴穂穏穣竃粋経縁県縦総繍縄"
    "絵繋継続繊聡聴粛脳臓挙舎艶茘荘薫蔵薬処蛍蝋覚覧観訳読変譲弐売頼賛軽輌転逓遅辺郷郷隣酔醤醗醸釈舗銭錬鉄"
    "鋳鉱関陥険隠雑鶏覇霊顕騒駆験駅髄髪闘闘鼈鴎鹸塩黒黙斉斎歯齢竜亀"
    "账"
)
