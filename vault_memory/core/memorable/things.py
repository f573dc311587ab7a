"""The thing of which something is said: its words in their order; the words of a category's member stand for the
member, in either language. A number, a name or a direction that differs makes another thing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vault_memory.core.extraction import load_lexicon
from vault_memory.core.memories import categories
from vault_memory.core.text import fold

_WORD = re.compile(r"[a-z0-9~]+(?:[-'.+#][a-z0-9]+)*[+#]*|[\u3400-\u9fff]+|[^\W_]+|[-+/%<>=]+")
_HAN = re.compile("[\u3400-\u9fff]{2}")
_LATIN = re.compile("[A-Za-z]+")
_IS_TO = re.compile(r"^to [a-z]+")
_PREPOSITIONS = frozenset(["about", "at", "by", "for", "from", "in", "of", "on", "since", "to", "with"])
_NAME = re.compile(r"(?<![\w.])(?!I\b)[A-Z][\w'&-]+(?:(?: (?:of|the|de|del|la|and|&))* [A-Z][\w'&-]+)+")
_GO = re.compile(r"^(?:[去来](?=[\u3400-\u9fff]{2})|go(?:ing)? (?=[a-z]{2,}ing\b))")
MIN_GERUND_CHARS, MIN_PLURAL_CHARS = 6, 4


@dataclass(frozen=True)
class Thing:
    """A thing: of each of its words the names that it may have, and the categories of its first member."""

    words: tuple[frozenset[str], ...]
    kinds: frozenset[str]

    @property
    def names(self) -> list[str]:
        """By which it is found: two of the same have one in common."""
        if len(self.words) == 1:
            return sorted(self.words[0])
        return [" ".join(sorted(min(each) for each in self.words))]

    def is_same(self, other: Thing) -> bool:
        """Whether it is the other, word for word; what stands before in one may stand behind in the other."""
        turned = (other.words[at:] + other.words[:at] for at in range(len(other.words)))
        return len(self.words) == len(other.words) and any(_are_same(self.words, each) for each in turned)

    def is_beginning_of(self, other: Thing) -> bool:
        """Whether the other is the same, or says more of it."""
        return _are_same(self.words, other.words[: len(self.words)])

    def is_before_purpose(self, other: Thing) -> bool:
        """Whether the other is the same, with a purpose behind it as Chinese has it: MongoDB of MongoDB 存訂單."""
        at = len(self.words)
        is_other_script = self.words[-1:] and all(map(str.isascii, self.words[-1])) and not _is_latin(other.words[at:])
        return at < len(other.words) and bool(is_other_script) and self.is_beginning_of(other)

    def is_kind_of(self, other: Thing) -> bool:
        """Whether it is the other, or one sort of it: in both languages the last word says what a thing is, so black
        coffee for breakfast is coffee, and a coffee cake is none."""
        behind = (at for at, word in enumerate(self.words) if at and word & _PREPOSITIONS)
        core = self.words[: next(behind, None)]
        return self.is_same(other) or _are_same(core[-len(other.words) :], other.words)


def known_kinds(thing: Thing) -> frozenset[str]:
    """All categories of a thing of one word: tea is a tea, and a drink."""
    names = thing.words[0] if len(thing.words) == 1 else ()
    return frozenset(kind for name in names for kind in categories.load().categories_of(name))


def is_named_in(subject: str, text: str) -> bool:
    """Whether a text names each word of a subject, in either language where a category has it."""
    thing = read_thing(fold(subject), ())
    folded = fold(text)
    known, longer = _members(folded)
    held = {name for _, _, names, _ in known for name in names}
    held |= {_one_form(word) for word in _WORD.findall(folded)}
    for start, end, place in longer:  # 新北 is not named in 新北投
        folded = f"{folded[:start]}{folded[start:end].replace(place, ' ' * len(place), 1)}{folded[end:]}"
        held.add(place + folded[start + len(place) : end])
    return thing is not None and all(any(_is_held(name, held, folded) for name in names) for names in thing.words)


def _is_held(name: str, held: set[str], text: str) -> bool:
    return name in held or (not name.isascii() and name in text)


_Member = tuple[int, int, frozenset[str], frozenset[str]]


def _members(text: str) -> tuple[list[_Member], list[tuple[int, int, str]]]:
    """The members of categories that a folded text names, as `Categories.named` has them, without the Chinese places
    that a longer name only begins with; and these names: start, end and the place."""
    known: list[_Member] = []
    longer: list[tuple[int, int, str]] = []
    for start, end, names, kinds in categories.load().named(text):
        more = _goes_on(text[end:]) if kinds & _PLACES and not text[start].isascii() else 0
        if more:
            longer.append((start, end + more, text[start:end]))
        elif not longer or start >= longer[-1][1]:
            known.append((start, end, names, kinds))
    return known, longer


_PLACES = frozenset(("city", "province", "country"))
_OF_PLACE = "市县省区州府都国镇乡村城"
_HEADS = (
    "大道|大街|车站|火车站|捷运站|地铁站|机场|大学|公园|医院|夜市|老街|温泉|"
    "[路街巷弄站港湾山岭峰寺庙宫桥湖江河溪岛岬塔屯埔坑寮]"
)
_HEAD = re.compile(f"(?:{_HEADS})$")
_NO_NAME = (
    "的地得了着过在和跟与及或但而就也都又还已很太最超真好不没无是有会能要想被把对让从到给为因所如只才再住待念读玩做开吃喝买卖去来回走"
    "跑逛教学养当人生长出打工上下课等租找见看听说讲用一二三四五六七八九十两几半多整每这那哪什么吗呢吧啊我你他她它咱"
)
_NAME_GOES_ON = re.compile(f"(?:{_HEADS}|[^{_NO_NAME}\\W\\da-z_])*")
_BESIDE = re.compile("(?:附近|旁边|那边|这边|一带|市区|郊区|郊外|市中心|里面|外面|[里内旁边外])$")


def _goes_on(rest: str) -> int:
    """How many of the characters behind a Chinese name belong to a longer name: 投 of 新北投, 西路 of 南京西路, 辉 of
    小明辉. None of what says more of a place (市, 安平, 附近) or goes on with the sentence (住了三年)."""
    found = _NAME_GOES_ON.match(rest)
    name = found[0] if found else ""
    while beside := _BESIDE.search(name):
        name = name[: beside.start()]
    if not name or name[0] in _OF_PLACE:
        return 0
    head = _HEAD.search(name)
    stem = name[: head.start()] if head else name
    return len(name) if len(stem) == 1 or (head and not stem) else 0


def is_capital_otherwise(word: str, text: str) -> bool:
    """Whether a text has a Latin word inside a sentence with a capital and `word` has none, or the reverse: turkey is
    not Turkey. Of a word that the lists know, a city or a technology, the capital says nothing."""
    form, known = _one_form(fold(word)), categories.load().categories_of(fold(word))
    if known or fold(word) in load_lexicon().names or word.isupper():
        return False
    held = [each[0] for each in _LATIN.finditer(text) if each.start() and _one_form(fold(each[0])) == form]
    return bool(held) and all(each[0].isupper() != word[0].isupper() and not each.isupper() for each in held)


def is_in_longer_name(words: str, text: str) -> bool:
    """Whether a text has a name of several words of which these have some and not all: New York is not York. A name is
    written with capitals; a Chinese one goes on where a
    character is left over: 小明輝 is not 小明."""
    known = {_one_form(word) for word in _WORD.findall(fold(words))}
    for name in _NAME.findall(text):
        held = {_one_form(word) for word in _WORD.findall(fold(name))} - _PREPOSITIONS
        if held & known and held - known:
            return True
    folded, end = fold(text), fold(words).rstrip(" ,.!?")[-2:]
    behind = [folded[at.end() :] for at in re.finditer(re.escape(end), folded)] if _HAN.fullmatch(end) else []
    return bool(behind) and all(map(_goes_on, behind))


def read_thing(text: str, articles: Sequence[str]) -> Thing | None:
    """The thing in a folded text; None where it has no word."""
    known = categories.load()
    article = next((each for each in articles if not each.isascii() and text.startswith(each)), "")
    text = text[len(article) :]
    text = _GO.sub("", _with_gerund(text.strip(), known).removesuffix("的"))
    words: list[frozenset[str]] = []
    kinds: frozenset[str] = frozenset()
    at = 0
    for start, end, names, of in _members(text)[0]:
        words += [*_plain_words(text[at:start], articles), names]
        kinds, at = kinds or of, end
    words += _plain_words(text[at:], articles)
    return Thing(tuple(words), kinds) if words else None


def _are_same(one: Sequence[frozenset[str]], other: Sequence[frozenset[str]]) -> bool:
    return len(one) == len(other) and all(a & b for a, b in zip(one, other, strict=True))


def _is_latin(words: Sequence[frozenset[str]]) -> bool:
    return any(name.isascii() for name in words[0]) if words else False


def _with_gerund(text: str, known: categories.Categories) -> str:
    """The text with «hiking» for «to hike»."""
    if not _IS_TO.match(text):
        return text
    verb, _, rest = text[3:].partition(" ")
    forms = (f"{verb}ing", f"{verb[:-1]}ing", f"{verb}{verb[-1:]}ing")
    listed = next((form for form in forms if known.categories_of(form)), "")
    return f"{listed or _of_verb(verb)} {rest}".strip()


def _plain_words(text: str, articles: Sequence[str]) -> Iterator[frozenset[str]]:
    for word in _WORD.findall(text):
        if word not in articles:
            yield frozenset([_one_form(word)])


def _one_form(word: str) -> str:
    """A word without a plural's ending; of an English gerund its verb, marked."""
    if not (word.isascii() and word.isalpha()):
        return word
    if word.endswith("ing") and len(word) >= MIN_GERUND_CHARS:
        return _of_verb(word[:-3])
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) >= MIN_PLURAL_CHARS else word


def _of_verb(verb: str) -> str:
    is_longer = len(verb) > MIN_PLURAL_CHARS - 1 and (verb.endswith("e") or verb[-1] == verb[-2])
    return f"~{verb[:-1] if is_longer else verb}"
